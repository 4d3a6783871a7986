"""What tuning may bring and cost before it is tried, and how noise widens what was measured."""

from __future__ import annotations

from statistics import NormalDist

import pytest

from aoe_reports.tuning.prior import Gain, Priors, cost_of_summary, saved_share
from aoe_reports.tuning.verdict_intervals import LEVEL, Interval, Noise, widened

Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@pytest.mark.parametrize(
    ("gains", "share", "source", "results"),
    [
        ([], 0.2463, "default", 0),
        ([Gain("MatMul", 0.5)], (0.5 + 0.2463) / 2, "claimed", 1),
        ([Gain("MatMul", 0.5), Gain("MatMul", 0.1, measured=True)], (0.1 + 0.2463) / 2, "measured", 1),
        ([Gain("MatMul", 0.5), Gain("MatMul", 0.3), Gain("Add", 0.9)], (0.8 + 0.2463) / 3, "claimed", 2),
        ([Gain("MatMul", -0.9)], 0.0, "claimed", 1),
    ],
)
def test_what_is_expected_of_a_type(gains: list[Gain], share: float, source: str, results: int) -> None:
    prior = Priors(gains).of_type("MatMul")
    assert (prior.saved_share, prior.source, prior.results) == (pytest.approx(share), source, results)
    assert prior.as_document() == {"saved_share": round(share, 6), "source": source, "results": results}


def test_subgraphs_have_an_expectation_of_their_own() -> None:
    priors = Priors([Gain(None, 0.1), Gain("MatMul", 0.9)], [10.0, 30.0, 20.0], [5.0, 7.0])
    assert priors.of_subgraphs().saved_share == pytest.approx((0.1 + 0.3553) / 2)
    assert (priors.cost_s, priors.cost_results, priors.subgraph_cost_s) == (20.0, 3, 6.0)
    unknown = Priors()
    assert (unknown.of_subgraphs().saved_share, unknown.cost_s, unknown.cost_results) == (0.3553, 26.0, 0)
    assert unknown.subgraph_cost_s == 48.5


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [(4, 3, 0.25), ("4", "5", -0.25), (4, 0, None), (0, 4, None), (4, -1, None), (-4, 1, None), (4, float("inf"), None), (None, 3, None), (4, None, None)],
)  # fmt: skip
def test_the_share_of_time_that_was_saved(before: object, after: object, share: float | None) -> None:
    assert saved_share(before, after) == share


@pytest.mark.parametrize(
    ("time", "counts", "cost"),
    [
        (30.0, {"add": 1, "update": 2, "unsatisfied": 3, "reserved": 4, "hit": 6}, 5.0),
        (30.0, {"reserved": 4, "hit": 4}, None),
        (30.0, {"unsatisfied": 2}, 15.0),
        (0.0, {"add": 1}, None),
        (-1.0, {"add": 1}, None),
        (None, {"add": 1}, None),
    ],
)
def test_what_an_operator_costs(time: float | None, counts: dict[str, int], cost: float | None) -> None:
    assert cost_of_summary(time, {f"repo_{name}_num": count for name, count in counts.items()}) == cost


@pytest.mark.parametrize(
    ("noise", "interval", "found"),
    [
        (None, None, None),
        (0.01, None, (-0.2 - Z * 0.01, -0.2 + Z * 0.01, None)),
        (None, Interval(-0.25, -0.1, "steps"), (-0.25, -0.1, "steps")),
        (0.0, Interval(-0.25, -0.1, "calls"), (-0.25, -0.1, "calls")),
        (0.01, Interval(-0.25, -0.1, "steps"), (-0.2 - (0.05**2 + (Z * 0.01) ** 2) ** 0.5, -0.2 + (0.1**2 + (Z * 0.01) ** 2) ** 0.5, "steps")),
        (None, Interval(-0.19, -0.1, "steps"), (-0.2, -0.1, "steps")),
    ],
)  # fmt: skip
def test_noise_widens_an_interval(
    noise: float | None, interval: Interval | None, found: tuple[float, float, str | None] | None
) -> None:
    told = widened(-0.2, interval, noise)
    assert (told is None) is (found is None)
    if told is not None and found is not None:
        assert (told.low, told.high, told.blocks) == (pytest.approx(found[0]), pytest.approx(found[1]), found[2])


def test_the_noise_of_operators_is_drift_and_spread_together() -> None:
    assert Noise(controls=9, drift=0.03, spread=0.04).of_operators == pytest.approx(0.05)
    assert Noise(controls=4).of_operators == 0.0
    assert LEVEL == 0.99
