"""On real exports: what is alive of the recorded allocations and what was held before them is the recorded sum, by plain Python and by `memory`."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path

import pytest
from commandline import REAL, needs_real

from aoe_reports import memory
from aoe_reports.engine.captures import find_captures
from aoe_reports.engine.question import Notes
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.topics.memory.reading import read_memory

pytestmark = needs_real
CAPTURES = sorted(REAL.glob("torch_npu_2025-01/text/level*/rank*_ascend_pt"))
DATABASES = sorted(REAL.glob("torch_npu_2025-01/db/level*/rank*_ascend_pt"))


def _number(cell: str, factor: float) -> int | None:
    text = cell.strip()
    return None if not text else round(float(text) * factor)


def _ns(cell: str) -> int | None:
    whole, _, part = cell.strip().partition(".")
    return None if not whole else int(whole) * 1000 + int(part.ljust(3, "0")[:3])


def _changes(folder: Path, *, of_ge: bool) -> list[tuple[int, int]]:
    """(when, by how many bytes) what is alive of one allocator changes; GE counts a release with what it does next."""
    found, times = [], []
    with (folder / "ASCEND_PROFILER_OUTPUT" / "operator_memory.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["Name"].startswith("cann::") is of_ge:
                size, begin = _number(row["Size(KB)"], 1024), _ns(row["Allocation Time(us)"])
                ends = [end for key in ("Release Time(us)", "Active Release Time(us)") if (end := _ns(row[key]))]
                assert size is not None
                assert begin is not None
                found.append((begin, size))
                times.append(begin)
                if ends:
                    found.append((min(ends), -size))
                    times.append(min(ends))
    if not of_ge:
        return found
    return [
        (when, size) if size > 0 else (min((t for t in times if t > when), default=10**19), size)
        for when, size in found
    ]


def _gaps(folder: Path, component: str) -> list[int]:
    """What the recorded sum of a component says beyond what is alive, at the last of its samples of each time."""
    changes = _changes(folder, of_ge=component == "GE")
    recorded: dict[int, int] = {}
    with (folder / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            when, size = _ns(row["Timestamp(us)"]), _number(row["Total Allocated(MB)"], 1 << 20)
            if row["Component"] == component and when is not None and size is not None:
                recorded[when] = size
    return [recorded[when] - sum(size for at, size in changes if at <= when) for when in sorted(recorded)]


@pytest.mark.parametrize("folder", CAPTURES, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
@pytest.mark.parametrize("component", ["PTA", "GE"])
def test_what_is_alive_and_was_held_before_is_the_recorded_sum_to_the_byte(folder: Path, component: str) -> None:
    gaps = _gaps(folder, component)
    assert len(gaps) > 100
    assert all(later <= earlier for earlier, later in pairwise(gaps))
    assert min(gaps) >= 0


@pytest.mark.parametrize("folder", [*CAPTURES, *DATABASES], ids=lambda folder: "-".join(folder.parts[-3:]))
def test_memory_explains_all_but_what_ge_holds_before_it_is_seen(folder: Path) -> None:
    """PTA+GE counts nothing of GE before GE's first allocation: 64 KiB of 1.4 GB of changes."""
    answer = memory([folder], top=1000)
    (device,) = answer.table("devices")
    assert device.component == "PTA+GE"
    assert device.step == 50
    assert sum(row.size_bytes for row in answer.rows) == device.peak_bytes
    assert device.explained > 0.9999
    assert device.unexplained_bytes in {0, 65536}
    if folder in CAPTURES:
        assert device.before_bytes == _gaps(folder, "PTA")[-1] + _gaps(folder, "GE")[-1]
    process = answer.table("process")
    assert sum(row.size_bytes for row in process) == device.process_bytes
    assert device.running


@pytest.mark.parametrize("folder", [*CAPTURES, *DATABASES], ids=lambda folder: "-".join(folder.parts[-3:]))
def test_nothing_is_said_of_growth_within_one_step(folder: Path) -> None:
    """Each of these has one step: no growth, and that is why."""
    ((capture,),) = find_captures(discover([folder]))
    for read in read_memory(capture, Notes()).devices:
        assert (read.memory.growth, read.memory.growth_not_judged) == ((), "few steps")


def test_a_table_without_most_of_its_rows_says_so() -> None:
    answer = memory([REAL / "torch_npu_2023-09"])
    assert {finding.rule for finding in answer.findings} >= {"memory-unexplained", "memory-time"}
    for device in answer.table("devices"):
        mine = [row.size_bytes for row in answer.rows if row.rank_id == device.rank_id]
        assert sum(mine) == device.peak_bytes
    assert {(row.graph_id, row.peak_bytes) for row in answer.table("static")} == {(0, 5_629_881), (1, 8_700_377)}
