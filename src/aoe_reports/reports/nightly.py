"""What the nightly report says: what changed, what was read, what is hot, what AOE claims, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aoe_reports.findings import Finding
from aoe_reports.reports.findings import count_errors, findings_section
from aoe_reports.reports.incidents import incident_sections, is_open
from aoe_reports.reports.regressions import attribution_section
from aoe_reports.reports.report import Chart, Column, Grid, Report, Section
from aoe_reports.texts import capital, count_of, join, say

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
class Hotspots:
    """The operator types of one run, those of all its ranks together."""

    run: str
    ranks: int
    types: Sequence[Mapping[str, Any]]


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
    hotspots: Hotspots | None
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
        *([_hotspots(night.hotspots)] if night.hotspots is not None else []),
        *([_tunings(night)] if night.tunings else []),
        findings_section(night.findings, SHOWN_FINDINGS, "report.json"),
    ]
    title = "Nightly report (simulated data)" if night.simulated else "Nightly report"
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
        said = say(
            "Slower: {what} by {change:.1%} since {since} ({before:.3f} us before, {after:.3f} us after)",
            what=_what(lead),
            change=lead["change"],
            since=lead["since"],
            before=lead["before"] * 1000,
            after=lead["after"] * 1000,
        )
        rest = sum(is_open(row) for row in night.changes) - 1
        if not rest:
            return say("{text}.", text=said)
        others = count_of(rest, "{number} other series is slower, too.", "{number} other series are slower, too.")
        return join(" ", (say("{text}.", text=said), others))
    if not night.runs:
        broken = (finding.message for finding in night.findings if finding.severity == "error")
        return say("Nothing was stored: {why}", why=next(broken, say("nothing was found")))
    suspects = sum(row["state"] == "suspect" for row in night.changes)
    text: str
    if not night.budget or night.remark is not None:
        text = say("Nothing to compare with yet") if night.remark is None else capital(night.remark)
    elif suspects:
        text = say(
            "Nothing is confirmed to have got slower; {suspects} series suspect: run the night again", suspects=suspects
        )
    elif any(row["acknowledged"] is not None for row in night.changes):
        text = say("Nothing got slower that nobody accepted")
    else:
        text = say("Nothing got slower")
    return say("{text}; {errors} in what was read.", text=text, errors=count_errors(night.findings))


def _is_told(row: Mapping[str, Any]) -> bool:
    """Whether a change is told tonight: what is open or suspect is until it is settled, the rest in the night that it is new."""
    return (
        is_open(row)
        or row["state"] == "suspect"
        or (row["state"] is not None and (row["new"] or row["incident"] is None))
    )


def _changes(night: Night, told: Sequence[Mapping[str, Any]]) -> Section:
    if not night.budget:
        return Section("What changed", [say("Nothing was measured.")])
    budget = night.budget
    price = say(
        (
            "{eligible} of {series} series of the store have enough nights to be judged; together they may raise {alarms:g} false "
            "alarms a year. Change is after / before - 1; before is the level since the last accepted change, after the newest "
            "one; the impact is what all calls of a run take longer."
        ),
        eligible=budget["eligible"],
        series=budget["series"],
        alarms=budget["false_alarms_per_year"],
    )
    sentences = [price]
    if budget["baseline"] != "segment":
        sentences.append(say("The baseline was chosen: {baseline}.", baseline=budget["baseline"]))
    if night.remark is not None:
        sentences.append(say("{text}.", text=capital(night.remark)))
    incomplete = sum(row["status"] == "incomplete" for row in night.runs)
    if incomplete:
        sentences.append(
            say("{count} of the runs read are cut off: stored, but compared with nothing.", count=incomplete)
        )
    counts = [
        say("{count} series slower", count=sum(is_open(row) for row in told)),
        say("{count} suspect (run the night again)", count=sum(row["state"] == "suspect" for row in told)),
        say("{count} slower and accepted", count=sum(row["acknowledged"] is not None for row in told)),
        say("{count} quicker", count=sum(row["state"] in {"recovered", "improved"} for row in told)),
        say("{count} with a change that was told before and is settled", count=len(night.changes) - len(told)),
    ]
    known = [one for one in counts if one.values["count"]]
    sentences.append(say("{text}.", text=join(", ", known)) if known else say("No series changed."))
    apart = [{**row, "what": _what(row)} for row in told if row["incident"] is None]
    columns = (
        Column("state", "State", "alarm"),
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
        more = say("{count} more incidents: report.json has them all.", count=len(shown) - SHOWN_INCIDENTS)
        sections.append(Section("", [more]))
    return sections


def _chart(course: Course) -> Section:
    low, high = min(course.values_ms), max(course.values_ms)
    description = say(
        "{name}: mean time in ms over {nights} from {first} to {last}, between {low:.6g} and {high:.6g} ms",
        name=course.name,
        nights=count_of(len(course.nights), "{number} night", "{number} nights"),
        first=course.nights[0],
        last=course.nights[-1],
        low=low,
        high=high,
    )
    if course.since:
        description += say("; another level since {since}", since=course.since)
    title = join("", (course.name,))  # a name, whatever words it is made of
    chart = Chart(title, course.nights, {course.name: course.values_ms}, "ms", description, course.since)
    return Section("History", [say("{text}.", text=description)], chart=chart)


def _runs(night: Night) -> Section:
    columns = (
        Column("night", "Night"),
        Column("run", "Run"),
        Column("kind", "Kind", "word"),
        Column("workload", "Workload"),
        Column("records", "Records", "integer"),
        Column("step_ms", "Step (ms)", "ms"),
        Column("outcome", "Store", "word"),
        Column("status", "Status", "word"),
    )
    counts: dict[str, int] = {}
    for row in night.runs:
        counts[str(row["outcome"])] = counts.get(str(row["outcome"]), 0) + 1
    said = [say("{count} {outcome}", count=count, outcome=say(outcome)) for outcome, count in sorted(counts.items())]
    sentences = [
        say(
            "{runs} read: {outcomes}. Step is that of the slowest rank.",
            runs=count_of(len(night.runs), "{number} run", "{number} runs"),
            outcomes=join(", ", said) if said else say("none"),
        )
    ]
    if len(night.runs) > SHOWN_RUNS:
        sentences.append(say("The newest {count} are listed.", count=SHOWN_RUNS))
    return Section("What was read", sentences, Grid(columns, night.runs[-SHOWN_RUNS:]) if night.runs else None)


def _hotspots(hot: Hotspots) -> Section:
    columns = (
        Column("position", "#", "integer"),
        Column("op_type", "Operator type"),
        Column("task_type", "Core"),
        Column("count", "Tasks", "integer"),
        Column("total_us", "Total (us)", "us"),
        Column("mean_us", "Mean (us)", "us"),
        Column("share", "Share of computing", "percent"),
    )
    ranks = say(", sum of {ranks} ranks", ranks=hot.ranks) if hot.ranks > 1 else ""
    said = say("Compute tasks of the newest profile, run {run}, by operator type{ranks}.", run=hot.run, ranks=ranks)
    return Section("Where device time goes", [said], Grid(columns, hot.types[:SHOWN_HOTSPOTS]))


def _tunings(night: Night) -> Section:
    columns = (
        Column("night", "Night"),
        Column("tuning_name", "Task"),
        Column("kind", "Mode"),
        Column("status", "Status", "word"),
        Column("modified", "Changed", "integer"),
        Column("before_ms", "Model before (ms)", "ms"),
        Column("after_ms", "Model after (ms)", "ms"),
        Column("speed_up", "Claimed speed-up (before/after - 1)", "change"),
    )
    sentences = [say("These are AOE's own claims from its microbenchmarks: only a new profile proves them.")]
    return Section(
        "What AOE claims",
        sentences,
        Grid(columns, sorted(night.tunings, key=lambda row: str(row["night"]))[-SHOWN_RUNS:]),
    )


def _what(row: Mapping[str, Any]) -> str:
    rank = say(", rank {rank}", rank=row["rank_id"]) if row.get("rank_id") is not None else ""
    workload, kind = str(row["workload"]), row.get("op_type")
    if row.get("op_name"):
        name = row["op_name"]
        model = workload.removesuffix(f"/op/{name}")
        return say(
            "{model}: operator {name} ({kind}{rank})",
            model=model, name=name, kind=kind or say("type unknown"), rank=rank,
        )  # fmt: skip
    if row.get("scope") == "op_type":
        model = workload.removesuffix(f"/op_type/{kind}")
        return say("{model}: operator type {kind}{rank}", model=model, kind=kind, rank=rank)
    return join("", (workload, rank))
