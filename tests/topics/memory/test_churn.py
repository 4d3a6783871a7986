"""What is allocated and released within a step, row by row in an oracle of plain Python."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_memory import MIB, Block, event_frame_of, planted

from aoe_reports.topics.memory.churn import ShortLived, is_allocation_call

STEPS = [(7, 0, 100), (8, 110, 200), (9, 200, 300)]
BLOCKS = st.lists(
    st.builds(
        Block,
        owner=st.sampled_from(["a", "b"]),
        size=st.sampled_from([512, MIB, 2 * MIB]),
        address=st.just(0),
        is_small=st.just(False),
        allocated_ns=st.none() | st.integers(-5, 310),
        released_ns=st.none() | st.integers(-5, 310),
    ),
    max_size=25,
)


def _step_of(time: int) -> int | None:
    """What is between two steps belongs to the later one; a step contains its begin and not its end."""
    if time < STEPS[0][1]:
        return None
    return next((number for number, _, end in STEPS if time < end), None)


def _short_lived(blocks: list[Block]) -> list[tuple[int, Block]]:
    found = []
    for block in blocks:
        if block.allocated_ns is not None and block.released_ns is not None:
            step = _step_of(block.allocated_ns)
            if step is not None and step == _step_of(block.released_ns):
                found.append((step, block))
    return found


@given(BLOCKS)
def test_churn_is_the_sum_of_short_lived_allocations(blocks: list[Block]) -> None:
    short = _short_lived(blocks)
    for churn in (found := ShortLived(event_frame_of(blocks), STEPS).churn()):
        mine = [block for _, block in short if block.owner == churn.owner]
        assert churn.allocations == len(mine)
        assert churn.bytes_per_step == sum(block.size for block in mine) / len(STEPS)
        assert churn.largest_bytes == max(block.size for block in mine)
        assert churn.median_ns == median((block.released_ns or 0) - (block.allocated_ns or 0) for block in mine)
    assert {churn.owner for churn in found} == {block.owner for _, block in short}


@given(BLOCKS)
def test_repeated_allocations_come_in_every_step(blocks: list[Block]) -> None:
    short = _short_lived(blocks)
    expected = {}
    for owner, size in {(block.owner, block.size) for _, block in short if block.size >= MIB}:
        mine = [(step, block) for step, block in short if (block.owner, block.size) == (owner, size)]
        least = min(sum(step == number for step, _ in mine) for number, _, _ in STEPS)
        if least:
            at_once = max(
                sum(
                    (other.allocated_ns or 0) <= (block.allocated_ns or 0) < (other.released_ns or 0)
                    for _, other in mine
                )
                for _, block in mine
            )
            expected[owner, size] = (least, at_once)
    found = ShortLived(event_frame_of(blocks), STEPS).repeated()
    assert {(one.owner, one.size_bytes): (one.per_step, one.at_once) for one in found} == expected


def test_a_planted_workspace_is_repeated_in_every_step() -> None:
    case = planted("healthy", 1)
    repeated = ShortLived(case.frames()[0], case.run.steps).repeated()
    assert [(one.per_step, one.at_once) for one in repeated if one.size_bytes == 2 * MIB and one.owner == "aten::addmm"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AscendCL@aclrtMalloc", True),
        ("AscendCL@aclMallocMemInner", True),
        ("AscendCL@aclrtFreePhysical", True),
        ("aclrtFree", True),
        ("Runtime@rtMalloc", True),
        ("npu::npu_malloc", True),
        ("torch_npu.npu.empty_cache", True),
        ("empty_cache", True),
        ("aclrtMallocPhysical", True),
        ("rtFree", True),
        ("AscendCL@aclrtMallocHost", False),
        ("aclrtFreeHost", False),
        ("aclrtMallocHostWithCfg", False),
        ("Runtime@rtMallocHost", False),
        ("rtFreeHost", False),
        ("AscendCL@aclrtMemcpy", False),
        ("aten::empty", False),
        ("Free", False),
    ],
)
def test_calls_that_take_memory_from_the_device_are_known(name: str, expected: bool) -> None:
    assert is_allocation_call(name) is expected
