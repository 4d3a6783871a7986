"""The page of tuning: what AOE did and claims job by job, what is proven, what never got better, how the banks grew."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from aoe_reports.history.site_facts import Row, RunFacts, SeriesFacts, StoreFacts
from aoe_reports.model.texts import N_
from aoe_reports.present.values import show
from aoe_reports.site.cells import Columns, cell, head, stated
from aoe_reports.site.charts import days_of, history_chart
from aoe_reports.site.overview import interval, slowest_of
from aoe_reports.site.places import file_name
from aoe_reports.site.run import VERDICTS
from aoe_reports.site.texts import Texts

SHOWN_JOBS = 100
"""Jobs on the page, the newest: its JSON has all."""
SHOWN_NAMES = 100
COUNTS = {
    "added": "repo_add_num",
    "updated": "repo_update_num",
    "hit": "repo_hit_num",
    "unsatisfied": "repo_unsatisfied_num",
    "total": "total_num",
}
"""How AOE's summary calls its counts: of operators or tiling policies (opat), of subgraphs (sgat)."""


def jobs_of(facts: StoreFacts) -> list[dict[str, Any]]:
    """A row a tuning job, the newest first; what is not stored is None."""
    of_model: dict[str, list[RunFacts]] = defaultdict(list)
    for run in facts.runs:
        if run.kind == "tuning":
            of_model[run.model].append(run)
    rows = []
    for model, jobs in of_model.items():
        effective = sorted({job.night for job in jobs if job.body.get("modified")})
        proven = _proven(model, effective, facts)
        step = slowest_of(model, facts)
        times = [] if step is None else [facts.by_id[run].timestamp_ns for run in step.runs if run in facts.by_id]
        for job in jobs:
            row = _job(job)
            changes = job.night in effective and bool(job.body.get("modified"))
            row["proven"] = proven.get(job.night) if changes else None
            row["measured"] = _measured(job, step, times) if step is not None and len(times) == len(step.runs) else None
            rows.append((job.timestamp_ns, job.run_id, row))
    return [row for _, _, row in sorted(rows, key=lambda one: one[:2], reverse=True)]


def _job(run: RunFacts) -> dict[str, Any]:
    body = run.body
    before, after = body.get("model_baseline_ms"), body.get("model_result_ms")
    summary = body.get("summary") or {}
    failed = body.get("failed_operators")
    return {
        "night": run.night,
        "run": run.run_id,
        "workload": run.model,
        "hardware": run.hardware,
        "kind": body.get("kind"),
        "tuning_name": body.get("tuning_name"),
        "status": run.status,
        **{name: summary.get(key) for name, key in COUNTS.items()},
        "failed": None if failed is None else len(failed),
        "modified": body.get("modified"),
        "claimed_before_ms": before,
        "claimed_after_ms": after,
        "claimed_speed_up": before / after - 1 if before and after else None,
    }


def _proven(model: str, nights: Sequence[str], facts: StoreFacts) -> dict[str, dict[str, Any]]:
    """The newest verdict after each night of jobs and before the next one: what `verify` stored under the model's name."""
    found: dict[str, dict[str, Any]] = {}
    for row in facts.verdicts:
        place = bisect_left(nights, f"{row['night']}\uffff") - 1
        if row["model"] != model or place < 0:
            continue
        told = found.setdefault(nights[place], {"night": None})
        if told["night"] != row["night"]:
            told.clear()
            told |= {"night": row["night"], "verdict": row.get("verdict_of_job"), "step": None}
        if row.get("scope") == "step":
            names = ("verdict", "change", "ci_low", "ci_high", "measured_before_us", "measured_after_us")
            told["step"] = {name: row.get(name) for name in names}
    return found


def _measured(job: RunFacts, step: SeriesFacts, times: Sequence[int]) -> dict[str, Any] | None:
    """The model's step in the last night before a job and in the first one after it."""
    place = bisect_left(times, job.timestamp_ns)
    if not 0 < place < len(times):
        return None
    before, after = (float(value) for value in step.values_ms[place - 1 : place + 1])
    return {
        "series_id": step.id,
        "before_night": step.nights[place - 1],
        "after_night": step.nights[place],
        "before_ms": before,
        "after_ms": after,
        "speed_up": before / after - 1 if after > 0 else None,
    }


def never_improved(facts: StoreFacts) -> list[dict[str, Any]]:
    """Operators that AOE named and never changed for the better: failed, changed without a gain, or never confirmed."""
    jobs: dict[tuple[str, str], dict[str, Any]] = {}
    for run in facts.runs:
        if run.kind != "tuning":
            continue
        for name in facts.failed.get(run.run_id, ()):
            one = jobs.setdefault((run.model, name), _named(run.model, name))
            one["failed"] += 1
            one["last_night"] = run.night
        for claim in facts.claims.get(run.run_id, ()):
            if claim["scope"] == "model":
                continue
            one = jobs.setdefault((run.model, claim["name"]), _named(run.model, claim["name"]))
            one["changed"] += 1
            one["gains"] += bool(claim["after_us"] < claim["before_us"])
            one["last_night"] = run.night
    for row in facts.verdicts:
        if row.get("scope") == "operator" and (known := jobs.get((row["model"], row.get("op_name") or ""))):
            known["verdicts"] += 1
            known["confirmed"] += row["verdict"] == "confirmed"
    rows = [{**one, "reason": reason} for one in jobs.values() if (reason := _reason(one)) is not None]
    return sorted(rows, key=lambda one: (-one["failed"] - one["changed"], one["workload"], one["op_name"]))


def _named(model: str, name: str) -> dict[str, Any]:
    counts = dict.fromkeys(("failed", "changed", "gains", "verdicts", "confirmed"), 0)
    return {"workload": model, "op_name": name, "last_night": None, **counts}


def _reason(one: Row) -> str | None:
    if not one["changed"]:
        return "tuning_failed"
    if not one["gains"]:
        return "no_gain"
    return "never_confirmed" if one["verdicts"] and not one["confirmed"] else None


def bank_growth(jobs: Sequence[Row]) -> list[dict[str, Any]]:
    """A row a night with counts: entries that AOE says it added and updated, and their sum up to then."""
    nights: dict[str, list[int]] = {}
    for job in reversed(jobs):
        if job["added"] is not None and job["updated"] is not None:
            counts = nights.setdefault(job["night"], [0, 0, 0])
            for place, number in enumerate((1, job["added"], job["updated"])):
                counts[place] += number
    ordered = sorted(nights)
    sums = accumulate(nights[night][1] + nights[night][2] for night in ordered)
    return [
        {"night": night, "jobs": nights[night][0], "added": nights[night][1], "updated": nights[night][2], "sum": whole}
        for night, whole in zip(ordered, sums, strict=True)
    ]


_NEVER: Mapping[str, str] = N_(
    {
        "tuning_failed": "tuning failed, never changed",
        "no_gain": "changed, no gain claimed",
        "never_confirmed": "a gain is claimed, verify never confirmed it",
    }
)
"""Why an operator counts as one that was never made quicker."""


def tuning_page(jobs: Sequence[Row], never: Sequence[Row], growth: Sequence[Row], text: Texts) -> dict[str, Any]:
    """The context of the page."""
    shown = jobs[:SHOWN_JOBS]
    known = any(job["added"] is not None for job in jobs)
    return {
        "title": text("Tuning jobs (AOE)"),
        "job_columns": _job_columns(text),
        "jobs": [_job_cells(job, text) for job in shown],
        "shown_of": text("The newest {shown} of {count} jobs; the JSON has all.", shown=len(shown), count=len(jobs)) if len(shown) < len(jobs) else "",
        "without_counts": "" if known or not jobs else text("The stored jobs tell no counts."),
        "never_columns": [
            (text("Operator"), "text"), (text("Why"), "text"), (text("Jobs that failed on it"), "number"), (text("Jobs that changed it"), "number"),
            (text("Newest night"), "text"),
        ],
        "never": list(_never_cells(never[:SHOWN_NAMES], text)),
        "never_of": text("The first {shown} of {count}; the JSON has all.", shown=SHOWN_NAMES, count=len(never)) if len(never) > SHOWN_NAMES else "",
        "growth_chart": _growth_chart(growth, text),
        "growth_columns": [
            (text("Night"), "text"), (text("Jobs"), "number"), (text("Added"), "number"), (text("Updated"), "number"), (text("Added and updated so far"), "number"),
        ],
        "growth": [
            [head(row["night"]), *(cell(row[name], "integer") for name in ("jobs", "added", "updated", "sum"))]
            for row in reversed(growth[-SHOWN_JOBS:])
        ],
    }  # fmt: skip


def _job_columns(text: Texts) -> Columns:
    return [
        (text("Night"), "text"), (text("What"), "text"), (text("Added"), "number"), (text("Updated"), "number"),
        (text("Hit"), "number"), (text("Unsatisfied"), "number"), (text("Failed"), "number"),
        (text("Claimed (before/after - 1)"), "number"), (text("Proven"), "text"), (text("Measured step (ms)"), "number"),
    ]  # fmt: skip


def _job_cells(job: Row, text: Texts) -> list[str]:
    kind = str(job["kind"] or "?").upper()
    name = job["tuning_name"] if job["tuning_name"] != job["workload"] else None
    claimed = (job["claimed_before_ms"], job["claimed_after_ms"])
    times = " → ".join(show(value, "ms") for value in claimed) if None not in claimed else None
    return [
        head(job["night"], f"runs/{file_name(job['run'])}.html", job["run"]),
        cell(
            job["workload"],
            "text",
            " · ".join(part for part in (kind, name, text.told(job["status"]) if job["status"] else "") if part),
        ),
        *(cell(job[name], "integer") for name in ("added", "updated", "hit", "unsatisfied", "failed")),
        cell(job["claimed_speed_up"], "gain", times and f"{times} ms"),
        _proven_cell(job["proven"], text),
        _measured_cell(job["measured"]),
    ]


def _proven_cell(proven: Row | None, text: Texts) -> str:
    if proven is None:
        return cell(text("not verified"))
    verdict = str(proven["verdict"] or text("not stored"))
    step = proven["step"]
    more = [proven["night"]]
    if step is not None and step["change"] is not None:
        told = {"verdict": text.told(str(step["verdict"])), "change": show(step["change"], "change")}
        more = [text("step {verdict}: {change} ({interval})", interval=interval(step), **told), *more]
    return stated(VERDICTS.get(verdict, verdict), text.told(verdict), " · ".join(more))


def _measured_cell(measured: Row | None) -> str:
    if measured is None:
        return cell(None, "ms")
    nights = " → ".join(measured[f"{side}_night"][5:] for side in ("before", "after"))  # the JSON has the years
    return cell(f"{show(measured['before_ms'], 'ms')} → {show(measured['after_ms'], 'ms')}", "ms", nights)


def _never_cells(rows: Sequence[Row], text: Texts) -> Iterator[list[str]]:
    for row in rows:
        yield [
            head(row["op_name"], None, row["workload"]),
            cell(text(_NEVER[row["reason"]])),
            cell(row["failed"], "integer"),
            cell(row["changed"], "integer"),
            cell(row["last_night"]),
        ]


def _growth_chart(growth: Sequence[Row], text: Texts) -> Any:
    if not growth:
        return ""
    said = text(
        "Entries added and updated from {first} to {last}: {sum} in all.",
        first=growth[0]["night"],
        last=growth[-1]["night"],
        sum=show(growth[-1]["sum"], "integer"),
    )
    sums = np.array([row["sum"] for row in growth], dtype=np.float64)
    return history_chart(days_of(tuple(row["night"] for row in growth)), sums, [], None, [], said)
