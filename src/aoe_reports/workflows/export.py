"""Records of runs as JSON lines, as one JSON list, or as Parquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aoe_reports.errors import AoeReportsError
from aoe_reports.store.layout import RECORD_COLUMNS, ROWS, Run, rows_of
from aoe_reports.workflows.output import whole_file


def records_text(runs: Sequence[Run], *, as_list: bool) -> str:
    """The 19 fields of v0.1 of every record: a JSON list, or one object a line."""
    records = [record.as_json() for run in runs for record in run.records]
    if as_list:
        return json.dumps(records, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)


def write_records_parquet(runs: Sequence[Run], path: Path) -> None:
    """Records as the store holds them: the fields of v0.1 and the typed columns beside them."""
    names = list(RECORD_COLUMNS)
    tables = [rows_of(run).slice(1, len(run.records)).select(names) for run in runs]
    empty = pa.schema([ROWS.field(name) for name in names]).empty_table()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            pq.write_table(pa.concat_tables([empty, *tables]), file, write_page_checksum=True)
    except OSError as error:
        raise AoeReportsError(f"{path}: cannot be written: {error.strerror or error}") from error
