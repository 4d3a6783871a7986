"""What AOE and the frameworks that drive it say on the console: whether tuning came to its end, errors, claims."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from aoe_reports.model.texts import join, say
from aoe_reports.tuning.aoe.codes import codes_of_line
from aoe_reports.tuning.job.driver import Runs
from aoe_reports.tuning.job.state import PrintedClaim
from aoe_reports.tuning.options import Scenario
from aoe_reports.tuning.plan.plan import TENSORFLOW

FINISHED = ("Aoe process finished", "process finished. Performance improved by")
"""What aoe says in the end: releases since 6.2, and those before (seeds of both in the AOE guides)."""

ADAPTER_BEGINS = "in tune mode, training graph handled by tools"
ADAPTER_TUNES = "Aoe tuning graph"
"""What TFAdapter says when it hands a graph to AOE (AOE guide, TensorFlow: viewing the result)."""

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
