"""Stores as files and back: what is written, what comes back, and what is said of lines that nobody can use."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from stores import store_at_once

from aoe_reports.engine.question import Notes
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.history.exchange import Imported, export_store, import_store
from aoe_reports.history.export import records_as_lines, records_as_list, write_records_parquet
from aoe_reports.history.listing import list_history, stored_documents
from aoe_reports.history.options import HistoryOptions
from aoe_reports.model.errors import AoeReportsError, ReadError, UsageError
from aoe_reports.questions.records.options import RecordOptions
from aoe_reports.questions.records.runs import read_runs
from aoe_reports.store import History
from aoe_reports.store.layout import table_of

NIGHTS = ("2026-01-30", "2026-01-31", "2026-02-01")


def verdict(night: str, scope: str, **more: Any) -> dict[str, Any]:
    """A row that `verify` leaves in a store."""
    at = int(datetime.fromisoformat(f"{night}T12:00:00+00:00").timestamp())
    body = {"scope": scope, "verdict": "confirmed", "change": -0.1, "verdict_of_job": "confirmed"}
    return {
        "kind": "verdict", "month": night[:7], "run_id": "verify-1", "timestamp_ns": at * 10**9, "night": night, "model": "a",
        "hardware": "npu", "scope": scope, "subject": scope, "state": "confirmed", "body": canonical_json(body), **more,
    }  # fmt: skip


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "records.jsonl"
    lines = [
        {
            "workload": workload, "engine": "cann", "hardware": "npu", "runtime_ms_mean": 1.5, "runtime_ms_std": None,
            "timestamp": f"{night}T02:00:00Z", "schema_version": "0.1", "metadata": {},
        }
        for workload in ("b/step", "a/step")
        for night in NIGHTS
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def store(records: Path) -> str:
    """Six runs of two months, and two verdicts; nobody may write there."""
    folder = records.with_name("store")
    store_at_once([records], folder, RecordOptions(tz="UTC"))
    rows = [verdict("2026-02-01", "step"), verdict("2026-01-31", "operator", op_name="x", op_type="X")]
    for stored in rows:
        History.open(str(folder)).add_extra(table_of([stored]))
    return str(folder)


@pytest.fixture
def lines(store: str, tmp_path: Path) -> list[dict[str, Any]]:
    export_store(store, tmp_path / "whole.jsonl")
    return [json.loads(line) for line in (tmp_path / "whole.jsonl").read_text().splitlines()]


def imported(tmp_path: Path, rows: Sequence[dict[str, Any] | str]) -> tuple[Imported, Path]:
    """What comes of importing some lines, and their file."""
    source = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
    source.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return import_store(source, str(source.with_suffix(""))), source


def counts(done: Imported) -> dict[str, int]:
    told = done.outcomes
    return {name: getattr(told, name) for name in ("added", "unchanged", "changes", "refused") if getattr(told, name)}


def messages(done: Imported) -> list[tuple[str, int | None, str]]:
    return [(one.rule, one.line, str(one.message)) for one in done.findings]


def test_json_lines_and_csv_hold_the_same_rows_in_the_same_order(
    store: str, lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    kinds = [(row["kind"], row.get("night"), row.get("model")) for row in lines]
    of_runs = [one for one in kinds if one[0] != "verdict"]
    assert [one[0] for one in kinds] == ["run", "record"] * 4 + ["verdict"] + ["run", "record"] * 2 + ["verdict"]
    assert {one[1] for one in of_runs[:8]} == {"2026-01-30", "2026-01-31"}
    assert all("month" not in row and None not in row.values() for row in lines)
    assert export_store(store, tmp_path / "rows.csv") == len(lines) == 14
    text = (tmp_path / "rows.csv").read_text()
    table = list(csv.DictReader(text.splitlines()))
    assert "\r" not in text
    assert "month" not in table[0]
    for told, row in zip(table, lines, strict=True):
        assert {name: value for name, value in told.items() if value} == {
            name: str(value) for name, value in row.items() if value != ""
        }


def test_a_folder_holds_a_file_for_each_kind_and_month_and_comes_back(store: str, tmp_path: Path) -> None:
    assert export_store(store, tmp_path / "folder") == 14
    files = {
        path.relative_to(tmp_path / "folder").as_posix(): path for path in (tmp_path / "folder").rglob("*.parquet")
    }
    assert {name: pq.ParquetFile(path).metadata.num_rows for name, path in files.items()} == {
        f"kind={kind}/month={month}/part-0.parquet": count
        for kind, month, count in (
            ("run", "2026-01", 4), ("record", "2026-01", 4), ("verdict", "2026-01", 1),
            ("run", "2026-02", 2), ("record", "2026-02", 2), ("verdict", "2026-02", 1),
        )
    }  # fmt: skip
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o755
    done = import_store(tmp_path / "folder", str(tmp_path / "back"))
    assert (counts(done), done.findings) == ({"added": 6, "changes": 2}, [])
    export_store(store, tmp_path / "one.jsonl")
    export_store(str(tmp_path / "back"), tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    again = import_store(tmp_path / "folder", str(tmp_path / "back"))
    assert counts(again) == {"unchanged": 6}
    with pytest.raises(UsageError, match="already exists; expected a new or an empty folder"):
        export_store(store, tmp_path / "folder")
    (tmp_path / "empty").mkdir()
    assert export_store(store, tmp_path / "empty") == 14
    with pytest.raises(UsageError, match=r"expected a folder, or a name that ends in \.jsonl or \.csv"):
        export_store(store, tmp_path / "rows.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(AoeReportsError, match="cannot be written: "):
        export_store(store, tmp_path / "file" / "rows.csv")


def test_a_part_of_an_unknown_kind_is_no_export(store: str, tmp_path: Path) -> None:
    export_store(store, tmp_path / "folder")
    (tmp_path / "folder" / "kind=verdict").rename(tmp_path / "folder" / "kind=words")
    with pytest.raises(ReadError, match="rows of kind words do not belong to a store"):
        import_store(tmp_path / "folder", str(tmp_path / "back"))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("{", "Input data was truncated"),
        ('{"run_id": "x"}', "Object missing required field `kind`"),
        ('{"kind": "words"}', "rows of kind words do not belong to a store"),
    ],
)
def test_a_line_that_is_no_row_costs_the_runs_that_it_may_belong_to(
    lines: list[dict[str, Any]], tmp_path: Path, broken: str, why: str
) -> None:
    done, source = imported(tmp_path, [*lines[:3], broken, *lines[3:]])
    assert counts(done) == {"added": 5, "changes": 2, "refused": 1}
    run = lines[2]["run_id"]
    assert messages(done) == [
        ("store-row", 4, f"this line is not a row of a store: {why}"),
        ("import-refused", None, f"run {run} is not imported: runs are imported completely or not at all"),
    ]
    assert {one.path for one in done.findings} == {str(source)}
    between, _ = imported(tmp_path, [*lines[:4], broken, *lines[4:]])
    assert counts(between) == {"added": 4, "changes": 2, "refused": 2}
    assert [one[0] for one in messages(between)] == ["store-row", "import-refused"] * 2


def test_rows_of_a_run_that_stand_apart_are_refused(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    done, _ = imported(tmp_path, [lines[0], *lines[2:4], lines[1], *lines[4:]])
    run = lines[0]["run_id"]
    assert counts(done) == {"added": 5, "changes": 2, "refused": 2}
    assert [one for one in messages(done) if one[0] == "store-row"] == [
        ("store-row", line, f"the rows of run {run} are not contiguous") for line in (1, 4)
    ]


def test_a_run_without_its_own_row_is_refused(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    done, _ = imported(tmp_path, lines[1:])
    run = lines[1]["run_id"]
    assert counts(done) == {"added": 5, "changes": 2, "refused": 1}
    assert messages(done) == [
        ("store-row", None, f"run {run} has no usable row of kind run"),
        ("import-refused", None, f"run {run} is not imported: runs are imported completely or not at all"),
    ]


@pytest.mark.parametrize(("wrong", "more"), [(20, 0), (21, 1), (23, 3)])
def test_the_first_wrong_rows_are_told_one_by_one(
    lines: list[dict[str, Any]], tmp_path: Path, wrong: int, more: int
) -> None:
    broken = [{**lines[1], "timestamp_ns": None, "subject": f"s{number}"} for number in range(wrong)]
    done, _ = imported(tmp_path, [lines[0], *broken, *lines[2:]])
    said = messages(done)
    assert [one[1] for one in said[:20]] == list(range(2, 22))
    rest = said[20:-1]
    assert rest == ([("store-row", None, f"and {more} more rows that cannot be used")] if more else [])
    assert said[-1][0] == "import-refused"


def test_of_rows_that_are_no_part_of_a_run_the_good_ones_are_taken(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    verdicts = [row for row in lines if row["kind"] == "verdict"]
    done, _ = imported(tmp_path, [{**verdicts[0], "state": None}, verdicts[1]])
    assert counts(done) == {"changes": 1}
    ((rule, line, said),) = messages(done)
    assert (rule, line) == ("store-row", 1)
    assert said.startswith("a row of kind verdict about verify-1: ")
    nameless = {name: value for name, value in verdicts[0].items() if name not in {"run_id", "state"}}
    done, _ = imported(tmp_path, [nameless, verdicts[1]])
    assert messages(done)[0][2].startswith(f"a row of kind verdict about {verdicts[0]['subject']}: ")
    del nameless["subject"]
    done, _ = imported(tmp_path, [nameless, verdicts[1]])
    assert messages(done)[0][2].startswith("a row of kind verdict about ?: ")


def test_what_is_no_export_is_refused(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    expected = r"expected an export of `store export`: a folder of hive Parquet, or \.jsonl"
    with pytest.raises(ReadError, match="it contains no row") as empty:
        imported(tmp_path, [])
    assert empty.match(expected)
    (tmp_path / "x.csv").write_text("")
    with pytest.raises(ReadError, match=r"this is neither a folder nor a \.jsonl file"):
        import_store(tmp_path / "x.csv", str(tmp_path / "s"))
    with pytest.raises(ReadError, match="this line is not a row of a store") as nothing:
        imported(tmp_path, ["{"])
    assert nothing.value.line == 1
    with pytest.raises(ReadError, match="columns that are unknown to this version: colour, weight") as newer:
        imported(tmp_path, [{**lines[0], "weight": 1, "colour": "x"}])
    assert newer.match("an export of a newer version needs that version")
    with pytest.raises(ReadError, match="cannot be read: "):
        import_store(tmp_path / "nothing.jsonl", str(tmp_path / "s"))
    (tmp_path / "p" / "kind=run" / "month=2026-01").mkdir(parents=True)
    (tmp_path / "p" / "kind=run" / "month=2026-01" / "x.parquet").write_text("x")
    with pytest.raises(ReadError, match="this Parquet file cannot be used: "):
        import_store(tmp_path / "p", str(tmp_path / "s"))


# Records


def test_records_are_lines_a_list_or_a_table_of_the_same(records: Path, tmp_path: Path) -> None:
    def runs() -> Any:
        return read_runs([records], RecordOptions(tz="UTC"), Notes())

    told = [json.loads(line) for line in records_as_lines(runs())]
    assert sorted((one["workload"], one["timestamp"][:10]) for one in told) == sorted(
        (workload, night) for night in NIGHTS for workload in ("a/step", "b/step")
    )
    listed = "".join(records_as_list(runs()))
    assert json.loads(listed) == told
    assert listed.startswith("[\n  {\n    ")
    assert listed.endswith("\n  }\n]\n")
    assert "".join(records_as_list([])) == "[]\n"
    write_records_parquet(runs(), tmp_path / "new" / "r.parquet")
    table = pq.read_table(tmp_path / "new" / "r.parquet")
    assert table["workload"].to_pylist() == [one["workload"] for one in told]
    (tmp_path / "file").write_text("")
    with pytest.raises(AoeReportsError, match="cannot be written: "):
        write_records_parquet(runs(), tmp_path / "file" / "r.parquet")


def test_whole_records_come_out_of_a_store_in_order(store: str) -> None:
    def listed(**asked: Any) -> list[tuple[str, str]]:
        documents = stored_documents(store, HistoryOptions(**asked))
        return [(one["workload"], one["timestamp"][:10]) for one in documents]

    every = listed()
    assert sorted(every) == sorted((workload, night) for night in NIGHTS for workload in ("a/step", "b/step"))
    assert [night for _, night in every] == sorted(night for _, night in every)
    assert listed(since="2026-01-31") == [one for one in every if one[1] >= "2026-01-31"]
    assert listed(workload="a/step") == [one for one in every if one[0] == "a/step"]
    assert listed(scope="op") == []
    for since in ("soon", "2026-1-31", "2026-01-311"):
        with pytest.raises(UsageError, match=f"--since '{since}': expected a date such as 2026-01-31"):
            listed(since=since)


def test_verdicts_of_a_store_are_listed_oldest_first(store: str) -> None:
    def listed(**asked: Any) -> list[tuple[str, str | None]]:
        rows = list_history(store, "verdicts", HistoryOptions(**asked)).rows
        return [(str(row.night), row.scope) for row in rows]

    both = [("2026-01-31", "operator"), ("2026-02-01", "step")]
    assert listed() == listed(workload="a") == both
    assert listed(workload="b") == []
    assert listed(scope="step") == listed(last=1) == listed(since="2026-02-01") == both[1:]
    (row, _) = list_history(store, "verdicts", HistoryOptions()).rows
    assert (row.job, row.workload, row.verdict, row.hardware, row.change) == ("verify-1", "a", "confirmed", "npu", -0.1)
    assert row.timestamp_ns == int(datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()) * 10**9
    assert row.verdict_of_job == "confirmed"
    with pytest.raises(
        UsageError, match="--run applies to runs, records, ranks and advice; verdicts do not belong to a run"
    ):
        listed(run="x")
