"""What tasks depend on, told by events of timelines: launches, queues, events between streams, communication, calls that wait."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dependency_events import batch, call, link, plane, talk, task
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.pictures.path_kinds import KINDS
from aoe_reports.topics.critical_path.dependencies import Dependencies, Device
from aoe_reports.topics.critical_path.facts import ends_after, window_of
from aoe_reports.topics.critical_path.step_paths import StepPath, operators_of, paths_of


def of_one(*rows: dict[str, Any]) -> Device:
    collected = Dependencies()
    collected.add(batch(*rows))
    (device,) = collected.devices()
    paths = [path_in_words(device, path) for path in paths_of(device)]
    for batches in ([batch(*reversed(rows))], [batch(row) for row in rows]):
        again, part = Dependencies(), Dependencies()
        for number, one in enumerate(batches):
            (again if number % 2 else part).add(one)
        again.merge(part)
        (other,) = again.devices()
        assert [path_in_words(other, path) for path in paths_of(other)] == paths, "order and parts decide nothing"
    return device


def path_in_words(device: Device, path: StepPath) -> list[tuple[str, str, int]]:
    names = device.graph.slices.name
    segments = path.segments
    assert segments.duration.sum() == path.duration_ns
    return [
        (KINDS[kind], device.names[name] if name >= 0 else "", duration)
        for kind, name, duration in zip(segments.kind, names[segments.place], segments.duration.tolist(), strict=True)
    ]


def words_of(*rows: dict[str, Any]) -> list[tuple[str, str, int]]:
    device = of_one(*rows)
    (path,) = paths_of(device)
    return path_in_words(device, path)


def test_a_task_behind_its_launch_is_bound_by_the_host() -> None:
    told = words_of(
        call("Node@launch", 0, 5, 1),
        task("first", 10, 20, connection_id=1),
        call("Node@launch", 100, 5, 2),
        task("second", 112, 30, connection_id=2),
    )
    assert told == [("unexplained wait", "", 90), ("launch", "second", 12), ("computing", "second", 30)]


def test_the_hosts_time_in_recorded_ranges_is_its_own() -> None:
    told = words_of(
        call("Node@launch", 0, 5, 1),
        task("first", 10, 20, connection_id=1),
        call("aten::mul", 40, 50),
        call("Node@launch", 100, 5, 2),
        task("second", 112, 30, connection_id=2),
    )
    assert told[:3] == [("unexplained wait", "", 30), ("host", "", 50), ("unexplained wait", "", 10)]


def test_a_launch_is_told_by_its_flow_where_calls_have_no_connection() -> None:
    both = {"category": "HostToDevice", "flow_id": str(7 << 70), "name": "flow"}
    told = words_of(
        task("first", 10, 20),
        {**both, "ph": "s", "thread": "Thread 7", "start_ns": 100},
        {**both, "ph": "f", "start_ns": 112},
        task("second", 112, 30),
    )
    assert told[-2:] == [("launch", "second", 12), ("computing", "second", 30)]


def test_a_queued_operator_depends_on_the_thread_that_entered_it() -> None:
    told = words_of(
        call("Node@launch", 0, 5, 1, thread="Thread 8"),
        task("first", 10, 20, connection_id=1),
        call("main", 0, 200, thread="Thread 7"),
        *link(1, ("Thread 7", 90), ("Thread 8", 95)),
        call("Node@launch", 100, 5, 2, thread="Thread 8"),
        task("second", 112, 30, connection_id=2),
    )
    assert told == [
        ("host", "", 80),
        ("unexplained wait", "", 5),
        ("unexplained wait", "", 5),
        ("launch", "second", 12),
        ("computing", "second", 30),
    ]


def test_backward_depends_on_its_forward_operator() -> None:
    told = words_of(
        call("Node@launch", 0, 5, 1),
        task("first", 10, 20, connection_id=1),
        call("main", 0, 80),
        *link(1, ("Thread 7", 80), ("Thread 9", 95), category="fwdbwd"),
        call("Node@launch", 100, 5, 2, thread="Thread 9"),
        task("second", 112, 30, connection_id=2),
    )
    assert told[0] == ("host", "", 70), "the thread of the forward pass"


EVENTS = [
    task("compute", 0, 40),
    task("EVENT_RECORD", 40, 1, kind="EVENT_RECORD_SQE"),
    task("beside", 0, 10, stream=5),
    task("EVENT_WAIT", 10, 33, stream=5, kind="EVENT_WAIT_SQE"),
    task("behind", 45, 20, stream=5),
]


def test_a_stream_that_waits_for_an_event_is_bound_by_the_stream_that_recorded_it() -> None:
    assert words_of(*EVENTS) == [
        ("computing", "compute", 40),
        ("other task", "EVENT_RECORD", 1),
        ("unexplained wait", "EVENT_WAIT", 2),
        ("unexplained wait", "behind", 2),
        ("computing", "behind", 20),
    ]


def test_exporters_until_2023_write_a_wait_where_it_ends() -> None:
    told = words_of(*EVENTS[:3], task("EVENT_WAIT", 43, 0, stream=5, kind="EVENT_WAIT"), EVENTS[-1])
    assert told[0] == ("computing", "compute", 40)


def test_a_wait_in_which_nothing_was_recorded_stays_unexplained() -> None:
    told = words_of(EVENTS[0], *EVENTS[2:])
    assert told == [
        ("computing", "beside", 10),
        ("unexplained wait", "EVENT_WAIT", 33),
        ("unexplained wait", "behind", 2),
        ("computing", "behind", 20),
    ]


def test_a_wait_that_did_not_have_to_wait_depends_on_its_stream_only() -> None:
    told = words_of(*EVENTS[:3], task("EVENT_WAIT", 50, 0, stream=5), task("long", 10, 40, stream=5), task("behind", 50, 20, stream=5))  # fmt: skip
    assert told == [("computing", "beside", 10), ("computing", "long", 40), ("computing", "behind", 20)]


PARTS = [
    task("Notify Wait", 50, 60, stream=4, kind="Notify Wait", connection_id=9),
    task("SDMA", 110, 40, stream=4, kind="SDMA", connection_id=9),
    task("EVENT_RECORD", 150, 1, stream=4, kind="EVENT_RECORD_SQE"),
    task("EVENT_WAIT", 40, 112, stream=2, kind="EVENT_WAIT_SQE"),
    task("compute", 0, 40),
    task("behind", 155, 20),
]


@pytest.mark.parametrize(
    "told",
    [
        [talk("allReduce", 50, 100, connection_id=9), *PARTS],
        [
            talk("allReduce", 50, 100),
            plane(50, 60, 4),
            plane(110, 40, 4),
            *({**part, "connection_id": None} for part in PARTS),
        ],
    ],
    ids=["by connection", "by planes"],
)
def test_an_operator_of_communication_has_the_place_of_its_tasks_in_their_stream(told: list[dict[str, Any]]) -> None:
    device = of_one(*told)
    (path,) = paths_of(device)
    assert path.by_kind == {
        "computing": 20,
        "communication": 100,
        "other task": 1,
        "launch": 0,
        "host": 0,
        "unexplained wait": 54,
    }
    (allreduce,) = [one for one in operators_of(device, path, device.names, shortened_percent=100, top=9) if one.kind == "communication"]  # fmt: skip
    assert (allreduce.tasks, allreduce.path_ns, allreduce.slack_ns) == (1, 100, 0)
    assert allreduce.gain_ns == 100


def test_a_call_that_synchronises_returns_behind_the_task_that_ended_last() -> None:
    told = words_of(
        call("Node@launch", 0, 5, 1),
        task("first", 10, 200, connection_id=1),
        call("AscendCL@aclrtSynchronizeStream", 20, 195),
        call("Node@launch", 230, 5, 2),
        task("second", 240, 30, connection_id=2),
    )
    assert told == [
        ("computing", "first", 200),
        ("host", "", 5),
        ("unexplained wait", "", 15),
        ("launch", "second", 10),
        ("computing", "second", 30),
    ]


def test_tasks_that_seem_to_begin_before_they_are_launched_move_the_hosts_clock() -> None:
    device = of_one(
        call("Node@launch", 30, 5, 1),
        task("first", 10, 20, connection_id=1),
        call("Node@launch", 120, 5, 2),
        task("second", 112, 30, connection_id=2),
    )
    assert device.shift_ns == -20
    (path,) = paths_of(device)
    assert path_in_words(device, path)[-2:] == [("launch", "second", 12), ("computing", "second", 30)]


def test_each_step_has_its_own_path_from_its_first_task_to_its_last() -> None:
    steps = [
        {"process": "Python", "thread": "Thread 7", "name": f"ProfilerStep#{number}", "start_ns": start, "duration_ns": 100}
        for number, start in ((1, 0), (2, 100))
    ]  # fmt: skip
    device = of_one(
        *steps,
        call("Node@launch", 5, 5, 1),
        task("first", 50, 80, connection_id=1),
        call("Node@launch", 105, 5, 2),
        task("second", 130, 30, connection_id=2),
    )
    one, two = paths_of(device)
    assert [(path.step, path.start_ns, path.duration_ns, path.tasks) for path in (one, two)] == [(1, 50, 80, 1), (2, 130, 30, 1)]  # fmt: skip
    (operator,) = operators_of(device, two, device.names, shortened_percent=50, top=9)
    assert (operator.op_name, operator.gain_ns) == ("second", 15)


def test_operators_off_the_path_have_slack_and_no_gain() -> None:
    device = of_one(*EVENTS, task("long", 65, 100, stream=5), task("apart", 60, 25, stream=6))
    (path,) = paths_of(device)
    rows = {one.op_name: one for one in operators_of(device, path, device.names, shortened_percent=100, top=9)}
    assert (rows["apart"].path_ns, rows["apart"].slack_ns, rows["apart"].gain_ns) == (0, 80, 0)
    assert (rows["long"].path_ns, rows["long"].slack_ns, rows["long"].gain_ns) == (100, 0, 80), (
        "until `apart` is the last"
    )
    assert next(iter(rows)) == "long"


def test_an_operator_that_is_grouped_is_shortened_as_a_whole() -> None:
    device = of_one(task("a", 0, 40), task("b", 40, 10), task("a", 50, 30))
    (path,) = paths_of(device)
    a, b = operators_of(device, path, device.names, shortened_percent=10, top=2)
    assert (a.op_name, a.tasks, a.total_ns, a.path_ns, a.gain_ns) == ("a", 2, 70, 70, 7)
    assert (b.op_name, b.gain_ns) == ("b", 1)


def test_a_timeline_without_tasks_has_no_device() -> None:
    collected = Dependencies()
    collected.add(batch(call("Node@launch", 0, 5, 1)))
    assert collected.devices() == []


_TIMES = st.one_of(st.integers(0, 60), st.integers(2**60, 2**60 + 60))
_ROWS = st.one_of(
    st.builds(
        task,
        st.sampled_from(["a", "b", "EVENT_WAIT", "EVENT_RECORD", "Notify Wait", ""]),
        _TIMES,
        st.integers(0, 30),
        stream=st.one_of(st.integers(0, 2), st.just(2**63 - 1)),
        kind=st.sampled_from(["AI_CORE", "EVENT_WAIT_SQE", "SDMA", "N/A"]),
        connection_id=st.one_of(st.none(), st.integers(0, 4)),
    ),
    st.builds(
        talk, st.just("allReduce"), _TIMES, st.integers(0, 30), connection_id=st.one_of(st.none(), st.integers(0, 4))
    ),
    st.builds(plane, _TIMES, st.integers(0, 30), st.integers(0, 2)),
    st.builds(
        call,
        st.sampled_from(["Node@launch", "AscendCL@aclrtSynchronizeStream", "Dequeue@x", "ProfilerStep#1", "f"]),
        _TIMES,
        st.integers(0, 30),
        st.one_of(st.none(), st.integers(0, 4)),
        st.sampled_from(["Thread 7", "Thread 8", ""]),
    ),
)
_LINKED = st.builds(
    link,
    st.integers(0, 3),
    st.tuples(st.sampled_from(["Thread 7", "Thread 8"]), _TIMES),
    st.tuples(st.sampled_from(["Thread 7", "Thread 8"]), _TIMES),
    st.sampled_from(["async_task_queue", "fwdbwd", "HostToDevice"]),
)


@given(st.lists(_ROWS, max_size=14), st.lists(_LINKED, max_size=3))
def test_whatever_is_recorded_a_path_is_the_step_and_nothing_shortened_changes_nothing(
    rows: list[dict[str, Any]], links: list[list[dict[str, Any]]]
) -> None:
    collected = Dependencies()
    collected.add(batch(*rows, *(one for both in links for one in both)))
    for device in collected.devices():
        for path in paths_of(device):
            path_in_words(device, path)
            window = window_of(device.graph, path.start_ns, path.start_ns + path.duration_ns)
            assert (ends_after(window, np.zeros(len(window), dtype=np.int64)) == window.end).all()
            for one in operators_of(device, path, device.names, shortened_percent=100, top=20):
                assert 0 <= one.gain_ns <= one.path_ns <= one.total_ns
                assert one.slack_ns >= 0
