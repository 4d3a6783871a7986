"""Blocks of pictures: few of them stand for all slices, and what is written of them is read again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.arrays.columns import Ints
from aoe_reports.model.pictures.blocks import Blocks, blocks_of, merged, read_blocks, written


def ints(*values: int) -> Ints:
    return np.asarray(values, dtype=np.int64)


def rows(blocks: Blocks) -> list[tuple[int, ...]]:
    columns = (blocks.start, blocks.end, blocks.kind, blocks.on_path, blocks.name, blocks.count, blocks.busy)
    return list(zip(*(column.tolist() for column in columns), strict=True))


SLICES = st.lists(
    st.tuples(st.integers(0, 10_000), st.integers(0, 3_000), st.integers(0, 5), st.integers(0, 1), st.integers(-1, 40)),
    max_size=60,
)


def of(slices: list[tuple[int, int, int, int, int]]) -> Blocks:
    start, length, kind, path, name = (
        (ints(*column) for column in zip(*slices, strict=True)) if slices else [ints()] * 5
    )
    return blocks_of(start, start + length, kind, path, name)


@given(SLICES, st.integers(1, 5_000), st.integers(1, 5_000))
def test_no_slice_and_no_nanosecond_is_lost_however_often_blocks_are_merged(
    slices: list[tuple[int, int, int, int, int]], grain: int, more: int
) -> None:
    blocks = merged(merged(of(slices), grain), grain + more)
    assert blocks.count.sum() == len(slices)
    assert blocks.busy_ns == sum(one[1] for one in slices)
    assert np.all(np.diff(blocks.start) >= grain + more)
    assert blocks.end.max(initial=0) == max((one[0] + one[1] for one in slices), default=0)
    assert blocks.on_path.max(initial=0) == max((one[3] for one in slices), default=0)
    assert len(blocks) <= 10_000 // (grain + more) + 1


@given(SLICES, st.integers(1, 5_000))
def test_what_is_written_is_read_again(slices: list[tuple[int, int, int, int, int]], grain: int) -> None:
    blocks = merged(of(slices), grain)
    assert rows(read_blocks(written(blocks))) == rows(blocks)


def test_a_block_is_called_and_coloured_as_its_longest_slice() -> None:
    #                 start end kind path name
    blocks = of([(0, 3, 0, 0, 7), (4, 90, 1, 0, 8), (9, 5, 2, 1, 9), (10, 1, 3, 0, 1)])
    assert rows(merged(blocks, 10)) == [(0, 94, 1, 1, 8, 3, 98), (10, 11, 3, 0, 1, 1, 1)]
    assert rows(merged(blocks, 1)) == rows(blocks)


def test_blocks_that_nearly_touch_stay_apart_where_they_are_longer_than_a_grain() -> None:
    blocks = of([(0, 50, 0, 0, 0), (51, 50, 0, 0, 0)])
    assert len(merged(blocks, 10)) == 2


@pytest.mark.parametrize(
    "cells", ["A", "AAA", "AACA", "?AAA", "g", "AA A", "ggggggggggggggggggggA", "AAAAé", "-" * 13 + "AAAA"]
)
def test_what_nobody_wrote_is_no_block(cells: str) -> None:
    with pytest.raises(ValueError, match=r"block|number|64 bits"):
        read_blocks(cells)
