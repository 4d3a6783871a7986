"""The page of a model: what is open, its steps rank by rank, its newest runs, and where the rest of it lies."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.history.site_facts import SeriesFacts, StoreFacts
from aoe_reports.model.history.causes import rank_words
from aoe_reports.model.history.changes import METRIC, NOTICED, PHASE, SeriesChange
from aoe_reports.model.history.runs import StepTimes
from aoe_reports.model.rows import as_mapping
from aoe_reports.present.night import night_headline
from aoe_reports.present.values import plain, show
from aoe_reports.site.cells import Table, about_first, changed, drawn, head, interval, level, linked, stated
from aoe_reports.site.pages.comparison import page_of, pairs_of
from aoe_reports.site.pages.incidents import incidents_table, listed_incidents, spark
from aoe_reports.site.pages.overview import run_row, runs_table
from aoe_reports.site.pages.triage import state_of, tone_of
from aoe_reports.site.places import file_name, series_link
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts

SHOWN_RUNS, SHOWN_STEPS = 30, 64
_ROOT = "../"


def model_page(model: str, facts: StoreFacts, text: Texts) -> Content:
    """The page of a model, and its JSON."""
    series = [one for one in facts.series if one.model == model]
    ours = {one.id for one in series}
    changes = [row for row in facts.regressions if row.series_id in ours]
    incidents = [incident for incident in facts.incidents.values() if model in incident.models]
    suspicions = [suspicion for suspicion in facts.suspicions if model in suspicion.models]
    runs = [run for run in facts.runs if run.model == model]
    steps = _steps(series)
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
        "incidents": _incidents_table(model, facts, text),
        "steps": _steps_table(steps, text),
        "runs": runs_table(runs[: -SHOWN_RUNS - 1 : -1], f"{_ROOT}runs/", text),
        "compared": f"{_ROOT}{page_of(model)}.html" if model in pairs_of(facts) else "",
    }
    return page, {
        "model": model,
        "incidents": [incident.incident for incident in incidents],
        "suspicions": [as_mapping(suspicion) for suspicion in suspicions],
        "steps": [as_mapping(step.row) for step in steps],
        "runs": [run_row(run) for run in runs],
    }


def _incidents_table(model: str, facts: StoreFacts, text: Texts) -> Table:
    rows = [row for group in listed_incidents(facts, text, model).values() for row in group]
    about = text("What changed together, by its cause; the largest effect on the step first.")
    return incidents_table(rows, text, title=text("Incidents"), about=about, root=_ROOT)


def _steps(series: Sequence[SeriesFacts]) -> list[SeriesFacts]:
    """What is measured of a model as a whole, the longest first; then its metrics."""
    wholes = [facts for facts in series if facts.row.scope in NOTICED and facts.nights]
    return sorted(wholes, key=lambda one: (one.row.scope == METRIC, _order(one), one.id))


def _order(facts: SeriesFacts) -> tuple[float, str]:
    """The longest time first; metrics, which have several units, by name."""
    return (0.0, str(facts.row.metric)) if facts.row.scope == METRIC else (-facts.values[-1], "")


def _steps_table(steps: Sequence[SeriesFacts], text: Texts) -> Table:
    columns = [
        (text("Item"), "text"), (text("History"), "text"), *text.columns(StepTimes, "step_ms"), (text("State"), "text"),
        *text.columns(SeriesChange, "change", "since"),
    ]  # fmt: skip
    about = text("The mean of the newest night, the longest first.")
    about = about_first(about, SHOWN_STEPS, len(steps), text)
    return Table(columns, [_step_cells(step, text) for step in steps[:SHOWN_STEPS]], about)


def _step_cells(facts: SeriesFacts, text: Texts) -> list[str]:
    row = facts.row
    state = state_of(row)
    what = row.metric if row.scope == METRIC else row.workload.rpartition("/")[2] if row.scope == PHASE else row.scope
    name = text.translated(what) + text.translated(rank_words(row.rank_id))
    return [
        head(name, series_link(facts, _ROOT), row.hardware),
        drawn(spark(facts, text)),
        level(float(facts.values[-1]), row),
        stated(state, text.state(state, row)),
        changed(row.change, interval(row.ci_low, row.ci_high), row.better),
        linked(row.since, f"{_ROOT}runs/{file_name(row.since_run)}.html" if row.since_run else None),
    ]
