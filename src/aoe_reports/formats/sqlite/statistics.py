"""op_statistic, communication_statistic and api_statistic from a database: no such table is stored, they are counted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aoe_reports.formats.sqlite.series import SPAN, Built, Series, Wanted, by_id, codes, read_picked, spans
from aoe_reports.formats.sqlite.source import Cells, CellType, Database, EncodedWords, find
from aoe_reports.formats.sqlite.tasks import communication, compute_tasks
from aoe_reports.model.arrays.columns import Ints, distinct
from aoe_reports.model.texts import say

_API_LEVELS = {5000: "runtime", 5500: "hccl", 10000: "node", 15000: "model", 20000: "acl"}


def _grouped(keys: Mapping[str, Series], lengths: Ints, reported: int, *, with_variance: bool = False) -> Built:
    """Rows of one group each: count, total, least, mean, most; and what part of its device's total it is."""
    if not len(lengths):
        empty = {name: column.take(np.zeros(0, dtype=np.int64)) for name, column in keys.items()}
        return Built(empty, 0, reported)
    first, group = _numbered(keys, len(lengths))
    groups = {name: column.take(first) for name, column in keys.items()}
    count = np.bincount(group, minlength=len(first)).astype(np.int64)
    total = _sums(group, lengths, len(first))
    device = codes(groups["device_id"]) if "device_id" in groups else np.zeros(len(first), dtype=np.int64)
    columns = {**groups, **_figures(group, lengths, count, total), "share": _shares(total, device)}
    labels = [_labels(column) for name, column in groups.items() if name != "device_id"]
    by_name = sorted(range(len(first)), key=lambda row: [label[row] for label in labels])
    if with_variance:
        columns["variance"] = _variance(group, lengths, count)
    else:
        by_name.sort(key=lambda row: (int(device[row]), -int(total[row])))
    rows = np.asarray(by_name, dtype=np.int64)
    return Built({name: column.take(rows) for name, column in columns.items()}, len(first), reported)


def _numbered(keys: Mapping[str, Series], rows: int) -> tuple[Ints, Ints]:
    """(the first row of each group, the group of each row): rows with the same keys are one group."""
    group, first = np.zeros(rows, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for code in map(codes, keys.values()):
        _, first, group = np.unique(group * (code.max() + 2) + code, return_index=True, return_inverse=True)
    return first, group


def _figures(group: Ints, lengths: Ints, count: Ints, total: Ints) -> dict[str, Series]:
    least = np.full(len(count), np.iinfo(np.int64).max)
    most = np.full(len(count), np.iinfo(np.int64).min)
    np.minimum.at(least, group, lengths)
    np.maximum.at(most, group, lengths)
    mean = np.rint(total / count).astype(np.int64)
    figures = {"count": count, "total_time": total, "min_time": least, "avg_time": mean, "max_time": most}
    return {name: Cells(values, np.ones(len(count), dtype=bool)) for name, values in figures.items()}


def _shares(total: Ints, device: Ints) -> Cells:
    of_device = np.zeros(len(total))
    for number in distinct(device):
        of_device[device == number] = total[device == number].sum()
    there = of_device != 0
    return Cells(np.divide(total, of_device, out=np.zeros(len(total)), where=there), there)


def _variance(group: Ints, lengths: Ints, count: Ints) -> Cells:
    """The variance of each group, in square microseconds."""
    micro = lengths / 1000
    mean = (np.bincount(group, micro) / count)[group]
    return Cells(np.bincount(group, (micro - mean) ** 2) / count, np.ones(len(count), dtype=bool))


def _sums(group: Ints, lengths: Ints, groups: int) -> Ints:
    """Sums as integers: a float64 would depend on the order."""
    total = np.zeros(groups, dtype=np.int64)
    np.add.at(total, group, lengths)
    return total


def _labels(column: Series) -> list[str]:
    if isinstance(column, Cells):
        return [str(value) for value in column.values.tolist()]
    return [column.words[place] if place >= 0 else "" for place in column.places.tolist()]


def op_statistic(database: Database, _: Wanted) -> Built:
    tasks = compute_tasks(database, {"device_id", "op_type", "task_type"}.__contains__)
    keys: dict[str, Series] = {
        name: tasks.series[name] for name in ("device_id", "op_type", "task_type") if name in tasks.series
    }
    return _grouped(keys, tasks.length, tasks.reported)


def communication_statistic(database: Database, _: Wanted) -> Built:
    series, _starts, length, reported = communication(database, {"device_id", "op_type"}.__contains__)
    keys: dict[str, Series] = {name: series[name] for name in ("device_id", "op_type") if name in series}
    return _grouped(keys, length, reported)


def api_statistic(database: Database, _: Wanted) -> Built:
    """CANN_API by level and name; the variance is that of all calls (not of a sample), in square microseconds."""
    always: dict[str, CellType] = {**SPAN, "type": "integer"}
    rows, series = read_picked(database, "CANN_API", {"api_name": by_id("name")}, always, SPAN, lambda _: True)
    _starts, length, good = spans(database, rows)
    level = api_level(database, rows.cells["type"].take(good))
    keys: dict[str, Series] = {"level": level, "api_name": series["api_name"].take(good[rows.good])}
    return _grouped(keys, length[good], int((~good).sum()), with_variance=True)


def api_level(database: Database, types: Cells) -> EncodedWords:
    """The level of each call of the host; what the file does not say itself is known from the exporter."""
    if database.filled("ENUM_API_TYPE"):
        return database.lookup(types, say("the type of a call"), "ENUM_API_TYPE")
    numbers = np.asarray(sorted(_API_LEVELS), dtype=np.int64)
    near, found = find(numbers, types.ints)
    known = types.there & found
    return EncodedWords(np.where(known, near, -1), [_API_LEVELS[number] for number in numbers.tolist()])
