"""The forms of results that are known, by the beginning of a file and by its document."""

from __future__ import annotations

from typing import Any

from aoe_reports.formats.benchmarks.asv import ASV
from aoe_reports.formats.benchmarks.form import BenchmarkForm
from aoe_reports.formats.benchmarks.google_benchmark import GOOGLE
from aoe_reports.formats.benchmarks.pytest_benchmark import PYTEST
from aoe_reports.formats.benchmarks.vllm import LATENCY, SERVE, THROUGHPUT

FORMS: tuple[BenchmarkForm, ...] = (SERVE, THROUGHPUT, LATENCY, PYTEST, GOOGLE, ASV)


def begins_as_benchmark(head: str) -> bool:
    """Whether a file may be the result of a benchmark program, by its beginning."""
    return any(form.begins(head) for form in FORMS)


def form_of(document: Any) -> BenchmarkForm | None:
    """The form of a document; None of what is none."""
    if not isinstance(document, dict):
        return None
    return next((form for form in FORMS if form.keys <= document.keys()), None)
