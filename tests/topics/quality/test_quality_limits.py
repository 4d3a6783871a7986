"""The limits of judgements, each at its edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.quality.facts import Conditions, DeviceFacts, Effect, judge_device, judge_run
from aoe_reports.topics.quality.observed import ClockUse
from aoe_reports.topics.quality.steadiness import series_of

NS = 1_000_000
EPOCH = 1_717_575_960_208_020_758
STEADY = [100 * NS] * 8


def _facts(durations: list[int] = STEADY, rank: int = 0, begin: int = EPOCH) -> DeviceFacts:
    steps = tuple(Step(rank_id=rank, device_id=0, step=number, duration_ns=ns) for number, ns in enumerate(durations))
    starts = {number: begin + sum(durations[:number]) for number in range(len(durations))}
    return DeviceFacts(rank_id=rank, device_id=0, steps=steps, starts=starts, whole_ns=sum(durations))


def _told(
    *devices: DeviceFacts, named: tuple[int, ...] = (), conditions: tuple[Conditions, ...] = ()
) -> Mapping[str, Effect]:
    judged = [judge_device(one, series_of(one.steps)) for one in devices]
    return {one.code: one.effect for one in judge_run(judged, set(named), conditions)}


def test_a_steady_device_has_nothing_to_be_said() -> None:
    assert _told(_facts()) == {}


@pytest.mark.parametrize(
    ("lost", "told"),
    [
        (0.0099, {}),
        (0.01, {"frequency-drop": "caution"}),
        (0.0499, {"frequency-drop": "caution"}),
        (0.05, {"frequency-drop": "no-baseline"}),
    ],
)
def test_what_the_clock_costs_decides(lost: float, told: dict[str, str]) -> None:
    assert _told(replace(_facts(), clock=ClockUse(1800, 900, lost))) == told


def test_a_frequency_is_below_the_rated_one_by_more_than_a_twentieth() -> None:
    facts = replace(_facts(), clock=ClockUse(1710, 1710, 0))
    assert _told(replace(facts, rated_mhz=1800)) == {}
    assert _told(replace(facts, rated_mhz=1801)) == {"frequency-below-rated": "caution"}


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.0009, {}),
        (0.001, {"other-work": "caution"}),
        (0.0499, {"other-work": "caution"}),
        (0.05, {"other-work": "no-baseline"}),
    ],
)
def test_how_long_others_ran_decides(share: float, told: dict[str, str]) -> None:
    facts = _facts()
    assert _told(replace(facts, others_ns=round(share * facts.whole_ns))) == told


def test_compilation_is_told_of_a_tenth_more_than_usual() -> None:
    usually = dict.fromkeys(range(8), 10 * NS)
    assert _told(replace(_facts(), compiling=usually)) == {}
    assert _told(replace(_facts(), compiling={**usually, 3: 20 * NS - 1})) == {}
    assert _told(replace(_facts(), compiling={**usually, 3: 20 * NS})) == {"compilation": "caution"}


def test_a_capture_that_only_compiles_is_told() -> None:
    one = replace(_facts([100 * NS]), compiling={0: 50 * NS})
    assert _told(one) == {"one-step": "caution", "compilation": "caution"}
    assert _told(replace(one, compiling={0: 50 * NS - 1})) == {"one-step": "caution"}


def test_skew_counts_from_a_twentieth_of_a_step_and_of_all_steps() -> None:
    def late(skew: int, count: int) -> DeviceFacts:
        facts = _facts([100 * NS] * count, rank=1)
        return replace(facts, starts={**facts.starts, 0: EPOCH + skew})

    one = _facts([100 * NS])
    assert _told(one, late(5 * NS - 1, 1)) == {"one-step": "caution"}
    assert _told(one, late(5 * NS, 1)) == {"one-step": "caution", "start-skew": "caution"}
    assert _told(_facts(), late(40 * NS - 1, 8)) == {"start-skew": "note"}
    assert _told(_facts(), late(40 * NS, 8)) == {"start-skew": "caution"}


def test_clocks_of_a_machine_that_began_with_it_say_nothing_of_skew() -> None:
    assert _told(_facts([100 * NS], begin=0), _facts([100 * NS], rank=1, begin=60 * NS)) == {"one-step": "caution"}


def test_skew_is_found_between_ranks_of_one_host_where_another_has_another_clock() -> None:
    def of(rank: int, clock: int, late: int) -> DeviceFacts:
        facts = _facts(rank=rank, begin=EPOCH + clock)
        return replace(facts, starts={**facts.starts, 0: facts.starts[0] + late})

    hour = 3_600_000 * NS
    ranks = [of(0, 0, 0), of(1, 0, 60 * NS), of(2, hour, 0), of(3, hour, 0)]
    for order in (ranks, ranks[::-1]):
        judged = [judge_device(one, series_of(one.steps)) for one in order]
        (found,) = judge_run(judged, set(), ())
        assert (found.code, found.numbers["skew_ns"], found.numbers["late"]) == ("start-skew", 60 * NS, 1)
    assert _told(*(of(rank, rank * hour, 0) for rank in range(4))) == {}


def test_steps_of_no_time_are_judged() -> None:
    assert _told(_facts([0, 0, 0, 5, 0, 0, 0, 0])) == {"outlier-steps": "caution"}


def test_of_ranks_below_the_rated_frequency_the_slowest_is_told() -> None:
    ranks = [
        replace(_facts(rank=rank), clock=ClockUse(mhz, mhz, 0), rated_mhz=1800) for rank, mhz in ((0, 1500), (1, 900))
    ]
    (found,) = judge_run([judge_device(one, series_of(one.steps)) for one in ranks], set(), ())
    assert found.numbers["highest_mhz"] == 900


def test_of_ranks_with_few_steps_that_with_the_fewest_is_told() -> None:
    ranks = [
        _facts([100 * NS] * 2),
        _facts([400 * NS, 100 * NS], rank=1),
        _facts([400 * NS, 100 * NS, 100 * NS], rank=2),
    ]
    found = judge_run([judge_device(one, series_of(one.steps)) for one in ranks], set(), ())
    assert {one.code: one.numbers.get("count") for one in found}["few-steps"] == 2


def test_scatter_is_lost_changes_of_three_percent_and_no_baseline_from_ten_on() -> None:
    def alternating(share: float) -> DeviceFacts:
        return _facts([round(100 * NS * (1 + sign * share)) for sign in (1, -1, -1, 1) * 2])

    # eight steps, 14 degrees of freedom: 2.145 * share * sqrt(8 / 7) * sqrt(2 / 8) is 1.146 times the share
    assert _told(alternating(0.026)) == {}
    assert _told(alternating(0.0265)) == {"scatter": "caution"}
    assert _told(alternating(0.087)) == {"scatter": "caution"}
    assert _told(alternating(0.088)) == {"unsteady": "no-baseline"}


@pytest.mark.parametrize(
    ("computing", "free", "part"),
    [(None, 10 * NS, "computing"), (50 * NS, None, "free"), (None, None, "computing")],
)
def test_the_part_that_varies_with_the_steps_is_named(computing: int | None, free: int | None, part: str) -> None:
    facts = _facts([round(100 * NS * (1 + sign * 0.05)) for sign in (1, -1, -1, 1) * 2])
    steps = tuple(
        replace(
            step,
            computing_ns=step.duration_ns - 10 * NS if computing is None else computing,
            free_ns=step.duration_ns - 50 * NS if free is None and computing is not None else free,
        )
        for step in facts.steps
    )
    judged = judge_device(replace(facts, steps=steps), series_of(steps))
    assert [one.numbers.get("part") for one in judge_run([judged], set(), ())] == [part]


def test_numbers_of_tasks_make_other_work_of_scatter() -> None:
    scattered = _facts([round(100 * NS * (1 + sign * 0.3)) for sign in (1, -1, -1, 1) * 2])
    alike = dict.fromkeys(range(8), 100)
    assert _told(replace(scattered, tasks={**alike, 3: 105})) == {"unsteady": "no-baseline"}
    assert _told(replace(scattered, tasks={**alike, 3: 106})) == {"varying-work": "caution"}


def test_a_clock_that_changes_makes_no_other_work_of_computing() -> None:
    facts = _facts([round(100 * NS * (1 + sign * 0.3)) for sign in (1, -1, -1, 1) * 2])
    steps = tuple(replace(step, computing_ns=step.duration_ns - 10 * NS, free_ns=10 * NS) for step in facts.steps)
    assert _told(replace(facts, steps=steps)) == {"varying-work": "caution"}
    slowed = replace(facts, steps=steps, clock=ClockUse(1800, 900, 0.02))
    assert _told(slowed) == {"unsteady": "no-baseline", "frequency-drop": "caution"}


def test_missing_ranks_are_a_note_where_one_rank_is_here() -> None:
    assert _told(_facts(), named=(0, 1, 2)) == {"one-rank": "note"}
    assert _told(_facts(), _facts(rank=1), named=(0, 1, 2)) == {"missing-ranks": "caution"}
    assert _told(_facts(), _facts(rank=1), named=(0, 1)) == {}


def test_warm_up_that_was_not_scheduled_counts_only_where_steps_do_not_tell() -> None:
    unscheduled = (Conditions(warm_up=0),)
    assert _told(_facts(), conditions=unscheduled) == {}
    assert _told(_facts([NS, NS]), conditions=unscheduled) == {"few-steps": "caution", "no-warm-up": "caution"}


def test_what_forbids_a_baseline_comes_first() -> None:
    facts = replace(_facts([400 * NS, *STEADY]), clock=ClockUse(1800, 900, 0.2))
    assert list(_told(facts, conditions=(Conditions(has_timeline=False),))) == [
        "frequency-drop",
        "warm-up",
        "no-timeline",
    ]
