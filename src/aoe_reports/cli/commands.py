"""All commands, and where each is: its module is imported when somebody asks for it, which takes a tenth of a second for all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import join, say

if TYPE_CHECKING:
    from aoe_reports.engine.question import Question

COMMANDS = (
    "topics.files.inspect:Inspect", "cli.table:table", "cli.sql:sql", "cli.sql:convert", "cli.check:check", "topics.quality.quality:Quality", "topics.device_time.hotspots:Hotspots",
    "topics.steps.steps:Steps", "topics.device_time.breakdown:Breakdown", "topics.critical_path.critical_path:CriticalPath", "topics.host.host:Host",
    "topics.communication.communication:CommunicationOfRuns", "topics.steps.stragglers:Stragglers", "topics.comparison.compare:Compare",
    "topics.comparison.explain:Explain", "topics.roofline.roofline:RooflineOfRuns", "topics.locations.stacks:Stacks", "topics.serving.serving:Serving",
    "topics.advice.advise:Advise", "cli.trace:trace", "cli.map:map", "cli.map:reduce", "cli.collect:collect", "cli.plan:plan",
    "cli.preflight:preflight", "cli.tune:tune", "cli.verify:verify", "cli.adopt:adopt", "cli.normalize:normalize", "cli.ingest:ingest",
    "cli.history:history", "cli.regressions:regressions", "cli.acknowledge:ack", "cli.acknowledge:expect", "cli.acknowledge:tag",
    "cli.report:report", "cli.site:site", "cli.serve:serve", "cli.mcp:mcp", "cli.nightly:nightly", "cli.demo:demo", "cli.config:config",
    "cli.doctor:doctor",
)  # fmt: skip
"""module:name, in the order of --help: a function, or a question, which is called as its module."""
OF_BANK = {"list": "topics.banks.bank:Bank", "diff": "topics.banks.diff:BankDiff"}
"""The commands of the group `bank`, by their names."""
_OF_QUESTIONS = "topics."


def name_of(place: str) -> str:
    """What the command at a place is called."""
    module, _, name = place.partition(":")
    return module.rpartition(".")[2].replace("_", "-") if module.startswith(_OF_QUESTIONS) else name


@cache
def command_at(place: str) -> Callable[..., Any]:
    """The function of the command at a place."""
    found: Callable[..., Any] = _resolved(place)
    if not place.startswith(_OF_QUESTIONS):
        return found
    from aoe_reports.cli.questions import command_of

    return command_of(found())


def question_of(name: str) -> Question[Any, Any]:
    """The question that a command asks."""
    every = every_question()
    if name not in every:
        raise UsageError(say("no question {name}; expected one of {names}", name=name, names=join(", ", every)))
    return every[name]


def every_question() -> dict[str, Question[Any, Any]]:
    """All questions that are commands, by their names; those of groups are among them."""
    places = (place for place in (*OF_BANK.values(), *COMMANDS) if place.startswith(_OF_QUESTIONS))
    return {question.name: question for question in (_resolved(place)() for place in places)}


def _resolved(place: str) -> Any:
    return resolve_name(f"aoe_reports.{place}")
