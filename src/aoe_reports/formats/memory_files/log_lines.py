"""Lines on memory in logs of vLLM (and vllm-ascend), SGLang and MindIE, and of PyTorch where an allocation failed.

| who | lines (files as of 2026) |
|---|---|
| vLLM | vllm/v1/worker/gpu_worker.py and gpu_model_runner.py, utils/mem_utils.py, v1/core/kv_cache_utils.py; worker.py before 2025 |
| vllm-ascend | vllm_ascend/worker/worker.py: the same words |
| SGLang | srt/model_executor/model_runner.py, srt/mem_cache/memory_pool.py |
| MindIE | mindie_llm/text_generator/utils/npu_mem_tool.py |
| torch_npu, PyTorch | NPUCachingAllocator.cpp, NPUWorkspaceAllocator.cpp, CUDACachingAllocator.cpp |

All of them divide by 1024: what SGLang, MindIE and vLLM before 2025 print as GB or G are GiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.errors import ReadError, of_the_system
from aoe_reports.model.texts import say
from aoe_reports.model.topics.memory import Statement

MAX_STATEMENTS = 10_000
_MAX_LINE = 1 << 16
_UNITS = {"bytes": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = r"(-?[\d,]+(?:\.\d+)?) ?(bytes|[KMGT])(?:i?B)?\b"
_COUNT = r"([\d,]+)"


@dataclass(frozen=True, slots=True)
class _Line:
    """A kind of line: `words` occur in it, and each value has a pattern of its own."""

    words: str
    values: tuple[tuple[str, re.Pattern[str]], ...]


def _sizes(*named: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """(name, what stands around the value): @ is a size, ~ is a number."""
    return tuple((name, re.compile(around.replace("@", _SIZE).replace("~", _COUNT))) for name, around in named)


_LINES = (
    _Line("Model loading took", _sizes(("weights_bytes", "loading took @"))),
    _Line("Loading model weights took", _sizes(("weights_bytes", "weights took @"))),
    _Line("vailable KV cache memory", _sizes(
        ("kv_cache_bytes", r"vailable KV cache memory(?:: | [(])@"), ("kv_cache_needed_bytes", "[ (]@ KV cache is needed"),
    )),
    _Line("KV cache size: ", _sizes(("kv_cache_tokens", "KV cache size: ~ tokens"))),
    _Line("Maximum concurrency for", _sizes(("max_concurrency", r"per request: ([\d,]+(?:\.\d+)?)x"))),
    _Line("PU blocks: ", _sizes(("kv_cache_blocks", "# [GN]PU blocks: ~"))),
    _Line("can use total_gpu_memory", _sizes(
        ("device_bytes", "total_gpu_memory [(]@[)]"), ("requested_bytes", r"gpu_memory_utilization [(][\d.]+[)] = @"),
    )),
    _Line("weights take ", _sizes(
        ("weights_bytes", "weights take @"), ("non_torch_bytes", "non_torch_memory takes @"),
        ("peak_activation_bytes", "activation peak memory takes @"), ("kv_cache_bytes", "reserved for KV Cache is @"),
    )),
    _Line("Total non KV cache memory", _sizes(
        ("device_bytes", "Total npu memory: @"), ("non_kv_cache_bytes", "non KV cache memory: @"),
        ("peak_activation_bytes", "torch peak memory increase: @"), ("non_torch_bytes", "non-torch forward increase memory: @"),
        ("weights_bytes", "weights memory: @"),
    )),
    _Line("Requested memory", _sizes(("requested_bytes", r"Requested memory: [\d.]+ [(]util[)], @"))),
    _Line("Graph capturing finished", _sizes(("graph_bytes", "took @"))),
    _Line("Load weight end", _sizes(("weights_bytes", "mem usage=@"), ("free_bytes", "avail mem=@"))),
    _Line("KV Cache is allocated", _sizes(
        ("kv_cache_tokens", "#tokens: ~"), ("kv_cache_bytes", "KV size: @"),
        ("kv_cache_keys_bytes", "[^V]K size: @"), ("kv_cache_values_bytes", "V size: @"),
    )),
    _Line("Memory pool end", _sizes(("free_bytes", "avail mem=@"))),
    _Line("graph end", _sizes(("graph_bytes", "mem usage=@"))),
    _Line("max_total_num_tokens=", _sizes(("kv_cache_tokens", "max_total_num_tokens=~"))),
    _Line("peak mem: ", _sizes(("device_used_bytes", "peak mem: @"), ("device_bytes", "total_mem: @"))),
    _Line("lockNum", _sizes(("kv_cache_blocks", r"npuBlockNum['\"]?\s?[:=]\s?['\"]?~"))),
    _Line("out of memory", _sizes(
        ("failed_allocation_bytes", "[Tt]ried to allocate @"), ("device_bytes", "(?:@ total capacity|total capacity of @)"),
        ("allocated_bytes", "(?:@ already allocated|@ is allocated by PyTorch)"), ("active_bytes", "@ current active"),
        ("free_bytes", "(?:@ free|@ is free)"), ("reserved_bytes", "@ reserved in total"),
        ("unused_bytes", "@ is reserved by PyTorch but unallocated"), ("process_bytes", "this process has @"),
    )),
)  # fmt: skip
_RANK = re.compile(r"\[rank(\d{1,6})\]|\brank=(\d{1,6})\b|Worker_TP(\d{1,6})(?![\w]*PP)|^\[[\d :-]+ TP(\d{1,6})\]")


def read_statements(file: FoundFile) -> list[Statement]:
    """What the lines of a log say; at most MAX_STATEMENTS."""
    statements: list[Statement] = []
    try:
        for number, line in _lines(file.path):
            statements += _of_line(line, str(file.path), number)
            if len(statements) >= MAX_STATEMENTS:
                break
    except OSError as error:
        raise ReadError(
            file.path, of_the_system(error.strerror or str(error)), say("a readable log was expected")
        ) from error
    return statements[:MAX_STATEMENTS]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that may say something; of a long line the beginning."""
    words = tuple(line.words.encode() for line in _LINES)
    with path.open("rb") as file:
        number = 0
        while data := file.readline(_MAX_LINE):
            number += 1
            if any(word in data for word in words):
                yield number, data.decode("utf-8", "replace").rstrip().rpartition("\r")[2]
            while not data.endswith(b"\n") and (data := file.readline(_MAX_LINE)):
                pass


def _of_line(text: str, path: str, number: int) -> Iterator[Statement]:
    rank = _RANK.search(text)
    rank_id = next((int(group) for group in rank.groups() if group), None) if rank else None
    stated: dict[str, float] = {}
    for line in _LINES:
        if line.words in text:
            stated |= {name: value for name, pattern in line.values if (value := _value(pattern, text)) is not None}
    keys, values = stated.pop("kv_cache_keys_bytes", None), stated.pop("kv_cache_values_bytes", None)
    if keys is not None and values is not None:
        stated["kv_cache_bytes"] = keys + values
    for name, value in stated.items():
        yield Statement(rank_id=rank_id, name=name, value=value, path=path, line=number)


def _value(pattern: re.Pattern[str], text: str) -> float | None:
    """The number in a line, in bytes where it has a unit."""
    match = pattern.search(text)
    groups = [group for group in match.groups() if group is not None] if match else []
    if not groups or not any(digit.isdigit() for digit in groups[0]):
        return None
    number = float(groups[0].replace(",", "")[:30])
    return float(round(number * _UNITS[groups[1]])) if len(groups) > 1 else number
