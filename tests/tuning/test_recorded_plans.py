"""Plans of every fixture are those on record."""

from __future__ import annotations

import pytest
from goldens.harness import Place
from recorded import check_recorded


@pytest.mark.parametrize(
    ("group", "pattern", "step"),
    [
        ("plan", r" msprof/valid/.*json$", 12),
        ("plan", r" msprof/valid/\w+ -o out/p( --lang zh| --format markdown)?$", 9),
    ],
)
def test_plans_are_those_on_record(place: Place, group: str, pattern: str, step: int) -> None:
    check_recorded(place, group, pattern, step)
