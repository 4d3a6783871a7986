"""Memory in words: differences of sizes, and who holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

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


def owner_words(owner: Held) -> Text | str:
    """Who holds memory: what it is used for, else the module, else the name."""
    if owner.unexplained:
        return say("unexplained")
    if owner.kind is not None:
        return say(KINDS.get(owner.kind, owner.kind))
    if owner.since_before:
        return owner.module or say("held since before the recording")
    return owner.module or owner.name or say("allocated for an unknown owner")
