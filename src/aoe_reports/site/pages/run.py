"""The page of a run: what it is, where its time went, what AOE claims, what was wrong with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from aoe_reports.formats.records.payloads import number_in
from aoe_reports.history.site_facts import RunAdvice, RunDetails, RunFacts, SeriesFacts, StoreFacts, speed_up
from aoe_reports.model.classes import record
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.runs import GroupTotal, StepTimes, Stored, TuningClaim
from aoe_reports.present.drawings.charts import Figure, bar, pair, stacked
from aoe_reports.present.values import NONE, show
from aoe_reports.site.cells import Columns, Table, cell, changed, drawn, head, interval, short, stated
from aoe_reports.site.pages.advice import advice_said, advised, commands, longest_only, next_plan, whole_in
from aoe_reports.site.pages.overview import findings_table, run_row
from aoe_reports.site.pages.ranks import links_part, ranks_part
from aoe_reports.site.pages.step import step_part
from aoe_reports.site.pages.triage import state_of
from aoe_reports.site.places import file_name, model_file, series_link
from aoe_reports.site.render import Content, Context
from aoe_reports.site.texts import Texts

SHOWN_OPERATORS = 20
"""Operators on the page; its JSON has more."""
SHOWN_FINDINGS = 200
SHOWN_STEPS = 16
"""Of a run of more ranks the longest steps."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The runs of the same model before and after a run, the tunings and verdicts of its night, the series that changed with it."""

    before: RunFacts | None
    after: RunFacts | None
    tunings: Sequence[RunFacts]
    changes: Sequence[SeriesFacts]
    verdicts: Sequence[Stored[ListedVerdict]]


def surroundings_of(facts: StoreFacts) -> dict[str, Surroundings]:
    """The neighbours of each run; measurements and tunings each have neighbours of their own kind."""
    of_model: dict[tuple[str, bool], list[RunFacts]] = defaultdict(list)
    tunings: dict[tuple[str, str], list[RunFacts]] = defaultdict(list)
    verdicts: dict[tuple[str | None, str], list[Stored[ListedVerdict]]] = defaultdict(list)
    changes: dict[str | None, list[SeriesFacts]] = defaultdict(list)
    for run in facts.runs:
        of_model[run.model, run.is_tuning].append(run)
        if run.is_tuning:
            tunings[run.model, run.night].append(run)
    for verdict in facts.verdicts:
        verdicts[verdict.row.workload, verdict.row.night].append(verdict)
    for series in facts.series:
        changes[series.row.since_run].append(series)
    surroundings = {}
    for members in of_model.values():
        for before, run, after in zip([None, *members], members, [*members[1:], None], strict=False):
            night = (run.model, run.night)
            beside = ((), ()) if run.is_tuning else (tunings[night], verdicts[night])
            surroundings[run.run_id] = Surroundings(before, after, beside[0], changes[run.run_id], beside[1])
    return surroundings


def run_page(
    run: RunFacts,
    details: RunDetails,
    around: Surroundings,
    pages: frozenset[str],
    text: Texts,
    advice: RunAdvice | None,
) -> Content:
    """The page of a run, and its JSON; `pages` are the series that have one."""
    before = around.before
    counted = _steps_by_tasks(details.steps, advice)
    ranks, ranks_told = (None, None) if details.ranks is None else ranks_part(details.ranks, details.steps, text)
    changed_columns = [(text("Item"), "text"), *text.columns(SeriesChange, "change", "state")]
    tuning_columns = [
        (text("Run"), "text"), (text("Kind"), "text"), (text("Status"), "text"), (text("Before (ms)"), "number"),
        (text("After (ms)"), "number"), ("", "text"), (text("Speed-up (before/after - 1)"), "number"),
    ]  # fmt: skip
    page = {
        "title": text("{model}, {night}", model=run.model, night=run.night),
        "facts": list(_facts(run, text)),
        "model": short(run.model),
        "model_page": f"../{model_file(run.model)}.html",
        "previous": _neighbour(before),
        "next": _neighbour(around.after),
        "compare": f"a={file_name(before.run_id)}&b={file_name(run.run_id)}" if before and not run.is_tuning else "",
        "changed": Table(changed_columns, [_change_cells(series, text) for series in around.changes]),
        "measured": not run.is_tuning,
        "steps": _steps_part([*details.steps, *counted], pages, text, advice if counted else None),
        "step": None if advice is None else step_part(advice.picture, text),
        "types": _types_table(details, pages, text),
        "operators": _operators_table(details, pages, text),
        "ranks": ranks,
        "link_maps": None if advice is None else links_part(advice.links, text),
        "tunings": Table(tuning_columns, [_tuning_cells(tuning, text) for tuning in around.tunings]),
        "advice_said": advice_said(advice, text),
        "advice_commands": commands(run),
        "advised": None if advice is None else advised(advice, text),
        "plan": None if advice is None else next_plan(advice, text),
        "claims": _claims_table([claim.row for claim in details.claims], text),
        "verdicts": _verdicts_table([verdict.row for verdict in around.verdicts], text),
        "findings": findings_table(run.findings[:SHOWN_FINDINGS], text),
    }
    stored = None if advice is None else asdict(advice)
    picture = None if stored is None else stored.pop("picture")
    return page, {
        "row": run_row(run),
        "body": run.body,
        "previous": before and before.run_id,
        "next": around.after and around.after.run_id,
        "steps": details.steps,
        "steps_by_tasks": counted,
        "computing_us": details.computing_us,
        "types": details.types,
        "type_count": details.type_count,
        "operators": details.operators,
        "operator_count": details.operator_count,
        "ranks": ranks_told,
        "claims": [claim.document for claim in details.claims],
        "advice": stored,
        **({} if picture is None else {"picture": picture}),
        "tunings": [tuning.run_id for tuning in around.tunings],
        "verdicts": [one.document for one in around.verdicts],
        "changed": [series.id for series in around.changes],
        "findings": [finding.as_dict() for finding in run.findings],
    }


def _steps_part(steps: Sequence[Step], pages: frozenset[str], text: Texts, counted: RunAdvice | None) -> Context:
    """The table and charts of steps; `counted` is the advice that broke some of them down."""
    titles = [title for title, _ in text.columns(StepTimes, "computing_ms", "communication_ms", "free_ms")]
    about = []
    if counted is not None:
        said = text(
            "If no table contains the step breakdown, the components are computed from the start and end times of "
            "the tasks: the whole capture, including gaps between steps, is divided by the number of steps."
        )
        about.append(" ".join([said, *longest_only(counted.summary, text)]))
    if len(steps) > SHOWN_STEPS:
        about.append(text("The {shown} longest of {count}.", shown=SHOWN_STEPS, count=len(steps)))
        steps = sorted(steps, key=lambda one: -(one.step_ms or 0.0))[:SHOWN_STEPS]
    return {
        "charts": [chart for step in steps if (chart := _step_chart(step, text))],
        "legend": list(zip(("computing", "communication", "free"), titles, strict=True)),
        "table": Table(
            [(text("Item"), "text"), *text.columns(StepTimes)],
            [_step_cells(step, pages, text) for step in steps],
            text.joined(" ", about),
        ),
    }


def _types_table(details: RunDetails, pages: frozenset[str], text: Texts) -> Table:
    rows, ranks = details.types, _count_devices(details)
    counts = {"shown": len(rows), "count": details.type_count, "total": show(details.computing_us, "us")}
    about = text("Compute tasks by operator type: {shown} of {count} types, {total} us in all.", **counts)
    if details.ranks is not None:
        about = text(
            "Compute tasks by operator type, each on its median rank: {shown} of {count} types, {total} us in all.",
            **counts,
        )
    elif ranks > 1:
        about = text(
            "Compute tasks by operator type, separately for each rank and device: the {shown} longest of {count} types on {ranks} devices, {total} us in all. Shares are of the computing of the same rank and device.",
            ranks=ranks,
            **counts,
        )
    longest = _longest(rows)
    cells = [_group_cells(row, "op_type", "task_type", longest, pages, text) for row in rows]
    return Table(_group_columns("op_type", "core", text), cells, about)


def _operators_table(details: RunDetails, pages: frozenset[str], text: Texts) -> Table:
    rows, ranks = details.operators[:SHOWN_OPERATORS], _count_devices(details)
    counts = {"shown": len(rows), "count": details.operator_count}
    about = text("The {shown} longest of {count}.", **counts)
    if details.ranks is not None:
        about = text("The {shown} longest of {count} operators, each on its median rank.", **counts)
    elif ranks > 1:
        about = text(
            "The {shown} longest of {count} operators on {ranks} devices, separately for each rank and device.",
            ranks=ranks,
            **counts,
        )
    longest = _longest(details.operators)
    cells = [_group_cells(row, "op_name", "op_type", longest, pages, text) for row in rows]
    return Table(_group_columns("op_name", "op_type", text), cells, about)


def _count_devices(details: RunDetails) -> int:
    of_steps = {(step.rank_id, step.device_id) for step in details.steps}
    return len(of_steps | {(row["rank_id"], row["device_id"]) for row in (*details.types, *details.operators)})


def _facts(run: RunFacts, text: Texts) -> Iterator[tuple[str, str]]:
    yield text("Run"), run.run_id
    yield (
        text("Time"),
        datetime.fromtimestamp(run.timestamp_ns // 1_000_000_000, UTC).isoformat(" ").removesuffix("+00:00"),
    )
    for name in ("kind", "status", "hardware"):
        value = getattr(run, name)
        yield text.word(name), value if name == "hardware" else text.translated(value)
    for name, value in run.facts.items():
        if name != "hardware":
            yield text.fact(name), value
    yield text("Path"), run.path


def _neighbour(run: RunFacts | None) -> tuple[str, str] | None:
    return None if run is None else (f"{file_name(run.run_id)}.html", run.night)


def _change_cells(series: SeriesFacts, text: Texts) -> list[str]:
    row = series.row
    return [
        head(text.series(row), series_link(series, "../")),
        changed(row.change, interval(row.ci_low, row.ci_high), row.better),
        stated(state_of(row), text.state(state_of(row), row)),
    ]


def _where(row: Step, text: Texts) -> str:
    return text.place(row.rank_id, row.device_id) or text("the step")


@record
class CountedStep:
    """The breakdown that advice computed for a device without a stored one; like steps, times in ms."""

    step_ms: float
    std_ms: None = None
    computing_ms: float
    communication_ms: float
    free_ms: float
    rank_id: int | None
    device_id: int | None
    series_id: None = None
    steps_counted: int
    """The number of steps by which the capture was divided; 1 also where no steps are recorded."""


Step = StepTimes | CountedStep


def _steps_by_tasks(steps: Sequence[StepTimes], advice: RunAdvice | None) -> list[CountedStep]:
    """The steps that only advice has."""
    stored = [(step.rank_id, step.device_id) for step in steps if _has_parts(step)]
    counted = {
        (step.rank_id, step.device_id): step
        for row in (advice.summary.headlines if advice is not None else ())
        if (step := _step_by_tasks(row)) is not None and not _is_stored(step, stored)
    }
    ordered = sorted(counted, key=lambda place: tuple(-1 if number is None else number for number in place))
    return [counted[place] for place in ordered[:SHOWN_DEVICES]]


def _has_parts(step: Step) -> bool:
    """Whether its breakdown is complete: of a pipeline, MindSpore's own profiler records no free time."""
    return None not in {step.computing_ms, step.free_ms}


def _is_stored(step: CountedStep, stored: Sequence[tuple[int | None, int | None]]) -> bool:
    """Whether a stored step is of the same device; a table of steps names no device where the framework wrote it."""
    device = step.device_id
    return any(rank == step.rank_id and (other == device or None in {other, device}) for rank, other in stored)


def _step_by_tasks(headline: JsonObject) -> CountedStep | None:
    """A device's step as advice counted its tasks; None where it did not, or where that is no step."""
    parts = ("computing", "communication_not_overlapped", "free")
    shares = [share for part in parts if (share := number_in(headline, f"{part}_share")) is not None]
    step_us = number_in(headline, "step_us")
    if headline.get("source") not in _COUNTED or step_us is None or not 0 < step_us < _LONGEST_US:
        return None
    if len(shares) < len(parts) or min(shares) < 0 or sum(shares) > 1 + _ROUNDED:
        return None
    computing, communication, free = (round(share * step_us / 1000, 6) for share in shares)
    return CountedStep(
        step_ms=step_us / 1000,
        computing_ms=computing,
        communication_ms=communication,
        free_ms=free,
        rank_id=whole_in(headline, "rank_id"),
        device_id=whole_in(headline, "device_id"),
        steps_counted=whole_in(headline, "steps") or 1,
    )


SHOWN_DEVICES = 16
_COUNTED = frozenset({"tasks", "timeline"})
"""Where advice has the parts of a step from, when not from a table of steps."""
_LONGEST_US = 1e15
"""Thirty years: no step takes longer."""
_ROUNDED = 1e-4


def _step_chart(step: Step, text: Texts) -> Figure | None:
    """A step as one bar of its parts; None where the store knows no parts."""
    if not _has_parts(step):
        return None
    sizes = {"computing": step.computing_ms, "communication": step.communication_ms, "free": step.free_ms}
    shown = {name: text("not stored") if size is None else show(size, "ms") for name, size in sizes.items()}
    said = text(
        "Capture of {what}: computing {computing}, non-overlapped communication {communication}, free {free} (ms)"
        if _is_capture(step)
        else ("Step of {what}: computing {computing}, non-overlapped communication {communication}, free {free} (ms)"),
        what=_where(step, text),
        **shown,
    )
    return Figure(said, stacked([(name, size or 0.0) for name, size in sizes.items()], said))


def _is_capture(step: Step) -> bool:
    """Whether it is a whole capture: it has no steps."""
    return isinstance(step, CountedStep) and step.steps_counted == 1


def _step_cells(step: Step, pages: frozenset[str], text: Texts) -> list[str]:
    about = None
    if isinstance(step, CountedStep):
        about = text("computed from the tasks, steps: {steps}", steps=step.steps_counted)
    if _is_capture(step):
        about = text("computed from the tasks, the whole capture")
    times = (step.step_ms, step.std_ms, step.computing_ms, step.communication_ms, step.free_ms)
    return [head(_where(step, text), _series(step.series_id, pages), about), *(cell(time, "ms") for time in times)]


def _series(series_id: str | None, pages: frozenset[str]) -> str | None:
    return f"../series/{file_name(series_id)}.html" if series_id is not None and series_id in pages else None


def _group_columns(name: str, more: str, text: Texts) -> Columns:
    return [
        (text.word(name), "text"), (text.word(more), "text"), (text("Rank"), "number"), *text.columns(GroupTotal), ("", "text"),
    ]  # fmt: skip


def _longest(rows: Sequence[Mapping[str, Any]]) -> float:
    """The largest share, the scale of all bars."""
    return max((row["share"] or 0.0 for row in rows), default=0.0)


def _group_cells(
    row: Mapping[str, Any], name: str, more: str, longest: float, pages: frozenset[str], text: Texts
) -> list[str]:
    rank, share = row["rank_id"], row["share"]
    device = None if row["device_id"] is None else f"{text('Device')} {row['device_id']}"
    return [
        head(row[name] or NONE, _series(row["series_id"], pages), row.get("input_shapes")),
        cell(row[more]),
        cell(device, "integer") if rank is None else cell(rank, "integer", device),
        cell(row["count"], "integer"),
        cell(row["total_us"], "us"),
        cell(row["mean_us"], "us"),
        cell(share, "percent"),
        drawn(bar(share or 0.0, of=longest)),
    ]


def _tuning_cells(run: RunFacts, text: Texts) -> list[str]:
    before, after = run.claimed_ms
    return [
        head(run.run_id, f"{file_name(run.run_id)}.html"),
        cell(str(run.body.get("kind") or "").upper()),
        cell(text.translated(run.status)),
        cell(before, "ms"),
        cell(after, "ms"),
        drawn(pair(before or None, after or None)),
        cell(speed_up(before, after), "change"),
    ]


def _most(claims: Sequence[TuningClaim], row: TuningClaim) -> float:
    """The scale of a claim's bars: the whole model and operators have scales of their own."""
    same = [claim for claim in claims if (claim.scope == "model") == (row.scope == "model")]
    return max((us or 0.0 for one in same for us in (one.claimed_before_us, one.claimed_after_us)), default=0.0)


def _claims_table(claims: Sequence[TuningClaim], text: Texts) -> Table:
    columns = [
        (text("Item"), "text"), *text.columns(TuningClaim, "claimed_before_us", "claimed_after_us"), ("", "text"),
        (text("Speed-up (before/after - 1)"), "number"),
    ]  # fmt: skip
    return Table(columns, [_claim_cells(row, _most(claims, row), text) for row in claims])


def _claim_cells(row: TuningClaim, most: float, text: Texts) -> list[str]:
    before, after = row.claimed_before_us, row.claimed_after_us
    name = text("the whole model") if row.scope == "model" else row.name or row.op_type or NONE
    return [
        head(name, None, row.op_type if row.name else None),
        cell(before, "us"),
        cell(after, "us"),
        drawn(pair(before, after, most)),
        cell(text("unmeasured")) if row.unmeasured else cell(row.speed_up, "change"),
    ]


def _verdicts_table(verdicts: Sequence[ListedVerdict], text: Texts) -> Table:
    times = ("claimed_before_us", "claimed_after_us", "claimed_change", "measured_before_us", "measured_after_us")
    columns = [
        (text("Item"), "text"), *text.columns(ListedVerdict, *times), ("", "text"), (text("Measured change"), "number"),
        *text.columns(ListedVerdict, "verdict"),
    ]  # fmt: skip
    return Table(columns, [_verdict_cells(row, text) for row in verdicts])


def _verdict_cells(row: ListedVerdict, text: Texts) -> list[str]:
    """AOE's claim beside the measurement of `verify`."""
    before, after = row.measured_before_us, row.measured_after_us
    name = row.op_name or row.op_type or text("the step")
    return [
        head(name, None, row.input_shapes),
        cell(row.claimed_before_us, "us"),
        cell(row.claimed_after_us, "us"),
        cell(row.claimed_change, "change"),
        cell(before, "us"),
        cell(after, "us"),
        drawn(pair(before, after)),
        changed(row.change, interval(row.ci_low, row.ci_high)),
        stated(VERDICTS.get(str(row.verdict), str(row.verdict)), text.translated(row.verdict)),
    ]


VERDICTS = {"confirmed": "good", "partly": "good"}
"""How verdicts look: `confirmed` is a gain here, and a slow-down of a series elsewhere."""
