"""The tables of a capture database hold what other questions answer from the same files, and lead back to them."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from commandline import FIXTURES, Cli
from goldens.timeline import write_timelines

from aoe_reports.engine.ask import ask
from aoe_reports.engine.tables.database import CaptureDatabase, open_capture
from aoe_reports.schema.tables import TABLES
from aoe_reports.topics.device_time.hotspots import HotspotOptions, Hotspots
from aoe_reports.topics.steps.steps import StepOptions, Steps

FOLDERS = sorted(
    folder
    for parent in ("msprof/valid", "msprof/invalid", "mindspore", "msopprof", "rocprof")
    for folder in (FIXTURES / parent).iterdir()
)
SUMS = "SELECT rank_id, count(*), sum(duration_ns)::BIGINT FROM task {where} GROUP BY rank_id ORDER BY rank_id"


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Path, CaptureDatabase]]:
    """A fixture, and its tables."""
    with open_capture(request.param) as database:
        database.load()
        yield request.param, database


@pytest.mark.parametrize("all_tasks", [True, False], ids=["all tasks", "no communication"])
def test_tasks_are_those_that_hotspots_ranks(opened: tuple[Path, CaptureDatabase], *, all_tasks: bool) -> None:
    folder, database = opened
    chosen = HotspotOptions(by="op_name", top=10**6, all_tasks=all_tasks)
    answer = ask(Hotspots(), [folder], chosen)
    expected: defaultdict[int | None, Counter[str]] = defaultdict(Counter)
    for row in answer.rows:
        expected[row.rank_id].update(tasks=row.count, ns=row.total_ns)
    only_computing = "WHERE kind <> 'communication' AND operator_id IS NOT NULL"
    found = database.sql(SUMS.format(where="" if all_tasks else only_computing)).fetchall()
    kinds = {kind for (kind,) in database.sql("SELECT DISTINCT kind FROM source").fetchall()}
    reported = {finding.rule for finding in database.findings}
    if not all_tasks and not kinds & {"op_summary", "kernel_details"}:
        return  # of a table that also holds events and copies, `hotspots` ranks kernels
    assert {rank: (count, total) for rank, count, total in found} == {
        rank: (counted["tasks"], counted["ns"]) for rank, counted in expected.items()
    }
    errors = {finding.rule for finding in answer.findings if finding.severity == "error"}
    assert errors - reported <= {"nothing-measured", "expected-absent"}


def test_steps_are_those_of_the_question(opened: tuple[Path, CaptureDatabase]) -> None:
    folder, database = opened
    answer = ask(Steps(), [folder], StepOptions())
    columns = TABLES["step"].names[1:]
    found = database.sql(f"SELECT {', '.join(columns)} FROM step").fetchall()
    if folder.name == "cluster_of_two_ranks":
        assert found == []  # its steps are in a table of the cluster, which belongs to no capture of a rank
        return
    assert Counter(found) == Counter(tuple(getattr(row, name) for name in columns) for row in answer.rows)


def test_no_row_is_lost_without_a_word(opened: tuple[Path, CaptureDatabase]) -> None:
    _, database = opened
    for path, read, loaded, reported in database.sql(
        "SELECT path, rows_read, rows_loaded, rows_reported FROM loaded JOIN source USING (source_id)"
    ).fetchall():
        assert read == loaded + reported or any(finding.path == path for finding in database.findings)
    counted = database.sql(
        "SELECT (SELECT count(*) FROM task), (SELECT coalesce(sum(rows_loaded), 0) FROM loaded WHERE table_name = 'task')"
    ).fetchall()
    assert len({*counted[0]}) == 1


def test_a_task_leads_back_to_its_line() -> None:
    folder = FIXTURES / "msprof" / "invalid" / "csv-ragged-row"
    with open_capture(folder) as database:
        rows = database.sql(
            "SELECT path, source_line, name FROM task JOIN source USING (source_id) JOIN operator USING (operator_id)"
        ).fetchall()
    assert rows
    for path, line, name in rows:
        with Path(path).open(encoding="utf-8", newline="") as file:
            assert name in next(csv.reader([file.read().splitlines()[line - 1]]))


def test_events_are_those_of_the_file(tmp_path: Path) -> None:
    write_timelines(tmp_path)
    with open_capture(tmp_path) as database:
        counts = (
            "SELECT rank_id, phase, count(*), min(event_number), max(event_number) FROM event GROUP BY ALL ORDER BY ALL"
        )
        assert database.sql(counts).fetchall() == [(0, "X", 20, 1, 20), (1, "X", 20, 1, 20)]
        launches = (
            "SELECT count(*) FROM event JOIN event_args USING (source_id, event_number) "
            "WHERE process = 'CANN' AND args->>'$.level' = 'node'"
        )
        assert database.sql(launches).fetchall() == [(12,)]


def test_every_table_and_column_has_its_comment(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "capture.duckdb"
    assert cli("convert", FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks", "-o", file).code == 0
    with duckdb.connect(str(file), read_only=True) as database:
        query = "SELECT table_name, comment FROM duckdb_tables() WHERE table_name <> 'reading'"
        tables = dict(database.sql(query).fetchall())
        columns = database.sql(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal AND table_name <> 'reading'"
        )
        found = {(table, column): (kind, comment) for table, column, kind, comment in columns.fetchall()}
    assert tables == {table.name: table.comment for table in TABLES.values()}
    assert found == {
        (table.name, column.name): (column.type, column.comment)
        for table in TABLES.values()
        for column in table.columns
    }


def test_what_a_column_refers_to_is_there() -> None:
    for table in TABLES.values():
        assert {*table.key} <= {*table.names}
        for column in table.columns:
            if column.refers_to:
                other, _, name = column.refers_to.partition(".")
                assert name in TABLES[other].names


def test_sources_of_several_captures_are_numbered_through() -> None:
    with open_capture(FIXTURES / "msprof" / "valid" / "communication_of_four_ranks") as database:
        rows = database.sql("SELECT capture_id, source_id FROM source ORDER BY source_id").fetchall()
    assert [source for _, source in rows] == [*range(1, len(rows) + 1)]
    assert len({capture for capture, _ in rows}) == 4
    assert rows == sorted(rows)
