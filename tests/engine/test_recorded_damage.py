"""What is answered about damaged captures, and what is said of them, is on record."""

from __future__ import annotations

import pytest
from goldens.harness import Place
from recorded import check_recorded


@pytest.mark.parametrize(
    "question", ["hotspots", "steps", "breakdown", "critical-path", "communication", "stragglers", "advise"]
)
def test_answers_about_damaged_captures_are_those_on_record(place: Place, question: str) -> None:
    check_recorded(place, question, r" msprof/invalid/.*json$", 5)


def test_what_is_at_no_place_is_said_as_on_record(place: Place) -> None:
    check_recorded(place, "hotspots", r" (no/such/place|records/valid|msprof/valid --by)")
