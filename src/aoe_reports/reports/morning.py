"""What the morning's report says: what got slower, since when, where the change is, what is hot, what AOE claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aoe_reports.findings import Finding
from aoe_reports.reports.causes import cause_words
from aoe_reports.reports.findings import findings_section
from aoe_reports.reports.names import shorten_middle
from aoe_reports.reports.report import Chart, Column, Grid, Ranking, Report, Section, Waterfall
from aoe_reports.reports.rows import shown_columns
from aoe_reports.texts import Text, capital, count_of, join, say

Row = Mapping[str, Any]

SHOWN_CHANGES = 20
SHOWN_HOTSPOTS = 10
SHOWN_CLAIMS = 10
SHOWN_ADVICE = 5
SHOWN_VERDICTS = 15
SHOWN_RUNS = 15
SHOWN_FINDINGS = 20
LEVEL_NIGHTS = 14
"""The level before a change is drawn over so many nights: what was before those may have been another one."""
TITLE_NAME, LINE_NAME, WHOLE_NAME = 80, 160, 500
"""Characters of a name in a title, in a line or a cell, and in the words that stand for a picture."""


@dataclass(frozen=True, slots=True)
class Course:
    """The history of the series that the report is about, up to its night."""

    series_id: str
    workload: str
    model: str
    rank_id: int | None
    device_id: int | None
    nights: Sequence[str]
    values_ms: Sequence[float]
    least_nights: int
    """From how many nights on it can be judged."""


@dataclass(frozen=True, slots=True)
class Hotspots:
    """The operator types of one run: position, op_type, task_type, count, total_us, mean_us, share of all."""

    run: str
    model: str
    ranks: int
    types: Sequence[Row]
    total_us: float


@dataclass(frozen=True, slots=True)
class Advised:
    """The advice and the next plan that are stored with one run; rows as `history advice` lists them."""

    run: str
    model: str
    summary: Row
    advice: Sequence[Row]
    stated: Sequence[Row]
    candidates: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Morning:
    """Everything the report is made of."""

    night: str | None
    """None: nothing is stored."""
    workload: str | None
    """The one that was asked for."""
    rows: Sequence[Row]
    """What `regressions` tells of that night."""
    budget: Row
    lead: Row | None
    """The row that the report is about; None where nothing changed."""
    course: Course | None
    hotspots: Hotspots | None
    advised: Advised | None = None
    """What was stored of advice with the newest profile of the night that has some."""
    tunings: Sequence[Row] = ()
    claims: Sequence[Row] = ()
    verdicts: Sequence[Row] = ()
    """What `verify` stored of that night."""
    runs: Sequence[Row] = ()
    told: Sequence[Finding] = ()
    """What is to be known of the comparison."""
    findings: Sequence[Finding] = ()
    """What was wrong with what that night's runs were read from."""
    others: Sequence[str] = ()
    """Other workloads with a run that night."""
    later: Sequence[str] = ()
    """Nights after the newest with a measurement: of AOE's own runs, or of other workloads."""


def leading(rows: Sequence[Row]) -> Row | None:
    """The row that the report is about: the first step that got slower, else what got slower, else a step that changed."""
    slower = [row for row in rows if _is_slower(row)]
    fresh = [row for row in slower if not row.get("acknowledged")] or slower
    steps = [row for row in rows if row["scope"] in WHOLE]
    return next(iter([*(row for row in fresh if row in steps), *fresh, *steps]), None)


WHOLE = ("step", "model")
"""Scopes of what is measured as a whole."""


def morning_report(morning: Morning) -> Report:
    """One page: the answer first, then what it rests on."""
    told = morning.lead.get("attribution") if morning.lead is not None else None
    sections = [
        _changes(morning),
        *([_history(morning, morning.course)] if morning.course is not None and morning.course.nights else []),
        *([_attribution(morning, morning.lead, told)] if morning.lead is not None and told else []),
        *([_hotspots(morning)] if morning.night is not None else []),
        *(_advice(morning.advised) if morning.advised is not None else []),
        *_tunings(morning),
        *_verdicts(morning.verdicts),
        *([_runs(morning)] if morning.night is not None else []),
        findings_section([*morning.told, *morning.findings], SHOWN_FINDINGS, "`--format json`"),
    ]
    title: str = "Report"
    if morning.workload is not None:
        title = say("Report of {workload}", workload=_title(morning.workload))
    if morning.night is not None:
        title = say("{report}, night {night}", report=say(title), night=morning.night)
    return Report(title, headline(morning), sections)


def headline(morning: Morning) -> str:
    """The answer in one sentence."""
    if morning.night is None:
        return say("The store is empty: no run is stored, so nothing can be said.")
    lead = morning.lead
    if not morning.rows:
        if not morning.budget["eligible"]:
            return say("Too few nights are stored to tell a change from noise.")
        return say("Nothing is known to have changed by {night}.", night=morning.night)
    slower = [row for row in morning.rows if _is_slower(row)]
    if lead is None or not _is_slower(lead):
        counts = {state: sum(row["state"] == state for row in morning.rows) for state in _OTHERWISE}
        words = [say(_OTHERWISE[state], count=count) for state, count in counts.items() if count]
        return say(
            "Nothing is confirmed to be slower; {changed}. {level}.",
            changed=join(", ", words) if words else say("no series changed"),
            level=_level_words(lead or morning.rows[0]),
        )
    text = say("Slower: {level}", level=_level_words(lead))
    if culprit := _culprit(lead, slower):
        text = join("; ", (text, culprit))
    if lead.get("acknowledged"):
        text += say(" (acknowledged, as all that is slower)")
    rest = len(slower) - 1
    said = say("{text}.", text=text)
    if not rest:
        return said
    return join(
        " ", (said, count_of(rest, "{number} other series is slower, too.", "{number} other series are slower, too."))
    )


_OTHERWISE = {
    "suspect": "{count} suspected of a change",
    "recovered": "{count} recovered",
    "improved": "{count} improved",
}


def _is_slower(row: Row) -> bool:
    return row["state"] in {"confirmed", "drift"} and (row["change"] or 0) > 0


def _level_words(row: Row) -> str:
    """What happened to a series, with the numbers."""
    what, state, change = _named(row), say(row["state"]), row["change"]
    if change is None:
        return say("{what}: {state}", what=what, state=state)
    since = say(" since {since}", since=row["since"]) if row["since"] else ""
    levels: str = ""
    if row["before"] and row["after"]:
        levels = say(" ({before:,.6g} ms before, {after:,.6g} ms after)", before=row["before"], after=row["after"])
    if _is_slower(row):
        return say("{what} by {change:.1%}{since}{levels}", what=what, change=change, since=since, levels=levels)
    return say(
        "{what}: {state}, {change:+.1%}{since}{levels}",
        what=what, state=state, change=change, since=since, levels=levels,
    )  # fmt: skip


def _culprit(lead: Row, slower: Sequence[Row]) -> str:
    """The operator that did it: by the attribution of the step, else the operator that is slower since the same night."""
    told = lead.get("attribution")
    if told:
        grown = [one for one in told["operators"] if one["difference_us"] > 0]
        if grown:
            one = max(grown, key=lambda part: part["difference_us"])
            return say(
                "{operator} {part:+,.3f} us of {total:+,.3f} us a step",
                operator=_operator(one),
                part=one["difference_us"],
                total=told["total_us"],
            )
        return ""
    if lead["scope"] not in WHOLE:
        return ""
    one = next((row for row in slower if row["scope"] == "op" and row["since"] == lead["since"]), None)
    if one is None:
        return ""
    return say("{operator} by {change:.1%} since the same night", operator=_operator(one), change=one["change"])


def _operator(one: Row) -> str:
    if one["op_name"] and one["op_type"]:
        return say("operator {name} ({kind})", name=_line(one["op_name"]), kind=_line(one["op_type"]))
    if one["op_name"]:
        return say("operator {name}", name=_line(one["op_name"]))
    return say("operator type {kind}", kind=_line(one["op_type"]))


def _place(row: Row) -> str:
    rank, device = row.get("rank_id"), row.get("device_id")
    if rank is not None:
        return say(", rank {rank}", rank=rank)
    return say(", device {device}", device=device) if device else ""


def _named(row: Row) -> str:
    return join("", (_line(row["workload"]), _place(row)))


def _title(name: Any) -> str:
    return shorten_middle(str(name), TITLE_NAME)


def _line(name: Any) -> str:
    return shorten_middle(str(name), LINE_NAME)


def _whole(name: Any) -> str:
    return shorten_middle(str(name), WHOLE_NAME)


def _changes(morning: Morning) -> Section:
    budget = morning.budget
    price = say(
        (
            "{eligible} of {series} series have enough nights to be judged; together they may raise {alarms:g} false alarms a "
            "year. Change is after / before - 1: above 0 is slower."
        ),
        eligible=budget["eligible"],
        series=budget["series"],
        alarms=budget["false_alarms_per_year"],
    )
    sentences = [price]
    sentences += [
        say("{text}.", text=capital(finding.message)) for finding in morning.told if finding.rule == "not-enough-data"
    ]
    if not morning.rows:
        return Section("What changed", [*sentences, say("No series changed.")])
    if len(morning.rows) > SHOWN_CHANGES:
        sentences.append(say("The first {shown} of {count} are listed.", shown=SHOWN_CHANGES, count=len(morning.rows)))
    rows = [
        {**row, "acknowledged": say("yes") if row.get("acknowledged") else None} for row in morning.rows[:SHOWN_CHANGES]
    ]
    wanted = {"state", "workload", "rank_id", "device_id", "since", "before", "after", "change", "ci_low", "ci_high"}
    columns = tuple(column for column in shown_columns("regressions", rows) if column.key in wanted)
    if any(row["acknowledged"] for row in rows):
        columns = (*columns, *((Column("acknowledged", "Acknowledged"),)))
    return Section("What changed", sentences, Grid(columns, rows))


def _history(morning: Morning, course: Course) -> Section:
    place = _place({"rank_id": course.rank_id, "device_id": course.device_id})
    low, high = min(course.values_ms), max(course.values_ms)
    nights = course.nights
    row = morning.lead
    counted = count_of(len(nights), "{number:,} night", "{number:,} nights")
    described = say(
        (
            "{what}, mean time in ms over {nights} from {first} to {last}, between {low:,.6g} and {high:,.6g} ms, {newest:,.6g} ms "
            "in the newest"
        ),
        what=join("", (_whole(course.workload), place)),
        nights=counted,
        first=nights[0],
        last=nights[-1],
        low=low,
        high=high,
        newest=course.values_ms[-1],
    )
    title = join("", (_title(course.workload), place))
    levels: tuple[tuple[str, str, float], ...] = ()
    marked = None
    if row is not None and row["change"] is not None and row["since"] in nights:
        marked = str(row["since"])
        at = list(nights).index(marked)
        if at and row["before"] and row["after"]:
            first, last = nights[max(at - LEVEL_NIGHTS, 0)], nights[at - 1]
            levels = ((first, last, row["before"]), (marked, nights[-1], row["after"]))
        title = say("{what}: {change:+.1%}", what=title, change=row["change"])
        described += say(
            "; {state}: {change:+.1%} since {since}, from {before:,.6g} to {after:,.6g} ms",
            state=say(row["state"]),
            change=row["change"],
            since=marked,
            before=row["before"],
            after=row["after"],
        )
        state = say(row["state"])
    elif len(nights) < course.least_nights:
        state = say("too few nights to judge, {number} of {least}", number=len(nights), least=course.least_nights)
        described += say("; {state}", state=state)
    else:
        state = say("no change")
        described += say("; no change is marked")
    subtitle = say(
        "Night {night}: {state}. Mean time of {nights}, lower is better",
        night=morning.night,
        state=state,
        nights=counted,
    )
    alt = say("Line chart: {what}", what=described)
    chart = Chart(title, nights, {course.workload: course.values_ms}, "ms", alt, marked, subtitle, levels)
    return Section("History", [say("{text}.", text=described)], chart=chart, figure="history")


_PARTS = {
    "other_operators_us": say("other operators"),
    "communication_not_overlapped_us": say("communication, not overlapped"),
    "free_us": say("free time"),
    "unattributed_us": say("unattributed"),
}


def _attribution(morning: Morning, row: Row, told: Row) -> Section:
    operators = told["operators"]
    parts: list[tuple[str, float]] = [
        (
            _whole(one["op_name"] or one["op_type"]) if one["op_name"] or one["op_type"] else say("unknown"),
            one["difference_us"],
        )
        for one in operators
    ]
    parts += [(words, told[name]) for name, words in _PARTS.items() if told[name] is not None]
    listed = [say("{name} {size:+,.3f}", name=name, size=size) for name, size in parts]
    described = say(
        "Where the change of {what} since {since} is, in us a step: {parts}; together {total:+,.3f}",
        what=join("", (_whole(row["workload"]), _place(row))),
        since=row["since"],
        parts=join(", ", listed),
        total=told["total_us"],
    )
    chart = Waterfall(
        say(
            "{what}: where {total:+,.1f} us a step are",
            what=join("", (_title(row["workload"]), _place(row))),
            total=told["total_us"],
        ),
        say(
            "Night {night}: change since {since}, {before:,.1f} us before, {after:,.1f} us after",
            night=morning.night,
            since=row["since"],
            before=told["before_us"],
            after=told["after_us"],
        ),
        parts,
        (say("the step"), told["total_us"]),
        say("change of a step (us)"),
        say("Waterfall chart, night {night}. {what}", night=morning.night, what=described),
    )
    sentences = [say("{text}.", text=described)]
    sentences += [
        say(
            "{sources} became {targets} ({moved:,.3f} us moved).",
            sources=join(", ", map(_whole, shift["from"])),
            targets=join(", ", map(_whole, shift["to"])),
            moved=shift["moved_us"],
        )
        for shift in told["shifts"]
    ]
    sentences += [
        say(
            "AOE tuned {operator} in run {run} of {night}.",
            operator=_whole(one["op_name"] or one["op_type"]),
            run=one["repository_run"],
            night=one["repository_night"],
        )
        for one in operators
        if one.get("repository_run")
    ]
    others = sum(bool(one.get("attribution")) for one in morning.rows) - 1
    if others > 0:
        steps = count_of(others, "{number:,} other changed step", "{number:,} other changed steps")
        sentences.append(say("`regressions` divides {steps} in the same way.", steps=steps))
    listed_rows = [
        {**one, "op_name": one["op_name"] and _line(one["op_name"]), "cause": cause_words(one["cause"])}
        for one in operators
    ]
    grid = Grid(shown_columns("attribution", operators), listed_rows) if operators else None
    return Section("Where the change is", sentences, grid, chart, figure="attribution")


def _hotspots(morning: Morning) -> Section:
    title, hot = "Where device time goes", morning.hotspots
    if hot is None:
        return Section(title, [say("No run of that night tells of operators.")])
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
    about = say(
        "Compute tasks of run {run} ({model}) by operator type{ranks}, {total:,.3f} us in all",
        run=hot.run,
        model=_whole(hot.model),
        ranks=ranks,
        total=hot.total_us,
    )
    shown = hot.types[:SHOWN_HOTSPOTS]
    if len(hot.types) > len(shown):
        about += say("; the first {shown} of {count} types", shown=len(shown), count=len(hot.types))
    listed = [
        say("{name} {total:,.3f} us", name=_whole(row["op_type"]), total=row["total_us"])
        + (say(" ({share:.1%})", share=row["share"]) if row["share"] is not None else "")
        for row in shown
    ]
    chart = Ranking(
        say("{model}: where device time goes", model=_title(hot.model)),
        say(
            "Night {night}: {total:,.0f} us of compute tasks by operator type{ranks}",
            night=morning.night,
            total=hot.total_us,
            ranks=ranks,
        ),
        [f"{row['op_type']} ({row['task_type']})" if row["task_type"] else str(row["op_type"]) for row in shown],
        [row["total_us"] for row in shown],
        [
            (f"{row['share']:.1%}   " if row["share"] is not None else "")
            + say(
                "{total:,.1f} us, {tasks}",
                total=row["total_us"],
                tasks=count_of(row["count"], "{number:,} task", "{number:,} tasks"),
            )
            for row in shown
        ],
        say("Bar chart, night {night}. {about}: {types}", night=morning.night, about=about, types=join(", ", listed)),
    )
    return Section(
        title,
        [say("{text}.", text=about)],
        Grid(columns, [{**row, "op_type": _line(row["op_type"])} for row in shown]),
        chart,
        figure="hotspots",
    )


def _tunings(morning: Morning) -> list[Section]:
    if not morning.tunings:
        return []
    columns = (
        Column("run", "Run"),
        Column("workload", "Workload"),
        Column("tuning_name", "Task"),
        Column("kind", "Mode"),
        Column("status", "Status", "state"),
        Column("modified", "Changed", "integer"),
        Column("before_ms", "Model before, claimed (ms)", "ms"),
        Column("after_ms", "Model after, claimed (ms)", "ms"),
        Column("speed_up", "Claimed speed-up (before/after - 1)", "change"),
    )
    sentences = [
        say("These are AOE's own claims from its microbenchmarks: only a profile before and after proves them.")
    ]
    sections = [Section("What AOE claims", sentences, Grid(columns, morning.tunings))]
    if morning.claims:
        named = (
            Column("run", "Run"),
            Column("name", "Operator or subgraph"),
            Column("op_type", "Operator type"),
            Column("claimed_before_us", "Claimed before (us)", "us"),
            Column("claimed_after_us", "Claimed after (us)", "us"),
            Column("speed_up", "Claimed speed-up (before/after - 1)", "change"),
        )
        shown = morning.claims[:SHOWN_CLAIMS]
        said = say(
            "The {shown} largest of {claims} on operators and subgraphs.",
            shown=len(shown),
            claims=count_of(len(morning.claims), "{number:,} claim", "{number:,} claims"),
        )
        sections.append(Section("Claimed of operators", [said], Grid(named, shown)))
    return sections


def _advice(advised: Advised) -> list[Section]:
    """What could be gained and what is worth tuning next, by what was stored with the run."""
    summary, title = advised.summary, "What could be gained"
    if summary["why_not"] is not None:
        why = summary["why_not"]
        none = say("No advice could be worked out of run {run}: {why}.", run=advised.run, why=_said(why))
        return [Section(title, [none])]
    sentences = [_first_headline(advised)]
    shown = [{**row, "op_name": row["op_name"] and _line(row["op_name"])} for row in advised.advice[:SHOWN_ADVICE]]
    if shown:
        sentences.append(
            say(
                (
                    "The {shown} with the largest bound of {count:,}. Bound is the most by which a step could get shorter; it is no "
                    "forecast, and bounds do not add up."
                ),
                shown=len(shown),
                count=summary["found"],
            )
        )
    columns = [column for column in shown_columns("advise", shown) if column.key not in {"input_shapes", "bound_by"}]
    ours = dict.fromkeys((row["rule"], row["advice"]) for row in shown)
    lines: list[str] = [say("{rule}: {advice}.", rule=rule, advice=said) for rule, said in ours]
    lines += [
        say("msprof (prof_rule), {rule}: {advice}", rule=row["rule"], advice=row["advice"])
        for row in advised.stated[:SHOWN_ADVICE]
    ]
    sections = [Section(title, sentences, Grid(tuple(columns), shown) if shown else None, lines=lines)]
    if summary["plan"] is not None:
        rows = [
            {**row, "op_name": row["op_name"] and _line(row["op_name"])} for row in advised.candidates[:SHOWN_ADVICE]
        ]
        told = [_said(summary["plan"].get("headline"))]
        if rows:
            told.append(
                say(
                    "The first {shown} of {count}; expected and bound are us of one step.",
                    shown=len(rows),
                    count=summary["plan"].get("candidates"),
                )
            )
        planned = [
            column for column in shown_columns("plan", rows) if column.key not in {"input_shapes", "reason", "prior"}
        ]
        sections.append(Section("Next tuning plan", told, Grid(tuple(planned), rows) if rows else None))
    return sections


def _first_headline(advised: Advised) -> Text:
    """Of which run it is, and where to look first on its longest step."""
    summary = advised.summary
    headlines, devices = summary["headlines"], summary["devices"]
    of = {"run": advised.run, "model": _whole(advised.model)}
    if not headlines:
        return say("Of run {run} ({model}).", **of)
    first = _said(headlines[0].get("headline"))
    if devices > 1:
        return say(
            "Of run {run} ({model}): {headline} (the longest step of {devices} devices).",
            headline=first,
            devices=devices,
            **of,
        )
    return say("Of run {run} ({model}): {headline}.", headline=first, **of)


def _said(text: Any) -> str:
    """A stored sentence: one that can be translated stays one, any other is cut to what a report has room for."""
    return text if isinstance(text, Text) else _whole(text)


def _verdicts(verdicts: Sequence[Row]) -> list[Section]:
    if not verdicts:
        return []
    shown = verdicts[:SHOWN_VERDICTS]
    said = say("What `verify` measured of AOE's claims with a profile before and after; change is after/before - 1.")
    if len(verdicts) > len(shown):
        first = say("The first {shown} of {count} rows.", shown=len(shown), count=len(verdicts))
        said = join(" ", (said, first))
    rows = [{**row, "op_name": row["op_name"] and _line(row["op_name"])} for row in shown]
    columns = [
        column for column in shown_columns("verdicts", rows) if column.key not in {"night", "input_shapes", "reason"}
    ]
    return [Section("Claims against the clock", [said], Grid(tuple(columns), rows))]


def _runs(morning: Morning) -> Section:
    columns = (
        Column("run", "Run"),
        Column("kind", "Kind", "word"),
        Column("workload", "Workload"),
        Column("hardware", "Hardware"),
        Column("step_ms", "Step (ms)", "ms"),
        Column("status", "Status", "state"),
        Column("path", "Path"),
    )
    sentences = [
        say(
            "{runs} stored of {night}. Step is that of the slowest rank.",
            runs=_counted_runs(len(morning.runs)),
            night=morning.night,
        )
    ]
    cut = sum(row["status"] == "incomplete" for row in morning.runs)
    if cut:
        sentences.append(say("{runs} of them cut off: compared with nothing.", runs=_counted_runs(cut)))
    if len(morning.runs) > SHOWN_RUNS:
        sentences.append(say("The newest {count} are listed.", count=SHOWN_RUNS))
    if morning.others:
        some = join(", ", map(_whole, morning.others[:SHOWN_RUNS]))
        sentences.append(
            say(
                "Other workloads with a run that night: {workloads}. `--workload` makes the report one of them.",
                workloads=some,
            )
        )
    if morning.later:
        later = count_of(len(morning.later), "{number:,} later night", "{number:,} later nights")
        some = join(", ", morning.later[-SHOWN_RUNS:])
        sentences.append(
            say("Nothing is measured on {later} with a run: {nights}.", later=later, nights=some)
            if morning.workload is None
            else say("Nothing of this workload is measured on {later} with a run: {nights}.", later=later, nights=some)
        )
    return Section("Runs of the night", sentences, Grid(columns, morning.runs[-SHOWN_RUNS:]))


def _counted_runs(number: int) -> str:
    return count_of(number, "{number:,} run", "{number:,} runs")
