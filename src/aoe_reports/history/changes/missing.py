"""Models that were expected on a night, and did not run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from os.path import commonpath
from pathlib import Path

from aoe_reports.history.changes.absent import MIN_NIGHTS, absence
from aoe_reports.history.runs.clocks import RunOfNight, runs_with_wrong_clock
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.expected import find_absent
from aoe_reports.model.texts import Text, say

MIN_MODELS = 2
"""From so many models on a job is one of all models."""

Missing = Mapping[str, Text]
"""Models that did not run, in order, and why they are expected."""


def missing_models(
    runs: Iterable[RunOfNight], mine: Collection[str], inputs: Sequence[Path] | None = None
) -> dict[str, Text]:
    """Models that are expected beside some runs (`mine`, their ids), which a job found below its `inputs` (None: not known).

    Two things lead to expect one. It was measured together with those runs' models the last time, by captures below the same
    folder of nights, and the job is one of several models. Or every recent night of those models had it, in the same
    place: a job that was given only one model's place waits for no other until a whole night has passed without it.
    """
    others = [run for run in runs if run.run_kind != "tuning"]
    wrong = {run.run_id for run in runs_with_wrong_clock(others)}
    others = [run for run in others if run.run_id not in wrong]
    measured = [run for run in others if run.run_id in mine]
    if not measured:
        return {}
    every_night = _of_every_night(others, measured, inputs)
    last = {
        model: say("it was measured together with these workloads the last time") for model in _last(others, measured)
    }
    return dict(sorted({**last, **every_night}.items()))


def missing_in_newest(runs: Iterable[RunOfNight], until: str | None = None) -> dict[str, Text]:
    """Those of the newest night of a store, or of a past one, on which something was measured."""
    by_then = [run for run in runs if run.run_kind != "tuning" and (until is None or run.night <= until)]
    wrong = {run.run_id for run in runs_with_wrong_clock(by_then)}
    newest = max((run.night for run in by_then if run.run_id not in wrong), default=None)
    return missing_models(by_then, {run.run_id for run in by_then if run.night == newest})


def findings_of_missing(missing: Missing, store: str) -> list[Finding]:
    """A warning for each model that did not run."""
    return find_absent(store, "workload", missing, (), "warning")


def _last(others: Sequence[RunOfNight], measured: Sequence[RunOfNight]) -> set[str]:
    """Models measured together with those of the job the last time."""
    models, first = {_model(run) for run in measured}, min(run.night for run in measured)
    if len(models) < MIN_MODELS:
        return set()
    before = max((run.night for run in others if run.night < first and _model(run) in models), default=None)
    paths = [_path(run) for run in measured]
    try:
        nights = Path(commonpath(paths)).parent
    except ValueError:  # some are relative, some are not
        return set()
    depths = {len(path.parts) for path in paths}
    last = [(_model(run), _path(run)) for run in others if run.night == before]
    alike = {model for model, path in last if nights in path.parents and len(path.parts) in depths}
    return alike - {_model(run) for run in others if run.night >= first}


def _of_every_night(
    others: Sequence[RunOfNight], measured: Sequence[RunOfNight], inputs: Sequence[Path] | None
) -> dict[str, Text]:
    """Models that were present on each of the recent nights of the job's models."""
    models, newest = {_model(run) for run in measured}, max(run.night for run in measured)
    nights = sorted({run.night for run in others if _model(run) in models and run.night <= newest})
    runs_of: dict[str, dict[str, RunOfNight]] = defaultdict(dict)
    for run in others:
        runs_of[_model(run)][run.night] = run
    ours, found = [runs_of[model] for model in models], {}
    for model, its in runs_of.items():
        gone = absence([night in its for night in nights]) if max(its) < newest else None
        if gone is None:
            continue
        before = nights[: len(nights) - gone.nights]
        due = (
            _is_first(its, ours, before)
            if inputs is None
            else _is_in_given_nights(inputs, its[before[-1]], ours, measured)
        )
        if due or gone.nights > 1:
            found[model] = say(
                "not on {night}, and each of the {before} nights before {since} had it",
                night=newest,
                before=gone.before,
                since=nights[len(before)],
            )
    return found


def _is_first(its: _Nights, ours: Sequence[_Nights], nights: Sequence[str]) -> bool:
    return all(
        any(night in our and its[night].timestamp_ns <= our[night].timestamp_ns for our in ours)
        for night in nights[-MIN_NIGHTS:]
    )


def _is_in_given_nights(
    inputs: Sequence[Path], last: RunOfNight, ours: Sequence[_Nights], measured: Sequence[RunOfNight]
) -> bool:
    """Whether an input of the job is the folder of a night, and the folder of the model's `last` night contained the model.

    Another model of the job leads to that folder: as deep as the input, with this model's run of that night.
    """
    paths = {_model(our[last.night]): _path(our[last.night]) for our in ours if last.night in our}
    for run in measured:
        for given in inputs:
            if _model(run) in paths and given in {_path(run), *_path(run).parents}:
                depth = len(given.parts)
                folder = paths[_model(run)].parts[:depth]
                if folder != given.parts and folder == _path(last).parts[:depth]:
                    return True
    return False


_Nights = Mapping[str, RunOfNight]
"""The runs of a model by night."""


def _model(run: RunOfNight) -> str:
    return run.model or "unknown"


def _path(run: RunOfNight) -> Path:
    return Path(str(run.path))
