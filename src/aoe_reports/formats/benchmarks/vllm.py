"""What vLLM's benchmarks save: `vllm bench serve` (benchmark_serving.py), `vllm bench throughput` and `vllm bench latency`.

Times end with their unit in the keys (`mean_ttft_ms`), others are seconds; what is not said is not known. A run of `serve` lasts
`duration` s; of `throughput` `elapsed_time` s; of `latency` a batch takes `avg_latency` s (vLLM, benchmarks: serve.py, throughput.py,
latency.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from statistics import stdev
from typing import Any

from aoe_reports.formats.benchmarks.form import (
    BenchmarkForm,
    Entry,
    in_ms,
    is_time,
    metric,
    numbers_in,
    record_of,
    stem_without_dates,
)
from aoe_reports.formats.records.metrics import is_number
from aoe_reports.model.texts import say

ENGINE = "vllm"
_ARGUMENTS = ("num_prompts",)
_CONFIGURED = ("backend", "endpoint_type", "label", "request_rate", "burstiness", "max_concurrency")
"""How the load was made: another load is another series."""
_DATE = re.compile(r"(\d{8})-(\d{6})", re.ASCII)


def _serve(document: Mapping[str, Any], stem: str) -> Iterator[Entry]:
    """One run against a server. Lists hold single requests, which are no metrics."""
    duration = document["duration"]
    if not is_time(duration):
        yield Entry("/duration", None, say("expected a duration in seconds"))
        return
    wrong = list(_no_numbers(document, ("request_throughput", "output_throughput")))
    if wrong:
        yield from wrong
        return
    model = document.get("model_id")
    told = _DATE.fullmatch(str(document.get("date")))
    others = {
        name: value
        for name, value in document.items()
        if isinstance(value, str) and name not in {"date", "model_id", *_CONFIGURED}
    }
    yield Entry(
        "",
        record_of(
            f"{model}/serve" if isinstance(model, str) and model else stem_without_dates(stem),
            ENGINE,
            in_ms(duration),
            timestamp=None if told is None else told[1] + told[2],
            workload_args=_known(document, _ARGUMENTS),
            runtime_config=_known(document, _CONFIGURED),
            metadata=others,
            metrics=numbers_in(document, {"duration", *_ARGUMENTS, *_CONFIGURED}),
        ),
    )


def _no_numbers(document: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[Entry]:
    """What should be a number and is none: without it the nights would lose a metric without a word."""
    for name in names:
        if not is_number(document[name]):
            yield Entry(f"/{name}", None, say("expected a number"))


def _known(document: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: document[name] for name in names if document.get(name) is not None}


def _throughput(document: Mapping[str, Any], stem: str) -> Iterator[Entry]:
    elapsed = document["elapsed_time"]
    if not is_time(elapsed):
        yield Entry("/elapsed_time", None, say("expected a duration in seconds"))
        return
    wrong = list(_no_numbers(document, ("requests_per_second", "tokens_per_second")))
    if wrong:
        yield from wrong
        return
    record = record_of(
        stem_without_dates(stem),
        ENGINE,
        in_ms(elapsed),
        workload_args=_known(document, ("num_requests",)),
        metrics=numbers_in(document, {"elapsed_time", "num_requests"}),
    )
    yield Entry("", record)


def _latency(document: Mapping[str, Any], stem: str) -> Iterator[Entry]:
    """Batches one after another: seconds."""
    mean, latencies = document["avg_latency"], document.get("latencies")
    if not is_time(mean):
        yield Entry("/avg_latency", None, say("expected a duration in seconds"))
        return
    known = [value for value in latencies if is_time(value)] if isinstance(latencies, list) else []
    percentiles = document["percentiles"]
    metrics = {
        f"p{name}_latency_ms": metric(in_ms(value), "ms", "lower")
        for name, value in (percentiles.items() if isinstance(percentiles, dict) else ())
        if is_number(value)
    }
    std = in_ms(stdev(known)) if len(known) > 1 else None
    count = {"repeat": len(known)} if known else None
    record = record_of(stem_without_dates(stem), ENGINE, in_ms(mean), std, execution_config=count, metrics=metrics)
    yield Entry("", record)


SERVE = BenchmarkForm(
    "vllm-serve",
    ("duration", "request_throughput", "output_throughput"),
    frozenset({"duration", "request_throughput", "output_throughput"}),
    _serve,
)
THROUGHPUT = BenchmarkForm(
    "vllm-throughput",
    ("elapsed_time", "requests_per_second", "tokens_per_second"),
    frozenset({"elapsed_time", "requests_per_second", "tokens_per_second"}),
    _throughput,
)
LATENCY = BenchmarkForm(
    "vllm-latency", ("avg_latency", "latencies"), frozenset({"avg_latency", "latencies", "percentiles"}), _latency
)
