"""The change of a step, divided over operators."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.history.changes.attribution import COLUMNS, Attribution, StepNight, attribute_change

SCHEMA = dict.fromkeys(COLUMNS, pl.String) | {"communication": pl.Boolean, "count": pl.Int64, "total_ns": pl.Int64}


def call(side: str, name: str, total_ns: int, count: int = 10, night: str = "1", **more: Any) -> dict[str, Any]:
    row = dict.fromkeys(COLUMNS) | {"side": side, "night": f"{side}{night}", "op_type": "Op", "op_name": name}
    return row | {"input_shapes": "1,2", "communication": False, "count": count, "total_ns": total_ns} | more


def night(side: Any, total_ns: int, number: str = "1", steps: int = 10, **more: int) -> StepNight:
    return StepNight(side, f"{side}{number}", steps, total_ns, **more)


def attribute(calls: list[dict[str, Any]], nights: list[StepNight]) -> Attribution:
    found = attribute_change(pl.DataFrame(calls, schema=SCHEMA), nights)
    assert found is not None
    return found


def parts(found: Attribution) -> int:
    operators = sum(one.difference_ns for one in found.operators if not one.communication)
    return operators + (found.communication_not_overlapped_ns or 0) + (found.free_ns or 0) + found.unattributed_ns


def cause(before: dict[str, Any], after: dict[str, Any]) -> str:
    return attribute([before, after], [night("before", 1000), night("after", 1000)]).operators[0].cause


def test_a_slower_call_is_named_first_and_everything_adds_up() -> None:
    calls = [
        call("before", "a", 10_000),
        call("before", "b", 50_000),
        call("after", "a", 13_000),
        call("after", "b", 50_100),
    ]
    nights = [
        night("before", 80_000, communication_not_overlapped_ns=5_000, free_ns=15_000),
        night("after", 90_000, communication_not_overlapped_ns=6_000, free_ns=17_000),
    ]
    found = attribute(calls, nights)
    first = found.operators[0]
    assert (first.op_name, first.difference_ns, first.calls_ns, first.count_ns, first.inputs_ns) == (
        "a",
        300,
        300,
        0,
        0,
    )
    assert first.cause == "slower-calls"
    assert (found.total_ns, found.operators_ns, found.communication_not_overlapped_ns, found.free_ns) == (
        1000,
        310,
        100,
        200,
    )
    assert found.unattributed_ns == 390
    assert parts(found) == found.total_ns


def test_times_a_step_are_rounded_once_for_all_nights_and_stay_exact_beyond_floats() -> None:
    large = 2**56 + 1  # a float holds no odd number of this size
    calls = [
        call("before", "a", large, night="1"),
        call("before", "a", 1, night="2", input_shapes="3"),
        call("after", "a", 3 * large, night="1"),
        call("after", "a", 1, night="2", input_shapes="3"),
    ]
    nights = [
        night("before", large, "1", steps=1, free_ns=1),
        night("before", 1, "2", steps=4, free_ns=0),
        night("after", 3 * large, "1", steps=1, free_ns=4),
        night("after", 1, "2", steps=4, free_ns=0),
    ]
    found = attribute(calls, nights)
    before, after = (2 * (large + 1) + 5) // 10, (2 * (3 * large + 1) + 5) // 10
    assert (found.before_ns, found.after_ns) == (before, after)
    (one,) = found.operators
    assert (one.before_ns, one.after_ns) == (before, after)
    assert (found.operators_ns, found.free_ns, found.unattributed_ns) == (after - before, 1, -1)
    assert (one.calls_ns + one.count_ns + one.inputs_ns, one.count_ns, one.inputs_ns) == (after - before, 0, 0)


def test_half_a_nanosecond_a_step_is_rounded_up() -> None:
    found = attribute([call("before", "a", 5), call("after", "a", 7)], [night("before", 5), night("after", 15)])
    assert (found.before_ns, found.after_ns, found.operators[0].before_ns, found.operators[0].after_ns) == (1, 2, 1, 1)


def test_causes() -> None:
    before = call("before", "a", 10_000)
    assert cause(before, call("after", "a", 10_000)) == "same"
    assert cause(before, call("after", "a", 8_000)) == "faster-calls"
    assert cause(before, call("after", "a", 20_000, 20)) == "more-calls"
    assert cause(before, call("after", "a", 5_000, 5)) == "fewer-calls"
    assert cause(before, call("after", "a", 12_000, input_shapes="2,2")) == "changed-shapes"
    assert cause(before, call("after", "a", 12_000, input_data_types="FLOAT16")) == "changed-data-types"
    assert cause(before, call("after", "a", 12_000, input_formats="ND")) == "changed-formats"
    assert cause(before, call("after", "a", 12_000, input_formats="ND", input_shapes="3")) == "changed-inputs"
    assert cause({**before, "repository": "r1"}, call("after", "a", 12_000, repository="r2")) == "changed-repository"
    assert cause(before, call("after", "b", 30_000)) == "new"
    assert cause(call("before", "b", 30_000), call("after", "a", 10_000)) == "vanished"


def test_communication_is_shown_and_not_summed() -> None:
    calls = [call("before", "ar", 10_000, communication=True), call("after", "ar", 40_000, communication=True)]
    found = attribute(calls, [night("before", 1000), night("after", 2000)])
    assert found.operators[0].difference_ns == 3000
    assert (found.operators_ns, found.communication_not_overlapped_ns, found.unattributed_ns) == (0, None, 100)


def test_time_that_moved_is_told_as_a_shift() -> None:
    calls = [call("before", "conv", 60_000), call("before", "relu", 40_000), call("before", "rest", 10_000)]
    calls += [call("after", "conv_relu", 99_000), call("after", "rest", 10_000)]
    found = attribute(calls, [night("before", 110_000), night("after", 109_000)])
    (shift,) = found.shifts
    assert (set(shift.sources), shift.targets, shift.moved_ns) == ({"conv", "relu"}, ("conv_relu",), 9_900)
    assert parts(found) == found.total_ns


def test_a_night_out_of_line_is_left_out_and_named() -> None:
    nights = [night("before", 1000 + n, str(n)) for n in range(5)] + [night("before", 5000, "9"), night("after", 1000)]
    calls = [call("before", "a", 1000, night=str(n)) for n in range(5)]
    calls += [call("before", "a", 5000, night="9"), call("after", "a", 1000)]
    found = attribute(calls, nights)
    assert found.untypical == (("before", "before9"),)
    assert found.operators[0].difference_ns == 0


def test_a_side_without_steps_has_no_attribution() -> None:
    assert attribute_change(pl.DataFrame(schema=SCHEMA), []) is None
    assert attribute_change(pl.DataFrame(schema=SCHEMA), [night("before", 10), night("after", 10, steps=0)]) is None


CALLS = st.builds(
    lambda side, name, total, count, number, shape: call(side, name, total, count, number, input_shapes=shape),
    st.sampled_from(["before", "after"]),
    st.sampled_from("abcde"),
    st.integers(0, 2**50),
    st.integers(1, 1000),
    st.sampled_from("123"),
    st.sampled_from(["1", "2", None]),
)
NIGHTS = st.lists(st.tuples(st.integers(0, 2**55), st.integers(1, 97)), min_size=3, max_size=3)


@given(st.lists(CALLS, max_size=30), NIGHTS, NIGHTS, st.randoms(use_true_random=False))
def test_the_parts_are_the_whole_in_any_order(calls, before, after, random) -> None:
    nights = [night("before", total, str(n + 1), steps) for n, (total, steps) in enumerate(before)]
    nights += [night("after", total, str(n + 1), steps) for n, (total, steps) in enumerate(after)]
    found = attribute(calls, nights)
    assert parts(found) == found.total_ns
    for one in found.operators:
        assert one.calls_ns + one.count_ns + one.inputs_ns == one.difference_ns
    random.shuffle(calls)
    random.shuffle(nights)
    assert attribute(calls, nights) == found


@pytest.mark.parametrize(
    ("steps", "totals", "per_step"),
    [
        (3, [100], 33),  # 33.3
        (3, [101], 34),  # 33.7
        (2, [25], 13),  # 12.5: halves go up
        (2, [1, 1, 1], 1),  # 0.5 in each night, and in all of them
        (3, [4, 4, 4], 1),  # 1.3: rounded once, not in each night
        (3, [5, 5, 4], 2),  # 1.6: the nights alone would be 2, 2 and 1
        (2**40 + 1, [3 * 2**53], 24576),  # no float between
    ],
)
def test_what_a_step_takes_is_the_nearest_whole_nanosecond_of_all_nights(
    steps: int, totals: list[int], per_step: int
) -> None:
    """The same of the step, of its operators, of what they do not cover, and of calls whose inputs are on one side only."""
    calls, nights = (
        [call("before", "a", 0)],
        [night("before", 0, steps=1, communication_not_overlapped_ns=0, free_ns=0)],
    )
    for number, total in enumerate(totals):
        calls.append(call("after", "a", total, count=10, night=str(number), input_shapes="3"))
        nights.append(night("after", total, str(number), steps, communication_not_overlapped_ns=total, free_ns=total))
    found = attribute(calls, nights)
    assert found.after_ns == per_step
    (operator,) = found.operators
    assert (operator.after_ns, operator.inputs_ns, operator.difference_ns) == (per_step, per_step, per_step)
    assert (found.communication_not_overlapped_ns, found.free_ns) == (per_step, per_step)
    assert parts(found) == found.total_ns


def test_calls_more_a_step_are_rounded_once() -> None:
    # 10 calls in 3 steps become 15 in 4: 5/12 of a call more a step, each 7.3 ns long: 3.04 ns
    found = attribute(
        [call("before", "a", 73, 10), call("after", "a", 110, 15)],
        [night("before", 73, steps=3), night("after", 110, steps=4)],
    )
    (operator,) = found.operators
    assert (operator.before_ns, operator.after_ns, operator.count_ns, operator.calls_ns) == (24, 28, 3, 1)


def test_the_error_of_a_change_is_that_of_the_larger_side_where_one_night_tells_no_scatter() -> None:
    """1 % of 1300 ns on both sides, whichever of them is the larger."""
    for before, after in ((1000, 1300), (1300, 1000)):
        calls = [call("before", "a", 10 * before), call("after", "a", 10 * after)]
        (one,) = attribute(calls, [night("before", 80_000), night("after", 80_000)]).operators
        assert one.error_ns == pytest.approx(13 * 2**0.5)
        assert one.sure_ns == pytest.approx(300 - 4 * 13 * 2**0.5)


def moved(before: dict[str, int], after: dict[str, int]) -> list[tuple[set[str], set[str], int]]:
    """The shifts between operators of these times (us a step), all surely measured."""
    calls = [call(side, name, 10_000 * us) for side, of in (("before", before), ("after", after)) for name, us in of.items()]  # fmt: skip
    found = attribute(calls, [night("before", 10_000 * sum(before.values())), night("after", 10_000 * sum(after.values()))])  # fmt: skip
    return [(set(shift.sources), set(shift.targets), shift.moved_ns) for shift in found.shifts]


@pytest.mark.parametrize(
    ("won", "shifted"),
    [(100, 100), (110, 100), (111, None), (91, 91), (90, None)],
)
def test_what_one_loses_and_another_wins_may_differ_by_a_tenth(won: int, shifted: int | None) -> None:
    assert moved({"a": 100}, {"b": won}) == ([] if shifted is None else [({"a"}, {"b"}, shifted * 1000)])


def test_fewer_operators_make_a_likelier_shift_and_then_the_better_match() -> None:
    assert moved({"a": 100, "c": 60}, {"b": 100, "d": 40, "e": 60}) == [({"a"}, {"b"}, 100_000), ({"c"}, {"e"}, 60_000)]
    assert moved({"a": 100}, {"b": 95, "c": 99, "d": 108}) == [({"a"}, {"c"}, 99_000)]
    assert moved({"a": 50, "b": 300}, {"x": 52, "y": 51, "z": 299}) == [({"b"}, {"z"}, 299_000), ({"a"}, {"y"}, 50_000)]


def test_a_shift_goes_from_three_to_one_or_from_one_to_three_at_most() -> None:
    assert moved({"a": 100}, {"x": 20, "y": 30, "z": 50}) == [({"a"}, {"x", "y", "z"}, 100_000)]
    assert moved({"x": 20, "y": 30, "z": 50}, {"a": 100}) == [({"x", "y", "z"}, {"a"}, 100_000)]
    assert moved({"a": 100}, {"w": 25, "x": 25, "y": 25, "z": 25}) == []
    assert moved({"a": 50, "b": 50}, {"x": 30, "y": 70}) == []


def test_the_last_of_several_new_knowledge_is_named_where_it_is_the_cause() -> None:
    sides = [night("before", 1000), night("after", 1000)]
    before = call("before", "a", 10_000, repository="r1")
    after = [call("after", "a", 6_000, count=5, repository=name) for name in ("r3", "r2")]
    (share,) = attribute([before, *after], sides).operators
    assert (share.cause, share.repository) == ("changed-repository", "r3")
    (same,) = attribute([before, call("after", "a", 12_000, repository="r1")], sides).operators
    assert (same.cause, same.repository) == ("slower-calls", None)
    more = call("after", "a", 20_000, count=20, repository="r2")
    (share,) = attribute([before, more], sides).operators
    assert (share.cause, share.repository) == ("more-calls", None)


def test_a_change_is_as_sure_as_the_scatter_of_its_nights_says() -> None:
    """Two nights a side; the expected scatter of 1 % of the larger mean weighs as much as three nights."""
    times = {"before": (990.0, 1010.0), "after": (1200.0, 1240.0)}
    nights = [night(side, 10_000, str(n)) for side in times for n in (0, 1)]
    calls = [
        call(side, "a", int(10 * value), night=str(n))
        for side, values in times.items()
        for n, value in enumerate(values)
    ]
    (share,) = attribute(calls, nights).operators
    squares = 2 * 10.0**2 + 2 * 20.0**2
    variance = (squares + 3 * (0.01 * 1220.0) ** 2) / (4 - 2 + 3)
    assert share.error_ns == pytest.approx((variance * (1 / 2 + 1 / 2)) ** 0.5)
    assert share.sure_ns == pytest.approx(220 - 4 * share.error_ns)
    quiet = [call("before", "a", 10_000, night="0"), call("before", "a", 10_000, night="1")]
    gone = attribute([*quiet, call("after", "a", 10_000, night="0")], nights).operators[0]
    squares = 2 * 500.0**2  # the night without a call is a night of 0 ns
    variance = (squares + 3 * (0.01 * 1000.0) ** 2) / 5
    assert gone.error_ns == pytest.approx(variance**0.5)
    assert gone.sure_ns == 0
