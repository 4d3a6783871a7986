"""What `regressions` found as a report: what changed, what each step's change went on, and what could not be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from aoe_reports.reports.incidents import incident_sections, is_open
from aoe_reports.reports.report import Grid, Report, Section
from aoe_reports.reports.rows import shown_columns


def regressions_report(
    rows: Sequence[Mapping[str, Any]],
    budget: Mapping[str, Any],
    incidents: Sequence[Mapping[str, Any]] = (),
    remark: str | None = None,
) -> Report:
    """The incidents with their series, the operators of each changed step, and the price: the budget and what it hides."""
    sections = incident_sections(incidents, rows)
    apart = [row for row in rows if row["incident"] is None]
    if apart:
        shown = Grid(shown_columns("regressions", apart), apart)
        sections.append(Section("Changes", ["Change is after / before - 1: above 0 is slower."], shown))
    sections += [attribution_section(row) for row in rows if row.get("attribution")]
    sections.append(Section("What an alarm is worth here", _price(rows, budget)))
    headline = f"{sum(row['state'] is not None for row in rows)} changes since the first night."
    return Report("Regressions", headline if budget["whole_history"] else _headline(rows, remark), sections)


def _headline(rows: Sequence[Mapping[str, Any]], remark: str | None) -> str:
    slower = [row for row in rows if is_open(row)]
    if slower:
        first = slower[0]
        since = f" since {first['since']}" if first["since"] else ""
        return f"Slower: {first['workload']} by {first['change'] * 100:.1f}%{since}; {len(slower)} series in all."
    accepted = sum(row["acknowledged"] is not None for row in rows)
    text = "Nothing is confirmed to have got slower" + (" that nobody accepted." if accepted else ".")
    return text if remark is None else f"{remark[:1].upper()}{remark[1:]}. {text}"


def attribution_section(row: Mapping[str, Any]) -> Section:
    """The change of a step over what ran in it."""
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
