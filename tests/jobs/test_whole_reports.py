"""The reports of a small store, whole: of a night that was stored, and of the job that stores the next one."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from captures import BERT, write_night
from commandline import Cli, Ended
from small_store import SLOW
from whole_texts import assert_recorded, rounded, rounded_text

from aoe_reports.simulation.tuning import BEFORE, OPERATORS, write_profile, write_result
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan

EXPECTED = Path(__file__).with_name("whole_reports")
QUICKER = {"block5/conv": 0.8, "block6/conv": 0.97, "block1/conv": 1.1}
"""What becomes of the time of what is tuned; AOE claims 0.8 each time."""


def told(ended: Ended, form: str) -> str:
    """What was printed, and how it ended: of HTML the body, of JSON eight digits of each number."""
    text = ended.out if form == "json" else rounded_text(ended.out)
    if form == "json" and text:
        text = json.dumps(rounded(json.loads(text)), indent=1, ensure_ascii=False)
    if form == "html":
        text = re.sub(r"<svg.*</svg>", "(a drawing)", text[text.index("<body") :])
    return f"{text.rstrip()}\n{ended.err}exit code {ended.code}\n"


def test_each_report_says_all_of_this(cli: Cli, small_store: Path) -> None:
    store = small_store
    found = {}
    for form in ("text", "json", "markdown", "html"):
        found[f"report.{form}"] = told(cli("report", "--store", store, "--format", form), form)
    for day in ("2026-03-06", "2026-03-12", "2026-03-14"):
        found[f"report-{day}"] = told(cli("report", "--store", store, "--night", day, "--workload", "net"), "text")
    write_night(Path("tonight/net"), 16, SLOW)
    write_night(Path("tonight/bert"), 16, BERT, hours=1)
    for form in ("text", "json"):
        asked = ("ingest", "tonight/bert", "--store", store, "--workload", "bert", "--hardware", "npu", "--tz", "UTC")
        found[f"ingest.{form}"] = told(cli(*asked, "--format", form), form)
    for form in ("text", "json", "markdown"):
        asked = ("nightly", "tonight/net", "--store", store, "--workload", "net", "--hardware", "npu", "--tz", "UTC")
        found[f"nightly.{form}"] = told(cli(*asked, "--format", form), form)
    assert_recorded(EXPECTED, found, all_of_it=True)


def test_a_verified_tuning_says_all_of_this(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two operators take less time afterwards, of which one was claimed to take less than it does."""
    monkeypatch.chdir(tmp_path)
    source = random.Random(1)
    before = write_profile(Path("before"), BEFORE, source, steps=6)
    quicker = [replace(one, mean_us=one.mean_us * QUICKER.get(one.name, 1.0)) for one in OPERATORS]
    after = write_profile(Path("after"), BEFORE.replace(hour=9), source, operators=quicker, steps=6)
    claimed = write_result(Path("aoe"), BEFORE.replace(hour=4), tuple(QUICKER))
    write_plan(Path("plan"), Plan("offline", "opat", profile=str(before)))
    asked = ("verify", "plan", "--after", after, "--results", claimed, "--workload", "net", "--store", "store")
    found = {f"verify.{form}": told(cli(*asked, "--format", form), form) for form in ("text", "json", "csv", "html")}
    for path in (Path("plan/verify.md"), Path("plan/verify.json")):
        text = path.read_text(encoding="utf-8")
        found[path.name.replace("verify", "kept")] = (
            json.dumps(rounded(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
            if path.suffix == ".json"
            else text
        )
    found["strict"] = told(cli(*asked, "--accept", "all", "--strict"), "text")
    found["verdicts.json"] = told(cli("store", "history", "verdicts", "--store", "store", "--format", "json"), "json")
    assert_recorded(EXPECTED.with_name("whole_verified"), found, all_of_it=True)
