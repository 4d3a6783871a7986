"""Which subgraphs of a bank occur in a profile: their operators one behind the other on a stream, with these shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aoe_reports.formats.aoe.operator_banks import Part
from aoe_reports.model.classes import record
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import say
from aoe_reports.topics.banks.coverage import Coverage

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.model.arrays.columns import Ints

Called = tuple[str, tuple[tuple[int, ...], ...]]
"""An operator with the shapes of its inputs."""
_KEYS = ("op_type", "input_shapes")


@dataclass(frozen=True, slots=True)
class BankedSubgraph:
    """An entry of a bank of subgraphs."""

    soc: str | None
    graph_id: str
    model: str | None
    parts: tuple[Part, ...]

    @property
    def operators(self) -> list[Called]:
        """Its operators in the order of its parts."""
        return [operator for part in self.parts for operator in part.operators]


@record
class Occurring:
    """What of the subgraphs of banks occurs on one rank of a profile."""

    runs: frozenset[tuple[Called, ...]]
    """The operators of the parts that occur as the bank has them."""
    operators: frozenset[Called]
    """The operators that occur with these shapes, wherever."""


@row
class CoveredSubgraph:
    """A subgraph of a bank, and whether it occurs in the profile."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    graph_id: str = column("Graph")
    model: str | None = column("Kernel or model")
    soc: str | None = column("Chip")
    operators: int = column("Operators", "integer")
    operators_found: int = column("With these shapes", "integer")
    parts: int = column("Parts", "integer")
    parts_found: int = column("Parts in this order", "integer")
    status: Coverage = column("Status", "state")
    reason: str = column("Reason", "sentence")


def parts_of(subgraphs: Iterable[BankedSubgraph]) -> tuple[tuple[Called, ...], ...]:
    """The operators of every part of some subgraphs, each once."""
    return (*dict.fromkeys(part.operators for subgraph in subgraphs for part in subgraph.parts),)


def occurring(tasks: pa.Table, parts: Sequence[tuple[Called, ...]]) -> Occurring:
    """Which parts occur among the tasks of one rank. Streams are read each by itself, in the order of start times."""
    import numpy as np

    from aoe_reports.model.arrays.columns import integers
    from aoe_reports.stats.grouping import group_codes

    wanted = {operator: number for number, operator in enumerate(dict.fromkeys(one for part in parts for one in part))}
    if not wanted or tasks.num_rows == 0:
        return Occurring(runs=frozenset(), operators=frozenset())
    groups, names = group_codes(tasks, _KEYS)
    numbers = np.array([wanted.get(called_of(*names[i]), -1) for i in range(names.count)], dtype=np.int64)
    streams = [integers(tasks[name])[0] for name in ("device_id", "stream_id")]
    order = np.lexsort((integers(tasks["task_start_ns"])[0], *reversed(streams)))
    sequence = numbers[np.asarray(groups)[order]]
    border = np.zeros(len(order), dtype=bool)
    for stream in streams:
        border[1:] |= np.diff(stream[order]) != 0
    stretch = np.cumsum(border)
    there = set(np.unique(sequence[sequence >= 0]).tolist())
    by_number = {number: operator for operator, number in wanted.items()}
    runs = [part for part in parts if _has_run(sequence, stretch, [wanted[one] for one in part], there)]
    return Occurring(runs=frozenset(runs), operators=frozenset(by_number[number] for number in there))


def _has_run(sequence: Ints, stretch: Ints, numbers: Sequence[int], there: set[int]) -> bool:
    """Whether some numbers stand one behind the other in one stretch."""
    import numpy as np

    last = len(numbers) - 1
    if not there.issuperset(numbers) or last >= len(sequence):
        return False
    places = np.flatnonzero(sequence[: len(sequence) - last] == numbers[0])
    for offset, number in enumerate(numbers[1:], start=1):
        places = places[sequence[places + offset] == number]
    return bool((stretch[places] == stretch[places + last]).any())


def called_of(op_type: str | None, input_shapes: str | None) -> Called:
    """An operator as banks have it; inputs without a shape are left out."""
    shapes = [shape.strip('" ') for shape in (input_shapes or "").split(";")]
    return op_type or "", tuple(_sizes(shape) for shape in shapes if shape)


def _sizes(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    return tuple(map(int, words)) if all(word.isascii() and word.isdecimal() for word in words) else ()


def covered_subgraphs(
    found: Mapping[tuple[str, int | None, str | None], Occurring], subgraphs: Sequence[BankedSubgraph]
) -> list[CoveredSubgraph]:
    """Whether each subgraph occurs on each (run, rank, chip) of a profile, the most of them first; left out are those without any operator there."""
    rows = [
        _row(run, rank, soc, there, subgraph)
        for (run, rank, soc), there in found.items()
        for subgraph in subgraphs
        if not there.operators.isdisjoint(subgraph.operators)
    ]
    places = {(run, rank): place for place, (run, rank, _) in enumerate(found)}
    return sorted(
        rows,
        key=lambda one: (
            places[one.run, one.rank_id],
            one.status != "covered",
            -one.parts_found / one.parts,
            -one.operators_found / one.operators,
            one.graph_id,
        ),
    )


def headline_of_subgraphs(rows: Sequence[CoveredSubgraph], subgraphs: Sequence[BankedSubgraph]) -> str:
    """How many of the subgraphs in the banks are covered, and of how many more some operators occur."""
    if not subgraphs:
        return ""
    covered = {row.graph_id for row in rows if row.status == "covered"}
    return say(
        "Subgraphs: {covered:,} of {count:,} covered, {others:,} more with operators of the profile.",
        covered=len(covered),
        count=len({subgraph.graph_id for subgraph in subgraphs}),
        others=len({row.graph_id for row in rows} - covered),
    )


def _row(run: str, rank: int | None, soc: str | None, there: Occurring, subgraph: BankedSubgraph) -> CoveredSubgraph:
    operators = subgraph.operators
    parts_found = sum(part.operators in there.runs for part in subgraph.parts)
    operators_found = sum(operator in there.operators for operator in operators)
    status: Coverage = "unclear"
    reason: str = say("CANN may have fused or cut the other operators before they ran")
    if parts_found == len(subgraph.parts):
        status, reason = _by_chip(soc, subgraph.soc)
    elif operators_found == len(operators):
        reason = say("all of its operators occur, not one behind the other in this order")
    return CoveredSubgraph(
        run=run,
        rank_id=rank,
        graph_id=subgraph.graph_id,
        model=subgraph.model,
        soc=subgraph.soc,
        operators=len(operators),
        operators_found=operators_found,
        parts=len(subgraph.parts),
        parts_found=parts_found,
        status=status,
        reason=reason,
    )


def _by_chip(soc: str | None, banked: str | None) -> tuple[Coverage, str]:
    """Whether a subgraph that occurs is for the chip of the profile."""
    if soc is None:
        return "unclear", say("the profile does not name its chip; specify it with --soc")
    if soc.casefold() != (banked or "").casefold():
        return "stale", say("its entry is for {chips}", chips=banked or say("an unknown chip"))
    return "covered", ""
