"""Curves of memory lose no peak however few columns of pixels they are drawn by."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.pictures.memory import curve_of

SAMPLES = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 2**40)), min_size=1, max_size=200)


@given(SAMPLES, st.integers(1, 20))
def test_each_column_keeps_its_first_least_greatest_and_last_size(samples: list[tuple[int, int]], most: int) -> None:
    samples.sort(key=lambda sample: sample[0])
    at, size = (np.array(column, dtype=np.int64) for column in zip(*samples, strict=True))
    at -= at[0]
    duration = int(at[-1])
    curve = curve_of("allocated", [(at, size)], 0, duration, most)
    kept = list(zip(curve.at_ns.tolist(), curve.size_bytes.tolist(), strict=True))
    assert len(kept) <= max(4 * (most + 1), len(at) if len(at) <= 4 * most else 0)
    assert (np.diff(curve.at_ns) >= 0).all()
    every = list(zip(at.tolist(), size.tolist(), strict=True))
    assert set(kept) <= set(every)
    columns: dict[int, list[tuple[int, int]]] = {}
    for time, value in every:
        columns.setdefault(time * most // max(duration, 1), []).append((time, value))
    for points in columns.values():
        mine = [value for time, value in kept if points[0][0] <= time <= points[-1][0]]
        sizes = [value for _, value in points]
        assert {min(sizes), max(sizes), sizes[0], sizes[-1]} <= set(mine)
