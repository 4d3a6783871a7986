"""An incident in a report: what is said of it above the table of its series."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from aoe_reports.model.classes import declared_fields
from aoe_reports.model.history.changes import (
    Acknowledged,
    IncidentCause,
    IncidentChange,
    IncidentMember,
    PinnedShift,
    SeriesChange,
    SuspectedCause,
    ToldFact,
)
from aoe_reports.model.report import BarChart, Chart, Ranking, Section, Waterfall
from aoe_reports.model.texts import in_language, say
from aoe_reports.present.reports.incidents import incident_sections, suspicions_section
from aoe_reports.present.reports.language import drawing_in

MEMBER = IncidentMember(**{**dict.fromkeys(declared_fields(IncidentMember)), "series_id": "s", "workload": "net/step", "scope": "step", "state": "confirmed", "since": "2026-01-05", "before": 10.0, "after": 11.0, "change": 0.1, "impact_ms": 1.0, "open": True})  # type: ignore[arg-type] # fmt: skip
ROW = SeriesChange(**{**dict.fromkeys(declared_fields(SeriesChange)), "series_id": "s", "workload": "net/step", "scope": "step", "state": "confirmed", "since": "2026-01-05", "change": 0.2, "nights": 30, "left_out": 0, "ended": False, "new": True, "moves": (), "metadata": (), "incident": "i1", "last_night": "2026-02-01"})  # type: ignore[arg-type] # fmt: skip
INCIDENT = IncidentChange(incident="i1", title="step slower", since="2026-01-05", since_run="r1", since_now=None, model="net", models=("net",), new=True, hardware="npu", change=0.1, impact_ms=1.0, open=True, metadata=(), causes=(), members=(MEMBER,))  # fmt: skip
ABOUT = "Incident i1 (net on npu, run r1): 1 series. Open."


def section(incident: IncidentChange = INCIDENT, *rows: SeriesChange) -> Section:
    (told,) = incident_sections([incident], rows)
    return told


def test_an_incident_is_named_by_its_night_and_its_title() -> None:
    told = section()
    assert (told.title, told.sentences) == ("2026-01-05: step slower", [ABOUT])
    closed = replace(INCIDENT, open=False, since_run=None, members=(MEMBER, replace(MEMBER, series_id="t")))
    assert section(closed).sentences == ["Incident i1 (net on npu): 2 series. Closed."]


def test_the_worst_is_told_first() -> None:
    operator = replace(MEMBER, scope="op")

    def one(name: str, *, share: float | None = None, change: float = 0.5, **more: Any) -> IncidentChange:
        cause = IncidentCause(kind="operator", model="net", rank_id=0, op_type="t", op_name="o", change=change, followers=1, members=1, step_share=share)  # fmt: skip
        of_step = share is None
        return replace(INCIDENT, title=name, change=change, members=(MEMBER if of_step else operator,), causes=(() if of_step else (cause,)), **more)  # fmt: skip

    told = [
        one("closed", change=0.9, open=False),
        one("tiny", share=0.0001, new=False),
        one("large", share=0.03, new=False),
        one("step", change=0.02, new=False),
        one("new", share=0.0002),
    ]
    titles = [section.title.partition(": ")[2] for section in incident_sections(told, [])]
    assert titles == ["large", "step", "new", "tiny", "closed"], "what a step hardly notices comes behind, however new"


@pytest.mark.parametrize(("count", "said"), [(10, []), (11, ["The first 10 of 11 are listed."])])
def test_ten_causes_of_suspicions_are_listed(count: int, said: list[str]) -> None:
    cause = IncidentCause(kind="rank", model="net", rank_id=1, op_type=None, op_name=None, change=0.1, followers=3, members=3, step_share=None)  # fmt: skip
    one = SuspectedCause(title="rank 1", since="2026-01-05", models=("net",), hardware="npu", cause=cause, past=False, metadata=(), series=("a", "b"))  # fmt: skip
    told = suspicions_section([replace(one, past=place == 0) for place in range(count)])
    assert told.sentences[1:] == said
    assert told.grid is not None
    assert [row.get("newest") for row in told.grid.rows] == ["no longer", *["yes"] * 9]
    assert {row.get("count") for row in told.grid.rows} == {2}


@pytest.mark.parametrize(("count", "more"), [(10, []), (11, ["The first 10 of 11 series are listed; the JSON output contains all."])])  # fmt: skip
def test_ten_series_are_listed(count: int, more: list[str]) -> None:
    told = section(replace(INCIDENT, members=tuple(replace(MEMBER, series_id=f"s{place}") for place in range(count))))
    assert told.grid is not None
    assert (told.sentences[1:], len(told.grid.rows)) == (more, 10)
    assert not {"smallest_detectable", "nights", "reason"} & {column.key for column in told.grid.columns}


@pytest.mark.parametrize(("incident", "change"), [("i1", 0.2), ("other", 0.1), (None, 0.1)])
def test_a_member_is_told_by_its_row_where_that_is_of_this_incident(incident: str | None, change: float) -> None:
    told = section(INCIDENT, replace(ROW, incident=incident))
    assert told.grid is not None
    assert [row.get("change") for row in told.grid.rows] == [change]


def test_what_people_said_and_what_is_odd_of_a_series_is_said_once() -> None:
    ack = Acknowledged(kind="ack", id="a1", who="me", when="2026-01-06", reason="known")
    shift = PinnedShift(since="2026-01-05", since_run="r", state="confirmed", before=10.0, after=10.5, change=0.05, ci_low=0.04, ci_high=0.06, incident=None)  # fmt: skip
    moves = (shift, replace(shift, since="2026-01-09", change=-0.02))
    odd = replace(ROW, acknowledged=ack, moves=moves, ended=True)
    two = replace(INCIDENT, members=(MEMBER, replace(MEMBER, series_id="t")))
    said = section(two, odd, replace(odd, series_id="t")).sentences
    assert said[1:] == [
        "Acknowledged 2026-01-06 by me: known",
        "net/step is compared with the level before the first of its changes: +5.0% 2026-01-05, -2.0% 2026-01-09.",
        "net/step (series s) has not been measured since 2026-02-01.",
        "net/step (series t) has not been measured since 2026-02-01.",
    ]
    expected = replace(ROW, acknowledged=replace(ack, kind="expect", who=None), moves=moves[:1])
    assert section(INCIDENT, expected).sentences[1:] == ["Expected, announced 2026-01-06 by unnamed user: known"]


def test_what_else_changed_is_said_as_it_was_recorded_and_as_it_is_now() -> None:
    facts = tuple(ToldFact(name=seen, before="1", after="2", seen=seen) for seen in ("first", "first-only", "later"))
    said = section(replace(INCIDENT, metadata=facts, since_now="2026-01-04")).sentences
    assert said[1:] == [
        "Other changes at that point: first 1 → 2; first-only 1 → 2.",
        "First recorded, but not in the current data: first-only 1 → 2.",
        "Found after the first record: later 1 → 2.",
        "First recorded as starting on 2026-01-05; the current data gives 2026-01-04.",
    ]
    assert section(replace(INCIDENT, metadata=facts[2:])).sentences[1:] == [
        "Found after the first record: later 1 → 2."
    ]


# Drawings in other languages


def zh(text: str) -> str:
    said = in_language(text, "zh")
    assert said != text
    return said


def test_words_of_a_drawing_are_said_in_its_language_and_names_stay() -> None:
    words = {"title": say("Findings"), "description": say("None.")}
    told = {"title": zh(say("Findings")), "description": zh(say("None."))}
    name, label = "matmul", say("communication")
    drawings: list[tuple[Any, Any]] = [
        (
            Chart(**words, nights=["2026-01-01"], lines={name: [1.0], label: [2.0]}, unit=say("Night"), subtitle=say("Open.")),
            Chart(**told, nights=["2026-01-01"], lines={name: [1.0], zh(label): [2.0]}, unit=zh(say("Night")), subtitle=zh(say("Open."))),
        ),
        (
            BarChart(**words, labels=[name, label], bars={label: [1.0, 2.0]}, unit=say("Night"), intervals={label: [None, (1.0, 2.0)]}),
            BarChart(**told, labels=[name, zh(label)], bars={zh(label): [1.0, 2.0]}, unit=zh(say("Night")), intervals={zh(label): [None, (1.0, 2.0)]}),
        ),
        (
            Ranking(**words, subtitle=say("Open."), labels=[label, name], values=[2.0, 1.0], words=[label, "1 us"]),
            Ranking(**told, subtitle=zh(say("Open.")), labels=[zh(label), name], values=[2.0, 1.0], words=[zh(label), "1 us"]),
        ),
        (
            Waterfall(**words, subtitle=say("Open."), parts=[(name, 1.0), (label, 2.0)], whole=(label, 3.0), unit=say("Night")),
            Waterfall(**told, subtitle=zh(say("Open.")), parts=[(name, 1.0), (zh(label), 2.0)], whole=(zh(label), 3.0), unit=zh(say("Night"))),
        ),
    ]  # fmt: skip
    for english, chinese in drawings:
        assert drawing_in(english, "zh") == chinese
        assert drawing_in(english, "en") is english


def test_ten_incidents_are_told_those_that_are_open_first_and_three_with_their_series() -> None:
    closed = [replace(INCIDENT, incident=f"c{place}", open=False) for place in range(6)]
    told = incident_sections([*closed, *(replace(INCIDENT, incident=f"o{place}") for place in range(6))], [])
    names = [section.sentences[0].split(" ")[1] for section in told[:-1]]
    assert names == ["o0", "o1", "o2", "o3", "o4", "o5", "c0", "c1", "c2", "c3"]
    assert [section.grid is not None for section in told] == [True, True, True, *[False] * 8]
    assert told[3].sentences[-1] == "The JSON output lists its series."
    assert told[-1].sentences == ["2 more incidents: `--format json` lists all of them."]
    assert len(incident_sections(closed, [])) == 6


def test_an_incident_that_is_open_in_part_says_of_how_many_series() -> None:
    half = replace(INCIDENT, members=(MEMBER, replace(MEMBER, series_id="t", open=False)), models=("a", "b"))
    assert section(half).sentences == ["Incident i1 (a, b on npu, run r1): 2 series. 1 of them is open."]
