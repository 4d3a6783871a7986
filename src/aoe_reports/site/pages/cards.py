"""A card a model: how its step went, by how much it changed, since when, and the one cause; the worst effect first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from aoe_reports.history.site_facts import Days, Floats, SeriesFacts, StoreFacts
from aoe_reports.model.history.causes import causes_in_words, count_ranks
from aoe_reports.model.history.changes import (
    MEMORY,
    METRIC,
    METRICS,
    MIN_STEP_SHARE,
    NOTICED,
    PHASE,
    WHOLE,
    SeriesChange,
    by_effect,
    is_small,
)
from aoe_reports.model.history.metrics import loss
from aoe_reports.present.drawings.charts import card_chart, days_of
from aoe_reports.present.reports.incidents import is_suspected
from aoe_reports.present.reports.night_words import subject_words
from aoe_reports.present.reports.series_cells import value_words
from aoe_reports.present.values import show
from aoe_reports.site.cells import MINOR, interval, short
from aoe_reports.site.pages.by_model import ModelFacts
from aoe_reports.site.pages.history import NightMark, gaps_in, past_in, versions_in, watch_of
from aoe_reports.site.pages.incidents import ListedIncident, largest_part_of, listed_incidents, shapes_of, spark
from aoe_reports.site.pages.triage import OPEN, TONES, Group, Tone, group_of, is_minor, state_of, step_effect
from aoe_reports.site.places import model_file
from aoe_reports.site.texts import Texts

SHOWN_CARDS, FEW_CARDS = 24, 6
"""Models with a card, the others are listed; and models of which those that did not change have one, too."""
CARD_NIGHTS = 60
"""Nights in the chart of a card."""
_URGENCY: Mapping[Group | None, int] = {
    "new": 0, "ongoing": 0, "suspect": 0, "acknowledged": 1, "improved": 2, "recovered": 2, None: 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Card:
    """What the first page says of a model."""

    model: str
    name: str
    """Of the model, where it is very long cut at its end."""
    page: str
    tone: Tone
    state: str
    """The class of its mark."""
    word: str
    change: float | None
    """Of its step; None where nothing changed."""
    about: Sequence[str] = ()
    """From what to what, the interval, which rank."""
    since: str = ""
    """Since which night, or empty."""
    cause: str = ""
    notes: Sequence[str] = ()
    chart: Markup = field(default_factory=Markup)
    is_new: bool = False
    is_metric: bool = False
    """Whether the change is of a metric: worse, not slower."""

    @property
    def effect(self) -> str:
        """The change of its step in words, or nothing."""
        return "" if self.change is None else show(self.change, "change")


@dataclass(frozen=True, slots=True)
class _Model:
    """What is known of a model: what a user notices of it, what explains that, and how much its step changed."""

    name: str
    lead: SeriesFacts | None
    listed: ListedIncident | None
    group: Group | None
    change: float | None
    """Of its step, or of its operators where its step is not judged to have changed; None where nothing changed."""
    is_faint: bool
    """Whether the change is known to be a minor part of a step."""
    late: str | None = None
    """Its last night, where that is not the newest of the store."""
    of_operators: bool = False

    @property
    def order(self) -> tuple[object, ...]:
        """The worst effect first; what is faint, unchanged or without a step by name."""
        group = None if self.is_faint else self.group
        urgency = _URGENCY[group] if self.lead is None else _urgency(self.lead.row, group)
        return self.lead is None, urgency, -abs(self.change or 0.0) if group else 0.0, self.name


def model_cards(facts: StoreFacts, models: Mapping[str, ModelFacts], text: Texts) -> tuple[list[Card], list[Card]]:
    """Cards with charts, the worst effect on a step first; and what is only listed: models that did not change, or are too many."""
    known = sorted(
        (_model(name, model, facts.nights, text) for name, model in models.items()), key=lambda model: model.order
    )
    versions = {run.run_id: run.versions for run in facts.runs}
    shown: list[Card] = []
    listed: list[Card] = []
    for model in known:
        card = _card(model, _remarks(model, facts, text), text)
        if len(shown) < SHOWN_CARDS and (card.tone != "calm" or len(known) <= FEW_CARDS):
            chart = (
                None if model.lead is None else _chart(_window(model.lead, facts, text), facts.nights, versions, text)
            )
            shown.append(card if chart is None else replace(card, chart=chart))
        else:
            listed.append(card if model.lead is None else replace(card, chart=spark(model.lead, text)))
    return shown, listed


def _model(name: str, model: ModelFacts, nights: Sequence[str], text: Texts) -> _Model:
    lead = lead_of(model.series, nights)
    last = model.last_night(nights)
    groups = listed_incidents(model, nights, text, name)
    listed = sorted(
        (row for rows in groups.values() for row in rows), key=lambda row: (_URGENCY[row.group], by_effect(row.effect))
    )
    first = listed[0] if listed else None
    late = None if last == nights[-1] else last
    if lead is None:
        return _Model(name, None, first, None, None, is_faint=False, late=late)
    row = lead.row
    group = group_of(row, nights)
    is_faint = group is not None and is_minor(row)
    if first is not None and first.group in OPEN and (group is None or is_faint) and _is_of_operators(first):
        return _Model(name, lead, first, first.group, first.effect, is_faint=False, late=late, of_operators=True)
    own = next((row for row in listed if lead in row.series), first)
    return _Model(name, lead, own, group, None if group is None else row.change, is_faint=is_faint, late=late)


def _is_of_operators(listed: ListedIncident) -> bool:
    """Whether operators are known to add to a step what matters."""
    return listed.lead.row.scope not in NOTICED and listed.effect is not None and not is_small(listed.effect)


def lead_of(series: Sequence[SeriesFacts], nights: Sequence[str]) -> SeriesFacts | None:
    """What a user notices of a model that got worst, a step before its metrics; where nothing changed, its longest step.

    Its card and the large chart of its page are of it.
    """
    wholes = [one_series for one_series in series if one_series.row.scope in _NOTICED and one_series.nights]
    return min(wholes, key=lambda one_series: _worst_first(one_series, nights), default=None)


_NOTICED: Mapping[str, int] = {**dict.fromkeys(WHOLE, 0), PHASE: 1, METRIC: 2, MEMORY: 3}
"""Scopes of what a user notices, in the order in which one of them leads."""


def _worst_first(series: SeriesFacts, nights: Sequence[str]) -> tuple[object, ...]:
    row = series.row
    group = None if is_minor(row) else group_of(row, nights)
    lost = loss(row.change or 0.0, row.better) if group else 0.0
    return (
        _urgency(row, group),
        not series.watched,
        _NOTICED[row.scope],
        -abs(lost),
        row.scope != "step",
        -float(series.values[-1]),
        series.id,
    )


def _urgency(row: SeriesChange, group: Group | None) -> int:
    """What may have got better is no more urgent than what did."""
    return _URGENCY["improved" if group == "suspect" and not is_suspected(row) else group]


def _tone(model: _Model) -> Tone:
    if model.group is None or model.is_faint or model.lead is None:
        return "calm"
    if model.group == "suspect" and not is_suspected(model.lead.row):
        return "calm"
    return TONES[model.group]


def _card(model: _Model, remarks: Sequence[str], text: Texts) -> Card:
    lead = model.lead
    shown = Card(
        model=model.name,
        name=short(model.name),
        page=f"{model_file(model.name)}.html",
        tone=_tone(model),
        state=MINOR,
        word=text("no step time"),
        change=model.change,
        notes=remarks,
    )
    if lead is None:
        return shown
    state = state_of(lead.row)
    cause, notes = _cause(lead, model.listed, text)
    since = model.listed.since if model.of_operators and model.listed is not None else lead.row.since
    return replace(
        shown,
        state="confirmed" if model.of_operators else MINOR if model.is_faint else state,
        word=text("operators slower") if model.of_operators else text.state(state, lead.row),
        is_new=model.group == "new",
        is_metric=lead.row.scope in METRICS,
        since=text("since {night}", night=since) if model.group is not None else "",
        about=_about(model, lead, text),
        cause=cause,
        notes=[*notes, *remarks],
    )


def _remarks(model: _Model, facts: StoreFacts, text: Texts) -> list[str]:
    """When it ran last, the nights that differed, and how many dates have no run."""
    said = [] if model.late is None else [text("no run since {night}", night=model.late)]
    return said if model.lead is None else [*said, *_window(model.lead, facts, text).remarks(text)]


def _about(model: _Model, lead: SeriesFacts, text: Texts) -> list[str]:
    """Levels before and after, the interval of the change, the part and the ranks."""
    row = lead.row
    is_changed = model.group is not None and not model.of_operators
    part = (
        text.series(row)
        if row.scope == MEMORY
        else str(row.metric)
        if row.scope in METRICS
        else ""
        if row.scope in WHOLE
        else row.workload
    )
    values = [one for one in (row.before, row.after) if one is not None] if is_changed else [float(lead.values[-1])]
    levels = " → ".join(text.translated(value_words(value, row.unit)) for value in values)
    is_sure = is_changed and row.ci_low is not None
    sure = text("95%: {interval}", interval=interval(row.ci_low, row.ci_high)) if is_sure else ""
    changed_with = () if model.listed is None else [series.row for series in model.listed.series]
    ranks = count_ranks(row, changed_with) if is_changed else 1
    place = text("{count} ranks", count=ranks) if ranks > 1 else text.place(row.rank_id, None)
    return [said for said in (part, levels, sure, place) if said]


def _cause(lead: SeriesFacts, listed: ListedIncident | None, text: Texts) -> tuple[str, list[str]]:
    """The one cause of what a model does, and what belongs to it: shapes, what changed with it."""
    if listed is None:
        return "", []
    notes = [note for note in (shapes_of(listed, text), listed.changed_with) if note]
    causes = [cause for cause in listed.causes if cause.model in {None, lead.model}]
    if causes:
        said = text.translated(causes_in_words(causes[:1], [lead.model], lead.model, of_step=True))
    elif listed.lead.row.scope not in NOTICED:
        said = f"{text.translated(subject_words(listed.lead.row))} {show(listed.lead.row.change, 'change')}"
    else:
        said = largest_part_of(lead, text)
    if listed.lead.row.scope not in NOTICED and is_small(step_effect(listed.lead.row)):
        notes.insert(0, text("less than {floor} of the step", floor=show(MIN_STEP_SHARE, "percent")))
    return said, notes


@dataclass(frozen=True, slots=True)
class _Window:
    """What the chart of a card shows: the newest nights of what leads a model."""

    lead: SeriesFacts
    start: int
    past: Sequence[NightMark]

    @property
    def days(self) -> Days:
        return days_of(self.lead.nights)[self.start :]

    @property
    def values(self) -> Floats:
        return self.lead.values[self.start :]

    def remarks(self, text: Texts) -> list[str]:
        """Nights that differed, and dates without a run."""
        said = [
            text("single night {night}: {label}", night=self.lead.nights[mark.place], label=mark.label)
            for mark in self.past
        ]
        if count := sum(count for _, count in gaps_in(self.days.tobytes())):
            said.append(text("dates without a run: {count}", count=count))
        return said


def _window(lead: SeriesFacts, facts: StoreFacts, text: Texts) -> _Window:
    start = max(watch_of(lead).start, len(lead.nights) - CARD_NIGHTS)
    return _Window(lead, start, [mark for mark in past_in(lead, facts.past_nights, text) if mark.place >= start])


def _chart(window: _Window, nights: Sequence[str], versions: Mapping[str, tuple[str, ...]], text: Texts) -> Markup:
    lead, start, values = window.lead, window.start, window.values
    if not len(values):
        return Markup()
    watch = watch_of(lead)
    levels = [
        replace(level, start=max(level.start - start, 0), until=level.until - start)
        for level in watch.levels
        if level.until > start
    ]

    def in_words(value: float) -> str:
        return f"{show(value, 'time')} {lead.row.unit or ''}".rstrip()

    said = text(
        "{what}: {count} nights from {first} to {last}, between {low} and {high}, now {now}; level shifts: {changes}.",
        what=text.series(lead.row),
        count=len(values),
        first=lead.nights[start],
        last=lead.nights[-1],
        low=in_words(float(values.min())),
        high=in_words(float(values.max())),
        now=in_words(float(values[-1])),
        changes=sum(shift.start >= start for shift in watch.shifts),
    )
    shown = days_of(tuple(nights[-CARD_NIGHTS:]))
    return card_chart(
        window.days,
        values,
        levels,
        watch.sigma,
        changes=[shift.start - start for shift in watch.shifts if shift.start >= start],
        words=said,
        in_words=in_words,
        span=(min(int(shown[0]), int(window.days[0])), int(shown[-1])),
        versions=[mark.place - start for mark in versions_in(lead, versions) if mark.place >= start],
        past=[mark.place - start for mark in window.past],
    )
