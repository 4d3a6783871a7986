"""What makes a run the same run, wherever it lies: identities, content hashes, run ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

from msgspec import Meta

Int64 = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class Member(NamedTuple):
    """One part of a run (one rank's capture, or the tuning report): its identity, its content, its size."""

    identity: str
    content_hash: str
    rows: Int64
    named: bool
    """Whether the identity rests on something made to be unique (a recorded start, a capture's or result's name)."""

    def same_as(self, other: Member) -> bool:
        """Whether two members are versions of one: by identity, else by content where a name says nothing."""
        if self.identity == other.identity:
            return True
        return self.content_hash == other.content_hash and not (self.named and other.named)


def identity_of(*facts: Any) -> str:
    """An identity made of what a thing is."""
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


def content_hash_of(hashes: Iterable[str]) -> str:
    """One hash of several contents, whatever their order and their names."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def run_id_of(timestamp_ns: int, identity: str) -> str:
    """A run's id: its time to the second (UTC), so that ids sort as runs do, and a part of its identity."""
    when = datetime.fromtimestamp(timestamp_ns // 1_000_000_000, UTC)
    return f"{when:%Y%m%dT%H%M%S}-{identity[:8]}"
