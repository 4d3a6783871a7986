"""The night report: one headline, one report, whoever asks for it (`nightly`, `report`, the first page of the site).

What changed and since when, what explains it, what is hot, what could be gained, what AOE claims, what was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aoe_reports.model.causes import words_of_cause
from aoe_reports.model.changes import IncidentCause, IncidentChange, OperatorChange, SeriesChange, StepAttribution
from aoe_reports.model.report import Report
from aoe_reports.model.texts import capital, count_of, join, say
from aoe_reports.present.reports.findings import findings_section
from aoe_reports.present.reports.incidents import is_open, is_slower
from aoe_reports.present.reports.night_changes import attribution_of_lead, changes_sections, trend_section
from aoe_reports.present.reports.night_content import (
    WHOLE,
    Night,
    is_news,
    lead_of,
)
from aoe_reports.present.reports.night_runs import (
    advice_sections,
    hotspots_section,
    read_section,
    run_sections,
    tuning_sections,
    verdict_sections,
)
from aoe_reports.present.reports.night_words import (
    operator_words,
    subject_words,
    times_in_one_unit,
    title_name,
    with_short_names,
)

SHOWN_FINDINGS = 50
NAMED_CAUSES = 3
"""So many causes are named in a headline."""


def night_report(night: Night) -> Report:
    """One page: the answer first, then what it rests on."""
    lead = night.lead
    sections = [
        *changes_sections(night),
        *([trend_section(night, night.trend)] if night.trend is not None and night.trend.nights else []),
        *([attribution_of_lead(night, lead, lead.attribution)] if lead is not None and lead.attribution else []),
        *([hotspots_section(night)] if night.night is not None else []),
        *(advice_sections(night.advised) if night.advised is not None else []),
        *tuning_sections(night),
        *verdict_sections(night.verdicts),
        *(run_sections(night) if night.job is None else [read_section(night.job)]),
        findings_section(night.findings, SHOWN_FINDINGS, "`--format json`"),
    ]
    return Report(_title_of(night), headline(night), sections)


def _title_of(night: Night) -> str:
    title: str = say("Night report")
    if night.workload is not None:
        title = say("Night report of {workload}", workload=title_name(night.workload))
    if night.night is not None:
        title = say("{report}, {night}", report=title, night=night.night)
    return say("{report} (simulated data)", report=title) if night.job is not None and night.job.simulated else title


def headline(night: Night) -> str:
    """The answer in one sentence, also where nothing was stored or measured."""
    if night.night is None and night.job is not None:
        broken = (finding.message for finding in night.findings if finding.severity == "error")
        return say("Nothing was stored: {why}", why=next(broken, say("nothing was found")))
    if night.night is None:
        return say("The store is empty: no run is stored.")
    if night.budget is None:
        return say("Nothing was measured.")
    return night_headline(night.changes, night.incidents, night.remark)


def night_headline(
    changes: Sequence[SeriesChange], incidents: Iterable[IncidentChange], remark: str | None = None
) -> str:
    """The night in one sentence: the regression of the step and what explains it, else that there is none.

    `changes` and `incidents` are rows of `regressions`, `remark` says why nothing can be said of changes, where that is so.
    """
    slower = [row for row in changes if is_open(row)]
    lead = lead_of(slower)
    if lead is None:
        return _without_regression(changes, remark)
    causes = next((one.causes for one in incidents if one.incident == lead.incident), ())
    text = say("Regression: {level}", level=_level(lead))
    explained = _explanation(lead, slower, causes)
    if explained is not None:
        text = join("; ", (text, explained))
    others = {row.incident or row.series_id for row in slower if row is not lead} - {lead.incident}
    said = say("{text}.", text=text)
    if not others:
        return said
    more = count_of(len(others), "{number} other incident is open.", "{number} other incidents are open.")
    return join(" ", (said, more))


def _without_regression(changes: Sequence[SeriesChange], remark: str | None) -> str:
    """The headline of a night with no regression that is open: what else changed, as far as it is news."""
    if remark is not None:
        return say("{text}.", text=capital(remark))
    slower = [row for row in changes if is_slower(row)]
    news = [row.state for row in changes if is_news(row)]
    counts = [
        say("{count} series with a suspected regression (run the night again)", count=news.count("suspect")),
        say("{count} slower and acknowledged", count=sum(row.acknowledged is not None for row in slower)),
        say("{count} recovered", count=news.count("recovered")),
        say("{count} improved", count=news.count("improved")),
    ]
    known = [one for one in counts if one.values["count"]]
    if not known:
        return say("No regression: no series changed.")
    return say("No open regression: {changed}.", changed=join(", ", known))


def _level(row: SeriesChange) -> str:
    """What changed by how much, since when, from which level to which."""
    since = say(" since {since}", since=row.since) if row.since else ""
    levels: str = ""
    if row.before and row.after:
        (before, after), unit = times_in_one_unit(row.before * 1e6, row.after * 1e6)
        levels = say(" ({before} → {after} {unit})", before=before, after=after, unit=unit)
    return say(
        "{what} {change:+.1%}{since}{levels}", what=subject_words(row), change=row.change, since=since, levels=levels
    )


def _explanation(lead: SeriesChange, slower: Sequence[SeriesChange], causes: Sequence[IncidentCause]) -> str | None:
    """What explains that a step is slower: causes of many operators, else its attribution, else an operator of the same night."""
    if any(cause.kind != "operator" for cause in causes):
        return join(", ", (words_of_cause(with_short_names(cause)) for cause in causes[:NAMED_CAUSES]))
    if lead.attribution:
        return _largest_part(lead.attribution)
    if lead.scope not in WHOLE:
        return None
    one = next((row for row in slower if row.scope == "op" and row.since == lead.since), None)
    if one is None:
        return None
    return say("{operator} {change:+.1%} since the same night", operator=operator_words(one), change=one.change)


def _largest_part(attribution: StepAttribution) -> str | None:
    """The part of a slower step that grew most: an operator, communication or free time; None where the newest step is no slower."""
    total_us = attribution.total_us
    operators = sorted(attribution.operators, key=lambda one: -one.difference_us)[:1]
    parts: list[tuple[float, str]] = [
        *((one.difference_us, _changed_operator(one)) for one in operators),
        (attribution.communication_not_overlapped_us or 0.0, say("communication that is not overlapped")),
        (attribution.free_us or 0.0, say("free time")),
    ]
    part_us, what = max(parts, key=lambda part: part[0])
    if part_us <= 0 or total_us <= 0:
        return None
    (part, total), unit = times_in_one_unit(part_us * 1e3, total_us * 1e3)
    if part_us <= total_us:
        return say("{what} explains {part} of {total} {unit} per step", what=what, part=part, total=total, unit=unit)
    return say("{what} adds {part} {unit} per step", what=what, part=part, unit=unit)


def _changed_operator(one: OperatorChange) -> str:
    """An operator of an attribution, with its change where it ran before, too."""
    if not one.before_us:
        return say("{operator} (new)", operator=operator_words(one))
    change = one.after_us / one.before_us - 1
    return say("{operator} {change:+.1%}", operator=operator_words(one), change=change)
