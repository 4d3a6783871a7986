"""Incidents of several models that have one cause are one: a new engine version, a slow rank, an operator type that all use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from aoe_reports.formats.records.payloads import ChangedFact
from aoe_reports.history.causes import explain
from aoe_reports.history.incidents import FirstRecorded, Incident, incident_of, newest_first, nights_around
from aoe_reports.history.stored_series import StoredSeries
from aoe_reports.history.surroundings import Surroundings

OF_THE_MACHINE = (
    "engine_version",
    "engine_config.",
    "hardware_config.",
    "software_config.driver",
    "software_config.firmware",
)
"""Facts that all models of a machine share, by how their names begin: where one changes, what moved with it is one incident."""


def merge_across_models(
    stored: StoredSeries,
    surroundings: Surroundings,
    incidents: Sequence[Incident],
    recorded: Mapping[str, FirstRecorded],
) -> list[Incident]:
    """The incidents, those of one machine and night that share a cause made one; the newest first.

    Two that were recorded apart stay so; one that was not joins the one that was.
    """
    by_machine: dict[tuple[str, ...], list[Incident]] = {}
    for one in incidents:
        by_machine.setdefault(one.lead.group[1:], []).append(one)
    nights = [
        (some, together, _may_share(together, recorded))
        for some in by_machine.values()
        for together in _on_one_night(some)
    ]
    surroundings.read([one for _, together, may_share in nights if may_share for one in together])
    merged: list[Incident] = []
    for some, together, may_share in nights:
        pairs = _shared(stored, surroundings, some, together) if may_share else ()
        merged += [_merged(one, recorded) for one in _sets(together, pairs, recorded)]
    return newest_first(merged)


def _on_one_night(incidents: Sequence[Incident]) -> Iterator[list[Incident]]:
    """Incidents whose nights may be the same; those that were told as one anyway."""
    gathered: list[list[Incident]] = []
    for one in sorted(incidents, key=lambda one: (one.place, one.id)):
        near = next((some for some in gathered if _may_be_one(some, one)), None)
        if near is None:
            gathered.append([one])
        else:
            near.append(one)
    yield from gathered


def _may_be_one(some: Sequence[Incident], one: Incident) -> bool:
    """Whether an incident of another model is of the same night as the first of some, or was told with one of them."""
    if any(other.id == one.id for other in some):
        return True
    apart = abs(some[0].place - one.place)
    reach = max(some[0].lead.shift.reach, one.lead.shift.reach)
    return apart <= reach and one.lead.group not in {other.lead.group for other in some}


def _may_share(together: Sequence[Incident], recorded: Mapping[str, FirstRecorded]) -> bool:
    """Whether some incidents are of several models, and not all recorded: those stay as they are."""
    return len({one.lead.group for one in together}) > 1 and any(one.id not in recorded for one in together)


def _shared(
    stored: StoredSeries,
    surroundings: Surroundings,
    incidents: Sequence[Incident],
    together: Sequence[Incident],
) -> Iterator[tuple[str, str]]:
    """Pairs of incidents (their ids) that share a cause: a fact of the machine that changed, or what explains the changes of both."""
    ids = {one.id for one in together}
    changed = {one.id: {fact for fact in surroundings.now(one.id) or () if _is_of_machine(fact)} for one in together}
    pairs = [pair for pair in combinations(changed, 2) if changed[pair[0]] & changed[pair[1]]]
    yield from pairs
    if pairs and ids == {pairs[0][0], *(other for one, other in pairs if one == pairs[0][0])}:
        return  # the first shares a fact with all others
    members = [member for one in together for member in one.members]
    shifts = {stored.places[member.series]: member.shift for member in members}
    by_group = {one.lead.group: one.id for one in together}
    found = explain(stored, shifts, by_group, together[0].place, nights_around(incidents, together[0]))
    for cause in found.causes:
        moved = {stored.group(found.leaves[leaf]) for leaf in cause.followers if found.leaves[leaf] in shifts}
        yield from pairwise(sorted(by_group[group] for group in moved))


def _is_of_machine(fact: ChangedFact) -> bool:
    return fact.name.startswith(OF_THE_MACHINE)


def _sets(
    together: Sequence[Incident], pairs: Iterable[tuple[str, str]], recorded: Mapping[str, FirstRecorded]
) -> list[list[Incident]]:
    """What belongs together by pairs, in no set two that were recorded; incidents with one id do anyway."""
    set_of = {one.id: {one.id} for one in together}
    for one, other in pairs:
        both = set_of[one] | set_of[other]
        if not (set_of[one] & recorded.keys() and set_of[other] & recorded.keys()):
            set_of |= dict.fromkeys(both, both)
    names = {frozenset(one) for one in set_of.values()}
    return [[one for one in together if one.id in some] for some in names]


def _merged(some: Sequence[Incident], recorded: Mapping[str, FirstRecorded]) -> Incident:
    if len(some) == 1:
        return some[0]
    lead = min(some, key=lambda one: (one.id not in recorded, -abs(one.lead.impact_ms), one.id))
    return incident_of(
        lead.id if lead.id in recorded else None, [member for one in some for member in one.members], recorded
    )
