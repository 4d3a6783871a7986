"""The memory of a run of many ranks: how its peaks spread, and the rank that peaks highest in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.rank_spread import SHOWS_ALL, has_many_ranks, least_and_worst, section_of_rows
from aoe_reports.model.report import Section
from aoe_reports.model.rows import Rows, column, fields_of, row
from aoe_reports.model.texts import say
from aoe_reports.topics.memory.row_classes import DeviceRow

_OF_ALL_RANKS = frozenset({"actions", "growth"})
"""Tables that show all ranks."""
_MEASURES = ("peak_bytes", "reserved_bytes", "highest_reserved_bytes", "before_bytes", "process_bytes", "device_bytes")


@row
class SizeOfRanks:
    """One size on the ranks of a run; the largest is the worst."""

    measure: str = column("Size", "word")
    ranks: int = column("Ranks", "integer")
    median_bytes: float = column("Median", "size")
    least_bytes: int = column("Least", "size")
    least_rank: int = column("Least on rank", "integer")
    worst_bytes: int = column("Worst", "size")
    worst_rank: int = column("Worst on rank", "integer")


def sections_of(devices: Sequence[DeviceRow], tables: Sequence[Rows[Any]]) -> list[Section] | None:
    """What people are shown where a run has many ranks: the spread over them, then each table of the rank that peaks highest; None where no run has."""
    runs = lists_by_key((one.run, one) for one in devices)
    if not any(map(has_many_ranks, runs.values())):
        return None
    sections = [section for run, of_run in runs.items() for section in _sections_of_run(run, of_run, tables)]
    for table in tables:
        others = [one for one in table.rows if one.run not in runs]  # graphs and logs, where nothing peaks
        sections += [section_of_rows(table.title, table.sentences, others)] if others else []
    return sections


def _sections_of_run(run: str, devices: Sequence[DeviceRow], tables: Sequence[Rows[Any]]) -> Iterator[Section]:
    named = say("Run: {run}", run=run)
    ranks = {device.rank_id for device in devices}
    if has_many_ranks(devices):
        yield section_of_rows(say("Peaks over ranks"), [named, SHOWS_ALL], list(_spreads(devices)))
        highest = max(devices, key=lambda device: device.peak_bytes)
        ranks = {highest.rank_id}
        named = say("Rank {rank}, which peaks highest", rank=highest.rank_id)
    for table in tables:
        is_whole = table.key in _OF_ALL_RANKS
        rows = [one for one in table.rows if one.run == run and (is_whole or one.rank_id in ranks)]
        if rows:
            yield section_of_rows(table.title, [*([] if is_whole else [named]), *table.sentences], rows)


def _spreads(devices: Sequence[DeviceRow]) -> Iterator[SizeOfRanks]:
    titles = {field.name: field.cell.title for field in fields_of(DeviceRow)}
    for name in _MEASURES:
        sizes: dict[int, int] = {}
        for device in devices:
            size = getattr(device, name)
            if device.rank_id is not None and size is not None:
                sizes[device.rank_id] = max(sizes.get(device.rank_id, 0), size)
        if sizes:
            least, worst = least_and_worst(dict(sorted(sizes.items())))
            yield SizeOfRanks(
                measure=titles[name],
                ranks=len(sizes),
                median_bytes=median(sizes.values()),
                least_bytes=sizes[least],
                least_rank=least,
                worst_bytes=sizes[worst],
                worst_rank=worst,
            )
