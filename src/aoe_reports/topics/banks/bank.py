"""What knowledge banks cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import Argument, FileUnit, Finished, Notes, Question, Request, RunOptions, Unit
from aoe_reports.model.classes import record
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows
from aoe_reports.model.texts import join, say
from aoe_reports.topics.banks.banked import BankContent, BankedEntry, BankedFile, content_of
from aoe_reports.topics.banks.profile import (
    CoveredShape,
    HotShapes,
    TimeOfEntry,
    coverage_of,
    headline_of,
    headline_of_banks,
    hot_shapes,
    named_shapes,
)
from aoe_reports.topics.banks.subgraphs import (
    Called,
    CoveredSubgraph,
    covered_subgraphs,
    headline_of_subgraphs,
    parts_of,
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

_Part = BankContent | list[HotShapes]


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
class SearchedFor:
    """What every capture is searched for, and what the logs say."""

    parts: tuple[tuple[Called, ...], ...] = ()
    """Of the banks' subgraphs."""
    logs: BankLogs | None = None
    """Null where none were asked for, or they cannot be read."""
    missed: frozenset[str] = frozenset()
    """The operators that the logs name without a hit."""


class Bank(Question[BankOptions, _Part]):
    """List what knowledge banks cover: entries by chip, operator type, shapes and version. Reads banks of operators, of subgraphs and of gradients; with --profile it shows which hot operator shapes and subgraphs are covered, stale or missing, and the times of both; with --log which operators used a bank."""

    example = "bank list bank --profile profile"
    page = "banks"
    title = "Banks"
    options = BankOptions
    tables = (
        ("rows", BankedEntry),
        ("files", BankedFile),
        ("coverage", CoveredShape),
        ("subgraphs", CoveredSubgraph),
        ("times", TimeOfEntry),
        ("uses", BankSearch),
    )
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

    def prepare(self, files: FoundBanks, asked: Request[BankOptions]) -> SearchedFor:
        """What a profile is searched for: subgraphs of the banks, and operators that logs name without a hit."""
        parts = _parts_of_banks(files) if files.profile is not None else ()
        place = asked.options.log
        if place is None:
            return SearchedFor(parts=parts)
        from aoe_reports.formats.aoe.bank_log import read_bank_logs

        try:
            logs = read_bank_logs([place])
        except ReadError as error:
            asked.notes.failed(place, error)
            return SearchedFor(parts=parts)
        asked.notes.add(remarks_on_logs(logs, place))
        hits = hits_by_name(logs, "operator").items()
        missed = frozenset(name for name, hit in hits if hit in NOT_FOUND)
        return SearchedFor(parts=parts, logs=logs, missed=missed)

    def units(self, files: FoundBanks, asked: Request[BankOptions]) -> list[FileUnit | Unit]:
        """Every bank, and every capture of the profile."""
        from aoe_reports.engine.captures import bank_files, nothing_measured, operator_bank_files

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
            chosen, searched = asked.options, asked.context
            return hot_shapes(unit, chosen.top, chosen.soc, asked.notes, parts=searched.parts, names=searched.missed)
        return content_of(unit.file, asked.notes)

    def finish(self, parts: Sequence[tuple[FileUnit | Unit, _Part]], asked: Request[BankOptions]) -> Finished:
        """The entries bank by bank, and what of the profile they cover; people see the entries last."""
        banks = [part for _, part in parts if isinstance(part, BankContent)]
        files = [bank.file for bank in banks]
        entries = [entry for bank in banks for entry in bank.entries]
        ranks = [rank for _, part in parts if isinstance(part, list) for rank in part]
        operators = [one for bank in banks for one in bank.operators]
        covered, times = coverage_of(ranks if files else [], operators)
        banked = [subgraph for bank in banks for subgraph in bank.subgraphs]
        subgraphs = covered_subgraphs({(rank.run, rank.rank_id, rank.soc): rank.occurring for rank in ranks}, banked)
        headline = join(
            " ", [text for text in (headline_of(covered), headline_of_subgraphs(subgraphs, banked)) if text]
        )
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
        logs = asked.context.logs
        uses: Iterable[BankSearch] = ()
        if logs is not None:
            named = named_shapes(ranks, operators)
            uses = explained(rows_of_logs(logs), named, has_banks=bool(files))
        of_banks = headline if with_profile else headline_of_banks(files)
        shows_entries = not with_profile and asked.options.log is None
        return Finished(
            tables=(
                Rows(type=BankedEntry, rows=entries, title=say("Entries"), place=2, is_shown=shows_entries),
                Rows(type=BankedFile, rows=files, key="files"),
                coverage,
                Rows(
                    type=CoveredSubgraph, rows=subgraphs, key="subgraphs", title=say("Subgraphs"), of_runs=True, place=1
                ),
                Rows(
                    type=TimeOfEntry,
                    rows=times,
                    key="times",
                    title=say(
                        "Times of the profile beside those of the banks, which are the tuner's own of a single operator"
                    ),
                    of_runs=True,
                    place=1,
                ),
                Rows(
                    type=BankSearch,
                    rows=list(uses),
                    key="uses",
                    title=say("Searches in banks"),
                    place=-1,
                    is_csv=logs is not None,
                ),
            ),
            headline=join(" ", [part for part in ("" if logs is None else headline_of_logs(logs), of_banks) if part]),
        )

    def is_answered(self, finished: Finished) -> bool:
        """Whether there is a bank, or a log."""
        return any(finished.tables[number].rows for number in (1, 5))


def _parts_of_banks(files: FoundBanks) -> tuple[tuple[Called, ...], ...]:
    """The parts of all subgraphs in the banks."""
    from aoe_reports.engine.captures import operator_bank_files

    subgraphs = []
    for file in operator_bank_files(files.banks):
        if file.name.kind == "subgraph_bank":
            with Notes().where_unreadable(str(file.path)):  # said when the bank itself is read
                subgraphs += content_of(file, Notes()).subgraphs
    return parts_of(subgraphs)


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
