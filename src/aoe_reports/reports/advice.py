"""What `advise` found as a report: where to look first, then what could be gained, device by device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aoe_reports.reports.report import Column, Grid, Report, Section
from aoe_reports.reports.rows import shown_columns

SOURCES = {
    "step_trace_time": "the profiler's table of steps (step_trace_time)",
    "tasks": "unions of the tasks' intervals",
    "timeline": "a timeline",
    "durations": "the sum of the tasks' durations: nothing tells what ran beside what",
}

HOW = (
    "Bound is the most that following the advice could make a step shorter; it is no forecast, and bounds do not add up. "
    "Operators: their device time without the part in which cube or vector worked on all cores, and no more than the computing "
    "of a step that no communication runs beside. Launching: no more than the free time of a step. Bounds are means over "
    "the steps; without steps the capture is taken as one. Share is of all computing."
)


def advice_report(
    rows: Sequence[Mapping[str, Any]],
    headlines: Sequence[Mapping[str, Any]],
    reasons: Mapping[str, tuple[str, str]],
) -> Report:
    """A section for each device, one for msprof's own advice, one on how bounds are meant.

    `reasons` has the title and the source of each rule.
    """
    sections = [_device(headline, rows, reasons) for headline in headlines]
    stated = [row for row in rows if row["source"] == "prof_rule"]
    if stated:
        columns = (
            Column("run", "Run"),
            *shown_columns("advise", stated),
            Column("advice", "msprof says"),
        )
        sections.append(Section("msprof's own advice (prof_rule)", grid=Grid(columns, stated)))
    if any(row["source"] != "prof_rule" for row in rows):
        sections.append(Section("How bounds are meant", [HOW]))
    slowest = max(headlines, key=lambda row: row["step_us"] or 0.0, default=None)
    return Report("Advice", "" if slowest is None else f"{slowest['headline']}.", sections)


def _device(
    headline: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], reasons: Mapping[str, tuple[str, str]]
) -> Section:
    whose = ("run", "rank_id", "device_id")
    mine = [row for row in rows if row["source"] != "prof_rule" and all(row[name] == headline[name] for name in whose)]
    names = [("rank", headline["rank_id"]), ("device", headline["device_id"])]
    title = ", ".join([str(headline["run"]), *(f"{name} {value}" for name, value in names if value is not None)])
    step = "" if headline["step_us"] is None else f" A step takes {headline['step_us']:,.3f} us"
    mean = f" (mean of {headline['steps']})" if headline["steps"] > 1 and step else ""
    most = (
        f"; no tuning of operators can save more than {headline['bound_saving_us']:,.3f} us of it"
        if step
        else f" No tuning of operators can save more than {headline['bound_saving_us']:,.3f} us"
    )
    sentences = [f"{_capital(headline['headline'])}.", f"By {SOURCES[headline['source']]}.{step}{mean}{most}."]
    if not mine:
        return Section(title, [*sentences, "No rule has anything to say."])
    if len(mine) < headline["advice"]:
        sentences.append(f"The {len(mine)} with the largest bound of {headline['advice']}.")
    lines = [_line(row, reasons) for row in mine]
    return Section(title, sentences, Grid(shown_columns("advise", mine), mine), lines=lines)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _line(row: Mapping[str, Any], reasons: Mapping[str, tuple[str, str]]) -> str:
    title, source = reasons[row["rule"]]
    evidence = ", ".join(f"{key} {_value(value)}" for key, value in row["evidence"].items() if value is not None)
    return f"{row['position']}. {title} ({evidence}). {row['advice']}. [{source}]"


def _value(value: Any) -> str:
    shown: Callable[[Any], str] = str
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1 else f"{value:,.3f}".rstrip("0").rstrip(".")
    return ", ".join(map(shown, value)) if isinstance(value, list) else shown(value)
