"""Names that other programs find our results by."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from commandline import FIXTURES, Cli


def test_results_of_check_are_found_by_name(cli: Cli) -> None:
    folder = FIXTURES / "aoe" / "invalid" / "hit-sum"
    suite = ET.fromstring(cli("check", folder, "--format", "junit").out)
    assert {one.get("name") for one in suite.iter("testsuite")} == {"aoe-reports check"}
    (run,) = json.loads(cli("check", folder, "--format", "sarif").out)["runs"]
    places = [place["physicalLocation"]["artifactLocation"] for one in run["results"] for place in one["locations"]]
    assert {place.get("uriBaseId") for place in places} <= {"%SRCROOT%", None}


def test_regressions_are_found_by_name() -> None:
    from aoe_reports.model.history.changes import AlarmBudget
    from aoe_reports.present import REGRESSION_RENDERERS
    from aoe_reports.present.reports.changes import Changes

    budget = AlarmBudget(false_alarms_per_year=12.0, series=0, eligible=0, detector=4, baseline="segment", whole_history=False)  # fmt: skip
    told = Changes(rows=(), budget=budget, findings=[], reasons=[], store="s", version="1")
    suite = ET.fromstring(REGRESSION_RENDERERS["junit"](told))
    assert {one.get("name") for one in suite.iter("testsuite")} == {"aoe-reports regressions"}
