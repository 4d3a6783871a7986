"""Public benchmark histories, watched as a store is; the mechanical truth beside them looks into the future. Skipped where they are not there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from commandline import ROOT

from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.stats.budget import WATCHED_NIGHTS

SHARED = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")).parent
HISTORIES, TRUTH = SHARED / "data" / "asv" / "numpy_half.npz", SHARED / "bench" / "detection"
pytestmark = pytest.mark.skipif(not (HISTORIES.is_file() and TRUTH.is_dir()), reason=f"no histories in {SHARED}")
FIRST, EVERY, NEAR = 70, 4, 10


def watched(histories: list[np.ndarray]) -> list[dict[int, int]]:
    """Of each history the places of its alarms, and after how many points each was told."""
    told: list[dict[int, int]] = [{} for _ in histories]
    for night in range(FIRST, max(map(len, histories)) + 1, EVERY):
        there = [number for number, one in enumerate(histories) if len(one) >= night]
        table = np.full((len(there), WATCHED_NIGHTS), np.nan)
        for row, number in enumerate(there):
            newest = histories[number][max(0, night - WATCHED_NIGHTS) : night]
            table[row, WATCHED_NIGHTS - len(newest) :] = newest
        for number, verdict in zip(there, detect_changes(table), strict=True):
            for step in (night - WATCHED_NIGHTS + one for change in verdict.changes for one in change.steps):
                if all(abs(step - other) > NEAR for other in told[number]):
                    told[number][step] = night
    return told


def test_alarms_are_borne_out_and_steps_are_told_within_five_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TRUTH))
    import asv_truth

    every = np.load(HISTORIES)["times_ms"]
    histories = [times[~np.isnan(times)] for times in every]
    borne_out, delays = [], []
    for times, told in zip(histories, watched(histories), strict=True):
        logs = np.log(times)
        borne_out += [asv_truth.supported(logs, step) for step in told]
        for step, _ in asv_truth.steps(logs, 0.03):
            if step >= FIRST:
                near = [night - step for alarm, night in told.items() if abs(alarm - step) <= NEAR]
                delays.append(min(near, default=None))
    del sys.modules["asv_truth"]
    assert len(borne_out) > 150
    assert sum(borne_out) / len(borne_out) >= 0.75
    assert len(delays) == 34
    assert None not in delays
    assert np.median(delays) <= 5
