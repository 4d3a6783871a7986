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
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.changes import MIN_STEP_SHARE, is_small
from aoe_reports.model.history.runs import STEP_PARTS, StepTimes
from aoe_reports.model.pictures.waterfall import BAR_WORDS
from aoe_reports.model.rank_spread import middle_of
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import N_
from aoe_reports.model.time_units import MAX_SPAN, times_in_one_unit
from aoe_reports.present.drawings.waterfall import ROOM
from aoe_reports.present.values import plain, show
from aoe_reports.site.amounts import TimeColumn, effect_cell, in_own_unit
from aoe_reports.site.as_json import as_script
from aoe_reports.site.bars import waterfall_figure
from aoe_reports.site.cells import Columns, Table, cell, head, stated
from aoe_reports.site.pages.changes import (
    CAUSE_WORDS,
    OTHERS_WORDS,
    ROUNDING_NS,
    SHOWN_PARTS,
    WHOLE_WORDS,
    StepChange,
    cause_of,
    change_of,
    has_picture,
    is_of,
    name_of,
    per_step,
    picture_of,
)
from aoe_reports.site.places import file_name
from aoe_reports.site.render import Content, Context
from aoe_reports.site.texts import PART_WORDS, Texts

SHOWN_ROWS = 50
"""Rows of a table, the largest difference first: its JSON has all."""
NAMED_PARTS = 3
"""So many parts of a difference are in the sentence above it."""
SCOPES = ("op_type", "op", "communication")
PARTS = ("step", *STEP_PARTS)
MUST_MATCH = {
    "hardware": "hardware",
    "engine_version": "engine_version",
    "profiler_level": "runtime_config.profiler_level",
    "aic_metrics": "runtime_config.aic_metrics",
}
"""Facts of a run, by short names, that have to be equal for `compare` where both sides have them."""


Why = Literal["segment", "suspect", "incident", "night"]
"""The baseline is the last run before the newest change of the model's step, before its step became suspect, before the newest
open incident of the model, or, as nothing changed, of the last night before."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The newest run of a model and its baseline."""

    baseline: RunFacts
    candidate: RunFacts
    why: Why
    since: str | None = None
    """The night since which the candidate differs from the baseline, as far as that is known."""
    series: str | None = None
    """The series of a step whose page has the breakdown of that change over all nights."""
    incident: str | None = None
    """The title of the incident."""


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
            newest = runs[-1]
            pairs[model] = (
                _since_change(newest, facts)
                or _since_incident(newest, prior, facts)
                or Pair(prior[-1], newest, "night")
            )
    return pairs


def _since_change(newest: RunFacts, facts: StoreFacts) -> Pair | None:
    """With the last run before the newest change of the model's step; None where nothing changed, or the run is not stored."""
    step = facts.slowest_of(newest.model)
    if step is None:
        return None
    is_suspect = step.row.state == "suspect"
    starts = [shift.start for shift in step.shifts if shift.start and (shift.state != "suspect" or is_suspect)]
    before = facts.by_id.get(step.runs[starts[-1] - 1]) if starts else None
    if before is None:
        return None
    series = step.id if step.has_page and step.row.attribution else None
    return Pair(before, newest, "suspect" if is_suspect else "segment", step.nights[starts[-1]], series)


def _since_incident(newest: RunFacts, prior: Sequence[RunFacts], facts: StoreFacts) -> Pair | None:
    """With the last run before the newest open incident of the model; None where there is none."""
    incidents = [
        incident
        for incident in facts.incidents.values()
        if incident.open and any(member.open and member.model == newest.model for member in incident.members)
    ]
    last = max(incidents, key=lambda incident: (incident.since, incident.incident), default=None)
    before = [run for run in prior if last is not None and run.night < last.since]
    return Pair(before[-1], newest, "incident", last.since, incident=last.title) if last and before else None


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
    step_share: float | None
    """The difference as a share of the step of the baseline."""


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
    baseline_steps: int | None
    candidate_steps: int | None
    """Of the device: a step takes that part of the total."""
    step_share: float | None
    """The difference of one step as a share of the step of the baseline."""
    cause: str | None

    @property
    def per_step(self) -> bool:
        """Whether it is known what it takes of a step."""
        return bool(self.baseline_steps and self.candidate_steps)

    def sides_ns(self, *, per_step: bool) -> list[float | None]:
        """What it takes on both sides, of a step or in all."""
        totals = ((self.baseline_total_us, self.baseline_steps), (self.candidate_total_us, self.candidate_steps))
        return [
            None if total_us is None else round(total_us * 1000) / ((steps or 1) if per_step else 1)
            for total_us, steps in totals
        ]


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
    change: StepChange | None

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
        {scope: _groups(*totals, StepsOf(before.steps, after.steps)) for scope, totals in sides.items()},
        {scope: _total(*totals) for scope, totals in sides.items()},
        {"baseline": before.untimed, "candidate": after.untimed},
        change_of(before, after),
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


class StepsOf:
    """The mean steps of both runs on the device of tasks."""

    def __init__(self, before: Sequence[StepTimes], after: Sequence[StepTimes]) -> None:
        self._sides = [lists_by_key((step.rank_id, step) for step in side) for side in (before, after)]
        self._medians = [_median_step(side) for side in (before, after)]
        self._known: dict[tuple[int | None, int | None], tuple[StepTimes, StepTimes] | None] = {}

    def __call__(self, rank: int | None, device: int | None) -> tuple[StepTimes, StepTimes] | None:
        """None where one side has none, or several."""
        if (rank, device) not in self._known:
            was, became = (
                _step_on(side.get(rank, []), median, rank, device)
                for side, median in zip(self._sides, self._medians, strict=True)
            )
            both = was is not None and became is not None and was.steps and became.steps and was.step_ms
            self._known[rank, device] = (was, became) if both and was and became else None
        return self._known[rank, device]


def _step_on(
    of_rank: Sequence[StepTimes], median: StepTimes | None, rank: int | None, device: int | None
) -> StepTimes | None:
    """The step of a device, among those of its rank; what is of all ranks of a run of many is of the median one."""
    same = [step for step in of_rank if is_of((step.rank_id, step.device_id), rank, device)]
    if len(same) == 1:
        return same[0]
    return median if rank is None and not same else None


def _median_step(steps: Sequence[StepTimes]) -> StepTimes | None:
    timed = sorted((step for step in steps if step.step_ms), key=lambda step: step.step_ms or 0.0)
    return middle_of(timed) if timed else None


def _groups(before: Totals, after: Totals, steps_of: StepsOf) -> list[GroupDifference]:
    """The differences of all groups, those with the largest effect on the step first."""
    rows = []
    for key in {**before, **after}:
        was, became = before.get(key), after.get(key)
        _, rank, device, op_type, op_name, arguments = key
        known_args = object_in({"workload_args": arguments}, "workload_args")
        side: Side = "candidate" if was is None else "baseline" if became is None else "both"
        stored = bool(before and after)
        values = _difference(was and was[1], became and became[1], 1000, stored=stored)
        counts = was and was[0], became and became[0]
        steps, share, cause = _effect_of_calls(was, became, steps_of(rank, device) if stored else None)
        names = rank, device, op_type, op_name, known_args, side
        rows.append(GroupDifference(*names, *counts, *values, *steps, share, cause))
    rows.sort(
        key=lambda row: (
            -abs(row.step_share or 0),
            -abs(row.difference_us or 0),
            *(str(getattr(row, name)) for name in _NAMES),
        )
    )
    return rows


Call = tuple[int | None, int] | None


def _effect_of_calls(
    was: Call, became: Call, steps: tuple[StepTimes, StepTimes] | None
) -> tuple[tuple[int | None, int | None], float | None, str | None]:
    """(steps of both sides, share of the step, cause) of a difference."""
    if steps is None:
        return (None, None), None, cause_of(per_step(was, 1), per_step(became, 1))
    counts = steps[0].steps or 1, steps[1].steps or 1
    before, after = per_step(was, counts[0]), per_step(became, counts[1])
    difference = (after[1] if after else 0) - (before[1] if before else 0)
    return counts, difference / ((steps[0].step_ms or 0) * 1e6), cause_of(before, after)


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
                step_ms = was.step_ms if was else None
                share = difference[2] / step_ms if difference[2] is not None and step_ms else None
                yield StepDifference(*key, part, steps[0], steps[1], *difference, share)


@lru_cache(maxsize=64)
def keys_file(keys: tuple[tuple[Any, ...], ...]) -> tuple[str, bytes]:
    """The keys of a run's groups in a file named by its hash: runs of the same operators share it."""
    content = as_script(keys).encode()
    name = hashlib.sha256(content).hexdigest()[:24]
    return name, b'aoeKeys("%s",%s);\n' % (name.encode(), content)


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
    return b'aoeRun("%s","%s",%s);\n' % (keys.encode(), name.encode(), as_script(comparison).encode())


KEYS_AT = slice(8, 32)
"""Where a run's file names its keys."""


def list_file(runs: Sequence[RunFacts]) -> bytes:
    """The runs that can be chosen, the newest first."""
    comparisons = [
        [file_name(run.run_id), run.night, run.model, run.run_id] for run in reversed(runs) if not run.is_tuning
    ]
    return b"aoeRuns(%s);\n" % as_script(_text(comparisons)).encode()


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
        "effect": "Effect on step",
        "change": "Change",
        "difference": "Difference",
        "difference_step": "Difference, per step",
        "baseline_step": "Baseline, per step",
        "candidate_step": "Candidate, per step",
        "cause": "Cause",
        "only_baseline": "baseline only",
        "only_candidate": "candidate only",
        "change_slower": "A step{where} takes {after} instead of {before}: {change}, slower.",
        "change_faster": "A step{where} takes {after} instead of {before}: {change}, faster.",
        "change_same": "A step{where} takes {after} instead of {before}: {change}, the same within {floor}.",
        "change_tasks": "No step is stored on both sides; all compute tasks{where} take {after} instead of {before}: {change}.",
        "change_other_steps": (
            "The two runs have no step in common; all compute tasks{where} take {after} instead of {before}: {change}."
        ),
        "change_none": "The two runs have neither a step nor compute tasks in common.",
        "of_place": " of {place}",
        "largest_parts": "Largest parts: {parts}.",
        "waterfall": "What the difference consists of",
        "axis": "bars begin at {time}",
        "before_bar": "before",
        "after_bar": "after",
        "named_cause": "{name}: {cause}",
        **{f"whole_{kind}": words for kind, words in WHOLE_WORDS.items()},
        **{f"bar_{kind}": words for kind, words in BAR_WORDS["ns"].items()},
        "all_ranks": "All ranks",
        "compare_op_type": "Operator types",
        "compare_op": "Operators",
        "compare_communication": "Communication",
        "part_step": "a step",
        **{f"part_{part}": words for part, words in {**PART_WORDS, **OTHERS_WORDS}.items()},
        **{f"cause_{cause}": words for cause, words in CAUSE_WORDS.items()},
        "model": "Model",
        "rank": "Rank",
        "device": "Device",
        "fact": "Fact",
        "steps": "Step breakdown",
        "compare_metadata": "Other differences",
        "compare_same": "No stored fact about the two runs differs.",
        "compare_sums": "The {shown} largest differences of {count}; in all {baseline} became {candidate} ({difference}).",
        "choose": "Compare",
        "chosen_missing": "One of these runs is not in this folder.",
        "of_steps": "mean, steps: {count}",
        "tasks_of": "tasks: {count}",
        "untimed": (
            "Records without a total, not shown in any table: {baseline} in the baseline, {candidate} in the candidate."
        ),
        "scroll": "{what}: scrolls horizontally",
        "not_stored": "not stored",
        "other_models": (
            "These two runs are of different models: their steps and operators are not the same work, so the differences "
            "below do not add up."
        ),
        "no_steps": "No step of this run is stored.",
        "about_difference": "A difference is candidate - baseline: above 0 is slower.",
        "not_comparable": "These two runs are not comparable.",
        "not_comparable_about": (
            "The command line refuses to compare them. The differences below may come from "
            "how the runs were measured and not from the model."
        ),
        "compare_one_side": "The {shown} largest of {count}. In all, baseline: {baseline}; candidate: {candidate}.",
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
    pair, change = comparison.pair, comparison.change
    untimed = text(_SCRIPT["untimed"], **comparison.untimed)
    first = [
        row
        for row in comparison.steps
        if change is None or (row.rank_id, row.device_id) == (change.rank_id, change.device_id)
    ]
    page: Context = {
        "title": text(
            "{model}, {night} compared with its baseline", model=pair.candidate.model, night=pair.candidate.night
        ),
        "about": about_baseline(pair, text),
        "levels": pair.why in {"segment", "suspect"},
        "said": _change_words(comparison, text),
        "over_nights": f"series/{file_name(pair.series)}.html" if pair.series else "",
        "waterfall": None if change is None or not has_picture(change) else waterfall_figure(picture_of(change), text),
        "reasons": [_reason(reason, text) for reason in comparison.not_comparable],
        "sides": [
            (name, f"{run.night} · {run.run_id}", f"runs/{file_name(run.run_id)}.html")
            for name, run in ((text("Baseline"), pair.baseline), (text("Candidate"), pair.candidate))
        ],
        "words": {key: text(words) for key, words in _SCRIPT.items()},
        "steps": _steps_table(first, change, text),
        "all_steps": _steps_table(comparison.steps if len(first) < len(comparison.steps) else [], change, text),
        "tables": [_table(scope, rows, comparison, text) for scope, rows in comparison.tables.items() if rows],
        "differences": Table(
            [(text("Fact"), "text"), (text("Baseline"), "text"), (text("Candidate"), "text")],
            [
                [head(text.fact(difference.fact)), cell(difference.baseline), cell(difference.candidate)]
                for difference in comparison.metadata_differences
            ],
            stacks=True,
        ),
        "untimed": untimed if any(comparison.untimed.values()) else "",
    }
    return page, {
        "baseline": pair.baseline.run_id,
        "candidate": pair.candidate.run_id,
        "why": pair.why,
        "step_series": pair.series,
        "not_comparable": comparison.not_comparable,
        "change": change,
        "steps": comparison.steps,
        **{f"{scope}_rows": rows for scope, rows in comparison.tables.items()},
        "totals": comparison.totals,
        "untimed": comparison.untimed,
        "metadata_differences": comparison.metadata_differences,
    }


def _change_words(comparison: RunComparison, text: Texts) -> str:
    """How much the step differs, and the largest parts of that."""
    change = comparison.change
    if change is None:
        return text(_SCRIPT["change_none"])
    (before, after), unit = times_in_one_unit(change.before_ns, change.after_ns)
    several = len({(row.rank_id, row.device_id) for row in comparison.steps}) > 1
    place = text.place(change.rank_id, change.device_id) if several else ""
    said = text(
        _SCRIPT[f"change_{_kind_of(change)}"],
        where=text(_SCRIPT["of_place"], place=place) if place else "",
        before=f"{before} {unit}",
        after=f"{after} {unit}",
        change=signed_percent(change.share),
        floor=show(MIN_STEP_SHARE, "percent"),
    )
    parts = [] if change.is_same else [part for part in change.parts if not change.is_minor(part)]
    largest = sorted(parts, key=lambda part: -abs(part.difference_ns))[:NAMED_PARTS]
    named = [
        f"{text.translated(name_of(change, part))} {in_own_unit(part.difference_ns, 'ns', signed=True)}"
        for part in largest
    ]
    if not named:
        return said
    return text.joined(" ", (said, text(_SCRIPT["largest_parts"], parts=text.joined(", ", named))))


def _kind_of(change: StepChange) -> str:
    if not change.of_step:
        return "other_steps" if change.has_steps else "tasks"
    if change.is_same:
        return "same"
    return "slower" if change.share > 0 else "faster"


def about_baseline(pair: Pair, text: Texts) -> str:
    """What the baseline is, and why; the night before has its date where it is not the day before."""
    night = pair.baseline.night
    if pair.why == "segment":
        return text(
            "The baseline is the last run before the model's step changed, of the night {night}.",
            night=night,
        )
    if pair.why == "suspect":
        return text(
            "The baseline is the last run before {since}, since when the model's step is suspected to have changed, of "
            "the night {night}: more nights must confirm it.",
            since=pair.since,
            night=night,
        )
    if pair.why == "incident":
        return text(
            "The baseline is the last run before the newest open incident of the model ({incident}, since {since}), of "
            "the night {night}: the model's step has not changed in the watched nights.",
            incident=text.translated(pair.incident),
            since=pair.since,
            night=night,
        )
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
    return text(_SCRIPT["fact_differs"], fact=fact, baseline=was, candidate=became)


def _effect(share: float | None, change: StepChange | None) -> float | None:
    """The effect on the step by which a difference has its colour: none where the step is the same."""
    return 0.0 if change is not None and change.is_same else share


def _steps_table(rows: Sequence[StepDifference], change: StepChange | None, text: Texts) -> Table:
    """The parts of steps, every device by itself."""
    sides = [[None if ms is None else ms * 1e6 for ms in (row.baseline_ms, row.candidate_ms)] for row in rows]
    differing = [None if row.difference_ms is None else _between(*side) for row, side in zip(rows, sides, strict=True)]
    times, differences = TimeColumn.of("ns", (ns for side in sides for ns in side)), TimeColumn.of("ns", differing)
    columns: Columns = [
        (text(_SCRIPT["part"]), "text"), (text(_SCRIPT["effect"]), "number"), differences.title(text(_SCRIPT["difference"])),
        (text(_SCRIPT["change"]), "number"), times.title(text(_SCRIPT["baseline"])), times.title(text(_SCRIPT["candidate"])),
    ]  # fmt: skip
    cells = []
    for row, (before, after), difference in zip(rows, sides, differing, strict=True):
        effect = _effect(row.step_share, change)
        steps = [
            None if count is None else text(_SCRIPT["of_steps"], count=count)
            for count in (row.baseline_steps, row.candidate_steps)
        ]
        cells.append(
            [
                head(text(_SCRIPT[f"part_{row.part}"]), None, text.place(row.rank_id, row.device_id)),
                effect_cell(row.step_share, effect),
                differences.cell(difference, signed=True),
                effect_cell(_change(before, after), effect),
                times.cell(before, steps[0]),
                times.cell(after, steps[1]),
            ]
        )
    return Table(columns, cells, stacks=True)


def _between(before: float | None, after: float | None) -> float:
    """What is on one side only differs by the whole of it."""
    return (after or 0) - (before or 0)


def _change(before: float | None, after: float | None) -> float | None:
    return after / before - 1 if before and after is not None else None


def _table(scope: str, rows: Sequence[GroupDifference], comparison: RunComparison, text: Texts) -> Table:
    """The groups of a scope, by their effect on the step."""
    shown, total = rows[:SHOWN_ROWS], comparison.totals[scope]
    sums = (total.baseline_total_us, total.candidate_total_us)
    baseline, candidate = (text(_SCRIPT["not_stored"]) if us is None else in_own_unit(us, "us") for us in sums)
    said = text(
        _SCRIPT["compare_one_side" if total.difference_us is None else "compare_sums"],
        shown=len(shown),
        count=len(rows),
        baseline=baseline,
        candidate=candidate,
        difference=in_own_unit(total.difference_us or 0, "us", signed=True),
    )
    every = all(row.per_step for row in shown)
    of_step = "_step" if every else ""
    sides = [row.sides_ns(per_step=every) for row in shown]
    differing = [None if row.difference_us is None else _between(*side) for row, side in zip(shown, sides, strict=True)]
    times, differences = TimeColumn.of("ns", (ns for side in sides for ns in side)), TimeColumn.of("ns", differing)
    columns: Columns = [
        (text(_SCRIPT["what"]), "text"), *([(text(_SCRIPT["effect"]), "number")] if every else []),
        differences.title(text(_SCRIPT[f"difference{of_step}"])), (text(_SCRIPT["change"]), "number"),
        times.title(text(_SCRIPT[f"baseline{of_step}"])), times.title(text(_SCRIPT[f"candidate{of_step}"])),
        (text(_SCRIPT["cause"]), "text"),
    ]  # fmt: skip
    cells = []
    for row, (before, after), difference in zip(shown, sides, differing, strict=True):
        effect = _effect(row.step_share, comparison.change)
        counts = [
            None if count is None else text(_SCRIPT["tasks_of"], count=count)
            for count in (row.baseline_count, row.candidate_count)
        ]
        cells.append(
            [
                _group_head(row, text),
                *([effect_cell(row.step_share, effect)] if every else []),
                differences.cell(difference, signed=True),
                effect_cell(_change(before, after), effect),
                times.cell(before, counts[0]),
                times.cell(after, counts[1]),
                cell(None if row.cause is None or is_small(effect) else text(_SCRIPT[f"cause_{row.cause}"]))
                if row.side == "both"
                else stated("suspect", text(_SCRIPT[f"only_{row.side}"])),
            ]
        )
    return Table(columns, cells, said, text(_SCRIPT[f"compare_{scope}"]), stacks=True)


def _group_head(row: GroupDifference, text: Texts) -> str:
    """Its name, below it the type where that is another word, where it ran, and what it worked on."""
    name = row.op_name or row.op_type or "?"
    about = (
        row.op_type if row.op_type != name else None,
        text.place(row.rank_id, None),
        *map(row.workload_args.get, ("task_type", "input_shapes")),
    )
    return head(name, None, " · ".join(str(part) for part in about if part))


def chooser_page(facts: StoreFacts, text: Texts) -> Content:
    """The page, with the prebuilt comparisons, and its JSON."""
    pairs = pairs_of(facts)
    columns: Columns = [(name, "text") for name in (text("Model"), text("Candidate"), text("Baseline"), text("Why"))]
    newest = max(pairs.values(), key=lambda pair: (pair.candidate.night, pair.candidate.timestamp_ns), default=None)
    texts = as_script(
        {
            **{key: text(said) for key, said in _SCRIPT.items()},
            "must_match": MUST_MATCH,
            "numbers": {
                "floor": MIN_STEP_SHARE,
                "room": ROOM,
                "parts": SHOWN_PARTS,
                "named": NAMED_PARTS,
                "max_span": MAX_SPAN,
                "rounding": ROUNDING_NS,
            },
            "separators": [text.joined(separator, ("", "")) for separator in (", ", " ")],
            "preselected": [file_name(run.run_id) for run in (newest.baseline, newest.candidate)] if newest else [],
        }
    )
    rows = [
        [
            head(model, f"{page_of(model)}.html"),
            cell(pair.candidate.night, "text", pair.candidate.run_id),
            cell(pair.baseline.night, "text", pair.baseline.run_id),
            cell(about_baseline(pair, text)),
        ]
        for model, pair in pairs.items()
    ]
    page = {"title": text("Compare two runs"), "models": Table(columns, rows, stacks=True), "texts": texts}
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
