"""A nightly job runs the detector once: its report, its exit code and its pages are of one and the same run of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli

from aoe_reports.history.changes.regressions import find_regressions
from aoe_reports.history.options import RegressionOptions
from aoe_reports.history.series import series
from aoe_reports.history.series.series import detect_changes
from aoe_reports.simulation.nights import MODEL, write_nights
from aoe_reports.site.build import build_site


@pytest.fixture
def runs_of_the_detector(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """So many series each run of the detector was given."""
    runs: list[int] = []

    def detect(values: Any, *others: Any) -> Any:
        runs.append(len(values))
        return detect_changes(values, *others)

    monkeypatch.setattr(series, "detect_changes", detect)
    return runs


@pytest.mark.parametrize(
    "chosen", [("--baseline", "segment"), ("--baseline", "nights:5"), ("--gate", "scope=op,alarms<=2/year")]
)
def test_report_gate_and_pages_share_one_run(
    cli: Cli,
    simulated_nights: Path,
    simulated_store: Path,
    tmp_path: Path,
    runs_of_the_detector: list[int],
    chosen: tuple[str, str],
) -> None:
    store, newest = shutil.copytree(simulated_store, tmp_path / "store"), max(simulated_nights.iterdir())
    ended = cli("nightly", newest, "--store", store, "--site", tmp_path / "site", "--workload", MODEL, *chosen)
    assert len(runs_of_the_detector) == 1
    if chosen[1] != "nights:5":
        assert ended.code == 1
        assert "layer6/conv" in (tmp_path / "site" / "report.md").read_text()
        assert "layer6/conv" in (tmp_path / "site" / "index.html").read_text()


def test_pages_after_another_job_stored_a_night_are_of_that_night(
    cli: Cli, tmp_path: Path, runs_of_the_detector: list[int]
) -> None:
    nights, store = write_nights(tmp_path / "nights", nights=13), str(tmp_path / "store")
    for night in nights[:-1]:
        cli("ingest", night, "--store", store, "--workload", "net")
    before = find_regressions(store, RegressionOptions()).detected
    cli("ingest", nights[-1], "--store", store, "--workload", "net")
    runs_of_the_detector.clear()
    build_site(store, tmp_path / "late", detected=before)
    build_site(store, tmp_path / "alone")
    assert len(runs_of_the_detector) == 2
    late, alone = ((tmp_path / name) for name in ("late", "alone"))
    names = {str(path.relative_to(alone)) for path in alone.rglob("*") if path.is_file()} - {"manifest.json"}
    assert {name for name in names if (late / name).read_bytes() != (alone / name).read_bytes()} == set()
