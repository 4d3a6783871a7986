"""The arithmetic of plans and verdicts: covered time, priors, intervals, verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from frames import tasks_of
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.bounds import StepShares, measure_operators
from aoe_reports.facts.idle import shares_of_tasks
from aoe_reports.formats.aoe.operators import DUMPED, is_dumped
from aoe_reports.model.arrays.intervals import union
from aoe_reports.model.rows import as_mapping
from aoe_reports.stats.bootstrap import widened_percentiles
from aoe_reports.tuning.options import PlanOptions, Scenario
from aoe_reports.tuning.plan.plan import Candidate, Plan
from aoe_reports.tuning.plan.prior import DEFAULT_SAVED_SHARE, Gain, Priors, cost_of_summary, saved_share
from aoe_reports.tuning.plan.ranking import KnownOperators, Measured, Ranking, _inside, exposed_times, rank_operators
from aoe_reports.tuning.plan.report import headline
from aoe_reports.tuning.tuner import Claim, Claims
from aoe_reports.tuning.verify.intervals import LEVEL, Interval, Noise, noise_between
from aoe_reports.tuning.verify.rows import ClaimOf, Method, Row, judge, step_claim
from aoe_reports.tuning.verify.sides import MeasuredSide, both_sides, side_of_tasks
from aoe_reports.tuning.verify.verdicts import Verified, verify_claims

INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=8)


@given(INTERVALS, INTERVALS)
def test_covered_time_is_that_of_a_loop(tasks: list[tuple[int, int]], busy: list[tuple[int, int]]) -> None:
    starts = np.asarray([start for start, _ in tasks], dtype=np.int64)
    lengths = np.asarray([length for _, length in tasks], dtype=np.int64)
    talk = np.asarray([start for start, _ in busy], dtype=np.int64)
    ends = talk + np.asarray([length for _, length in busy], dtype=np.int64)
    covered = {t for start, length in busy for t in range(start, start + length)}
    expected = [sum(t in covered for t in range(start, start + length)) for start, length in tasks]
    if busy:
        assert _inside(starts, lengths, union(talk, ends)).tolist() == expected


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "op_name": st.sampled_from(["a", "b", "c"]),
            "op_type": st.sampled_from(["MatMulV2", "Add", None]),
            "task_type": st.sampled_from(["AI_CORE", "AI_CPU", "COMMUNICATION"]),
            "op_state": st.sampled_from(["static", "dynamic"]),
            "input_shapes": st.sampled_from(["8,8", "9,9"]),
            "task_start_ns": st.integers(0, 10_000),
            "task_duration_ns": st.integers(1, 5_000),
        }
    ),
    min_size=1,
    max_size=25,
)


@pytest.mark.parametrize(
    ("step_us", "said"),
    [
        (None, "2 candidates: expected saving 1,234.500 us, for about 20.5 minutes of tuning."),
        (4938.0, "2 candidates: expected saving 1,234.500 us (25.00%) of a step of 4,938.000 us, for about 20.5 minutes of tuning."),
    ],
)  # fmt: skip
def test_the_headline_of_a_plan_sums_saving_and_cost(step_us: float | None, said: str) -> None:
    first = Candidate(kind="operator", op_name="a", expected_saving_us=1000.0, cost_s=600.0)
    second = Candidate(kind="operator", op_name="b", expected_saving_us=234.5, cost_s=630.0)
    assert headline(Plan("offline", "opat", step_us=step_us, candidates=(first, second))) == said


@pytest.mark.slow
@given(ROWS, st.floats(0, 1), st.sampled_from(["offline", "pytorch"]), st.integers(0, 3))
def test_a_plan_loses_no_time_and_promises_no_more_than_the_step_allows(
    rows: list[dict[str, object]], least: float, scenario: str, seed: int
) -> None:
    frame = tasks_of(rows)
    bounds = measure_operators(frame)
    shares = shares_of_tasks(frame, None, None)
    exposed = exposed_times(frame, bounds, shares) if bounds is not None else None
    options = PlanOptions(scenario=scenario, top=2, min_share=least)  # type: ignore[arg-type]
    found = rank_operators(Measured(frame, bounds, exposed, shares), options, KnownOperators(), Priors())
    told = sum(one.total_us or 0.0 for one in (*found.candidates, *found.rejected))
    assert told == pytest.approx(sum(int(row["task_duration_ns"]) for row in rows) / 1000)  # type: ignore[call-overload]
    assert sum(one.expected_saving_us or 0.0 for one in found.candidates) <= shares.bound_saving_us + 0.01
    assert all(c.bound_saving_us is None for c in found.candidates), "no counter bounds them"
    assert all((c.expected_saving_us or 0) * shares.steps <= (c.total_us or 0) + 0.001 for c in found.candidates)
    np.random.default_rng(seed).shuffle(rows)
    again = tasks_of(rows)
    bounds = measure_operators(again)
    exposed = exposed_times(again, bounds, shares) if bounds is not None else None
    assert rank_operators(Measured(again, bounds, exposed, shares), options, KnownOperators(), Priors()) == found


def test_operators_beside_each_other_share_the_time_they_take_together() -> None:
    rows = [
        {"op_name": name, "task_start_ns": 0, "task_duration_ns": 1000, "op_state": "static"} for name in ("a", "b")
    ]
    frame = tasks_of(rows)
    bounds, shares = measure_operators(frame), shares_of_tasks(frame, None, None)
    assert bounds is not None
    assert exposed_times(frame, bounds, shares).tolist() == [500.0, 500.0]


def test_without_times_overlap_is_taken_from_every_operator_alike() -> None:
    frame = tasks_of(
        [{"op_name": name, "task_duration_ns": ns} for name, ns in (("a", 300), ("b", 100))], spaced_ns=None
    )
    bounds = measure_operators(frame)
    assert bounds is not None
    shares = StepShares(None, None, 1, 1000, 400, overlapped_ns=100)
    assert sorted(exposed_times(frame, bounds, shares).tolist()) == [75.0, 225.0]


def test_measured_gains_count_before_claimed_ones() -> None:
    gains = [Gain("MatMulV2", 0.5), Gain("matmul", 0.1, measured=True), Gain("Add", -0.3, measured=True)]
    priors = Priors(gains)
    prior = priors.of_type("MatMulV3")
    assert (prior.source, prior.results) == ("measured", 1)
    assert prior.saved_share == pytest.approx((0.1 + DEFAULT_SAVED_SHARE) / 2)
    assert priors.of_type("Add").saved_share == 0.0
    assert priors.of_type("Mul").source == "default"


def test_costs_leave_out_what_was_not_worked_at() -> None:
    summary = {"repo_add_num": 2, "repo_update_num": 2, "repo_reserved_num": 15, "repo_unsatisfied_num": 0}
    assert cost_of_summary(1827, summary) == pytest.approx(456.75)
    assert cost_of_summary(1827, {"repo_reserved_num": 15}) is None
    assert cost_of_summary(None, summary) is None
    assert saved_share(10, 8) == pytest.approx(0.2)
    assert saved_share(0, 8) is None


def test_the_types_that_torch_npu_dumps_are_all_112() -> None:
    assert len(DUMPED) == 112
    assert is_dumped("MatMulV3")  # compiled from a MatMul that is called
    assert not is_dumped("MaxPoolV3")
    assert not is_dumped("OwnFusedKernel")


@pytest.mark.parametrize(
    ("low", "change", "high", "claimed", "verdict"),
    [
        (-0.22, -0.2, -0.18, -0.2, "confirmed"),
        (-0.17, -0.161, -0.15, -0.2, "confirmed"),  # four fifths of what was claimed are the claim
        (-0.17, -0.159, -0.15, -0.2, "partly"),
        (-0.35, -0.29, -0.23, -0.2, "confirmed"),
        (-0.25, -0.16, -0.0001, None, "confirmed"),
        (-0.19, -0.16, 0.0, None, "not-reproduced"),
        (0.0, 0.02, 0.04, -0.2, "not-reproduced"),
        (-0.12, -0.1, -0.08, -0.2, "partly"),
        (-0.3, -0.1, -0.01, -0.2, "confirmed"),
        (-0.05, 0.0, 0.05, -0.2, "not-reproduced"),
        (-0.3, -0.1, 0.1, -0.2, "not-reproduced"),
        (0.01, 0.05, 0.1, -0.2, "regressed"),
    ],
)
def test_verdicts_follow_from_the_interval_and_the_claim(
    low: float, change: float, high: float, claimed: float, verdict: str
) -> None:
    assert judge(change, Interval(low, high, "steps"), claimed) == verdict
    assert judge(change, None, claimed) == "not-comparable"


def test_few_blocks_make_intervals_wider() -> None:
    # Student's quantiles at 0.995: 4.604 with 4 degrees of freedom, 2.626 with 100
    drawn = np.linspace(-1.0, 1.0, 2001)
    low, high = np.quantile(drawn, [0.005, 0.995])
    for size, factor, within in ((5, 4.604 / 2.5758 * (5 / 4) ** 0.5, 0.03), (101, 2.626 / 2.5758, 0.01)):
        ends = widened_percentiles(drawn, size, level=LEVEL)
        assert ends == (pytest.approx(low * factor, rel=within), pytest.approx(high * factor, rel=within))
    drawn[:300] = np.nan
    assert widened_percentiles(drawn, 5, level=LEVEL) is None


def side(ns: int, *, steps: int = 8, shape: str = "8,8", spread: int = 0) -> object:
    rows = [
        {"op_name": name, "input_shapes": shape, "task_duration_ns": (ns if name == "a" else 1000) + spread * (step % 2),
         "step": step}
        for step in range(steps)
        for name in ("a", "b", "c", "d", "e", "f")
    ]  # fmt: skip
    frame = tasks_of(rows)
    return side_of_tasks(frame, [], shares_of_tasks(frame, None, None))


def test_steps_come_from_the_tasks_where_no_table_tells_them() -> None:
    claims = Claims((Claim("a", ("MatMulV2",), 10.0, 8.0),))
    found = verify_claims(claims, side(2000, spread=1), side(1600, spread=1))  # type: ignore[arg-type]
    assert found.method.steps_before == 8
    step, kind, operator = found.rows
    assert operator.change == pytest.approx(-0.2, abs=1e-3)
    assert (kind.verdict, operator.verdict, found.verdict) == ("confirmed", "confirmed", "confirmed")
    assert step.measured_before_us == pytest.approx(7.003, abs=1e-3)
    parts = found.reconciliation
    assert parts.operators_us == pytest.approx(0.4, abs=1e-6)
    assert parts.step_saving_us == pytest.approx(0.4, abs=1e-6)


def test_an_operator_that_nobody_claimed_is_no_row() -> None:
    found = verify_claims(Claims(), side(2000), side(1000))  # type: ignore[arg-type]
    assert [row.scope for row in found.rows] == ["step"]
    assert found.rows[0].verdict == "not-comparable"
    assert found.verdict == "not-comparable"


def test_a_claim_by_another_name_is_held_against_its_type() -> None:
    claims = Claims((Claim("MatMul_12", ("matmul",), 10.0, 5.0),), whole_types=("MatMulV2",))
    found = verify_claims(claims, side(2000), side(2000))  # type: ignore[arg-type]
    kinds = [row for row in found.rows if row.scope == "op_type"]
    assert [(row.op_type, row.verdict) for row in kinds] == [("MatMulV2", "not-reproduced")]
    assert found.noise.controls == 0


@pytest.mark.parametrize(
    ("changes", "differ"),
    [
        ((), False), ((-0.2,), False), ((-0.2, -0.2), False), ((-0.2, -0.17), False), ((-0.17, -0.2), False),
        ((-0.2, -0.15), True), ((-0.15, -0.2), True), ((-0.2, 0.1), True), ((0.1, -0.2), True), ((0.1, 0.2), False),
        ((0.0, 0.0), False), ((0.0, -0.1), True),
    ],
)  # fmt: skip
def test_two_claims_on_a_step_differ_where_one_does_not_confirm_the_other(
    changes: tuple[float, ...], differ: bool
) -> None:
    names: tuple[ClaimOf, ...] = ("model", "operators")
    claims = tuple(step_claim(name, change, judged=False) for name, change in zip(names, changes, strict=False))
    method = Method(level=0.95, resamples=1, seed=1, steps_before=1, steps_after=1, operators_together=None)
    step = Row(scope="step")
    known = Verified(
        rows=(step,),
        verdict="confirmed",
        subject=step,
        noise=Noise(controls=0),
        reconciliation=None,
        step_claims=claims,
        method=method,
    )
    assert known.claims_differ is differ


def ranked(options: PlanOptions, *times_ns: int, names: str = "abc", op_type: str | None = None) -> Ranking:
    """The plan for operators of a step that they fill, one task each: those of one name differ in shape."""
    rows = [
        {"op_name": name, "task_duration_ns": ns, "op_state": "static", "input_shapes": str(place)}
        | ({} if op_type is None else {"op_type": op_type if name == names[0] else "Add"})
        for place, (name, ns) in enumerate(zip(names, times_ns, strict=False))
    ]
    frame = tasks_of(rows)
    bounds, shares = measure_operators(frame), shares_of_tasks(frame, None, None)
    assert bounds is not None
    return rank_operators(
        Measured(frame, bounds, exposed_times(frame, bounds, shares), shares),
        options,
        KnownOperators(),
        Priors(costs_s=[10.0]),
    )


@pytest.mark.parametrize(("scenario", "named"), [("offline", ["b", "a"]), ("pytorch", [None, None])])
def test_a_plan_ranks_by_the_time_saved_per_second_of_tuning(scenario: Scenario, named: list[str | None]) -> None:
    """Three shapes save more of a step than one does, but take three times as long to tune."""
    found = ranked(PlanOptions(scenario=scenario), 1000, 1000, 1000, 2000, names="aaab", op_type="MatMulV2")
    assert [one.op_name for one in found.candidates] == named
    assert [(one.op_type, one.cost_s) for one in found.candidates] == [("Add", 10.0), ("MatMulV2", 30.0)]
    first, second = (one.expected_saving_us or 0 for one in found.candidates)
    assert first < second
    within = ranked(
        PlanOptions(scenario=scenario, budget=0.5), 1000, 1000, 1000, 2000, names="aaab", op_type="MatMulV2"
    )
    assert [one.op_type for one in within.candidates] == ["Add"]
    assert [one.reason.partition(":")[0] for one in within.rejected] == ["beyond-budget"]


@pytest.mark.parametrize(("share", "kept"), [(0.1, ["b", "a"]), (0.1001, ["b"])])
def test_an_operator_of_the_least_share_is_tuned(share: float, kept: list[str]) -> None:
    found = ranked(PlanOptions(scenario="offline", min_share=share), 1000, 9000)
    assert [one.op_name for one in found.candidates] == kept
    assert [one.reason.partition(":")[0] for one in found.rejected] == ["below-threshold"] * (2 - len(kept))


@pytest.mark.parametrize(("budget", "kept"), [(None, True), (300.0, True), (0.01, False)])
def test_subgraphs_that_do_not_fit_into_the_time_are_said(budget: float | None, kept: bool) -> None:
    found = ranked(PlanOptions(scenario="offline", mode="sgat", budget=budget, top=1), 1000, 9000)
    assert [one.kind for one in found.candidates] == ["subgraph"] * kept
    beyond = [one for one in found.rejected if not one.reason.startswith("subgraphs-first")]
    assert [(one.total_us, one.reason.partition(":")[0]) for one in beyond] == [(10.0, "beyond-budget")] * (not kept)


@pytest.mark.parametrize("lost", ["before", "after"])
def test_an_operator_of_one_profile_alone_is_in_no_sum(lost: str) -> None:
    claims = Claims((Claim("a", ("MatMulV2",), 10.0, 8.0), Claim("b", ("MatMulV2",), 10.0, 8.0)))
    whole, less = side(2000), side(2000)
    kept = pc.not_equal(less.frame["op_name"], "b")  # type: ignore[attr-defined]
    less = replace(less, frame=less.frame.filter(kept), block_of=less.block_of[kept.to_numpy()])  # type: ignore[type-var, attr-defined]
    found = verify_claims(claims, *((less, whole) if lost == "before" else (whole, less)))  # type: ignore[arg-type]
    (kind,) = [row for row in found.rows if row.scope == "op_type"]
    assert (kind.measured_before_us, kind.measured_after_us, kind.change) == (2.0, 2.0, 0.0)
    (row,) = [row for row in found.rows if row.op_name == "b"]
    assert (row.verdict, row.reason) == (
        "not-comparable",
        f"the profile {lost} tuning contains no calls with these shapes",
    )


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan("tf-training", "gdat"), "Gradients are tuned as a whole while the training script runs; no operator is chosen."),
        (Plan("offline", "opat"), "Tuning of computing cannot help here: no operator was measured."),
        (Plan("offline", "opat", computing_share=0.25), "Tuning of computing cannot help here: computing takes 25.0% of the step."),
        (Plan("offline", "opat", step_us=0.0, candidates=(Candidate(kind="operator", expected_saving_us=1.5, cost_s=60.0),)), "1 candidate: expected saving 1.500 us of a step of 0.000 us, for about 1.0 minutes of tuning."),
        (Plan("offline", "sgat", candidates=(Candidate(kind="subgraph", expected_saving_us=1.5, cost_s=90.0),)), "The model's subgraphs: expected saving 1.500 us, for about 1.5 minutes of tuning."),
    ],
    ids=lambda value: value.mode if isinstance(value, Plan) else "said",
)  # fmt: skip
def test_what_a_plan_says_first(plan: Plan, said: str) -> None:
    assert headline(plan) == said


@pytest.mark.parametrize(("untouched", "drift"), [(200, 0.0), (201, 0.0), (260, 0.0)])
def test_noise_is_that_of_the_two_hundred_longest_operators(untouched: int, drift: float) -> None:
    """What is shorter than those became slower by a half, and says nothing."""

    def of(factor: float) -> MeasuredSide:
        rows = [{"op_name": f"long{n}", "task_duration_ns": 1000 + n} for n in range(200)]
        rows += [
            {"op_name": f"short{n}", "task_duration_ns": round((999 - n) * factor)} for n in range(untouched - 200)
        ]
        frame = tasks_of(rows)
        return side_of_tasks(frame, [], shares_of_tasks(frame, None, None))

    found = noise_between(both_sides(of(1), of(1.5)), set())
    assert (found.controls, found.drift, found.spread) == (200, drift, 0.0)


def told(one: object) -> dict[str, object]:
    """What a row tells, without what is not known."""
    return {name: value for name, value in as_mapping(one).items() if value is not None}


def test_a_verification_by_hand() -> None:
    """In each of 8 steps `a` takes 2 us before and 1 us after, five other operators 1 us: claimed are 10 -> 8 us of `a`, 3 -> 1.5 of `b`."""
    claims = Claims((Claim("a", ("MatMulV2",), 10.0, 8.0), Claim("b", ("MatMulV2",), 3.0, 1.5)))
    found = verify_claims(claims, side(2000), side(1000))  # type: ignore[arg-type]
    third = {"change": -0.333333, "ci_low": -0.333333, "ci_high": -0.333333, "verdict": "confirmed"}
    both = {
        "scope": "op_type",
        "measured_before_us": 3.0,
        "measured_after_us": 2.0,
        "claimed_change": -0.3,
        "claim": "operators",
        **third,
    }
    assert [told(row) for row in found.rows] == [
        {
            "scope": "step", "measured_before_us": 7.0, "measured_after_us": 6.0, "change": -0.142857, "ci_low": -0.142857,
            "ci_high": -0.142857, "verdict": "confirmed", "claimed_change": -0.128571, "claim": "operators",
        },
        {"op_type": "MatMulV2", **both},
        {
            "scope": "operator", "op_name": "a", "op_type": "MatMulV2", "input_shapes": "8,8", "claimed_before_us": 10.0,
            "claimed_after_us": 8.0, "measured_before_us": 2.0, "measured_after_us": 1.0, "change": -0.5, "ci_low": -0.5,
            "ci_high": -0.5, "verdict": "confirmed", "claimed_change": -0.2, "claim": "operators",
        },
        {
            "scope": "operator", "op_name": "b", "op_type": "MatMulV2", "input_shapes": "8,8", "claimed_before_us": 3.0,
            "claimed_after_us": 1.5, "measured_before_us": 1.0, "measured_after_us": 1.0, "change": 0.0, "ci_low": 0.0,
            "ci_high": 0.0, "verdict": "not-reproduced", "claimed_change": -0.5, "claim": "operators",
        },
    ]  # fmt: skip
    assert (found.verdict, told(found.subject)) == ("confirmed", both)
    assert told(found.method.operators_together) == both
    assert told(found.noise) == {"controls": 4}
    assert told(found.reconciliation) == {
        "step_saving_us": 1.0, "claimed_us": 0.9, "operators_us": 1.0, "others_us": 0.0, "hidden_by_overlap_us": 0.0,
        "communication_us": 0.0, "free_us": 0.0, "unexplained_us": 0.0,
    }  # fmt: skip
    assert (found.same_share, found.work_ratio, found.signs, found.claims_differ) == (1.0, 1.0, (), False)
    (claim,) = found.step_claims
    assert told(claim) == {
        "claim": "operators", "change": -0.128571, "time_saved": 0.128571, "speed_up": 0.147541, "judged": True,
    }  # fmt: skip
    assert (found.method.steps_before, found.method.steps_after, found.method.level) == (8, 8, 0.99)


def test_a_type_is_claimed_by_the_ratio_of_operators_of_other_names() -> None:
    claims = Claims((Claim("x", ("matmul",), 10.0, 8.0), Claim("y", ("matmul",), 20.0, 13.0)))
    found = verify_claims(claims, side(2000), side(1000))  # type: ignore[arg-type]
    step, kind, *operators = found.rows
    assert told(kind) == {
        "scope": "op_type", "op_type": "MatMulV2", "claimed_before_us": 30.0, "claimed_after_us": 21.0,
        "measured_before_us": 7.0, "measured_after_us": 6.0, "change": -0.142857, "ci_low": -0.142857, "ci_high": -0.142857,
        "verdict": "partly", "claimed_change": -0.3, "claim": "operators",
        "reason": "2 claims of operators that have different names in the profiles: their ratio is compared with all calls",
    }  # fmt: skip
    assert (found.subject, found.verdict) == (kind, "partly")
    assert [(one.op_name, one.reason) for one in operators] == [
        (name, "no operator of this name is in either profile") for name in ("x", "y")
    ]
    assert (step.claimed_change, found.noise.controls) == (None, 0)


def with_blocks(one: object, blocks: int | None) -> MeasuredSide:
    assert isinstance(one, MeasuredSide)
    column = pa.array([blocks] * one.frame.num_rows, pa.int64())
    return replace(
        one,
        frame=one.frame.drop_columns([n for n in ["block_num"] if n in one.frame.column_names]).append_column(
            "block_num", column
        ),
    )


@pytest.mark.parametrize(
    ("blocks", "signs"),
    [
        ((8, 8), ["all of them use the same number of blocks as before: the kernels are the same"]),
        ((8, None), ["the profiles do not contain block counts, so it is not known whether other kernels ran"]),
        ((8, 9), None),
    ],
)
def test_what_says_that_a_bank_was_not_in_use(blocks: tuple[int | None, int | None], signs: list[str] | None) -> None:
    claims = Claims((Claim("a", ("MatMulV2",), 10.0, 8.0), Claim("b", ("MatMulV2",), 10.0, 8.0)))
    before, after = (with_blocks(side(2000), count) for count in blocks)
    found = verify_claims(claims, before, after)
    first = "the 2 tuned operators that were measured again are not faster in total, and 2 of them are certainly not as fast as claimed"
    assert list(found.signs) == ([] if signs is None else [first, *signs])
    faster = with_blocks(side(1000), blocks[1])
    assert verify_claims(claims, before, faster).signs == (), "what is faster was in use"


def test_claims_of_a_step_are_those_of_all_its_calls() -> None:
    """`a` runs three times in each of 8 steps and `b` once: what is claimed of a call is claimed of each of them."""

    def of(ns: int) -> MeasuredSide:
        rows = [
            {"op_name": name, "task_duration_ns": ns if name == "a" else 1000, "step": step}
            for step in range(8)
            for name in "aaab"
        ]
        frame = tasks_of(rows)
        return side_of_tasks(frame, [], shares_of_tasks(frame, None, None))

    found = verify_claims(Claims((Claim("a", ("MatMulV2",), 10.0, 5.0),)), of(2000), of(1000))
    step, kind, operator = map(told, found.rows)
    assert (kind["claimed_before_us"], kind["claimed_after_us"], kind["claimed_change"]) == (30.0, 15.0, -0.5)
    assert (kind["measured_before_us"], kind["measured_after_us"], kind["change"]) == (6.0, 3.0, -0.5)
    assert (operator["claimed_before_us"], operator["measured_before_us"], operator["measured_after_us"]) == (
        10.0,
        2.0,
        1.0,
    )
    assert (step["measured_before_us"], step["measured_after_us"]) == (7.0, 4.0)
    assert step["claimed_change"] == round(-3 / 7, 6)
    parts = told(found.reconciliation)
    assert (parts["claimed_us"], parts["operators_us"], parts["others_us"], parts["step_saving_us"]) == (
        3.0,
        3.0,
        0.0,
        3.0,
    )
