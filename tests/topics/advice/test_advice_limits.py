"""Every number that a rule of advice decides by: on one side of it the rule is silent, on the other it speaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from topics.advice.test_advice import WELL, by_rule, facts, model, shares

from aoe_reports.facts.bounds import StepShares
from aoe_reports.facts.breakdown import DeviceBreakdown, part_time
from aoe_reports.model.arrays.intervals import Intervals
from aoe_reports.model.topics.communication import AwaitedRank
from aoe_reports.topics.advice.captures import _facts_of_timelines
from aoe_reports.topics.advice.registry import RULES, Facts, Thresholds, find_advice
from aoe_reports.topics.advice.report import evidence_words


def says(rule: str, known: Facts, **changed: float) -> bool:
    return rule in by_rule(find_advice(known, Thresholds(**changed)))


@pytest.mark.parametrize(("ratio", "said"), [(0.8, False), (0.8001, True)])
@pytest.mark.parametrize("unit", ["mte1", "mte2", "scalar", "fixpipe"])
def test_a_unit_bounds_above_its_ratio(unit: str, ratio: float, said: bool) -> None:
    assert says(f"{unit}-bound", facts(model(**{"aic_mac_ratio": 0.1, f"aic_{unit}_ratio": ratio}))) is said


@pytest.mark.parametrize(("rule", "part"), [("communication-not-overlapped", 1), ("free-time", 2)])
@pytest.mark.parametrize(("ns", "said"), [(50_000, True), (49_999, False)])
def test_a_part_of_the_step_is_worth_a_word(rule: str, part: int, ns: int, said: bool) -> None:
    parts = [1_000_000 - ns, 0, 0]
    parts[part] = ns
    assert says(rule, Facts(shares(0, *parts))) is said


@pytest.mark.parametrize(("longer", "said"), [(50, True), (49, False)])
def test_a_rank_is_slow_from_a_twentieth_of_its_step(longer: int, said: bool) -> None:
    ranks = [shares(0, 500, 500, 0), shares(1, 500 + longer, 500 - longer, 0)]
    found = [RULES["slow-rank"].find(Facts(one, ranks=ranks), Thresholds()) for one in ranks]
    assert [bool(some) for some in found] == [False, said]


def of_share(share: float, **planted: Any) -> list[dict[str, Any]]:
    """A model whose planted operator takes a share of the computing time."""
    rows = model(400, **planted)
    odd = round(sum(row["op_name"] != "odd/mm" for row in rows) * 100_000 * share / (1 - share) / 100)
    return [{**row, "task_duration_ns": odd} if row["op_name"] == "odd/mm" else row for row in rows]


@pytest.mark.parametrize(("share", "said"), [(0.0101, True), (0.0099, False)])
@pytest.mark.parametrize(
    ("rule", "planted"),
    [
        ("ai-cpu-operator", {"task_type": "AI_CPU", "op_type": "Unique"}),
        ("format-conversion", {"op_type": "TransData"}),
        ("dynamic-shape", {"op_state": "dynamic"}),
    ],
)
def test_an_operator_is_worth_a_word_from_a_hundredth_of_the_time(
    rule: str, planted: dict[str, Any], share: float, said: bool
) -> None:
    limits = (
        {"conversions": 0} if rule == "format-conversion" else {"wait_us": 1e9} if rule == "ai-cpu-operator" else {}
    )
    assert says(rule, facts(of_share(share, **planted)), **limits) is said


@pytest.mark.parametrize(("us", "said"), [(10.0, True), (9.99, False)])
def test_operators_on_the_ai_cpu_are_named_from_the_time_of_a_wait(us: float, said: bool) -> None:
    rows = [
        *model(40_000)[:400],
        {**WELL, "task_type": "AI_CPU", "op_type": "Unique", "task_duration_ns": round(us * 1000)},
    ]
    assert says("ai-cpu-operator", facts(rows)) is said


@pytest.mark.parametrize(("us", "said"), [(10.0, False), (10.001, True)])
def test_a_device_waits_where_it_is_idle_for_longer(us: float, said: bool) -> None:
    rows = model(40, task_wait_ns=round(us * 1000))
    assert says("wait-in-front", facts(rows, spaced_ns=None), least_operator_share=0) is said


@pytest.mark.parametrize(("us", "said"), [(9.999, True), (10.0, False)])
def test_a_kernel_is_small_below_its_limit(us: float, said: bool) -> None:
    rows = [{**WELL, "task_duration_ns": round(us * 1000)} for _ in range(40)]
    assert says("small-kernels", facts(rows)) is said


@pytest.mark.parametrize(("small", "said"), [(20, True), (19, False)])
def test_small_kernels_are_told_where_they_are_half_of_all(small: int, said: bool) -> None:
    rows = [{**WELL, "task_duration_ns": 5_000 if number < small else 11_000} for number in range(40)]
    assert says("small-kernels", facts(rows)) is said


def test_one_kernel_alone_has_no_neighbours_to_be_launched_with() -> None:
    rows = [{**WELL, "task_duration_ns": 9_000}] * 2
    assert says("small-kernels", facts(rows))
    assert not says("small-kernels", facts(rows[:1]))


@pytest.mark.parametrize(("mhz", "said"), [(1711, False), (1709, True)])
def test_a_frequency_has_dropped_below_95_of_100(mhz: float, said: bool) -> None:
    rows = []
    for number, row in enumerate(model(80)):
        us = 100.0 * (1800 / mhz if row["op_name"] == "odd/mm" and 40 <= number < 60 else 1.0)
        rows.append(
            {**row, "task_duration_ns": round(us * 1000), "aicore_time_us": us, "aic_total_cycles": 1800 * 100 * 24}
        )
    assert says("frequency-drop", facts(rows), least_operator_share=0) is said


@pytest.mark.parametrize(("count", "said"), [(20, False), (21, True)])
def test_two_conversions_a_step_are_normal(count: int, said: bool) -> None:
    rows = [
        *model(),
        *({**WELL, "op_type": "Cast", "op_name": f"t{number}", "step": number % 10} for number in range(count)),
    ]
    assert facts(rows).shares.steps == 10
    assert says("format-conversion", facts(rows)) is said


@pytest.mark.parametrize(("ratio", "said"), [(0.04, False), (0.0401, True)])
def test_conflicts_of_banks_are_told_above_4_of_100(ratio: float, said: bool) -> None:
    assert says("bank-conflict", facts(model(aiv_vec_bank_cflt_ratio=ratio)), least_operator_share=0) is said


def alike(*odd_us: float, count: int = 20, noise_us: Sequence[float] = (0.0,)) -> list[dict[str, Any]]:
    """Calls of 100 us and some noise of operators that are alike, and some that differ."""
    times = [100 + noise_us[number % len(noise_us)] for number in range(count - len(odd_us))]
    return [
        {**WELL, "op_name": f"l{number}", "task_duration_ns": round(us * 1000)}
        for number, us in enumerate([*times, *odd_us])
    ]


@pytest.mark.parametrize(("us", "said"), [(105.0, False), (105.01, True)])
def test_a_call_is_slower_than_its_likes_above_a_twentieth(us: float, said: bool) -> None:
    assert says("slower-than-alike", facts(alike(us)), least_operator_share=0) is said


@pytest.mark.parametrize(("us", "said"), [(100 + 3.9 * 1.4826 * 2, False), (100 + 4.1 * 1.4826 * 2, True)])
def test_a_call_is_slower_than_its_likes_beyond_their_noise(us: float, said: bool) -> None:
    rows = alike(us, count=42, noise_us=(-2.0, 2.0, 0.0, -2.0, 2.0))
    assert says("slower-than-alike", facts(rows), least_operator_share=0) is said


@pytest.mark.parametrize(("count", "said"), [(4, False), (5, True)])
def test_of_fewer_calls_than_five_none_is_out_of_line(count: int, said: bool) -> None:
    assert says("slower-than-alike", facts(alike(200.0, count=count)), least_operator_share=0) is said


def shapes(*counts: int) -> list[dict[str, Any]]:
    """Calls of one operator by shape."""
    return [
        {**WELL, "input_shapes": f"{place},8", "op_name": "mm"}
        for place, count in enumerate(counts)
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("counts", "said"), [((18, 2), True), ((17, 2), False), ((9, 1), True), ((8, 1), False), ((20,), False)]
)
def test_a_shape_is_odd_in_a_tenth_of_ten_calls(counts: tuple[int, ...], said: bool) -> None:
    limits = {"odd_shape_share": 0.12} if counts == (8, 1) else {}
    assert says("odd-shape", facts(shapes(*counts)), least_operator_share=0, **limits) is said


@pytest.mark.parametrize(("count", "said"), [(10, False), (11, True)])
@pytest.mark.parametrize("calls", [9, 10])
def test_more_than_ten_shapes_that_come_and_go_are_many(count: int, calls: int, said: bool) -> None:
    rows = [{key: value for key, value in row.items() if key != "step"} for row in shapes(*[calls] * count)]
    assert says("many-shapes", facts(rows)) is (said and calls < 10)


@pytest.mark.parametrize(("calls", "said"), [(9, False), (10, True)])
def test_a_shape_repays_tuning_from_ten_calls(calls: int, said: bool) -> None:
    assert says("repeated-shape", facts(model(calls * 4, aic_mac_ratio=0.3, aic_mte2_ratio=0.5))) is said


@pytest.mark.parametrize(("share", "said"), [(0.0501, True), (0.0499, False)])
def test_a_shape_repays_tuning_from_a_twentieth_of_the_time(share: float, said: bool) -> None:
    rows = of_share(share, aic_mac_ratio=0.1, aic_mte2_ratio=0.3)
    found = find_advice(facts(rows), Thresholds(least_operator_share=0))
    assert (("repeated-shape", "odd/mm") in {(one.rule, one.op_name) for one in found}) is said


@pytest.mark.parametrize("blocks", [6, 12, 23, 24, 25, 47, 48])
def test_blocks_that_do_not_fill_the_last_round_leave_cores_idle(blocks: int) -> None:
    use = blocks / (-(-blocks // 24) * 24)
    one = by_rule(find_advice(facts(model(block_num=blocks)), Thresholds(least_operator_share=0))).get("few-blocks")
    assert (one is None) is (use == 1)
    if one is not None:
        assert one.saving_ns == round(1_000_000 * (1 - use))
        assert one.evidence["used_cores_share"] == round(use, 4)


EVERY: dict[str, Callable[[], Facts]] = {
    "mte2": lambda: facts(model(aic_mac_ratio=0.1, aic_mte2_ratio=0.9, block_num=6)),
    "small": lambda: facts([{**WELL, "task_duration_ns": 2_000} for _ in range(60)] + model(40), spaced_ns=30_000),
    "shapes": lambda: facts(shapes(*[3] * 20), spaced_ns=2_000),
}


@pytest.mark.parametrize("name", EVERY)
def test_no_advice_saves_more_than_there_is(name: str) -> None:
    known = EVERY[name]()
    found = find_advice(known, Thresholds(least_operator_share=0))
    whole = known.shares.step_ns or 0
    assert found
    for one in found:
        assert 0 <= (one.saving_ns or 0) <= whole, one.rule
        assert one.total_ns is None or 0 < one.total_ns <= whole, one.rule


def test_where_the_step_is_not_known_its_parts_are_not_judged() -> None:
    unknown = Facts(StepShares(0, 0, 1, None, 5))
    assert find_advice(unknown) == []


def test_types_that_nobody_told_are_no_type_with_many_shapes() -> None:
    rows = [{key: value for key, value in row.items() if key != "step"} for row in shapes(*[3] * 20)]
    assert says("many-shapes", facts(rows))
    assert not says("many-shapes", facts([{**row, "op_type": None} for row in rows]))


def test_shapes_that_come_and_go_are_counted() -> None:
    rows = [{key: value for key, value in row.items() if key != "step"} for row in shapes(*[3] * 8, *[5] * 8)]
    one = by_rule(find_advice(facts(rows)))["many-shapes"]
    assert (one.evidence["shapes"], one.evidence["calls_a_shape"], one.count) == (16, 4.0, 64)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({}, ""),
        ({"operators": 3, "of_operators": 9}, "3 of 9 operators"),
        ({"operators": 3}, "operators 3"),
        ({"waited_us": 12.5, "calls": 4, "nothing": None, "op_types": []}, "waited 12.5 us, calls 4"),
        ({"steps": np.array([3, 4]), "out_of_line_in": np.array([], dtype=np.int64)}, "steps [3 4]"),
        ({"share_of_computing": 0.25}, "share of computing 25.0%"),
        ({"mte2_ratio": 0.1, "cube_ratio": 0.25, "vec_ratio": 0.0, "scalar_ratio": 0.0}, "cube 25.0%, mte2 10.0%, vec scalar 0%"),
        ({"mte2_ratio": 0.1, "calls": 4}, "calls 4, mte2 10.0%"),
    ],
)  # fmt: skip
def test_by_which_numbers_a_rule_says_what_it_says(evidence: dict[str, Any], words: str) -> None:
    assert evidence_words(evidence) == words


def of_timeline(start: int, computing: int, *, told: bool) -> DeviceBreakdown:
    busy = Intervals(np.array([start, start + 2 * computing]), np.array([start + computing, start + 3 * computing]))
    parts = part_time(busy, Intervals(np.zeros(0, np.int64), np.zeros(0, np.int64)), 2, 0, told=told)
    return DeviceBreakdown(
        device_id=0,
        whole=parts,
        steps={},
        outside=0,
        gaps=[],
        gap_count=1,
        gaps_ns=computing,
        stated_ns={},
        stated_rows={},
    )


@pytest.mark.parametrize(
    ("told", "computing", "steps"), [([True, True], 60, 2), ([True, False], 20, 1), ([False, True], 20, 1)]
)
def test_timelines_of_iterations_are_summed_where_all_tell_their_parts(
    told: list[bool], computing: int, steps: int
) -> None:
    parts = [of_timeline(1000 * place, 10 * (place + 1), told=one) for place, one in enumerate(told)]
    found = _facts_of_timelines(parts, 0, 0)
    assert (found.shares.computing_ns, found.shares.steps) == (computing, steps)


def late(**known: int) -> AwaitedRank:
    values = {"operators": 3, "of_operators": 5, "waited_ns": 60, "of_ns": 100, "longest_ns": 50} | known
    return AwaitedRank(group="g", rank=1, number=1, is_absent=False, **values)


@pytest.mark.parametrize(("longest", "said"), [(50, True), (49, False)])
def test_a_rank_is_worth_a_word_where_others_wait_a_twentieth_of_the_step_for_it(longest: int, said: bool) -> None:
    assert says("awaited-rank", Facts(shares(0, 500, 500, 0), awaited=[late(longest_ns=longest)])) is said


@pytest.mark.parametrize(
    ("known", "slow", "same"),
    [
        ({}, True, False),
        ({"operators": 2, "of_operators": 4}, False, False),
        ({"waited_ns": 50}, False, False),
        ({"waited_ns": 51, "operators": 5}, True, True),
        ({"waited_ns": 51, "operators": 1, "of_operators": 1}, True, False),
    ],
)
def test_a_rank_is_late_in_more_than_half_of_operators_and_time(known: dict[str, int], slow: bool, same: bool) -> None:
    assert (late(**known).slow, late(**known).is_always_the_same) == (slow, same)


@pytest.mark.parametrize("unknown", [{"free_ns": None}, {"step_ns": None}, {"rank_id": None}])
def test_a_rank_of_which_something_is_not_known_is_not_compared(unknown: dict[str, None]) -> None:
    known, other = shares(0, 500, 400, 100), replace(shares(1, 900, 50, 50), **unknown)
    for one in (known, other):
        assert RULES["slow-rank"].find(Facts(one, ranks=[known, other]), Thresholds()) == []


def test_ranks_of_different_numbers_of_steps_are_compared_step_by_step() -> None:
    short = StepShares(0, 0, 2, 2_000_000, 1_600_000, 0, 0, 400_000, source="step_trace_time")
    ranks = [shares(1, 500_000, 500_000, 0), short]
    (one,) = RULES["slow-rank"].find(Facts(short, ranks=ranks), Thresholds())
    assert one.evidence == {
        "rank_id": 0,
        "computing_and_free_us": 1000.0,
        "least_of_all_ranks_us": 500.0,
        "median_of_all_ranks_us": 750.0,
        "ranks": 2,
        "source": "step_trace_time",
    }
    assert one.saving_ns == 1_000_000, "of both steps"
