"""Verdicts on real captures; skipped where they are not there (they are not part of the project)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commandline import ROOT, Cli

from aoe_reports import quality

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real captures in {DATA}")


@pytest.mark.parametrize(
    ("folder", "codes"),
    [
        ("torch_npu_2025-01/text/level0", {"one-step", "start-skew"}),
        ("torch_npu_2025-01/text/level1", {"one-step"}),
        ("torch_npu_2025-01/text/level2", {"one-step"}),
        ("torch_npu_2025-01/db/level0", {"one-step"}),
        ("torch_npu_2025-01/db/level1", {"one-step"}),
        ("torch_npu_2025-01/db/level2", {"one-step"}),
        ("torch_npu_2023-09/test_rank_0", {"one-step", "no-warm-up"}),
        ("torch_npu_2023-09/test_rank_1", {"one-step", "no-warm-up"}),
        ("msprof_2023-08", {"warm-up", "scatter"}),
        ("msprof_2026-06/PROF_001_sanitized", {"no-steps"}),
        ("mindspore_profiler/run_1", {"warm-up"}),
        ("mindspore_profiler/cluster_propose", {"warm-up"}),
    ],
)
def test_no_real_capture_is_refused(folder: str, codes: set[str]) -> None:
    answer = quality([DATA / folder])
    assert {row.code for row in answer.rows if row.effect == "caution"} == codes
    assert {run.verdict for run in answer.table("runs")} == {"yes, but"}
    assert answer.exit_code() == 0


def test_real_clocks_are_read_from_timelines_and_databases() -> None:
    devices = quality([DATA / "torch_npu_2025-01"]).table("devices")
    assert [(device.highest_mhz, device.lost_to_clock, device.others_ns) for device in devices] == [(1800, 0, 0)] * 12


@pytest.mark.parametrize("question", ["hotspots", "breakdown", "host", "critical-path", "stacks"])
def test_a_warm_up_is_named_by_who_counts_it(cli: Cli, question: str) -> None:
    findings = cli(question, DATA / "msprof_2023-08", "--format", "json").json["findings"]
    (told,) = (one["message"] for one in findings if one["rule"] == "trimmed")
    assert told.startswith("rank 0: not like the other steps: step 1 (warm-up); ")


def test_a_warm_up_is_left_out_by_advice_which_says_so(cli: Cli) -> None:
    findings = cli("advise", DATA / "msprof_2023-08", "--format", "json").json["findings"]
    (told,) = (one["message"] for one in findings if one["rule"] == "trimmed")
    assert told.startswith(
        "rank 0: left out, as they are not like the other steps: step 1 (warm-up); --all-steps keeps"
    )
