"""Records of a profile and of a tuning: every sum is that of its tasks, every pair that of its times."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from frames import tasks_of
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.facts.tasks import TaskSet, split_devices
from aoe_reports.formats.aoe.results import TuningResult, results_of_document
from aoe_reports.formats.records.record import Record
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.records import from_profile
from aoe_reports.topics.records.context import RunContext
from aoe_reports.topics.records.from_profile import (
    TASK_FIELDS,
    groups_of_communication,
    groups_of_tasks,
    records_from_groups,
    records_from_steps,
)
from aoe_reports.topics.records.from_result import LARGEST, plain_number, records_from_result
from aoe_reports.topics.records.operators import MIN_AGREEMENT, OperatorMix, agreement, differences

CONTEXT = RunContext("20260101T020304-00000000", 1_767_225_600_500_000_000, "net", "910B", source="msprof")
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "op_type": st.sampled_from(["MatMul", "Add", None]),
            "op_name": st.sampled_from(["a", "b", None]),
            "task_type": st.sampled_from(["AI_CORE", "AI_VECTOR_CORE", "HCCL"]),
            "task_duration_ns": st.integers(1, 10**9),
        }
    ),
    min_size=1,
    max_size=20,
)


def device_of(rows: list[dict[str, Any]], **columns: Any) -> TaskSet:
    (tasks,) = split_devices(lambda _: 4, tasks_of(rows), columns=TASK_FIELDS, **columns)
    return tasks


def of_scope(records: list[Record], scope: str) -> dict[tuple[Any, ...], Record]:
    return {(one.op_type, one.op_name, one.workload_args.get("task_type")): one for one in records if one.scope == scope}  # fmt: skip


@given(ROWS, st.integers(0, 3))
def test_records_are_the_tasks_by_type_and_by_operator(rows: list[dict[str, Any]], most_raw: int) -> None:
    records = records_from_groups(CONTEXT, groups_of_tasks(device_of(rows), most_raw))
    expected: dict[str, dict[tuple[Any, ...], list[int]]] = {scope: defaultdict(list) for scope in ("op_type", "op", "communication")}  # fmt: skip
    operators: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row in rows:
        op_type, name, core, ns = row["op_type"], row["op_name"], row["task_type"], row["task_duration_ns"]
        if core == "HCCL":
            expected["communication"][op_type, None, None].append(ns)
            continue
        if op_type is not None:
            expected["op_type"][op_type, None, core].append(ns)
        if name is not None:
            operators[op_type, core, name].append(ns)
    found = [one for one in records if one.scope == "op"]
    assert sorted((one.op_type or "", one.op_name, one.total_ns) for one in found) == sorted((op_type or "", name, sum(times)) for (op_type, _, name), times in operators.items())  # fmt: skip
    for scope in ("op_type", "communication"):
        told = of_scope(records, scope)
        assert told.keys() == expected[scope].keys()
        for key, times in expected[scope].items():
            one = told[key]
            assert (one.count, one.total_ns, one.execution_config) == (len(times), sum(times), {"repeat": len(times)})
            assert one.runtime_ms_mean == pytest.approx(sum(times) / len(times) / 1e6)
            std = statistics.stdev(times) / 1e6 if len(times) > 1 else None
            assert one.runtime_ms_std == (None if std is None else pytest.approx(std, abs=1e-12))
            raw = None if one.runtime_raw is None else [value["runtime_ms"] for value in one.runtime_raw]
            assert raw == (pytest.approx([time / 1e6 for time in times]) if len(times) <= most_raw else None)
    assert {(one.rank_id, one.device_id, one.hardware, one.source) for one in records} <= {(4, None, "910B", "msprof")}
    assert {one.timestamp for one in records} <= {1_767_225_600.5}


def test_records_are_named_by_what_they_measure() -> None:
    rows = [{"op_name": "a"}, {"op_type": "allReduce", "task_type": "HCCL"}, {"op_type": None, "task_type": "HCCL"}]
    records = records_from_groups(CONTEXT, groups_of_tasks(device_of(rows)))
    assert [(one.scope, one.workload, one.workload_metadata, dict(one.workload_args)) for one in records] == [
        ("op_type", "net/op_type/MatMulV2", {"class": "operator", "type": "MatMulV2"}, {"task_type": "AI_CORE"}),
        ("op", "net/op/a", {"class": "operator", "type": "MatMulV2"}, {"input_shapes": "8,8;8,8"}),
        ("communication", "net/comm/unknown", {"class": "communication"}, {}),
        ("communication", "net/comm/allReduce", {"class": "communication", "type": "allReduce"}, {}),
    ]


def test_only_so_many_operators_become_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_profile, "MAX_OPERATORS", 3)
    for count in (2, 3, 4, 6):
        rows = [{"op_name": f"o{number}", "task_duration_ns": 10 + number} for number in range(count)]
        tasks = device_of([*rows, {"op_name": "h", "task_type": "HCCL"}])
        names = {one.op_name for one in records_from_groups(CONTEXT, groups_of_tasks(tasks)) if one.scope == "op"}
        assert names == {f"o{number}" for number in range(max(0, count - 3), count)}, "the longest"
        assert groups_of_tasks(tasks).left_out == max(0, count - 3)


def test_the_limit_on_operators_is_what_docs_say() -> None:
    assert from_profile.MAX_OPERATORS == 5000


SUMS = {"op_type": "Add", "task_type": "AI_CORE", "count": 4, "total_time_ns": 10, "min_time_ns": 1, "max_time_ns": 4}


def test_sums_become_records_by_type() -> None:
    import pyarrow as pa

    frame = pa.Table.from_pylist([SUMS, {**SUMS, "op_type": "Mul", "count": 0}])
    tasks = TaskSet(1, 0, frame, grouped=True)
    (one,) = records_from_groups(CONTEXT, groups_of_tasks(tasks))
    assert (one.scope, one.op_type, one.count, one.total_ns, one.runtime_ms_mean, one.runtime_ms_std) == ("op_type", "Add", 4, 10, 2.5e-6, None)  # fmt: skip
    assert groups_of_tasks(tasks).left_out == 0
    (talk,) = records_from_groups(CONTEXT, groups_of_communication(tasks))
    assert (talk.scope, talk.workload, talk.count, talk.total_ns) == ("communication", "net/comm/Add", 4, 10)


def test_a_device_without_types_has_records_of_operators_only() -> None:
    (tasks,) = split_devices(lambda _: 0, tasks_of([{}, {"task_type": "HCCL"}]).drop_columns(["op_type"]), columns=TASK_FIELDS)  # fmt: skip
    assert [one.scope for one in records_from_groups(CONTEXT, groups_of_tasks(tasks))] == ["op"]


def step(rank: int | None, device: int | None, ns: int, **parts: int | None) -> Step:
    return Step(
        rank_id=rank, device_id=device, step=1, duration_ns=ns, **{f"{name}_ns": value for name, value in parts.items()}
    )


def test_steps_become_one_record_a_device() -> None:
    steps = [step(1, 0, 4_000_000, computing=1_000_000, free=2), step(0, None, 5), step(1, 0, 8_000_000, computing=3_000_000), step(None, 3, 7)]  # fmt: skip
    records = records_from_steps(CONTEXT, steps, most_raw=1)
    assert [(one.rank_id, one.device_id, one.count, one.total_ns) for one in records] == [(None, 3, 1, 7), (0, None, 1, 5), (1, 0, 2, 12_000_000)]  # fmt: skip
    last = records[-1]
    assert (last.workload, last.scope, last.runtime_ms_mean) == ("net/step", "step", 6.0)
    assert last.runtime_ms_std == pytest.approx(statistics.stdev([4, 8]))
    assert last.metrics == {"computing_ms_mean": 2.0}, "a part that one step has not is no mean"
    assert [one.runtime_raw for one in records] == [[{"runtime_ms": 7e-6}], [{"runtime_ms": 5e-6}], None]


def tuned(kind: str = "opat", **changes: Any) -> TuningResult:
    times = {"performance_before_tune(us)": Decimal(3000), "performance_after_tune(us)": Decimal(2000), "performance_improvement": "50.00%"}  # fmt: skip
    entry = {"op_name": "a", "op_type": ["conv2d", "relu"], **times}
    body: dict[str, Any] = {
        "opat_tuning_result": "tuning successful",
        "model_baseline_performance(ms)": Decimal(5),
        "model_result_performance(ms)": Decimal("4.5"),
        "model_performance_improvement": "11.11%",
        "repo_modified_operators": {"add_repo_operators": [entry]},
        "repo_summary": {"repo_add_num": 1},
    }
    if kind == "sgat":
        body = {key: value for key, value in body.items() if key.startswith("model")}
        body["repo_modified_subgraphs"] = {"update_repo_subgraphs": [{"repo_key": "77", "performance_before_tune(ms)": Decimal(3), "performance_after_tune(ms)": Decimal(2), "performance_improvement": "50.00%"}]}  # fmt: skip
    (result,) = results_of_document([{"basic": {"tuning_name": "t", "tuning_time(s)": Decimal(9)}}, {kind.upper(): body}], kind)  # type: ignore[arg-type]  # fmt: skip
    return replace(result, **changes)


@pytest.mark.parametrize(("kind", "scope"), [("opat", "op"), ("sgat", "subgraph")])
def test_a_tuning_becomes_pairs(kind: str, scope: str) -> None:
    records = records_from_result(CONTEXT, tuned(kind))
    told = [(one.scope, one.phase, one.runtime_ms_mean, one.metadata["raw"]) for one in records]
    unit, factor = ("us", 1000) if kind == "opat" else ("ms", 1)
    assert told == [
        (scope, "before", 3.0, {"value": str(3 * factor), "unit": unit}),
        (scope, "after", 2.0, {"value": str(2 * factor), "unit": unit}),
        ("model", "before", 5.0, {"value": "5", "unit": "ms"}),
        ("model", "after", 4.5, {"value": "4.5", "unit": "ms"}),
    ]
    first, second, third, fourth = (one.metadata["pair_id"] for one in records)
    assert first == second != third == fourth
    assert [one.metadata["claimed_improvement"] for one in records] == ["50.00%"] * 2 + ["11.11%"] * 2
    assert records[0].op_type == ("conv2d;relu" if kind == "opat" else None)
    assert records[0].op_name == ("a" if kind == "opat" else None)
    assert records[0].workload == ("net/op/a" if kind == "opat" else "net/subgraph/77")
    assert records[2].metrics["tuning_time_s"] == 9
    assert records[0].compilation_config["tuner"] == kind
    assert records[0].metadata["pointer"].startswith(f"/1/{kind.upper()}/")


@pytest.mark.parametrize("time", [None, Decimal(0), Decimal(-1), LARGEST])
def test_a_time_that_is_none_makes_no_pair(time: Decimal | None) -> None:
    whole = tuned()
    (part,) = whole.modifications
    for name in ("before", "after"):
        assert len(records_from_result(CONTEXT, replace(whole, modifications=(replace(part, **{name: time}),)))) == 2
    for name in ("model_baseline_ms", "model_result_ms"):
        assert [one.scope for one in records_from_result(CONTEXT, replace(whole, **{name: time}))] == ["op", "op"]


def test_a_tuning_that_did_not_end_well_makes_no_record() -> None:
    for change in ({"truncated": True}, {"ambiguous": True}, {"status": "tuning failed"}, {"has_segment": False}):
        assert records_from_result(CONTEXT, tuned(**change)) == []


@pytest.mark.parametrize(
    ("value", "number"),
    [(Decimal("2.0"), 2), (Decimal("2.5"), 2.5), (None, None), (Decimal("NaN"), None), (Decimal("1e15"), None), (Decimal("-1e15"), None), (Decimal(999999999999999), 999_999_999_999_999)],
)  # fmt: skip
def test_numbers_of_aoe_as_json_has_them(value: Decimal | None, number: float | None) -> None:
    assert plain_number(value) == number
    assert type(plain_number(value)) is type(number)


def mix(names: bool = False, **counts: tuple[int, int]) -> OperatorMix:
    found = OperatorMix()
    for name, (calls, ns) in counts.items():
        (found.add_name if names else found.add_type)(name, calls, ns)
    return found


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        (mix(a=(1, 100)), mix(a=(9, 5)), 1.0),
        (mix(a=(1, 100)), mix(b=(1, 100)), 0.0),
        (mix(a=(1, 100), b=(1, 300)), mix(a=(1, 300), b=(1, 100)), 0.75),  # (1 + 0.5) / 2
        (mix(a=(1, 100), b=(3, 300)), mix(a=(1, 100)), 0.25),
        (mix(a=(1, 0)), mix(a=(1, 0)), 0.5),
        (mix(), mix(a=(1, 1)), None),
        (mix(names=True, a=(1, 1)), mix(a=(1, 1)), None),
        (mix(names=True, a_1=(1, 1)), mix(names=True, a_2=(1, 1)), 1.0),
    ],
)
def test_how_much_of_two_captures_is_the_same(one: OperatorMix, other: OperatorMix, share: float | None) -> None:
    assert agreement(one, other) == agreement(other, one) == (None if share is None else pytest.approx(share))


def test_the_operators_that_differ_most() -> None:
    one, other = mix(a=(1, 50), b=(1, 30), c=(1, 10), d=(1, 10)), mix(a=(1, 10), b=(1, 30), e=(1, 60))
    assert differences(one, other) == (["a", "c", "d"], ["e"])
    assert differences(one, other, most=1) == (["a"], ["e"])
    assert differences(one, mix()) == ([], [])


def test_half_of_the_operators_make_one_workload() -> None:
    assert MIN_AGREEMENT == 0.5


def test_calls_of_one_operator_are_summed() -> None:
    found = mix(names=True, **{"net/layer_1/mm-2.5": (1, 10), "mm": (2, 5)})
    assert found.names == {"mm": (3, 15)}
