"""Changes between real captures; skipped where they are not there (they are not part of the project)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commandline import ROOT

from aoe_reports import breakdown, communication, explain, host
from aoe_reports.engine.captures import collect_events_of
from aoe_reports.engine.runs import find_runs
from aoe_reports.facts.breakdown import EVENT_COLUMNS, Activity
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.topics.comparison.exposed import exposed_of

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real captures in {DATA}")


def test_parts_of_real_timelines_are_what_breakdown_tells() -> None:
    seen = 0
    for captures in find_runs(discover([DATA / "torch_npu_2025-01"])):
        for files in (files for one in captures for files in vendor_of(one.profiler).events(one)):
            activity, _ = collect_events_of(files, EVENT_COLUMNS, Activity)
            for device in exposed_of(activity, kernels=True):
                whole = device.whole
                assert sum(device.idle_ns.values()) == whole.free_ns
                assert (
                    sum(ran.alone_ns for ran in device.communication.values()) == whole.communication_not_overlapped_ns
                )
                assert sum(ran.alone_ns for ran in device.kernels.values()) == whole.computing_ns
                assert set(device.idle_ns) >= {"host launch", "behind the launch"}
                seen += 1
    assert seen == 12


@pytest.mark.parametrize("level", ["level0", "level1", "level2"])
def test_real_runs_are_explained_to_the_nanosecond(level: str) -> None:
    folder = DATA / "torch_npu_2025-01"
    answer = explain([folder / "text" / level, folder / "db" / level], top=3)
    steps = answer.table("steps")
    assert [step.rank_id for step in steps] == [0, 1]
    for step in steps:
        mine = [row for row in answer.rows if row.rank_id == step.rank_id]
        assert len(mine) == 4
        assert sum(row.difference_ns for row in mine) == step.difference_ns
        assert mine[-1].reached_ns == step.after_ns


@pytest.mark.parametrize("level", ["level1", "level2"])
def test_what_planes_of_the_table_call_idle_is_waiting_for_the_rank_that_communication_names(level: str) -> None:
    folder = DATA / "torch_npu_2025-01"
    answer = explain([folder / "text" / level, folder / "db" / level])
    for form, attribute in (("text", "awaited_before"), ("db", "awaited_after")):
        told = communication([folder / form / level]).table("awaited")
        assert {getattr(step, attribute) for step in answer.table("steps")} == {told[0].number}
    for row in answer.rows:
        if "pauses" in row.cause:  # by the table alone up to 9.7 ms, made up for by 6.8 ms of waiting
            assert abs(row.difference_ns) < 200_000


@pytest.mark.parametrize("form", ["text", "db"])
@pytest.mark.parametrize("level", ["level1", "level2"])
def test_compiling_is_the_same_to_explain_breakdown_and_host(form: str, level: str) -> None:
    for rank in (0, 1):
        folder = DATA / "torch_npu_2025-01" / form / level / f"rank{rank}_ascend_pt"
        (captures,) = find_runs(discover([folder]))
        (files,) = vendor_of(captures[0].profiler).events(captures[0])
        activity, _ = collect_events_of(files, EVENT_COLUMNS, Activity)
        (device,) = exposed_of(activity, kernels=False)
        waits, told = host([folder], top=3), breakdown([folder], gaps=1000).table("gaps")
        # of explain the first launch of the step is waited for, too, which compiles for some 1.6 ms
        in_front = device.idle_ns["compilation"] - waits.rows[0].compilation_ns
        assert 1_000_000 < in_front < 3_000_000
        causes = {(one.after, one.duration_ns): one.cause for one in told}
        compiling = [one for one in waits.table("waits") if one.cause == "compilation"]
        assert compiling
        assert {causes[one.after, one.duration_ns] for one in compiling} == {"compilation"}
