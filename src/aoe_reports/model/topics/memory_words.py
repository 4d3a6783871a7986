"""Memory in words: differences of sizes, and who holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol

from aoe_reports.model.size_units import size_words
from aoe_reports.model.texts import N_, Text, say
from aoe_reports.model.topics.memory import Measure


def signed_size(size_bytes: float) -> str:
    """A difference of sizes with its sign, such as +1.9 GiB."""
    return f"{'+' if size_bytes > 0 else ''}{size_words(size_bytes)}"


MEASURE_WORDS: Final[Mapping[Measure, str]] = N_({"allocated": "allocated", "reserved": "reserved", "active": "active"})
"""What is measured of memory, in words."""
KINDS: Final[Mapping[str, str]] = N_(
    {
        "weight": "weights",
        "gradient": "gradients",
        "optimizer": "optimizer states",
        "activation": "activations",
        "kv_cache": "KV cache",
        "communication": "communication buffers",
        "workspace": "workspace",
    }
)
"""What memory is used for, in words."""


UNKNOWN_OWNER: Final = say("allocated for an unknown owner")
Naming = Literal["use", "name", "place"]
"""By what an owner is called: its kind, else its module, else its name; its name alone; its name and its module."""


class Held(Protocol):
    """Who holds memory: an owner of a peak, or its change."""

    @property
    def name(self) -> str | None:
        """Its name, where it is known."""

    @property
    def kind(self) -> str | None:
        """What the memory is used for, where that is known."""

    @property
    def module(self) -> str | None:
        """The module, where it is known."""

    @property
    def since_before(self) -> bool:
        """Whether it was held before the recording began."""

    @property
    def unexplained(self) -> bool:
        """Whether it is the difference that nothing explains."""


def owner_words(owner: Held, by: Naming = "use", others: int = 0) -> Text | str:
    """Who holds memory; `others` owners together have no name."""
    if others:
        return say("{count:,} others", count=others)
    if owner.unexplained:
        counted = say("released, still counted by {component}", component=owner.name)
        return say("unexplained") if owner.name is None else counted
    if by == "use" and owner.kind is not None:
        return kind_words(owner) or owner.kind
    name = (owner.module or owner.name) if by == "use" else owner.name
    if name is None:
        return say("allocated before the recording") if owner.since_before else UNKNOWN_OWNER
    words = say("{name} (before the recording)", name=name) if owner.since_before else name
    return say("{name} in {module}", name=words, module=owner.module) if by == "place" and owner.module else words


def kind_words(owner: Held) -> Text | None:
    """What memory is used for, where that is known."""
    return None if owner.kind is None else say(KINDS.get(owner.kind, owner.kind))
