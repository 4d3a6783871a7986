"""MindSpore's plan of the memory of graphs of static shapes: `memory_usage_0.pb` of its profiler for MindInsight.

It is a message of protocol buffers (MindSpore, ccsrc/profiler/device/ascend/memory_profiling.proto, 2021), which memory_profiling.cc fills in: the
nodes of each graph in the order in which they run, and its tensors, each with the nodes at which it is allocated and released. What else a graph takes
(`static_mem`) it takes for good. How long a tensor of each `life_long` lives is as in MindSpore's memory_usage_parser.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from aoe_reports.formats.memory import constant, nothing_recorded, numbers, refuse_impossible, words
from aoe_reports.formats.memory_files.rules import MEMORY_ENTRY
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.arrays.columns import Numbering
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Text, say
from aoe_reports.model.topics.memory import MemoryRecording

MAX_BYTES = 32 << 20
MAX_ENTRIES = 1_000_000
"""Nodes and tensors that are read of one file: an empty one takes two bytes."""
_SOURCE, _STATIC = "memory_usage", "static_mem"
_MOST = 2**52
_MAX_NAME, _MAX_VARINT = 1000, 10
_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
"""Wire types: how a value is written."""
_FIXED = {_EIGHT: 8, _FOUR: 4}
_GRAPH_MEM = 1
_GRAPH_ID, _STATIC_MEM, _NODE_MEMS, _TENSOR_MEMS = 1, 2, 3, 4
_NODE_NAME, _OUTPUT_TENSOR_ID = 1, 4
_TENSOR_ID, _SIZE, _TYPE, _LIFE_START, _LIFE_END, _LIFE_LONG = 1, 2, 3, 4, 5, 6
_FROM_START = {"LifeLongNone": False, "LifeLongGraphAll": True, "LifeLongGraphStart": True, "LifeLongGraphEnd": False}
_UNTIL_END = {"LifeLongNone": False, "LifeLongGraphAll": True, "LifeLongGraphStart": False, "LifeLongGraphEnd": True}

_Value = int | bytes


class _Damaged(ValueError):  # noqa: N818 -- it says what the message is
    """A message that ends within a field, or has none that there is."""


def read_graphs(file: FoundFile) -> list[MemoryRecording]:
    """The graphs of a file, in a recording without an event; raises ReadError for a file that is too large."""
    size = file.path.stat().st_size
    if size > MAX_BYTES:
        raise _refused(file, say("{size} bytes; at most {limit} are read", size=size, limit=MAX_BYTES))
    reading = _Reading(file)
    reading.read(file.path.read_bytes())
    return [replace(nothing_recorded(file, _SOURCE), graphs=reading.frame(), findings=tuple(reading.findings()))]


def _refused(file: FoundFile, why: Text) -> ReadError:
    return ReadError(file.path, why, say("a plan of the memory of graphs of MindSpore was expected"))


def _fields(message: bytes) -> Iterator[tuple[int, _Value]]:
    """(number, value) of the fields of a message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == _LENGTH:
            length, at = _varint(message, at)
        elif wire in _FIXED:
            length = _FIXED[wire]
        else:
            raise _Damaged
        if length > len(message) - at:
            raise _Damaged
        yield number, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """(a whole number, where the next byte is)."""
    value = 0
    for place, byte in enumerate(message[at : at + _MAX_VARINT]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:  # noqa: PLR2004 -- the last byte of a number
            return value, at + place + 1
    raise _Damaged


def _whole_numbers(value: _Value) -> Iterator[int]:
    """The numbers of a repeated field: one, or several packed."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield number


def _text(value: _Value | None) -> str:
    return value.decode("utf-8", "replace")[:_MAX_NAME] if isinstance(value, bytes) else ""


def _number(value: _Value | None) -> int:
    return value if isinstance(value, int) else 0  # a field that is 0 is not written


@dataclass(slots=True)
class _Reading:
    """The graphs of one file, and what is wrong with it."""

    file: FoundFile
    graph_ids: list[int] = field(default_factory=list)
    """Of each tensor, as the following ones."""
    names: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    """The first node that does not need it; -1 where it is held to the end."""
    wrong: list[Text] = field(default_factory=list)
    _entries: int = 0

    def read(self, data: bytes) -> None:
        """Take all graphs in; a damaged one is left out."""
        count = 0
        try:
            for number, value in _fields(data):
                if number == _GRAPH_MEM and isinstance(value, bytes):
                    count += 1
                    self._graph(value, count)
        except _Damaged:
            self.wrong.append(say("the file is damaged or cut off after {count} graphs", count=count))

    def _graph(self, message: bytes, place: int) -> None:
        try:
            fields = list(self._counted(message))
            nodes = [_node(value) for number, value in fields if number == _NODE_MEMS and isinstance(value, bytes)]
            tensors = [
                dict(_fields(value)) for number, value in fields if number == _TENSOR_MEMS and isinstance(value, bytes)
            ]
        except _Damaged:
            self.wrong.append(say("graph number {place} is damaged; it is left out", place=place))
            return
        graph = min(_number(dict(fields).get(_GRAPH_ID)), _MOST)
        made_by = {tensor: name for name, outputs in reversed(nodes) for tensor in outputs}
        static = _number(dict(fields).get(_STATIC_MEM))
        if static and not self._add(graph, _STATIC, static, 0, -1):
            self.wrong.append(
                say("graph {graph}: a static memory of {size:,} bytes cannot be", graph=graph, size=static)
            )
        lost = [tensor for tensor in tensors if not self._tensor(graph, tensor, made_by, len(nodes))]
        if lost:
            first = _number(lost[0].get(_TENSOR_ID))
            what = say(
                "graph {graph}: the size or the life of {count:,} tensors cannot be; they are left out, the first is {first}",
                graph=graph,
                count=len(lost),
                first=first,
            )
            self.wrong.append(what)

    def _counted(self, message: bytes) -> Iterator[tuple[int, _Value]]:
        for one in _fields(message):
            self._entries += 1
            if self._entries > MAX_ENTRIES:
                raise _refused(self.file, say("more than {limit:,} nodes and tensors", limit=MAX_ENTRIES))
            yield one

    def _tensor(self, graph: int, tensor: dict[int, _Value], made_by: dict[int, str], nodes: int) -> bool:
        """Take a tensor in; False where it cannot be."""
        number, life = _number(tensor.get(_TENSOR_ID)), _text(tensor.get(_LIFE_LONG))
        start = 0 if _FROM_START.get(life) else _number(tensor.get(_LIFE_START))
        end = -1 if _UNTIL_END.get(life) else _number(tensor.get(_LIFE_END)) + 1
        if life not in _FROM_START or start >= nodes or end > nodes or 0 <= end <= start:
            return False
        name = made_by.get(number) or _text(tensor.get(_TYPE))
        return self._add(graph, name, _number(tensor.get(_SIZE)), start, end)

    def _add(self, graph: int, name: str, size: int, start: int, end: int) -> bool:
        if size >= _MOST:
            return False
        self.graph_ids.append(graph)
        self.names.append(name)
        self.sizes.append(size)
        self.first.append(start)
        self.last.append(end)
        return True

    def findings(self) -> Iterator[Finding]:
        """What is wrong, each kind of it some times."""
        yield from MEMORY_ENTRY.found_at(str(self.file.path), [(what, None) for what in self.wrong])

    def frame(self) -> pa.Table:
        """Tensors, called as the operators of static_op_mem."""
        known = Numbering()
        places = np.array([known[name] for name in self.names], dtype=np.int64)
        sizes, last = np.array(self.sizes, dtype=np.int64), np.array(self.last, dtype=np.int64)
        refuse_impossible(self.file.path, sizes)
        return pa.table(
            {
                "op_name": words(places, known.words),
                "model_name": constant(None, len(sizes)).cast(pa.string()).dictionary_encode(),
                "graph_id": numbers(np.array(self.graph_ids, dtype=np.int64)),
                "size_bytes": numbers(sizes),
                "node_index_start": numbers(np.array(self.first, dtype=np.int64)),
                "node_index_end": numbers(last, last >= 0),
            }
        )


def _node(message: bytes) -> tuple[str, list[int]]:
    """(name of a node, the numbers of the tensors that it makes)."""
    name = ""
    outputs: list[int] = []
    for number, value in _fields(message):
        if number == _NODE_NAME:
            name = _text(value)
        elif number == _OUTPUT_TENSOR_ID:
            outputs += _whole_numbers(value)
    return name, outputs
