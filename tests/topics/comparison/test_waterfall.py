"""The parts of a change add up to it, whatever the sides are; each has the cause that made it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.arrays.intervals import union
from aoe_reports.model.topics.breakdown import Parts
from aoe_reports.topics.comparison.exposed import Exposed, Ran, alone, together
from aoe_reports.topics.comparison.waterfall import (
    CallKey,
    CollectiveTime,
    Side,
    Waterfall,
    waterfall_of,
    without_the_small,
)


def exposed(
    computing: int, talk: dict[str, Ran], idle: dict[Any, int], steps: int = 1, *, told: bool = True
) -> Exposed:
    alone = sum(ran.alone_ns for ran in talk.values())
    free = sum(idle.values())
    parts = Parts(
        start_ns=0, end_ns=computing + alone + free, tasks=1, intervals=1, computing_ns=computing,
        communication_ns=alone if told else None, overlapped_ns=0 if told else None,
        communication_not_overlapped_ns=alone if told else None, free_ns=free if told else None,
    )  # fmt: skip
    return Exposed(0, "timeline", parts, steps, communication=talk, idle_ns=idle)


def ran(alone_ns: int, total_ns: int | None = None, calls: int = 1) -> Ran:
    return Ran(calls, alone_ns if total_ns is None else total_ns, alone_ns)


def side(
    calls: dict[CallKey, tuple[int, int]] | None,
    talk: dict[str, Ran] | None = None,
    idle: dict[Any, int] | None = None,
    steps: int = 1,
    alone: dict[str, int] | None = None,
    talk_tables: dict[str, CollectiveTime] | None = None,
    **more: Any,
) -> Side:
    own: dict[str, int] = {}
    for (name, *_), (_, total) in (calls or {}).items():
        own[name or ""] = own.get(name or "", 0) + total
    own |= alone or {}
    return Side(
        exposed(sum(own.values()), talk or {}, idle or {}, steps),
        steps,
        True,
        calls,
        alone=own,
        talk=talk_tables or {},
        **more,
    )


def key(op_type: str, shapes: str | None = "1", formats: str | None = "ND", types: str | None = "F") -> CallKey:
    return op_type, shapes, formats, types


def told(waterfall: Waterfall) -> list[tuple[str, str, str, int]]:
    return [(part.area, part.cause, part.name, part.change_ns) for part in waterfall.parts]


names = st.sampled_from("abcdef")
keys = st.tuples(names, st.sampled_from(["1", "2", None]), st.sampled_from(["ND", "NZ"]), st.just("F"))
measured = st.tuples(st.integers(1, 50), st.integers(1, 10**15))
operators = ("hcom_allReduce__1", "hcom_allReduce__2", "hcom_send__1", "x")
runs = st.tuples(st.integers(1, 9), st.integers(0, 10**12), st.integers(0, 10**12)).map(
    lambda one: Ran(one[0], max(one[1:]), min(one[1:]))
)
talks = st.dictionaries(st.sampled_from(operators), runs)
idles = st.dictionaries(st.sampled_from(["host launch", "compilation", "unknown"]), st.integers(0, 10**12))
tables = st.dictionaries(
    st.sampled_from(operators), st.builds(CollectiveTime, *(st.integers(0, 10**12) for _ in range(3)))
)
sizes = st.dictionaries(st.sampled_from(["allreduce", "send"]), st.fractions(min_value=1, max_value=10**9))
sides = st.builds(
    lambda calls, talk, idle, steps, computing, own, tell, sent, is_told, by: Side(
        exposed(computing, talk, idle, steps, told=is_told), steps, True, calls, by,
        {name: own.get(name, 0) for name in {key[0] or "" for key in calls or {}}}, tell, sent
    ),
    st.none() | st.dictionaries(keys, measured, min_size=1), talks, idles, st.integers(1, 7), st.integers(0, 10**15),
    st.dictionaries(names, st.integers(0, 10**15)), tables, sizes, st.booleans(), st.sampled_from(["op_type", "op_name"]),
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


@pytest.mark.slow
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
        ({key("SortV2"): (2, 9)}, {key("SortV3"): (3, 5)}, [("replaced", "SortV2 → SortV3", -4)]),
        ({key("a"): (3, 9), key("b"): (3, 8)}, {key("ab"): (3, 10)}, [("fused", "a + b → ab", -7)]),
        ({key("a"): (5, 10), key("b"): (3, 8)}, {key("a"): (2, 4), key("ab"): (3, 9)}, [("fused", "a + b → ab", -5)]),
        ({key("ab"): (3, 10)}, {key("a"): (3, 9), key("b"): (3, 8)}, [("split", "ab → a + b", 7)]),
    ],
)  # fmt: skip
def test_causes_of_computing(before: Any, after: Any, expected: list[Any]) -> None:
    assert told(waterfall_of(side(before), side(after))) == [("computing", *one) for one in expected]


def test_a_kernel_that_another_one_hides_costs_nothing() -> None:
    both = [side({key("a"): (1, 100), key("b"): (1, time)}, alone={"a": 100, "b": 0}) for time in (50, 90)]
    assert told(waterfall_of(*both)) == []


def test_a_kernel_that_is_hidden_no_more_is_no_slower() -> None:
    before = side({key("a"): (1, 100), key("b"): (1, 50)}, alone={"a": 100, "b": 20})
    after = side({key("a"): (1, 100), key("b"): (1, 60)}, alone={"a": 100, "b": 60})
    assert told(waterfall_of(before, after)) == [
        ("computing", "less-hidden", "b", 30), ("computing", "slower-calls", "b", 10),
    ]  # fmt: skip


def test_what_no_table_lists_is_a_part() -> None:
    one = side({key("a"): (1, 100)})
    more = replace(one, exposed=exposed(130, {}, {}))
    assert told(waterfall_of(one, more)) == [("computing", "not-listed", "", 30)]


def test_names_are_not_held_against_types() -> None:
    one, other = side({key("a"): (1, 100)}), side({key("b"): (1, 130)}, grouped_by="op_name")
    assert told(waterfall_of(one, other)) == [("computing", "not-told", "", 30)]


def test_without_calls_on_one_side_computing_is_one_part() -> None:
    assert told(waterfall_of(side({key("a"): (1, 100)}), Side(exposed(130, {}, {}), 1, True, None))) == [
        ("computing", "not-told", "", 30)
    ]


def test_where_communication_is_not_told_what_is_beside_computing_is_one_part() -> None:
    before, after = (
        Side(exposed(100, {"hcom_allReduce__1": ran(talk)}, {"unknown": 5}, told=False), 1, True, None)
        for talk in (10, 25)
    )
    assert told(waterfall_of(before, after)) == [("idle", "not-told", "", 15)]


def test_what_is_beside_computing_is_one_part_where_other_sources_tell_it() -> None:
    before = side({key("a"): (1, 100)}, {"hcom_allReduce__1": ran(10)}, {"unknown": 5})
    of_tasks = replace(before.exposed, told_by="tasks", communication={}, idle_ns={"unknown": 15})
    assert told(waterfall_of(before, replace(before, exposed=of_tasks))) == []
    later = exposed(100, {}, {"unknown": 40})
    assert told(waterfall_of(before, replace(before, exposed=replace(later, told_by="tasks")))) == [
        ("idle", "not-told", "", 25)
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((CollectiveTime(100, 40, 60), 1000, ran(100)), (CollectiveTime(200, 140, 60), 1000, ran(200)), [("more-waiting", 100)]),
        ((CollectiveTime(100, 40, 60), 1000, ran(100)), (CollectiveTime(130, 40, 90), 1000, ran(130)), [("slower-transfer", 30)]),
        ((CollectiveTime(100, 40, 60), 1000, ran(100)), (CollectiveTime(130, 40, 60), 1000, ran(130)), [("longer-pauses", 30)]),
        ((CollectiveTime(100, 40, 60), 1000, ran(100)), (CollectiveTime(160, 40, 120), 2000, ran(160)), [("more-bytes", 60)]),
        ((CollectiveTime(100, 40, 60), 2000, ran(100)), (CollectiveTime(70, 40, 30), 1000, ran(70)), [("fewer-bytes", -30)]),
        ((CollectiveTime(100, 40, 60), 0, ran(100)), (CollectiveTime(130, 40, 90), 0, ran(130)), [("slower-transfer", 30)]),
        ((None, 1000, ran(100)), (None, 1000, ran(160)), [("slower-calls", 60)]),
        ((None, 0, ran(100)), (CollectiveTime(160, 100, 60), 1000, ran(160)), [("slower-calls", 60)]),
        ((None, 0, ran(100, calls=2)), (None, 0, ran(150, calls=3)), [("more-calls", 50)]),
        ((CollectiveTime(100, 40, 60), 9, ran(40, 100)), (CollectiveTime(100, 40, 60), 9, ran(100, 100)), [("less-hidden", 60)]),
        ((None, 0, ran(90, 100)), (None, 0, ran(10, 100)), [("more-hidden", -80)]),
        ((CollectiveTime(100, 0, 100), 9, ran(50, 100)), (CollectiveTime(200, 0, 200), 9, ran(100, 200)), [("slower-transfer", 50)]),
        # what hides it stays as it is: all that was added is seen, all that went away was
        ((CollectiveTime(100, 0, 100), 9, ran(20, 100)), (CollectiveTime(150, 0, 150), 9, ran(70, 150)), [("slower-transfer", 50)]),
        ((CollectiveTime(100, 0, 100), 9, ran(20, 100)), (CollectiveTime(150, 50, 100), 9, ran(70, 150)), [("more-waiting", 50)]),
        ((CollectiveTime(150, 0, 150), 9, ran(70, 150)), (CollectiveTime(100, 0, 100), 9, ran(20, 100)), [("faster-transfer", -50)]),
        ((None, 0, ran(20, 100)), (None, 0, ran(90, 150)), [("slower-calls", 50), ("less-hidden", 20)]),
        ((None, 0, ran(20, 100)), (None, 0, ran(10, 150)), [("more-hidden", -10)]),
        # the table's plane stood idle, another one waited for its peer: if the timelines of both sides tell that
        ((CollectiveTime(100, 5, 25, 70), 9, ran(100)), (CollectiveTime(150, 0, 25, 120), 9, ran(150)), [("more-waiting", 50)]),
        ((CollectiveTime(100, 70, 25, 20), 9, ran(100)), (CollectiveTime(150, 0, 25, 120), 9, ran(150)), [("more-waiting", 50)]),
        ((CollectiveTime(100, 5, 25, 70), 9, ran(100)), (CollectiveTime(150, 5, 25), 9, ran(150)), [("longer-pauses", 50)]),
        # wait and transfer make up for each other, of an operator of which a fifth is seen
        ((CollectiveTime(100, 0, 100), 9, ran(20, 100)), (CollectiveTime(100, 50, 50), 9, ran(20, 100)), [("faster-transfer", -10), ("more-waiting", 10)]),
    ],
)  # fmt: skip
def test_causes_of_communication(before: Any, after: Any, expected: list[Any]) -> None:
    both = [
        side(
            {key("a"): (1, 9)},
            {"hcom_allReduce__7_0": one},
            talk_tables={} if tells is None else {"hcom_allReduce__7_0": tells},
            bytes_per_call={"allreduce": Fraction(sent)} if sent else {},
        )
        for tells, sent, one in (before, after)
    ]
    assert told(waterfall_of(*both)) == [("communication", cause, "allreduce", time) for cause, time in expected]


def test_waiting_is_that_of_the_operator_that_is_seen() -> None:
    both = [
        side(
            {key("a"): (1, 9)},
            {"hcom_allReduce__1": ran(0, 500), "hcom_allReduce__2": ran(400)},
            talk_tables={
                "hcom_allReduce__1": CollectiveTime(wait + 100, wait, 100),
                "hcom_allReduce__2": CollectiveTime(400, 0, 400),
            },
        )
        for wait in (50, 400)
    ]
    assert told(waterfall_of(*both)) == []


def test_communication_of_one_side_is_new_or_vanished() -> None:
    with_it, without = side({key("a"): (1, 9)}, {"hcom_send__7_0": ran(70)}), side({key("a"): (1, 9)})
    assert told(waterfall_of(without, with_it)) == [("communication", "new", "send", 70)]
    assert told(waterfall_of(with_it, without)) == [("communication", "vanished", "send", -70)]


def test_steps_are_mean_ones() -> None:
    before, after = side({key("a"): (4, 100)}, steps=2), side({key("a"): (2, 60)}, steps=1)
    found = waterfall_of(before, after)
    assert (found.before_ns, found.after_ns) == (50, 60)
    assert told(found) == [("computing", "slower-calls", "a", 10)]


def test_several_times_of_a_device_are_one() -> None:
    one = exposed(100, {"x": ran(5)}, {"unknown": 7})
    other = exposed(50, {"x": ran(1), "y": ran(2)}, {"compilation": 3}, steps=2)
    found = together([one, other])
    assert (found.steps, found.whole.end_to_end_ns, found.whole.computing_ns, found.whole.free_ns) == (3, 168, 150, 10)
    assert found.communication == {"x": ran(6, calls=2), "y": ran(2)}
    assert found.idle_ns == {"unknown": 7, "compilation": 3}
    assert together([one]) is one


def test_a_copy_of_a_timeline_counts_once() -> None:
    one = exposed(100, {"x": ran(5)}, {"unknown": 7}, steps=2)
    assert together([one, replace(one)]).steps == 2


spans = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 50)), max_size=30)


@given(spans, spans)
def test_own_times_are_the_union(mine: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    starts, lengths = np.asarray(mine, dtype=np.int64).reshape(-1, 2).T
    begins, times = np.asarray(others, dtype=np.int64).reshape(-1, 2).T
    beside = union(begins, begins + times)
    moments = {moment for start, length in mine for moment in range(start, start + length)}
    covered = {moment for start, length in others for moment in range(start, start + length)}
    own = alone(starts, starts + lengths, beside)
    assert int(own.sum()) == len(moments - covered)
    assert (own >= 0).all()
    assert (own <= lengths).all()
