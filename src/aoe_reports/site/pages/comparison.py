"""Two runs against each other: step parts, operator types, operators, what is known of how they ran.

`assets/compare.js` does the same for any two runs, from the data files of runs that this module writes.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import starmap
from typing import Any, Literal

from aoe_reports.formats.records.payloads import object_in
from aoe_reports.history.site_facts import Groups, RunDetails, RunFacts, StoreFacts, differing_facts
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.runs import StepTimes
from aoe_reports.model.texts import N_
from aoe_reports.present.values import plain, show
from aoe_reports.site.as_json import as_json
from aoe_reports.site.cells import Columns, Table, cell, changed, head, stated
from aoe_reports.site.places import file_name
from aoe_reports.site.render import Content, Context
from aoe_reports.site.texts import Texts

SHOWN_ROWS = 50
"""Rows of a table, the largest difference first: its JSON has all."""
SCOPES = ("op_type", "op", "communication")
PARTS = ("step", "computing", "communication", "free")
MUST_MATCH = {
    "hardware": "hardware",
    "engine_version": "engine_version",
    "profiler_level": "runtime_config.profiler_level",
    "aic_metrics": "runtime_config.aic_metrics",
}
"""Facts of a run, by short names, that have to be equal for `compare` where both sides have them."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The newest run of a model and its baseline."""

    baseline: RunFacts
    candidate: RunFacts
    why: str
    """`segment`: the last run before the newest change of the model's step; `night`: the last night before, as nothing changed."""


def pairs_of(facts: StoreFacts) -> dict[str, Pair]:
    """Per model, by name: its newest whole run, and its baseline."""
    of_models: dict[str, list[RunFacts]] = defaultdict(list)
    for run in facts.runs:
        if not run.is_tuning and run.status != "incomplete":
            of_models[run.model].append(run)
    pairs = {}
    for model, runs in sorted(of_models.items()):
        prior = [run for run in runs if run.night < runs[-1].night]
        if prior:
            changed = _before_change(model, facts)
            pairs[model] = Pair(changed or prior[-1], runs[-1], "segment" if changed else "night")
    return pairs


def _before_change(model: str, facts: StoreFacts) -> RunFacts | None:
    """The last run before the newest change of a model's step; None where nothing changed, or the run is not stored."""
    step = facts.slowest_of(model)
    starts = [shift.start for shift in step.shifts if shift.state != "suspect" and shift.start] if step else []
    return facts.by_id.get(step.runs[starts[-1] - 1]) if step and starts else None


def page_of(model: str) -> str:
    """The file of a model's prebuilt comparison, without its ending."""
    return f"compare-{file_name(model)}"


@dataclass(frozen=True, slots=True)
class FactDifference:
    """A fact that is not the same of both runs."""

    fact: str
    baseline: str | int | None
    candidate: str | int | None


@dataclass(frozen=True, slots=True)
class StepDifference:
    """A part of the steps of one device; what is stored of one side only is no difference."""

    rank_id: int | None
    device_id: int | None
    workload: str
    part: str
    baseline_steps: int | None
    candidate_steps: int | None
    baseline_ms: float | None
    candidate_ms: float | None
    difference_ms: float | None
    ratio: float | None


Side = Literal["both", "baseline", "candidate"]


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """Calls of one type, operator or communication, each device by itself; what one side alone has is the difference."""

    rank_id: int | None
    device_id: int | None
    op_type: str | None
    op_name: str | None
    workload_args: JsonObject
    side: Side
    baseline_count: int | None
    candidate_count: int | None
    baseline_total_us: float | None
    candidate_total_us: float | None
    difference_us: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class ScopeTotal:
    """All calls of a scope."""

    groups: int
    baseline_total_us: float | None
    candidate_total_us: float | None
    difference_us: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class RunComparison:
    """What differs between the runs of a pair; what only one side has is a row of its own."""

    pair: Pair
    not_comparable: Sequence[FactDifference]
    steps: Sequence[StepDifference]
    tables: Mapping[str, Sequence[GroupDifference]]
    """By scope, as the totals are."""
    totals: Mapping[str, ScopeTotal]
    untimed: Mapping[str, int]
    """Records without a total, by side."""

    @property
    def metadata_differences(self) -> list[FactDifference]:
        """What is known of how the runs ran and differs."""
        return list(starmap(FactDifference, differing_facts(self.pair.baseline, self.pair.candidate)))


def compare_runs(pair: Pair, before: RunDetails, after: RunDetails) -> RunComparison:
    """What differs between two runs."""
    sides = {scope: (_of_scope(before.groups, scope), _of_scope(after.groups, scope)) for scope in SCOPES}
    return RunComparison(
        pair,
        list(_not_comparable(pair, before, after)),
        list(_steps(before.steps, after.steps)),
        {scope: _groups(*totals) for scope, totals in sides.items()},
        {scope: _total(*totals) for scope, totals in sides.items()},
        {"baseline": before.untimed, "candidate": after.untimed},
    )


def _not_comparable(pair: Pair, before: RunDetails, after: RunDetails) -> Iterator[FactDifference]:
    """Why `compare` would refuse these two, with the facts of both sides; an unknown fact is no reason."""
    facts = [_comparable_facts(pair.baseline, before), _comparable_facts(pair.candidate, after)]
    for name in facts[0]:
        was, became = (side[name] for side in facts)
        if was != became and not {was, became} & {None, "unknown"}:
            yield FactDifference(name, was, became)
    counts = [sum(key[0] in {"op_type", "op"} for key in details.groups.keys) for details in (before, after)]
    if 0 in counts and any(counts):
        yield FactDifference("operator_records", counts[0], counts[1])


def _comparable_facts(run: RunFacts, details: RunDetails) -> dict[str, str | int | None]:
    """The facts that have to be equal for two runs to be comparable."""
    ranks = {"?" if key[1] is None else str(key[1]) for key in details.groups.keys}
    return {
        **{name: run.facts.get(key) for name, key in MUST_MATCH.items()},
        "steps": max((step.steps for step in details.steps if step.steps), default=None),
        "ranks": ", ".join(sorted(ranks)) or None,
    }


Values = tuple[float | None, float | None]
"""Of both sides."""


def _difference(before: float | None, after: float | None, scale: int, *, stored: bool) -> tuple[*Values, *Values]:
    """Both sides in another unit, difference and ratio: of what stands on one side only the whole of it, and no ratio.

    Where nothing is `stored` of a side, that is no difference.
    """
    return (
        None if before is None else before / scale,
        None if after is None else after / scale,
        ((after or 0) - (before or 0)) / scale if stored else None,
        after / before if before and after is not None else None,
    )


Totals = dict[tuple[Any, ...], tuple[int | None, int]]
"""(count, total in ns) by key."""


def _of_scope(groups: Groups, scope: str) -> Totals:
    known = zip(groups.keys, groups.counts, groups.totals_ns, strict=True)
    return {key: (count, total) for key, count, total in known if key[0] == scope}


def _total(before: Totals, after: Totals) -> ScopeTotal:
    was, became = (sum(total for _, total in side.values()) if side else None for side in (before, after))
    return ScopeTotal(len({**before, **after}), *_difference(was, became, 1000, stored=bool(before and after)))


def _groups(before: Totals, after: Totals) -> list[GroupDifference]:
    """The differences of all groups, the largest first."""
    rows = []
    for key in {**before, **after}:
        (was, was_ns), (became, became_ns) = (side.get(key, (None, None)) for side in (before, after))
        values = _difference(was_ns, became_ns, 1000, stored=bool(before and after))
        _, rank, device, op_type, op_name, arguments = key
        known_args = object_in({"workload_args": arguments}, "workload_args")
        side: Side = "candidate" if was_ns is None else "baseline" if became_ns is None else "both"
        row = GroupDifference(rank, device, op_type, op_name, known_args, side, was, became, *values)
        rows.append((-abs((became_ns or 0) - (was_ns or 0)), row))
    rows.sort(key=lambda ranked: (ranked[0], *(str(getattr(ranked[1], name)) for name in _NAMES)))
    return [row for _, row in rows]


_NAMES = ("rank_id", "device_id", "op_type", "op_name", "workload_args")


def _steps(before: Sequence[StepTimes], after: Sequence[StepTimes]) -> Iterator[StepDifference]:
    sides = [{(step.rank_id, step.device_id, step.workload): step for step in steps} for steps in (before, after)]
    for key in {**sides[0], **sides[1]}:
        was, became = (side.get(key) for side in sides)
        for part in PARTS:
            values = [getattr(side, f"{part}_ms", None) for side in (was, became)]
            if values != [None, None]:
                difference = _difference(values[0], values[1], 1, stored=None not in values)
                steps = [None if side is None else side.steps for side in (was, became)]
                yield StepDifference(*key, part, steps[0], steps[1], *difference)


@lru_cache(maxsize=64)
def keys_file(keys: tuple[tuple[Any, ...], ...]) -> tuple[str, bytes]:
    """The keys of a run's groups in a file named by its hash: runs of the same operators share it."""
    content = as_json(keys)
    name = hashlib.sha256(content).hexdigest()[:24]
    return name, b'aoeKeys("%s",%s);\n' % (name.encode(), _as_script(content))


def run_file(run: RunFacts, details: RunDetails, keys: str) -> bytes:
    """A run's numbers for `compare.js`: the name of its keys comes first."""
    steps = [
        [*(step.rank_id, step.device_id, step.workload, step.steps), *(getattr(step, f"{part}_ms") for part in PARTS)]
        for step in details.steps
    ]
    named = {
        "run": run.run_id,
        "night": run.night,
        "model": run.model,
        "path": run.path,
        "facts": run.facts,
        "steps": steps,
    }
    comparison = {
        **_text(named),
        "counts": details.groups.counts,
        "totals_ns": details.groups.totals_ns,
        "untimed": details.untimed,
    }
    name = file_name(run.run_id)
    return b'aoeRun("%s","%s",%s);\n' % (keys.encode(), name.encode(), _as_script(as_json(comparison)))


KEYS_AT = slice(8, 32)
"""Where a run's file names its keys."""


def list_file(runs: Sequence[RunFacts]) -> bytes:
    """The runs that can be chosen, the newest first."""
    comparisons = [
        [file_name(run.run_id), run.night, run.model, run.run_id] for run in reversed(runs) if not run.is_tuning
    ]
    return b"aoeRuns(%s);\n" % _as_script(as_json(_text(comparisons)))


def _as_script(content: bytes) -> bytes:
    return (
        content.replace(b"<", b"\\u003c").replace("\u2028".encode(), b"\\u2028").replace("\u2029".encode(), b"\\u2029")
    )


def _text(value: Any) -> Any:
    """Names as pages show them: control characters spelled out."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {key: _text(inner) for key, inner in value.items()}
    return [_text(inner) for inner in value] if isinstance(value, list) else value


_SCRIPT: Mapping[str, str] = N_(
    {
        "baseline": "Baseline",
        "candidate": "Candidate",
        "part": "Component",
        "what": "Item",
        "difference_ms_c": "Difference (ms)",
        "difference_us_c": "Difference (us)",
        "ratio": "Ratio",
        "baseline_ms": "Baseline (ms)",
        "candidate_ms": "Candidate (ms)",
        "baseline_us": "Baseline (us)",
        "candidate_us": "Candidate (us)",
        "side": "Side",
        "both_sides": "both",
        "only_baseline": "baseline only",
        "only_candidate": "candidate only",
        "compare_op_type": "Operator types",
        "compare_op": "Operators",
        "compare_communication": "Communication",
        "part_step": "a step",
        "part_computing": "computing",
        "part_communication": "communication, not overlapped",
        "part_free": "free",
        "rank": "Rank",
        "device": "Device",
        "fact": "Fact",
        "steps": "Step breakdown",
        "compare_metadata": "Other differences",
        "compare_same": "No stored fact about the two runs differs.",
        "compare_sums": "The {shown} largest differences of {count}; in all {baseline} us became {candidate} us ({difference} us).",
        "choose": "Compare",
        "chosen_missing": "One of these runs is not in this folder.",
        "of_steps": "mean, steps: {count}",
        "tasks_of": "tasks: {count}",
        "untimed": (
            "Records without a total, not shown in any table: {baseline} in the baseline, {candidate} in the candidate."
        ),
        "scroll": "{what}: scrolls horizontally",
        "not_stored": "not stored",
        "not_comparable": "These two runs are not comparable.",
        "not_comparable_about": (
            "The command line refuses to compare them. The differences below may come from "
            "how the runs were measured and not from the model."
        ),
        "compare_one_side": "The {shown} largest of {count}. In all (us), baseline: {baseline}; candidate: {candidate}.",
        "fact_differs": "{fact}: {baseline} in the baseline, {candidate} in the candidate",
        "records_missing_baseline": "No operator records of the baseline are stored; the candidate has {count}",
        "records_missing_candidate": "No operator records of the candidate are stored; the baseline has {count}",
        "fact_steps": "Different number of steps",
        "fact_ranks": "Different ranks",
        "fact_hardware": "Different hardware",
        "fact_engine_version": "Different engine version",
        "fact_profiler_level": "Different profiler level",
        "fact_aic_metrics": "Different set of AI Core metrics",
    }
)
"""What the page that compares any two runs says, by the names that its script has for it; both kinds of pages say the same."""


def comparison_page(comparison: RunComparison, text: Texts) -> Content:
    """The page of a pair, and its JSON: difference = candidate - baseline, ratio = candidate / baseline."""
    pair = comparison.pair
    untimed = text(
        "Records without a total, not shown in any table: {baseline} in the baseline, {candidate} in the candidate.",
        **comparison.untimed,
    )
    page: Context = {
        "title": text(
            "{model}, {night} compared with its baseline", model=pair.candidate.model, night=pair.candidate.night
        ),
        "about": about_baseline(pair, text),
        "reasons": [_reason(reason, text) for reason in comparison.not_comparable],
        "sides": [
            (name, f"{run.night} · {run.run_id}", f"runs/{file_name(run.run_id)}.html")
            for name, run in ((text("Baseline"), pair.baseline), (text("Candidate"), pair.candidate))
        ],
        "steps": Table(_columns(text("Component"), text, "ms"), [_step_cells(row, text) for row in comparison.steps]),
        "tables": [
            _table(scope, rows, comparison.totals[scope], text) for scope, rows in comparison.tables.items() if rows
        ],
        "differences": Table(
            [(text("Fact"), "text"), (text("Baseline"), "text"), (text("Candidate"), "text")],
            [
                [head(text.fact(difference.fact)), cell(difference.baseline), cell(difference.candidate)]
                for difference in comparison.metadata_differences
            ],
        ),
        "untimed": untimed if any(comparison.untimed.values()) else "",
    }
    return page, {
        "baseline": pair.baseline.run_id,
        "candidate": pair.candidate.run_id,
        "why": pair.why,
        "not_comparable": comparison.not_comparable,
        "steps": comparison.steps,
        **{f"{scope}_rows": rows for scope, rows in comparison.tables.items()},
        "totals": comparison.totals,
        "untimed": comparison.untimed,
        "metadata_differences": comparison.metadata_differences,
    }


def about_baseline(pair: Pair, text: Texts) -> str:
    """What the baseline is; the night before has its date where it is not the day before."""
    if pair.why == "segment":
        return text(
            "The baseline is the last run before the model's step changed, of the night {night}.",
            night=pair.baseline.night,
        )
    night = pair.baseline.night
    before = (date.fromisoformat(pair.candidate.night) - timedelta(days=1)).isoformat()
    return text(
        "The baseline is the night before, {night}: the model's step has not changed in the watched nights."
        if night == before
        else "The baseline is the last night before with a run, {night}: the model's step has not changed in the watched nights.",
        night=night,
    )


def _reason(reason: FactDifference, text: Texts) -> str:
    was, became = reason.baseline, reason.candidate
    if reason.fact == "operator_records":
        missing = "records_missing_candidate" if was else "records_missing_baseline"
        return text(_SCRIPT[missing], count=was or became)
    fact = text(_SCRIPT[f"fact_{reason.fact}"])
    return text(
        "{fact}: {baseline} in the baseline, {candidate} in the candidate", fact=fact, baseline=was, candidate=became
    )


def _columns(first: str, text: Texts, unit: str) -> Columns:
    names = (f"difference_{unit}_c", "ratio", f"baseline_{unit}", f"candidate_{unit}")
    return [(first, "text"), *((text(_SCRIPT[name]), "number") for name in names)]


def _step_cells(row: StepDifference, text: Texts) -> list[str]:
    steps = [
        None if count is None else text("mean, steps: {count}", count=count)
        for count in (row.baseline_steps, row.candidate_steps)
    ]
    return [
        head(text(_SCRIPT[f"part_{row.part}"]), None, text.place(row.rank_id, row.device_id)),
        cell(_signed(row.difference_ms), "ms"),
        _ratio(row.ratio),
        cell(row.baseline_ms, "ms", steps[0]),
        cell(row.candidate_ms, "ms", steps[1]),
    ]


def _signed(difference: float | None) -> str | None:
    return None if difference is None else f"{difference:+,.3f}"


def _ratio(ratio: float | None) -> str:
    return changed(None) if ratio is None else cell(ratio, "ratio")


def _table(scope: str, rows: Sequence[GroupDifference], total: ScopeTotal, text: Texts) -> Table:
    sums = (total.baseline_total_us, total.candidate_total_us)
    baseline, candidate = (text("not stored") if value is None else show(value, "us") for value in sums)
    said = text(
        "The {shown} largest of {count}. In all (us), baseline: {baseline}; candidate: {candidate}."
        if total.difference_us is None
        else "The {shown} largest differences of {count}; in all {baseline} us became {candidate} us ({difference} us).",
        shown=min(SHOWN_ROWS, len(rows)),
        count=len(rows),
        baseline=baseline,
        candidate=candidate,
        difference=_signed(total.difference_us),
    )
    columns = [*_columns(text("Item"), text, "us"), (text("Side"), "text")]
    cells = [_row_cells(row, text) for row in rows[:SHOWN_ROWS]]
    return Table(columns, cells, said, text(_SCRIPT[f"compare_{scope}"]))


def _row_cells(row: GroupDifference, text: Texts) -> list[str]:
    rank = None if row.rank_id is None else f"{text('Rank')} {row.rank_id}"
    about = (row.op_type if row.op_name else None, rank, *map(row.workload_args.get, ("task_type", "input_shapes")))
    counts = [
        None if count is None else text("tasks: {count}", count=count)
        for count in (row.baseline_count, row.candidate_count)
    ]
    return [
        head(row.op_name or row.op_type or "?", None, " · ".join(str(part) for part in about if part)),
        cell(_signed(row.difference_us), "us"),
        _ratio(row.ratio),
        cell(row.baseline_total_us, "us", counts[0]),
        cell(row.candidate_total_us, "us", counts[1]),
        cell(text("both")) if row.side == "both" else stated("suspect", text(_SCRIPT[f"only_{row.side}"])),
    ]


def chooser_page(facts: StoreFacts, text: Texts) -> Content:
    """The page, with the prebuilt comparisons, and its JSON."""
    pairs = pairs_of(facts)
    columns: Columns = [(name, "text") for name in (text("Model"), text("Candidate"), text("Baseline"), text("Why"))]
    texts = as_json({**{key: text(said) for key, said in _SCRIPT.items()}, "must_match": MUST_MATCH})
    rows = [
        [
            head(model, f"{page_of(model)}.html"),
            cell(pair.candidate.night, "text", pair.candidate.run_id),
            cell(pair.baseline.night, "text", pair.baseline.run_id),
            cell(about_baseline(pair, text)),
        ]
        for model, pair in pairs.items()
    ]
    page = {"title": text("Compare two runs"), "models": Table(columns, rows), "texts": _as_script(texts).decode()}
    return page, {
        "rows": [
            {
                "workload": model,
                "baseline": pair.baseline.run_id,
                "candidate": pair.candidate.run_id,
                "why": pair.why,
                "page": f"{page_of(model)}.html",
            }
            for model, pair in pairs.items()
        ]
    }
