"""No share is above its whole, and what is not known is no share of 0."""

import pytest

from aoe_reports.model.shares import change_words, percent, share_of, signed_percent


@pytest.mark.parametrize(
    ("part", "whole", "share"),
    [(1, 4, 0.25), (9, 4, 1.0), (-1, 4, -0.25), (-9, 4, -1.0), (0, 4, 0.0), (None, 4, None), (1, None, None), (1, 0, None)],
)  # fmt: skip
def test_a_share_is_at_most_its_whole_and_null_where_either_is_unknown(
    part: int | None, whole: int | None, share: float | None
) -> None:
    assert share_of(part, whole) == share


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (0.123, "+12%"),
        (0.0996, "+10%"),
        (0.0751, "+7.5%"),
        (-0.0094, "-0.94%"),
        (0.00042, "+0.042%"),
        (0.0000049, "0%"),
        (-0.000005, "-0.001%"),
        (0.0, "0%"),
        (-0.0, "0%"),
        (1.5, "+150%"),
        (12.345, "+1,234%"),
        (float("inf"), "+inf%"),
    ],
)
def test_a_change_has_two_significant_digits_and_nothing_has_no_sign(change: float, words: str) -> None:
    assert signed_percent(change) == words


@pytest.mark.parametrize(
    ("size", "words"),
    [(0.0, "less than 0.1%"), (0.0004, "less than 0.1%"), (0.001, "0.10%"), (0.0067, "0.67%"), (0.0999, "10%"), (0.123, "12%"), (2.655, "266%"), (99.0, "9,900%")],
)  # fmt: skip
def test_the_size_of_a_change_has_two_digits_that_count(size: float, words: str) -> None:
    assert percent(size) == words


def test_a_change_has_its_sign_and_is_never_zero_percent() -> None:
    changes = (0.051, -0.051, 0.0004, -0.0004, 0.0)
    less = "changed by less than 0.1%"
    assert [change_words(change) for change in changes] == ["+5.1%", "-5.1%", less, less, "unchanged"]
