"""What pytest-benchmark saves (`--benchmark-json`): statistics of each benchmark in seconds (pytest-benchmark 3 to 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aoe_reports.formats.benchmarks.form import BenchmarkForm, Entry, in_ms, is_time, metric, numbers_in, record_of
from aoe_reports.model.documents import object_of
from aoe_reports.model.texts import say

_TIMES = ("min", "median", "max")


def _entries(document: Mapping[str, Any], _: str) -> Iterator[Entry]:
    machine = object_of(document["machine_info"])
    benchmarks = document["benchmarks"]
    if not isinstance(benchmarks, list):
        yield Entry("/benchmarks", None, say("expected a list of benchmarks"))
        return
    for place, one in enumerate(benchmarks):
        yield _entry(f"/benchmarks/{place}", object_of(one), machine, document)


def _entry(pointer: str, one: Mapping[str, Any], machine: Mapping[str, Any], document: Mapping[str, Any]) -> Entry:
    stats: Mapping[str, Any] = object_of(one.get("stats"))
    name = one.get("fullname") or one.get("name")
    if not isinstance(name, str) or not is_time(stats.get("mean")):
        return Entry(pointer, None, say("expected a name and stats with a mean in seconds"))
    std, params = stats.get("stddev"), one.get("params")
    cpu = object_of(machine.get("cpu")).get("brand_raw") or machine.get("machine")
    record = record_of(
        name,
        str(machine.get("python_implementation") or "python"),
        in_ms(stats["mean"]),
        in_ms(std) if is_time(std) and stats.get("rounds") != 1 else None,
        engine_version=_text(machine.get("python_version")),
        timestamp=_text(document.get("datetime")),
        workload_args=params if isinstance(params, dict) else None,
        metadata={name: value for name, value in object_of(document.get("commit_info")).items() if value is not None},
        execution_config=_counts(stats),
        metrics={
            **{f"{kind}_ms": metric(in_ms(stats[kind]), "ms", "lower") for kind in _TIMES if is_time(stats.get(kind))},
            **numbers_in(object_of(one.get("extra_info"))),
        },
    )
    return Entry(pointer, {**record, "hardware": cpu} if isinstance(cpu, str) else record)


def _counts(stats: Mapping[str, Any]) -> dict[str, Any]:
    return {name: stats[key] for name, key in (("number", "iterations"), ("repeat", "rounds")) if key in stats}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


PYTEST = BenchmarkForm(
    "pytest-benchmark", ("machine_info", "commit_info"), frozenset({"machine_info", "benchmarks", "version"}), _entries
)
