"""What `convert` wrote is a PATH: its rows and findings are those of the captures, and of other files only what is declared is taken."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commandline import FIXTURES, Cli

import aoe_reports

PROFILE = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
DAMAGED = FIXTURES / "msprof" / "invalid" / "csv-ragged-row"
SUM = "SELECT sum(duration_ns) AS total_ns, count(*) AS tasks FROM task"
NAMES = pytest.mark.parametrize("name", ["capture.duckdb", "tables [1]*"])


@NAMES
def test_rows_findings_and_exit_code_are_those_of_the_captures(cli: Cli, tmp_path: Path, name: str) -> None:
    written = tmp_path / name
    assert cli("convert", DAMAGED, "-o", written).code == 1
    for query in (SUM, "FROM finding", "FROM loaded"):
        expected = cli("sql", DAMAGED, query, "--format", "json")
        found = cli("sql", written, query, "--format", "json")
        assert (found.code, found.json["rows"], found.json["findings"]) == (
            expected.code,
            expected.json["rows"],
            expected.json["findings"],
        )


@NAMES
def test_it_is_converted_again_and_opened_in_python(cli: Cli, tmp_path: Path, name: str) -> None:
    written, again = tmp_path / name, tmp_path / "again.duckdb"
    assert cli("convert", PROFILE, "-o", written).code == 0
    assert cli("convert", written, "-o", again).code == 0
    expected = cli("sql", PROFILE, SUM).out
    assert cli("sql", again, SUM).out == expected
    with aoe_reports.open_capture(written) as capture:
        assert str(capture.sql(SUM).fetchall()[0][1]) in expected
    with pytest.raises(aoe_reports.AoeReportsError, match="read alone"):
        aoe_reports.open_capture([written, PROFILE])


@pytest.mark.parametrize("name", ["capture.duckdb", "tables"])
def test_a_database_of_a_version_without_tables_of_memory_is_read(cli: Cli, tmp_path: Path, name: str) -> None:
    written, again = tmp_path / name, tmp_path / "again.duckdb"
    cli("convert", PROFILE, "-o", written)
    if written.is_dir():
        for table in ("memory_event", "memory_sample"):
            (written / f"{table}.parquet").unlink()
    else:
        with duckdb.connect(str(written)) as database:
            database.execute("DROP TABLE memory_event; DROP TABLE memory_sample")
    assert cli("sql", written, SUM).out == cli("sql", PROFILE, SUM).out
    counts = "SELECT (SELECT count(*) FROM memory_event) AS events, (SELECT count(*) FROM memory_sample) AS samples"
    ended = cli("sql", written, counts, "--format", "json")
    assert (ended.code, ended.json["rows"]) == (0, [{"events": 0, "samples": 0}])
    assert cli("convert", written, "-o", again).code == 0
    with aoe_reports.open_capture(again) as capture:
        assert capture.sql(counts).fetchall() == [(0, 0)]


def test_macros_and_views_of_a_file_are_not_used(cli: Cli, tmp_path: Path) -> None:
    written = tmp_path / "capture.duckdb"
    cli("convert", PROFILE, "-o", written)
    expected = cli("sql", PROFILE, SUM).out
    with duckdb.connect(str(written)) as database:
        database.execute("CREATE MACRO sum(x) AS 666; CREATE MACRO count() AS 666")
    assert cli("sql", written, SUM).out == expected
    with duckdb.connect(str(written)) as database:
        database.execute("DROP TABLE step; CREATE VIEW step AS SELECT * FROM read_text('/etc/passwd')")
    for arguments in (("sql", written, "FROM step"), ("convert", written, "-o", tmp_path / "again.duckdb")):
        ended = cli(*arguments)
        assert ended.code == 2
        assert "it has no table step" in ended.err
        assert "root" not in ended.out
    with (
        aoe_reports.open_capture(written) as capture,
        pytest.raises(aoe_reports.AoeReportsError, match="no table step"),
    ):
        capture.sql("FROM step")
    assert not (tmp_path / "again.duckdb").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE task ALTER duration_ns TYPE DOUBLE",
        "ALTER TABLE task ADD COLUMN more BIGINT",
        "DROP TABLE step; CREATE TABLE step(capture_id BIGINT, rank_id BIGINT GENERATED ALWAYS AS (666))",
        "DELETE FROM reading",
        "UPDATE reading SET notes = '[false, [[1]]]'",
        'UPDATE reading SET notes = \'[false, [["bad", "x", "y", "z", null, null, null]]]\'',
        "UPDATE reading SET notes = repeat('[', 100000)",
        "DROP TABLE reading",
    ],
)
def test_a_database_that_is_none_of_ours_is_refused_in_words(cli: Cli, tmp_path: Path, statement: str) -> None:
    written = tmp_path / "capture.duckdb"
    cli("convert", PROFILE, "-o", written)
    with duckdb.connect(str(written)) as database:
        database.execute(statement)
    for arguments in (("sql", written, SUM), ("convert", written, "-o", tmp_path / "again.duckdb")):
        ended = cli(*arguments)
        assert (ended.code, ended.out) == (2, "")
        assert "no tables of captures that `convert` wrote" in ended.err
    assert not (tmp_path / "again.duckdb").exists()


def test_a_file_that_is_no_database_is_refused(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "capture.duckdb"
    file.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    ended = cli("sql", file, SUM)
    assert (ended.code, "no tables of captures" in ended.err) == (2, True)


def test_a_parquet_file_of_other_columns_is_refused(cli: Cli, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    cli("convert", PROFILE, "-o", tables)
    pq.write_table(pa.table({"duration_ns": [1]}), tables / "task.parquet")
    ended = cli("sql", tables, SUM)
    assert (ended.code, "the table task has other columns" in ended.err) == (2, True)
