"""What ties a device's tasks to the host: steps, connections, flows, process numbers; and what stands around a gap."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from frames import tasks_of
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.bounds import CoreCounts, StepShares, measure_operators, most_blocks
from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity, DeviceBreakdown, Launches, break_down_events
from aoe_reports.facts.spans import EVER, SpansOf

PID = (4211 << 10) | 3
"""Device 3 of process 4211."""


def batch(*rows: dict[str, Any]) -> pa.RecordBatch:
    """Events of a file: process numbers are words there."""
    kinds = dict.fromkeys(EVENT_COLUMNS, pa.string())
    kinds |= dict.fromkeys(("connection_id", "start_ns", "duration_ns"), pa.int64()) | {"stage_row": pa.bool_()}
    whole = [{"ph": "X", "stage_row": False, **row, "pid": None if row.get("pid") is None else str(row["pid"])} for row in rows]  # fmt: skip
    return pa.RecordBatch.from_pylist(whole, pa.schema(list(kinds.items())))


def task(start: int, length: int = 10, pid: int = PID, **more: Any) -> dict[str, Any]:
    return {"pid": pid, "process": "Ascend Hardware", "task_type": "AI_CORE", "name": "task", "start_ns": start, "duration_ns": length, **more}  # fmt: skip


def talk(start: int, length: int, pid: int = PID, **more: Any) -> dict[str, Any]:
    return {"pid": pid, "process": "Communication", "thread": "Group 0 Communication", "name": "allReduce", "start_ns": start, "duration_ns": length, **more}  # fmt: skip


def step(number: int, start: int, length: int) -> dict[str, Any]:
    return {"process": "python", "thread": "Thread 1", "name": f"ProfilerStep#{number}", "start_ns": start, "duration_ns": length}  # fmt: skip


def launch(start: int, connection: int, name: str = "Node@launch", thread: str = "Thread 7") -> dict[str, Any]:
    return {"process": "CANN", "thread": thread, "name": name, "connection_id": connection, "start_ns": start, "duration_ns": 1}  # fmt: skip


def flow(key: object, begin: int, end: int) -> list[dict[str, Any]]:
    both = {"category": "HostToDevice", "flow_id": str(key), "name": "flow"}
    return [{**both, "ph": "s", "start_ns": begin, "thread": "Thread 9"}, {**both, "ph": "f", "start_ns": end}]


def of_one(*rows: dict[str, Any], **options: int) -> DeviceBreakdown:
    (device,) = break_down_events([batch(*rows)], **options)
    assert break_down_events([batch(*reversed(rows))], **options) == [device], "the order of the file decides nothing"
    assert break_down_events([batch(row) for row in rows], **options) == [device]
    return device


STEPS = [step(1, 0, 100), step(2, 100, 100)]


@pytest.mark.parametrize(
    ("links", "steps", "outside"),
    [
        ([], {1: 1, 2: 1}, 1),  # by when they begin
        ([launch(50, 1), launch(60, 2), launch(70, 3)], {1: 3}, 0),
        ([launch(99, 2)], {1: 2}, 1),
        ([launch(100, 1)], {2: 2}, 1),
        ([launch(20, 2), launch(110, 2)], {1: 1, 2: 1}, 1),  # of several calls the last one before the task
        ([launch(20, 2), launch(160, 2)], {1: 2}, 1),
        ([launch(160, 2)], {1: 1, 2: 1}, 1),  # a call behind its task is the next best one
        ([launch(250, 1)], {2: 1}, 2),
        (flow(5 << 32, 60, 150), {1: 2}, 1),
        (flow(7, 60, 150), {1: 2}, 1),
        (flow("x", 60, 150), {1: 1, 2: 1}, 1),
        (flow(7, 60, 151), {1: 1, 2: 1}, 1),
        ([*flow(7, 60, 150), launch(110, 2)], {1: 1, 2: 1}, 1),  # a connection says it better than a flow
    ],
)
def test_a_task_is_of_the_step_that_launched_it(
    links: list[dict[str, Any]], steps: dict[int, int], outside: int
) -> None:
    rows = [task(20, connection_id=1), task(150, connection_id=2), task(230, connection_id=3)]
    device = of_one(*STEPS, *rows, *links)
    assert ({number: parts.tasks for number, parts in device.steps.items()}, device.outside) == (steps, outside)


def test_communication_is_of_the_step_in_which_it_began() -> None:
    device = of_one(*STEPS, task(20), talk(50, 80), talk(120, 30), talk(210, 5))
    assert {number: parts.communication_ns for number, parts in device.steps.items()} == {1: 80, 2: 30}
    assert {number: parts.computing_ns for number, parts in device.steps.items()} == {1: 10, 2: 0}
    assert device.outside == 1


def test_a_step_ends_where_it_ends() -> None:
    device = of_one(step(1, 10, 10), step(10_000_000_000, 30, 10), task(9), task(10), task(19), task(20), task(35))
    assert ({number: parts.tasks for number, parts in device.steps.items()}, device.outside) == ({1: 2}, 3)
    assert of_one(task(5)).outside == 0


@pytest.mark.parametrize(
    ("other", "stated", "device"),
    [
        ((4211 << 10) | 3 | 32, {"Computing": 7}, 3),
        ((4211 << 10) | 2, {}, 3),
        ((4212 << 10) | 3, {}, None),
    ],
)
def test_a_device_is_known_by_the_last_bits_of_its_process(
    other: int, stated: dict[str, int], device: int | None
) -> None:
    row = {"pid": other, "process": "Overlap Analysis", "thread": "Computing", "name": "x", "start_ns": 0}
    rows = [task(0), task(0, pid=PID + 1), {**row, "duration_ns": 3}, {**row, "duration_ns": 4}]
    found, _ = break_down_events([batch(*rows)])
    assert found.stated_ns == stated
    assert found.stated_rows == ({"Computing": 2} if stated else {})
    assert found.device_id == device


def test_communication_is_of_its_device() -> None:
    other = PID + 1
    rows = [task(0, 100), task(0, 50, other), talk(90, 30, PID | 32), talk(50, 70, other | 64)]
    first, second = break_down_events([batch(*rows)])
    assert (first.device_id, first.whole.communication_ns, first.whole.overlapped_ns) == (3, 30, 10)
    assert (second.device_id, second.whole.communication_ns, second.whole.free_ns) == (4, 70, 0)


def test_the_longest_gaps_come_first_with_what_stands_around_them() -> None:
    rows = [
        task(0, name="a"),
        task(20, name="b"),
        task(50, name="c", connection_id=9),
        task(70, name="d"),
        task(100, name="e"),
    ]
    rows += [talk(31, 5, name="x"), talk(36, 10, name="y"), launch(33, 9)]
    device = of_one(*STEPS, *rows, gaps=3)
    told = [(gap.start_ns, gap.duration_ns, gap.before, gap.after, gap.communication_ns, gap.communication) for gap in device.gaps]  # fmt: skip
    assert told == [(30, 20, "b", "c", 15, "y"), (80, 20, "d", "e", 0, None), (10, 10, "a", "b", 0, None)]
    assert [(gap.launch, gap.launched_after_ns, gap.step) for gap in device.gaps] == [("Node@launch", 3, 1), (None, None, 2), (None, None, 1)]  # fmt: skip
    assert [len(of_one(*rows, gaps=count).gaps) for count in (0, 1, 4, 9)] == [0, 1, 4, 4]
    whole = device.whole
    assert (whole.start_ns, whole.end_ns, whole.tasks, whole.computing_ns, whole.free_ns) == (0, 110, 5, 50, 45)


def blocks(*rows: tuple[str, int | None, int | None]) -> pa.Table:
    return tasks_of([{"task_type": kind, "block_num": count, "mix_block_num": mixed} for kind, count, mixed in rows])


@pytest.mark.parametrize(
    ("rows", "cores", "most"),
    [
        ([("AI_CORE", 8, None), ("AI_CORE", 20, None), ("AI_VECTOR_CORE", 40, None)], CoreCounts(), (20, 40)),
        ([("AI_CORE", 8, None), ("AI_VECTOR_CORE", 40, None)], CoreCounts(cube=32, vector=0), (40, None)),
        ([("AI_CORE", 8, None), ("AI_VECTOR_CORE", 40, None)], CoreCounts(cube=32, vector=64), (8, 40)),
        ([("MIX_AIC", 8, 16), ("AI_VECTOR_CORE", 10, None)], CoreCounts(), (8, 16)),
        ([("AI_CPU", 8, None)], CoreCounts(), (None, None)),
        ([("AI_CORE", None, None)], CoreCounts(), (None, None)),
    ],
)
def test_the_most_blocks_of_each_kind_of_cores(
    rows: list[tuple[str, int | None, int | None]], cores: CoreCounts, most: tuple[int | None, int | None]
) -> None:
    assert most_blocks(blocks(*rows), cores) == most


@pytest.mark.parametrize(
    ("rows", "keys", "classes"),
    [
        ([("A", "a", "1"), ("A", "b", "1"), ("B", "a", "1")], ("op_type",), [0, 0, 1]),
        ([("A", "a", "1"), ("A", "b", "2"), ("A", "c", "1")], ("op_type", "input_shapes"), [0, 1, 0]),
        ([(None, "a", "1"), (None, "b", "1"), (None, "a", "1")], ("op_type", "input_shapes"), [0, 1, 0]),
    ],
)
def test_operators_are_alike_where_their_words_are(
    rows: list[tuple[str | None, str, str]], keys: tuple[str, ...], classes: list[int]
) -> None:
    table = tasks_of([{"op_type": kind, "op_name": name, "input_shapes": shape} for kind, name, shape in rows])
    bounds = measure_operators(table)
    assert bounds is not None
    of, count = bounds.alike(keys)
    assert count == len(set(classes))
    by_task = of[bounds.group_of].tolist()
    assert [by_task.index(one) for one in by_task] == [classes.index(one) for one in classes]
    numbers, words = bounds.key_codes("op_name")
    assert [words[number - 1] for number in numbers[bounds.group_of]] == [name for _, name, _ in rows]
    assert bounds.key_codes("no such key")[1] == []


def test_a_sum_is_told_for_one_step() -> None:
    assert StepShares(0, 0, 4, 8000, 8000).per_step_us(10_000) == 2.5


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_every_flow_leads_to_its_task(count: int) -> None:
    """Tasks of the first step are launched in the second one, each by a flow of its own."""
    rows = [task(10 * number, 5) for number in range(1, count + 1)]
    links = [one for number in range(1, count + 1) for one in flow(100 - number, 100 + number, 10 * number)]
    device = of_one(*STEPS, *rows, *links)
    assert {number: parts.tasks for number, parts in device.steps.items()} == {2: count}
    assert of_one(*STEPS, *rows, *links[2:]).steps.keys() == ({1, 2} if count > 1 else {1})


def test_shares_of_steps_whose_length_is_not_known_are_null() -> None:
    known = StepShares(0, 0, 2, 100, 40, 50, 30, 10)
    assert (known.share(10), known.share(None), known.per_step_us(4000)) == (0.1, None, 2.0)
    for length in (None, 0):
        unknown = StepShares(0, 0, 2, length, 40)
        assert (unknown.share(10), unknown.share(None)) == (None, None)
        assert unknown.step_us == (None if length is None else 0.0)
        assert unknown.bound_saving_ns == 40


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30)), max_size=12, unique=True),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 30)), max_size=8, unique_by=lambda task: task[1]),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6, unique_by=lambda one: one[1]),
)
def test_what_launched_a_task_is_what_a_plain_search_finds(
    calls: list[tuple[int, int]], tasks: list[tuple[int, int]], flows: list[tuple[int, int]]
) -> None:
    """The last call of its connection before it, else the next one, else the flow that ends where it starts."""
    rows = [launch(start, connection) for connection, start in calls]
    rows += [row for key, (begin, end) in enumerate(flows) for row in flow(key << 32, begin, end)]
    activity = Activity()
    activity.add(batch(*rows, *(task(start, 1, connection_id=connection) for connection, start in tasks)))
    spans = SpansOf(activity.of_devices()[0].tasks.spans).between(*EVER) if tasks else None
    found = {} if spans is None else _told(spans["start"], activity.launches_of(spans))
    expected = {}
    for connection, start in tasks:
        mine = sorted(time for of, time in calls if of == connection)
        before = [time for time in mine if time <= start]
        arrived = [begin for begin, end in flows if end == start]
        expected[start] = (before[-1:] or mine[:1] or arrived or [None])[0]
    assert found == expected


def _told(starts: Any, launches: Launches) -> dict[int, int | None]:
    told = zip(starts.tolist(), launches.start.tolist(), launches.known.tolist(), strict=True)
    return {start: launched if known else None for start, launched, known in told}
