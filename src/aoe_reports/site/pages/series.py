"""The page of a series: its history, its changes, environment changes, the step breakdown, what to do."""

from __future__ import annotations

import shlex
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from aoe_reports.history.site_facts import PlacedShift, RunFacts, SeriesFacts, differing_facts
from aoe_reports.model.history.causes import facts_in_words, reason_words
from aoe_reports.model.history.changes import (
    METRICS,
    NOTICED,
    IncidentChange,
    IncidentMember,
    OperatorChange,
    SeriesChange,
    SeriesObservation,
    StepAttribution,
    is_small,
)
from aoe_reports.model.history.metrics import loss
from aoe_reports.model.pictures.waterfall import WaterfallBar, WaterfallPicture
from aoe_reports.model.texts import N_, say
from aoe_reports.present.drawings.charts import Figure
from aoe_reports.present.reports.night_words import place_words
from aoe_reports.present.reports.series_cells import has_metrics
from aoe_reports.present.values import plain, show
from aoe_reports.site.bars import waterfall_figure
from aoe_reports.site.cells import MINOR, Table, cell, changed, head, interval, level, linked, short, stated
from aoe_reports.site.pages.history import (
    Look,
    Marks,
    hindsight_of,
    history_drawing,
    history_figure,
    level_words,
    value_title,
    watch_of,
)
from aoe_reports.site.pages.triage import is_minor, slower_word, state_of
from aoe_reports.site.places import file_name, model_file
from aoe_reports.site.render import Context
from aoe_reports.site.texts import Texts

SHOWN_NIGHTS = 14
"""Nights in the page's own table: two weeks; its JSON has all."""
SHOWN_MEMBERS = 30
"""Series of one incident on the page of each; the JSON of the first page has all."""
SHOWN_COMMAND = 600
"""Characters of a command to copy; nobody pastes a longer one."""


_TO_DO: Mapping[str, str] = N_(
    {
        "confirmed": "See below what changed on that night, and compare the runs before and after the change:",
        "drift": "Look for a small increase every night. Compare the first and the last night:",
        "suspect": "Run the night again: a third night decides.",
        "recovered": "Nothing.",
        "acknowledged": "Nothing: the new level is accepted. A further slow-down is reported again.",
        "improved": "Check whether the workload is still the same:",
    }
)
"""What is to be done about a series, by its state."""
_RECORDED = N_(
    {
        ("first", "first-only"): "Other changes at the start of the incident: {facts}.",
        ("first-only",): "First recorded, but not in the current data: {facts}.",
        ("later",): "Found after the first record: {facts}.",
    }
)
"""What is said of changes that were recorded with an incident, by when they were seen."""


@dataclass(frozen=True, slots=True)
class FactChange:
    """What the store knows of the runs before and at a change that differs."""

    night: str
    fact: str
    before: str | None
    after: str | None


def differences_of(series: SeriesFacts, runs: Mapping[str, RunFacts]) -> list[FactChange]:
    """What differs at each change."""
    changes = []
    for start in _starts(series):
        if sides := _sides(series, start - 1, start, runs):
            night = series.nights[start]
            changes += [FactChange(night, name, was, became) for name, was, became in differing_facts(*sides)]
    return changes


@dataclass(frozen=True, slots=True)
class Member:
    """Another series of the same incident, its state in a word, and the look of its change."""

    change: IncidentMember
    state: str
    look: str


def together_with(
    series: SeriesFacts, incidents: Mapping[str, IncidentChange], rows: Mapping[str, SeriesChange]
) -> list[Member]:
    """The other series of the same incident; `rows` are those of all series."""
    incident = incidents.get(series.row.incident or "")
    members = () if incident is None else incident.members
    return [_member(one, rows.get(one.series_id)) for one in members if one.series_id != series.id]


def _member(one: IncidentMember, row: SeriesChange | None) -> Member:
    """Of some series somebody accepted that they are slower."""
    accepted = row is not None and not one.open and state_of(row) == "acknowledged"
    state = slower_word(one.state, loss(one.change, one.better), accepted=accepted)
    return Member(one, state, MINOR if row is not None and is_minor(row) else "")


def recorded_words(incident: IncidentChange | None, text: Texts) -> list[str]:
    """What else changed where an incident began, as it was first recorded; what is seen otherwise now comes after it."""
    if incident is None:
        return []
    said = []
    if incident.since_now is not None:
        said.append(
            text(
                "The incident was first recorded as starting on {since}; the current data gives {now}.",
                since=incident.since,
                now=incident.since_now,
            )
        )
    for seen, words in _RECORDED.items():
        facts = [one for one in incident.metadata if one.seen in seen]
        if facts:
            said.append(text(words, facts=text.translated(facts_in_words(facts))))
    return said


_COMPARED = frozenset({"confirmed", "drift", "improved"})
"""States in which the runs on both sides are worth comparing."""


def series_page(
    series: SeriesFacts,
    runs: Mapping[str, RunFacts],
    text: Texts,
    *,
    differences: Sequence[FactChange],
    incident: IncidentChange | None,
    together: Sequence[Member],
    marks: Marks,
    pages: Collection[str],
    store: str,
) -> Context:
    """The page of a series; `together` are the series that moved with it in its incident."""
    row, watch = series.row, watch_of(series)
    state = state_of(row)
    sides = sides_of(series, runs)
    difference_titles = (text("Since"), text("Fact"), text("Before"), text.sense("after a change", "Since"))
    newest_title = text("The newest {nights} nights", nights=min(SHOWN_NIGHTS, len(series.nights)))
    watched = text("The last {nights} nights", nights=series.watched)
    of_model, of_store = shlex.quote(plain(series.model)), shlex.quote(plain(store))
    list_of_runs = f"aoe-reports store history runs --workload {of_model} --store {of_store}"
    return {
        "title": text.series(row) + text.translated(place_words(row)),
        "state_class": state,
        "state_said": text.state(state, row),
        "said": " ".join(filter(None, (_said(series, text), accepted_words(row, text)))),
        "facts": list(_facts(series, text)),
        "todo": _to_do(series, sides, text),
        "command": _command(sides, row) if sides or state not in _COMPARED else list_of_runs,
        "sides": list(_side_links(sides, text)),
        "accept": _accept(row, store),
        "figure": history_figure(series, watch, watched, marks, text) if series.watched else None,
        "levels": _levels_table(series, watch, text),
        "observed": observed_table(series.observations, text),
        "hindsight": _hindsight(series, marks, text),
        "newest_title": newest_title,
        "newest": Table(
            [(text("Night"), "text"), (value_title(row, text), "number"), (text("Run"), "text")],
            list(_newest(series, runs)),
        ),
        "changed": bool(_starts(series)),
        "recorded": recorded_words(incident, text),
        "differences": Table(
            [(title, "text") for title in difference_titles],
            [
                [
                    head(difference.night),
                    cell(text.fact(difference.fact)),
                    cell(difference.before),
                    cell(difference.after),
                ]
                for difference in differences
            ],
        ),
        "together": _together_table(row, together, pages, text),
        "attribution": _breakdown(row.attribution, text) if row.attribution else None,
        "model": short(series.model),
        "model_page": f"../{model_file(series.model)}.html",
        "step": file_name(series.step_series)
        if series.step_series in pages and series.step_series != series.id
        else "",
    }


def _together_table(row: SeriesChange, together: Sequence[Member], pages: Collection[str], text: Texts) -> Table:
    columns = [(text("Item"), "text"), *text.columns(SeriesChange, "state", "change")]
    cells = [_together_cells(one, pages, text) for one in together[:SHOWN_MEMBERS]]
    levels = (
        text("After, before") if has_metrics([member.change for member in together]) else text("After, before (ms)")
    )
    return Table([*columns, (levels, "number")], cells, _together_about(row, together, text), stacks=True)


def _hindsight(series: SeriesFacts, marks: Marks, text: Texts) -> Context | None:
    look = hindsight_of(series)
    others = {shift.start for shift in series.hindsight} - {shift.start for shift in series.shifts}
    if not look.levels or (series.watched == len(series.nights) and not others):
        return None  # the whole history shows no more than the nights that are watched
    title = text("All {nights} nights", nights=len(series.nights))
    return {
        "figure": Figure(title, history_drawing(series, look, marks, text)),
        "levels": _levels_table(series, look, text),
    }


def _newest(series: SeriesFacts, runs: Mapping[str, RunFacts]) -> Iterator[list[str]]:
    """The newest nights with their times and runs, the newest first."""
    newest = slice(-SHOWN_NIGHTS, None)
    nights = zip(series.nights[newest], series.values[newest].tolist(), series.runs[newest], strict=True)
    for night, value, run in reversed(list(nights)):
        page = f"../runs/{file_name(run)}.html" if run in runs else None
        yield [head(night), level(value, series.row), linked(run, page)]


def _said(series: SeriesFacts, text: Texts) -> str:
    row = series.row
    if row.state is None:
        return _unchanged(row, text)
    values = {
        "since": row.since,
        "before": level_words(row.before, row, text),
        "after": level_words(row.after, row, text),
    }
    if row.state == "suspect":
        return text(
            "Outliers since {since}: {before} became {after} ({change}). One or two nights are not sufficient evidence.",
            change=show(row.change, "change"),
            **values,
        )
    worse, better = ("worse", "better") if row.scope in METRICS else ("slower", "faster")
    return text(
        "{change} {word} since {since} (95% interval {low} to {high}): {before} became {after}.",
        change=show(abs(row.change or 0.0), "change").lstrip("+"),
        word=text(worse if loss(row.change or 0.0, row.better) > 0 else better),
        low=show(row.ci_low, "change"),
        high=show(row.ci_high, "change"),
        **values,
    )


def _unchanged(row: SeriesChange, text: Texts) -> str:
    if row.reason == "no-direction":
        return text("Nobody has said whether more of this metric is better or worse: it is kept, and not judged.")
    if row.reason:
        return text("{nights} nights have a time: too few to judge.", nights=row.nights)
    if row.smallest_detectable is None:
        return text("No change in the last {nights} nights.", nights=row.nights)
    said = (
        "No change in the last {nights} nights. A loss of {smallest} would be detected within two weeks."
        if row.scope in METRICS
        else "No change in the last {nights} nights. A slow-down of {smallest} would be detected within two weeks."
    )
    return text(said, nights=row.nights, smallest=show(row.smallest_detectable, "percent"))


def _facts(series: SeriesFacts, text: Texts) -> Iterator[tuple[str, str]]:
    row = series.row
    known = {
        "model": series.model, "scope": text.translated(row.scope), "op_type": row.op_type, "op_name": row.op_name,
        "hardware": row.hardware, "engine": series.engine, "rank": row.rank_id, "device": row.device_id,
    }  # fmt: skip
    yield from ((text.word(name), str(value)) for name, value in known.items() if value is not None)
    if row.scope in METRICS:
        yield text("Metric"), str(row.metric)
        yield text("Unit"), row.unit or text("unknown")
        better = {None: text("not declared"), "higher": text("higher is better")}.get(
            row.better, text("lower is better")
        )
        yield text("Good direction"), better
    if series.share_of_step is not None and row.scope != "step":
        yield text("Share of the step"), show(series.share_of_step, "percent")
    if row.smallest_detectable is not None:
        yield text("Minimum detectable effect"), show(row.smallest_detectable, "percent")


def accepted_words(row: SeriesChange, text: Texts) -> str:
    """Who accepted or announced a slow-down, when and why; nothing where nobody did."""
    accepted = row.acknowledged
    if not accepted:
        return ""
    values = {"who": accepted.who or text("unnamed user"), "when": accepted.when[:10], "reason": accepted.reason}
    return text(
        "Accepted by {who} on {when}: {reason}" if accepted.kind == "ack" else "Announced by {who} on {when}: {reason}",
        **values,
    )


def _sides(series: SeriesFacts, before: int, after: int, runs: Mapping[str, RunFacts]) -> list[RunFacts]:
    """The runs of two of its nights; nothing where the store has not both."""
    if before < 0:
        return []
    known = [runs[run] for run in (series.runs[before], series.runs[after]) if run in runs]
    return known if len(known) == 2 else []  # noqa: PLR2004 -- both sides


def sides_of(series: SeriesFacts, runs: Mapping[str, RunFacts]) -> list[RunFacts]:
    """The runs on both sides of the newest change, where they are to be compared; of a drift its ends."""
    start = _newest_start(series)
    if start is None:
        return []
    shift = next((one for one in series.shifts if one.start == start), None)
    return _sides(series, start - 1, shift.until - 1 if shift is not None and shift.state == "drift" else start, runs)


def _newest_start(series: SeriesFacts) -> int | None:
    """The index of the night on which the newest change began, even if it lies before the watched nights."""
    row = series.row
    since = row.moves[-1].since if row.moves else row.since
    if state_of(row) not in _COMPARED or since is None:
        return None
    place = bisect_left(series.nights, since)
    return place if place < len(series.nights) else None


def _starts(series: SeriesFacts) -> list[int]:
    """The indices of the nights on which changes began."""
    newest = _newest_start(series)
    return sorted({*(shift.start for shift in series.shifts), *([] if newest is None else [newest])})


def _to_do(series: SeriesFacts, sides: Sequence[RunFacts], text: Texts) -> str:
    row, state = series.row, state_of(series.row)
    if not row.state:
        return ""
    if sides or state not in _COMPARED:
        return text(_TO_DO[state])
    return text(
        "The store has no run before the change, which was recorded with run {run} of {night}. These are the runs that it has:",
        run=row.since_run or "?",
        night=row.since,
    )


def _side_links(sides: Sequence[RunFacts], text: Texts) -> Iterator[tuple[str, str]]:
    """Links to the comparison of the runs on both sides, and to their pages."""
    if not sides:
        return
    before, after = sides
    names = [file_name(side.run_id) for side in sides]
    if not any(side.is_tuning for side in sides):
        said = text("Compare the runs of {before} and {after}", before=before.night, after=after.night)
        yield said, f"../compare.html#a={names[0]}&b={names[1]}"
    yield text("Run before the change, {night}", night=before.night), f"../runs/{names[0]}.html"
    yield text("Run after the change, {night}", night=after.night), f"../runs/{names[1]}.html"


def _command(sides: Sequence[RunFacts], row: SeriesChange) -> str:
    """The command that explains the newest change: `explain` for a step, else `compare`; empty where a capture is missing."""
    paths = [side.folder for side in sides]
    if len(set(paths)) < 2 or not all(paths) or any(side.kind != "profile" for side in sides):  # noqa: PLR2004 -- both sides
        return ""
    if row.rank_id and not all(side.has_folder for side in sides):
        return ""
    question = "explain" if row.scope == "step" else "compare"
    of_rank = "" if row.rank_id is None else f" --rank {row.rank_id}"
    command = f"aoe-reports {question} {' '.join(shlex.quote(plain(path)) for path in paths)}{of_rank}"
    return command if len(command) <= SHOWN_COMMAND else ""


def _accept(row: SeriesChange, store: str) -> str:
    """How somebody says that the new level is meant; nothing where there is nothing to accept, or somebody did."""
    if row.state not in {"confirmed", "drift"} or row.acknowledged is not None:
        return ""
    return f"aoe-reports store ack {row.incident or row.series_id} --reason 'TEXT' --store {shlex.quote(plain(store))}"


def _together_about(row: SeriesChange, together: Sequence[Member], text: Texts) -> str:
    said = text(
        "Incident {incident}: other series that changed on the same night: {count}.",
        incident=row.incident or "",
        count=len(together),
    )
    shown = min(SHOWN_MEMBERS, len(together))
    return said if shown == len(together) else f"{said} {text('The first {shown} are listed.', shown=shown)}"


def _together_cells(member: Member, pages: Collection[str], text: Texts) -> list[str]:
    one = member.change
    return [
        head(
            text.series(one),
            f"{file_name(one.series_id)}.html" if one.series_id in pages else None,
            text("rank {rank}", rank=one.rank_id) if one.rank_id is not None else None,
        ),
        stated(member.state, text.state(member.state, one)),
        changed(one.change, better=one.better, look=member.look),
        level(one.after, one, one.before),
    ]


def _levels_table(series: SeriesFacts, look: Look, text: Texts) -> Table:
    """The levels, each with the change at its begin."""
    columns = [
        (text("From"), "text"), (text("To"), "text"), (text("Nights"), "number"),
        (text("Level") if series.row.scope in METRICS else text("Level (ms)"), "number"),
        (text("Change from previous level"), "number"), (text("95% interval"), "text"), (text("State"), "text"),
    ]  # fmt: skip
    begun = {shift.start: shift for shift in reversed(look.shifts)}
    shifts = [begun.get(one.start) if place else None for place, one in enumerate(look.levels)]
    rows = [
        [
            head(series.nights[one.start]),
            cell(series.nights[one.until - 1]),
            cell(one.until - one.start, "integer"),
            level(one.last, series.row),
            changed(
                None if shift is None else shift.change, better=series.row.better, look=_look_of_shift(shift, series)
            ),
            cell(shift and interval(shift.ci_low, shift.ci_high)),
            cell(shift and text.state(shift.state, series.row)),
        ]
        for one, shift in zip(look.levels, shifts, strict=True)
    ]
    return Table(columns, rows, stacks=True)


def _look_of_shift(shift: PlacedShift | None, series: SeriesFacts) -> str:
    """Grey where a change is known to be a minor part of a step, else the colour of better or worse."""
    share = 1.0 if series.row.scope in NOTICED else series.share_of_step
    return MINOR if shift is not None and share is not None and is_small(share * shift.change) else ""


def _breakdown(attribution: StepAttribution, text: Texts) -> Context:
    """A step's change over its parts, as a waterfall and as a table that adds up to the same."""
    operators = attribution.operators
    beside = {
        "operators_rest": attribution.other_operators_us,
        "communication_not_overlapped": attribution.communication_not_overlapped_us,
        "free": attribution.free_us,
        "unattributed": attribution.unattributed_us,
    }
    sums = [(text.word(name), part_us) for name, part_us in beside.items() if part_us is not None]
    parts = [(plain(_name(operator)), operator.difference_us) for operator in operators] + sums
    picture = _picture(attribution, parts)
    whole = [cell(part_us, "us") for part_us in (attribution.total_us, attribution.before_us, attribution.after_us)]
    amounts = {
        "total": attribution.total_us,
        "operators": attribution.operators_us,
        "communication": attribution.communication_not_overlapped_us,
        "free": attribution.free_us,
        "rest": attribution.unattributed_us,
    }
    said = {name: text("not stored") if part_us is None else f"{part_us:+,.3f}" for name, part_us in amounts.items()}
    columns = [
        (text("Component"), "text"), (text("Difference, per step (us)"), "number"), (text("Before (us)"), "number"),
        (text("After (us)"), "number"), (text("Why"), "text"),
    ]  # fmt: skip
    rows = [
        *(_operator_cells(operator, text) for operator in operators),
        *([head(name), cell(value, "us"), cell(None, "us"), cell(None, "us"), cell(None)] for name, value in sums),
        [head(text("the step")), *whole, cell(None)],
    ]
    about = text(
        "Change of the step time: {total} us; operators {operators}, uncovered communication {communication}, free {free}, unattributed {rest}.",
        **said,
    )
    return {
        "waterfall": waterfall_figure(picture, text),
        "table": Table(columns, rows, about, stacks=True),
        "remarks": list(_remarks(attribution, text)),
    }


def _picture(attribution: StepAttribution, parts: Sequence[tuple[str, float]]) -> WaterfallPicture:
    """The step before, each part, the step after."""
    edges = [round(1000 * edge) for edge in accumulate((size for _, size in parts), initial=attribution.before_us)]
    bars = [
        WaterfallBar(name, start, end, "longer" if end > start else "shorter")
        for (name, _), (start, end) in zip(parts, pairwise(edges), strict=True)
        if start != end
    ]
    before = WaterfallBar(say("before"), 0, edges[0], "whole")
    after = WaterfallBar(say("after"), 0, round(1000 * attribution.after_us), "whole")
    return WaterfallPicture(say("Change per step by component"), (before, *bars, after))


def _name(change: OperatorChange) -> str:
    return change.op_name or change.op_type or "?"


def _operator_cells(change: OperatorChange, text: Texts) -> list[str]:
    before, after = (
        text("calls per step: {count}", count=f"{count:g}") for count in (change.count_before, change.count_after)
    )
    return [
        head(_name(change), None, change.op_type if change.op_name else None),
        cell(change.difference_us, "us"),
        cell(change.before_us, "us", before),
        cell(change.after_us, "us", after),
        cell(text.translated(reason_words(change.cause)), "text", change.repository_run),
    ]


def _remarks(attribution: StepAttribution, text: Texts) -> Iterator[str]:
    """What moved between operators, and which nights were left out."""
    for shift in attribution.shifts:
        sources, targets = ", ".join(shift.from_), ", ".join(shift.to)
        moved = f"{shift.moved_us:,.3f}"
        yield text("{sources} became {targets} ({moved} us moved).", sources=sources, targets=targets, moved=moved)
    if attribution.left_out_nights:
        yield text("Outlier nights, left out: {nights}.", nights=", ".join(attribution.left_out_nights))


def observed_table(observations: Sequence[SeriesObservation], text: Texts) -> Table:
    """What a series does that is no change of its level."""
    names = ("kind", "since", "until", "before", "after", "change", "scatter_before", "scatter_after")
    cells = [
        [
            head(text.translated(observation.kind)),
            cell(observation.since),
            cell(observation.until),
            level(observation.before, observation),
            level(observation.after, observation),
            changed(observation.change, better=observation.better),
            cell(observation.scatter_before, "percent"),
            cell(observation.scatter_after, "percent"),
        ]
        for observation in observations
    ]
    return Table(list(text.columns(SeriesObservation, *names)), cells, stacks=True)
