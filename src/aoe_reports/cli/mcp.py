"""`mcp`: assistants read captures and the store through us."""

from __future__ import annotations

from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import write
from aoe_reports.model.errors import UsageError
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


@guided(example="mcp --root profile --store aoe-history", page="assistants")
def mcp(chosen: AssistantOptions) -> None:
    """Let assistants read profiles and the store. A server of the Model Context Protocol on standard input and output, which only reads."""
    from importlib.resources import files

    if chosen.skill:
        write((files("aoe_reports.assistants") / "SKILL.md").read_text("utf-8"), None)
        return
    if not chosen.root and chosen.store is None:
        raise UsageError(say("mcp: expected --root DIR, --store URI, or both: what assistants may read"))
    from aoe_reports.assistants.places import Places
    from aoe_reports.cli.commands import every_question
    from aoe_reports.topics.files.check import Check

    places = Places.of(chosen.root)
    try:
        from aoe_reports.assistants.calls import Access
        from aoe_reports.assistants.server import serve
    except ModuleNotFoundError as error:
        raise UsageError(say("mcp needs the SDK of the protocol: pip install 'aoe-reports[mcp]'")) from error
    serve(Access({**every_question(), Check.name: Check()}, places, chosen.store), chosen.seconds)
