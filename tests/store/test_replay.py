"""The log of a store held against itself: commits and checkpoints that somebody else wrote."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs
from stores import store_at_once

from aoe_reports.store import History
from aoe_reports.store.parts import Folder
from aoe_reports.store.replay import Replay, not_covered, versions_in
from aoe_reports.topics.records.options import RecordOptions


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of three commits: its making, a night, another one."""
    folder = tmp_path_factory.mktemp("replay")
    for night in ("2026-01-01", "2026-01-02"):
        record = {
            "workload": "net/step", "engine": "cann", "hardware": "npu", "runtime_ms_mean": 1.5, "runtime_ms_std": None,
            "timestamp": f"{night}T02:00:00Z", "schema_version": "0.1", "metadata": {},
        }  # fmt: skip
        (folder / f"{night}.jsonl").write_text(json.dumps(record) + "\n")
        store_at_once([folder / f"{night}.jsonl"], folder / "store", RecordOptions(tz="UTC"))
    return folder / "store"


@pytest.fixture
def store(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "store")


def replayed(store: Path) -> tuple[Replay, list[tuple[str, str]]]:
    """The replay of a log, and what it says of which file."""
    folder = Folder(str(store), fs.SubTreeFileSystem(str(store), fs.LocalFileSystem()))
    replay = Replay(folder)
    replay.run(versions_in(folder)[-1])
    return replay, [(Path(one.path).name, str(one.message)) for one in replay.findings]


def commits(store: Path) -> list[Path]:
    return sorted((store / "_delta_log").glob("*.json"))


INFO = {"commitInfo": {"timestamp": 1, "operation": "WRITE", "operationParameters": {}}}


def appended(store: Path, *actions: dict[str, Any]) -> Path:
    """Another program's commit."""
    last = commits(store)[-1]
    path = last.with_name(f"{int(last.stem) + 1:020}.json")
    path.write_text("".join(json.dumps(action) + "\n" for action in (*actions, INFO)))
    return path


def test_a_whole_log_says_what_is_in_force_and_nothing_else(store: Path) -> None:
    replay, said = replayed(store)
    assert said == []
    assert replay.uncovered == []
    (version,) = replay.after
    assert replay.after[version] == History.open(str(store)).log.lines()
    assert versions_in(replay.folder) == list(range(len(commits(store))))


def test_what_is_removed_twice_is_said(store: Path) -> None:
    path = appended(store, {"remove": {"path": "kind=run/month=0000-00/nothing.parquet", "dataChange": True, "deletionTimestamp": 1}})  # fmt: skip
    replay, said = replayed(store)
    assert said == [(path.name, "it removes kind=run/month=0000-00/nothing.parquet, which does not exist")]
    assert replay.uncovered == [int(path.stem)]
    (note,) = not_covered(replay.folder, replay.uncovered)
    assert str(note.message).startswith(
        f"1 commits (the last is {int(path.stem)}) were written by an older version or "
    )
    assert list(not_covered(replay.folder, [])) == []


def test_a_commit_that_describes_a_file_oddly_is_said(store: Path) -> None:
    path = appended(store, {"add": {"path": "x.parquet", "partitionValues": 7, "size": 1, "modificationTime": 1, "dataChange": True}})  # fmt: skip
    replay, said = replayed(store)
    assert said == [(path.name, "the description of a file in this commit cannot be interpreted")]
    assert replay.after == {}


def test_a_commit_that_is_missing_or_changed_is_said(store: Path) -> None:
    _, middle, *_ = commits(store)
    text = middle.read_text()
    middle.write_text(text + "\n")
    _, said = replayed(store)
    assert said == [
        (middle.name, "this commit differs from what was written: the next commit records a different hash")
    ]
    middle.unlink()
    _, said = replayed(store)
    assert said[0] == (middle.name, "this commit is missing")


@pytest.mark.parametrize(
    ("hint", "right"),
    [
        ({"version": 2, "parts": 3}, True),
        ({"version": 2, "v2Checkpoint": {"path": "x"}}, True),
        ({"version": 77, "v2Checkpoint": None}, False),
        ({"version": 77, "size": 1}, False),
        ({}, False),
        ([], False),
    ],
)
def test_a_hint_leads_to_a_checkpoint(store: Path, hint: Any, right: bool) -> None:
    (store / "_delta_log" / "_last_checkpoint").write_text(json.dumps(hint))
    _, said = replayed(store)
    wrong = ("_last_checkpoint", "the checkpoint that it names does not exist or does not match its description")
    assert said == ([] if right else [wrong])


def checkpointed(store: Path) -> dict[str, Any]:
    from deltalake import DeltaTable

    DeltaTable(str(store)).create_checkpoint()
    hint: dict[str, Any] = json.loads((store / "_delta_log" / "_last_checkpoint").read_text())
    return hint


@pytest.mark.parametrize("name", ["size", "sizeInBytes", "numOfAddFiles"])
def test_a_hint_tells_what_its_checkpoint_holds(store: Path, name: str) -> None:
    hint = checkpointed(store)
    assert replayed(store)[1] == []
    (store / "_delta_log" / "_last_checkpoint").write_text(json.dumps({**hint, name: hint.get(name, 0) + 1}))
    assert [path for path, _ in replayed(store)[1]] == ["_last_checkpoint"]


def test_a_checkpoint_without_what_is_in_force_is_said(store: Path) -> None:
    import pyarrow.parquet as pq

    hint = checkpointed(store)
    path = store / "_delta_log" / f"{hint['version']:020}.checkpoint.parquet"
    table = pq.read_table(path)
    adds = [place for place, one in enumerate(table["add"].to_pylist()) if one is not None]
    kept = [place for place in range(table.num_rows) if place != adds[0]]
    (store / "_delta_log" / "_last_checkpoint").unlink()
    pq.write_table(table.take(kept), path)
    _, said = replayed(store)
    assert said == [(path.name, "the files in this checkpoint differ from those stated by the commits up to it")]
    shutil.copy(path, path.with_name(f"{hint['version']:020}.checkpoint.0000000001.0000000002.parquet"))
    path.unlink()
    assert replayed(store)[1] == [], "one of several pieces tells of no more than its own files"
    path.write_text("no Parquet")
    assert [name for name, _ in replayed(store)[1]] == [path.name]
