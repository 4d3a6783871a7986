"""Why an operator takes more or less than before, in words: `compare`, `regressions` and the report say it alike."""

from __future__ import annotations

from aoe_reports.model.texts import say

_CAUSES = {
    "same": say("the same"),
    "slower-calls": say("calls take longer"),
    "faster-calls": say("calls take less"),
    "more-calls": say("more calls"),
    "fewer-calls": say("fewer calls"),
    "changed-shapes": say("other shapes"),
    "changed-formats": say("other formats"),
    "changed-data-types": say("other data types"),
    "changed-inputs": say("other inputs"),
    "changed-repository": say("other knowledge bank"),
    "new": say("new"),
    "vanished": say("vanished"),
}


def cause_words(cause: str) -> str:
    """Why an operator takes more or less of a step, as people say it."""
    return _CAUSES.get(cause, cause)
