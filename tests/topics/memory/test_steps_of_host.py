"""Steps of the host at a glance: those that reading the events of a timeline gives."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aoe_reports.engine.captures import collect_events_of, find_captures
from aoe_reports.engine.question import Notes
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.topics.memory.host_ranges import EVENT_COLUMNS, HostRanges, steps_of_host


def capture_with(folder: Path, events: list[dict[str, object]]) -> Capture:
    """A capture of torch_npu with a timeline."""
    exports = folder / "host_1_20260301020000_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    exports.mkdir(parents=True)
    (exports.parent / "profiler_info_0.json").write_text('{"rank_id": 0}')
    (exports / "trace_view.json").write_text(json.dumps(events))
    ((found,),) = find_captures(discover([folder]))
    return found


def a_step(number: int, start: float, length: float) -> dict[str, object]:
    return {
        "name": f"ProfilerStep#{number}", "ph": "X", "pid": 9, "tid": 9, "ts": f"{start:.3f}", "dur": length, "args": {}
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_a_glance_finds_the_steps_that_reading_finds(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    events: list[dict[str, object]] = []
    for number in range(int(random.integers(1, 30))):
        events += [a_step(number, 1e9 + number * 500, 400.25)] * int(random.integers(1, 3))
        named = {"name": "mm", "ph": "X", "pid": 9, "tid": 9, "ts": "1000000000.500", "dur": 3}
        events += [{**named, "args": {"Call stack": f"ProfilerStep#{number}"}}] * int(random.integers(0, 9))
        events.append({**named, "name": f"ProfilerStep#{number} of mine"})
    events.append(a_step(0, 2e9, 1.0))  # a number again: the first one counts
    capture = capture_with(tmp_path, events)
    (files,) = vendor_of(capture.profiler).events(capture)
    read, wrong = collect_events_of(files, EVENT_COLUMNS, HostRanges)
    assert not wrong
    glanced = steps_of_host(capture, Notes())
    assert sorted(glanced, key=lambda span: span.number) == sorted(read.steps.values(), key=lambda span: span.number)
    assert glanced
