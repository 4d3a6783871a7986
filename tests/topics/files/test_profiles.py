"""A profile has every row of every table of its captures once, as the files tell them."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from commandline import FIXTURES

from aoe_reports.formats.ascend.tables import TIMELINES
from aoe_reports.model.errors import UsageError
from aoe_reports.topics.files.profiles import read_profile, timeline_of_kind

VALID = FIXTURES / "msprof" / "valid"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_ranks_stand_one_below_the_other(msprof: Path) -> None:
    profile = read_profile(msprof / "torch_npu_two_ranks")
    frame = profile.frame("kernel_details")
    told = [
        (str(folder), rank, round(float(row["Duration(us)"]) * 1000))
        for rank, folder in enumerate(sorted((msprof / "torch_npu_two_ranks").iterdir()))
        for row in rows_of(folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv")
    ]
    assert list(zip(*(frame[name].to_pylist() for name in ("capture", "rank_id", "task_duration_ns")), strict=True)) == told  # fmt: skip
    assert profile.findings == []
    assert not profile.unreadable
    assert profile.table("kernel_details").collect().height == len(told)


def test_a_capture_by_itself_is_not_named(msprof: Path) -> None:
    frame = read_profile(msprof / "torch_npu_two_ranks" / "rank1_ascend_pt").frame("kernel_details")
    assert "capture" not in frame.column_names
    assert set(frame["rank_id"].to_pylist()) == {1}


def test_tables_that_are_there_are_named_and_no_others(msprof: Path) -> None:
    profile = read_profile(msprof / "torch_npu_memory_and_communication")
    assert {"kernel_details", "op_statistic", "memory_record", "communication", "communication_matrix"} <= {*profile.tables}  # fmt: skip
    assert "op_summary" not in profile.tables
    assert all(profile.frame(kind).num_rows for kind in profile.tables)
    assert profile.frame("op_summary") == pa.table({})
    with pytest.raises(UsageError, match="no table 'nothing'"):
        profile.frame("nothing")


@pytest.mark.parametrize("folder", sorted(VALID.iterdir()), ids=lambda folder: folder.name)
def test_events_are_those_of_the_timelines(folder: Path) -> None:
    profile = read_profile(folder)
    kinds = {file.name.kind for capture in profile.captures for file in capture.timelines}
    assert set(profile.timelines) == kinds
    for kind in kinds:
        files = [file for capture in profile.captures for file in capture.timelines if file.name.kind == kind]
        if TIMELINES[kind].whole_in_each_file or any(file.name.packed for file in files):
            continue
        documents = [json.loads(file.path.read_text()) for file in files]
        events = [event for one in documents for event in (one if isinstance(one, list) else one["traceEvents"])]
        told = Counter((event["name"], round(event["dur"] * 1000)) for event in events if event.get("ph") == "X")
        found = pa.Table.from_batches(list(profile.events(kind, ["name", "duration_ns"]))).to_pylist()
        assert Counter((one["name"], one["duration_ns"]) for one in found if one["duration_ns"] is not None) == told


def test_a_file_that_cannot_be_read_is_said_and_the_others_are_read(msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "torch_npu_two_ranks", tmp_path, dirs_exist_ok=True)
    profile = read_profile(tmp_path)
    whole = profile.frame("kernel_details").num_rows
    lost = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    count = len(rows_of(lost))
    lost.unlink()
    assert profile.frame("kernel_details").num_rows == whole - count
    assert profile.unreadable
    assert [(finding.rule, finding.path) for finding in profile.findings] == [("unreadable", str(lost))]


def test_what_reading_finds_is_kept(msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "torch_npu_two_ranks" / "rank0_ascend_pt", tmp_path / "rank0_ascend_pt")
    path = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[1], ""]))
    profile = read_profile(tmp_path)
    assert profile.findings == []
    frame = profile.frame("kernel_details")
    assert frame.num_rows == len(lines) - 1
    assert [(finding.rule, finding.line) for finding in profile.findings] == [("duplicate-row", len(lines) + 1)]


@pytest.mark.parametrize(
    ("kind", "timeline"),
    [("trace_view", "trace_view"), ("trace_view_events", "trace_view"), ("step_trace_events", "step_trace"), ("step_trace", None), ("nothing_events", None), ("kernel_details", None)],
)  # fmt: skip
def test_what_a_kind_of_timeline_is_called(kind: str, timeline: str | None) -> None:
    assert timeline_of_kind(kind) == timeline


@pytest.mark.parametrize(("kind", "times"), [("hccl", 2), ("ge", 1)])
def test_timelines_of_iterations_are_all_read_and_those_that_repeat_the_run_once(
    msprof: Path, tmp_path: Path, kind: str, times: int
) -> None:
    shutil.copytree(msprof / "exports_of_2022", tmp_path, dirs_exist_ok=True)
    (path,) = tmp_path.rglob(f"{kind}_0_1_1.json")
    before = sum(batch.num_rows for batch in read_profile(tmp_path).events(kind))
    shutil.copy(path, path.with_name(f"{kind}_0_1_2.json"))
    profile = read_profile(tmp_path)
    assert sum(batch.num_rows for batch in profile.events(kind)) == times * before > 0
    repeated = [finding.path for finding in profile.findings if finding.rule == "repeated-export"]
    assert repeated == ([] if times == 2 else [str(path.with_name(f"{kind}_0_1_2.json"))])


def test_tables_of_iterations_that_repeat_the_run_have_each_row_once(msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "exports_of_2022", tmp_path, dirs_exist_ok=True)
    for kind, times in (("step_trace", 1), ("op_summary", 2)):
        (path,) = tmp_path.rglob(f"{kind}_0_1_1.csv")
        before = read_profile(tmp_path).frame(kind)
        shutil.copy(path, path.with_name(f"{kind}_0_1_2.csv"))
        assert read_profile(tmp_path).frame(kind).num_rows == times * before.num_rows > 0, kind
