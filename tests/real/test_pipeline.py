"""The chart of a pipeline on a real schedule: two stages of two ranks each, four micro-batches (MindSpore, 2021).

MindSpore's own profiler tells when each send, receive and all-reduce of a step began and ended, and no kernel; what ran in no communication is
taken for one kernel. So stages compute longer than that: a receive is under way while they do.
"""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path

import pytest
from commandline import ROOT, Cli
from made_traces import TALK, Trace

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
JOB = DATA / "mindspore_profiler" / "cluster_propose"
pytestmark = pytest.mark.skipif(not JOB.is_dir(), reason=f"no real captures in {JOB}")
PART = re.compile(r"(stream_\d+_\d+_(\w+)-op(\d+))_start_point")
TICKS_OF_A_US = 100


def parts_of(rank: int, step: int) -> tuple[float, float, list[tuple[str, str, float, float]]]:
    """(begin, end of a step, kind, number, begin and end of each of its operators of communication), in us."""
    before = csv.field_size_limit(2**31 - 1)  # the limit of the whole process: later tests have theirs again
    try:
        with (JOB / f"step_trace_raw_{rank}_detail_time.csv").open(newline="") as file:
            (row,) = (row for row in csv.DictReader(file) if row["step_num"] == str(step))
    finally:
        csv.field_size_limit(before)

    def at(name: str) -> float:
        return int(row[name]) / TICKS_OF_A_US

    found = [found for name in row if (found := PART.fullmatch(name))]
    told = [(one[2], one[3], at(one[0]), at(f"{one[1]}_end_point")) for one in found]
    return at("start_point"), at("end_point"), sorted(told, key=lambda one: one[2:])


def write_timeline(folder: Path, rank: int, step: int, origin: float) -> tuple[float, float]:
    """(length of the step, how long anything is received beside nothing), in us."""
    begin, end, parts = parts_of(rank, step)
    trace, free, received = Trace(), begin, begin
    waiting = 0.0
    for kind, number, start, until in parts:
        if start > free:
            trace.task("MatMul", free - origin, round(start - free, 3))
        free = max(free, until)
        if kind == "Receive":
            waiting += max(until - max(start, received), 0)
            received = max(received, until)
        group = f"90{rank // 2}" if kind == "AllReduce" else f"10{rank % 2}"
        name = f"hcom_{kind[0].lower()}{kind[1:]}__{group}_{number}_1"
        trace.event(name, (TALK, 0), start - origin, round(until - start, 3))
    trace.task("MatMul", free - origin, round(end - free, 3))
    written = trace.write(folder) / "rank0_ascend_pt"
    written.rename(folder / f"rank{rank}_ascend_pt")
    (folder / f"rank{rank}_ascend_pt" / "profiler_info_0.json").rename(
        folder / f"rank{rank}_ascend_pt" / f"profiler_info_{rank}.json"
    )
    return end - begin, waiting


@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_a_real_pipeline_has_its_stages_micro_batches_and_waits(cli: Cli, tmp_path: Path, step: int) -> None:
    origin = parts_of(0, step)[0] - 1000
    told = [write_timeline(tmp_path, rank, step, origin) for rank in range(4)]
    ended = cli("communication", tmp_path, "--pipeline", "--format", "json").json
    (message,) = (one["message"] for one in ended["findings"] if one["rule"] == "pipeline-step")
    assert message.startswith("pipeline of 2 stages, ")
    assert "p = 2, m = 4" in message
    found = re.search(r"([\d.]+) ms: bubbles: ([\d.]+)%", message)
    assert found is not None
    # the ranks of a stage do the same: the pipeline of either pair is told, the slower one
    pairs = [(told[first], told[first + 2]) for first in (0, 1)]
    shares = [sum(waits for _, waits in pair) / sum(length for length, _ in pair) for pair in pairs]
    assert float(found[2]) / 100 == pytest.approx(max(shares), abs=0.003)
    assert shares == pytest.approx([shares[0]] * 2, abs=0.003)
    assert all(one["rule"] != "unpaired-p2p" for one in ended["findings"])
