"""Answers about every fixture are those on record."""

from __future__ import annotations

import pytest
from goldens.harness import Place
from recorded import check_recorded

QUESTIONS = ("hotspots", "steps", "breakdown", "critical-path", "communication", "stragglers", "advise")


@pytest.mark.parametrize(
    ("group", "pattern", "step"),
    [
        *((question, r" msprof/valid/\w+$", 2) for question in QUESTIONS),
        *((question, r" msprof/valid/\w+ --.* --format json$", 7) for question in QUESTIONS),
        ("inspect", r" (msprof|aoe)/valid/\w+( --lang zh)?$", 3),
        ("timelines", r"^(breakdown|critical-path|advise) timelines --lang zh$", 1),
        ("check", r" (msprof|aoe)/(in)?valid/[\w/-]+$", 12),
        ("advise", r" msprof/valid/\w+ --format markdown$", 4),
        ("compare", r" msprof/valid/.*json$", 24),
        ("normalize", r" msprof/valid/", 8),
        ("collect", r"^collect", 5),
    ],
)
def test_answers_are_those_on_record(place: Place, group: str, pattern: str, step: int) -> None:
    check_recorded(place, group, pattern, step)
