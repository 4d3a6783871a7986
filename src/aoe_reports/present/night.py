"""The night report: one headline, one report, whoever asks for it (`nightly`, `report`, the first page of the site).

What changed and since when, what explains it, what is hot, what could be gained, what AOE claims, what was read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aoe_reports.model.findings import SEVERITIES, Finding
from aoe_reports.model.history.causes import (
    NAMED,
    causes_in_words,
    count_ranks,
    facts_in_words,
    main_causes,
    models_in_words,
)
from aoe_reports.model.history.changes import (
    LOCATED,
    MEMORY,
    METRICS,
    MIN_STEP_SHARE,
    NOTICED,
    WHOLE,
    IncidentCause,
    IncidentChange,
    OperatorChange,
    SeriesChange,
    SuspectedCause,
    ToldFact,
    by_effect,
    is_small,
)
from aoe_reports.model.history.memory_words import memory_change_words, owners_in_words
from aoe_reports.model.history.metrics import loss
from aoe_reports.model.report import Report, Section
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import Text, capital, count_of, join, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.present.reports.incidents import is_open, is_slower, is_suspected, matters
from aoe_reports.present.reports.night_changes import attribution_of_lead, changes_sections, trend_section
from aoe_reports.present.reports.night_content import Night, foremost, is_news, leads
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
from aoe_reports.present.values import show

SHOWN_FINDINGS = 50
_OF_MOVE = ("since", "since_run", "before", "after", "change", "incident")
_REASONS = {
    "damage": say("damaged input"),
    "expected-absent": say("expected data is missing"),
    "tuning-failed": say("tuning failed"),
    "not-comparable": say("not comparable"),
}
"""Why a job fails, beside its gates."""
_UNJUDGED = frozenset({"not-enough-data", "nothing-selected"})
"""Reasons that `not_judged` explains."""
UNJUDGED_CODE = 4
"""The exit code of these reasons alone."""
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
    return night_headline(
        night.changes,
        incidents=night.incidents,
        suspicions=night.suspicions,
        remark=night.remark,
        not_measured=night.not_measured,
    )


def night_headline(
    changes: Sequence[SeriesChange],
    *,
    incidents: Iterable[IncidentChange] = (),
    suspicions: Sequence[SuspectedCause] = (),
    remark: str | None = None,
    not_measured: Sequence[str] = (),
) -> str:
    """The night in one sentence: what is new and has an effect on a step; else what is open; else that there is no regression.

    `changes`, `incidents` and `suspicions` are those of `regressions`, `remark` says why nothing can be said of changes, where
    that is so. A second sentence says what was `not_measured`: models, and parts of them.
    """
    said = _changes_headline(changes, incidents, suspicions, remark)
    if not not_measured:
        return said
    return join(" ", (said, say("Not measured: {models}.", models=models_in_words(not_measured))))


def _changes_headline(
    changes: Sequence[SeriesChange],
    incidents: Iterable[IncidentChange],
    suspicions: Sequence[SuspectedCause],
    remark: str | None,
) -> str:
    slower = [row for row in changes if is_open(row)]
    if not slower and remark is not None:
        return say("{text}.", text=capital(remark))
    known = {incident.incident: incident for incident in incidents}
    night = _HeadlineFacts(
        slower=slower,
        known=known,
        new=foremost([part for row in slower if (part := _new_part(row, known)) is not None]),
        quicker=_newly_quicker(changes, known),
        suspected=list(_suspicions(changes, suspicions)),
    )
    past = {series for suspicion in suspicions if suspicion.past for series in suspicion.series}
    first, lead = night.large() or night.small() or (_without_regression(changes, past), None)
    others = _open_incidents(changes) - ({lead.series_id, lead.incident} if lead is not None else set())
    said = [first]
    if (lead is None or lead is night.new) and (other := _other_open(slower, lead)) is not None:
        # what fails the job may not be what is new tonight
        ranks = count_ranks(other, (row for row in slower if row.incident == other.incident))
        said.append(say("Open: {what}.", what=_level_words(other, other.since, ranks)))
        others -= _open_incidents([other])
    if others:
        said.append(_others_open(len(others), slower, is_first=len(said) == 1 and lead is None))
    return join(" ", said) if len(said) > 1 else first


def _other_open(slower: Sequence[SeriesChange], lead: SeriesChange | None) -> SeriesChange | None:
    """What is open and matters most beside what a headline names: a slow-down of none of its incidents."""
    shown = _open_incidents([] if lead is None else [lead])
    return foremost(
        [row for row in slower if row.incident and matters(row) and shown.isdisjoint(_open_incidents([row]))]
    )


@dataclass(frozen=True, slots=True)
class _HeadlineFacts:
    """What a headline can be about; its sentence goes with the open row that it names, if it names one."""

    slower: Sequence[SeriesChange]
    """What is open."""
    known: Mapping[str, IncidentChange]
    new: SeriesChange | None
    """The first open incident that no earlier report had."""
    quicker: SeriesChange | None
    suspected: Sequence[_Suspected]

    def large(self) -> tuple[str, SeriesChange | None] | None:
        """What matters: new or suspected slow-downs by their effect, then what got quicker, then what is open."""
        worse, better = (
            next((one for one in self.suspected if one.matters and one.is_faster == faster), None)
            for faster in (False, True)
        )
        if self.new is not None and matters(self.new):
            first = say("Regression: {what}.", what=self._words(self.new))
            is_first = worse is not None and leads(worse.since, worse.step_share, self.new)
            return join(" ", (worse.text, first)) if worse is not None and is_first else first, self.new
        if worse is not None:
            return worse.text, None
        if self.quicker is not None and matters(self.quicker):
            return self._quicker_words(self.quicker), None
        if better is not None:
            return better.text, None
        lead = foremost([row for row in self.slower if matters(row)])
        return None if lead is None else (say("No new regression. Open: {what}.", what=self._words(lead)), lead)

    def small(self) -> tuple[str, SeriesChange | None] | None:
        """What is known to be a minor part of a step, after a sentence that says so."""
        nothing = say("No regression that costs {share:.1%} of a step or more.", share=MIN_STEP_SHARE)
        if self.new is not None:
            return join(" ", (nothing, say("Smaller: {what}.", what=self._words(self.new)))), self.new
        if self.quicker is not None:
            return join(" ", (nothing, self._quicker_words(self.quicker))), None
        if self.suspected:
            return join(" ", (nothing, self.suspected[0].text)), None
        lead = foremost(self.slower)
        return None if lead is None else (join(" ", (nothing, say("Open: {what}.", what=self._words(lead)))), lead)

    def _words(self, row: SeriesChange) -> str:
        return _change_words(row, self.slower, self.known)

    def _quicker_words(self, row: SeriesChange) -> Text:
        words = _change_words(row, (), self.known)
        return say("Recovered: {what}." if row.state == "recovered" else "Improved: {what}.", what=words)


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
    incidents: set[str] = set()
    for row in filter(is_open, changes):
        moved = {move.incident for move in row.moves if move.incident is not None}
        incidents |= moved or {row.incident or row.series_id}
    return incidents


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
    not_judged: Sequence[str] = (),
    nothing_judged: bool = False,
) -> str:
    """The end of a long report: whether it passes, how many incidents are open, where the report is.

    `code` is the exit code, `why` are the reasons for it, `not_judged` why no gate could be judged (`nothing_judged`), or which
    could not.
    """
    others = [reason for reason in why if reason not in _UNJUDGED]
    unjudged: str = join("; ", not_judged)
    if "regression" in why:
        said = say("gate failed")
    elif "suspect" in why:
        said = say("gate failed (suspected regression)")
    elif others or code not in {0, UNJUDGED_CODE}:
        reasons = [_REASONS.get(reason, reason) for reason in others]
        said = say("failed: {reasons}", reasons=join(", ", reasons or [say("input that cannot be read")]))
    else:
        said = say("gate not judged") if nothing_judged else say("gate passed")
    if gates:
        said = say("{gate} ({gates})", gate=said, gates=join(", ", gates))
    if not_judged and (not nothing_judged or others or code not in {0, UNJUDGED_CODE}):
        said = say("{gate}, not judged: {why}", gate=said, why=unjudged)
    elif not_judged:
        said = say("{gate}: {why}", gate=said, why=unjudged)
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
    """What got quicker for the first time tonight: a step, else what saves most; single series are only counted."""
    new = {name for name, one in known.items() if one.new and len(one.members) > 1}
    return foremost([row for row in changes if row.state in {"improved", "recovered"} and row.incident in new])


@dataclass(frozen=True, slots=True)
class _Suspected:
    """Something that the newest nights show: in words, and what it adds to a step."""

    text: Text
    since: str | None
    is_faster: bool
    change: float
    step_share: float | None
    matters: bool


def _suspicions(changes: Sequence[SeriesChange], suspicions: Sequence[SuspectedCause]) -> Iterator[_Suspected]:
    """What the newest nights show, the largest effect first; a series only where no cause explains it."""
    explained = {series for suspicion in suspicions for series in suspicion.series}
    apart = [row for row in changes if row.state == "suspect" and row.series_id not in explained]
    suspected = [_suspected(suspicion, changes) for suspicion in suspicions if not suspicion.past]
    for is_faster in (False, True):
        row = foremost(
            [row for row in apart if matters(row) and (loss(row.change or 0.0, row.better) < 0) == is_faster]
        )
        suspected += [] if row is None else [_suspected_row(row, is_faster=is_faster)]
    yield from sorted(suspected, key=lambda one: (by_effect(one.step_share), one.is_faster, -abs(one.change)))


def _suspected(one: SuspectedCause, changes: Sequence[SeriesChange]) -> _Suspected:
    """A suspected cause, after the change of the step that it explains."""
    cause, explains = with_short_names(one.cause), set(one.series)
    is_faster = cause.change < 0
    suspects = [row for row in changes if row.state == "suspect" and row.series_id in explains]
    step = next((row for row in suspects if row.scope in WHOLE), None)
    what: str = causes_in_words([cause], one.models)
    if step is not None:
        explained = _explained([cause], one.models, step)
        what = join("; ", (_level_words(step, None, count_ranks(step, suspects)), explained))
    words = _with_facts(what, one.metadata)
    is_known_small = step is None and is_small(cause.step_share)
    text = _suspected_words(words, one.since, is_faster=is_faster)
    return _Suspected(text, one.since, is_faster, cause.change, cause.step_share, not is_known_small)


def _suspected_row(row: SeriesChange, *, is_faster: bool) -> _Suspected:
    text = _suspected_words(_level_words(row), row.since, is_faster=is_faster)
    return _Suspected(text, row.since, is_faster, row.change or 0.0, row.step_share, matters(row))


def _suspected_words(what: str, since: str | None, *, is_faster: bool) -> Text:
    words = (
        "Suspected improvement since {since}: {what} (run the night again)."
        if is_faster
        else "Suspected since {since}: {what} (run the night again)."
    )
    return say(words, since=since, what=what)


def _level_words(row: SeriesChange, since: str | None = None, ranks: int = 1) -> Text:
    change = show(row.change, "change")
    if row.scope == MEMORY and row.before and row.after:
        change = memory_change_words(row.metric, row.before, row.after)
    level = say("{what} {change}{since}{levels}", what=subject_words(row, ranks), change=change, since=_since(since), levels=_levels(row))  # fmt: skip
    owners = owners_in_words(row.memory)
    return level if owners is None else say("{level}: {owners}", level=level, owners=owners)


def _without_regression(changes: Sequence[SeriesChange], past: Collection[str]) -> str:
    """The headline of a night with no regression that is open: what else changed, as far as it is news.

    What the newest night shows no more (`past`) is none.
    """
    changes = [row for row in changes if row.state != "suspect" or row.series_id not in past]
    slower = [row for row in changes if is_slower(row)]
    accepted = sum(row.acknowledged is not None for row in slower)
    news = [row.state for row in changes if is_news(row)]
    suspected, suspects = sum(map(is_suspected, changes)), news.count("suspect")
    counts = [
        say("{count} series with a suspected regression (run the night again)", count=suspected),
        say("{count} series with a suspected improvement (run the night again)", count=suspects - suspected),
        say(
            "{count} worse and acknowledged" if has_metrics(slower) else "{count} slower and acknowledged",
            count=accepted,
        ),
        say("{count} recovered", count=news.count("recovered")),
        say("{count} improved", count=news.count("improved")),
    ]
    known = [count for count in counts if count.values["count"]]
    if not known:
        settled = any(row.state is not None for row in changes)
        return say("No regression: nothing new." if settled else "No regression: no series changed.")
    return say("No open regression: {changed}.", changed=join(", ", known))


def _change_words(lead: SeriesChange, slower: Sequence[SeriesChange], known: Mapping[str, IncidentChange]) -> str:
    """What changed, since when, what explains it and what else changed there."""
    incident = known.get(lead.incident or "")
    causes = [] if incident is None else [with_short_names(cause) for cause in incident.causes]
    since = _since(lead.since if incident is None else incident.since)
    models: Sequence[str] = []
    if incident is not None:  # those that are still slower; of an incident that is closed all
        models = sorted({member.model for member in incident.members if member.open}) or incident.models
    if causes and lead.scope not in NOTICED | LOCATED:
        is_lead = [(cause.kind, cause.followers) for cause in causes] == [("operator", 1)]
        levels = _levels(lead) if is_lead else ""
        text: str = say("{what}{since}{levels}", what=causes_in_words(causes, models), since=since, levels=levels)
    else:
        ranks = count_ranks(lead, () if incident is None else incident.members)
        level = _level_words(lead, lead.since if incident is None else incident.since, ranks)
        explained = _explanation(lead, slower, causes, models)
        text = level if explained is None else join("; ", (level, explained))
    if (layers := _layers(lead, slower)) is not None:
        text = join("; ", (text, layers))
    return _with_facts(text, () if incident is None else incident.metadata)


def _layers(lead: SeriesChange, slower: Sequence[SeriesChange]) -> str | None:
    """The layer of an incident that costs most, and how many more changed; None if the lead is one, or none changed."""
    layers = [row for row in slower if row.scope == "layer" and row.incident == lead.incident and row.incident]
    if not layers or lead.scope in LOCATED:
        return None
    most = max(layers, key=lambda row: (abs(row.impact_ms or 0.0), row.series_id))
    named = say("{what} {change}", what=subject_words(most), change=show(most.change, "change"))
    if len(layers) == 1:
        return named
    return say("{named} and {others}", named=named, others=count_of(len(layers) - 1, "{number} more", "{number} more"))


def _with_facts(text: str, metadata: Sequence[ToldFact]) -> str:
    facts = [fact for fact in metadata if fact.seen != "later" and fact.before and fact.after][:NAMED_FACTS]
    short = [
        replace(one, name=line_name(one.name), before=line_name(one.before), after=line_name(one.after))
        for one in facts
    ]
    return say("{what}, with {facts}", what=text, facts=facts_in_words(short)) if facts else text


def _since(night: str | None) -> str:
    return say(" since {since}", since=night) if night else ""


def _levels(row: SeriesChange) -> str:
    if not (row.before and row.after):
        return ""
    if row.scope in METRICS:
        levels = (value_words(level, row.unit) for level in (row.before, row.after))
        return say(" ({before} → {after})", **dict(zip(("before", "after"), levels, strict=True)))
    (before, after), unit = times_in_one_unit(row.before * 1e6, row.after * 1e6)
    return say(" ({before} → {after} {unit})", before=before, after=after, unit=unit)


def _explanation(
    lead: SeriesChange, slower: Sequence[SeriesChange], causes: Sequence[IncidentCause], models: Sequence[str]
) -> str | None:
    """What explains that a step changed: causes of many operators, else its attribution, else an operator of the same night."""
    causes = main_causes(causes)
    if any(cause.kind != "operator" for cause in causes):
        return _explained(causes, models, lead)
    if lead.attribution:
        return largest_part(lead)
    if lead.scope not in WHOLE:
        return None
    one = next((row for row in slower if row.scope == "op" and row.since == lead.since), None)
    if one is None:
        return None
    return say(
        "{operator} {change} since the same night", operator=operator_line(one), change=show(one.change, "change")
    )


def _explained(causes: Sequence[IncidentCause], models: Sequence[str], step: SeriesChange) -> Text:
    """The causes of a change of a step; the first with its part of the change."""
    said = models[0] if len(models) == 1 else None
    first, others = causes_in_words(causes[:1], models, said, of_step=True), causes[1:]
    share, before, after = causes[0].step_share, step.before, step.after
    if share and said is not None and before and after and causes[0].rank_id in {None, step.rank_id}:
        first = _part_words(first, share * after * 1e6, (after - before) * 1e6)
    if not others:
        return first
    said = said or causes[0].model
    return join("; ", (first, causes_in_words(others, models, said, of_step=True, most=NAMED - 1)))


def _part_words(what: str, part_ns: float, total_ns: float) -> Text:
    """How much of a change of a step something explains; what moved more than the step only what it adds."""
    (part, total), unit = times_in_one_unit(abs(part_ns), abs(total_ns))
    if part_ns * total_ns > 0 and abs(part_ns) <= abs(total_ns):
        return say("{what} explains {part} of {total} {unit} per step", what=what, part=part, total=total, unit=unit)
    if part_ns < 0:
        return say("{what} saves {part} {unit} per step", what=what, part=part, unit=unit)
    return say("{what} adds {part} {unit} per step", what=what, part=part, unit=unit)


def largest_part(step: SeriesChange) -> str | None:
    """The part of a step that grew most, of a faster one that shrank most; None where the newest step did not change that way.

    It is an operator, communication or free time.
    """
    attribution = step.attribution
    if attribution is None:
        return None
    total_us, way = attribution.total_us, -1 if (step.change or 0.0) < 0 else 1
    operators = sorted(attribution.operators, key=lambda one: -way * one.difference_us)[:1]
    parts: list[tuple[float, str]] = [
        *((operator.difference_us, _changed_operator(operator)) for operator in operators),
        (attribution.communication_not_overlapped_us or 0.0, say("communication that is not overlapped")),
        (attribution.free_us or 0.0, say("free time")),
    ]
    part_us, what = max(parts, key=lambda part: way * part[0])
    if way * part_us <= 0 or way * total_us <= 0:
        return None
    return _part_words(what, part_us * 1e3, total_us * 1e3)


def _changed_operator(one: OperatorChange) -> str:
    """An operator with its change, or that it is new."""
    if not one.before_us:
        return say("{operator} (new)", operator=operator_line(one))
    change = one.after_us / one.before_us - 1
    return say("{operator} {change}", operator=operator_line(one), change=signed_percent(change))


_COUNTED = {
    "error": ("{number:,} error", "{number:,} errors"),
    "warning": ("{number:,} warning", "{number:,} warnings"),
    "info": ("{number:,} remark", "{number:,} remarks"),
}
"""How findings are counted: one, more."""


def findings_section(findings: Iterable[Finding], shown: int, whole: str) -> Section:
    """How many there are, and the gravest; `whole` has them all."""
    ordered = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    counts = [count_of(sum(one.severity == name for one in ordered), *_COUNTED[name]) for name in SEVERITIES]
    sentences = [say("{text}.", text=join(", ", counts))]
    if len(ordered) > shown:
        count = len(ordered)
        sentences.append(
            say("The first {shown} of {count} are listed; {whole} has them all.", shown=shown, count=count, whole=whole)
        )
    return Section("Findings", sentences, lines=[finding.as_text() for finding in ordered[:shown]])
