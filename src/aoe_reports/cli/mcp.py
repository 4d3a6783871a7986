"""`mcp`: assistants read captures and the store through us."""

from __future__ import annotations

from aoe_reports.assistants.options import AssistantOptions
from aoe_reports.cli.guide import guided
from aoe_reports.cli.output import write
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say


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
    from aoe_reports.questions.check import Check

    places = Places.of(chosen.root)
    try:
        from aoe_reports.assistants.server import serve
    except ModuleNotFoundError as error:
        raise UsageError(say("mcp needs the SDK of the protocol: pip install 'aoe-reports[mcp]'")) from error
    serve({**every_question(), Check.name: Check()}, places, chosen.store, chosen.seconds)
