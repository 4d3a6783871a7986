"""Rows that nobody can use: verify names them, readers leave them out aloud, nothing dies."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commandline import Cli
from stores import rows_of_paths
from unchecked import store_unchecked

from aoe_reports.history.care import wrong_in
from aoe_reports.store.layout import ROWS, table_of

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
    "a time below zero": ("record", "runtime_ms_mean", -1.0),
    "a count below zero": ("record", "count", -1),
    "no series": ("record", "series_id", None),
    "no time": ("record", "timestamp_ns", None),
    "a scope that is none": ("record", "scope", "galaxy"),
    "a run without a state": ("run", "status", None),
    "a body that is no object": ("run", "body", "[1]"),
    "an infinite number": ("record", "metrics", '{"a": 1e999}'),
}


@pytest.fixture
def rows(msprof: Path, aoe: Path) -> list[Row]:
    """What a profile and tunings are stored as."""
    return list(rows_of_paths(msprof / "exports_of_2022", aoe))


def spoilt(rows: list[Row], kind: str, column: str, value: Any) -> tuple[list[Row], int]:
    """The rows with one bad value in the profile's last row of a kind, and that row's line."""
    profile = next(row["run_id"] for row in rows if row.get("run_kind") == "profile")
    line = max(number for number, row in enumerate(rows) if (row["kind"], row["run_id"]) == (kind, profile))
    return [{**row, column: value} if number == line else row for number, row in enumerate(rows)], line + 1


@pytest.mark.parametrize(("kind", "column", "value"), BAD.values(), ids=BAD)
def test_a_value_that_no_column_has_is_named(rows: list[Row], kind: str, column: str, value: Any) -> None:
    bad, line = spoilt(rows, kind, column, value)
    table = table_of([{**row, "month": ""} for row in bad if row["kind"] == kind])
    ((rule, message),) = wrong_in(table, kind)
    assert rule.name in {"store-row", "store-body"}
    assert message.startswith(f"a row of kind {kind} about {bad[line - 1]['run_id']}: ") or rule.name == "store-body"


READERS = (
    ("regressions", "--whole-history"),
    ("report",),
    ("store", "history", "runs"),
    ("store", "history", "records"),
    ("store", "history", "records", "--format", "jsonl"),
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
    ended = cli("store", "history", "runs", "--store", store)
    assert (ended.code, ended.err) == (0, "")


VALUES: dict[pa.DataType, tuple[Any, ...]] = {
    pa.string(): (
        "", "{", "[]", "[[", "{}", "null", "5", '{"a": 1e999}', '{"metadata": 5}', "x" * 5000, "\x1b[31m", "2026-13-01", "9999-12-31", DEEP,
    ),
    pa.int64(): (0, -1, 2**63 - 1, -(2**63)),
    pa.float64(): (float("nan"), 1e308, -1e308, 1e-320),
}  # fmt: skip
"""What no column of the store was made for."""


@pytest.mark.parametrize("seed", range(12))
def test_no_value_in_a_row_breaks_anything(cli: Cli, rows: list[Row], tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    number = chance.randrange(len(rows))
    column = chance.choice([*set(rows[number]) - {"kind"}, "phase", "op_name", "subject", "line"])
    value = chance.choice((None, *VALUES[ROWS.field(column).type]))
    store = tmp_path / "b"
    store_unchecked([{**row, column: value} if place == number else row for place, row in enumerate(rows)], store)
    for command in (("store", "verify"), ("site", "-o", tmp_path / "site"), *chance.sample(READERS, 2)):
        ended = cli(*command, "--store", store)
        assert ended.code in {0, 1, 3}, (column, value, ended.err)
        assert "internal error" not in ended.err, (column, value)
        assert ended.code == 0 or ended.err.strip() or ended.out.strip(), (column, value)
