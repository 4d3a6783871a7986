"""The memory of a device in a run, from its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aoe_reports.formats.records.payloads import is_number, leave_out, number_in, object_in, text_in
from aoe_reports.history.site_facts import HeldMemory, RunMemory
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.history.metrics import GROWTH, PEAK_ALLOCATED, PEAK_PROCESS, PEAK_RESERVED
from aoe_reports.topics.records.from_memory import GROWTH_RANK, OWNERS, PEAK_POOL


def memory_in(row: Mapping[str, Any]) -> RunMemory | None:
    """What a record of memory says; None where it has no peak, which is said aloud."""
    metrics = object_in(row, "metrics")
    allocated, reserved = size_in(metrics, PEAK_ALLOCATED), size_in(metrics, PEAK_RESERVED)
    peak = reserved if allocated is None else allocated
    if peak is None:
        leave_out("metrics", row, f"no {PEAK_ALLOCATED} and no {PEAK_RESERVED}")
        return None
    ranks = _count(metrics, "ranks")
    return RunMemory(
        rank_id=row["rank_id"] if ranks is None else _count(metrics, "largest_rank"),
        device_id=row["device_id"],
        series_id=row["series_id"],
        component=text_in(metrics, PEAK_POOL) or "",
        peak_bytes=peak,
        allocated_bytes=allocated,
        reserved_bytes=reserved,
        process_bytes=size_in(metrics, PEAK_PROCESS),
        growth_bytes_per_step=_value(metrics, GROWTH),
        growth_rank=_count(metrics, GROWTH_RANK),
        owners=tuple(owners_in(metrics, OWNERS)),
        ranks=ranks,
    )


def size_in(metrics: JsonObject, name: str) -> int | None:
    """A metric that is a number of bytes; None where there is none."""
    value = _value(metrics, name)
    return None if value is None else int(value)


def _value(metrics: JsonObject, name: str) -> float | None:
    stated = metrics.get(name)
    value = stated.get("value") if isinstance(stated, dict) else None
    return value if is_number(value) else None


def _count(values: JsonObject, name: str) -> int | None:
    """A whole number; None where there is none."""
    value = number_in(values, name)
    return value if isinstance(value, int) else None


def owners_in(metrics: JsonObject, name: str) -> Iterator[HeldMemory]:
    """The owners of a peak as a metric of the record lists them; entries without a size are none."""
    listed = metrics.get(name)
    for one in listed if isinstance(listed, list) else ():
        size = _count(one, "bytes") if isinstance(one, dict) else None
        if isinstance(one, dict) and size is not None:
            yield HeldMemory(
                name=text_in(one, "name"),
                kind=text_in(one, "kind"),
                module=text_in(one, "module"),
                size_bytes=size,
                since_before=one.get("since_before") is True,
                unexplained=one.get("unexplained") is True,
                others=_count(one, "others") or 0,
            )
