"""Answers as frames: every library that reads Arrow gets the same rows, exact to the nanosecond, typed as the rows declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from commandline import ROOT

from aoe_reports import breakdown, hotspots, inspect
from aoe_reports.engine.question import Answer
from aoe_reports.model.arrays.frames import arrow_schema, table_of
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.rows import US, Rows, column, row

CAPTURE = ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"
TODAY_NS = 1_764_200_000_123_456_789
"""No float holds it."""


@row
class Inner:
    name: str = column()
    total_ns: int = column(unit=US)


@row
class Outer:
    from_: str | None = column()
    start_ns: int | None = column(unit=US)
    share: float = column()
    is_slow: bool = column()
    kind: Literal["a", "b"] = column()
    inner: Inner | None = column()
    inners: Sequence[Inner] = column()
    words: Sequence[str | None] = column()
    anything: Mapping[str, Any] | None = column()


def outer(**more: Any) -> Outer:
    values: dict[str, Any] = {
        "from_": "x", "start_ns": TODAY_NS, "share": 0.5, "is_slow": True, "kind": "a",
        "inner": Inner(name="i", total_ns=1), "inners": [Inner(name="j", total_ns=2)], "words": ["w", None], "anything": {"k": [1]},
    }  # fmt: skip
    return Outer(**values | more)


ROWS = Rows(
    type=Outer, rows=[outer(), outer(from_=None, start_ns=None, inner=None, inners=[], words=[], anything=None)]
)


def test_columns_are_called_and_typed_as_the_rows_declare() -> None:
    inner = pa.struct([pa.field("name", pa.string(), nullable=False), pa.field("total_ns", pa.int64(), nullable=False)])
    schema = arrow_schema(Outer)
    assert {field.name: field.type for field in schema} == {
        "from": pa.string(), "start_ns": pa.int64(), "share": pa.float64(), "is_slow": pa.bool_(), "kind": pa.string(),
        "inner": inner, "inners": pa.list_(inner), "words": pa.list_(pa.string()), "anything": pa.string(),
    }  # fmt: skip
    assert [field.name for field in schema if field.nullable] == ["from", "start_ns", "inner", "anything"]


def test_values_leave_unchanged_and_what_has_any_shape_as_json() -> None:
    first, second = ROWS.to_arrow().to_pylist()
    assert first["start_ns"] == TODAY_NS
    assert (first["inner"], first["inners"]) == ({"name": "i", "total_ns": 1}, [{"name": "j", "total_ns": 2}])
    assert (first["words"], first["anything"]) == (["w", None], '{"k": [1]}')
    assert (second["from"], second["start_ns"], second["inner"], second["inners"]) == (None, None, None, [])


def test_nanoseconds_stay_exact_in_pandas_beside_a_missing_one() -> None:
    frame = ROWS.to_pandas()
    assert frame["start_ns"].dtype == pd.Int64Dtype()
    assert frame["start_ns"][0] == TODAY_NS
    assert frame["start_ns"].isna().tolist() == [False, True]


def test_a_table_without_rows_has_its_columns() -> None:
    assert table_of(Outer, []).schema == arrow_schema(Outer)
    assert Rows(type=Outer, rows=[]).to_polars().schema["start_ns"] == pl.Int64


def test_a_name_that_is_no_text_is_spelled_as_json_does() -> None:
    assert Rows(type=Outer, rows=[outer(from_="a\udcffb")]).to_arrow()["from"].to_pylist() == ["a?b"]


@pytest.fixture(scope="module")
def answer() -> Answer:
    return hotspots([CAPTURE])


def test_libraries_take_an_answer_as_it_is(answer: Answer) -> None:
    total = sum(row.total_ns for row in answer.rows)
    assert pa.table(answer)["total_ns"].to_pylist() == [row.total_ns for row in answer.rows]
    assert pl.DataFrame(answer)["total_ns"].sum() == total
    assert pd.DataFrame.from_arrow(answer)["total_ns"].sum() == total
    assert duckdb.sql("SELECT sum(total_ns), count(*) FROM answer").fetchall() == [(total, len(answer.rows))]


def test_further_tables_have_the_keys_of_json() -> None:
    both = breakdown([CAPTURE])
    assert both.to_arrow("gaps").column_names[:3] == ["position", "run", "rank_id"]
    assert both.to_polars().columns[:3] == ["run", "rank_id", "device_id"]
    with pytest.raises(UsageError, match="breakdown has no table 'gap': rows, gaps"):
        both.to_pandas("gap")
    with pytest.raises(UsageError, match="no table"):
        both.table("gap")


def test_an_answer_says_in_one_line_what_it_holds(answer: Answer) -> None:
    assert repr(answer) == "<Answer hotspots: rows 12; findings: none>"
    assert repr(answer.tables[0]) == "<Rows rows: 12 of Hotspot>"
    with pytest.raises(ReadError, match="no such file or folder"):
        hotspots([ROOT / "fixtures" / "missing"])


def test_every_table_of_an_inspection_becomes_a_frame() -> None:
    for table in inspect([CAPTURE]).tables:
        table.to_arrow().validate(full=True)
