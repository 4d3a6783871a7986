"""Rows that nobody can use: import refuses their run, verify names them, readers leave them out aloud, nothing dies."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from commandline import Cli
from stores import exported
from unchecked import store_unchecked

Row = dict[str, Any]

DEEP = "[" * 100_000 + "]" * 100_000
BAD = {
    "no date": ("record", "night", "9999-99-99"),
    "a date that does not exist": ("record", "night", "2026-02-30"),
    "a night before time began": ("run", "night", "0001-01-01"),
    "cut JSON": ("record", "metrics", "{"),
    "no object": ("record", "metadata", "[1]"),
    "nested without end": ("run", "members", DEEP),
    "objects nested without end": ("record", "workload_args", '{"a":' * 100_000 + "1" + "}" * 100_000),
    "nested a little too deep": ("record", "software_config", '{"a":' * 300 + "1" + "}" * 300),
    "no members": ("run", "members", "[]"),
    "members of another form": ("run", "members", '[["a", 1]]'),
    "a text for a number": ("record", "total_ns", "much"),
    "a number of more than 64 bits": ("record", "count", 2**63),
    "a time below zero": ("record", "runtime_ms_mean", -1.0),
    "a count below zero": ("record", "count", -1),
    "no series": ("record", "series_id", None),
    "no time": ("record", "timestamp_ns", None),
    "a scope that is none": ("record", "scope", "galaxy"),
    "a run without a state": ("run", "status", None),
    "a body that is no object": ("run", "body", "[1]"),
    "an infinite number": ("record", "metrics", '{"a": 1e999}'),
    "a kind that is none": ("record", "kind", "recorf"),
}


@pytest.fixture
def rows(msprof: Path, aoe: Path) -> list[Row]:
    """What a profile and tunings are stored as."""
    return list(exported(msprof / "exports_of_2022", aoe))


def spoilt(rows: list[Row], kind: str, column: str, value: Any) -> tuple[list[Row], int]:
    """The rows with one bad value in the profile's last row of a kind, and that row's line."""
    profile = next(row["run_id"] for row in rows if row.get("run_kind") == "profile")
    line = max(number for number, row in enumerate(rows) if (row["kind"], row["run_id"]) == (kind, profile))
    return [{**row, column: value} if number == line else row for number, row in enumerate(rows)], line + 1


def imported(cli: Cli, rows: list[Row], folder: Path) -> Any:
    (folder / "bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return cli("store", "import", folder / "bad.jsonl", "--store", folder / "b", "--format", "json")


def test_a_whole_number_is_a_number_however_large(cli: Cli, rows: list[Row], tmp_path: Path) -> None:
    large, _ = spoilt(rows, "record", "runtime_ms_mean", 2**53 + 1)
    ended = imported(cli, large, tmp_path)
    assert (ended.code, ended.json["rows"][0]["refused"]) == (0, 0)


@pytest.mark.parametrize(("kind", "column", "value"), BAD.values(), ids=BAD)
def test_a_run_with_a_row_that_cannot_be_used_is_not_imported(
    cli: Cli, rows: list[Row], tmp_path: Path, kind: str, column: str, value: Any
) -> None:
    bad, line = spoilt(rows, kind, column, value)
    ended = imported(cli, bad, tmp_path)
    assert ended.code == 1
    told = ended.json["findings"]
    assert (told[0]["path"], told[0]["line"]) == (str(tmp_path / "bad.jsonl"), line)
    assert ended.rules() <= {"store-row", "store-body", "import-refused"}
    (counts,) = ended.json["rows"]
    runs = {row["run_id"] for row in rows if row["kind"] == "run"}
    assert (counts["refused"], counts["added"]) == (1, len(runs) - 1)
    stored = cli("history", "runs", "--store", tmp_path / "b", "--format", "json").json["rows"]
    assert {row["run"] for row in stored} == runs - {rows[line - 1]["run_id"]}
    assert cli("store", "verify", "--store", tmp_path / "b").code == 0


def test_a_line_that_nobody_can_read_keeps_the_runs_beside_it_out(cli: Cli, rows: list[Row], tmp_path: Path) -> None:
    first = rows[0]["run_id"]
    behind = next(number for number, row in enumerate(rows) if row["run_id"] != first)
    second = rows[behind]["run_id"]
    lines = [json.dumps(row) for row in rows]
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:behind], "{", *lines[behind:]]) + "\n")
    ended = cli("store", "import", tmp_path / "bad.jsonl", "--store", tmp_path / "b", "--format", "json")
    assert (ended.code, ended.json["findings"][0]["line"]) == (1, behind + 1)
    stored = cli("history", "runs", "--store", tmp_path / "b", "--format", "json").json["rows"]
    assert {row["run"] for row in stored} == {row["run_id"] for row in rows} - {first, second}


def test_rows_of_a_run_that_do_not_stand_together_import_nothing_of_it(
    cli: Cli, rows: list[Row], tmp_path: Path
) -> None:
    ended = imported(cli, [*rows[1:], rows[0]], tmp_path)
    assert (ended.code, ended.json["rows"][0]["refused"]) == (1, 2)
    stored = cli("history", "runs", "--store", tmp_path / "b", "--format", "json").json["rows"]
    assert rows[0]["run_id"] not in {row["run"] for row in stored}


def test_rows_of_folders_are_checked_too(cli: Cli, rows: list[Row], tmp_path: Path) -> None:
    store_unchecked(rows, tmp_path / "s")
    assert cli("store", "export", tmp_path / "folder", "--store", tmp_path / "s").code == 0
    profile = next(row["run_id"] for row in rows if row.get("run_kind") == "profile")
    for path in (tmp_path / "folder").glob("kind=record/*/*.parquet"):
        table = pq.read_table(path, partitioning=None)
        times = [
            float("nan") if run == profile else time
            for run, time in zip(table["run_id"].to_pylist(), table["runtime_ms_mean"].to_pylist(), strict=True)
        ]
        place = table.column_names.index("runtime_ms_mean")
        pq.write_table(table.set_column(place, "runtime_ms_mean", [times]), path)
    ended = cli("store", "import", tmp_path / "folder", "--store", tmp_path / "b", "--format", "json")
    assert (ended.code, ended.json["rows"][0]["refused"]) == (1, 1)
    assert "not finite" in ended.json["findings"][0]["message"]
    assert ended.json["findings"][0]["line"] is not None


READERS = (
    ("regressions", "--whole-history"),
    ("report",),
    ("history", "runs"),
    ("history", "records"),
    ("history", "records", "--format", "jsonl"),
    ("store", "compact"),
)


@pytest.mark.parametrize(
    "name", ["no date", "cut JSON", "nested without end", "no object", "a night before time began"]
)
def test_a_store_that_has_such_a_row_can_be_read(
    cli: Cli, rows: list[Row], msprof: Path, tmp_path: Path, name: str
) -> None:
    store = tmp_path / "b"
    bad, _ = spoilt(rows, *BAD[name])
    store_unchecked(bad, store)
    verified = cli("store", "verify", "--store", store, "--format", "json")
    assert (verified.code, verified.rules()) == (1, {"store-row"})
    assert BAD[name][1] in verified.json["findings"][0]["message"]
    alouds = []
    for command in (
        *READERS,
        ("site", "-o", tmp_path / "site"),
        ("nightly", msprof / "exports_of_2022", "--workload", "net"),
    ):
        ended = cli(*command, "--store", store)
        assert ended.code in {0, 1, 3}, (command, ended.err)
        assert "internal error" not in ended.err
        aloud = "left out" in ended.err
        assert not aloud or ended.code == 3, command
        alouds.append(aloud)
    assert any(alouds)
    assert (tmp_path / "site" / "index.html").is_file()


def test_a_run_that_cannot_be_used_can_be_taken_out(cli: Cli, rows: list[Row], tmp_path: Path) -> None:
    store = tmp_path / "b"
    bad, line = spoilt(rows, *BAD["nested without end"])
    store_unchecked(bad, store)
    assert cli("store", "undo", rows[line - 1]["run_id"], "--store", store).code == 0
    assert cli("store", "verify", "--store", store).code == 0
    ended = cli("history", "runs", "--store", store)
    assert (ended.code, ended.err) == (0, "")


VALUES: tuple[Any, ...] = (
    None, "", "{", "[]", "[[", "{}", "null", "5", '{"a": 1e999}', '{"metadata": 5}', "x" * 5000, "\x1b[31m", "2026-13-01",
    "9999-12-31", "\ud800", 0, -1, 2**63 - 1, -(2**63), 2**64, 1e308, -1e308, 1e-320, True, [1], {"a": 1}, DEEP,
)  # fmt: skip
"""What no column of the store was made for."""


@pytest.mark.parametrize("seed", range(12))
def test_no_value_in_an_imported_row_breaks_anything(cli: Cli, rows: list[Row], tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    number = chance.randrange(len(rows))
    column, value = chance.choice([*rows[number], "phase", "op_name", "subject", "line"]), chance.choice(VALUES)
    bad = [{**row, column: value} if place == number else row for place, row in enumerate(rows)]
    store = tmp_path / "b"
    commands = [
        ("store", "import", tmp_path / "bad.jsonl", "--store", store),
        ("store", "verify", "--store", store),
        ("site", "--store", store, "-o", tmp_path / "site"),
        *((*command, "--store", store) for command in chance.sample(READERS, 2)),
    ]
    (tmp_path / "bad.jsonl").write_text("".join(json.dumps(row) + "\n" for row in bad))
    for command in commands:
        ended = cli(*command)
        assert ended.code in {0, 1, 3}, (column, value, ended.err)
        assert "internal error" not in ended.err, (column, value)
        assert ended.code == 0 or ended.err.strip() or ended.out.strip(), (column, value)
