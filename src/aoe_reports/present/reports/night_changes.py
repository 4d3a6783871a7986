"""The changes of a night as sections: reliability, news, incidents, the trend of the lead and its breakdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from aoe_reports.model.history.causes import reason_words
from aoe_reports.model.history.changes import MEMORY, AlarmBudget, OperatorChange, SeriesChange, StepAttribution
from aoe_reports.model.history.memory_words import memory_series_name
from aoe_reports.model.history.metrics import BYTE_UNIT, GROWTH_UNIT
from aoe_reports.model.report import Chart, Section, Waterfall
from aoe_reports.model.rows import column, row, row_from
from aoe_reports.model.size_units import size_unit
from aoe_reports.model.texts import Text, capital, count_of, join, say
from aoe_reports.present.answers import grid_of
from aoe_reports.present.reports.incidents import apart_of, incident_sections, is_open, suspicions_section
from aoe_reports.present.reports.night_content import Night, Trend, is_news
from aoe_reports.present.reports.night_words import in_lines, place_words, subject_words, title_name, whole_name
from aoe_reports.present.reports.observations import observation_sections
from aoe_reports.present.reports.series_cells import has_metrics, series_grid, value_words
from aoe_reports.present.values import show

SHOWN_CHANGES = 20
LEVEL_NIGHTS = 14
"""The level before a change is drawn over its last 14 nights: earlier nights may have had another level."""


@row
class _ChangedSeries:
    series_id: str = column()
    since_run: str | None = column()
    state: str | None = column("State", "alarm")
    what: str = column("Item")
    change: float | None = column("Change (after/before - 1)", "change")
    ci_low: float | None = column("from", "change")
    ci_high: float | None = column("to", "change")
    before: float | None = column("Before", "ms")
    after: float | None = column("After", "ms")
    since: str | None = column("Since")


def changes_sections(night: Night) -> Iterator[Section]:
    """The news of the night: reliability and counts, changes that belong to no incident, then the incidents."""
    budget = night.budget
    if budget is None:
        yield Section("Changes", [say("Nothing was measured.")])
        return
    rows_shown = [row for row in night.changes if is_news(row)]
    rows = apart_of(rows_shown, night.suspicions)
    apart = [row_from(_ChangedSeries, one, what=subject_words(one)) for one in rows[:SHOWN_CHANGES]]
    sentences: list[str] = [budget_words(budget), _COLUMNS, *gate_budgets(budget)]
    if budget.baseline != "segment":
        sentences.append(say("The baseline was specified: {baseline}.", baseline=budget.baseline))
    if night.remark is not None:
        sentences.append(say("{text}.", text=capital(night.remark)))
    sentences.append(_counted_changes(night.changes, rows_shown))
    if len(rows) > SHOWN_CHANGES:
        sentences.append(say("The first {shown} of {count} are listed.", shown=SHOWN_CHANGES, count=len(rows)))
    shown = series_grid(_ChangedSeries, apart, rows[:SHOWN_CHANGES], whole=True) if apart else None
    yield Section("Changes", sentences, shown)
    if night.suspicions:
        yield suspicions_section(night.suspicions)
    known = {move.incident for row in rows_shown for move in row.moves}
    yield from incident_sections(
        [incident for incident in night.incidents if incident.incident in known], night.changes
    )
    yield from observation_sections(night.observations)


_COLUMNS = say(
    "The change is after / before - 1; before is the level since the last accepted change, after is the newest level; "
    "the impact is the additional time of all calls of a run."
)


def budget_words(budget: AlarmBudget) -> Text:
    """How many series are judged, and how many false alarms they may raise."""
    return say(
        "{eligible} of {series} series have enough nights to be judged; together they may raise {alarms:g} false alarms a year.",
        eligible=budget.eligible,
        series=budget.series,
        alarms=budget.false_alarms_per_year,
    )


def _counted_changes(changes: Sequence[SeriesChange], shown: Sequence[SeriesChange]) -> str:
    worse, better = sum(map(is_open, shown)), sum(row.state in {"recovered", "improved"} for row in shown)
    accepted, mixed = sum(row.acknowledged is not None for row in shown), has_metrics(shown)
    counts = [
        say("{count} series worse" if mixed else "{count} series slower", count=worse),
        say(
            "{count} with a suspected regression (run the night again)",
            count=sum(row.state == "suspect" for row in shown),
        ),
        say("{count} worse and accepted" if mixed else "{count} slower and accepted", count=accepted),
        say("{count} better" if mixed else "{count} faster", count=better),
        say("{count} with a change that was reported before and is settled", count=len(changes) - len(shown)),
    ]
    known = [count for count in counts if count.values["count"]]
    return say("{text}.", text=join(", ", known)) if known else say("No series changed.")


def _trend_words(trend: Trend, counted: str) -> Text:
    """A line over nights in words."""
    extremes = {"low": min(trend.values), "high": max(trend.values), "newest": trend.values[-1]}
    known = {
        "nights": counted,
        "first": trend.nights[0],
        "last": trend.nights[-1],
        **{name: value_words(value, trend.unit) for name, value in extremes.items()},
    }
    what = join("", (whole_name(trend.workload), place_words(trend)))
    if _is_of_memory(trend):
        name = join("", (memory_series_name(trend.metric, whole_name(trend.workload)), place_words(trend)))
        return say(
            "{name}, {nights} from {first} to {last}, between {low} and {high}, {newest} in the newest",
            name=name,
            **known,
        )
    return say(
        "{metric} of {what}, {nights} from {first} to {last}, between {low} and {high}, {newest} in the newest",
        metric=say("mean time") if trend.metric is None else whole_name(trend.metric),
        what=what,
        **known,
    )


def _is_of_memory(trend: Trend) -> bool:
    return trend.metric is not None and trend.workload == f"{trend.model}/{MEMORY}"


def trend_section(night: Night, trend: Trend) -> Section:
    nights = trend.nights
    row = night.lead
    counted = count_of(len(nights), "{number:,} night", "{number:,} nights")
    described = _trend_words(trend, counted)
    title = join("", (title_name(trend.workload), place_words(trend)))
    if _is_of_memory(trend):
        title = join("", (memory_series_name(trend.metric, title_name(trend.workload)), place_words(trend)))
    elif trend.metric is not None:
        title = say("{metric} of {workload}", metric=title_name(trend.metric), workload=title)
    levels: tuple[tuple[str, str, float], ...] = ()
    marked = None
    if row is not None and row.state is not None and row.since is not None and row.since in nights:
        marked = row.since
        at = list(nights).index(marked)
        if at and row.before and row.after:
            first, last = nights[max(at - LEVEL_NIGHTS, 0)], nights[at - 1]
            levels = ((first, last, row.before), (marked, nights[-1], row.after))
        title = say("{what}: {change}", what=title, change=show(row.change, "change"))
        state = say(row.state)
        described += say(
            "; {state}: {change} since {since}, from {before} to {after}",
            state=state,
            change=show(row.change, "change"),
            since=marked,
            before=value_words(row.before or 0.0, row.unit),
            after=value_words(row.after or 0.0, row.unit),
        )
    elif len(nights) < night.least_nights:
        state = say("too few nights to judge, {number} of {least}", number=len(nights), least=night.least_nights)
        described += say("; {state}", state=state)
    else:
        state = say("no change")
        described += say("; no change is marked")
    known = {"night": night.night, "state": state, "nights": counted}
    if trend.metric is None:
        subtitle = say("Night {night}: {state}. Mean time of {nights}, lower is better", **known)
    elif trend.better == "higher":
        subtitle = say("Night {night}: {state}. {nights}, higher is better", **known)
    else:
        subtitle = say("Night {night}: {state}. {nights}, lower is better", **known)
    alt = say("Line chart: {what}", what=described)
    scale, unit = size_unit(max(trend.values)) if trend.unit in {BYTE_UNIT, GROWTH_UNIT} else (1, trend.unit)
    chart = Chart(
        title=title,
        nights=nights,
        lines={trend.workload: [value / scale for value in trend.values] if scale > 1 else trend.values},
        unit=say("{unit} per step", unit=unit) if trend.unit == GROWTH_UNIT else unit or "",
        description=alt,
        marked=marked,
        subtitle=subtitle,
        levels=[(first, last, level / scale) for first, last, level in levels] if scale > 1 else levels,
    )
    return Section("History", [say("{text}.", text=described)], chart=chart, figure="history")


def attribution_of_lead(night: Night, row: SeriesChange, attribution: StepAttribution) -> Section:
    operators = attribution.operators
    parts: list[tuple[str, float]] = [(_name(operator), operator.difference_us) for operator in operators]
    sums = (
        (say("other operators"), attribution.other_operators_us),
        (say("communication, not overlapped"), attribution.communication_not_overlapped_us),
        (say("free time"), attribution.free_us),
        (say("unattributed"), attribution.unattributed_us),
    )
    parts += [(words, part_us) for words, part_us in sums if part_us is not None]
    listed = [say("{name} {size:+,.3f}", name=name, size=size) for name, size in parts]
    described = say(
        "Breakdown of the change of {what} since {since}, in us per step: {parts}; total {total:+,.3f}",
        what=join("", (whole_name(row.workload), place_words(row))),
        since=row.since,
        parts=join(", ", listed),
        total=attribution.total_us,
    )
    chart = Waterfall(
        title=say(
            "{what}: breakdown of {total:+,.1f} us per step",
            what=join("", (title_name(row.workload), place_words(row))),
            total=attribution.total_us,
        ),
        subtitle=say(
            "Night {night}: change since {since}, {before:,.1f} us before, {after:,.1f} us after",
            night=night.night,
            since=row.since,
            before=attribution.before_us,
            after=attribution.after_us,
        ),
        parts=parts,
        whole=(say("the step"), attribution.total_us),
        unit=say("change per step (us)"),
        description=say("Waterfall chart, night {night}. {what}", night=night.night, what=described),
    )
    sentences = [say("{text}.", text=described), *_remarks(attribution, night)]
    rows = [replace(line, cause=reason_words(line.cause)) for line in in_lines(operators)]
    grid = grid_of(OperatorChange, rows) if operators else None
    return Section("Breakdown of the change", sentences, grid, chart, figure="attribution")


def _name(change: OperatorChange) -> str:
    name = change.op_name or change.op_type
    return whole_name(name) if name else say("unknown")


def _remarks(attribution: StepAttribution, night: Night) -> Iterator[str]:
    """What moved between operators, what AOE tuned, and which other steps changed."""
    yield from attribution_remarks(attribution)
    others = sum(bool(change.attribution) for change in night.changes) - 1
    if others > 0:
        steps = count_of(others, "{number:,} other changed step", "{number:,} other changed steps")
        yield say("`regressions` shows the same breakdown for {steps}.", steps=steps)


def attribution_remarks(attribution: StepAttribution) -> Iterator[str]:
    """What moved between operators, and what AOE tuned."""
    for shift in attribution.shifts:
        yield say(
            "{sources} became {targets} ({moved:,.3f} us moved).",
            sources=join(", ", map(whole_name, shift.from_)),
            targets=join(", ", map(whole_name, shift.to)),
            moved=shift.moved_us,
        )
    for operator in attribution.operators:
        if operator.repository_run:
            yield say(
                "AOE tuned {operator} in run {run} of {night}.",
                operator=whole_name(operator.op_name or operator.op_type),
                run=operator.repository_run,
                night=operator.repository_night,
            )


def gate_budgets(budget: AlarmBudget) -> Iterator[Text]:
    """A sentence for each gate with a budget of its own."""
    for gate in budget.gates:
        yield say(
            "Gate {gate}: {eligible} of these series have a budget of their own instead; together they may raise {alarms:g} false "
            "alarms a year.",
            gate=gate.gate,
            eligible=gate.eligible,
            alarms=gate.false_alarms_per_year,
        )
