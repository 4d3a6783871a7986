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


def test_a_printed_block_is_the_series_of_the_json_of_its_run() -> None:
    (printed,) = records_in(VALID / "vllm_serve_log" / "serve.log")
    (saved,) = records_in(VALID / "vllm_serve" / "serve.json")
    same = ("workload", "engine", "hardware", "runtime_ms_mean", "workload_args", "runtime_config")
    assert {name: printed[name] for name in same} == {name: saved[name] for name in same}
    both = printed["metrics"].keys() & saved["metrics"].keys()
    assert {name: printed["metrics"][name] for name in both} == {name: saved["metrics"][name] for name in both}
    assert {name for name in saved["metrics"] if not name.startswith("std_")} == both
    assert printed["metrics"].keys() - both == {
        "max_output_tokens_per_s", "max_concurrent_requests", "p99.9_itl_ms", "mean_e2el_ms",
        "spec_decode_acceptance_rate", "spec_decode_acceptance_length",
    }  # fmt: skip


def test_each_block_of_sglang_is_a_record() -> None:
    limited, not_limited = records_in(VALID / "sglang_serve_log" / "bench_20260103.log")
    assert (limited["workload"], limited["engine"], limited["runtime_ms_mean"]) == ("bench", "sglang", 42_500.0)
    assert limited["runtime_config"] == {"backend": "sglang", "request_rate": "inf", "max_concurrency": 4}
    assert not_limited["runtime_config"] == {"backend": "sglang-oai-chat", "request_rate": 8.0}
    known = {"input_throughput": 771.01, "concurrency": 3.97, "mean_e2e_latency_ms": 2636.1, "p95_itl_ms": 12.1}
    assert {name: limited["metrics"][name] for name in known} == known
    assert (limited["metrics"]["max_itl_ms"], limited["metrics"]["accept_length"]) == (31.0, 2.11)


BLOCK = """============ Serving Benchmark Result ============
Successful requests:                     199
Failed requests:                         1
Benchmark duration (s):                  50.25
Request throughput (req/s):              3.98
==================================================
"""


@pytest.mark.parametrize("before", ["", "bench-1  | ", "# "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_block_behind_what_others_write_before_each_line(before: str, end: str, tmp_path: Path) -> None:
    progress = "  0%| | 0/200\r100%|#| 200/200\r"
    text = progress + "".join(f"{before}{line}{end}" for line in BLOCK.splitlines())
    (tmp_path / "a.log").write_text(text, newline="")
    (record,) = records_in(tmp_path / "a.log")
    assert record["workload_args"] == {"num_prompts": 200}
    assert record["metrics"] == {"completed": 199, "failed": 1, "request_throughput": 3.98}


def test_a_block_at_the_end_of_a_long_log_is_found_and_an_ordinary_log_is_passed_over(tmp_path: Path, cli: Cli) -> None:
    line = "INFO 01-03 02:14:08 [engine.py:1] request: ok\n"
    many = line * ((3 << 20) // len(line))
    (tmp_path / "ordinary.log").write_text(many + 'print("Serving Benchmark Result")\n')
    assert cli("check", tmp_path, "--format", "json").rules() == {"nothing-found"}
    (tmp_path / "bench.log").write_text(many + BLOCK)
    ended = cli("check", tmp_path, "--format", "json")
    assert [Path(row["path"]).name for row in ended.json["rows"]] == ["bench.log"]
    assert ended.rules() == {"record-completed"}


def test_mindie_names_what_others_measure_like_them() -> None:
    folder = VALID / "mindie_benchmark"
    (run,) = records_in(folder / "result_common_20260103021530123.csv")
    (request,) = records_in(folder / "result_perf_20260103021530123.csv")
    assert (run["workload"], run["runtime_ms_mean"]) == ("example-8b/serve", 62_500.0)
    assert (request["workload"], request["runtime_ms_mean"]) == ("example-8b/request", 3125.5)
    assert (run["timestamp"], request["timestamp"]) == ("2026-01-03T02:15:30", "20260103021530123")
    assert run["workload_args"] == request["workload_args"] == {"num_prompts": 200, "dataset": "/data/example"}
    assert run["runtime_config"] == request["runtime_config"] == {"max_concurrency": 10}
    assert (run["metrics"]["completed"], run["metrics"]["request_throughput"]) == (200, 3.2)
    assert run["metrics"]["output_throughput"] == {"value": 819.2, "unit": "tokens/s", "better": "higher"}
    assert "accuracy" not in run["metrics"]  # `/` was not measured
    assert request["metrics"]["p99_ttft_ms"] == {"value": 164.02, "unit": "ms", "better": "lower"}
    assert request["metrics"]["slo_p90_itl_ms"]["value"] == 12.9204
    assert request["metrics"]["mean_queue_wait_time_us"]["unit"] == "us"
    assert {"slo_p90_ttft_ms", "max_characters_per_token", "p90_queue_wait_time_ms"}.isdisjoint(request["metrics"])


def test_a_table_of_requests_alone_has_no_model(tmp_path: Path) -> None:
    name = "result_perf_20260103021530123.csv"
    (tmp_path / name).write_bytes((VALID / "mindie_benchmark" / name).read_bytes())
    (record,) = records_in(tmp_path / name)
    assert (record["workload"], record["workload_args"]) == ("result_perf", {"num_prompts": 200})


def test_hyperfine() -> None:
    fast, slow, only_times = records_in(VALID / "hyperfine" / "commands.json")
    assert (fast["workload"], fast["workload_args"]) == ("pack --level 1 data.bin", {"level": "1"})
    assert (fast["runtime_ms_mean"], fast["runtime_ms_std"], fast["execution_config"]) == (252.5, 2.5, {"repeat": 3})
    assert fast["metrics"]["median_ms"] == {"value": 252.5, "unit": "ms", "better": "lower"}
    assert slow["runtime_ms_std"] is None
    assert (only_times["runtime_ms_mean"], only_times["runtime_ms_std"]) == (375.0, pytest.approx(stdev([500, 250])))


def test_a_number_that_no_float_holds_is_none(tmp_path: Path) -> None:
    many = "9" * 400
    for name, text in (
        ("a.json", f'{{"results": [{{"command": "x", "times": [{many}]}}]}}'),
        ("a.log", BLOCK.replace("50.25", many)),
        ("result_common_1.csv", f"CurrentTime,TimeElapsed,Returned,Throughput\n-,{many} s,1,1\n"),
    ):
        findings: list[Finding] = []
        (tmp_path / name).write_text(text)
        assert list(read_records(tmp_path / name, findings)) == []
        assert {finding.rule for finding in findings} == {"benchmark-result"}


def test_a_record_with_a_key_like_hyperfine_stays_a_record(tmp_path: Path, cli: Cli) -> None:
    told = json.loads((FIXTURES / "records" / "valid" / "example_net.json").read_text())
    document = {**(told[0] if isinstance(told, list) else told), "results": [{"command": "x", "times": [1]}]}
    (tmp_path / "a.json").write_text(json.dumps(document))
    (record,) = read_records(tmp_path / "a.json", [])
    assert not record.of_benchmark


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
    told = [json.dumps(record, sort_keys=True) for path in folder.iterdir() for record in records_in(path)]
    assert sorted(json.dumps(json.loads(line), sort_keys=True) for line in stored) == sorted(told)


def test_damage_is_named_with_its_place(cli: Cli) -> None:
    folder = FIXTURES / "benchmarks" / "invalid" / "benchmark-result"
    found = {
        (Path(one["path"]).name, one["pointer"] or one["line"])
        for one in cli("check", folder, "--format", "json").json["findings"]
        if one["severity"] == "error"
    }
    assert found == {
        ("asv.json", "/results/s.time_a"),
        ("asv.json", "/results/s.time_b"),
        ("asv.json", "/results/s.mem_c"),
        ("gbench.json", "/benchmarks/1"),
        ("gbench.json", "/benchmarks/2"),
        ("serve.json", "/duration"),
        ("hyperfine.json", "/results/0"),
        ("hyperfine.json", "/results/1"),
        ("serve.log", 5),
        ("serve.log", 7),
        ("serve.log", 11),
        ("result_common_20260103021530123.csv", 2),
        ("result_perf_20260104021530123.csv", 1),
    }


@pytest.mark.parametrize("cut", [0.7, 0.95])
def test_a_result_that_was_cut_off_is_none(cut: float, cli: Cli, tmp_path: Path) -> None:
    text = (VALID / "vllm_serve" / "serve.json").read_text()
    (tmp_path / "serve.json").write_text(text[: int(len(text) * cut)])
    ended = cli("check", tmp_path / "serve.json", "--format", "json")
    assert ended.code == 1
    assert "json-truncated" in ended.rules()
