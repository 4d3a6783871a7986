"""What AOE and the frameworks that drive it say on the console: whether tuning came to its end, errors, claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from aoe_reports.model.texts import join, say
from aoe_reports.tuning.job.driver import Runs
from aoe_reports.tuning.job.state import PrintedClaim
from aoe_reports.tuning.options import Scenario
from aoe_reports.tuning.plan.plan import TENSORFLOW

FINISHED = ("Aoe process finished", "process finished. Performance improved by")
"""What aoe says in the end: releases since 6.2, and those before (seeds of both in the AOE guides)."""

ADAPTER_BEGINS = "in tune mode, training graph handled by tools"
ADAPTER_TUNES = "Aoe tuning graph"

_PERCENT = re.compile(r"\s*(-?\d{1,12}(?:\.\d{1,12})?)\s*%")

_LONGEST_LINE = 300
MAX_KEPT = 50
"""How many codes and claims are kept: more of them say nothing new."""


@dataclass(slots=True)
class Console:
    """Takes in line after line; afterwards tells what was said."""

    scenario: Scenario
    runs: Runs
    seen: set[str] = field(default_factory=set)
    codes: dict[str, str] = field(default_factory=dict)
    """Each error code with the first line that names it."""
    claims: list[PrintedClaim] = field(default_factory=list)

    def take(self, line: str, shown: str | None = None) -> None:
        """Take in one line; `shown` is the same without what is not to be written down."""
        for words in (*FINISHED, ADAPTER_BEGINS, ADAPTER_TUNES):
            if words in line:
                self.seen.add(words)
        for code in codes_of_line(line):
            if len(self.codes) < MAX_KEPT:
                self.codes.setdefault(code, (line if shown is None else shown).strip()[:_LONGEST_LINE])
        _, words, behind = line.partition(FINISHED[1])
        percent = _PERCENT.match(behind) if words else None
        if percent and len(self.claims) < MAX_KEPT:
            before = (line if shown is None else shown).partition(FINISHED[1])[0]
            name = (before.split() or [""])[-1].removeprefix("[Aoe]")
            self.claims.append(PrintedClaim(name, percent[1]))

    @property
    def missing(self) -> str | None:
        """What should have been said and was not; None if tuning came to its end, or nothing is known to be said."""
        if self.runs == "tuner":
            return None if self.seen & set(FINISHED) else say("{words!r} did not appear", words=FINISHED[0])
        if self.scenario in TENSORFLOW:
            lacking = [repr(words) for words in (ADAPTER_BEGINS, ADAPTER_TUNES) if words not in self.seen]
            if lacking:
                words = join(" and ", lacking)
                return say("{words} did not appear: the framework did not tune", words=words)
        return None


CONSOLE_CODES = {
    "EG0000": ("Invalid Command Line Argument", say("compare the options with `aoe --help` of the installed version")),
    "EG0001": ("Invalid Configuration Argument", say("check aoe.ini: TUNING_PARALLEL_NUM, RUN_LOOP, WORK_PATH")),
    "EG0002": (
        "Invalid Environment Variable Argument",
        say("check TUNE_BANK_PATH, REPEAT_TUNE, TE_PARALLEL_COMPILER"),
    ),
    "EG0003": ("Invalid Option Argument", say("an option has a value that it does not accept")),
    "EG0004": ("Invalid Command Line Argument", say("compare the options with `aoe --help` of the installed version")),
    "EG0010": (
        "Directory Operation Failure",
        say("a folder is missing, or the permission to read, write or enter it is missing"),
    ),
    "EG0011": (
        "File Operation Failure",
        say("a file is missing or may not be accessed, or the disk is full"),
    ),
    "EG0012": ("Invalid Component", say("a component of CANN is not installed or has a different version")),
    "EG0013": (
        "Device Operation Failure",
        say("is the device present, healthy and not used by anyone else (npu-smi info)?"),
    ),
    "EG10000": (
        "Network Communication Failure",
        say("remote tuning: is the other side reachable (--ip, --port)?"),
    ),
    "EG10001": ("Private Key/Certificate Verification Failure", say("remote tuning: check keys and certificates")),
    "WG0000": ("Memory Insufficient", say("reduce TUNING_PARALLEL_NUM in aoe.ini, or free memory")),
}
"""Codes that AOE prints: title (hiascend.com, CANN 8.1.RC1 troubleshooting, AOE Errors) and what to look at, which is ours."""

API_CODES = {
    -1: ("AOE_FAILURE", say("a failure that AOE does not specify: see the log above it")),
    0: ("AOE_SUCCESS", say("no error")),
    1: (
        "AOE_ERROR_MEMORY_ALLOC",
        say("memory allocation failed: reduce TUNING_PARALLEL_NUM, or free memory"),
    ),
    2: ("AOE_ERROR_INVALID_PARAM", say("a parameter is not valid")),
    3: ("AOE_ERROR_UNINITIALIZED", say("AOE was called before it was initialised")),
    4: ("AOE_ERROR_REPEAT_INITIALIZE", say("AOE was initialised twice")),
    5: ("AOE_ERROR_INVALID_SESSION", say("a session that does not exist")),
    6: ("AOE_ERROR_BUSY", say("several threads tune at once")),
    7: ("AOE_ERROR_INVALID_GRAPH", say("a graph that cannot be tuned")),
    8: ("AOE_ERROR_NON_OPTIMIZE_GRAPH", say("there is no graph to tune")),
    9: ("AOE_ERROR_DYNAMIC_GRAPH", say("the graph is dynamic; only static shapes are tuned")),
    10: ("AOE_ERROR_DYNAMIC_SHAPE_RANGE", say("operators have dynamic shapes; only static ones are tuned")),
    11: ("AOE_ERROR_INVALID_OPTION_ATTR", say("an option is not valid")),
    12: ("AOE_ERROR_NON_OPTIMIZABLE_OBJECT", say("no object can be tuned")),
    100: ("AOE_ERROR_TUNING_ERROR", say("tuning failed for a reason that AOE does not name")),
}
"""Codes of AOE's programming interface (CANN 8.0 to 9.0), which the adapters of frameworks print; the advice is ours."""

HARMLESS_API_CODES = frozenset({0, 8, 12})
"""Codes after which an adapter continues: nothing was there to be tuned."""

_CONSOLE = re.compile(r"(?<![A-Za-z0-9_])([EW]G\d{4,5})(?!\d)")
_OTHER = re.compile(r"^\s*(?:\[\w+\]\s*)?(E[A-Z]?\d{4,5}): ")
_ADAPTER = re.compile(r"exec aoe [a-z ]{0,60}func failed(?:\[(-?\d{1,6})\])?")


def codes_of_line(line: str) -> Iterator[str]:
    """The error codes in a line of the console: AOE's anywhere, of other parts of CANN where a line begins with one."""
    yield from dict.fromkeys(_CONSOLE.findall(line))
    other = _OTHER.match(line)
    if other and not _CONSOLE.match(other[1]):
        yield other[1]
    adapter = _ADAPTER.search(line)
    if adapter and (adapter[1] is None or int(adapter[1]) not in HARMLESS_API_CODES):
        yield f"AOE {adapter[1]}" if adapter[1] else "AOE"


def explain_code(code: str) -> str:
    """A code in a sentence: what it stands for and what to look at."""
    if code == "AOE":
        return say("the framework's adapter reports that tuning failed, without a code")
    if code.startswith("AOE "):
        number = code[4:]
        known = API_CODES.get(int(number))
        if known is None:
            return say("code {number}, which is not in AOE's list", number=number)
        return say("code {number}, {title}: {advice}", number=number, title=known[0], advice=known[1])
    known = CONSOLE_CODES.get(code)
    if known:
        return say("{code}, {title}: {advice}", code=code, title=known[0], advice=known[1])
    if code[1] == "G":
        return say("{code}, an AOE error that is not in its published list", code=code)
    return say(
        "{code}, an error of another part of CANN (not in AOE's list): see CANN's troubleshooting guide", code=code
    )


def is_failure(code: str) -> bool:
    """Whether a code stands for an error; codes that begin with W are warnings."""
    return not code.startswith("W")
