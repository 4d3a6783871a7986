"""Takes CSV apart into columns of text and rows of the wrong length, by pyarrow: every row in full, whatever is wanted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from aoe_reports.formats.csv.ragged import Ragged
from aoe_reports.formats.table import NULL_TOKENS, Field

BLOCK_BYTES = 1 << 20
MAX_REJOINED = 10_000
"""How many rows of the wrong length are looked at one by one; with more of them the file itself is of another shape."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the structural pass gives: text columns and rows of the wrong length."""

    frame: pa.Table
    """The wanted columns of the rows of the right length, each under the number of its place in the header; beside it,
    under `read_name`, cells that were read as numbers already (then null in the text)."""
    ragged: list[Ragged]


def parse(source: Path | bytes, cells: int, wanted: list[Field]) -> Parsed | None:
    """Read all rows, the wanted columns as text; None where the bytes cannot be taken apart as CSV.

    A large file is read by several threads first, as if every row had its cells; which row has not only one thread can tell.
    """
    if isinstance(source, Path) and source.stat().st_size >= LARGE_BYTES:
        frame = _read_arrow(source, cells, wanted, None, multiline=False)
        if frame is not None:
            return Parsed(frame, [])
    for multiline in (False, True):
        ragged: list[Ragged] = []
        frame = _read_arrow(source, cells, wanted, ragged, multiline=multiline)
        if frame is not None:
            return Parsed(frame, ragged)
    return None


LARGE_BYTES = 16 << 20


def no_rows(wanted: list[Field]) -> pa.Table:
    return pa.schema([(str(spec.position), text_type(spec)) for spec in wanted]).empty_table()


def read_name(spec: Field) -> str:
    """The name of the column that holds those cells of another as numbers that were plain."""
    return f"{spec.position} read"


def text_type(spec: Field) -> pa.DataType:
    """What a column's text is kept as: words that repeat once each."""
    return pa.dictionary(pa.int32(), pa.string()) if spec.type in {"text", "unknown"} else pa.string()


def _read_arrow(
    source: Path | bytes, cells: int, wanted: list[Field], ragged: list[Ragged] | None, *, multiline: bool
) -> pa.Table | None:
    """The rows; with `ragged` those of the wrong length are put there, else (and by several threads) None for any of them."""

    def skip(row: Any) -> str:
        assert ragged is not None
        text = row.text if len(ragged) < MAX_REJOINED else None
        ragged.append(Ragged(row.number - 2, row.actual_columns, "\n" in row.text, text))
        return "skip"

    names = [str(position) for position in range(cells)]
    types = {names[f.position]: text_type(f) for f in wanted}
    try:
        with _opened(source) as file:
            return pacsv.read_csv(
                file,
                read_options=pacsv.ReadOptions(
                    use_threads=ragged is None, block_size=BLOCK_BYTES, skip_rows=1, column_names=names
                ),
                parse_options=pacsv.ParseOptions(
                    invalid_row_handler=None if ragged is None else skip, newlines_in_values=multiline
                ),
                convert_options=convert_options(types),
            )
    except pa.ArrowInvalid as error:
        return no_rows(wanted) if "Empty CSV file" in str(error) else None


def convert_options(types: Mapping[str, pa.DataType]) -> pacsv.ConvertOptions:
    """That these columns are read as such types, null where an exporter wrote so."""
    return pacsv.ConvertOptions(
        include_columns=list(types),
        column_types=types,
        null_values=list(NULL_TOKENS),
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        check_utf8=False,  # every byte has been looked at
    )


def _opened(source: Path | bytes) -> pa.NativeFile:
    """A file of Arrow's own: its read-ahead thread must never need the interpreter, which may be ending."""
    if isinstance(source, Path):
        return pa.OSFile(os.fsencode(source))
    sink = pa.BufferOutputStream()
    sink.write(source)
    return pa.BufferReader(sink.getvalue())
