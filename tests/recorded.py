"""Answers that tests/goldens has on record: a room holds against them those that rest most on what it does."""

from __future__ import annotations

import re

from goldens.cases import CASES
from goldens.harness import Place, differences

_SET_UP = re.compile(r" (demo|real)/")
"""Inputs that take long to make, or that are not everybody's."""


def recorded(group: str, pattern: str, step: int = 1) -> list[str]:
    """Of the cases of a group that match, each so-many-th."""
    return [key for key in CASES[group] if re.search(pattern, key) and not _SET_UP.search(key)][::step]


def check_recorded(place: Place, group: str, pattern: str, step: int = 1) -> None:
    """Whether commands print what they printed; `make goldens-update` after a change on purpose."""
    cases = recorded(group, pattern, step)
    assert cases, "no such case"
    told = differences(group, {key: place.run(key) for key in cases})
    assert not told, told
