"""The parts of a change add up to it, whatever the sides are; each has the cause that made it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.breakdown import Parts
from aoe_reports.facts.exposed import Exposed, together
from aoe_reports.facts.waterfall import CallKey, Side, Talk, Waterfall, waterfall_of, without_the_small


def exposed(
    computing: int, talk: dict[str, int], idle: dict[Any, int], steps: int = 1, *, told: bool = True
) -> Exposed:
    whole = computing + sum(talk.values()) + sum(idle.values())
    alone, free = (sum(talk.values()), sum(idle.values())) if told else (None, None)
    parts = Parts(
        start_ns=0, end_ns=whole, tasks=1, intervals=1, computing_ns=computing,
        communication_ns=alone, overlapped_ns=alone, communication_not_overlapped_ns=alone, free_ns=free,
    )  # fmt: skip
    calls = dict.fromkeys(talk, steps)
    return Exposed(0, "timeline", parts, steps, communication_ns=talk, communication_calls=calls, idle_ns=idle)


def side(
    calls: dict[CallKey, tuple[int, int]] | None,
    talk: dict[str, int] | None = None,
    idle: dict[Any, int] | None = None,
    steps: int = 1,
    tables: dict[str, Talk] | None = None,
) -> Side:
    computing = sum(total for _, total in (calls or {}).values())
    return Side(exposed(computing, talk or {}, idle or {}, steps), steps, calls, tables or {})


def key(op_type: str, shapes: str | None = "1", formats: str | None = "ND", types: str | None = "F") -> CallKey:
    return op_type, shapes, formats, types


def told(waterfall: Waterfall) -> list[tuple[str, str, str, int]]:
    return [(part.area, part.cause, part.name, part.change_ns) for part in waterfall.parts]


names = st.sampled_from("abcdef")
keys = st.tuples(names, st.sampled_from(["1", "2", None]), st.sampled_from(["ND", "NZ"]), st.just("F"))
measured = st.tuples(st.integers(1, 50), st.integers(1, 10**15))
talks = st.dictionaries(
    st.sampled_from(["hcom_allReduce__1", "hcom_allReduce__2", "hcom_send__1", "x"]), st.integers(0, 10**12)
)
idles = st.dictionaries(st.sampled_from(["host launch", "compilation", "unknown"]), st.integers(0, 10**12))
told_talk = st.dictionaries(
    st.sampled_from(["allreduce", "send"]),
    st.builds(Talk, st.integers(0, 10**12), st.none() | st.integers(0, 10**12), st.none() | st.integers(0, 10**12)),
)
sides = st.builds(
    lambda calls, talk, idle, steps, computing, tell, is_told: Side(
        exposed(computing, talk, idle, steps, told=is_told), steps, calls, tell
    ),
    st.none() | st.dictionaries(keys, measured, min_size=1), talks, idles, st.integers(1, 7), st.integers(0, 10**15), told_talk, st.booleans(),
)  # fmt: skip


@given(sides, sides, st.integers(1, 5))
def test_parts_add_up_to_the_change_of_a_step(before: Side, after: Side, top: int) -> None:
    found = waterfall_of(before, after)
    whole = [Fraction(one.exposed.whole.end_to_end_ns, one.steps) for one in (before, after)]
    assert sum(part.change for part in found.parts) == whole[1] - whole[0]
    assert sum(part.change_ns for part in found.parts) == found.change_ns == round(whole[1] - whole[0])
    assert all(abs(part.change - part.change_ns) < 1 for part in found.parts)
    kept, others, rest = without_the_small(found, top)
    assert sum(part.change_ns for part in kept) + rest == found.change_ns
    assert len(kept) + others == len(found.parts)


@given(sides)
def test_nothing_changes_from_a_run_to_itself(one: Side) -> None:
    assert told(waterfall_of(one, one)) == []


@given(sides, sides)
def test_the_way_back_is_as_long(before: Side, after: Side) -> None:
    there, back = waterfall_of(before, after), waterfall_of(after, before)
    assert sum(part.change for part in there.parts) == -sum(part.change for part in back.parts)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({key("a"): (2, 100)}, {key("a"): (2, 130)}, [("slower-calls", "a", 30)]),
        ({key("a"): (2, 100)}, {key("a"): (2, 90)}, [("faster-calls", "a", -10)]),
        ({key("a"): (2, 100)}, {key("a"): (3, 150)}, [("more-calls", "a", 50)]),
        ({key("a"): (2, 100)}, {key("a"): (3, 180)}, [("more-calls", "a", 50), ("slower-calls", "a", 30)]),
        ({key("a"): (2, 100)}, {key("a", "2"): (2, 160)}, [("changed-shapes", "a", 60)]),
        ({key("a"): (2, 100)}, {key("a", "1", "NZ"): (2, 160)}, [("changed-formats", "a", 60)]),
        ({key("a"): (2, 100)}, {key("a", "1", "ND", "H"): (2, 60)}, [("changed-data-types", "a", -40)]),
        ({key("a"): (2, 100)}, {key("a", "2", "NZ"): (2, 160)}, [("changed-inputs", "a", 60)]),
        ({key("a"): (2, 100)}, {key("a", None, None, None): (2, 160)}, [("slower-calls", "a", 60)]),
        ({key("a"): (1, 5)}, {key("a"): (1, 5), key("b"): (3, 9)}, [("new", "b", 9)]),
        ({key("a"): (1, 5), key("b"): (3, 9)}, {key("a"): (1, 5)}, [("vanished", "b", -9)]),
        ({key("a"): (3, 9)}, {key("b"): (3, 5)}, [("replaced", "a → b", -4)]),
        ({key("a"): (3, 9), key("b"): (3, 8)}, {key("ab"): (3, 10)}, [("fused", "a + b → ab", -7)]),
        ({key("a"): (5, 10), key("b"): (3, 8)}, {key("a"): (2, 4), key("ab"): (3, 9)}, [("fused", "a + b → ab", -5)]),
        ({key("ab"): (3, 10)}, {key("a"): (3, 9), key("b"): (3, 8)}, [("split", "ab → a + b", 7)]),
    ],
)  # fmt: skip
def test_causes_of_computing(before: Any, after: Any, expected: list[Any]) -> None:
    assert told(waterfall_of(side(before), side(after))) == [("computing", *one) for one in expected]


def test_seven_types_that_lose_as_many_calls_are_no_fusion() -> None:
    before = {key(name): (1, 10) for name in "abcdefg"}
    assert ("computing", "new", "x", 5) in told(waterfall_of(side(before), side({key("x"): (1, 5)})))
    six = {key(name): (1, 10) for name in "abcdef"}
    assert told(waterfall_of(side(six), side({key("x"): (1, 5)}))) == [
        ("computing", "fused", "a + b + c + d + e + f → x", -55)
    ]


def test_kernels_that_run_side_by_side_take_no_time_twice() -> None:
    before, after = side({key("a"): (1, 100)}), side({key("a"): (1, 150)})
    hidden = Side(exposed(100, {}, {}), 1, after.calls)
    assert told(waterfall_of(before, hidden)) == [
        ("computing", "side-by-side", "", -50), ("computing", "slower-calls", "a", 50),
    ]  # fmt: skip


def test_without_calls_on_one_side_computing_is_one_part() -> None:
    assert told(waterfall_of(side({key("a"): (1, 100)}), Side(exposed(130, {}, {}), 1, None))) == [
        ("computing", "not-told", "", 30)
    ]


def test_where_communication_is_not_told_what_is_beside_computing_is_one_part() -> None:
    before, after = (
        Side(exposed(100, {"hcom_allReduce__1": talk}, {"unknown": 5}, told=False), 1, None) for talk in (10, 25)
    )
    assert told(waterfall_of(before, after)) == [("idle", "not-told", "", 15)]


def test_what_is_beside_computing_is_one_part_where_other_sources_tell_it() -> None:
    before = side({key("a"): (1, 100)}, {"hcom_allReduce__1": 10}, {"unknown": 5})
    of_tasks = replace(before.exposed, told_by="tasks", communication_ns={}, idle_ns={"unknown": 15})
    assert told(waterfall_of(before, replace(before, exposed=of_tasks))) == []
    later = exposed(100, {}, {"unknown": 40})
    assert told(waterfall_of(before, replace(before, exposed=replace(later, told_by="tasks")))) == [
        ("idle", "not-told", "", 25)
    ]


@pytest.mark.parametrize(
    ("before", "after", "times", "expected"),
    [
        (Talk(100, 40, 1000), Talk(200, 140, 1000), (100, 200), [("more-waiting", 100)]),
        (Talk(100, 40, 1000), Talk(130, 40, 1000), (100, 130), [("slower-transfer", 30)]),
        (Talk(100, 40, 1000), Talk(160, 40, 2000), (100, 160), [("more-bytes", 60)]),
        (Talk(100, 40, 2000), Talk(70, 40, 1000), (100, 70), [("fewer-bytes", -30)]),
        (Talk(100, 40, None), Talk(160, 40, None), (100, 160), [("slower-calls", 60)]),
        (Talk(100, None, 1000), Talk(160, None, 1000), (100, 160), [("slower-transfer", 60)]),
        (None, None, (100, 160), [("slower-calls", 60)]),
        (None, Talk(160, 100, 1000), (100, 160), [("slower-calls", 60)]),
    ],
)  # fmt: skip
def test_causes_of_communication(before: Any, after: Any, times: tuple[int, int], expected: list[Any]) -> None:
    both = [
        side({key("a"): (1, 9)}, {"hcom_allReduce__7_0": time}, tables={} if tells is None else {"allreduce": tells})
        for time, tells in zip(times, (before, after), strict=True)
    ]
    assert told(waterfall_of(*both)) == [("communication", cause, "allreduce", time) for cause, time in expected]


def test_communication_of_one_side_is_new_or_vanished() -> None:
    with_it, without = side({key("a"): (1, 9)}, {"hcom_send__7_0": 70}), side({key("a"): (1, 9)})
    assert told(waterfall_of(without, with_it)) == [("communication", "new", "send", 70)]
    assert told(waterfall_of(with_it, without)) == [("communication", "vanished", "send", -70)]


def test_steps_are_mean_ones() -> None:
    before, after = side({key("a"): (4, 100)}, steps=2), side({key("a"): (2, 60)}, steps=1)
    found = waterfall_of(before, after)
    assert (found.before_ns, found.after_ns) == (50, 60)
    assert told(found) == [("computing", "slower-calls", "a", 10)]


def test_several_times_of_a_device_are_one() -> None:
    one, other = exposed(100, {"x": 5}, {"unknown": 7}), exposed(50, {"x": 1, "y": 2}, {"compilation": 3}, steps=2)
    found = together([one, other])
    assert (found.steps, found.whole.end_to_end_ns, found.whole.computing_ns, found.whole.free_ns) == (3, 168, 150, 10)
    assert (found.communication_ns, found.idle_ns) == ({"x": 6, "y": 2}, {"unknown": 7, "compilation": 3})
    assert together([one]) is one
