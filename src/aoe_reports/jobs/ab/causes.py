"""What may be the reason of a difference: the program, what was run, where it ran, or noise, in this order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from aoe_reports.jobs.ab.repeats import Repeat
from aoe_reports.jobs.ab.verdicts import FIRST, Judged, Observed
from aoe_reports.model.history.causes import reason_words
from aoe_reports.model.history.changes import METRIC
from aoe_reports.model.sides import CAUSES, CauseState, QuantityVerdict, SideCause, SideFact
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.topics.comparison.explain import ChangePart

REAL, BENCHMARK, ENVIRONMENT, NOISE = CAUSES
MAX_NAMED = 3
NONE = "–"  # noqa: RUF001 -- what tables print for no value
IN_TURNS = 0.5
"""Interleaving (1: in turns, 0: one side after the other) below which the machine may have changed between the sides."""
OTHER_CALLS = 0.005
"""Calls in a step that differ by more between the sides are another number of calls."""
OTHER_INPUTS = frozenset({"changed-shapes", "changed-formats", "changed-data-types", "changed-inputs"})
"""Causes of `explain` that are no matter of the program's speed."""
_DIFFERENT = frozenset({"slower", "faster"})


def facts_of(sides: Sequence[Sequence[Repeat]]) -> list[SideFact]:
    """The conditions that differ between the sides: what was run first, then where."""
    return [
        *_facts("benchmark", [[repeat.benchmark for repeat in side] for side in sides]),
        *_facts("environment", [[repeat.environment for repeat in side] for side in sides]),
    ]


def _facts(kind: str, sides: Sequence[Sequence[Mapping[str, str]]]) -> Iterator[SideFact]:
    for name in sorted({name for side in sides for facts in side for name in facts}):
        before, after = ([facts[name] for facts in side if name in facts] for side in sides)
        words = _ranges(before, after) if _is_of_each_run(before) and _is_of_each_run(after) else _values(before, after)
        if words is not None:
            yield SideFact(what=name, before=words[0], after=words[1], kind=kind)


def _is_of_each_run(values: Sequence[str]) -> bool:
    """Whether a condition is another one in each repeat: a process, a time, a temperature."""
    return len(values) > 1 and len(set(values)) == len(values)


def _values(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    """What differs; not where a side has several values and shares one with the other, as conditions do that vary from run to run."""
    first, second = set(before), set(after)
    if first == second or (first & second and max(len(first), len(second)) > 1):
        return None
    return ", ".join(sorted(first)) or NONE, ", ".join(sorted(second)) or NONE


def _ranges(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    """Numbers that differ in each repeat, where those of one side are all above those of the other; other words are ignored."""
    try:
        first, second = ([float(value) for value in values] for values in (before, after))
    except ValueError:
        return None
    if max(first) >= min(second) and max(second) >= min(first):
        return None
    return f"{min(first):g} … {max(first):g}", f"{min(second):g} … {max(second):g}"


def causes_of(
    judged: Judged, sides: Sequence[Sequence[Repeat]], facts: Sequence[SideFact], parts: Sequence[ChangePart]
) -> list[SideCause]:
    """The four possible reasons, each with what speaks for it."""
    proved = [row for row in judged.rows if row.verdict in _DIFFERENT]
    benchmark = [*_of_benchmark(judged, facts, parts)]
    environment = [_words(fact) for fact in facts if fact.kind == "environment"]
    if not all(observed.design.interleaving >= IN_TURNS for observed in judged.observed.values()):
        environment.append(say("the sides are not known to have run in turns: the state of the machine may differ"))
    is_recorded = all(repeat.environment.keys() - {"engine"} for side in sides for repeat in side)
    if not proved:
        real: tuple[CauseState, Text] = "no", say("no quantity is proved to differ")
    elif benchmark or environment:
        real = "possible", say("{rows}; other conditions differ, too (below)", rows=_named(proved))
    else:
        real = "likely", say("{rows}; nothing else is known to differ", rows=_named(proved))
    is_known = all(
        repeat.benchmark or any(value.calls for value in repeat.values.values()) for side in sides for repeat in side
    )
    return [
        SideCause(cause=REAL, state=real[0], evidence=real[1]),
        _cause(BENCHMARK, benchmark, say("the same operators, calls and arguments, as far as they are recorded"))
        if benchmark or is_known
        else SideCause(cause=BENCHMARK, state="unknown", evidence=say("nothing here records operators or arguments")),
        _cause(ENVIRONMENT, environment, say("no recorded condition differs"))
        if environment or is_recorded
        else SideCause(
            cause=ENVIRONMENT, state="unknown", evidence=say("nothing here records versions, hardware or settings")
        ),
        _noise(judged),
    ]


def _cause(cause: str, evidence: Sequence[Text], otherwise: Text) -> SideCause:
    if not evidence:
        return SideCause(cause=cause, state="no", evidence=otherwise)
    more = len(evidence) - MAX_NAMED
    words = join("; ", evidence[:MAX_NAMED])
    return SideCause(
        cause=cause,
        state="possible",
        evidence=say("{words}; and {count} more", words=words, count=more) if more > 0 else words,
    )


def _of_benchmark(judged: Judged, facts: Sequence[SideFact], parts: Sequence[ChangePart]) -> Iterator[Text]:
    """What the sides did not do alike: arguments, operators of one side alone, other numbers of calls, other inputs."""
    yield from (_words(fact) for fact in facts if fact.kind == "benchmark")
    others = [quantity for quantity in judged.one_side if quantity.scope in {METRIC, "model"}]
    if others:
        names = join(", ", [quantity.name for quantity in others[:MAX_NAMED]])
        yield say("measured on one side only: {names}", names=names)
    operators = [
        quantity for quantity in judged.one_side if quantity.scope not in {METRIC, "model", "step", "computing"}
    ]
    if operators:
        names = join(", ", [quantity.name for quantity in operators[:MAX_NAMED]])
        yield count_of(
            len(operators),
            "{number} operator type runs on one side only ({names})",
            "{number} operator types run on one side only ({names})",
            names=names,
        )
    calls = [(series, change) for series in judged.observed.values() if (change := _other_calls(series))]
    for series, change in sorted(calls, key=lambda pair: -abs(pair[1]))[:MAX_NAMED]:
        yield say("{name}: {change:+.1%} calls in a step", name=series.quantity.name, change=change)

    for part in parts:
        if part.cause in OTHER_INPUTS and part.name is not None:
            yield say("{name}: {cause}", name=part.name, cause=reason_words(part.cause, part.area))


def _other_calls(series: Observed) -> float:
    """Relative change of the calls in a step; 0 if within OTHER_CALLS or unknown."""
    counts = [[value.calls for value in side if value.calls] for side in series.sides]
    if not all(counts):
        return 0.0
    change = fmean(counts[1]) / fmean(counts[0]) - 1
    return change if abs(change) > OTHER_CALLS else 0.0


def _noise(judged: Judged) -> SideCause:
    whole = [row for row in judged.rows if row.scope in FIRST] or judged.rows
    open_rows = [row for row in whole if row.verdict == "cannot tell"]
    if any(row.noise == "samples" for row in whole):
        return SideCause(
            cause=NOISE, state="unknown", evidence=say("single times within results say nothing of noise between runs")
        )
    if not open_rows:
        return SideCause(
            cause=NOISE,
            state="no",
            evidence=say("the difference is larger than noise")
            if any(row.verdict in _DIFFERENT for row in judged.rows)
            else say("the difference is within the margin"),
        )
    first = open_rows[0]
    if first.ci_low is None or first.ci_high is None:
        return SideCause(cause=NOISE, state="unknown", evidence=first.reason or "")
    evidence = say(
        "{name}: {low:+.1%} to {high:+.1%} is possible; minimum detectable effect {least:.1%}",
        name=first.name,
        low=first.ci_low,
        high=first.ci_high,
        least=first.smallest_detectable,
    )
    return SideCause(cause=NOISE, state="possible", evidence=evidence)


def _named(rows: Sequence[QuantityVerdict]) -> Text:
    return join(", ", [say("{name} {change:+.1%}", name=row.name, change=row.change) for row in rows[:MAX_NAMED]])


def _words(fact: SideFact) -> Text:
    return say("{what}: {before} → {after}", what=fact.what, before=fact.before, after=fact.after)
