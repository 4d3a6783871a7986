"""What is said of every fixture is what is on record."""

from __future__ import annotations

import pytest
from goldens.harness import Place
from recorded import check_recorded


@pytest.mark.parametrize(
    ("group", "pattern", "step"),
    [
        ("check", r" msprof/valid/\w+ --format json$", 4),
        ("check", r" msprof/invalid/[\w/-]+ --format json$", 2),
        ("check", r" (aoe|records)/(in)?valid/[\w-]+ --format json$", 2),
    ],
)
def test_findings_are_those_on_record(place: Place, group: str, pattern: str, step: int) -> None:
    check_recorded(place, group, pattern, step)
