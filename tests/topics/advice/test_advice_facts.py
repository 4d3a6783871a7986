"""Advice from what other questions find out: waits for the host, sequences to fuse, roofs, contention, unusual steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from commandline import Cli
from frames import tasks_of
from planted_host import KINDS, LAYER, MAIN, PYTHON, Job, write_planted

from aoe_reports import host
from aoe_reports.engine.captures import collect_events_of
from aoe_reports.facts.bounds import CoreCounts, StepShares, measure_operators
from aoe_reports.facts.idle import idle_before_tasks, shares_of_tasks
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.vendor import group_captures, vendor_of
from aoe_reports.model.arrays.intervals import union
from aoe_reports.model.topics.host import Calls
from aoe_reports.topics.advice.registry import Advice, Facts, find_advice
from aoe_reports.topics.communication.contention import find_contention
from aoe_reports.topics.critical_path.dependencies import EVENT_COLUMNS, Dependencies
from aoe_reports.topics.critical_path.step_paths import gain_of, path_time_of, paths_of
from aoe_reports.topics.host.causes import HostFacts, Replaceable
from aoe_reports.topics.host.sequences import fusible_ns
from aoe_reports.topics.roofline.chips import may_have_roof
from aoe_reports.topics.roofline.facts import measure_roofline

B2_FP16 = 24 * 8192 * 1.8e9
AT_PEAK_NS = 2 * 4096**3 / B2_FP16 * 1e9
"""How long a product of matrices of 4096 takes at the peak of an Ascend910B2."""
HOST_RULES = {
    "launching": "host-launching",
    "synchronisation": "host-synchronisation",
    "data loading": "host-data-loading",
    "compilation": "host-compilation",
    "garbage collection": "host-garbage-collection",
    "copies between host and device": "host-copying",
}


def rows_of(cli: Cli, folder: Path, *options: object) -> list[dict[str, Any]]:
    return cli("advise", folder, "--format", "json", "--top", 100, *options).json["rows"]


@pytest.mark.parametrize(("kind", "seed"), [(kind, 1 + number % 2) for number, kind in enumerate(KINDS)])
def test_planted_waits_for_the_host_are_told_with_their_time(kind: str, seed: int, cli: Cli, tmp_path: Path) -> None:
    expected = write_planted(tmp_path, kind, seed)
    rows = {row["rule"]: row for row in rows_of(cli, tmp_path)}
    times = next(one for one in host([tmp_path]).rows if one.step is None)
    for cause in expected & HOST_RULES.keys():
        row, name = rows[HOST_RULES[cause]], "copying" if cause.startswith("copies") else cause
        waited = getattr(times, f"{name.replace(' ', '_')}_ns")
        assert row["evidence"]["waited_us"] * 1000 == pytest.approx(waited, abs=0.5)
        assert row["evidence"]["source"] == "trace_view.json"
    for cause, rule in HOST_RULES.items():
        name = "copying" if cause.startswith("copies") else cause
        waited = getattr(times, f"{name.replace(' ', '_')}_ns") or 0
        assert (rule in rows) == (waited >= 0.05 * times.duration_ns)
    if not expected:
        assert not {rule for rule in rows if rule.startswith("host-") or rule == "fusible-sequence"}


def _optimizing(job: Job) -> None:
    for place in range(40):
        job.run(LAYER[place % len(LAYER)], 8000, 90_000)
    job.wait()
    begin = job.host
    for _ in range(40):
        job.run("Mul", 25_000, 3000)
    job.event("Optimizer.step#AdamW.step", (PYTHON, MAIN), begin, job.host - begin)


@pytest.mark.parametrize("chosen", [None, 10])
@pytest.mark.parametrize("seed", [1, 2])
def test_an_optimizer_that_the_device_waits_for_has_its_fused_form_named(
    seed: int, chosen: int | None, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "optimizer", (_optimizing, frozenset()))
    write_planted(tmp_path, "optimizer", seed)
    steps = len([one for one in host([tmp_path]).rows if one.step is not None])
    answer = cli("advise", tmp_path, "--format", "json", *(() if chosen is None else ("--step", chosen))).json
    (row,) = [row for row in answer["rows"] if row["rule"] == "fused-optimizer"]
    calls = steps if chosen is None else 1
    assert row["evidence"]["fused_operator"] == "torch_npu.optim.NpuFusedAdamW"
    assert row["evidence"]["calls"] == calls == answer["headlines"][0]["steps"]
    assert row["evidence"]["waited_in_call_us"] == pytest.approx(calls * row["bound_us"], abs=0.01)
    # of 40 launches of 25 us the device runs for 3 us each
    assert row["bound_us"] == pytest.approx(40 * 22, rel=0.02)
    launching = next(row for row in answer["rows"] if row["rule"] == "host-launching")
    assert launching["bound_us"] * calls == pytest.approx(launching["evidence"]["waited_us"], abs=0.01)


SGD_STEP = Calls(
    group="optimizer", name="Optimizer.step#SGD.step", operator=None, calls=1, calls_per_step=1.0, first_step_calls=1, steps=1,
    total_ns=5000, longest_ns=5000, waited_ns=2000,
)  # fmt: skip


def test_an_optimizer_that_the_device_does_not_wait_for_is_no_advice() -> None:
    for waited, expected in ((999, 0), (1000, 1)):
        call = replace(SGD_STEP, waited_ns=waited)
        one = HostFacts(100_000, {}, {}, 1, ((call, "torch_npu.optim.NpuFusedSGD"),), (), "trace_view.json")
        found = find_advice(Facts(_shares(100_000, free_ns=50_000), host=(one,)))
        assert len([one for one in found if one.rule == "fused-optimizer"]) == expected


def test_what_several_timelines_tell_of_one_operator_or_call_is_one_piece_of_advice() -> None:
    call = SGD_STEP
    sequence = Replaceable("torch_npu.npu_swiglu", "note", ("Swish", "Mul"), 3, 9000, 9000, 6000, 7000)
    one = HostFacts(100_000, {}, {}, 1, ((call, "torch_npu.optim.NpuFusedSGD"),), (sequence,), "msprof_0_1.json")
    shares = replace(_shares(200_000, free_ns=50_000), computing_ns=150_000)
    found = {one.rule: one for one in find_advice(Facts(shares, host=(one, replace(one, timeline="msprof_0_2.json"))))}
    assert found["fused-optimizer"].saving_ns == 4000
    assert found["fused-optimizer"].evidence["calls"] == 2
    assert (found["fusible-sequence"].saving_ns, found["fusible-sequence"].count) == (12_000, 6)
    assert found["fusible-sequence"].evidence["on_critical_path_us"] == 14


@pytest.mark.parametrize(("free_ns", "said"), [(0, False), (2999, False), (3000, True)])
def test_what_was_waited_outside_of_the_steps_shortens_none(free_ns: int, said: bool) -> None:
    one = HostFacts(100_000, {"launching": 30_000}, {}, 1, (), (), "trace_view.json")
    found = find_advice(Facts(_shares(60_000, free_ns=free_ns), host=(one,)))
    assert [one.saving_ns for one in found if one.rule == "host-launching"] == ([free_ns] if said else [])


def test_a_wait_between_the_steps_that_tasks_tell_is_not_bounded_by_nothing(cli: Cli, tmp_path: Path) -> None:
    write_planted(tmp_path, "data loading", 1)
    (row,) = [row for row in rows_of(cli, tmp_path) if row["rule"] == "host-data-loading"]
    steps = cli("advise", tmp_path, "--format", "json").json["headlines"][0]["steps"]
    assert row["bound_us"] * steps == pytest.approx(row["evidence"]["waited_us"], abs=0.01)


def _shares(step_ns: int, free_ns: int) -> StepShares:
    return StepShares(0, 0, 1, step_ns, step_ns - free_ns, 0, 0, free_ns, source="step_trace_time")


@pytest.mark.parametrize("kind", ["rotary embedding", "RMS norm", "SwiGLU"])
def test_a_sequence_to_fuse_is_bounded_by_the_critical_path(kind: str, cli: Cli, tmp_path: Path) -> None:
    (api,) = write_planted(tmp_path, kind, 3)
    (row,) = [row for row in rows_of(cli, tmp_path) if row["rule"] == "fusible-sequence"]
    told = [one for one in host([tmp_path]).table("sequences") if one.fused == api]
    steps = len([one for one in host([tmp_path]).rows if one.step is not None])
    assert row["evidence"]["fused_operator"] == api
    assert 0 < row["bound_us"] * 1000 * steps <= sum(one.saving_ns for one in told) + steps
    assert row["bound_us"] * steps <= row["evidence"]["on_critical_path_us"] + 0.01
    assert row["count"] == sum(one.count for one in told)
    assert api in row["advice"]


@pytest.mark.parametrize("seed", range(2))
def test_no_step_gets_shorter_than_tasks_are_of_its_path(seed: int, tmp_path: Path) -> None:
    write_planted(tmp_path, "RMS norm", seed)
    (capture,) = group_captures(discover([tmp_path]).files)
    (files,) = vendor_of(capture.profiler).events(capture)
    collected, _ = collect_events_of(files, EVENT_COLUMNS, Dependencies)
    (device,) = collected.devices()
    random = np.random.default_rng(seed)
    slices = device.graph.slices
    shortened = random.random(len(device.names)) < 0.5
    mine = np.flatnonzero((slices.kind == 0) & shortened[slices.name])
    starts, ends = slices.start[mine], slices.end[mine]
    for path in paths_of(device):
        on_path = path_time_of(device, [path], np.sort(starts), union(starts, ends))
        assert 0 <= gain_of(device, path, shortened, 1_000_000) <= on_path <= path.duration_ns


def test_types_that_lack_one_of_a_sequence_cannot_be_fused() -> None:
    assert fusible_ns({"Add": 5, "Mul": 7}) == 0
    assert fusible_ns({"Add": 5, "LayerNormV3": 7}) == 12
    assert fusible_ns({"MatMulV2": 3, "BiasAdd": 4, "Relu": 100}) == 7


def product(duration_ns: float, **more: Any) -> dict[str, Any]:
    return {
        "op_name": "mm",
        "input_shapes": "4096,4096;4096,4096",
        "input_data_types": "FLOAT16;FLOAT16",
        "input_formats": "ND;ND",
        "output_shapes": "4096,4096",
        "output_data_types": "FLOAT16",
        "output_formats": "ND",
        "task_duration_ns": round(duration_ns),
        "op_state": "static",
        "aic_mac_ratio": 0.2,
        "aic_mte2_ratio": 0.5,
        "block_num": 3,
        **more,
    }


def roofed(rows: list[dict[str, Any]], chip: str = "Ascend910B2") -> list[Advice]:
    table = tasks_of(rows, spaced_ns=0)
    cores = CoreCounts(24, 48, 1800.0)
    return find_advice(
        Facts(
            shares_of_tasks(table, 0, 0),
            measure_operators(table, cores),
            table,
            idle_before_tasks(table),
            cores,
            roof=measure_roofline(table, cores, chip),
            table="kernel_details.csv",
        )
    )


@pytest.mark.parametrize(("share", "is_near"), [(0.79, False), (0.81, True)])
def test_an_operator_near_its_roof_is_not_sent_to_the_tuner(share: float, is_near: bool) -> None:
    found = {one.rule: one for one in roofed([product(AT_PEAK_NS / share)] * 12)}
    tuners = {"no-bound", "few-blocks", "repeated-shape", "far-from-roof"}
    assert tuners & found.keys() == (set() if is_near else tuners)
    assert ("near-roof" in found) == is_near
    one = found["near-roof" if is_near else "far-from-roof"]
    total = round(AT_PEAK_NS / share) * 12
    assert one.saving_ns == pytest.approx(total * (1 - share), rel=1e-3)
    assert (one.op_name, one.count, one.total_ns) == ("mm", 12, total)
    assert one.evidence["share_of_roof"] == pytest.approx(share, abs=1e-4)
    assert (one.evidence["bounded_by"], one.evidence["chip"]) == ("compute", "Ascend910B2")


def test_what_bounds_an_operator_decides_what_to_try() -> None:
    small = {key: "8,8;8,8" if key == "input_shapes" else "8,8" for key in ("input_shapes", "output_shapes")}
    texts = {
        one.op_name: one.advice
        for one in roofed(
            [product(AT_PEAK_NS * 3, op_name="far")] * 4 + [product(9_000, op_name="short", **small)] * 400
        )
        if one.rule == "far-from-roof"
    }
    assert "far from the peak" in texts["far"]
    assert "fuse it with its neighbours" in texts["short"]


@pytest.mark.parametrize(("state", "is_tuned"), [("static", True), ("dynamic", False)])
def test_who_is_sent_to_the_tuner_hears_that_it_does_not_tune_dynamic_shapes(state: str, is_tuned: bool) -> None:
    against = "its shapes are dynamic here, which AOE does not tune: fix them first"
    rows = [product(AT_PEAK_NS * 3, op_state=state, aic_mac_ratio=ratio) for ratio in (0.1, 0.2)] * 6
    found = {one.rule: one.advice for one in roofed(rows)}
    for rule in ("far-from-roof", "no-bound", "few-blocks"):
        assert "tuned tiling (AOE)" in found[rule]
        assert found[rule].endswith(against) == (not is_tuned)
    assert ("repeated-shape" in found) == is_tuned


@pytest.mark.parametrize("state", ["static", "dynamic"])
def test_who_is_sent_to_the_tuner_hears_that_it_never_sees_what_runs_through_aclnn(state: str) -> None:
    rows = [product(AT_PEAK_NS * 3, op_state=state, op_name="aclnnMm_MatMulCommon_MatMulV2")] * 12
    found = {one.rule: one.advice for one in roofed(rows)}
    told = {rule for rule, text in found.items() if text.endswith("so AOE does not tune it")}
    assert told == {"far-from-roof", "no-bound", "few-blocks", *(["repeated-shape"] if state == "static" else [])}


def test_a_roof_that_is_above_the_peak_is_no_advice() -> None:
    found = {one.rule for one in roofed([product(AT_PEAK_NS / 1.5)] * 12)}
    assert not {"near-roof", "far-from-roof"} & found
    assert {"no-bound", "few-blocks", "repeated-shape"} <= found  # what the roof does not tell, counters still do


def test_what_takes_too_little_time_is_not_counted_but_what_is_alike_counts_together() -> None:
    small = {"input_shapes": "64,64;64,64", "output_shapes": "64,64"}
    rows = [product(AT_PEAK_NS), *(product(600, output_formats=name, **small) for name in ("ND", "NCHW"))]
    table = tasks_of(rows, spaced_ns=0)
    for least, known in ((0, 3), (1200, 3), (1201, 1)):
        roof = measure_roofline(table, CoreCounts(24, 48, 1800.0), "Ascend910B2", least_ns=least)
        assert roof is not None
        assert len(roof.known) == known


@pytest.mark.parametrize(
    ("chip", "known"),
    [("Ascend910B2", True), ("Ascend910B1", False), ("Ascend910B", True), (None, False), ("x", False)],
)
def test_only_chips_of_known_bandwidth_have_a_roof(chip: str | None, known: bool) -> None:
    assert may_have_roof(chip) == known


def test_contention_is_told_where_operators_are_slower_beside_communication() -> None:
    rows, start = [], 0
    for number in range(60):
        beside = number % 2 == 0
        length = 130_000 + number if beside else 100_000 + number
        rows.append({"op_name": "mm", "op_type": "MatMulV2", "task_type": "AI_CORE", "input_shapes": "8,8",
                     "task_start_ns": start, "task_duration_ns": length})  # fmt: skip
        if beside:
            rows.append({"op_name": "hcom", "op_type": "hcom", "task_type": "COMMUNICATION", "input_shapes": None,
                         "task_start_ns": start, "task_duration_ns": length})  # fmt: skip
        start += 200_000
    table = pa.Table.from_pylist(rows)
    contention = find_contention(table, 1)
    assert contention is not None
    shares = StepShares(None, 0, 1, start, contention.computing_ns, 0, 30 * 130_000, 0)
    facts = Facts(shares, contention=contention, table="op_summary.csv")
    (one,) = [one for one in find_advice(facts) if one.rule == "contention"]
    assert one.saving_ns == contention.lost_ns == pytest.approx(30 * 30_000, rel=0.01)
    assert one.evidence["slower_operators"] == 1
    assert not [one for one in find_advice(replace(facts, contention=None)) if one.rule == "contention"]


def test_steps_that_are_not_like_the_others_are_a_caveat(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    steps = [f",{n},{50_000 if n == 1 else 1000 + n},0,0,0,100,1100,0,0,0" for n in range(1, 12)]
    header = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Communication(Not Overlapped and Exclude Receive),Preparing"
    (output / "step_trace_time.csv").write_text("\n".join([header, *(f"0{step}" for step in steps)]) + "\n")
    findings = cli("advise", tmp_path, "--format", "json").json["findings"]
    assert [one["message"] for one in findings if one["rule"] == "trimmed"] == [
        "left out, as they are not like the other steps: step 1 (warm-up); --all-steps keeps them"
    ]
