"""The tables of MindIE Benchmark (its `output.py`, 2024 to 2025): `result_common_TIME.csv` and `result_perf_TIME.csv`.

`common` has one row on the whole run. `perf` has a column for each quantity and eight rows without names, of all requests: average,
max, min, P75, P90, SLO_P90, P99 and their number N. A cell has its unit: `97.07 ms`. `/` is a value that was not measured.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from aoe_reports.formats.benchmarks.form import Entry, in_ms, metric, number_in, record_of, stem_without_dates
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.metrics import Better
from aoe_reports.model.texts import say

ENGINE = "mindie"
MAX_COMMON_BYTES = 1 << 16
_COMMON_HEADER = frozenset({"CurrentTime", "TimeElapsed", "Returned", "Throughput"})
_PERF_HEADER = frozenset({"FirstTokenTime", "DecodeTime", "GenerateTime"})
_ROWS = ("mean", "max", "min", "p75", "p90", "slo_p90", "p99", "N")
_NO_VALUE = frozenset({"", "/"})
_CELL = re.compile(r"([^\s(\[%]+)%?(?:\s*[(\[].*|\s+(\S+))?")
"""A number with its unit, or a count with its share: `200( 100.0% )`."""
_TIME_OF_DAY = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}", re.ASCII)
_TIME_IN_NAME = re.compile(r"_(\d{17})$", re.ASCII)
_UNITS: Mapping[str, tuple[str, Better]] = {
    "ms": ("ms", "lower"),
    "μs": ("us", "lower"),
    "µs": ("us", "lower"),
    "us": ("us", "lower"),
    "token/s": ("tokens/s", "higher"),
}
_COMMON = {
    "Returned": "completed",
    "Failed": "failed",
    "Throughput": "request_throughput",
    "GenerateSpeed": "output_throughput",
    "OutputGenerateSpeed": "output_throughput",
    "InputGenerateSpeed": "input_throughput",
    "TotalGenerateSpeed": "total_token_throughput",
    "GenerateSpeedPerClient": "output_throughput_per_client",
    "lpct": "prefill_per_input_token_ms",
    "accuracy": "accuracy",
}
"""Columns of numbers; where vLLM's benchmark measures the same, its name."""
_QUANTITIES = {"FirstTokenTime": "ttft", "DecodeTime": "itl", "GenerateTime": "e2el"}
"""Those that other benchmarks have, too, by the comparison of MindIE 2.2 with AISBench."""


def is_header(cells: Collection[str]) -> bool:
    """Whether the cells of a first line are columns of one of the tables."""
    names = {cell.strip() for cell in cells}
    return names >= _COMMON_HEADER or names >= _PERF_HEADER


def is_table(data: bytes) -> bool:
    """Whether some text is one of the tables."""
    first = data[:MAX_COMMON_BYTES].split(b"\n", 1)[0]
    return is_header(first.decode("utf-8", errors="replace").split(","))


def name_of_common(name: str) -> str | None:
    """What the table on the whole run is called beside one on single requests; None for the name of no such table."""
    return name.replace("_perf_", "_common_", 1) if "_perf_" in name else None


def entries_of_table(text: str, stem: str, common: str) -> Iterator[Entry]:
    """The record of a table; `common` is the text of the other table where this one is of single requests."""
    rows = _rows_of(text)
    if rows is None:
        yield Entry("", None, say("rows that do not have the cells of the header"), line=1)
    elif set(rows[0]) >= _PERF_HEADER:
        yield from _of_requests(rows, stem, _rows_of(common))
    elif len(rows) == 1:
        yield from _of_run(rows[0], stem)
    else:
        yield Entry("", None, say("{count} rows, expected {expected}", count=len(rows), expected=1), line=1)


def _rows_of(text: str) -> list[dict[str, str]] | None:
    """The rows by column; None where one has other cells than the header, or there is none."""
    try:
        header, *rows = [[cell.strip() for cell in cells] for cells in csv.reader(io.StringIO(text)) if any(cells)]
    except (csv.Error, ValueError):
        return None
    if not rows or any(len(cells) != len(header) for cells in rows):
        return None
    return [dict(zip(header, cells, strict=True)) for cells in rows]


def _of_run(row: Mapping[str, str], stem: str) -> Iterator[Entry]:
    elapsed, unit = _value(row["TimeElapsed"])
    if elapsed is None or elapsed < 0 or unit != "s":
        yield Entry("", None, say("expected a duration in seconds"), line=2)
        return
    yield from _no_numbers(row, _COMMON, 2)
    metrics = {name: _metric(row[column]) for column, name in _COMMON.items() if column in row}
    time = row["CurrentTime"]
    record = record_of(
        _workload(row, "serve", stem),
        ENGINE,
        in_ms(elapsed),
        timestamp=time.replace(" ", "T") if _TIME_OF_DAY.fullmatch(time) else None,
        workload_args=_arguments(row, _value(row.get("Total", ""))[0]),
        runtime_config=_load(row),
        metrics={name: value for name, value in metrics.items() if value is not None},
    )
    yield Entry("", record, line=2)


def _of_requests(
    rows: Sequence[Mapping[str, str]], stem: str, common: Sequence[Mapping[str, str]] | None
) -> Iterator[Entry]:
    if len(rows) != len(_ROWS):
        yield Entry("", None, say("{count} rows, expected {expected}", count=len(rows), expected=len(_ROWS)), line=1)
        return
    mean, unit = _value(rows[0]["GenerateTime"])
    if mean is None or mean < 0 or unit != "ms":
        yield Entry("", None, say("expected a mean GenerateTime in ms"), line=2)
        return
    metrics: dict[str, Any] = {}
    for line, (statistic, row) in enumerate(zip(_ROWS[:-1], rows, strict=False), 2):
        yield from _no_numbers(row, row, line)
        for column, cell in row.items():
            value = _metric(cell)
            # SLO_P90 of all others is their P90
            if value is not None and (statistic != "slo_p90" or column == "DecodeTime"):
                metrics[_name(statistic, column, cell)] = value
    about = common[0] if common else {}
    time = _TIME_IN_NAME.search(stem)
    record = record_of(
        _workload(about, "request", stem),
        ENGINE,
        float(mean),
        timestamp=None if time is None else time[1],
        workload_args=_arguments(about, _value(rows[-1]["GenerateTime"])[0]),
        runtime_config=_load(about),
        metrics=metrics,
    )
    yield Entry("", record, line=2)


def _value(cell: str) -> tuple[int | float | None, str | None]:
    """(the number in a cell, its unit)."""
    match = _CELL.fullmatch(cell)
    return (None, None) if match is None else (number_in(match[1]), match[2])


def _no_numbers(row: Mapping[str, str], columns: Iterable[str], line: int) -> Iterator[Entry]:
    """What should be a number and is none."""
    for column in columns:
        cell = row.get(column, "")
        if cell.partition(" ")[0] not in _NO_VALUE and _value(cell)[0] is None:
            message = say("{label}: expected a number, not {value!r}", label=column, value=cell[:60])
            yield Entry("", None, message, line)


def _metric(cell: str) -> int | float | JsonObject | None:
    number, unit = _value(cell)
    meaning = _UNITS.get(unit or "")
    return number if number is None or meaning is None else metric(number, *meaning)


def _name(statistic: str, column: str, cell: str) -> str:
    """DecodeTime in ms is mean_itl_ms, as other benchmarks call it; GeneratedTokens is mean_generated_tokens."""
    words = _QUANTITIES.get(column) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column).casefold()
    unit = _UNITS.get(_value(cell)[1] or "", ("", "lower"))[0]
    return f"{statistic}_{words}_{unit}" if unit in {"ms", "us"} else f"{statistic}_{words}"


def _workload(about: Mapping[str, str], what: str, stem: str) -> str:
    return f"{about['ModelName']}/{what}" if about.get("ModelName") else stem_without_dates(stem)


def _arguments(about: Mapping[str, str], requests: float | None) -> JsonObject:
    data = about.get("DataSource")
    return ({} if requests is None else {"num_prompts": requests}) | ({"dataset": data} if data else {})


def _load(about: Mapping[str, str]) -> JsonObject:
    concurrency = _value(about.get("Concurrency", ""))[0]
    return {} if concurrency is None else {"max_concurrency": concurrency}
