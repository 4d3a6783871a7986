"""Sections of a night: how many rows are listed, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from aoe_reports.model.classes import declared_fields
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.advice import AdviceSummary, StoredAdviceRow, StoredCandidate
from aoe_reports.model.history.changes import AlarmBudget
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.runs import IngestedRun
from aoe_reports.model.report import Chart, Grid, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.present import RENDERERS
from aoe_reports.present.drawings.of_reports import figure_of
from aoe_reports.present.html import LONG
from aoe_reports.present.night import headline, night_report
from aoe_reports.present.reports.night_content import (
    Hotspots,
    Job,
    Night,
    StoredAdviceOfRun,
    StoredRun,
    Trend,
    TuningRun,
    TypeTime,
)
from aoe_reports.present.reports.night_runs import (
    SHOWN_ADVICE,
    SHOWN_RUNS,
    SHOWN_VERDICTS,
    advice_sections,
    read_section,
    verdict_sections,
)
from aoe_reports.present.reports.tuning import TuningTask, overview_sections


def filled(kind: type[Any], **values: Any) -> Any:
    """A row of which only some cells are known."""
    return kind(**{**dict.fromkeys(declared_fields(kind)), **values})


def advised(count: int = 2, devices: int = 1, headline: str | None = "go", **summary: Any) -> StoredAdviceOfRun:
    headlines = () if headline is None else ({"headline": headline},)
    return StoredAdviceOfRun(
        run="r",
        model="net",
        summary=AdviceSummary(found=count, devices=devices, headlines=headlines, **summary),
        advice=[filled(StoredAdviceRow, rule=f"r{number % 2}", advice=f"do {number % 2}", op_name=str(number)) for number in range(count)],
        stated=[filled(StoredAdviceRow, rule=f"s{number}", advice="x") for number in range(count)],
        candidates=[filled(StoredCandidate, op_name=str(number)) for number in range(count)],
    )  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, SHOWN_ADVICE, SHOWN_ADVICE + 1])
def test_the_first_advice_is_shown_and_all_of_it_counted(count: int) -> None:
    (section,) = advice_sections(advised(count))
    shown = min(count, SHOWN_ADVICE)
    assert section.sentences[0] == "Run r (net): go."
    assert (len(section.grid.rows) if section.grid else 0) == shown
    said = [f"The {shown} with the largest bound of {count}. "] if count else []
    assert [one[: len(said[0])] for one in section.sentences[1:]] == said
    rules = [f"r{number}: do {number}." for number in range(min(shown, 2))]
    assert section.lines == [*rules, *(f"msprof (prof_rule), s{number}: x" for number in range(shown))]


@pytest.mark.parametrize(
    ("devices", "headline", "said"),
    [(1, "go", "Run r (net): go."), (2, "go", "Run r (net): go (the longest step of 2 devices)."), (2, None, "Run r (net).")],
)  # fmt: skip
def test_where_to_look_first_is_said_of_one_run(devices: int, headline: str | None, said: str) -> None:
    (section,) = advice_sections(advised(0, devices, headline))
    assert section.sentences == [said]


def test_why_there_is_no_advice_is_said() -> None:
    (section,) = advice_sections(advised(1, why_not="no tasks"))
    assert section.sentences == ["No advice could be derived from run r: no tasks."]
    assert section.grid is None


@pytest.mark.parametrize("count", [0, 1, SHOWN_ADVICE + 2])
def test_the_plan_shows_its_first_candidates(count: int) -> None:
    _, section = advice_sections(advised(count, plan={"headline": "tune", "candidates": 40}))
    shown = min(count, SHOWN_ADVICE)
    said = [f"The first {shown} of 40; expected and bound are per step."] if count else []
    assert section.sentences == ["tune", *said]
    assert (len(section.grid.rows) if section.grid else 0) == shown


@pytest.mark.parametrize("count", [0, 1, SHOWN_VERDICTS, SHOWN_VERDICTS + 1])
def test_the_first_verdicts_are_shown(count: int) -> None:
    sections = verdict_sections([filled(ListedVerdict, op_name=str(number), verdict="confirmed") for number in range(count)])  # fmt: skip
    assert len(sections) == bool(count)
    for section in sections:
        assert section.grid is not None
        assert [row["op_name"] for row in section.grid.rows] == [str(n) for n in range(min(count, SHOWN_VERDICTS))]
        assert section.sentences[0].endswith(f" The first {SHOWN_VERDICTS} of {count} rows.") is (count > SHOWN_VERDICTS)  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, SHOWN_RUNS, SHOWN_RUNS + 1])
def test_the_newest_runs_that_were_read_are_listed(count: int) -> None:
    rows = [filled(IngestedRun, run=str(number), outcome="added" if number else "known", status="incomplete" if number < 2 else None) for number in range(count)]  # fmt: skip
    section = read_section(Job(rows))
    outcomes = "none" if not count else "1 known" if count == 1 else f"{count - 1} added, 1 known"
    runs = "1 run" if count == 1 else f"{count} runs"
    assert section.sentences[0] == f"{runs} read: {outcomes}. The step time is that of the slowest rank."
    cut = {0: [], 1: ["1 run of them truncated: not compared."]}.get(count, ["2 runs of them truncated: not compared."])
    newest = [f"The newest {SHOWN_RUNS} are listed."] if count > SHOWN_RUNS else []
    assert section.sentences[1:] == [*cut, *newest]
    listed = [] if section.grid is None else [row["run"] for row in section.grid.rows]
    assert listed == [str(number) for number in range(count)][-SHOWN_RUNS:]


@pytest.mark.parametrize(
    ("kind", "length", "looks"),
    [("text", LONG, "text"), ("text", LONG + 1, "text long"), ("integer", LONG + 1, "number"), ("word", LONG + 1, "text long"), ("word", LONG, None)],
)  # fmt: skip
def test_a_long_text_gets_a_wider_column(kind: Any, length: int, looks: str) -> None:
    value: Any = "x" * length if kind != "integer" else 10 ** (length - 1)
    page = RENDERERS["html"](Report("t", "h", [Section("s", [], Grid((Column("a", "A", kind),), [{"a": value}]))]))
    assert ("<td>" if looks is None else f'<td class="{looks}"') in page


@pytest.mark.parametrize(("marked", "said"), [("2026-01-02", True), ("2026-01-09", False), (None, False)])
def test_a_picture_of_nights_marks_the_one_that_is_there(marked: str | None, said: bool) -> None:
    nights = ["2026-01-01", "2026-01-02", "2026-01-03"]
    picture = figure_of(Chart("t", nights, {"a": [1.0, 2.0, None]}, "ms", "d", marked, "s"), "en").svg
    assert (f"since {marked}" in picture) is said


BUDGET = AlarmBudget(false_alarms_per_year=2.0, series=1, eligible=1, detector=1, baseline="previous", whole_history=False)  # fmt: skip
TREND = Trend("s", "net/step", "net", None, None, ["2026-01-01", "2026-01-02"], [10.0, 10.5])
KIND = filled(TypeTime, position=1, op_type="MatMul", count=3, total_us=5.0, share=1.0)


def titles(**known: Any) -> list[str]:
    """The titles of the sections of a night of which so much is known."""
    return [
        section.title for section in night_report(Night(**{"night": "2026-01-02", "budget": BUDGET, **known})).sections
    ]


def test_a_night_has_a_section_for_what_is_known() -> None:
    plain = titles()
    assert plain[-1] != ""
    more = {
        "trend": TREND,
        "hotspots": Hotspots("r", "net", 1, [KIND], 5.0),
        "advised": advised(1, plan={"headline": "tune"}),
        "verdicts": [filled(ListedVerdict, op_name="a", verdict="confirmed")],
        "tunings": [filled(TuningRun, run="t", status="successful")],
        "runs": [filled(StoredRun, run="r", night="2026-01-02")],
    }
    new = {name: [title for title in titles(**{name: value}) if title not in plain] for name, value in more.items()}
    assert new["advised"] == ["Potential gains", "Next tuning plan"]
    assert new["verdicts"] == ["Claimed vs measured"]
    assert new["tunings"] == ["Claims by AOE"]
    assert len(new["trend"]) == 1
    assert [title for title in titles(**more) if title not in plain] == [*new["trend"], *new["hotspots"], *new["advised"], *new["tunings"], *new["verdicts"]]  # fmt: skip
    assert [
        title for title in titles(trend=Trend("s", "net/step", "net", None, None, [], [])) if title not in plain
    ] == []


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"night": None}, "The store is empty: no run is stored."),
        ({"night": None, "job": Job(())}, "Nothing was stored: nothing was found"),
        ({"night": None, "job": Job(()), "findings": [Finding("warning", "r", "p", "odd"), Finding("error", "r", "p", "broken")]}, "Nothing was stored: broken"),
        ({"budget": None}, "Nothing was measured."),
        ({}, "No regression: no series changed."),
        ({"remark": "one night only"}, "One night only."),
    ],
)  # fmt: skip
def test_the_headline_of_a_night_of_which_little_is_known(known: dict[str, Any], said: str) -> None:
    assert headline(Night(**{"night": "2026-01-02", "budget": BUDGET, **known})) == said


@pytest.mark.parametrize(
    ("known", "title"),
    [
        ({}, "Night report, 2026-01-02"),
        ({"night": None}, "Night report"),
        ({"workload": "net"}, "Night report of net, 2026-01-02"),
        ({"job": Job((), simulated=True)}, "Night report, 2026-01-02 (simulated data)"),
        ({"job": Job(())}, "Night report, 2026-01-02"),
    ],
)
def test_the_title_of_a_night(known: dict[str, Any], title: str) -> None:
    assert night_report(Night(**{"night": "2026-01-02", "budget": BUDGET, **known})).title == title


@pytest.mark.parametrize(
    ("kinds", "things"),
    [(["operators"], "operators"), (["subgraphs"] * 2, "subgraphs"), (["operators", "subgraphs"], "operators and subgraphs")],
)  # fmt: skip
def test_counts_are_explained_for_what_was_tuned(kinds: list[Any], things: str) -> None:
    known = dict.fromkeys(TuningTask.__dataclass_fields__)
    empty = {"summary": {}, "updates": {}, "failed": (), "largest": (), "rest": 0, "status": "successful", "outcome": "successful"}  # fmt: skip
    tasks = [TuningTask(**{**known, **empty, "path": "p", "name": "n", "kind": kind}) for kind in kinds]
    rows, counts = overview_sections(tasks, 0)
    assert rows.grid is not None
    assert len(rows.grid.rows) == len(kinds)
    told = {word for line in counts.lines for word in ("operators and subgraphs", "operators", "subgraphs") if word in line}  # fmt: skip
    assert things in told
    assert (things == "operators and subgraphs") is ("operators and subgraphs" in told)
