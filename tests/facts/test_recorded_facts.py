"""Sums of every fixture are those on record."""

from __future__ import annotations

import pytest
from goldens.harness import Place
from recorded import check_recorded


@pytest.mark.parametrize(
    ("group", "pattern", "step"),
    [
        *(
            (question, r" msprof/valid/\w+ --format json$", 2)
            for question in ("hotspots", "steps", "breakdown", "communication")
        ),
    ],
)
def test_sums_are_those_on_record(place: Place, group: str, pattern: str, step: int) -> None:
    check_recorded(place, group, pattern, step)
