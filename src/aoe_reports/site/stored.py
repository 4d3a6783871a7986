"""The facts of the dashboard from the store: the result of `regressions`, whole histories, runs."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from aoe_reports.formats.aoe.results import join_name
from aoe_reports.formats.records.payloads import body_of, number_in, object_in, text_in, verdict_of
from aoe_reports.history.changes.regressions import Regressions, find_regressions
from aoe_reports.history.changes.suspicions import past_nights
from aoe_reports.history.detection.detector import find_levels
from aoe_reports.history.detection.run import DetectorRun, read_coded
from aoe_reports.history.detection.verdicts import Change, Levels, Parameters, Verdict
from aoe_reports.history.options import RegressionOptions
from aoe_reports.history.runs.listing import VERDICT, listed_verdict
from aoe_reports.history.series.metrics import NEEDED, metric_records
from aoe_reports.history.series.series import (
    LABELS,
    MAX_COST,
    MAX_MS,
    MIN_COST,
    MIN_MS,
    Histories,
    judge_histories,
    put_together,
)
from aoe_reports.history.series.stored import STEP_OF_OPERATORS_NS, paged_series
from aoe_reports.history.site_facts import (
    PARTS,
    Claim,
    Floats,
    Groups,
    PlacedShift,
    RunDetails,
    RunFacts,
    SeriesFacts,
    StoreFacts,
    speed_up,
    stored_findings,
)
from aoe_reports.history.stored_memory import memory_in
from aoe_reports.model.arrays.columns import Ints, Mask, codes, floats, keep_where
from aoe_reports.model.history.changes import MEMORY, METRICS, SeriesChange, SeriesObservation
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.metrics import value_levels, value_of
from aoe_reports.model.history.runs import StepTimes, Stored, TuningClaim
from aoe_reports.model.shares import share_of
from aoe_reports.stats.budget import WATCHED_NIGHTS, Budget
from aoe_reports.store import History, Where, equals
from aoe_reports.store.layout import RANK_KIND, ROW_COUNTS, ROWS
from aoe_reports.store.parts import StoredFile

Row = dict[str, Any]

_TIMES = ("series_id", "night", "run_id", "timestamp_ns", "runtime_ms_mean", "source", "scope")
_NEWEST = (
    "series_id", "timestamp_ns", "run_id", "scope", "rank_id", "device_id", "total_ns", "source", "workload_args", *LABELS,
)  # fmt: skip
_RUN = (
    "run_id", "run_kind", "night", "timestamp_ns", "model", "hardware", "status", "path", "body", "content_hash",
    "normaliser_version", "engine", "engine_version", "hardware_config", "runtime_config",
)  # fmt: skip
_OF_VERDICT = (
    "verdict_of_job", "scope", "op_type", "op_name", "input_shapes", "claimed_before_us", "claimed_after_us",
    "measured_before_us", "measured_after_us", "change", "ci_low", "ci_high",
)  # fmt: skip
"""What is written of every verdict, and null where its row does not say."""
_FACTS_OF_RUN = ("engine", "engine_version", "hardware", "hardware_config", "runtime_config")


def read_facts(
    store: str,
    false_alarms_per_year: float,
    detected: DetectorRun | None = None,
    gates: Sequence[str] = (),
    metrics: Path | None = None,
) -> tuple[History, StoreFacts]:
    """Everything that pages need but the records of single runs; the store stays open for those."""
    history = History.open(store)
    chosen = RegressionOptions(
        false_alarms_per_year=false_alarms_per_year, every=True, gate=tuple(gates), metrics=metrics
    )
    regressions = find_regressions(history, chosen, detected=detected)
    runs = _runs(history)
    jumps = regressions.detected.jumps
    nights = sorted({run.night for run in runs if run.run_id not in jumps})
    series = _series(history, regressions, runs, nights) if regressions.rows else []
    facts = StoreFacts(
        series=series,
        runs=runs,
        verdicts=_stored_verdicts(history),
        budget=regressions.budget,
        nights=nights,
        watched_nights=min(WATCHED_NIGHTS, len(nights)),
        regressions=[one.row for one in series if one.row.state is not None],
        remark=regressions.remark,
        findings=regressions.findings,
        by_id={run.run_id: run for run in runs},
        claims=_claims_of_runs(history, runs),
        failed={run.run_id: list(map(join_name, run.body.get("failed_operators") or ())) for run in runs},
        incidents={incident.incident: incident for incident in regressions.incidents},
        suspicions=regressions.suspicions,
        past_nights=past_nights(regressions.detected),
        missing=list(regressions.missing),
        absent=regressions.absent,
    )
    return history, facts


def _stored_verdicts(history: History) -> list[Stored[ListedVerdict]]:
    rows = history.rows("verdict", VERDICT)
    return [
        Stored(
            row=listed_verdict(row),
            document={
                **dict.fromkeys(_OF_VERDICT),
                **verdict_of(row["body"]),
                "model": row["model"],
                "night": row["night"],
                "verdict": row["state"],
            },
        )
        for row in rows.sort_by([("timestamp_ns", "ascending"), ("subject", "ascending")]).to_pylist()
    ]


def _runs(history: History) -> list[RunFacts]:
    findings = stored_findings(history)
    for of_run in findings.values():
        of_run.sort(key=lambda finding: tuple(map(str, finding.as_dict().values())))
    rows = history.rows("run", _RUN).to_pylist()
    rows.sort(key=lambda row: (row["timestamp_ns"], row["run_id"]))
    return [
        RunFacts(
            run_id=row["run_id"],
            kind=row["run_kind"],
            night=row["night"],
            timestamp_ns=row["timestamp_ns"],
            model=row["model"] or "unknown",
            hardware=row["hardware"] or "unknown",
            status=row["status"] or "unknown",
            path=row["path"] or "",
            facts=dict(_flat(row)),
            body=body_of(row["body"]),
            findings=findings.get(row["run_id"], []),
            content=f"{row['content_hash']} {row['normaliser_version']}",
        )
        for row in rows
    ]


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The facts of how a run ran, as one level of names and texts."""
    for name in _FACTS_OF_RUN:
        value = row[name]
        if name.endswith("_config"):
            yield from ((f"{name}.{key}", _text(part)) for key, part in sorted(object_in(row, name).items()))
        elif value is not None:
            yield name, value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _histories(
    history: History, regressions: Regressions, left_out: Collection[str]
) -> tuple[Histories, Sequence[int]]:
    """The whole histories of the series, a month at a time: no night lies in two of them; of series that are measured no more how many nights.

    Runs that are left out, of wrong clocks or incomplete, are in none.
    """
    ids = [row.series_id for row in regressions.rows]
    row_of = {series_id: row for row, series_id in enumerate(ids)}
    blocks = []
    gone: Counter[str] = Counter()
    for month, parts in sorted(_months(history.log.parts("record")).items()):
        records = pa.concat_tables([history.log.folder.read(part, _TIMES, coded=True) for part in parts])
        rows = _looked_up(records["series_id"], lambda series_id: row_of.get(series_id, _GONE), _NONE)
        kept = _looked_up(records["night"], methodcaller("startswith", month), False)
        kept &= _looked_up(records["run_id"], lambda run_id: run_id not in left_out, False)
        kept &= _looked_up(records["scope"], lambda scope: scope != MEMORY, True)  # how long it was recorded is no time
        gone.update(_counted_nights(records, kept & (rows == _GONE)))
        blocks.append(_block(records, rows, kept & (rows >= 0), row_of))
    nights = tuple(night for _, there, _, _ in blocks for night in there)  # months, and so nights, are in order
    shape = (len(ids), len(nights))
    values, runs = np.full(shape, np.nan), np.full(shape, None, dtype=object)
    column = 0
    for rows, there, times, of_runs in blocks:
        until = column + len(there)
        values[rows, column:until], runs[rows, column:until] = times, of_runs
        column = until
    unused, labels = np.empty((0, 0)), regressions.detected.judged.histories.labels
    labels = tuple(labels[regressions.places[series_id]] for series_id in ids)
    return Histories(labels=labels, nights=nights, costs=values, runs=runs, totals_ms=unused), list(gone.values())


_GONE, _NONE = -1, -2
"""Instead of a row: of a series that is measured no more, of a record without a series."""


def _looked_up(column: pa.ChunkedArray, value_of_word: Callable[[str], Any], of_none: Any) -> Any:
    """The value of each row's word."""
    numbers, words = codes(column)
    return np.array([of_none, *map(value_of_word, words)])[numbers]


def _counted_nights(records: pa.Table, gone: Mask) -> dict[str, int]:
    """Nights with a time of each series that is measured no more: it takes its share of the budget of whole histories."""
    if not gone.any():
        return {}
    time = pl.col("runtime_ms_mean")
    nights = (
        pl.DataFrame(records.filter(keep_where(gone)))
        .filter(pl.col("source") != "aoe", (time > MIN_MS) & (time < MAX_MS))
        .select("series_id", "night")
        .unique()
    )
    return dict(nights.group_by("series_id").len().iter_rows())


def _block(
    records: pa.Table, rows: Ints, kept: Mask, row_of: Mapping[str, int]
) -> tuple[Any, Sequence[str], Floats, Any]:
    """Rows of series, nights, and both as a table of times and runs: what `put_together` makes of the records kept.

    Where each night has one run, there is nothing to put together, and it is done in a fraction of the time.
    """
    times, measured = floats(records["runtime_ms_mean"])
    kept = kept & measured & ~np.isnan(times)
    nights, columns = _numbered(records["night"], kept)
    numbers = rows[kept]
    shape = len(row_of), len(nights)
    taken = np.zeros(shape, dtype=bool)
    taken[numbers, columns] = True
    if np.count_nonzero(taken) < len(numbers):
        block = put_together(pl.DataFrame(records.filter(keep_where(kept))))
        of_block = np.array([row_of[labels.series_id] for labels in block.labels])
        return of_block, block.nights, block.costs, block.runs
    values, runs = np.full(shape, np.nan), np.full(shape, None, dtype=object)
    kept_times = times[kept]
    values[numbers, columns] = np.where((kept_times > MIN_MS) & (kept_times < MAX_MS), kept_times, 0.0)
    names, of_rows = _numbered(records["run_id"], kept)
    runs[numbers, columns] = np.array(names, dtype=object)[of_rows]
    present = np.flatnonzero(taken.any(axis=1))
    return present, nights, values[present], runs[present]


def _numbered(column: pa.ChunkedArray, kept: Mask) -> tuple[list[str], Any]:
    """The different texts of the rows kept in order, and of each of them the number of its text."""
    numbers, every = codes(column)
    numbers, words = numbers[kept] - 1, list(every)
    used = np.flatnonzero(np.bincount(numbers, minlength=len(words)))
    used = used[np.argsort(np.array(words, dtype=object)[used])]
    places = np.zeros(len(words), dtype=np.int64)
    places[used] = np.arange(len(used))
    return [words[place] for place in used], places[numbers]


def _months(parts: Sequence[StoredFile]) -> dict[str, list[StoredFile]]:
    """Which parts hold nights of each month; a night may lie in the month before or after its run's, by its zone."""
    months: dict[str, list[StoredFile]] = defaultdict(list)
    every: list[StoredFile] = []
    for part in parts:
        least, most = part.bounds.get("night", (None, None))
        if least is None or most is None:
            every.append(part)
            continue
        for month in {str(least)[:7], part.month, str(most)[:7]}:
            months[month].append(part)
    for part in every:
        around = date.fromisoformat(f"{part.month}-15")
        for days in (-30, 0, 30):
            months[f"{around + timedelta(days=days):%Y-%m}"].append(part)
    return months


def _series(
    history: History, regressions: Regressions, runs: Sequence[RunFacts], nights: Sequence[str]
) -> list[SeriesFacts]:
    left_out = [*(run.run_id for run in runs if run.status == "incomplete"), *regressions.detected.jumps]
    histories, gone = _histories(history, regressions, left_out)
    histories = _with_metrics(history, histories, regressions, left_out)
    judged = _of_judged(histories, regressions)
    since = nights[-WATCHED_NIGHTS] if len(nights) > WATCHED_NIGHTS else ""
    start = sum(night < since for night in histories.nights)
    verdicts, first = _verdicts(histories, judged, regressions, start)
    whole = _look_back(judged, gone, regressions.budget.false_alarms_per_year)
    newest = _newest(history, since, left_out)
    parts = _parts(history, since)
    every = regressions.detected.judged.histories.labels
    paged = paged_series(regressions.detected.judged.histories.labels, regressions.incidents)

    @cache
    def nights_of(columns: bytes) -> tuple[str, ...]:
        """Most series have the same nights: they share them."""
        return tuple(histories.nights[column] for column in np.frombuffer(columns, dtype=np.int64))

    observed: dict[str, list[SeriesObservation]] = defaultdict(list)
    for observation in regressions.observations:
        observed[observation.series_id].append(observation)
    every_series = []
    for place, row in enumerate(regressions.rows):
        values = histories.costs[place]
        columns = np.flatnonzero(~np.isnan(values))
        verdict = verdicts[place]
        changes = [*verdict.changes, *([verdict.suspect] if verdict.suspect is not None else [])]
        labels = every[regressions.places[row.series_id]]
        facts = newest.get(row.series_id, {"model": labels.model, "engine": labels.engine, "source": labels.source})
        every_series.append(
            SeriesFacts(
                row=row,
                model=facts.get("model") or "unknown",
                engine=facts.get("engine") or "unknown",
                source=facts.get("source") or "unknown",
                nights=nights_of(columns.tobytes()),
                values=np.ascontiguousarray(_values_of(values[columns], row)),
                runs=tuple(histories.runs[place, columns].tolist()),
                shifts=tuple(_placed_shift(change, row.better, columns, first) for change in changes),
                level=_level_of(verdict.level, row),
                sigma=verdict.sigma,
                watched=int((columns >= start).sum()),
                share_of_step=facts.get("share_of_step"),
                step_series=facts.get("step_series"),
                hindsight=tuple(_placed_shift(change, row.better, columns) for change in whole[place].changes),
                hindsight_level=_level_of(whole[place].level, row),
                has_page=row.series_id in paged,
                observations=tuple(observed.get(row.series_id, ())),
                input_shapes=facts.get("input_shapes"),
                parts=_parts_of(parts.get(row.series_id), histories.runs[place, columns].tolist()),
            )
        )
    return every_series


_Parts = dict[str, tuple[float | None, ...]]
"""Of each run of a step the mean ms of its parts."""


def _parts(history: History, since: str) -> dict[str, _Parts]:
    """The parts of the steps of each series in the nights that are watched, as far as its records have them as numbers."""
    where: Where = [equals("scope", "step"), *([equals("night", since, ">=")] if since else [])]
    steps = pl.DataFrame(history.records(("series_id", "run_id", "metrics"), where))
    metrics = pl.col("metrics").cast(pl.String)
    read = [
        metrics.str.json_path_match(f"$.{name}_ms_mean").cast(pl.Float64, strict=False).alias(name) for name in PARTS
    ]
    known: dict[str, _Parts] = defaultdict(dict)
    for series_id, run_id, *parts in steps.select("series_id", "run_id", *read).iter_rows():
        known[series_id][run_id] = tuple(parts)
    return known


def _parts_of(known: _Parts | None, runs: Sequence[str]) -> dict[str, Floats]:
    """The parts of a step in its nights; those that no night has are left out."""
    if known is None:
        return {}
    nothing = (None,) * len(PARTS)
    columns = np.array([known.get(run, nothing) for run in runs], dtype=np.float64).reshape(-1, len(PARTS))
    return {name: columns[:, place] for place, name in enumerate(PARTS) if np.isfinite(columns[:, place]).any()}


def _verdicts(
    histories: Histories, can_be_judged: Histories, regressions: Regressions, start: int
) -> tuple[Sequence[Verdict], int]:
    """(verdicts on the nights from column `start` on, the column from which they count nights): those of `regressions`.

    Where it saw other nights, series are judged anew, under the same budget.
    """
    seen, nights = regressions.detected.judged.histories, histories.nights[start:]
    rows = [regressions.places[row.series_id] for row in regressions.rows]
    if (
        len(rows) == len(seen.costs)
        and seen.nights == nights
        and len(nights) <= WATCHED_NIGHTS
        and np.array_equal(seen.costs[rows], histories.costs[:, start:], equal_nan=True)
    ):
        return [regressions.detected.judged.verdicts[row] for row in rows], start
    own = regressions.detected.judged.budgets
    judged = judge_histories(
        can_be_judged,
        regressions.budget.false_alarms_per_year,
        within=len(nights),
        budgets=[own[row] for row in rows] if own else None,
    )
    return judged.verdicts, 0


def _look_back(histories: Histories, gone: Sequence[int], false_alarms_per_year: float) -> Sequence[Levels]:
    """The changes that `regressions --whole-history` finds in these series; all series that ever existed share its budget."""
    least = Parameters().least_nights
    values = histories.costs
    counts = (np.isfinite(values) & (values > 0)).sum(axis=1)
    eligible = int((counts >= least).sum()) + sum(count >= least for count in gone)
    return find_levels(values, Parameters(hindsight=True, budget=Budget.shared(false_alarms_per_year, eligible)))


def _placed_shift(change: Change, better: str | None, columns: Any, first: int = 0) -> PlacedShift:
    """A change, its nights counted from column `first` on, by the series' own nights."""
    start, until = (int(place) for place in np.searchsorted(columns, [first + change.night, first + change.until]))
    return PlacedShift(start=start, until=until, state=change.state, **value_levels(change, better))


def _newest(history: History, since: str, incomplete: Sequence[str]) -> dict[str, Row]:
    """The newest record of each series: what it is of, and its part of the steps of its run."""
    where: Where = [equals("source", "aoe", "!="), *([equals("night", since, ">=")] if since else [])]
    names = list(dict.fromkeys(_NEWEST))
    records = pl.DataFrame(history.records(names, where)).filter(~pl.col("run_id").is_in(list(incomplete)))
    of_steps = ["run_id", "rank_id", "device_id", "series_id", "total_ns", "metrics"]
    whole = pl.DataFrame(history.records(of_steps, [*where, equals("scope", "step")]))
    shapes = pl.col("workload_args").cast(pl.String).str.json_path_match("$.input_shapes").alias("input_shapes")
    newest = (
        records.sort("timestamp_ns", "run_id").group_by("series_id", maintain_order=True).last().with_columns(shapes)
    )
    keys = ["run_id", "rank_id", "device_id"]
    steps = (
        whole.sort("series_id")
        .group_by(keys, maintain_order=True)
        .agg(STEP_OF_OPERATORS_NS.sum().alias("step_ns"), pl.col("series_id").first().alias("step_series"))
    )
    joined = newest.join(steps, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return {
        row["series_id"]: {**row, "share_of_step": share_of(row["total_ns"], row["step_ns"])}
        for row in joined.iter_rows(named=True)
    }


_RECORD = (
    "run_id", "scope", "phase", "op_type", "op_name", "rank_id", "device_id", "count", "total_ns", "runtime_ms_mean",
    "runtime_ms_std", "workload", "workload_args", "workload_metadata", "metrics", "metadata", "series_id",
)  # fmt: skip
SHOWN_TYPES, SHOWN_OPERATORS = 20, 100
"""A run's page and JSON have at most so many, the longest first, and say how many there are."""
SHOWN_ON_RANKS = 20
"""The same where a run has several ranks: each of the longest has a row for each rank."""


def read_details(history: History, runs: Sequence[RunFacts]) -> Iterator[tuple[RunFacts, RunDetails]]:
    """The records of runs, a month at a time."""
    months: dict[str, list[RunFacts]] = defaultdict(list)
    for run in runs:
        months[run.night[:7]].append(run)
    for month in sorted(months):
        wanted = months[month]
        where = _nights_of(wanted)
        if len(wanted) <= FEW_RUNS:
            where = [*where, tuple(equals("run_id", run.run_id) for run in wanted)]
        records = pl.DataFrame(history.records(_RECORD, where))
        details = _details(records.filter(pl.col("run_id").is_in([run.run_id for run in wanted])))
        for run in wanted:
            known = details.get(run.run_id, RunDetails())
            if RANK_KIND in run.body.get(ROW_COUNTS, ()):
                known = replace(known, ranks=_ranks(history, run), operator_ranks=_operator_ranks(history, run, known))
            yield run, known


def _ranks(history: History, run: RunFacts) -> pa.Table:
    """The operator types of single ranks."""
    where: Where = [equals("run_id", run.run_id), equals("scope", "op_type")]
    return history.rows(RANK_KIND, _OF_RANK, where)


def _operator_ranks(history: History, run: RunFacts, details: RunDetails) -> pa.Table | None:
    """The longest operators on single ranks; a run has hundreds of operators on each of thousands of ranks."""
    names = {row["op_name"] for row in details.operators[:SHOWN_ON_RANKS]} - {None}
    if not names:
        return None
    of_names = tuple(equals("op_name", name) for name in sorted(names))
    where: Where = [equals("run_id", run.run_id), equals("scope", "op"), of_names]
    return history.rows(RANK_KIND, (*_OF_RANK, "op_name"), where)


def _nights_of(runs: Sequence[RunFacts]) -> Where:
    nights = [run.night for run in runs]
    return [equals("night", min(nights), ">="), equals("night", max(nights), "<=")]


_OF_RANK = ("rank_id", "device_id", "op_type", "count", "total_ns", "workload_args")
FEW_RUNS = 8
"""Up to so many runs are read by name; of more, all records of their nights are read."""
_COMPARED = ("op_type", "op", "communication")
_KEY = ("scope", "rank_id", "device_id", "op_type", "op_name", "workload_args")


def _details(records: pl.DataFrame) -> dict[str, RunDetails]:
    """The details of each run: a month has thousands of small tables, so all of them are made at once, then divided."""
    memory = records.filter(pl.col("scope") == MEMORY).sort("run_id", "rank_id", "device_id", "series_id")
    memory_of = {
        run_id: list(map(memory_in, rows.iter_rows(named=True))) for (run_id,), rows in memory.group_by("run_id")
    }
    measured = records.filter(pl.col("phase").is_null())
    types, operators = (measured.filter(pl.col("scope") == scope) for scope in ("op_type", "op"))
    wholes = pl.concat([_wholes(types), _wholes(operators)]).unique(_PLACE, keep="first", maintain_order=True)
    of_runs = dict(wholes.group_by("run_id").agg(pl.col("whole_ns").sum()).iter_rows())
    type_counts, operator_counts = _different(types, "op_type"), _different(operators, "op_name")
    steps = measured.filter(pl.col("scope") == "step").sort("run_id", "rank_id", "device_id", "series_id")
    step_rows = [_step(row) for row in steps.iter_rows(named=True)]
    steps_of = {run_id: step_rows[span] for run_id, span in _spans(steps["run_id"]).items()}
    types_of = _longest(types, SHOWN_TYPES, "task_type", wholes)
    operators_of = _longest(operators, SHOWN_OPERATORS, "input_shapes", wholes)
    tuned = records.filter(pl.col("phase").is_not_null()).partition_by("run_id", as_dict=True)
    compared = measured.filter(pl.col("scope").is_in(_COMPARED))
    groups_of = _groups(compared.filter(pl.col("total_ns").is_not_null()))
    untimed = dict(compared.filter(pl.col("total_ns").is_null()).group_by("run_id").len().iter_rows())
    return {
        run_id: RunDetails(
            steps=steps_of.get(run_id, ()),
            types=types_of.get(run_id, ()),
            operators=operators_of.get(run_id, ()),
            type_count=type_counts.get(run_id, 0),
            operator_count=operator_counts.get(run_id, 0),
            computing_us=whole / 1000 if (whole := of_runs.get(run_id)) else None,
            claims=_claims(tuned[run_id,]) if (run_id,) in tuned else (),
            groups=groups_of.get(run_id, Groups()),
            memory=[one for one in memory_of.get(run_id, ()) if one is not None],
            untimed=untimed.get(run_id, 0),
        )
        for run_id in records["run_id"].unique()
    }


_PLACE = ("run_id", "rank_id", "device_id")
"""Shares are of what ran there."""


def _wholes(records: pl.DataFrame) -> pl.DataFrame:
    """The total time of each place."""
    return records.group_by(_PLACE).agg(pl.col("total_ns").sum().alias("whole_ns"))


def _different(records: pl.DataFrame, name: str) -> dict[str, int]:
    """The number of distinct operators, or types, of each run; one that runs on two ranks counts once."""
    names = {"run_id", "op_type", name, "workload_args"}
    return dict(records.select(sorted(names)).unique().group_by("run_id").len().iter_rows())


def _spans(run_ids: pl.Series) -> dict[str, slice]:
    """The slice of rows of each run, where the rows of a run are adjacent."""
    spans, start = {}, 0
    for run in run_ids.rle().to_list():
        spans[run["value"]] = slice(start, start + run["len"])
        start += run["len"]
    return spans


def _groups(timed: pl.DataFrame) -> dict[str, Groups]:
    """What can be compared with another run; runs of the same operators share their keys."""
    keys = timed.select(_KEY).unique().sort(_KEY, nulls_last=True).with_row_index("key")
    groups = timed.join(keys, on=_KEY, nulls_equal=True).select("run_id", "key", "count", "total_ns")
    twice = groups.filter(groups.select("run_id", "key").is_duplicated())["run_id"].unique()
    if len(twice):  # the same work under two series is one piece of work
        again = pl.col("run_id").is_in(twice.to_list())
        sums = groups.filter(again).group_by("run_id", "key").agg(pl.col("count", "total_ns").sum())
        groups = pl.concat([groups.filter(~again), sums])
    groups = groups.sort("run_id", "key")
    names = keys.select(_KEY).rows()

    @cache
    def keys_of(places: bytes) -> tuple[tuple[Any, ...], ...]:
        return tuple(names[place] for place in np.frombuffer(places, dtype=np.uint32))

    places, counts, totals = groups["key"].to_numpy(), groups["count"].to_list(), groups["total_ns"].to_list()
    return {
        run_id: Groups(keys_of(places[span].tobytes()), counts[span], totals[span])
        for run_id, span in _spans(groups["run_id"]).items()
    }


def _longest(records: pl.DataFrame, count: int, more: str, wholes: pl.DataFrame) -> dict[str, Sequence[Row]]:
    """The longest records of each run as JSON has them, with one part of what they worked on."""
    names = (*_PLACE, "op_type", "op_name", "workload_args", "count", "total_ns", "series_id")
    ranks = wholes.group_by("run_id").len().filter(pl.col("len") > 1)["run_id"].to_list()
    of_ranks = pl.col("run_id").is_in(ranks)
    longest = records.select(names).filter(~of_ranks).sort(
        "run_id", "total_ns", "op_type", "op_name", "series_id", descending=[False, True, False, False, False], nulls_last=True
    ).group_by("run_id", maintain_order=True).head(count)  # fmt: skip
    if ranks:
        longest = pl.concat([longest, _longest_on_ranks(records.select(names).filter(of_ranks))])
    longest = longest.join(wholes, on=_PLACE, how="left", nulls_equal=True, maintain_order="left").with_columns(
        pl.col("workload_args").str.json_path_match(f"$.{more}")
    )
    rows = [
        {
            "rank_id": rank,
            "device_id": device,
            "op_type": op_type,
            "op_name": op_name,
            more: part,
            "count": tasks,
            "total_us": None if total is None else total / 1000,
            "mean_us": total / tasks / 1000 if tasks and total is not None else None,
            "share": total / whole if whole and total is not None else None,
            "series_id": series_id,
        }
        for _, rank, device, op_type, op_name, part, tasks, total, series_id, whole in longest.iter_rows()
    ]
    return {run_id: rows[span] for run_id, span in _spans(longest["run_id"]).items()}


def _longest_on_ranks(records: pl.DataFrame) -> pl.DataFrame:
    """What takes longest on all ranks of a run together, with a row for each of these."""
    key = ("run_id", "op_type", "op_name", "workload_args")
    sums = records.group_by(key).agg(pl.col("total_ns").sum().alias("of_all_ns"))
    first = sums.sort(
        *("run_id", "of_all_ns", "op_type", "op_name", "workload_args"),
        descending=[False, True, False, False, False],
        nulls_last=True,
    )
    longest = first.group_by("run_id", maintain_order=True).head(SHOWN_ON_RANKS).with_row_index("place")
    joined = records.join(longest.select(*key, "place"), on=key, nulls_equal=True)
    return joined.sort("place", "rank_id", "device_id", "series_id").select(records.columns)


def _step(row: Row) -> StepTimes:
    metrics = object_in(row, "metrics")
    return StepTimes(
        rank_id=row["rank_id"],
        device_id=row["device_id"],
        series_id=row["series_id"],
        workload=row["workload"],
        steps=row["count"],
        step_ms=row["runtime_ms_mean"],
        std_ms=row["runtime_ms_std"],
        computing_ms=number_in(metrics, "computing_ms_mean"),
        communication_ms=number_in(metrics, "communication_not_overlapped_ms_mean"),
        free_ms=number_in(metrics, "free_ms_mean"),
    )


_CLAIM = ("run_id", "scope", "phase", "op_name", "op_type", "workload_metadata", "metadata", "workload", "series_id",
          "runtime_ms_mean")  # fmt: skip


def _claims_of_runs(history: History, runs: Sequence[RunFacts]) -> dict[str, list[Claim]]:
    """AOE's claims by run; a modification without a record is read from the run's row."""
    tunings = [run for run in runs if run.is_tuning]
    if not tunings:
        return {}
    where: Where = [equals("source", "aoe"), *_nights_of(tunings)]
    records = pl.DataFrame(history.records(_CLAIM, where)).filter(pl.col("phase").is_not_null())
    of_runs = records.partition_by("run_id", as_dict=True)
    recorded = {str(run_id): list(_recorded(_claims(of_run))) for (run_id,), of_run in of_runs.items()}
    return {run.run_id: [*recorded.get(run.run_id, ()), *_unrecorded(run)] for run in tunings}


def _recorded(claims: Sequence[Stored[TuningClaim]]) -> Iterator[Claim]:
    for one in (claim.row for claim in claims):
        if one.claimed_before_us is not None and one.claimed_after_us is not None:
            name = one.name or one.op_type or "?"
            yield Claim(one.scope, name, one.claimed_before_us, one.claimed_after_us, one.unmeasured)


def _unrecorded(run: RunFacts) -> Iterator[Claim]:
    scope = "op" if run.body.get("kind") == "opat" else "subgraph"
    for part in run.body.get("modifications") or ():
        if part["before"] is not None and part["after"] is not None:
            scale = 1000 if part["unit"] == "ms" else 1
            yield Claim(scope, join_name(part["name"]), part["before"] * scale, part["after"] * scale)


def _claims(records: pl.DataFrame) -> list[Stored[TuningClaim]]:
    """AOE's times before and after, by what was tuned; the whole model first, then what saves most."""
    pairs: dict[str, list[Row]] = defaultdict(list)
    for row in records.sort("workload", "series_id").iter_rows(named=True):
        pairs[text_in(object_in(row, "metadata"), "pair_id") or row["series_id"]].append(row)
    claims = {key: _claim(rows) for key, rows in pairs.items()}

    def place(key: str) -> tuple[bool, float, str]:
        row = claims[key].row
        return row.scope != "model", -row.saved_us, key

    return [claims[key] for key in sorted(claims, key=place)]


_PHASES = ("before", "after")


def _claim(rows: Sequence[Row]) -> Stored[TuningClaim]:
    """The claim of one pair of records: one has the time before, the other the time after."""
    first = rows[0]
    claim: Row = {
        "scope": first["scope"],
        "name": first["op_name"] or text_in(object_in(first, "workload_metadata"), "repo_key"),
        "op_type": first["op_type"],
        **{f"claimed_{row['phase']}_us": row["runtime_ms_mean"] * 1000 for row in rows if row["phase"] in _PHASES},
    }
    before, after = (claim.setdefault(f"claimed_{phase}_us", None) for phase in _PHASES)
    claim["unmeasured"] = object_in(first, "metadata").get("unmeasured") is True
    claim["speed_up"] = None if claim["unmeasured"] else speed_up(before, after)
    return Stored(row=TuningClaim(run=first["run_id"], **claim), document=claim)


def _with_metrics(
    history: History, histories: Histories, regressions: Regressions, incomplete: Sequence[str]
) -> Histories:
    """The histories with metrics, which have no column of their own in records."""
    places = {row.series_id: place for place, row in enumerate(regressions.rows) if row.scope in METRICS}
    if not places:
        return histories
    columns = [name for name in (*NEEDED, *LABELS) if name in ROWS.names]
    records = read_coded(
        history, list(dict.fromkeys(columns)), [(equals("source", "foreign"), equals("scope", MEMORY))]
    )
    records = records.filter(~pl.col("run_id").is_in(list(incomplete)))
    recorded = metric_records(records, regressions.detected.input.declarations)
    if recorded is None:
        return histories
    metrics = put_together(recorded[0], (MIN_COST, MAX_COST))
    histories = _with_nights(histories, metrics.nights)
    columns_of = {night: column for column, night in enumerate(histories.nights)}
    columns_here = np.array([columns_of[night] for night in metrics.nights])
    for row, labels in enumerate(metrics.labels):
        if labels.series_id in places:
            histories.costs[places[labels.series_id], columns_here] = metrics.costs[row]
            histories.runs[places[labels.series_id], columns_here] = metrics.runs[row]
    return histories


def _with_nights(histories: Histories, more: Sequence[str]) -> Histories:
    """The histories with columns for nights in which only metrics were recorded."""
    nights = tuple(sorted({*histories.nights, *more}))
    if nights == tuple(histories.nights):
        return histories
    columns = np.searchsorted(nights, histories.nights)
    shape = (len(histories.costs), len(nights))
    costs, runs = np.full(shape, np.nan), np.full(shape, None, dtype=object)
    costs[:, columns], runs[:, columns] = histories.costs, histories.runs
    return replace(histories, nights=nights, costs=costs, runs=runs)


def _values_of(costs: Floats, row: SeriesChange) -> Floats:
    """The values of nights, by their costs."""
    if row.better != "higher":
        return costs
    return np.where(costs > 0, 1 / np.where(costs > 0, costs, 1.0), costs)


def _level_of(cost: float | None, row: SeriesChange) -> float | None:
    """The value of a level, by its cost."""
    return None if cost is None else value_of(cost, row.better)


def _of_judged(histories: Histories, regressions: Regressions) -> Histories:
    """The histories without series that are not judged because their good direction is unknown."""
    undirected = [place for place, row in enumerate(regressions.rows) if row.better is None]
    if not undirected:
        return histories
    costs = histories.costs.copy()
    costs[undirected] = np.nan
    return replace(histories, costs=costs)
