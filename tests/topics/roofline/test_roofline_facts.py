"""What operators reach of the peaks, what bounds them, and the MFU of a step: all by hand."""

from __future__ import annotations

from typing import Any

import pytest
from frames import tasks_of
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.bounds import CoreCounts
from aoe_reports.topics.roofline.facts import Roofed, Roofline, measure_roofline

B2_FP16 = 24 * 8192 * 1.8e9
"""FLOP/s of Ascend910B2."""


def product(m: int, n: int, k: int, duration_ns: int, **more: Any) -> dict[str, Any]:
    return {
        "input_shapes": f"{m},{k};{k},{n}",
        "input_data_types": "FLOAT16;FLOAT16",
        "input_formats": "ND;ND",
        "output_shapes": f"{m},{n}",
        "output_data_types": "FLOAT16",
        "output_formats": "ND",
        "task_duration_ns": duration_ns,
        **more,
    }


def elementwise(elements: int, duration_ns: int, **more: Any) -> dict[str, Any]:
    side = {"data_types": "FLOAT16", "formats": "ND", "shapes": str(elements)}
    told = {f"{where}_{what}": value for where in ("input", "output") for what, value in side.items()}
    return {"op_type": "Relu", "task_type": "AI_VECTOR_CORE", "task_duration_ns": duration_ns, **told, **more}


def measured(rows: list[dict[str, Any]], chip: str | None = "Ascend910B2", **options: Any) -> Roofline:
    found = measure_roofline(tasks_of(rows), CoreCounts(), chip, **options)
    assert found is not None
    return found


def only(*rows: dict[str, Any], **options: Any) -> Roofed:
    (operator,) = measured(list(rows), **options).operators(9)
    return operator


def test_shares_are_of_the_peak_of_the_precision_and_of_the_bandwidth() -> None:
    # 2 * 4096**3 FLOP take 388.4 us at the peak, here twice that; 3 * 4096**2 * 2 bytes
    at_peak_ns = 2 * 4096**3 / B2_FP16 * 1e9
    one = only(product(4096, 4096, 4096, round(2 * at_peak_ns)))
    assert one.compute_share == pytest.approx(0.5, rel=1e-5)
    assert one.memory_share == pytest.approx(3 * 4096**2 * 2 / 1.6e12 / (2 * at_peak_ns / 1e9), rel=1e-5)
    assert one.intensity == 2 * 4096**3 / (3 * 4096**2 * 2)
    assert one.roof_share == one.compute_share
    assert (one.bound, one.is_above) == ("compute", False)


@pytest.mark.parametrize(
    ("elements", "duration_ns", "bound", "above"),
    [
        (1 << 28, 1_000_000, "memory", False),  # 1 GiB in a ms: 67 %
        (1 << 28, 650_000, "cache", False),  # 103 %, of which L2 may hold 192 MiB
        (1 << 20, 2_000, "cache", False),  # 4 MiB in 2 us
        (1 << 28, 500_000, "cache", True),  # 134 %, and 109 % without what L2 may hold
        (1 << 10, 2_000, "small", False),
        (1 << 10, 10_000, "memory", False),
    ],
)
def test_what_bounds_an_operator_that_moves(elements: int, duration_ns: int, bound: str, above: bool) -> None:
    one = only(elementwise(elements, duration_ns))
    assert (one.bound, one.is_above) == (bound, above)


def test_more_than_the_compute_peak_is_told() -> None:
    at_peak_ns = 2 * 4096**3 / B2_FP16 * 1e9
    assert not only(product(4096, 4096, 4096, round(at_peak_ns))).is_above
    assert only(product(4096, 4096, 4096, round(at_peak_ns / 1.03))).is_above


def test_a_roof_that_is_not_known_bounds_nothing() -> None:
    one = only(product(64, 64, 64, 100_000), chip=None)
    assert (one.compute_share, one.memory_share, one.roof_share, one.bound) == (None, None, None, None)
    assert one.flops_per_s == pytest.approx(2 * 64**3 / 1e-4)
    assert only(product(64, 64, 64, 100_000), chip="Ascend910B3").bound is None
    fast = only(product(4096, 4096, 4096, 600_000), chip="Ascend910B3")
    assert (fast.bound, fast.roof_share) == ("compute", None)


def test_mfu_weighs_each_precision_by_its_own_peak() -> None:
    rows = [
        product(4096, 4096, 4096, 1_000_000),
        product(4096, 4096, 4096, 4_000_000, input_data_types="FLOAT;FLOAT", hf32_eligible="NO"),
        elementwise(1 << 20, 1_000_000),
        {"op_type": "TopK", "task_type": "AI_VECTOR_CORE", "task_duration_ns": 2_000_000},
        {"op_type": "Odd", "task_duration_ns": 2_000_000},
        {"op_type": "hcom_allReduce_", "task_type": "HCCL", "task_duration_ns": 10_000_000},
    ]
    found = measured(rows)
    assert (found.step_ns, found.steps, found.computing_ns) == (20_000_000, 1, 10_000_000)
    at_peak = 2 * 4096**3 / B2_FP16 * (1 + 4)
    assert found.mfu(found.step_ns) == pytest.approx(at_peak / 0.02)
    assert found.cube_flops == 4 * 4096**3
    assert (found.known_ns, found.cube_known_ns, found.cube_ns) == (6_000_000, 5_000_000, 7_000_000)


def test_mfu_is_not_known_where_a_peak_is_not() -> None:
    rows = [product(64, 64, 64, 100_000), product(64, 64, 64, 100_000, input_data_types="FLOAT;FLOAT")]
    assert measured(rows[:1], chip="Ascend910A").mfu(1_000_000) is not None
    assert measured(rows, chip="Ascend910A").mfu(1_000_000) is None  # no FP32 in its cube
    assert measured(rows[:1], chip=None).mfu(1_000_000) is None
    assert measured(rows[:1]).mfu(None) is None


def test_steps_are_summed_without_what_lies_between_them() -> None:
    rows = [
        product(64, 64, 64, 100, step=1, task_start_ns=1000),
        product(64, 64, 64, 100, step=1, task_start_ns=1400),
        product(64, 64, 64, 100, step=2, task_start_ns=9000),
    ]
    found = measured(rows)
    assert (found.step_ns, found.steps) == (500 + 100, 2)


def test_products_outside_of_steps_are_no_part_of_the_mfu() -> None:
    at_peak_ns = round(2 * 4096**3 / B2_FP16 * 1e9)
    before = product(4096, 4096, 4096, at_peak_ns, step=None, task_start_ns=0)
    within = product(4096, 4096, 4096, at_peak_ns, step=1, task_start_ns=10**9)
    found = measured([before, before, within])
    assert (found.step_ns, found.steps, found.cube_flops) == (at_peak_ns, 1, 2 * 4096**3)
    assert found.mfu(found.step_ns) == pytest.approx(1, rel=1e-5)
    assert (found.computing_ns, found.known[0].count) == (3 * at_peak_ns, 3)


def test_a_short_call_that_is_near_the_compute_peak_is_not_small() -> None:
    at_peak_ns = 2 * 512**3 / (20 * 8192 * 1.8e9) * 1e9
    assert only(product(512, 512, 512, round(at_peak_ns / 0.9)), chip="Ascend910B3").bound == "compute"
    assert only(product(512, 512, 512, round(at_peak_ns / 0.4)), chip="Ascend910B3").bound == "small"


def test_a_peak_of_the_cores_that_were_at_work_is_no_reason_to_be_content() -> None:
    at_peak_ns = 2 * 4096**3 / B2_FP16 * 1e9
    cycles = {"block_num": 8, "aicore_time_us": 1e6, "aic_total_cycles": 8 * 1800 * 10**6}
    row = product(4096, 4096, 4096, round(at_peak_ns * 3.1), task_type="AI_CORE", **cycles)
    unknown = measured([row], chip=None)
    assert unknown.known[0].compute_share == pytest.approx(3 / 3.1, rel=1e-3)
    assert unknown.near.tolist() == [False]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"op_type": None}, "no-type"),
        ({"op_type": "TopK"}, "no-formula"),
        ({"task_type": "AI_CPU"}, "not-ai-core"),
        ({"input_shapes": None}, "no-shapes"),
        ({"output_shapes": None}, "no-shapes"),
        ({"input_shapes": "64,64"}, "no-shapes"),
        ({"input_shapes": "64,64;-1,64"}, "no-shapes"),
        ({"input_shapes": "64,64;63,64"}, "shapes-disagree"),
        ({"input_formats": "ND;NC1HWC0"}, "private-format"),
        ({"input_data_types": "STRING;STRING"}, "type-unknown"),
    ],
)
def test_what_is_not_known_counts_nothing_and_says_why(changed: dict[str, Any], why: str) -> None:
    found = measured([product(64, 64, 64, 100_000, **changed)])
    (one,) = found.operators(1)
    assert (one.work, one.why, one.bound, one.roof_share) == (None, why, None, None)
    assert (found.cube_flops, found.known_ns, found.computing_ns) == (0, 0, 100_000)


def test_a_mask_that_is_not_told_is_no_reason_to_be_content() -> None:
    attention = {
        "op_type": "FlashAttentionScore",
        "task_type": "MIX_AIC",
        "input_shapes": ";".join(["1,8,4096,128"] * 3),
        "input_data_types": "FLOAT16;FLOAT16;FLOAT16",
        "output_shapes": "1,8,4096,8;1,8,4096,8;;1,8,4096,128",
        "output_data_types": "FLOAT;FLOAT;FLOAT16;FLOAT16",
        "task_duration_ns": round(4 * 8 * 4096**2 * 128 / B2_FP16 * 1e9),
    }
    one = only(attention)
    assert one.compute_share == pytest.approx(1, rel=1e-4)
    assert one.least_share is not None
    assert one.least_share < 0.1


def test_near_are_tasks_of_operators_that_reach_80_percent_for_certain() -> None:
    at_peak_ns = 2 * 4096**3 / B2_FP16 * 1e9
    rows = [
        product(4096, 4096, 4096, round(at_peak_ns / 0.81)),
        product(2048, 4096, 4096, round(at_peak_ns)),
        {"op_type": "hcom", "task_type": "HCCL"},
        elementwise(1 << 20, 3_000),  # 87 %, but of what may be in the cache
        elementwise(1 << 30, 3_000_000),
        product(4096, 4096, 4096, round(at_peak_ns / 0.81)),
    ]
    assert measured(rows).near.tolist() == [True, False, False, True, True]


def test_counters_are_means_over_time_and_their_product_is_the_cubes_share() -> None:
    rows = [
        product(64, 64, 64, 100_000, aic_mac_ratio=0.4, aic_mte2_ratio=0.9, cube_utilization_percent=50.0),
        product(64, 64, 64, 300_000, aic_mac_ratio=0.8, aic_mte2_ratio=0.1, cube_utilization_percent=50.0),
    ]
    counted = only(*rows).counted
    assert counted.mac_ratio == pytest.approx(0.7)
    assert counted.mte2_ratio == pytest.approx(0.3)
    assert counted.cube_share == pytest.approx(0.35)
    assert only(product(64, 64, 64, 100_000)).counted.cube_share is None


def test_rows_by_type_keep_what_is_known_apart_from_what_is_not() -> None:
    rows = [
        product(64, 64, 64, 100_000),
        product(64, 64, 32, 50_000),
        product(64, 64, 64, 30_000, input_shapes=None),
        product(64, 64, 64, 20_000, input_shapes="64,64;63,64"),
        elementwise(1 << 20, 10_000),
    ]
    products, others = measured(rows).by_type(9)
    assert [one.total_ns for one in products if one.work is not None] == [100_000, 50_000]
    assert [(one.total_ns, one.count, one.why) for one in products if one.work is None] == [(50_000, 2, "no-shapes")]
    assert [one.total_ns for one in others] == [10_000]
    assert len(measured(rows).by_type(1)) == 1


DURATION = st.integers(1, 10**9)
ROW = st.one_of(
    st.builds(product, *[st.integers(1, 4096)] * 3, DURATION),
    st.builds(elementwise, st.integers(1, 1 << 28), DURATION),
    st.builds(lambda ns: product(2, 2, 2, ns, input_shapes="3,3;4,4"), DURATION),
    st.builds(lambda ns: {"op_type": "TopK", "task_duration_ns": ns}, DURATION),
    st.builds(lambda ns: {"op_type": "hcom", "task_type": "HCCL", "task_duration_ns": ns}, DURATION),
)


@given(st.lists(ROW, min_size=1, max_size=30))
def test_no_time_is_left_out_and_what_exceeds_a_peak_is_flagged(rows: list[dict[str, Any]]) -> None:
    computing = sum(row["task_duration_ns"] for row in rows if row.get("task_type") != "HCCL")
    found = measure_roofline(tasks_of(rows), CoreCounts(), "Ascend910B2")
    if not computing:
        assert found is None
        return
    assert found is not None
    operators = found.operators(len(rows))
    assert sum(one.total_ns for one in operators) == found.computing_ns == computing
    assert sum(one.total_ns for group in found.by_type(len(rows)) for one in group) == computing
    assert sum(one.total_ns for one in operators if one.work is not None) == found.known_ns
    for one in operators:
        assert (one.work is None) == (one.why is not None)
        if (one.compute_share or 0) > 1.021 or (one.least_share or 0) > 1.021:
            assert one.is_above
        if (one.memory_share or 0) > 1.021 and not one.is_above and (one.compute_share or 0) < (one.memory_share or 0):
            assert one.bound == "cache"
