"""The scatter of a quantity where its repeats are too few: from the nights of a store, or from single times of a benchmark."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aoe_reports.engine.question import Notes
from aoe_reports.jobs.ab.options import AbOptions
from aoe_reports.jobs.ab.repeats import Quantity
from aoe_reports.jobs.ab.rules import STORED_NOISE
from aoe_reports.jobs.ab.verdicts import KnownScatter, Observed
from aoe_reports.model.errors import UsageError
from aoe_reports.model.history.changes import METRIC
from aoe_reports.model.texts import join, say
from aoe_reports.stats.budget import FALSE_ALARMS_PER_YEAR, WATCHED_NIGHTS
from aoe_reports.stats.noise import FLOOR, compact, estimate, known
from aoe_reports.topics.records.context import UNKNOWN

if TYPE_CHECKING:
    from aoe_reports.history.series.series import Histories, SeriesLabels

MIN_NIGHTS = 10
"""Of a series, below which the store does not know its noise."""
MAX_SCATTER, MAX_FREE = 1e6, 10_000
"""A file may claim any scatter, of any number of single times: more says nothing more."""
_Key = tuple[str, str]
"""(scope, name) of a quantity."""


def scatters_of(
    observed: Sequence[Observed], options: AbOptions, hardware: Collection[str], notes: Notes
) -> dict[Quantity, KnownScatter]:
    """What is known of the scatter of quantities with too few repeats, of nights on this `hardware` where both are known. Raises UsageError, StoreError."""
    few = [series for series in observed if not series.design.is_enough]
    scatters = {series.quantity: scatter for series in few if options.samples for scatter in _of_samples(series)}
    if options.store is not None and few:
        nights, labels = _of_store(
            options.store, options, {series.quantity.workload.partition("/")[0] for series in few}
        )
        other = {label.hardware for label in labels} - {*hardware} - {UNKNOWN} if hardware else set()
        text = say("the noise is that of nights of {workload}", workload=labels[0].model if labels else UNKNOWN)
        if other:
            text = say(
                "{text} on {stored}, these repeats ran on {hardware}",
                text=text,
                stored=", ".join(sorted(other)),
                hardware=", ".join(sorted(hardware)),
            )
        notes.add([STORED_NOISE.found(options.store, text, severity="warning" if other else "info")])
        for series in few:
            scatter = nights.get((series.quantity.scope, series.quantity.name))
            if scatter is not None:
                scatters[series.quantity] = scatter
    return scatters


def _of_samples(series: Observed) -> Iterator[KnownScatter]:
    """Pooled over all results of both sides; none where one of them does not say how its single times scatter."""
    values = series.values
    if any(value.std is None or value.samples < 2 for value in values):  # noqa: PLR2004 -- one time has no scatter
        return
    shares = [min((value.std or 0.0) / value.cost, MAX_SCATTER) for value in values]
    free = sum(value.samples - 1 for value in values)
    squares = sum((value.samples - 1) * share**2 for value, share in zip(values, shares, strict=True))
    counts = [round(sum(value.samples for value in side) / len(side)) for side in series.sides]
    yield KnownScatter(max(math.sqrt(squares / free), FLOOR), min(free, MAX_FREE), "samples", (counts[0], counts[1]))


def _of_store(uri: str, options: AbOptions, names: set[str]) -> tuple[Mapping[_Key, KnownScatter], list[SeriesLabels]]:
    """(the scatter between nights of the workload, by scope and name, the median of its ranks; the series that it is of)."""
    from aoe_reports.history.detection.run import DetectorInput, run_detector  # noqa: PLC0415 -- polars
    from aoe_reports.history.origin import origin_of  # noqa: PLC0415
    from aoe_reports.history.runs.clocks import read_runs  # noqa: PLC0415
    from aoe_reports.store import History  # noqa: PLC0415

    history = History.open(uri, origin=origin_of("ab"))
    wanted = DetectorInput(
        parts=frozenset(),
        false_alarms_per_year=FALSE_ALARMS_PER_YEAR,
        within=WATCHED_NIGHTS,
        until=None,
        declarations=options.declarations(),
    )
    histories = run_detector(history, wanted, read_runs(history)).judged.histories
    model = _model_of(histories, options.workload, names)
    logs, _, lengths = compact(histories.costs)
    sigmas, _ = estimate(logs, lengths, known(np.maximum(lengths, 1)))
    sigmas_of: dict[_Key, list[tuple[float, int]]] = {}
    for index, labels in enumerate(histories.labels):
        if labels.model == model and lengths[index] >= MIN_NIGHTS:
            sigmas_of.setdefault(_key_of(labels), []).append((float(sigmas[index]), int(lengths[index])))
    scatters = {
        key: KnownScatter(
            max(float(np.median([sigma for sigma, _ in group])), FLOOR), min(n for _, n in group) // 2, "store"
        )
        for key, group in sigmas_of.items()
    }
    return scatters, [labels for labels in histories.labels if labels.model == model]


def _model_of(histories: Histories, named: str | None, names: set[str]) -> str:
    """The workload whose nights are meant: the one that is named, that the repeats name, or the only one. Raises UsageError."""
    models = {labels.model for labels in histories.labels}
    if named is not None and named not in models:
        raise UsageError(
            say(
                "--store: no nights of workload {name}; there are {names}", name=named, names=join(", ", sorted(models))
            )
        )
    for chosen in ({named} if named else set(), names & models, models):
        if len(chosen) == 1 and chosen <= models:
            return chosen.pop()
    raise UsageError(
        say(
            "--store: expected one workload by --workload: {names}",
            names=join(", ", sorted(models)) or say("the store is empty"),
        )
    )


def _key_of(labels: SeriesLabels) -> _Key:
    if labels.scope == METRIC:
        return METRIC, labels.metric
    if labels.scope in {"step", "computing"}:
        return labels.scope, labels.scope
    return labels.scope, labels.op_type or labels.op_name or "runtime"
