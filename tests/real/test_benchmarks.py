"""What is said today of the output of `vllm bench`: the JSON of a latency run is a record, and so is the printed block."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import ROOT, Cli

CASES = ROOT.parent / "shared" / "cases"


def case(name: str) -> Path:
    if not (CASES / name).exists():
        pytest.skip(f"{CASES / name} is absent")
    return CASES / name


def test_a_latency_run_is_one_record_in_ms_and_no_profile_to_compare(cli: Cli, tmp_path: Path) -> None:
    folder = case("c11_bench_latency")
    assert cli("ingest", "--dry-run", folder, "-o", tmp_path / "records.json").code == 0
    checked = cli("check", folder, "--format", "json")
    assert (checked.code, [row["kind"] for row in checked.json["rows"]]) == (0, ["record", "record"])
    stored = cli("ingest", folder, "--store", tmp_path / "store", "--format", "json")
    assert {(row["workload"], row["records"]) for row in stored.json["rows"]} == {("latency", 1)}
    compared = cli("compare", folder / "rel", folder / "rc1", "--format", "json")
    assert (compared.code, compared.rules()) == (1, {"nothing-measured"})
    assert {finding["path"] for finding in compared.json["findings"]} == {str(folder / "rel"), str(folder / "rc1")}


def test_the_printed_block_is_a_record(cli: Cli) -> None:
    folder = case("c26_bench_text")
    for path in (folder, folder / "bench.log"):
        checked = cli("check", path, "--format", "json")
        assert (checked.code, [row["kind"] for row in checked.json["rows"]]) == (0, ["record"])
    (record,) = map(json.loads, cli("ingest", "--dry-run", folder).out.splitlines())
    assert (record["workload"], record["runtime_ms_mean"], record["workload_args"]) == (
        "bench",
        186_900.0,
        {"num_prompts": 200},
    )
    known = {"output_throughput": 136.97, "total_token_throughput": 350.99, "mean_ttft_ms": 48.35, "p99_itl_ms": 41.84}
    assert {name: record["metrics"][name] for name in known} == known
