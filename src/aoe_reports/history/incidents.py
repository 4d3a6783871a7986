"""Incidents: everything of one workload on one hardware that moved on the same night is one thing to look at."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from aoe_reports.history.baselines import LevelShift
from aoe_reports.history.series import SeriesLabels

SCOPES = ("step", "model", "op", "op_type", "communication", "subgraph")
"""What names an incident: the step, if it moved; else the operator, and so on."""


@dataclass(frozen=True, slots=True)
class SeriesShift:
    """A change of a series: whose it is, and how much longer all its calls of a night take (ms)."""

    series: str
    group: tuple[str | None, ...]
    """Model, hardware, engine, source: only what these have in common can move together."""
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

    @property
    def lead(self) -> SeriesShift:
        """The member that names the incident."""
        return self.members[0]


def group_incidents(
    moved: Sequence[SeriesShift], recorded: Mapping[str, tuple[str, str | None]] = MappingProxyType({})
) -> list[Incident]:
    """The incidents that changes make up; the newest first. `recorded`: the night and run that each was first recorded with.

    A change belongs to the nearest one that its place, given how uncertain it is, can be at; one that was told as part of an
    incident stays with it. The most certain places come first, so that no chain of uncertain ones ties nights together.
    """
    groups: dict[tuple[str | None, ...], list[SeriesShift]] = {}
    for one in moved:
        groups.setdefault(one.group, []).append(one)
    incidents = [incident for group in groups.values() for incident in _of_group(group, recorded)]
    return sorted(incidents, key=lambda one: (_reversed(one.since), -abs(one.lead.impact_ms), one.id))


def _of_group(moved: Sequence[SeriesShift], recorded: Mapping[str, tuple[str, str | None]]) -> list[Incident]:
    gathered: dict[str, list[SeriesShift]] = {}
    anchors: list[tuple[str, int, int]] = []  # id, place, reach
    told = sorted((one for one in moved if one.shift.incident), key=_certainty)
    for one in told:
        assert one.shift.incident is not None
        if one.shift.incident not in gathered:
            anchors.append((one.shift.incident, one.place, one.shift.reach))
        gathered.setdefault(one.shift.incident, []).append(one)
    for one in sorted((one for one in moved if not one.shift.incident), key=_certainty):
        near = [
            (abs(place - one.place), name)
            for name, place, reach in anchors
            if abs(place - one.place) <= max(reach, one.shift.reach)
        ]
        name = min(near)[1] if near else incident_id(one)
        if not near:
            anchors.append((name, one.place, one.shift.reach))
        gathered.setdefault(name, []).append(one)
    return [_incident(name, members, recorded.get(name)) for name, members in gathered.items()]


def _certainty(one: SeriesShift) -> tuple[Any, ...]:
    return one.shift.reach, -abs(one.impact_ms), one.series, one.place


def _incident(name: str, members: Sequence[SeriesShift], recorded: tuple[str, str | None] | None) -> Incident:
    surest = min(members, key=_certainty).shift
    since, since_run = recorded or (surest.since, surest.since_run)
    lead = min(members, key=_naming)
    others = sorted((one for one in members if one is not lead), key=lambda one: (-abs(one.impact_ms), one.series))
    return Incident(id=name, since=since, since_run=since_run, members=(lead, *others), since_now=surest.since)


def _naming(one: SeriesShift) -> tuple[Any, ...]:
    scope = one.labels.scope
    rank = SCOPES.index(scope) if scope in SCOPES else len(SCOPES)
    return rank, -abs(one.impact_ms), one.series


def incident_id(one: SeriesShift) -> str:
    """The name of an incident that a change begins: its night, and what it is of. Once stored it stays, wherever the night moves."""
    night = one.shift.since.replace("-", "")
    return f"{night}-{hashlib.sha256(repr((one.group, one.shift.since)).encode()).hexdigest()[:8]}"


def _reversed(night: str) -> tuple[int, ...]:
    """The newest night first."""
    return tuple(-ord(letter) for letter in night)
