"""Histories: records of many nights as one table of series against nights, and what the detector says of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aoe_reports.history.detection.detector import VERSION, detect_changes
from aoe_reports.history.detection.verdicts import Change, Parameters, Verdict
from aoe_reports.history.series.metrics import may_hold, metric_records
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import MEMORY
from aoe_reports.model.history.metrics import MAX_VALUE, MIN_VALUE, TIME_UNIT, Better, Declarations
from aoe_reports.stats.budget import FALSE_ALARMS_PER_YEAR, WATCHED_NIGHTS, Budget
from aoe_reports.stats.noise import Floats

if TYPE_CHECKING:
    from aoe_reports.history.changes.gate import Gate


@dataclass(frozen=True, slots=True)
class SeriesLabels:
    """What a series is, as its newest run has it. Its identity is `series_id`, which hardware and inputs are part of."""

    series_id: str
    workload: str
    model: str
    scope: str
    op_type: str | None
    op_name: str | None
    metric: str
    hardware: str
    engine: str
    source: str
    phase: str | None
    rank_id: int | None
    device_id: int | None
    unit: str | None = TIME_UNIT
    """Of its values; None where nobody has said."""
    better: Better | None = "lower"
    """Which direction is the good one; None where nobody has said: then the series is not judged."""
    record_series: str | None = None
    """Of a metric the series of the records that it is a number of."""


_OF_METRICS = ("unit", "better", "record_series")
"""What is told of metrics alone: no columns of records."""
LABELS = tuple(each.name for each in fields(SeriesLabels) if each.name not in {"series_id", *_OF_METRICS})
"""The columns of records that say what a series is; one that the records lack is null."""


_VALUE = pl.col("runtime_ms_mean")
_TOTAL = pl.coalesce(pl.col("total_ns") / 1e6, _VALUE)
"""What all calls of a run took together, in ms."""

MIN_MS, MAX_MS = 1e-12, 1e15
"""Times beyond are none of a run, but a wrong unit or garbage: a femtosecond, thirty thousand years."""
MIN_COST, MAX_COST = 1 / MAX_VALUE, 1 / MIN_VALUE
"""Costs of metrics, which have any unit, lie between these."""


@dataclass(frozen=True, slots=True)
class Histories:
    """Series against nights, both in a fixed order: times, then metrics, each by workload and id; by date."""

    labels: tuple[SeriesLabels, ...]
    """Of each series."""
    nights: tuple[str, ...]
    costs: Floats
    """(series, nights): what a night took in ms (`of_runs`), of a metric its cost; NaN where none ran, 0 where no run has a possible one."""
    runs: np.ndarray[Any, np.dtype[np.object_]]
    """(series, nights): the newest run of a night, None where none ran."""
    totals_ms: Floats
    """(series, nights): what all calls of a run took together, of the runs of a night as the values; NaN where none ran."""


def of_runs(times: pl.Expr) -> pl.Expr:
    """What a night took of whose runs some took longer: the lower median.

    Delays only add to a time (Chen and Revels, arXiv:1608.04295): of two runs the shorter tells more of the program, so a run
    that repeats a slow night clears a suspicion of it; of three or more the middle one is not moved by a single odd one.
    """
    return times.quantile(0.5, "lower")


def histories_of(records: pl.DataFrame, declarations: Declarations = ()) -> tuple[Histories, Sequence[Finding]]:
    """(histories of the times of records and of their metrics, what is odd about these); columns as for `put_together`, and metrics."""
    times, metrics = put_together(_with_times(records)), metric_records(records, declarations)
    if metrics is None:
        return times, ()
    rows, findings = metrics
    return _beside(times, put_together(rows, (MIN_COST, MAX_COST))), findings


def _with_times(records: pl.DataFrame) -> pl.DataFrame:
    """Without records of memory: how long it was recorded is no time of a program."""
    return (
        records.filter(pl.col("scope").cast(pl.String).ne_missing(MEMORY))
        if may_hold(records, "scope", MEMORY)
        else records
    )


def _beside(times: Histories, metrics: Histories) -> Histories:
    nights = sorted({*times.nights, *metrics.nights})
    places = {night: place for place, night in enumerate(nights)}

    def spread(table: Any, of: Histories, nothing: Any) -> Any:
        found = np.full((len(of.labels), len(nights)), nothing, dtype=table.dtype)
        found[:, [places[night] for night in of.nights]] = table
        return found

    return Histories(
        labels=(*times.labels, *metrics.labels),
        nights=tuple(nights),
        costs=np.concatenate([spread(one.costs, one, np.nan) for one in (times, metrics)]),
        runs=np.concatenate([spread(one.runs, one, None) for one in (times, metrics)]),
        totals_ms=np.concatenate([spread(one.totals_ms, one, np.nan) for one in (times, metrics)]),
    )


def put_together(records: pl.DataFrame, within: tuple[float, float] = (MIN_MS, MAX_MS)) -> Histories:
    """Histories of records: series_id, night (date), run_id, timestamp_ns, runtime_ms_mean; of LABELS and total_ns what there is.

    A value beyond what is possible (`within`) is no time.

    A time that is missing or not a number is no run; a night has an impossible one (0) only where none of its runs has another.
    The order of rows does not matter, nor whether one is there twice.
    """
    missing = [pl.lit(None, dtype=pl.String).alias(name) for name in LABELS if name not in records.columns]
    if "total_ns" not in records.columns:
        missing.append(pl.lit(None, dtype=pl.Int64).alias("total_ns"))
    about = [*LABELS, *(name for name in _OF_METRICS if name in records.columns)]
    columns = ["series_id", "night", "timestamp_ns", "run_id", "runtime_ms_mean", *about, "total_ns"]
    timed = pl.col("runtime_ms_mean").is_not_null() & pl.col("runtime_ms_mean").is_not_nan()
    kept = records.with_columns(missing).select(columns)
    if not kept.select(timed.all()).item():  # millions of rows are not copied for nothing
        kept = kept.filter(timed)
    series, nights = _numbered(kept["series_id"]), _numbered(kept["night"])
    cells = series.codes * len(nights.words) + nights.codes
    shape = (len(series.words), len(nights.words))
    runs_of_cells = np.bincount(cells, minlength=shape[0] * shape[1])
    newest = np.zeros(shape[0], dtype=np.int64)
    np.maximum.at(newest, series.codes, nights.codes)
    labels = (
        kept.filter(nights.codes == newest[series.codes])
        .sort(columns, nulls_last=True)
        .group_by("series_id", maintain_order=True)
        .agg(pl.col(*about).last())
        .sort("workload", "series_id", nulls_last=True)
    )
    found = _Cells(shape)
    # nearly all nights have one run: only the others are worth a sort
    several = runs_of_cells[cells] > 1
    found.fill(
        cells[~several], _single_runs(kept.select("runtime_ms_mean", "total_ns", "run_id").filter(~several), within)
    )
    if several.any():
        merged = _merged_runs(kept.filter(several).sort(columns, nulls_last=True), within)
        found.fill(_places(series, merged["series_id"]) * shape[1] + _places(nights, merged["night"]), merged)
    order = _places(series, labels["series_id"])
    return Histories(
        labels=tuple(SeriesLabels(*row) for row in labels.select("series_id", *about).iter_rows()),
        nights=tuple(nights.words),
        costs=found.values[order],
        runs=found.runs[order],
        totals_ms=found.totals[order],
    )


class _Numbered(NamedTuple):
    codes: NDArray[np.int64]
    words: list[str]


def _numbered(texts: pl.Series) -> _Numbered:
    known = texts.dtype
    if not isinstance(known, pl.Enum):
        known = pl.Enum(texts.cast(pl.String).unique().sort())
    codes, words = texts.cast(known).to_physical().to_numpy().astype(np.int64), known.categories.to_list()
    occurs = np.bincount(codes, minlength=len(words)) > 0
    return _Numbered((np.cumsum(occurs) - 1)[codes], [word for word, its in zip(words, occurs, strict=True) if its])


def _places(numbered: _Numbered, texts: pl.Series) -> NDArray[np.int64]:
    """The codes of known texts."""
    return np.searchsorted(np.array(numbered.words, dtype=object), np.array(texts.to_list(), dtype=object))


class _Cells:
    """What the cells of histories hold; those that no run fills are empty."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.values, self.totals = np.full(shape, np.nan), np.full(shape, np.nan)
        self.runs = np.full(shape, None, dtype=object)

    def fill(self, cells: NDArray[np.int64], rows: pl.DataFrame) -> None:
        """Cells, numbered row by row, with the value, the total and the run of each."""
        self.values.flat[cells] = rows["value"].to_numpy()
        self.totals.flat[cells] = rows["total"].to_numpy()
        runs = _numbered(rows["run_id"])
        self.runs.flat[cells] = np.array(runs.words, dtype=object)[runs.codes]


def _single_runs(rows: pl.DataFrame, within: tuple[float, float]) -> pl.DataFrame:
    return rows.select(
        pl.when(_possible(within)).then(_VALUE).otherwise(0.0).alias("value"),
        pl.when(_possible(within)).then(_TOTAL).otherwise(math.nan).alias("total"),
        "run_id",
    )


def _merged_runs(ordered: pl.DataFrame, within: tuple[float, float]) -> pl.DataFrame:
    """One row for each cell that has several ordered rows, with its series and night."""
    return (
        ordered.unique(["series_id", "night", "run_id", "runtime_ms_mean"], keep="last", maintain_order=True)
        .group_by("series_id", "night", maintain_order=True)
        .agg(
            of_runs(_VALUE.filter(_possible(within))).fill_null(0.0).alias("value"),
            of_runs(_TOTAL.filter(_possible(within))).fill_null(math.nan).alias("total"),
            pl.col("run_id").last(),
        )
    )


def _possible(within: tuple[float, float]) -> pl.Expr:
    return (pl.col("runtime_ms_mean") > within[0]) & (pl.col("runtime_ms_mean") < within[1])


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on histories, under the budget that their number gave each."""

    histories: Histories
    verdicts: tuple[Verdict, ...]
    eligible: int
    """Series with enough nights: those that share the budget."""
    false_alarms_per_year: float
    parameters: Parameters = field(default_factory=Parameters)
    budgets: tuple[Budget, ...] = ()
    """Of each series its own, where gates have budgets."""
    version: int = VERSION

    def parameters_of(self, series: int) -> Parameters:
        """Those that a series was judged by."""
        return replace(self.parameters, budget=self.budgets[series]) if self.budgets else self.parameters

    def changes(self) -> Iterator[tuple[int, Change | None]]:
        """(the number of a series, its suspected or newest change; None where there is none); in hindsight each of its changes."""
        for series, verdict in enumerate(self.verdicts):
            every: list[Change | None] = [*verdict.changes] or [None]
            if not self.parameters.hindsight:
                every = [verdict.suspect or every[-1]]
            yield from ((series, change) for change in every)


def judge_histories(
    histories: Histories,
    false_alarms_per_year: float = FALSE_ALARMS_PER_YEAR,
    *,
    within: int | None = WATCHED_NIGHTS,
    gates: Sequence[Gate] = (),
    budgets: Sequence[Budget] | None = None,
) -> Judged:
    """Every series judged by its last `within` nights; the budget is shared by those that can be judged.

    Those that `gates` with a budget watch share that instead, of several the one that gives them most; `budgets` are those of
    each series, where they are known already. Without `within` whole histories are looked at once, in hindsight: the budget is
    what that look may show.
    """
    parameters = Parameters(hindsight=within is None)
    values = histories.costs if within is None else histories.costs.copy()
    if within is not None:
        values[:, : max(values.shape[1] - within, 0)] = np.nan
    undirected = [row for row, one in enumerate(histories.labels) if one.better is None]
    known = (np.isfinite(values[undirected]) & (values[undirected] > 0)).sum(axis=1).tolist()
    if undirected:
        values = values if within is not None else values.copy()
        values[undirected] = np.nan
    times = np.isfinite(values) & (values > 0)
    can_be_judged = times.sum(axis=1) >= parameters.least_nights
    eligible = int(can_be_judged.sum())
    budgets = budgets or share_budgets(histories.labels, can_be_judged, false_alarms_per_year, gates)
    parameters = replace(parameters, budget=Budget.shared(false_alarms_per_year, eligible))
    days = [date.fromisoformat(night).toordinal() for night in histories.nights]
    names = [label.workload for label in histories.labels]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    verdicts = detect_changes(values, parameters, days, [numbers[name] for name in names], budgets)
    for row, nights in zip(undirected, known, strict=True):
        verdicts[row] = replace(verdicts[row], reason="no-direction", nights=nights)
    return Judged(
        histories=histories,
        verdicts=tuple(verdicts),
        eligible=eligible,
        false_alarms_per_year=false_alarms_per_year,
        parameters=parameters,
        budgets=tuple(budgets or ()),
    )


def share_budgets(
    labels: Sequence[SeriesLabels],
    can_be_judged: NDArray[np.bool_],
    false_alarms_per_year: float,
    gates: Sequence[Gate],
) -> list[Budget] | None:
    """The budget of each series, where gates have some; the others share `false_alarms_per_year`."""
    if not gates:
        return None
    watched = np.array([[gate.watches(label) for label in labels] for gate in gates]).reshape(len(gates), len(labels))
    shares = [
        Budget.shared(gate.alarms_per_year or 0.0, int((mine & can_be_judged).sum()))
        for gate, mine in zip(gates, watched, strict=True)
    ]
    rest = Budget.shared(false_alarms_per_year, int((~watched.any(axis=0) & can_be_judged).sum()))
    return [
        max((share for share, its in zip(shares, mine, strict=True) if its), key=lambda one: one.rate, default=rest)
        for mine in watched.T.tolist()
    ]
