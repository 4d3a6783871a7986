"""How long ranks waited in collectives of which nothing but their duration is recorded: what they take longer than on the rank that takes least."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import TypeVar

from aoe_reports.facts.communication import type_of_operator
from aoe_reports.facts.exposed import Ran
from aoe_reports.facts.waterfall import Talk

_OF_ALL_RANKS = frozenset({"allreduce", "allgather", "reducescatter", "alltoall", "alltoallv", "alltoallvc", "barrier"})
"""No rank is done with these before the last one has come."""
_GROUP = re.compile(r"__\d+_\d+", re.ASCII)
"""The number of the group in a name (`hcom_allReduce__868_0_1`), without which two groups are not told apart."""
P = TypeVar("P", bound=Hashable)


def waits_among_ranks(ran: Mapping[P, Mapping[str, Ran]]) -> dict[P, dict[str, Talk]]:
    """What the operators of each rank of one run consist of, by the same names; those alone that more than one rank calls as often.

    The rank that comes last does not wait, so that none transfers for longer than it: of several calls of one name each may be another
    rank's, and some of the waiting stays with the transfer.
    """
    by_name: dict[str, list[P]] = defaultdict(list)
    for place, operators in ran.items():
        for name in operators:
            if type_of_operator(name) in _OF_ALL_RANKS and _GROUP.search(name):
                by_name[name].append(place)
    found: dict[P, dict[str, Talk]] = defaultdict(dict)
    for name, places in by_name.items():
        if len(places) > 1 and len({ran[place][name].calls for place in places}) == 1:
            transit = min(ran[place][name].total_ns for place in places)
            for place in places if transit else ():  # none takes no time at all: something is wrong with it
                total = ran[place][name].total_ns
                found[place][name] = Talk(elapsed_ns=total, wait_ns=total - transit, transit_ns=transit)
    return dict(found)
