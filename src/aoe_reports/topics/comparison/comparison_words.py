"""What `compare` found, in words: the headline, what is told by itself, a section for each candidate and rank."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

from aoe_reports.model.history.causes import operator_words, reason_words
from aoe_reports.model.report import Grid, Highlight, Section
from aoe_reports.model.rows import Column, as_mapping, columns_of, telling_columns
from aoe_reports.model.shares import change_words
from aoe_reports.model.texts import Text, capital, count_of, say
from aoe_reports.model.time_units import times_in_one_unit
from aoe_reports.topics.comparison.compare import Change, ComparedPair, Total

if TYPE_CHECKING:
    from aoe_reports.topics.comparison.explain import ExplainedStep

HIGHLIGHTS = 5
"""So many changes of a candidate on a rank are told by themselves."""
_COLUMNS_OF_STEPS = (
    Column("position", "#", "integer"),
    Column("rank_id", "Rank", "integer"),
    Column("metric", "Component of the step", "word"),
    Column("step", "Step", "integer"),
    Column("state", "State", "state"),
    Column("baseline_count", "Steps before", "integer"),
    Column("candidate_count", "Steps after", "integer"),
    Column("baseline_mean_us", "Mean before", "us"),
    Column("candidate_mean_us", "Mean after", "us"),
    Column("mean_difference_us", "Difference of means", "us"),
    Column("ci_low_us", "from", "us"),
    Column("ci_high_us", "to", "us"),
    Column("difference_us", "Difference of totals", "us"),
    Column("ratio", "Ratio of totals", "ratio"),
)
"""What people are shown of the same rows where they are of steps."""


def headline_of(pairs: Sequence[ComparedPair], uncounted: Container[str] = ()) -> str:
    """How much the pair that changed most changed, and what changed most in it.

    Of candidates that may have another number of steps (`uncounted`), and have another number of calls, totals are no change of a step.
    """
    told = [(total, mine) for total, mine in pairs if mine]
    if not told:
        return ""
    total, mine = max(told, key=lambda pair: _relative_change(*_levels(*pair)))
    of_steps = mine[0].metric is not None
    parts = [one for one in mine if one.step is None and one.metric != "duration"]
    certain = [part for part in parts if _difference(part) and not _scatters(part)]
    largest = max(certain, key=lambda one: abs(_difference(one)), default=None)
    return say(
        "{what}{rank}: {change}{largest}.{others}",
        what=say("A step") if of_steps else say("Compared calls"),
        rank="" if total.rank_id is None else say(" on rank {rank}", rank=total.rank_id),
        change=_totals_of_calls(total, mine) if total.candidate in uncounted else _changed(*_levels(total, mine)),
        largest=""
        if largest is None
        else say(
            "; largest change: {what} {difference}", what=_subject(largest), difference=_signed(_difference(largest))
        ),
        others=""
        if len(told) == 1
        else count_of(len(told) - 1, " {number} other comparison below.", " {number} other comparisons below."),
    )


def _totals_of_calls(total: Total, changes: Sequence[Change]) -> Text:
    """Totals if the numbers of steps are unknown or differ; a percentage only if both sides have equally many calls."""
    before, after = (sum(getattr(change, f"{side}_count") for change in changes) for side in ("baseline", "candidate"))
    if before == after:
        return _changed(*_levels(total, changes))
    (total_before, total_after), unit = times_in_one_unit(*_levels(total, changes))
    return say(
        "{before} {unit} in {calls_before:,} calls → {after} {unit} in {calls_after:,} calls (totals: the numbers of steps are unknown or differ)",
        before=total_before,
        after=total_after,
        unit=unit,
        calls_before=before,
        calls_after=after,
    )


def _relative_change(before_ns: float, after_ns: float) -> float:
    """Either way; of what is new the largest there is."""
    return abs(after_ns / before_ns - 1) if before_ns else math.inf if after_ns else 0.0


def _levels(total: Total, changes: Sequence[Change]) -> tuple[float, float]:
    """What is compared before and after, in ns: the mean of a step, else all calls together."""
    whole = changes[0]
    if whole.metric is None or whole.baseline_mean_ns is None or whole.candidate_mean_ns is None:
        return total.baseline_total_ns, total.candidate_total_ns
    return whole.baseline_mean_ns, whole.candidate_mean_ns


def _difference(change: Change) -> float:
    """Of the means of a part of a step, of the totals of calls; ns."""
    return change.difference_ns if change.metric is None else change.mean_difference_ns or 0.0


def _changed(before_ns: float, after_ns: float) -> Text:
    (before, after), unit = times_in_one_unit(before_ns, after_ns)
    levels = say("{before} → {after} {unit}", before=before, after=after, unit=unit)
    if not before_ns:
        return levels
    return say("{change} ({levels})", change=change_words(after_ns / before_ns - 1), levels=levels)


def _signed(difference_ns: float) -> str:
    (time,), unit = times_in_one_unit(difference_ns)
    return f"{'+' if difference_ns > 0 else ''}{time} {unit}"


def _subject(change: Change) -> str:
    if change.metric is not None:
        return change.metric
    if change.op_type or change.op_name:
        return operator_words(change.op_type, change.op_name)
    return change.location or say("calls launched in no known module")


def highlights_of(pairs: Sequence[ComparedPair]) -> list[Highlight]:
    """The largest changes of each pair that more than scatter tells apart."""
    return [_highlight(one) for _, mine in pairs for one in [each for each in mine if _is_told(each)][:HIGHLIGHTS]]


def _is_told(change: Change) -> bool:
    """Whether a group of calls, or a part of all steps, is new or gone, or its interval does not hold zero."""
    if change.step is not None or change.state != "both":
        return change.step is None
    return change.ci_low_ns is not None and not _scatters(change)


def _scatters(change: Change) -> bool:
    """Whether scatter alone explains a change: its interval holds zero. What is new or gone, and what has no interval, is none such."""
    return (
        change.state == "both"
        and change.ci_low_ns is not None
        and change.ci_high_ns is not None
        and change.ci_low_ns <= 0 <= change.ci_high_ns
    )


def _highlight(change: Change) -> Highlight:
    what = (
        say("{what} on rank {rank}", what=_subject(change), rank=change.rank_id)
        if change.rank_id is not None
        else _subject(change)
    )
    slower = _difference(change) > 0
    if change.state != "both":
        (time,), unit = times_in_one_unit(abs(change.difference_ns))
        title, told = reason_words(change.state), say("{what}: {time} {unit}", what=what, time=time, unit=unit)
    else:
        of_calls = change.metric is None
        before = change.baseline_total_ns if of_calls else change.baseline_mean_ns
        after = change.candidate_total_ns if of_calls else change.candidate_mean_ns
        title, told = (
            "slower" if slower else "faster",
            say("{what} {change}", what=what, change=_changed(before or 0, after or 0)),
        )
        told = say("{what}: {reason}", what=told, reason=reason_words(change.cause)) if change.cause else told
    return Highlight("warning" if slower else "info", capital(title), told)


def sections_of(pairs: Sequence[ComparedPair], method: Mapping[str, float]) -> list[Section]:
    """One section for each candidate and rank, and one that says how it was compared."""
    of_steps = any(change.metric is not None for _, mine in pairs for change in mine)
    columns = _COLUMNS_OF_STEPS if of_steps else columns_of(Change)
    sections = []
    for total, mine in pairs:
        rows = [as_mapping(change) | {"cause": reason_words(change.cause or "") or None} for change in mine]
        shown = sum(change.metric is None or change.step is not None for change in mine)
        grid = Grid(telling_columns(columns, rows), rows) if rows else None
        sections.append(Section(title_of(total), _sentences(total, shown), grid=grid))
    return [*sections, Section("How it was compared", _how(method, of_steps=of_steps))] if pairs else sections


def title_of(pair: Total | ExplainedStep) -> str:
    """Names the candidate, the baseline and the rank."""
    return say(
        "{candidate} compared with {baseline}{rank}",
        candidate=pair.candidate,
        baseline=pair.baseline,
        rank="" if pair.rank_id is None else say(", rank {rank}", rank=pair.rank_id),
    )


def _sentences(total: Total, shown: int) -> list[str]:
    sums = say(
        "Before {before:,.3f} us, after {after:,.3f} us: difference {difference:+,.3f} us{ratio}.",
        before=total.baseline_total_ns / 1000,
        after=total.candidate_total_ns / 1000,
        difference=total.difference_ns / 1000,
        ratio="" if total.ratio is None else say(", ratio {ratio:.4f}", ratio=total.ratio),
    )
    if shown >= total.groups:
        return [sums]
    return [sums, say("The {shown} rows with the largest change of {count}.", shown=shown, count=total.groups)]


def _how(method: Mapping[str, float], *, of_steps: bool) -> list[str]:
    level, resamples, normal, least = (method[key] for key in ("level", "resamples", "normal_above", "least_values"))
    order = say(
        (
            "Difference is candidate - baseline, ratio is candidate / baseline. The first rows cover all steps, "
            "by mean and total; single steps follow, the largest absolute change first."
        )
        if of_steps
        else (
            "Difference is candidate - baseline, ratio is candidate / baseline, both of totals; the largest "
            "absolute change of a total comes first."
        )
    )
    interval = say(
        (
            "From, to: {level:.0%} interval of candidate mean - baseline mean, from a percentile bootstrap with "
            "{resamples} resamples of the single values of each side (fixed seed); with more than {normal} "
            "values on a side, from the normal distribution that such means approach; no interval with fewer "
            "than {least} values on a side. The interval describes the spread within these captures, not what "
            "another capture would show."
        ),
        level=level,
        resamples=resamples,
        normal=normal,
        least=least,
    )
    cause = say(
        "Cause names the largest of three components that add up to the difference: calls with the same inputs "
        "(shapes, formats, data types) take longer or shorter; the number of these calls differs; calls have "
        "inputs that the other side does not have. Where the interval holds zero, no cause is given for calls that take longer or shorter."
    )
    return [order, interval] if of_steps else [order, interval, cause]
