"""`demo --tuning`: every step is run and finds what was planted; a difference is said."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from aoe_reports.jobs.tuning_demo import EXPECTED, OUTCOMES, PlantedOperator, TuningDemo, run_tuning_demo
from aoe_reports.model.errors import UsageError
from aoe_reports.simulation.planted import Planted


@pytest.mark.slow
def test_a_loop_over_a_simulated_model_ends_with_what_was_planted(tmp_path: Path) -> None:
    said: list[str] = []
    demo = run_tuning_demo(tmp_path, progress=lambda text: said.append(str(text())))
    assert demo.agrees, demo
    assert {one.planted for one in demo.operators} == {planted for planted, _ in OUTCOMES} == set(EXPECTED)
    assert said == [str(step.title) for step in demo.steps]
    assert len(demo.steps) == 7
    assert "4 of 5 tuned operators used the bank; 1 did not: layer4/matmul" in demo.steps[5].found
    job = tmp_path / "tuning" / "job"
    assert json.loads((job / "verify.json").read_text())["verdict"] == "confirmed"
    assert (tmp_path / "tuning" / "bank.backup-001").is_dir()
    tuned = tmp_path / "tuning" / "bank" / "Ascend910B3" / "Ascend910B3_20_AiCore_MatMulV2_runtime_kb.json"
    assert len(tuned.read_text().splitlines()) == 6
    command = [sys.executable, "-m", "aoe_reports", "tune", "adopt", str(job), "--dry-run"]
    later = subprocess.run(command, capture_output=True, text=True, check=False)
    assert later.returncode == 0, later.stderr  # another process reads the verdict, too
    with pytest.raises(UsageError, match="exists already"):
        run_tuning_demo(tmp_path)


@pytest.mark.parametrize(
    ("planted", "status", "verdict"),
    [
        ("used", "improved", "partly"),
        ("not-used", "improved", "confirmed"),
        ("failed", "improved", None),
        ("kept", None, None),
    ],
)
def test_a_difference_from_what_was_planted_is_no_agreement(
    planted: Planted, status: str | None, verdict: str | None
) -> None:
    good = TuningDemo(
        [], [PlantedOperator("a", one, *found) for one, found in EXPECTED.items()], "confirmed", adopted=True
    )
    assert good.agrees
    wrong = PlantedOperator("b", planted, status, verdict)
    assert not replace(good, operators=[*good.operators, wrong]).agrees
    assert not replace(good, verdict="partly").agrees
    assert not replace(good, adopted=False).agrees
