"""What Google Benchmark writes (`--benchmark_format=json`): times in `time_unit`, rates per second, counters of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import fmean, stdev
from typing import Any

from aoe_reports.formats.benchmarks.form import BenchmarkForm, Entry, is_time, metric, record_of
from aoe_reports.formats.records.metrics import is_number
from aoe_reports.model.documents import object_of
from aoe_reports.model.texts import say

ENGINE = "google-benchmark"
_MS = {"ns": Decimal("1e-6"), "us": Decimal("1e-3"), "ms": Decimal(1), "s": Decimal(1000)}
_NO_COUNTERS = frozenset(
    {
        "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations", "real_time",
        "cpu_time",
    }
)  # fmt: skip
_Row = tuple[str, Mapping[str, Any]]
"""Where it stands, and what stands there."""


def _entries(document: Mapping[str, Any], _: str) -> Iterator[Entry]:
    context, rows = object_of(document["context"]), document["benchmarks"]
    if not isinstance(rows, list):
        yield Entry("/benchmarks", None, say("expected a list of benchmarks"))
        return
    runs: dict[str, list[_Row]] = {}
    aggregates: dict[str, list[_Row]] = {}
    for place, one in enumerate(map(object_of, rows)):
        pointer = f"/benchmarks/{place}"
        name = one.get("run_name") or one.get("name")
        if one.get("error_occurred"):
            yield Entry(pointer, None, say("the benchmark failed: {why}", why=str(one.get("error_message"))[:200]))
        elif one.get("run_type") != "aggregate" or one.get("aggregate_name") in {"mean", "stddev"}:
            if not isinstance(name, str) or not is_time(one.get("real_time")) or one.get("time_unit") not in _MS:
                yield Entry(pointer, None, say("expected a name, real_time, and a time_unit of ns, us, ms or s"))
                continue
            found = aggregates if one.get("run_type") == "aggregate" else runs
            found.setdefault(name, []).append((pointer, one))
    for name, mine in {**_alone(aggregates), **runs}.items():
        yield _entry(name, mine, aggregates.get(name, ()) if name not in runs else (), context)


def _alone(aggregates: Mapping[str, list[_Row]]) -> dict[str, list[_Row]]:
    """Means stand in where single repetitions are not reported."""
    means = {name: [row for row in rows if row[1].get("aggregate_name") == "mean"] for name, rows in aggregates.items()}
    return {name: rows for name, rows in means.items() if rows}


def _entry(name: str, rows: Sequence[_Row], aggregates: Sequence[_Row], context: Mapping[str, Any]) -> Entry:
    times = [_ms(one, "real_time") for _, one in rows]
    std = stdev(times) if len(times) > 1 else None
    for _, one in aggregates:
        if one.get("aggregate_name") == "stddev":
            std = _ms(one, "real_time")
    cpu = [_ms(one, "cpu_time") for _, one in rows if is_time(one.get("cpu_time"))]
    metrics: dict[str, Any] = {"cpu_time_ms": metric(fmean(cpu), "ms", "lower")} if cpu else {}
    for counter in dict.fromkeys(key for _, one in rows for key in one):
        values = [one[counter] for _, one in rows if is_number(one.get(counter))]
        if values and counter not in _NO_COUNTERS:
            metrics[counter] = fmean(values)
    first = rows[0][1]
    record = record_of(
        name,
        ENGINE,
        fmean(times),
        std,
        engine_version=_text(context.get("library_version")),
        timestamp=_text(context.get("date")),
        execution_config={"number": first["iterations"], "repeat": len(times)} if "iterations" in first else None,
        metrics=metrics,
    )
    host = context.get("host_name")
    return Entry(rows[0][0], {**record, "hardware": host} if isinstance(host, str) and host else record)


def _ms(one: Mapping[str, Any], key: str) -> float:
    return float(Decimal(repr(one[key])) * _MS[one["time_unit"]])


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


GOOGLE = BenchmarkForm(
    "google-benchmark", ("context", "benchmarks", "time_unit"), frozenset({"context", "benchmarks"}), _entries
)
