"""All commands by what people want to do, and the names that some had before: what `--help` lists, without importing any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import N_, join, say

if TYPE_CHECKING:
    from aoe_reports.engine.question import Question

_OF_QUESTIONS = "topics."


class Entry(NamedTuple):
    """One command."""

    place: str
    """module:name of a function, or of a question."""
    title: str
    """What a list of commands says of it, in at most 62 columns."""
    is_rare: bool = False
    """Whether only `--help-all` lists it."""


class Group(NamedTuple):
    """A command that has commands."""

    title: str
    example: str
    page: str
    sections: Mapping[str, Mapping[str, Entry | Group]]
    """The commands by name, below the heading that `--help` gives them."""
    default: str = ""
    """The command that is meant where none is named."""
    is_rare: bool = False

    @property
    def commands(self) -> dict[str, Entry | Group]:
        """All commands by name."""
        return {name: one for section in self.sections.values() for name, one in section.items()}


_COMMANDS = N_("Commands")
_BANK = Group(
    N_("Knowledge banks: what they cover, what changed"),
    "bank bank --profile profile",
    "banks",
    {
        _COMMANDS: {
            "list": Entry("topics.banks.bank:Bank", N_("List what a bank covers, of a profile or by itself")),
            "diff": Entry("topics.banks.diff:BankDiff", N_("Compare two banks")),
        }
    },
    default="list",
    is_rare=True,
)
_TUNE = Group(
    N_("Run a planned tuning job: check the machine, run, adopt"),
    "tune run plan --dry-run",
    "tuning",
    {
        _COMMANDS: {
            "check": Entry("cli.commands.tuning:check", N_("Check whether this machine can run the job")),
            "run": Entry("cli.commands.tuning:run", N_("Run the job on a private bank")),
            "adopt": Entry("cli.commands.tuning:adopt", N_("Put the verified bank into use")),
        }
    },
    default="run",
)
_STORE = Group(
    N_("List, annotate and maintain the stored nights"),
    "store info --store aoe-history",
    "store",
    {
        N_("Look into the store"): {
            "history": Entry(
                "cli.commands.store:history", N_("List runs, records, changes, acknowledgements, verdicts")
            ),
            "info": Entry("cli.commands.store:info", N_("Show size, version and format of the store")),
            "verify": Entry("cli.commands.store:verify", N_("Compare every file of the store with its hash")),
        },
        N_("Annotate changes"): {
            "ack": Entry("cli.commands.store:ack", N_("Accept a slow-down as the new level")),
            "expect": Entry("cli.commands.store:expect", N_("Announce an expected change")),
            "tag": Entry("cli.commands.store:tag", N_("Name a run, for `--baseline tag:NAME`")),
        },
        N_("Maintain the store"): {
            "compact": Entry("cli.commands.store:compact", N_("Merge small files")),
            "vacuum": Entry("cli.commands.store:vacuum", N_("Delete files that no longer belong to the store")),
            "undo": Entry("cli.commands.store:undo", N_("Remove a run")),
        },
    },
)
_CACHE = Group(
    N_("Show or clear what `sql` and `convert` keep of large captures"),
    "cache info",
    "sql",
    {
        _COMMANDS: {
            "info": Entry("cli.commands.sql:info", N_("Show folder, files and bytes")),
            "clear": Entry("cli.commands.sql:clear", N_("Delete all files of the cache")),
        }
    },
    is_rare=True,
)
_FLEET = Group(
    N_("Answer one question by many jobs or machines"),
    "fleet map manifest.json --shard 1/2 --partials partials",
    "fleet",
    {
        _COMMANDS: {
            "map": Entry("cli.commands.fleet:map", N_("Read one share of the captures")),
            "reduce": Entry("cli.commands.fleet:reduce", N_("Merge all shares into the answer")),
        }
    },
    is_rare=True,
)
ROOT = Group(
    N_("Read, check, store and compare the outputs of msprof and the Ascend Optimization Engine."),
    "",
    "",
    {
        N_("Take and read profiles"): {
            "collect": Entry("cli.commands.files:collect", N_("Show how to take a profile")),
            "inspect": Entry("topics.files.inspect:Inspect", N_("Describe each file: kind, source, run, rank, rows")),
            "check": Entry("cli.commands.check:check", N_("Validate tables, AOE results, banks and records")),
            "quality": Entry("topics.quality.quality:Quality", N_("Check whether captures are fit for analysis")),
            "sql": Entry("cli.commands.sql:sql", N_("Query captures, or the store, in SQL")),
            "table": Entry("cli.commands.files:table", N_("Print one table or timeline"), is_rare=True),
            "trace": Entry("cli.commands.files:trace", N_("Cut a part out of timelines, for Perfetto"), is_rare=True),
            "convert": Entry("cli.commands.sql:convert", N_("Save captures as DuckDB or Parquet"), is_rare=True),
        },
        N_("Where time goes"): {
            "advise": Entry("topics.advice.advise:Advise", N_("Where to look first, and the gain at most")),
            "hotspots": Entry("topics.device_time.hotspots:Hotspots", N_("Operators, types, shapes or layers by time")),
            "steps": Entry("topics.steps.steps:Steps", N_("Time of each step on each rank")),
            "breakdown": Entry(
                "topics.device_time.breakdown:Breakdown", N_("Computing, communication and idle time of each step")
            ),
            "host": Entry("topics.host.host:Host", N_("Whether devices wait for the host, and why")),
            "communication": Entry(
                "topics.communication.communication:CommunicationOfRuns", N_("Communication by group, link and rank")
            ),
            "stragglers": Entry("topics.steps.stragglers:Stragglers", N_("Ranks that the others wait for")),
            "memory": Entry("topics.memory.memory:Memory", N_("Who holds device memory when it peaks, what grows")),
            "roofline": Entry(
                "topics.roofline.roofline:RooflineOfRuns", N_("Operators against the peaks of the chip"), is_rare=True
            ),
            "serving": Entry("topics.serving.serving:Serving", N_("Prefill and decode of language model servers")),
            "critical-path": Entry(
                "topics.critical_path.critical_path:CriticalPath",
                N_("The chain of dependencies that bounds each step"),
                is_rare=True,
            ),
            "stacks": Entry(
                "topics.locations.stacks:Stacks", N_("Device time by Python call stack (flame graph)"), is_rare=True
            ),
        },
        N_("What changed"): {
            "compare": Entry("topics.comparison.compare:Compare", N_("Compare profiles operator by operator")),
            "explain": Entry("topics.comparison.explain:Explain", N_("Why a step takes longer or shorter than before")),
            "ab": Entry("cli.commands.ab:ab", N_("Is a candidate slower than a baseline? A few repeats of each")),
        },
        N_("Tune operators"): {
            "plan": Entry("cli.commands.tuning:plan", N_("Select operators worth tuning, write a tuning job")),
            "tune": _TUNE,
            "verify": Entry("cli.commands.tuning:verify", N_("Verify claimed gains with profiles before and after")),
            "bank": _BANK,
        },
        N_("Every night"): {
            "nightly": Entry("cli.commands.nights:nightly", N_("Check, store, compare and report tonight's profiles")),
            "regressions": Entry(
                "cli.commands.nights:regressions",
                N_("Regressions and improvements of the stored nights"),
                is_rare=True,
            ),
            "report": Entry("cli.commands.nights:report", N_("Report one stored night"), is_rare=True),
            "site": Entry("cli.commands.nights:site", N_("Write or serve the site of the stored nights")),
        },
        N_("Store"): {
            "store": _STORE,
            "ingest": Entry(
                "cli.commands.store:ingest", N_("Store profiles, or print them as records (--dry-run)"), is_rare=True
            ),
            "cache": _CACHE,
        },
        N_("Set up and serve"): {
            "demo": Entry("cli.commands.nights:demo", N_("Try it: 45 simulated nights with one regression")),
            "doctor": Entry("cli.commands.setup:doctor", N_("Check this installation; show options set in files")),
            "fleet": _FLEET,
            "mcp": Entry(
                "cli.commands.setup:mcp", N_("Let assistants read profiles and the store (MCP)"), is_rare=True
            ),
        },
    },
)
ALIASES = {
    "ack": "store ack",
    "adopt": "tune adopt",
    "config": "doctor --options",
    "expect": "store expect",
    "history": "store history",
    "map": "fleet map",
    "normalize": "ingest --dry-run",
    "preflight": "tune check",
    "reduce": "fleet reduce",
    "serve": "site --serve",
    "tag": "store tag",
    "tune": "tune run",
}
"""Names of earlier versions and the words for them now; they go with the next release. `tune` is one where no command of it follows."""


def every_command(group: Group = ROOT, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Entry | Group]]:
    """(the words of its name, the command) of all commands and groups, each group before its commands."""
    for name, one in group.commands.items():
        yield (*before, name), one
        if isinstance(one, Group):
            yield from every_command(one, (*before, name))


@cache
def function_of(entry: Entry) -> Callable[..., Any]:
    """The function of a command; its module is imported now."""
    found: Callable[..., Any] = _resolved(entry)
    if not entry.place.startswith(_OF_QUESTIONS):
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
    """All questions that are commands, by their names."""
    entries = (one for _, one in every_command() if isinstance(one, Entry) and one.place.startswith(_OF_QUESTIONS))
    return {question.name: question for question in (_resolved(entry)() for entry in entries)}


def _resolved(entry: Entry) -> Any:
    return resolve_name(f"aoe_reports.{entry.place}")
