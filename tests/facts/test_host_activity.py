"""What takes in the events of a host: parts of a file put together tell what the file tells, calls go to their operators and steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted_host import DEVICE, HOST, KINDS, LAUNCHER, MAIN, PYTHON, planted_events, write_planted

from aoe_reports import host
from aoe_reports.facts.host_activity import HOST_COLUMNS, HostActivity
from aoe_reports.formats.trace.events import stream_events


@pytest.mark.parametrize("kind", KINDS)
def test_parts_put_together_are_the_whole(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(planted_events(kind, 1)))
    (batch,) = stream_events(path, HOST_COLUMNS).batches
    whole, parts = HostActivity(), [HostActivity() for _ in range(3)]
    whole.add(batch)
    third = batch.num_rows // 3 + 1
    for place, part in enumerate(parts):
        part.add(batch.slice(place * third, third))
    for part in parts[1:]:
        parts[0].merge(part)
    (one,), (other,) = whole.waiting_devices(5), parts[0].waiting_devices(5)
    for name in ("whole", "steps", "waits", "calls", "task_queue", "copies", "shift_ns", "groups"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("start", "end", "stream", "step"):
        assert getattr(one.kernels, name).tolist() == getattr(other.kernels, name).tolist()
    names = [[activity.words[n] for n in device.kernels.name] for activity, device in ((whole, one), (parts[0], other))]
    assert names[0] == names[1]


def _write(folder: Path, events: list[dict[str, object]]) -> None:
    write_planted(folder, "healthy", 1)
    (path,) = folder.rglob("trace_view.json")
    metadata = [event for event in planted_events("healthy", 1) if event["ph"] == "M"]
    path.write_text(json.dumps([*metadata, *events]))


def _x(name: str, place: tuple[int, int], start: float, length: float, **args: object) -> dict[str, object]:
    return {
        "name": name,
        "ph": "X",
        "pid": place[0],
        "tid": place[1],
        "ts": f"{start:.3f}",
        "dur": length,
        "args": args,
    }


def _task(name: str, start: float, length: float, connection: int) -> dict[str, object]:
    told = {"Task Type": "AI_CORE", "connection_id": connection, "Physic Stream Id": 3}
    return _x(name, (DEVICE, 3), start, length, **told)


def test_each_moment_has_the_first_cause_that_holds(tmp_path: Path) -> None:
    _write(
        tmp_path,
        [
            _x("Node@launch", (HOST, MAIN), 990, 1, connection_id=1),
            _task("one", 1000, 100, 1),
            # idle from 1100: 10 in a synchronisation that began before, 20 behind it, 30 loading data, 40 compiling, 5 launching
            _x("AscendCL@aclrtSynchronizeStream", (HOST, MAIN), 1050, 60),
            _x("enumerate(DataLoader)#x.__next__", (PYTHON, MAIN), 1130, 70),
            _x("AscendCL@opCompile", (HOST, MAIN), 1160, 40),
            _x("Node@launch", (HOST, MAIN), 1200, 1, connection_id=2),
            _task("two", 1205, 100, 2),
            # idle from 1305: the host copies without waiting for 5, and launches for 20, of which the device copies 15
            _x("AscendCL@aclrtMemcpyAsync", (HOST, MAIN), 1303, 7),
            _x("Node@launch", (HOST, MAIN), 1320, 1, connection_id=3),
            _x("MEMCPY_ASYNC", (DEVICE, 4), 1325, 15, **{"Task Type": "PCIE_DMA_SQE"}),
            _task("three", 1345, 10, 3),
        ],
    )
    (row,) = host([tmp_path]).rows
    assert row.idle_ns == 145_000
    assert row.synchronisation_ns == 30_000
    assert row.data_loading_ns == 30_000
    assert row.compilation_ns == 40_000
    assert row.copying_ns == 5000 + 15_000
    assert row.launching_ns == 5000 + 10_000 + 5000
    assert row.launched_ns == 5000
    assert row.waited_ns == 140_000
    (device,) = host([tmp_path]).table("devices")
    assert (device.copy_tasks, device.copy_tasks_ns) == (1, 15_000)


def test_calls_of_threads_that_launch_nothing_explain_nothing(tmp_path: Path) -> None:
    _write(
        tmp_path,
        [
            _x("Node@launch", (HOST, MAIN), 990, 1, connection_id=1),
            _task("one", 1000, 100, 1),
            _x("AscendCL@acltdtSendTensor", (HOST, LAUNCHER), 1000, 200),
            _x("Node@launch", (HOST, MAIN), 1195, 1, connection_id=2),
            _task("two", 1200, 100, 2),
        ],
    )
    (row,) = host([tmp_path]).rows
    assert (row.data_loading_ns, row.launching_ns, row.launched_ns) == (0, 100_000, 0)
    (call,) = host([tmp_path]).table("calls")
    assert (call.calls, call.total_ns, call.waited_ns) == (1, 200_000, 0)


def test_compilation_is_of_the_operator_that_its_thread_took_out(tmp_path: Path) -> None:
    _write(
        tmp_path,
        [
            _x("Dequeue@Conv2D", (PYTHON, LAUNCHER), 1000, 100),
            _x("AscendCL@aclopCompileAndExecute", (PYTHON, LAUNCHER), 1010, 50),
            _x("AscendCL@opCompile", (PYTHON, MAIN), 1010, 50),
            _x("AscendCL@opCompile", (PYTHON, LAUNCHER), 1090, 50),
            _task("one", 1200, 10, 1),
        ],
    )
    calls = host([tmp_path]).table("calls")
    told = {(one.name, one.operator, one.calls) for one in calls}
    assert told == {("AscendCL@aclopCompileAndExecute", "Conv2D", 1), ("AscendCL@opCompile", None, 2)}


@pytest.mark.parametrize(("late", "causes"), [(5.0, ["launching"]), (4.9, [])])
def test_a_twentieth_of_the_time_is_a_cause(tmp_path: Path, late: float, causes: list[str]) -> None:
    _write(
        tmp_path,
        [
            _x("Node@launch", (HOST, MAIN), 990, 1, connection_id=1),
            _task("one", 1000, 50, 1),
            _x("Node@launch", (HOST, MAIN), 1050 + late, 1, connection_id=2),
            _task("two", 1050 + late, 50 - late, 2),
        ],
    )
    answer = host([tmp_path])
    assert answer.rows[0].duration_ns == 100_000
    assert [one.cause for one in answer.table("causes")] == causes
