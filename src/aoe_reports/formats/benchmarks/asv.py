"""Results of airspeed velocity (asv, file format 2): `results/MACHINE/COMMIT-ENV.json`.

What a benchmark measures is told by the last part of its name: `time_*` and `timeraw_*` seconds, `mem_*` and `peakmem_*` bytes,
`track_*` any number. Its unit and kind stand in `benchmarks.json` beside the results, which is not read: of `track_*` they are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from aoe_reports.formats.benchmarks.form import BenchmarkForm, Entry, in_ms, is_time, metric, record_of
from aoe_reports.formats.records.metrics import is_number
from aoe_reports.model.documents import JsonObject, object_of
from aoe_reports.model.texts import say

ENGINE = "asv"
_MAX_PARAMETERS = 10_000
"""Combinations of parameters of one benchmark."""


def _entries(document: Mapping[str, Any], _: str) -> Iterator[Entry]:
    columns, results = document["result_columns"], document["results"]
    if not isinstance(columns, list) or not isinstance(results, dict):
        yield Entry("/results", None, say("expected result_columns and results"))
        return
    about = object_of(document.get("params"))
    for name, row in results.items():
        pointer = f"/results/{name.replace('~', '~0').replace('/', '~1')}"
        told = dict(zip(map(str, columns), row, strict=False)) if isinstance(row, list) else {"result": row}
        for entry in _of_benchmark(name, told, document):
            record = entry.record
            hardware = about.get("machine")
            if record is not None and isinstance(hardware, str):
                record = {**record, "hardware": hardware}
            yield entry._replace(pointer=pointer, record=record)


def _of_benchmark(name: str, told: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[Entry]:
    values, params = told.get("result"), told.get("params") or []
    if values is None:
        yield Entry("", None, say("the benchmark failed: {why}", why=say("it has no result")))
        return
    values = values if isinstance(values, list) else [values]
    if not isinstance(params, list) or not all(isinstance(param, list) for param in params):
        yield Entry("", None, say("expected a list of values for each parameter"))
        return
    cases = []
    for case in product(*params):
        cases.append(case)
        if len(cases) > _MAX_PARAMETERS:
            break
    if len(cases) != len(values):
        message = say(
            "{count} values for {expected} combinations of parameters", count=len(values), expected=len(cases)
        )
        yield Entry("", None, message)
        return
    kind = name.rpartition(".")[2].partition("_")[0]
    if kind in {"time", "timeraw"}:
        for case, value in zip(cases, values, strict=True):
            if is_time(value):
                args: JsonObject = {f"param{place}": str(one) for place, one in enumerate(case, 1)}
                yield Entry("", _record(name, in_ms(value), told, document, workload_args=args))
        return
    duration = told.get("duration")
    if not is_time(duration):
        yield Entry("", None, say("expected the duration of the benchmark in seconds"))
        return
    metrics = {
        "_".join((kind, *map(str, case))): _metric(kind, value)
        for case, value in zip(cases, values, strict=True)
        if is_number(value)
    }
    yield Entry("", _record(name, in_ms(duration), told, document, metrics=metrics))


def _metric(kind: str, value: float) -> float | JsonObject:
    return metric(value, "B", "lower") if kind in {"mem", "peakmem"} else value


def _record(name: str, mean_ms: float, told: Mapping[str, Any], document: Mapping[str, Any], **more: Any) -> JsonObject:
    started = told.get("started_at") or document.get("date")
    commit = document.get("commit_hash")
    return record_of(
        name,
        ENGINE,
        mean_ms,
        timestamp=int(started) if is_time(started) and started else None,
        engine_config={"env_name": document["env_name"]} if isinstance(document.get("env_name"), str) else None,
        metadata={"commit_hash": commit} if isinstance(commit, str) else None,
        **more,
    )


ASV = BenchmarkForm(
    "asv", ("commit_hash", "result_columns"), frozenset({"commit_hash", "result_columns", "results"}), _entries
)
