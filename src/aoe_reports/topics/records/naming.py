"""What a workload is called: the one home of that rule, which docs/records.md explains.

What is given (`--workload`) comes first, then what a rule of the user makes of the folders (`--workload-from`), then what
the capture says of itself, then the folders below the path that was asked for; what remains is `unknown`. The name has to
be the same night after night, so dates, numbers of processes and jobs, and folders that profilers or nightly jobs make
by themselves are no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from aoe_reports.formats.ascend.names import is_capture
from aoe_reports.formats.sources.objects import absolute_of
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.topics.records.context import UNKNOWN
from aoe_reports.topics.rules import WORKLOAD_FROM, WORKLOAD_UNKNOWN

if TYPE_CHECKING:
    from aoe_reports.formats.capture import Capture
    from aoe_reports.topics.records.options import RecordOptions

NamedBy = Literal["option", "mapping", "capture", "folder", "nothing"]
"""What tells a name; the last three are inferred, so what the store has already may overrule them."""

INFERRED = frozenset({"capture", "folder", "nothing"})

_GENERIC = (
    "after am analysis aoe apr april archive artifact artifacts ascend aug august backup baseline before build "
    "builds candidate cann capture captures card ci cluster copy csv current daily data date day days db dec "
    "december default dev device devices dump epoch export exports feb february framework ge graph host jan "
    "january job jobs json jul july jun june kernel latest level local localdomain localhost log logs mar march "
    "may measurement measurements mindspore mindstudio month monthly ms msprof new night nightly nights node "
    "nodes nov november npu oct october old op opprof output outputs part parts pid pm process prof profile "
    "profiler profiles profiling pt pytorch rank ranks raw report reports result results round run runs sample "
    "samples sep september server session sessions step steps store subgraph task tasks temp tensorflow test "
    "tests text tf time timeline timelines timestamp tmp today torch trace traces tracing trial try tuned tuning "
    "txt unknown untuned utc week weekly worker workers workspace yesterday"
)
GENERIC_WORDS = frozenset(_GENERIC.split())
"""Words that name where, when or how something was measured, not what; all in lower case."""

_SEPARATORS = " _-.+,;:@#=()[]{}~"
_DATE = r"20[1-3]\d(?P<sep>[-_.]?)(?:0[1-9]|1[0-2])(?P=sep)(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[T_. -]?(?:[01]\d|2[0-3])(?P<colon>[-_.:h]?)[0-5]\d(?:(?P=colon)[0-5]\d(?:[.,_]?\d{1,9})?)?Z?)?"
_DATED = re.compile(rf"(?<!\d){_DATE}{_TIME}(?!\d)")
_LONG_NUMBER = re.compile(r"(?<![A-Za-z0-9])\d{6,}(?![A-Za-z0-9])")
_COMMIT = re.compile(r"(?<![A-Za-z0-9])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}(?![A-Za-z0-9])")
_WORDS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Named:
    """How a run is called, what told it, and what is to be said of that."""

    model: str
    by: NamedBy
    findings: tuple[Finding, ...] = ()


def lasting_name(text: str) -> str | None:
    """What of a folder or model name is the same every night; None where nothing of it names a workload."""
    if is_capture(text) or text.startswith(("PROF_", "OPPROF_")):
        return None
    name = undated(text)
    words = [word.lower() for word in _WORDS.findall(name)]
    return name if any(word not in GENERIC_WORDS for word in words) else None


def undated(text: str) -> str:
    """A name without dates, times, commits and long numbers; empty where no letter is left."""
    name = text
    for changing in (_DATED, _COMMIT, _LONG_NUMBER):
        name = changing.sub("", name)
    if name != text:
        name = re.sub(r"([ _.-])[ _.-]+", r"\1", name).strip(_SEPARATORS)
    return name if _WORDS.search(name) else ""


def name_workload(options: RecordOptions, place: Path, told: Iterable[str | None] = ()) -> Named:
    """The name of what was measured in `place` (a capture's folder, or that of a file).

    `told` is what the capture or file says of itself, the surest first; what changes with the night is left out of it.
    It is asked no further than it has to be.
    """
    if options.workload:
        return Named(options.workload, "option")
    findings: tuple[Finding, ...] = ()
    rule = options.rule
    if rule is not None:
        mapped = rule.name_of(place, folders_below(place, options.asked))
        if mapped is not None:
            return Named(_as_text(mapped), "mapping")
        if rule.pattern is not None:
            findings = (_not_mapped(place, rule),)
    for name in told:
        if name:
            return Named(_as_text(name), "capture", findings)
    folder = folder_name(folders_below(place, options.asked))
    if folder is not None:
        return Named(_as_text(folder), "folder", findings)
    message = say("there is no information on what was measured; it is stored as workload 'unknown' (see --workload)")
    return Named(UNKNOWN, "nothing", (*findings, WORKLOAD_UNKNOWN.found(str(place), message)))


def name_captures(options: RecordOptions, captures: Sequence[Capture], in_tables: Iterable[str | None]) -> Named:
    """The name of a run of captures; `in_tables` are the models that their tables name, asked for only where nothing surer tells."""
    return name_workload(options, captures[0].root, _said_by(captures, in_tables))


def _said_by(captures: Sequence[Capture], in_tables: Iterable[str | None]) -> Iterator[str | None]:
    """What captures say was measured: in their metadata, in their tables; None where they say none, or several."""
    yield _only_one(capture.info.workload for capture in captures)
    yield _only_one(in_tables)


def _only_one(names: Iterable[str | None]) -> str | None:
    found = set(names)
    return found.pop() if len(found) == 1 else None


def folders_below(place: Path, asked: Sequence[Path]) -> tuple[str, ...]:
    """The folders from the nearest path that was asked for, itself left out, down to a place."""
    whole = absolute_of(place)
    above = [absolute_of(path) for path in asked]
    inside = [path for path in above if whole.is_relative_to(path)]
    if not inside:
        return ()
    nearest = max(inside, key=lambda path: len(path.parts))
    return whole.parts[len(nearest.parts) :]


def folder_name(folders: Sequence[str]) -> str | None:
    """The name that folders give: all parts that last, joined by slashes; None where there are none."""
    lasting = [name for folder in folders if (name := lasting_name(folder)) is not None]
    return "/".join(lasting) or None


FOLDER = "folder"
NAME = "{workload}"
MAX_PATTERN = 500
_ANY_DEPTH = "**"


@dataclass(frozen=True, slots=True)
class WorkloadFrom:
    """`--workload-from`: the folders' names (`folder`), or a pattern that says which part is the name.

    `folder` takes those that are inferred, and where none of them names anything the one that was asked for.

    A pattern is a path of folders: `*` stands for any part of one folder's name, `**` for any number of folders, and
    `{workload}` for the name, within one folder. It is held against the folders below the path that was asked for, from the first
    one on (one that begins with / against the whole path); what lies below its end is free. Each * takes as little as it can.
    """

    pattern: tuple[str, ...] | None
    """The folders of the pattern; None for `folder`."""
    whole_path: bool = False
    text: str = FOLDER

    @classmethod
    def parse(cls, text: str) -> WorkloadFrom:
        """A rule as somebody writes it; UsageError for one that cannot name anything."""
        if text == FOLDER:
            return cls(None)
        parts = tuple(part for part in text.split("/") if part not in {"", "."})
        wrong = _wrong_with(text, parts)
        if wrong is not None:
            raise UsageError(say("--workload-from {text!r}: {why}", text=text, why=wrong))
        return cls(parts, text.startswith("/"), text)

    def name_of(self, place: Path, folders: Sequence[str]) -> str | None:
        """The name that the rule gives a place, whose folders below the path asked for these are; None for none."""
        whole = absolute_of(place).parts[1:]
        if self.pattern is None:
            above = len(whole) - len(folders)
            return folder_name(folders) or folder_name(whole[max(above - 1, 0) : above])
        found = _match_path(self.pattern, whole if self.whole_path else folders)
        return undated(found) or None if found else None


def _wrong_with(text: str, parts: Sequence[str]) -> str | None:
    if len(text) > MAX_PATTERN:
        return say("longer than {most} characters", most=MAX_PATTERN)
    if text.count(NAME) != 1:
        return say("expected `folder`, or a pattern of folders with one {name} in it, such as */{name}", name=NAME)
    if any(_ANY_DEPTH in part and part != _ANY_DEPTH for part in parts):
        return say("** matches whole folder levels and must be alone between two slashes")
    if _SIDE_BY_SIDE.search(text):
        return say("the boundary between {name} and * is ambiguous: expected other characters between them", name=NAME)
    return None


def _match_path(pattern: Sequence[str], folders: Sequence[str]) -> str | None:
    """The name where the folders begin with the pattern, None where they do not.

    What stands between `**` is taken as early as it fits. What lies behind the end is free, so no later place could do better.
    """
    runs: list[list[str]] = [[]]
    for part in pattern:
        if part == _ANY_DEPTH:
            runs.append([])
        else:
            runs[-1].append(part)
    start, name = 0, None
    for place, run in enumerate(runs):
        last = len(folders) - len(run)
        tried = range(start, min(start, last) + 1) if place == 0 else range(start, last + 1)
        for first in tried:
            found = _match_run(run, folders[first : first + len(run)])
            if found is not None:
                start, name = first + len(run), found or name
                break
        else:
            return None
    return name


def _match_run(run: Sequence[str], folders: Sequence[str]) -> str | None:
    """The name in folders that fit one by one, "" where none of them names; None where they do not fit."""
    name = ""
    for part, folder in zip(run, folders, strict=True):
        found = _match_folder(part, folder)
        if found is None:
            return None
        name = found or name
    return name


_WILD = re.compile(r"(\*|\{workload\})")
_SIDE_BY_SIDE = re.compile(r"\*\{workload\}|\{workload\}\*")


def _match_folder(part: str, folder: str) -> str | None:
    """The name in one folder, "" where the pattern has none; None where it does not fit. Left to right, nothing is tried twice."""
    pieces = _WILD.split(part)
    literals, wild = pieces[::2], pieces[1::2]
    if not wild:
        return "" if part == folder else None
    if not folder.startswith(literals[0]):
        return None
    at, name = len(literals[0]), ""
    for place, sign in enumerate(wild):
        literal, least = literals[place + 1], int(sign == NAME)
        if place == len(wild) - 1:
            end = len(folder) - len(literal)
            fits = folder.endswith(literal) and end >= at + least
        else:
            end = folder.find(literal, at + least)
            fits = end >= 0
        if not fits:
            return None
        if sign == NAME:
            name = folder[at:end]
        at = end + len(literal)
    return name


def _not_mapped(place: Path, rule: WorkloadFrom) -> Finding:
    message = say(
        "--workload-from {pattern!r} does not match this path; the workload is named without it", pattern=rule.text
    )
    return WORKLOAD_FROM.found(str(place), message)


def _as_text(name: str) -> str:
    """A name that is text: the odd byte of a folder's name becomes a question mark."""
    return name.encode("utf-8", "replace").decode()
