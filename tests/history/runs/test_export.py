"""Records and verdicts as they come out of a store, and records as files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from stores import store_at_once

from aoe_reports.engine.question import Notes
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.history.options import HistoryOptions
from aoe_reports.history.runs.export import records_as_lines, records_as_list, write_records_parquet
from aoe_reports.history.runs.listing import list_history, stored_documents
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.store import History
from aoe_reports.store.layout import table_of
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.records.runs import read_runs

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


def test_records_are_lines_a_list_or_a_table_of_the_same(records: Path, tmp_path: Path) -> None:
    def runs() -> Any:
        return read_runs([records], RecordOptions(tz="UTC"), Notes())

    rows = [json.loads(line) for line in records_as_lines(runs())]
    assert sorted((one["workload"], one["timestamp"][:10]) for one in rows) == sorted(
        (workload, night) for night in NIGHTS for workload in ("a/step", "b/step")
    )
    listed = "".join(records_as_list(runs()))
    assert json.loads(listed) == rows
    assert listed.startswith("[\n  {\n    ")
    assert listed.endswith("\n  }\n]\n")
    assert "".join(records_as_list([])) == "[]\n"
    write_records_parquet(runs(), tmp_path / "new" / "r.parquet")
    table = pq.read_table(tmp_path / "new" / "r.parquet")
    assert table["workload"].to_pylist() == [one["workload"] for one in rows]
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
