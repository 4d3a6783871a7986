"""The page of tuning: what AOE did and claims job by job, what is proven, what never got better, how the banks grew."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np

from aoe_reports.history.site_facts import RunFacts, SeriesFacts, StoreFacts, speed_up
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import N_
from aoe_reports.present.drawings.charts import days_of, history_chart
from aoe_reports.present.values import show
from aoe_reports.site.cells import Table, cell, head, interval, stated
from aoe_reports.site.pages.run import VERDICTS
from aoe_reports.site.places import file_name
from aoe_reports.site.render import Content
from aoe_reports.site.texts import Texts

SHOWN_JOBS = 100
"""Jobs on the page, the newest: its JSON has all."""
SHOWN_NAMES = 100


@dataclass(frozen=True, slots=True)
class ProvenStep:
    """What `verify` measured of the model's step."""

    verdict: str
    change: float | None
    ci_low: float | None
    ci_high: float | None
    measured_before_us: float | None
    measured_after_us: float | None


@dataclass(slots=True)
class Proven:
    """The newest verdict after a job and before the next one."""

    night: str
    verdict: str | None
    step: ProvenStep | None = None


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """The model's step in the last night before a job and in the first one after it."""

    series_id: str
    before_night: str
    after_night: str
    before_ms: float
    after_ms: float
    speed_up: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningJob:
    """A tuning job; None where a value is not stored."""

    night: str
    run: str
    workload: str
    hardware: str
    kind: str | None
    tuning_name: str | None
    status: str
    added: int | None
    """AOE's own counts from here on: of operators or tiling policies (opat), of subgraphs (sgat)."""
    updated: int | None
    hit: int | None
    unsatisfied: int | None
    total: int | None
    failed: int | None
    modified: int | None
    claimed_before_ms: float | None
    claimed_after_ms: float | None
    claimed_speed_up: float | None
    proven: Proven | None
    measured: MeasuredStep | None


def _jobs_of(facts: StoreFacts) -> list[TuningJob]:
    """A row a tuning job, the newest first."""
    tunings = [run for run in facts.runs if run.is_tuning]
    tunings.sort(key=lambda run: (run.timestamp_ns, run.run_id), reverse=True)
    models = {run.model for run in tunings}
    proven = {
        model: _proven(
            [run for run in tunings if run.model == model],
            [verdict.row for verdict in facts.verdicts if verdict.row.workload == model],
        )
        for model in models
    }
    steps = {model: facts.slowest_of(model) for model in models}
    return [_job(run, proven[run.model], _measured(run, steps[run.model], facts)) for run in tunings]


def _job(run: RunFacts, proven: Mapping[str, Proven], measured: MeasuredStep | None) -> TuningJob:
    summary, failed, modified = (
        run.body.get("summary") or {},
        run.body.get("failed_operators"),
        run.body.get("modified"),
    )
    before, after = run.claimed_ms
    return TuningJob(
        night=run.night,
        run=run.run_id,
        workload=run.model,
        hardware=run.hardware,
        kind=run.body.get("kind"),
        tuning_name=run.body.get("tuning_name"),
        status=run.status,
        added=summary.get("repo_add_num"),
        updated=summary.get("repo_update_num"),
        hit=summary.get("repo_hit_num"),
        unsatisfied=summary.get("repo_unsatisfied_num"),
        total=summary.get("total_num"),
        failed=None if failed is None else len(failed),
        modified=modified,
        claimed_before_ms=before,
        claimed_after_ms=after,
        claimed_speed_up=speed_up(before, after),
        proven=proven.get(run.night) if modified else None,
        measured=measured,
    )


def _proven(runs: Sequence[RunFacts], verdicts: Sequence[ListedVerdict]) -> dict[str, Proven]:
    """Of each night of a model's jobs that changed something the newest of the model's verdicts before the next one."""
    nights = sorted({run.night for run in runs if run.body.get("modified")})
    of_nights: dict[str, Proven] = {}
    for verdict in verdicts:
        place = bisect_left(nights, f"{verdict.night}\uffff") - 1
        if place < 0:
            continue
        proven = of_nights.get(nights[place])
        if proven is None or proven.night != verdict.night:
            proven = of_nights[nights[place]] = Proven(verdict.night, verdict.verdict_of_job)
        if verdict.scope == "step":
            proven.step = ProvenStep(*(getattr(verdict, name) for name in ProvenStep.__slots__))
    return of_nights


def _measured(job: RunFacts, step: SeriesFacts | None, facts: StoreFacts) -> MeasuredStep | None:
    """None where a side is not there, or the store does not know when all nights were."""
    if step is None or any(run not in facts.by_id for run in step.runs):
        return None
    place = bisect_left(step.runs, job.timestamp_ns, key=lambda run: facts.by_id[run].timestamp_ns)
    if not 0 < place < len(step.runs):
        return None
    before, after = (float(value) for value in step.values[place - 1 : place + 1])
    gained = before / after - 1 if after > 0 else None
    return MeasuredStep(step.id, step.nights[place - 1], step.nights[place], before, after, gained)


@dataclass(slots=True)
class TunedOperator:
    """An operator that AOE named, and what became of it, job by job."""

    workload: str
    op_name: str
    last_night: str | None = None
    failed: int = 0
    changed: int = 0
    gains: int = 0
    verdicts: int = 0
    confirmed: int = 0
    reason: str | None = None
    """Why it counts as one that never improved."""


def _never_improved(facts: StoreFacts) -> list[TunedOperator]:
    """Operators that AOE named and never changed for the better: failed, changed without a gain, or never confirmed."""
    operators = _named_operators(facts)
    for verdict in (one.row for one in facts.verdicts):
        if verdict.scope == "operator" and (operator := operators.get((verdict.workload or "", verdict.op_name or ""))):
            operator.verdicts += 1
            operator.confirmed += verdict.verdict == "confirmed"
    for one in operators.values():
        one.reason = _reason(one)
    never = [one for one in operators.values() if one.reason is not None]
    return sorted(never, key=lambda one: (-one.failed - one.changed, one.workload, one.op_name))


def _named_operators(facts: StoreFacts) -> dict[tuple[str, str], TunedOperator]:
    """Every operator that AOE named, by model and name, with what its jobs did."""
    operators: dict[tuple[str, str], TunedOperator] = {}

    def known(run: RunFacts, name: str) -> TunedOperator:
        one = operators.setdefault((run.model, name), TunedOperator(run.model, name))
        one.last_night = run.night
        return one

    for run in filter(lambda run: run.is_tuning, facts.runs):
        for name in facts.failed.get(run.run_id, ()):
            known(run, name).failed += 1
        for claim in facts.claims.get(run.run_id, ()):
            if claim.scope != "model":
                one = known(run, claim.name)
                one.changed += 1
                one.gains += claim.after_us < claim.before_us and not claim.unmeasured
    return operators


def _reason(operator: TunedOperator) -> str | None:
    if not operator.changed:
        return "tuning_failed"
    if not operator.gains:
        return "no_gain"
    return "never_confirmed" if operator.verdicts and not operator.confirmed else None


@row
class BankGrowth:
    """The entries that AOE says its jobs of a night added and updated, and their sum up to then."""

    night: str = column("Night")
    jobs: int = column("Jobs", "integer")
    added: int = column("Added", "integer")
    updated: int = column("Updated", "integer")
    sum: int = column("Added and updated so far", "integer")


def _bank_growth(jobs: Sequence[TuningJob]) -> list[BankGrowth]:
    counted = [job for job in jobs if job.added is not None and job.updated is not None]
    rows: list[BankGrowth] = []
    for night, same in groupby(sorted(counted, key=attrgetter("night")), key=attrgetter("night")):
        entries = [(job.added or 0, job.updated or 0) for job in same]
        added, updated = map(sum, zip(*entries, strict=True))
        total = (rows[-1].sum if rows else 0) + added + updated
        rows.append(BankGrowth(night=night, jobs=len(entries), added=added, updated=updated, sum=total))
    return rows


_NEVER: Mapping[str, str] = N_(
    {
        "tuning_failed": "tuning failed, never changed",
        "no_gain": "changed, no gain claimed",
        "never_confirmed": "a gain is claimed but was never confirmed by verify",
    }
)
"""Why an operator counts as one that was never made quicker."""


def tuning_page(facts: StoreFacts, text: Texts) -> Content:
    """The page of all jobs, and its JSON."""
    jobs, never = _jobs_of(facts), _never_improved(facts)
    growth = _bank_growth(jobs)
    known = any(job.added is not None for job in jobs)
    page = {
        "title": text("Tuning jobs (AOE)"),
        "jobs": _jobs_table(jobs, text),
        "without_counts": "" if known or not jobs else text("The stored jobs contain no counts."),
        "never": _never_table(never, text),
        "growth_chart": _growth_chart(growth, text),
        "growth": Table(
            text.columns(BankGrowth),
            [
                [head(row.night), *(cell(number, "integer") for number in (row.jobs, row.added, row.updated, row.sum))]
                for row in reversed(growth[-SHOWN_JOBS:])
            ],
        ),
    }
    return page, {"rows": jobs, "never_improved": never, "bank_growth": growth}


def _jobs_table(jobs: Sequence[TuningJob], text: Texts) -> Table:
    columns = [
        (text("Night"), "text"), (text("Item"), "text"), (text("Added"), "number"), (text("Updated"), "number"),
        (text("Hit"), "number"), (text("Unsatisfied"), "number"), (text("Failed"), "number"),
        (text("Claimed (before/after - 1)"), "number"), (text("Verified"), "text"), (text("Measured step (ms)"), "number"),
    ]  # fmt: skip
    shown, about = jobs[:SHOWN_JOBS], ""
    if len(shown) < len(jobs):
        about = text("The newest {shown} of {count} jobs; the JSON has all.", shown=len(shown), count=len(jobs))
    return Table(columns, [_job_cells(job, text) for job in shown], about, stacks=True)


def _never_table(never: Sequence[TunedOperator], text: Texts) -> Table:
    columns = [
        (text("Operator"), "text"), (text("Why"), "text"), (text("Jobs that failed on it"), "number"), (text("Jobs that changed it"), "number"),
        (text("Newest night"), "text"),
    ]  # fmt: skip
    shown, about = never[:SHOWN_NAMES], ""
    if len(shown) < len(never):
        about = text("The first {shown} of {count}; the JSON has all.", shown=len(shown), count=len(never))
    rows = [
        [
            head(row.op_name, None, row.workload),
            cell(text(_NEVER[str(row.reason)])),
            cell(row.failed, "integer"),
            cell(row.changed, "integer"),
            cell(row.last_night),
        ]
        for row in shown
    ]
    return Table(columns, rows, about, stacks=True)


def _job_cells(job: TuningJob, text: Texts) -> list[str]:
    kind = str(job.kind or "?").upper()
    name = job.tuning_name if job.tuning_name != job.workload else None
    status = text.translated(job.status) if job.status else ""
    before, after = job.claimed_before_ms, job.claimed_after_ms
    times = None if before is None or after is None else f"{show(before, 'ms')} → {show(after, 'ms')} ms"
    return [
        head(job.night, f"runs/{file_name(job.run)}.html", job.run),
        cell(job.workload, "text", " · ".join(filter(None, (kind, name, status)))),
        *(cell(count, "integer") for count in (job.added, job.updated, job.hit, job.unsatisfied, job.failed)),
        cell(job.claimed_speed_up, "gain", times),
        _proven_cell(job.proven, text),
        _measured_cell(job.measured),
    ]


def _proven_cell(proven: Proven | None, text: Texts) -> str:
    if proven is None:
        return cell(text("not verified"))
    verdict = str(proven.verdict or text("not stored"))
    step = proven.step
    more = [proven.night]
    if step is not None and step.change is not None:
        said = text(
            "step {verdict}: {change} ({interval})",
            verdict=text.translated(str(step.verdict)),
            change=show(step.change, "change"),
            interval=interval(step.ci_low, step.ci_high),
        )
        more = [said, *more]
    return stated(VERDICTS.get(verdict, verdict), text.translated(verdict), " · ".join(more))


def _measured_cell(measured: MeasuredStep | None) -> str:
    if measured is None:
        return cell(None, "ms")
    nights = f"{measured.before_night[5:]} → {measured.after_night[5:]}"  # the JSON has the years
    return cell(f"{show(measured.before_ms, 'ms')} → {show(measured.after_ms, 'ms')}", "ms", nights)


def _growth_chart(growth: Sequence[BankGrowth], text: Texts) -> str:
    if not growth:
        return ""
    said = text(
        "Entries added and updated from {first} to {last}: {sum} in all.",
        first=growth[0].night,
        last=growth[-1].night,
        sum=show(growth[-1].sum, "integer"),
    )
    sums = np.array([row.sum for row in growth], dtype=np.float64)
    return history_chart(days_of(tuple(row.night for row in growth)), sums, [], None, [], said, unit=text("entries"))
