"""What `regressions` found as a report: the changes, the breakdown of each changed step, and the smallest detectable effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from aoe_reports.model.history.causes import reason_words
from aoe_reports.model.history.changes import (
    AlarmBudget,
    IncidentChange,
    OperatorChange,
    SeriesChange,
    SeriesObservation,
    StepAttribution,
    SuspectedCause,
)
from aoe_reports.model.report import Report, Section
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.present.answers import grid_of
from aoe_reports.present.night import night_headline
from aoe_reports.present.reports.incidents import apart_of, incident_sections, suspicions_section
from aoe_reports.present.reports.night_changes import attribution_remarks, budget_words, gate_budgets
from aoe_reports.present.reports.observations import observation_sections
from aoe_reports.present.reports.series_cells import has_metrics, series_grid

SHOWN_CHANGES = 20
SHOWN_STEPS = 3
"""Steps whose change is broken down in the report."""
_OF_MEMBERS = frozenset({"impact_ms", "series_id"})
"""Columns of members of an incident alone."""


def regressions_report(
    rows: Sequence[SeriesChange],
    *,
    incidents: Sequence[IncidentChange],
    suspicions: Sequence[SuspectedCause],
    observations: Sequence[SeriesObservation],
    budget: AlarmBudget,
    remark: str | None,
    not_measured: Sequence[str] = (),
) -> Report:
    """The incidents with their series, the operators of each changed step, and how reliable the alarms are."""
    sections = incident_sections(incidents, rows)
    if suspicions:
        sections.append(suspicions_section(suspicions))
    apart = apart_of(rows, suspicions)
    if apart:
        sections.append(_changes_section(apart, rows))
    sections += observation_sections(observations, every=budget.whole_history)
    divided = [(row, row.attribution) for row in rows if row.attribution is not None]
    sections += [attribution_section(row, attribution) for row, attribution in divided[:SHOWN_STEPS]]
    if len(divided) > SHOWN_STEPS:
        count = len(divided) - SHOWN_STEPS
        more = count_of(
            count,
            "The JSON output has the breakdown of {number} more step.",
            "The JSON output has the breakdown of {number} more steps.",
        )
        sections.append(Section("", [more]))
    sections.append(Section("Reliability of alarms", _price(rows, budget)))
    headline = say("{count} changes since the first night.", count=sum(row.state is not None for row in rows))
    return Report(
        "Regressions",
        headline
        if budget.whole_history
        else night_headline(rows, incidents=incidents, suspicions=suspicions, remark=remark, not_measured=not_measured),
        sections,
    )


def _changes_section(apart: Sequence[SeriesChange], rows: Sequence[SeriesChange]) -> Section:
    """Series that belong to no incident; all of them where unchanged series are requested, too."""
    said = [say("Change is after / before - 1: above 0 is slower.")]
    if has_metrics(apart):
        said.append(say("Of metrics where higher is better, below 0 is worse."))
    shown = apart if any(row.state is None for row in rows) else apart[:SHOWN_CHANGES]
    if len(apart) > len(shown):
        said.append(
            say(
                "The first {shown} of {count} are listed; the JSON output contains all.",
                shown=len(shown),
                count=len(apart),
            )
        )
    return Section("Changes", said, series_grid(SeriesChange, shown, shown, _OF_MEMBERS))


def attribution_section(row: SeriesChange, attribution: StepAttribution) -> Section:
    """The breakdown of the change of a step."""
    parts = [
        say("{name} {size:+,.3f}", name=words, size=part_us)
        for words, part_us in (
            (say("operators"), attribution.operators_us),
            (say("communication that is not overlapped"), attribution.communication_not_overlapped_us),
            (say("free time"), attribution.free_us),
            (say("unattributed"), attribution.unattributed_us),
        )
        if part_us is not None
    ]
    sentence = say(
        "The step time changed by {total:+,.3f} us: {parts}.", total=attribution.total_us, parts=join(", ", parts)
    )
    lines = [sentence, *attribution_remarks(attribution)]
    operators = [replace(operator, cause=reason_words(operator.cause)) for operator in attribution.operators]
    grid = grid_of(OperatorChange, operators) if operators else None
    return Section(say("Breakdown of the change of {workload}", workload=row.workload), lines, grid)


def _price(rows: Sequence[SeriesChange], budget: AlarmBudget) -> list[str]:
    shared = (
        say(
            "{eligible} of {series} series have enough nights to be judged; this review may show {alarms:g} false changes among them.",
            eligible=budget.eligible,
            series=budget.series,
            alarms=budget.false_alarms_per_year,
        )
        if budget.whole_history
        else budget_words(budget)
    )
    said: list[str] = [shared, *gate_budgets(budget)]
    known = [row.smallest_detectable for row in rows if row.smallest_detectable is not None]
    if known:
        said.append(
            say(
                (
                    "For the series shown, the minimum detectable effect is {median:.1f}% in the median and "
                    "{most:.1f}% at worst."
                ),
                median=median(known) * 100,
                most=max(known) * 100,
            )
        )
    return said
