"""The page of a run: what it is, where its time went, what AOE claims, what was wrong with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from aoe_reports.history.site_facts import RunAdvice, RunDetails, RunFacts, SeriesFacts, StoreFacts, speed_up
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.runs import Stored, TuningClaim
from aoe_reports.present.drawings.charts import pair
from aoe_reports.present.values import NONE
from aoe_reports.site.amounts import TimeColumn
from aoe_reports.site.cells import Table, cell, changed, drawn, head, interval, short, stated
from aoe_reports.site.pages.advice import advice_said, advised, commands, next_plan
from aoe_reports.site.pages.comparison import Pair, pairs_of
from aoe_reports.site.pages.memory import memory_part
from aoe_reports.site.pages.operators import (
    groups_table,
    has_spread,
    operators_about,
    operators_of,
    places_of,
    spreads_as_json,
    types_about,
    types_of,
)
from aoe_reports.site.pages.overview import findings_table, run_row
from aoe_reports.site.pages.ranks import links_part, ranks_part
from aoe_reports.site.pages.run_state import RunState, baseline_link, run_states, state_link, state_words
from aoe_reports.site.pages.step import step_part
from aoe_reports.site.pages.steps import counted_steps, known_steps, steps_in_all, steps_part
from aoe_reports.site.pages.triage import look_of, state_of
from aoe_reports.site.places import file_name, model_file, series_link
from aoe_reports.site.render import Content, Context
from aoe_reports.site.texts import Texts

SHOWN_FINDINGS = 200


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The runs of the same model before and after a run, the tunings and verdicts of its night, the series that changed with it."""

    before: RunFacts | None
    after: RunFacts | None
    tunings: Sequence[RunFacts]
    changes: Sequence[SeriesFacts]
    verdicts: Sequence[Stored[ListedVerdict]]
    state: RunState | None
    pair: Pair | None
    """The prebuilt comparison of the model."""


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
    states, pairs = run_states(facts), pairs_of(facts)
    surroundings = {}
    for members in of_model.values():
        for before, run, after in zip([None, *members], members, [*members[1:], None], strict=False):
            night = (run.model, run.night)
            beside = ((), ()) if run.is_tuning else (tunings[night], verdicts[night])
            changed = changes[run.run_id]
            known = (None, None) if run.is_tuning else (states.get(night), pairs.get(run.model))
            surroundings[run.run_id] = Surroundings(before, after, beside[0], changed, beside[1], *known)
    return surroundings


def state_part(run: RunFacts, around: Surroundings, text: Texts) -> Context:
    """How the model was on that night, and where its run is compared with the baseline."""
    state = around.state
    return {
        "said": "" if state is None else state_words(state, text),
        "page": None if state is None else state_link(state),
        "baseline": baseline_link(run.run_id, state, around.pair),
    }


def run_page(
    run: RunFacts,
    details: RunDetails,
    around: Surroundings,
    pages: frozenset[str],
    text: Texts,
    *,
    advice: RunAdvice | None,
) -> Content:
    """The page of a run, and its JSON; `pages` are the series that have one."""
    before = around.before
    counted = counted_steps(details.steps, advice)
    known = known_steps(details.steps, counted)
    steps = steps_in_all(known)
    types, operators = types_of(details, steps), operators_of(details, steps)
    type_places, operator_places = places_of(types), places_of(operators)
    ranks, ranks_told = (None, None) if details.ranks is None else ranks_part(details.ranks, details.steps, text)
    page = {
        "title": text("{model}, {night}", model=run.model, night=run.night),
        "facts": list(_facts(run, text)),
        "model": short(run.model),
        "model_page": f"../{model_file(run.model)}.html",
        "previous": _neighbour(before),
        "next": _neighbour(around.after),
        "compare": f"a={file_name(before.run_id)}&b={file_name(run.run_id)}" if before and not run.is_tuning else "",
        "state": state_part(run, around, text),
        "changed": changes_table(around.changes, text),
        "measured": not run.is_tuning,
        "steps": steps_part(known, details, pages, text, advice),
        "memory": memory_part(details.memory, pages, text),
        "step": None if advice is None else step_part(advice.picture, text),
        "types": groups_table(types, type_places, pages, text, types_about(details, types, type_places, text)),
        "operators": groups_table(
            operators, operator_places, pages, text, operators_about(details, operators, operator_places, text)
        ),
        "ranks": ranks,
        "link_maps": None if advice is None else links_part(advice.links, text),
        "tunings": _tunings_table(around.tunings, text),
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
        **({"types_by_rank": spreads_as_json(types)} if has_spread(type_places) else {}),
        **({"operators_by_rank": spreads_as_json(operators)} if has_spread(operator_places) else {}),
        "ranks": ranks_told,
        **({"memory": details.memory} if details.memory else {}),
        "claims": [claim.document for claim in details.claims],
        "advice": stored,
        **({} if picture is None else {"picture": picture}),
        "tunings": [tuning.run_id for tuning in around.tunings],
        "verdicts": [one.document for one in around.verdicts],
        "changed": [series.id for series in around.changes],
        "findings": [finding.as_dict() for finding in run.findings],
    }


def _facts(run: RunFacts, text: Texts) -> Iterator[tuple[str, str]]:
    yield text("Run"), run.run_id
    yield (
        text("Time"),
        datetime.fromtimestamp(run.timestamp_ns // 1_000_000_000, UTC).isoformat(" ").removesuffix("+00:00"),
    )
    for name, value in run.known_facts.items():
        if name in {"kind", "status"}:
            yield text.word(name), text.translated(value)
        else:
            yield text.word(name) if name == "hardware" else text.fact(name), value
    if run.path:
        yield text("Path"), run.path


def _neighbour(run: RunFacts | None) -> tuple[str, str] | None:
    return None if run is None else (f"{file_name(run.run_id)}.html", run.night)


def changes_table(changes: Sequence[SeriesFacts], text: Texts) -> Table:
    """The series whose newest change began with a run."""
    columns = [(text("Item"), "text"), *text.columns(SeriesChange, "change", "state")]
    return Table(columns, [_change_cells(series, text) for series in changes], stacks=True)


def _change_cells(series: SeriesFacts, text: Texts) -> list[str]:
    row = series.row
    return [
        head(text.series(row), series_link(series, "../")),
        changed(row.change, interval(row.ci_low, row.ci_high), row.better, look=look_of(row)),
        stated(state_of(row), text.state(state_of(row), row)),
    ]


def _tunings_table(runs: Sequence[RunFacts], text: Texts) -> Table:
    times = TimeColumn.of("ms", (time for run in runs for time in run.claimed_ms))
    columns = [
        (text("Run"), "text"), (text("Kind"), "text"), (text("Status"), "text"), times.title(text("Before")),
        times.title(text("After")), ("", "text"), (text("Speed-up (before/after - 1)"), "number"),
    ]  # fmt: skip
    rows = []
    for run in runs:
        before, after = run.claimed_ms
        rows.append(
            [
                head(run.run_id, f"{file_name(run.run_id)}.html"),
                cell(str(run.body.get("kind") or "").upper()),
                cell(text.translated(run.status)),
                times.cell(before),
                times.cell(after),
                drawn(pair(before or None, after or None)),
                cell(speed_up(before, after), "change"),
            ]
        )
    return Table(columns, rows, stacks=True)


def _claims_table(claims: Sequence[TuningClaim], text: Texts) -> Table:
    times = TimeColumn.of("us", (time for row in claims for time in (row.claimed_before_us, row.claimed_after_us)))
    columns = [
        (text("Item"), "text"), times.title(text("Claimed before")), times.title(text("Claimed after")), ("", "text"),
        (text("Speed-up (before/after - 1)"), "number"),
    ]  # fmt: skip
    longest = {True: 0.0, False: 0.0}  # the whole model and operators have scales of their own
    for row in claims:
        is_model = row.scope == "model"
        longest[is_model] = max(longest[is_model], row.claimed_before_us or 0.0, row.claimed_after_us or 0.0)
    return Table(
        columns, [_claim_cells(row, times, longest[row.scope == "model"], text) for row in claims], stacks=True
    )


def _claim_cells(row: TuningClaim, times: TimeColumn, most: float, text: Texts) -> list[str]:
    before, after = row.claimed_before_us, row.claimed_after_us
    name = text("the whole model") if row.scope == "model" else row.name or row.op_type or NONE
    return [
        head(name, None, row.op_type if row.op_type != name else None),
        times.cell(before),
        times.cell(after),
        drawn(pair(before, after, most)),
        cell(text("unmeasured")) if row.unmeasured else cell(row.speed_up, "change"),
    ]


def _verdicts_table(verdicts: Sequence[ListedVerdict], text: Texts) -> Table:
    claimed = TimeColumn.of("us", (us for row in verdicts for us in (row.claimed_before_us, row.claimed_after_us)))
    measured = TimeColumn.of("us", (us for row in verdicts for us in (row.measured_before_us, row.measured_after_us)))
    columns = [
        (text("Item"), "text"), claimed.title(text("Claimed before")), claimed.title(text("Claimed after")),
        *text.columns(ListedVerdict, "claimed_change"), measured.title(text("Measured before")),
        measured.title(text("Measured after")), ("", "text"), (text("Measured change"), "number"),
        *text.columns(ListedVerdict, "verdict"),
    ]  # fmt: skip
    return Table(columns, [_verdict_cells(row, claimed, measured, text) for row in verdicts], stacks=True)


def _verdict_cells(row: ListedVerdict, claimed: TimeColumn, measured: TimeColumn, text: Texts) -> list[str]:
    """AOE's claim beside the measurement of `verify`."""
    before, after = row.measured_before_us, row.measured_after_us
    name = row.op_name or row.op_type or text("the step")
    return [
        head(name, None, row.input_shapes),
        claimed.cell(row.claimed_before_us),
        claimed.cell(row.claimed_after_us),
        cell(row.claimed_change, "change"),
        measured.cell(before),
        measured.cell(after),
        drawn(pair(before, after)),
        changed(row.change, interval(row.ci_low, row.ci_high)),
        stated(VERDICTS.get(str(row.verdict), str(row.verdict)), text.translated(row.verdict)),
    ]


VERDICTS = {"confirmed": "good", "partly": "good"}
"""How verdicts look: `confirmed` is a gain here, and a slow-down of a series elsewhere."""
