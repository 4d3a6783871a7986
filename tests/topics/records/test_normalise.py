"""Records: the schema v0.1, and what the store gives back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pyarrow.parquet as pq
import pytest
from commandline import Cli

from aoe_reports.formats.schemas import load_schema
from aoe_reports.store import Run


def records(cli: Cli, path: Path) -> list[dict]:
    return [
        json.loads(line)
        for line in cli("ingest", "--dry-run", path, "--workload", "net", "--tz", "UTC").out.splitlines()
    ]


@pytest.mark.parametrize("name", ["torch_npu_two_ranks", "ten_iterations", "statistic_only", "merged_two_devices"])
def test_records_of_profiles_fit_the_schema(cli: Cli, msprof: Path, name: str) -> None:
    found = records(cli, msprof / name)
    assert found
    for record in found:
        jsonschema.validate(record, load_schema("record"))


def test_a_failed_tuning_gives_no_record(cli: Cli, tmp_path: Path) -> None:
    from commandline import FIXTURES

    for rule in ("tuning-failed", "tuning-incomplete", "subgraph-failed"):
        assert records(cli, FIXTURES / "aoe" / "invalid" / rule) == []


def test_parquet_holds_the_same_records_typed(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    path = msprof / "torch_npu_two_ranks"
    cli("ingest", "--dry-run", path, "--workload", "net", "--tz", "UTC", "-o", tmp_path / "deep" / "r.parquet")
    table = pq.read_table(tmp_path / "deep" / "r.parquet", page_checksum_verification=True)
    plain = records(cli, path)
    assert table["runtime_ms_mean"].to_pylist() == [r["runtime_ms_mean"] for r in plain]
    assert table["workload"].to_pylist() == [r["workload"] for r in plain]
    assert [json.loads(text) for text in table["workload_args"].to_pylist()] == [r["workload_args"] for r in plain]
    assert set(table["rank_id"].to_pylist()) == {0, 1}
    cli("ingest", "--dry-run", path, "--workload", "net", "--tz", "UTC", "-o", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text()) == plain


def test_devices_of_one_export_stay_apart(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    cli("ingest", msprof / "merged_two_devices", "--store", tmp_path / "s", "--workload", "net")
    rows = cli("store", "history", "records", "--store", tmp_path / "s", "--scope", "op_type", "--format", "json").json[
        "rows"
    ]
    assert {row["device_id"] for row in rows} == {0, 1}
    assert len({row["series_id"] for row in rows}) == len(rows)


def test_where_there_is_no_record_every_form_is_empty_and_whole(cli: Cli, tmp_path: Path) -> None:
    from commandline import FIXTURES

    failed = FIXTURES / "aoe" / "invalid" / "tuning-failed"
    for name, text in (("r.json", "[]\n"), ("r.jsonl", "")):
        cli("ingest", "--dry-run", failed, "-o", tmp_path / name)
        assert (tmp_path / name).read_text() == text
    cli("ingest", "--dry-run", failed, "-o", tmp_path / "r.parquet")
    assert pq.read_table(tmp_path / "r.parquet").num_rows == 0


def test_a_run_is_written_before_the_next_is_read(msprof: Path) -> None:
    from aoe_reports.engine.question import Notes
    from aoe_reports.history.runs.export import records_as_lines, records_as_list
    from aoe_reports.topics.records.options import RecordOptions
    from aoe_reports.topics.records.runs import read_runs

    read: list[Run] = []

    def runs() -> Iterator[Run]:
        for item in read_runs(
            [msprof / "statistic_only", msprof / "ten_iterations"], RecordOptions(workload="w"), Notes()
        ):
            read.append(item)
            yield item

    for write in (records_as_lines, records_as_list):
        assert next(write(runs()))
        assert len(read) == 1
        read.clear()
