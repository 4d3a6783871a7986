"""Real exports with known answers; skipped where they are not there (they are not part of the project)."""

from __future__ import annotations

import csv
import os
from decimal import Decimal
from pathlib import Path

import pytest
from commandline import ROOT, Cli

from aoe_reports.facts.steps import steps_of_trace
from aoe_reports.formats.aoe.result_files import read_results
from aoe_reports.formats.ascend.capture import group_captures
from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import read_table
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.sources.found import FileName
from aoe_reports.formats.trace.rows import read_timeline
from aoe_reports.rules.forms.statistics import check_statistics
from aoe_reports.rules.results.check import check_result_file

DATA = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real exports in {DATA}")
PYTORCH = DATA / "msprof" / "torch_npu_2025-01" / "text"
OLD = DATA / "msprof" / "msprof_2023-08"

ITERATIONS_US = [47587.81, 15369.16, 15304.02, 15375.02, 17467.03, 15528.70, 15422.47, 16455.82, 15105.87, 16329.38]


@pytest.mark.parametrize("level", ["level1", "level2"])
@pytest.mark.parametrize("rank", [0, 1])
def test_op_statistic_is_kernel_details_grouped(level: str, rank: int) -> None:
    folder = PYTORCH / level / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    tasks = read_table(folder / "kernel_details.csv", TABLES["kernel_details"])
    statistic = read_table(folder / "op_statistic.csv", TABLES["op_statistic"])
    assert tasks.findings == statistic.findings == ()
    assert statistic.frame.num_rows > 30
    assert check_statistics([statistic], tasks.frame) == []


@pytest.mark.parametrize(("iteration", "total_us"), [(1, 5911.23), (2, 5926.34)])
def test_tasks_of_one_iteration(iteration: int, total_us: float) -> None:
    path = next(OLD.rglob(f"task_time_0_2_{iteration}.json"))
    rows = read_timeline(path, FileName("task_time", "json", "msprof")).frame.to_pylist()
    durations = [row["task_duration_ns"] for row in rows if row["task_type"] == "AI_CORE"]
    assert (len(durations), sum(durations)) == (137, round(total_us * 1000))


@pytest.mark.parametrize(("iteration", "total_us"), [(1, 5911.23), (2, 5926.34)])
@pytest.mark.parametrize("kind", ["msprof", "task_time"])
def test_a_printed_timeline_has_the_tasks_of_its_iteration(
    cli: Cli, kind: str, iteration: int, total_us: float
) -> None:
    (path,) = OLD.rglob(f"{kind}_0_2_{iteration}.json")
    rows = csv.DictReader(cli("table", kind, path).out.splitlines())
    tasks = [
        Decimal(row["duration_us" if kind == "msprof" else "task_duration_us"])
        for row in rows
        if row["task_type"] == "AI_CORE"
    ]
    assert (len(tasks), sum(tasks)) == (137, Decimal(str(total_us)))


def test_the_iterations_of_the_command_line_are_those_of_the_trace(cli: Cli) -> None:
    rows = cli("steps", OLD, "--format", "json").json["rows"]
    assert [row["duration_us"] for row in rows] == ITERATIONS_US


def test_ten_iterations_not_thirty() -> None:
    found = discover([OLD])
    (capture,) = group_captures(found.files)
    frames = [read_timeline(f.path, f.name).frame for f in capture.preferred("step_trace").files]
    assert [frame.num_rows for frame in frames] == [10, 10, 10]
    import pyarrow as pa

    steps = steps_of_trace(lambda _: 0, pa.concat_tables(frames))
    assert [step.duration_ns / 1000 for step in steps] == ITERATIONS_US


NIGHTS = {
    "torch_npu_2025-01/text/level1": (),
    "torch_npu_2025-01/text/level2": (),
    "msprof_2026-06": ("--workload-from", "{workload}"),  # two models, and nothing there names them but their folders
}


@pytest.mark.parametrize(("folder", "named"), NIGHTS.items(), ids=NIGHTS)
def test_nightly_runs_to_the_end(cli: Cli, tmp_path: Path, folder: str, named: tuple[str, ...]) -> None:
    place = ("--store", tmp_path / "s", "--site", tmp_path / "site")
    ended = cli("nightly", DATA / "msprof" / folder, *place, *named, "--format", "json")
    assert ended.code == 0
    assert not [f for f in ended.json["findings"] if f["severity"] == "error"]
    there = {path.name for path in (tmp_path / "site").iterdir()}
    assert there > {"report.html", "report.md", "report.json", "index.html", "tuning.html", "series", "runs"}


def test_hotspots_of_level1(cli: Cli) -> None:
    rows = cli("hotspots", PYTORCH / "level1", "--rank", 0, "--format", "json").json["rows"]
    assert (rows[0]["op_type"], rows[0]["count"], rows[0]["total_us"]) == ("ForeachAddList", 3, 1959.079)
    assert (rows[1]["op_type"], rows[1]["count"]) == ("TransData", 57)


@pytest.mark.parametrize("level", ["level1", "level2"])
def test_compare_agrees_with_op_statistic(cli: Cli, level: str) -> None:
    folders = [PYTORCH / level / f"rank{rank}_ascend_pt" for rank in (0, 1)]
    rows = cli("compare", *folders, "--top", 1000, "--format", "json").json["rows"]
    assert len(rows) > 30
    for folder, side in zip(folders, ("baseline", "candidate"), strict=True):
        with (folder / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv").open() as file:
            stated = {(row["OP Type"], row["Core Type"]): row for row in csv.DictReader(file)}
        told = {(row["op_type"], row["task_type"]): row for row in rows if row[f"{side}_count"]}
        assert set(told) == set(stated)
        for key, row in told.items():
            assert row[f"{side}_count"] == int(stated[key]["Count"])
            assert row[f"{side}_total_us"] == pytest.approx(float(stated[key]["Total Time(us)"]), abs=0.02)


def test_a_sanitised_name_is_no_device(cli: Cli) -> None:
    rows = cli("inspect", DATA / "msprof" / "msprof_2026-06", "--format", "json").json["rows"]
    (row,) = [row for row in rows if row["path"].endswith("op_summary_001.csv")]
    assert (row["device_id"], row["rows"]) == (None, 2)


def test_the_known_ragged_row_is_found(cli: Cli) -> None:
    ended = cli("hotspots", DATA / "msprof" / "torch_npu_2023-09" / "test_rank_0", "--format", "json")
    assert ended.code == 1
    assert [(f["rule"], f["line"]) for f in ended.json["findings"]] == [("csv-ragged-row", 17)]


@pytest.mark.parametrize(
    "name", ["opat_v0_601_pytorch", "opat_v1_62rc1", "opat_v2_800_tf", "sgat_v1_62rc1", "sgat_v2_800_tf"]
)
def test_documented_results_hold_but_for_the_sum_that_the_document_breaks(name: str) -> None:
    path = DATA / "aoe" / "doc_samples" / f"{name}.repaired.json"
    file = read_results(path, FileName(name[:4], "json", "aoe"))
    found = [finding.rule for finding in check_result_file(file)]
    parts = (
        [] if name in {"opat_v0_601_pytorch", "opat_v2_800_tf"} else ["parts-and-whole"]
    )  # those tell no model times
    fillers = {"opat_v0_601_pytorch": 1, "opat_v2_800_tf": 1}.get(name, 0)  # 4.06 us before and 3.06 after
    assert sorted(found) == [
        *["claim-unmeasured"] * fillers,
        *parts,
        *(["total-sum"] if name == "sgat_v2_800_tf" else []),
    ]


def test_every_real_csv_that_can_be_read_loses_no_row() -> None:
    found = discover([DATA / "msprof"])
    read = 0
    for file in found.files:
        if file.name.form == "csv" and file.name.kind in TABLES and file.size:
            data = read_table(file.path, TABLES[file.name.kind])
            assert data.rows_read == data.frame.num_rows + data.rows_reported
            assert data.rows_reported == (1 if "2023-09" in str(file.path) and data.findings else 0)
            read += 1
    assert read > 15
