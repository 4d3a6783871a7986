"""What every command printed for every fixture is what it prints today; `make goldens-update` after a change on purpose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from goldens.cases import CASES, FULL
from goldens.harness import WRITTEN_OUT, Place, differences, new_place, read_digests, run_group
from goldens.shared import answered_once

pytestmark = [pytest.mark.goldens, pytest.mark.usefixtures("pictures_drawn_once")]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with new_place() as made, answered_once(made):
        yield made


@pytest.mark.parametrize("group", CASES)
def test_every_case_prints_what_it_printed(group: str, place: Place) -> None:
    told = differences(group, run_group(group, place))
    if told:
        pytest.fail(told, pytrace=False)


def test_what_is_written_down_are_the_cases_of_the_list() -> None:
    keys = [key for keys in CASES.values() for key in keys]
    assert len(keys) == len(set(keys))
    assert set(read_digests()) == set(keys)
    assert {path.name for path in WRITTEN_OUT.iterdir()} == set(FULL)
