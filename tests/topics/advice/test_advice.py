"""Rules of advice find what was planted, by name; and say nothing where there is nothing."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import pytest
from frames import tasks_of
from tables_of_docs import rows_of_advice

from aoe_reports.facts.bounds import CoreCounts, StepShares, measure_operators
from aoe_reports.facts.idle import idle_before_tasks, shares_of_tasks
from aoe_reports.topics.advice.registry import RULES, Advice, Facts, Thresholds, find_advice, headline
from aoe_reports.topics.advice.thresholds import REASONS, list_thresholds

CORES = CoreCounts(24, 48, 1800.0)
WELL = {"aic_mac_ratio": 0.995, "aic_mte2_ratio": 0.3, "block_num": 24, "op_state": "static"}
"""A cube operator of which nothing can be said: it computes nearly all the time, on all cores."""


def facts(rows: Sequence[Mapping[str, Any]], *, spaced_ns: int | None = 0, **options: Any) -> Facts:
    table = tasks_of(rows, spaced_ns=spaced_ns)
    bounds = measure_operators(table, CORES, **options)
    return Facts(shares_of_tasks(table, 0, 0), bounds, table, idle_before_tasks(table), CORES)


def model(count: int = 40, **planted: Any) -> list[dict[str, Any]]:
    """Steps of four layers that compute well; what is planted is of the layer `odd`."""
    rows = []
    for step in range(count // 4):
        for layer in ("a", "b", "c", "odd"):
            more = planted if layer == "odd" else {}
            rows.append({"op_name": f"{layer}/mm", "step": step, "input_shapes": f"8,{layer}", **WELL, **more})
    return rows


def by_rule(found: Sequence[Advice]) -> dict[str, Advice]:
    return {one.rule: one for one in reversed(found)}


def test_of_a_model_that_computes_well_nothing_is_said() -> None:
    found = find_advice(facts(model()))
    assert found == []
    assert headline(facts(model()).shares, found) == (
        "computing takes 100.0% of the step; communication that is not overlapped takes 0.0%: computing has the largest share, "
        "and no particular problem was found"
    )


PIPES = {
    "vector-bound": {
        "aiv_vec_ratio": 0.9,
        "aiv_mte2_ratio": 0.3,
        "aic_mac_ratio": None,
        "task_type": "AI_VECTOR_CORE",
        "block_num": 48,
    },
    "scalar-bound": {"aic_mac_ratio": 0.1, "aic_scalar_ratio": 0.9},
    "mte1-bound": {"aic_mac_ratio": 0.1, "aic_mte1_ratio": 0.9},
    "mte2-bound": {"aic_mac_ratio": 0.1, "aic_mte2_ratio": 0.9},
    "mte3-bound": {"aic_mac_ratio": 0.1, "aiv_mte3_ratio": 0.9},
    "fixpipe-bound": {"aic_mac_ratio": 0.1, "aic_fixpipe_ratio": 0.9},
    "cube-bound": {"aic_mac_ratio": 0.85},
    "no-bound": {"aic_mac_ratio": 0.4, "aic_mte2_ratio": 0.5},
}


def test_docs_list_each_rule_of_advice_as_it_is_given() -> None:
    assert find_advice(facts(model())) == []
    told = {
        rule.id: [rule.title, rule.reason, rule.source, ", ".join(f"`{name}`" for name in rule.thresholds)]
        for rule in RULES.values()
    }
    assert list(told.items()) == list(rows_of_advice("Rules").items()), "in their order"
    known = {name: ["none" if value is None else f"{value:g}", *words] for name, value, *words in list_thresholds()}
    assert list(known.items()) == list(rows_of_advice("Thresholds").items())


@pytest.mark.parametrize("rule", PIPES)
def test_a_planted_bound_is_found_by_name(rule: str) -> None:
    (one,) = [one for one in find_advice(facts(model(**PIPES[rule]))) if one.rule.endswith("-bound")]
    assert (one.rule, one.op_name, one.count, one.total_ns) == (rule, "odd/mm", 10, 1_000_000)
    assert one.saving_ns is not None
    assert 0 < one.saving_ns <= 1_000_000


def test_an_operator_with_few_blocks_is_found_by_name() -> None:
    found = by_rule(find_advice(facts(model(block_num=6))))
    one = found["few-blocks"]
    assert (one.op_name, one.saving_ns) == ("odd/mm", 750_000)
    assert {key: one.evidence[key] for key in ("blocks", "cores", "cores_source", "used_cores_share")} == {
        "blocks": 6.0, "cores": 24, "cores_source": "info.json", "used_cores_share": 0.25,
    }  # fmt: skip


def test_an_operator_made_slower_is_found_by_name() -> None:
    noise = random.Random(1)
    rows = [
        {
            **WELL,
            "op_name": f"layer{layer}/mm",
            "step": step,
            "task_duration_ns": round(100_000 * (1.08 if layer == 6 else 1.0) * noise.gauss(1, 0.004)),
        }
        for step in range(5)
        for layer in range(16)
    ]
    (one,) = [
        one
        for one in find_advice(facts(rows), Thresholds(least_operator_share=0.001))
        if one.rule == "slower-than-alike"
    ]
    assert (one.op_name, one.evidence["slower_calls"]) == ("layer6/mm", 5)
    assert one.saving_ns == pytest.approx(5 * 8_000, rel=0.2)


def test_noise_alone_makes_no_operator_slower() -> None:
    noise = random.Random(2)
    rows = [
        {**WELL, "op_name": f"l{n % 8}", "task_duration_ns": round(noise.gauss(100_000, 5_000))} for n in range(400)
    ]
    assert "slower-than-alike" not in by_rule(find_advice(facts(rows)))


def test_operators_of_unknown_type_or_inputs_are_never_taken_for_alike() -> None:
    for unknown in ({"op_type": None}, {"input_shapes": None}):
        rows = [{**WELL, "task_duration_ns": 90_000 if n else 900_000, **unknown} for n in range(20)]
        assert "slower-than-alike" not in by_rule(find_advice(facts(rows)))


def test_a_gap_inserted_is_found_by_the_operator_behind_it() -> None:
    rows = model()
    table = tasks_of(rows)
    starts = table["task_start_ns"].to_pylist()
    for row, start in zip(rows, starts, strict=True):
        row["task_start_ns"] = start + (700_000 if start >= starts[22] else 0)
    found = by_rule(find_advice(facts(rows)))
    assert (found["wait-in-front"].op_name, found["wait-in-front"].saving_ns) == ("c/mm", 700_000)
    assert found["free-time"].evidence["task_behind_longest_gap"] == "c/mm"
    assert found["free-time"].evidence["longest_gap_us"] == 700.0


@pytest.mark.parametrize(("free", "said"), [(50_000, True), (49_999, False)])
def test_free_time_is_worth_saying_from_a_twentieth_of_the_step(free: int, said: bool) -> None:
    computing = 1_000_000 - free
    parts = StepShares(0, 0, 1, 1_000_000, computing, 0, 0, free)
    assert ("free-time" in by_rule(find_advice(Facts(parts)))) is said


def test_where_only_waiting_is_told_it_stands_for_idle_time() -> None:
    rows = model(task_wait_ns=50_000)
    one = by_rule(find_advice(facts(rows, spaced_ns=None)))["wait-in-front"]
    assert (one.op_name, one.saving_ns, one.count) == ("odd/mm", 500_000, 10)


def test_a_shape_added_is_found_by_name() -> None:
    rows = model()
    rows[-1] = {**rows[-1], "input_shapes": "7,odd"}
    one = by_rule(find_advice(facts(rows), Thresholds(odd_shape_share=0.1)))["odd-shape"]
    assert (one.op_name, one.input_shapes, one.count) == ("odd/mm", "7,odd", 1)
    assert (one.evidence["usual_shapes"], one.evidence["usual_calls"]) == ("8,odd", 9)


def test_two_shapes_that_take_turns_are_no_odd_shape() -> None:
    rows = [{**WELL, "input_shapes": f"{8 + n % 2},8"} for n in range(40)]
    assert "odd-shape" not in by_rule(find_advice(facts(rows)))


def test_a_drop_of_the_frequency_is_found_by_name() -> None:
    rows = []
    for n, row in enumerate(model(80)):
        slow = row["op_name"] == "odd/mm" and 40 <= n < 60
        us = 100.0 * (1.5 if slow else 1.0)
        cycles = 1800 * 100 * 24
        rows.append({**row, "task_duration_ns": int(us * 1000), "aicore_time_us": us, "aic_total_cycles": cycles})
    one = by_rule(find_advice(facts(rows)))["frequency-drop"]
    assert (one.op_name, one.count, one.saving_ns) == ("odd/mm", 5, 5 * 50_000)
    assert (one.evidence["highest_mhz"], one.evidence["lowest_mhz"]) == (1800.0, 1200.0)


def test_an_operator_on_the_ai_cpu_is_found_by_name() -> None:
    one = by_rule(find_advice(facts(model(task_type="AI_CPU", op_type="Unique"))))["ai-cpu-operator"]
    assert (one.op_type, one.op_name, one.bound_by, one.saving_ns) == ("Unique", "odd/mm", "ai-cpu", 1_000_000)


def test_conversions_are_summed_by_type() -> None:
    rows = model()
    rows += [
        {**WELL, "op_type": kind, "op_name": f"t{n}", "step": n % 10}
        for n in range(30)
        for kind in ("TransData", "Cast")
    ]
    found = [one for one in find_advice(facts(rows)) if one.rule == "format-conversion"]
    assert {(one.op_type, one.count, one.saving_ns) for one in found} == {
        ("TransData", 30, 3_000_000),
        ("Cast", 30, 3_000_000),
    }


def test_dynamic_shapes_are_told_from_static_and_unknown_ones() -> None:
    assert by_rule(find_advice(facts(model(op_state="dynamic"), spaced_ns=3_000)))["dynamic-shape"].count == 10
    unknown = [{key: value for key, value in row.items() if key != "op_state"} for row in model()]
    assert "dynamic-shape" not in by_rule(find_advice(facts(unknown)))
    assert by_rule(find_advice(facts(unknown, dynamic_model=True)))["dynamic-shape"].count == 40


def test_most_kernels_being_small_is_said_and_their_gaps_count_only_so_far() -> None:
    rows = [{**WELL, "task_duration_ns": 2_000} for _ in range(60)] + model(40)
    one = by_rule(find_advice(facts(rows, spaced_ns=30_000)))["small-kernels"]
    assert (one.count, one.evidence["idle_before_us"]) == (60, 590.0)
    assert "small-kernels" not in by_rule(find_advice(facts(rows[30:], spaced_ns=30_000)))


def test_shapes_that_come_and_go_are_told_from_those_of_layers() -> None:
    layers = [{**WELL, "step": step, "input_shapes": f"{n},8"} for step in range(4) for n in range(20)]
    passing = [{**row, "input_shapes": f"{row['input_shapes']};{row['step']}"} for row in layers]
    assert "many-shapes" not in by_rule(find_advice(facts(layers)))
    one = by_rule(find_advice(facts(passing, spaced_ns=2_000)))["many-shapes"]
    assert (one.op_type, one.evidence["shapes"], one.evidence["steps"]) == ("MatMulV2", 80, 4)


def test_a_shape_that_comes_again_and_again_is_worth_tuning_unless_it_is_dynamic() -> None:
    planted = {"aic_mac_ratio": 0.3, "aic_mte2_ratio": 0.5}
    one = by_rule(find_advice(facts(model(**planted))))["repeated-shape"]
    assert (one.op_name, one.count) == ("odd/mm", 10)
    assert "repeated-shape" not in by_rule(find_advice(facts(model(**planted, op_state="dynamic"))))
    assert "repeated-shape" not in by_rule(find_advice(facts(model(**planted, op_type="NoSuchType"))))


def test_conflicts_of_banks_are_found_by_name() -> None:
    one = by_rule(find_advice(facts(model(aiv_vec_bank_cflt_ratio=0.2))))["bank-conflict"]
    assert (one.op_name, one.saving_ns) == ("odd/mm", 200_000)


def test_an_operator_bound_by_memory_is_found_by_name() -> None:
    rows = [
        {key: value for key, value in row.items() if not key.endswith("ratio")}
        for row in model(aic_main_mem_read_bw_gb_per_s=85.0)
    ]
    (one,) = [one for one in find_advice(facts(rows, peak_gb_per_s=100.0)) if one.rule == "memory-bandwidth-bound"]
    assert (one.op_name, one.saving_ns) == ("odd/mm", 150_000)


def shares(rank: int, computing: int, uncovered: int, free: int) -> StepShares:
    return StepShares(rank, 0, 1, computing + uncovered + free, computing, uncovered, 0, free, source="tasks")


def test_where_to_look_first_is_where_most_of_the_step_is() -> None:
    talking = shares(0, 65_000, 747_000, 188_000)
    assert headline(talking, []) == (
        "communication that is not overlapped takes 74.7% of the step; computing takes 6.5%: look at the former first"
    )
    assert headline(shares(0, 10, 30, 60), []).startswith("free time takes 60.0% of the step; computing takes")
    assert headline(StepShares(0, 0, 1, None, 5), []).startswith("the duration of a step is not known")
    found = find_advice(Facts(talking))
    assert [(one.rule, one.saving_ns) for one in found] == [
        ("communication-not-overlapped", 747_000), ("free-time", 188_000),
    ]  # fmt: skip


def test_the_rank_that_the_others_wait_for_is_named_once() -> None:
    ranks = [shares(0, 500, 400, 100), shares(1, 800, 100, 100), shares(2, 500, 400, 100)]
    found = [RULES["slow-rank"].find(Facts(one, ranks=ranks), Thresholds()) for one in ranks]
    assert [len(some) for some in found] == [0, 1, 0]
    assert (found[1][0].evidence["rank_id"], found[1][0].saving_ns) == (1, 300)
    even = [shares(0, 500, 400, 100), shares(1, 501, 399, 100)]
    assert RULES["slow-rank"].find(Facts(even[1], ranks=even), Thresholds()) == []


def test_operators_never_save_more_than_computing_that_is_not_overlapped() -> None:
    known = facts(model(aic_mac_ratio=0.1, aic_mte2_ratio=0.9))
    tight = StepShares(0, 0, 1, 10_000_000, 4_000_000, 6_000_000, 3_990_000, 0, source="step_trace_time")
    found = find_advice(Facts(tight, known.bounds, known.tasks, known.idle_ns, CORES))
    assert max(one.saving_ns or 0 for one in found if one.op_name) == 10_000


def test_advice_is_ranked_by_its_bound_and_the_order_of_rows_changes_nothing() -> None:
    rows = model(aic_mac_ratio=0.1, aic_mte2_ratio=0.9, block_num=6)
    rows = [{**row, "task_start_ns": 1000 * n * 150} for n, row in enumerate(rows)]
    found = find_advice(facts(rows))
    assert [one.order for one in found] == sorted(one.order for one in found)
    random.Random(3).shuffle(rows)
    assert find_advice(facts(rows)) == found


def test_every_threshold_has_a_reason_and_every_rule_its_thresholds() -> None:
    names = {field.name for field in fields(Thresholds)}
    assert set(REASONS) == names == {name for name, *_ in list_thresholds()}
    assert {name for rule in RULES.values() for name in rule.thresholds} == names
    assert all(rule.reason and rule.source and rule.title and rule.id == name for name, rule in RULES.items())


OF_PIPES: dict[str, tuple[dict[str, float], int, str]] = {
    "vector-bound": ({"vector_ratio": 0.9, "mte2_ratio": 0.3, "memory_bound": 0.3333}, 100_000, "vector"),
    "scalar-bound": (
        {"cube_ratio": 0.1, "scalar_ratio": 0.9, "mte2_ratio": 0.3, "memory_bound": 3.0}, 900_000, "scalar",
    ),
    "mte1-bound": ({"cube_ratio": 0.1, "mte1_ratio": 0.9, "mte2_ratio": 0.3, "memory_bound": 3.0}, 900_000, "mte1"),
    "mte2-bound": ({"cube_ratio": 0.1, "mte2_ratio": 0.9, "memory_bound": 9.0}, 900_000, "mte2"),
    "mte3-bound": ({"cube_ratio": 0.1, "mte2_ratio": 0.3, "mte3_ratio": 0.9, "memory_bound": 3.0}, 900_000, "mte3"),
    "fixpipe-bound": (
        {"cube_ratio": 0.1, "mte2_ratio": 0.3, "fixpipe_ratio": 0.9, "memory_bound": 3.0}, 900_000, "fixpipe",
    ),
    "cube-bound": ({"cube_ratio": 0.85, "mte2_ratio": 0.3, "memory_bound": 0.3529}, 150_000, "cube"),
    "no-bound": ({"cube_ratio": 0.4, "mte2_ratio": 0.5, "memory_bound": 1.25}, 600_000, "none"),
}  # fmt: skip


@pytest.mark.parametrize("rule", OF_PIPES)
def test_a_bound_shows_the_ratios_that_it_rests_on(rule: str) -> None:
    ratios, saving_ns, bound_by = OF_PIPES[rule]
    (one,) = [one for one in find_advice(facts(model(**PIPES[rule]))) if one.rule == rule]
    core = "AI_VECTOR_CORE" if rule == "vector-bound" else "AI_CORE"
    assert one.evidence == {"task_type": core, **ratios}
    assert (one.saving_ns, one.bound_by) == (saving_ns, bound_by)


def test_small_kernels_name_the_types_that_take_most() -> None:
    times = {"B": 2_000, "A": 2_000, "C": 3_000, "D": 1_000, "E": 1_500}
    rows = [{**WELL, "op_type": kind, "task_duration_ns": ns} for _ in range(12) for kind, ns in times.items()]
    one = by_rule(find_advice(facts([*rows, *model(40)], spaced_ns=30_000)))["small-kernels"]
    assert one.evidence == {
        "small_kernels": 60, "kernels": 100, "below_us": 10.0, "device_time_us": 12 * 9.5, "idle_before_us": 590.0,
        "op_types": ["C", "A", "B", "E", "D"][: len(one.evidence["op_types"])],  # type: ignore[arg-type]
    }  # fmt: skip
    assert len(one.evidence["op_types"]) >= 3  # type: ignore[arg-type]
    assert (one.op_type, one.total_ns, one.saving_ns) == ("C", 114_000, 114_000 + 590_000)


def test_an_odd_shape_is_held_against_the_usual_one() -> None:
    rows = model()
    rows[-1] = {**rows[-1], "input_shapes": "7,odd", "task_duration_ns": 130_000}
    one = by_rule(find_advice(facts(rows), Thresholds(odd_shape_share=0.1)))["odd-shape"]
    assert one.evidence == {"usual_shapes": "8,odd", "usual_calls": 9, "usual_mean_us": 100.0, "mean_us": 130.0}
    assert (one.saving_ns, one.total_ns) == (130_000, 130_000)


def test_other_rules_show_what_they_rest_on() -> None:
    dynamic = by_rule(find_advice(facts(model(op_state="dynamic"), spaced_ns=3_000)))["dynamic-shape"]
    assert dynamic.evidence == {
        "dynamic_share_of_computing": 0.25, "op_types": ["MatMulV2"], "told_by": "OP State",
        "bound_source": "idle time before them, computed from the task intervals",
    }  # fmt: skip
    assert (dynamic.saving_ns, dynamic.total_ns) == (30_000, 1_000_000)
    waiting = by_rule(find_advice(facts(model(task_wait_ns=50_000), spaced_ns=None)))["wait-in-front"]
    assert waiting.evidence == {
        "waited_us": 500.0, "longest_us": 50.0, "tasks": 10, "source": "Task Wait Time (communication may have run in it)",
    }  # fmt: skip
    passing = [{**WELL, "step": step, "input_shapes": f"{n},8;{step}"} for step in range(4) for n in range(20)]
    many = by_rule(find_advice(facts(passing, spaced_ns=2_000)))["many-shapes"]
    assert many.evidence == {"shapes": 80, "calls_a_shape": 1.0, "steps": 4, "share_of_computing": 1.0}
    assert many.saving_ns == 76 * 2_000  # the gaps inside of steps
    repeated = by_rule(find_advice(facts(model(aic_mac_ratio=0.3, aic_mte2_ratio=0.5))))["repeated-shape"]
    assert repeated.evidence == {
        "task_type": "AI_CORE", "share_of_computing": 0.25, "state": "static", "calls_a_step": 1.0,
    }  # fmt: skip
    assert repeated.saving_ns == 700_000
    on_cpu = by_rule(find_advice(facts(model(task_type="AI_CPU", op_type="Unique"))))["ai-cpu-operator"]
    assert on_cpu.evidence == {"task_type": "AI_CPU", "share_of_computing": 0.25}


def test_a_lower_frequency_says_when_it_was_so() -> None:
    rows = []
    for n, row in enumerate(model(80)):
        us = 150.0 if row["op_name"] == "odd/mm" and 40 <= n < 60 else 100.0
        rows.append(
            {**row, "task_duration_ns": int(us * 1000), "aicore_time_us": us, "aic_total_cycles": 1800 * 100 * 24}
        )
    one = by_rule(find_advice(facts(rows)))["frequency-drop"]
    first, last = one.evidence.pop("first_ns"), one.evidence.pop("last_ns")  # type: ignore[attr-defined]
    assert last - first == 4 * 450_000
    assert one.evidence == {
        "task_type": "AI_CORE", "highest_mhz": 1800.0, "lowest_mhz": 1200.0, "lowest_share_of_highest": 0.6667,
        "highest_is_rated": False, "operators": 1,
    }  # fmt: skip


@pytest.mark.parametrize(("others", "said"), [(19, True), (21, False)])
def test_many_shapes_are_said_of_a_type_that_takes_its_part(others: int, said: bool) -> None:
    """Eighty shapes that pass take as long as eighty calls; the rest of the step is so many times that."""
    passing = [{**WELL, "step": step, "input_shapes": f"{n},8;{step}"} for step in range(4) for n in range(20)]
    rest = [
        {**WELL, "op_type": "Other", "op_name": "o", "step": n % 4, "task_duration_ns": 100_000}
        for n in range(80 * others)
    ]
    limits = Thresholds(least_operator_share=0.05)
    assert ("many-shapes" in by_rule(find_advice(facts([*passing, *rest]), limits))) is said
