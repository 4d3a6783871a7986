"""What the server for assistants is told: what may be read, and for how long."""

from __future__ import annotations

from aoe_reports.model.options import option, options
from aoe_reports.model.texts import say

_READS = say("what assistants may read")


@options
class AssistantOptions:
    """What assistants may read, and how long a call may take."""

    root: tuple[str, ...] = option(
        default=(),
        help="Folder or URI prefix below which assistants may read (repeatable).",
        flags=["--root"],
        only_here=_READS,
    )
    store: str | None = option(
        default=None, help="Folder or URI of the store that assistants may read.", only_here=_READS
    )
    seconds: float = option(
        default=120.0, minimum=1, maximum=3600, help="Time limit of one call, in seconds.", protects=True
    )
    skill: bool = option(
        default=False,
        help="Print a skill for assistants (SKILL.md) and exit.",
        flags=["--skill"],
        only_here=say("additional output"),
    )
