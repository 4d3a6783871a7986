"""Records of runs as JSON lines, as one JSON list, as CSV or as Parquet: run after run, never all of them at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import to_builtins

from aoe_reports.engine.output import whole_file
from aoe_reports.formats.records.forms import PARQUET_MARK, RUN, csv_lines
from aoe_reports.formats.records.from_document import OwnRun
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.texts import say
from aoe_reports.store.layout import RECORD_COLUMNS, ROWS, Run, rows_of


def records_as_lines(runs: Iterable[Run]) -> Iterator[str]:
    """The 19 fields of v0.1 of every record, one object a line."""
    for run in runs:
        for document in documents_of(run):
            yield json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def records_as_list(runs: Iterable[Run]) -> Iterator[str]:
    """The same as one JSON list."""
    opened = False
    for run in runs:
        for document in documents_of(run):
            text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2).replace("\n", "\n  ")
            yield f"{',' if opened else '['}\n  {text}"
            opened = True
    yield "\n]\n" if opened else "[]\n"


def documents_of(run: Run, *, whole: bool = True) -> Iterator[JsonObject]:
    """The records of a run as JSON objects; the first of ours tells what the run is, so that it can come back.

    `whole` says that these are all records of the run.
    """
    for place, record in enumerate(run.records):
        yield record.as_json(_told_of(run, whole=whole) if place == 0 else None)


def _told_of(run: Run, *, whole: bool = True) -> JsonObject | None:
    """The run, as its first record describes it; None for records of another tool."""
    header = run.header
    if run.records[0].source == "foreign":
        return None
    told: JsonObject = to_builtins(
        OwnRun(
            kind=header.run_kind,
            night=header.night,
            status=header.status,
            members=header.members,
            records=len(run.records) if whole else None,
            normaliser_version=header.normaliser_version,
            body=run.body,
        )
    )
    return told


def records_as_csv(runs: Iterable[Run]) -> Iterator[str]:
    """The same as CSV: a column a field, objects as JSON."""
    return csv_lines(document for run in runs for document in documents_of(run))


def write_records_parquet(runs: Iterable[Run], path: Path) -> None:
    """Records as the store holds them: the fields of v0.1 and the typed columns beside them; the first of a run tells of the run."""
    names = list(RECORD_COLUMNS)
    schema = pa.schema([*(ROWS.field(name) for name in names), (RUN, pa.string())], {PARQUET_MARK: b""})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file, pq.ParquetWriter(file, schema, write_page_checksum=True) as writer:
            for run in runs:
                if run.records:
                    told = _told_of(run)
                    first = None if told is None else json.dumps(told, ensure_ascii=False, allow_nan=False)
                    column = pa.array([first, *[None] * (len(run.records) - 1)], pa.string())
                    rows = rows_of(run).slice(1, len(run.records)).select(names).append_column(RUN, column)
                    writer.write_table(rows.cast(schema))
    except OSError as error:
        raise AoeReportsError(
            say("{path}: cannot be written: {why}", path=path, why=error.strerror or error)
        ) from error
