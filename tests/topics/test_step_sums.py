"""`check` adds up the steps of the profiler's own table; a damaged length of time passes nowhere."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from commandline import REAL, Cli, needs_real

HEADER = (
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing"
)
SUM = "Stage + Bubble is not Computing + Communication(Not Overlapped) + Free: one of them is wrong"


def written(folder: Path, *rows: str) -> Path:
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "step_trace_time.csv").write_text("".join(f"{row}\n" for row in (HEADER, *rows)))
    return folder


def sums(cli: Cli, *arguments: object, command: str = "check") -> list[tuple[int | None, str]]:
    """(line, rule) of what is said of sums of steps."""
    found = cli(command, *arguments, "--format", "json").json["findings"]
    return [(f["line"], f["rule"]) for f in found if f["rule"] in {"step-sum", "overlap-sum"}]


def test_a_step_whose_parts_are_more_than_the_whole_is_told(cli: Cli, tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        "50,8873.756,101963.203,4028.675,105991.878,25744.05,136581.0,0,101963.203,17902.5",
        "51,8873.756,101963.203,4028.675,105991.878,95744.05,136581.0,0,101963.203,17902.5",
    )
    assert sums(cli, folder) == [(3, "step-sum")]
    assert sums(cli, folder, command="steps") == [(3, "step-sum")]
    assert f"step_trace_time.csv:3: warning: {SUM} [step-sum]" in cli("check", folder).out
    assert cli("check", folder, "--strict").code == 1


@pytest.mark.parametrize(("stage", "bubble", "fires"), [(131, 0, 0), (120, 11, 0), (132, 0, 0), (132.002, 0, 1)])
def test_a_bubble_belongs_to_the_step_and_a_microsecond_is_noise(
    cli: Cli, tmp_path: Path, stage: float, bubble: float, fires: int
) -> None:
    assert len(sums(cli, written(tmp_path, f"1,100,20,5,25,11,{stage},{bubble},20,3"))) == fires


def test_a_row_of_a_pipeline_stage_adds_up_to_nothing(cli: Cli, tmp_path: Path) -> None:
    """It holds the largest value of its ranks, column by column."""
    cluster = tmp_path / "cluster_analysis_output"
    cluster.mkdir()
    rows = [
        HEADER.replace("Step,", "Step,Type,Index,"),
        "1,rank,0,100,20,5,25,11,131,0,20,3",
        "1,rank,1,90,30,1,31,12,132,0,30,4",
        '1,stage,"(0, 1)",100,30,5,31,12,132,0,30,4',
        "1,rank,2,100,20,5,26,19,131,0,20,3",
    ]
    (cluster / "cluster_step_trace_time.csv").write_text("".join(f"{row}\n" for row in rows))
    assert sums(cli, tmp_path) == [(5, "overlap-sum"), (5, "step-sum")]


def test_a_step_of_a_database_adds_up(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "rank3_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    connection = sqlite3.connect(output / "analysis.db")
    connection.execute(
        "CREATE TABLE StepTraceTime (step TEXT, computing, communication_not_overlapped, overlapped, communication, "
        "free, stage, bubble, communication_not_overlapped_and_exclude_receive, preparing)"
    )
    rows = [("7", 100.5, 20.25, 1, 21.25, 9, 129.75, 0, 0, 0), ("8", 100.5, 20.25, 1, 21.25, 99, 129.75, 0, 0, 0)]
    connection.executemany("INSERT INTO StepTraceTime VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    (message,) = [
        finding["message"]
        for finding in cli("check", tmp_path, "--format", "json").json["findings"]
        if finding["rule"] == "step-sum"
    ]
    assert message == f"step_trace_time, row 2: {SUM}"


@needs_real
def test_a_changed_digit_in_a_real_table_is_told_and_no_real_step_is_blamed(cli: Cli, tmp_path: Path) -> None:
    tables = sorted(REAL.glob("torch_npu_20*/**/step_trace_time.csv"))
    assert len(tables) == 8
    databases = sorted(REAL.glob("torch_npu_2025-01/db/**/analysis.db"))
    assert len(databases) == 6
    assert sums(cli, *tables, *databases) == []
    whole = next(table for table in tables if "25744.050000000003" in table.read_text())
    output = tmp_path / "ASCEND_PROFILER_OUTPUT"
    output.mkdir()
    shutil.copy(whole, output)
    (output / whole.name).write_text(whole.read_text().replace("25744.05", "95744.05"))
    assert sums(cli, tmp_path) == [(2, "step-sum")]
