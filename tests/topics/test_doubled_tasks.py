"""Every question says what `check` says of rows that stand twice or are missing, and counts none of them twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import Cli

HEADER = "Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us)\n"
MERGED = "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP/mindstudio_profiler_output"
SMALL, LARGE = 40, 20_000
"""Tasks of a file that is read as a whole, and of one that is scanned."""


def task(number: int) -> str:
    start = 1736412474712511 + 40 * number
    return f"{number},1,op{number % 50},MatMul,AI_CORE,{start}.{number % 1000:03d}\t,{10 + number % 7}.125,0.500\n"


def lay(root: Path, **files: list[str]) -> Path:
    for name, rows in files.items():
        path = root / MERGED / f"{name}_20260605155140.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + "".join(rows) if name.startswith("op_summary") else "".join(rows))
    return root


def count(cli: Cli, root: Path) -> int:
    return sum(row["count"] for row in cli("hotspots", root, "--format", "json").json["rows"])


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("place", ["behind it", "at the end"])
def test_a_task_that_stands_twice_is_counted_once_and_told(cli: Cli, tmp_path: Path, size: int, place: str) -> None:
    rows = [task(number) for number in range(size)]
    root = lay(tmp_path, op_summary=[*rows[:8], rows[7], *rows[8:]] if place == "behind it" else [*rows, rows[7]])
    assert count(cli, root) == size
    line = 10 if place == "behind it" else size + 2
    for command in ("check", "hotspots"):
        ended = cli(command, root, "--format", "json")
        assert [(f["severity"], f["line"]) for f in ended.json["findings"] if f["rule"] == "duplicate-row"] == [
            ("error", line)
        ]
        assert ended.code == 1


@pytest.mark.parametrize("command", ["compare", "advise", "normalize", "ingest", "plan"])
def test_every_question_that_reads_tasks_tells_of_doubled_ones(cli: Cli, tmp_path: Path, command: str) -> None:
    rows = [task(number) for number in range(SMALL)]
    root = lay(tmp_path / "x", op_summary=[*rows, rows[3]])
    more = {"compare": [root], "ingest": ["--store", tmp_path / "s"], "plan": ["-o", tmp_path / "p"]}.get(command, [])
    ended = cli(command, root, *more)
    assert ended.code == 1
    assert "duplicate-row" in ended.out + ended.err


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("common", [0, 5])
def test_slices_that_overlap_are_counted_once_and_told(cli: Cli, tmp_path: Path, size: int, common: int) -> None:
    rows = [task(number) for number in range(2 * size)]
    root = lay(tmp_path, op_summary_slice_0=rows[: size + common], op_summary_slice_1=rows[size:])
    assert count(cli, root) == 2 * size
    ended = cli("hotspots", root, "--format", "json")
    assert (ended.code, ended.rules()) == ((1, {"duplicate-row"}) if common else (0, set()))
    assert not common or f"{common} of these rows also appear in another file of this kind" in ended.out


@pytest.mark.parametrize("order", ["time", "backwards", "two devices"])
def test_a_healthy_file_in_any_order_is_read_as_it_is(cli: Cli, tmp_path: Path, order: str) -> None:
    rows = [task(number) for number in range(LARGE)]
    if order == "backwards":
        rows.reverse()
    elif order == "two devices":  # both at the same times
        rows = [*rows, *(row.replace(",1,op", ",2,op") for row in rows)]
    ended = cli("hotspots", lay(tmp_path, op_summary=rows), "--format", "json")
    assert (ended.code, ended.json["findings"]) == (0, [])
    assert sum(row["count"] for row in ended.json["rows"]) == len(rows)
    assert {"device_id", "task_start_ns"}.isdisjoint(ended.json["rows"][0])


@pytest.mark.parametrize("command", ["check", "hotspots", "compare", "advise", "ingest"])
@pytest.mark.parametrize("missing", [0, 5])
def test_a_last_slice_that_is_missing_is_told_where_the_profiler_counted(
    cli: Cli, tmp_path: Path, command: str, missing: int
) -> None:
    rows = [task(number) for number in range(SMALL)]
    times = [10_125 + 1000 * (number % 7) for number in range(SMALL)]
    total, least, most = sum(times), min(times), max(times)
    statistic = [
        "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n",
        f"MatMul,AI_CORE,{SMALL},{total / 1000},{least / 1000},{total / SMALL / 1000},{most / 1000},100\n",
    ]
    whole = {
        "op_summary_slice_0": rows[:20],
        "op_summary_slice_1": rows[20 : SMALL - missing],
        "op_statistic": statistic,
    }
    root = lay(tmp_path / "x", **whole)
    more = {"compare": [root], "ingest": ["--store", tmp_path / "s"]}.get(command, [])
    found = json.loads(cli(command, root, *more, "--format", "json").out)["findings"]
    assert any(f["rule"] == "statistic-mismatch" for f in found) == bool(missing)
