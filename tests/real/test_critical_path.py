"""Critical paths of real timelines; skipped where they are not there (they are not part of the project)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from commandline import ROOT

from aoe_reports import breakdown, critical_path
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.vendor import group_captures, vendor_of
from aoe_reports.model.pictures.blocks import read_blocks
from aoe_reports.model.pictures.step import MAX_BYTES
from aoe_reports.topics.critical_path.dependencies import dependencies_of
from aoe_reports.topics.critical_path.facts import ends_after, window_of
from aoe_reports.topics.critical_path.step_paths import operators_of, paths_of
from aoe_reports.topics.critical_path.step_pictures import bytes_of

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
CAPTURES = [
    *(f"torch_npu_2025-01/{form}/level{level}" for form in ("text", "db") for level in (0, 1, 2)),
    "msprof_2023-08",
]
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real timelines in {DATA}")


@pytest.mark.parametrize("name", CAPTURES)
def test_a_real_path_is_the_step_to_the_nanosecond(name: str) -> None:
    paths = critical_path([DATA / name]).rows
    told = {(one.rank_id, one.device_id, one.step): one.end_to_end_ns for one in breakdown([DATA / name], gaps=0).rows}
    assert paths
    for one in paths:
        assert one.duration_ns == told[one.rank_id, one.device_id, one.step]
        kinds = (one.computing_ns, one.communication_ns, one.other_tasks_ns, one.launch_ns, one.host_ns)
        assert sum(kinds) + one.unexplained_ns == one.duration_ns
        assert one.communication_ns > one.duration_ns // 2, "rank 0 waits for the others, and old ones reduce for long"
        assert abs(one.host_shift_ns) < 100_000


@pytest.mark.parametrize("name", CAPTURES)
def test_the_picture_of_a_real_step_is_small_and_loses_no_slice_and_no_nanosecond(name: str) -> None:
    answer = critical_path([DATA / name])
    (picture,) = answer.pictures
    assert picture is not None
    (path,) = [one for one in answer.rows if (one.rank_id, one.step) == (picture.rank_id, picture.step)]
    assert bytes_of(picture) <= MAX_BYTES
    assert picture.lanes_left_out == 0
    lanes = {one.role: one for one in picture.lanes}
    assert (lanes["path"].busy_ns, picture.duration_ns) == (path.duration_ns, path.duration_ns)
    for lane in picture.lanes:
        blocks = read_blocks(lane.cells)
        assert (int(blocks.count.sum()), blocks.busy_ns) == (lane.count, lane.busy_ns)
        assert blocks.end.max(initial=0) <= picture.duration_ns
    streams = [one for one in picture.lanes if one.role in {"device", "communication"}]
    assert sum(one.count for one in streams) >= path.tasks
    parted = next(
        one for one in breakdown([DATA / name], gaps=0).rows if (one.rank_id, one.step) == (path.rank_id, path.step)
    )
    assert lanes["idle"].busy_ns == parted.free_ns


@pytest.mark.parametrize("name", CAPTURES)
def test_a_real_step_with_nothing_shortened_is_the_measured_one(name: str) -> None:
    for capture in group_captures(discover([DATA / name]).files):
        for files in vendor_of(capture.profiler).events(capture):
            devices, findings = dependencies_of(files, capture)
            assert not findings
            for _, device in devices:
                for path in paths_of(device):
                    window = window_of(device.graph, path.start_ns, path.start_ns + path.duration_ns)
                    assert (ends_after(window, np.zeros(len(window), dtype=np.int64)) == window.end).all()
                    for one in operators_of(device, path, device.names, shortened_percent=100, top=10_000):
                        assert 0 <= one.gain_ns <= one.path_ns <= one.total_ns
                        assert one.slack_ns >= 0
                        assert one.slack_ns == 0 or one.path_ns == 0, "what is on the path has no slack"
