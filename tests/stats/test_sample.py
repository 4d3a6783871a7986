"""Small statistics."""

from aoe_reports.stats.sample import robust_sigma, sample_std


def test_one_value_has_no_spread() -> None:
    assert sample_std([3.0]) is None
    assert sample_std([1.0, 3.0]) == 2**0.5


def test_an_outlier_hardly_moves_the_robust_spread() -> None:
    quiet = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95]
    assert robust_sigma([*quiet, 50.0]) < 3 * robust_sigma(quiet)
