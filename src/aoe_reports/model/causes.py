"""Why something takes more or less than before, in words: `compare`, `regressions` and the report say it alike."""

from __future__ import annotations

from aoe_reports.model.changes import IncidentCause
from aoe_reports.model.texts import Text, say

_CAUSES = {
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
}


def cause_words(cause: str) -> str:
    """Why an operator takes more or less of a step, as people say it."""
    return _CAUSES.get(cause, cause)


def words_of_cause(cause: IncidentCause) -> Text:
    """What caused an incident, and by how much that is longer."""
    return say("{what} {change:+.1%}", what=_about(cause), change=cause.change)


def _about(cause: IncidentCause) -> Text:
    rank = say(", rank {rank}", rank=cause.rank_id) if cause.rank_id is not None else ""
    if cause.kind == "operator":
        kind = cause.op_type or say("type unknown")
        return say("operator {name} ({kind}{rank})", name=cause.op_name, kind=kind, rank=rank)
    if cause.kind == "op-type":
        return say("operator type {kind}{rank}", kind=cause.op_type, rank=rank)
    followers = (
        say("all {count} operators", count=cause.members)
        if cause.followers == cause.members
        else say("{count} of {all} operators", count=cause.followers, all=cause.members)
    )
    return (
        say("rank {rank}: {operators}", rank=cause.rank_id, operators=followers) if cause.kind == "rank" else followers
    )
