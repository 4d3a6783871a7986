"""What the nightly report says: what changed, what was read, what is hot, what AOE claims, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aoe_reports.findings import Finding
from aoe_reports.reports.findings import findings_section
from aoe_reports.reports.incidents import incident_sections, is_open
from aoe_reports.reports.names import counted
from aoe_reports.reports.regressions import attribution_section
from aoe_reports.reports.report import Chart, Column, Grid, Report, Section

SHOWN_INCIDENTS = 10
SHOWN_FINDINGS = 50
SHOWN_HOTSPOTS = 10
SHOWN_RUNS = 15


@dataclass(frozen=True, slots=True)
class Course:
    """The times (ms) of one series over its nights; `since` is the night at which something changed."""

    name: str
    nights: Sequence[str]
    values_ms: Sequence[float]
    since: str | None


@dataclass(frozen=True, slots=True)
class Night:
    """Everything the report is made of."""

    runs: Sequence[Mapping[str, Any]]
    changes: Sequence[Mapping[str, Any]]
    """Rows of `regressions`, of the series of these runs."""
    incidents: Sequence[Mapping[str, Any]]
    budget: Mapping[str, Any]
    """How the budget of false alarms was shared; empty where nothing was measured."""
    remark: str | None
    """Why nothing can be said of changes, where that is so."""
    hotspots: Sequence[Mapping[str, Any]]
    hotspot_run: str | None
    tunings: Sequence[Mapping[str, Any]]
    findings: Sequence[Finding]
    course: Course | None
    simulated: bool = False


def nightly_report(night: Night) -> Report:
    """The one page that is read in the morning."""
    told = [row for row in night.changes if _is_told(row)]
    sections = [
        _changes(night, told),
        *_incidents(night, told),
        *(attribution_section(row) for row in told if row["attribution"] and is_open(row)),
        *([_chart(night.course)] if night.course is not None else []),
        _runs(night),
        *([_hotspots(night)] if night.hotspots else []),
        *([_tunings(night)] if night.tunings else []),
        findings_section(night.findings, SHOWN_FINDINGS, "report.json"),
    ]
    title = "Nightly report" + (" (simulated data)" if night.simulated else "")
    data = {"changes": list(night.changes), "incidents": list(night.incidents), "budget": dict(night.budget)}
    return Report(title, headline(night), sections, data)


def lead_of(changes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """What the headline is about: of what got slower the operator with the largest impact, else the series with it."""
    slower = sorted((row for row in changes if is_open(row)), key=lambda row: -(row["impact_ms"] or 0.0))
    return next((row for row in slower if row["op_name"]), None) or next(iter(slower), None)


def headline(night: Night) -> str:
    """The answer in one sentence."""
    lead = lead_of(night.changes)
    if lead is not None:
        text = f"Slower: {_what(lead)} by {lead['change']:.1%} since {lead['since']}"
        text += f" ({lead['before'] * 1000:.3f} us before, {lead['after'] * 1000:.3f} us after)"
        rest = sum(is_open(row) for row in night.changes) - 1
        return text + (f"; {rest} other series moved with it or apart." if rest else ".")
    errors = sum(finding.severity == "error" for finding in night.findings)
    if not night.runs:
        why = next((finding.message for finding in night.findings if finding.severity == "error"), "nothing was found")
        return f"Nothing was stored: {why}"
    suspects = sum(row["state"] == "suspect" for row in night.changes)
    if not night.budget or night.remark is not None:
        text = "Nothing to compare with yet" if night.remark is None else _capital(night.remark)
    elif suspects:
        text = f"Nothing is confirmed to have got slower; {suspects} series suspect: run the night again"
    else:
        text = "Nothing got slower"
        if any(row["acknowledged"] is not None for row in night.changes):
            text += " that nobody accepted"
    return f"{text}; {errors} error{'s' if errors != 1 else ''} in what was read."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_told(row: Mapping[str, Any]) -> bool:
    """Whether a change is told tonight: what is open or suspect is until it is settled, the rest in the night that it is new."""
    return (
        is_open(row)
        or row["state"] == "suspect"
        or (row["state"] is not None and (row["new"] or row["incident"] is None))
    )


def _changes(night: Night, told: Sequence[Mapping[str, Any]]) -> Section:
    if not night.budget:
        return Section("What changed", ["Nothing was measured."])
    budget = night.budget
    price = (
        f"{budget['eligible']} of {budget['series']} series of the store have enough nights to be judged; together they may raise "
        f"{budget['false_alarms_per_year']:g} false alarms a year. Change is after / before - 1; before is the level since the "
        "last accepted change, after the newest one; the impact is what all calls of a run take longer."
    )
    sentences = [price]
    if budget["baseline"] != "segment":
        sentences.append(f"The baseline was chosen: {budget['baseline']}.")
    if night.remark is not None:
        sentences.append(_capital(night.remark) + ".")
    incomplete = sum(row["status"] == "incomplete" for row in night.runs)
    if incomplete:
        sentences.append(f"{incomplete} of the runs read are cut off: stored, but compared with nothing.")
    counts = [
        (sum(is_open(row) for row in told), "series slower"),
        (sum(row["state"] == "suspect" for row in told), "suspect (run the night again)"),
        (sum(row["acknowledged"] is not None for row in told), "slower and accepted"),
        (sum(row["state"] in {"recovered", "improved"} for row in told), "quicker"),
        (len(night.changes) - len(told), "with a change that was told before and is settled"),
    ]
    said = ", ".join(f"{count} {words}" for count, words in counts if count)
    sentences.append(f"{said}." if said else "No series changed.")
    apart = [{**row, "what": _what(row)} for row in told if row["incident"] is None]
    columns = (
        Column("state", "State", "state"),
        Column("what", "What"),
        Column("change", "Change (after/before - 1)", "change"),
        Column("ci_low", "from", "change"),
        Column("ci_high", "to", "change"),
        Column("before", "Before (ms)", "ms"),
        Column("after", "After (ms)", "ms"),
        Column("since", "Since"),
    )
    return Section("What changed", sentences, Grid(columns, apart) if apart else None)


def _incidents(night: Night, told: Sequence[Mapping[str, Any]]) -> list[Section]:
    """What moved together, of what is told tonight: what is open first."""
    wanted = {move["incident"] for row in told for move in row["moves"]}
    shown = [incident for incident in night.incidents if incident["incident"] in wanted]
    shown.sort(key=lambda incident: not incident["open"])
    sections = incident_sections(shown[:SHOWN_INCIDENTS], night.changes)
    if len(shown) > SHOWN_INCIDENTS:
        sections.append(Section("", [f"{len(shown) - SHOWN_INCIDENTS} more incidents: report.json has them all."]))
    return sections


def _chart(course: Course) -> Section:
    low, high = min(course.values_ms), max(course.values_ms)
    description = (
        f"{course.name}: mean time in ms over {counted(len(course.nights), 'night')} from {course.nights[0]} to "
        f"{course.nights[-1]}, between {low:.6g} and {high:.6g} ms"
        + (f"; another level since {course.since}" if course.since else "")
    )
    chart = Chart(course.name, course.nights, {course.name: course.values_ms}, "ms", description, course.since)
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
    sentences = [f"{counted(len(night.runs), 'run')} read: {said}. Step is that of the slowest rank."]
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


def _what(row: Mapping[str, Any]) -> str:
    rank = f", rank {row['rank_id']}" if row.get("rank_id") is not None else ""
    workload = str(row["workload"])
    if row.get("op_name"):
        model = workload.removesuffix(f"/op/{row['op_name']}")
        return f"{model}: operator {row['op_name']} ({row.get('op_type') or 'type unknown'}{rank})"
    if row.get("scope") == "op_type":
        model = workload.removesuffix(f"/op_type/{row.get('op_type')}")
        return f"{model}: operator type {row.get('op_type')}{rank}"
    return f"{workload}{rank}"
