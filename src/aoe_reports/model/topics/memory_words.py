"""Memory in words: sizes in bytes, and who holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from aoe_reports.model.texts import N_, Text, say

_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def bytes_in_words(size: float) -> str:
    """A size such as 1.9 GB, 512 bytes."""
    unit, name = next(((unit, name) for unit, name in _UNITS if abs(size) >= unit), (1, "bytes"))
    if unit == 1:
        return say("{size} bytes", size=f"{size:,.6g}")
    number = f"{size / unit:,.{_decimals(abs(size) / unit)}f}"
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {name}"


def signed_bytes(size: float) -> str:
    """A difference of sizes with its sign, such as +1.9 GB."""
    return say("+{size}", size=bytes_in_words(size)) if size > 0 else bytes_in_words(size)


_TEN, _HUNDRED = 10, 100


def _decimals(number: float) -> int:
    return 2 if number < _TEN else 1 if number < _HUNDRED else 0


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
    if owner.since_before or owner.name is None:
        return owner.module or say("held since before the recording")
    return owner.module or owner.name
