"""Captures below a path, and the tasks of one: of the best form that has some, each once."""

from __future__ import annotations

import gzip
import json
import stat
from pathlib import Path

import pytest
from commandline import FIXTURES

from aoe_reports.engine.captures import (
    aoe_files,
    bank_files,
    cluster_captures,
    comparable,
    files_without_run,
    find_captures,
    first_with_rows,
    joined,
    kernels,
    look_at,
    nothing_measured,
    read_source,
    read_steps_noting,
    read_tasks,
    record_files,
    sources_of,
    sum_events_of,
    tuner_files,
)
from aoe_reports.engine.locks import locked_at_once
from aoe_reports.engine.question import MAX_ID, Notes, RunOptions, Stream, exit_code_of, one_table
from aoe_reports.engine.runs import find_runs, label_of
from aoe_reports.formats.capture import Source
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.changes import IncidentCause
from aoe_reports.model.options import check_options
from aoe_reports.model.rows import Rows
from aoe_reports.topics.device_time.hotspots import hotspots

MSPROF = FIXTURES / "msprof" / "valid"
FIELDS = frozenset({"op_type", "op_name", "task_type", "task_duration_ns"})


def only_capture(path: Path):
    ((capture,),) = find_runs(discover([path]))
    return capture


def test_files_are_told_apart_by_what_they_are() -> None:
    found = discover([FIXTURES / "aoe" / "valid", FIXTURES / "records" / "valid", FIXTURES / "triton" / "valid"])
    counts = {name: len(select(found)) for name, select in (("aoe", aoe_files), ("bank", bank_files), ("record", record_files), ("tuner", tuner_files))}  # fmt: skip
    assert counts["aoe"] == len(list((FIXTURES / "aoe" / "valid").glob("*/aoe_result_*.json")))
    assert (counts["bank"], counts["record"]) == (1, 2)
    assert counts["tuner"] > 0
    assert [file.path.name for file in files_without_run(found)] == ["gradient_summary.csv"]
    assert find_runs(found) == []
    assert len(find_captures(found)) == 1


def test_what_was_made_of_ranks_is_no_run_beside_them() -> None:
    found = discover([MSPROF / "cluster_of_two_ranks"])
    ((first, second),) = find_runs(found)
    assert [one.root.name for one in cluster_captures(found)] == ["cluster_analysis_output"]
    assert label_of((first, second)) == str(MSPROF / "cluster_of_two_ranks")
    assert label_of((first,)) == str(first.root)
    alone = discover([MSPROF / "cluster_of_two_ranks" / "cluster_analysis_output"])
    assert len(find_runs(alone)) == len(cluster_captures(alone)) == 1, "where nothing else is there it is one"


def test_sums_stand_in_for_tasks_by_type_only() -> None:
    capture = only_capture(MSPROF / "statistic_only")
    ((tasks,), (table,)) = read_tasks(capture, FIELDS, by_type=True)
    assert (tasks.grouped, table.table.name) == (True, "op_statistic")
    assert tasks.frame.num_rows == table.frame.num_rows > 0
    ((named,), tables) = read_tasks(capture, FIELDS, by_type=False)
    assert (named.grouped, [data.table.name for data in tables]) == (False, ["task_time"])


TIMES = "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n"
KERNEL_ROWS = ["0,mm,AI_CORE,1,1,5,100,105", "0,N/A,EVENT_RECORD,1,2,1,106,107", "0,add,AI_VECTOR_CORE,1,3,2,108,110"]
TASKS = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"


def summary(folder: Path, kind: str, text: str, device: int = 0) -> None:
    folder = folder / "PROF_000001_20240605155111872_ABCDEFGHIJKLMNOP" / f"device_{device}" / "summary"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{kind}_{device}_1_1.csv").write_text(text)


@pytest.mark.parametrize(("every", "names"), [(False, ["mm", "add"]), (True, ["mm", None, "add"])])
def test_of_a_table_of_names_what_computes_is_taken(tmp_path: Path, every: bool, names: list[str | None]) -> None:
    summary(tmp_path, "task_time", TIMES + "\n".join(KERNEL_ROWS) + "\n")
    ((tasks,), _) = read_tasks(only_capture(tmp_path), FIELDS, by_type=False, all_tasks=every)
    assert tasks.frame["op_name"].to_pylist() == names
    assert "op_type" in tasks.missing
    assert set(FIELDS) <= set(tasks.frame.column_names)


def test_kernels_are_computing_rows_with_a_name(tmp_path: Path) -> None:
    summary(tmp_path, "task_time", TIMES + "\n".join(KERNEL_ROWS) + "\n")
    (source,) = sources_of(only_capture(tmp_path), "kernels")
    (data,) = read_source(source)
    found = kernels(data.frame)
    assert found is not None
    assert found["op_name"].to_pylist() == ["mm", "add"]
    assert kernels(None) is None
    assert kernels(data.frame.drop_columns(["op_name"])) is None


@pytest.mark.parametrize("columns", [None, frozenset({"op_name"}), frozenset({"task_duration_ns"}), frozenset({"op_name", "task_start_ns"})])  # fmt: skip
@pytest.mark.parametrize("hashed", [True, False])
def test_a_row_counts_once_whatever_is_asked_for(tmp_path: Path, columns: frozenset[str] | None, hashed: bool) -> None:
    rows = ["0,a,MatMul,AI_CORE,100,5", "0,b,MatMul,AI_CORE,110,5", "0,a,MatMul,AI_CORE,100,5"]
    summary(tmp_path, "op_summary", TASKS + "\n".join(rows) + "\n")
    (source,) = sources_of(only_capture(tmp_path), "tasks")
    (data,) = read_source(source, columns, hashed=hashed)
    assert data.frame.num_rows == 2
    assert [(finding.rule, finding.line) for finding in data.findings] == [("duplicate-row", 4)]
    if columns is not None:
        assert columns <= set(data.frame.column_names)
        assert "op_type" not in data.frame.column_names
    assert read_source(None) == []
    assert joined([data]) is data.frame
    assert joined([data, data]).num_rows == 4  # type: ignore[union-attr]
    assert joined([]) is None
    (told,) = comparable([data])
    assert "task_type" in told.frame.column_names


def test_a_damaged_form_gives_way_to_the_next(tmp_path: Path) -> None:
    summary(tmp_path, "op_summary", TASKS + "0,a,MatMul,AI_CORE,100,-5\n")
    summary(tmp_path, "task_time", TIMES + "\n".join(KERNEL_ROWS) + "\n")
    ((tasks,), tables) = read_tasks(only_capture(tmp_path), FIELDS, by_type=False)
    assert tasks.frame["op_name"].to_pylist() == ["mm", "add"]
    assert [data.table.name for data in tables] == ["op_summary", "task_time"]
    assert [finding.rule for finding in tables[0].findings] == ["negative-duration"]


@pytest.mark.parametrize(("count", "fires"), [(1, []), (2, ["statistic-mismatch"])])
def test_tasks_are_held_against_what_the_profiler_counted(tmp_path: Path, count: int, fires: list[str]) -> None:
    summary(tmp_path, "op_summary", TASKS + "0,a,MatMul,AI_CORE,100,5\n")
    head = "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    summary(tmp_path, "op_statistic", f"{head}0,MatMul,AI_CORE,{count},{5 * count},5,5,5,100\n")
    _, tables = read_tasks(only_capture(tmp_path), FIELDS, by_type=True)
    assert [finding.rule for data in tables for finding in data.findings] == fires
    _, tables = read_tasks(only_capture(tmp_path), FIELDS - {"op_type"}, by_type=False)
    assert [finding.rule for data in tables for finding in data.findings] == []


def test_steps_are_those_of_the_best_source_and_what_is_wrong_is_kept() -> None:
    findings: list[Finding] = []
    steps = read_steps_noting(only_capture(MSPROF / "torch_npu_memory_and_communication"), findings)
    assert steps
    assert findings == []
    assert read_steps_noting(only_capture(MSPROF / "statistic_only"), findings) == []


def test_what_was_asked_for_in_vain_is_named() -> None:
    finding = nothing_measured(["/b", "/a"], "no tasks", rank=0, step=None, device=3)
    assert (finding.path, finding.message) == ("/a", "no tasks (rank 0, device 3)")
    assert nothing_measured(["/a"], "no tasks", rank=None).message == "no tasks"


@pytest.mark.parametrize(
    ("severity", "unreadable", "strict", "code"),
    [("error", False, False, 1), ("warning", False, False, 0), ("warning", False, True, 1), ("info", False, True, 0), ("info", True, False, 3), ("error", True, True, 3)],
)  # fmt: skip
def test_how_a_question_ends(severity: str, unreadable: bool, strict: bool, code: int) -> None:
    assert exit_code_of([Finding(severity, "r", "p", "m")], unreadable=unreadable, strict=strict) == code  # type: ignore[arg-type]  # fmt: skip


def test_numbers_of_ranks_fit_32_bits() -> None:
    assert MAX_ID == 2_147_483_647
    for rank in (-1, MAX_ID + 1):
        with pytest.raises(UsageError, match="rank"):
            hotspots([MSPROF / "statistic_only"], rank=rank)
    assert hotspots([MSPROF / "statistic_only"], rank=MAX_ID).rows == []
    with pytest.raises(UsageError, match="jobs"):
        check_options(RunOptions(jobs=0))


def test_a_file_that_cannot_be_read_is_noted_and_no_more() -> None:
    notes = Notes()
    with notes.where_unreadable("/p"):
        raise ReadError(Path("/p"), "is gone", "a file")
    assert notes.unreadable
    assert [(finding.rule, finding.path) for finding in notes.findings] == [("unreadable", "/p")]
    other = Notes()
    other.take(notes)
    assert (other.unreadable, list(other.findings)) == (True, list(notes.findings))


def test_the_file_of_a_lock_is_for_everybody_to_read(tmp_path: Path) -> None:
    with locked_at_once(tmp_path / "lock", "busy"):
        mode = stat.S_IMODE((tmp_path / "lock").stat().st_mode)
        assert mode & ~0o644 == 0
        assert mode & 0o600 == 0o600


HEADER = "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim"


def op_summary(folder: Path, starts: list[int], *, packed: bool) -> Path:
    """An op_summary whose tasks start then, packed or not."""
    rows = [f"0,1,{start},2,op{start},Add,static,AI_CORE,{start}.000,2.500,0,8" for start in starts]
    text = "\n".join([HEADER, *rows, ""]).encode()
    output = folder / "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    path = output / ("op_summary_20260605155140.csv" + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(text) if packed else text)
    return folder


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    ("starts", "kept"),
    [([10, 20, 30], [10, 20, 30]), ([30, 10, 20], [30, 10, 20]), ([10, 20, 20, 30], [10, 20, 30]), ([20, 10, 20], [20, 10])],
)  # fmt: skip
@pytest.mark.parametrize("columns", [None, frozenset({"op_type", "task_duration_ns"}), frozenset({"op_name", "task_start_ns"})])  # fmt: skip
def test_rows_that_repeat_are_found_in_packed_files_too(
    tmp_path: Path, packed: bool, starts: list[int], kept: list[int], columns: frozenset[str] | None
) -> None:
    capture = only_capture(op_summary(tmp_path, starts, packed=packed))
    (data,) = read_source(capture.preferred("op_summary"), columns, hashed=False)
    assert data.frame.num_rows == len(kept)
    assert [finding.rule for finding in data.findings] == ["duplicate-row"] * (len(starts) - len(kept))
    if columns is None or "op_name" in columns:
        assert data.frame["op_name"].to_pylist() == [f"op{start}" for start in kept]
    needed = {"task_duration_ns"}
    assert columns is None or {*data.frame.column_names} == columns | needed


def test_the_first_form_with_rows_is_used(tmp_path: Path) -> None:
    full = only_capture(op_summary(tmp_path / "a", [1], packed=False)).sources("op_summary")[0]
    bare = only_capture(op_summary(tmp_path / "b", [], packed=False)).sources("op_summary")[0]

    def rows(sources: list[Source]) -> tuple[list[int], list[Source]]:
        tables, rest = first_with_rows(sources, lambda source: read_source(source, hashed=False))
        return [data.frame.num_rows for data in tables], rest

    assert rows([full, bare]) == ([1], [bare])
    assert rows([bare, full]) == ([1], [])
    assert rows([bare, full, bare]) == ([1], [bare])
    assert rows([bare, bare]) == ([0], [])
    assert rows([]) == ([], [])


@pytest.mark.parametrize("packed", [True, False])
def test_events_are_summed_by_their_words(tmp_path: Path, packed: bool) -> None:
    events = [{"name": name, "ph": "X", "pid": 1, "tid": 2, "ts": 5, "dur": long} for name, long in (("a", 2), ("b", 9), ("a", 4))]  # fmt: skip
    text = json.dumps(events).encode()
    path = tmp_path / ("trace_view.json.gz" if packed else "trace_view.json")
    path.write_bytes(gzip.compress(text) if packed else text)
    (file,) = discover([path]).files
    sums = sum_events_of(file, ["name"])
    assert sums is not None
    assert sums.to_pylist() == [{"name": "b", "count": 1, "duration_ns": 9000}, {"name": "a", "count": 2, "duration_ns": 6000}]  # fmt: skip
    look = look_at(file)
    assert (look.events, look.start_ns, look.end_ns, look.findings) == (3, 5000, 14000, ())
    path.write_bytes(text[:-9])
    assert sum_events_of(file, ["name"]) is None
    damaged = look_at(file)
    assert {finding.path for finding in damaged.findings} == {str(path)}


@pytest.mark.parametrize(
    ("severity", "unreadable", "plain", "strict"),
    [("error", False, 1, 1), ("warning", False, 0, 1), ("info", False, 0, 0), ("info", True, 3, 3), ("error", True, 3, 3)],
)  # fmt: skip
def test_an_answer_ends_by_what_was_found_and_stricter_if_asked(
    severity: str, unreadable: bool, plain: int, strict: int
) -> None:
    found = [Finding(severity, "r", "p", "m")]  # type: ignore[arg-type]
    answer = one_table(
        "hotspots", "t", ["/a"], Rows(type=IncidentCause, rows=[]), findings=found, unreadable=unreadable
    )
    stream = Stream(command="c", inputs=(), batches=iter(()), notes=Notes(found, unreadable))
    for one in (answer, stream):
        assert (one.exit_code(), one.exit_code(strict=True)) == (plain, strict)
    assert [bool(answer.reasons()), bool(answer.reasons(strict=True))] == [severity == "error", severity != "info"]
    assert (answer.inputs, answer.rows, answer.title) == (("/a",), [], "t")
