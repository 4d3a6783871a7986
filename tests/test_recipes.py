"""Recipes of CONTRIBUTING, followed in a copy of the package: a question, a table, an output format, a page, a rule of advice."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import ROOT
from copies import CONTRIBUTING, add_module_of_recipe, copied_package, modules_of_recipes, replace_once, run_in_copy

PAGE = '''"""The page of workloads."""

from __future__ import annotations

from aoe_reports.history.site_facts import StoreFacts
from aoe_reports.site.cells import Table, cell, head
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts


def workloads(facts: StoreFacts, text: Texts) -> Content:
    """Every workload with its newest night."""
    newest = {run.model: run.night for run in facts.runs}
    columns = [(text("Workload"), "text"), (text("Newest night"), "text")]
    rows = [[head(name), cell(night)] for name, night in newest.items()]
    page = {"title": text("Workloads"), "listed": Table(columns, rows, text("Every workload of the store."))}
    return page, {"rows": [{"workload": name, "newest_night": night} for name, night in newest.items()]}
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package."""
    return copied_package(tmp_path)


def _ask(package: Path, *arguments: object) -> str:
    ended = run_in_copy(package.parents[1], *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize("place", modules_of_recipes())
def test_modules_of_recipes_pass_lint(place: str) -> None:
    """Their format is checked with that of the page; a folder of their own has its `__init__.py` beside them."""
    command = [sys.executable, "-m", "ruff", "check", "--quiet", "--extend-ignore=INP001"]
    command += ["--stdin-filename", str(ROOT / place), "-"]
    ended = subprocess.run(
        command, input=modules_of_recipes()[place], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout


def test_a_question_is_one_module_and_one_line(package: Path) -> None:
    add_module_of_recipe(package.parents[1], "topics/device_time/longest.py")
    (line,) = re.findall(r'`("longest": Entry\(.*?\)\),)`', CONTRIBUTING)
    first = '            "steps": Entry("topics.steps.steps:Steps"'
    replace_once(package / "cli" / "menu.py", first, f"            {line}\n{first}")
    fixture = ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"
    answer = json.loads(_ask(package, "longest", fixture, "--top", "1", "--rank", "0", "--format", "json"))
    assert [(row["op_name"], row["duration_us"]) for row in answer["rows"]] == [("hcom_allReduce__586_1_1", 793.839)]
    assert "Longest tasks" in _ask(package, "longest", fixture)


@pytest.mark.slow
def test_a_kind_of_table_is_one_declaration_and_one_line(package: Path, tmp_path: Path) -> None:
    tables = package / "formats" / "ascend" / "tables"
    add_module_of_recipe(package.parents[1], "formats/ascend/tables/fan_speed.py")
    registry = tables / "__init__.py"
    line = "from aoe_reports.formats.ascend.tables.host_api import (\n"
    replace_once(registry, line, f"from aoe_reports.formats.ascend.tables.fan_speed import FAN_SPEED\n{line}")
    replace_once(registry, "        FUSION_OP,\n", "        FAN_SPEED,\n        FUSION_OP,\n")
    data = tmp_path / "PROF_1" / "mindstudio_profiler_output" / "fan_speed_20260101000000.csv"
    data.parent.mkdir(parents=True)
    data.write_text("Device_id,Fan,Turn Time(us)\n0,1,2.5\n0,2,3.125\n")
    assert "fan_speed" in _ask(package, "table", "--list")
    assert _ask(package, "table", "fan_speed", data.parent) == (
        "rank_id,device_id,fan_id,turn_time_us\n,0,1,2.5\n,0,2,3.125\n"
    )
    assert "fan_speed" in _ask(package, "inspect", data.parent)
    assert "pass" in _ask(package, "check", data.parent)


@pytest.mark.slow
def test_an_output_format_is_one_function_and_one_line(package: Path) -> None:
    add_module_of_recipe(package.parents[1], "present/tabs.py")
    (line,) = re.findall(r'`("tabs": Form\(.*?\),)`', CONTRIBUTING)
    forms = package / "present" / "forms.py"
    first = '    "csv": Form(_csv, has_findings=False),\n'
    replace_once(forms, first, f"{first}    {line}\n")
    fixture = ROOT / "fixtures" / "msprof" / "valid" / "statistic_only"
    lines = _ask(package, "hotspots", fixture, "--format", "tabs").splitlines()
    assert lines[0].split("\t")[0] == "1"
    assert "tabs" in _ask(package, "steps", "--help")


@pytest.mark.slow
def test_a_page_of_the_site_is_one_function_and_one_line(package: Path, tmp_path: Path) -> None:
    (package / "site" / "workloads.py").write_text(PAGE)
    registry, line = package / "site" / "navigation.py", "from aoe_reports.site.pages.tuning import tuning_page\n"
    replace_once(registry, line, f"{line}from aoe_reports.site.workloads import workloads\n")
    last = '    StorePage("comparisons", "compare.html", N_("Compare"), chooser_page, "choose"),\n'
    made = '    StorePage("workloads", "workloads.html", N_("Workloads"), workloads),\n'
    replace_once(registry, last, last + made)
    store, site = tmp_path / "store", tmp_path / "site"
    fixture = ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"
    _ask(package, "ingest", fixture, "--store", store, "--workload", "net", "--tz", "UTC")
    _ask(package, "site", "--store", store, "-o", site)
    told = json.loads((site / "workloads.json").read_text())
    assert told["page"] == "workloads"
    (row,) = told["rows"]
    assert row["workload"] == "net"
    page = (site / "workloads.html").read_text()
    assert "<h1>Workloads</h1>" in page
    assert '<a href="workloads.html" aria-current="page">Workloads</a>' in page
    assert row["newest_night"] in page
    assert '<a href="../workloads.html">Workloads</a>' in (site / "runs" / "index.html").read_text()


@pytest.mark.slow
def test_a_rule_of_advice_is_one_function_and_its_declaration(package: Path) -> None:
    module = package / "topics" / "advice" / "computing.py"
    function, rule = re.findall(
        r"^```python\n((?:@on_operators|Rule\().*?)^```$", CONTRIBUTING, re.MULTILINE | re.DOTALL
    )
    replace_once(module, "_PIPE_SOURCE = say(", f"{function}\n\n_PIPE_SOURCE = say(")
    text = module.read_text()
    assert text.endswith("\n)\n")
    module.write_text(text.removesuffix(")\n") + rule + ",)\n")
    fixture = ROOT / "fixtures" / "msprof" / "valid" / "two_devices_by_name"
    rows = json.loads(_ask(package, "advise", fixture, "--format", "json"))["rows"]
    rare = [row for row in rows if row["rule"] == "rare-operator"]
    assert rare
    assert {row["advice"] for row in rare} == {"It runs once: is it needed?"}
