"""Partial results of real captures: a rank comes to a file that a fleet of 100,000 can afford."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commandline import ROOT, Cli

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no real captures here")


@pytest.mark.parametrize(
    "question", ["hotspots", "steps", "communication", "stragglers", "breakdown", "critical-path", "advise"]
)
def test_a_rank_comes_to_ten_kilobytes_at_most(cli: Cli, tmp_path: Path, question: str) -> None:
    asked = (question, DATA / "torch_npu_2025-01" / "text" / "level1", "--format", "json")
    told = cli(*asked, "--cache", tmp_path / "cache")
    assert told == cli(*asked)
    sizes = [path.stat().st_size for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert len(sizes) == 2
    assert max(sizes) <= 10_000
