"""Memory of the device from a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from aoe_reports.formats.sqlite.series import (
    Built,
    Picked,
    Series,
    Wanted,
    among,
    by_id,
    cells_of,
    each,
    read_all,
    repeated,
    stacked,
    words_of,
)
from aoe_reports.formats.sqlite.source import MAX_NS, Cells, Database, EncodedWords

_number, _time = partial(Picked, type="number"), partial(Picked, type="time")


def _sizes(cells: Cells) -> Cells:
    whole = np.rint(cells.values)
    fits = cells.there & (np.abs(whole) < MAX_NS)
    return Cells(np.where(fits, whole, 0).astype(np.int64), fits)


def _device_words(devices: Cells) -> EncodedWords:
    used = np.unique(devices.values[devices.there])
    places = np.searchsorted(used, devices.values) if len(used) else np.zeros(len(devices.values), dtype=np.int64)
    return EncodedWords(np.where(devices.there, places, -1), [f"NPU:{number}" for number in used.tolist()])


def memory_record(database: Database, wanted: Wanted) -> Built:
    """MEMORY_RECORD of the framework with the process's own memory (NPU_MEM of type app), as torch_npu's text has it.

    The exporter puts 0 where GE, which knows of no active memory, has none: it stands beside an empty streamPtr.
    """
    picked = {
        **each(by_id, "component"),
        **each(_time, "timestamp"),
        **each(_number, "totalAllocated", "totalReserved", "totalActive"),
        **each(Picked, "streamPtr", "deviceId"),
    }
    series = read_all(database, "MEMORY_RECORD", picked)
    active, stream = cells_of(series, "total_active"), cells_of(series, "stream_ptr")
    series["total_active"] = Cells(active.values, active.there & (stream.there | (active.values != 0)))
    count = len(active.there)
    app = _app_memory(database)
    if app is not None:
        added = len(cells_of(app, "timestamp").there)
        series = {name: stacked((app.get(name), series[name]), (added, count)) for name in series}
    return _memory(series, ("total_allocated", "total_reserved", "total_active"), wanted)


def _memory(series: dict[str, Series], sizes: Sequence[str], wanted: Wanted) -> Built:
    for name in sizes:
        series[name] = _sizes(cells_of(series, name))
    device = cells_of(series, "device_id")
    series["device"] = _device_words(device)
    return Built({name: column for name, column in series.items() if wanted(name)}, len(device.there), 0)


def _npu_memory(database: Database) -> dict[str, Series]:
    picked = {
        "event": by_id("type"),
        **each(_number, "ddr", "hbm"),
        "timestamp": _time("timestampNs"),
        **each(Picked, "deviceId"),
    }
    return read_all(database, "NPU_MEM", picked)


def _whole_memory(series: Mapping[str, Series]) -> Cells:
    ddr, hbm = cells_of(series, "ddr"), cells_of(series, "hbm")
    return Cells(ddr.values + hbm.values, ddr.there & hbm.there)


def _app_memory(database: Database) -> dict[str, Series] | None:
    if not database.filled("NPU_MEM"):
        return None
    series = _npu_memory(database)
    app = among(words_of(series, "event"), "app".__eq__)
    found: dict[str, Series] = {name: series[name].take(app) for name in ("timestamp", "device_id")}
    found["total_reserved"] = _whole_memory(series).take(app)
    found["component"] = repeated("APP", int(app.sum()))
    return found


def memory_of_operators(database: Database, wanted: Wanted) -> Built:
    """The memory_record of msprof itself: what each allocation of an operator left allocated and reserved."""
    picked = {
        "component": by_id("component"),
        "timestamp": Picked("timestampNs", "time"),
        "total_allocated": Picked("totalAllocate", "number"),
        "total_reserved": Picked("totalReserve", "number"),
        "device_id": Picked("deviceId"),
    }
    series = read_all(database, "NPU_OP_MEM", picked)
    return _memory(series, ("total_allocated", "total_reserved"), wanted)


def npu_mem(database: Database, wanted: Wanted) -> Built:
    series = _npu_memory(database)
    series["memory"] = _whole_memory(series)
    built = _memory(series, ("ddr", "hbm", "memory"), wanted)
    return Built({name: column for name, column in built.columns.items() if name != "device"}, built.rows, 0)


def npu_module_mem(database: Database, wanted: Wanted) -> Built:
    picked = {
        "component": by_id("moduleId", "ENUM_MODULE"),
        "timestamp": Picked("timestampNs", "time"),
        "total_reserved": Picked("totalReserved", "number"),
        "device_id": Picked("deviceId"),
    }
    series = read_all(database, "NPU_MODULE_MEM", picked)
    return _memory(series, ("total_reserved",), wanted)


_OPERATOR_SIZES = each(
    _number,
    "size", "allocationTotalAllocated", "allocationTotalReserved", "allocationTotalActive", "releaseTotalAllocated",
    "releaseTotalReserved", "releaseTotalActive",
)  # fmt: skip


def operator_memory(database: Database, wanted: Wanted) -> Built:
    """OP_MEMORY; text says `cann::` before operators that CANN allocated for, which have no stream of the framework."""
    picked = {
        "op_name": by_id("name"),
        **_OPERATOR_SIZES,
        "allocation": _time("allocationTime"),
        "release": _time("releaseTime"),
        "active_release": _time("activeReleaseTime"),
        **each(_time, "duration", "activeDuration"),
        **each(Picked, "streamPtr", "deviceId"),
    }
    series = read_all(database, "OP_MEMORY", picked)
    names, stream = words_of(series, "op_name"), cells_of(series, "stream_ptr")
    of_cann = names.renamed(lambda word: f"cann::{word}")
    both = [*names.words, *of_cann.words]
    shifted = np.where(of_cann.places >= 0, of_cann.places + len(names.words), -1)
    series["op_name"] = EncodedWords(np.where(stream.there, names.places, shifted), both)
    return _memory(series, tuple(_OPERATOR_SIZES), wanted)
