"""What hyperfine saves (`--export-json`): the times of each command in seconds (hyperfine, benchmark_result.rs).

A list of the same form that another program writes is read, too: of a command its `times` are enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from statistics import fmean, stdev
from typing import Any

from aoe_reports.formats.benchmarks.form import BenchmarkForm, Entry, in_ms, is_time, metric, record_of
from aoe_reports.formats.records.metrics import is_number
from aoe_reports.model.documents import object_of
from aoe_reports.model.texts import join, say

ENGINE = "hyperfine"
_TIMES = ("min", "median", "max", "user", "system")
_SHOWN_CODES = 5


def _entries(document: Mapping[str, Any], _: str) -> Iterator[Entry]:
    results = document["results"]
    if not isinstance(results, list):
        yield Entry("/results", None, say("expected a list of results"))
        return
    for place, result in enumerate(map(object_of, results)):
        yield _entry(f"/results/{place}", result)


def _entry(pointer: str, result: Mapping[str, Any]) -> Entry:
    command, times = result.get("command"), result.get("times")
    times = times if isinstance(times, list) else []
    if not all(map(is_time, times)):
        return Entry(f"{pointer}/times", None, say("expected times in seconds"))
    mean = result.get("mean", fmean(times) if times else None)
    if not isinstance(command, str) or not command or not is_time(mean):
        return Entry(pointer, None, say("expected a command and its times in seconds"))
    codes = result.get("exit_codes")
    failed = dict.fromkeys(str(code) for code in codes if code != 0) if isinstance(codes, list) else {}
    if failed:
        why = say("exit code {codes}", codes=join(", ", list(failed)[:_SHOWN_CODES]))
        return Entry(pointer, None, say("the benchmark failed: {why}", why=why))
    return Entry(pointer, _record(command, mean, times, result))


def _record(command: str, mean: float, times: list[float], result: Mapping[str, Any]) -> dict[str, Any]:
    std = result.get("stddev", stdev(times) if len(times) > 1 else None)
    used = result.get("memory_usage_byte")
    bytes_used = [value for value in used if is_number(value)] if isinstance(used, list) else []
    metrics = {f"{name}_ms": metric(in_ms(result[name]), "ms", "lower") for name in _TIMES if is_time(result.get(name))}
    return record_of(
        command,
        ENGINE,
        in_ms(mean),
        in_ms(std) if is_time(std) else None,
        workload_args=object_of(result.get("parameters")),
        execution_config={"repeat": len(times)} if times else None,
        metrics={**metrics, **({"memory": metric(fmean(bytes_used), "B", "lower")} if bytes_used else {})},
    )


HYPERFINE = BenchmarkForm(
    "hyperfine",
    ("times",),
    frozenset({"results"}),
    _entries,
    opening=re.compile(r'\{\s*"results"\s*:\s*\[\s*\{\s*"command"\s*:'),
    no_other_keys=True,
)
