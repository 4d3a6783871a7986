"""How far a tuning run is, as far as its tuner tells, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass

from aoe_reports.model.texts import Text, join, say


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known of a run that is going on."""

    done: int
    """How many of what is tuned are through, as far as the tuner tells."""
    asked: int | None
    """How many were asked for by name; null where it is not known."""
    improved: int
    failed: int
    best_gain: float | None
    """The largest before/after - 1 so far."""
    what: str
    final: bool = True
    """Whether every task is through: until then the tuner's numbers prove nothing."""

    @property
    def share(self) -> float | None:
        """What part is through; null where it is not known how many there are."""
        return min(1.0, self.done / self.asked) if self.asked else None


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
