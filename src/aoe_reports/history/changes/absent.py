"""What every recent night of a workload had and its newest night lacks: ranks, scopes, metrics, times that can be judged.

A series without a value on the newest night is not judged on it, and a change that only it would have shown is not seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from aoe_reports.history.detection.run import DetectorRun
from aoe_reports.history.runs.clocks import RunOfNight
from aoe_reports.history.series.series import SeriesLabels
from aoe_reports.history.series.stored import ENDED_NIGHTS
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import METRIC
from aoe_reports.model.history.expected import find_absent
from aoe_reports.model.texts import N_, Text, count_of, say

MIN_NIGHTS = 3
"""What was there on so many nights in a row is expected on the next one."""

Nights = NDArray[np.bool_]
"""For each night of a workload, oldest first, whether something was there."""


class Absence(NamedTuple):
    """Since when something is absent, as numbers of nights: how many lack it, and how many in a row before them had it."""

    nights: int
    before: int


def absence(had: Sequence[bool] | Nights) -> Absence | None:
    """The absence of something that is expected on the last of these nights; None where it is there, or is not expected.

    What is absent for ENDED_NIGHTS was removed on purpose, and is expected no more.
    """
    nights = [bool(one) for one in had][::-1]
    absent = nights.index(True) if True in nights else len(nights)
    rest = nights[absent:]
    before = rest.index(False) if False in rest else len(rest)
    return Absence(absent, before) if 0 < absent < ENDED_NIGHTS and before >= MIN_NIGHTS else None


@dataclass
class Absent:
    """What the newest nights of some models lack."""

    findings: list[Finding] = field(default_factory=list)
    names: list[Text] = field(default_factory=list)
    """In a few words each: rank 1 of net."""
    rows: set[int] = field(default_factory=set)
    """The series that have no value because of it: what is open in them is open still."""

    def __iadd__(self, other: Absent) -> Self:
        self.findings += other.findings
        self.names += other.names
        self.rows |= other.rows
        return self


def absent_in_newest(detected: DetectorRun, runs: Iterable[RunOfNight], models: Collection[str]) -> Absent:
    """What the newest night of each of these models lacks of what every recent night had."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, one in enumerate(detected.judged.histories.labels):
        if one.model in models:
            rows[one.model].append(row)
    nights: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        if run.run_id not in detected.jumps:
            nights[str(run.model)].add(run.night)
    found = Absent()
    for model, of_model in sorted(rows.items()):
        if nights[model]:
            found += _Workload(detected, of_model, sorted(nights[model])).absent()
    return found


Rank = tuple[str, int] | None
"""The rank of a series, of a capture without ranks the device; None: that of no single one."""
Scope = tuple[str, str]
"""The scope of a series, by the word for it; each metric is one of its own."""
_OF_MODEL = N_(
    {
        "rank": "rank {name} of {model}",
        "device": "device {name} of {model}",
        "scope": "scope {name} of {model}",
        "metric": "metric {name} of {model}",
    }
)
_PART_OF = N_({"rank": "{name} of rank {number}", "device": "{name} of device {number}"})


class _Gone(NamedTuple):
    name: str
    words: Text
    reason: Text
    rows: Sequence[int]


class _Workload:
    """The series of a workload by night, the newest night last."""

    def __init__(self, detected: DetectorRun, rows: Sequence[int], nights: Sequence[str]) -> None:
        histories = detected.judged.histories
        self.nights, self.rows = nights, rows
        self.labels = [histories.labels[row] for row in rows]
        columns = {night: column for column, night in enumerate(histories.nights)}
        known = [column for column, night in enumerate(nights) if night in columns]
        costs = np.full((len(rows), len(nights)), np.nan)
        costs[:, known] = histories.costs[np.ix_(rows, [columns[nights[column]] for column in known])]
        self.timed: Nights = np.isfinite(costs) & (costs > 0)
        """(series, nights): whether a series has a value that can be judged."""
        self.impossible: Nights = costs == 0
        """The same, whether all its values are impossible."""

    def absent(self) -> Absent:
        """All that is absent, each only as the largest thing that is: a rank, not each of its series."""
        every = list(range(len(self.labels)))
        whole = absence(self._had(every))
        if whole is not None:
            reason = say(
                "no value of {night} can be judged (0 ms, no time, an incomplete run), and each of the {before} nights before {since} "
                "had some: {not_judged}",
                **self._words(whole, every),
            )
            model = self.labels[0].model
            name = say("{model} (no value can be judged)", model=model)
            return self._found("workload", [_Gone(model, name, reason, every)])
        if not self.timed[:, -1].any():
            return Absent()  # too new, or too long ago
        ranks = _groups(every, lambda row: _rank(self.labels[row]))
        gone = {rank: found for rank, its in ranks.items() if rank and (found := absence(self._had(its)))}
        left = [row for rank, its in ranks.items() if rank not in gone for row in its]
        result = Absent()
        for kind in ("rank", "device"):
            ours = sorted(rank for rank in gone if rank[0] == kind)
            result += self._found(kind, [self._part(*rank, gone[rank], ranks[rank]) for rank in ours])
        result += self._absent_scopes(left)
        result += self._impossible_values(left)
        return result

    def _absent_scopes(self, rows: Sequence[int]) -> Absent:
        """Scopes and metrics that all ranks lack, then those that some ranks lack."""
        scopes = _groups(rows, lambda row: _scope(self.labels[row]))
        gone = {scope: found for scope, its in scopes.items() if (found := absence(self._had(its)))}
        left = [row for scope, its in scopes.items() if scope not in gone for row in its]
        parts = _groups(left, lambda row: (_scope(self.labels[row]), _rank(self.labels[row])))
        some = {part: found for part, its in parts.items() if part[1] and (found := absence(self._had(its)))}
        absent = {scope: self._part(*scope, found, scopes[scope]) for scope, found in gone.items()}
        for (scope, rank), found in some.items():
            if rank is not None:
                name = say(_PART_OF[rank[0]], name=scope[1], number=rank[1])
                absent[scope[0], name] = self._part(scope[0], name, found, parts[scope, rank])
        result = Absent()
        for kind in ("scope", "metric"):
            result += self._found(kind, [absent[one] for one in sorted(absent) if one[0] == kind])
        return result

    def _impossible_values(self, rows: Sequence[int]) -> Absent:
        """Single series whose newest value is impossible where those before were not: one finding for all."""
        zero = [row for row in rows if self.impossible[row, -1] and absence(self.timed[row])]
        if not zero:
            return Absent()
        names = sorted({self.labels[row].workload for row in zero})
        name = names[0] if len(names) == 1 else say("{name} and {count} more", name=names[0], count=len(names) - 1)
        reason = say(
            "the value of {night} is impossible (such as 0 ms), and the nights before had possible ones: {not_judged}",
            night=self.nights[-1],
            not_judged=_not_judged(len(zero)),
        )
        words = say("{name} (impossible value)", name=name)
        return self._found("time", [_Gone(name, words, reason, zero)])

    def _part(self, kind: str, name: str | int, found: Absence, rows: Sequence[int]) -> _Gone:
        words = say(_OF_MODEL[kind], name=name, model=self.labels[0].model)
        reason = say(
            "not on {night}, and each of the {before} nights before {since} had it: {not_judged}",
            **self._words(found, rows),
        )
        return _Gone(str(name), words, reason, rows)

    def _found(self, kind: str, gone: Sequence[_Gone]) -> Absent:
        reasons = {one.name: one.reason for one in gone}
        findings = find_absent(self.labels[0].model, kind, reasons, (), "warning")
        return Absent(findings, [one.words for one in gone], {self.rows[row] for one in gone for row in one.rows})

    def _had(self, rows: Sequence[int]) -> Nights:
        had: Nights = np.logical_or.reduce(self.timed[rows], axis=0)
        return had

    def _words(self, found: Absence, rows: Sequence[int]) -> dict[str, Any]:
        """The values of a reason; series are counted on the last night that had any."""
        last = len(self.nights) - found.nights - 1
        return {
            "night": self.nights[-1],
            "since": self.nights[last + 1],
            "before": found.before,
            "not_judged": _not_judged(int(self.timed[rows, last].sum())),
        }


def _not_judged(count: int) -> Text:
    return count_of(count, "{number} series is not judged", "{number} series are not judged")


def _rank(labels: SeriesLabels) -> Rank:
    if labels.rank_id is not None:
        return ("rank", labels.rank_id)
    return None if labels.device_id is None else ("device", labels.device_id)


def _scope(labels: SeriesLabels) -> Scope:
    return ("metric", labels.metric) if labels.scope == METRIC else ("scope", labels.scope)


Group = TypeVar("Group")


def _groups(rows: Iterable[int], group_of: Callable[[int], Group]) -> dict[Group, list[int]]:
    found: dict[Group, list[int]] = defaultdict(list)
    for row in rows:
        found[group_of(row)].append(row)
    return dict(found)
