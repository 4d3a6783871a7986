"""What pages warn of: nights without a run, and two runs that `compare` would refuse."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from html import unescape
from pathlib import Path

import pytest
from stores import store_at_once

from aoe_reports.simulation.nights import MODEL
from aoe_reports.site.build import build_site
from aoe_reports.topics.records.options import RecordOptions

FIRST = date(2026, 1, 1)


def text_of(page: Path) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.read_text())).split())


def overview(folder: Path, nights: Mapping[str, Iterable[int]]) -> str:
    """The first page of a store in which each model ran in some nights."""
    lines = [
        {
            "workload": f"{model}/step", "engine": "cann", "hardware": "npu", "runtime_ms_mean": 10.0, "runtime_ms_std": None,
            "timestamp": f"{FIRST + timedelta(days=night)}T02:00:00Z", "schema_version": "0.1", "metadata": {},
        }
        for model, ran in nights.items()
        for night in ran
    ]  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    store_at_once([folder / "records.jsonl"], folder / "store", RecordOptions(tz="UTC"))
    build_site(str(folder / "store"), folder / "site")
    return text_of(folder / "site" / "index.html")


def test_models_that_ran_every_night_are_said_to_have(tmp_path: Path) -> None:
    text = overview(tmp_path, {"a": range(12), "b": range(12)})
    assert "Every model ran every night." in text
    assert "Newest night, 2026-01-12: runs 2, errors 0, warnings 0, remarks 0." in text


@pytest.mark.parametrize(
    ("ran", "missing"),
    [
        ([0, 1, 2, 3, 5, 6, 8, 9, 10, 11], "2 of the last 12 dates have no run (2026-01-05, 2026-01-08)."),
        (
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 16, 17, 18, 20],
            "5 of the last 21 dates have no run (2026-01-11, 2026-01-12, 2026-01-14, 2026-01-16, 2026-01-20).",
        ),
        (
            [0, 1, 2, 3, 4, 6, 7, 8, 9, 12, 14, 16, 17, 18, 20],
            "6 of the last 21 dates have no run (2026-01-11, 2026-01-12, 2026-01-14, 2026-01-16, 2026-01-20 and 1 more).",
        ),
        ([0, 3, 4, 7], None),  # every second date is how it runs
        ([0, 2, 3, 6], "3 of the last 7 dates have no run (2026-01-02, 2026-01-05, 2026-01-06)."),
    ],
)
def test_dates_without_a_run_are_named_where_a_model_runs_nearly_every_night(
    tmp_path: Path, ran: list[int], missing: str | None
) -> None:
    text = overview(tmp_path, {"a": ran, "b": range(max(ran) + 1)})
    assert (f"a/step: {missing}" in text) if missing else ("of the last" not in text)
    assert "b/step: " not in text


def test_a_model_that_stopped_is_named(tmp_path: Path) -> None:
    text = overview(tmp_path, {"a": range(8), "b": range(12)})
    assert "a/step: no run since 2026-01-08." in text
    assert "Every model ran every night." not in text


def test_a_store_of_nothing_says_nothing_of_nights(tmp_path: Path) -> None:
    from aoe_reports.store import History

    History.open(str(tmp_path / "store"), create=True)
    build_site(str(tmp_path / "store"), tmp_path / "site")
    assert "Newest night" not in text_of(tmp_path / "site" / "index.html")


@pytest.mark.parametrize("bare", ["baseline", "candidate"])
def test_a_comparison_warns_of_what_compare_refuses(simulated_nights: Path, tmp_path: Path, bare: str) -> None:
    """Another version, and a night without operators: that side's sums are no zero."""
    first, *_, last = sorted(simulated_nights.iterdir())[:4]
    for night, side, version in ((first, "baseline", "8.0"), (last, "candidate", "8.5")):
        shutil.copytree(night, tmp_path / side / night.name)
        for table in (tmp_path / side).rglob("*.csv") if side == bare else ():
            if not table.name.startswith("step_trace"):
                table.unlink()
        options = RecordOptions(workload=MODEL, engine_version=version)
        store_at_once([tmp_path / side], tmp_path / "store", options)
    build_site(str(tmp_path / "store"), tmp_path / "site")
    told = json.loads((tmp_path / "site" / f"compare-{MODEL}.json").read_text())
    facts = {one["fact"]: (one["baseline"], one["candidate"]) for one in told["not_comparable"]}
    assert facts["engine_version"] == ("8.0", "8.5")
    count = max(facts["operator_records"])
    assert facts["operator_records"] == ((0, count) if bare == "baseline" else (count, 0))
    other = "candidate" if bare == "baseline" else "baseline"
    text = text_of(tmp_path / "site" / f"compare-{MODEL}.html")
    assert "Different engine version: 8.0 in the baseline, 8.5 in the candidate" in text
    assert f"No operator records of the {bare} are stored; the {other} has {count}" in text
    assert told["totals"]["op"][f"{bare}_total_us"] is None
    assert told["totals"]["op"]["difference_us"] is None
    assert told["totals"]["op"][f"{other}_total_us"] > 0
    assert f"The baseline is the last night before with a run, {first.name}: " in text
