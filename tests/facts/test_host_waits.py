"""Who is to blame for idle time: what another thread launches meanwhile no call holds up, a wait delays by its own length at most."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from commandline import Cli

from aoe_reports import breakdown, host
from aoe_reports.topics.host.host import HostTime

HOST, DEVICE, PYTHON, COLLECTOR = 1, 2, 3, 4
MAIN, LAUNCHER = 10, 11
_PROCESSES = {HOST: "CANN", DEVICE: "Ascend Hardware", PYTHON: "Python", COLLECTOR: "Python GC"}


def _x(name: str, pid: int, tid: int, start: int, end: int, **args: Any) -> dict[str, Any]:
    return {"name": name, "ph": "X", "pid": pid, "tid": tid, "ts": f"{start}.000", "dur": end - start, "args": args}


def _launched(number: int, at: int, start: int, end: int, thread: int = MAIN) -> list[dict[str, Any]]:
    """A task and its launch."""
    told = {"Task Type": "AI_CORE", "connection_id": number, "Physic Stream Id": 3}
    return [
        _x("Node@launch", HOST, thread, at, at + 1, connection_id=number),
        _x(f"aclnnAdd_{number}_Add", DEVICE, 3, start, end, **told),
    ]


def _put(at: int, out: int) -> list[dict[str, Any]]:
    """What the main thread puts into the queue, and when the other takes it out."""
    return [_x("Enqueue", PYTHON, MAIN, at, at + 1), _x("Dequeue@aclnnAdd", PYTHON, LAUNCHER, out, out + 2)]


def _write(folder: Path, events: list[dict[str, Any]]) -> None:
    output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_0.json").write_text('{"rank_id": 0}')
    names: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in _PROCESSES.items()
    ]
    names += [
        {"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": f"Thread {tid}"}}
        for pid in (HOST, PYTHON)
        for tid in (MAIN, LAUNCHER)
    ]
    (output / "trace_view.json").write_text(json.dumps([*names, *events]))


def _whole(folder: Path, events: list[dict[str, Any]]) -> HostTime:
    _write(folder, events)
    (row,) = host([folder]).rows
    return row


@pytest.mark.parametrize(
    ("call", "process"),
    [
        ("aten::item", PYTHON),
        ("AscendCL@aclrtSynchronizeStream", HOST),
        ("AscendCL@aclrtMemcpy", HOST),
        ("enumerate(DataLoader)#x.__next__", PYTHON),
        ("GC", COLLECTOR),
    ],
)
def test_what_is_launched_out_of_the_queue_meanwhile_was_not_held_up(tmp_path: Path, call: str, process: int) -> None:
    """The main thread has put all in, and waits; the thread that launches takes 90 us for each."""
    events = [event for n in range(10) for event in _put(n, 100 * (n + 1))]
    events += [
        event for n in range(10) for event in _launched(n, 100 * n + 100, 100 * n + 105, 100 * n + 115, LAUNCHER)
    ]
    row = _whole(tmp_path, [*events, _x(call, process, MAIN, 20, 1020)])
    assert (row.idle_ns, row.launching_ns, row.waited_ns) == (810_000, 810_000, 810_000)
    if process != COLLECTOR:
        assert host([tmp_path]).table("causes")[0].cause == "launching"


def test_what_is_put_in_behind_a_call_was_held_up_by_it(tmp_path: Path) -> None:
    events = [*_put(0, 5), *_launched(1, 5, 10, 20, LAUNCHER), *_put(200, 205), *_launched(2, 205, 210, 220, LAUNCHER)]
    row = _whole(tmp_path, [*events, _x("aten::item", PYTHON, MAIN, 8, 198)])
    assert (row.idle_ns, row.synchronisation_ns) == (190_000, 190_000)


def test_a_wait_delays_what_follows_by_its_own_length_at_most(tmp_path: Path) -> None:
    events = [*_launched(1, 5, 10, 20), *_launched(2, 1000, 1010, 1020)]
    row = _whole(tmp_path, [*events, _x("aten::item", PYTHON, MAIN, 8, 22)])
    assert (row.idle_ns, row.synchronisation_ns, row.launching_ns) == (990_000, 14_000, 976_000)


def test_launches_that_overtake_each_other_still_starve_the_device(tmp_path: Path) -> None:
    """One launch every 10 us, each takes 12 to begin, and the task 3: the next one is always launched already."""
    row = _whole(tmp_path, [event for n in range(100) for event in _launched(n, 10 * n, 10 * n + 12, 10 * n + 15)])
    assert (row.idle_ns, row.launching_ns, row.launched_ns) == (99 * 7000, 99 * 7000, 0)


def test_what_was_launched_long_ago_waits_for_no_host(tmp_path: Path) -> None:
    events = [event for n in range(20) for event in _launched(n, n, 1000 + 100 * n, 1050 + 100 * n)]
    row = _whole(tmp_path, events)
    assert (row.idle_ns, row.launched_ns, row.waited_ns) == (19 * 50_000, 19 * 50_000, 0)
    assert host([tmp_path]).table("causes") == []


def test_while_only_communication_runs_no_device_waits_for_its_host(tmp_path: Path) -> None:
    events = [*_launched(1, 0, 10, 20), *_launched(2, 990, 1000, 1010)]
    talk = [
        {"name": "process_name", "ph": "M", "pid": 9, "tid": 0, "args": {"name": "Communication"}},
        _x("hcom_allReduce__1_0_1", 9, 0, 20, 1000, connection_id=3),
    ]
    row = _whole(tmp_path, [*events, *talk])
    assert (row.idle_ns, row.waited_ns) == (0, 0)
    assert host([tmp_path]).table("causes") == []


def test_copies_within_the_device_are_no_copies_of_the_host(tmp_path: Path) -> None:
    events = [*_launched(1, 0, 10, 20), *_launched(2, 0, 100, 110)]
    copies = [
        _x("MEMCPY_ASYNC", DEVICE, 4, 20, 60, **{"Task Type": "SDMA_SQE"}),
        _x("MEMCPY_ASYNC", DEVICE, 4, 60, 70, **{"Task Type": "PCIE_DMA_SQE"}),
    ]
    row = _whole(tmp_path, [*events, *copies])
    assert (row.copying_ns, row.launched_ns) == (10_000, 70_000)
    (device,) = host([tmp_path]).table("devices")
    assert (device.copy_tasks, device.copy_tasks_ns) == (1, 10_000)


def test_the_evidence_is_of_threads_that_hold_the_device_up(tmp_path: Path) -> None:
    events = [*_launched(1, 5, 10, 20), *_launched(2, 1000, 1010, 1020)]
    background = _x("AscendCL@acltdtSendTensor", HOST, LAUNCHER, 0, 2000)
    row = _whole(tmp_path, [*events, background, _x("enumerate(DataLoader)#x.__next__", PYTHON, MAIN, 21, 995)])
    assert row.data_loading_ns == 974_000
    (cause,) = host([tmp_path]).table("causes")
    assert "1 call of enumerate(DataLoader)#x.__next__" in cause.evidence
    (free,) = {one.free_ns for one in breakdown([tmp_path]).rows}
    assert row.idle_ns == free


def test_where_most_launches_are_missing_that_is_the_first_line(tmp_path: Path, cli: Cli) -> None:
    told = {"Task Type": "AI_CORE", "connection_id": 99, "Physic Stream Id": 3}
    others = [_x("aclnnAdd_x_Add", DEVICE, 3, 100 * n, 100 * n + 50, **told) for n in range(1, 10)]
    _write(tmp_path, [*_launched(1, 0, 10, 20), *others])
    assert cli("host", tmp_path).out.splitlines()[0] == (
        "The device waited 0.0% of its time for the host; for 51.1% of its time it was idle for an unknown reason: launches are missing."
    )


def test_whose_communication_it_is_decides_whether_a_device_waits(tmp_path: Path, cli: Cli) -> None:
    """Two devices, and communication of a process that belongs to neither: it may be what fills the gap of both."""
    other, talk = 22, 9
    _write(tmp_path, [])
    (path,) = tmp_path.rglob("trace_view.json")
    events = json.loads(path.read_text())
    for pid, name in ((other, "Ascend Hardware"), (talk, "Communication")):
        events.append({"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name}})
    mine = [*_launched(1, 0, 10, 20), *_launched(2, 990, 1000, 1010)]
    theirs = [
        event | {"pid": other}
        for event in [*_launched(3, 0, 10, 20), *_launched(4, 990, 1000, 1010)]
        if event["pid"] == DEVICE
    ]
    events += [*mine, *theirs, _x("hcom_allReduce__1_0_1", talk, 0, 20, 1000, connection_id=5)]
    path.write_text(json.dumps(events))
    document = cli("host", tmp_path, "--format", "json").json
    assert [(row["waited_us"], row["launching_us"]) for row in document["rows"]] == [(None, None)] * 2
    assert document["causes"] == document["waits"] == []
    assert "device-unknown" in {one["rule"] for one in document["findings"]}
    assert "the device of the communication is not recorded." in cli("host", tmp_path).out.splitlines()[0]


def _steps_with_one_compilation() -> list[dict[str, Any]]:
    events = [_x(f"ProfilerStep#{n}", PYTHON, MAIN, 1000 * n, 1000 * n + 999) for n in range(4)]
    events += [event for n in range(4) for event in _launched(n, 1000 * n + 50, 1000 * n + 100, 1000 * n + 1090)]
    events += [_x("AscendCL@opCompile", HOST, MAIN, 105, 700), *_launched(9, 710, 715, 720)]
    (first,) = (event for event in events if event["args"].get("connection_id") == 0 and event["pid"] == DEVICE)
    first["dur"] = 10
    return events


def test_what_is_compiled_in_the_first_step_only_is_said_so(tmp_path: Path) -> None:
    _write(tmp_path, _steps_with_one_compilation())
    cause = host([tmp_path]).table("causes")[0]
    assert cause.cause == "compilation"
    assert cause.evidence.endswith("1 call of AscendCL@opCompile, all in the first of 4 steps")


def test_causes_are_of_the_step_that_is_asked_for(tmp_path: Path) -> None:
    _write(tmp_path, _steps_with_one_compilation())
    cause = host([tmp_path], step=0).table("causes")[0]
    (row,) = host([tmp_path], step=0).rows
    assert (cause.time_ns, cause.share) == (row.compilation_ns, round(row.compilation_ns / row.duration_ns, 6))
    assert host([tmp_path], step=2).table("causes") == []
    assert host([tmp_path], step=7).table("calls") == []


_NAMED = {
    "garbage_collection": "GC",
    "compilation": "AscendCL@opCompile",
    "data_loading": "enumerate(DataLoader)#x.__next__",
    "copying": "AscendCL@aclrtMemcpyAsync",
    "synchronisation": "AscendCL@aclrtSynchronizeStream",
}
_Task = tuple[int, int, int | None]
_Call = tuple[str, int, int]


def _random(seed: int) -> tuple[list[_Task], list[_Call]]:
    """(begin, end and launch of tasks on two streams, calls between their launches); some launches are missing."""
    random, time, free = Random(seed), 0, [0, 0]
    tasks: list[_Task] = []
    calls: list[_Call] = []
    for _ in range(25):
        time += random.randint(1, 60)
        if random.random() < 0.3:
            length = random.randint(1, 150)
            calls.append((random.choice(list(_NAMED)), time, time + length))
            time += length
        stream = random.randrange(2)
        start = max(free[stream], time + random.randint(1, 30))
        free[stream] = start + random.choice([0, 5, 40, 90])
        tasks.append((start, free[stream], time if random.random() > 0.1 else None))
    return tasks, calls


def _cause_at(moment: int, tasks: list[_Task], calls: list[_Call]) -> str | None:
    """What the page says of one moment, task by task and call by call; None where the device is busy."""
    if any(start <= moment < end for start, end, _ in tasks):
        return None
    begin, dry = min(one[0] for one in tasks if one[0] > moment), max(one[1] for one in tasks if one[1] <= moment)
    launched = min((one[2] for one in tasks if one[0] == begin and one[2] is not None), default=None)
    if launched is not None and launched + 20 <= moment:
        return "launched"
    # what is launched already was not held up, unless it was launched in a call that launches, too
    calls = [
        one for one in calls if launched is None or one[2] <= launched or one[0] in {"compilation", "data_loading"}
    ]
    under_way = {cause for cause, start, end in calls if start <= moment < end}
    if mine := [cause for cause in _NAMED if cause in under_way]:
        return mine[0]
    for cause, start, end in calls:
        if cause == "synchronisation" and start < dry <= end and moment < dry + end - start:
            return cause
    return "unknown" if launched is None else "launching"


@pytest.mark.parametrize("seed", range(3))
def test_a_look_at_each_microsecond_tells_the_same(tmp_path: Path, seed: int) -> None:
    tasks, calls = _random(seed)
    events = [event for n, (start, end, at) in enumerate(tasks) for event in _launched(n, at or 0, start, end)]
    known = {n for n, (_, _, at) in enumerate(tasks) if at is not None}
    events = [one for one in events if one["pid"] == DEVICE or one["args"]["connection_id"] in known]
    of = {"GC": COLLECTOR, "enumerate(DataLoader)#x.__next__": PYTHON}
    events += [_x(_NAMED[cause], of.get(_NAMED[cause], HOST), MAIN, start, end) for cause, start, end in calls]
    row = _whole(tmp_path, events)
    moments = range(min(one[0] for one in tasks), max(one[1] for one in tasks))
    wanted = Counter(_cause_at(moment, tasks, calls) for moment in moments)
    for cause in (*_NAMED, "launched", "launching", "unknown"):
        assert getattr(row, f"{cause}_ns") == wanted[cause] * 1000, cause
