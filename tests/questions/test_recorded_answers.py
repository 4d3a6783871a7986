"""Answers about every fixture are those on record."""

from __future__ import annotations

import pytest
from goldens.harness import Place
from recorded import check_recorded

QUESTIONS = ("hotspots", "steps", "breakdown", "communication", "advise")


@pytest.mark.parametrize(
    ("group", "pattern", "step"),
    [
        *((question, r" msprof/valid/\w+$", 1) for question in QUESTIONS),
        *((question, r" msprof/valid/\w+ --.* --format json$", 4) for question in QUESTIONS),
        ("inspect", r" (msprof|aoe)/valid/\w+( --lang zh)?$", 1),
        *((question, r" msprof/valid/\w+ --lang zh$", 7) for question in QUESTIONS),
        ("timelines", r"^(breakdown|steps|advise|communication) timelines( --lang zh)?$", 1),
        ("inspect", r" triton/\w+valid.*json$", 1),
        ("check", r" (msprof|aoe)/(in)?valid/[\w/-]+$", 5),
        ("compare", r" msprof/valid/.*json$", 12),
        ("normalize", r" msprof/valid/", 5),
        ("collect", r"^collect", 2),
    ],
)
def test_answers_are_those_on_record(place: Place, group: str, pattern: str, step: int) -> None:
    check_recorded(place, group, pattern, step)
