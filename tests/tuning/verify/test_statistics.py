"""Mean, P95 and P99 of calls: what they are, how sure they are, and verdicts where a claim is about one of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from aoe_reports.facts.bounds import StepShares
from aoe_reports.tuning.tuner import Claim, Claims
from aoe_reports.tuning.verify.sides import MeasuredSide
from aoe_reports.tuning.verify.statistics import (
    HostCalls,
    StatisticRow,
    host_statistics,
    judged_by,
    slower_tails,
    statistics_of,
)
from aoe_reports.tuning.verify.verdicts import verify_claims

STEPS, CALLS, CONTROLS = 30, 8, 6
CLAIMS = Claims((Claim("k", (), 100, 78),))


def side(drawn: np.random.Generator, kernel_us: np.ndarray, steps: int = STEPS) -> MeasuredSide:
    """A capture with the kernel `k`, its calls spread over steps, and six other operators."""
    names, durations, blocks = ["k"] * len(kernel_us), [kernel_us], [np.arange(len(kernel_us)) % steps]
    for number in range(CONTROLS):
        own = drawn.normal(50 + number, 1, STEPS * CALLS) * drawn.normal(1, 0.01)
        names += [f"other{number}"] * len(own)
        durations.append(own)
        blocks.append(np.arange(len(own)) % steps)
    ns = (np.concatenate(durations) * 1000).astype(np.int64)
    frame = pa.table({"op_name": names, "op_type": names, "task_duration_ns": ns})
    shares = StepShares(0, 0, steps, int(ns.sum()), computing_ns=int(ns.sum()))
    return MeasuredSide(frame, np.concatenate(blocks).astype(np.int64), (int(ns.sum()) // steps,) * steps, shares)


def calls(drawn: np.random.Generator, mean: float, count: int = STEPS * CALLS) -> np.ndarray:
    return drawn.normal(mean, 2, count)


def by_statistic(rows: tuple[StatisticRow, ...]) -> dict[str, StatisticRow]:
    return {row.statistic: row for row in rows}


def test_a_lower_mean_with_a_higher_tail_is_seen_and_regresses_where_the_claim_is_about_the_tail() -> None:
    drawn = np.random.default_rng(1)
    after = np.where(np.arange(STEPS * CALLS) % 7 == 0, 150, 67) + drawn.normal(0, 2, STEPS * CALLS)
    sides = (side(drawn, calls(drawn, 100)), side(drawn, after))
    rows = statistics_of(CLAIMS, *sides)
    found = by_statistic(rows)
    assert found["mean"].change == pytest.approx(-0.22, abs=0.02)
    assert found["p95"].before_us == pytest.approx(103.3, abs=1.5)
    assert found["p95"].after_us == pytest.approx(150, abs=2)
    assert (found["mean"].ci_high or 0) < 0 < (found["p95"].ci_low or 0)
    verified = verify_claims(CLAIMS, *sides, needs_noise=True)
    assert verified.verdict == "confirmed"
    assert [row.statistic for row in slower_tails(verified.rows, rows)] == ["p95", "p99"]
    tail = judged_by(verified, rows, "p95")
    assert (tail.verdict, tail.subject.op_name, tail.subject.measured_after_us) == (
        "regressed",
        "k",
        found["p95"].after_us,
    )
    assert [row.scope for row in tail.rows] == ["step", "operator"]
    assert tail.rows[0].verdict == "not-comparable"


def test_a_tail_that_is_as_claimed_is_confirmed_and_the_mean_has_the_interval_of_its_verdict() -> None:
    drawn = np.random.default_rng(2)
    sides = (side(drawn, calls(drawn, 100)), side(drawn, calls(drawn, 80)))
    verified = verify_claims(CLAIMS, *sides, needs_noise=True)
    rows = statistics_of(CLAIMS, *sides)
    (row,) = (row for row in verified.rows if row.scope == "operator")
    mean = by_statistic(rows)["mean"]
    assert (mean.change, mean.ci_low, mean.ci_high) == (row.change, row.ci_low, row.ci_high)
    for tail in ("p95", "p99"):
        assert judged_by(verified, rows, tail).verdict == "confirmed"
    only_after = Claims((Claim("k", (), None, 200),))
    verified = verify_claims(only_after, *sides, needs_noise=True)
    assert judged_by(verified, statistics_of(only_after, *sides), "p95").verdict == "not-comparable"


def test_a_percentile_needs_so_many_calls_that_one_lies_beyond_it() -> None:
    drawn = np.random.default_rng(3)
    sides = (side(drawn, calls(drawn, 100, 99)), side(drawn, calls(drawn, 80, 20)))
    found = by_statistic(statistics_of(CLAIMS, *sides))
    assert found["p95"].change is not None
    assert (found["p99"].change, found["p99"].reason) == (None, "fewer than 100 calls on a side")
    found = by_statistic(statistics_of(CLAIMS, side(drawn, calls(drawn, 100, 19)), sides[1]))
    assert found["p95"].before_us is None


@pytest.mark.slow
@pytest.mark.parametrize("steps", [STEPS, 2])
def test_intervals_of_a_tail_that_did_not_change_contain_none_nearly_always(steps: int) -> None:
    """At 99 %, with steps as blocks and with single calls."""
    outside = 0
    for seed in range(10):
        drawn = np.random.default_rng(seed)
        first, last = (side(drawn, calls(drawn, 100) * drawn.normal(1, 0.01), steps) for _ in range(2))
        row = by_statistic(statistics_of(CLAIMS, first, last))["p95"]
        assert row.ci_low is not None
        outside += not row.ci_low <= 0 <= (row.ci_high or 0)
    assert outside <= 1


def test_functions_of_the_host_have_an_interval_from_five_captures_on() -> None:
    before = [HostCalls({"aclmdlExecute": (10, 1000 + n), "aclrtMalloc": (1, 50)}) for n in range(5)]
    after = [HostCalls({"aclmdlExecute": (10, 800 + n)}) for n in range(5)]
    (row,) = host_statistics(before, after)
    assert (row.op_name, row.statistic, row.calls_before) == ("aclmdlExecute", "host", 50)
    assert row.change == pytest.approx(-0.2, abs=0.001)
    assert -0.22 < (row.ci_low or 0) < (row.ci_high or 0) < -0.18
    (row,) = host_statistics(before[:4], after)
    assert row.ci_low is None
    assert "fewer than 5 captures" in (row.reason or "")
