"""The block that `vllm bench serve` (benchmark_serving.py) and `sglang.bench_serving` print, in a log with other lines around it.

    ============ Serving Benchmark Result ============
    Successful requests:                     200
    Mean TTFT (ms):                          48.35
    ==================================================

A row is a label, a colon and a value. Metrics have the names that vLLM's JSON of the same run gives them (vLLM, benchmarks/serve.py);
rows that SGLang alone prints have those of its JSON (SGLang, bench_serving.py; labels as both printed them from 2024 to 2026). What the
block itself does not say of the load is in the lines above it: the arguments (`Namespace(…)`) and vLLM's three lines on the traffic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aoe_reports.formats.benchmarks import vllm
from aoe_reports.formats.benchmarks.form import Entry, in_ms, number_in, record_of, stem_without_dates
from aoe_reports.model.texts import say

_HEADER = re.compile(r"={5,60} Serving Benchmark Result ={5,60}")
_WORDS = b"===== Serving Benchmark Result ====="
_CLOSING = re.compile(r"={20,}")
_ROW = re.compile(r"([A-Za-z][^:]{0,80}):\s+(\S.{0,200})")
_ARGUMENT = re.compile(
    r"\b(model|num_prompts|backend|endpoint_type|label|request_rate|burstiness|max_concurrency)=('[^']*'|[^,()]*)"
)

_CONFIGURED = {
    "Backend": "backend",
    "Traffic request rate": "request_rate",
    "Request rate configured (RPS)": "request_rate",
    "Burstiness factor": "burstiness",
    "Maximum request concurrency": "max_concurrency",
    "Max request concurrency": "max_concurrency",
    "Max reqeuest concurrency": "max_concurrency",  # SGLang at the beginning of 2025
}
"""Rows that say how the load was made."""
_NAMES = {
    "Benchmark duration (s)": "duration",
    "Successful requests": "completed",
    "Failed requests": "failed",
    "Total generated tokens": "total_output_tokens",
    "Total generated tokens (retokenized)": "total_output_tokens_retokenized",
    "Request throughput (req/s)": "request_throughput",
    "Request goodput (req/s)": "request_goodput",
    "Input throughput (inputs/s)": "input_sequence_throughput",
    "Input token throughput (tok/s)": "input_throughput",
    "Output token throughput (tok/s)": "output_throughput",
    "Peak output token throughput (tok/s)": "max_output_tokens_per_s",
    "Peak concurrent requests": "max_concurrent_requests",
    "Total throughput (tok/s)": "total_token_throughput",  # SGLang in 2024
    "RTFx (Inverse Real-Time Factor)": "rtfx",
    "Probe requests completed": "probe_completed",
    "Probe requests failed": "probe_failed",
    "Median probe E2EL (ms)": "probe_median_e2el_ms",
    "P99 probe E2EL (ms)": "probe_p99_e2el_ms",
    "Max probe E2EL (ms)": "probe_max_e2el_ms",
    "Acceptance rate (%)": "spec_decode_acceptance_rate",
    "Acceptance length": "spec_decode_acceptance_length",
    "Drafts": "spec_decode_num_drafts",
    "Draft tokens": "spec_decode_draft_tokens",
    "Accepted tokens": "spec_decode_accepted_tokens",
    "Committed throughput (tok/s)": "diffusion_committed_throughput",
    "Denoising steps per canvas": "diffusion_steps_per_canvas",
    "Committed per denoising step": "diffusion_committed_per_step",
    "Committed tokens": "diffusion_committed_tokens",
    "Denoising steps": "diffusion_denoising_steps",
    "Canvas positions evaluated": "diffusion_canvas_positions",
}
"""Rows whose key in the JSON is another name; all others are called like their label."""


def is_serving_log(data: bytes) -> bool:
    """Whether some text has the header of such a block."""
    return _WORDS in data and not data.lstrip().startswith((b"{", b"["))


@dataclass(slots=True)
class _Block:
    """The block that begins on a line; `settings` are those of the lines above it, until its own rows are read."""

    line: int
    before: str
    """What stands before its header, and so before each of its lines."""
    settings: dict[str, str]
    asked: str = ""
    """What SGLang's program says that it sent requests to: sglang, sglang-oai-chat, vllm, lmdeploy …"""
    numbers: dict[str, int | float] = field(default_factory=dict)
    wrong: list[Entry] = field(default_factory=list)


def entries_of_log(text: str, stem: str) -> Iterator[Entry]:
    """A record for each block; a block that is not closed gives none."""
    block: _Block | None = None
    settings: dict[str, str] = {}
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip().rpartition("\r")[2]  # a progress bar returns to the beginning of its line
        header = _HEADER.search(line)
        if header is not None:
            yield from _not_closed(block)
            block, settings = _Block(number, line[: header.start()], settings), {}
        elif block is None:
            settings |= _settings_in(line)
        elif _CLOSING.fullmatch((row := line.removeprefix(block.before)).strip()):
            yield from _entries_of(block, stem)
            block = None
        else:
            _add_row(block, row, number)
    yield from _not_closed(block)


def _not_closed(block: _Block | None) -> Iterator[Entry]:
    if block is not None:
        message = say(
            "the block of results has no closing line (truncated, or still being written); none of it is used"
        )
        yield Entry("", None, message, block.line)


def _settings_in(line: str) -> dict[str, str]:
    """What a line above a block says of the load."""
    if "Namespace(" in line:
        found = {name: value.strip("' ") for name, value in _ARGUMENT.findall(line)}
        return {name: value for name, value in found.items() if value not in {"", "None"}}
    row = _ROW.match(line)
    if row is None or row[1] not in _CONFIGURED:
        return {}
    return {_CONFIGURED[row[1]]: row[2].partition(" (")[0]}  # 1.0 (Poisson process)


def _add_row(block: _Block, text: str, line: int) -> None:
    """What a line of a block says; indented ones are vLLM's shares of each speculated position, a list in its JSON."""
    row = _ROW.fullmatch(text)
    if row is None:
        return
    label, value = row[1], row[2]
    if label in _CONFIGURED:
        block.settings[_CONFIGURED[label]] = value
        block.asked = value if label == "Backend" else block.asked
        return
    name = _NAMES.get(label) or _name_of(label)
    number = number_in(value)
    if number is not None:
        block.numbers[name] = number
    elif label in _NAMES or label.endswith(")"):  # else a line of another program that writes into this log
        message = say("{label}: expected a number, not {value!r}", label=label, value=value[:60])
        block.wrong.append(Entry("", None, message, line))


def _name_of(label: str) -> str:
    """`P99 E2EL incl. Client Queue (ms)` is p99_e2el_including_client_queue_ms; units other than ms are no part of a name."""
    words = re.sub(r"\s*\((?!ms\))[^)]*\)$", "", label).replace("incl.", "including").casefold()
    return re.sub(r"[^0-9a-z.]+", "_", words).strip("_.")


def _entries_of(block: _Block, stem: str) -> Iterator[Entry]:
    yield from block.wrong
    numbers = block.numbers
    if numbers.get("duration", -1) >= 0 and "request_throughput" in numbers:
        yield Entry("", _record(block, stem), line=block.line)
    else:
        message = say("the block of results has no duration or no request throughput; none of it is used")
        yield Entry("", None, message, block.line)


def _record(block: _Block, stem: str) -> dict[str, Any]:
    numbers, model = block.numbers, block.settings.get("model")
    requests = number_in(block.settings.get("num_prompts", ""))
    if requests is None and "completed" in numbers:
        requests = numbers["completed"] + numbers.get("failed", 0)
    return record_of(
        f"{model}/serve" if model else stem_without_dates(stem),
        block.asked.partition("-")[0] or vllm.ENGINE,
        in_ms(numbers["duration"]),
        workload_args={} if requests is None else {"num_prompts": requests},
        runtime_config=_load(block.settings, of_vllm=not block.asked),
        metrics={name: value for name, value in numbers.items() if name != "duration"},
    )


def _load(settings: Mapping[str, str], *, of_vllm: bool) -> dict[str, Any]:
    """How the load was made, as the JSON has it: rates are fractions or `inf`; a concurrency that was not limited is left out."""
    load: dict[str, Any] = {name: settings[name] for name in ("backend", "endpoint_type", "label") if name in settings}
    if of_vllm and "backend" in load:
        load.setdefault("endpoint_type", load["backend"])
    for name in ("request_rate", "burstiness"):
        if name in settings:
            number = number_in(settings[name])
            load[name] = settings[name] if number is None else float(number)
    concurrency = number_in(settings.get("max_concurrency", ""))
    return load if concurrency is None else {**load, "max_concurrency": concurrency}
