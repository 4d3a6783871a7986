"""What is said of changes: the headline of a night, a change in words, gauges for a dashboard."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from aoe_reports.model.classes import declared_fields
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
    ToldFact,
)
from aoe_reports.model.names import shorten_middle
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.present.ci.openmetrics import render
from aoe_reports.present.night import night_headline, verdict_line
from aoe_reports.present.reports.changes import (
    Changes,
    describe_acknowledgement,
    describe_attribution,
    describe_change,
    is_slower,
)
from aoe_reports.present.reports.incidents import is_open
from aoe_reports.present.reports.night_content import is_news, lead_of
from aoe_reports.present.reports.night_words import subject_words
from aoe_reports.present.values import width

NOTHING: dict[str, Any] = dict.fromkeys(declared_fields(SeriesChange))
STEP = SeriesChange(**{**NOTHING, "series_id": "s", "workload": "net/step", "scope": "step", "state": "confirmed", "since": "2026-01-05", "since_run": "r", "before": 10.0, "after": 10.6, "change": 0.06, "ci_low": 0.05, "ci_high": 0.07, "nights": 30, "left_out": 0, "ended": False, "new": True, "moves": (), "metadata": (), "incident": "i"})  # fmt: skip
OPERATOR = replace(STEP, series_id="o", workload="net/op/mm", scope="op", op_type="MatMul", op_name="mm", change=0.3)
ACK = Acknowledged(kind="ack", id="a1", who="me", when="2026-01-06T00:00:00", reason="known")


def cause(**known: Any) -> IncidentCause:
    values = {
        "kind": "rank",
        "model": "net",
        "rank_id": None,
        "op_type": None,
        "op_name": None,
        "change": 0.06,
        "followers": 16,
        "members": 16,
        "step_share": None,
    }
    return IncidentCause(**{**values, **known})


def part(name: str, difference_us: float, before_us: float = 100.0, **more: Any) -> OperatorChange:
    values = dict.fromkeys(declared_fields(OperatorChange))
    return OperatorChange(**{**values, "op_type": "MatMul", "op_name": name, "difference_us": difference_us, "cause": "calls", "before_us": before_us, "after_us": before_us + difference_us, **more})  # fmt: skip


def attribution(total_us: float, *operators: OperatorChange, **parts: float | None) -> StepAttribution:
    values: dict[str, Any] = {"before_us": 1e4, "after_us": 1e4 + total_us, "operators_us": sum(one.difference_us for one in operators), "other_operators_us": 0.0, "communication_not_overlapped_us": None, "free_us": None, "unattributed_us": 0.0, "communication": (), "shifts": (), "left_out_nights": ()}  # fmt: skip
    return StepAttribution(**{**values, "total_us": total_us, "operators": operators, **parts})


@pytest.mark.parametrize(
    ("change", "slower", "open_", "news"),
    [
        ({}, True, True, True),
        ({"change": 0.0}, False, False, True),
        ({"change": -0.01, "new": False}, False, False, False),
        ({"change": -0.01, "new": False, "incident": None}, False, False, True),
        ({"state": None}, False, False, False),
        ({"state": "suspect", "change": -0.1, "new": False}, False, False, True),
        ({"acknowledged": ACK}, True, False, True),
        ({"acknowledged": ACK, "new": False}, True, False, False),
        ({"ended": True, "new": False}, True, False, False),
    ],
)
def test_what_is_slower_what_is_open_and_what_is_news(
    change: dict[str, Any], slower: bool, open_: bool, news: bool
) -> None:
    row = replace(STEP, **change)
    assert (is_slower(row), is_open(row), is_news(row)) == (slower, open_, news)


def test_the_row_that_a_report_is_about() -> None:
    small, large = replace(OPERATOR, impact_ms=1.0), replace(OPERATOR, impact_ms=2.0)
    kind = replace(OPERATOR, scope="op_type", impact_ms=9.0)
    assert lead_of([small, STEP, large]) is STEP
    assert lead_of([small, kind, large]) is large
    assert lead_of([kind]) is kind
    better = replace(STEP, change=-0.1)
    assert lead_of([better, small]) is small, "a step that got slower, or the operator that did"
    assert lead_of([better]) is better
    assert lead_of([replace(STEP, acknowledged=ACK), small]) is small
    assert lead_of([replace(STEP, acknowledged=ACK)]) is not None
    assert lead_of([replace(small, change=-0.1)]) is None
    assert lead_of([]) is None


LEVEL = "Regression: step of net +6.0% since 2026-01-05 (10.00 → 10.60 ms)"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([STEP], f"{LEVEL}."),
        ([replace(STEP, before=None)], "Regression: step of net +6.0% since 2026-01-05."),
        ([replace(STEP, since=None)], "Regression: step of net +6.0% (10.00 → 10.60 ms)."),
        ([STEP, OPERATOR], f"{LEVEL}; operator mm (MatMul) +30% since the same night."),
        ([STEP, replace(OPERATOR, since="2026-01-06")], f"{LEVEL}."),
        ([STEP, replace(OPERATOR, since="2026-01-06", incident="j")], f"{LEVEL}. Open: operator mm (MatMul) of net +30% since 2026-01-06 (10.00 → 10.60 ms)."),
        ([STEP, OPERATOR, replace(OPERATOR, series_id="p", rank_id=1, incident="j")], f"{LEVEL}; operator mm (MatMul) +30% since the same night. Open: operator mm (MatMul) of net, rank 1 +30% since 2026-01-05 (10.00 → 10.60 ms)."),
        ([STEP, replace(OPERATOR, scope="op_type", op_name=None, workload="net/op_type/MatMul", incident="j"), replace(STEP, series_id="t", rank_id=1, change=0.01, incident=None)], f"{LEVEL}. Open: operator type MatMul of net +30% since 2026-01-05 (10.00 → 10.60 ms). 1 other incident is open."),
        ([replace(STEP, attribution=attribution(600.0, part("mm", 450.0)))], f"{LEVEL}; operator mm (MatMul) +450% explains 450.0 of 600.0 us per step."),
        ([replace(STEP, attribution=attribution(600.0, part("mm", 600.0)))], f"{LEVEL}; operator mm (MatMul) +600% explains 600.0 of 600.0 us per step."),
        ([replace(STEP, attribution=attribution(600.0, part("mm", 700.0, 0.0)))], f"{LEVEL}; operator mm (MatMul) (new) adds 700.0 us per step."),
        ([replace(STEP, attribution=attribution(600.0, part("a", 10.0), part("mm", 20.0), free_us=30.0))], f"{LEVEL}; free time explains 30.0 of 600.0 us per step."),
        ([replace(STEP, attribution=attribution(600.0, part("mm", 20.0), communication_not_overlapped_us=21.0, free_us=5.0))], f"{LEVEL}; communication that is not overlapped explains 21.0 of 600.0 us per step."),
        ([replace(STEP, attribution=attribution(0.0, part("mm", 20.0)))], f"{LEVEL}."),
        ([replace(STEP, attribution=attribution(600.0, part("mm", -20.0)))], f"{LEVEL}."),
        ([], "No regression: no series changed."),
        ([replace(STEP, change=-0.1, state="improved")], "No open regression: 1 improved."),
        ([replace(STEP, acknowledged=ACK), replace(STEP, state="suspect", change=-0.2), replace(STEP, state="recovered", change=-0.2)], "Suspected improvement since 2026-01-05: step of net -20% (10.00 → 10.60 ms) (run the night again)."),
        ([replace(STEP, change=-0.1, state="improved", new=False)], "No regression: nothing new."),
    ],
)  # fmt: skip
def test_the_night_in_one_sentence(rows: list[SeriesChange], said: str) -> None:
    assert night_headline(rows) == said


@pytest.mark.parametrize(
    ("causes", "said"),
    [
        ([cause(rank_id=1)], "; rank 1: all 16 operators +6.0%."),
        ([cause(kind="run", followers=12)], "; 12 of 16 operators +6.0%."),
        ([cause(kind="op-type", op_type="Add", rank_id=1)], "; operator type Add, rank 1 +6.0%."),
        ([cause(kind="op-type", op_type="A" * 500)], f"; operator type {shorten_middle('A' * 500, 160)} +6.0%."),
        (
            [cause(rank_id=1), *(cause(kind="operator", op_name=name) for name in "abc")],
            "; rank 1: all 16 operators +6.0%; operator a +6.0%; operator b +6.0% and 1 more.",
        ),
        ([cause(kind="operator", op_name="a")], "; operator mm (MatMul) +30% since the same night."),
    ],
)
def test_a_headline_names_the_causes_of_its_incident(causes: list[IncidentCause], said: str) -> None:
    """Three at most; one operator alone is told by what it adds to the step, or by its own change."""
    own = incident("i", since="2026-01-05", causes=causes)
    other = replace(own, incident="j", causes=[cause(rank_id=7)])
    assert night_headline([STEP, OPERATOR], incidents=[other, own]) == LEVEL + said


def incident(name: str, **known: Any) -> IncidentChange:
    values: dict[str, Any] = dict.fromkeys(declared_fields(IncidentChange))
    told = {
        "incident": name,
        "since": "2026-01-04",
        "models": ["net"],
        "causes": [],
        "metadata": (),
        "members": (),
        "new": True,
    }
    return IncidentChange(**{**values, **told, **known})


def test_what_is_new_is_told_before_what_is_open() -> None:
    """The gravest of what is new; what is open from before is counted, and told where nothing is new."""
    old, new = incident("i", new=False), incident("j")
    fresh = replace(OPERATOR, incident="j")
    assert night_headline([STEP, fresh], incidents=[old, new]) == (
        "Regression: operator mm (MatMul) of net +30% since 2026-01-04 (10.00 → 10.60 ms). "
        "Open: step of net +6.0% since 2026-01-05 (10.00 → 10.60 ms)."
    )
    told = LEVEL.removeprefix("Regression: ").replace("01-05", "01-04")
    assert night_headline([STEP], incidents=[old]) == f"No new regression. Open: {told}."
    assert night_headline([replace(STEP, incident="k")], incidents=[old]) == f"{LEVEL}.", (
        "an incident that is not listed"
    )


def test_operators_of_an_incident_are_told_by_their_cause_and_models() -> None:
    """With its levels where the cause is that one operator; with the facts that changed, two at most."""
    shared = cause(kind="op-type", model=None, op_type="MatMul")
    facts = [ToldFact(name=name, before="1", after="2", seen=seen) for name, seen in (("engine_version", "first"), ("x", "later"), ("a", "first-only"), ("b", "first"))]  # fmt: skip
    facts.insert(0, ToldFact(name="tuning_runs", before=None, after="r1", seen="first"))
    both = incident("i", models=["a", "b", "c", "net"], causes=[shared], metadata=facts)
    assert night_headline([OPERATOR], incidents=[both]) == (
        "Regression: a, b, c and 1 more: operator type MatMul +6.0% since 2026-01-04, with engine version 1 → 2; a 1 → 2."
    )
    alone = incident("i", causes=[cause(kind="operator", op_type="MatMul", op_name="mm", rank_id=3, followers=1)])
    assert night_headline([OPERATOR], incidents=[alone]) == (
        "Regression: net: operator mm (MatMul, rank 3) +6.0% since 2026-01-04 (10.00 → 10.60 ms)."
    )
    machine = incident("i", models=["a", "b"], causes=[cause(kind="machine", model=None), cause(model="a", rank_id=1)])
    assert night_headline([OPERATOR], incidents=[machine]) == (
        "Regression: whole machine (a, b): all 16 operators +6.0%; a: rank 1: all 16 operators +6.0% since 2026-01-04."
    )
    assert night_headline([STEP], incidents=[machine]).endswith(
        "; whole machine (a, b): all 16 operators +6.0%; a: rank 1: all 16 operators +6.0%."
    )


def suspected(change: float, count: int, **known: Any) -> SuspectedCause:
    values = {
        "title": "",
        "since": "2026-01-06",
        "models": ["net"],
        "hardware": "910B",
        "cause": cause(kind="run", change=change),
        "past": False,
        "metadata": (),
        "series": ["s"] * count,
    }
    return SuspectedCause(**{**values, **known})


def test_what_is_suspected_comes_behind_what_is_proved_and_before_what_is_open() -> None:
    slower, quicker, past = suspected(0.05, 3), suspected(-0.05, 9), suspected(0.2, 30, past=True)
    more, improved = suspected(0.07, 4), replace(STEP, change=-0.1, state="improved", rank_id=1)
    open_before, fresh = incident("i", new=False), incident("i")
    said = "Suspected since 2026-01-06: net: all 16 operators {} (run the night again)."
    assert night_headline([], suspicions=[quicker, slower, past, more]) == said.format("+7.0%")
    assert night_headline([], suspicions=[past]) == "No regression: no series changed."
    assert night_headline([STEP], incidents=[fresh], suspicions=[slower]).startswith("Regression: ")
    assert night_headline([STEP], incidents=[open_before], suspicions=[slower]) == (
        f"{said.format('+5.0%')} Open: step of net +6.0% since 2026-01-05 (10.00 → 10.60 ms)."
    )
    both = [improved, replace(improved, series_id="t", rank_id=0)]
    member = IncidentMember(**{**dict.fromkeys(declared_fields(IncidentMember)), "model": "net", "open": False})  # type: ignore[arg-type]
    fresh, alone = incident("i", members=[member, member]), incident("i", members=[member])
    assert night_headline(both, incidents=[fresh], suspicions=[slower]) == said.format("+5.0%")
    assert night_headline(both, incidents=[fresh], suspicions=[quicker]).startswith(
        "Improved: step of net, rank 1 -10%"
    )
    assert night_headline(both[:1], incidents=[alone]) == "No open regression: 1 improved.", "it is only counted"
    for saved, part_us, explained in (
        (-600.0, -450.0, "; operator mm (MatMul) -75% explains 450.0 of 600.0 us per step."),
        (-600.0, -700.0, "; operator mm (MatMul) -117% saves 700.0 us per step."),
        (-600.0, 20.0, "."),
        (600.0, -450.0, "."),  # the newest step is not faster
    ):
        operator = replace(part("mm", part_us), before_us=600.0, after_us=600.0 + part_us)
        whole = replace(improved, attribution=attribution(saved, operator))
        assert night_headline([whole, both[1]], incidents=[fresh]) == (
            f"Improved: step of net, rank 1 -10% since 2026-01-04 (10.00 → 10.60 ms){explained}"
        )
    recovered = [replace(one, state="recovered") for one in both]
    assert night_headline(recovered, incidents=[fresh]).startswith("Recovered: ")


@pytest.mark.parametrize(
    ("code", "why", "gates", "report", "said"),
    [
        (0, (), (), None, "gate passed · 2 incidents open"),
        (1, ("regression", "suspect"), (), None, "gate failed · 2 incidents open"),
        (5, ("suspect",), ("scope=step",), None, "gate failed (suspected regression) (scope=step) · 2 incidents open"),
        (1, ("damage", "odd"), ("a", "b"), "s/report.html", "failed: damaged input, odd (a, b) · 2 incidents open · report: s/report.html"),
        (3, (), (), None, "failed: input that cannot be read · 2 incidents open"),
    ],
)  # fmt: skip
def test_the_verdict_is_one_line(
    code: int, why: tuple[str, ...], gates: tuple[str, ...], report: str | None, said: str
) -> None:
    rows = [STEP, OPERATOR, replace(OPERATOR, incident=None), replace(STEP, incident="x", acknowledged=ACK)]
    assert verdict_line(code, why, gates=gates, changes=rows, report=report) == said


@pytest.mark.parametrize(
    ("code", "why", "gates", "not_judged", "nothing_judged", "said"),
    [
        (0, (), (), ["too few nights"], True, "gate not judged: too few nights"),
        (4, ("not-enough-data",), (), ["too few nights"], True, "gate not judged: too few nights"),
        (0, (), ("a",), ["no a"], True, "gate not judged (a): no a"),
        (0, (), ("a", "b"), ["no a", "no b"], True, "gate not judged (a, b): no a; no b"),
        (0, (), ("a", "b"), ["no workload"], True, "gate not judged (a, b): no workload"),
        (0, (), ("a", "b"), ["no a"], False, "gate passed (a, b), not judged: no a"),
        (1, ("regression",), ("a", "b"), ["no a"], False, "gate failed (a, b), not judged: no a"),
        (1, ("damage",), (), ["too few nights"], True, "failed: damaged input, not judged: too few nights"),
        (3, (), (), ["too few nights"], True, "failed: input that cannot be read, not judged: too few nights"),
    ],
)
def test_a_gate_that_judged_nothing_has_not_passed(
    code: int, why: tuple[str, ...], gates: tuple[str, ...], not_judged: list[str], nothing_judged: bool, said: str
) -> None:
    line = verdict_line(code, why, gates=gates, changes=[], not_judged=not_judged, nothing_judged=nothing_judged)
    assert line == f"{said} · 0 incidents open"


def test_what_is_a_minor_part_of_a_step_leads_no_headline() -> None:
    """What is larger is told first: a suspicion before a small regression, an open incident before a small new one."""
    small = replace(OPERATOR, step_share=0.001, incident=None)
    nothing = "No regression that costs 0.5% of a step or more."
    assert night_headline([small]) == (
        f"{nothing} Smaller: operator mm (MatMul) of net +30% since 2026-01-05 (10.00 → 10.60 ms)."
    )
    slow_night = replace(STEP, state="suspect", since="2026-01-20", step_share=0.06)
    said = night_headline([small, slow_night])
    assert said.startswith("Suspected since 2026-01-20: step of net +6.0% (10.00 → 10.60 ms) (run the night again).")
    assert said.endswith(" 1 other series is slower.")
    assert lead_of([small, slow_night]) is slow_night
    large = replace(OPERATOR, step_share=0.02, incident=None)
    assert lead_of([large, slow_night]) is slow_night
    assert lead_of([large, replace(slow_night, since=large.since)]) is large, "the same change, seen in the step"
    assert lead_of([large, replace(slow_night, step_share=0.01)]) is large
    said = night_headline([large, slow_night])
    assert said.index("Suspected since 2026-01-20: ") < said.index("Regression: operator mm")


def test_causes_are_named_by_what_they_explain() -> None:
    """The first with its part of the change; what explains less than a tenth of it is not named."""
    causes = [
        cause(kind="op-type", op_type="Large", step_share=0.05),
        cause(kind="op-type", op_type="Less", step_share=0.006),
        cause(kind="op-type", op_type="Tiny", step_share=0.0001),
    ]
    assert night_headline([STEP], incidents=[incident("i", since="2026-01-05", causes=causes)]) == (
        f"{LEVEL}; operator type Large +6.0% explains 530.0 of 600.0 us per step; operator type Less +6.0%."
    )


def test_against_a_chosen_baseline_series_are_counted() -> None:
    rows = [replace(row, incident=None) for row in (STEP, OPERATOR, replace(OPERATOR, series_id="p"))]
    told = f"{LEVEL}; operator mm (MatMul) +30% since the same night."
    assert night_headline(rows) == f"{told} 2 other series are slower."
    assert night_headline(rows[:2]) == f"{told} 1 other series is slower."
    assert verdict_line(1, ["regression"], gates=(), changes=rows) == "gate failed · 3 series slower"


def move(since: str, change: float, name: str) -> PinnedShift:
    return PinnedShift(since=since, since_run=None, state="confirmed", before=10.0, after=10.0 * (1 + change), change=change, ci_low=0.0, ci_high=0.2, incident=name)  # fmt: skip


def test_a_second_rise_of_what_is_open_is_news_by_itself() -> None:
    """With its own change and night, and not with the sum of both; what fails tonight is news, too."""
    old, new = incident("i", new=False), incident("j", since="2026-01-20")
    row = replace(STEP, moves=(move("2026-01-05", 0.04, "i"), move("2026-01-20", 0.02, "j")))
    assert night_headline([row], incidents=[old, new]) == (
        "Regression: step of net +2.0% since 2026-01-20 (10.00 → 10.20 ms). 1 other incident is open."
    )
    assert verdict_line(0, (), gates=(), changes=[row]) == "gate passed · 2 incidents open"
    told = replace(row, moves=(move("2026-01-05", 0.04, "i"),))
    assert night_headline([told], incidents=[old]).startswith("No new regression. Open: ")
    assert night_headline([replace(told, fails="regression")], incidents=[old]).startswith("Regression: ")
    quicker = replace(row, moves=(move("2026-01-05", 0.08, "i"), move("2026-01-20", -0.02, "j")))
    assert night_headline([quicker], incidents=[old, new]).startswith("No new regression. Open: ")


def test_models_that_are_settled_are_not_told_as_open() -> None:
    member = IncidentMember(**{**dict.fromkeys(declared_fields(IncidentMember)), "model": "a", "open": False})  # type: ignore[arg-type]
    shared = cause(kind="op-type", model=None, op_type="MatMul")
    members = [member, replace(member, model="b", open=True)]
    one = incident("i", models=["a", "b"], causes=[shared], new=False, members=members)
    assert night_headline([OPERATOR], incidents=[one]).startswith(
        "No new regression. Open: b: operator type MatMul +6.0%"
    )


def test_a_remark_stands_where_nothing_can_be_said_of_changes() -> None:
    assert night_headline([], remark="too few nights") == "Too few nights."
    assert night_headline([STEP], remark="too few nights") == f"{LEVEL}."


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "step of net"),
        ({"rank_id": 0, "device_id": 3}, "step of net, rank 0"),
        ({"device_id": 3}, "step of net, device 3"),
        ({"device_id": 0}, "step of net"),
        ({"workload": "net", "scope": "step"}, "net"),
        ({"scope": "op", "op_name": "mm", "workload": "net/op/mm"}, "operator mm of net"),
        ({"scope": "op_type", "op_type": "A", "workload": "net/op_type/A", "rank_id": 2}, "operator type A of net, rank 2"),
        ({"scope": "model", "workload": "net"}, "net"),
        ({"scope": "communication", "op_type": "A", "workload": "net/comm/A"}, "net/comm/A"),
    ],
)  # fmt: skip
def test_a_series_in_words(change: dict[str, Any], words: str) -> None:
    assert subject_words(replace(STEP, **change)) == words


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ((1e9,), (["1.000"], "s")),
        ((999_999_999.0,), (["1,000"], "ms")),
        ((1e6, -2e6), (["1.000", "-2.000"], "ms")),
        ((999_999.0, 1.0), (["1,000", "0"], "us")),
        ((1e3,), (["1.000"], "us")),
        ((999.0, 0.5), (["999.0", "0.5"], "ns")),
        ((12_345e9,), (["12,345"], "s")),
        ((0.0,), (["0"], "ns")),
    ],
)
def test_times_have_the_unit_of_the_largest(times: tuple[float, ...], said: tuple[list[str], str]) -> None:
    assert times_in_one_unit(*times) == said


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc…fg"), ("abcdefgh", 7, "abc…fgh"), ("中中中中", 8, "中中中中"), ("中中中中中", 8, "中中…中")],
)  # fmt: skip
def test_a_long_name_keeps_both_ends(text: str, most: int, short: str) -> None:
    assert shorten_middle(text, most, width) == short
    assert width(short) <= most


def test_a_change_in_words() -> None:
    told = "net/step: confirmed, 10 ms to 10.6 ms (+6.00%, +5.00% to +7.00%), since 2026-01-05 (run r)"
    assert describe_change(STEP) == told
    assert describe_change(replace(STEP, ci_low=None)) == told.replace(", +5.00% to +7.00%", "")
    assert describe_change(replace(STEP, smallest_detectable=0.012)) == f"{told}, smallest detectable change 1.20%"
    assert describe_change(replace(STEP, ended=True, last_night="2026-01-09")) == f"{told}, not measured since 2026-01-09"  # fmt: skip
    assert describe_change(replace(STEP, acknowledged=ACK)) == f"{told}, accepted by me on 2026-01-06 (a1): known"
    assert describe_change(replace(STEP, change=None, since=None)) == "net/step: confirmed"
    expected = replace(ACK, kind="expect", who=None)
    assert describe_acknowledgement(replace(STEP, acknowledged=expected)) == "expected on 2026-01-06 (a1): known"
    assert describe_acknowledgement(STEP) is None


def test_the_parts_of_a_change_are_its_lines() -> None:
    moved = MovedCost(from_=("a",), to=("b", "c"), moved_us=5.0)
    told = attribution(600.0, part("mm", 400.0, repository_run="r1"), part("b", -1.5), other_operators_us=3.0, communication_not_overlapped_us=0.0, free_us=150.0, unattributed_us=48.5, shifts=(moved,))  # fmt: skip
    assert list(describe_attribution(replace(STEP, attribution=told))) == [
        "a step takes +600.000 us: operators +398.500",
        "  mm +400.000 us (calls, tuned by AOE in run r1)",
        "  b -1.500 us (calls)",
        "  other operators +3.000 us",
        "  communication that is not overlapped +0.000 us",
        "  free time +150.000 us",
        "  unattributed +48.500 us",
        "  moved from a to b, c: 5.000 us",
    ]
    assert list(describe_attribution(STEP)) == []


BUDGET = AlarmBudget(false_alarms_per_year=2.0, series=9, eligible=7, detector=1, baseline="previous", whole_history=False)  # fmt: skip


def test_gauges_are_what_the_rows_say() -> None:
    rows = [replace(STEP, fails="regression", smallest_detectable=0.02), replace(OPERATOR, acknowledged=ACK, workload='a"\\b'), replace(STEP, state="improved", change=-0.5, since=None, before=None)]  # fmt: skip
    changes = Changes(rows=rows, budget=BUDGET, findings=(), reasons=("regression", "damage"), store="s", version="1")
    text = render(changes)
    told: dict[str, list[float]] = {}
    for name, value in re.findall(r"^aoe_reports_(\w+)(?:{.*})? (\S+)$", text, re.MULTILINE):
        told.setdefault(name, []).append(float(value))
    assert told == {
        "series_change_ratio": [0.06, 0.3, -0.5],
        "series_before_seconds": [0.01, 0.01],
        "series_after_seconds": [0.0106] * 3,
        "series_smallest_detectable_ratio": [0.02],
        "series_since_timestamp_seconds": [1767571200.0, 1767571200.0],
        "changed_series": [2, 0, 0, 0, 1],
        "failing_series": [1, 0],
        "open_incidents": [0],
        "step_change_ratio": [0.06, -0.5],
        "step_after_seconds": [0.0106] * 2,
        "acknowledged_series": [1],
        "stored_series": [9],
        "eligible_series": [7],
        "false_alarms_per_year": [2.0],
    }
    assert 'workload="a\\"\\\\b"' in text
    assert text.endswith("\n# EOF\n")
    assert changes.reasons_of_no_row() == ["damage"]
