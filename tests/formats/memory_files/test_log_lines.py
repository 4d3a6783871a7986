"""Lines on memory in logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

from aoe_reports.formats.memory_files import log_lines, statements_of
from aoe_reports.formats.sources.discovery import discover

GIB = 1 << 30


def said(text: str, folder: Path) -> list[tuple[int | None, str, float, int]]:
    path = folder / "server.log"
    path.write_bytes(b"GPU KV cache size: 1 tokens\n" + text.encode())
    (file,) = discover([path]).files
    return [(one.rank_id, one.name, one.value, one.line) for one in statements_of(file)][1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "(Worker_TP3 pid=80) INFO Model loading took 15.25 GiB memory and 13.2 seconds",
            {"weights_bytes": 15.25 * GIB},
        ),
        ("INFO model_runner.py:1024] Loading model weights took 5.5000 GB", {"weights_bytes": 5.5 * GIB}),
        ("Available KV cache memory: -0.50 GiB", {"kv_cache_bytes": -0.5 * GIB}),
        ("# GPU blocks: 10533, # CPU blocks: 2048", {"kv_cache_blocks": 10533}),
        (
            "GPU KV cache size: 5,600,636 tokens, Maximum concurrency for 1,048,576 tokens per request: 5.34x",
            {"kv_cache_tokens": 5600636, "max_concurrency": 5.34},
        ),
        (
            (
                "model weights take 14.50GiB; non_torch_memory takes 0.25GiB; PyTorch activation peak memory takes 1.25GiB; "
                "the rest of the memory reserved for KV Cache is 54.50GiB."
            ),
            {
                "weights_bytes": 14.5 * GIB,
                "non_torch_bytes": 0.25 * GIB,
                "peak_activation_bytes": 1.25 * GIB,
                "kv_cache_bytes": 54.5 * GIB,
            },
        ),
        (
            "the current vLLM instance can use total_gpu_memory (64.00GiB) x gpu_memory_utilization (0.50) = 32.00GiB",
            {"device_bytes": 64 * GIB, "requested_bytes": 32 * GIB},
        ),
        (
            "max seq len (131072), 24.00 GiB KV cache is needed, which is larger than the available KV cache memory (10.50 GiB).",
            {"kv_cache_bytes": 10.5 * GIB, "kv_cache_needed_bytes": 24 * GIB},
        ),
        (
            "KV Cache is allocated. #tokens: 3262823, KV size: 186.50 GB",
            {"kv_cache_tokens": 3262823, "kv_cache_bytes": 186.5 * GIB},
        ),
        ("KV Cache is allocated. K size: 4.50 GB, V size: 4.25 GB.", {"kv_cache_bytes": 8.75 * GIB}),
        ("warm up, peak mem: 31.25G, total_mem: 61.00G", {"device_used_bytes": 31.25 * GIB, "device_bytes": 61 * GIB}),
        ("status: ok, npuBlockNum:1234,cpubloknum:0", {"kv_cache_blocks": 1234}),
        (
            (
                "CUDA out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 14.50 GiB of which 1.50 GiB is free. Including "
                "non-PyTorch memory, this process has 966.00 MiB memory in use. Of the allocated memory 734.00 MiB is allocated by PyTorch, "
                "and 512 bytes is reserved by PyTorch but unallocated."
            ),
            {
                "failed_allocation_bytes": 2 << 20,
                "device_bytes": 14.5 * GIB,
                "allocated_bytes": 734 << 20,
                "free_bytes": 1.5 * GIB,
                "unused_bytes": 512,
                "process_bytes": 966 << 20,
            },
        ),
        ("the model loading took forever, out of memory", {}),
    ],
)
def test_each_form_of_a_line_gives_its_values_in_bytes(text: str, expected: dict[str, float], tmp_path: Path) -> None:
    assert {name: value for _, name, value, _ in said(text, tmp_path)} == expected


def test_the_rank_and_the_line_are_those_of_the_worker(tmp_path: Path) -> None:
    lines = "(Worker_TP3 pid=8) Model loading took 1.0 GiB\n[rank5]: NPU out of memory. Tried to allocate 1.00 GiB (NPU 5; \n"
    lines += (
        "[2026-02-09 03:51:05 TP7] Memory pool end. avail mem=1.00 GB\n(Worker_PP1_TP0) Model loading took 1.0 GiB\n"
    )
    assert [(rank, line) for rank, _, _, line in said(lines, tmp_path)] == [(3, 2), (5, 3), (7, 4), (None, 5)]


def test_carriage_returns_and_endless_lines_do_no_harm(tmp_path: Path) -> None:
    text = (
        "Loading: 5%\rModel loading took 2.0 GiB\r\n"
        + "x" * 300_000
        + " Model loading took 9.0 GiB\nKV cache size: 7 tokens\n"
    )
    assert [(name, line) for _, name, _, line in said(text, tmp_path)] == [("weights_bytes", 2), ("kv_cache_tokens", 4)]


def test_no_more_statements_are_kept_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "MAX_STATEMENTS", 5)
    assert len(said("GPU KV cache size: 1 tokens\n" * 50, tmp_path)) == 4


def test_a_log_without_such_a_line_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("all is well\n" * 100)
    assert discover([tmp_path]).files == ()


def test_the_fixtures_are_logs() -> None:
    files = discover([FIXTURES / "memory" / "valid" / "server_logs"]).files
    assert [file.name.kind for file in files] == ["memory_log", "memory_log"]
    assert all(statements_of(file) for file in files)


def test_a_log_of_a_benchmark_into_which_the_server_printed_is_read_for_both(tmp_path: Path, cli: Cli) -> None:
    results = FIXTURES / "benchmarks" / "valid" / "vllm_serve_log" / "serve.log"
    server = "INFO Model loading took 15.25 GiB memory and 13.2 seconds\nINFO Available KV cache memory: 30.50 GiB\n"
    path = tmp_path / "all.log"
    path.write_text(server + results.read_text(encoding="utf-8"), encoding="utf-8")
    answer = cli("memory", path, "--format", "json").json
    assert [(row["name"], row["size_bytes"], row["line"]) for row in answer["statements"]] == [
        ("weights_bytes", 15.25 * GIB, 1),
        ("kv_cache_bytes", 30.5 * GIB, 2),
    ]
    assert "According to its logs: 15.25 GiB of weights, 30.50 GiB of KV cache." in cli("memory", tmp_path).out
    assert '"metric' in cli("ingest", path, "--dry-run").out
    assert cli("memory", results).code == 1
