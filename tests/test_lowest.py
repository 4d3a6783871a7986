"""That `make lowest` proves what it says: the other tests ran with the lowest version of each dependency."""

from __future__ import annotations

import os
import re
import tomllib
from importlib.metadata import version

import pytest
from commandline import ROOT

DEPENDENCIES = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
_BOUND = re.compile(r"([A-Za-z0-9._-]+)>=([0-9.]+)(?:,<[0-9.]+)?")


def numbers(text: str) -> list[int]:
    """The numbers of a version, without zeros at its end."""
    found = [int(part) for part in text.split(".")]
    while found and found[-1] == 0:
        found.pop()
    return found


@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_a_dependency_has_a_lower_bound(dependency: str) -> None:
    assert _BOUND.fullmatch(dependency)


@pytest.mark.skipif("AOE_REPORTS_LOWEST" not in os.environ, reason="run by `make lowest`")
@pytest.mark.parametrize("dependency", DEPENDENCIES)
def test_the_lowest_version_is_what_is_installed(dependency: str) -> None:
    found = _BOUND.fullmatch(dependency)
    assert found is not None
    assert numbers(version(found[1])) == numbers(found[2])
