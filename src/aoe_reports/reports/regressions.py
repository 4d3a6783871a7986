"""What `regressions` found as a report: what changed, what each step's change went on, and what could not be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from aoe_reports.reports.report import Grid, Report, Section
from aoe_reports.reports.rows import shown_columns


def regressions_report(rows: Sequence[Mapping[str, Any]], budget: Mapping[str, Any]) -> Report:
    """The changed series, the operators of each changed step, and the price: the budget and what it hides."""
    whole = bool(budget["whole_history"])
    slower = [row for row in rows if row["state"] in {"confirmed", "drift"} and (row["change"] or 0) > 0]
    if whole:
        headline = f"{sum(row['state'] is not None for row in rows)} changes since the first night."
    elif slower:
        first = slower[0]
        since = f" since {first['since']}" if first["since"] else ""
        headline = f"Slower: {first['workload']} by {first['change'] * 100:.1f}%{since}; {len(slower)} series in all."
    else:
        headline = "Nothing is confirmed to have got slower."
    sections = []
    if rows:
        shown = Grid(shown_columns("regressions", rows), rows)
        sections.append(Section("Changes", ["Change is after / before - 1: above 0 is slower."], shown))
    sections += [_attribution(row) for row in rows if row.get("attribution")]
    sections.append(Section("What an alarm is worth here", _price(rows, budget)))
    return Report("Regressions", headline, sections)


def _attribution(row: Mapping[str, Any]) -> Section:
    told = row["attribution"]
    parts = [f"operators {told['operators_us']:+,.3f}"]
    for name, words in (
        ("communication_not_overlapped_us", "communication that is not overlapped"),
        ("free_us", "free time"),
    ):
        if told[name] is not None:
            parts.append(f"{words} {told[name]:+,.3f}")
    sentence = (
        f"A step takes {told['total_us']:+,.3f} us: {', '.join(parts)}, unattributed {told['unattributed_us']:+,.3f}."
    )
    shifts = [f"{', '.join(s['from'])} became {', '.join(s['to'])} ({s['moved_us']:,.3f} us)." for s in told["shifts"]]
    tuned = [
        f"AOE tuned {one['op_name'] or one['op_type']} in run {one['repository_run']} of {one['repository_night']}."
        for one in told["operators"]
        if one["repository_run"]
    ]
    lines = [sentence, *shifts, *tuned]
    grid = Grid(shown_columns("attribution", told["operators"]), told["operators"]) if told["operators"] else None
    return Section(f"Where the change of {row['workload']} is", lines, grid)


def _price(rows: Sequence[Mapping[str, Any]], budget: Mapping[str, Any]) -> list[str]:
    bearable = (
        f"this look may show {budget['false_alarms_per_year']:g} false changes of them"
        if budget["whole_history"]
        else f"together they may raise {budget['false_alarms_per_year']:g} false alarms a year"
    )
    shared = f"{budget['eligible']} of {budget['series']} series have enough nights to be judged; {bearable}."
    said = [shared]
    known = [row["smallest_detectable"] for row in rows if row["smallest_detectable"] is not None]
    if known:
        said.append(
            f"Of the series shown, the smallest change that would be found is {median(known) * 100:.1f}% in the median, "
            f"{max(known) * 100:.1f}% at worst."
        )
    return said
