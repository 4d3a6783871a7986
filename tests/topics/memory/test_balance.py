"""The share of a recorded sum's changes that is explained, against a loop over its samples in plain Python."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_memory import Block, event_frame_of, sample_frame_of

from aoe_reports.formats import spilled_table
from aoe_reports.topics.memory.balance import Allocations, balance_of
from aoe_reports.topics.memory.samples import Samples

BLOCKS = st.lists(
    st.builds(
        Block,
        owner=st.just("a"),
        size=st.integers(0, 20),
        address=st.just(0),
        is_small=st.just(False),
        allocated_ns=st.none() | st.integers(0, 20),
        released_ns=st.none() | st.integers(0, 20),
    ).filter(lambda block: None in {block.allocated_ns, block.released_ns} or block.allocated_ns <= block.released_ns),
    max_size=8,
)
RECORDED = st.lists(st.tuples(st.integers(-2, 22), st.integers(0, 60)), min_size=1, max_size=15)
"""(when, the recorded sum)."""


def _samples(recorded: list[tuple[int, int]]) -> Samples:
    samples = [(time, (size, None, None)) for time, size in recorded]
    return Samples.of("operator_memory", "allocator", "PTA", sample_frame_of(samples))


def _alive(blocks: list[Block], time: int) -> int:
    return sum(
        block.size
        for block in blocks
        if (block.allocated_ns is None or block.allocated_ns <= time)
        and (block.released_ns is None or time < block.released_ns)
    )


def _explained(blocks: list[Block], recorded: list[tuple[int, int]]) -> float:
    """What was held before can only fall and is not negative; all other differences are not explained."""
    last = dict(sorted(recorded, key=lambda sample: sample[0]))
    held, unexplained = None, []
    for time, size in last.items():
        beyond = size - _alive(blocks, time)
        held = max(0, beyond if held is None else min(held, beyond))
        unexplained.append(beyond - held)
    changes, missing = (sum(abs(b - a) for a, b in pairwise(values)) for values in (last.values(), unexplained))
    return max(0.0, 1 - missing / changes) if changes else float(not missing)


@pytest.mark.parametrize("at_once", [1, 3, 1 << 20])
@given(BLOCKS, RECORDED)
def test_the_explained_share_is_that_of_a_loop(
    at_once: int, blocks: list[Block], recorded: list[tuple[int, int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spilled_table, "BLOCK_ROWS", at_once)
        found = balance_of(_samples(recorded), Allocations.of(event_frame_of(blocks)), 0)
    assert found.explained == pytest.approx(_explained(blocks, recorded))


@given(BLOCKS, st.integers(0, 50))
def test_what_allocations_and_older_memory_make_is_explained_and_what_else_is_recorded_is_not(
    blocks: list[Block], before: int
) -> None:
    truth = [(time, before + _alive(blocks, time)) for time in range(-1, 22)]
    allocations = Allocations.of(event_frame_of(blocks))
    assert balance_of(_samples(truth), allocations, 0).explained == 1.0
    raised = [(time, size + 1000 * (time == 10)) for time, size in truth]
    assert balance_of(_samples(raised), allocations, 0).explained < 0.5
