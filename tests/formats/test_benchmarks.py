"""Results of benchmark programs as records: units and means by hand, damage by its place."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
from commandline import FIXTURES, Cli

from aoe_reports.formats.benchmarks.form import stem_without_dates
from aoe_reports.formats.records.files import RecordText, read_records
from aoe_reports.model.findings import Finding

VALID = FIXTURES / "benchmarks" / "valid"


def records_in(path: Path) -> list[dict[str, Any]]:
    findings: list[Finding] = []
    found: list[RecordText] = list(read_records(path, findings))
    assert findings == []
    assert all(one.of_benchmark for one in found)
    return [one.document for one in found]


def test_vllm_serve() -> None:
    path = VALID / "vllm_serve" / "serve.json"
    told = json.loads(path.read_text())
    (record,) = records_in(path)
    assert (record["workload"], record["engine"]) == ("example-8b/serve", "vllm")
    assert record["runtime_ms_mean"] == 50_250.0
    assert record["timestamp"] == "20260103021500"
    assert record["workload_args"] == {"num_prompts": 200}
    assert record["runtime_config"]["request_rate"] == "inf"
    assert record["metadata"] == {"tokenizer_id": "example-8b", "tensor_parallel_size": "2"}
    names = {"output_throughput", "request_throughput", "mean_ttft_ms", "p99_tpot_ms", "completed"}
    assert {name: record["metrics"][name] for name in names} == {name: told[name] for name in names}
    assert {"ttfts", "request_goodput", "duration", "max_concurrency", "burstiness"}.isdisjoint(record["metrics"])


def test_vllm_without_a_server() -> None:
    (throughput,) = records_in(VALID / "vllm_throughput" / "throughput_example_8b.json")
    assert (throughput["workload"], throughput["runtime_ms_mean"]) == ("throughput_example_8b", 24_500.0)
    assert throughput["metrics"] == {
        "total_num_tokens": 76800,
        "requests_per_second": 4.081,
        "tokens_per_second": 3134.7,
    }
    (latency,) = records_in(VALID / "vllm_latency" / "latency_example_8b.json")
    assert latency["runtime_ms_mean"] == 2050.0
    assert latency["runtime_ms_std"] == pytest.approx(stdev([2000, 2050, 2100]))
    assert latency["metrics"]["p90_latency_ms"] == {"value": 2090.0, "unit": "ms", "better": "lower"}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("vllm_serve/serve.json", "output_throughput"),
        ("vllm_serve/serve.json", "request_throughput"),
        ("vllm_throughput/throughput_example_8b.json", "tokens_per_second"),
        ("vllm_throughput/throughput_example_8b.json", "requests_per_second"),
    ],
)
@pytest.mark.parametrize("value", ["x", None, True])
def test_a_throughput_that_is_no_number_is_found(tmp_path: Path, cli: Cli, name: str, key: str, value: Any) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps({**json.loads((VALID / name).read_text()), key: value}))
    ended = cli("check", path, "--format", "json")
    (found,) = ended.json["findings"]
    assert (ended.code, found["rule"], found["pointer"]) == (1, "benchmark-result", f"/{key}")
    assert "expected a number" in found["message"]


def test_pytest_benchmark() -> None:
    packed, once = records_in(VALID / "pytest_benchmark" / "pytest.json")
    assert packed["workload"] == "tests/test_pack.py::test_pack[64]"
    assert (packed["runtime_ms_mean"], packed["runtime_ms_std"]) == (2.1, 0.1)
    assert (packed["engine"], packed["engine_version"], packed["hardware"]) == ("CPython", "3.11.9", "Example CPU")
    assert packed["execution_config"] == {"number": 10, "repeat": 50}
    assert packed["metrics"]["median_ms"] == {"value": 2.05, "unit": "ms", "better": "lower"}
    assert packed["metrics"]["tokens_per_s"] == 5120.0
    assert "note" not in packed["metrics"]
    assert once["runtime_ms_std"] is None  # one round has none


def test_google_benchmark() -> None:
    copied, summed = records_in(VALID / "google_benchmark" / "gbench.json")
    assert (copied["workload"], summed["workload"]) == ("BM_Copy/4096", "BM_Sum")
    assert copied["runtime_ms_mean"] == pytest.approx(mean([100e-6, 104e-6]))
    assert copied["runtime_ms_std"] == pytest.approx(stdev([100e-6, 104e-6]))
    assert copied["metrics"]["bytes_per_second"] == pytest.approx(mean([4096e9 / 100, 4096e9 / 104]))
    assert copied["metrics"]["cpu_time_ms"]["value"] == pytest.approx(100e-6)
    assert copied["metrics"]["cache_hits"] == 7
    assert summed["runtime_ms_mean"] == 0.0015  # us
    assert summed["runtime_ms_std"] == 0.00003
    assert copied["hardware"] == "builder"


def test_asv() -> None:
    small, large, memory, ratio = records_in(next((VALID / "asv").glob("*.json")))
    assert (small["runtime_ms_mean"], large["runtime_ms_mean"]) == (2.1, 4.2)
    assert (small["workload_args"], large["workload_args"]) == ({"param1": "64"}, {"param1": "128"})
    assert small["timestamp"] == 1767405600000
    assert memory["metrics"] == {"peakmem": {"value": 52428800.0, "unit": "B", "better": "lower"}}
    assert ratio["metrics"] == {"track_'lz4'": 2.5}  # NaN is what was skipped
    assert ratio["runtime_ms_mean"] == 900.0


def test_a_training_log_without_its_first_line() -> None:
    (record,) = records_in(VALID / "training_log" / "pretrain_example.log")
    times = [12936.1, 12940.3, 12900.2]
    assert record["runtime_ms_mean"] == pytest.approx(mean(times))
    assert record["runtime_ms_std"] == pytest.approx(stdev(times))
    assert record["metrics"]["throughput per GPU (TFLOP/s/GPU)"] == pytest.approx(mean([118.7, 118.6, 119.0]))
    assert record["metrics"]["lm loss"] == pytest.approx(mean([10.2, 10.1, 9.9]))
    assert record["workload_args"] == {"global batch size": 64}
    assert record["timestamp"] == "2026-01-03T02:00:00"
    assert {"consumed samples", "learning rate"}.isdisjoint(record["metrics"])


def test_a_log_of_one_iteration_has_that(tmp_path: Path) -> None:
    line = "iteration 1/ 10 | elapsed time per iteration (ms): 5.5 | lm loss: nan | tokens per sec: 7e2\n"
    (tmp_path / "a.log").write_text(line)
    (record,) = records_in(tmp_path / "a.log")
    assert (record["runtime_ms_mean"], record["runtime_ms_std"]) == (5.5, None)
    assert record["metrics"] == {"tokens per sec": 700.0}


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("latency_llama8B_tp1", "latency_llama8B_tp1"),
        ("serve-20260103-021500", "serve"),
        ("serve_2026-01-03", "serve"),
        ("2026-01-03T02:15_bench", "bench"),
        ("20260103", "20260103"),
        ("llama-70b", "llama-70b"),
    ],
)
def test_names_of_files_lose_what_differs_from_night_to_night(stem: str, name: str) -> None:
    assert stem_without_dates(stem) == name


def test_hardware_is_named_on_the_command_line(cli: Cli) -> None:
    ended = cli("ingest", "--dry-run", VALID / "vllm_serve", "--hardware", "910B", "--tz", "UTC")
    assert json.loads(ended.out)["hardware"] == "910B"


@pytest.mark.parametrize("folder", sorted(VALID.iterdir()), ids=lambda path: path.name)
def test_what_is_ingested_comes_back_equal(folder: Path, cli: Cli, tmp_path: Path) -> None:
    assert cli("ingest", folder, "--store", tmp_path / "s", "--tz", "UTC").code == 0
    stored = cli("store", "history", "records", "--format", "jsonl", "--store", tmp_path / "s").out.splitlines()
    (path,) = folder.iterdir()
    told = [json.dumps(record, sort_keys=True) for record in records_in(path)]
    assert sorted(json.dumps(json.loads(line), sort_keys=True) for line in stored) == sorted(told)


def test_damage_is_named_with_its_place(cli: Cli) -> None:
    folder = FIXTURES / "benchmarks" / "invalid" / "benchmark-result"
    found = {
        (Path(one["path"]).name, one["pointer"]) for one in cli("check", folder, "--format", "json").json["findings"]
    }
    assert found == {
        ("asv.json", "/results/s.time_a"),
        ("asv.json", "/results/s.time_b"),
        ("asv.json", "/results/s.mem_c"),
        ("gbench.json", "/benchmarks/1"),
        ("gbench.json", "/benchmarks/2"),
        ("serve.json", "/duration"),
    }


@pytest.mark.parametrize("cut", [0.7, 0.95])
def test_a_result_that_was_cut_off_is_none(cut: float, cli: Cli, tmp_path: Path) -> None:
    text = (VALID / "vllm_serve" / "serve.json").read_text()
    (tmp_path / "serve.json").write_text(text[: int(len(text) * cut)])
    ended = cli("check", tmp_path / "serve.json", "--format", "json")
    assert ended.code == 1
    assert "json-truncated" in ended.rules()
