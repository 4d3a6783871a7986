"""Several who take in the events of one pass over a timeline, each for a question of its own."""

from __future__ import annotations

from typing import Any, Self

import pyarrow as pa


class Collectors:
    """Collectors as attributes, None where one is not wanted: all of them take in the same events."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events."""
        for one in self._each():
            one.add(batch)

    def merge(self, other: Self) -> None:
        """Take in what others have: of events behind their own."""
        for mine, theirs in zip(self._each(), other._each(), strict=True):
            mine.merge(theirs)

    def _each(self) -> list[Any]:
        return [one for one in vars(self).values() if one is not None]
