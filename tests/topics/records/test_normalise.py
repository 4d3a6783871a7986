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


def test_results_become_pairs_in_milliseconds_without_a_spread(cli: Cli, aoe: Path) -> None:
    found = records(cli, aoe / "array_grouped")
    conv = [record for record in found if record["workload"] == "net/op/block1/conv"]
    assert [(r["compilation_config"]["phase"], r["runtime_ms_mean"]) for r in conv] == [
        ("before", 0.12),
        ("after", 0.08),
    ]
    assert {r["runtime_ms_std"] for r in found} == {None}
    assert len({r["metadata"]["pair_id"] for r in conv}) == 1
    assert conv[0]["metadata"]["raw"] == {"value": "120", "unit": "us"}
    model = [r["runtime_ms_mean"] for r in found if r["workload"] == "net"]
    assert model == [12.5, 12.446584]


def test_a_failed_tuning_gives_no_record(cli: Cli, tmp_path: Path) -> None:
    from commandline import FIXTURES

    for rule in ("tuning-failed", "tuning-incomplete", "subgraph-failed"):
        assert records(cli, FIXTURES / "aoe" / "invalid" / rule) == []


def test_ten_steps_not_thirty(cli: Cli, msprof: Path) -> None:
    for name in ("ten_iterations", "ten_iterations_timeline"):
        (step,) = [r for r in records(cli, msprof / name) if r["workload"] == "net/step"]
        assert step["execution_config"] == {"repeat": 10}
        assert step["runtime_ms_std"] > 0


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


def test_communication_is_a_record_of_its_own(cli: Cli, msprof: Path) -> None:
    found = [r for r in records(cli, msprof / "torch_npu_two_ranks") if "/comm/" in r["workload"]]
    assert {r["workload"] for r in found} == {"net/comm/hcom_allReduce_"}
    assert len(found) == 2


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
