"""Formulas against the hardware counters of real captures; skipped where they are not there (they are not part of the project)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commandline import ROOT

from aoe_reports import hotspots, roofline

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real captures in {DATA}")
CUBE = {"MatMulV2", "MatMulV3", "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"}


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("level", ["level1", "level2"])
def test_no_formula_counts_more_than_the_cube_computed(level: str, rank: int) -> None:
    path = DATA / "torch_npu_2025-01" / "text" / level / f"rank{rank}_ascend_pt"
    answer = roofline([path], chip="Ascend910B2", top=1000)
    seen = 0
    for one in answer.rows:
        if one.op_type in CUBE:
            assert one.note is None  # conversions tell the logical shape of every tensor
            assert 0 < one.compute_share < 0.85
            assert one.compute_share <= one.cube_by_counters * 1.001
            seen += 1
    assert seen == 23
    (device,) = answer.table("devices")
    assert device.cube_known_share == 1
    assert 0.88 < device.known_share < 0.90
    assert 0.005 < device.mfu < 0.008
    assert {finding.rule for finding in answer.findings} == {"counters-disagree"}


def test_products_and_convolutions_reach_what_each_cycle_of_the_cube_can_do() -> None:
    """The rates of HF32 and FP32 in the table of chips: the best operators come within 4 % of them."""
    path = DATA / "torch_npu_2025-01" / "text" / "level2" / "rank0_ascend_pt"
    best: dict[str | None, float] = {}
    for one in roofline([path], chip="Ascend910B2", top=1000).rows:
        if one.op_type in CUBE:
            best[one.precision] = max(best.get(one.precision, 0), one.compute_share / one.cube_by_counters)
    assert 0.96 < best["fp32"] <= 1
    assert 0.94 < best["hf32"] <= 1


def test_databases_tell_the_chip_and_what_text_tells() -> None:
    (text,) = roofline([DATA / "torch_npu_2025-01" / "text" / "level1" / "rank0_ascend_pt"]).table("devices")
    (database,) = roofline([DATA / "torch_npu_2025-01" / "db" / "level1" / "rank0_ascend_pt"]).table("devices")
    assert (text.chip, database.chip) == (None, "Ascend910B2")
    assert text.cube_flops == database.cube_flops


def test_attention_of_a_real_capture_is_told_by_its_mask() -> None:
    answer = roofline([DATA / "torch_npu_2023-09" / "test_rank_0"], chip="Ascend910B2")
    first = answer.rows[0]
    assert (first.op_type, first.note, first.flops) == ("FlashAttentionScore", "at-most", 3 * 4 * 2 * 8192**2 * 640)
    assert 0.1 < first.compute_share < 0.2


def test_times_of_every_real_capture_are_those_of_hotspots() -> None:
    told = {}
    for row in hotspots([DATA], by="op_name", top=1_000_000).rows:
        told[row.run, row.rank_id] = told.get((row.run, row.rank_id), 0) + row.total_ns
    own: dict[tuple[str, int | None], int] = {}
    for one in roofline([DATA], top=1_000_000).rows:
        own[one.run, one.rank_id] = own.get((one.run, one.rank_id), 0) + one.total_ns
    assert own == told
    assert len(own) > 15
