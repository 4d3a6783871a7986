"""How a model was when a run of it was taken: slower, suspected or faster since which night, and of what baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aoe_reports.history.site_facts import PlacedShift, SeriesFacts, StoreFacts
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.history.causes import count_ranks
from aoe_reports.model.history.changes import METRICS, by_effect
from aoe_reports.model.history.metrics import loss
from aoe_reports.model.texts import N_
from aoe_reports.present.reports.night_words import subject_words
from aoe_reports.present.values import show
from aoe_reports.site.pages.cards import lead_of
from aoe_reports.site.pages.comparison import Pair, page_of
from aoe_reports.site.places import file_name, series_link
from aoe_reports.site.texts import Texts

_SCOPES = frozenset({"op", "op_type", "communication"})
"""What is looked at where the step itself did not change."""


@dataclass(frozen=True, slots=True)
class RunState:
    """The change of a series that lasts on the night of a run."""

    series: SeriesFacts
    shift: PlacedShift
    ranks: int
    """On so many ranks it changed."""

    @property
    def baseline(self) -> str | None:
        """The last run before it."""
        return self.series.runs[self.shift.start - 1] if self.shift.start else None


def run_states(facts: StoreFacts) -> dict[tuple[str, str], RunState]:
    """By model and night the change that matters most: that of what leads the model, else that of the operator with the largest effect on it."""
    states: dict[tuple[str, str], RunState] = {}
    for model, series in lists_by_key((series.model, series) for series in facts.series).items():
        lead = lead_of(series, facts.nights)
        together = lists_by_key((one.row.incident, one.row) for one in series)
        operators = sorted(
            (one for one in series if one.row.scope in _SCOPES and one.shifts),
            key=lambda one: (by_effect(one.row.step_share), one.id),
        )
        for one in [*([lead] if lead is not None else []), *operators]:
            ranks = count_ranks(one.row, together[one.row.incident] if one.row.incident else ())
            for night, shift in _lasting(one):
                states.setdefault((model, night), RunState(one, shift, ranks))
    return states


def _lasting(series: SeriesFacts) -> Iterable[tuple[str, PlacedShift]]:
    """The nights on which a series is slower, suspect or faster."""
    for shift in series.shifts:
        if shift.state != "recovered":
            for night in series.nights[shift.start : shift.until]:
                yield night, shift


_SENTENCES: Mapping[str, str] = N_(
    {
        "slower": "Slower since {since}: {what} {change}.",
        "faster": "Faster since {since}: {what} {change}.",
        "worse": "Worse since {since}: {what} {change}.",
        "better": "Better since {since}: {what} {change}.",
        "suspect": "Suspected since {since}: {what} {change}; more nights must confirm it.",
    }
)


def state_words(state: RunState, text: Texts) -> str:
    """The sentence above everything else on the page of a run."""
    row, shift = state.series.row, state.shift
    worse, better = ("worse", "better") if row.scope in METRICS else ("slower", "faster")
    kind = worse if loss(shift.change, row.better) > 0 else better
    return text(
        _SENTENCES["suspect" if shift.state == "suspect" else kind],
        since=state.series.nights[shift.start],
        what=text.translated(subject_words(row, state.ranks)),
        change=show(shift.change, "change"),
    )


def state_link(state: RunState) -> str | None:
    """The page of the series, seen from that of a run."""
    return series_link(state.series, "../")


def baseline_link(run_id: str, state: RunState | None, pair: Pair | None) -> str | None:
    """The comparison of a run with its baseline: prebuilt of the newest run of a model, else of the last run before the change."""
    if pair is not None and pair.candidate.run_id == run_id and pair.why != "night":
        return f"../{page_of(pair.candidate.model)}.html"
    baseline = None if state is None else state.baseline
    return None if baseline is None else f"../compare.html#a={file_name(baseline)}&b={file_name(run_id)}"
