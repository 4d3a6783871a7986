"""Tables in a temporary file are the tables that were put in; sorting them by windows is sorting them whole, whatever the size of a block."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats import spilled_table
from aoe_reports.formats.spilled_table import SpilledTable, blocks_of, ends_of, in_order, rows_where, sorted_by
from aoe_reports.model.arrays.columns import integers

ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 9) | st.integers(-(2**62), 2**62),
        st.none() | st.sampled_from(["a", "b", "算"]),
        st.integers(0, 100),
    ),
    max_size=40,
)
BLOCKS = st.lists(ROWS, min_size=1, max_size=6)


@pytest.fixture(autouse=True, params=[1, 3, 1 << 16])
def _rows_of_a_block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilled_table, "BLOCK_ROWS", request.param)
    monkeypatch.setattr(spilled_table, "_MARKS", 2)


def _table(rows: list[tuple[Any, ...]]) -> pa.Table:
    """Each table numbers its words by itself."""
    key, word, number = zip(*rows, strict=True) if rows else ((), (), ())
    words = pa.array(word, pa.string()).dictionary_encode()
    return pa.table({"key": pa.array(key, pa.int64()), "word": words, "number": pa.array(number, pa.int64())})


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(table[name].to_pylist() for name in ("key", "word", "number")), strict=True))


@given(BLOCKS)
def test_what_is_put_in_comes_out(blocks: list[list[tuple[Any, ...]]]) -> None:
    kept = SpilledTable()
    for rows in blocks:
        kept.add(_table(rows))
    found, every = kept.table(), [row for rows in blocks for row in rows]
    found.validate(full=True)
    assert _rows(found) == every
    assert [row for block in blocks_of(found) for row in _rows(block)] == every
    assert all(block.num_rows <= spilled_table.BLOCK_ROWS for block in blocks_of(found))
    keys = [key for key, _, _ in every if key is not None]
    assert ends_of(found["key"]) == ((min(keys), max(keys)) if keys else None)
    few = rows_where(found, lambda block: integers(block["number"])[0] < 50)
    assert _rows(few) == [row for row in every if row[2] < 50]


@given(BLOCKS)
def test_rows_are_sorted_by_their_key_and_else_stay_in_their_order(blocks: list[list[tuple[Any, ...]]]) -> None:
    every = [row for rows in blocks for row in rows]
    expected = sorted((row for row in every if row[0] is not None), key=lambda row: row[0])
    assert _rows(sorted_by(map(_table, blocks), "key")) == expected
    ordered = in_order(_table(every), "key")
    assert _rows(ordered) == expected
    assert in_order(ordered, "key") is ordered
