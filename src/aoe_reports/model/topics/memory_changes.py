"""The change of a peak of memory by who holds it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol


class Holder(NamedTuple):
    """Who holds memory, as far as it is known."""

    name: str | None = None
    kind: str | None = None
    module: str | None = None
    since_before: bool = False
    """Held since before the recording."""
    unexplained: bool = False
    """The part of a peak that no recorded allocation explains."""


class HolderChange(NamedTuple):
    """What a holder held before and after; the last of a list may be several of them together, which have no name."""

    holder: Holder
    before_bytes: int
    after_bytes: int
    others: int = 0
    """How many holders it is together; 0 where it is one."""

    @property
    def difference_bytes(self) -> int:
        """After less before."""
        return self.after_bytes - self.before_bytes


class Part(Protocol):
    """What an owner holds of a peak."""

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
    def size_bytes(self) -> int:
        """How much it holds."""

    @property
    def since_before(self) -> bool:
        """Whether it was held before the recording began."""

    @property
    def unexplained(self) -> bool:
        """Whether it is the difference that nothing explains."""


def sizes_by_holder(parts: Iterable[Part]) -> dict[Holder, int]:
    """The sum of what each holder has of a peak."""
    sizes: dict[Holder, int] = {}
    for part in parts:
        holder = Holder(part.name, part.kind, part.module, part.since_before, part.unexplained)
        sizes[holder] = sizes.get(holder, 0) + part.size_bytes
    return sizes


def changes_by_holder(before: Mapping[Holder, int], after: Mapping[Holder, int], top: int) -> list[HolderChange]:
    """The `top` largest changes, the largest first, and all others as one; they add up to the change of the sums."""
    changes = [HolderChange(one, before.get(one, 0), after.get(one, 0)) for one in {**before, **after}]
    changes = [change for change in changes if change.difference_bytes]
    changes.sort(key=lambda change: (-abs(change.difference_bytes), str(change.holder)))
    return changes if len(changes) <= top + 1 else [*changes[:top], _together(changes[top:])]


def _together(changes: Sequence[HolderChange]) -> HolderChange:
    before, after = (
        sum(sizes) for sizes in zip(*((one.before_bytes, one.after_bytes) for one in changes), strict=True)
    )
    return HolderChange(Holder(), before, after, len(changes))
