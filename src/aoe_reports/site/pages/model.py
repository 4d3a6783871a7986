"""The page of a model: what is open in it, its step and the parts of it night by night, operators by effect, ranks, runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import quote_plus

import numpy as np

from aoe_reports.history.site_facts import PARTS, SeriesFacts, StoreFacts
from aoe_reports.model.history.causes import rank_words
from aoe_reports.model.history.changes import MEMORY, METRICS, NOTICED, PHASE, IncidentChange, SeriesChange
from aoe_reports.model.history.metrics import loss
from aoe_reports.model.history.runs import StepTimes
from aoe_reports.model.rank_spread import MIN_RANKS, middle_of
from aoe_reports.model.rows import as_mapping
from aoe_reports.present.drawings.charts import Frame, days_of
from aoe_reports.present.night import night_headline
from aoe_reports.present.reports.night_words import place_words
from aoe_reports.present.values import plain, show
from aoe_reports.site.cells import (
    MINOR,
    Table,
    about_first,
    changed,
    drawn,
    head,
    interval,
    level,
    linked,
    marked,
    short,
    stated,
)
from aoe_reports.site.pages.by_model import ModelFacts
from aoe_reports.site.pages.cards import lead_of
from aoe_reports.site.pages.comparison import page_of
from aoe_reports.site.pages.history import (
    HistoryFigure,
    Look,
    Marks,
    NightMark,
    history_figure,
    past_in,
    versions_in,
    watch_of,
)
from aoe_reports.site.pages.incidents import incidents_table, listed_incidents, spark
from aoe_reports.site.pages.overview import run_row, runs_table
from aoe_reports.site.pages.triage import by_effect_on_step, look_of, state_of, tone_of
from aoe_reports.site.places import file_name, series_link
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts

SHOWN_RUNS, SHOWN_STEPS, SHOWN_OPERATORS = 30, 64, 30
"""Of more, the table of all ranks is folded."""
SHOWN_METRICS, SHOWN_INCIDENTS = 12, 9
"""Charts of metrics, and incidents that the chart of the step marks."""
_WIDE, _SMALL = Frame(960, 300), Frame(400, 150)
_ROOT = "../"


def model_page(model: str, known: ModelFacts, facts: StoreFacts, compared: Collection[str], text: Texts) -> Content:
    """The page of a model, and its JSON; `compared` are the models with a prebuilt comparison."""
    series, incidents, suspicions, runs = known.series, known.incidents, known.suspicions, known.runs
    changes = [one.row for one in series if one.row.state is not None]
    steps = _steps(series)
    operators = _changed_operators(series)
    headline = night_headline(changes, incidents=incidents, suspicions=suspicions, remark=facts.remark)
    page = {
        "title": model,
        "headline": plain(text.translated(headline)),
        "tone": tone_of(changes),
        "facts": [
            (text("Newest night"), max(run.night for run in runs)),
            (text("Runs"), show(len(runs), "integer")),
            (text("Series"), show(len(series), "integer")),
        ],
        "histories": _histories(steps, known, facts, text),
        "operators": _operators_table(operators, series, text),
        "query": quote_plus(plain(model)),
        "incidents": _incidents_table(model, known, facts.nights, text),
        **_rank_tables(steps, text),
        "runs": runs_table(runs[: -SHOWN_RUNS - 1 : -1], f"{_ROOT}runs/", text),
        "runs_title": text("The newest {shown} of {count} runs", shown=min(SHOWN_RUNS, len(runs)), count=len(runs)),
        "compared": f"{_ROOT}{page_of(model)}.html" if model in compared else "",
    }
    return page, {
        "model": model,
        "incidents": [incident.incident for incident in incidents],
        "suspicions": [as_mapping(suspicion) for suspicion in suspicions],
        "steps": [as_mapping(step.row) for step in steps],
        "operators": [
            {**as_mapping(one.series.row), "input_shapes": one.series.input_shapes, "ranks": one.ranks}
            for one in operators
        ],
        "runs": [run_row(run) for run in runs],
    }


def _incidents_table(model: str, known: ModelFacts, nights: Sequence[str], text: Texts) -> Table:
    rows = [row for group in listed_incidents(known, nights, text, model).values() for row in group]
    about = text("What changed together, by its cause; the largest effect on the step first.")
    return incidents_table(rows, text, title=text("Incidents"), about=about, root=_ROOT)


def _steps(series: Sequence[SeriesFacts]) -> list[SeriesFacts]:
    """What is measured of a model as a whole, the longest first; then its metrics."""
    wholes = [facts for facts in series if facts.row.scope in NOTICED and facts.nights]
    return sorted(wholes, key=lambda one: (one.row.scope in METRICS, _order(one), one.id))


def _order(facts: SeriesFacts) -> tuple[float, str]:
    """The longest time first; metrics, which have several units, by name."""
    return (0.0, str(facts.row.metric)) if facts.row.scope in METRICS else (-facts.values[-1], "")


class _Histories(NamedTuple):
    """The charts of a model, all over the same nights."""

    step: HistoryFigure
    small: Sequence[HistoryFigure]
    marked: Sequence[tuple[str, str, str, str]]
    """Of each incident that the chart marks its number, its night, its title, and its page."""

    @property
    def figures(self) -> Sequence[HistoryFigure]:
        """All of them."""
        return self.step, *self.small


def _histories(steps: Sequence[SeriesFacts], known: ModelFacts, facts: StoreFacts, text: Texts) -> _Histories | None:
    """What leads the model, its parts, and the metrics of the model."""
    lead = lead_of(steps, facts.nights)
    if lead is None or not lead.watched:
        return None
    look = watch_of(lead)
    days = days_of(lead.nights)
    span = int(days[look.start]), int(days[-1])
    numbered = list(_numbered(lead, known.incidents))
    marks = Marks(
        versions_in(lead, {run.run_id: run.versions for run in known.runs}),
        past_in(lead, facts.past_nights, text),
        [NightMark(place, str(number)) for number, place, _ in numbered],
    )
    metrics = [step for step in steps if step.watched and step.row.scope in METRICS and step is not lead]
    title = text("{what}, the last {nights} nights", what=_name(lead.row, text), nights=lead.watched)
    small = [
        *_parts(lead, replace(_SMALL, span=span), text),
        *(
            history_figure(
                one, watch_of(one), _metric_title(one.row, text), Marks(), text, frame=replace(_SMALL, span=span)
            )
            for one in metrics[:SHOWN_METRICS]
        ),
    ]
    listed = [
        (
            str(number),
            incident.since,
            text.translated(incident.title),
            f"{_ROOT}series/{file_name(incident.members[0].series_id)}.html",
        )
        for number, _, incident in numbered
    ]
    return _Histories(history_figure(lead, look, title, marks, text, frame=replace(_WIDE, span=span)), small, listed)


def _numbered(step: SeriesFacts, incidents: Sequence[IncidentChange]) -> Iterator[tuple[int, int, IncidentChange]]:
    """(number, place among the nights of the step, incident) of the newest incidents in order of time."""
    places = {night: place for place, night in enumerate(step.nights)}
    known = sorted((one for one in incidents if one.since in places), key=lambda one: (one.since, one.incident))
    for number, incident in enumerate(known[-SHOWN_INCIDENTS:], 1):
        yield number, places[incident.since], incident


def _parts(step: SeriesFacts, frame: Frame, text: Texts) -> Iterator[HistoryFigure]:
    """The parts of a step in the nights that have them: no level is known of them."""
    row = replace(step.row, baseline=None)
    for name in PARTS:
        if name not in step.parts:
            continue
        known = np.isfinite(step.parts[name])
        nights = tuple(night for night, has_part in zip(step.nights, known, strict=True) if has_part)
        start = len(nights) - int(known[len(step.nights) - step.watched :].sum())
        values = step.parts[name][known]
        if values[start:].any():
            part = replace(step, row=row, nights=nights, values=values)
            ((title, _),) = text.columns(StepTimes, f"{name.removesuffix('_not_overlapped')}_ms")
            yield history_figure(part, Look(start, (), ()), title, Marks(), text, frame=frame)


def _metric_title(row: SeriesChange, text: Texts) -> str:
    if row.scope == MEMORY:
        return _name(row, text)
    rank = "" if row.rank_id is None else f", rank {row.rank_id}"
    return f"{short(str(row.metric))}{f' ({row.unit})' if row.unit else ''}{rank}"


class _Operator(NamedTuple):
    """An operator that is not what it was before, on the rank where that adds most to a step."""

    series: SeriesFacts
    ranks: int
    """On so many ranks it changed."""


def _changed_operators(series: Sequence[SeriesFacts]) -> list[_Operator]:
    """The operators that changed, the largest effect on the step first."""
    of_ranks: dict[tuple[object, ...], list[SeriesFacts]] = defaultdict(list)
    for one in series:
        row = one.row
        if row.scope in {"op", "communication"} and row.state not in {None, "recovered"}:
            of_ranks[row.op_type, row.op_name, one.input_shapes, row.hardware].append(one)
    changed_most = [
        _Operator(min(ranks, key=lambda one: by_effect_on_step(one.row)), len(ranks)) for ranks in of_ranks.values()
    ]
    return sorted(changed_most, key=lambda operator: by_effect_on_step(operator.series.row))


def _operators_table(operators: Sequence[_Operator], series: Sequence[SeriesFacts], text: Texts) -> Table:
    columns = [
        (text("Operator"), "text"), (text("Effect on step (us)"), "number"), (text("Effect on step"), "number"),
        (text("Before → after (ms)"), "number"), *text.columns(SeriesChange, "change", "since", "state"),
    ]  # fmt: skip
    steps = {one.id: one for one in series if one.row.scope == "step" and one.nights}
    about = text(
        "Operators that changed, by what they add to a step or save of it since the baseline; grey is too little to matter."
    )
    about = about_first(about, SHOWN_OPERATORS, len(operators), text)
    rows = [_operator_cells(one, steps, text) for one in operators[:SHOWN_OPERATORS]]
    return Table(columns, rows, about, stacks=True)


def _effect_us(facts: SeriesFacts, step: SeriesFacts | None) -> float | None:
    """What an operator adds to its step: as the change of the step is divided, else by its share of the newest step."""
    row = facts.row
    if step is None or row.step_share is None or row.after is None:
        return None
    divided = step.row.attribution.operators if step.row.attribution else ()
    parts = [one.difference_us for one in divided if (one.op_type, one.op_name) == (row.op_type, row.op_name)]
    if len(parts) == 1 and step.row.since == row.since:
        return parts[0]
    return row.step_share * float(step.values[-1]) * 1000 * row.after / float(facts.values[-1])


def _operator_cells(operator: _Operator, steps: Mapping[str, SeriesFacts], text: Texts) -> list[str]:
    facts, row = operator.series, operator.series.row
    look, state = look_of(row), state_of(row)
    effect_us = _effect_us(facts, steps.get(facts.step_series or ""))
    rank = text.place(row.rank_id, None)
    if operator.ranks > 1 and row.rank_id is not None:
        rank = text("{count} ranks, most on rank {rank}", count=operator.ranks, rank=row.rank_id)
    below = [row.op_type if row.op_name else None, facts.input_shapes, rank]
    faster = loss(row.change or 0.0, row.better) < 0
    return [
        head(row.op_name or row.op_type or row.workload, series_link(facts, _ROOT), " · ".join(filter(None, below))),
        marked("" if effect_us is None else f"{effect_us:+,.4g}", look),
        marked("" if row.step_share is None else show(row.step_share, "change"), look),
        marked(f"{show(row.before, 'time')} → {show(row.after, 'time')}", ""),
        marked("" if row.change is None else show(row.change, "change"), look),
        linked(row.since, f"{_ROOT}runs/{file_name(row.since_run)}.html" if row.since_run else None),
        stated(
            MINOR if look == MINOR else "improved" if faster else state,
            text.state("improved" if faster else state, row),
        ),
    ]


def _rank_tables(steps: Sequence[SeriesFacts], text: Texts) -> Mapping[str, object]:
    """The steps; of more than a few ranks the longest, the median and the shortest, and all of them folded."""
    ranked = [step for step in steps if step.row.scope == "step"]
    if len(ranked) < MIN_RANKS:
        return {"steps": _steps_table(steps, text), "all_steps": None, "all_steps_title": ""}
    chosen = {ranked[0].id, middle_of(ranked[::-1]).id, ranked[-1].id}
    others = [step for step in steps if step.row.scope != "step" or step.id in chosen]
    about = text(
        "The mean of the newest night: the longest step, the median and the shortest of {count}.", count=len(ranked)
    )
    return {
        "steps": replace(_steps_table(others, text), about=about),
        "all_steps": _steps_table(ranked, text),
        "all_steps_title": text("All {count} ranks", count=len(ranked)),
    }


def _steps_table(steps: Sequence[SeriesFacts], text: Texts) -> Table:
    columns = [
        (text("Item"), "text"), (text("History"), "text"), *text.columns(StepTimes, "step_ms"), (text("State"), "text"),
        *text.columns(SeriesChange, "change", "since"),
    ]  # fmt: skip
    about = text("The mean of the newest night, the longest first.")
    about = about_first(about, SHOWN_STEPS, len(steps), text)
    return Table(columns, [_step_cells(step, text) for step in steps[:SHOWN_STEPS]], about, stacks=True)


def _name(row: SeriesChange, text: Texts) -> str:
    if row.scope == MEMORY:
        return text.series(row) + text.translated(place_words(row))
    what = row.metric if row.scope in METRICS else row.workload.rpartition("/")[2] if row.scope == PHASE else row.scope
    return text.translated(what) + text.translated(rank_words(row.rank_id))


def _step_cells(facts: SeriesFacts, text: Texts) -> list[str]:
    row = facts.row
    look, state = look_of(row), state_of(row)
    return [
        head(_name(row, text), series_link(facts, _ROOT), row.hardware),
        drawn(spark(facts, text)),
        level(float(facts.values[-1]), row),
        stated(MINOR if look == MINOR else state, text.state(state, row)),
        changed(row.change, interval(row.ci_low, row.ci_high), look=look),
        linked(row.since, f"{_ROOT}runs/{file_name(row.since_run)}.html" if row.since_run else None),
    ]
