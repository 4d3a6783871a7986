"""Runs and their nights, and which of them were dated by a clock that was wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aoe_reports.history.rules import CLOCK_JUMP
from aoe_reports.history.series.baselines import ordinal
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.store import History

CLOCK_GAP_DAYS = 365
"""A night further than a year from all others is no gap in a history, but a clock that was wrong."""
_MIN_LEVEL, _MIN_HISTORY = 3, 10


@dataclass(frozen=True, slots=True)
class RunOfNight:
    """A run, and the night that it belongs to."""

    run_id: str
    night: str
    model: str | None
    run_kind: str
    path: str | None
    timestamp_ns: int


def read_runs(history: History) -> list[RunOfNight]:
    """All runs, night by night."""
    return sorted(history.read("run", RunOfNight), key=lambda run: (run.night, run.run_id))


def runs_with_wrong_clock(runs: Sequence[RunOfNight]) -> Iterator[RunOfNight]:
    """Runs that are compared with no other.

    A workload's nights fall apart where more than a year lies between two. A part of fewer nights than make a level, beside
    one that is long enough to be judged, is no history: it would be the newest night for ever, or the oldest.
    """
    by_model: dict[str, list[RunOfNight]] = {}
    for run in runs:
        if run.run_kind != "tuning":
            by_model.setdefault(str(run.model), []).append(run)
    for _, ours in sorted(by_model.items()):
        parts = _apart(sorted({run.night for run in ours}))
        if max(map(len, parts)) >= _MIN_HISTORY:
            gone = {night for part in parts if len(part) < _MIN_LEVEL for night in part}
            yield from (run for run in ours if run.night in gone)


def _apart(nights: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = []
    for night in nights:
        if parts and abs(ordinal(night) - ordinal(parts[-1][-1])) <= CLOCK_GAP_DAYS:
            parts[-1].append(night)
        else:
            parts.append([night])
    return parts


def clock_jumps(history: History, runs: Sequence[RunOfNight]) -> dict[str, Finding]:
    """What is said of runs whose clock was wrong, by run."""
    found = {}
    for run in runs_with_wrong_clock(runs):
        message = say(
            "run {run_id} of {model} is dated {night}, more than a year from all its other nights: it is not "
            "compared with any night (`store undo {run_id}` removes it)",
            run_id=run.run_id,
            model=run.model,
            night=run.night,
        )
        found[run.run_id] = CLOCK_JUMP.found(run.path or history.uri, message)
    return found
