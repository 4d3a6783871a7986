"""Real captures; skipped where they are not there (they are not part of the project)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commandline import ROOT

from aoe_reports import breakdown, host

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real captures in {DATA}")


SHARES = {
    ("text", "level0"): [0.171, 0.205],
    ("text", "level1"): [0.121, 0.13],
    ("text", "level2"): [0.123, 0.131],
    ("db", "level0"): [0.147, 0.15],
    ("db", "level1"): [0.105, 0.127],
    ("db", "level2"): [0.131, 0.123],
}
"""The part of the time of ranks 0 and 1 that their devices waited for launching."""


@pytest.mark.parametrize("level", ["level0", "level1", "level2"])
@pytest.mark.parametrize("form", ["text", "db"])
def test_a_small_model_is_bound_by_launching(form: str, level: str) -> None:
    folder = DATA / "torch_npu_2025-01" / form / level
    answer = host([folder])
    idle = {one.device_id: one.free_ns for one in breakdown([folder]).rows if one.step is None}
    wholes = [one for one in answer.rows if one.step is None]
    assert {one.device_id: one.idle_ns for one in wholes} == idle
    assert {one.launches_unknown for one in wholes} == {0}
    assert {one.cause for one in answer.table("causes")} == {"launching"}
    assert [round(one.share, 3) for one in answer.table("causes")] == SHARES[form, level]
    queued = {one.task_queue_entries for one in answer.table("devices")}
    assert queued == ({159} if form == "text" else {None})
    assert {one.sequence for one in answer.table("sequences")} == {"TensorMove Mul Mul"}


def test_without_launches_nothing_is_blamed() -> None:
    answer = host([DATA / "msprof_2023-08"])
    assert answer.rows
    assert {(one.launches, one.waited_ns) for one in answer.rows} == {(0, None)}
    assert not answer.table("causes")
