"""Tables and timelines that tell the same facts: each rule fires, and fires for no other operators."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from aoe_reports.engine.captures import kernels
from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.rules.forms.agreement import (
    TimelineSums,
    check_forms,
    check_iterations,
    check_overlap,
    check_steps,
    check_task_times,
    check_timeline,
)
from aoe_reports.rules.forms.statistics import check_communication, check_no_tasks, check_statistics

Row = dict[str, Any]


def table(kind: str, rows: Sequence[Row], *, reported: int = 0, name: str | None = None) -> TableData:
    words = {"op_type", "task_type", "op_name"}
    columns = {
        key: pa.chunked_array([pa.array([row[key] for row in rows], pa.string() if key in words else pa.int64())])
        for key in (rows[0] if rows else {})
    }
    frame = pa.table({key: col.dictionary_encode() if key in words else col for key, col in columns.items()})
    path = Path(name or f"{kind}.csv")
    return TableData(TABLES[kind], path, frame, TABLES[kind].match([]), (), len(rows), reported, "")


def task(kind: str = "Conv2D", core: str | None = "AI_CORE", ns: int = 1000, **more: Any) -> Row:
    return {"op_name": "a", "op_type": kind, "task_type": core, "task_duration_ns": ns, **more}


def group(kind: str, core: str, count: int, total: int, **more: Any) -> Row:
    return {"op_type": kind, "task_type": core, "count": count, "total_time_ns": total, **more}


TASKS = [task(ns=1000), task(ns=3000), task("Add", "AI_VECTOR_CORE", 500), task("hcom", "HCCL", 9000)]
STATISTIC = [group("Conv2D", "AI_CORE", 2, 4000), group("Add", "AI_VECTOR_CORE", 1, 500)]


def said(findings: Sequence[Finding]) -> list[str]:
    return [finding.rule for finding in findings]


def statistic(rows: Sequence[Row], tasks: Sequence[Row], **more: Any) -> list[Finding]:
    return check_statistics([table("op_statistic", rows, **more)], table("kernel_details", tasks).frame)


def test_the_statistic_is_the_tasks_grouped() -> None:
    assert statistic(STATISTIC, TASKS) == []


@pytest.mark.parametrize(
    ("row", "change", "fires"),
    [
        (0, {"count": 3}, True),
        (0, {"count": 1}, True),
        (0, {"total_time_ns": 4020}, False),
        (0, {"total_time_ns": 3980}, False),
        (0, {"total_time_ns": 4021}, True),
        (0, {"total_time_ns": 3979}, True),
        (1, {"op_type": "Adf"}, True),
        (1, {"task_type": "AI_CORE"}, True),
    ],
)
def test_a_row_that_the_tasks_contradict(row: int, change: Row, fires: bool) -> None:
    rows = [{**line, **change} if number == row else line for number, line in enumerate(STATISTIC)]
    found = statistic(rows, TASKS)
    assert set(said(found)) == ({"statistic-mismatch"} if fires else set())
    if fires:
        assert found[0].line == row + 2


def test_a_group_of_tasks_without_a_row() -> None:
    (finding,) = statistic(STATISTIC[:1], TASKS)
    assert (finding.rule, finding.line) == ("statistic-mismatch", None)
    assert "Add on AI_VECTOR_CORE: 1 tasks" in finding.message


def test_communication_is_not_in_the_statistic() -> None:
    assert statistic(STATISTIC, [*TASKS, task("hcom", "COMMUNICATION", 7)]) == []


def test_tasks_without_a_type_are_not_asked_for() -> None:
    """Level 0 knows no types."""
    assert statistic(STATISTIC, [*TASKS, {**task(), "op_type": None}]) == []


def test_a_statistic_that_lost_rows_is_not_blamed_twice() -> None:
    assert statistic(STATISTIC[:1], TASKS, reported=1) == []
    assert statistic([], TASKS) == []


def test_devices_are_kept_apart_where_both_tell_them() -> None:
    tasks = [{**row, "device_id": device} for device in (0, 1) for row in TASKS]
    rows = [{**row, "device_id": device} for device in (0, 1) for row in STATISTIC]
    assert statistic(rows, tasks) == []
    assert said(statistic([{**rows[0], "count": 4}, *rows[1:]], tasks)) == ["statistic-mismatch"]
    assert (
        statistic(
            [{**row, "count": row["count"] * 2, "total_time_ns": row["total_time_ns"] * 2} for row in STATISTIC], tasks
        )
        == []
    )


def test_findings_are_not_more_than_a_page() -> None:
    rows = [group(f"t{number}", "AI_CORE", 1, 1) for number in range(100)]
    assert len(statistic(rows, TASKS)) < EXAMPLES_PER_RULE + 1 + len(TASKS) + 1


def test_communication_operators_are_counted_in_their_own_statistic() -> None:
    tasks = table("kernel_details", TASKS).frame
    good = table("communication_statistic", [{"op_type": "hcom", "count": 1, "total_time_ns": 9000}])
    bad = table("communication_statistic", [{"op_type": "hcom", "count": 2, "total_time_ns": 9000}])
    assert check_communication(good, tasks) == []
    assert said(check_communication(bad, tasks)) == ["statistic-mismatch"]
    assert check_communication(bad, table("kernel_details", TASKS[:3]).frame) == []  # level 0: no such tasks


def test_two_forms_of_the_tasks() -> None:
    used, other = table("kernel_details", TASKS), table("op_summary", TASKS)
    assert check_forms([used], [other]) == []
    assert check_forms([used], [table("op_summary", TASKS[:2]), table("op_summary", TASKS[2:])]) == []
    assert check_forms([used], []) == check_forms([], [other]) == check_forms([used], [table("op_summary", [])]) == []
    (finding,) = check_forms([used], [table("op_summary", TASKS[:3])])
    assert (finding.rule, finding.path) == ("forms-disagree", "op_summary.csv")
    assert finding.message == ("3 tasks, 4.500 us here, but 4 tasks, 13.500 us in kernel_details.csv, which is used")
    assert said(check_forms([used], [table("op_summary", [*TASKS[:3], task(ns=9005)])])) == ["forms-disagree"]
    assert check_forms([used], [table("op_summary", [*TASKS[:3], task(ns=9004)])]) == []


def times(rows: Sequence[Row]) -> tuple[list[TableData], pa.Table | None]:
    data = table("task_time", rows)
    return [data], kernels(data.frame)


def test_task_time_holds_the_operators_and_a_little_longer() -> None:
    tasks = [table("op_summary", TASKS)]
    longer = [{**row, "task_duration_ns": row["task_duration_ns"] + 3000} for row in TASKS[:3]]
    event = {"op_name": None, "op_type": None, "task_type": "EVENT_RECORD", "task_duration_ns": 5}
    assert check_task_times(tasks, *times([*longer, event])) == []
    assert said(check_task_times(tasks, *times(longer[:2]))) == ["forms-disagree"]
    assert said(check_task_times(tasks, *times([*longer, task()]))) == ["forms-disagree"]
    much = [{**row, "task_duration_ns": row["task_duration_ns"] + 5001} for row in TASKS[:3]]
    assert said(check_task_times(tasks, *times(much))) == ["forms-disagree"]
    shorter = [{**row, "task_duration_ns": row["task_duration_ns"] - 21} for row in TASKS[:3]]
    assert said(check_task_times(tasks, *times(shorter))) == ["forms-disagree"]
    assert check_task_times(tasks, [], None) == []
    assert check_task_times(tasks, [], tasks[0].frame) == check_task_times(tasks, times([task()])[0], None) == []


@pytest.mark.parametrize(
    ("operators", "ns", "fires"),
    [(3, 4500, False), (3, 4503, False), (3, 4504, True), (2, 4500, True), (4, 4500, True)],
)
def test_a_timeline_holds_the_operators(operators: int, ns: int, fires: bool) -> None:
    sums = TimelineSums("trace_view.json", operators, ns, {})
    found = check_timeline(sums, [table("kernel_details", TASKS)])
    assert said(found) == (["forms-disagree"] if fires else [])
    assert all(finding.path == "trace_view.json" for finding in found)


def step(number: int | None, computing: int, **more: int) -> Row:
    parts = {"communication_ns": 100, "communication_not_overlapped_ns": 60, "overlapped_ns": 40, "free_ns": 10}
    return {"step": number, "computing_ns": computing, **parts, **more}


@pytest.mark.parametrize(
    ("overlap", "fires"),
    [
        ({"Computing": 4500, "Communication": 100, "Communication(Not Overlapped)": 60, "Free": 10}, 0),
        ({"Computing": 9999, "Communication": 999, "Communication(Not Overlapped)": 99, "Free": 99}, 0),
        ({"Computing": 4400, "Communication": 100, "Communication(Not Overlapped)": 60, "Free": 10}, 1),
        ({"Computing": 4500}, 2),
        ({}, 3),
    ],
)
def test_steps_tell_of_no_more_than_the_overlap_analysis(overlap: dict[str, int], fires: int) -> None:
    steps = table("step_trace_time", [step(1, 4500)])
    found = check_overlap(TimelineSums("trace_view.json", 0, 0, overlap), steps.frame)
    assert said(found) == ["forms-disagree"] * fires


def test_steps_and_tasks_know_each_other() -> None:
    tasks = table(
        "kernel_details", [task(ns=1000, step=1), task(ns=3000, step=2), task("h", "HCCL", 9000, step=2)]
    ).frame
    assert check_steps(table("step_trace_time", [step(1, 1000), step(2, 3000)]), tasks) == []
    assert check_steps(table("step_trace_time", [step(1, 900), step(2, 1)]), tasks) == []  # tasks may overlap
    assert said(check_steps(table("step_trace_time", [step(1, 1000)]), tasks)) == ["step-missing"]
    three = table("step_trace_time", [step(1, 1000), step(2, 3000), step(3, 1)])
    assert said(check_steps(three, tasks)) == ["step-missing"]
    assert said(check_steps(table("step_trace_time", [step(1, 1000), step(2, 3061)]), tasks)) == ["forms-disagree"]
    nameless = table("step_trace_time", [step(None, 1000)])
    assert said(check_steps(nameless, tasks)) == ["step-missing", "step-missing"]


def test_tasks_without_steps_are_not_held_against_them() -> None:
    steps = table("step_trace_time", [step(1, 1000)])
    assert check_steps(steps, table("kernel_details", TASKS).frame) == []
    assert check_steps(steps, table("kernel_details", [task(step=None)]).frame) == []
    assert check_steps(table("step_trace_time", []), table("kernel_details", [task(step=1)]).frame) == []


def test_tasks_outside_of_all_steps_are_told() -> None:
    tasks = table("kernel_details", [task(ns=1000, step=1), task(ns=3000, step=None)]).frame
    (finding,) = check_steps(table("step_trace_time", [step(1, 1000)]), tasks)
    assert (finding.severity, finding.rule) == ("info", "step-missing")
    assert "1 tasks belong to no step" in finding.message


@pytest.mark.parametrize("total", [2**52, 2**53, 2**62])
def test_sums_are_exact_however_large(total: int) -> None:
    tasks = [task(ns=total), task(ns=1), task("Add", "AI_VECTOR_CORE", 3)]
    rows = [group("Conv2D", "AI_CORE", 2, total + 1), group("Add", "AI_VECTOR_CORE", 1, 3)]
    assert statistic(rows, tasks) == []
    for off, fires in ((20, []), (21, ["statistic-mismatch"]), (-20, []), (-21, ["statistic-mismatch"])):
        wrong = [group("Conv2D", "AI_CORE", 2, total + 1 + off), rows[1]]
        assert said(statistic(wrong, tasks)) == fires


def test_many_types_on_many_devices_are_each_their_own_group() -> None:
    """More groups than are counted in one table of numbers."""
    tasks = [{**task(f"t{kind}", f"c{kind % 50}", kind + 1), "device_id": 7 * kind} for kind in range(220)]
    rows = [{**group(one["op_type"], one["task_type"], 1, one["task_duration_ns"]), "device_id": one["device_id"]} for one in tasks]  # fmt: skip
    assert statistic(rows, tasks) == []
    assert said(statistic(rows[:-1], tasks)) == ["statistic-mismatch"]
    assert said(statistic([{**rows[0], "device_id": 7}, *rows[1:]], tasks)) == ["statistic-mismatch"] * 2


def test_tasks_of_an_unknown_device_are_a_group_by_themselves() -> None:
    tasks = [{**row, "device_id": device} for device in (None, 3) for row in TASKS]
    rows = [{**row, "device_id": device} for device in (None, 3) for row in STATISTIC]
    assert statistic(rows, tasks) == []
    assert said(statistic([{**rows[0], "count": 1}, *rows[1:]], tasks)) == ["statistic-mismatch"]


@pytest.mark.parametrize("count", [EXAMPLES_PER_RULE, EXAMPLES_PER_RULE + 1, EXAMPLES_PER_RULE + 2])
def test_of_many_findings_the_rest_is_counted(count: int) -> None:
    rows = [*STATISTIC, *(group(f"t{number}", "AI_CORE", 1, 1) for number in range(count))]
    found = statistic(rows, TASKS)
    rest = count - EXAMPLES_PER_RULE
    assert len(found) == (count if not rest else EXAMPLES_PER_RULE + 1)
    assert found[0].message == "t0 on AI_CORE: 1 tasks, 0.001 us here, but 0 tasks, 0.000 us in the table of tasks"
    if rest:
        assert found[-1].message == f"and {rest} more of this kind"


def test_a_statistic_beside_a_table_without_tasks() -> None:
    counted, empty = table("op_statistic", STATISTIC), table("kernel_details", [])
    (finding,) = check_no_tasks([empty], [counted, table("op_statistic", [])])
    assert (finding.rule, finding.path) == ("statistic-mismatch", "op_statistic.csv")
    assert finding.message == "counts tasks, but kernel_details.csv contains none"
    assert check_no_tasks([table("kernel_details", TASKS)], [counted]) == []
    assert check_no_tasks([], [counted]) == []
    damaged = empty.with_findings([Finding("error", "csv-unparsable", "x", "…")])
    odd = empty.with_findings([Finding("warning", "not-read", "x", "…")])
    assert check_no_tasks([damaged], [counted]) == []
    assert said(check_no_tasks([odd], [counted])) == ["statistic-mismatch"]


def test_communication_of_which_no_row_is_left_is_not_blamed_twice() -> None:
    tasks = table("kernel_details", TASKS).frame
    assert check_communication(table("communication_statistic", []), tasks) == []
    apart = [{"op_type": "hcom", "count": 1, "total_time_ns": 9000 + off} for off in (20, 21)]
    assert [said(check_communication(table("communication_statistic", [row]), tasks)) for row in apart] == [[], ["statistic-mismatch"]]  # fmt: skip


def iteration(number: int, ns: int = 1000, **more: Any) -> Row:
    return {"device_id": 0, "model_id": 1, "iteration_id": number, "iteration_time_ns": ns, **more}


@pytest.mark.parametrize(
    ("other", "messages"),
    [
        ([iteration(1), iteration(2)], []),
        ([iteration(1, 1020), iteration(2, 980)], []),
        ([iteration(1, 1021), iteration(2)], ["iteration 1: 1.021 us here, 1.000 us in step_trace.csv, which is used"]),
        ([iteration(1), iteration(2, 979)], ["iteration 2: 0.979 us here, 1.000 us in step_trace.csv, which is used"]),
        ([iteration(1)], ["iteration 2: none here, 1.000 us in step_trace.csv, which is used"]),
        ([iteration(1), iteration(2), iteration(3)], ["iteration 3: 1.000 us here, none in step_trace.csv, which is used"]),
        ([iteration(1), iteration(2), iteration(2, device_id=1)], ["iteration 2: 1.000 us here, none in step_trace.csv, which is used"]),
        ([], []),
    ],
)  # fmt: skip
def test_two_forms_of_the_iterations(other: list[Row], messages: list[str]) -> None:
    used = table("step_trace", [iteration(1), iteration(2)])
    found = check_iterations([used], [table("step_trace", other, name="other.csv")])
    assert [(finding.rule, finding.path, finding.message) for finding in found] == [("forms-disagree", "other.csv", message) for message in messages]  # fmt: skip
    assert check_iterations([], [used]) == []


@pytest.mark.parametrize(
    ("off", "whole", "fires"),
    [(20, False, 0), (21, False, 0), (-20, False, 0), (-21, False, 1), (20, True, 0), (21, True, 1), (-21, True, 1)],
)
def test_steps_are_as_long_as_the_overlap_analysis_that_holds_no_more(off: int, whole: bool, fires: int) -> None:
    shown = {"Computing": 4500 + off, "Communication": 100, "Communication(Not Overlapped)": 60, "Free": 10}
    steps = table("step_trace_time", [step(1, 4500)]).frame
    assert len(check_overlap(TimelineSums("trace_view.json", 0, 0, shown), steps, whole=whole)) == fires


@pytest.mark.parametrize(("ns", "fires"), [(3040, False), (3041, True)])
def test_computing_of_a_step_is_at_most_that_of_its_tasks(ns: int, fires: bool) -> None:
    tasks = table("kernel_details", [task(ns=1000, step=1), task(ns=2000, step=1), task("h", "HCCL", 9000, step=1)])
    steps = table("step_trace_time", [step(1, ns + 20), step(1, 5)])
    found = check_steps(steps, tasks.frame)
    assert said(found) == (["forms-disagree"] if fires else [])


@pytest.mark.parametrize(("off", "fires"), [(-60, False), (-61, True), (15_000, False), (15_001, True)])
def test_task_time_is_within_its_limits_for_all_operators_together(off: int, fires: bool) -> None:
    tasks = [table("op_summary", TASKS)]
    rows = [
        TASKS[0] | {"task_duration_ns": 1000 + off + 2000} if not place else row for place, row in enumerate(TASKS[:3])
    ]
    rows[1] = rows[1] | {"task_duration_ns": 1000}
    assert said(check_task_times(tasks, *times(rows))) == (["forms-disagree"] if fires else [])


def messages(findings: Sequence[Finding]) -> list[str]:
    return [finding.message for finding in findings]


def test_what_is_said_of_forms_that_disagree() -> None:
    tasks = table("kernel_details", TASKS)
    assert messages(statistic([{**STATISTIC[0], "count": 3}], TASKS)) == [
        "Conv2D on AI_CORE: 3 tasks, 4.000 us here, but 2 tasks, 4.000 us in the table of tasks",
        "Add on AI_VECTOR_CORE: 1 tasks, 0.500 us in the table of tasks, no row here",
    ]
    several = [{**row, "device_id": device} for device in (0, 1) for row in TASKS]
    rows = [{**row, "device_id": device} for device in (0, 1) for row in STATISTIC]
    assert messages(statistic(rows[:3], several)) == [
        "Add on AI_VECTOR_CORE of device 1: 1 tasks, 0.500 us in the table of tasks, no row here"
    ]
    bad = table("communication_statistic", [{"op_type": "hcom", "count": 2, "total_time_ns": 9000}])
    assert messages(check_communication(bad, tasks.frame)) == [
        "hcom: 2 tasks, 9.000 us here, but 1 tasks, 9.000 us in the table of tasks"
    ]
    assert messages(check_no_tasks([table("kernel_details", [])], [table("op_statistic", STATISTIC)])) == [
        "counts tasks, but kernel_details.csv contains none"
    ]
    assert messages(check_timeline(TimelineSums("trace_view.json", 2, 4500, {}), [tasks])) == [
        "2 operators, 4.500 us on the device here, but 3 operators, 4.500 us in kernel_details.csv"
    ]
    assert messages(check_task_times([table("op_summary", TASKS)], *times(TASKS[:2]))) == [
        "2 operators, 4.000 us here, but 3 operators, 4.500 us in op_summary.csv"
    ]


def test_what_is_said_of_steps() -> None:
    steps = table("step_trace_time", [step(1, 4500)])
    overlap = {"Computing": 4400, "Communication": 100, "Communication(Not Overlapped)": 60, "Free": 10}
    (finding,) = check_overlap(TimelineSums("trace_view.json", 0, 0, overlap), steps.frame)
    assert (
        finding.message
        == "Computing: 4.400 us in the process Overlap Analysis here, but 4.500 us in the table of steps"
    )
    assert finding.path == "trace_view.json"
    tasks = table("kernel_details", [task(ns=1000, step=1), task(ns=3000, step=2), task(ns=5, step=None)]).frame
    three = table("step_trace_time", [step(1, 1100), step(3, 1)])
    assert messages(check_steps(three, tasks)) == [
        "step 2 has tasks, but no row here",
        "step 3 has a row here, but no task",
        "1 tasks belong to no step: the head of the first step or the tail of the last is missing",
        "step 1: computing takes 1.100 us here, but its tasks add up to 1.000 us: tasks are missing",
    ]


@pytest.mark.parametrize(("tasks", "off", "fires"), [(1, 20, False), (1, 21, True), (3, 60, False), (3, 61, True)])
def test_a_step_computes_no_longer_than_its_tasks_and_their_rounding(tasks: int, off: int, fires: bool) -> None:
    rows = [task(ns=1000, step=1) for _ in range(tasks)]
    steps = table("step_trace_time", [step(1, 1000 * tasks + off)])
    assert said(check_steps(steps, table("kernel_details", rows).frame)) == (["forms-disagree"] if fires else [])


def test_of_several_devices_the_one_that_computes_longest_counts() -> None:
    rows = [step(1, 900), step(1, 2000), step(1, 800)]
    tasks = table("kernel_details", [task(ns=1000, step=1)]).frame
    assert said(check_steps(table("step_trace_time", rows), tasks)) == ["forms-disagree"]
    assert check_steps(table("step_trace_time", [rows[0], rows[2]]), tasks) == []


def test_a_step_without_a_task_that_computes_computes_for_no_time() -> None:
    tasks = table("kernel_details", [task("h", "HCCL", 9000, step=1)]).frame
    assert check_steps(table("step_trace_time", [step(1, 20)]), tasks) == []
    assert said(check_steps(table("step_trace_time", [step(1, 21)]), tasks)) == ["forms-disagree"]


@pytest.mark.parametrize("count", [EXAMPLES_PER_RULE, EXAMPLES_PER_RULE + 1, EXAMPLES_PER_RULE + 5])
def test_the_first_of_many_steps_are_named_and_the_rest_counted(count: int) -> None:
    tasks = table("kernel_details", [task(step=number) for number in range(1, count + 2)]).frame
    found = check_steps(table("step_trace_time", [step(1, 1000)]), tasks)
    named = [f"step {number} has tasks, but no row here" for number in range(2, count + 2)]
    rest = count - EXAMPLES_PER_RULE
    more = [f"and {rest} more of this kind"] if rest else []
    assert messages(found) == [*named[:EXAMPLES_PER_RULE], *more]
