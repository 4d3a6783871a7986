"""Incidents: everything of one workload on one hardware that moved on the same night is one thing to look at."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from aoe_reports.history.series.baselines import LevelShift
from aoe_reports.history.series.series import SeriesLabels
from aoe_reports.model.history.changes import COMPUTING, MEMORY, METRIC, METRICS, PHASE
from aoe_reports.model.history.metrics import PEAK_ALLOCATED, PEAK_PROCESS, PEAK_RESERVED

_NAMING = {"step": 0, "model": 1, METRIC: 2, PHASE: 3, MEMORY: 4, COMPUTING: 5, "op": 6, "layer": 6}
"""What names an incident: the step, if it moved, and so on; else what has the largest impact."""


class Group(NamedTuple):
    """What series have in common that can move together; models of one machine share all but the first."""

    model: str
    hardware: str
    engine: str
    source: str


FirstRecorded = tuple[str, str | None]
"""The night and the run that an incident was first recorded with."""


@dataclass(frozen=True, slots=True)
class SeriesShift:
    """A change of a series: whose it is, and how much longer all its calls of a night take (ms)."""

    series: str
    group: Group
    labels: SeriesLabels
    shift: LevelShift
    place: int
    """The index of the night."""
    impact_ms: float


@dataclass(frozen=True, slots=True)
class Incident:
    """Changes that moved together, the one that names it first, then the largest impact first."""

    id: str
    since: str
    """As it was first recorded."""
    since_run: str | None
    members: tuple[SeriesShift, ...]
    since_now: str
    """As the nights say now."""
    place: int
    """The index of that night."""

    @property
    def lead(self) -> SeriesShift:
        """The member that names the incident."""
        return self.members[0]


def group_incidents(
    moved: Sequence[SeriesShift],
    recorded: Mapping[str, FirstRecorded] = MappingProxyType({}),
    suspected: Sequence[SeriesShift] = (),
) -> list[Incident]:
    """The incidents that changes make up; the newest first. `recorded`: the night and run that each was first recorded with.

    A change belongs to the nearest one that its place, given how uncertain it is, can be at; one that was told as part of an
    incident stays with it. The most certain places come first, so that no chain of uncertain ones ties nights together; of
    places that are as certain those that most series agree on. What is only `suspected` agrees with what is proved first.
    """
    groups: dict[Group, list[SeriesShift]] = {}
    for shift in moved:
        groups.setdefault(shift.group, []).append(shift)
    return newest_first(
        [
            incident
            for group, some in groups.items()
            for incident in _of_group(some, recorded, [shift for shift in suspected if shift.group == group])
        ]
    )


def newest_first(incidents: Sequence[Incident]) -> list[Incident]:
    """Incidents in the order in which they are told; those of one night by their impact."""
    by_impact = sorted(incidents, key=lambda one: (-abs(one.lead.impact_ms), one.id))
    return sorted(by_impact, key=lambda one: one.since, reverse=True)


def _of_group(
    moved: Sequence[SeriesShift], recorded: Mapping[str, FirstRecorded], suspected: Sequence[SeriesShift]
) -> list[Incident]:
    gathered: dict[str, list[SeriesShift]] = {}
    anchors: list[tuple[str, int, int]] = []  # id, place, reach
    told = [shift for shift in moved if shift.shift.incident]
    for one in sorted(told, key=_certainty(told)):
        assert one.shift.incident is not None
        if one.shift.incident not in gathered:
            anchors.append((one.shift.incident, one.place, one.shift.reach))
        gathered.setdefault(one.shift.incident, []).append(one)
    fresh = [shift for shift in moved if not shift.shift.incident]
    for one in sorted(fresh, key=_certainty([*fresh, *suspected])):
        near = [
            (abs(place - one.place), name)
            for name, place, reach in anchors
            if abs(place - one.place) <= max(reach, one.shift.reach)
        ]
        name = min(near)[1] if near else f"{one.series}/{one.place}"
        if not near:
            anchors.append((name, one.place, one.shift.reach))
        gathered.setdefault(name, []).append(one)
    names = {one.shift.incident for one in told}
    return [
        incident_of(name if name in names else None, members, recorded, suspected) for name, members in gathered.items()
    ]


def _certainty(moved: Sequence[SeriesShift]) -> Callable[[SeriesShift], tuple[Any, ...]]:
    agreed = Counter((shift.shift.reach, shift.place) for shift in moved)

    def key(shift: SeriesShift) -> tuple[Any, ...]:
        reach = shift.shift.reach
        return reach, -agreed[reach, shift.place], -abs(shift.impact_ms), shift.series, shift.place

    return key


def incident_of(
    name: str | None,
    members: Sequence[SeriesShift],
    recorded: Mapping[str, FirstRecorded],
    suspected: Sequence[SeriesShift] = (),
) -> Incident:
    """The incident that some changes make up, as it was first recorded, if it was; what is suspected near them helps to date it.

    Without a name it is a new one.
    """
    certain = min(members, key=_certainty([*members, *suspected]))
    near = [shift for shift in suspected if abs(shift.place - certain.place) <= certain.shift.reach]
    surest = min([*members, *near], key=_certainty([*members, *near]))
    name = name or incident_id(surest)
    since, since_run = recorded.get(name, (surest.shift.since, surest.shift.since_run))
    lead = min(members, key=naming)
    others = sorted(
        (member for member in members if member is not lead), key=lambda one: (-abs(one.impact_ms), one.series)
    )
    return Incident(
        id=name,
        since=since,
        since_run=since_run,
        members=(lead, *others),
        since_now=surest.shift.since,
        place=surest.place,
    )


def naming(shift: SeriesShift) -> tuple[Any, ...]:
    """Sort key of the members of an incident: the first names it."""
    scope = shift.labels.scope
    rank = _NAMING.get(scope, len(_NAMING))
    if scope == MEMORY:
        size = (shift.shift.after - shift.shift.before) * 2.0 ** -_within(shift.labels.metric)
    else:  # a metric costs no time: of several the one that moved most
        size = math.log(shift.shift.after / shift.shift.before) if scope in METRICS else shift.impact_ms
    return rank, -abs(size), shift.series


_NESTED = (PEAK_ALLOCATED, PEAK_RESERVED, PEAK_PROCESS)
"""Each is part of the next, which names an incident only where it moves by more than twice as much."""


def _within(metric: str) -> int:
    return _NESTED.index(metric) if metric in _NESTED else len(_NESTED)


def incident_id(shift: SeriesShift) -> str:
    """The name of an incident that a change begins: its night, and what it is of. Once stored it stays, wherever the night moves."""
    night = shift.shift.since.replace("-", "")
    return f"{night}-{hashlib.sha256(repr((tuple(shift.group), shift.shift.since)).encode()).hexdigest()[:8]}"


def nights_around(incidents: Sequence[Incident], incident: Incident) -> tuple[int, int | None]:
    """The places of the incidents of the same models before an incident and after it: 0 and None where there is none."""
    groups, place = {one.group for one in incident.members}, incident.place
    places = {one.place for one in incidents if any(member.group in groups for member in one.members)}
    return max((one for one in places if one < place), default=0), min(
        (one for one in places if one > place), default=None
    )
