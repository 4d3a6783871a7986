"""Each form of `regressions` of the same few rows, whole: what a CI system, a dashboard and a person are given."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from whole_texts import assert_recorded

from aoe_reports.model.classes import declared_fields
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import (
    Acknowledged,
    AlarmBudget,
    IncidentCause,
    IncidentChange,
    IncidentMember,
    MovedCost,
    OperatorChange,
    PinnedShift,
    SeriesChange,
    StepAttribution,
    SuspectedCause,
    Suspicion,
    ToldFact,
)
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.runs import IngestedRun, Stored, TuningClaim
from aoe_reports.model.texts import Language, in_language
from aoe_reports.present import REGRESSION_RENDERERS, RENDERERS
from aoe_reports.present.drawings.of_reports import figure_of
from aoe_reports.present.night import night_report
from aoe_reports.present.reports.changes import Changes
from aoe_reports.present.reports.language import drawing_in, report_in
from aoe_reports.present.reports.night_content import Hotspots, Job, Night, StoredRun, Trend, TuningRun, TypeTime
from aoe_reports.present.reports.regressions import regressions_report

EXPECTED = Path(__file__).with_name("texts_of_regressions")


def blank(kind: type[Any], /, **known: Any) -> Any:
    """A row of which only some cells are known."""
    return kind(**{**dict.fromkeys(declared_fields(kind)), **known})


ATTRIBUTION = StepAttribution(
    before_us=10_000.0,
    after_us=10_600.0,
    total_us=600.0,
    operators_us=580.0,
    other_operators_us=-20.0,
    communication_not_overlapped_us=5.0,
    free_us=None,
    unattributed_us=15.0,
    operators=(
        blank(OperatorChange, op_type="MatMul", op_name="mm", difference_us=700.0, cause="slower-calls", before_us=2000.0, after_us=2700.0, repository_run="t1", repository_night="2026-01-04"),
        blank(OperatorChange, op_type="Relu", op_name=None, difference_us=-100.0, cause="vanished", before_us=100.0, after_us=0.0),
    ),
    communication=(),
    shifts=(MovedCost(from_=("Relu",), to=("Gelu", "Tanh"), moved_us=1234.5),),
    left_out_nights=(),
)  # fmt: skip
STEP: SeriesChange = blank(
    SeriesChange, series_id="s1", workload="net/step", scope="step", hardware="npu", rank_id=0, device_id=4, state="confirmed", since_run="20260105T020000-abc", since="2026-01-05", before=10.0, after=10.6, change=0.06, ci_low=0.05, ci_high=0.07, smallest_detectable=0.013, nights=30, left_out=1, last_night="2026-01-09", ended=False, impact_ms=0.6, incident="i1", first_since="2026-01-04", new=True, moves=(), metadata=(), attribution=ATTRIBUTION, fails="regression",
)  # fmt: skip
OPERATOR: SeriesChange = blank(
    SeriesChange, series_id="s2", workload="net/op/mm", scope="op", op_type="MatMul", op_name="mm", hardware="npu", state="drift", since="2026-01-06", before=2.0, after=2.5, change=0.25, smallest_detectable=0.02, nights=29, left_out=0, last_night="2026-01-08", ended=True, impact_ms=1.5, incident="i2", new=False, acknowledged=Acknowledged(kind="ack", id="a1", who="me", when="2026-01-07T10:00:00", reason="known"), moves=(), metadata=(),
)  # fmt: skip
SUSPECT: SeriesChange = replace(STEP, series_id="s3", workload="bert/step", state="suspect", since="2026-01-09", since_run="odd", ci_low=None, incident=None, rank_id=None, device_id=None, attribution=None, fails=None, first_since=None, suspicion=Suspicion(since="2026-01-09", change=0.06))  # fmt: skip
QUICKER: SeriesChange = replace(STEP, series_id="s4", workload="gpt/step", state="improved", before=10.0, after=9.0, change=-0.1, ci_low=-0.11, ci_high=-0.09, incident="i3", attribution=None, fails=None)  # fmt: skip
UNKNOWN: SeriesChange = blank(SeriesChange, series_id="s5", workload="rnn/step", scope="step", nights=3, left_out=0, reason="few-nights", ended=False, new=False, moves=(), metadata=())  # fmt: skip
ROWS = [STEP, OPERATOR, SUSPECT, QUICKER, UNKNOWN]
CAUSE = IncidentCause(
    kind="operator",
    model="net",
    rank_id=3,
    op_type="MatMul",
    op_name="mm",
    change=0.35,
    followers=2,
    members=3,
    step_share=0.0125,
)


def member(row: SeriesChange) -> IncidentMember:
    names = declared_fields(IncidentMember)
    known = {name: getattr(row, name) for name in declared_fields(SeriesChange) if name in names}
    found: IncidentMember = blank(IncidentMember, **{**known, "model": row.workload.partition("/")[0], "open": row.fails is not None})  # fmt: skip
    return found


def incident(row: SeriesChange, **more: Any) -> IncidentChange:
    known: dict[str, Any] = {"incident": row.incident, "title": f"{row.workload} {row.state}", "since": row.since, "since_run": row.since_run, "model": "net", "models": ("net",), "hardware": "npu", "change": row.change, "impact_ms": row.impact_ms, "open": False, "new": False, "metadata": (), "causes": (), "members": (member(row),)}  # fmt: skip
    found: IncidentChange = blank(IncidentChange, **{**known, **more})
    return found


FACTS = (ToldFact(name="cann", before="8.0", after="8.1", seen="first"),)
INCIDENTS = [
    incident(STEP, open=True, new=True, models=("net", "bert"), causes=(CAUSE,), metadata=FACTS, members=(member(STEP), member(OPERATOR))),
    incident(replace(STEP, incident="i4", impact_ms=0.2), open=True, model=None),
    incident(OPERATOR),
    incident(QUICKER, new=True),
    incident(replace(QUICKER, incident="i5")),
]  # fmt: skip
SUSPICION = SuspectedCause(title="bert slower", since="2026-01-09", models=("bert",), hardware="npu", cause=CAUSE, past=False, metadata=FACTS, series=("s3",))  # fmt: skip
BUDGET = AlarmBudget(false_alarms_per_year=0.5, series=7, eligible=5, detector=3, baseline="last", whole_history=False)
FINDING = Finding("warning", "not-enough-data", "store", "2 series have too few nights: 30% <done>")
CHANGES = Changes(
    ROWS,
    BUDGET,
    [FINDING],
    ["regression", "not-enough-data", "damage"],
    "s3://bucket/a b",
    "1.2",
    "Head, line: 5%",
    "Failed.",
    INCIDENTS,
    [SUSPICION, replace(SUSPICION, title="past one", past=True)],
)


def told(form: str) -> str:
    if form in REGRESSION_RENDERERS:
        return REGRESSION_RENDERERS[form](CHANGES)
    report = regressions_report(
        ROWS, incidents=INCIDENTS, suspicions=CHANGES.suspicions, observations=(), budget=BUDGET, remark=None
    )
    text = RENDERERS[form](report)
    return text[text.index("<body") :] if form == "html" else text


@pytest.mark.parametrize("form", [*REGRESSION_RENDERERS, "text", "markdown", "html"])
def test_a_form_says_all_of_this(form: str) -> None:
    assert_recorded(EXPECTED, {form: told(form)})


def claim(name: str, before_us: float, after_us: float) -> Stored[TuningClaim]:
    told: TuningClaim = blank(TuningClaim, run="t1", scope="operator", name=name, op_type="MatMul", claimed_before_us=before_us, claimed_after_us=after_us, speed_up=before_us / after_us - 1, unmeasured=False)  # fmt: skip
    return Stored(row=told, document={})


MOVES = (PinnedShift(since="2026-01-05", since_run="r5", state="confirmed", before=10.0, after=10.6, change=0.06, ci_low=0.05, ci_high=0.07, incident="i1"),)  # fmt: skip
NIGHT = Night(
    night="2026-01-09",
    workload="net",
    changes=[replace(STEP, moves=MOVES), *ROWS[1:], replace(STEP, series_id="s6", workload="bert/step", new=False, incident="i1", attribution=replace(ATTRIBUTION, shifts=()))],
    incidents=INCIDENTS,
    suspicions=CHANGES.suspicions,
    budget=replace(BUDGET, baseline="nights:5"),
    least_nights=10,
    trend=Trend("s1", "net/step", "net", 0, 4, ["2026-01-02", "2026-01-04", "2026-01-05", "2026-01-09"], [10.1, 9.9, 10.5, 10.7]),
    hotspots=Hotspots("r9", "net", 2, [TypeTime(position=1, op_type="MatMul", task_type="AI_CORE", count=6, total_us=600.0, mean_us=100.0, share=0.75), TypeTime(position=2, op_type="Cast", task_type="AI_CPU", count=12_000, total_us=200.0, mean_us=None, share=0.25)], 800.0),
    tunings=[blank(TuningRun, night="2026-01-09", run="t1", workload="net", kind="opat", tuning_name="net", status="tuning successful", modified=2, before_ms=10.0, after_ms=8.0, speed_up=0.25), blank(TuningRun, night="2026-01-09", run="t2", workload="bert", kind="sgat", status="tuning failed")],
    claims=[claim("mm", 900.0, 600.0), claim("nn", 90.0, 89.0)],
    verdicts=[blank(ListedVerdict, night="2026-01-09", job="v1", workload="net", scope="operator", op_name="mm", verdict="not-reproduced", measured_before_us=900.0, measured_after_us=899.0, change=-0.0011, ci_low=-0.01, ci_high=0.01, claimed_change=-0.3333, reason="within the noise")],
    runs=[blank(StoredRun, night="2026-01-09", run="r9", kind="profile", workload="net", hardware="npu", step_ms=10.7, status="ok", path="/nights/net"), blank(StoredRun, night="2026-01-09", run="t1", kind="tuning", workload="net", status="tuning successful", path="/nights/aoe.json")],
    findings=[FINDING, Finding("error", "csv-ragged-row", "/nights/net/op.csv", "a row is short", line=7, column=3)],
    others=["gpt", "rnn"],
    later=["2026-01-10"],
    missing=["lstm"],
)  # fmt: skip
OF_JOB = replace(NIGHT, job=Job([blank(IngestedRun, night="2026-01-09", run="r9", kind="profile", workload="net", hardware="npu", records=12, step_ms=10.7, outcome="added", status="ok", path="/nights/net"), blank(IngestedRun, night="2026-01-09", run="r8", kind="profile", workload="net", records=1, outcome="unchanged", status="incomplete", path="/nights/old")], simulated=True))  # fmt: skip
QUIET = replace(OF_JOB, changes=(), incidents=(), suspicions=(), trend=replace(NIGHT.trend, nights=["2026-01-09"], values=[10.7]))  # type: ignore[type-var] # fmt: skip


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_report_of_a_night_says_all_of_this(form: str, language: Language) -> None:
    said = {}
    for name, night in (("night", NIGHT), ("job", OF_JOB), ("quiet", QUIET)):
        if form == "text" or (name == "job" and language == "en"):
            text = RENDERERS[form](report_in(night_report(night), language))
            if form == "html":
                text = re.sub(r"<svg.*</svg>", "(a drawing)", text[text.index("<body") :])
            said[f"{name}.{language}.{form}"] = text
    assert_recorded(EXPECTED.with_name("texts_of_nights"), said)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pictures_of_a_night_say_all_of_this(language: Language) -> None:
    charts = [one.chart for one in night_report(NIGHT).sections if one.chart is not None]
    assert len(charts) == 3
    words = []
    for chart in charts:
        figure = figure_of(drawing_in(chart, language), language)
        written = ["".join([*one.itertext()][-1:]) for one in ET.fromstring(figure.svg).iter("text")]
        words.append(" | ".join([figure.title, figure.subtitle, *written, *(entry for _, entry in figure.legend)]))
        words.append(str(in_language(chart.description, language)))
    assert_recorded(EXPECTED.with_name("texts_of_nights"), {f"pictures.{language}": "\n".join(words) + "\n"})


@pytest.mark.parametrize(("length", "is_cut"), [(100, False), (101, True)])
def test_a_tag_for_grafana_has_a_hundred_characters(length: int, is_cut: bool) -> None:
    name = "x" * length
    other = f"{name[:-1]}y"
    rows = [replace(STEP, hardware=one) for one in (name, other)]
    found = json.loads(REGRESSION_RENDERERS["grafana"](replace(CHANGES, rows=rows)))
    tags = {tag.removeprefix("hardware:") for one in found for tag in one["tags"] if tag.startswith("hardware:")}
    assert {len(tag) for tag in tags} == {100}
    assert len(tags) == 2, "two names stay two"
    assert (tags == {name, other}) is not is_cut
    assert all(tag.startswith("x" * 91) and (tag[91] == "~") is is_cut for tag in tags)


def test_what_got_quicker_is_no_alert_of_code_scanning() -> None:
    """Whatever it is called; nor is what came back to a level."""
    rows = [
        replace(SUSPECT, change=-0.1),
        replace(OPERATOR, change=0.0),
        replace(STEP, change=-0.01),
        replace(QUICKER, change=0.01),
        replace(STEP, state="recovered"),
        UNKNOWN,
    ]
    told = json.loads(REGRESSION_RENDERERS["sarif"](replace(CHANGES, rows=rows)))
    assert told["runs"][0]["results"] == []
