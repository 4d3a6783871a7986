"""Why something takes more or less than before, in words: `compare`, `regressions` and the report say it alike."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from aoe_reports.model.history.changes import COMPUTING, MEMORY, METRICS, PHASE, IncidentCause, PastNight, ToldFact
from aoe_reports.model.history.memory_words import memory_series_name
from aoe_reports.model.shares import signed_percent
from aoe_reports.model.texts import N_, Text, count_of, join, say

NAMED = 3
"""So many causes, or models, are named in a title or a headline."""
MIN_EXPLAINED = 0.1
"""A cause that explains less than this part of what all causes add to a step is not named there."""

_REASONS = {
    "same": say("the same"),
    "slower-calls": say("calls are slower"),
    "faster-calls": say("calls are faster"),
    "more-calls": say("more calls"),
    "fewer-calls": say("fewer calls"),
    "changed-shapes": say("shapes changed"),
    "changed-formats": say("formats changed"),
    "changed-data-types": say("data types changed"),
    "changed-inputs": say("inputs changed"),
    "changed-repository": say("knowledge bank changed"),
    "new": say("new"),
    "vanished": say("vanished"),
    "fused": say("fused"),
    "split": say("split"),
    "replaced": say("replaced"),
    "less-hidden": say("less of it runs beside something else"),
    "more-hidden": say("more of it runs beside something else"),
    "not-listed": say("kernels that no table lists"),
    "longer-pauses": say("pauses between transfers are longer"),
    "shorter-pauses": say("pauses between transfers are shorter"),
    "slower-transfer": say("transfers are slower"),
    "faster-transfer": say("transfers are faster"),
    "more-bytes": say("more bytes"),
    "fewer-bytes": say("fewer bytes"),
    "more-waiting": say("waits longer for other ranks"),
    "less-waiting": say("waits less for other ranks"),
    "host launch": say("the host launches late"),
    "behind the launch": say("between launch and start"),
    "waiting for an event": say("waiting for an event"),
    "synchronisation": say("the host synchronises"),
    "data loading": say("the host loads data"),
    "compilation": say("the host compiles operators"),
    "garbage collection": say("the host collects garbage"),
    "unknown": say("cause unknown"),
    "not-told": say("no details on both sides"),
    "others": say("all other parts"),
}


_OF_COMMUNICATION = {
    "slower-calls": say("calls take longer, waiting included"),
    "faster-calls": say("calls take less time, waiting included"),
}
"""Used where it is not known how long communication waited."""


def reason_words(reason: str, area: str | None = None) -> str:
    """Why an operator, of an area of a step if that is known, takes more or less of it, as people say it."""
    words = _OF_COMMUNICATION.get(reason) if area == "communication" else None
    return _REASONS.get(reason, reason) if words is None else words


class Named(Protocol):
    """A series, as far as its name goes."""

    @property
    def workload(self) -> str:
        """What was measured."""

    @property
    def scope(self) -> str:
        """What it is of."""

    @property
    def metric(self) -> str | None:
        """The name of a metric."""


class Ranked(Named, Protocol):
    """A series, as far as its name goes, maybe of one rank."""

    @property
    def rank_id(self) -> int | None:
        """Its rank; None where it is of all."""


def series_name(one: Named) -> Text | str:
    """What a series is called: the workload, of a metric with its name."""
    if one.scope == MEMORY:
        return memory_series_name(one.metric, one.workload)
    return (
        say("{metric} of {workload}", metric=one.metric, workload=one.workload)
        if one.scope in METRICS
        else one.workload
    )


def part_words(scope: str, workload: str, rank_id: int | None = None) -> Text | None:
    """A module, a layer or a phase of a model; None where a series is of none."""
    model, separator, name = workload.partition(f"/{scope}/")
    if scope not in _PARTS or not separator:
        return None
    words = "{name} of {model}{rank}" if name.startswith("(") else _PARTS[scope]
    named = say(name) if scope == PHASE else name
    return say(words, name=named, model=model, rank=rank_words(rank_id))


_PARTS = N_(
    {
        "module": "module {name} of {model}{rank}",
        "layer": "layer {name} of {model}{rank}",
        PHASE: "{name} iterations of {model}{rank}",
    }
)


def main_causes(causes: Sequence[IncidentCause]) -> list[IncidentCause]:
    """The causes that a title or a headline names; all of them where it is not known what each adds to a step."""
    shares = [abs(cause.step_share) for cause in causes if cause.step_share is not None]
    if len(shares) < len(causes):
        return list(causes)
    least = MIN_EXPLAINED * sum(shares)
    return [cause for cause, share in zip(causes, shares, strict=True) if share >= least]


def causes_in_words(
    causes: Sequence[IncidentCause],
    models: Sequence[str],
    said: str | None = None,
    *,
    of_step: bool = False,
    most: int = NAMED,
) -> Text:
    """What caused an incident of some models, each main cause with the change, the first `most`; and of which model, where that was not `said`.

    What each costs a step is said, too, unless it is told `of_step`: then the step's own change is.
    """
    named, causes = [], main_causes(causes)
    for cause in causes[:most]:
        whose = _whose(cause, models)
        words = say("{what} {change}", what=_about(cause), change=signed_percent(cause.change))
        if cause.step_share is not None and not of_step:
            share = (
                math.ceil(round(abs(cause.step_share) * 1000, 6)) / 1000
            )  # what it takes at most is not rounded down
            words = say("{what} (at most {share:.1%} of a step)", what=words, share=share)
        named.append(words if whose == said else say("{model}: {what}", model=whose, what=words))
        said = whose
    return _and_others(join("; ", named), len(causes) - most)


def past_night_in_words(night: PastNight) -> Text:
    """What was different on a night, or on two, before everything was as before."""
    what = causes_in_words([night.cause], night.models, of_step=True)
    if night.night == night.last_night:
        return say("{night}: {what}; the next night was as before.", night=night.night, what=what)
    return say(
        "{first} to {last}: {what}; the next night was as before.", first=night.night, last=night.last_night, what=what
    )


def models_in_words(models: Sequence[str]) -> Text:
    """The first three, and how many more there are."""
    return _and_others(join(", ", models[:NAMED]), len(models) - NAMED)


def facts_in_words(facts: Iterable[ToldFact]) -> Text:
    """What else changed where an incident began."""
    return join("; ", map(_fact, facts))


def operator_words(op_type: str | None, op_name: str | None, rank_id: int | None = None) -> Text:
    """An operator, else an operator type, maybe on one rank; what is called as its type, or whose type nobody knows, has no type behind it."""
    rank = rank_words(rank_id)
    if op_name and op_type and op_name != op_type:
        return say("operator {name} ({kind}{rank})", name=op_name, kind=op_type, rank=rank)
    if op_name:
        return say("operator {name}{rank}", name=op_name, rank=rank)
    return say("operator type {kind}{rank}", kind=op_type, rank=rank)


def rank_words(rank_id: int | None, ranks: int = 1) -> str:
    """The rank that something is of, behind its name, or of how many `ranks`; nothing where it is of all."""
    if rank_id is None:
        return ""
    return say(", {count} ranks", count=ranks) if ranks > 1 else say(", rank {rank}", rank=rank_id)


def count_ranks(lead: Ranked, others: Iterable[Ranked]) -> int:
    """The number of ranks that changed, among series of the same workload and scope."""
    same = {other.rank_id for other in others if (other.workload, other.scope) == (lead.workload, lead.scope)}
    return len(same | {lead.rank_id})


def _fact(fact: ToldFact) -> Text:
    name = say("engine version") if fact.name == "engine_version" else fact.name
    return say(
        "{name} {before} → {after}", name=name, before=fact.before or say("none"), after=fact.after or say("none")
    )


def _whose(cause: IncidentCause, models: Sequence[str]) -> str:
    if cause.model is not None:
        return cause.model
    named = models_in_words(models)
    return say("whole machine ({models})", models=named) if cause.kind == "machine" else named


def _about(cause: IncidentCause) -> Text:
    if cause.kind in {"operator", "op-type"}:
        name = cause.op_name if cause.kind == "operator" else None
        return operator_words(cause.op_type, name, cause.rank_id)
    if cause.op_type == COMPUTING:
        whose = say("rank {rank}", rank=cause.rank_id)
        if cause.rank_id is None:
            whose = count_of(cause.followers, "{number} rank", "{number} ranks")
        return say("{ranks}: all operators", ranks=whose)
    followers = (
        say("all {count} operators", count=cause.members)
        if cause.followers == cause.members
        else say("{count} of {all} operators", count=cause.followers, all=cause.members)
    )
    return (
        say("rank {rank}: {operators}", rank=cause.rank_id, operators=followers) if cause.kind == "rank" else followers
    )


def _and_others(named: Text, others: int) -> Text:
    if others <= 0:
        return named
    return say("{named} and {others}", named=named, others=count_of(others, "{number} more", "{number} more"))
