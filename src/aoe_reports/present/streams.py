"""A stream in any form, batch by batch: CSV and JSON in pieces, Parquet into a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from aoe_reports.engine.output import whole_file
from aoe_reports.engine.question import Stream
from aoe_reports.engine.tables.sql import rows_of
from aoe_reports.model.documents import Cell, Cells
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.findings import Finding, in_order, reasons_of
from aoe_reports.model.report import Grid, Report, Section
from aoe_reports.model.rows import Column, Kind
from aoe_reports.model.texts import say
from aoe_reports.present.answers import first_of
from aoe_reports.present.as_json import render_pieces as render_json
from aoe_reports.present.csv import render_rows as render_csv

_ROWS_AT_ONCE = 50_000


def render_stream(stream: Stream, form: str, *, strict: bool) -> Iterator[str]:
    """The rows as people read them: of a table of ours durations in us, time stamps as they are."""
    if form == "json":

        def end() -> tuple[list[Finding], list[str]]:
            findings = in_order(stream.notes.findings)
            return findings, reasons_of(findings, strict=strict)

        yield from render_json(stream.command, list(stream.inputs), _rows(stream), end)
        return
    header = True
    for rows in _rows(stream):
        yield render_csv(rows, header=header)
        header = header and not rows
    if header and stream.schema is not None:
        yield render_csv([dict.fromkeys(stream.schema.names)]).partition("\n")[0] + "\n"


def write_parquet(stream: Stream, path: Path) -> None:
    """Write all rows, whole or not at all, batch after batch."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            first = next(stream.batches, None)
            schema = stream.schema if first is None else first.schema
            with pq.ParquetWriter(file, schema or pa.schema([]), write_page_checksum=True) as writer:
                for batch in chain([] if first is None else [first], stream.batches):
                    writer.write_batch(batch)
    except (OSError, pa.ArrowException) as error:
        why = getattr(error, "strerror", None) or error
        raise AoeReportsError(say("{path}: cannot be written: {why}", path=path, why=why)) from error


def _rows(stream: Stream) -> Iterator[list[Cells]]:
    for batch in stream.batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            part = batch.slice(start, _ROWS_AT_ONCE)
            yield [*map(_shown, part.to_pylist())] if stream.schema is None else [*rows_of(part)]


def report_of_stream(stream: Stream, title: str, most: int) -> Report:
    """The first rows of a query as a table, and how many there are."""
    first: list[Cells] = []
    count = 0
    for rows in _rows(stream):
        first += rows[: most - len(first)]
        count += len(rows)
    names = [] if stream.schema is None else stream.schema.names
    columns = tuple(Column(name, name, _kind(first, name)) for name in names)
    said = [first_of(most, count)] if count > most else []
    return Report(title, "" if count else say("no rows"), [Section("", said, Grid(columns, first))])


def _kind(rows: Sequence[Cells], name: str) -> Kind:
    """How a column of a query is shown: whole numbers with separators, other numbers as they are."""
    return "integer" if any(type(row[name]) is int for row in rows) else "text"


def _shown(cells: Cells) -> Cells:
    """Durations in us (exact to the ns), time stamps as they are: their 19 digits do not fit a float."""
    durations = _durations()
    return {
        (name.removesuffix("_ns") + "_us" if name in durations else name): (_us(value) if name in durations else value)
        for name, value in cells.items()
    }


def _us(value: Cell) -> Cell:
    if isinstance(value, list):
        return [_us(part) for part in value]
    return value / 1000 if isinstance(value, int | float) else None


@cache
def _durations() -> frozenset[str]:
    """The columns that are durations in any table or timeline."""
    from aoe_reports.formats.vendor import TABLES  # noqa: PLC0415

    every = {column.field for table in TABLES.values() for column in table.columns if column.type == "duration"}
    return frozenset(every | {"duration_ns"})
