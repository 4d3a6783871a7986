"""What is reserved and not in use, against samples one by one."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from planted_memory import MIB, planted, sample_frame_of

from aoe_reports.topics.memory.fragmentation import fragmentation_of

SAMPLES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 30)), min_size=1, max_size=20)
"""(in use, reserved beyond that)."""


@given(SAMPLES)
def test_what_is_reserved_by_fragmentation_was_free_already(pairs: list[tuple[int, int]]) -> None:
    samples = [(ns, (used, used + more, used)) for ns, (used, more) in enumerate(pairs)]
    found = fragmentation_of(sample_frame_of(samples), 7)
    assert found is not None
    avoidable = [
        reserved - reserved_before
        for (_, (used_before, reserved_before, _)), (_, (used, reserved, _)) in itertools.pairwise(samples)
        if reserved > reserved_before and 0 < used - used_before <= reserved_before - used_before
    ]
    assert (found.reserved_by_fragmentation_bytes, found.fragmentation_rises) == (sum(avoidable), len(avoidable))
    assert found.reserved_bytes == max(reserved for _, (_, reserved, _) in samples)
    assert found.excess_bytes == found.reserved_bytes - max(used for _, (used, _, _) in samples)
    assert found.reserved_bytes - found.used_bytes >= found.excess_bytes >= 0
    assert found.unusable_bytes == 7


def test_nothing_is_said_where_nothing_is_reserved() -> None:
    samples = [(1, (5, None, 5))]
    assert fragmentation_of(sample_frame_of(samples), None) is None


def test_allocated_stands_for_active_where_that_is_not_recorded() -> None:
    found = fragmentation_of(sample_frame_of([(1, (5, 9, None)), (2, (8, 12, None))]), None)
    assert found is not None
    assert (found.used_bytes, found.reserved_by_fragmentation_bytes) == (8, 3)


def test_planted_fragmentation_reserves_by_fragmentation_and_a_steady_training_does_not() -> None:
    found = {kind: fragmentation_of(planted(kind, 2).frames()[1], None) for kind in ("fragmentation", "healthy")}
    assert found["fragmentation"] is not None
    assert found["fragmentation"].reserved_by_fragmentation_bytes > 20 * MIB
    assert found["healthy"] is not None
    assert found["healthy"].reserved_by_fragmentation_bytes == 0
