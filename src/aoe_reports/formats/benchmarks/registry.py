"""The forms of results that are known, by the beginning of a file and by its document."""

from __future__ import annotations

from typing import Any

from aoe_reports.formats.benchmarks.asv import ASV
from aoe_reports.formats.benchmarks.form import BenchmarkForm
from aoe_reports.formats.benchmarks.google_benchmark import GOOGLE
from aoe_reports.formats.benchmarks.hyperfine import HYPERFINE
from aoe_reports.formats.benchmarks.megatron import HEAD_BYTES, is_training_log
from aoe_reports.formats.benchmarks.pytest_benchmark import PYTEST
from aoe_reports.formats.benchmarks.serving_log import is_serving_log
from aoe_reports.formats.benchmarks.vllm import LATENCY, SERVE, THROUGHPUT

FORMS: tuple[BenchmarkForm, ...] = (SERVE, THROUGHPUT, LATENCY, PYTEST, GOOGLE, ASV, HYPERFINE)


def begins_as_benchmark(head: str) -> bool:
    """Whether a file may be the result of a benchmark program, by its beginning."""
    return any(form.begins(head) for form in FORMS)


def form_of(document: Any) -> BenchmarkForm | None:
    """The form of a document; None of what is none."""
    if not isinstance(document, dict):
        return None
    return next((form for form in FORMS if form.fits(document)), None)


def is_benchmark_log(head: bytes, tail: bytes) -> bool:
    """Whether a log has results, by its first and last LOG_BYTES."""
    return is_training_log(head) or is_serving_log(head) or is_serving_log(tail)


LOG_BYTES = HEAD_BYTES
"""So much of the beginning and of the end of a log is looked at: a benchmark prints its result when it ends."""
