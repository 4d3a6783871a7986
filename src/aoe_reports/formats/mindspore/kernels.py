"""What the name of a kernel tells: `Default/network/_backbone/fc3-Dense/MatMul-op97` is a MatMul."""

from __future__ import annotations

import re

import pyarrow as pa

from aoe_reports.formats.mindspore.names import COMMUNICATION
from aoe_reports.model.arrays.columns import words_told

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
    return words_told(names, type_of)


def task_types_of(names: pa.ChunkedArray) -> pa.ChunkedArray:
    """`HCCL` for operators that communicate; of others these files do not tell the core."""
    return words_told(names, lambda name: COMMUNICATION if type_of(name) in COMMUNICATION_TYPES else None)
