"""Sections of a night: how many rows are listed, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from aoe_reports.model.advice import AdviceSummary, StoredAdviceRow, StoredCandidate
from aoe_reports.model.classes import declared_fields
from aoe_reports.model.listings import ListedVerdict
from aoe_reports.model.report import Chart, Grid, Report, Section
from aoe_reports.model.rows import Column
from aoe_reports.model.runs import IngestedRun
from aoe_reports.present import RENDERERS
from aoe_reports.present.figures import draw
from aoe_reports.present.html import LONG
from aoe_reports.present.reports.night_content import Job, StoredAdviceOfRun
from aoe_reports.present.reports.night_runs import (
    SHOWN_ADVICE,
    SHOWN_RUNS,
    SHOWN_VERDICTS,
    advice_sections,
    read_section,
    verdict_sections,
)


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
    job = Job(**{**dict.fromkeys(declared_fields(Job) or Job.__dataclass_fields__), "read": rows, "simulated": False})
    section = read_section(job)
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
    [("text", LONG, "text"), ("text", LONG + 1, "text long"), ("integer", LONG + 1, "number"), ("word", LONG + 1, "text long")],
)  # fmt: skip
def test_a_long_text_gets_a_wider_column(kind: Any, length: int, looks: str) -> None:
    value: Any = "x" * length if kind != "integer" else 10 ** (length - 1)
    page = RENDERERS["html"](Report("t", "h", [Section("s", [], Grid((Column("a", "A", kind),), [{"a": value}]))]))
    assert f'<td class="{looks}"' in page


@pytest.mark.parametrize(("marked", "said"), [("2026-01-02", True), ("2026-01-09", False), (None, False)])
def test_a_picture_of_nights_marks_the_one_that_is_there(marked: str | None, said: bool) -> None:
    nights = ["2026-01-01", "2026-01-02", "2026-01-03"]
    picture = draw(Chart("t", nights, {"a": [1.0, 2.0, None]}, "ms", "d", marked))
    assert (f"since {marked}" in picture) is said


@pytest.mark.parametrize(("count", "step"), [(10, 1), (11, 2), (20, 2), (21, 3)])
def test_a_picture_of_nights_names_ten_of_them_at_most(count: int, step: int) -> None:
    nights = [f"night {number:02}" for number in range(count)]
    picture = draw(Chart("t", nights, {"a": [1.0] * count}, "ms", "d", None))
    assert [night for night in nights if night in picture] == nights[::step]
