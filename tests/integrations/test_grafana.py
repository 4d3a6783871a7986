"""The dashboards ask for what our commands print, and Grafana's own types and tools accept them."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grafana_foundation_sdk", reason="needs the dependency group integrations")

import jsonata
import yaml
from commandline import ROOT, Cli
from grafana_foundation_sdk.models.alerting import Rule
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client.openmetrics.parser import text_string_to_metric_families

pytestmark = pytest.mark.integrations

GRAFANA = ROOT / "integrations" / "grafana"
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="Debian's prometheus is not installed")
OTHERS = {"node_textfile_mtime_seconds"}
"""Metrics of node_exporter itself."""


def _maker() -> Any:
    spec = importlib.util.spec_from_file_location("make_dashboards", GRAFANA / "make_dashboards.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _board(name: str) -> dict[str, Any]:
    return json.loads((GRAFANA / name).read_text())


def _targets(board: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for panel in board["panels"]:
        yield from panel["targets"]


def _expressions() -> list[str]:
    """All PromQL of the dashboard, with every value of its variables chosen."""
    found = [target["expr"] for target in _targets(_board("regressions-prometheus.json"))]
    return [one.replace("$workload", ".*").replace("$device", ".*") for one in found]


@pytest.mark.parametrize("name", ["regressions-prometheus.json", "history-infinity.json"])
def test_the_dashboards_are_what_the_builders_of_grafana_make(name: str) -> None:
    maker = _maker()
    assert (GRAFANA / name).read_text() == maker.as_text(maker.BOARDS[name]())
    board = _board(name)
    assert Dashboard.from_json(board).title == board["title"]
    shown = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
    assert len(set(shown)) == len(shown)  # no panel lies on another


def test_every_metric_that_is_asked_for_is_printed_with_its_labels(cli: Cli, planted: Path) -> None:
    text = cli("regressions", "--store", planted, "--all", "--format", "openmetrics").out
    printed = {
        family.name: {label for one in family.samples for label in one.labels}
        for family in text_string_to_metric_families(text)
    }
    variables = [
        one["query"] for one in _board("regressions-prometheus.json")["templating"]["list"] if one["type"] == "query"
    ]
    rules = [rule["expr"] for group in _rules()["groups"] for rule in group["rules"]]
    asked = [*_expressions(), *variables, *rules]
    names = {name for one in asked for name in re.findall(r"\b(?:aoe_reports|node)_\w+", one)}
    assert names - OTHERS - set(printed) == set()
    for query in variables:
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()  # type: ignore[union-attr]
        assert label in printed[metric]
    for one in asked:
        for metric, labels in re.findall(r"(aoe_reports_\w+)\{([^}]*)\}", one):
            assert set(re.findall(r"(\w+)=", labels)) <= printed[metric]


@needs_promtool
def test_prometheus_evaluates_every_panel(cli: Cli, planted: Path, tmp_path: Path) -> None:
    text = cli("regressions", "--store", planted, "--all", "--format", "openmetrics").out
    series = [
        {"series": line.rpartition(" ")[0], "values": f"{line.rpartition(' ')[2]}x3"}
        for line in text.splitlines()
        if line[0] != "#"
    ]
    there = [
        {"expr": f"count({one}) > bool 0", "eval_time": "2m", "exp_samples": [{"labels": "{}", "value": 1}]}
        for one in _expressions()
    ]
    tests = [{"interval": "1m", "input_series": series, "promql_expr_test": there}]
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": tests}))
    ended = subprocess.run(
        [str(PROMTOOL), "test", "rules", tmp_path / "panels.yml"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(there) > 15


def test_the_queries_of_a_table_share_all_labels_or_its_rows_could_not_be_joined() -> None:
    """The name of a metric is a label, too: three metrics of one series were three rows."""
    board = _board("regressions-prometheus.json")
    tables = [panel for panel in board["panels"] if panel["type"] == "table"]
    assert len(tables) == 2
    for target in (target for panel in tables for target in panel["targets"]):
        assert target["expr"].startswith("max without (job, instance) (")
    for panel in tables:
        assert [one["id"] for one in panel["transformations"]] == ["merge", "organize"]


def _rules() -> dict[str, Any]:
    return yaml.safe_load((GRAFANA / "prometheus-rules.yml").read_text())


@needs_promtool
def test_the_alerts_fire_when_they_should() -> None:
    for command in (["check", "rules", "prometheus-rules.yml"], ["test", "rules", "prometheus-rules.test.yml"]):
        ended = subprocess.run([str(PROMTOOL), *command], cwd=GRAFANA, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr


def _as_grafana(text: str, chosen: dict[str, list[str]]) -> str:
    """Variables in the form `doublequote`, as Grafana puts them in."""
    quoted = {name: ",".join('"' + one.replace('"', '\\"') + '"' for one in values) for name, values in chosen.items()}
    return re.sub(r"\$\{(\w+):doublequote\}", lambda found: quoted[found[1]], text)


def test_every_query_of_the_history_finds_what_is_asked_for(cli: Cli, planted: Path) -> None:
    files = {
        "/steps.json": cli(
            "store", "history", "records", "--scope", "step", "--store", planted, "--format", "json"
        ).json,
        "/changes.json": cli("regressions", "--store", planted, "--format", "json").json,
    }
    board = _board("history-infinity.json")
    chosen = {}
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            query = variable["query"]["infinityQuery"]
            found = jsonata.Jsonata(query["root_selector"]).evaluate(files[query["url"]])
            chosen[variable["name"]] = sorted({one["value"] for one in found})
    assert chosen == {"workload": ['a "quoted" name/step', "net/step"], "device": ["0", "1"]}
    only = {"workload": ['a "quoted" name/step'], "device": ["1"]}
    for target in _targets(board):
        answer = files[target["url"]]
        found = jsonata.Jsonata(_as_grafana(target["root_selector"], chosen)).evaluate(answer)
        assert len(found) == len(answer["incidents" if target["root_selector"] == "incidents" else "rows"]) > 0
        assert {column["selector"] for column in target["columns"]} <= set(found[0])
        if target["root_selector"] != "incidents":
            fewer = jsonata.Jsonata(_as_grafana(target["root_selector"], only)).evaluate(answer)
            fewer = fewer if isinstance(fewer, list) else [fewer]
            named = [
                one.get("series") or f"{one['workload']} {one['hardware']} device {one['device_id']}" for one in fewer
            ]
            assert set(named) == {'a "quoted" name/step npu1 device 1'}


def test_the_rules_to_provision_are_rules_of_grafana() -> None:
    provisioned = yaml.safe_load((GRAFANA / "provisioning/alerting/aoe-reports.yaml").read_text())
    sources = yaml.safe_load((GRAFANA / "provisioning/datasources/aoe-reports.yaml").read_text())["datasources"]
    known = {source["uid"] for source in sources} | {"__expr__"}
    for rule in (rule for group in provisioned["groups"] for rule in group["rules"]):
        read = Rule.from_json(rule).to_json()
        assert [key for key in rule if key not in read] == []
        assert {query["datasourceUid"] for query in rule["data"]} <= known
        assert rule["condition"] in {query["refId"] for query in rule["data"]}
