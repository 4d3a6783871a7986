"""Frozen baselines: what the newest level is held against, whatever was told, accepted or announced before."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from datetime import date, timedelta
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis_profiles import FEW

from aoe_reports.history.changes.incidents import Group, SeriesShift, group_incidents
from aoe_reports.history.detection.detector import detect_changes
from aoe_reports.history.detection.verdicts import Parameters
from aoe_reports.history.series.baselines import (
    Acceptance,
    ActiveChange,
    Expectation,
    JudgedSeries,
    LevelShift,
    Scatter,
    find_active,
    limit_of,
    merge_shifts,
    same_shift,
)
from aoe_reports.history.series.pinned import hold_against, parse_baseline
from aoe_reports.history.series.series import SeriesLabels

SPAN = 18
NOISE = 0.002
PARAMETERS = Parameters()
NIGHTS = [(date(2026, 1, 1) + timedelta(days=index)).isoformat() for index in range(400)]

ratios = st.sampled_from([1.02, 1.03, 1.05])
seeds = st.integers(0, 50)


def course(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> JudgedSeries:
    (verdict,) = detect_changes(values, PARAMETERS)
    return JudgedSeries(
        NIGHTS[: len(values)], values, verdict, Scatter.of(verdict, PARAMETERS), [None] * len(values), PARAMETERS
    )


def stairs(steps: list[float], seed: int = 0) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Nights at 10 ms, then SPAN nights at each further level."""
    levels = np.repeat(list(accumulate([10.0, *steps], lambda level, step: level * step)), SPAN)
    return np.asarray(levels * (1 + NOISE * np.random.default_rng(seed).standard_normal(len(levels))))


def told(active: ActiveChange, found: str) -> list[LevelShift]:
    """The active changes as the store would have them."""
    return [
        shift if shift.found else replace(shift, found=found, incident=f"i-{shift.since}") for shift in active.every
    ]


def acceptance(active: ActiveChange) -> Acceptance:
    return Acceptance(active.shifts[-1].since, limit_of(active), "id", None, "2026-02-01", "known")


@given(st.lists(ratios, min_size=1, max_size=5), seeds)
def test_slow_downs_that_nobody_accepted_add_up(steps: list[float], seed: int) -> None:
    active = find_active(course(stairs(steps, seed)))
    assert active.open
    assert active.shifts[0].since == NIGHTS[SPAN]
    assert active.before == pytest.approx(10.0, rel=0.004)
    assert active.change == pytest.approx(math.prod(steps) - 1, abs=0.006)
    assert active.ci_low is not None
    assert active.ci_high is not None
    assert active.ci_low < (active.change or 0) < active.ci_high


@given(st.lists(ratios, min_size=2, max_size=5), st.integers(1, 5), seeds)
def test_an_acceptance_covers_what_was_there_and_nothing_later(steps: list[float], known: int, seed: int) -> None:
    known = min(known, len(steps))
    accepted = acceptance(find_active(course(stairs(steps, seed)[: SPAN * (known + 1)])))
    active = find_active(course(stairs(steps, seed)), acceptances=[accepted])
    if known == len(steps):
        assert not active.open
        assert active.accepted == accepted
        return
    assert active.open
    assert active.shifts[0].since == NIGHTS[SPAN * (known + 1)]
    assert active.change == pytest.approx(math.prod(steps[known:]) - 1, abs=0.006)


@given(st.lists(st.sampled_from([0.95, 0.97, 1.03, 1.05]), max_size=5), seeds)
def test_what_was_told_is_told_once(steps: list[float], seed: int) -> None:
    whole = course(stairs(steps, seed))
    first = find_active(whole)
    again = find_active(whole, told(first, whole.nights[-1]))
    assert [shift for shift in again.every if shift.found is None] == []
    assert again.withdrawn == ()
    assert (again.state, again.before, again.after, again.change) == (
        first.state,
        first.before,
        first.after,
        first.change,
    )


@pytest.mark.slow
@FEW
@given(ratios, seeds)
def test_a_regression_is_never_lost_while_its_level_lasts(step: float, seed: int) -> None:
    values = stairs([step, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], seed)
    stored: list[LevelShift] = []
    incidents = set()
    for night in range(SPAN, len(values) + 1, 3):
        window = values[:night].copy()
        window[: max(night - 60, 0)] = np.nan  # a detector that looks back 60 nights
        active = find_active(course(window), stored)
        stored = told(active, NIGHTS[night - 1])
        if active.open:
            incidents.add(active.shifts[0].incident or f"i-{active.shifts[0].since}")
        else:
            assert not incidents, "an open regression vanished"
    assert len(incidents) == 1
    assert active.change == pytest.approx(step - 1, abs=0.004)


@given(st.sampled_from([1.03, 1.05, 1.08]), st.floats(-0.02, 0.12), st.floats(0.0, 0.1), seeds)
def test_an_expectation_covers_what_its_range_reaches(step: float, low: float, width: float, seed: int) -> None:
    expected = Expectation(NIGHTS[SPAN - 1], NIGHTS[SPAN + 1], low, low + width, "id", None, "2026-01-01", "upgrade")
    active = find_active(course(stairs([step], seed)), expectations=[expected])
    (shift,) = active.shifts
    reached = shift.ci_low <= expected.high and shift.ci_high >= expected.low
    assert active.open == (not reached)
    assert (active.accepted == expected) == reached


def test_a_recovery_that_does_not_quite_reach_the_baseline_leaves_it_where_it_was() -> None:
    values = stairs([1.05, 1 / 1.05 * 1.0015, 1.05, 1 / 1.05 * 1.0015, 1.05])
    active = find_active(course(values))
    assert active.open
    assert active.before == pytest.approx(10.0, rel=0.0008)
    assert active.shifts[0].since == NIGHTS[5 * SPAN]


def test_quicker_and_still_slower_than_the_baseline_stays_open() -> None:
    active = find_active(course(stairs([1.10, 0.96])))
    assert (active.open, active.state, active.shifts[0].since) == (True, "confirmed", NIGHTS[SPAN])
    assert active.change == pytest.approx(0.056, abs=0.005)
    assert find_active(course(stairs([1.05, 0.90]))).state == "improved"
    assert find_active(course(stairs([1.05, 1 / 1.05]))).state == "recovered"


def test_an_uncertain_place_is_the_same_change_and_another_direction_is_not() -> None:
    whole = course(stairs([1.03]))
    (shift,) = whole.shifts()
    near = replace(shift, since=NIGHTS[SPAN + shift.reach], found=NIGHTS[40], incident="i")
    far = replace(shift, since=NIGHTS[SPAN + shift.reach + 1], reach=0, found=NIGHTS[40], incident="i")
    assert same_shift(shift, near, whole)
    assert not same_shift(shift, far, whole)
    assert not same_shift(shift, replace(near, before=near.after, after=near.before), whole)
    assert [one.incident for one in merge_shifts(whole, [near]).shifts] == ["i"]


def test_the_place_of_a_small_change_is_less_certain() -> None:
    scatter = Scatter(sigma=0.01, memory=0.0)
    reaches = [scatter.reach(step) for step in (0.1, 0.03, 0.01, 0.005)]
    assert reaches == [1, 2, 12, 14]
    assert Scatter(0.01, 0.4).reach(0.03) > scatter.reach(0.03)


@pytest.mark.parametrize(
    "text",
    ["segment", "run:20260101T020000-00000000", "tag:v 1", "nights:30", "window:2026-01-01..2026-01-01"],
)
def test_a_baseline_is_said_as_it_was_written(text: str) -> None:
    assert str(parse_baseline(text)) == text


@pytest.mark.parametrize("window", ["2026-01-02..2026-01-01", "2026-01-01..", "2026-02-30..2026-03-01"])
def test_a_window_begins_before_it_ends(window: str) -> None:
    with pytest.raises(ValueError, match="expected two dates, the earlier one first"):
        parse_baseline(f"window:{window}")


@given(st.text(max_size=30))
def test_any_text_is_a_baseline_or_refused(text: str) -> None:
    try:
        parsed = parse_baseline(text)
    except ValueError:
        return
    assert str(parsed) == text


@given(st.sampled_from([0.9, 1.0, 1.1]), st.integers(1, SPAN), seeds)
def test_a_chosen_baseline_is_held_against_later_nights_only(step: float, count: int, seed: int) -> None:
    values = stairs([step], seed)
    held = hold_against(course(values), NIGHTS[:count])
    assert held.baseline is not None
    assert held.baseline.nights == count
    assert held.state == {0.9: "improved", 1.0: None, 1.1: "confirmed"}[step]
    assert hold_against(course(values), NIGHTS[: len(values)]).newest is None
    assert hold_against(course(values), NIGHTS[300:310]).baseline is None


def moved(series: str, place: int, reach: int, impact: float = 1.0, incident: str | None = None) -> SeriesShift:
    shift = LevelShift(NIGHTS[place], None, "confirmed", 1.0, 1.1, 0.09, 0.11, 20, 20, reach, incident=incident)
    known = dict.fromkeys((each.name for each in fields(SeriesLabels)), None)
    labels = SeriesLabels(**{**known, "scope": "op", "op_name": series})  # type: ignore[arg-type]
    return SeriesShift(series, Group("net", "910B", "cann", "msprof"), labels, shift, place, impact)


@given(
    st.permutations(
        [moved("a", 30, 1), moved("b", 31, 4), moved("c", 34, 3), moved("d", 60, 2, 9.0), moved("e", 60, 1)]
    )
)
def test_incidents_do_not_depend_on_the_order_of_series(order: list[SeriesShift]) -> None:
    found = group_incidents(order)
    assert [[one.series for one in incident.members] for incident in found] == [["d", "e"], ["c"], ["a", "b"]]
    assert len({incident.id for incident in found}) == 3


def test_what_is_suspected_on_the_night_after_dates_an_incident() -> None:
    """The place of the first change that is proved may be off; what many series show, and none proves yet, tells better."""
    first = moved("a", 30, 1)
    (alone,) = group_incidents([first])
    assert (alone.place, alone.since_now, alone.id[:8]) == (30, NIGHTS[30], NIGHTS[30].replace("-", ""))
    near = [moved(name, 31, 1) for name in "bcd"]
    (dated,) = group_incidents([first], suspected=near)
    assert (dated.place, dated.since_now, dated.id[:8]) == (31, NIGHTS[31], NIGHTS[31].replace("-", ""))
    assert [one.series for one in dated.members] == ["a"], "what is only suspected is no member"
    (recorded,) = group_incidents([moved("a", 30, 1, incident="told")], {"told": (NIGHTS[29], "r")}, near)
    assert (recorded.since, recorded.since_run, recorded.since_now) == (NIGHTS[29], "r", NIGHTS[31])
    (far,) = group_incidents([first], suspected=[moved(name, 33, 1) for name in "bcd"])
    assert far.place == 30


def test_of_places_that_are_as_certain_that_of_most_series_dates_an_incident() -> None:
    series = [moved("a", 30, 1, impact=9.0), *(moved(name, 31, 1) for name in "bcd")]
    (incident,) = group_incidents(series)
    assert (incident.place, incident.since) == (31, NIGHTS[31])
    assert incident.lead.series == "a", "named by the largest impact all the same"


def test_a_told_incident_keeps_its_name_and_takes_in_what_moved_with_it() -> None:
    found = group_incidents(
        [moved("a", 30, 2, incident="told"), moved("b", 31, 1), moved("c", 40, 1, incident="other")]
    )
    assert {incident.id: {one.series for one in incident.members} for incident in found} == {
        "told": {"a", "b"},
        "other": {"c"},
    }
