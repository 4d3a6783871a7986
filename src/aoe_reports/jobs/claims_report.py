"""The claims of any tuner on one page: the verdict on each, all of them together, where the savings went, what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from aoe_reports.jobs.verified_report import (
    VERDICTS,
    VERDICTS_EXPLAINED,
    advice_of,
    claims_section,
    findings_section,
    headline,
    noise_sentence,
    rule_of,
    savings_section,
)
from aoe_reports.jobs.verify_answer import VerifyFacts
from aoe_reports.model.findings import Finding
from aoe_reports.model.report import Report, Section
from aoe_reports.model.rows import Rows, column, row
from aoe_reports.model.texts import Text, join, say
from aoe_reports.present.answers import section_of
from aoe_reports.tuning.options import Statistic
from aoe_reports.tuning.tuner import Claims
from aoe_reports.tuning.verify.rows import Method, Row, Verdict
from aoe_reports.tuning.verify.statistics import NAMES, StatisticRow, min_calls

SHOWN = 100
"""Claimed operators that are listed for people."""


Environment = Literal["equal", "partly-known", "differs"]


@row
class ClaimsFacts:
    """What is said of the claims and the captures beside what every verification says."""

    claims: int = column()
    """How many claims were read."""
    claimed_by: Sequence[str] = column()
    captures_before: int = column()
    captures_after: int = column()
    by_captures: bool = column()
    """Whether intervals come from repeated captures."""
    statistic: Statistic = column(default="mean")
    """What of the calls the claims are about."""
    accuracy_agreed: int = column(default=0)
    """Claims whose tuner says that the results agreed with a reference."""
    accuracy_differed: int = column(default=0)
    """Claims whose tuner says that they did not; the other claims do not say."""
    environment: Environment = column(default="equal")
    """Whether chip, versions and options were equal on both sides, as far as they are known."""


@dataclass(frozen=True, slots=True)
class ClaimsPage:
    """What the page tells of."""

    claims: Claims
    rows: Sequence[Row]
    facts: VerifyFacts
    measured: ClaimsFacts
    findings: Sequence[Finding]
    statistics: Sequence[StatisticRow] = ()


def claims_report(page: ClaimsPage) -> Report:
    """The whole page."""
    tuner = " + ".join(page.claims.claimed_by) or say("the files")
    sections = [
        claims_section(page.claims, tuner),
        _judged(page),
        _acceptance(page),
        _together(page),
        _savings(page, tuner),
        Section("Next steps", lines=next_steps_of_claims(page.facts)),
        findings_section(page.findings),
    ]
    shown = [section for section in sections if section is not None]
    told = headline(page.rows, page.facts, tuner, with_step=_has_steps(page.rows))
    if page.measured.statistic != "mean" and page.facts.method is not None:
        told = say(
            "{verdict}: {statistic} of the calls of the claimed operators; {counts}.",
            verdict=VERDICTS[page.facts.verdict],
            statistic=NAMES[page.measured.statistic],
            counts=_counts(page.rows),
        )
    return Report("Claims, checked", told, shown)


def next_steps_of_claims(facts: VerifyFacts) -> list[str]:
    """Whether the rule is met, and what to do."""
    return [rule_of(facts), advice_of(facts, _ADVICE)]


def _has_steps(rows: Sequence[Row]) -> bool:
    return any(row.scope == "step" and row.measured_before_us is not None for row in rows)


def _savings(page: ClaimsPage, tuner: str) -> Section | None:
    """What became of the savings, if the profiles have steps."""
    parts = page.facts.reconciliation
    return None if parts is None or parts.step_saving_us is None else savings_section(parts, tuner)


_COUNTED: dict[Verdict, str] = {
    "confirmed": say("confirmed: {number}"),
    "partly": say("partly: {number}"),
    "not-reproduced": say("not reproduced: {number}"),
    "regressed": say("regressed: {number}"),
    "not-comparable": say("not comparable: {number}"),
    "not-used": say("bank not used: {number}"),
}


def _judged(page: ClaimsPage) -> Section:
    title = "Measured results"
    rows = [one for one in page.rows if one.scope == "operator"]
    if page.facts.method is None:
        return Section(title, [say("The profiles cannot be compared; see the findings.")])
    sentences = [say("Claimed operators by verdict: {told}.", told=_counts(rows))] if rows else []
    if len(rows) > SHOWN:
        told = say("{shown} of {count} rows; JSON and CSV contain all of them.", shown=SHOWN, count=len(rows))
        sentences.append(told)
    without = frozenset({"scope"})  # operators, all of them
    return section_of(Rows(type=Row, rows=rows[:SHOWN], title=title, sentences=sentences, without=without))


def _counts(rows: Sequence[Row]) -> Text:
    counts = Counter(one.verdict for one in rows if one.scope == "operator" and one.claim == "operators")
    return join(", ", (say(text, number=counts[word]) for word, text in _COUNTED.items() if counts[word]))


def statistics_table(page: ClaimsPage) -> Rows[StatisticRow]:
    """What acceptance asks for beside the mean."""
    return Rows(type=StatisticRow, rows=page.statistics, key="statistics", title="Acceptance", is_shown=False)


def _acceptance(page: ClaimsPage) -> Section | None:
    """The statistics of calls, and what else is asked for before tuned kernels are put into use."""
    if page.facts.method is None:
        return None
    measured = page.measured
    lines = [
        say(
            "The claims are about the {statistic} of calls (--statistic). P95 needs {p95} calls on each side, P99 {p99}.",
            statistic=NAMES[measured.statistic],
            p95=min_calls("p95"),
            p99=min_calls("p99"),
        ),
        _accuracy(measured),
        _ENVIRONMENTS[measured.environment],
    ]
    rows = [one for one in page.statistics if one.before_us is not None]
    section = section_of(replace(statistics_table(page), rows=rows[:SHOWN], is_shown=True))
    return replace(section, lines=lines)


def _accuracy(measured: ClaimsFacts) -> Text:
    """What the tuner says of results, which no profile shows."""
    agreed, differed = measured.accuracy_agreed, measured.accuracy_differed
    if not agreed and not differed:
        return say("Accuracy: the claims do not state whether results agree with a reference.")
    return say(
        "Accuracy, as the tuner states it: {agreed} claims agree with a reference, {differed} do not, {silent} do not state it.",
        agreed=agreed,
        differed=differed,
        silent=measured.claims - agreed - differed,
    )


_ENVIRONMENTS: dict[Environment, Text] = {
    "equal": say("Environment: chip, versions and profiler options are equal on both sides."),
    "partly-known": say("Environment: equal as far as both sides record it; see the findings."),
    "differs": say("Environment: it differs between the sides (--force)."),
}


def _together(page: ClaimsPage) -> Section | None:
    """The types, the step, and the counts of verdicts."""
    method = page.facts.method
    if method is None:
        return None
    lines = [_how(method, page.measured), VERDICTS_EXPLAINED]
    noise = page.facts.noise
    known = noise is not None and noise.drift is not None
    sentences = [noise_sentence(page.facts)] if known or not page.measured.by_captures else []
    if not _has_steps(page.rows):  # kernels by themselves: their types are the same rows once more
        return Section("Method", sentences, lines=lines)
    rows = [one for one in page.rows if one.scope != "operator"]
    section = section_of(Rows(type=Row, rows=rows, title="By type, and the step", sentences=sentences))
    return replace(section, lines=lines)


def _how(method: Method, measured: ClaimsFacts) -> str:
    told = {"level": method.level, "resamples": method.resamples}
    if measured.by_captures:
        return say(
            "Intervals: {level:.0%}, from a bootstrap with {resamples} resamples and captures as blocks ({before} before, "
            "{after} after), fixed seed.",
            before=measured.captures_before,
            after=measured.captures_after,
            **told,
        )
    return say(
        "Intervals: {level:.0%}, from a bootstrap with {resamples} resamples and steps as blocks ({before} before, {after} "
        "after; with fewer than 5: single calls), fixed seed, widened by the noise between captures.",
        before=method.steps_before,
        after=method.steps_after,
        **told,
    )


_ADVICE: dict[Verdict, str] = {
    "confirmed": say("The claimed gain was measured: use the tuned kernels."),
    "partly": say("The tuned kernels are faster, but by less than claimed."),
    "regressed": say("Do not use the tuned kernels that are marked regressed."),
    "not-reproduced": say("No gain was measured. More captures on both sides make intervals narrower."),
    "not-comparable": say(
        "Measure both sides with the same model, machine, CANN version and profiler options; one kernel at least five times "
        "on each side, in turns."
    ),
    "not-used": say("Make sure that the tuned kernels are in use, then measure again."),
}
