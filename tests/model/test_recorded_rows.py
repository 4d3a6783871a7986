"""Rows are shown as they are on record: under which titles, in which words."""

from __future__ import annotations

import pytest
from goldens.harness import Place
from recorded import check_recorded


@pytest.mark.parametrize(
    ("group", "pattern", "step"),
    [
        ("ingest", r" (aoe|msprof)/valid/\w+ --store out/s( --lang zh)?$", 12),
        ("breakdown", r" msprof/valid/\w+( --lang zh)?$", 6),
        ("inspect", r" aoe/valid/\w+ --lang zh$", 3),
        ("collect", r"^collect", 20),
    ],
)
def test_rows_are_shown_as_they_are_on_record(place: Place, group: str, pattern: str, step: int) -> None:
    check_recorded(place, group, pattern, step)
