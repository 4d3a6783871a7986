"""What bounds an operator, from every set of counters; how much could be saved; how fast the cores ran."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from frames import tasks_of
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.bounds import CoreCounts, StepShares, cap_saving, measure_operators, most_blocks
from aoe_reports.facts.idle import idle_before_tasks, shares_of_tasks
from aoe_reports.model.arrays.columns import exact_sum, integers
from aoe_reports.model.arrays.intervals import union

PIPES = {
    "aic_": {"mac": "cube", "scalar": "scalar", "mte1": "mte1", "mte2": "mte2", "fixpipe": "fixpipe"},
    "aiv_": {"vec": "vector", "scalar": "scalar", "mte2": "mte2", "mte3": "mte3"},
    "": {"mac": "cube", "vec": "vector", "scalar": "scalar", "mte1": "mte1", "mte2": "mte2", "mte3": "mte3"},
}
CASES = [(core, pipe, bound) for core, pipes in PIPES.items() for pipe, bound in pipes.items()]


def only(rows: list[dict[str, Any]], **options: Any) -> Any:
    bounds = measure_operators(tasks_of(rows), **options)
    assert bounds is not None
    (operator,) = bounds.operators()
    return operator


def counters(core: str, high: str, ratio: float) -> dict[str, float]:
    return {f"{core}{pipe}_ratio": ratio if pipe == high else 0.1 for pipe in PIPES[core]}


@pytest.mark.parametrize(("core", "pipe", "bound"), CASES)
def test_the_unit_that_works_most_is_the_bound_with_every_prefix(core: str, pipe: str, bound: str) -> None:
    assert only([counters(core, pipe, 0.801)]).bound_by == bound


@pytest.mark.parametrize("core", PIPES)
def test_nothing_bounds_an_operator_whose_every_ratio_is_at_most_0_8(core: str) -> None:
    assert only([counters(core, "mte2", 0.8)]).bound_by == "none"
    assert only([counters(core, "mte2", 0.8)], bound_ratio=0.7).bound_by == "mte2"


@pytest.mark.parametrize(("moved", "bound"), [({"aic_mte2_ratio": 0.0}, "none"), ({}, "unknown")])
def test_that_nothing_bounds_needs_the_transfers(moved: dict[str, float], bound: str) -> None:
    assert only([{"aic_mac_ratio": 0.4, **moved}]).bound_by == bound
    assert only([{"aic_mac_ratio": 0.0, **moved}]).bound_by == "unknown"


def test_without_counters_the_bound_is_unknown_and_all_of_the_time_could_be_saved() -> None:
    operator = only([{"task_duration_ns": 5_000}])
    assert (operator.bound_by, operator.ratios, operator.saving_ns) == ("unknown", {}, 5_000)


def test_arithmetic_by_data_type_tells_cube_and_vector_but_never_that_nothing_bounds() -> None:
    cube = {"aic_mac_fp16_ratio": 0.5, "aic_mac_int8_ratio": 0.4}
    vector = {
        "aiv_vec_fp32_ratio": 0.3,
        "aiv_vec_fp16_ratio": 0.3,
        "aiv_vec_int32_ratio": 0.2,
        "aiv_vec_misc_ratio": 0.1,
    }
    assert only([cube]).bound_by == "cube"
    assert only([vector]).bound_by == "vector"
    assert only([{"aic_mac_fp16_ratio": 0.4}]).bound_by == "unknown"


def test_an_operator_that_fills_main_memory_is_bound_by_it() -> None:
    rows = [
        {"op_name": "full", "aiv_main_mem_read_bw_gb_per_s": 30.0, "aiv_main_mem_write_bw_gb_per_s": 20.0},
        {"op_name": "half", "aiv_main_mem_read_bw_gb_per_s": 20.0, "aiv_main_mem_write_bw_gb_per_s": 5.0},
    ]
    bounds = measure_operators(tasks_of(rows))
    assert bounds is not None
    assert {one.op_name: one.bound_by for one in bounds.operators()} == {"full": "memory-bandwidth", "half": "unknown"}
    far = measure_operators(tasks_of(rows), peak_gb_per_s=100.0)
    assert far is not None
    assert {one.bound_by for one in far.operators()} == {"unknown"}


def test_of_a_mixed_task_the_core_that_works_longer_decides() -> None:
    row = {
        "task_type": "MIX_AIC",
        "aicore_time_us": 12.778,
        "aiv_time_us": 38_332.239,
        **counters("aic_", "mac", 0.95),
        **counters("aiv_", "scalar", 0.995),
    }
    assert only([row]).bound_by == "scalar"
    assert only([{**row, "aicore_time_us": 38_000.0}]).ratios["cube"] == pytest.approx(
        0.95 * 38_000 / 38_332.239, abs=1e-4
    )


def test_ratios_are_weighted_by_time_and_rows_without_one_do_not_count() -> None:
    rows = [
        {"aic_mte2_ratio": 1.0, "task_duration_ns": 3_000},
        {"aic_mte2_ratio": 0.2, "task_duration_ns": 1_000},
        {"aic_mte2_ratio": None, "task_duration_ns": 9_000},
    ]
    operator = only(rows)
    assert (operator.ratios["mte2"], operator.count, operator.total_ns) == (0.8, 3, 13_000)


@pytest.mark.parametrize(
    ("task_type", "blocks", "mixed", "use"),
    [
        ("AI_CORE", 24, 0, 1.0),
        ("AI_CORE", 6, 0, 0.25),
        ("AI_CORE", 25, 0, 25 / 48),
        ("AI_VECTOR_CORE", 24, 0, 0.5),
        ("MIX_AIC", 12, 24, 0.5),
        ("MIX_AIC", 12, 48, 1.0),
        ("MIX_AIV", 12, 24, 0.25),
        ("AI_CPU", 1, 0, None),
    ],
)
def test_blocks_go_over_the_cores_in_rounds(task_type: str, blocks: int, mixed: int, use: float | None) -> None:
    rows = [{"task_type": task_type, "block_num": blocks, "mix_block_num": mixed}]
    operator = only(rows, cores=CoreCounts(24, 48))
    assert operator.block_use == (None if use is None else pytest.approx(use, abs=1e-4))


def test_an_older_chip_runs_vectors_on_its_only_cores() -> None:
    rows = [{"task_type": "AI_VECTOR_CORE", "block_num": 8}]
    assert only(rows, cores=CoreCounts.of_hardware({"ai_core_num": 32, "aiv_num": 0})).block_use == 0.25


def test_without_cores_blocks_are_held_against_those_that_most_of_the_time_is_run_with() -> None:
    rows = [{"op_name": f"op{n}", "block_num": blocks} for n, blocks in enumerate((20, 20, 20, 5, 21))]
    bounds = measure_operators(tasks_of(rows))
    assert bounds is not None
    assert sorted(one.block_use or 0 for one in bounds.operators()) == [0.25, 1, 1, 1, 1]
    even = measure_operators(tasks_of([{"block_num": n} for n in range(1, 9)]))
    assert even is not None
    assert even.block_use is None


def test_an_info_file_may_hold_anything() -> None:
    assert CoreCounts.of_hardware({"ai_core_num": "24", "aiv_num": "N/A", "aic_frequency": "1800"}) == CoreCounts(
        24, None, 1800.0
    )
    assert CoreCounts.of_hardware({"ai_core_num": -1, "aiv_num": 10**9}) == CoreCounts()


def test_states_are_told_by_op_state_else_by_markers_else_unknown() -> None:
    assert only([{"op_state": "dynamic"}]).state == "dynamic"
    assert only([{"op_state": "static"}]).state == "static"
    assert only([{"op_state": "static"}, {"op_state": "dynamic"}]).state == "mixed"
    assert only([{"op_state": None}], dynamic_model=True).state == "dynamic"
    assert only([{}], dynamic_model=True).state == "dynamic"
    assert only([{}]).state == "unknown"


def test_tuning_saves_no_arithmetic() -> None:
    row = {"block_num": 12, "task_duration_ns": 10_000, **counters("aic_", "mac", 0.6)}
    assert only([row]).saving_ns == 4_000
    assert only([row], cores=CoreCounts(24, 48)).saving_ns == 7_000
    assert only([{**row, "task_type": "AI_CPU"}]).saving_ns == 10_000
    assert only([{**row, "aic_mac_ratio": 1.2}]).saving_ns == 0


def test_where_no_blocks_are_known_of_one_operator_all_cores_are_in_use() -> None:
    row = {"task_duration_ns": 10_000, **counters("aic_", "mac", 0.6)}
    rows = [{**row, "op_name": "half", "block_num": 12}, {**row, "op_name": "unknown", "block_num": None}]
    bounds = measure_operators(tasks_of(rows), CoreCounts(24, 48))
    assert bounds is not None
    told = {one.op_name: (one.block_use, one.saving_ns) for one in bounds.operators()}
    assert told == {"half": (0.5, 7_000), "unknown": (None, 4_000)}


@pytest.mark.parametrize(("share", "use"), [(4, 0.5), (5, 0.5), (3, None)])
def test_blocks_are_usual_that_at_least_half_of_the_time_is_run_with(share: int, use: float | None) -> None:
    rows = [{"op_name": f"op{n}", "block_num": 20} for n in range(share)]
    rows += [{"op_name": f"rest{n}", "block_num": 10 - n} for n in range(4)]
    bounds = measure_operators(tasks_of(rows))
    assert bounds is not None
    assert {one.op_name: one.block_use for one in bounds.operators()}["rest0"] == use


@pytest.mark.parametrize(("blocks", "use"), [(1 << 16, 1.0), ((1 << 16) + 1, None)])
def test_nothing_fills_a_chip_with_more_blocks(blocks: int, use: float | None) -> None:
    assert only([{"block_num": blocks}]).block_use == use


@pytest.mark.parametrize(
    ("cores", "most"),
    [
        (CoreCounts(), (24, 48)),
        (CoreCounts(24, 48), (24, 48)),
        (CoreCounts(24), (48, None)),
        (CoreCounts(None, 48), (24, 48)),
    ],
)
def test_the_most_blocks_are_those_of_each_kind_of_cores(
    cores: CoreCounts, most: tuple[int | None, int | None]
) -> None:
    rows = [
        {"task_type": "AI_CORE", "block_num": 20, "mix_block_num": 99},
        {"task_type": "MIX_AIC", "block_num": 24, "mix_block_num": 48},
        {"task_type": "MIX_AIV", "block_num": 40, "mix_block_num": 99},
        {"task_type": "AI_CPU", "block_num": 70, "mix_block_num": 99},
        {"task_type": "AI_CORE", "block_num": None, "mix_block_num": None},
    ]
    assert most_blocks(tasks_of(rows), cores) == most
    assert most_blocks(tasks_of([{"task_type": "AI_CORE", "block_num": 0}]), cores) == (None, None)
    assert most_blocks(tasks_of([{"task_type": "AI_CORE"}]), cores) == (None, None)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["AI_CORE", "HCCL", "AI_CPU"]), st.integers(0, 2**45)))
)
def test_no_task_that_computes_is_lost_or_counted_twice(rows: list[tuple[str, str, int]]) -> None:
    table = tasks_of([{"op_name": n, "task_type": t, "task_duration_ns": d} for n, t, d in rows]) if rows else None
    mine = [duration for _, kind, duration in rows if kind != "HCCL"]
    bounds = measure_operators(table) if table is not None else None
    if not mine:
        assert bounds is None
        return
    assert bounds is not None
    operators = bounds.operators()
    assert sum(one.count for one in operators) == len(mine)
    assert sum(one.total_ns for one in operators) == sum(mine)
    assert [one.total_ns for one in operators] == sorted((one.total_ns for one in operators), reverse=True)
    assert bounds.operators(1) == operators[:1]


def test_communication_of_no_type_at_all_is_no_operator() -> None:
    assert measure_operators(tasks_of([{"task_type": "COMMUNICATION"}])) is None


spans = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 40), st.booleans()), min_size=1, max_size=12)


def of_spans(rows: list[tuple[int, int, bool]]) -> Any:
    return tasks_of(
        [
            {"task_start_ns": start, "task_duration_ns": length, "task_type": "HCCL" if talks else "AI_CORE"}
            for start, length, talks in rows
        ]
    )


@given(spans)
def test_idle_time_before_tasks_is_the_free_time_of_the_whole(rows: list[tuple[int, int, bool]]) -> None:
    table = of_spans(rows)
    shares, idle = shares_of_tasks(table, None, None), idle_before_tasks(table)
    assert idle is not None
    long = [row for row in rows if row[1]]
    if len(long) == len(rows):  # a task of no length is busy for no time, and yet no time is idle before it twice
        assert exact_sum(idle) == shares.free_ns
    end = max(start + length for start, length, _ in rows)
    begin = min(start for start, _, _ in rows)
    starts, lengths = (np.asarray([row[n] for row in rows], dtype=np.int64) for n in (0, 1))
    assert exact_sum(idle) + union(starts, starts + lengths).total == end - begin


@given(spans, st.data())
def test_no_tuning_makes_a_device_less_busy_than_the_bound_says(
    rows: list[tuple[int, int, bool]], data: st.DataObject
) -> None:
    """Even operators that vanish leave a device busy with its communication."""
    gone = data.draw(st.lists(st.sampled_from(range(len(rows))), unique=True))
    left = [row for n, row in enumerate(rows) if row[2] or n not in gone]
    saved = sum(rows[n][1] for n in gone if not rows[n][2])

    def busy(some: list[tuple[int, int, bool]]) -> int:
        starts, lengths = (np.asarray([row[n] for row in some], dtype=np.int64) for n in (0, 1))
        return union(starts, starts + lengths).total if some else 0

    shares = shares_of_tasks(of_spans(rows), None, None)
    assert busy(rows) - busy(left) <= cap_saving(saved, shares) <= min(saved, shares.computing_ns)


def test_a_saving_is_never_more_than_computing_that_no_communication_runs_beside() -> None:
    shares = StepShares(0, 0, 2, 100_000, 40_000, 50_000, 30_000, 10_000)
    assert (cap_saving(5_000, shares), cap_saving(25_000, shares)) == (5_000, 10_000)
    assert (shares.bound_saving_us, shares.step_us, shares.share(shares.free_ns)) == (5.0, 50.0, 0.1)


def test_steps_are_taken_apart_and_time_between_them_is_of_none() -> None:
    rows = [
        {"step": 1, "task_start_ns": 0},
        {"step": 2, "task_start_ns": 1_000_000},
        {"step": 2, "task_start_ns": 1_200_000},
    ]
    shares = shares_of_tasks(tasks_of(rows), None, None)
    assert (shares.steps, shares.step_ns, shares.computing_ns, shares.free_ns) == (2, 400_000, 300_000, 100_000)


def test_nobody_knows_what_ran_between_iterations_of_other_files() -> None:
    rows = [{"iteration": 1, "task_start_ns": 0}, {"iteration": 3, "task_start_ns": 9_000_000}]
    idle = idle_before_tasks(tasks_of(rows))
    assert idle is not None
    assert exact_sum(idle) == 0


def test_without_times_only_the_sum_of_durations_is_known() -> None:
    table = tasks_of([{}, {"task_type": "HCCL"}], spaced_ns=None)
    shares = shares_of_tasks(table, None, None)
    assert (shares.step_ns, shares.computing_ns, shares.source) == (None, 100_000, "durations")
    assert idle_before_tasks(table) is None


def clocked(mhz: float, blocks: int, cores: int, us: float = 100.0) -> dict[str, Any]:
    return {
        "block_num": blocks,
        "aicore_time_us": us,
        "aic_total_cycles": round(mhz * us * blocks / -(-blocks // cores)),
    }


def test_cores_and_frequency_are_told_by_cycles_where_no_info_file_is() -> None:
    rows = [clocked(1800, blocks, 24) for blocks in (8, 16, 24, 128, 24)]
    for cores in (None, CoreCounts(24, 48)):
        bounds = measure_operators(tasks_of(rows), cores)
        assert bounds is not None
        assert bounds.clock is not None
        assert bounds.clock.cube_cores == 24
        assert bounds.clock.nominal_mhz == pytest.approx(1800, rel=1e-3)
        relative = bounds.clock.relative
        assert relative[[0, 1, 2, 4]] == pytest.approx(np.ones(4), rel=1e-3)
        # rounds can be told only where the cores are known
        assert np.isnan(relative[3]) if cores is None else relative[3] == pytest.approx(1.0, rel=1e-3)


def test_cycles_of_one_core_are_not_divided_by_blocks() -> None:
    rows = [{"block_num": blocks, "aicore_time_us": 100.0, "total_cycles": 100_000.0} for blocks in (1, 2, 8, 32)]
    bounds = measure_operators(tasks_of(rows))
    assert bounds is not None
    assert bounds.clock is not None
    assert bounds.clock.relative == pytest.approx(np.ones(4))


def test_a_capture_that_is_slow_from_end_to_end_is_held_against_the_rated_frequency() -> None:
    bounds = measure_operators(tasks_of([clocked(1500, 24, 24)] * 4), CoreCounts(24, 48, 1800.0))
    assert bounds is not None
    assert bounds.clock is not None
    assert (bounds.clock.rated, bounds.clock.nominal_mhz) == (True, 1800.0)
    assert bounds.clock.relative == pytest.approx(np.full(4, 1500 / 1800))


def test_counters_that_agree_with_nothing_tell_no_frequency() -> None:
    rows = [{"block_num": 24, "aicore_time_us": 100.0, "aic_total_cycles": 1e5 * 1.1**n} for n in range(30)]
    bounds = measure_operators(tasks_of(rows))
    assert bounds is not None
    assert bounds.clock is None


@pytest.mark.parametrize(("held", "known"), [(15, True), (14, False)])
def test_a_frequency_is_one_that_is_held_for_half_of_the_time(held: int, known: bool) -> None:
    cycles = [1e5] * held + [1e5 * 1.1**n for n in range(1, 31 - held)]
    rows = [{"block_num": 24, "aicore_time_us": 100.0, "aic_total_cycles": one} for one in cycles]
    bounds = measure_operators(tasks_of(rows))
    assert bounds is not None
    assert (bounds.clock is not None) is known


def test_durations_beyond_64_bits_in_sum_are_no_error() -> None:
    bounds = measure_operators(tasks_of([{"task_duration_ns": 2**62}] * 3, spaced_ns=None))
    assert bounds is not None
    assert integers(bounds.tasks["task_duration_ns"])[0].tolist() == [2**62] * 3


@pytest.mark.parametrize(("count", "known"), [(1, 1), (99_999, 99_999), (100_000, None), (0, None), (-1, None), ("nan", None), (None, None)])  # fmt: skip
def test_a_chip_has_some_cores_and_not_too_many(count: Any, known: int | None) -> None:
    hardware = {"ai_core_num": count, "aiv_num": count, "aic_frequency": count}
    assert CoreCounts.of_hardware(hardware) == CoreCounts(known, known, known)
    assert CoreCounts.of_hardware({}) == CoreCounts()


def test_operators_of_one_time_are_in_the_order_of_their_words() -> None:
    rows = [{"op_type": kind, "op_name": name, "input_shapes": shapes} for kind in ("b", None, "a") for name in ("y", None, "x") for shapes in ("2", None, "1")]  # fmt: skip
    bounds = measure_operators(tasks_of(rows))
    assert bounds is not None
    keys = [(one.op_type, one.op_name, one.input_shapes) for one in bounds.operators()]
    assert keys == [(kind, name, shapes) for kind in (None, "a", "b") for name in (None, "x", "y") for shapes in (None, "1", "2")]  # fmt: skip
    for top in (1, 4, 27):
        assert bounds.operators(top) == bounds.operators()[:top]


def test_operators_are_alike_by_their_words_and_where_no_type_is_told_by_their_names() -> None:
    words = [("A", "n1", "s1"), ("A", "n2", "s1"), ("A", "n1", "s2"), (None, "n1", "s1"), (None, "n2", "s1"), (None, "n1", "s2"), ("B", "n2", "s1")]  # fmt: skip
    bounds = measure_operators(tasks_of([{"op_type": kind, "op_name": name, "input_shapes": shapes} for kind, name, shapes in words]))  # fmt: skip
    assert bounds is not None
    places = [bounds.names[number] for number in range(bounds.names.count)]

    def classes(*keys: str) -> set[frozenset[tuple[str | None, ...]]]:
        numbers, count = bounds.alike(keys)
        found = {number: frozenset((place[0], *place[2:]) for place, of in zip(places, numbers.tolist(), strict=True) if of == number) for number in numbers.tolist()}  # fmt: skip
        assert len(found) == count
        return set(found.values())

    typed = {("A", "n1", "s1"), ("A", "n2", "s1"), ("A", "n1", "s2")}
    nameless = {frozenset({(None, "n1", "s1"), (None, "n1", "s2")}), frozenset({(None, "n2", "s1")})}
    assert classes("op_type") == {frozenset(typed), frozenset({("B", "n2", "s1")}), *nameless}
    assert classes("op_type", "op_name", "input_shapes") == {frozenset({word}) for word in words}


def test_what_fills_memory_is_held_against_the_fastest_operator_or_what_is_known() -> None:
    """At 0.8 of the peak memory is not full, above it is; what nothing else bounds could save the rest."""
    rows = [{"op_name": name, "aiv_main_mem_read_bw_gb_per_s": speed, "task_duration_ns": 1000} for name, speed in (("a", 100.0), ("b", 80.0), ("c", 81.25))]  # fmt: skip
    bounds = measure_operators(tasks_of(rows))
    assert bounds is not None
    told = {one.op_name: (one.bound_by, one.saving_ns, one.bandwidth_gb_per_s) for one in bounds.operators()}
    assert told == {"a": ("memory-bandwidth", 0, 100.0), "b": ("unknown", 200, 80.0), "c": ("memory-bandwidth", 188, 81.25)}  # fmt: skip
    assert bounds.peak_gb_per_s == 100.0


@pytest.mark.parametrize(("mixed", "use"), [(0, 0.25), (1, 0.25), (None, 0.25), (24, 0.5), (48, 1.0)])
def test_a_mixed_task_keeps_as_many_cores_busy_as_either_kind(mixed: int | None, use: float) -> None:
    rows = [{"task_type": "MIX_AIC", "block_num": 6, "mix_block_num": mixed}, {"op_name": "b", "task_type": "MIX_AIC", "block_num": 0, "mix_block_num": 1}]  # fmt: skip
    bounds = measure_operators(tasks_of(rows), CoreCounts(24, 48))
    assert bounds is not None
    told = {one.op_name: one.block_use for one in bounds.operators()}
    assert told == {"mm": pytest.approx(use), "b": pytest.approx(1 / 48, abs=1e-4)}
