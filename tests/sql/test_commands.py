"""`sql` and `convert` through the command line: forms, hostile queries, limits, files that are whole or not there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow.parquet as pq
import pytest
from commandline import FIXTURES, Cli

from aoe_reports.engine.tables import query_process
from aoe_reports.engine.tables.database import open_capture
from aoe_reports.engine.tables.query_process import Limits, started

T = TypeVar("T")
PROFILE = str(FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks")
DAMAGED = str(FIXTURES / "msprof" / "invalid" / "csv-ragged-row")
BY_CORE = "SELECT core, count(*) AS tasks, sum(duration_ns) AS total_ns FROM task GROUP BY core ORDER BY core"


@pytest.mark.slow
def test_every_form_has_the_rows_with_the_names_and_units_of_the_query(cli: Cli, tmp_path: Path) -> None:
    rows = cli("sql", PROFILE, BY_CORE, "--format", "json").json["rows"]
    assert rows[0] == {"core": "AI_CORE", "tasks": 12, "total_ns": 2126610}
    assert cli("sql", PROFILE, BY_CORE, "--format", "csv").out.splitlines()[:2] == [
        "core,tasks,total_ns",
        "AI_CORE,12,2126610",
    ]
    assert "AI_CORE            12  2,126,610" in cli("sql", PROFILE, BY_CORE).out
    assert "| AI\\_CORE | 12 | 2,126,610 |" in cli("sql", PROFILE, BY_CORE, "--format", "markdown").out
    file = tmp_path / "rows.parquet"
    assert cli("sql", PROFILE, BY_CORE, "--format", "parquet", "-o", str(file)).code == 0
    assert pq.read_table(file).num_rows == len(rows)


def test_text_shows_as_many_rows_as_it_is_asked_for(cli: Cli) -> None:
    ended = cli("sql", PROFILE, "SELECT source_row FROM task ORDER BY source_id, source_row", "--rows", "3")
    assert "The first 3 of 32 rows are listed; `--rows 32` lists all." in ended.out


def test_values_of_any_type_leave_as_json(cli: Cli) -> None:
    query = (
        "SELECT 1.5 AS decimal, 2::HUGEINT AS whole, [1, 2] AS list, {'a': 1} AS struct, 'x'::BLOB AS bytes, "
        "DATE '2026-01-02' AS day, NULL AS nothing, 'NaN'::DOUBLE AS no_number, true AS yes"
    )
    assert cli("sql", PROFILE, query, "--format", "json").json["rows"] == [
        {
            "decimal": 1.5,
            "whole": 2,
            "list": [1, 2],
            "struct": {"a": 1},
            "bytes": "78",
            "day": "2026-01-02",
            "nothing": None,
            "no_number": None,
            "yes": True,
        }
    ]


def test_moments_to_the_nanosecond_leave_as_text(cli: Cli) -> None:
    query = "SELECT make_timestamp_ns(1700000000123456789) AS moment, INTERVAL 1 DAY AS day, TIME '01:02:03' AS clock"
    (row,) = cli("sql", PROFILE, query, "--format", "json").json["rows"]
    assert row["moment"] == "2023-11-14 22:13:20.123456789"
    assert row["clock"].startswith("01:02:03")
    assert cli("sql", PROFILE, query).code == 0


@pytest.mark.slow
def test_a_query_comes_from_a_file(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_text(BY_CORE, encoding="utf-8")
    assert cli("sql", PROFILE, "--file", str(file)).out == cli("sql", PROFILE, BY_CORE).out
    file.write_bytes(b"SELECT '\xff'")
    assert (cli("sql", PROFILE, "--file", str(file)).code, cli("sql", PROFILE, "--file", "absent.sql").code) == (2, 2)
    assert cli("sql", PROFILE, BY_CORE, "--file", str(file)).code == 2


@pytest.mark.slow
def test_damage_is_reported_beside_the_rows(cli: Cli) -> None:
    ended = cli("sql", DAMAGED, "SELECT count(*) AS tasks FROM task", "--format", "json")
    assert (ended.code, ended.rules()) == (1, {"csv-ragged-row"})
    query = "SELECT rule, line FROM finding"
    assert cli("sql", DAMAGED, query, "--format", "csv").out.splitlines()[1].startswith("csv-ragged-row,")
    assert cli("sql", DAMAGED, "SELECT count(*) AS captures FROM capture").code == 0  # no table of tasks is read


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT 1; SELECT 2", "expected one SELECT, found 2"),
        ("", "expected one SELECT, found 0"),
        ("DROP TABLE task", "no other statement"),
        ("COPY task TO '/tmp/x'", "no other statement"),
        ("ATTACH '/tmp/x'", "no other statement"),
        ("INSTALL httpfs", "no other statement"),
        ("SET memory_limit = '8GB'", "no other statement"),
        ("PRAGMA database_list", "no other statement"),
        ("CREATE TEMP TABLE x AS SELECT 1", "no other statement"),
        ("SELECT * FROM nothing", "no table nothing; the tables are capture, source"),
        ("SELECT * FROM '/etc/passwd'", "no table /etc/passwd"),
        ("SELECT * FROM read_csv('/etc/passwd')", "read_csv is not allowed"),
        ("SELECT * FROM read_text('/etc/passwd')", "read_text is not allowed"),
        ("SELECT * FROM glob('/*')", "glob is not allowed"),
        ("SELECT * FROM duckdb_settings()", "duckdb_settings is not allowed"),
        ("SELECT * FROM duckdb_databases", "no table duckdb_databases"),
        ("SELECT * FROM information_schema.tables", "no table information_schema.tables"),
        ("SELECT * FROM query('SELECT 1')", "query is not allowed"),
        ("SELECT * FROM (SHOW DATABASES)", "lists the columns of a table"),
        ("DESCRIBE task", "`sql --tables TABLE` lists the columns of a table"),
        ("SELECT current_setting('temp_directory')", "current_setting is not allowed"),
        ("SELECT (SELECT path FROM duckdb_databases() LIMIT 1)", "duckdb_databases is not allowed"),
        ("WITH task AS (FROM glob('/*')) FROM task", "glob is not allowed"),
        ("SELECT nope FROM task", 'column "nope" not found'),
        ("SELECT rowid FROM task", 'column "rowid" not found'),
    ],
)
def test_a_query_can_do_nothing_but_select_from_the_tables(cli: Cli, query: str, reason: str) -> None:
    ended = cli("sql", PROFILE, query)
    assert (ended.code, ended.out) == (2, "")
    assert reason in ended.err


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM (WITH duckdb_databases AS (SELECT 1) SELECT 1), duckdb_databases",
        "WITH a AS (FROM duckdb_databases), duckdb_databases AS (SELECT 1) FROM a",
        "WITH duckdb_databases AS (FROM duckdb_databases) FROM duckdb_databases",
        "WITH RECURSIVE duckdb_tables AS (FROM duckdb_tables UNION FROM duckdb_tables) FROM duckdb_tables",
    ],
)
def test_a_name_of_a_with_stands_for_its_query_only_where_it_is_known(cli: Cli, query: str) -> None:
    ended = cli("sql", PROFILE, query)
    assert (ended.code, ended.out) == (2, "")
    assert "sql: no table duckdb_" in ended.err


@pytest.mark.parametrize("name", ["task", "Task"])
def test_a_with_may_have_the_name_of_a_table_that_it_reads(cli: Cli, name: str) -> None:
    query = f"WITH {name} AS (SELECT * FROM task) SELECT count(*) AS tasks FROM tasK"
    assert cli("sql", PROFILE, query, "--format", "json").json["rows"] == [{"tasks": 32}]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("WITH gone AS (DELETE FROM task RETURNING *) FROM gone", "no other statement"),
        (f"SELECT {'1 + ' * 250}1", "nested too deeply"),
        (f"SELECT {'(' * 10_000}1{')' * 10_000}", "expression depth"),
        ("SELECT '\udcff'", "it is no UTF-8"),
    ],
    ids=["a statement in a WITH", "a long sum", "parentheses", "no UTF-8"],
)
def test_a_query_that_cannot_be_checked_is_refused(cli: Cli, query: str, reason: str) -> None:
    ended = cli("sql", PROFILE, query)
    assert (ended.code, ended.out) == (2, "")
    assert reason in ended.err


def test_columns_of_one_name_are_told_apart(cli: Cli) -> None:
    query = "SELECT 1 AS a, 2 AS a, 3 AS a_1, 4 AS a"
    assert cli("sql", PROFILE, query, "--format", "csv").out == "a,a_2,a_1,a_3\n1,2,3,4\n"


@pytest.mark.slow
def test_a_result_without_rows_has_its_columns(cli: Cli, tmp_path: Path) -> None:
    query, file = "SELECT kind, duration_ns FROM task WHERE false", tmp_path / "rows.parquet"
    assert cli("sql", PROFILE, query, "--format", "csv").out == "kind,duration_ns\n"
    assert cli("sql", PROFILE, query, "--format", "parquet", "-o", str(file)).code == 0
    assert pq.read_schema(file).names == ["kind", "duration_ns"]


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_a_query_that_fails_after_many_rows_leaves_no_file(cli: Cli, tmp_path: Path, form: str) -> None:
    query = "SELECT CASE WHEN i > 200000 THEN error('too far') ELSE 'x' END AS a FROM range(300000) AS t(i)"
    ended = cli("sql", PROFILE, query, "--format", form, "-o", str(tmp_path / "rows"))
    assert (ended.code, list(tmp_path.iterdir())) == (2, [])
    assert "too far" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.slow
def test_who_stops_reading_waits_for_nothing() -> None:
    query = "SELECT i, repeat('x', 100) AS a FROM range(3000000) AS t(i)"
    command = [sys.executable, "-m", "aoe_reports", "sql", PROFILE, query, "--format", "csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"i,a\n"
        process.stdout.close()
        assert process.stderr is not None
        assert (process.stderr.read(), process.wait(timeout=40)) == (b"", 0)


@pytest.mark.parametrize("is_running", [False, True], ids=["while it begins", "while it runs"])
def test_a_query_ends_with_the_command_that_was_killed(*, is_running: bool) -> None:
    query = "SELECT count(*) FROM range(10000000000000) AS t(x) WHERE x % 7 = 3"
    with subprocess.Popen(
        [sys.executable, "-m", "aoe_reports", "sql", PROFILE, query], stderr=subprocess.PIPE
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        found = _until(lambda: [*map(int, children.read_text().split())])
        _until(lambda: "query_server" in Path(f"/proc/{found[0]}/cmdline").read_text())
        if is_running:
            _until(lambda: _is_limited(found[0]))
        process.kill()
    assert _until(lambda: not Path(f"/proc/{found[0]}").exists() or _state_of(found[0]) == "Z")


def _until(tried: Callable[[], T]) -> T:
    for _ in range(2400):
        if found := tried():
            return found
        time.sleep(0.05)
    pytest.fail("it did not happen")


def _is_limited(process: int) -> bool:
    """Whether it may no longer take all memory, which is the last that it sets before it opens the database."""
    limits = Path(f"/proc/{process}/limits").read_text().splitlines()
    return all("unlimited" not in limit for limit in limits if limit.startswith("Max address space"))


def _state_of(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def test_names_of_a_query_of_its_own_are_no_tables(cli: Cli) -> None:
    recursive = (
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) AS six FROM n"
    )
    assert cli("sql", PROFILE, recursive, "--format", "json").json["rows"] == [{"six": 6}]


@pytest.mark.parametrize("query", ["SELECT repeat('x', 2000000000)", "SELECT list_sum(range(500000000))"])
def test_a_query_that_takes_too_much_memory_is_an_error(cli: Cli, query: str) -> None:
    ended = cli("sql", PROFILE, query, "--max-memory", str(1 << 27))
    assert (ended.code, ended.out) == (3, "")
    assert "takes more memory than 134,217,728 bytes" in ended.err


def test_a_query_that_takes_too_long_is_stopped(cli: Cli) -> None:
    ended = cli("sql", PROFILE, "SELECT count(*) FROM range(10000000000000) AS t(x) WHERE x % 7 = 3", "--deadline", "1")
    assert (ended.code, "stopped after 1 s" in ended.err) == (3, True)


def test_tables_are_listed_in_both_languages(cli: Cli) -> None:
    rows = cli("sql", "--tables", "--format", "json").json["rows"]
    names = {of: [row["name"] for row in rows if row["of"] == of] for of in ("captures", "a store")}
    assert names["captures"] == [
        "capture",
        "source",
        "loaded",
        "finding",
        "step",
        "task",
        "operator",
        "event",
        "event_args",
        "memory_event",
        "memory_sample",
    ]
    assert names["a store"][:2] == ["run", "record"]
    columns = cli("sql", "--tables", "task", "--format", "json").json["rows"]
    duration = next(row for row in columns if row["name"] == "duration_ns")
    assert (duration["type"], duration["unit"]) == ("BIGINT", "ns")
    assert cli("sql", "--tables", "task").out != cli("sql", "--tables", "task", "--lang", "zh").out
    assert cli("sql", "--tables", "nothing").code == 2


@pytest.mark.parametrize("arguments", [(), (PROFILE,), (PROFILE, BY_CORE, "--format", "parquet")])
def test_what_cannot_mean_anything_is_refused(cli: Cli, arguments: tuple[str, ...]) -> None:
    assert cli("sql", *arguments).code == 2


@pytest.mark.slow
def test_convert_writes_the_tables_as_one_file_or_as_parquet(cli: Cli, tmp_path: Path) -> None:
    file, folder = tmp_path / "new" / "capture.duckdb", tmp_path / "tables"
    assert cli("convert", PROFILE, "-o", str(file)).code == 0
    assert cli("convert", PROFILE, "-o", str(folder)).code == 0
    expected = [tuple(row.values()) for row in json.loads(cli("sql", PROFILE, BY_CORE, "--format", "json").out)["rows"]]
    with duckdb.connect(str(file), read_only=True) as connection:
        assert connection.sql(BY_CORE).fetchall() == expected
    with duckdb.connect() as connection:
        assert connection.sql(BY_CORE.replace("FROM task", f"FROM '{folder}/task.parquet'")).fetchall() == expected
    assert sorted(path.name for path in tmp_path.rglob("*") if not path.name.endswith(".parquet")) == [
        "capture.duckdb",
        "new",
        "tables",
    ]


@pytest.mark.slow
def test_convert_replaces_a_file_and_no_folder(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "capture.duckdb"
    file.write_text("something else")
    assert cli("convert", DAMAGED, "-o", str(file)).code == 1
    with duckdb.connect(str(file), read_only=True) as connection:
        assert connection.sql("SELECT DISTINCT rule FROM finding").fetchall() == [("csv-ragged-row",)]
    assert cli("convert", PROFILE, "-o", str(tmp_path)).code == 2
    assert cli("convert", PROFILE, "-o", str(tmp_path / "capture.csv")).code == 2
    ended = cli("convert", PROFILE, "-o", str(file / "below"))
    assert (ended.code, "cannot be written" in ended.err) == (3, True)
    assert [path.name for path in tmp_path.iterdir()] == ["capture.duckdb"]


def test_convert_writes_what_a_link_leads_to_and_deletes_what_killed_runs_left(cli: Cli, tmp_path: Path) -> None:
    link, file, leftover = tmp_path / "link.duckdb", tmp_path / "file.duckdb", tmp_path / ".file.duckdb-abcd_123"
    link.symlink_to(file.name)
    leftover.mkdir()
    assert cli("convert", PROFILE, "-o", str(link)).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.duckdb", "link.duckdb"]
    assert link.is_symlink()


def test_where_nothing_is_found_both_say_so(cli: Cli, tmp_path: Path) -> None:
    for command in (("sql", str(tmp_path), BY_CORE), ("convert", str(tmp_path), "-o", str(tmp_path / "x.duckdb"))):
        ended = cli(*command)
        assert ended.code != 0
        assert ended.err
    assert list(tmp_path.iterdir()) == []


def test_no_module_is_taken_from_the_current_folder(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("duckdb.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('taken from the current folder')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(query_process, "subprocess", subprocess)
    assert cli("sql", PROFILE, "SELECT 1 AS one", "--format", "json").json["rows"] == [{"one": 1}]


def test_a_refusal_of_any_length_is_printed(cli: Cli, tmp_path: Path) -> None:
    query = tmp_path / "query.sql"
    query.write_text(f'SELECT * FROM "{"a" * 200_000}"')
    ended = cli("sql", PROFILE, "--file", query)
    assert (ended.code, "no table aaa" in ended.err) == (2, True)


def test_the_time_in_which_rows_wait_for_their_reader_does_not_count() -> None:
    with started("SELECT * FROM range(100000)", [], Limits()) as process:
        assert process.tables() == frozenset()
        _, batches = process.rows()
        next(batches)
        timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
        assert all(timer.finished.is_set() for timer in timers)


def test_times_within_lists_are_texts(cli: Cli) -> None:
    query = "SELECT [make_timestamp_ns(1700000000000000001)] AS times, {'at': make_timestamp_ns(1)} AS one"
    assert cli("sql", PROFILE, query, "--format", "json").json["rows"] == [
        {"times": ["2023-11-14 22:13:20.000000001"], "one": {"at": "1970-01-01 00:00:00.000000001"}}
    ]


@pytest.mark.parametrize("lost", [0, 1])
def test_a_timeline_that_cannot_be_read_costs_no_other(tmp_path: Path, lost: int) -> None:
    shutil.copytree(FIXTURES / "msprof" / "valid" / "ten_iterations_timeline", tmp_path / "capture")
    with open_capture(tmp_path / "capture", cache=False) as database:
        sorted(tmp_path.rglob("step_trace_*.json"))[lost].unlink()
        sources = "SELECT count(DISTINCT source_id) FROM event"
        assert database.sql(sources).fetchall() == [(1,)]
        assert [finding.rule for finding in database.findings] == ["unreadable"]
