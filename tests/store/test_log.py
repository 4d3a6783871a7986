"""The log of a store: how an older one becomes a new one, and what is left of a commit that fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from aoe_reports.model.errors import StoreError
from aoe_reports.store import History
from aoe_reports.store.care import compact_if_needed
from aoe_reports.store.history import _pieces
from aoe_reports.store.layout import PARTITIONS, ROWS, table_of


def row(subject: str) -> dict[str, Any]:
    return {"kind": "change", "month": "2026-01", "timestamp_ns": 1, "night": "2026-01-01", "model": "net", "subject": subject, "state": "undone"}  # fmt: skip


def files(store: Path) -> list[Path]:
    return sorted(store.rglob("*.parquet"))


def described(store: Path) -> tuple[Any, ...]:
    """What a table says of itself."""
    table = DeltaTable(str(store))
    told = table.metadata()
    return sorted(pa.schema(table.schema()).names), told.configuration, told.description, told.partition_columns


@pytest.mark.parametrize(
    ("lacking", "format_", "commits"),
    [({"op_name"}, 1, 3), ({"rank_id", "op_name"}, 1, 3), (set(), 1, 2), ({"body"}, 2, 1)],
)
def test_an_older_store_becomes_as_one_that_is_made_now(
    tmp_path: Path, lacking: set[str], format_: int, commits: int
) -> None:
    History.open(str(tmp_path / "new"), create=True)
    columns = [name for name in ROWS.names if name not in lacking]
    known = [{name: value for name, value in row("s1").items() if name in columns}]
    write_deltalake(
        str(tmp_path / "old"),
        pa.Table.from_pylist(known, schema=pa.schema([ROWS.field(name) for name in columns])),
        partition_by=PARTITIONS,
        description=f"aoe-reports history, format {format_}",
        configuration=DeltaTable(str(tmp_path / "new")).metadata().configuration if format_ > 1 else None,
    )
    assert set(described(tmp_path / "old")[0]) == set(columns)
    history = History.open(str(tmp_path / "old"))
    history.log.upgrade()
    assert described(tmp_path / "old") == described(tmp_path / "new")
    assert set(described(tmp_path / "old")[0]) == set(ROWS.names)
    assert (history.log.format, history.log.version) == (2, commits)
    history.log.upgrade()
    History.open(str(tmp_path / "old")).log.upgrade()
    assert DeltaTable(str(tmp_path / "old")).version() == commits, "once is enough"
    (read,) = History.open(str(tmp_path / "old")).rows("change").to_pylist()
    assert {name: value for name, value in read.items() if value is not None} == known[0]


def test_a_store_that_is_made_now_lacks_nothing(tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "new"), create=True)
    history.log.upgrade()
    assert (history.log.version, history.log.format) == (0, 2)


def test_a_commit_that_cannot_be_written_leaves_no_file(tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "s"), create=True)
    adds = history.log.folder.write(_pieces(table_of([row("s1")])))
    assert len(files(tmp_path / "s")) == 1
    place = tmp_path / "s" / "_delta_log" / f"{1:020}.json"
    place.mkdir()
    with pytest.raises(StoreError, match=r"/s: the store cannot be written: ."):
        history.log.commit(adds, [])
    assert files(tmp_path / "s") == []
    place.rmdir()
    again = history.log.folder.write(_pieces(table_of([row("s1")])))
    history.log.commit(again, [])
    assert [one["subject"] for one in History.open(str(tmp_path / "s")).rows("change").to_pylist()] == ["s1"]


def test_of_two_writers_the_slower_one_is_told_and_leaves_no_file(tmp_path: Path) -> None:
    History.open(str(tmp_path / "s"), create=True)
    first, second = (History.open(str(tmp_path / "s")) for _ in range(2))
    written = [one.log.folder.write(_pieces(table_of([row(name)]))) for one, name in ((first, "s1"), (second, "s2"))]
    assert first.log.lines() == second.log.lines() == {}
    first.log.commit(written[0], [])
    with pytest.raises(CommitFailedError):
        second.log.commit(written[1], [])
    assert [one.relative_to(tmp_path / "s").as_posix() for one in files(tmp_path / "s")] == [written[0][0].path]
    assert second.log.version == 1, "it has seen what the other one wrote"
    for history in (first, second, History.open(str(tmp_path / "s"))):
        assert list(history.log.lines()) == [written[0][0].path.encode()]


def test_a_commit_says_how_many_files_it_adds_and_removes_and_what_came_before(tmp_path: Path) -> None:
    history = History.open(str(tmp_path / "s"), create=True)
    for name in ("s1", "s2"):
        history.log.commit(history.log.folder.write(_pieces(table_of([row(name)]))), [])
    facts = []
    for number in range(3):
        lines = (tmp_path / "s" / "_delta_log" / f"{number:020}.json").read_text().splitlines()
        (told,) = (one["commitInfo"] for one in map(json.loads, lines) if "commitInfo" in one)
        facts.append({name: value for name, value in told.items() if name in {"adds", "removes", "command"}})
    assert facts == [
        {"command": "python"},
        {"command": "python", "adds": 1, "removes": 0},
        {"command": "python", "adds": 1, "removes": 0},
    ]
    assert sorted(history.log.sizes()) == [("change", "2026-01", 1), ("change", "2026-01", 1)]


# Merging by the way


def store_of_files(place: Path, *kinds: tuple[str, str, int]) -> History:
    """A store with so many small files of each kind and month."""
    history = History.open(str(place), create=True)
    rows = [{**row(f"{kind} {month} {number}"), "kind": kind, "month": month} for kind, month, count in kinds for number in range(count)]  # fmt: skip
    for one in rows[::-1]:
        history.log.commit(history.log.folder.write(_pieces(table_of([one]))), [])
    return history


@pytest.mark.parametrize(
    ("kinds", "merged"),
    [
        ([("change", "2026-01", 18)], None),
        ([("change", "2026-01", 19)], (19, 1, 19)),
        ([("change", "2026-01", 10), ("ack", "2026-01", 9)], None),
        ([("change", "2026-01", 10), ("ack", "2026-01", 10)], (20, 2, 20)),
        ([("change", "2026-01", 10), ("change", "2026-02", 9)], None),
        ([("change", "2026-01", 19), ("change", "2026-02", 1)], (19, 1, 19)),
    ],
)
def test_eighteen_files_more_than_needed_are_merged(
    tmp_path: Path, kinds: list[tuple[str, str, int]], merged: tuple[int, int, int] | None
) -> None:
    history = store_of_files(tmp_path / "s", *kinds)
    before = sorted(one["subject"] for kind in ("change", "ack") for one in history.rows(kind).to_pylist())
    failed: list[StoreError] = []
    done = compact_if_needed(history.log, failed)
    assert (None if done is None else (done.files_before, done.files, done.rows_merged), failed) == (merged, [])
    again = History.open(str(tmp_path / "s"))
    rows = [one["subject"] for kind in ("change", "ack") for one in again.rows(kind).to_pylist()]
    assert sorted(rows) == before
    assert compact_if_needed(again.log, failed) is None
