"""A figure that many ranks have: its median, its least and its worst, and on which ranks these are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, TypeVar

from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.documents import Cells
from aoe_reports.model.report import Grid, Section
from aoe_reports.model.rows import US, column, columns_of, row, shown, telling_columns
from aoe_reports.model.texts import say

MIN_RANKS = 4
"""Fewer ranks of a run are listed one by one: with three, least, median and worst are all of them."""


@row
class RankSpread:
    """A time on the ranks of a run; the longest is the worst."""

    ranks: int = column("Ranks", "integer")
    median_ns: float = column("Median", unit=US)
    least_ns: int = column("Least", unit=US)
    least_rank: int = column("Least on rank", "integer")
    worst_ns: int = column("Worst", unit=US)
    worst_rank: int = column("Worst on rank", "integer")


_Item = TypeVar("_Item")


def least_and_worst(times: Mapping[_Item, float]) -> tuple[_Item, _Item]:
    """Whose time is the shortest, whose the longest: of equal ones the first, so ranks come in their order."""
    return min(times, key=times.__getitem__), max(times, key=times.__getitem__)


def middle_of(ordered: Sequence[_Item]) -> _Item:
    """The member at the median of a sorted sequence, of an even number the lower of the two."""
    return ordered[(len(ordered) - 1) // 2]


def spread_of(times: Mapping[int, int]) -> RankSpread:
    """The spread of the times of some ranks; of equal ones the lowest rank is named."""
    least, worst = least_and_worst(dict(sorted(times.items())))
    return RankSpread(
        ranks=len(times),
        median_ns=median(times.values()),
        least_ns=times[least],
        least_rank=least,
        worst_ns=times[worst],
        worst_rank=worst,
    )


def sections_of_runs(
    rows: Sequence[Any], of_ranks: Callable[[Sequence[Any]], Iterable[tuple[str, Sequence[Any]]]]
) -> list[Section] | None:
    """What people are shown: of a run of many ranks the titled tables that `of_ranks` makes of its rows, of others the rows.

    None where no run has many ranks.
    """
    runs = lists_by_key((one.run, one) for one in rows)
    if not any(has_many_ranks(of_run) for of_run in runs.values()):
        return None
    sections = []
    for run, of_run in runs.items():
        folded = has_many_ranks(of_run)
        said = [say("Run: {run}", run=run), *([SHOWS_ALL] if folded else [])]
        tables = of_ranks(of_run) if folded else [("", of_run)]
        for title, table in tables:
            sections.append(section_of_rows(title, said, table))
            said = []
    return sections


SHOWS_ALL = say("One row for all ranks; `--rank N` shows one rank, JSON and CSV show each.")


def has_many_ranks(rows: Sequence[Any]) -> bool:
    """Whether rows are of more ranks than are listed one by one."""
    ranks = {row.rank_id for row in rows}
    return None not in ranks and len(ranks) >= MIN_RANKS


def section_of_rows(title: str, sentences: Sequence[str], rows: Sequence[Any]) -> Section:
    """Rows under the columns that say anything; that of runs where there are several."""
    cells: list[Cells] = [shown(one) for one in rows]
    several = len({cell.get("run") for cell in cells}) > 1
    columns = [one for one in columns_of(type(rows[0])) if several or one.key != "run"]
    return Section(title, sentences, Grid(telling_columns(columns, cells), cells))
