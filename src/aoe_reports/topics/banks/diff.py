"""What differs between two knowledge banks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import Argument, FileUnit, Finished, Notes, Question, Request, RunOptions
from aoe_reports.model.classes import record
from aoe_reports.model.rows import Rows, column, row, row_from
from aoe_reports.model.texts import join, say
from aoe_reports.topics.banks.banked import MAX_TEXT, BankedEntry, BankKind, content_of

Side = Literal["before", "after"]
Identity = tuple[str, str, int, str, str]
_Side = dict[Identity, BankedEntry]
_ABSENT = "-"


@record
class SideUnit:
    """A bank, and on which of the two sides it lies."""

    side: Side
    file: FileUnit

    @property
    def path(self) -> str:
        """Where it lies."""
        return self.file.path


@row
class BankDifference:
    """One entry that one side lacks, or that holds something else there; `fields` names what changed: before → after."""

    change: Literal["added", "removed", "changed"] = column("Change", "state")
    kind: BankKind = column("Kind")
    soc: str | None = column("Chip")
    cores: int | None = column("AI Cores", "integer")
    op_type: str | None = column("Operator type")
    shapes: str | None = column("Shapes")
    data_types: str | None = column("Data types")
    formats: str | None = column("Formats")
    attributes: str | None = column("Attributes")
    operators: str | None = column("Operators")
    nodes: int | None = column("Nodes", "integer", detail=True)
    kernel: str | None = column("Kernel or model")
    model: str | None = column("Model")
    looked_up_by: str | None = column("Looked up by", detail=True)
    fields: list[str] = column("What changed", detail=True)
    key: str = column()
    before: str | None = column()
    after: str | None = column()


@row
class BankDifferences:
    """How many entries of one operator type differ, and how many are the same on both sides."""

    kind: BankKind = column("Kind")
    soc: str | None = column("Chip")
    cores: int | None = column("AI Cores", "integer")
    op_type: str | None = column("Operator type")
    added: int = column("Added", "integer")
    removed: int = column("Removed", "integer")
    changed: int = column("Changed", "integer")
    unchanged: int = column("Unchanged", "integer")


class BankDiff(Question[RunOptions, list[BankedEntry]]):
    """Compare two knowledge banks. Entries of the second are added or changed, those that only the first has are removed; counts are by operator type."""

    name = "bank diff"
    example = "bank diff bank-before bank-after"
    page = "banks"
    title = "Bank differences"
    options = RunOptions
    tables = (("rows", BankDifference), ("totals", BankDifferences))
    arguments = (
        Argument(name="before", help="A bank: a file or folder.", many=False),
        Argument(name="after", help="The bank to compare with it.", many=False),
    )

    def discover(self, paths: Sequence[Path], asked: Request[RunOptions]) -> list[SideUnit]:
        """The banks below each path."""
        sides: tuple[Side, Side] = ("before", "after")
        return [unit for side, path in zip(sides, paths, strict=True) for unit in _banks(side, path, asked)]

    def units(self, files: list[SideUnit], asked: Request[RunOptions]) -> list[SideUnit]:
        """The banks."""
        del asked
        return files

    def map_unit(self, unit: SideUnit, asked: Request[RunOptions]) -> list[BankedEntry]:
        """What one bank holds."""
        return content_of(unit.file.file, asked.notes).entries

    def finish(self, parts: Sequence[tuple[SideUnit, list[BankedEntry]]], asked: Request[RunOptions]) -> Finished:
        """Entry by entry, and how many there are of each operator type; what is in doubt is not compared."""
        doubtful = _in_doubt(asked)
        sides: dict[Side, _Side] = {"before": {}, "after": {}}
        for unit, entries in parts:
            for entry in entries:
                if _group(unit) not in doubtful:
                    sides[unit.side].setdefault(entry.identity, entry)
        if {unit.side for unit in asked.units} != set(sides):
            sides = {"before": {}, "after": {}}  # a side without a bank: its findings say so
        rows = differences(sides["before"], sides["after"])
        totals = _totals(sides["before"], sides["after"], rows)
        return Finished(
            tables=(
                Rows(type=BankDifference, rows=rows, title=say("Entries"), place=1),
                Rows(type=BankDifferences, rows=totals, key="totals"),
            ),
            headline=_headline(totals),
        )


bank_diff = asking(BankDiff(), RunOptions)
"""What differs between two knowledge banks: `bank_diff([before, after]).rows`."""


def _headline(totals: Sequence[BankDifferences]) -> str:
    """How many entries were added, removed and changed, the most first, and where most of it is."""
    if not totals:
        return ""
    counts = {
        say("added"): sum(one.added for one in totals),
        say("removed"): sum(one.removed for one in totals),
        say("changed"): sum(one.changed for one in totals),
    }
    same = sum(one.unchanged for one in totals)
    named = [
        say("{count:,} {outcome}", count=counts[word], outcome=word)
        for word in sorted(counts, key=lambda word: -counts[word])
        if counts[word]
    ]
    if not named:
        return say("No entry differs; {same:,} are the same.", same=same)
    return say("Entries: {counts}; {same:,} are the same.", counts=join(", ", named), same=same)


def differences(before: Mapping[Identity, BankedEntry], after: Mapping[Identity, BankedEntry]) -> list[BankDifference]:
    """What only one side has, or what holds something else, by kind, chip and operator."""
    found = []
    for identity in sorted(before.keys() | after.keys()):
        old, new = before.get(identity), after.get(identity)
        if old is None or new is None or old.value != new.value:
            found.append(_difference(old, new))
    return found


def _group(unit: SideUnit) -> tuple[str, str | None]:
    """What one bank is of: its kind and chip."""
    return (unit.file.file.name.kind, unit.file.file.name.soc)


def _in_doubt(asked: Request[RunOptions]) -> set[tuple[str, str | None]]:
    """Kinds and chips of banks with damage on either side: an entry that was left out would seem to be removed, or added."""
    damaged = {finding.path for finding in asked.notes.findings if finding.severity == "error"}
    return {_group(unit) for unit in asked.units if unit.path in damaged}


def _banks(side: Side, path: Path, asked: Request[RunOptions]) -> list[SideUnit]:
    from aoe_reports.engine.captures import bank_files, nothing_measured, operator_bank_files
    from aoe_reports.formats.sources.discovery import discover

    files = discover([path], max_expanded=asked.options.max_expanded)
    asked.notes.take(Notes(list(files.findings), files.unreadable))
    found = [*operator_bank_files(files), *bank_files(files)]
    if not found and files.files:
        asked.notes.add([nothing_measured([path], say("no bank here that can be read"))])
    return [SideUnit(side=side, file=FileUnit(file=file)) for file in found]


def _difference(old: BankedEntry | None, new: BankedEntry | None) -> BankDifference:
    known = new or old
    assert known is not None
    return row_from(
        BankDifference,
        known,
        change="added" if old is None else "removed" if new is None else "changed",
        fields=_fields(old, new),
        before=None if old is None else old.value,
        after=None if new is None else new.value,
    )


def _fields(old: BankedEntry | None, new: BankedEntry | None) -> list[str]:
    """The fields of an entry that changed, where its bank names them."""
    if old is None or new is None or old.knowledge is None or new.knowledge is None:
        return []
    names = dict.fromkeys((*old.knowledge, *new.knowledge))
    pairs = [(name, old.knowledge.get(name, _ABSENT), new.knowledge.get(name, _ABSENT)) for name in names]
    changed = [f"{name}: {was} → {now}" for name, was, now in pairs if was != now]
    return [text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…" for text in changed]


def _totals(
    before: Mapping[Identity, BankedEntry], after: Mapping[Identity, BankedEntry], rows: Sequence[BankDifference]
) -> list[BankDifferences]:
    def group(one: BankedEntry | BankDifference) -> tuple[BankKind, str, int, str]:
        return (one.kind, one.soc or "", one.cores or 0, one.op_type or "")

    entries = Counter(group(entry) for entry in {**before, **after}.values())
    changes = Counter((*group(one), one.change) for one in rows)
    found = []
    for kind, soc, cores, op_type in sorted(entries):
        added, removed, changed = (changes[kind, soc, cores, op_type, what] for what in ("added", "removed", "changed"))
        found.append(
            BankDifferences(
                kind=kind,
                soc=soc or None,
                cores=cores or None,
                op_type=op_type or None,
                added=added,
                removed=removed,
                changed=changed,
                unchanged=entries[kind, soc, cores, op_type] - added - removed - changed,
            )
        )
    return found
