"""What one file cannot tell, a second one beside it does: `check` holds a table of tasks against its statistic."""

from __future__ import annotations

import pytest
from damage.bases import TORCH, Signature, as_csv, bases, cells, laid, signature
from damage.test_files import at, bytes_of_weight, damaged, places
from hypothesis import example, given
from hypothesis import strategies as st

from aoe_reports.engine.captures import read_file
from aoe_reports.formats.ascend.tables.op_summary import COMMUNICATION_TASKS
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.findings import Finding
from aoe_reports.rules.forms.agreement import COUNTED_TOLERANCE_NS
from aoe_reports.topics.files.check import check

KERNELS, STATISTIC = bases()["kernel_details"], bases()["op_statistic"]


def checked(tasks: bytes, statistic: bytes) -> tuple[list[Finding], dict[str, Signature]]:
    """(what `check` has to say of both files, the sums in each)."""
    with laid((KERNELS.path, tasks), (STATISTIC.path, statistic)) as folder:
        outcome = check([folder])
        findings, unreadable = outcome.findings, outcome.unreadable
        assert not unreadable
        sums = {}
        for file in discover([folder]).files:
            frame = read_file(file, file.name.kind).frame
            sums[file.name.kind] = (
                signature(frame, KERNELS.keys) if set(KERNELS.keys) <= set(frame.column_names) else {}
            )
    return [finding for finding in findings if finding.severity != "info"], sums


def said_or_same(tasks: bytes, statistic: bytes) -> None:
    """Something is said, or counts are what they were and times within the statistic's printed digits."""
    findings, sums = checked(tasks, statistic)
    if not findings:
        _, before = checked(KERNELS.data, STATISTIC.data)
        for kind, name in (("kernel_details", "task_duration_ns"), ("op_statistic", "total_time_ns")):
            old, new = (computing(told[kind][name]) for told in (before, sums))
            assert set(old) == set(new)
            for key, (count, total) in old.items():
                assert new[key][0] == count
                assert abs(new[key][1] - total) <= 2 * COUNTED_TOLERANCE_NS


def computing(sums: dict) -> dict:
    """Without communication, of which op_statistic tells nothing."""
    return {key: value for key, value in sums.items() if key[1] not in COMMUNICATION_TASKS}


def test_undamaged_files_have_nothing_to_say_of_each_other() -> None:
    assert checked(KERNELS.data, STATISTIC.data)[0] == []


@pytest.mark.slow
@given(place=places, how=st.sampled_from(["flip", "delete", "insert"]), byte=bytes_of_weight)
def test_any_byte_of_the_tasks(place: float, how: str, byte: int) -> None:
    said_or_same(damaged(KERNELS, place, how, byte), STATISTIC.data)


@given(place=places, how=st.sampled_from(["flip", "delete", "insert"]), byte=bytes_of_weight)
def test_any_byte_of_the_statistic(place: float, how: str, byte: int) -> None:
    said_or_same(KERNELS.data, damaged(STATISTIC, place, how, byte))


@pytest.mark.slow
@given(row=places, place=places, digit=st.sampled_from("0123456789"))
def test_any_digit_of_a_duration(row: float, place: float, digit: str) -> None:
    rows = cells(KERNELS.data)
    column = rows[0].index("Duration(us)")
    line = rows[1 + at(row, len(rows) - 1)]
    where = at(place, len(line[column]))
    line[column] = line[column][:where] + digit + line[column][where + 1 :]
    said_or_same(as_csv(rows, KERNELS.data), STATISTIC.data)


@pytest.mark.slow
@given(one=places, other=places)
@example(one=9.5 / 23, other=10.5 / 23)
def test_cells_that_changed_places_under_their_headers(one: float, other: float) -> None:
    rows = cells(KERNELS.data)
    a, b = at(one, len(rows[0])), at(other, len(rows[0]))
    for row in rows[1:]:
        row[a], row[b] = row[b], row[a]
    said_or_same(as_csv(rows, KERNELS.data), STATISTIC.data)


@pytest.mark.slow
@given(one=places, other=places)
def test_cells_of_the_statistic_that_changed_places(one: float, other: float) -> None:
    rows = cells(STATISTIC.data)
    a, b = at(one, len(rows[0])), at(other, len(rows[0]))
    for row in rows[1:]:
        row[a], row[b] = row[b], row[a]
    said_or_same(KERNELS.data, as_csv(rows, STATISTIC.data))


@pytest.mark.parametrize("unit", ["ns", "ms", "s"])
def test_a_unit_that_became_another(unit: str) -> None:
    tasks = KERNELS.data.replace(b"Duration(us)", f"Duration({unit})".encode(), 1)
    statistic = STATISTIC.data.replace(b"(us)", f"({unit})".encode())
    assert checked(tasks, STATISTIC.data)[0]
    assert checked(KERNELS.data, statistic)[0]


def test_tasks_that_end_after_any_row() -> None:
    lines = KERNELS.data.splitlines(keepends=True)
    for count in range(1, len(lines) - 1):
        assert checked(b"".join(lines[:count]), STATISTIC.data)[0], count


@pytest.mark.slow
def test_a_row_that_is_gone_or_there_twice() -> None:
    lines = KERNELS.data.splitlines(keepends=True)
    for gone in range(len(lines)):
        if b"HCCL" not in lines[gone]:
            assert checked(b"".join([*lines[:gone], *lines[gone + 1 :]]), STATISTIC.data)[0]
            assert checked(b"".join([*lines, lines[gone]]), STATISTIC.data)[0]


def test_both_lie_where_the_profiler_puts_them() -> None:
    assert KERNELS.path.startswith(TORCH)
    assert STATISTIC.path.startswith(TORCH)
