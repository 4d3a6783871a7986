"""Steps as tables tell them, and how far ranks are apart."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from aoe_reports.facts.steps import (
    missing_points,
    skew_of_ranks,
    slowest_ranks,
    steps_of,
    steps_of_cluster,
    steps_of_device,
)
from aoe_reports.facts.tasks import TaskSet, split_devices
from aoe_reports.model.topics.steps import Step

PARTS = {"computing_ns": 100, "communication_ns": 25, "communication_not_overlapped_ns": 20, "overlapped_ns": 5, "free_ns": 30}  # fmt: skip
TRACE = {"iteration_id": 1, "iteration_time_ns": 70, "iteration_end_ns": 100, "fp_start_ns": 40, "bp_end_ns": 90, "fp_to_bp_time_ns": 50, "iteration_refresh_ns": 10, "data_aug_bound_ns": 3}  # fmt: skip


def rank_of(device: int | None) -> int | None:
    return None if device is None else device + 10


def test_a_step_is_computing_and_waiting_and_free() -> None:
    frame = pa.Table.from_pylist([{"device_id": 1, "step": 2, **PARTS}, {"device_id": 0, "step": 3, **PARTS}])
    first, second = steps_of(rank_of, frame)
    assert (first.rank_id, first.device_id, first.step, first.duration_ns, first.start_ns) == (10, 0, 3, 150, None)
    assert (second.rank_id, second.step) == (11, 2)
    assert [getattr(first, name) for name in PARTS] == list(PARTS.values())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, (30, 70, 50, 10, 3)),
        ({"iteration_end_ns": None}, (None, 70, 50, 10, 3)),
        ({"fp_start_ns": 0}, (30, 70, None, None, 3)),
        ({"bp_end_ns": 0}, (30, 70, None, None, 3)),
        ({"bp_end_ns": None}, (30, 70, None, None, 3)),
    ],
)
def test_an_iteration_is_told_as_far_as_its_points_are(change: dict[str, Any], told: tuple[Any, ...]) -> None:
    (step,) = steps_of(rank_of, pa.Table.from_pylist([{**TRACE, **change}] * 2))
    assert (step.start_ns, step.duration_ns, step.fp_bp_ns, step.iteration_refresh_ns, step.data_aug_bound_ns) == told


def test_points_that_are_missing_are_named_by_iteration() -> None:
    rows = [{**TRACE, "iteration_id": number, "fp_start_ns": start, "bp_end_ns": end} for number, start, end in ((3, 0, 9), (1, None, 0), (2, 4, 5))]  # fmt: skip
    assert missing_points(pa.Table.from_pylist(rows)) == {"head (FP Start)": [1, 3], "tail (BP End)": [1]}
    assert missing_points(pa.Table.from_pylist([{"iteration_id": 1}])) == {}


def test_ranks_of_a_cluster_are_the_rows_of_ranks() -> None:
    names = [("rank", "1"), ("stage", "0"), ("rank", "0"), ("rank", "(0, 1)"), ("rank", None), ("rank", "²"), ("rank", "1" * 9), ("rank", "1" * 10)]  # fmt: skip
    frame = pa.Table.from_pylist([{"type": kind, "index": name, "device_id": None, "step": 1, **PARTS} for kind, name in names])  # fmt: skip
    assert [(step.rank_id, step.duration_ns) for step in steps_of_cluster(frame)] == [(0, 150), (1, 150), (111_111_111, 150)]  # fmt: skip


def step(rank: int | None, number: int, ns: int, computing: int | None = None, device: int | None = None) -> Step:
    return Step(rank_id=rank, device_id=device, step=number, duration_ns=ns, computing_ns=computing)


def test_steps_of_a_device_are_its_own_and_those_of_its_whole_rank() -> None:
    steps = [step(0, 1, 5, device=0), step(0, 1, 6, device=1), step(0, 1, 7), step(1, 1, 8)]
    tasks = TaskSet(0, 1, pa.table({}))
    assert [one.duration_ns for one in steps_of_device(steps, tasks)] == [6, 7]


@pytest.mark.parametrize(
    ("asked", "fits"),
    [((None, None, None), True), ((0, 1, 2), True), ((0, None, None), True), ((1, None, None), False), ((None, 0, None), False), ((None, None, 3), False)],
)  # fmt: skip
def test_whether_a_step_is_asked_for(asked: tuple[int | None, int | None, int | None], fits: bool) -> None:
    assert step(0, 2, 5, device=1).is_of(*asked) is fits


def test_the_slowest_and_the_fastest_rank_of_each_step() -> None:
    steps = [step(0, 1, 50, 7), step(1, 1, 80, 9), step(2, 1, 60, 3), step(0, 2, 5, 4), step(1, 2, 5, 4), step(0, 3, 9), step(None, 3, 99)]  # fmt: skip
    first, second = skew_of_ranks(steps)
    assert (first.step, first.slowest, first.slowest_ns, first.fastest, first.fastest_ns, first.busiest) == (1, 1, 80, 0, 50, 1)  # fmt: skip
    assert (second.slowest, second.fastest, second.busiest) == (0, 0, None), "of ranks that tie the lowest; none is busiest"  # fmt: skip


def test_a_rank_takes_as_long_as_its_slowest_device() -> None:
    (skew,) = skew_of_ranks([step(0, 1, 50, 1, 0), step(0, 1, 90, 8, 1), step(1, 1, 60, 9, 0), step(1, 1, 70, 2, 1)])
    assert (skew.slowest, skew.slowest_ns, skew.fastest, skew.fastest_ns, skew.busiest) == (0, 90, 1, 70, 1)
    (unknown,) = skew_of_ranks([step(0, 1, 50, 1), step(1, 1, 60)])
    assert unknown.busiest is None


def test_the_rank_that_is_slowest_most_often_comes_first() -> None:
    slow = [step(rank, number, 9 if rank == slowest else 5) for number, slowest in enumerate((2, 1, 2, 0)) for rank in range(3)]  # fmt: skip
    assert slowest_ranks(skew_of_ranks(slow)) == [(2, 2), (0, 1), (1, 1)]


@pytest.mark.parametrize(
    ("devices", "parts"),
    [([1, 1], [(1, 2)]), ([1, 0, 1], [(0, 1), (1, 2)]), ([None, 1], [(1, 1), (None, 1)]), ([None, None], [(None, 2)])],
)
def test_tasks_are_parted_by_device(devices: list[int | None], parts: list[tuple[int | None, int]]) -> None:
    frame = pa.table({"device_id": pa.array(devices, pa.int64())})
    sets = split_devices(rank_of, frame, columns={"device_id", "op_name"})
    assert [(one.device_id, one.frame.num_rows) for one in sets] == parts
    assert [one.rank_id for one in sets] == [rank_of(device) for device, _ in parts]
    assert {one.missing for one in sets} == {frozenset({"op_name"})}
    assert {tuple(one.as_exported().frame.column_names) for one in sets} == {("device_id",)}
    assert split_devices(rank_of, frame.drop_columns(["device_id"]))[0].device_id is None


def test_how_far_ranks_are_apart_is_told_by_model_and_step() -> None:
    """What has no number stands before what has one."""
    which = [(2, 1), (None, 3), (1, 2), (None, None), (1, None), (1, 0)]
    steps = [
        Step(rank_id=rank, device_id=0, model_id=model, step=number, duration_ns=5, start_ns=None)
        for model, number in which
        for rank in (0, 1)
    ]
    assert [(one.model_id, one.step) for one in skew_of_ranks(steps)] == [
        (None, None), (None, 3), (1, None), (1, 0), (1, 2), (2, 1),
    ]  # fmt: skip
