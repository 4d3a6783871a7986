"""The page that tells a tuning loop's whole story: what each section says, and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from aoe_reports.jobs.verified_report import Page, headline, verified_report
from aoe_reports.jobs.verify_answer import ACCEPT, VerifyFacts
from aoe_reports.model.findings import Finding
from aoe_reports.model.report import BarChart, Section
from aoe_reports.tuning.plan.folder import TunedOutcome
from aoe_reports.tuning.plan.plan import Candidate, Plan, Rejected
from aoe_reports.tuning.tuner import Claim, Claims
from aoe_reports.tuning.verify.intervals import Noise
from aoe_reports.tuning.verify.reconciliation import Reconciliation
from aoe_reports.tuning.verify.rows import Method, Row, StepClaim, Verdict

STEP = Row(scope="step", measured_before_us=1000.0, measured_after_us=950.0, change=-0.05, ci_low=-0.07, ci_high=-0.03, verdict="confirmed")  # fmt: skip
TYPE = replace(STEP, scope="op_type", op_type="MatMulV2", change=-0.2, ci_low=-0.25, ci_high=-0.15)
ONE = replace(TYPE, scope="operator", op_name="mm1", claimed_change=-0.22, change=-0.2)
TWO = replace(ONE, op_name="mm2", claimed_change=-0.4, change=0.1, ci_low=0.05, ci_high=0.15, verdict="regressed")
TOGETHER = replace(TYPE, change=-0.1, ci_low=-0.2, ci_high=0.1, op_type=None)
METHOD = Method(level=0.95, resamples=2000, seed=0, steps_before=12, steps_after=11, operators_together=TOGETHER)
NOISE = Noise(controls=9, drift=0.0123, spread=0.0045)
PARTS = Reconciliation(step_saving_us=50.0, claimed_us=1234.5, operators_us=40.0, others_us=2.0, unexplained_us=8.0)
WHOLE = replace(PARTS, hidden_by_overlap_us=20.001, communication_us=3.0, free_us=4.0)


def facts(**known: Any) -> VerifyFacts:
    values: dict[str, Any] = {
        "verdict": "confirmed", "verdict_is_about": STEP, "accepted": True, "accept": "confirmed", "rule": ACCEPT["confirmed"],
        "before": "b", "after": "a", "rank_id": None, "noise": NOISE, "reconciliation": None, "method": METHOD,
    }  # fmt: skip
    return VerifyFacts(**{**values, **known})


def page(**known: Any) -> Page:
    values: dict[str, Any] = {
        "plan": Plan("offline", "opat"), "claims": Claims(), "tuner": "AOE", "outcome": None, "rows": (STEP, TYPE, ONE, TWO),
        "facts": facts(), "findings": (),
    }  # fmt: skip
    return Page(**{**values, **known})


def sections(**known: Any) -> Mapping[str, Section]:
    return {section.title: section for section in verified_report(page(**known)).sections}


def columns_of(section: Section) -> list[str]:
    assert section.grid is not None
    return [column.key for column in section.grid.columns]


def rows_of(section: Section) -> Sequence[Mapping[str, Any]]:
    assert section.grid is not None
    return section.grid.rows


def test_sections_are_in_the_order_of_the_loop_and_what_there_is_nothing_of_is_left_out() -> None:
    finding = Finding("warning", "rule", "path", "message")
    titles = ["Hotspots", "Tuning attempts", "Claims by AOE", "Measured results", "Breakdown of the savings", "Next steps", "Findings"]  # fmt: skip
    full = verified_report(page(facts=facts(reconciliation=PARTS), findings=[finding]))
    assert (full.title, [section.title for section in full.sections]) == ("Tuning, verified", titles)
    assert full.sections[-1].lines == [finding.as_text()]
    assert full.sections[-1].sentences == []
    assert list(sections()) == [title for title in titles if title not in {"Breakdown of the savings", "Findings"}]


@pytest.mark.parametrize(("count", "said"), [(30, []), (31, ["The first 30 of 31."])])
def test_thirty_findings_are_listed(count: int, said: list[str]) -> None:
    listed = sections(findings=[Finding("info", "rule", f"path{n}", "message") for n in range(count)])["Findings"]
    assert listed.sentences == said
    assert len(listed.lines) == 30
    assert "path29" in listed.lines[-1]


# The headline


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"change": 0.051, "ci_low": 0.01, "ci_high": 0.09}, "step 5.1% slower (+1.0% … +9.0%)"),
        ({"change": -0.051, "ci_low": -0.09, "ci_high": -0.01}, "step takes 5.1% less time (-9.0% … -1.0%)"),
        ({"change": 0.02, "ci_low": 0.0, "ci_high": 0.09}, "step unchanged (+0.0% … +9.0%)"),
        ({"change": -0.02, "ci_low": -0.09, "ci_high": 0.0}, "step unchanged (-9.0% … +0.0%)"),
        ({"change": -0.051, "ci_low": None, "ci_high": 0.1}, "step -5.1% (variation unknown)"),
        ({"change": 0.051, "ci_low": -0.1, "ci_high": None}, "step +5.1% (variation unknown)"),
        ({"change": None, "ci_low": None, "ci_high": None}, "step not comparable"),
    ],
)
def test_an_effect_is_what_its_interval_shows(changed: dict[str, Any], said: str) -> None:
    step = replace(STEP, **changed)
    alone = replace(METHOD, operators_together=None)
    assert headline([step], facts(verdict_is_about=step, method=alone), "AOE") == f"Confirmed: {said}."
    together = replace(TOGETHER, **changed)
    told = headline([STEP], facts(method=replace(METHOD, operators_together=together)), "AOE")
    operators = said.replace("step takes", "step take").replace("step", "tuned operators")
    assert told == f"Confirmed: step takes 5.0% less time (-7.0% … -3.0%); {operators}."


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("confirmed", "Confirmed"),
        ("partly", "Partly"),
        ("not-reproduced", "Not reproduced"),
        ("regressed", "Regressed"),
        ("not-comparable", "Not comparable"),
    ],
)
def test_a_headline_begins_with_the_verdict(verdict: str, said: str) -> None:
    alone = replace(METHOD, operators_together=None)
    told = headline([STEP], facts(verdict=verdict, method=alone), "AOE")
    assert told == f"{said}: step takes 5.0% less time (-7.0% … -3.0%)."


@pytest.mark.parametrize(
    ("claimed", "change", "said"),
    [
        (-0.101, -0.05, ", AOE claims 10.1% less"),
        (0.101, -0.05, ", AOE claims 10.1% more"),
        (0.0, -0.05, ", AOE claims under 0.1%"),
        (None, -0.05, ""),
        (-0.101, None, ""),
    ],
)
def test_a_claim_stands_beside_what_was_measured_of_the_same_thing(
    claimed: float | None, change: float | None, said: str
) -> None:
    step = replace(STEP, claimed_change=claimed, change=change)
    told = headline([step], facts(verdict_is_about=step, method=replace(METHOD, operators_together=None)), "AOE")
    effect = "step not comparable" if change is None else "step takes 5.0% less time (-7.0% … -3.0%)"
    assert told == f"Confirmed: {effect}{said}."


@pytest.mark.parametrize(("verdict", "claim"), [("partly", ", AOE claims 30.0% less"), ("confirmed", "")])
def test_of_a_step_beside_operators_the_claim_is_told_where_it_holds_in_part(verdict: Verdict, claim: str) -> None:
    step = replace(STEP, verdict=verdict, claimed_change=-0.3)
    about = replace(TOGETHER, scope="operators")
    told = headline([ONE, step], facts(verdict_is_about=about), "AOE")
    assert told == (
        f"Confirmed: tuned operators unchanged (-20.0% … +10.0%); step takes 5.0% less time (-7.0% … -3.0%){claim}."
    )


@pytest.mark.parametrize("missing", [{"verdict_is_about": None}, {"method": None}, {}])
def test_profiles_that_show_nothing_make_one_headline(missing: dict[str, Any]) -> None:
    told = headline([STEP] if missing else [], facts(**missing), "AOE")
    assert told == "Not comparable: the profiles do not show whether there was a gain."


# What was hot and what was tried


def candidates(count: int) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(kind="operator", op_name=f"op{n}", op_type="MatMulV2", total_us=10.0 + n, share=0.1)
        for n in range(count)
    )


def test_hotspots_are_the_plans_candidates_in_columns_that_say_something() -> None:
    plan = Plan("offline", "opat", step_us=12345.6, computing_share=0.5, communication_not_overlapped_share=0.2, free_share=0.3, bound_saving_us=1234.5, candidates=candidates(2))  # fmt: skip
    hot = sections(plan=plan)["Hotspots"]
    assert hot.sentences == [
        "A step took 12,345.600 us: 50.0% computing, 20.0% communication not overlapped by computing, 30.0% free.",
        "Operator tuning could save at most 1,234.500 us of it.",
    ]
    assert columns_of(hot) == ["op_type", "op_name", "total_us", "share"]
    assert [row["op_name"] for row in rows_of(hot)] == ["op0", "op1"]
    counted = sections(plan=replace(plan, candidates=(replace(plan.candidates[0], count=3, expected_saving_us=2.0),)))
    assert hot.grid is not None
    assert columns_of(counted["Hotspots"]) == ["op_type", "op_name", "count", "total_us", "share", "expected_saving_us"]
    titles = [column.title for column in counted["Hotspots"].grid.columns] if counted["Hotspots"].grid else []
    assert titles == ["Operator type", "Operator", "Tasks", "Total", "Share of the step", "Expected saving, per step"]


def test_what_a_plan_does_not_know_of_a_step_is_not_said() -> None:
    assert sections(plan=Plan("offline", "opat", bound_saving_us=5.0, free_share=0.5))["Hotspots"] == Section(
        "Hotspots", ["The plan chose no operator."]
    )
    some = Plan("offline", "opat", step_us=10.0, computing_share=0.5, free_share=0.25)
    assert sections(plan=some)["Hotspots"] == Section(
        "Hotspots", ["A step took 10.000 us: 50.0% computing, 25.0% free."]
    )


@pytest.mark.parametrize(("count", "said"), [(15, []), (16, ["The first 15 of 16 candidates:"])])
def test_fifteen_hotspots_are_listed(count: int, said: list[str]) -> None:
    hot = sections(plan=Plan("offline", "opat", candidates=candidates(count)))["Hotspots"]
    assert (hot.sentences, len(rows_of(hot))) == (said, 15)


SUBGRAPHS = Candidate(kind="subgraph")
BY_HAND = "The job was not run by `tune run`: the result of each operator is known only from AOE's results."


@pytest.mark.parametrize(
    ("chosen", "what"),
    [
        ((), "nothing"),
        (candidates(1), "1 operator or types"),
        (candidates(3), "3 operators or types"),
        ((SUBGRAPHS,), "the model's subgraphs"),
        ((SUBGRAPHS, *candidates(2)), "2 operators or types and the model's subgraphs"),
    ],
)
def test_what_aoe_was_asked_for_is_said_with_its_results(chosen: tuple[Candidate, ...], what: str) -> None:
    plan = Plan("offline", "both", candidates=chosen, rejected=(Rejected(op_name="x"), Rejected(op_name="y")))
    asked = f"AOE was asked to tune {what} (both, offline); left out: 2."
    assert sections(plan=plan)["Tuning attempts"].sentences == [asked, BY_HAND]
    assert sections(plan=plan, outcome=TunedOutcome())["Tuning attempts"].sentences == [asked]
    tuned = TunedOutcome(counts={"improved": 2, "failed": 1})
    assert sections(plan=plan, outcome=tuned)["Tuning attempts"].sentences == [
        asked, "Tuning results: 2 improved, 1 failed.",
    ]  # fmt: skip


# What a tuner claims


def test_claims_are_ordered_by_what_they_save_of_a_call() -> None:
    said = [
        Claim("b", ("X", "Y"), 100.0, 80.0),
        Claim("d", ("X",), 10.0, 5.0),
        Claim("c", ("X",), 10.0, 5.0),
        Claim("a", ("X",), 40.0, 20.0),
    ]
    claimed = sections(claims=Claims(tuple(said)))["Claims by AOE"]
    assert claimed.sentences == ["These are AOE's own times, measured on single operators."]
    assert columns_of(claimed) == ["op_type", "op_name", "before_us", "after_us", "speed_up", "saved"]
    assert [tuple(row[key] for key in columns_of(claimed)) for row in rows_of(claimed)] == [
        ("X", "a", 40.0, 20.0, 1.0, 0.5),
        ("X, Y", "b", 100.0, 80.0, 0.25, pytest.approx(0.2)),
        ("X", "c", 10.0, 5.0, 1.0, 0.5),
        ("X", "d", 10.0, 5.0, 1.0, 0.5),
    ]


@pytest.mark.parametrize(("count", "more"), [(15, []), (16, ["The 15 with the largest saving of 16 operators:"])])
def test_fifteen_claims_are_listed(count: int, more: list[str]) -> None:
    claims = Claims(tuple(Claim(f"op{n:02}", ("X",), 100.0, 50.0 + n) for n in range(count)))
    claimed = sections(claims=claims, tuner="T")["Claims by T"]
    assert claimed.sentences == ["These are T's own times, measured on single operators.", *more]
    assert [row["op_name"] for row in rows_of(claimed)] == [f"op{n:02}" for n in range(15)]


def test_claims_without_operators_are_sentences() -> None:
    def told(claims: Claims) -> Section:
        return sections(claims=claims)["Claims by AOE"]

    assert told(Claims()) == Section("Claims by AOE", ["Nothing: no result claims a change."])
    assert told(Claims(model_us=(6000.0, 4000.0), subgraphs=3, unproven=tuple(f"op{n}" for n in range(16)))) == Section(
        "Claims by AOE",
        [
            (
                "For the model, AOE reports 6,000.000 us before and 4,000.000 us after: time saved (1 - after/before) "
                "33.33%, speed-up (before/after - 1) 50.00%."
            ),
            "No claim is counted for 16 operators that an interrupted task changed: "
            + ", ".join(f"op{n}" for n in range(15))
            + ".",
            "AOE changed 3 subgraphs.",
        ],
    )


# What was measured


def test_measured_results_are_a_table_a_chart_and_how_they_were_made() -> None:
    measured = sections()["Measured results"]
    description = "Time saved (1 - after/before) of 2 operators: claimed 22.0% to 40.0%, measured -10.0% to 20.0%"
    assert measured.sentences == [
        (
            "Noise: 9 operators that were not tuned changed by +1.23% (median, weighted by time), with a spread of 0.45% "
            "(robust standard deviation) around it."
        ),
        f"{description}.",
    ]
    assert [(row["scope"], row["op_name"]) for row in rows_of(measured)] == [
        ("step", None), ("op_type", None), ("operator", "mm1"), ("operator", "mm2"),
    ]  # fmt: skip
    assert measured.chart == BarChart(
        "Claimed and measured",
        ["mm1", "mm2"],
        {"claimed by AOE": [22.0, 40.0], "measured": [20.0, -10.0]},
        "time saved, 1 - after/before (%)",
        description,
        {"measured": [(15.0, 25.0), (-15.0, -5.0)]},
    )
    change, intervals, verdicts = measured.lines
    assert change.startswith("Change is after/before - 1: below 0 is faster. Times of operators are means per call; ")
    assert change.endswith("AOE gives no pair of times for it.")
    assert intervals == (
        "Intervals: 95%, from a bootstrap with 2000 resamples and steps as blocks (12 before, 11 after; with fewer than "
        "5: single calls), fixed seed, widened by the noise between captures."
    )
    assert verdicts == (
        "Confirmed: faster, and the claim lies in the interval or four fifths of the claim were measured; "
        "partly: faster, but by less; not-reproduced: the interval includes 0; regressed: slower."
    )


@pytest.mark.parametrize("gap", [{"ci_low": None}, {"ci_high": None}])
def test_an_operator_without_an_interval_is_drawn_without_one(gap: dict[str, Any]) -> None:
    chart = sections(rows=(STEP, replace(ONE, **gap)))["Measured results"].chart
    assert isinstance(chart, BarChart)
    assert chart.description == (
        "Time saved (1 - after/before) of 1 operator: claimed 22.0% to 22.0%, measured 20.0% to 20.0%"
    )
    assert chart.intervals == {"measured": [None]}


@pytest.mark.parametrize("gap", [{"change": None}, {"claimed_change": None}])
def test_an_operator_without_a_claim_or_a_change_is_not_drawn(gap: dict[str, Any]) -> None:
    measured = sections(rows=(STEP, replace(ONE, **gap)))["Measured results"]
    assert (measured.chart, len(rows_of(measured)), len(measured.lines)) == (None, 2, 3)
    assert len(measured.sentences) == 1


@pytest.mark.parametrize(("count", "said"), [(15, []), (16, ["31 of 33 rows; verify.json contains all of them."])])
def test_fifteen_types_and_operators_are_listed_and_drawn(count: int, said: list[str]) -> None:
    rows = (STEP, *[replace(TYPE, op_type=f"T{n}") for n in range(count)], *[replace(ONE, op_name=f"op{n}") for n in range(count)])  # fmt: skip
    measured = sections(rows=rows)["Measured results"]
    assert measured.sentences[1:-1] == said
    assert len(rows_of(measured)) == 31
    assert isinstance(measured.chart, BarChart)
    assert list(measured.chart.labels) == [f"op{n}" for n in range(15)]


@pytest.mark.parametrize("noise", [None, replace(NOISE, drift=None)])
def test_a_noise_that_is_not_known_is_said(noise: Noise | None) -> None:
    said = sections(facts=facts(noise=noise))["Measured results"].sentences[0]
    assert said == "The noise between two captures is not known: too few operators were not tuned."


def test_a_claim_that_nothing_is_judged_by_and_signs_are_said() -> None:
    def claim(name: Any, *, judged: bool) -> StepClaim:
        return StepClaim(claim=name, change=-0.05, time_saved=0.05, speed_up=0.0526, judged=judged)

    claims = (claim("model", judged=True), claim("operators", judged=False))
    said = sections(facts=facts(step_claims=claims, signs=("one", "two")))["Measured results"].sentences
    assert said[1:4] == [
        (
            "The step verdict is based on AOE's times of the model. AOE's times of operators amount to -5.00% of a step, "
            "using the calls and times of the profile before tuning; this is a separate claim, and the step verdict is "
            "not based on it."
        ),
        "A sign that the tuned bank was not in use: one.",
        "A sign that the tuned bank was not in use: two.",
    ]
    assert len(said) == 5


@pytest.mark.parametrize("known", [{"rows": ()}, {"facts": facts(method=None)}])
def test_profiles_that_cannot_be_compared_measured_nothing(known: dict[str, Any]) -> None:
    assert sections(**known)["Measured results"] == Section(
        "Measured results", ["The profiles cannot be compared; see the findings."]
    )


def test_the_parts_of_a_saving_are_those_that_are_known() -> None:
    broken_down = sections(facts=facts(reconciliation=PARTS))["Breakdown of the savings"]
    assert broken_down.sentences == [
        "The claims of AOE add up to 1,234.500 us per step, based on the calls and times of the profile before tuning."
    ]
    assert columns_of(broken_down) == ["part", "saving_us"]
    assert [tuple(row.values()) for row in rows_of(broken_down)] == [
        ("Less device time in tuned operators", 40.0),
        ("Less time in other operators", 2.0),
        ("Unexplained", 8.0),
        ("Reduction of step time", 50.0),
    ]
    whole = rows_of(sections(facts=facts(reconciliation=WHOLE))["Breakdown of the savings"])
    assert [tuple(row.values()) for row in whole][2:5] == [
        ("Hidden by overlap", -20.001),
        ("Less communication", 3.0),
        ("Less free time", 4.0),
    ]


# What to do


@pytest.mark.parametrize(
    ("verdict", "advice"),
    [
        ("confirmed", "Put the bank into use: run aoe-reports tune adopt."),
        ("partly", "The bank is useful, but the gain is smaller than AOE claims: run aoe-reports tune adopt, or tune again."),
        ("regressed", "Leave the bank in use as it is; the rows marked regressed name the operators to leave out of a new plan."),
        ("not-reproduced", "Leave the bank in use as it is. More steps in both profiles make intervals narrower."),
        ("not-comparable", "Measure both profiles with the same model, machine, CANN version and profiler options."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("accepted", [True, False])
def test_the_next_step_follows_from_the_verdict(verdict: str, advice: str, accepted: bool) -> None:
    told = sections(rows=(STEP, ONE), facts=facts(verdict=verdict, accepted=accepted))["Next steps"]
    rule = (
        "Rule: the overall verdict is a gain, at least one item is confirmed, and no operator regressed (--accept confirmed): "
        f"{'passed' if accepted else 'not passed'}."
    )
    assert told == Section("Next steps", lines=[rule, advice])
    unused = sections(rows=(STEP, ONE), facts=facts(verdict=verdict, accepted=accepted, signs=("one",)))["Next steps"]
    assert unused.lines == [
        rule,
        (
            "Make sure that the tuned bank is in use (TUNE_BANK_PATH, compiled again: remeasure.md), then measure and "
            "verify again."
        ),
    ]


@pytest.mark.parametrize(
    ("operators", "hidden", "said"),
    [(40.0, 20.001, True), (40.0, 20.0, False), (40.0, None, False), (0.0, 5.0, False), (-1.0, 5.0, False)],
)
def test_more_than_half_that_overlap_hides_is_said(operators: float, hidden: float | None, said: bool) -> None:
    parts = replace(WHOLE, operators_us=operators, hidden_by_overlap_us=hidden)
    lines = sections(rows=(STEP,), facts=facts(reconciliation=parts))["Next steps"].lines
    hides = "Most of the operator savings are hidden by overlap: the step now waits for communication."
    assert lines[2:] == ([hides] if said else [])


def test_operators_that_got_slower_are_named() -> None:
    slower = [replace(TWO, op_name=f"op{n}") for n in range(16)]
    rows = (replace(STEP, verdict="regressed"), ONE, *slower)
    named = ", ".join(f"op{n}" for n in range(15))
    assert sections(rows=rows)["Next steps"].lines[2:] == [f"Slower than before: {named}."]
