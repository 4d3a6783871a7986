"""Levels of series: what is found, when, where, and what must never be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import FEW

from aoe_reports.history.detection.detector import detect_changes, find_levels, review_history
from aoe_reports.history.detection.verdicts import Parameters, Verdict
from aoe_reports.stats.budget import Budget


def noisy(seed: int, nights: int = 120, sigma: float = 0.01) -> np.ndarray:
    return 100 * (1 + sigma * np.random.default_rng(seed).standard_normal(nights))


def stepped(seed: int, at: int = 100, shift: float = 0.05, nights: int = 120) -> np.ndarray:
    values = noisy(seed, nights)
    values[at:] *= 1 + shift
    return values


def judge(values: np.ndarray, **parameters: object) -> Verdict:
    return detect_changes(values, Parameters(**parameters))[0]  # type: ignore[arg-type]


def test_a_step_is_confirmed_with_night_size_and_interval() -> None:
    verdict = judge(stepped(1))
    (change,) = verdict.changes
    assert (change.night, change.until, change.state, change.steps) == (100, 120, "confirmed", (100,))
    assert change.ci_low < 0.05 < change.ci_high
    assert change.statistic > change.threshold
    assert math.isclose(change.after / change.before - 1, change.change)
    assert verdict.state == "confirmed"


def test_a_quicker_level_has_improved_and_a_return_has_recovered() -> None:
    assert judge(stepped(2, shift=-0.05)).state == "improved"
    values = stepped(3, at=60)
    values[90:] /= 1.05
    states = [change.state for change in judge(values).changes]
    assert states == ["confirmed", "recovered"]


def test_going_below_the_old_level_is_more_than_a_recovery() -> None:
    values = stepped(3, at=60)
    values[90:] *= 0.9 / 1.05
    assert [change.state for change in judge(values).changes] == ["confirmed", "improved"]


def test_one_night_out_of_line_is_suspect_and_three_are_confirmed() -> None:
    values = stepped(4, at=100, shift=0.06)
    states = [judge(values[:end]).state for end in (100, 101, 102, 104)]
    assert states == [None, "suspect", "suspect", "confirmed"]
    suspect = judge(values[:101]).suspect
    assert suspect is not None
    assert (suspect.night, suspect.until, suspect.steps) == (100, 101, ())


def test_a_level_proves_itself_within_24_nights_or_not_at_all() -> None:
    """Of 100 steps of 1 and of 2 sigma 60 nights ago: what hindsight sees is too little for the watch, unless it was seen at once."""

    def told(shift: float, nights: int, judged: object = detect_changes) -> float:
        values = np.stack([stepped(seed, at=60, shift=shift)[:nights] for seed in range(100)])
        return float(np.mean([any(abs(change.night - 60) <= 8 for change in one.changes) for one in judged(values)]))  # type: ignore[operator]

    assert told(0.01, 120) <= told(0.01, 84) + 0.1
    assert told(0.01, 120) < 0.3
    assert told(0.01, 120, review_history) > 0.8
    assert told(0.02, 74) > 0.75
    assert told(0.02, 120) > 0.97


def test_two_spikes_of_a_series_without_spikes_are_no_level() -> None:
    values = noisy(5)
    values[[117, 119]] *= 1.3
    assert judge(values).changes == ()


def test_single_nights_of_a_spiky_series_are_not_even_suspect() -> None:
    values = noisy(6)
    values[::15] *= 1.2
    values[-1] *= 1.2 if 119 % 15 else 1.0
    verdict = judge(values)
    assert verdict.changes == ()
    assert verdict.suspect is None
    assert verdict.rare is not None
    assert verdict.rare > 0.03


def test_a_slow_drift_is_told_once_and_called_so() -> None:
    values = noisy(7, 200) * (1 + np.maximum(np.arange(200) - 60, 0) * 0.001)
    (change,) = judge(values).changes
    assert change.state == "drift"
    assert 45 <= change.night <= 80
    assert 0.10 < change.change < 0.18
    assert len(change.steps) >= 2


@pytest.mark.parametrize("value", [100.0, 1e-9, 1e12])
def test_a_constant_series_never_alarms(value: float) -> None:
    verdict = judge(np.full(365, value))
    assert (verdict.state, verdict.changes, verdict.reason) == (None, (), None)
    assert math.isclose(verdict.level or 0, value)


def test_a_step_of_a_constant_series_is_found() -> None:
    values = np.full(60, 100.0)
    values[50:] = 103.0
    (change,) = judge(values).changes
    assert (change.night, round(change.change, 6)) == (50, 0.03)


def test_a_step_below_the_least_effect_is_none() -> None:
    values = np.full(60, 100.0)
    values[30:] = 100.4
    assert judge(values).changes == ()


@pytest.mark.parametrize(
    ("values", "reason", "nights", "left_out"),
    [
        ([], "no-times", 0, 0),
        ([np.nan, np.nan], "no-times", 0, 0),
        ([0.0, -1.0, np.inf, -np.inf, np.nan], "no-times", 0, 4),
        ([5.0], "too-few-nights", 1, 0),
        ([1.0, 9.0] * 4 + [0.0], "too-few-nights", 8, 1),
    ],
)
def test_what_cannot_be_judged_says_why(values: list[float], reason: str, nights: int, left_out: int) -> None:
    verdict = judge(np.array([values], dtype=float))
    assert (verdict.reason, verdict.nights, verdict.left_out) == (reason, nights, left_out)
    assert verdict.state is None
    assert verdict.smallest_detectable is None


def test_a_store_with_nothing_has_no_verdicts() -> None:
    assert detect_changes(np.empty((0, 0))) == []
    assert detect_changes(np.empty((0, 30))) == []


def test_values_of_three_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="3 dimensions"):
        detect_changes(np.zeros((1, 2, 3)))


def test_ten_years_are_judged() -> None:
    values = stepped(8, at=3000, shift=0.04, nights=3650)
    assert 3000 in [change.night for change in judge(values).changes]


@given(st.integers(0, 1000), st.lists(st.integers(0, 99), max_size=40, unique=True))
def test_missing_nights_move_indexes_and_nothing_else(seed: int, gaps: list[int]) -> None:
    values = stepped(seed, at=80, nights=100)
    values[gaps] = np.nan
    present = np.flatnonzero(~np.isnan(values))
    sparse, dense = judge(values), judge(values[present])
    assert [c.night for c in sparse.changes] == [present[c.night] for c in dense.changes]
    # sums of another shape may be added in another order
    assert np.allclose([c.statistic for c in sparse.changes], [c.statistic for c in dense.changes], rtol=1e-9)
    facts = [(one.sigma, one.memory, one.level) for one in (sparse, dense)]
    assert np.allclose(*facts, rtol=1e-9)


@given(st.integers(0, 1000), st.sampled_from([2.0**-20, 0.5, 1024.0]))
def test_the_unit_does_not_matter(seed: int, unit: float) -> None:
    values = stepped(seed, at=80, shift=0.03)
    one, other = judge(values), judge(values * unit)
    assert [(c.steps, c.state) for c in one.changes] == [(c.steps, c.state) for c in other.changes]
    assert np.allclose([c.change for c in one.changes], [c.change for c in other.changes], rtol=1e-6)


@given(st.integers(0, 1000), st.integers(0, 30))
def test_where_a_quiet_past_begins_does_not_move_a_step(seed: int, more: int) -> None:
    values = stepped(seed, at=100, nights=130)
    longer = np.concatenate([noisy(seed + 5000, more), values])
    (one,) = (c.night for c in judge(values).changes if c.change > 0.03)
    (other,) = (c.night for c in judge(longer).changes if c.change > 0.03)
    assert abs(other - more - one) <= 2


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@FEW
def test_a_series_is_judged_by_itself(random) -> None:
    table = np.stack([stepped(seed, at=20 + seed % 90, shift=0.02 * (seed % 4)) for seed in range(60)])
    table[::7, 90:] = np.nan
    table[::11, :40] = np.nan
    whole = detect_changes(table)
    order = list(range(60))
    random.shuffle(order)
    assert detect_changes(table[order]) == [whole[row] for row in order]
    assert detect_changes(table[order[0]]) == [whole[order[0]]]


@pytest.mark.parametrize("hindsight", [False, True])
def test_levels_are_those_of_the_verdicts(hindsight: bool) -> None:
    table = np.stack([stepped(seed, at=20 + seed % 90, shift=0.02 * (seed % 4)) for seed in range(100)])
    table[::7, 90:] = np.nan
    table[3], table[4, 5:] = np.nan, 0.0  # without a time; too few nights
    parameters = Parameters(hindsight=hindsight)
    verdicts = detect_changes(table, parameters)
    assert {len(verdict.changes) for verdict in verdicts} >= {0, 1}
    assert [(one.changes, one.level) for one in find_levels(table, parameters)] == [
        (verdict.changes, verdict.level) for verdict in verdicts
    ]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=60))
def test_no_value_breaks_it(values: list[float]) -> None:
    for verdict in detect_changes(np.array([values], dtype=float)):
        told = [*verdict.changes, *([verdict.suspect] if verdict.suspect else [])]
        assert all(0 <= change.night < change.until <= len(values) for change in told)
        numbers = [
            n for change in told for n in (change.before, change.after, change.change, change.ci_low, change.ci_high)
        ]
        assert all(not math.isnan(number) for number in numbers)


def test_times_as_far_apart_as_floats_go_stay_finite() -> None:
    values = np.array([[5e-324, 1.7e308] * 10])
    (verdict,) = detect_changes(values)
    assert verdict.smallest_detectable is None or math.isfinite(verdict.smallest_detectable)
    assert verdict.level is not None
    assert math.isfinite(verdict.level)


def test_quiet_series_keep_their_budget() -> None:
    table = np.stack([noisy(seed) for seed in range(2000)])
    found = sum(bool(verdict.changes) for verdict in detect_changes(table))
    # each look at 120 nights is worth a third of a series-year at most: 2,000 of them, 7 alarms, three standard errors
    assert found <= 15


def test_a_smaller_budget_detects_less() -> None:
    values = noisy(11)
    detectable = [judge(values, budget=Budget(rate)).smallest_detectable or 0 for rate in (0.1, 0.01, 0.0001)]
    assert 0.005 < detectable[0] < detectable[1] < detectable[2] < 0.05


@pytest.mark.slow
def test_the_smallest_detectable_change_is_detected_in_nine_cases_of_ten() -> None:
    table = np.stack([noisy(seed, 114) for seed in range(200)])
    shift = np.mean([verdict.smallest_detectable or 0 for verdict in detect_changes(table[:, :100])])
    table[:, 100:] *= 1 + shift
    found = np.zeros(len(table), dtype=bool)
    for end in range(103, 115):
        found |= [any(c.night >= 95 for c in verdict.changes) for verdict in detect_changes(table[:, :end])]
    assert 0.84 <= found.mean() <= 0.97


def wandering(seed: int, nights: int, memory: float, count: int = 1) -> np.ndarray:
    """(series, nights) of AR(1) noise of 1 %."""
    steps = np.random.default_rng(seed).standard_normal((count, nights))
    values = steps.copy()
    for night in range(1, nights):
        values[:, night] = memory * values[:, night - 1] + math.sqrt(1 - memory**2) * steps[:, night]
    return 100 * np.exp(0.01 * values)


def test_a_night_that_is_five_sigma_off_is_suspect_at_once() -> None:
    table = np.stack([stepped(seed, at=119, shift=0.06) for seed in range(100)])
    suspected = [verdict.suspect is not None for verdict in detect_changes(table)]
    assert np.mean(suspected) >= 0.8


def test_what_happened_before_is_suspect_only_when_two_nights_agree() -> None:
    values = noisy(6)
    values[40] *= 1.12
    assert judge(np.append(values, 112.0)).suspect is None
    suspect = judge(np.append(values, [112.0, 111.0])).suspect
    assert suspect is not None
    assert suspect.night == 120
    assert judge(np.append(values, 88.0)).suspect is None
    assert judge(np.append(values, [88.0, 98.0])).suspect is None  # only one of them is off as far


@given(
    st.floats(1e-6, 1e9),
    st.lists(st.sampled_from([0.0, -1.0, -1e300, math.inf, -math.inf, math.nan, None]), min_size=1, max_size=200),
)
def test_what_is_no_time_never_makes_a_constant_series_alarm(level: float, nights: list[float | None]) -> None:
    values = np.array([level if night is None else night for night in nights])
    for (verdict,) in (detect_changes(values), review_history(values)):
        assert (verdict.changes, verdict.suspect) == ((), None)
        assert verdict.nights == nights.count(None)


@given(st.lists(st.floats(100.0, 100.2), min_size=1, max_size=150))
def test_nothing_below_the_least_effect_is_ever_told(values: list[float]) -> None:
    for (verdict,) in (detect_changes(values), review_history(values)):
        assert (verdict.changes, verdict.suspect) == ((), None)


@pytest.mark.parametrize("judged", [detect_changes, review_history])
def test_ten_quiet_years_show_next_to_nothing(judged) -> None:
    values = np.stack([noisy(seed, 3650) for seed in range(10)])
    assert sum(bool(verdict.changes) for verdict in judged(values)) <= 1


def test_hindsight_finds_in_a_short_history_what_the_watch_cannot_prove() -> None:
    table = np.stack([stepped(seed, at=15, shift=0.025, nights=30) for seed in range(100)])
    watched = sum(bool(verdict.changes) for verdict in detect_changes(table))
    seen = sum(bool(verdict.changes) for verdict in review_history(table))
    assert seen > 1.3 * watched
    assert seen >= 50


@pytest.mark.parametrize(("nights", "memory"), [(30, 0.0), (120, 0.4), (365, 0.0)])
def test_quiet_histories_show_as_little_as_is_asked(nights: int, memory: float) -> None:
    table = wandering(3, nights, memory, 400)
    false = sum(len(verdict.changes) for verdict in review_history(table))
    assert false <= 12  # 4 are asked for; four standard errors


def test_memory_is_no_step_in_hindsight() -> None:
    table = wandering(4, 120, 0.8, 200)
    explained = sum(len(verdict.changes) for verdict in review_history(table))
    unguarded = detect_changes(table, Parameters(threshold=Budget().look))
    assert explained < sum(len(verdict.changes) for verdict in unguarded) / 2


def test_hindsight_asks_less_of_a_larger_share_of_false_changes() -> None:
    looks = [Budget(rate).look for rate in (0.1, 0.01, 0.001)]
    assert looks == sorted(looks)
    assert looks[1] < Budget(0.01).threshold(0.0)


@given(st.integers(0, 1000), st.lists(st.integers(0, 99), max_size=30, unique=True))
def test_hindsight_looks_over_gaps_and_at_each_series_alone(seed: int, gaps: list[int]) -> None:
    values = stepped(seed, at=50, shift=0.04, nights=100)
    values[gaps] = np.nan
    present = np.flatnonzero(~np.isnan(values))
    (alone,) = review_history(values)
    (dense,) = review_history(values[present])
    assert [c.night for c in alone.changes] == [present[c.night] for c in dense.changes]
    assert review_history(np.stack([noisy(seed, 100), values]))[1] == alone


def test_ten_percent_within_sixty_nights_are_a_drift() -> None:
    nights = np.arange(120)
    slope = 1 + 0.1 * np.clip((nights - 50) / 60, 0, 1)
    states = [judge(noisy(seed) * slope).state for seed in range(20)]
    assert states.count("drift") >= 18


def two_steps(apart: int, after: int, sigma: float, count: int = 100) -> np.ndarray:
    """Series that get 6 % slower in night 60, and again so many nights later, seen so many nights after that."""
    values = np.stack([noisy(seed, 60 + apart + after, sigma) for seed in range(count)])
    values[:, 60:] *= 1.06
    values[:, 60 + apart :] *= 1.06
    return values


@pytest.mark.parametrize("after", [4, 7, 14])
@pytest.mark.parametrize("apart", [10, 20, 30])
def test_two_steps_are_no_drift_and_each_has_its_night(apart: int, after: int) -> None:
    verdicts = detect_changes(two_steps(apart, after, 0.01))
    assert [change.state for verdict in verdicts for change in verdict.changes if change.state == "drift"] == []
    first = [change.night for verdict in verdicts for change in verdict.changes[:1]]
    assert np.mean(np.abs(np.array(first) - 60) <= 1) >= 0.97
    second = [any(abs(change.night - 60 - apart) <= 1 for change in verdict.changes[1:]) for verdict in verdicts]
    assert np.mean(second) >= 0.85


@pytest.mark.parametrize(("apart", "after", "most"), [(10, 7, 0.35), (10, 14, 0.15), (20, 7, 0.08), (30, 14, 0.03)])
def test_two_steps_of_three_sigma_are_seldom_a_drift(apart: int, after: int, most: float) -> None:
    verdicts = detect_changes(two_steps(apart, after, 0.02))
    assert np.mean([any(change.state == "drift" for change in verdict.changes) for verdict in verdicts]) <= most


def test_intervals_hold_what_was_planted_in_nineteen_cases_of_twenty() -> None:
    table = np.stack([stepped(seed, at=30, shift=0.06, nights=60) for seed in range(400)])
    changes = [verdict.changes[-1] for verdict in detect_changes(table)]
    assert 0.92 <= np.mean([change.ci_low < 0.06 < change.ci_high for change in changes]) <= 0.99


def lively(seed: int) -> np.ndarray:
    """A history with a spell, two nights out of line and four nights of a new level, which the whole history hides."""
    noise = np.random.default_rng(seed)
    values = 100 * (1 + 0.01 * noise.standard_normal(60))
    values[20:30] *= 1.1
    values[40] *= 1.5
    values[33] *= 0.6
    values[-4:] *= 1.045 + 0.02 * noise.random()
    return values


@pytest.mark.parametrize("sign", [1, -1])
def test_four_nights_that_only_the_guard_suspects_are_held_against_the_week_before(sign: int) -> None:
    values = lively(7) if sign > 0 else 1e4 / lively(7)
    suspect = judge(values).suspect
    assert suspect is not None
    assert (suspect.night, suspect.until, suspect.state, suspect.steps) == (56, 60, "suspect", ())
    logs = np.log(values)
    before, after = float(np.median(logs[-11:-4])), float(logs[-4:].mean())
    nearest = float(np.abs(logs[-4:] - before).min())
    half = 1.96 * nearest / math.sqrt(suspect.statistic) * math.sqrt(1 / 4 + 1 / 7)
    assert (suspect.before, suspect.after) == pytest.approx((math.exp(before), math.exp(after)))
    assert (suspect.ci_low, suspect.change, suspect.ci_high) == pytest.approx(
        tuple(math.expm1(after - before + by) for by in (-half, 0, half))
    )
    assert 3 < math.sqrt(suspect.threshold) <= math.sqrt(suspect.statistic)


@pytest.mark.parametrize("nights", [1, 2])
@pytest.mark.parametrize("shift", [0.06, -0.06])
def test_a_suspect_lies_in_its_interval_as_its_statistic_says(nights: int, shift: float) -> None:
    values = stepped(4, at=120 - nights, shift=shift)
    suspect = judge(values).suspect
    assert suspect is not None
    assert (suspect.night, suspect.until, suspect.state) == (120 - nights, 120, "suspect")
    logs = np.log(values)
    assert suspect.after == pytest.approx(math.exp(logs[-nights:].mean()))
    assert suspect.before == pytest.approx(math.exp(logs[:-nights].mean()), rel=2e-3)
    assert suspect.change == pytest.approx(suspect.after / suspect.before - 1)
    low, middle, high = (math.log1p(one) for one in (suspect.ci_low, suspect.change, suspect.ci_high))
    assert high - middle == pytest.approx(middle - low)
    score = 1.96 * abs(middle) / (high - middle)
    assert 0.75 * score < math.sqrt(suspect.statistic) <= score  # a normal score: that of Student's t is larger
    assert suspect.statistic >= suspect.threshold
    assert high - middle == pytest.approx(1.96 * 0.01 * math.sqrt(1 / nights + 1 / (120 - nights)), rel=0.25)


def test_a_quiet_store_of_36_series_is_seldom_suspect() -> None:
    nights, looked = np.random.default_rng(23).standard_normal((36, 200)), range(60, 200, 2)
    values, parameters = 100 * (1 + 0.01 * nights), Parameters(budget=Budget.shared(12, 36))
    suspected = [
        any(verdict.suspect for verdict in detect_changes(values[:, max(0, night - 120) : night], parameters))
        for night in looked
    ]
    assert np.mean(suspected) <= 0.07


def test_a_budget_of_its_own_gives_a_series_the_verdict_that_all_would_have_with_it() -> None:
    values = np.stack([stepped(seed, shift=0.02) for seed in range(12)])
    few, many = Budget(1e-5), Budget(0.2)
    mixed = detect_changes(values, budgets=[few, many] * 6)
    apart = [detect_changes(values, Parameters(budget=budget)) for budget in (few, many)]
    assert mixed == [apart[place % 2][place] for place in range(12)]
    assert apart[0] != apart[1]
