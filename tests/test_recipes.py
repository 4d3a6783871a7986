"""Recipes of CONTRIBUTING, followed in a copy of the package: a question, a table, an output format, a page, a rule of advice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commandline import ROOT
from copies import copied_package, replace_once, run_in_copy

TABLE = '''"""fan_speed: how fast the fans turn."""

from __future__ import annotations

from aoe_reports.formats.table import Table, device, duration, integer
from aoe_reports.model.texts import say

FAN_SPEED = Table(
    name="fan_speed",
    title=say("how fast the fans turn"),
    columns=(device(), integer("fan_id", "Fan"), duration("turn_time", "Turn Time", needed=True)),
    vintages=(("2026-01", "Turn Time(us)"),),
)
'''
FORM = '''"""Rows with tabs between their cells."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.present.forms import Shown


def render(shown: Shown) -> Iterator[str]:
    """The first table of an answer."""
    for row in shown.answer.tables[0].mappings():
        yield "\\t".join(map(str, row.values())) + "\\n"
'''
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
ADVICE = """@on_operators
def _rare(facts: Facts, bounds: OperatorBounds, thresholds: Thresholds) -> Iterator[Advice]:
    once = bounds.count == 1
    for subject in _subjects(bounds, once, bounds.total_ns, _least(facts, thresholds)):
        yield _on_type(facts, bounds, "rare-operator", subject, say("It runs once: is it needed?"))


"""
RULE = """
    Rule(
        "rare-operator",
        say("an operator that runs once"),
        "What runs once may be left over",
        say("own choice"),
        ("least_operator_share",),
        _rare,
    ),
)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package."""
    return copied_package(tmp_path)


def _ask(package: Path, *arguments: object) -> str:
    ended = run_in_copy(package.parents[1], *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_question_is_one_module_and_one_line(package: Path) -> None:
    """The module stands in CONTRIBUTING as a whole."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    (question,) = re.findall(
        r"^```python\n# src/aoe_reports/topics/device_time/longest.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    (package / "topics" / "device_time" / "longest.py").write_text(question)
    (line,) = re.findall(r'`("longest": Entry\(.*?\)\),)`', page)
    first = '            "steps": Entry("topics.steps.steps:Steps"'
    replace_once(package / "cli" / "menu.py", first, f"            {line}\n{first}")
    fixture = ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"
    answer = json.loads(_ask(package, "longest", fixture, "--top", "1", "--rank", "0", "--format", "json"))
    assert [(row["op_name"], row["duration_us"]) for row in answer["rows"]] == [("hcom_allReduce__586_1_1", 793.839)]
    assert "Longest tasks" in _ask(package, "longest", fixture)


@pytest.mark.slow
def test_a_kind_of_table_is_one_declaration_and_one_line(package: Path, tmp_path: Path) -> None:
    tables = package / "formats" / "ascend" / "tables"
    (tables / "fan_speed.py").write_text(TABLE)
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
    (package / "present" / "tabs.py").write_text(FORM)
    forms = package / "present" / "forms.py"
    replace_once(
        forms,
        '    "csv": Form(_csv, has_findings=False),\n',
        '    "csv": Form(_csv, has_findings=False),\n    "tabs": Form(_in("tabs"), has_findings=False),\n',
    )
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
    replace_once(module, "_PIPE_SOURCE = say(", f"{ADVICE}_PIPE_SOURCE = say(")
    text = module.read_text()
    assert text.endswith("\n)\n")
    module.write_text(text.removesuffix("\n)\n") + RULE)
    fixture = ROOT / "fixtures" / "msprof" / "valid" / "two_devices_by_name"
    rows = json.loads(_ask(package, "advise", fixture, "--format", "json"))["rows"]
    rare = [row for row in rows if row["rule"] == "rare-operator"]
    assert rare
    assert {row["advice"] for row in rare} == {"It runs once: is it needed?"}
