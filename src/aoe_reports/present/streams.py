"""A stream in any form, batch by batch: CSV and JSON in pieces, Parquet into a file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from aoe_reports.engine.output import whole_file
from aoe_reports.engine.question import Stream
from aoe_reports.model.documents import Cell, Cells
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.findings import Finding, in_order, reasons_of
from aoe_reports.model.texts import say
from aoe_reports.present.as_json import render_pieces as render_json
from aoe_reports.present.csv import render_rows as render_csv

_ROWS_AT_ONCE = 50_000


def render_stream(stream: Stream, form: str, *, strict: bool) -> Iterator[str]:
    """The rows as people read them: durations in us, time stamps as they are."""
    if form == "json":

        def end() -> tuple[list[Finding], list[str]]:
            found = in_order(stream.notes.findings)
            return found, reasons_of(found, strict=strict)

        yield from render_json(stream.command, list(stream.inputs), _rows(stream), end)
        return
    header = True
    for rows in _rows(stream):
        yield render_csv(rows, header=header)
        header = header and not rows


def write_parquet(stream: Stream, path: Path) -> None:
    """Write all rows, whole or not at all, batch after batch."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    writer: pq.ParquetWriter | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            for batch in stream.batches:
                writer = writer or pq.ParquetWriter(file, batch.schema, write_page_checksum=True)
                writer.write_batch(batch)
            writer = writer or pq.ParquetWriter(file, pa.schema([]), write_page_checksum=True)
            writer.close()
    except OSError as error:
        raise AoeReportsError(
            say("{path}: cannot be written: {why}", path=path, why=error.strerror or error)
        ) from error


def _rows(stream: Stream) -> Iterator[list[Cells]]:
    for batch in stream.batches:
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            yield [_shown(cells) for cells in batch.slice(start, _ROWS_AT_ONCE).to_pylist()]


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
