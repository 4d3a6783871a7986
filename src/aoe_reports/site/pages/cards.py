"""A card a model: how its step went, by how much it changed, since when, and the one cause; the worst effect first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from aoe_reports.history.site_facts import Days, Floats, SeriesFacts, StoreFacts
from aoe_reports.model.history.causes import causes_in_words, count_ranks
from aoe_reports.model.history.changes import METRIC, MIN_STEP_SHARE, NOTICED, PHASE, WHOLE, by_effect, is_small
from aoe_reports.model.history.metrics import loss
from aoe_reports.present.drawings.charts import card_chart, days_of
from aoe_reports.present.reports.night_words import subject_words
from aoe_reports.present.reports.series_cells import value_words
from aoe_reports.present.values import show
from aoe_reports.site.cells import interval, short
from aoe_reports.site.pages.history import NightMark, gaps_in, past_in, versions_in, watch_of
from aoe_reports.site.pages.incidents import ListedIncident, largest_part_of, shapes_of, spark
from aoe_reports.site.pages.triage import OPEN, TONES, Group, Tone, group_of, is_minor, state_of, step_effect
from aoe_reports.site.places import model_file
from aoe_reports.site.texts import Texts

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
    about: Sequence[str]
    """From what to what, the interval, which rank."""
    since: str = ""
    """Since which night, or empty."""
    cause: str = ""
    notes: Sequence[str] = ()
    chart: Markup = field(default_factory=Markup)
    spark: Markup = field(default_factory=Markup)
    """The same, small."""
    is_new: bool = False

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
    of_operators: bool = False

    @property
    def order(self) -> tuple[object, ...]:
        """The worst effect first; what is faint, unchanged or without a step by name."""
        group = None if self.is_faint else self.group
        return self.lead is None, _URGENCY[group], -abs(self.change or 0.0) if group else 0.0, self.name


def model_cards(facts: StoreFacts, incidents: Mapping[Group, Sequence[ListedIncident]], text: Texts) -> list[Card]:
    """A card for each model, the worst effect on its step first."""
    of_model: dict[str, list[SeriesFacts]] = {run.model: [] for run in facts.runs}
    for series in facts.series:
        of_model.setdefault(series.model, []).append(series)
    listed = _listed_by_model(incidents)
    models = [_model(name, series, listed.get(name, ()), facts.nights) for name, series in of_model.items()]
    versions = {run.run_id: run.versions for run in facts.runs}
    newest = {run.model: run.night for run in facts.runs}  # runs are in order
    late = {
        name: text("no run since {night}", night=night) for name, night in newest.items() if night != facts.nights[-1]
    }
    cards = []
    for model in sorted(models, key=lambda model: model.order):
        card = _card(model, late.get(model.name), text)
        if model.lead is not None:
            window = _window(model.lead, facts, text)
            notes, chart = window.remarks(text), _chart(window, facts.nights, versions, text)
            card = replace(card, notes=[*card.notes, *notes], chart=chart, spark=spark(model.lead, text))
        cards.append(card)
    return cards


def _listed_by_model(incidents: Mapping[Group, Sequence[ListedIncident]]) -> dict[str, list[ListedIncident]]:
    """What is listed about each model: by urgency, then by effect."""
    rows = sorted(
        (row for of_group in incidents.values() for row in of_group),
        key=lambda row: (_URGENCY[row.group], by_effect(row.effect)),
    )
    about: dict[str, list[ListedIncident]] = {}
    for row in rows:
        for name in dict.fromkeys(series.model for series in row.series):
            about.setdefault(name, []).append(row)
    return about


def _model(name: str, series: Sequence[SeriesFacts], listed: Sequence[ListedIncident], nights: Sequence[str]) -> _Model:
    lead = _lead_of(series, nights)
    first = listed[0] if listed else None
    if lead is None:
        return _Model(name, None, first, None, None, is_faint=False)
    row = lead.row
    group = group_of(row, nights)
    if (group is None or is_minor(row)) and first is not None and first.group in OPEN and not is_small(first.effect):
        return _Model(name, lead, first, first.group, first.effect, is_faint=False, of_operators=True)
    own = next((one for one in listed if lead in one.series), first)
    return _Model(
        name, lead, own, group, None if group is None else row.change, is_faint=group is not None and is_minor(row)
    )


def _lead_of(series: Sequence[SeriesFacts], nights: Sequence[str]) -> SeriesFacts | None:
    """What a user notices of a model that got worst; where nothing changed, its longest step."""
    for scopes in (WHOLE, {PHASE}, {METRIC}):
        wholes = [one for one in series if one.row.scope in scopes and one.nights]
        if wholes:
            return min(wholes, key=lambda one: _worst_first(one, nights))
    return None


def _worst_first(series: SeriesFacts, nights: Sequence[str]) -> tuple[object, ...]:
    row = series.row
    lost = loss(row.change or 0.0, row.better)
    group = None if is_minor(row) else group_of(row, nights)
    return _URGENCY[group], -abs(lost) if group else 0.0, row.scope != "step", -float(series.values[-1]), series.id


def _card(model: _Model, late: str | None, text: Texts) -> Card:
    lead, group = model.lead, model.group
    shown = Card(
        model=model.name,
        name=short(model.name),
        page=f"{model_file(model.name)}.html",
        tone="calm" if group is None or model.is_faint else TONES[group],
        state="minor",
        word=text("no step time"),
        change=model.change,
        about=[late] if late else [],
    )
    if lead is None:
        return shown
    state = state_of(lead.row)
    cause, notes = _cause(lead, model.listed, text)
    since = model.listed.since if model.of_operators and model.listed is not None else lead.row.since
    return replace(
        shown,
        state="confirmed" if model.of_operators else "minor" if model.is_faint else state,
        word=text("operators slower") if model.of_operators else text.state(state, lead.row),
        is_new=group == "new",
        since=text("since {night}", night=since) if group is not None else "",
        about=[*_about(model, lead, text), *shown.about],
        cause=cause,
        notes=notes,
    )


def _about(model: _Model, lead: SeriesFacts, text: Texts) -> list[str]:
    """From what to what, with the interval of the change, of which part and rank."""
    row = lead.row
    is_changed = model.group is not None and not model.of_operators
    part = str(row.metric) if row.scope == METRIC else "" if row.scope in WHOLE else row.workload
    values = [one for one in (row.before, row.after) if one is not None] if is_changed else [float(lead.values[-1])]
    levels = " → ".join(text.translated(value_words(value, row.unit)) for value in values)
    sure = (
        text("95%: {interval}", interval=interval(row.ci_low, row.ci_high))
        if is_changed and row.ci_low is not None
        else ""
    )
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
        return text.translated(value_words(value, lead.row.unit))

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
        [shift.start - start for shift in watch.shifts if shift.start >= start],
        said,
        in_words,
        (min(int(shown[0]), int(window.days[0])), int(shown[-1])),
        versions=[mark.place - start for mark in versions_in(lead, versions) if mark.place >= start],
        past=[mark.place - start for mark in window.past],
    )
