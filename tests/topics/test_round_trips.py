"""A record is the same record as JSON, as a Record and as a row of Parquet, in every direction."""

from __future__ import annotations

import io
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.records.from_document import record_of_document
from aoe_reports.formats.records.record import FIELDS, JSON_FIELDS, OURS, Phase, Record
from aoe_reports.formats.records.row import record_of_row, row_of_record
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import RecordScope
from aoe_reports.model.timestamps import parse_timestamp
from aoe_reports.rules.records import sound_records
from aoe_reports.store.layout import ROWS

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT | st.just(OURS), VALUES, max_size=3)
TIMES_MS = st.floats(0, allow_infinity=False) | st.integers(0, 1 << 53)
TIMES = (
    st.integers(1_000_000_000, 7_000_000_000)
    | st.floats(1e9, 7e9)
    | st.integers(10**18, 7 * 10**18).map(str)
    | st.integers(10**9, 7 * 10**9).map(lambda s: f"{datetime.fromtimestamp(s, UTC):%Y%m%d%H%M%S}")
)  # fmt: skip
RAW = st.lists(
    st.builds(lambda ms, more: {**more, "runtime_ms": ms}, TIMES_MS, st.dictionaries(TEXT, VALUES, max_size=2)),
    max_size=3,
)
DOCUMENTS = st.builds(
    lambda required, optional, unknown: {**unknown, **optional, **required},
    st.fixed_dictionaries(
        {
            "workload": TEXT,
            "engine": TEXT,
            "hardware": TEXT,
            "runtime_ms_mean": TIMES_MS,
            "runtime_ms_std": TIMES_MS | st.none(),
            "timestamp": TIMES,
            "schema_version": st.just("0.1"),
        }
    ),
    st.fixed_dictionaries(
        {}, optional={"engine_version": TEXT, "runtime_raw": RAW, **dict.fromkeys(JSON_FIELDS, OBJECTS)}
    ),
    st.dictionaries(TEXT.filter(lambda name: name not in FIELDS), VALUES, max_size=2),
)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
OWN = st.builds(
    Record,
    workload=TEXT,
    engine=TEXT,
    hardware=TEXT,
    runtime_ms_mean=st.floats(0, allow_infinity=False),
    runtime_ms_std=st.floats(0, allow_infinity=False) | st.none(),
    timestamp=st.floats(1e9, 7e9),
    engine_version=TEXT,
    runtime_raw=RAW | st.none(),
    run_id=st.just("20260101T020304-0123abcd"),
    timestamp_ns=st.integers(0, (1 << 63) - 1),
    model=TEXT,
    scope=st.sampled_from(get_args(RecordScope)),
    source=st.sampled_from(("msprof", "aoe")),
    phase=st.none() | st.sampled_from(get_args(Phase)),
    op_type=st.none() | TEXT,
    op_name=st.none() | TEXT,
    rank_id=st.none() | INT64,
    device_id=st.none() | INT64,
    count=st.none() | INT64,
    total_ns=st.none() | INT64,
    **{name: OBJECTS.map(lambda value: {k: v for k, v in value.items() if k != OURS}) for name in JSON_FIELDS},
)  # fmt: skip


def read(path: Path) -> list[Record]:
    """The records of a file, as workflows make them."""
    findings: list[Finding] = []
    records = []
    for text in sound_records(path, findings):
        time = parse_timestamp(text.timestamp)
        assert time is not None
        records.append(record_of_document(text.document, time.ns))
    assert findings == []
    return records


def through_parquet(records: list[Record]) -> list[Record]:
    names = list(row_of_record(records[0]))
    table = pa.Table.from_pylist(
        [row_of_record(record) for record in records], schema=pa.schema([ROWS.field(name) for name in names])
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return [record_of_row(row) for row in pq.read_table(buffer).to_pylist()]


def same(left: Any, right: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return type(left) is type(right) and left == right


@given(documents=st.lists(DOCUMENTS, min_size=1, max_size=3), lines=st.booleans())
def test_a_foreign_record_comes_back_as_it_was(tmp_path: Path, documents: list[dict[str, Any]], lines: bool) -> None:
    path = tmp_path / ("r.jsonl" if lines else "r.json")
    path.write_text("\n".join(map(json.dumps, documents)) if lines else json.dumps(documents, ensure_ascii=False))
    records = read(path)
    assert through_parquet(records) == records
    for document, record in zip(documents, through_parquet(records), strict=True):
        back = json.loads(json.dumps(record.as_json()))
        assert back == document
        typed = {"runtime_ms_mean", "runtime_ms_std"}  # float64 columns: 12 and 12.0 are one number
        for name in document.keys() - typed:
            assert same(back[name], document[name])


@given(record=OWN)
def test_a_record_of_ours_comes_back_as_it_was(tmp_path: Path, record: Record) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps(record.as_json()))
    assert read(path) == [record] == through_parquet([record])
    assert read(path)[0].series_id == record.series_id


@pytest.mark.parametrize(
    "told",
    [
        "x", [], {}, {"run_id": "20260101T020304-0123abcd"},
        {"run_id": "r'", "timestamp_ns": 1, "model": "m", "scope": "op", "source": "aoe"},
        {"run_id": "20260101T020304-0123abcd", "timestamp_ns": 1 << 63, "model": "m", "scope": "op", "source": "aoe"},
        {"run_id": "20260101T020304-0123abcd", "timestamp_ns": True, "model": "m", "scope": "op", "source": "aoe"},
        {"run_id": "20260101T020304-0123abcd", "timestamp_ns": 1, "model": "m", "scope": ["op"], "source": "aoe"},
        {"run_id": "20260101T020304-0123abcd", "timestamp_ns": 1, "model": "m", "scope": "op", "source": "foreign"},
    ],
)  # fmt: skip
def test_what_only_looks_like_ours_is_foreign_and_kept(tmp_path: Path, told: Any) -> None:
    document = {
        "workload": "w",
        "engine": "e",
        "hardware": "h",
        "runtime_ms_mean": 1.5,
        "runtime_ms_std": None,
        "timestamp": 1572282699.6,
        "schema_version": "0.1",
        "metadata": {OURS: told, "a": 1},
    }
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    (record,) = read(path)
    assert (record.source, record.timestamp_ns) == ("foreign", 1572282699600000000)
    assert record.as_json() == document == through_parquet([record])[0].as_json()
