"""Gains are exact, and there are none where the times are no times."""

from __future__ import annotations

from decimal import Decimal

import pytest

from aoe_reports.present.reports.tuning import gain


def test_a_gain_is_exact() -> None:
    found = gain(Decimal("0.3"), Decimal("0.1"))
    assert found == (Decimal("0.2"), Decimal(2), 1 - Decimal("0.1") / Decimal("0.3"))


@pytest.mark.parametrize(
    ("before", "after"), [(None, "1"), ("1", None), ("0", "1"), ("1", "0"), ("-1", "1"), ("1", "-2"), ("1E15", "1")]
)
def test_there_is_no_gain_without_two_times(before: str | None, after: str | None) -> None:
    assert gain(*(None if time is None else Decimal(time) for time in (before, after))) is None
