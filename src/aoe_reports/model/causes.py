"""Why an operator takes more or less than before, in words: `compare`, `regressions` and the report say it alike."""

from __future__ import annotations

from aoe_reports.model.texts import say

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
