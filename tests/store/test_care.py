"""Care of the store, through the command line: whole, damaged, undone, merged, copied."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commandline import Cli, Ended
from deltalake import DeltaTable, write_deltalake

from aoe_reports.engine.question import Notes
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.history.runs.ingest import ingest as ingest_paths
from aoe_reports.simulation.nights import MODEL, write_nights
from aoe_reports.store import History, Origin, equals
from aoe_reports.store.care import compact
from aoe_reports.store.layout import PARTITIONS, ROW_COUNTS, ROWS, RUN_KINDS
from aoe_reports.store.parts import NewFile, StoredFile
from aoe_reports.topics.records.options import IngestOptions

NIGHTS = 8


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nights")
    write_nights(folder, NIGHTS)
    return folder


@pytest.fixture(scope="module")
def ingested(nights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The nights as an ingest leaves them, run by run; each test has a copy."""
    folder = tmp_path_factory.mktemp("ingested") / "store"
    ingest_paths([nights], str(folder), IngestOptions(workload=MODEL), Notes())
    return folder


@pytest.fixture
def store(ingested: Path, tmp_path: Path) -> Path:
    return shutil.copytree(ingested, tmp_path / "store")


def ingest(cli: Cli, path: Path, store: Path) -> list[str]:
    ended = cli("ingest", path, "--store", store, "--workload", MODEL, "--format", "json")
    return [row["outcome"] for row in ended.json["rows"]]


def care(cli: Cli, store: Path, command: str, *more: object) -> Ended:
    return cli("store", command, *more, "--store", store, "--format", "json")


def row_of(cli: Cli, store: Path, command: str, *more: object) -> dict[str, Any]:
    ended = care(cli, store, command, *more)
    assert ended.code == 0, ended.err
    (row,) = ended.json["rows"]
    return row


def content(store: Path) -> list[dict[str, Any]]:
    """Every row of a store, whatever file it lies in."""
    history = History.open(str(store))
    rows = [row for kind in (*RUN_KINDS, "change") for row in history.rows(kind).to_pylist()]
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


def parts(store: Path, kind: str) -> list[StoredFile]:
    return [part for part in History.open(str(store)).log.parts() if part.kind == kind]


def last_commit(store: Path) -> Path:
    return max((store / "_delta_log").glob("*.json"))


def test_info_counts_what_history_lists(cli: Cli, store: Path) -> None:
    row = row_of(cli, store, "info")
    history = History.open(str(store))
    assert list(row) == ["runs", "records", "bytes", "files", "version", "format", "last_compaction"]
    assert (row["runs"], row["records"]) == (len(history.runs()), history.records(["run_id"]).num_rows)
    assert row["format"] == 2


def test_every_commit_says_who_made_it(cli: Cli, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTOR", "octo")
    row_of(cli, store, "compact")
    newest, *_, oldest = DeltaTable(str(store)).history()
    assert (newest["command"], newest["user"], oldest["command"]) == ("store compact", "octo", "ingest")
    assert all("aoe_reports_version" in commit for commit in DeltaTable(str(store)).history())


def test_a_whole_store_is_said_to_be_whole(cli: Cli, store: Path) -> None:
    ended = care(cli, store, "verify")
    assert (ended.code, ended.json["findings"]) == (0, [])


def flip(path: Path) -> None:
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 3] ^= 4
    path.write_bytes(damaged)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("kind", ["run", "record"])
@pytest.mark.parametrize(
    ("damage", "rule"), [(flip, "store-damaged"), (truncate, "store-truncated"), (Path.unlink, "store-missing")]
)
def test_a_damaged_file_is_named_and_no_number_of_it_used(
    cli: Cli, store: Path, damage: Any, rule: str, kind: str
) -> None:
    path, before = store / parts(store, kind)[0].path, content(store)
    damage(path)
    ended = care(cli, store, "verify")
    assert (ended.code, ended.json["reasons"]) == (1, ["damage"])
    assert (rule, str(path)) in {(finding["rule"], finding["path"]) for finding in ended.json["findings"]}
    read = cli("store", "history", f"{kind}s", "--store", store)
    assert (read.code, read.err.count("\n")) == (3, 1) or content(store) == before  # a bit that tells nothing
    merged = cli("store", "compact", "--store", store)
    assert (merged.code, merged.err.count("\n")) == (3, 1)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def drop_last_line(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize("damage", [empty, truncate, drop_last_line])
def test_a_damaged_last_commit_is_named_and_nothing_is_built_on_it(
    cli: Cli, store: Path, nights: Path, damage: Any
) -> None:
    damage(last_commit(store))
    ended = care(cli, store, "verify")
    assert ended.code == 1
    assert str(last_commit(store)) in {f["path"] for f in ended.json["findings"] if f["rule"] == "store-log"}
    for command in (
        (
            "store",
            "history",
        ),
        ("ingest", nights),
        ("store", "info"),
    ):
        refused = cli(*command, "--store", store)
        assert (refused.code, refused.err.count("\n")) == (3, 1)


def test_a_commit_that_is_missing_in_the_row_is_named(cli: Cli, store: Path) -> None:
    missing = store / "_delta_log" / f"{3:020}.json"
    missing.unlink()
    ended = care(cli, store, "verify")
    assert str(missing) in {f["path"] for f in ended.json["findings"] if f["rule"] == "store-log"}


def test_compaction_merges_and_sorts_and_changes_no_row(cli: Cli, store: Path, nights: Path) -> None:
    before = content(store)
    done = row_of(cli, store, "compact")
    assert done["files"] < done["files_before"]
    assert content(store) == before
    assert set(ingest(cli, nights, store)) == {"unchanged"}
    assert row_of(cli, store, "compact")["rows_merged"] == 0
    for part in parts(store, "record"):
        workloads = pq.read_table(store / part.path, columns=["workload"])["workload"].to_pylist()
        assert workloads == sorted(workloads)


def test_an_ingest_of_many_merges_small_files_by_itself(cli: Cli, tmp_path: Path) -> None:
    write_nights(tmp_path / "nights", 40)
    ingest(cli, tmp_path / "nights", tmp_path / "store")
    row = row_of(cli, tmp_path / "store", "info")
    assert row["last_compaction"] is not None
    assert row["files"] < row["runs"]
    assert care(cli, tmp_path / "store", "verify").code == 0


@pytest.mark.slow
def test_a_damaged_file_keeps_an_ingest_from_merging_and_that_is_said(
    cli: Cli, nights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aoe_reports.store.care.SURPLUS", 2)
    first, *others = sorted(path for path in nights.iterdir())
    store = tmp_path / "store"
    for night in others:
        ingest(cli, night, store)
    flip(store / parts(store, "record")[0].path)
    ingest(cli, others[-1], store)
    ended = cli("ingest", first, "--store", store, "--workload", MODEL, "--format", "json")
    assert [row["outcome"] for row in ended.json["rows"]] == ["added"]
    for _ in others:  # what is whole is merged, and what is not is told
        ended = cli("ingest", first, "--store", store, "--workload", MODEL, "--format", "json")
    assert "store-not-compacted" in ended.rules()
    assert len(parts(store, "run")) == len(parts(store, "finding")) == 1 < len(parts(store, "record"))
    files = len(list(store.rglob("*.parquet")))
    cli("ingest", first, "--store", store, "--workload", MODEL)
    assert len(list(store.rglob("*.parquet"))) == files  # what a failed merging had written is gone


def test_vacuum_keeps_what_was_in_force_lately(cli: Cli, store: Path) -> None:
    before = content(store)
    row_of(cli, store, "compact")
    files = len(list(store.rglob("*.parquet")))
    for path in store.rglob("kind=*/**/*.parquet"):
        os.utime(path, (1, 1))  # written long ago, taken out just now
    assert row_of(cli, store, "vacuum")["files_deleted"] == 0
    assert care(cli, store, "vacuum", "--days", 6).code == 2
    deleted = row_of(cli, store, "vacuum", "--days", 0, "--force")["files_deleted"]
    assert 0 < deleted < files
    assert content(store) == before
    assert care(cli, store, "verify").code == 0


def test_a_run_that_was_undone_is_gone_told_of_and_can_come_back(cli: Cli, store: Path, nights: Path) -> None:
    row_of(cli, store, "compact")
    before = content(store)
    run = History.open(str(store)).runs()[2].run_id
    assert row_of(cli, store, "undo", run)["run"] == run
    assert {row["run_id"] for row in content(store) if row["kind"] != "change"} == {row["run_id"] for row in before} - {
        run
    }
    (change,) = History.open(str(store)).rows("change").to_pylist()
    assert (change["subject"], change["state"]) == (run, "undone")
    assert json.loads(change["body"])["command"] == "store undo"
    again = care(cli, store, "undo", run)
    assert (again.code, again.err.count("\n")) == (3, 1)
    assert sorted(ingest(cli, nights, store)) == ["added", *["unchanged"] * NIGHTS]
    assert [row for row in content(store) if row["kind"] != "change"] == before
    assert care(cli, store, "verify").code == 0


def test_a_store_of_a_newer_format_is_refused_politely(cli: Cli, store: Path, nights: Path) -> None:
    DeltaTable(str(store)).alter.set_table_description("aoe-reports history, format 3")
    for command in (
        (
            "store",
            "history",
        ),
        ("ingest", nights),
        ("store", "verify"),
    ):
        ended = cli(*command, "--store", store)
        assert (ended.code, ended.err.count("\n")) == (3, 1)
        assert "newer version" in ended.err


def without_counts(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a run as it was when runs did not say how many rows they have."""
    if row["kind"] != "run":
        return row
    return {**row, "body": canonical_json({k: v for k, v in json.loads(row["body"]).items() if k != ROW_COUNTS})}


def test_a_store_of_an_older_format_is_read_and_gets_new_columns_when_it_is_written(
    cli: Cli, store: Path, nights: Path, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    before = [without_counts(row) for row in content(store) if row["kind"] != "advice"]  # both came later
    lacking = [name for name in ROWS.names if name != "state"]  # as if it had come later
    rows = [{**row, "month": "2026-01"} if row["kind"] == "run" else row for row in before]
    write_deltalake(
        str(old),
        pa.Table.from_pylist(rows, schema=ROWS).select(lacking),
        partition_by=PARTITIONS,
        description="aoe-reports history, format 1",
    )
    assert len(cli("store", "history", "--store", old, "--format", "json").json["rows"]) == NIGHTS + 1
    assert care(cli, old, "verify").code == 0
    assert set(ingest(cli, nights, old)) == {"unchanged"}
    assert row_of(cli, old, "info")["format"] == 2
    row_of(cli, old, "compact")
    assert content(old) == before
    run = History.open(str(old)).runs()[0].run_id
    row_of(cli, old, "undo", run)
    assert History.open(str(old)).rows("change")["state"].to_pylist() == ["undone"]


def test_columns_of_a_newer_version_survive_compaction(cli: Cli, store: Path) -> None:
    table = DeltaTable(str(store))
    extra = pa.schema([*ROWS, pa.field("of_tomorrow", pa.string())])
    run = {
        "kind": "finding",
        "month": "2026-01",
        "run_id": History.open(str(store)).runs()[0].run_id,
        "timestamp_ns": 1,
    }
    row = pa.Table.from_pylist([{**run, "of_tomorrow": "kept"}], schema=extra)
    write_deltalake(table, row, mode="append", schema_mode="merge")
    row_of(cli, store, "compact")
    read = pa.table(DeltaTable(str(store)).scan(columns=["of_tomorrow"], predicate="of_tomorrow IS NOT NULL"))
    assert read["of_tomorrow"].to_pylist() == ["kept"]


@pytest.mark.parametrize(
    "command",
    [
        ("store", "info"),
        ("store", "verify"),
        (
            "store",
            "history",
        ),
        ("store", "compact"),
    ],
)
def test_what_is_no_store_is_refused_in_one_line(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    write_deltalake(str(tmp_path / "other"), pa.table({"a": [1]}))
    for name in ("file", "empty", "nothing", "other", "file/below"):
        ended = cli(*command, "--store", tmp_path / name)
        assert (ended.code, ended.err.count("\n")) == (3, 1), ended.err


@pytest.fixture
def closed(store: Path) -> Iterator[Path]:
    """A store that its reader may not write into; root may everything, so the reader is another user then."""
    with tempfile.TemporaryDirectory() as name:
        copy = shutil.copytree(store, Path(name) / "store")
        compact(History.open(str(copy)).log)
        History.open(str(copy)).undo(History.open(str(copy)).runs()[0].run_id, 0)
        shutil.copytree(copy, Path(name) / "merged")
        compact(History.open(str(Path(name) / "merged")).log)
        for path in (Path(name), *Path(name).rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield copy
        for path in (Path(name), *Path(name).rglob("*")):
            path.chmod(0o755)


AS_NOBODY = """
import contextlib, io, json, os, sys
from aoe_reports.cli.main import main

def run(*command):
    sys.argv = ["aoe-reports", *command]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as ended:
            return ended.code, out.getvalue(), err.getvalue()

store, commands = sys.argv[1], json.loads(sys.argv[2])
if os.geteuid() == 0:
    for first in (["store", "history"], ["store", "verify"], ["store", "undo", "none"]):  # what they import, nobody may not find
        run(*first, "--store", store)
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
print(json.dumps([run(*command) for command in commands]))
"""


def as_nobody(store: Path, *commands: tuple[object, ...]) -> list[Ended]:
    """What comes of commands that a user gives who owns nothing of the store."""
    wanted = json.dumps([[str(part) for part in command] for command in commands])
    started = [sys.executable, "-c", AS_NOBODY, str(store), wanted]
    done = subprocess.run(started, capture_output=True, text=True, check=True, cwd="/")
    return [Ended(int(code or 0), out, err) for code, out, err in json.loads(done.stdout)]


@pytest.mark.slow
def test_a_store_that_may_only_be_read_is_read_and_refuses_to_be_written_in_one_line(closed: Path) -> None:
    run = History.open(str(closed)).runs()[0].run_id
    commands = [
        (
            "store",
            "history",
        ),
        ("store", "info"),
        ("store", "verify"),
        ("store", "compact"),
        ("store", "undo", run),
    ]
    again = ("store", "compact", "--store", closed.with_name("merged"))  # nothing to be merged
    *ended, merged = as_nobody(closed, *((*command, "--store", closed) for command in commands), again)
    assert [one.code for one in ended] == [0, 0, 0, 3, 3]
    assert [one.err.count("\n") for one in ended] == [0, 0, 0, 1, 1]
    assert (merged.code, merged.err.count("\n")) in {(0, 0), (3, 1)}, merged.err


@pytest.mark.slow
def test_a_file_that_may_not_be_read_is_not_called_damaged(closed: Path) -> None:
    part = parts(closed, "record")[0]
    (closed / part.path).chmod(0)
    (ended,) = as_nobody(closed, ("store", "verify", "--store", closed, "--format", "json"))
    assert ended.code == 3
    told = ended.json
    assert [(one["rule"], one["path"]) for one in told["findings"]] == [("store-unreadable", f"{closed}/{part.path}")]
    assert (told["rows"][0]["damaged"], told["rows"][0]["unreadable"]) == (0, 1)


def test_only_what_a_query_needs_is_opened(cli: Cli, store: Path) -> None:
    row_of(cli, store, "compact")
    history = History.open(str(store))
    night = history.runs()[-1].night
    assert history.records(["night"], [equals("night", night)])["night"].unique().to_pylist() == [night]
    for part in parts(store, "finding"):
        (store / part.path).unlink()
    assert history.records(["night"], [equals("model", "another")]).num_rows == 0
    assert History.open(str(store), origin=Origin("test")).records(["night"]).num_rows > 0


def test_a_run_that_is_there_twice_and_rows_without_their_run_are_named(cli: Cli, store: Path) -> None:
    history = History.open(str(store))
    (run,) = history.rows("run").slice(0, 1).to_pylist()
    lone = {**run, "kind": "finding", "month": "2026-01", "run_id": "nowhere"}
    pieces = [
        NewFile(row["kind"], row["month"], pa.Table.from_pylist([row], schema=ROWS)) for row in (run, lone)
    ]  # as a writer without our care would have left them
    history.log.commit(history.log.folder.write(pieces), [])
    ended = care(cli, store, "verify")
    assert ended.code == 1
    assert ended.rules() == {"store-doubled", "store-half-run"}
