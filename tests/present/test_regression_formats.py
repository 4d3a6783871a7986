"""`regressions` for CI systems and dashboards, each form read by somebody else's parser; hostile names in all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from captures import AFTER, BEFORE, FIRST, QUIET, changed, write_night
from commandline import Cli
from documents import check_sarif_schema
from jsonschema_rs import Draft202012Validator
from junitparser import Failure, JUnitXml, Skipped, TestSuite
from markdown_it import MarkdownIt
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_prometheus
from stores import store_at_once

from aoe_reports.history.changes.regressions import find_regressions
from aoe_reports.history.options import RegressionOptions
from aoe_reports.model.findings import Finding
from aoe_reports.present import REGRESSION_RENDERERS
from aoe_reports.present.reports.changes import Changes
from aoe_reports.present.values import plain
from aoe_reports.topics.records.options import RecordOptions

FORMATS = tuple(REGRESSION_RENDERERS)
MODEL = 'net <script>alert("1")</script> |x| \x1b[31m `b` \u202e ]]> {0} [a](http://b) \\ $1$'
ODD = MODEL.replace("net", "conv") + " # EOF - &amp; 'q' 中文 \ufffe"
LONG = "op" * 2048
FACTS = ("workload", "scope", "op_type", "op_name", "hardware", "state", "series_id")
# The body of POST /api/annotations and the limits of its tags: https://grafana.com/docs/grafana/latest/developers/http_api/annotations/
# and grafana/grafana, pkg/services/sqlstore/migrations/tag_mig.go
ANNOTATIONS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["time", "tags", "text"],
        "additionalProperties": False,
        "properties": {
            "dashboardUID": {"type": "string"},
            "panelId": {"type": "integer"},
            "time": {"type": "integer", "minimum": 10**12},
            "timeEnd": {"type": "integer", "minimum": 10**12},
            "tags": {"type": "array", "items": {"type": "string", "pattern": "^[^:]{1,100}(:.{1,100})?$"}},
            "text": {"type": "string", "minLength": 1},
        },
    },
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Nights with odd names: quiet ones, with two slow ones behind them, with enough of these; and three nights."""
    folder = tmp_path_factory.mktemp("odd")
    odd = [replace(QUIET.kernels[0], name=ODD, op_type="T" + ODD), replace(QUIET.kernels[2], name=LONG)]
    quiet = changed(*odd, gone=["conv", "matmul"])
    slow = changed(replace(odd[0], us=1200.0), replace(odd[1], us=750.0), gone=["conv", "matmul", "softmax"])
    found = {}
    for name, before, after in (("quiet", BEFORE, 0), ("suspect", BEFORE, 2), ("slow", BEFORE, AFTER), ("few", 3, 0)):
        nights = folder / f"nights-{name}"
        for number in range(before + after):
            write_night(nights, number, quiet if number < before else slow)
        found[name] = folder / f"st {name}"
        store_at_once([nights], found[name], RecordOptions(workload=MODEL))
    return found


def rows_of(cli: Cli, *asked: object) -> list[dict[str, Any]]:
    return cli("regressions", *asked, "--format", "json").json["rows"]


def junit_of(text: str) -> TestSuite:
    (suite,) = JUnitXml.fromstring(text.encode())
    cases = list(suite)
    results = [result for case in cases for result in case.result]
    assert suite.tests == len(cases)
    assert suite.failures == sum(isinstance(one, Failure) for one in results)
    assert suite.skipped == sum(isinstance(one, Skipped) for one in results)
    assert len({(case.classname, case.name) for case in cases}) == len(cases)
    return suite


ASKED: list[tuple[str, list[str], int]] = [
    ("slow", [], 1),
    ("slow", ["--all"], 1),
    ("slow", ["--gate", "scope=op,effect>=30%"], 1),
    ("slow", ["--gate", "scope=op,effect>=90%"], 0),
    ("slow", ["--fail-on", "never"], 0),
    ("slow", ["--scope", "communication"], 0),
    ("suspect", [], 0),
    ("suspect", ["--fail-on", "suspect"], 5),
    ("quiet", ["--all"], 0),
    ("few", ["--all"], 0),
    ("few", ["--strict-data"], 4),
]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("name", "options", "code"),
    [("slow", ["--all"], 1), ("suspect", ["--fail-on", "suspect"], 5), ("few", ["--strict-data"], 4)],
)
def test_the_form_changes_no_exit_code(
    cli: Cli, stores: dict[str, Path], form: str, name: str, options: list[str], code: int
) -> None:
    ended = cli("regressions", "--store", stores[name], *options, "--format", form)
    assert ended.code == code
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", ended.out + ended.err)


@pytest.mark.parametrize(("name", "options", "code"), ASKED)
def test_junit_and_sarif_say_what_fails(
    cli: Cli, stores: dict[str, Path], name: str, options: list[str], code: int
) -> None:
    asked = ("regressions", "--store", stores[name], *options, "--format")
    answered, junit, sarif = (cli(*asked, form) for form in ("json", "junit", "sarif"))
    assert (answered.code, junit.code, sarif.code) == (code, code, code)
    check_junit(junit.out, answered.json["rows"], code)
    check_sarif(sarif.json, answered.json["rows"], name)


def check_junit(text: str, told: list[dict[str, Any]], code: int) -> None:
    """A failure where the command fails."""
    suite = junit_of(text)
    assert (suite.failures > 0) == (code != 0)
    rows = {f"{row['workload']} [{row['series_id']}]": row for row in told}
    by_row = {case.name: case for case in suite if case.classname != "store"}
    assert set(by_row) == {spelled_out(one) for one in rows}
    for one, row in rows.items():
        kinds = [type(result) for result in by_row[spelled_out(one)].result]
        if row["fails"]:
            assert kinds == [Failure]
        elif row["state"] == "suspect" or row["reason"]:
            assert kinds == [Skipped]
        else:
            assert kinds == []
    assert [case.name for case in suite if case.classname == "store"] == (["not-enough-data"] if code == 4 else [])


def spelled_out(text: str) -> str:
    """As every form shows a name; XML has no character U+FFFE, either."""
    return plain(text).replace("\ufffe", "\\xfffe")


def test_junit_tells_where_the_change_of_the_step_is(cli: Cli, stores: dict[str, Path]) -> None:
    suite = junit_of(cli("regressions", "--store", stores["slow"], "--format", "junit").out)
    (step,) = [case for case in suite if case.classname == "step"]
    (failure,) = step.result
    assert failure.type == "confirmed"
    assert spelled_out(ODD) in failure.text
    assert "slower-calls" in failure.text
    assert "vanished" in failure.text


def check_sarif(document: dict[str, Any], told: list[dict[str, Any]], name: str) -> None:
    """What its schema says."""
    check_sarif_schema(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    rows = [row for row in told if row["state"] in {"confirmed", "drift", "suspect"} and row["change"] > 0]
    assert len(run["results"]) == len(rows)
    for result, row in zip(run["results"], rows, strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"] == f"series-{row['state']}"
        assert (result["level"] == "error") == bool(row["fails"])
        (place,) = result["locations"]
        assert place["logicalLocations"][0]["fullyQualifiedName"] == plain(row["workload"])
        assert place["physicalLocation"]["artifactLocation"]["uri"].endswith(f"/st%20{name}/")
    notes = [one["descriptor"]["id"] for one in run["invocations"][0]["toolExecutionNotifications"]]
    assert notes == (["not-enough-data"] if name == "few" else [])


def test_sarif_takes_the_store_as_it_is_named(
    cli: Cli, stores: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(stores["slow"].parent)
    (artifact,) = cli("regressions", "--store", "st slow", "--format", "sarif").json["runs"][0]["artifacts"]
    assert artifact["location"] == {"uri": "st%20slow/", "uriBaseId": "%SRCROOT%"}


@pytest.mark.parametrize(
    ("read", "name", "options"),
    [
        (read_openmetrics, "slow", []), (read_prometheus, "slow", ["--all"]), (read_prometheus, "suspect", []),
        (read_openmetrics, "few", ["--all"]),
    ],
)  # fmt: skip
def test_openmetrics_is_read_back(
    cli: Cli, stores: dict[str, Path], read: Callable[[str], Any], name: str, options: list[str]
) -> None:
    asked = ("--store", stores[name], *options)
    text = cli("regressions", *asked, "--format", "openmetrics").out
    assert text.endswith("\n# EOF\n")
    families = {family.name: family for family in read(text)}
    assert {family.type for family in families.values()} == {"gauge"}
    assert all(family.documentation for family in families.values())
    assert all(sample.timestamp is None for family in families.values() for sample in family.samples)
    rows = rows_of(cli, *asked)
    samples = families["aoe_reports_series_change_ratio"].samples
    changed_rows = [row for row in rows if row["change"] is not None]
    assert len(samples) == len(changed_rows)
    for sample, row in zip(samples, changed_rows, strict=True):
        assert sample.value == pytest.approx(row["change"])
        assert {key: sample.labels[key] for key in FACTS} == {key: plain(row[key] or "") for key in FACTS}
    for sample in families["aoe_reports_changed_series"].samples:
        assert sample.value == sum(row["state"] == sample.labels["state"] for row in rows)
    (eligible,) = families["aoe_reports_eligible_series"].samples
    assert eligible.value == (0 if name == "few" else 11 if name == "quiet" else eligible.value)
    if changed_rows:
        since = families["aoe_reports_series_since_timestamp_seconds"].samples[0].value
        assert f"{datetime.fromtimestamp(since, UTC):%Y-%m-%d}" == changed_rows[0]["since"]


def test_incidents_alone_are_few_metrics(cli: Cli, stores: dict[str, Path]) -> None:
    asked = ("regressions", "--store", stores["slow"], "--format", "openmetrics")
    whole = {family.name: family for family in read_openmetrics(cli(*asked).out)}
    alone = {family.name: family for family in read_openmetrics(cli(*asked, "--incidents-only").out)}
    assert {name for name in whole if name not in alone} == {
        f"aoe_reports_series_{name}"
        for name in (
            "change_ratio",
            "before_seconds",
            "after_seconds",
            "smallest_detectable_ratio",
            "since_timestamp_seconds",
        )
    }
    assert all(alone[name].samples == whole[name].samples for name in alone)
    assert alone["aoe_reports_incident_change_ratio"].samples
    ended = cli(*asked[:-1], "json", "--incidents-only")
    assert (ended.code, "--incidents-only applies to --format openmetrics" in ended.err) == (2, True)


def test_openmetrics_units_end_the_names(cli: Cli, stores: dict[str, Path]) -> None:
    families = read_openmetrics(cli("regressions", "--store", stores["slow"], "--format", "openmetrics").out)
    units = {family.name: family.unit for family in families if family.unit}
    assert set(units.values()) == {"ratio", "seconds"}
    assert all(name.endswith(f"_{unit}") for name, unit in units.items())


@pytest.mark.parametrize("options", [[], ["--all"]])
def test_grafana_takes_every_change_as_an_annotation(cli: Cli, stores: dict[str, Path], options: list[str]) -> None:
    asked = ("--store", stores["slow"], *options)
    found = json.loads(cli("regressions", *asked, "--format", "grafana").out)
    Draft202012Validator(ANNOTATIONS).validate(found)
    rows = [row for row in rows_of(cli, *asked) if row["state"]]
    assert len(found) == len(rows)
    since = FIRST.timestamp() + BEFORE * 86_400
    assert {one["time"] for one in found} == {int(since) * 1000}
    assert {tag for one in found for tag in one["tags"] if tag.startswith("series_id:")} == {
        f"series_id:{row['series_id']}" for row in rows
    }
    assert not any(re.search(r"<(?!br>)", one["text"]) for one in found)
    assert any(LONG in one["text"] for one in found)


@pytest.mark.parametrize("name", ["slow", "suspect", "quiet", "few"])
def test_markdown_is_a_summary_without_markup_from_outside(cli: Cli, stores: dict[str, Path], name: str) -> None:
    text = cli("regressions", "--store", stores[name], "--all", "--format", "markdown").out
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or []]
    kinds = {token.type for token in (*tokens, *inline)}
    assert not kinds & {"html_block", "html_inline", "link_open", "code_inline", "code_block", "em_open", "image", "hr"}
    rows = [index for index, token in enumerate(tokens) if token.type == "tr_open"]
    assert len(rows) > 1
    shown = "".join(child.content for child in inline)
    assert plain(MODEL) in shown
    heads = [token.content for token in tokens if token.type == "inline" and token.level == 1]
    first = cli("regressions", "--store", stores[name], "--all").out.splitlines()[0]
    assert heads[1] == "Regressions"
    assert shown.startswith(first)


LINES = "a\n# EOF\r\nb\u2028c\x00\udcff"


def test_line_ends_in_names_end_no_line(stores: dict[str, Path]) -> None:
    """No CSV brings them, records of others may."""
    odd = {"workload": LINES, "op_name": LINES, "op_type": LINES, "hardware": LINES}
    told = find_regressions(str(stores["slow"]), RegressionOptions())
    rows = [replace(row, **odd) for row in told.rows]
    findings = [Finding("warning", "not-enough-data", LINES, LINES)]
    changes = Changes(rows, told.budget, findings, ["regression"], "s3://bucket/a b\n", "0")
    made = {name: render(changes) for name, render in REGRESSION_RENDERERS.items()}
    assert not any(re.search(r"[\x00-\x09\x0b-\x1f\u2028]|^b", text, re.MULTILINE) for text in made.values())
    assert len(list(junit_of(made["junit"]))) == len(rows)
    sarif = json.loads(made["sarif"])
    check_sarif_schema(sarif)
    assert sarif["runs"][0]["artifacts"][0]["location"] == {"uri": "s3://bucket/a%20b%0A"}
    families = {family.name: family for family in read_openmetrics(made["openmetrics"])}
    labels = [sample.labels["workload"] for sample in families["aoe_reports_series_change_ratio"].samples]
    assert labels == [plain(LINES)] * len(rows)
    Draft202012Validator(ANNOTATIONS).validate(json.loads(made["grafana"]))


def test_an_empty_answer_is_an_answer(cli: Cli, stores: dict[str, Path]) -> None:
    asked = ("regressions", "--store", stores["quiet"], "--format")
    assert junit_of(cli(*asked, "junit").out).tests == 0
    assert cli(*asked, "sarif").json["runs"][0]["results"] == []
    assert json.loads(cli(*asked, "grafana").out) == []
    families = {family.name: family for family in read_openmetrics(cli(*asked, "openmetrics").out)}
    assert families["aoe_reports_series_change_ratio"].samples == []
    assert [sample.value for sample in families["aoe_reports_changed_series"].samples] == [0] * 5
