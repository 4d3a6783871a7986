"""The log of a training with Megatron-LM, MindSpeed-LLM (once ModelLink) or MindSpeed-MM: a line for each `log_interval` iterations.

    [2026-01-01 02:00:00] iteration 10/ 2000 | consumed samples: 640 | elapsed time per iteration (ms): 13105.3 |
    throughput per GPU (TFLOP/s/GPU): 118.7 | global batch size: 64 | lm loss: 1.1E+01 | …

A number is what stands between `: ` and ` |`; the name before it ends with its unit (Megatron-LM, megatron/training/training.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from statistics import fmean, stdev
from typing import Any

from aoe_reports.formats.benchmarks.form import Entry, record_of, stem_without_dates
from aoe_reports.model.texts import say

ENGINE = "megatron"
MARK = b"elapsed time per iteration (ms):"
"""What every line of an iteration has."""
HEAD_BYTES = 1 << 20
"""A log begins with its arguments: so much of it is looked at for the first iteration."""
_TIME = MARK.decode().rstrip(":")
_ITERATION = re.compile(r"\biteration\s+(\d{1,12})\s*/\s*\d{1,12}\s*\|", re.ASCII)
_FIELD = re.compile(r"\s*([^|:]{1,80}?)\s*:\s*([-+]?[0-9.]{1,32}(?:[eE][-+]?[0-9]{1,4})?)\s*\|", re.ASCII)
_CLOCK = re.compile(r"\[(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})", re.ASCII)
_ARGUMENTS = ("global batch size",)
_NO_METRICS = frozenset({"consumed samples", "consumed tokens", "learning rate", _TIME, *_ARGUMENTS})
"""What counts on, and what a schedule sets."""


def is_training_log(data: bytes) -> bool:
    """Whether some text is such a log, by its beginning."""
    return MARK in data[:HEAD_BYTES] and not data.lstrip().startswith((b"{", b"["))


def entries_of_log(text: str, stem: str) -> Iterator[Entry]:
    """The record of a log: means over its iterations. The first line is left out where there are more: it has the compilation in it."""
    lines = list(_lines(text))
    if not lines:
        yield Entry("", None, say("no line with an iteration and its elapsed time"))
        return
    steady = [fields for _, fields in lines][1:] or [fields for _, fields in lines]
    times = [fields[_TIME] for fields in steady]
    names = dict.fromkeys(name for fields in steady for name in fields if name not in _NO_METRICS)
    metrics = {name: fmean(fields[name] for fields in steady if name in fields) for name in names}
    clock = lines[0][0]
    record = record_of(
        stem_without_dates(stem),
        ENGINE,
        fmean(times),
        stdev(times) if len(times) > 1 else None,
        timestamp=None if clock is None else clock.replace(" ", "T"),
        workload_args={name: steady[-1][name] for name in _ARGUMENTS if name in steady[-1]},
        execution_config={"repeat": len(times)},
        metrics=metrics,
    )
    yield Entry("", record)


def _lines(text: str) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """(the time of day, the numbers) of each line of an iteration; a line may be broken, or begin behind another's end."""
    for line in text.splitlines():
        found = _ITERATION.search(line)
        if found is None or _TIME not in line:
            continue
        fields: dict[str, float] = {}
        for name, number in _FIELD.findall(f"{line[found.end() :]}|"):
            try:
                fields[name] = float(number)
            except ValueError:
                continue
        if fields.get(_TIME, -1.0) >= 0:
            clock = _CLOCK.search(line[: found.start()])
            yield None if clock is None else clock[1], fields
