"""What the name of a kernel tells: `Default/network/_backbone/fc3-Dense/MatMul-op97` is a MatMul."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from aoe_reports.formats.mindspore.names import COMMUNICATION
from aoe_reports.model.columns import Ints, codes, column_of_words

_NUMBER = re.compile(r"-op\d+$", re.ASCII)
COMMUNICATION_TYPES = frozenset(
    {
        "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "AllToAll", "AllToAllv", "AlltoAll", "AlltoAllV", "Send", "Receive",
        "NeighborExchange", "NeighborExchangeV2", "Reduce", "Barrier", "CollectiveScatter", "CollectiveGather",
    }
)  # fmt: skip
"""The operators of `mindspore.ops` that send (its reference, communication operators)."""


def type_of(kernel: str) -> str:
    """The type of an operator: the last part of its name without its number (that of all kernels of real files)."""
    return _NUMBER.sub("", kernel.rpartition("/")[2])


def types_of(names: pa.ChunkedArray) -> pa.ChunkedArray:
    """The types of operators, by their names."""
    return _told(names, type_of)


def task_types_of(names: pa.ChunkedArray) -> pa.ChunkedArray:
    """`HCCL` for operators that communicate; of others these files do not tell the core."""
    return _told(names, lambda name: COMMUNICATION if type_of(name) in COMMUNICATION_TYPES else None)


def _told(names: pa.ChunkedArray, tell: Callable[[str], str | None]) -> pa.ChunkedArray:
    numbers, words = codes(names)
    told = [None, *map(tell, words)]
    place = {word: number for number, word in enumerate(dict.fromkeys(word for word in told if word is not None))}
    places: Ints = np.array([-1 if word is None else place[word] for word in told], dtype=np.int32)
    return column_of_words(places[numbers], places[numbers] >= 0, pa.array(list(place), pa.string()))
