"""The recipe in docs/tuning.md: the example, put into a copy of the package, is a tuner whose claims `verify` judges."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from commandline import ROOT
from copies import copied_package, replace_once, run_in_copy

from aoe_reports.simulation.tuning import TUNED, write_loop
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package with the tuner of the recipe."""
    root = tmp_path / "copy"
    package = copied_package(root)
    (line,) = re.findall(r'^"timer": "\S+"$', (ROOT / "docs" / "tuning.md").read_text(), re.MULTILINE)
    opening = "TUNERS: dict[str, str] = {\n"
    replace_once(package / "formats" / "tuner_files.py", opening, f"{opening}    {line},\n")
    shutil.copytree(ROOT / "examples" / "tuner" / "timer", package / "tuning" / "timer")
    return root


def run(copy: Path, *args: object) -> dict[str, object]:
    ended = run_in_copy(copy, *args, "--format", "json")
    assert ended.stderr == ""
    told: dict[str, object] = json.loads(ended.stdout)
    return told


@pytest.mark.slow
def test_a_tuner_made_by_the_recipe_is_recognised_and_verified(copy: Path, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    left = tmp_path / "left"
    left.mkdir()
    name = min(TUNED)
    file = left / "timer.csv"
    file.write_text(f"name,type,before_us,after_us\n{name},Conv2D,100,80\n")
    write_plan(tmp_path / "plan", Plan("offline", "opat"))
    options = ("--before", loop.before, "--after", loop.after, "--results", left)
    told = run(copy, "verify", tmp_path / "plan", *options)
    operators = {row["op_name"]: row for row in told["rows"] if row["scope"] == "operator"}
    assert (operators[name]["verdict"], operators[name]["claimed_before_us"]) == ("confirmed", 100)
    assert "Timer claims 20.0% less" in (tmp_path / "plan" / "verify.md").read_text()
    assert [row["kind"] for row in run(copy, "inspect", left)["rows"]] == ["timer"]
    file.write_text("name,type,before_us,after_us\nx,Conv2D,100\n")
    (finding,) = run(copy, "check", left)["findings"]
    assert (finding["rule"], finding["line"]) == ("timer-row", 2)
