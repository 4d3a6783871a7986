"""The part of a run's page that says what could be gained, and what is worth tuning next."""

from __future__ import annotations

import shlex

from aoe_reports.history.site_facts import RunAdvice, RunFacts
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.advice import AdviceSummary, LeftOutRow, StoredAdviceRow, StoredCandidate
from aoe_reports.present.drawings.charts import bar
from aoe_reports.present.values import NONE, plain, show
from aoe_reports.site.amounts import TimeColumn
from aoe_reports.site.cells import Table, cell, drawn, head, sentence, with_code
from aoe_reports.site.render import Context
from aoe_reports.site.texts import Texts

SHOWN_HEADLINES = 3
"""Headlines of more devices are folded."""
SHOWN = 50
"""Rows of each table; what this version stores is fewer, what somebody else imported may be any number."""


def advice_said(stored: RunAdvice | None, text: Texts) -> str:
    """Why a page has no advice; `stored` is None where the store has none."""
    if stored is None:
        return text(
            "No advice and no plan are stored with this run: ingest its profile again with --renew, or query "
            "the profile directly."
        )
    why_not = stored.summary.why_not
    return text("No advice could be derived: {why}", why=text.translated(why_not)) if why_not else ""


def advised(stored: RunAdvice, text: Texts) -> Context:
    """The advice of a run."""
    summary, shown = stored.summary, stored.advice[:SHOWN]
    bounds = TimeColumn.of("us", (row.bound_us for row in shown))
    totals = TimeColumn.of("us", (row.total_us for row in stored.stated[:SHOWN]))
    columns = [
        (text("Item"), "text"), *text.columns(StoredAdviceRow, "rule"), bounds.title(text("Bound, per step")), ("", "text"),
        (text("Evidence"), "text"),
    ]  # fmt: skip
    stated_columns = [
        (text("Item"), "text"), *text.columns(StoredAdviceRow, "rule", "count"), totals.title(text("Total")),
        *text.columns(StoredAdviceRow, "share"), (text("Evidence"), "text"), (text("msprof message"), "text"),
    ]  # fmt: skip
    about = text(
        "The {shown} of {count} with the largest bound. Bound is the maximum by which a step could become shorter; it is not a forecast, and bounds do not add up.",
        shown=len(shown),
        count=summary.found,
    )
    stated_about = text(
        "The first {shown} of {count}, as worded by msprof.", shown=min(len(stored.stated), SHOWN), count=summary.stated
    )
    stated_rows = [
        [
            head(row.op_name or NONE, None, text.place(row.rank_id, None)),
            cell(row.rule),
            cell(row.count, "integer"),
            totals.cell(row.total_us),
            cell(row.share, "percent"),
            sentence(text.translated(row.evidence or "")),
            sentence(row.advice),
        ]
        for row in stored.stated[:SHOWN]
    ]
    return {
        "headlines": _headlines(summary, text),
        "shown_headlines": SHOWN_HEADLINES,
        "advice": Table(columns, [_advice_cells(row, bounds, text) for row in shown], about, stacks=True),
        "to_do": list(dict.fromkeys((str(row.rule), with_code(text.translated(row.advice or ""))) for row in shown)),
        "stated": Table(stated_columns, stated_rows, stated_about),
        "notes": [with_code(text.translated(note)) for note in summary.notes],
    }


def _headlines(summary: AdviceSummary, text: Texts) -> list[str]:
    """One sentence a device, the longest step first."""
    said = [
        text(
            "{place}: {headline}.",
            place=text.place(whole_in(row, "rank_id"), whole_in(row, "device_id")) or text("the step"),
            headline=text.translated(row.get("headline") or ""),
        )
        for row in summary.headlines
    ]
    return said + longest_only(summary, text)


def whole_in(headline: JsonObject, name: str) -> int | None:
    """A whole number of a stored headline."""
    value = headline.get(name)
    return value if isinstance(value, int) else None


def longest_only(summary: AdviceSummary, text: Texts) -> list[str]:
    """That not all devices have a headline, where that is so."""
    shown, count = len(summary.headlines), summary.devices
    return [text("The {shown} longest steps of {count} devices.", shown=shown, count=count)] if shown < count else []


def _advice_cells(row: StoredAdviceRow, bounds: TimeColumn, text: Texts) -> list[str]:
    place = text.place(row.rank_id, None)
    if (row.devices or 1) > 1:
        place = text.joined(", ", [word for word in (place, text("on {count} devices", count=row.devices)) if word])
    name = (row.op_name or row.op_type) if row.count is not None else text("the step")
    about = [place, _below(row) if row.count is not None else None]
    share = row.bound_share
    return [
        head(name, None, " · ".join(word for word in about if word)),
        cell(row.rule),
        bounds.cell(row.bound_us, None if share is None else text("{share} of the step", share=show(share, "percent"))),
        drawn(bar(min(max(share or 0.0, 0.0), 1.0), of=1.0)),
        sentence(text.translated(row.evidence or "")),
    ]


def _below(row: StoredAdviceRow | StoredCandidate) -> str | None:
    """The line below a name: the type, where that is another word, and the shapes."""
    words = [row.op_type if row.op_name and row.op_type != row.op_name else None, row.input_shapes]
    return " · ".join(word for word in words if word) or None


def next_plan(stored: RunAdvice, text: Texts) -> Context:
    """The plan of a run."""
    plan = stored.summary.plan
    most = max((row.expected_saving_us or 0.0 for row in stored.candidates), default=0.0)
    count = plan.get("candidates", 0) if plan else 0
    shown = stored.candidates[:SHOWN]
    totals = TimeColumn.of("us", (row.total_us for row in shown))
    savings = TimeColumn.of("us", (us for row in shown for us in (row.expected_saving_us, row.bound_saving_us)))
    columns = [
        (text("Item"), "text"), *text.columns(StoredCandidate, "count"), totals.title(text("Total")), (text("Share"), "number"),
        savings.title(text("Expected, per step")), ("", "text"), savings.title(text("Bound, per step")),
        (text("Tuning (s)"), "number"), (text("Why"), "text"),
    ]  # fmt: skip
    left_out_times = TimeColumn.of("us", (row.total_us for row in stored.left_out[:SHOWN]))
    left_out_columns = [
        *text.columns(LeftOutRow, "rule", "meaning"), (text.sense("count", "Operators"), "number"),
        left_out_times.title(text("Total")),
    ]  # fmt: skip
    left_out = [
        [head(row.rule), sentence(text.translated(row.meaning or "")), cell(row.operators, "integer"), left_out_times.cell(row.total_us)]
        for row in stored.left_out[:SHOWN]
    ]  # fmt: skip
    about = text(
        "Computed when the run was stored, without earlier results. Total is for the whole profile; expected and bound are of one step. Shows the first {shown} of {count} candidates.",
        shown=min(len(stored.candidates), SHOWN),
        count=count,
    )
    return {
        "said": text.translated(plan.get("headline") or "")
        if plan
        else text("No task of this run shows what could be tuned."),
        "candidates": Table(
            columns, [_candidate_cells(row, totals, savings, most, text) for row in shown], about, stacks=True
        ),
        "left_out": Table(left_out_columns, left_out),
    }


def _candidate_cells(
    row: StoredCandidate, totals: TimeColumn, savings: TimeColumn, most: float, text: Texts
) -> list[str]:
    expected = row.expected_saving_us
    return [
        head(row.op_name or row.op_type or text("the model's subgraphs"), None, _below(row)),
        cell(row.count, "integer"),
        totals.cell(row.total_us),
        cell(row.share, "percent"),
        savings.cell(expected),
        drawn(bar(max(expected or 0.0, 0.0), of=most)),
        savings.cell(row.bound_saving_us),
        cell(row.cost_s, "time"),
        sentence(text.translated(row.reason or "")),
    ]


def commands(run: RunFacts) -> list[str]:
    """How advice and a plan are made from the profile."""
    path = shlex.quote(plain(run.folder)) if run.folder else "PATH"
    return [f"aoe-reports advise {path}", f"aoe-reports plan {path} -o plan"]
