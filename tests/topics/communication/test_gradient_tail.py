"""The tail behind the backward pass against counting nanoseconds one by one; the segments of a bank."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from commandline import REAL_DATA
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports import find_gradient_tails, read_bank
from aoe_reports.formats.aoe.gradients import GradientModel
from aoe_reports.topics.communication.facts import OperatorTime
from aoe_reports.topics.communication.gradient_tail import default_segments

SCHEMA = pa.schema(
    [
        ("rank_id", pa.int64()),
        ("iteration_id", pa.int64()),
        ("fp_start_ns", pa.int64()),
        ("bp_end_ns", pa.int64()),
        ("iteration_end_ns", pa.int64()),
        ("iteration_time_ns", pa.int64()),
        ("reduce_start_ns", pa.list_(pa.int64())),
        ("reduce_duration_ns", pa.list_(pa.int64())),
    ]
)


def iteration(reduces: list[tuple[int, int | None]], **more: Any) -> dict[str, Any]:
    return {
        "rank_id": 3, "iteration_id": 1, "fp_start_ns": 100, "bp_end_ns": 140, "iteration_end_ns": 200,
        "iteration_time_ns": 110, "reduce_start_ns": [start for start, _ in reduces],
        "reduce_duration_ns": [length for _, length in reduces], **more,
    }  # fmt: skip


def frame(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), SCHEMA)


def model(*sizes: int, deltas: tuple[int, ...] | None = None) -> GradientModel:
    return GradientModel("1", sizes, 10**12, (1,) * (len(sizes) - 1) if deltas is None else deltas, "/0")


@given(
    st.lists(st.tuples(st.integers(90, 190), st.integers(0, 40)), min_size=1, max_size=8),
    st.integers(100, 180),
    st.integers(0, 200),
)
def test_the_tail_is_what_counting_says(reduces: list[tuple[int, int]], end: int, last: int) -> None:
    (tail,) = find_gradient_tails(frame(iteration(list(reduces), bp_end_ns=end)), models=[model(1000, last)])
    busy = {moment for start, length in reduces for moment in range(start, start + length)}
    assert tail.reduce_ns == len(busy)
    assert tail.hidden_ns == len({moment for moment in busy if moment < end})
    assert tail.tail_ns == len({moment for moment in busy if moment >= end})
    assert tail.room_ns == len(set(range(100, end)) - busy)
    assert tail.last_end_ns == max(0, *(start + length - end for start, length in reduces))
    assert tail.late_reduces == sum(start + length > end for start, length in reduces)
    assert tail.necessary_ns == round(len(busy) * last / (1000 + last))
    assert 0 <= tail.bound_ns <= min(tail.tail_ns, tail.room_ns)
    assert tail.bound_ns >= min(tail.tail_ns - tail.necessary_ns, tail.room_ns)


def test_what_is_hidden_already_cannot_be_saved_and_what_has_no_room_cannot_be_hidden() -> None:
    (hidden,) = find_gradient_tails(frame(iteration([(110, 20)])))
    assert (hidden.tail_ns, hidden.bound_ns, hidden.room_ns) == (0, 0, 20)
    (much,) = find_gradient_tails(frame(iteration([(140, 60)])))
    assert (much.tail_ns, much.bound_ns, much.room_ns) == (60, 40, 40)
    (blind,) = find_gradient_tails(frame(iteration([(140, 60)], fp_start_ns=None)))
    assert (blind.bound_ns, blind.room_ns) == (60, None)


def test_iterations_without_the_end_of_the_backward_pass_or_all_reduces_tell_no_tail() -> None:
    rows = [iteration([(150, 10)], bp_end_ns=end) for end in (None, 0)]
    assert find_gradient_tails(frame(*rows, iteration([]), iteration([], reduce_start_ns=None))) == []


def test_an_all_reduce_without_length_is_counted_and_not_guessed() -> None:
    (tail,) = find_gradient_tails(frame(iteration([(130, None), (150, 10)])))
    assert (tail.reduces, tail.unmeasured_reduces, tail.tail_ns) == (1, 1, 10)


def operator(start: int, length: int, kind: str = "allreduce") -> OperatorTime:
    return OperatorTime(3, None, "collective", f"hcom_{kind}", kind, None, start, length)


def test_a_timeline_tells_of_all_reduces_where_step_trace_does_not() -> None:
    operators = [
        operator(130, 30),
        operator(150, 20),
        operator(160, 40, "allgather"),
        operator(200, 9),
        operator(99, 9),
    ]
    for told in ([], [(130, None)]):
        (tail,) = find_gradient_tails(frame(iteration(told)), operators)
        assert (tail.source, tail.reduces, tail.reduce_ns, tail.tail_ns, tail.unmeasured_reduces) == (
            "timeline", 2, 40, 30, 0,
        )  # fmt: skip
    (tail,) = find_gradient_tails(frame(iteration([(130, 30)])), operators)
    assert (tail.source, tail.reduces) == ("step_trace", 1)


def test_an_iteration_that_several_files_tell_of_counts_once() -> None:
    row = iteration([(150, 10)])
    assert len(find_gradient_tails(frame(row, row))) == 1


def test_what_stays_is_the_least_of_several_models() -> None:
    (tail,) = find_gradient_tails(
        frame(iteration([(130, 50)])), models=[model(50, 50), model(90, 10), model(0, 0, 0, 0, 0)]
    )
    assert tail.necessary_ns == 5


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40))
def test_segments_hold_every_gradient_once(sizes: list[int]) -> None:
    segments = default_segments(model(*sizes))
    if not sum(sizes):
        assert segments == []
        return
    assert [place for one in segments for place in range(one.first, one.last + 1)] == list(range(len(sizes)))
    assert sum(one.size_bytes for one in segments) == sum(sizes)
    assert segments[0].size_bytes >= 0.9654 * sum(sizes) > segments[0].size_bytes - sizes[segments[0].last]
    assert len(segments) <= 2


def test_a_model_that_is_not_tuned_or_damaged_has_no_segments() -> None:
    assert default_segments(GradientModel("1", (0,) * 5, 0, (0,) * 4, "/0")) == []
    assert default_segments(GradientModel("1", (5, 5), 0, (), "/0")) == []
    (only,) = default_segments(GradientModel("1", (5,), 7, (), "/0"))
    assert (only.gradients, only.size_share, only.time_share) == (1, 1.0, None)


@pytest.mark.skipif(not (REAL_DATA / "aoe" / "gdat_bank").is_dir(), reason=f"no real banks in {REAL_DATA}")
def test_the_real_bank_gives_the_documented_segments() -> None:
    bank = read_bank(REAL_DATA / "aoe" / "gdat_bank" / "Ascend910A_gradient_fusion.json").bank
    first, second = default_segments(bank.models[0])
    assert ((first.first, first.last), second.first) == ((0, 107), 108)
    assert f"{first.size_share:.2%}" == "96.54%"
