"""The list of all series and the list of all runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from aoe_reports.history.site_facts import RunFacts, SeriesFacts, StoreFacts
from aoe_reports.model.history.changes import WHOLE, SeriesChange
from aoe_reports.model.history.listings import ListedRun
from aoe_reports.model.rows import as_mapping
from aoe_reports.present.drawings.charts import code_of
from aoe_reports.present.values import NONE, show
from aoe_reports.site.cells import class_of, level_text
from aoe_reports.site.listed import Facet, ListColumn, Listed
from aoe_reports.site.pages.incidents import SPARK_NIGHTS
from aoe_reports.site.pages.overview import run_row
from aoe_reports.site.pages.triage import by_effect_on_step, group_of, look_of, state_of, sure_effect
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
                "sure_effect": sure_effect(one),
                "share_of_step": one.share_of_step,
                "model": one.model,
            }
            for one in facts.series
        ]
    }


def _series_columns(series: Sequence[SeriesFacts], text: Texts) -> list[ListColumn]:
    rows = [one.row for one in series]
    states = [state_of(row) if row.state or row.reason else "" for row in rows]
    looks = [look_of(row) for row in rows]
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
            [code_of(one.values[-SPARK_NIGHTS:]) for one in series],
            "spark",
            marks=[_mark(one) for one in series],
        ),
        ListColumn(
            "state",
            titles["state"],
            [text.state(state, row) if state else "" for state, row in zip(states, rows, strict=True)],
            "state",
            looks=[look if look == "minor" else class_of(state) for state, look in zip(states, looks, strict=True)],
        ),
        ListColumn(
            "effect", text("Effect on step"), [_share(_effect(row), "change") for row in rows], "number", looks=looks
        ),
        ListColumn("change", titles["change"], [_share(row.change, "change") for row in rows], "number", looks=looks),
        ListColumn("since", titles["since"], [row.since or "" for row in rows]),
        ListColumn("before", titles["before"], [level_text(row.before, row) for row in rows], "number"),
        ListColumn("after", titles["after"], [_newest_level(one) for one in series], "number"),
        ListColumn(
            "detectable",
            titles["smallest_detectable"],
            [_share(row.smallest_detectable, "percent") for row in rows],
            "number",
        ),
        ListColumn("nights", titles["nights"], [show(row.nights, "integer") for row in rows], "number"),
    ]


def _series_facets(series: Sequence[SeriesFacts], text: Texts) -> list[Facet]:
    rows = [one.row for one in series]
    ranks = ["" if row.rank_id is None else str(row.rank_id) for row in rows]
    return [
        Facet("model", text("Model"), [(one.model, one.model) for one in series]),
        Facet("scope", text("Scope"), [(row.scope, text.translated(row.scope)) for row in rows]),
        Facet("state", text("State"), [(state, text.word(state)) for state in map(state_of, rows)]),
        Facet("rank", text("Rank"), [(rank or "none", rank or NONE) for rank in ranks]),
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


def _mark(series: SeriesFacts) -> int:
    """The newest change among the nights of a sparkline; -1 for none."""
    offset = max(0, len(series.nights) - SPARK_NIGHTS)
    return next((shift.start - offset for shift in reversed(series.shifts) if shift.start >= offset), -1)


def _effect(row: SeriesChange) -> float | None:
    """What a change does to its step, as a share of it."""
    return row.change if row.scope in WHOLE else row.step_share


def _newest_level(series: SeriesFacts) -> str:
    return level_text(series.row.after if series.row.after is not None else series.level, series.row)


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
        ListColumn("findings", text("Findings"), [show(len(run.findings), "integer") for run in runs], "number"),
    ]


def _run_facets(runs: Sequence[RunFacts], text: Texts) -> list[Facet]:
    return [
        Facet("model", text("Model"), [(run.model, run.model) for run in runs]),
        Facet("kind", text("Kind"), [(run.kind, text.translated(run.kind)) for run in runs]),
        Facet("hardware", text("Hardware"), [(run.hardware, run.hardware) for run in runs]),
        Facet("status", text("Status"), [(run.status, text.translated(run.status)) for run in runs]),
    ]
