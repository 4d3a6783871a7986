"""Rows that another program appended to the table: what is there once more counts once, in every command and after every write."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from commandline import FIXTURES, Cli
from deltalake import DeltaTable, write_deltalake

RUN = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
OTHER = FIXTURES / "msprof" / "valid" / "ten_iterations"


@pytest.fixture
def store(cli: Cli, tmp_path: Path) -> Path:
    place = tmp_path / "s"
    assert cli("ingest", RUN, "--store", place, "--workload", "net").code == 0
    return place


def append(store: Path, kinds: set[str], *, other_run: bool = False) -> int:
    """Append the rows of some kinds once more, as other programs do: without our names of files and our words in the commit."""
    rows = pa.table(DeltaTable(str(store)).to_pyarrow_table())
    rows = rows.filter(pc.is_in(rows["kind"], pa.array(sorted(kinds))))
    if other_run:
        names = pa.array(["20250101T000000-00000000"] * rows.num_rows)
        rows = rows.set_column(rows.column_names.index("run_id"), "run_id", names)
    write_deltalake(str(store), rows, mode="append")
    return int(rows.num_rows)


def counted(cli: Cli, store: Path) -> tuple[int, int, int, int]:
    """What commands count: records and runs that are listed, records and runs of `store info`."""
    records = cli("store", "history", "records", "--store", store, "--format", "json").json["rows"]
    runs = cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]
    (info,) = cli("store", "info", "--store", store, "--format", "json").json["rows"]
    return len(records), len(runs), info["records"], info["runs"]


@pytest.mark.parametrize("kinds", [{"record"}, {"run"}, {"run", "record", "finding", "advice", "rank"}])
def test_rows_that_are_appended_once_more_count_once_and_are_told(cli: Cli, store: Path, kinds: set[str]) -> None:
    before = counted(cli, store)
    count = append(store, kinds)
    assert count
    assert counted(cli, store) == before
    ended = cli("store", "history", "runs" if kinds == {"run"} else "records", "--store", store)
    assert "another program appended" in ended.err
    assert "rows that are in the store already" in ended.err
    assert cli("store", "verify", "--store", store).code == 1, "it shows the files as they are"


def test_they_count_once_after_further_writes_too(cli: Cli, store: Path) -> None:
    records, runs, *_ = counted(cli, store)
    append(store, {"record"})
    query = "SELECT (SELECT count(*) FROM record) AS records, (SELECT count(*) FROM run) AS runs"
    assert cli("sql", "--store", store, query, "--format", "json").json["rows"] == [{"records": records, "runs": runs}]
    assert cli("ingest", OTHER, "--store", store, "--workload", "other").code in {0, 3}
    more, *_ = counted(cli, store)
    assert records < more < 2 * records
    append(store, {"record"})
    assert counted(cli, store)[:2] == (more, runs + 1)
    cli("store", "compact", "--store", store)
    assert counted(cli, store)[:2] == (more, runs + 1)
    assert cli("store", "verify", "--store", store).code == 0, "what was left out is not merged"
    assert "another program" not in cli("store", "history", "records", "--store", store).err


def test_a_run_that_is_taken_out_does_not_come_back(cli: Cli, store: Path) -> None:
    append(store, {"record"})
    (run,) = cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]
    cli("store", "undo", run["run"], "--store", store)
    assert counted(cli, store)[:3] == (0, 0, 0)


def test_rows_of_a_run_of_their_own_are_read(cli: Cli, store: Path) -> None:
    """Nothing says that they are there already; `store verify` says that their run is not."""
    records, *_ = counted(cli, store)
    assert append(store, {"record"}, other_run=True) == records
    assert counted(cli, store)[0] == 2 * records


def test_files_that_another_program_has_merged_are_read(cli: Cli, store: Path) -> None:
    before = counted(cli, store)
    assert cli("ingest", OTHER, "--store", store, "--workload", "other").code == 0
    after = counted(cli, store)
    DeltaTable(str(store)).optimize.compact()
    assert counted(cli, store) == after > before
    append(store, {"record"})
    assert counted(cli, store) == after
