"""Two runs against each other: step parts, operator types, operators, what is known of how they ran.

`assets/compare.js` does the same for any two runs, from the data files of runs that this module writes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import orjson

from aoe_reports.formats.records.payloads import object_in
from aoe_reports.history.site_facts import Groups, Row, RunDetails, RunFacts, StoreFacts
from aoe_reports.model.texts import N_
from aoe_reports.present.values import plain, show
from aoe_reports.site.cells import Columns, cell, changed, head, stated
from aoe_reports.site.overview import slowest_of
from aoe_reports.site.places import file_name
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
"""Facts of a run, by short names, that `compare` wants to be the same where both sides tell them."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The newest run of a model and what it is held against."""

    baseline: RunFacts
    candidate: RunFacts
    why: str
    """`segment`: the last run before the newest change of the model's step; `night`: the last night before, as nothing changed."""


def pairs_of(facts: StoreFacts) -> dict[str, Pair]:
    """Per model, by name: its newest whole run, and the run that tells most beside it."""
    found = {}
    for model in sorted({run.model for run in facts.runs}):
        runs = [run for run in facts.runs if run.model == model and run.kind != "tuning" and run.status != "incomplete"]
        prior = [run for run in runs if run.night < runs[-1].night]
        if not prior:
            continue
        pair = Pair(prior[-1], runs[-1], "night")
        step = slowest_of(model, facts)
        shifts = (
            [shift for shift in step.shifts if shift.state != "suspect" and shift.start] if step is not None else []
        )
        if step is not None and shifts and (run := facts.by_id.get(step.runs[shifts[-1].start - 1])):
            pair = Pair(run, runs[-1], "segment")
        found[model] = pair
    return found


def page_of(model: str) -> str:
    """The file of a model's prebuilt comparison, without its ending."""
    return f"compare-{file_name(model)}"


def compare_runs(pair: Pair, before: RunDetails, after: RunDetails) -> dict[str, Any]:
    """Difference = candidate - baseline, ratio = candidate / baseline; what only one side has is a row of its own."""
    tables = {scope: _groups(before.groups, after.groups, scope) for scope in SCOPES}
    totals = {}
    for scope, rows in tables.items():
        sums = []
        for side in (before, after):
            of_side = _of_scope(side.groups, scope).values()
            sums.append(sum(total for _, total in of_side) if of_side else None)
        totals[scope] = {"groups": len(rows), **_difference(sums[0], sums[1], 1000, "total_us")}
        if None in sums:  # nothing is known of a side: that is no difference
            totals[scope]["difference_us"] = None
    return {
        "baseline": pair.baseline.run_id,
        "candidate": pair.candidate.run_id,
        "why": pair.why,
        "not_comparable": list(_not_comparable(pair, before, after)),
        "steps": list(_steps(before.steps, after.steps)),
        **{f"{scope}_rows": rows for scope, rows in tables.items()},
        "totals": totals,
        "untimed": {"baseline": before.untimed, "candidate": after.untimed},
        "metadata_differences": [
            {"fact": name, "baseline": was, "candidate": became}
            for name in sorted({*pair.baseline.facts, *pair.candidate.facts})
            if (was := pair.baseline.facts.get(name)) != (became := pair.candidate.facts.get(name))
        ],
    }


def _not_comparable(pair: Pair, before: RunDetails, after: RunDetails) -> Iterator[dict[str, Any]]:
    """Why `compare` would refuse these two, with the facts of both sides; what a side does not tell is no reason."""
    told = [
        {
            **{name: side.facts.get(key) for name, key in MUST_MATCH.items()},
            "steps": max((step["steps"] for step in details.steps if step["steps"]), default=None),
            "ranks": ", ".join(sorted({"?" if key[1] is None else str(key[1]) for key in details.groups.keys})) or None,
        }
        for side, details in ((pair.baseline, before), (pair.candidate, after))
    ]
    for name in told[0]:
        was, became = (side[name] for side in told)
        if was != became and not {was, became} & {None, "unknown"}:
            yield {"fact": name, "baseline": was, "candidate": became}
    counts = [sum(key[0] in {"op_type", "op"} for key in details.groups.keys) for details in (before, after)]
    if 0 in counts and any(counts):
        yield {"fact": "operator_records", "baseline": counts[0], "candidate": counts[1]}


def _difference(before: float | None, after: float | None, scale: int, name: str) -> dict[str, Any]:
    """Both sides in another unit; of what stands on one side only the whole of it is the difference, and there is no ratio."""
    unit = name.rpartition("_")[2]
    return {
        f"baseline_{name}": None if before is None else before / scale,
        f"candidate_{name}": None if after is None else after / scale,
        f"difference_{unit}": ((after or 0) - (before or 0)) / scale,
        "ratio": after / before if before and after is not None else None,
    }


def _of_scope(groups: Groups, scope: str) -> dict[tuple[Any, ...], tuple[int | None, int]]:
    """(count, total in ns) by key."""
    known = zip(groups.keys, groups.counts, groups.totals_ns, strict=True)
    return {key: (count, total) for key, count, total in known if key[0] == scope}


def _groups(before: Groups, after: Groups, scope: str) -> list[dict[str, Any]]:
    sides = [_of_scope(groups, scope) for groups in (before, after)]
    stored = all(sides)
    rows = []
    for key in {**sides[0], **sides[1]}:
        was, became = sides[0].get(key), sides[1].get(key)
        _, rank, device, op_type, op_name, arguments = key
        rows.append(
            {
                "rank_id": rank,
                "device_id": device,
                "op_type": op_type,
                "op_name": op_name,
                "workload_args": object_in({"workload_args": arguments}, "workload_args"),
                "side": "both" if was and became else "baseline" if was else "candidate",
                "baseline_count": was[0] if was else None,
                "candidate_count": became[0] if became else None,
                **_difference(was[1] if was else None, became[1] if became else None, 1000, "total_us"),
            }
        )
    names = ("rank_id", "device_id", "op_type", "op_name", "workload_args")
    rows.sort(key=lambda row: (-abs(row["difference_us"]), *(str(row[name]) for name in names)))
    return rows if stored else [{**row, "difference_us": None} for row in rows]


def _steps(before: Sequence[Row], after: Sequence[Row]) -> Iterator[dict[str, Any]]:
    sides = [
        {(step["rank_id"], step["device_id"], step["workload"]): step for step in steps} for steps in (before, after)
    ]
    for key in {**sides[0], **sides[1]}:
        was, became = (side.get(key, {}) for side in sides)
        for part in PARTS:
            values = [side.get(f"{part}_ms") for side in (was, became)]
            if values != [None, None]:
                about = {"rank_id": key[0], "device_id": key[1], "workload": key[2], "part": part}
                counts = {"baseline_steps": was.get("steps"), "candidate_steps": became.get("steps")}
                row = {**about, **counts, **_difference(values[0], values[1], 1, "ms")}
                yield {**row, "difference_ms": None} if None in values else row  # a part that is not stored is no 0


@lru_cache(maxsize=64)
def keys_file(keys: tuple[tuple[Any, ...], ...]) -> tuple[str, bytes]:
    """What a run's groups are, under a name made of the content: runs of the same operators share the file."""
    content = orjson.dumps(keys)
    name = hashlib.sha256(content).hexdigest()[:24]
    return name, b'aoeKeys("%s",%s);\n' % (name.encode(), _as_script(content))


def run_file(run: RunFacts, details: RunDetails, keys: str) -> bytes:
    """A run's numbers for `compare.js`: the name of its keys comes first."""
    named = {
        "run": run.run_id,
        "night": run.night,
        "model": run.model,
        "path": run.path,
        "facts": run.facts,
        "steps": [
            [
                step["rank_id"],
                step["device_id"],
                step["workload"],
                step["steps"],
                *(step[f"{part}_ms"] for part in PARTS),
            ]
            for step in details.steps
        ],
    }
    told = {
        **_text(named),
        "counts": details.groups.counts,
        "totals_ns": details.groups.totals_ns,
        "untimed": details.untimed,
    }
    name = file_name(run.run_id)
    return b'aoeRun("%s","%s",%s);\n' % (keys.encode(), name.encode(), _as_script(orjson.dumps(told)))


KEYS_AT = slice(8, 32)
"""Where a run's file names its keys."""


def list_file(runs: Sequence[RunFacts]) -> bytes:
    """The runs that can be chosen, the newest first."""
    told = [[file_name(run.run_id), run.night, run.model, run.run_id] for run in reversed(runs) if run.kind != "tuning"]
    return b"aoeRuns(%s);\n" % _as_script(orjson.dumps(_text(told)))


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
        "part": "Part",
        "what": "What",
        "difference_ms_c": "Difference (ms)",
        "difference_us_c": "Difference (us)",
        "ratio": "Ratio",
        "baseline_ms": "Baseline (ms)",
        "candidate_ms": "Candidate (ms)",
        "baseline_us": "Baseline (us)",
        "candidate_us": "Candidate (us)",
        "side": "On which side",
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
        "steps": "What a step goes on",
        "compare_metadata": "What else differs",
        "compare_same": "Nothing that the store knows of the two runs differs.",
        "compare_sums": "The {shown} largest differences of {count}; in all {baseline} us became {candidate} us ({difference} us).",
        "choose": "Compare",
        "chosen_missing": "One of these runs is not in this folder.",
        "of_steps": "mean, steps: {count}",
        "tasks_of": "tasks: {count}",
        "untimed": "Records without a total, in no table: {baseline} in the baseline, {candidate} in the candidate.",
        "scroll": "{what}: scrolls sideways",
        "not_stored": "not stored",
        "not_comparable": "These two runs are not comparable.",
        "not_comparable_about": "The command line refuses to compare them. What follows may come from how they were measured and not from the model.",
        "compare_one_side": "The {shown} largest of {count}. In all (us), baseline: {baseline}; candidate: {candidate}.",
        "fact_differs": "{fact}: {baseline} in the baseline, {candidate} in the candidate",
        "records_missing_baseline": "No operator records of the baseline are stored; the candidate has {count}",
        "records_missing_candidate": "No operator records of the candidate are stored; the baseline has {count}",
        "fact_steps": "Other number of steps",
        "fact_ranks": "Other ranks",
        "fact_hardware": "Other hardware",
        "fact_engine_version": "Other version of the engine",
        "fact_profiler_level": "Other profiler level",
        "fact_aic_metrics": "Other set of AI Core metrics",
    }
)
"""What the page that compares any two runs says, by the names that its script has for it; both kinds of pages say the same."""


def comparison_page(pair: Pair, told: Mapping[str, Any], text: Texts) -> dict[str, Any]:
    """The context of a prebuilt comparison."""
    fact_columns: Columns = [(text("Fact"), "text"), (text("Baseline"), "text"), (text("Candidate"), "text")]
    return {
        "title": text("{model}, {night} against its baseline", model=pair.candidate.model, night=pair.candidate.night),
        "about": about_baseline(pair, text),
        "reasons": [_reason(reason, text) for reason in told["not_comparable"]],
        "sides": [
            (name, f"{run.night} · {run.run_id}", f"runs/{file_name(run.run_id)}.html")
            for name, run in ((text("Baseline"), pair.baseline), (text("Candidate"), pair.candidate))
        ],
        "step_columns": _columns((text("Part"),), text, "ms"),
        "steps": [_step_cells(row, text) for row in told["steps"]],
        "tables": [_table(scope, told, text) for scope in SCOPES if told[f"{scope}_rows"]],
        "fact_columns": fact_columns,
        "differences": [[head(text.fact(one["fact"])), cell(one["baseline"]), cell(one["candidate"])] for one in told["metadata_differences"]],
        "untimed": text("Records without a total, in no table: {baseline} in the baseline, {candidate} in the candidate.", **told["untimed"]) if any(told["untimed"].values()) else "",
    }  # fmt: skip


def about_baseline(pair: Pair, text: Texts) -> str:
    """What the baseline is; the night before has its date where it is not the day before."""
    if pair.why == "segment":
        return text(
            "The baseline is the last run before the model's step changed, of the night {night}.",
            night=pair.baseline.night,
        )
    before = (date.fromisoformat(pair.candidate.night) - timedelta(days=1)).isoformat()
    if pair.baseline.night == before:
        return text(
            "The baseline is the night before, {night}: the model's step has not changed in the watched nights.",
            night=before,
        )
    return text(
        "The baseline is the last night before with a run, {night}: the model's step has not changed in the watched nights.",
        night=pair.baseline.night,
    )


def _reason(reason: Mapping[str, Any], text: Texts) -> str:
    sides = {side: reason[side] for side in ("baseline", "candidate")}
    if reason["fact"] == "operator_records":
        missing = "records_missing_baseline" if not reason["baseline"] else "records_missing_candidate"
        return text(_SCRIPT[missing], count=max(sides.values()))
    return text(
        "{fact}: {baseline} in the baseline, {candidate} in the candidate",
        fact=text(_SCRIPT[f"fact_{reason['fact']}"]),
        **sides,
    )


def _columns(first: Sequence[str], text: Texts, unit: str) -> Columns:
    names = (f"difference_{unit}_c", "ratio", f"baseline_{unit}", f"candidate_{unit}")
    return [*((title, "text") for title in first), *((text(_SCRIPT[name]), "number") for name in names)]


def _step_cells(row: Row, text: Texts) -> list[str]:
    where = " · ".join(
        f"{text.word(name)} {row[f'{name}_id']}" for name in ("rank", "device") if row[f"{name}_id"] is not None
    )
    steps = [
        text("mean, steps: {count}", count=row[name]) if row[name] is not None else None
        for name in ("baseline_steps", "candidate_steps")
    ]
    return [
        head(text(_SCRIPT[f"part_{row['part']}"]), None, where or None),
        cell(_signed(row["difference_ms"]), "ms"),
        _ratio(row["ratio"]),
        cell(row["baseline_ms"], "ms", steps[0]),
        cell(row["candidate_ms"], "ms", steps[1]),
    ]  # fmt: skip


def _signed(difference: float | None) -> str | None:
    return None if difference is None else f"{difference:+,.3f}"


def _ratio(ratio: float | None) -> str:
    return changed(None) if ratio is None else cell(ratio, "ratio")


def _table(scope: str, told: Mapping[str, Any], text: Texts) -> dict[str, Any]:
    rows, total = told[f"{scope}_rows"], told["totals"][scope]
    shown = rows[:SHOWN_ROWS]
    counts = {"shown": len(shown), "count": len(rows)}
    sums = {side: total[f"{side}_total_us"] for side in ("baseline", "candidate")}
    told_sums = {side: text("not stored") if value is None else show(value, "us") for side, value in sums.items()}
    if total["difference_us"] is None:
        said = text(
            "The {shown} largest of {count}. In all (us), baseline: {baseline}; candidate: {candidate}.",
            **counts,
            **told_sums,
        )
    else:
        said = text(
            "The {shown} largest differences of {count}; in all {baseline} us became {candidate} us ({difference} us).",
            **counts,
            difference=_signed(total["difference_us"]),
            **told_sums,
        )
    return {
        "title": text(_SCRIPT[f"compare_{scope}"]),
        "about": said,
        "columns": [*_columns((text("What"),), text, "us"), (text("On which side"), "text")],
        "rows": [_row_cells(row, text) for row in shown],
    }


def _row_cells(row: Row, text: Texts) -> list[str]:
    more = [row["op_type"]] if row["op_name"] else []
    more += [f"{text('Rank')} {row['rank_id']}"] if row["rank_id"] is not None else []
    more += [
        str(row["workload_args"][name]) for name in ("task_type", "input_shapes") if row["workload_args"].get(name)
    ]
    counts = [
        text("tasks: {count}", count=row[name]) if row[name] is not None else None
        for name in ("baseline_count", "candidate_count")
    ]
    return [
        head(row["op_name"] or row["op_type"] or "?", None, " · ".join(str(part) for part in more if part) or None),
        cell(_signed(row["difference_us"]), "us"),
        _ratio(row["ratio"]),
        cell(row["baseline_total_us"], "us", counts[0]),
        cell(row["candidate_total_us"], "us", counts[1]),
        cell(text("both")) if row["side"] == "both" else stated("suspect", text(_SCRIPT[f"only_{row['side']}"])),
    ]  # fmt: skip


def chooser_page(pairs: Mapping[str, Pair], text: Texts) -> dict[str, Any]:
    """The context of the page that compares any two runs."""
    columns: Columns = [(name, "text") for name in (text("Model"), text("Candidate"), text("Baseline"), text("Why"))]
    texts = orjson.dumps({**{key: text(said) for key, said in _SCRIPT.items()}, "must_match": MUST_MATCH})
    return {
        "title": text("Compare two runs"),
        "columns": columns,
        "rows": [
            [
                head(model, f"{page_of(model)}.html"),
                cell(pair.candidate.night, "text", pair.candidate.run_id),
                cell(pair.baseline.night, "text", pair.baseline.run_id),
                cell(about_baseline(pair, text)),
            ]
            for model, pair in pairs.items()
        ],
        "texts": _as_script(texts).decode(),
    }
