"""The list of all series and the list of all runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from aoe_reports.history.site_facts import RunFacts, SeriesFacts, StoreFacts
from aoe_reports.model.history.changes import METRICS, SeriesChange
from aoe_reports.model.history.listings import ListedRun
from aoe_reports.model.history.metrics import TIME_UNIT
from aoe_reports.model.rows import as_mapping
from aoe_reports.present.values import NONE, show
from aoe_reports.site.cells import class_of, level_text
from aoe_reports.site.listed import Facet, ListColumn, Listed
from aoe_reports.site.pages.incidents import spark_of
from aoe_reports.site.pages.overview import run_row
from aoe_reports.site.pages.triage import (
    by_effect_on_step,
    effect_lower_bound,
    group_of,
    look_of,
    state_of,
    step_effect,
)
from aoe_reports.site.places import file_name
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts


def all_series(facts: StoreFacts, text: Texts) -> Content:
    """The list of series, and its JSON."""
    series = sorted(facts.series, key=lambda one: by_effect_on_step(one.row))
    about = (
        text(
            "Every series with a time in the last {nights} nights; series that changed come first, the largest effect on the step before others.",
            nights=facts.watched_nights,
        )
        if series
        else text("No series is stored.")
    )
    page = {
        "title": text("All series"),
        "listed": Listed(_series_columns(series, text), _series_facets(series, text), about),
    }
    return page, {
        "rows": [
            {
                **as_mapping(one.row),
                "group": group_of(one.row, facts.nights),
                "sure_effect": effect_lower_bound(one),
                "share_of_step": one.share_of_step,
                "model": one.model,
            }
            for one in series
        ]
    }


def _series_columns(series: Sequence[SeriesFacts], text: Texts) -> list[ListColumn]:
    rows = [one.row for one in series]
    states = [state_of(row) if row.state or row.reason else "" for row in rows]
    looks = [look_of(row) for row in rows]
    sparks = [spark_of(one) for one in series]
    shown = ("state", "change", "since", "before", "after", "smallest_detectable", "nights")
    titles = dict(zip(shown, (title for title, _ in text.columns(SeriesChange, *shown)), strict=True))
    return [
        ListColumn(
            "item",
            text("Item"),
            [text.series(row) for row in rows],
            "head",
            below=_where(rows, text),
            links=[file_name(one.id) if one.has_page else "" for one in series],
        ),
        ListColumn(
            "history",
            text("History"),
            [code for code, _ in sparks],
            "spark",
            marks=[mark for _, mark in sparks],
        ),
        ListColumn(
            "state",
            titles["state"],
            [text.state(state, row) if state else "" for state, row in zip(states, rows, strict=True)],
            "state",
            looks=[look if look == "minor" else class_of(state) for state, look in zip(states, looks, strict=True)],
        ),
        ListColumn(
            "effect",
            text("Effect on step"),
            [_share(step_effect(row), "change") for row in rows],
            "number",
            [step_effect(row) for row in rows],
            looks=looks,
        ),
        ListColumn(
            "change",
            titles["change"],
            [_share(row.change, "change") for row in rows],
            "number",
            [row.change for row in rows],
            looks=looks,
        ),
        ListColumn("since", titles["since"], [row.since or "" for row in rows]),
        _levels("before", titles["before"], [row.before for row in rows], rows),
        _levels("after", titles["after"], [_newest_level(one) for one in series], rows),
        ListColumn(
            "detectable",
            titles["smallest_detectable"],
            [_share(row.smallest_detectable, "percent") for row in rows],
            "number",
            [row.smallest_detectable for row in rows],
        ),
        _counts("nights", titles["nights"], [row.nights for row in rows]),
    ]


def _levels(key: str, title: str, levels: Sequence[float | None], rows: Sequence[SeriesChange]) -> ListColumn:
    """Times, and metrics each in its own unit."""
    texts = [level_text(level, row) for level, row in zip(levels, rows, strict=True)]
    return ListColumn(key, title, texts, "number", levels, [_unit_of(row) for row in rows])


def _unit_of(row: SeriesChange) -> str:
    return (row.unit or NONE) if row.scope in METRICS and row.unit != TIME_UNIT else ""


def _counts(key: str, title: str, counts: Sequence[int]) -> ListColumn:
    return ListColumn(key, title, [show(count, "integer") for count in counts], "number", counts)


def _series_facets(series: Sequence[SeriesFacts], text: Texts) -> list[Facet]:
    rows = [one.row for one in series]
    ranks = ["" if row.rank_id is None else str(row.rank_id) for row in rows]
    return [
        Facet("model", text("Model"), [(one.model, one.model) for one in series]),
        Facet("scope", text("Scope"), [(row.scope, text.translated(row.scope)) for row in rows]),
        Facet("state", text("State"), [(state, text.word(state)) for state in map(state_of, rows)]),
        Facet("rank", text("Rank"), [(rank or "none", rank or NONE) for rank in ranks], is_number=True),
    ]


def _where(rows: Sequence[SeriesChange], text: Texts) -> list[str]:
    """The scope of each series, and its hardware, rank and device where the list has several."""
    hardware, ranks, devices = (
        len({getattr(row, name) for row in rows}) > 1 for name in ("hardware", "rank_id", "device_id")
    )
    return [
        " · ".join(
            filter(
                None,
                (
                    text.translated(row.scope),
                    str(row.hardware) if hardware else "",
                    text.place(row.rank_id if ranks else None, row.device_id if devices else None),
                ),
            )
        )
        for row in rows
    ]


def _newest_level(series: SeriesFacts) -> float | None:
    return series.row.after if series.row.after is not None else series.level


def _share(share: float | None, kind: Literal["change", "percent"]) -> str:
    return "" if share is None else show(share, kind)


def all_runs(facts: StoreFacts, text: Texts) -> Content:
    """The list of runs, the newest first, and its JSON."""
    runs = facts.runs[::-1]
    about = text("Every run of the store, the newest first.") if runs else text("No run is stored.")
    page = {"title": text("All runs"), "listed": Listed(_run_columns(runs, text), _run_facets(runs, text), about)}
    return page, {"rows": [run_row(run) for run in facts.runs]}


def _run_columns(runs: Sequence[RunFacts], text: Texts) -> list[ListColumn]:
    run_title, night, kind, hardware, status = (
        title for title, _ in text.columns(ListedRun, "run", "night", "kind", "hardware", "status")
    )
    return [
        ListColumn(
            "run", run_title, [run.run_id for run in runs], "head", links=[file_name(run.run_id) for run in runs]
        ),
        ListColumn("night", night, [run.night for run in runs]),
        ListColumn("kind", kind, [text.translated(run.kind) for run in runs]),
        ListColumn("model", text("Model"), [run.model for run in runs]),
        ListColumn("hardware", hardware, [run.hardware for run in runs]),
        ListColumn(
            "status",
            status,
            [text.translated(run.status) for run in runs],
            "state",
            looks=[class_of(run.status) for run in runs],
        ),
        _counts("findings", text("Findings"), [len(run.findings) for run in runs]),
    ]


def _run_facets(runs: Sequence[RunFacts], text: Texts) -> list[Facet]:
    return [
        Facet("model", text("Model"), [(run.model, run.model) for run in runs]),
        Facet("kind", text("Kind"), [(run.kind, text.translated(run.kind)) for run in runs]),
        Facet("hardware", text("Hardware"), [(run.hardware, run.hardware) for run in runs]),
        Facet("status", text("Status"), [(run.status, text.translated(run.status)) for run in runs]),
    ]
