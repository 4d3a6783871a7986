"""Causes of gaps, planted in a timeline and in a database of the same capture: both forms name them alike."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from commandline import REAL, Cli, needs_real

ORIGIN = 1717575960208020758
PID = 4711
HOST, DEVICE, TALK, PYTHON = PID << 10 | 8 << 5, PID << 10 | 14 << 5, PID << 10 | 15 << 5, 9
MAIN, QUEUE, BACKWARD, WATCHDOG, ALONE = 100, 200, 300, 400, 500
SYNC = "AscendCL@aclrtSynchronizeStreamWithTimeout"
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
LEVELS = {"AscendCL": 20000, "Node": 10000, "Runtime": 5000}


@dataclass
class Capture:
    """What happened, in us: (name, thread, start, length[, connection])."""

    calls: list[tuple[str, int, float, float, int]] = field(default_factory=list)
    python: list[tuple[str, int, float, float]] = field(default_factory=list)
    marks: list[tuple[str, int, float, float]] = field(default_factory=list)
    tasks: list[tuple[str, float, float, int]] = field(default_factory=list)
    talks: list[tuple[str, float, float]] = field(default_factory=list)
    event_waits: list[tuple[str, int, float, float]] = field(default_factory=list)
    """(type of the task, stream, start, length); tasks that compute are on stream 3."""
    _connection: int = 0

    def call(self, name: str, thread: int, start: float, end: float) -> int:
        self._connection += 1
        self.calls.append((name, thread, start, end - start, self._connection))
        return self._connection

    def task(self, name: str, start: float, launched: float, on: int = QUEUE, by: int | None = MAIN) -> None:
        """100 us of computing, launched by one thread, which another one told to."""
        if by is not None:
            self.python.append(("Enqueue", by, launched - 5, 1))
            self.python.append((f"Dequeue@{name}", on, launched - 2, 10))
        self.tasks.append((name, start, 100, self.call("Node@launch", on, launched, launched + 3)))

    def as_timeline(self, output: Path) -> None:
        events: list[dict[str, Any]] = []
        names = {HOST: "CANN", PYTHON: "Python", DEVICE: "Ascend Hardware", TALK: "Communication"}
        for pid, name in names.items():
            events.append({"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}})
        threads = [
            (pid, tid, f"Thread {tid}") for pid in (HOST, PYTHON) for tid in (MAIN, QUEUE, BACKWARD, WATCHDOG, ALONE)
        ]
        for pid, tid, name in (
            *threads,
            (DEVICE, 3, "Stream 3"),
            (DEVICE, 4, "Stream 4"),
            (TALK, 0, "Group 0 Communication"),
        ):
            events.append({"name": "thread_name", "pid": pid, "tid": tid, "ph": "M", "args": {"name": name}})

        def add(name: str, pid: int, tid: int, start: float, length: float, **args: Any) -> None:
            at = Decimal(ORIGIN + round(start * 1000)) / 1000
            events.append(
                {"name": name, "pid": pid, "tid": tid, "ts": f"{at:.3f}", "dur": length, "ph": "X", "args": args}
            )

        for name, thread, start, length, connection in self.calls:
            add(name, HOST, thread, start, length, connection_id=connection)
        for name, thread, start, length in (*self.python, *self.marks):
            add(name, PYTHON, thread, start, length)
        for name, start, length, connection in self.tasks:
            add(name, DEVICE, 3, start, length, **{"Task Type": "AI_CORE", "connection_id": connection})
        for kind, stream, start, length in self.event_waits:
            add(kind, DEVICE, stream, start, length, **{"Task Type": kind})
        for name, start, length in self.talks:
            add(name, TALK, 0, start, length)
        (output / "trace_view.json").write_text(json.dumps(events))

    def as_database(self, output: Path) -> None:
        words: dict[str, int] = {}

        def word(text: str) -> int:
            return words.setdefault(text, len(words) + 1)

        def span(start: float, length: float) -> tuple[int, int]:
            return ORIGIN + round(start * 1000), ORIGIN + round((start + length) * 1000)

        connection = sqlite3.connect(output / "ascend_pytorch_profiler_0.db")
        connection.executescript("""
            CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO ENUM_API_TYPE VALUES (20000,'acl'),(10000,'node'),(5000,'runtime'),(50001,'op'),(50002,'queue');
            CREATE TABLE ENUM_MSTX_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES (2, 'start/end');
            CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
                globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
            CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER,
                mixBlockDim INTEGER, taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER,
                inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER);
            CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,
                groupName INTEGER, opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER,
                algType INTEGER, count NUMERIC, opType INTEGER);
            CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,
                connectionId INTEGER PRIMARY KEY, name INTEGER);
            CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,
                sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER,
                callchainId INTEGER, type INTEGER);
            CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER,
                category INTEGER, message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER,
                connectionId INTEGER);
        """)

        def put(table: str, *cells: Any) -> None:
            connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(cells))})", cells)

        for name, thread, start, length, number in self.calls:
            layer, _, plain = name.partition("@")
            put("CANN_API", *span(start, length), LEVELS[layer], PID << 32 | thread, number, word(plain))
        for name, thread, start, length in self.python:
            kind = 50002 if "queue" in name else 50001
            times = [str(time) for time in span(start, length)]
            put("PYTORCH_API", *times, PID << 32 | thread, None, word(name), *[None] * 5, kind)
        for name, thread, start, length in self.marks:
            tid = PID << 32 | thread
            put("MSTX_EVENTS", *span(start, length), 2, 1, 0, word(name), tid, tid, 0, 4294967295)
        for number, (name, start, length, launch) in enumerate(self.tasks, start=1):
            put("TASK", *span(start, length), 0, launch, number, 0, word("AI_CORE"), 4294967295, 3, number, 4294967295)
            put("COMPUTE_TASK_INFO", word(name), number, 1, 0, word("AI_CORE"), word("Add"), *[word("N/A")] * 7)
        for number, (kind, stream, start, length) in enumerate(self.event_waits, start=1000):
            put("TASK", *span(start, length), 0, None, number, 0, word(kind), 4294967295, stream, number, 4294967295)
        for number, (name, start, length) in enumerate(self.talks, start=1):
            put(
                "COMMUNICATION_OP",
                word(name),
                *span(start, length),
                90 + number,
                word("g"),
                number,
                0,
                0,
                4,
                4,
                1,
                word(name),
            )
        connection.executemany(
            "INSERT INTO STRING_IDS VALUES (?, ?)", [(number, text) for text, number in words.items()]
        )
        connection.commit()
        connection.close()


def planted() -> Capture:
    """Gaps of 1000 us, each with its cause; what is behind it names it."""
    it = Capture()
    it.task("first", 0, -10)
    # synchronisation: told by a thread that waits for the device; the queue's own thread does nothing
    it.call(SYNC, MAIN, 110, 900)
    it.call("Runtime@StreamSynchronize", MAIN, 112, 898)
    it.task("synchronised", 1100, 1070)
    # data loading, in which somebody synchronises, too; frames of Python around it do not matter
    it.python.append((LOADER, MAIN, 1210, 900))
    it.python.append(("torch/utils/data/dataloader.py(625): __next__", MAIN, 1200, 999))
    it.call(SYNC, MAIN, 1300, 1400)
    it.task("loaded", 2200, 2170)
    # the host is late: less than half of it in a call, and a thread that tells nobody anything waits all the time
    it.call(SYNC, MAIN, 2300, 2799)
    it.call("AscendCL@aclrtSynchronizeDevice", WATCHDOG, 2100, 3400)
    it.python.append((LOADER, WATCHDOG, 2100, 1300))
    it.task("late", 3300, 3270)
    # communication: launched in time, whatever the host waits for
    it.talks.append(("allReduce", 3400, 990))
    it.call(SYNC, MAIN, 3405, 4390)
    it.task("communicated", 4400, 3390)
    # a thread that launches itself
    it.call("Runtime@DeviceSynchronize", ALONE, 4510, 5100)
    it.task("alone", 5500, 5450, on=ALONE, by=None)
    # a range that a user marked
    it.marks.append(("my dataloader", MAIN, 5610, 800))
    it.task("marked", 6600, 6570)
    # many short calls, of which none is half of it
    for number in range(6):
        it.call("AscendCL@aclrtMemcpy", MAIN, 6700 + 160 * number, 6800 + 160 * number + number)
    it.task("copied", 7700, 7690)
    # another thread tells: what the first one still waits for then does not matter
    it.call(SYNC, MAIN, 7700, 8790)
    it.task("told by another", 8800, 8770, by=BACKWARD)
    # but what it waited for before does: it hands on what the other one launches
    it.call(SYNC, MAIN, 8810, 9690)
    it.task("handed on", 9800, 9770, by=BACKWARD)
    return it


EXPECTED = {
    "synchronised": ("synchronisation", f"synchronisation: 79.0% of it, {SYNC}"),
    "loaded": ("data loading", f"data loading: 90.0% of it, {LOADER}"),
    "late": ("host launched late", "host launched late: Node@launch began 970.000 us after the start of the gap"),
    "communicated": ("waiting for communication", "waiting for communication: 99.0% of it, longest allReduce"),
    "alone": ("synchronisation", "synchronisation: 59.0% of it, Runtime@DeviceSynchronize"),
    "marked": ("data loading", "data loading: 80.0% of it, my dataloader"),
    "copied": ("synchronisation", "synchronisation: 61.5% of it, AscendCL@aclrtMemcpy"),
    "told by another": (
        "host launched late",
        "host launched late: Node@launch began 970.000 us after the start of the gap",
    ),
    "handed on": ("synchronisation", f"synchronisation: 87.8% of it, {SYNC}"),
}


def output_of(folder: Path) -> Path:
    output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_0.json").write_text("{}")
    return output


def gaps_of(cli: Cli, folder: Path, *options: object) -> list[dict[str, Any]]:
    ended = cli("breakdown", folder, "--format", "json", *options)
    assert ended.code == 0, ended.err
    return ended.json["gaps"]


def test_planted_causes_are_found_by_name_and_alike_in_both_forms(cli: Cli, tmp_path: Path) -> None:
    told = {}
    for form in ("timeline", "database"):
        getattr(planted(), f"as_{form}")(output_of(tmp_path / form))
        told[form] = gaps_of(cli, tmp_path / form)
        assert {gap["after"]: (gap["cause"], gap["reason"]) for gap in told[form]} == EXPECTED
    same = [[{**gap, "run": None} for gap in gaps] for gaps in told.values()]
    assert same[0] == same[1]
    text = cli("breakdown", tmp_path / "timeline").out
    shown = [line for line in text.splitlines() if any(f"  {name}  " in line for name in EXPECTED)]
    assert len(shown) == len(EXPECTED)
    assert Counter(
        cause for line in shown for cause in {cause for cause, _ in EXPECTED.values()} if f"  {cause}  " in line
    ) == (Counter(cause for cause, _ in EXPECTED.values()))


def test_the_call_and_its_time_are_cells_of_their_own(cli: Cli, tmp_path: Path) -> None:
    planted().as_timeline(output_of(tmp_path))
    by_name = {gap["after"]: gap for gap in gaps_of(cli, tmp_path)}
    assert (by_name["loaded"]["host_call"], by_name["loaded"]["host_call_us"]) == (LOADER, 900.0)
    assert (by_name["late"]["host_call"], by_name["late"]["host_call_us"]) == (None, None)


def test_half_of_a_gap_is_enough_and_less_is_not(cli: Cli, tmp_path: Path) -> None:
    for end, cause in ((600, "synchronisation"), (599.999, "host launched late")):
        it = Capture()
        it.task("first", 0, -10)
        it.call(SYNC, MAIN, 50, end)
        it.task("next", 1100, 1090)
        it.as_timeline(output_of(tmp_path / str(end)))
        (gap,) = gaps_of(cli, tmp_path / str(end))
        assert gap["cause"] == cause


@pytest.mark.parametrize(
    ("kind", "stream", "until", "launched", "cause"),
    [
        ("EVENT_WAIT", 3, 1100, 90, "waiting for an event"),
        ("NOTIFY_WAIT", 3, 600, 500, "waiting for an event"),
        ("EVENT_WAIT_SQE", 3, 1100, 90, "waiting for an event"),  # two more ways in which exporters write it
        ("Notify Wait", 3, 1100, 90, "waiting for an event"),
        ("NOTIFY_WAIT", 3, 590, 90, "unknown"),  # less than half of the gap
        ("EVENT_WAIT", 4, 1100, 90, "unknown"),  # another stream's
        ("EVENT_WAIT", 3, 900, 1000, "host launched late"),  # it would have begun later anyway
        ("EVENT_RECORD", 3, 1100, 90, "unknown"),  # which waits for nothing
    ],
)
def test_a_stream_that_waits_for_an_event(
    cli: Cli, tmp_path: Path, kind: str, stream: int, until: int, launched: int, cause: str
) -> None:
    it = Capture(event_waits=[(kind, stream, 100, until - 100)])
    it.task("first", 0, -10)
    it.task("next", 1100, launched)
    for form in ("timeline", "database"):
        getattr(it, f"as_{form}")(output_of(tmp_path / form))
        (gap,) = gaps_of(cli, tmp_path / form)
        assert gap["cause"] == cause
        if cause == "waiting for an event":
            assert gap["reason"] == f"waits for an event: {(until - 100) / 1000:.1%} of it, {kind}"


@pytest.mark.parametrize(
    ("kind", "stream", "until", "launched", "waited"),
    [
        ("EVENT_WAIT", 3, 1100, 90, 1000.0),
        ("NOTIFY_WAIT", 3, 600, 500, 500.0),
        ("NOTIFY_WAIT", 3, 500, 90, 400.0),  # less than half of the gap, all the same
        ("EVENT_WAIT", 4, 1100, 90, 0.0),
        ("EVENT_WAIT", 3, 900, 1000, 0.0),
        ("EVENT_RECORD", 3, 1100, 90, 0.0),
    ],
)
def test_host_and_explain_count_what_a_stream_waits_for_events(
    cli: Cli, tmp_path: Path, kind: str, stream: int, until: int, launched: int, waited: float
) -> None:
    it, before = Capture(event_waits=[(kind, stream, 100, until - 100)]), Capture()
    for capture, start, launch in ((it, 1100, launched), (before, 100, 50)):
        capture.task("first", 0, -10)
        capture.task("next", start, launch)
    for form in ("timeline", "database"):
        for name, capture in (("before", before), ("after", it)):
            getattr(capture, f"as_{form}")(output_of(tmp_path / form / name))
        ended = cli("host", tmp_path / form / "after", "--format", "json")
        (row,) = ended.json["rows"]
        causes = ("launching", "synchronisation", "copying", "data_loading", "compilation", "garbage_collection")
        assert row["event_wait_us"] == waited
        assert (
            row["idle_us"] == 1000.0 == sum(row[f"{one}_us"] for one in (*causes, "event_wait", "launched", "unknown"))
        )
        ended = cli("explain", tmp_path / form / "before", tmp_path / form / "after", "--format", "json")
        idle = {row["cause"]: row["difference_us"] for row in ended.json["rows"] if row["area"] == "idle"}
        assert idle.get("waiting for an event", 0.0) == waited
        assert sum(idle.values()) == 1000.0


def test_advice_on_a_gap_that_waits_for_an_event_does_not_blame_the_host(cli: Cli, tmp_path: Path) -> None:
    it = Capture(event_waits=[("EVENT_WAIT", 3, 100, 1000)])
    it.task("first", 0, -10)
    it.task("next", 1100, 90)
    it.as_timeline(output_of(tmp_path))
    assert "It waited 83.3% of its time for an event." in cli("host", tmp_path).out
    text = cli("advise", tmp_path).out
    assert "In the longest gap a stream waits for an event (EVENT_WAIT, NOTIFY_WAIT), not for the host" in text
    assert "the host launches late" not in text


def test_what_waits_is_no_cause_where_no_launch_is_known(cli: Cli, tmp_path: Path) -> None:
    it = planted()
    it.calls = [call for call in it.calls if call[0] != "Node@launch"]
    it.as_timeline(output_of(tmp_path))
    assert {gap["cause"] for gap in gaps_of(cli, tmp_path)} == {"unknown", "waiting for communication"}


def test_the_thread_of_a_flow_is_that_of_its_begin(cli: Cli, tmp_path: Path) -> None:
    it = planted()
    output = output_of(tmp_path)
    it.as_timeline(output)
    file = output / "trace_view.json"
    events = json.loads(file.read_text())
    launches = {event["args"]["connection_id"]: event for event in events if event["name"] == "Node@launch"}
    tasks = [event for event in events if event["pid"] == DEVICE and event["ph"] == "X"]
    for number, task in enumerate(tasks, start=3):
        launch = launches[task["args"].pop("connection_id")]
        for ph, of in (("s", launch), ("f", task)):
            flow = {"name": "HostToDevice", "ph": ph, "cat": "HostToDevice", "id": str((number << 32) + number % 2)}
            events.append({**flow, "pid": of["pid"], "tid": of["tid"], "ts": of["ts"]})
    file.write_text(json.dumps([event for event in events if event["name"] != "Node@launch"]))
    assert {gap["after"]: gap["cause"] for gap in gaps_of(cli, tmp_path)} == {
        name: cause for name, (cause, _) in EXPECTED.items()
    }


@needs_real
def test_a_real_loader_and_a_real_synchronisation_are_told(cli: Cli, tmp_path: Path) -> None:
    """A real step with three tasks put before it, around what its host did then; threads, queue and calls are real."""
    real = REAL / "torch_npu_2025-01" / "text" / "level1" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    events = json.loads((real / "trace_view.json").read_text())
    before = gaps_of(cli, real, "--gaps", 1000)
    waited = {
        name: next(event for event in events if event.get("dur", 0) > 3000 and event["name"] == name)
        for name in (LOADER, SYNC)
    }
    copies = [event for event in events if event["name"] == "AscendCL@aclrtMemcpyAsync"]
    pattern = next(event for event in events if event["name"] == "trans_TransData_0" and "Task Type" in event["args"])
    loading = Decimal(waited[LOADER]["ts"])
    begins = [loading - 50, loading + round(waited[LOADER]["dur"]) + 200, Decimal(copies[1]["ts"]) + 10]
    for number, (begin, launch) in enumerate(zip(begins, (None, *copies), strict=True)):
        args = {**pattern["args"], "connection_id": launch["args"]["connection_id"] if launch else 0}
        events.append({**pattern, "name": f"put {number}", "ts": f"{begin:.3f}", "dur": 10, "args": args})
    (output_of(tmp_path) / "trace_view.json").write_text(json.dumps(events))
    after = {gap["after"]: gap for gap in gaps_of(cli, tmp_path, "--gaps", 1000)}
    told = {name: (after[name]["cause"], after[name]["host_call"]) for name in ("put 1", "put 2")}
    assert told == {"put 1": ("data loading", LOADER), "put 2": ("synchronisation", SYNC)}
    assert after["put 1"]["host_call_us"] == pytest.approx(waited[LOADER]["dur"])
    assert after["put 2"]["host_call_us"] == pytest.approx(waited[SYNC]["dur"])
    # what the step itself waits for is communication, and what it was late for are calls that compile, or none of these
    assert {gap["cause"] for gap in before} == {
        "waiting for communication",
        "host launched late",
        "compilation",
        "unknown",
    }
