"""What every file is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import FileUnit, Finished, Notes, Question, Request, RunOptions
from aoe_reports.model.documents import Json
from aoe_reports.model.rows import Rows, column, row, row_from
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.model.topics.banks import BankSummary

if TYPE_CHECKING:
    from aoe_reports.formats.csv.summary import TableData
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.formats.sources.found import FoundFile


_NAMED = 3
"""So many kinds are in a headline."""


@row
class InspectedFile:
    """One file; null where that is not known of it, or no file of its kind has it."""

    path: str = column("Path")
    kind: str = column("Kind")
    source: str = column("Source", detail=True)
    form: str = column("Form", detail=True)
    vintage: str | None = column("Vintage", detail=True, default=None)
    run: str | None = column("Run", default=None)
    rank_id: int | None = column("Rank", "integer", default=None)
    device_id: int | None = column("Device", "integer", default=None)
    model_id: int | None = column(default=None)
    iteration: int | None = column(default=None)
    slice: int | None = column(default=None)
    rows: int | None = column("Rows", "integer", default=None)
    start_ns: int | None = column(default=None)
    end_ns: int | None = column(default=None)
    superseded: bool = column("Superseded")
    summary: BankSummary | Mapping[str, Json] | None = column(default=None)


class Inspect(Question[RunOptions, InspectedFile]):
    """Describe each file: kind, source, vintage, run, rank, rows."""

    example = "inspect profile"
    page = "tables"
    title = "Files"
    options = RunOptions
    tables = (("rows", InspectedFile),)

    def units(self, files: Discovery, asked: Request[RunOptions]) -> list[FileUnit]:
        """Every file of every capture, those that a better form replaces among them, and every file of tuners."""
        from aoe_reports.engine.captures import (
            aoe_files,
            bank_files,
            find_captures,
            operator_bank_files,
            record_files,
            tuner_files,
            unread_files,
        )
        from aoe_reports.engine.runs import label_of

        found = []
        for captures in find_captures(files):
            run = label_of(captures)
            for capture in captures:
                asked.notes.add(capture.findings)
                rank = capture.info.rank_id
                found += [FileUnit(file=file, run=run, rank_id=rank) for file in capture.files]
                found += [FileUnit(file=file, run=run, rank_id=rank, superseded=True) for file in capture.superseded]
        alone = (
            *aoe_files(files),
            *bank_files(files),
            *operator_bank_files(files),
            *record_files(files),
            *tuner_files(files),
        )
        found += [FileUnit(file=file) for file in alone]
        return found + [FileUnit(file=file, rank_id=file.name.rank_id) for file in unread_files(files)]

    def map_unit(self, unit: FileUnit, asked: Request[RunOptions]) -> InspectedFile:
        """One file; of one of a tuner that cannot be read there is a row, too."""
        known = _known(unit)
        if unit.run is not None:
            return _of_capture(unit.file, known, asked.notes)
        read = _reader(unit.file)
        if read is not None:
            with asked.notes.where_unreadable(unit.path):
                return read(unit.file, known, asked.notes)
        return known

    def finish(self, parts: Sequence[tuple[FileUnit, InspectedFile]], asked: Request[RunOptions]) -> Finished:
        """The files by path; the rows of a bank are its gradients."""
        del asked
        rows = sorted((one for _, one in parts), key=lambda one: one.path)
        table = Rows(type=InspectedFile, rows=rows, without=frozenset({"gradients"}))
        return Finished(tables=(table,), headline=_headline(rows))


def _headline(rows: Sequence[InspectedFile]) -> str:
    """How many files of what, and of how many ranks."""
    if not rows:
        return ""
    kinds = [kind for kind, _ in Counter(row.kind for row in rows).most_common()]
    ranks = {(row.run, row.rank_id) for row in rows if row.rank_id is not None}
    more = len(kinds) - _NAMED
    return say(
        "{files}{ranks}: {kinds}{more}.",
        files=count_of(len(rows), "{number} file", "{number} files"),
        ranks="" if len(ranks) < 2 else say(" of {count} ranks", count=len(ranks)),  # noqa: PLR2004 -- several
        kinds=join(", ", kinds[:_NAMED]),
        more="" if more < 1 else count_of(more, " and {number} other kind", " and {number} other kinds"),
    )


inspect = asking(Inspect(), RunOptions)
"""What the files below some paths are: `inspect([path]).rows`."""


def _known(unit: FileUnit) -> InspectedFile:
    """What is known of a file before it is read."""
    of_unit = {"path": unit.path, "run": unit.run, "rank_id": unit.rank_id, "superseded": unit.superseded}
    return row_from(InspectedFile, unit.file.name, **of_unit)


def _of_capture(file: FoundFile, known: InspectedFile, notes: Notes) -> InspectedFile:
    from aoe_reports.engine.captures import look_at, read_file
    from aoe_reports.formats.rules import EMPTY_FILE
    from aoe_reports.formats.vendor import TABLES

    if file.size == 0:
        notes.add([EMPTY_FILE.found(str(file.path), say("the file is empty"))])
        return known
    if file.name.timeline:
        look = look_at(file)
        notes.add(look.findings)
        return replace(known, rows=look.events, start_ns=look.start_ns, end_ns=look.end_ns)
    if not file.holds:
        return known
    kind = next((kind for kind in file.holds if TABLES[kind].facts == "tasks"), file.holds[0])
    data = read_file(file, kind, _times(), hashed=False)
    notes.add(data.findings)
    start, end = _bounds(data)
    return replace(known, vintage=data.match.vintage or None, rows=data.rows_read, start_ns=start, end_ns=end)


@cache
def _times() -> frozenset[str]:
    """Every column of points in time."""
    from aoe_reports.formats.vendor import TABLES

    return frozenset(
        column.field
        for table in TABLES.values()
        for column in table.columns
        if column.type == "timestamp" and column.name not in table.repeating
    )


def _bounds(data: TableData) -> tuple[int | None, int | None]:
    """The first start and the last end (or start, where a table has no ends) in a table."""
    import pyarrow.compute as pc

    columns = [data.frame[name] for name in data.frame.column_names if name in _times()]
    bounds = [pc.min_max(column).as_py() for column in columns]
    return (
        min((bound["min"] for bound in bounds if bound["min"] is not None), default=None),
        max((bound["max"] for bound in bounds if bound["max"] is not None), default=None),
    )


def _reader(file: FoundFile) -> Callable[[FoundFile, InspectedFile, Notes], InspectedFile] | None:
    """How a file that belongs to no capture is read; None where it is not."""
    from aoe_reports.formats.ascend.names import OPERATOR_BANKS, RESULT_KINDS

    if file.name.source == "tuner":
        return _of_tuner
    banks = {
        **dict.fromkeys(OPERATOR_BANKS, _of_operators),
        "gdat": _of_bank,
    }
    return {**dict.fromkeys(RESULT_KINDS, _of_result), **banks, "record": _of_records}.get(file.name.kind)


def _of_result(file: FoundFile, known: InspectedFile, notes: Notes) -> InspectedFile:
    from aoe_reports.topics.records.load import load_tuning
    from aoe_reports.topics.records.options import RecordOptions

    tunings, found = load_tuning(file, RecordOptions())
    notes.add(finding for finding in found if finding.rule.startswith("json-"))
    if not tunings:
        return known
    changed = sum(len(tuning.result.modifications) for tuning in tunings)
    return replace(known, run=tunings[0].run_id, rows=changed)


def _of_bank(file: FoundFile, known: InspectedFile, notes: Notes) -> InspectedFile:
    from aoe_reports.formats.aoe.bank_file import read_bank

    bank = read_bank(file.path, file.name)
    notes.add(bank.findings)
    if not bank.parsed:
        return known
    summary = bank.bank.summary()
    return replace(known, rows=summary.gradients, summary=summary)


def _of_operators(file: FoundFile, known: InspectedFile, notes: Notes) -> InspectedFile:
    from aoe_reports.formats.aoe.operator_bank_file import read_operator_bank

    bank = read_operator_bank(file.path)
    notes.add(bank.findings)
    return replace(known, rows=len(bank.entries))


def _of_tuner(file: FoundFile, known: InspectedFile, notes: Notes) -> InspectedFile:
    from aoe_reports.formats.tuner_files import tuner_file_kind

    read = tuner_file_kind(file.name.kind).read(file.path, None)
    notes.add(read.findings)
    return replace(known, rows=read.rows, summary=read.summary)


def _of_records(file: FoundFile, known: InspectedFile, notes: Notes) -> InspectedFile:
    from aoe_reports.rules.records import sound_records

    return replace(known, rows=sum(1 for _ in sound_records(file.path, notes.findings)))
