"""How far a tuning run is, by what its result files say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from aoe_reports.results import TuningResult
from aoe_reports.texts import Text, join, say

BAR_CELLS = 24


@dataclass(frozen=True, slots=True)
class Progress:
    """What result files tell of a run that is going on."""

    done: int
    """Operators or subgraphs that are through, as far as the files tell: AOE counts those that it left alone."""
    asked: int | None
    """How many operators were asked for by name; null where whole types, subgraphs or everything is tuned."""
    improved: int
    failed: int
    best_gain: float | None
    """The largest before/after - 1 so far."""
    what: str
    final: bool = True
    """Whether every task is through: until then AOE's numbers prove nothing."""

    @property
    def share(self) -> float | None:
        """What part is through; null where it is not known how many there are."""
        return min(1.0, self.done / self.asked) if self.asked else None


def progress_of(results: Sequence[TuningResult], asked: int | None) -> Progress:
    """The progress that the tasks of all result files of a run tell."""
    improved = {m.join_name for result in results for m in result.modifications}
    failed = {name for result in results for name in result.failed_operators}
    counted = sum(
        result.summary.get(key, 0)
        for result in results
        for key in ("repo_add_num", "repo_update_num", "repo_reserved_num", "repo_unsatisfied_num")
    )
    gains = [
        gain for result in results for m in result.modifications if (gain := gain_of(m.before, m.after)) is not None
    ]
    what = "subgraphs" if results and all(result.kind == "sgat" for result in results) else "operators"
    done = max(len(improved | failed), counted)
    final = not any(result.broken_off for result in results)
    return Progress(done, asked, len(improved), len(failed), max(gains, default=None), what, final)


def gain_of(before: Decimal | None, after: Decimal | None) -> float | None:
    """before/after - 1, the way AOE counts improvement; null where a time is missing or not above 0."""
    if before is None or after is None or before <= 0 or after <= 0:
        return None
    return float(before / after - 1)


def describe_progress(stage: str, progress: Progress) -> Text:
    """The progress in a line."""
    done = {"done": progress.done, "what": say(progress.what)}
    parts = [
        say("{done} {what} done", **done)
        if progress.asked is None
        else say("{done} of {asked} {what} done", asked=progress.asked, **done),
        say("{number} improved" if progress.final else "{number} changed so far", number=progress.improved),
    ]
    if progress.failed:
        parts.append(say("{number} failed", number=progress.failed))
    if progress.best_gain is not None:
        parts.append(
            say(
                "best speed-up {gain:+.1%}" if progress.final else "best speed-up {gain:+.1%} (not final)",
                gain=progress.best_gain,
            )
        )
    return say("{name}: {why}", name=stage, why=join(", ", parts))


def draw_progress(stage: str, progress: Progress) -> Text:
    """The progress as a bar, where it is known how much there is to do."""
    if progress.share is None:
        return describe_progress(stage, progress)
    full = round(progress.share * BAR_CELLS)
    return f"[{'#' * full}{'.' * (BAR_CELLS - full)}] " + describe_progress(stage, progress)
