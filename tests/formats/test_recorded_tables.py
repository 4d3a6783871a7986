"""Tables of every fixture, and of a file under every header there ever was, are read as they are on record."""

from __future__ import annotations

import pytest
from goldens.harness import Place
from recorded import check_recorded


@pytest.mark.parametrize(
    ("group", "pattern", "step"),
    [
        ("table", r" museum/[a-k].*csv$", 5),
        ("table", r" museum/[l-z].*csv$", 7),
        ("table", r" msprof/valid/[a-m].*csv$", 2),
        ("table", r" msprof/valid/[n-z].*csv$", 1),
        ("table", r" msprof/invalid/.*json$", 2),
        ("inspect", r" (msprof|aoe)/valid/\w+ --format json$", 2),
    ],
)
def test_tables_are_read_as_they_are_on_record(place: Place, group: str, pattern: str, step: int) -> None:
    check_recorded(place, group, pattern, step)
