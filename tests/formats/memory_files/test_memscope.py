"""msMemScope's events: what a simulated process did, as it is read from its CSV and its database."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.engine.runs import memory_captures
from aoe_reports.formats.memory_files import recordings_of
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.topics.memory import MemoryRecording

HEADER = (
    "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call Stack(Python),Call Stack(C)"
)
START_NS = 1_772_366_400_000_000_000


@dataclass
class Process:
    """A pool of one device whose events are written when blocks are released, as msMemScope does."""

    total: int = 64 << 20
    used: int = 0
    now: int = 0
    rows: list[list[str]] = field(default_factory=list)
    open: dict[int, list[str]] = field(default_factory=dict)
    truth: list[tuple[int, int, int, int | None]] = field(default_factory=list)
    """(address, size, allocated, released) of each block, in the order of allocation."""
    sums: list[tuple[int, int]] = field(default_factory=list)

    def allocate(self, size: int) -> None:
        address = min(set(range(0x12C041400000, 0x12C041400000 + 512 * 50, 512)) - self.open.keys())
        self.used += size
        self.open[address] = self._row("MALLOC", address, size)
        self.truth.append((address, size, self.now, None))

    def release(self, number: int) -> None:
        address = sorted(self.open)[number % len(self.open)]
        place = max(i for i, block in enumerate(self.truth) if block[0] == address)
        _, size, begun, _ = self.truth[place]
        self.used -= size
        row = self._row("FREE", address, size)
        self.truth[place] = (address, size, begun, self.now)
        self.rows += [self.open.pop(address), row]

    def written(self) -> list[list[str]]:
        return self.rows + list(self.open.values())

    def _row(self, event: str, address: int, size: int) -> list[str]:
        self.now += 1
        self.sums.append((self.now, self.used))
        attributes = f"{{allocation_id:1,addr:0x{address:016x},size:{size},total:{self.total},used:{self.used}}}"
        when = str(START_NS + self.now // 2)  # two events may have one time: their numbers say which is first
        return [str(self.now), event, "PTA", "N/A", when, "7", "7", "0", f"0x{address:016x}", attributes, "", ""]


def as_csv(folder: Path, rows: list[list[str]]) -> Path:
    path = folder / "memscope_dump_20260301120000.csv"
    lines = [",".join([*row[:9], f'"{row[9]}"' if row[9] else "", *row[10:]]) for row in rows]
    path.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")
    return path


def as_database(folder: Path, rows: list[list[str]]) -> Path:
    path = folder / "memscope_dump_20260301120000.db"
    names = HEADER.split(",")
    whole = {"ID", "Timestamp(ns)", "Process Id", "Thread Id"}
    with sqlite3.connect(path) as connection:
        columns = ", ".join(f'"{name}" {"INTEGER" if name in whole else "TEXT"}' for name in names)
        connection.execute(f"CREATE TABLE memscope_dump ({columns})")
        for row in rows:
            cells = [*row[:9], re.sub(r"(\w+):([^,}]*)", r'"\1":"\2"', row[9]), *row[10:]]
            connection.execute(f"INSERT INTO memscope_dump VALUES ({','.join('?' * len(cells))})", cells)
    return path


def read(path: Path) -> list[MemoryRecording]:
    return [recording for file in discover([path]).files for recording in recordings_of(file)]


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["allocate", "allocate", "release"]), st.integers(1, 1 << 20)), max_size=40
    ),
    form=st.sampled_from([as_csv, as_database]),
)
def test_blocks_and_sums_are_those_of_the_process(
    tmp_path_factory: pytest.TempPathFactory, steps: Any, form: Any
) -> None:
    process = Process()
    for what, number in steps:
        if what == "allocate":
            process.allocate(number)
        elif process.open:
            process.release(number)
    recordings = read(form(tmp_path_factory.mktemp("m"), process.written()))
    if not process.truth:
        assert sum(one.events.num_rows + one.samples.num_rows for one in recordings) == 0
        return
    (recording,) = recordings
    assert recording.device_id == 0
    assert recording.findings == ()

    def when(event: int | None) -> int | None:
        return None if event is None else START_NS + event // 2

    events = [
        (e["address"], e["size_bytes"], e["allocated_ns"], e["released_ns"]) for e in recording.events.to_pylist()
    ]
    assert sorted(events, key=str) == sorted(
        ((address, size, when(begun), when(ended)) for address, size, begun, ended in process.truth), key=str
    )
    samples = [(s["sampled_ns"], s["allocated_bytes"], s["reserved_bytes"]) for s in recording.samples.to_pylist()]
    assert samples == [(when(event), used, process.total) for event, used in process.sums]


def test_owners_kinds_operators_and_stacks_of_the_fixture() -> None:
    recording, snapshots = read(FIXTURES / "memory" / "valid" / "msmemscope")
    events = {event["address"]: event for event in recording.events.to_pylist() if event["component"] == "PTA"}
    weight, made, workspace = (events[address] for address in (0x12C041400000, 0x12C041400A00, 0x12C041600000))
    assert (weight["owner"], weight["kind"]) == ("PTA@model@weight", "weight")
    assert (made["owner"], made["kind"]) == ("aten::empty", None)
    assert made["location"] == "/job/model.py(31): forward;/job/train.py(52): step"
    assert (workspace["owner"], workspace["kind"]) == (
        "PTA_WORKSPACE",
        "workspace",
    )  # another thread: no operator ran there
    (driver,) = [event for event in recording.events.to_pylist() if event["component"] == "HAL"]
    assert (driver["owner"], driver["size_bytes"]) == ("CANN@APP", 20971520)
    samples = recording.samples.to_pylist()
    assert [(s["component"], s["reserved_bytes"]) for s in samples if s["scope"] == "process"] == [("HAL", 20971520)]
    assert {s["scope"] for s in samples} == {"allocator", "process"}
    assert max(s["allocated_bytes"] or 0 for s in samples) == 22528
    assert (snapshots.source, snapshots.events.num_rows) == ("msmemscope_snapshot", 0)
    of_snapshots = {s["scope"]: s["reserved_bytes"] for s in snapshots.samples.to_pylist()}
    assert of_snapshots["device"] == 65452113920 - 64000000000


def test_two_processes_on_one_device_are_two_recordings(tmp_path: Path) -> None:
    first, second = Process(), Process(total=1 << 30)
    for process, size in ((first, 512), (second, 4096)):
        process.allocate(size)
        process.release(0)
    other = [[*row[:5], "8", *row[6:]] for row in second.written()]
    recordings = read(as_csv(tmp_path, [*first.written(), *other]))
    assert [(one.process, one.events["size_bytes"].to_pylist()) for one in recordings] == [(7, [512]), (8, [4096])]
    assert [one.samples["reserved_bytes"].to_pylist() for one in recordings] == [[64 << 20] * 2, [1 << 30] * 2]
    assert [one.findings for one in recordings] == [(), ()]


def test_two_dumps_in_one_folder_are_two_captures(tmp_path: Path, cli: Cli) -> None:
    process = Process()
    process.allocate(1 << 20)
    path = as_csv(tmp_path, process.written())
    path.with_name("memscope_dump_20260301130000.csv").write_bytes(path.read_bytes())
    captures = memory_captures(discover([tmp_path]))
    assert [[file.path.name for file in capture.files] for capture in captures] == [
        ["memscope_dump_20260301120000.csv"],
        ["memscope_dump_20260301130000.csv"],
    ]
    peaks = [row["peak_bytes"] for row in cli("memory", tmp_path, "--format", "json").json["devices"]]
    assert peaks == [1 << 20] * 2


def test_a_block_without_a_size_is_reported_and_a_release_has_that_of_its_allocation(tmp_path: Path) -> None:
    process = Process()
    for size in (512, 1024, 2048):
        process.allocate(size)
    process.release(0)
    rows = sorted(process.written(), key=lambda row: int(row[0]))
    for row in (rows[1], rows[3]):  # the second allocation, and the release of the first
        row[9] = re.sub(r"size:\d+,", "", row[9])
    (recording,) = read(as_csv(tmp_path, rows))
    assert [(e["size_bytes"], e["released_ns"] is None) for e in recording.events.to_pylist()] == [
        (512, False),
        (2048, True),
    ]
    assert [(finding.rule, finding.line) for finding in recording.findings] == [("memory-entry", 3)]


def marked(process: Process, by: str, *, steps: int = 12, last_ends: bool = True) -> list[list[str]]:
    """The rows of a process that keeps 1 MiB more after each step, and of what marks its steps; another range lies within each step."""
    marks: list[list[str]] = []

    def mark(event: str, what: str, name: str) -> None:
        process.now += 2
        marks.append(
            [str(process.now), event, what, name, str(START_NS + process.now // 2), "7", "7", "0", "N/A", "", "", ""]
        )

    for number in range(1, steps + 1):
        if by == "ranges":
            mark("MSTX", "Range_start", '"step start"')
            mark("MSTX", "Range_start", '"forward"')
        process.allocate(1 << 20)
        for _ in range(3):
            process.allocate(4 << 20)
            process.release(len(process.open) - 1)
        if by == "ranges":
            mark("MSTX", "Range_end", '"Range end from id 1"')
            if number < steps or last_ends:
                mark("MSTX", "Range_end", '"Range end from id 0"')
        else:
            mark("SYSTEM", "STEP", str(number))
    process.allocate(512)
    return [*process.written(), *marks]


@pytest.mark.parametrize("form", [as_csv, as_database])
@pytest.mark.parametrize(
    ("by", "last_ends", "steps"), [("ranges", True, (1, 12)), ("ranges", False, (1, 11)), ("calls", True, (2, 12))]
)
def test_marks_of_steps_are_the_steps_of_the_recording(
    tmp_path: Path, cli: Cli, form: Any, by: str, *, last_ends: bool, steps: tuple[int, int]
) -> None:
    """A call of `msmemscope.step()` ends a step; what came before the first is none, as its begin is not marked."""
    path = form(tmp_path, marked(Process(), by, last_ends=last_ends))
    (recording,) = read(path)
    numbers = [number for number, _, _ in recording.steps]
    assert (numbers[0], numbers[-1], len(numbers)) == (*steps, steps[1] - steps[0] + 1)
    assert all(begin < end for _, begin, end in recording.steps)
    answer = cli("memory", path, "--format", "json").json
    (device,) = answer["devices"]
    assert device["step"] == (12 if last_ends else None)  # where it peaks: a step without an end is none
    assert (device["steps_of"], device["growth_not_judged"]) == ("host", None)
    whole = next(row for row in answer["growth"] if row["is_all"])
    assert (whole["meaning"], whole["bytes_per_step"]) == ("leak", 1 << 20)
    (of_step,) = cli("memory", path, "--step", "5", "--format", "json").json["devices"]
    assert of_step["peak_bytes"] == (5 + 4) << 20


def test_steps_of_one_process_are_not_those_of_another(tmp_path: Path) -> None:
    unmarked = Process()
    unmarked.allocate(1 << 20)
    other = [[*row[:5], "8", *row[6:]] for row in unmarked.written()]
    first, second = read(as_csv(tmp_path, [*marked(Process(), "ranges"), *other]))
    assert (first.process, len(first.steps), second.process) == (7, 12, 8)
    assert second.steps == ()


def test_times_of_the_first_months_are_microseconds() -> None:
    (recording,) = read(FIXTURES / "memory" / "invalid" / "memory-reused")
    assert recording.events["allocated_ns"].to_pylist() == [1746006021630347000, 1746006021736574000]
    (finding,) = recording.findings
    assert (finding.rule, finding.line) == ("memory-reused", 3)


def test_a_release_of_something_older_is_told_and_used(tmp_path: Path) -> None:
    process = Process()
    process.allocate(512)
    process.release(0)
    (recording,) = read(as_csv(tmp_path, process.written()[1:]))
    assert [finding.rule for finding in recording.findings] == ["memory-before"]
    (event,) = recording.events.to_pylist()
    assert (event["allocated_ns"], event["size_bytes"]) == (None, 512)


def test_an_allocation_that_failed_is_a_finding_with_its_line(tmp_path: Path) -> None:
    process = Process()
    process.allocate(512)
    row = ["9", "OOM_DETAIL", "OOM_TRIGGER", "OOM_Trigger", str(START_NS + 9), "7", "7", "0", "N/A"]
    failed = [*row, "{func:halMemAlloc,req_size:1073741824,flag:1,ret:6}", "", ""]
    (recording,) = read(as_csv(tmp_path, [*process.written(), failed]))
    (finding,) = recording.findings
    assert (finding.rule, finding.line) == ("memory-exhausted", 3)
    assert "halMemAlloc" in finding.message
    assert "1,073,741,824" in finding.message


def test_a_damaged_database_and_cells_are_told(tmp_path: Path) -> None:
    path = tmp_path / "memscope_dump_1.db"
    path.write_bytes(b"SQLite format 3\0" + b"x" * 200)
    assert [finding.rule for finding in read(path)[0].findings] == ["db-damaged"]
    process = Process()
    process.allocate(512)
    rows = process.written()
    rows[0][4] = "yesterday"
    (recording,) = read(as_csv(tmp_path, rows))
    assert [finding.rule for finding in recording.findings] == ["csv-unparsable"]
