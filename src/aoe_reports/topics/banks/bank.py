"""What knowledge banks cover."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import Argument, FileUnit, Finished, Notes, Question, Request, RunOptions, Unit
from aoe_reports.model.classes import record
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import join, say
from aoe_reports.topics.banks.banked import BankedEntry, BankedFile, entries_of
from aoe_reports.topics.banks.profile import (
    CoveredShape,
    HotShapes,
    coverage_of,
    headline_of,
    headline_of_banks,
    hot_shapes,
    named_shapes,
)
from aoe_reports.topics.banks.uses import (
    NOT_FOUND,
    BankSearch,
    explained,
    headline_of_logs,
    hits_by_name,
    remarks_on_logs,
    rows_of_logs,
)
from aoe_reports.topics.rules import BANK_CHIP

if TYPE_CHECKING:
    from aoe_reports.formats.aoe.bank_log import BankLogs
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.model.findings import Finding

_Part = tuple[BankedFile, list[BankedEntry]] | list[HotShapes]


@options
class BankOptions(RunOptions):
    """A profile whose operators are looked up in the banks."""

    profile: Path | None = option(
        default=None, help="A profile: show which of its hot operator shapes the banks cover.", names="place"
    )
    top: int = option(default=20, minimum=1, help="Number of operator shapes per rank of the profile.")
    soc: str | None = option(
        default=None, help="Chip of the profile, where the profile does not name it.", names="nothing"
    )
    log: Path | None = option(
        default=None,
        help="A log of CANN (plog) or a folder of such: show which operators were found in a bank when they were compiled.",
        names="place",
    )


@record
class FoundBanks:
    """The banks, and the files of the profile."""

    banks: Discovery
    profile: Discovery | None


@record
class ReadLogs:
    """What the logs say, and which operators they name without a hit."""

    logs: BankLogs
    missed: frozenset[str]


class Bank(Question[BankOptions, _Part]):
    """List what knowledge banks cover: entries by chip, operator type, shapes and version. Reads banks of operators (runtime_kb, Auto Tune) and of gradients; with --profile it shows which hot operator shapes are covered, stale or missing, with --log which operators used a bank."""

    example = "bank list bank --profile profile"
    page = "banks"
    title = "Banks"
    options = BankOptions
    tables = (("rows", BankedEntry), ("files", BankedFile), ("coverage", CoveredShape), ("uses", BankSearch))
    arguments = (Argument(name="paths", help="Files or folders (searched recursively).", needed=False),)
    nothing = "no bank here that can be read, and no log on one"

    def discover(self, paths: Sequence[Path], asked: Request[BankOptions]) -> FoundBanks:
        """What lies below the paths, and the profile."""
        from aoe_reports.engine.fleet.executors import is_read_elsewhere
        from aoe_reports.formats.sources.discovery import discover

        if not paths and asked.options.log is None:
            raise UsageError(say("bank: expected a bank (a file or folder), or --log PATH"))
        banks = super().discover(paths, asked)
        profile = asked.options.profile
        if profile is None:
            return FoundBanks(banks=banks, profile=None)
        if is_read_elsewhere(asked.options):
            profile = profile.absolute()  # who reads has a folder of its own
        files = discover([profile], max_expanded=asked.options.max_expanded)
        asked.notes.take(Notes(list(files.findings), files.unreadable))
        return FoundBanks(banks=banks, profile=files)

    def prepare(self, files: FoundBanks, asked: Request[BankOptions]) -> ReadLogs | None:
        """What the logs say; null where none was asked for, or one cannot be read."""
        del files
        place = asked.options.log
        if place is None:
            return None
        from aoe_reports.formats.aoe.bank_log import read_bank_logs

        try:
            logs = read_bank_logs([place])
        except ReadError as error:
            asked.notes.failed(place, error)
            return None
        asked.notes.add(remarks_on_logs(logs, place))
        hits = hits_by_name(logs, "operator").items()
        return ReadLogs(logs=logs, missed=frozenset(name for name, hit in hits if hit in NOT_FOUND))

    def units(self, files: FoundBanks, asked: Request[BankOptions]) -> list[FileUnit | Unit]:
        """Every bank, and every capture of the profile."""
        from aoe_reports.engine.captures import bank_files, nothing_measured, operator_bank_files, unread_banks
        from aoe_reports.formats.sources.identify import unread_bank

        asked.notes.add(map(unread_bank, unread_banks(files.banks)))
        found = [FileUnit(file=file) for file in (*operator_bank_files(files.banks), *bank_files(files.banks))]
        if files.profile is None:
            return list[FileUnit | Unit](found)
        captures = super().units(files.profile, asked)
        if not captures and files.profile.files:
            asked.notes.add([nothing_measured([asked.options.profile], say("no profile here"))])
        return [*found, *captures]

    def map_unit(self, unit: FileUnit | Unit, asked: Request[BankOptions]) -> _Part:
        """What one bank holds; of a capture what takes most time."""
        if isinstance(unit, Unit):
            missed = asked.context.missed if asked.context is not None else ()
            return hot_shapes(unit, asked.options.top, asked.options.soc, asked.notes, missed)
        return entries_of(unit.file, asked.notes)

    def finish(self, parts: Sequence[tuple[FileUnit | Unit, _Part]], asked: Request[BankOptions]) -> Finished:
        """The entries bank by bank, and what of the profile they cover; people see the entries last."""
        banks = [part for _, part in parts if isinstance(part, tuple)]
        files = [of_file for of_file, _ in banks]
        entries = [entry for _, some in banks for entry in some]
        ranks = [rank for _, part in parts if isinstance(part, list) for rank in part]
        covered = coverage_of(ranks, entries) if files else []
        with_profile = asked.options.profile is not None
        coverage = Rows(
            type=CoveredShape,
            rows=covered,
            key="coverage",
            title=say("Hot operator shapes"),
            of_runs=True,
            place=1,
            is_csv=with_profile and asked.options.log is None,
        )
        asked.notes.add(_without_chip(asked.options.soc, entries, asked.inputs))
        read: ReadLogs | None = asked.context
        of_banks = headline_of(covered) if with_profile else headline_of_banks(files)
        shows_entries = not with_profile and asked.options.log is None
        tables = [
            Rows(type=BankedEntry, rows=entries, title=say("Entries"), place=2, is_shown=shows_entries),
            Rows(type=BankedFile, rows=files, key="files"),
            coverage,
        ]
        if read is None:
            return Finished(
                tables=(*tables, Rows(type=BankSearch, rows=[], key="uses", is_csv=False)), headline=of_banks
            )
        named = named_shapes(ranks, entries)
        uses = list(explained(rows_of_logs(read.logs), named, has_banks=bool(files)))
        told = [part for part in (headline_of_logs(read.logs), of_banks) if part]
        searched = Rows(type=BankSearch, rows=uses, key="uses", title=say("Searches in banks"), place=-1, is_csv=True)
        return Finished(tables=(*tables, searched), headline=join(" ", told))

    def is_answered(self, finished: Finished) -> bool:
        """Whether there is a bank, or a log."""
        return any(finished.tables[number].rows for number in (1, 3))


def _without_chip(soc: str | None, entries: Sequence[BankedEntry], inputs: Sequence[str]) -> list[Finding]:
    """That the chip that somebody named has no entry in any bank, and which have."""
    chips = {entry.soc for entry in entries if entry.soc}
    if soc is None or not chips or soc.casefold() in {chip.casefold() for chip in chips}:
        return []
    message = say(
        "--soc {soc}: no bank here has an entry for this chip; chips here: {chips}",
        soc=soc,
        chips=join(", ", sorted(chips)),
    )
    return [BANK_CHIP.found(min(inputs), message)]


bank = asking(Bank(), BankOptions)
"""What the knowledge banks below some paths cover: `bank([path]).rows`."""
