"""Memory of graphs of static shapes, which the compiler places before anything runs: static_op_mem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import (
    Ints,
    codes,
    distinct_rows,
    exact_sums_by,
    integers,
    places_by,
    words_in,
)
from aoe_reports.topics.memory.samples import word_of

_NEVER = 2**63 - 1
_TOTAL = "TOTAL"
"""The name of the row that says what the whole graph takes."""


@dataclass(frozen=True, slots=True)
class HeldByOperator:
    """What one operator holds of a graph."""

    name: str | None
    size_bytes: int
    first_node: int
    last_node: int | None
    """None: it is never released."""


@dataclass(frozen=True, slots=True)
class GraphMemory:
    """One graph at the node at which its operators hold most."""

    model: str | None
    graph: int | None
    peak_bytes: int
    node: int
    stated_bytes: int | None
    """What the exporter says that the whole graph takes."""
    held: tuple[HeldByOperator, ...]
    """The largest first; they add up to the peak."""


def graphs_of(frame: pa.Table) -> Iterator[GraphMemory]:
    """The graphs of a table. Memory is allocated at a first node and released at a last one, or, where there is none, never."""
    names, words = codes(frame["op_name"])
    models, model_words = codes(frame["model_name"])
    graphs, _ = integers(frame["graph_id"])
    sizes, first = (integers(frame[name])[0] for name in ("size_bytes", "node_index_start"))
    last, released = integers(frame["node_index_end"])
    last = np.maximum(np.where(released, last, _NEVER), first)
    usable = np.logical_and.reduce(
        [integers(frame[name])[1] for name in ("graph_id", "size_bytes", "node_index_start")]
    )
    totals = words_in(frame["op_name"], {_TOTAL})
    keys, group = distinct_rows(models.astype(np.int64), graphs)
    for number, places in places_by(group):
        rows = places[(usable & ~totals)[places]]
        if not len(rows):
            continue
        node, peak = _peak_of(first[rows], last[rows], sizes[rows])
        alive = rows[(first[rows] <= node) & (node < last[rows])]
        alive = alive[np.lexsort((alive, -sizes[alive]))]
        stated = places[(usable & totals)[places]]
        yield GraphMemory(
            model=word_of(model_words, int(keys[0][number])),
            graph=int(keys[1][number]),
            peak_bytes=peak,
            node=node,
            stated_bytes=int(sizes[stated[0]]) if len(stated) else None,
            held=tuple(
                HeldByOperator(
                    word_of(words, int(names[row])),
                    int(sizes[row]),
                    int(first[row]),
                    int(last[row]) if released[row] else None,
                )
                for row in alive.tolist()
            ),
        )


def _peak_of(first: Ints, last: Ints, sizes: Ints) -> tuple[int, int]:
    """(the first node at which most is held, how much that is)."""
    nodes, places = np.unique(np.concatenate([first, last]), return_inverse=True)
    held = np.cumsum(exact_sums_by(places, np.concatenate([sizes, -sizes]), len(nodes)))
    at = int(np.argmax(held))
    return int(nodes[at]), int(held[at])
