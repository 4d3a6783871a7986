"""Captures that are odd rather than damaged: nothing is counted twice, nothing goes unsaid."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from commandline import Cli

HEADER = "Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
ROWS = ["1,1,a,MatMul,AI_CORE,1736412474712511.621,10.5\n", "2,1,b,Add,AI_VECTOR_CORE,1736412474712600.000,2\n"]
MERGED = "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP/mindstudio_profiler_output"


def lay(root: Path, files: dict[str, list[str]], folder: str = MERGED) -> Path:
    for name, rows in files.items():
        path = root / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (HEADER + "".join(rows)).encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return root


def total_us(cli: Cli, root: Path) -> float:
    return round(sum(row["total_us"] for row in cli("hotspots", root, "--format", "json").json["rows"]), 3)


@pytest.mark.parametrize(
    ("files", "total", "said"),
    [
        ({"op_summary_20240605155140.csv": ROWS, "op_summary_slice_0_20240606155140.csv": ROWS[:1],
          "op_summary_slice_1_20240606155140.csv": ROWS[1:]}, 12.5, {"superseded"}),
        ({"op_summary_slice_0_20230605155140.csv": ROWS[:1], "op_summary_slice_1_20240606155140.csv": ROWS[1:]}, 2.0, {"superseded", "slice-missing"}),
        ({"op_summary_20240605155140.csv": ROWS[:1], "op_summary_slice_1_20240605155141.csv": ROWS[1:]}, 12.5, set()),
        ({"op_summary_20240605155140.csv": ROWS, "op_summary_20240605155140.csv.gz": ROWS[:1]}, 12.5, {"superseded"}),
        ({"op_summary_20240605155140.csv": ROWS, "zz_notes.csv": ROWS[:1]}, 12.5, {"several-exports"}),
    ],
    ids=["older and unsliced", "slices a year apart", "first slice without a number", "packed beside plain", "a copy by another name"],
)  # fmt: skip
def test_one_export_is_in_force(
    cli: Cli, tmp_path: Path, files: dict[str, list[str]], total: float, said: set[str]
) -> None:
    root = lay(tmp_path, files)
    assert total_us(cli, root) == total
    assert cli("hotspots", root, "--format", "json").rules() == said


def test_a_missing_slice_is_said_by_every_command(cli: Cli, tmp_path: Path) -> None:
    root = lay(
        tmp_path, {"op_summary_slice_0_20240605155140.csv": ROWS[:1], "op_summary_slice_2_20240605155141.csv": ROWS[1:]}
    )
    for command in ("hotspots", "inspect", "check"):
        ended = cli(command, root, "--format", "json")
        assert (ended.code, "slice-missing" in ended.rules()) == (1, True), command


def test_rows_of_two_files_are_counted_once(cli: Cli, tmp_path: Path) -> None:
    root = lay(tmp_path, {f"op_summary_slice_{n}_20240605155140.csv": ROWS for n in (0, 1)})
    assert "duplicate-row" in cli("check", root, "--format", "json").rules()
    ended = cli("nightly", root, "--store", tmp_path / "s", "--workload", "w", "--format", "json")
    assert "duplicate-row" in ended.rules()
    records = cli(
        "store", "history", "records", "--store", tmp_path / "s", "--scope", "op_type", "--format", "json"
    ).json["rows"]
    assert sorted(record["count"] for record in records) == [1, 1]


def test_a_job_called_like_a_capture_keeps_its_ranks_apart(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "torch_npu_two_ranks", tmp_path / "job_ascend_pt")
    rows = cli("hotspots", tmp_path, "--format", "json").json["rows"]
    assert {row["rank_id"] for row in rows} == {0, 1}


@pytest.mark.parametrize("unit", ["ns", "ms", "s"])
def test_a_unit_that_no_exporter_writes_is_refused(cli: Cli, tmp_path: Path, unit: str) -> None:
    root = lay(tmp_path, {"op_summary_20240605155140.csv": ROWS})
    path = next(root.rglob("*.csv"))
    path.write_text(path.read_text().replace("Duration(us)", f"Duration({unit})"))
    ended = cli("hotspots", root, "--format", "json")
    assert (ended.code, ended.json["rows"], "unit-mismatch" in ended.rules()) == (1, [], True)


def test_sums_are_exact_beyond_64_bits(cli: Cli, tmp_path: Path) -> None:
    rows = [f"{task},1,a,MatMul,AI_CORE,{task},1120000000000\n" for task in range(9000)]
    assert total_us(cli, lay(tmp_path, {"op_summary_20240605155140.csv": rows})) == 9000 * 1120000000000


def test_columns_called_like_ours_do_not_disturb(cli: Cli, tmp_path: Path) -> None:
    root = lay(tmp_path, {"op_summary_20240605155140.csv": ROWS})
    path = next(root.rglob("*.csv"))
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join([lines[0] + ",rank_id,capture,iteration", *(line + ",3,x,7" for line in lines[1:])]) + "\n"
    )
    rows = cli("table", "op_summary", root, "--format", "json").json["rows"]
    assert [(row["rank_id"], row["other_rank_id"], row["other_capture"]) for row in rows] == [(None, 3, "x")] * 2


def test_a_header_that_is_one_letter_off_is_asked_about(cli: Cli, tmp_path: Path) -> None:
    root = lay(tmp_path, {"op_summary_20240605155140.csv": ROWS})
    path = next(root.rglob("*.csv"))
    path.write_text(path.read_text().replace("Stream ID", "Strean ID"))
    ended = cli("hotspots", root, "--format", "json")
    assert (ended.code, "column-unknown" in ended.rules()) == (0, True)


def test_a_database_that_knows_no_operators(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
        connection.execute("INSERT INTO STRING_IDS VALUES (0, 'EVENT_RECORD')")
        connection.execute(
            "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, taskType INTEGER, globalTaskId INTEGER)"
        )
        connection.execute("INSERT INTO TASK VALUES (1736410576404465403, 1736410576404465404, 0, 0, 0)")
    for command in ("hotspots", "check", "inspect"):
        assert cli(command, tmp_path, "--format", "json").code in {0, 1}
    ended = cli("nightly", tmp_path, "--store", tmp_path / "s", "--format", "json")
    assert "nothing-measured" in ended.rules()


def test_a_database_without_its_main_table_is_no_idle_device(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
    assert "db-incomplete" in cli("check", tmp_path, "--format", "json").rules()


def test_a_part_of_an_iteration_that_is_damaged_is_said(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    source = next((msprof / "ten_iterations_timeline").rglob("step_trace_0_2_1.json"))
    events = json.loads(source.read_text())
    part = next(event for event in events if event.get("cat") == "FP_BP Time")
    part["args"]["Iteration ID"] = "xyz"
    (tmp_path / source.name).write_text(json.dumps(events))
    assert "timeline-event" in cli("check", tmp_path, "--format", "json").rules()


def test_many_columns_are_no_trouble(cli: Cli, tmp_path: Path) -> None:
    root = lay(tmp_path, {"op_summary_20240605155140.csv": ROWS})
    path = next(root.rglob("*.csv"))
    more = "".join(f",c{n}" for n in range(3000)), ",1" * 3000
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0] + more[0], *(line + more[1] for line in lines[1:])]) + "\n")
    assert cli("check", root, "--format", "json").code == 0


@pytest.mark.parametrize(
    ("name", "text", "rule", "message"),
    [
        ("op_summary_20240605155140.json", "", "empty-file", "the file is empty"),
        ("op_summary_20240605155140.json", "5", "json-shape", None),
        ("op_summary_20240605155140.csv", "", "empty-file", "the file is empty; expected the header of op_summary"),
        ("msprof_20240605155140.json", "", "empty-file", "the file is empty"),
    ],
)
def test_a_file_without_a_byte_is_said_once(
    cli: Cli, tmp_path: Path, name: str, text: str, rule: str, message: str | None
) -> None:
    path = tmp_path / MERGED / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    ended = cli("check", tmp_path, "--format", "json")
    (finding,) = ended.json["findings"]
    assert (ended.code, finding["rule"]) == (1, rule)
    assert message is None or finding["message"] == message
    assert [row["verdict"] for row in ended.json["rows"]] == ["fail"]
