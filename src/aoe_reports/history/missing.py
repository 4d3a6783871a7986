"""Models that were expected on a night, and did not run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from os.path import commonpath
from pathlib import Path

from aoe_reports.history.detector_run import RunOfNight

LEAST_MODELS = 2
"""From so many models on a job is one of all models."""


def missing_models(runs: Iterable[RunOfNight], mine: Collection[str]) -> list[str]:
    """Models that were measured together with some runs (`mine`, their ids) the last time, by captures below the same folder of nights.

    A job of one model waits for no other.
    """
    others = [run for run in runs if run.run_kind != "tuning"]
    measured = [run for run in others if run.run_id in mine]
    models, first = {_model(run) for run in measured}, min((run.night for run in measured), default="")
    if len(models) < LEAST_MODELS:
        return []
    before = max((run.night for run in others if run.night < first and _model(run) in models), default=None)
    tonight = {_model(run) for run in others if run.night >= first}
    paths = [Path(str(run.path)) for run in measured]
    try:
        nights = Path(commonpath(paths)).parent
    except ValueError:  # some are relative, some are not
        return []
    depths = {len(path.parts) for path in paths}
    last = [(_model(run), Path(str(run.path))) for run in others if run.night == before]
    alike = {model for model, path in last if nights in path.parents and len(path.parts) in depths}
    return sorted(alike - tonight)


def missing_in_newest(runs: Iterable[RunOfNight], until: str | None = None) -> list[str]:
    """Those of the newest night of a store, or of a past one, on which something was measured."""
    by_then = [run for run in runs if until is None or run.night <= until]
    newest = max((run.night for run in by_then if run.run_kind != "tuning"), default=None)
    return missing_models(by_then, {run.run_id for run in by_then if run.night == newest})


def _model(run: RunOfNight) -> str:
    return run.model or "unknown"
