"""What the nightly report says: what changed, what was read, what is hot, what AOE claims, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aoe_reports.findings import SEVERITIES, Finding
from aoe_reports.regression.compare import LEAST_NIGHTS, SIGMAS, THRESHOLD, WINDOW, Change, Series
from aoe_reports.reports.report import Chart, Column, Grid, Report, Section

SHOWN_CHANGES = 20
SHOWN_FINDINGS = 50
SHOWN_HOTSPOTS = 10
SHOWN_RUNS = 15


@dataclass(frozen=True, slots=True)
class Night:
    """Everything the report is made of."""

    runs: Sequence[Mapping[str, Any]]
    changes: Sequence[Change]
    series_compared: int
    series_too_short: int
    hotspots: Sequence[Mapping[str, Any]]
    hotspot_run: str | None
    tunings: Sequence[Mapping[str, Any]]
    findings: Sequence[Finding]
    step_series: Series | None
    simulated: bool = False


def nightly_report(night: Night) -> Report:
    """The one page that is read in the morning."""
    sections = [
        _changes(night),
        *([_chart(night)] if night.changes or night.step_series else []),
        _runs(night),
        *([_hotspots(night)] if night.hotspots else []),
        *([_tunings(night)] if night.tunings else []),
        _findings(night),
    ]
    title = "Nightly report" + (" (simulated data)" if night.simulated else "")
    return Report(title, headline(night), sections, {"changes": [change_row(c) for c in night.changes]})


def headline(night: Night) -> str:
    """The answer in one sentence."""
    slower = [change for change in night.changes if change.state == "confirmed"]
    named = next((change for change in slower if change.series.facts.get("op_name")), None) or next(iter(slower), None)
    if named is not None:
        text = f"Slower: {_what(named)} by {named.change:.1%} since {named.since}"
        rest = len(slower) - 1
        text += f" ({named.before_ms * 1000:.3f} us before, {named.after_ms * 1000:.3f} us after)"
        return text + (f"; {rest} other series moved with it or apart." if rest else ".")
    errors = sum(finding.severity == "error" for finding in night.findings)
    if not night.runs:
        why = next((finding.message for finding in night.findings if finding.severity == "error"), "nothing was found")
        return f"Nothing was stored: {why}"
    text = (
        f"Nothing got slower by more than {THRESHOLD:.0%}" if night.series_compared else "Nothing to compare with yet"
    )
    return f"{text}; {errors} error{'s' if errors != 1 else ''} in what was read."


def change_row(change: Change) -> dict[str, Any]:
    """One change as a row for programs (the contract's `regressions` row; times in ms)."""
    facts = change.series.facts
    return {
        "series_id": change.series.series_id,
        "workload": facts.get("workload"),
        "scope": facts.get("scope"),
        "op_type": facts.get("op_type"),
        "op_name": facts.get("op_name"),
        "rank_id": facts.get("rank_id"),
        "metric": "runtime_ms_mean",
        "hardware": facts.get("hardware"),
        "state": change.state,
        "since_run": change.since_run,
        "since": change.since,
        "before": round(change.before_ms, 6),
        "after": round(change.after_ms, 6),
        "change": round(change.change, 6),
        "impact_ms": round(change.impact_ms, 6),
    }


def _changes(night: Night) -> Section:
    rule = (
        f"A series is out of line when its newest night is more than {THRESHOLD:.0%} and more than {SIGMAS:g} robust "
        f"standard deviations away from the median of up to {WINDOW} previous nights (at least {LEAST_NIGHTS}); runs "
        "of one date are one night. Before is that median at the night since which it is so, after the median since then; "
        "the impact is what all its calls in the newest run take longer. Confirmed: the newest night is out of line."
    )
    incomplete = sum(row["status"] == "incomplete" for row in night.runs)
    compared = f"{night.series_compared} series compared, {night.series_too_short} with too few nights."
    rows = [{**change_row(change), "what": _what(change), "nights": change.since} for change in night.changes]
    columns = (
        Column("state", "State"),
        Column("what", "What"),
        Column("change", "Change (after/before - 1)", "change"),
        Column("before", "Before (ms)", "ms"),
        Column("after", "After (ms)", "ms"),
        Column("impact_ms", "Impact on a run (ms)", "ms"),
        Column("since", "Since"),
    )
    sentences = [rule, compared]
    if incomplete:
        sentences.append(f"{incomplete} of the runs read are cut off: stored, but compared with nothing.")
    if not rows:
        sentences.append("No series is out of line.")
    if len(rows) > SHOWN_CHANGES:
        sentences.append(f"The {SHOWN_CHANGES} with the largest impact of {len(rows)} are listed.")
    return Section("What changed", sentences, Grid(columns, rows[:SHOWN_CHANGES]) if rows else None)


def _chart(night: Night) -> Section:
    change = next((c for c in night.changes if c.state == "confirmed"), None)
    series = change.series if change is not None else night.step_series or night.changes[0].series
    rank = series.facts.get("rank_id")
    name = str(series.facts.get("workload")) + (f", rank {rank}" if rank is not None else "")
    low, high = min(series.values_ms), max(series.values_ms)
    description = (
        f"{name}: mean time in ms over {_count(len(series.nights), 'night')} from {series.nights[0]} to {series.nights[-1]}, "
        f"between {low:.6g} and {high:.6g} ms" + (f"; out of line since {change.since}" if change else "")
    )
    chart = Chart(name, series.nights, {name: series.values_ms}, "ms", description, change.since if change else None)
    return Section("History", [description + "."], chart=chart)


def _runs(night: Night) -> Section:
    columns = (
        Column("night", "Night"),
        Column("run", "Run"),
        Column("kind", "Kind"),
        Column("workload", "Workload"),
        Column("records", "Records", "integer"),
        Column("step_ms", "Step (ms)", "ms"),
        Column("outcome", "Store"),
        Column("status", "Status"),
    )
    counts: dict[str, int] = {}
    for row in night.runs:
        counts[str(row["outcome"])] = counts.get(str(row["outcome"]), 0) + 1
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "none"
    sentences = [f"{_count(len(night.runs), 'run')} read: {said}. Step is that of the slowest rank."]
    if len(night.runs) > SHOWN_RUNS:
        sentences.append(f"The newest {SHOWN_RUNS} are listed.")
    return Section("What was read", sentences, Grid(columns, night.runs[-SHOWN_RUNS:]) if night.runs else None)


def _hotspots(night: Night) -> Section:
    columns = (
        Column("position", "#", "integer"),
        Column("rank_id", "Rank", "integer"),
        Column("op_type", "Operator type"),
        Column("task_type", "Core"),
        Column("count", "Tasks", "integer"),
        Column("total_us", "Total (us)", "us"),
        Column("mean_us", "Mean (us)", "us"),
        Column("share", "Share of computing", "percent"),
    )
    sentences = [f"Compute tasks of the newest profile, run {night.hotspot_run}, by operator type."]
    return Section("Where device time goes", sentences, Grid(columns, night.hotspots[:SHOWN_HOTSPOTS]))


def _tunings(night: Night) -> Section:
    columns = (
        Column("night", "Night"),
        Column("tuning_name", "Task"),
        Column("kind", "Mode"),
        Column("status", "Status"),
        Column("modified", "Changed", "integer"),
        Column("before_ms", "Model before (ms)", "ms"),
        Column("after_ms", "Model after (ms)", "ms"),
        Column("speed_up", "Claimed speed-up (before/after - 1)", "change"),
    )
    sentences = ["These are AOE's own claims from its microbenchmarks: only a new profile proves them."]
    return Section(
        "What AOE claims",
        sentences,
        Grid(columns, sorted(night.tunings, key=lambda row: str(row["night"]))[-SHOWN_RUNS:]),
    )


def _findings(night: Night) -> Section:
    ordered = sorted(night.findings, key=lambda f: SEVERITIES.index(f.severity))
    nouns = {"error": "error", "warning": "warning", "info": "remark"}
    counts = ", ".join(_count(sum(f.severity == s for f in ordered), nouns[s]) for s in SEVERITIES)
    sentences = [f"{counts}."]
    if len(ordered) > SHOWN_FINDINGS:
        sentences.append(f"The first {SHOWN_FINDINGS} of {len(ordered)} are listed; report.json has them all.")
    return Section("Findings", sentences, lines=[finding.as_text() for finding in ordered[:SHOWN_FINDINGS]])


def _count(number: int, noun: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _what(change: Change) -> str:
    facts = change.series.facts
    rank = f", rank {facts['rank_id']}" if facts.get("rank_id") is not None else ""
    if facts.get("op_name"):
        return f"operator {facts['op_name']} ({facts.get('op_type') or 'type unknown'}{rank})"
    if facts.get("scope") == "op_type":
        return f"operator type {facts.get('op_type')}{rank}"
    return f"{facts.get('workload')}{rank}"
