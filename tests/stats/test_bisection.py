"""Which build brought a change, and what the plan measures to name it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aoe_reports.stats.bisection import CERTAINTY, MAX_REPEATS, Plan, look_repeats, plan_next
from aoe_reports.stats.boundaries import pooled_scatter, posterior
from aoe_reports.stats.noise import FLOOR

SEED = 20261130
OLD, NEW = [0.0, 0.01, -0.01, 0.005, -0.005], [0.05, 0.06, 0.04, 0.055, 0.045]
MIDDLE = [0.025, 0.035, 0.015, 0.03, 0.02]


def history(builds: int, **measured: list[float]) -> list[list[float]]:
    """Builds with the ends measured, and those between by their place: b3=OLD."""
    return [OLD, *(measured.get(f"b{place}", []) for place in range(1, builds - 1)), NEW]


def follow(levels: np.ndarray, noise: str, generator: np.random.Generator) -> tuple[Plan, int]:
    """(the plan when it has nothing more to measure, how often it measured a build between the ends)."""
    last = len(levels) - 1
    logs: list[list[float]] = [[] for _ in levels]
    for end in (0, last):
        logs[end] = [float(levels[end] + off) for off in scattered(noise, 5, generator)]
    plan, looks = plan_next(logs), 0
    while plan.repeats is not None and not (plan.state == "ends-not-apart" and plan.repeats > 50) and looks < 40:
        for build in plan.builds:
            looks += 0 < build < last
            logs[build] += [float(levels[build] + off) for off in scattered(noise, plan.repeats, generator)]
        plan = plan_next(logs)
    return plan, looks


def scattered(noise: str, count: int, generator: np.random.Generator) -> np.ndarray:
    """Repeats with 1 % scatter: normal, or with heavy tails and 2 % of them far too slow."""
    if noise == "gauss":
        return 0.01 * generator.standard_normal(count)
    spikes = np.where(generator.random(count) < 0.02, generator.uniform(0.1, 0.3, count), 0)
    return 0.01 * generator.standard_t(3, count) / math.sqrt(3) + spikes


def test_with_the_ends_alone_each_boundary_is_as_probable() -> None:
    plan = plan_next(history(9))
    assert plan.state == "measure"
    assert [(b.before, b.after) for b in plan.posterior] == [(place, place + 1) for place in range(8)]
    assert [b.probability for b in plan.posterior] == pytest.approx([1 / 8] * 8)
    assert len(plan.likely) == 8
    assert (plan.builds, plan.rounds) == ((4,), 3)
    assert plan.effect == pytest.approx(0.05, abs=1e-3)


def test_the_first_slow_build_is_named_when_both_neighbours_are_measured() -> None:
    plan = plan_next(history(9, b4=OLD, b5=NEW))
    assert plan.state == "found"
    assert [(b.before, b.after) for b in plan.likely] == [(4, 5)]
    assert plan.likely[0].probability > CERTAINTY
    assert (plan.builds, plan.repeats, plan.rounds) == ((), None, 0)


def test_the_old_level_moves_the_boundary_behind_the_build() -> None:
    plan = plan_next(history(9, b4=OLD))
    assert {b.before for b in plan.likely} == {4, 5, 6, 7}
    assert plan.builds == (6,)
    assert sum(b.probability for b in plan.likely) >= CERTAINTY


def test_two_neighbours_need_no_build_between() -> None:
    assert [(b.before, b.after) for b in plan_next([OLD, NEW]).likely] == [(0, 1)]


def test_a_build_that_became_faster_is_named_too() -> None:
    plan = plan_next([NEW, NEW, OLD, OLD])
    assert (plan.state, plan.likely[0].after) == ("found", 2)
    assert plan.effect < 0


def test_machines_share_the_boundaries_in_equal_parts() -> None:
    plan = plan_next(history(9), machines=3)
    assert (plan.builds, plan.rounds) == ((2, 4, 6), 2)
    assert plan_next(history(3), machines=3).builds == (1,)


def test_smaller_effects_and_surer_answers_need_more_repeats() -> None:
    sizes = [look_repeats(effect, 0.01, 0.01) or 0 for effect in (0.06, 0.04, 0.03, 0.02)]
    assert sizes[0] == 1
    assert sizes == sorted(set(sizes))
    assert (look_repeats(0.03, 0.01, 0.001) or 0) > sizes[2]
    assert look_repeats(0.0001, 0.5, 0.01) is None
    assert (look_repeats(0.0, 0.0, 0.01) or MAX_REPEATS) == 1


def test_ends_that_may_be_alike_are_to_be_repeated() -> None:
    plan = plan_next([OLD, [], [value + 0.004 for value in OLD]])
    assert (plan.state, plan.builds, plan.posterior) == ("ends-not-apart", (0, 2), ())
    assert (plan.repeats or 0) > 10
    assert plan_next([OLD, [], OLD]).repeats is None


def test_single_repeats_prove_nothing() -> None:
    plan = plan_next([[0.0], [], [0.05]])
    assert (plan.state, plan.repeats, plan.scatter) == ("ends-not-apart", 2, None)


def test_one_bad_repeat_does_not_move_the_boundary() -> None:
    bad = [*OLD[:4], 0.3]
    assert 0.005 < (pooled_scatter([bad, OLD, NEW]) or 0) < 0.02
    assert [b.before for b in plan_next(history(9, b4=bad, b5=NEW)).likely] == [4]


def test_a_wrong_look_is_taken_back() -> None:
    wrong = history(9, b4=[0.051, 0.049])
    assert sum(b.probability for b in plan_next(wrong).posterior[:4]) > 0.9
    later = history(9, b4=[0.051, 0.049, *OLD, *OLD], b5=OLD, b6=OLD)
    assert sum(b.probability for b in plan_next(later).posterior[6:]) > 0.95


def test_an_end_is_measured_again_where_the_doubt_is_about_its_level() -> None:
    levels = {f"b{place}": [value + 0.012 for value in OLD] for place in range(1, 5)}
    logs = [[-0.005, 0.005, 0.0], *history(6, **levels)[1:-1], [value - 0.01 for value in NEW[:3]]]
    assert plan_next(logs).builds == (0,)


def test_a_level_between_both_is_no_single_step() -> None:
    plan = plan_next(history(9, b3=OLD, b4=MIDDLE * 2, b5=MIDDLE * 2, b6=NEW))
    assert (plan.state, plan.builds) == ("no-single-step", ())


def test_a_drift_is_no_single_step() -> None:
    levels = np.linspace(0, 0.1, 64)
    plans = [follow(levels, "gauss", np.random.default_rng([SEED, number]))[0] for number in range(10)]
    assert sum(plan.state == "no-single-step" for plan in plans) >= 9


def test_costs_that_repeat_to_the_digit_and_huge_effects_are_decided() -> None:
    logs = [[0.0] * 5, [0.0] * 5, [9.0] * 5, [], [9.0] * 5]
    plan = plan_next(logs)
    assert (plan.state, plan.scatter, plan.likely[0].after) == ("found", FLOOR, 2)
    assert posterior(logs, FLOOR).chances.sum() == pytest.approx(1)


def test_followed_to_the_end_the_plan_names_the_right_build() -> None:
    generator = np.random.default_rng(SEED)
    right, looks = 0, []
    for number in range(200):
        effect, noise = (0.03, 0.05)[number % 2], ("gauss", "heavy")[number // 2 % 2]
        after = int(generator.integers(1, 64))
        plan, count = follow(np.where(np.arange(64) < after, 0.0, effect), noise, generator)
        right += plan.state == "found" and plan.likely[0].after == after
        looks.append(count)
    assert right >= 0.95 * 200
    assert np.mean(looks) <= 1.5 * math.log2(64)


def test_without_a_change_the_ends_are_not_apart() -> None:
    generator = np.random.default_rng(SEED)
    plans = [follow(np.zeros(64), noise, generator)[0] for noise in ("gauss", "heavy") for _ in range(25)]
    assert sum(plan.state == "ends-not-apart" for plan in plans) >= 46
    assert sum(plan.state == "found" for plan in plans) <= 1


def test_two_steps_are_flagged_or_one_of_them_is_named() -> None:
    generator = np.random.default_rng(SEED)
    flagged = 0
    for _ in range(30):
        first, second = sorted(generator.choice(np.arange(1, 64), 2, replace=False))
        places = np.arange(64)
        plan, _looks = follow(0.05 * ((places >= first) * 1.0 + (places >= second)), "gauss", generator)
        flagged += plan.state == "no-single-step"
        assert plan.state == "no-single-step" or plan.likely[0].after in {first, second}
    assert flagged >= 21
