"""What `ab` says of two sides of repeats: a verdict for each quantity, and what may be the reason of a difference."""

from __future__ import annotations

from typing import Any, Final, Literal

from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import N_, Text, count_of, say

SideVerdict = Literal["slower", "faster", "same", "cannot tell"]
CauseState = Literal["likely", "possible", "no", "unknown"]
CAUSES: Final = N_(("real", "benchmark changed", "environment", "noise"))
"""What may be the reason of a difference, in the order in which it is examined: the program, what was run, where it ran, chance."""
CAUSE_STATES: Final = N_(("likely", "possible", "no", "unknown"))
SideReason = Literal["slower", "not-enough-repeats", "not-in-candidate", "gate-not-judged", "not-proved-same"]
"""Why the exit code of `ab` is not 0."""
SIDE_EXIT_CODES: Final[dict[SideReason, int]] = {
    "slower": 1,
    "not-enough-repeats": 4,
    "not-in-candidate": 4,
    "gate-not-judged": 4,
    "not-proved-same": 5,
}


@row
class QuantityVerdict:
    """One quantity on both sides. `change` is candidate / baseline - 1 of the value; above 0 is slower, or more of a metric.

    `ci_low` and `ci_high` enclose the change; each is wrong in `error` of all cases at most. `before` and `after` are medians of the repeats.
    """

    verdict: str = column("Verdict", "word")
    workload: str = column("Workload")
    scope: str = column()
    name: str = column("Quantity")
    metric: str | None = column(default=None)
    inputs: str | None = column("With", default=None)
    """The arguments and settings that distinguish this quantity from others of its name."""
    unit: str | None = column("Unit", default=None)
    better: str = column()
    before: float | None = column("Baseline median", "number", default=None)
    after: float | None = column("Candidate median", "number", default=None)
    change: float | None = column("Change", "change", default=None)
    ci_low: float | None = column("from", "change", default=None)
    ci_high: float | None = column("to", "change", default=None)
    smallest_detectable: float | None = column("Minimum detectable effect", "percent", default=None)
    more_repeats: int | None = column("More repeats a side", "integer", default=None)
    baseline_repeats: int = column("Baseline repeats", "integer", detail=True)
    candidate_repeats: int = column("Candidate repeats", "integer", detail=True)
    scatter: float | None = column("Scatter", "percent", detail=True, default=None)
    noise: str | None = column(default=None)
    """Where the scatter comes from: the repeats, the store, or single times (`samples`)."""
    error: float | None = column(default=None)
    margin: float = column()
    step_share: float | None = column("Effect on a step", "change", detail=True, default=None)
    input_shapes: str | None = column("Input shapes with the largest part", detail=True, default=None)
    """Of an operator type, by its change between the median captures."""
    fails: str | None = column(default=None)
    reason: str | None = column("Reason", "sentence", detail=True, default=None)


@row
class SideCause:
    """One of the four possible reasons of a difference, in the order in which they are examined."""

    cause: str = column("Possible cause", "word")
    state: str = column("State", "word")
    evidence: str = column("Evidence", "sentence")


@row
class SideFact:
    """What is known of both sides beside their values: what differs may be the reason."""

    what: str = column("Condition", "word")
    before: str = column("Baseline")
    after: str = column("Candidate")
    kind: str = column()
    """`benchmark`: what was run; `environment`: where it ran."""


@row
class BuildRow:
    """A build between an older one and a newer one that is slower; `change` is against the median of the first."""

    position: int = column("#", "integer")
    build: str = column("Build")
    repeats: int = column("Repeats", "integer")
    value: float | None = column("Median", "number", default=None)
    change: float | None = column("Change", "change", default=None)
    probability: float | None = column("Changed here", "percent", default=None)
    """That the level changed with this build."""
    measure: int | None = column("Repeats to measure next", "integer", default=None)


VERDICT_WORDS = {
    "slower": say("slower"),
    "faster": say("faster"),
    "same": say("the same"),
    "cannot tell": say("cannot tell"),
}


def named(row: QuantityVerdict) -> str:
    """What was measured: the step, an operator type, a benchmark or its metric, with the arguments that distinguish it from others."""
    name = (
        say("The step") if row.scope == "step" else row.workload if row.scope == "model" and row.workload else row.name
    )
    return name if row.inputs is None else say("{name} ({inputs})", name=name, inputs=row.inputs)


def describe(row: QuantityVerdict) -> Text:
    """One verdict as a sentence without its full stop."""
    name = named(row)
    if row.ci_low is None or row.ci_high is None:
        return say("{name}: cannot tell ({change:+.1%}; {reason})", name=name, change=row.change, reason=row.reason)
    found: dict[str, Any] = {"name": name, "change": row.change, "low": row.ci_low, "high": row.ci_high}
    if row.verdict == "same":
        return say(
            "{name}: the same within {margin:.1%} ({change:+.1%}, {low:+.1%} to {high:+.1%})",
            margin=row.margin,
            **found,
        )
    if row.verdict == "cannot tell":
        more = (
            say("more than 1,000 repeats would be needed")
            if row.more_repeats is None
            else count_of(row.more_repeats, "{number} more repeat of each side", "{number} more repeats of each side")
        )
        return say("{name}: cannot tell ({change:+.1%}, {low:+.1%} to {high:+.1%}; {more})", more=more, **found)
    verdict = VERDICT_WORDS[row.verdict]
    if row.noise == "samples":
        return say(
            "{name}: {verdict}, {change:+.1%} ({low:+.1%} to {high:+.1%}) by single times within results, not between runs",
            verdict=verdict,
            **found,
        )
    if row.input_shapes is not None:
        return say(
            "{name}: {verdict}, {change:+.1%} ({low:+.1%} to {high:+.1%}), the largest part with input shapes {shapes}",
            verdict=verdict,
            shapes=row.input_shapes,
            **found,
        )
    return say("{name}: {verdict}, {change:+.1%} ({low:+.1%} to {high:+.1%})", verdict=verdict, **found)
