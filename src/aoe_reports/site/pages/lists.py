"""The list of all series and the list of all runs."""

from __future__ import annotations

from aoe_reports.history.site_facts import SeriesFacts, StoreFacts
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.rows import as_mapping
from aoe_reports.site.cells import Table, cell, changed, head, level, stated
from aoe_reports.site.pages.overview import run_row, runs_table, where_words
from aoe_reports.site.pages.triage import group_of, state_of, sure_effect
from aoe_reports.site.places import file_name
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts


def all_series(facts: StoreFacts, text: Texts) -> Content:
    """The list of series, and its JSON."""
    shown = ("state", "change", "since", "before", "after", "smallest_detectable", "nights")
    columns = [(text("Item"), "text"), *text.columns(SeriesChange, *shown)]
    rows = [_series_cells(series, text) for series in facts.series]
    about = text(
        "Every series with a time in the last {nights} nights; series that changed come first.",
        nights=facts.watched_nights,
    )
    about = about if rows else text("No series is stored.")
    page = {"title": text("All series"), "listed": Table(columns, rows, about)}
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


def _series_cells(series: SeriesFacts, text: Texts) -> list[str]:
    row = series.row
    state = state_of(row) if row.state or row.reason else None
    return [
        head(text.series(row), f"{file_name(series.id)}.html" if series.has_page else None, where_words(series, text)),
        stated(state, text.state(state, row)) if state else cell(None),
        changed(row.change, better=row.better),
        cell(row.since),
        level(row.before, row),
        level(row.after if row.after is not None else series.level, row),
        cell(row.smallest_detectable, "percent"),
        cell(row.nights, "integer"),
    ]


def all_runs(facts: StoreFacts, text: Texts) -> Content:
    """The list of runs, the newest first, and its JSON."""
    about = text("Every run of the store, the newest first.") if facts.runs else text("No run is stored.")
    page = {"title": text("All runs"), "listed": runs_table(reversed(facts.runs), "", text, about)}
    return page, {"rows": [run_row(run) for run in facts.runs]}
