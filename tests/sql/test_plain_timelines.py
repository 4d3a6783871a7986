"""Events that SQL inserts in one pass are those that every other reading of a timeline gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.engine.tables.timeline_table import READ, insert_plain
from aoe_reports.formats.trace.events import stream_events, with_findings
from aoe_reports.formats.trace.shape import OddFileError, wanted_schema
from aoe_reports.formats.trace.walk import batches_by_walking, look_by_walking
from aoe_reports.schema.tables import EVENT

FIXTURES = Path(__file__).parents[2] / "fixtures"
TIMELINES = sorted(path for path in (FIXTURES / "msprof" / "valid").rglob("*.json") if b'"ph"' in path.read_bytes())
IDS = {"capture": 1, "rank": 0, "source": 1}
PIECES = (",", '"', "{", "}", "1e3", "0x1A", "1_000", "NaN", "\\u0061", '"dur":-1,', '"ph":"B",', '"stream id":4,')


@pytest.fixture(scope="module")
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(EVENT.ddl)
        connection.execute("CREATE TABLE expected AS FROM event")
        yield connection


def rows_that_differ(tables: duckdb.DuckDBPyConnection, batches: Iterator[object]) -> list[object]:
    """The events in one of `event` and some batches."""
    number = "row_number() OVER () + (SELECT count(*) FROM expected)"
    for batch in batches:
        tables.register("batch", batch)
        tables.execute(f"INSERT INTO expected SELECT 1, 0, 1, {number}, {', '.join(READ)} FROM batch")
        tables.unregister("batch")
    return tables.execute(
        "FROM event EXCEPT ALL FROM expected UNION ALL (FROM expected EXCEPT ALL FROM event)"
    ).fetchall()


def emptied(tables: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    for table in ("event", "expected"):
        tables.execute(f"DELETE FROM {table}")
    return tables


@pytest.mark.parametrize("path", TIMELINES, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_one_pass_gives_what_a_stream_of_events_gives(path: Path, tables: duckdb.DuckDBPyConnection) -> None:
    try:
        found = insert_plain(emptied(tables), path, IDS)
    except OddFileError:
        assert tables.execute("SELECT count(*) FROM event").fetchall() == [(0,)]
        return
    stream = stream_events(path, READ)
    assert found == [*stream.findings]
    assert rows_that_differ(tables, iter(stream.batches)) == []


@given(data=st.data())
def test_a_damaged_timeline_is_refused_or_read_as_event_by_event(
    data: st.DataObject, tables: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = data.draw(st.sampled_from(TIMELINES)).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.sampled_from(PIECES)).encode() + whole[at + data.draw(st.integers(0, 3)) :]
    path = tmp_path_factory.mktemp("damaged") / "trace_view.json"
    path.write_bytes(damaged)
    try:
        found = insert_plain(emptied(tables), path, IDS)
    except OddFileError:
        assert tables.execute("SELECT count(*) FROM event").fetchall() == [(0,)]
        return
    look = look_by_walking(path)
    assert found == [*with_findings(path, look).findings]
    assert rows_that_differ(tables, batches_by_walking(path, look.names, wanted_schema(READ))) == []
