"""Queues of launches: what is summed over time is what all waits are together, to the nanosecond."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.launches import clocks_of, queue_of
from aoe_reports.model.arrays.intervals import covered, covered_each, union

entries = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 90)), min_size=1, max_size=30)
spans = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 40)), max_size=20)


@given(entries)
def test_length_over_time_is_the_sum_of_waits(waits: list[tuple[int, int]]) -> None:
    entered = np.asarray([at for at, _ in waits], dtype=np.int64)
    left = entered + [length for _, length in waits]
    queue = queue_of(entered, left)
    assert queue is not None
    lengths = [int(((entered <= at) & (left > at)).sum()) for at in range(int(entered.min()), int(left.max()))]
    assert queue.waited_ns == sum(lengths) == int((left - entered).sum())
    assert queue.empty_ns == lengths.count(0)
    assert queue.span_ns == len(lengths)
    assert queue.most == max(lengths, default=0)
    assert queue.p50_ns <= queue.p95_ns <= queue.longest_ns == int((left - entered).max())
    assert queue.entries == len(waits)


def test_quantiles_are_waits_that_occur() -> None:
    entered = np.zeros(20, dtype=np.int64)
    queue = queue_of(entered, np.arange(1, 21, dtype=np.int64))
    assert queue is not None
    assert (queue.p50_ns, queue.p95_ns, queue.longest_ns) == (10, 19, 20)
    assert queue.mean_length == 210 / 20


def test_nothing_launched_is_no_queue() -> None:
    assert queue_of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)) is None


def test_one_early_launch_in_a_hundred_is_no_clock() -> None:
    lags = np.full(200, 5, dtype=np.int64)
    lags[0] = -7
    every = np.ones(200, dtype=bool)
    assert clocks_of(lags, every, every) == (0, 5)
    assert clocks_of(lags - 9, every, every) == (-4, 0)


@given(spans, spans)
def test_what_is_covered_of_many_times(some: list[tuple[int, int]], times: list[tuple[int, int]]) -> None:
    starts, lengths = (np.asarray([one[part] for one in some], dtype=np.int64) for part in (0, 1))
    whole = union(starts, starts + lengths)
    begins, lasting = (np.asarray([one[part] for one in times], dtype=np.int64) for part in (0, 1))
    expected = [covered(whole, begin, begin + length) for begin, length in times]
    assert covered_each(whole, begins, begins + lasting).tolist() == expected
