"""What the tasks of communication in a timeline tell of links and waits, however the timeline is cut into batches."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.topics.communication.facts import OperatorTime
from aoe_reports.topics.communication.tasks import TASK_COLUMNS, CommunicationTasks, TaskFigures

NO_RANK = 2**32 - 1
TYPES: dict[str, pa.DataType] = dict.fromkeys(TASK_COLUMNS, pa.string())
TYPES |= {"start_ns": pa.int64(), "duration_ns": pa.int64(), "stage_row": pa.bool_()}
SCHEMA = pa.schema(list(TYPES.items()))
Event = dict[str, Any]


def operator(start: int, length: int, name: str = "hcom_allReduce__1_0", group: int = 0, tid: int = 0) -> Event:
    thread = f"Group {group} Communication"
    return {"name": name, "thread": thread, "tid": str(tid), "start_ns": start, "duration_ns": length}


def task(start: int, length: int, peer: int | None, size: int = 1000, tid: int = 1, **more: Any) -> Event:
    facts = {"src rank": 0, "dst rank": NO_RANK if peer is None else peer, "size(Byte)": size}
    facts |= {"transport type": "SDMA", "link type": "HCCS", **more}
    place = {"name": "Memcpy", "thread": "Plane 0", "tid": str(tid), "args": json.dumps(facts)}
    return {**place, "start_ns": start, "duration_ns": length}


def wait(start: int, length: int, peer: int | None, tid: int = 1) -> Event:
    return {**task(start, length, peer, 0, tid), "name": "Notify_Wait"}


def batch(events: list[Event]) -> pa.RecordBatch:
    whole = [{"ph": "X", "stage_row": False, "process": "Communication", "pid": "7", **event} for event in events]
    return pa.RecordBatch.from_pylist(whole, SCHEMA)


def figures(*events: Event, known: tuple[OperatorTime, ...] = (), cut: int | None = None) -> TaskFigures:
    """By one that takes in all events; cut in two also by two of which one takes in the other."""
    every = list(events)
    whole, first, second = CommunicationTasks(), CommunicationTasks(), CommunicationTasks()
    for part, mine in ((every[:cut], first), (every[cut:], second)) if cut is not None else ((every, first),):
        whole.add(batch(part))
        mine.add(batch(part))
    first.merge(second)
    found = whole.figures(3, 1, known)
    assert first.figures(3, 1, known) == found
    return found


def test_links_and_waits_of_one_operator() -> None:
    found = figures(
        operator(100, 900),
        wait(110, 300, 5, tid=1),
        wait(110, 200, 2, tid=2),
        task(420, 50, 5, 4000),
        task(480, 10, 2, 600, tid=2),
        wait(500, 400, 2),
        task(950, 5, None, 8, **{"link type": "ON_CHIP"}),
    )
    (told,) = found.operators
    assert (told.rank_id, told.step, told.op_type, told.group, told.elapsed_ns) == (3, 1, "allreduce", "0", 900)
    assert [(one.destination_rank, one.transport, one.transit_bytes, one.transit_ns) for one in found.transfers] == [
        (0, "LOCAL", 8, 5), (2, "HCCS", 600, 10), (5, "HCCS", 4000, 50),
    ]  # fmt: skip
    (longest,) = found.peer_waits
    assert (longest.peer, longest.waited_ns) == (5, 300)  # what to wait for behind the first transfer tells of links
    assert found.link_waits == {(1, "0", 0, 5): 300, (1, "0", 0, 2): 600}


def test_planes_that_wait_for_one_peer_at_the_same_time_wait_once() -> None:
    found = figures(operator(0, 900), wait(0, 100, 5, tid=1), wait(50, 100, 5, tid=2))
    assert found.peer_waits[0].waited_ns == 150
    assert found.link_waits == {(1, "0", 0, 5): 150}


@given(st.permutations(range(6)), st.integers(0, 6))
def test_order_and_batches_make_no_difference(order: list[int], cut: int) -> None:
    events = [
        operator(0, 100), operator(200, 100, "hcom_allGather__1_1"), wait(1, 20, 2), task(30, 10, 2), task(210, 30, 1),
        wait(205, 2, 1),
    ]  # fmt: skip
    assert figures(*(events[place] for place in order), cut=cut) == figures(*events)


def test_operators_at_the_same_time_are_told_apart_by_their_planes() -> None:
    both = (operator(0, 100, "hcom_allReduce__1_0", 0, tid=10), operator(0, 100, "hcom_allGather__2_0", 1, tid=20))
    found = figures(*both, task(5, 1, 2, 11, tid=12), task(5, 1, 2, 22, tid=21), task(6, 1, 2, 44, tid=3))
    assert {(one.op_type, one.group, one.transit_bytes) for one in found.transfers} == {
        ("allreduce", "0", 11), ("allgather", "1", 22), ("other", None, 44),
    }  # fmt: skip


def test_a_task_outside_of_every_operator_keeps_its_bytes() -> None:
    (one,) = figures(operator(0, 10), task(10, 5, 2)).transfers
    assert (one.op_name, one.group, one.transit_bytes) == ("", None, 1000)


def test_step_and_group_are_those_of_the_exporters_own_table() -> None:
    known = tuple(
        OperatorTime(3, step, "collective", "hcom_allReduce__1_0", "allreduce", f"group{step}", start, 100)
        for step, start in ((7, 0), (8, 1000))
    )
    found = figures(operator(3, 100), operator(1004, 100), known=known)
    assert [(one.step, one.group) for one in found.operators] == [(7, "group7"), (8, "group8")]


def test_rdma_has_no_time_in_its_send() -> None:
    (one,) = figures(operator(0, 10), task(1, 5, 2, **{"transport type": "RDMA", "link type": "ROCE"})).transfers
    assert (one.transport, one.transit_ns, one.transit_bytes) == ("RDMA", None, 1000)


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", "1", '{"size(Byte)": -1}', '{"size(Byte)": NaN}', '{"size(Byte)": 1e3}', '{"dst rank": -2}',
        '{"size(Byte)": true}', '{"src rank": "0"}', '{"size(Byte)": 99999999999999999999}', '{"dst rank": {}}',
        "[" * 100_000,
    ],
)  # fmt: skip
def test_damaged_arguments_are_counted_and_in_no_sum(text: str) -> None:
    found = figures(operator(0, 10), task(1, 5, 2), {**task(1, 5, 2), "args": text})
    assert found.unusable == 1
    assert [one.transit_bytes for one in found.transfers] == [1000]


@pytest.mark.parametrize(
    ("way", "link", "told"),
    [("SDMA", "PCIE", "PCIE"), ("LOCAL", "INVALID_TYPE", "LOCAL"), (None, None, "unknown"), (3, ["x"], "unknown"),
     ("SDMA", "N/A", "SDMA"), ("SDMA", "HCCS_SW", "HCCS_SW")],
)  # fmt: skip
def test_transports(way: object, link: object, told: str) -> None:
    (one,) = figures(operator(0, 10), task(1, 5, 2, **{"transport type": way, "link type": link})).transfers
    assert one.transport == told


def test_other_processes_phases_and_second_copies_are_no_tasks() -> None:
    events = [operator(0, 10), task(1, 5, 2)]
    for change in ({"process": "Ascend Hardware"}, {"ph": "f"}, {"stage_row": True}):
        tasks = CommunicationTasks()
        tasks.add(batch([{**event, **change} for event in events]))
        assert tasks.figures(0) == TaskFigures([], [], [], {}, [], 0)
        tasks.add(batch([*events, *({**event, **change} for event in events)]))
        assert tasks.figures(3, 1) == figures(*events)


def test_receiving_is_no_waiting_for_a_slow_rank() -> None:
    found = figures(operator(0, 900, "hcom_receive__1_0"), wait(0, 800, 1), task(800, 50, 1))
    assert found.peer_waits == []
    assert found.link_waits == {(1, "0", 0, 1): 800}


@pytest.mark.parametrize(
    ("fact", "value", "counts"),
    [
        ("size(Byte)", 2**62 - 1, True),
        ("size(Byte)", 2**62, False),
        ("size(Byte)", -1, False),
        ("size(Byte)", True, False),
        ("size(Byte)", 1.5, False),
        ("src rank", 2**31 - 1, True),
        ("src rank", 2**31, False),
        ("src rank", -1, False),
        ("dst rank", 2**31 - 1, True),
        ("dst rank", 2**31, False),
        ("dst rank", "2", False),
    ],
)
def test_arguments_of_a_task_are_within_their_limits(fact: str, value: Any, counts: bool) -> None:
    found = figures(operator(0, 100), task(10, 20, 5, **{fact: value}))
    assert (len(found.transfers), found.unusable) == ((1, 0) if counts else (0, 1))


def test_an_event_without_a_thread_is_an_operator() -> None:
    nowhere = {**operator(100, 900), "thread": None}
    found = figures(nowhere, wait(110, 300, 5))
    assert [one.elapsed_ns for one in found.operators] == [900]
    assert found.unusable == 0


def test_copies_off_512_bytes_are_counted_and_only_those_over_links_of_the_chip() -> None:
    rdma, local = {"transport type": "RDMA"}, {"link type": "ON_CHIP"}
    found = figures(
        operator(100, 900),
        task(110, 10, 5, 1024),
        task(130, 30, 5, 1000),
        task(170, 20, 6, 300),
        task(200, 20, 6, 700, **rdma),
        task(300, 20, 0, 700, **local),
        wait(400, 9, 5),
        cut=4,
    )
    (one,) = found.alignments
    assert (one.rank_id, one.step, one.transport) == (3, 1, "HCCS")
    assert (one.copies, one.size_bytes, one.time_ns) == (3, 2324, 60)
    assert (one.unaligned_copies, one.unaligned_bytes, one.unaligned_ns) == (1, 1000, 30)
