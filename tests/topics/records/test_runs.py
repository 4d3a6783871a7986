"""What v0.1 cannot say stands in the rows of runs and findings: nothing of it is dropped in silence."""

from __future__ import annotations

import json
import os
import shutil
import statistics
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from commandline import FIXTURES, Cli, Ended

INVALID = FIXTURES / "aoe" / "invalid"
BANK = FIXTURES / "aoe" / "valid" / "gradient_bank"


def ingest(cli: Cli, path: Path, store: Path, *more: object) -> Ended:
    return cli("ingest", path, "--store", store, "--workload", "net", "--tz", "UTC", "--format", "json", *more)


def rows(store: Path, kind: str) -> list[dict[str, Any]]:
    return pl.scan_delta(str(store)).filter(kind=kind).sort("run_id").collect().to_dicts()


@pytest.mark.parametrize(
    ("rule", "status", "told"),
    [
        ("tuning-failed", "tuning failed", "failed_operators"),
        ("tuning-incomplete", "tuning incomplete", "modifications"),
        ("subgraph-failed", "tuning failed", "summary"),
        ("nothing-tunable", "nothing tunable", "summary"),
        ("nothing-improved", "tuning successful", "summary"),
    ],
)
def test_a_tuning_without_records_is_a_run_with_its_status(
    cli: Cli, tmp_path: Path, rule: str, status: str, told: str
) -> None:
    ended = ingest(cli, INVALID / rule, tmp_path / "s")
    assert {row["records"] for row in ended.json["rows"]} == {0} or rule == "nothing-improved"
    (run,) = rows(tmp_path / "s", "run")
    assert run["status"] == status
    assert told in json.loads(run["body"])
    assert rule in {row["rule"] for row in rows(tmp_path / "s", "finding")}


def test_failed_operators_and_counts_are_kept(cli: Cli, tmp_path: Path) -> None:
    ingest(cli, INVALID / "tuning-failed", tmp_path / "s")
    body = json.loads(rows(tmp_path / "s", "run")[0]["body"])
    assert body["failed_operators"]
    assert body["summary"]["total_num"] >= 0


def test_a_result_cut_off_is_an_incomplete_run_until_it_is_met_whole(cli: Cli, aoe: Path, tmp_path: Path) -> None:
    for place, name in enumerate(("array_grouped", "array_subgraphs")):
        (source,) = (aoe / name).glob("*.json")
        folder, store = tmp_path / name, tmp_path / f"s{place}"
        folder.mkdir()
        text = source.read_bytes()
        (folder / source.name).write_bytes(text[: int(len(text) * 0.7)])
        ended = ingest(cli, folder, store)
        assert [(row["status"], row["records"]) for row in ended.json["rows"]] == [("incomplete", 0)]
        assert "json-truncated" in {row["rule"] for row in rows(store, "finding")}
        (folder / source.name).write_bytes(text)
        ended = ingest(cli, folder, store)
        assert [(row["outcome"], row["status"]) for row in ended.json["rows"]] == [("superseded", "tuning successful")]
        assert rows(store, "record")


def test_each_model_of_a_gradient_bank_is_a_run_without_records(cli: Cli, tmp_path: Path) -> None:
    folder, store = shutil.copytree(BANK, tmp_path / "in"), tmp_path / "s"
    ended = ingest(cli, folder, store)
    assert [(row["kind"], row["status"], row["records"]) for row in ended.json["rows"]] == [("tuning", "tuned", 0)] * 2
    assert (ended.code, ended.rules()) == (0, {"no-record", "no-run"})  # the summary beside it is none
    bodies = [json.loads(run["body"]) for run in rows(store, "run")]
    (document,) = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    told = {
        body["modelhash"]: (body["gradient_sizes_bytes"], [body["gradient_start"], *body["gradient_times"]])
        for body in bodies
    }
    values = {entry["modelhash"]: entry["modelvalue"] for entry in document}
    assert told == {name: (value["gradientSize"], value["gradientTime"]) for name, value in values.items()}


def test_a_bank_that_was_copied_or_grew_adds_only_what_is_new(cli: Cli, tmp_path: Path) -> None:
    (source,) = BANK.glob("*.json")
    store, path = tmp_path / "s", tmp_path / source.name
    document = json.loads(source.read_text())
    path.write_text(json.dumps(document[:1]))
    assert [row["outcome"] for row in ingest(cli, path, store).json["rows"]] == ["added"]
    path.write_text(json.dumps(document))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert sorted(row["outcome"] for row in ingest(cli, path, store).json["rows"]) == ["added", "unchanged"]


def test_models_of_a_bank_that_are_no_use_say_so(cli: Cli, tmp_path: Path) -> None:
    for rule, status in (("gdat-not-tuned", "not tuned"), ("gdat-length", "damaged")):
        ended = ingest(cli, INVALID / rule, tmp_path / rule)
        assert status in {row["status"] for row in ended.json["rows"]}
        assert rule in ended.rules()


def records(cli: Cli, path: Path, *more: object) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in cli("ingest", "--dry-run", path, "--workload", "net", "--tz", "UTC", *more).out.splitlines()
    ]


def test_single_times_are_the_values_behind_mean_and_std(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    path = msprof / "torch_npu_two_ranks"
    plain = records(cli, path)
    assert all("runtime_raw" not in record for record in plain)
    found = records(cli, path, "--raw", 1000)
    assert {record["workload"].split("/")[1] for record in found} == {"step", "op_type", "op", "comm"}
    for record in found:
        times = [value["runtime_ms"] for value in record.pop("runtime_raw")]
        assert len(times) == record["execution_config"]["repeat"]
        assert statistics.fmean(times) == pytest.approx(record["runtime_ms_mean"], rel=1e-12)
        if len(times) > 1:
            assert statistics.stdev(times) == pytest.approx(record["runtime_ms_std"], rel=1e-9, abs=1e-12)
    assert found == plain


def test_single_times_stand_in_the_order_of_time(cli: Cli, msprof: Path) -> None:
    folder = msprof / "torch_npu_two_ranks" / "rank0_ascend_pt"
    tasks = cli("table", "kernel_details", folder, "--format", "json").json["rows"]
    conv = [row for row in tasks if row["op_type"] == "Conv2D"]
    conv.sort(key=lambda row: row["task_start_ns"])
    (record,) = [r for r in records(cli, folder, "--raw", 4) if r["workload"] == "net/op_type/Conv2D"]
    times_us = [value["runtime_ms"] * 1000 for value in record["runtime_raw"]]
    assert times_us == pytest.approx([row["task_duration_us"] for row in conv])


def test_more_single_times_than_asked_for_are_left_out_and_it_is_said(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    path = msprof / "torch_npu_two_ranks"
    for record in records(cli, path, "--raw", 2):
        assert ("runtime_raw" in record) == (record["execution_config"]["repeat"] <= 2)
    ended = ingest(cli, path, tmp_path / "s", "--raw", 2)
    assert "raw-capped" in ended.rules()
    assert {len(json.loads(row["runtime_raw"])) for row in rows(tmp_path / "s", "record") if row["runtime_raw"]} == {2}


def test_communication_comes_from_the_exporters_sums_where_no_task_tells_of_it(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "PROF_000001_20250605155111872_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    folder.mkdir(parents=True)
    (folder / "communication_statistic_20250605155140.csv").write_text(
        "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
        "0,hcom_allReduce_,4,400.0,90.0,100.0,110.0,80.0\n0,hcom_broadcast_,1,100.0,100.0,100.0,100.0,20.0\n"
    )
    (folder / "op_statistic_20250605155140.csv").write_text(
        "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
        "0,MatMulV2,AI_CORE,2,20.0,9.0,10.0,11.0,100.0\n"
    )
    found = {record["workload"]: record for record in records(cli, tmp_path)}
    assert set(found) == {"net/op_type/MatMulV2", "net/comm/hcom_allReduce_", "net/comm/hcom_broadcast_"}
    talk = found["net/comm/hcom_allReduce_"]
    assert (talk["runtime_ms_mean"], talk["runtime_ms_std"]) == (0.1, None)
    assert talk["metadata"]["aoe_reports"]["total_ns"] == 400_000
