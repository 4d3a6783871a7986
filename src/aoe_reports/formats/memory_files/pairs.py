"""Allocations and their releases: of the entries of one address, each release ends the allocation before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aoe_reports.model.arrays.columns import Ints, Mask


@dataclass(frozen=True, slots=True)
class Pairs:
    """Rows of allocations and of releases, each by its number."""

    allocations: Ints
    releases: Ints
    """The release of each allocation; -1 where there is none before the address is allocated again."""
    older: Ints
    """Releases that are the first entry of their address: what they release was allocated before."""
    reused: Ints
    """Allocations of an address that is in use."""
    repeated: Ints
    """Releases of an address that was released before, and not allocated since."""


def paired(addresses: Ints, allocates: Mask) -> Pairs:
    """The pairs among entries in the order in which they happened: where `allocates` is false, an entry releases."""
    rows = np.argsort(addresses, kind="stable")
    here, opens = addresses[rows], allocates[rows]
    is_same = np.zeros(len(rows), dtype=bool)
    is_same[1:] = here[1:] == here[:-1]
    opened = np.zeros(len(rows), dtype=bool)
    opened[1:] = opens[:-1]
    ends = is_same & opened & ~opens
    released = np.full(len(rows), -1, dtype=np.int64)
    released[:-1] = np.where(ends[1:], rows[1:], -1)
    in_file = np.argsort(rows[opens], kind="stable")
    return Pairs(
        allocations=rows[opens][in_file],
        releases=released[opens][in_file],
        older=np.sort(rows[~opens & ~is_same]),
        reused=np.sort(rows[opens & is_same & opened]),
        repeated=np.sort(rows[~opens & is_same & ~opened]),
    )


def in_use_at_end(addresses: Ints, allocates: Mask) -> Ints:
    """The addresses whose last entry allocates, rising."""
    rows = np.argsort(addresses, kind="stable")
    here = addresses[rows]
    is_last = np.append(here[1:] != here[:-1], True)[: len(rows)]
    return here[is_last & allocates[rows]]
