"""No share is above its whole, and what is not known is no share of 0."""

import pytest

from aoe_reports.model.shares import share_of


@pytest.mark.parametrize(
    ("part", "whole", "share"),
    [(1, 4, 0.25), (9, 4, 1.0), (-1, 4, -0.25), (-9, 4, -1.0), (0, 4, 0.0), (None, 4, None), (1, None, None), (1, 0, None)],
)  # fmt: skip
def test_a_share_is_at_most_its_whole_and_null_where_either_is_unknown(
    part: int | None, whole: int | None, share: float | None
) -> None:
    assert share_of(part, whole) == share
