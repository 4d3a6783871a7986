"""A file without a line end at its end: of its last row only the last cell is in doubt, and nothing of it is lost."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli

from aoe_reports.simulation.nights import write_nights

HEADER = "Name,Type,Accelerator Core,Start Time(us),Duration(us)"
TASKS = FIXTURES / "msprof/valid/torch_npu_two_ranks/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv"


def laid(folder: Path, data: bytes, name: str = "kernel_details.csv") -> Path:
    output = folder / "x_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True, exist_ok=True)
    (output / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


def told(cli: Cli, command: str, folder: Path) -> list[tuple[str, int | None, int | None]]:
    found = cli(command, folder, "--format", "json").json["findings"]
    return [(f["severity"], f["line"], f["column"]) for f in found if f["rule"] == "csv-truncated"]


def ranked(cli: Cli, folder: Path) -> list[dict[str, Any]]:
    rows = cli("hotspots", folder, "--format", "json").json["rows"]
    return [{name: value for name, value in row.items() if name not in {"run", "path"}} for row in rows]


@pytest.mark.parametrize("name", ["kernel_details.csv", "kernel_details.csv.gz"])
@pytest.mark.parametrize("end", [b"", b"\r"])
def test_a_last_row_without_a_line_end_counts(cli: Cli, tmp_path: Path, name: str, end: bytes) -> None:
    whole = TASKS.read_bytes()
    before = ranked(cli, laid(tmp_path / "whole", whole))
    folder = laid(tmp_path / "cut", whole.rstrip(b"\r\n") + end, name)
    assert ranked(cli, folder) == before
    line = whole.count(b"\n")
    for command in ("check", "hotspots"):
        assert told(cli, command, folder) == [("warning", line, None)]
        assert cli(command, folder).code == 0
    assert "its last row is complete and used, later ones may be missing" in cli("check", folder).out


def test_a_capture_that_lacks_a_line_end_alone_is_compared_with_others(cli: Cli, tmp_path: Path) -> None:
    whole = TASKS.read_bytes().rstrip(b"\r\n")
    states = []
    for data in (whole, whole[:-40]):
        store = tmp_path / f"store-{len(data)}"
        cli("ingest", laid(tmp_path / f"of-{len(data)}", data), "--store", store, "--workload", "w")
        states += [
            row["status"] for row in cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]
        ]
    assert states == ["ok", "incomplete"]


TABLE = "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
ROW = "AI_CORE,2,20.000,10.000,10.000,10.000,"


@pytest.mark.parametrize(
    ("above", "last", "severity", "value"),
    [
        (["40.125", "20.250"], "39.625", "warning", 0.39625),  # as many decimals as there can be
        (["40.125", "20.250"], "39.62", "error", None),  # every other number goes on
        (["40.125", "20.2"], "39.6", "warning", None),
        (["40", "20"], "4", "warning", None),  # of 40?
        (["0", "0"], "0", "warning", 0.0),  # no other operators ever stands there
        (["0.125", "0"], "0", "warning", None),
        (["40.125", "20.250"], "39.6250001", "warning", None),
        (["40.1250001", "20.250"], "39.625", "warning", None),
        (["40.125", "N/A"], "N/A", "warning", None),
        (["40.125", "N/A"], "N/", "error", None),
        (["40.125", "20.250"], "", "warning", None),
    ],
)
def test_a_last_cell_is_used_where_the_others_say_that_it_is_whole(
    cli: Cli, tmp_path: Path, above: list[str], last: str, severity: str, value: float | None
) -> None:
    path = tmp_path / "op_statistic_20260101000000.csv"
    path.write_text(TABLE + "\n".join(f"Op{place},{ROW}{cell}" for place, cell in enumerate([*above, last])))
    *_, row = json.loads(cli("table", "op_statistic", path, "--format", "json").out)["rows"]
    assert (row["op_type"], row["total_time_us"], row["share"]) == ("Op2", 20.0, value)
    (finding,) = [f for f in cli("check", path, "--format", "json").json["findings"] if f["rule"] == "csv-truncated"]
    assert (finding["severity"], finding["line"]) == (severity, 4)
    doubtful = value is None and last != "N/A"
    assert finding["column"] == (8 if doubtful else None)
    assert ("Ratio(%)" in finding["message"]) == doubtful


@pytest.mark.parametrize(("last", "used"), [("AI_CORE", True), ("AI_CO", False), ("AI_NEW", False), ("AI", False)])
def test_a_last_word_is_used_where_it_stands_in_other_rows_and_none_goes_on(
    cli: Cli, tmp_path: Path, last: str, used: bool
) -> None:
    path = tmp_path / "kernel_details.csv"
    rows = [f"{name},Add,1.000,2.500,{core}" for name, core in (("a", "AI_CORE"), ("b", "AI"), ("c", last))]
    path.write_text("\n".join(["Name,Type,Start Time(us),Duration(us),Accelerator Core", *rows]))
    listed = json.loads(cli("table", "kernel_details", path, "--format", "json").out)["rows"]
    assert [row["task_duration_us"] for row in listed] == [2.5] * 3
    assert listed[-1]["task_type"] == (last if used else None)


def test_a_row_whose_needed_cell_may_go_on_stays_out(cli: Cli, tmp_path: Path) -> None:
    rows = [HEADER, "a,Add,AI_CORE,1.000,10.125", "b,Add,AI_CORE,20.000,2.125", "c,Add,AI_CORE,30.000,5.1"]
    folder = laid(tmp_path, "\n".join(rows).encode())
    assert told(cli, "check", folder) == [("error", 4, None)]
    (row,) = ranked(cli, folder)
    assert (row["count"], row["total_us"]) == (2, 12.25)
    folder = laid(tmp_path, "\n".join([*rows[:3], "c,Add,AI_CORE,30.000,5.125"]).encode())
    assert told(cli, "check", folder) == [("warning", 4, None)]
    (row,) = ranked(cli, folder)
    assert (row["count"], row["total_us"]) == (3, 17.375)


def test_a_row_whose_last_cell_says_to_what_it_belongs_stays_out_where_that_is_missing(
    cli: Cli, tmp_path: Path
) -> None:
    write_nights(tmp_path, 1)
    (table,) = tmp_path.rglob("step_trace*.csv")
    header, *rows = table.read_bytes().splitlines()
    assert header.endswith(b"Model ID")
    table.write_bytes(b"\n".join([header, *rows[:-1], rows[-1].rpartition(b",")[0] + b","]))
    ended = cli("steps", tmp_path, "--format", "json")
    assert len({row["model_id"] for row in ended.json["rows"]}) == 1
    assert (ended.code, ended.rules()) == (1, {"csv-truncated"})
