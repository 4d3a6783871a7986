"""Times and changes as tables show them: one unit a column, four digits, grey where the effect on a step is minor."""

from __future__ import annotations

import pytest

from aoe_reports.site.amounts import TimeColumn, effect_cell, in_own_unit


def test_a_column_has_the_unit_of_its_longest_time() -> None:
    column = TimeColumn.of("us", [12_854.388, 70.5, None, 0.0])
    assert column.title("Total") == ("Total (ms)", "number")
    assert [column.shown(time) for time in (12_854.388, 70.5, None, 0.0)] == ["12.85", "0.07050", "–", "0"]
    assert column.cell(12_854.388) == '<td class="number" title="12,854.388 us">12.85</td>'


def test_times_too_far_apart_have_their_own_units() -> None:
    column = TimeColumn.of("us", [12_854.388, 0.070])
    assert column.title("Total") == ("Total", "number")
    assert [column.shown(time, signed=True) for time in (12_854.388, -0.070)] == ["+12.9 ms", "-70 ns"]


@pytest.mark.parametrize(
    ("time", "kind", "shown"),
    [(3.271, "ms", "3.271 ms"), (0.0345, "ms", "34.50 us"), (1_500_000.0, "us", "1.500 s"), (0.0, "us", "0 ns")],
)
def test_a_time_in_a_sentence_has_its_unit(time: float, kind: str, shown: str) -> None:
    assert in_own_unit(time, kind) == shown


@pytest.mark.parametrize(
    ("share", "effect", "tone"),
    [
        (0.5, 0.004, "minor"),
        (-0.5, -0.004, "minor"),
        (0.5, 0.02, "slower-word"),
        (-0.5, -0.02, "quicker-word"),
        (-0.5, None, "quicker-word"),
    ],
)
def test_the_colour_of_a_change_is_that_of_its_effect(share: float, effect: float | None, tone: str) -> None:
    assert f'class="{tone}"' in effect_cell(share, effect)
