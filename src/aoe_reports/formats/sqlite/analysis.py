"""The tables of analysis.db and cluster_analysis.db: steps, and communication by operator, transport and pair of ranks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np

from aoe_reports.formats.convert import LONGEST_NS
from aoe_reports.formats.sqlite.rules import DB_VALUE
from aoe_reports.formats.sqlite.series import Built, Series, Wanted, listed
from aoe_reports.formats.sqlite.source import MAX_NS, Cells, CellType, Database, Rows
from aoe_reports.formats.table import NO_ID, NULL_TOKENS
from aoe_reports.model.arrays.columns import Ints, Mask
from aoe_reports.model.texts import say

COMMUNICATION_BYTES_A_MEGABYTE = 1_000_000
"""CommAnalyzer* divides by 10**6: the packages of COMMUNICATION_TASK_INFO are the same numbers in bytes."""

_PARTS = {
    **{
        name: name
        for name in (
            "computing", "communication_not_overlapped", "overlapped", "communication", "free", "stage", "bubble",
        )
    },
    "communication_not_overlapped_excluding_receive": "communication_not_overlapped_and_exclude_receive",
    "preparing": "preparing",
}  # fmt: skip

NEEDED_PARTS = frozenset({"computing", "communication_not_overlapped", "overlapped", "communication", "free"})


def step_trace_time(database: Database, _: Wanted) -> Built:
    return _step_parts(database, "StepTraceTime", {})


def cluster_step_trace_time(database: Database, _: Wanted) -> Built:
    return _step_parts(database, "ClusterStepTraceTime", {"type": "type", "index": "index"})


def _step_parts(database: Database, table: str, words: Mapping[str, str]) -> Built:
    columns: dict[str, CellType] = dict.fromkeys(_PARTS.values(), "number")
    columns |= {"deviceId": "integer", "step": "words", **dict.fromkeys(words.values(), "words")}
    rows = database.fetch(table, columns, NEEDED_PARTS)
    good = rows.good
    lengths = {name: _nanoseconds(rows.cells[column], 1_000.0) for name, column in _PARTS.items()}
    for name, column in _PARTS.items():
        endless = good & rows.cells[column].there & ~lengths[name].there
        database.implausible(table, say("{column} is longer than any possible duration", column=column), endless)
        if column in NEEDED_PARTS:
            good = good & ~endless
    series: dict[str, Series] = {"step": _step_numbers(database, table, rows.words["step"]).take(good)}
    if "deviceId" in database.columns(table):
        series["device_id"] = rows.cells["deviceId"].take(good)
    series |= {name: listed(rows.words[column]).take(good) for name, column in words.items()}
    stored = set(database.columns(table))
    series |= {name: lengths[name].take(good) for name, column in _PARTS.items() if column in stored}
    return Built(series, int(good.sum()), int((~good).sum()))


def _step_numbers(database: Database, table: str, cells: Sequence[str | None]) -> Cells:
    """Steps as numbers: some exporters write `step50`, some `50`, and none where no step was marked."""
    values, there, bad = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=bool), 0
    for row, cell in enumerate(cells):
        digits = (cell or "").strip().removeprefix("step").removesuffix(".0")
        if digits.isascii() and digits.isdecimal() and len(digits) < len(str(NO_ID)) * 2 - 1:
            values[row], there[row] = int(digits), True
        elif digits not in NULL_TOKENS:
            bad += 1
    if bad:
        message = say(
            "{column}: {count} values that do not name a step; these cells are empty in the table",
            column=f"{table}.step",
            count=bad,
        )
        database.report(DB_VALUE, message)
    return Cells(values, there)


def _nanoseconds(cells: Cells, factor: float, *, is_rest: bool = False) -> Cells:
    """Lengths of time in some unit as whole nanoseconds; nothing where one is longer than anything can take."""
    scaled = cells.values * factor
    # a negative part of a nanosecond must not become 0, where it would pass for a duration
    whole = np.rint(np.where(scaled < 0, np.trunc(scaled) if is_rest else np.floor(scaled), scaled))
    fits = cells.there & (np.abs(whole) < LONGEST_NS)
    return Cells(np.where(fits, whole, 0).astype(np.int64), fits)


def _usable(database: Database, rows: Rows, column: str) -> tuple[Cells, Mask]:
    """(lengths of time in ms as ns, the rows to be used: not those whose length is longer than anything can take)."""
    lengths = _nanoseconds(rows.cells[column], 1_000_000.0)
    endless = rows.good & ~lengths.there
    database.implausible(rows.table, say("{column} is longer than any possible duration", column=column), endless)
    return lengths, rows.good & ~endless


OPERATOR = {"step": "step", "type": "type", "op_name": "hccl_op_name", "group": "group_name"}


def _operator_words(rows: Rows, chosen: Mask | Ints) -> dict[str, Series]:
    return {name: listed(rows.words[column]).take(chosen) for name, column in OPERATOR.items()}


_TIMES = {
    "elapsed": "elapse_time",
    "transit": "transit_time",
    "wait": "wait_time",
    "synchronization": "synchronization_time",
    "idle": "idle_time",
}


def comm_times(database: Database, _: Wanted) -> Built:
    """CommAnalyzerTime; the two ratios of the text form are wait (synchronization) / (wait + transit), to 4 digits."""
    columns: dict[str, CellType] = dict.fromkeys(OPERATOR.values(), "words")
    columns |= {**dict.fromkeys(_TIMES.values(), "number"), "start_timestamp": "number"}
    rows = database.fetch("CommAnalyzerTime", columns, frozenset({"elapse_time"}))
    lengths = {
        name: _nanoseconds(rows.cells[column], 1_000_000.0, is_rest=name == "idle") for name, column in _TIMES.items()
    }
    good = _usable(database, rows, "elapse_time")[1]
    series = _operator_words(rows, good)
    series["start"] = _moments(rows.cells["start_timestamp"]).take(good)
    series |= {name: cells.take(good) for name, cells in lengths.items()}
    for name, column in (("wait_ratio", "wait_time"), ("synchronization_ratio", "synchronization_time")):
        series[name] = _ratio(rows.cells[column], rows.cells["transit_time"]).take(good)
    return Built(series, int(good.sum()), int((~good).sum()))


def _moments(cells: Cells) -> Cells:
    """Microseconds since 1970 as nanoseconds: the shortest decimal of the float, as JSON of the same would show it."""
    there = cells.there & (np.abs(cells.values) < MAX_NS / 1000)
    exact = [
        int((Decimal(repr(value)) * 1000).to_integral_value(ROUND_HALF_EVEN))
        for value in np.where(there, cells.values, 0.0).tolist()
    ]
    return Cells(np.asarray(exact, dtype=np.int64), there)


def _ratio(part: Cells, transit: Cells) -> Cells:
    whole = part.values + transit.values
    values = np.divide(part.values, whole, out=np.zeros(len(whole)), where=whole > 0)
    return Cells(np.asarray([round(value, 4) for value in values.tolist()]), part.there & transit.there)


def _megabytes(cells: Cells) -> Cells:
    values = np.rint(cells.values * COMMUNICATION_BYTES_A_MEGABYTE)
    fits = cells.there & (np.abs(values) < MAX_NS)
    return Cells(np.where(fits, values, 0).astype(np.int64), fits)


def comm_bandwidth(database: Database, _: Wanted) -> Built:
    """CommAnalyzerBandwidth has a row a size of package; here is one a transport, with the sizes as in the text form.

    The text form has rows of zeros for transports that carried nothing, the database has none for most of them.
    """
    numbers = (
        "transit_size",
        "transit_time",
        "bandwidth",
        "large_packet_ratio",
        "package_size",
        "count",
        "total_duration",
    )
    columns: dict[str, CellType] = dict.fromkeys(OPERATOR.values(), "words")
    columns |= {"transport_type": "words", **dict.fromkeys(numbers, "number")}
    rows = database.fetch("CommAnalyzerBandwidth", columns, frozenset({"transit_time"}))
    times, good = _usable(database, rows, "transit_time")
    words = [rows.words[name] for name in (*OPERATOR.values(), "transport_type")]
    values = [rows.cells[name].values.tolist() for name in numbers]
    firsts: dict[tuple[Any, ...], int] = {}
    sizes: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in np.flatnonzero(good).tolist():
        # rows of one transport that disagree about its total stay apart: nothing tells which is right
        key = (*(column[row] for column in words), *(column[row] for column in values[:4]))
        firsts.setdefault(key, row)
        package, count, spent = (column[row] for column in values[4:])
        if count:
            sizes.setdefault(key, {})[repr(float(package))] = [int(count), float(spent)]
    chosen = np.asarray(list(firsts.values()), dtype=np.int64)
    shown = [json.dumps(sizes.get(key, {}), sort_keys=True, separators=(",", ":")) for key in firsts]
    series = _operator_words(rows, chosen)
    series |= {
        "transport": listed(rows.words["transport_type"]).take(chosen),
        "transit_bytes": _megabytes(rows.cells["transit_size"]).take(chosen),
        "transit_ns": times.take(chosen),
        "bandwidth_gb_per_s": rows.cells["bandwidth"].take(chosen),
        "large_packet_ratio": rows.cells["large_packet_ratio"].take(chosen),
        "size_distribution": listed(shown),
    }
    return Built(series, len(chosen), int((~good).sum()))


def comm_matrix(database: Database, _: Wanted) -> Built:
    numbers = ("transit_size", "transit_time", "bandwidth")
    columns: dict[str, CellType] = dict.fromkeys((*OPERATOR.values(), "transport_type", "op_name"), "words")
    columns |= {**dict.fromkeys(numbers, "number"), "src_rank": "integer", "dst_rank": "integer"}
    rows = database.fetch("CommAnalyzerMatrix", columns, frozenset({"transit_time"}))
    times, good = _usable(database, rows, "transit_time")
    series = _operator_words(rows, good)
    series |= {
        "source_rank": rows.cells["src_rank"].take(good),
        "destination_rank": rows.cells["dst_rank"].take(good),
        "transport": listed(rows.words["transport_type"]).take(good),
        "transit_bytes": _megabytes(rows.cells["transit_size"]).take(good),
        "transit_ns": times.take(good),
        "bandwidth_gb_per_s": rows.cells["bandwidth"].take(good),
        "hccl_op_name": listed(rows.words["op_name"]).take(good),
    }
    return Built(series, int(good.sum()), int((~good).sum()))
