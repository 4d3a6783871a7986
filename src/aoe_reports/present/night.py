"""The night report: one headline, one report, whoever asks for it (`nightly`, `report`, the first page of the site).

What changed and since when, what explains it, what is hot, what could be gained, what AOE claims, what was read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from aoe_reports.model.causes import causes_in_words, facts_in_words, models_in_words
from aoe_reports.model.changes import (
    LOCATED,
    METRIC,
    NOTICED,
    WHOLE,
    IncidentCause,
    IncidentChange,
    OperatorChange,
    SeriesChange,
    StepAttribution,
    SuspectedCause,
    ToldFact,
)
from aoe_reports.model.metrics import loss
from aoe_reports.model.report import Report
from aoe_reports.model.texts import Text, capital, count_of, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.present.reports.findings import findings_section
from aoe_reports.present.reports.incidents import is_open, is_slower
from aoe_reports.present.reports.night_changes import attribution_of_lead, changes_sections, trend_section
from aoe_reports.present.reports.night_content import (
    Night,
    foremost,
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
    line_name,
    operator_line,
    subject_words,
    title_name,
    with_short_names,
)
from aoe_reports.present.reports.series_cells import has_metrics, value_words

SHOWN_FINDINGS = 50
_OF_MOVE = ("since", "since_run", "before", "after", "change", "incident")
_REASONS = {
    "damage": say("damaged input"),
    "not-enough-data": say("not enough nights"),
    "tuning-failed": say("tuning failed"),
    "not-comparable": say("not comparable"),
}
"""Why a job fails, beside its gates."""
NAMED_FACTS = 2
"""So many facts that changed with it are named in a headline."""


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
    text = night_headline(night.changes, incidents=night.incidents, suspicions=night.suspicions, remark=night.remark)
    return with_missing(text, night.missing)


def with_missing(text: str, missing: Sequence[str]) -> str:
    """A headline, and the models that did not run."""
    return join(" ", (text, say("Not measured: {models}.", models=models_in_words(missing)))) if missing else text


def night_headline(
    changes: Sequence[SeriesChange],
    *,
    incidents: Iterable[IncidentChange] = (),
    suspicions: Sequence[SuspectedCause] = (),
    remark: str | None = None,
) -> str:
    """The night in one sentence: what is new, the gravest first; else what is open; else that there is no regression.

    `changes`, `incidents` and `suspicions` are those of `regressions`, `remark` says why nothing can be said of changes, where
    that is so.
    """
    slower = [row for row in changes if is_open(row)]
    if not slower and remark is not None:
        return say("{text}.", text=capital(remark))
    known = {one.incident: one for one in incidents}
    lead = lead_of([part for row in slower if (part := _new_part(row, known)) is not None])
    suspected = _foremost_suspicion(suspicions)
    quicker = None if suspected is not None and suspected.cause.change > 0 else _newly_quicker(changes, known)
    if lead is not None:
        first = say("Regression: {what}.", what=_change_words(lead, slower, known))
    elif quicker is not None:
        words = _change_words(quicker, (), known)
        first = say("Recovered: {what}." if quicker.state == "recovered" else "Improved: {what}.", what=words)
    elif suspected is not None:
        first = _suspected(suspected)
    elif slower:
        lead = lead_of(slower)
        assert lead is not None
        first = say("No new regression. Open: {what}.", what=_change_words(lead, slower, known))
    else:
        return _without_regression(changes)
    others = _open_incidents(changes) - ({lead.series_id, lead.incident} if lead is not None else set())
    if not others:
        return first
    return join(" ", (first, _others_open(len(others), slower, is_first=lead is None)))


def _others_open(count: int, slower: Sequence[SeriesChange], *, is_first: bool) -> Text:
    """How many incidents are open beside the first; against a chosen baseline there are only series."""
    if all(row.incident is None for row in slower):
        if has_metrics(slower):
            return count_of(count, "{number} other series is worse.", "{number} other series are worse.")
        return count_of(count, "{number} other series is slower.", "{number} other series are slower.")
    if is_first:
        return count_of(count, "{number} incident is open.", "{number} incidents are open.")
    return count_of(count, "{number} other incident is open.", "{number} other incidents are open.")


def _open_incidents(changes: Sequence[SeriesChange]) -> set[str]:
    """The incidents that series got slower in that are open; series of no incident by themselves."""
    found: set[str] = set()
    for row in filter(is_open, changes):
        moved = {move.incident for move in row.moves if move.incident is not None}
        found |= moved or {row.incident or row.series_id}
    return found


def since_with_facts(title: str, since: str, metadata: Sequence[ToldFact]) -> str:
    """What a title says, since when, and the facts that changed with it."""
    return _with_facts(say("{what}{since}", what=title, since=_since(since)), metadata)


def verdict_line(
    code: int,
    why: Collection[str],
    *,
    gates: Sequence[str],
    changes: Sequence[SeriesChange],
    report: str | None = None,
) -> str:
    """The end of a long report: whether it passes, how many incidents are open, where the report is.

    `code` is the exit code, `why` are the reasons for it.
    """
    if not why and code == 0:
        said = say("gate passed")
    elif "regression" in why:
        said = say("gate failed")
    elif "suspect" in why:
        said = say("gate failed (suspected regression)")
    else:
        reasons = [_REASONS.get(reason, reason) for reason in why]
        said = say("failed: {reasons}", reasons=join(", ", reasons or [say("input that cannot be read")]))
    if gates:
        said = say("{gate} ({gates})", gate=said, gates=join(", ", gates))
    count, slower = len(_open_incidents(changes)), [row for row in changes if is_open(row)]
    by_series = slower and all(row.incident is None for row in slower)
    parts = [
        said,
        count_of(count, "{number} series worse", "{number} series worse")
        if by_series and has_metrics(slower)
        else count_of(count, "{number} series slower", "{number} series slower")
        if by_series
        else count_of(count, "{number} incident open", "{number} incidents open"),
    ]
    if report is not None:
        parts.append(say("report: {path}", path=report))
    return join(" · ", parts)


def _new_part(row: SeriesChange, known: Mapping[str, IncidentChange]) -> SeriesChange | None:
    """What nobody was told before tonight of a series that is slower; None where all of it was told.

    A step that fails tonight is news, although its operators were told before. Against a chosen baseline everything is new.
    """
    moves = [move for move in row.moves if move.incident in known]
    if not moves:
        incident = known.get(row.incident or "")
        is_new = row.incident is None or (row.new if incident is None else incident.new)
        return row if is_new else None
    new = [move for move in moves if loss(move.change, row.better) > 0 and known[move.incident or ""].new]
    if new and len(row.moves) > 1:
        move = new[-1]
        return replace(row, **{name: getattr(move, name) for name in _OF_MOVE})
    return row if new or (row.new and row.fails is not None and row.scope in NOTICED) else None


def _newly_quicker(changes: Sequence[SeriesChange], known: Mapping[str, IncidentChange]) -> SeriesChange | None:
    """What got quicker and is told tonight: a step, else what saves most; single series are only counted."""
    told = {name for name, one in known.items() if one.new and len(one.members) > 1}
    return foremost([row for row in changes if row.state in {"improved", "recovered"} and row.incident in told])


def _foremost_suspicion(suspicions: Sequence[SuspectedCause]) -> SuspectedCause | None:
    """What the newest night shows of most series; what is slower first."""
    shown = [one for one in suspicions if not one.past]
    return min(shown, key=lambda one: (one.cause.change < 0, -len(one.series)), default=None)


def _suspected(one: SuspectedCause) -> Text:
    what = _with_facts(causes_in_words([with_short_names(one.cause)], one.models), one.metadata)
    return say("Suspected since {since}: {what} (run the night again).", since=one.since, what=what)


def _without_regression(changes: Sequence[SeriesChange]) -> str:
    """The headline of a night with no regression that is open: what else changed, as far as it is news."""
    slower = [row for row in changes if is_slower(row)]
    accepted = sum(row.acknowledged is not None for row in slower)
    news = [row.state for row in changes if is_news(row)]
    counts = [
        say("{count} series with a suspected regression (run the night again)", count=news.count("suspect")),
        say(
            "{count} worse and acknowledged" if has_metrics(slower) else "{count} slower and acknowledged",
            count=accepted,
        ),
        say("{count} recovered", count=news.count("recovered")),
        say("{count} improved", count=news.count("improved")),
    ]
    known = [one for one in counts if one.values["count"]]
    if not known:
        settled = any(row.state is not None for row in changes)
        return say("No regression: nothing new." if settled else "No regression: no series changed.")
    return say("No open regression: {changed}.", changed=join(", ", known))


def _change_words(lead: SeriesChange, slower: Sequence[SeriesChange], known: Mapping[str, IncidentChange]) -> str:
    """What changed, since when, what explains it and what else changed there."""
    incident = known.get(lead.incident or "")
    causes = [] if incident is None else [with_short_names(cause) for cause in incident.causes]
    since = _since(lead.since if incident is None else incident.since)
    models = [] if incident is None else _open_models(incident)
    if causes and lead.scope not in NOTICED | LOCATED:
        is_lead = [(cause.kind, cause.followers) for cause in causes] == [("operator", 1)]
        levels = _levels(lead) if is_lead else ""
        text: str = say("{what}{since}{levels}", what=causes_in_words(causes, models), since=since, levels=levels)
    else:
        level = say("{what} {change:+.1%}{since}{levels}", what=subject_words(lead), change=lead.change, since=since, levels=_levels(lead))  # fmt: skip
        explained = _explanation(lead, slower, causes, models)
        text = level if explained is None else join("; ", (level, explained))
    if (layers := _layers(lead, slower)) is not None:
        text = join("; ", (text, layers))
    return _with_facts(text, () if incident is None else incident.metadata)


def _layers(lead: SeriesChange, slower: Sequence[SeriesChange]) -> str | None:
    """The layer of an incident that costs most, and how many more there are; None where that is what is told, or nothing tells."""
    mine = [row for row in slower if row.scope == "layer" and row.incident == lead.incident and row.incident]
    if not mine or lead.scope in LOCATED:
        return None
    most = max(mine, key=lambda row: (abs(row.impact_ms or 0.0), row.series_id))
    named = say("{what} {change:+.1%}", what=subject_words(most), change=most.change)
    if len(mine) == 1:
        return named
    return say("{named} and {others}", named=named, others=count_of(len(mine) - 1, "{number} more", "{number} more"))


def _open_models(incident: IncidentChange) -> Sequence[str]:
    """The models of an incident that are still slower; of one that is closed all of them."""
    return sorted({member.model for member in incident.members if member.open}) or incident.models


def _with_facts(text: str, metadata: Sequence[ToldFact]) -> str:
    """What changed, and the facts that changed with it."""
    facts = [fact for fact in metadata if fact.seen != "later" and fact.before and fact.after][:NAMED_FACTS]
    return say("{what}, with {facts}", what=text, facts=facts_in_words(map(_in_line, facts))) if facts else text


def _in_line(fact: ToldFact) -> ToldFact:
    return replace(fact, name=line_name(fact.name), before=line_name(fact.before), after=line_name(fact.after))


def _since(night: str | None) -> str:
    return say(" since {since}", since=night) if night else ""


def _levels(row: SeriesChange) -> str:
    """From which level to which."""
    if not (row.before and row.after):
        return ""
    if row.scope == METRIC:
        levels = (value_words(level, row.unit) for level in (row.before, row.after))
        return say(" ({before} → {after})", **dict(zip(("before", "after"), levels, strict=True)))
    (before, after), unit = times_in_one_unit(row.before * 1e6, row.after * 1e6)
    return say(" ({before} → {after} {unit})", before=before, after=after, unit=unit)


def _explanation(
    lead: SeriesChange, slower: Sequence[SeriesChange], causes: Sequence[IncidentCause], models: Sequence[str]
) -> str | None:
    """What explains that a step changed: causes of many operators, else its attribution, else an operator of the same night."""
    if any(cause.kind != "operator" for cause in causes):
        return causes_in_words(causes, models, models[0] if len(models) == 1 else None, of_step=True)
    if lead.attribution:
        return _largest_part(lead.attribution)
    if lead.scope not in WHOLE:
        return None
    one = next((row for row in slower if row.scope == "op" and row.since == lead.since), None)
    if one is None:
        return None
    return say("{operator} {change:+.1%} since the same night", operator=operator_line(one), change=one.change)


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
        return say("{operator} (new)", operator=operator_line(one))
    change = one.after_us / one.before_us - 1
    return say("{operator} {change:+.1%}", operator=operator_line(one), change=change)
