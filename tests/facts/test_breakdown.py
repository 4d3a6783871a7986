"""Unions of intervals against counting nanoseconds one by one; what a frame of events tells."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity, break_down_events, part_time
from aoe_reports.facts.host_calls import host_call
from aoe_reports.model.arrays.intervals import Intervals, covered, union, united
from aoe_reports.topics.comparison.exposed import exposed_of

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=12)


def made(spans: list[tuple[int, int]]) -> Intervals:
    pairs = [(start, start + length) for start, length in spans]
    starts, ends = (np.asarray(part, dtype=np.int64) for part in (zip(*pairs, strict=True) if pairs else ((), ())))
    return union(starts, ends)


def moments(spans: list[tuple[int, int]]) -> set[int]:
    return {moment for start, length in spans for moment in range(start, start + length)}


@given(SPANS, SPANS, st.integers(0, 50), st.integers(0, 20))
def test_unions_are_what_counting_says(
    one: list[tuple[int, int]], other: list[tuple[int, int]], at: int, long: int
) -> None:
    mine, theirs = made(one), made(other)
    assert mine.total == len(moments(one))
    assert (mine.starts[1:] > mine.ends[:-1]).all()
    assert united(mine, theirs).total == len(moments(one) | moments(other))
    assert covered(mine, at, at + long) == len(moments(one) & set(range(at, at + long)))


@given(SPANS, SPANS)
def test_the_parts_of_time_add_up(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    parts = part_time(made(one), made(other), len(one), len(other))
    assert parts.overlapped_ns == len(moments(one) & moments(other))
    assert parts.communication_not_overlapped_ns == len(moments(other) - moments(one))
    assert parts.computing_ns + parts.communication_not_overlapped_ns + parts.free_ns == parts.end_to_end_ns


def test_time_around_the_epoch_of_today_is_exact() -> None:
    start = 1_736_412_474_712_511_621
    assert made([(start, 3), (start + 3, 1), (start + 5, 1)]).total == 5


def events(*rows: dict[str, object]) -> pa.RecordBatch:
    kinds = dict.fromkeys(EVENT_COLUMNS, pa.string())
    kinds |= dict.fromkeys(("pid", "connection_id", "start_ns", "duration_ns"), pa.int64()) | {"stage_row": pa.bool_()}
    whole = [{"ph": "X", "stage_row": False, **row} for row in rows]
    return pa.RecordBatch.from_pylist(whole, pa.schema(list(kinds.items())))


def task(start: int, length: int, pid: int = 0, **more: object) -> dict[str, object]:
    place = {"pid": pid, "process": "Ascend Hardware", "task_type": "AI_CORE", "name": "task"}
    return {**place, "start_ns": start, "duration_ns": length, **more}


def talk(start: int, length: int, **more: object) -> dict[str, object]:
    return {
        "process": "Communication",
        "thread": "Group 0 Communication",
        "start_ns": start,
        "duration_ns": length,
        **more,
    }


def test_batches_are_one_timeline_however_they_are_cut() -> None:
    rows = [task(0, 10), talk(5, 10), task(30, 5), task(12, 1)]
    (whole,) = break_down_events([events(*rows)])
    assert [whole] == break_down_events([events(row) for row in reversed(rows)])
    assert (whole.device_id, whole.whole.computing_ns, whole.whole.overlapped_ns, whole.whole.free_ns) == (0, 16, 6, 15)


def test_communication_that_no_device_is_known_of_is_not_guessed() -> None:
    first, second = break_down_events([events(task(0, 10), task(0, 20, 1), talk(5, 10))])
    assert [first.whole.computing_ns, second.whole.computing_ns] == [10, 20]
    assert {first.whole.communication_ns, first.whole.free_ns, second.whole.communication_ns} == {None}


def test_planes_stand_in_where_no_operator_is_shown() -> None:
    plane = talk(5, 10, thread="Plane 0")
    (device,) = break_down_events([events(task(0, 10), plane)])
    assert device.whole.communication_ns == 10
    (device,) = break_down_events([events(task(0, 10), plane, talk(6, 1))])
    assert device.whole.communication_ns == 1


def test_copies_of_tasks_and_other_tasks_do_not_compute() -> None:
    others = [task(20, 10, task_type="EVENT_WAIT"), task(20, 10, stage_row=True), task(20, 10, process="CANN")]
    (device,) = break_down_events([events(task(0, 10), *others)])
    assert (device.whole.tasks, device.whole.computing_ns) == (1, 10)


def test_no_events_are_no_device() -> None:
    assert break_down_events([]) == []
    assert break_down_events([events()]) == []
    (device,) = break_down_events([events(talk(5, 10))])
    assert (device.whole.computing_ns, device.whole.communication_ns, device.gaps) == (0, 10, [])


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            "synchronisation",
            (
                "AscendCL@aclrtSynchronizeStream AscendCL@aclrtSynchronizeStreamWithTimeout AscendCL@aclrtSynchronizeDevice "
                "AscendCL@aclrtSynchronizeEvent Runtime@StreamSynchronize Runtime@DeviceSynchronize Runtime@StreamSyncTaskFinish "
                "Runtime@MemCopySync AscendCL@aclrtMemcpy aten::item aten::_local_scalar_dense aten::is_nonzero"
            ),
        ),
        (
            "data loading",
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ dataloader GetNext AscendCL@acltdtReceiveTensor",
        ),
        ("enqueue", "Enqueue Enqueue@aclnnAdd enqueue"),
        ("dequeue", "Dequeue@Conv2D dequeue"),
        (
            None,
            (
                "AscendCL@aclrtMemcpyAsync AscendCL@aclrtStreamWaitEvent Node@launch wait_event aten::items "
                "torch/utils/data/dataloader.py(625):\u00a0__next__ Runtime@KernelLaunch Notify_Wait"
            ),
        ),
    ],
)
def test_calls_of_the_host_are_told_by_their_names(kind: str | None, names: str) -> None:
    told = {name: host_call(name.replace("\u00a0", " ")) for name in names.split(" ")}
    assert told == dict.fromkeys(told, kind)


@given(st.lists(st.tuples(st.integers(0, 90), st.integers(0, 40), st.booleans()), max_size=8), st.integers(1, 99))
def test_the_cause_of_a_gap_is_what_counting_says(waits: list[tuple[int, int, bool]], late: int) -> None:
    """A gap from 100 to 200: half of it in calls of a kind is its cause, the kind with more of them first."""
    place = {"process": "CANN", "thread": "Thread 7"}
    names = {True: "AscendCL@aclrtSynchronizeStream", False: "GetNext"}
    rows = [task(0, 100), task(200, 10, connection_id=5)]
    rows.append({**place, "name": "Node@launch", "connection_id": 5, "start_ns": 100 + late, "duration_ns": 1})
    rows += [{**place, "name": names[kind], "start_ns": 70 + at, "duration_ns": long} for at, long, kind in waits]
    spent = {
        kind: len(moments([(70 + at, long) for at, long, of in waits if of == kind]) & set(range(100, 200)))
        for kind in (True, False)
    }
    (device,) = break_down_events([events(*rows)])
    (gap,) = device.gaps
    most = max(spent.values())
    if most < 50:
        assert (gap.cause, gap.host_call, gap.host_call_ns) == ("host launched late", None, None)
    else:
        expected = "data loading" if spent[False] == most else "synchronisation"
        assert (gap.cause, gap.host_call_ns) == (expected, most)
        assert gap.host_call == names[expected == "synchronisation"]


@pytest.mark.parametrize(
    ("late", "talked", "cause"),
    [
        (50, 50, "host launched late"),  # as late as communication took, and that is half of the gap
        (49, 50, "waiting for communication"),
        (1, 49, "host launched late"),  # communication explains less than half
        (0, 50, "waiting for communication"),
        (0, 49, "unknown"),
    ],
)
def test_a_gap_is_of_the_host_or_of_communication_whichever_explains_more(late: int, talked: int, cause: str) -> None:
    launch = {"process": "CANN", "thread": "Thread 7", "name": "Node@launch", "connection_id": 5, "duration_ns": 1}
    rows = [task(0, 100), task(200, 10, connection_id=5), {**launch, "start_ns": 100 + late}, talk(100, talked)]
    (device,) = break_down_events([events(*rows)])
    assert [gap.cause for gap in device.gaps] == [cause]


@pytest.mark.parametrize("names", [("GetNext", "dataloader"), ("dataloader", "GetNext")])
def test_of_calls_that_take_as_long_the_first_by_name_is_told(names: tuple[str, str]) -> None:
    place = {"process": "CANN", "thread": "Thread 7"}
    rows = [task(0, 100), task(200, 10, connection_id=5)]
    rows.append({**place, "name": "Node@launch", "connection_id": 5, "start_ns": 199, "duration_ns": 1})
    rows += [{**place, "name": name, "start_ns": 100, "duration_ns": 80} for name in names]
    (device,) = break_down_events([events(*rows)])
    assert [(gap.cause, gap.host_call) for gap in device.gaps] == [("data loading", "GetNext")]


CANN = {"process": "CANN", "duration_ns": 1}
LATE = [task(0, 100), task(200, 10, connection_id=5), {**CANN, "thread": "Thread 7", "name": "Node@launch", "connection_id": 5, "start_ns": 190}]  # fmt: skip
"""A gap from 100 to 200; what is behind it was launched at 190 on thread 7."""


def of_host(name: str, thread: str, start: int, length: int = 1) -> dict[str, object]:
    return {"process": "python", "thread": thread, "name": name, "start_ns": start, "duration_ns": length}


def cause_of(*rows: dict[str, object]) -> tuple[str, str | None, int | None]:
    (device,) = break_down_events([events(*LATE, *rows)])
    (gap,) = device.gaps
    return gap.cause, gap.host_call, gap.host_call_ns


SYNC = of_host("AscendCL@aclrtSynchronizeStream", "Thread 3", 110, 60)
EMPTIES = of_host("Dequeue@Conv2D", "Thread 7", 188)
UNKNOWN = ("host launched late", None, None)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], False),
        ([EMPTIES], False),
        ([of_host("Enqueue@Conv2D", "Thread 3", 180)], False),
        ([EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 180)], True),
        ([EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 190)], True),
        ([EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 191)], False),
        ([EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 50), of_host("Enqueue@Conv2D", "Thread 4", 60)], False),
        ([EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 60), of_host("Enqueue@Conv2D", "Thread 4", 60)], True),
        ([EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 60), of_host("Enqueue@Conv2D", "Thread 4", 191)], True),
        ([of_host("Dequeue@Conv2D", "Thread 8", 188), of_host("Enqueue@Conv2D", "Thread 3", 180)], False),
        # thread 3 waits for a value, then thread 4 begins with the backward pass: not while thread 3 waits
        ([EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 50), of_host("Enqueue@Conv2D", "Thread 4", 170)], True),
        ([EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 50), of_host("Enqueue@Conv2D", "Thread 4", 169)], False),
    ],
)
def test_who_fed_the_queue_last_is_why_the_launch_is_late(rows: list[dict[str, object]], told: bool) -> None:
    expected = ("synchronisation", "AscendCL@aclrtSynchronizeStream", 60) if told else UNKNOWN
    assert cause_of(SYNC, *rows) == expected
    assert cause_of(*reversed([SYNC, *rows])) == expected


@pytest.mark.parametrize(("began", "waited"), [(170, 60), (169, 0)])
def test_idle_time_waits_for_a_thread_that_came_out_of_its_call_before_another_began(began: int, waited: int) -> None:
    activity = Activity()
    fed = of_host("Enqueue@Conv2D", "Thread 3", 50), of_host("Enqueue@Conv2D", "Thread 4", began)
    activity.add(events(*LATE, SYNC, EMPTIES, *fed))
    (device,) = exposed_of(activity, kernels=False)
    assert device.idle_ns.get("synchronisation", 0) == waited


def test_idle_time_of_which_only_a_part_waited_for_another_thread_is_cut() -> None:
    """The sum of a first call that ended in time and a part of one that did not: the second began after thread 4 was at work."""
    again = of_host("AscendCL@aclrtSynchronizeStream", "Thread 3", 175, 60)
    rows = [EMPTIES, of_host("Enqueue@Conv2D", "Thread 3", 50), of_host("Enqueue@Conv2D", "Thread 4", 180)]
    activity = Activity()
    activity.add(events(*LATE, SYNC, again, *rows))
    (device,) = exposed_of(activity, kernels=False)
    assert device.idle_ns == {"synchronisation": 60, "host launch": 30, "behind the launch": 10}


def test_the_launching_thread_may_wait_itself_beside_the_queue() -> None:
    own = of_host("AscendCL@aclrtSynchronizeDevice", "Thread 7", 165, 20)
    assert cause_of(SYNC, EMPTIES, of_host("Enqueue@x", "Thread 3", 180), own) == (
        "synchronisation",
        "AscendCL@aclrtSynchronizeStream",
        75,
    )


@pytest.mark.parametrize(("length", "told"), [(50, True), (49, False)])
def test_calls_of_half_of_the_gap_are_its_cause(length: int, told: bool) -> None:
    sync = of_host("AscendCL@aclrtSynchronizeStream", "Thread 7", 120, length)
    expected = ("synchronisation", "AscendCL@aclrtSynchronizeStream", length) if told else UNKNOWN
    assert cause_of(sync) == expected
    assert cause_of(of_host("GetNext", "Thread 8", 120, 70), sync) == expected, "of the launching thread alone"


@pytest.mark.parametrize(("sync", "load", "kind"), [(60, 60, "data loading"), (61, 60, "synchronisation"), (60, 61, "data loading")])  # fmt: skip
def test_of_two_kinds_of_calls_that_with_more_time_is_the_cause(sync: int, load: int, kind: str) -> None:
    rows = [
        of_host("AscendCL@aclrtSynchronizeStream", "Thread 7", 110, sync),
        of_host("GetNext", "Thread 7", 110, load),
    ]
    assert cause_of(*rows)[0] == kind


def test_only_what_lies_in_the_gap_counts() -> None:
    name = "AscendCL@aclrtSynchronizeStream"
    assert cause_of(of_host(name, "Thread 7", 0, 149)) == UNKNOWN
    assert cause_of(of_host(name, "Thread 7", 0, 150)) == ("synchronisation", name, 50)
    assert cause_of(of_host(name, "Thread 7", 150, 900)) == ("synchronisation", name, 50)
    other = "AscendCL@aclrtSynchronizeDevice"
    rows = [
        of_host(name, "Thread 7", 0, 120),
        of_host(other, "Thread 7", 130, 40),
        of_host(other, "Thread 7", 190, 500),
    ]
    assert cause_of(*rows) == ("synchronisation", other, 70), "the longest inside, not the longest at all"


def test_of_a_flow_only_the_thread_is_known() -> None:
    begin = {
        "category": "HostToDevice",
        "flow_id": "7",
        "name": "flow",
        "ph": "s",
        "thread": "Thread 7",
        "start_ns": 190,
    }
    end = {**begin, "ph": "f", "thread": None, "start_ns": 200}
    rows = [task(0, 100), task(200, 10), begin, end, of_host("GetNext", "Thread 7", 110, 70)]
    (device,) = break_down_events([events(*rows)])
    (gap,) = device.gaps
    assert (gap.cause, gap.host_call, gap.launch, gap.launched_after_ns) == ("data loading", "GetNext", None, 90)
    again = {**begin, "flow_id": "8", "thread": "Thread 8"}
    (device,) = break_down_events([events(*rows, again)])
    assert [gap.cause for gap in device.gaps] == ["host launched late"], "of two threads nobody knows which it was"
