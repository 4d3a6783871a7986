"""What a trace event becomes: the columns of the frame, where they come from, and what is told about a whole file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self, TypeVar

import numpy as np
import pyarrow as pa

from aoe_reports.model.findings import Finding

NAMED = pa.dictionary(pa.int32(), pa.string())
EVENTS_SCHEMA = pa.schema(
    [
        ("ph", pa.string()),
        ("name", pa.string()),
        ("category", pa.string()),
        ("flow_id", pa.string()),
        ("connection_id", pa.int64()),
        ("pid", pa.string()),
        ("tid", pa.string()),
        ("process", NAMED),
        ("thread", NAMED),
        ("start_ns", pa.int64()),
        ("duration_ns", pa.int64()),
        ("task_type", pa.string()),
        ("stream_id", pa.int64()),
        ("task_id", pa.int64()),
        ("model_id", pa.int64()),
        ("batch_id", pa.int64()),
        ("subtask_id", pa.int64()),
        ("mode", pa.string()),
        ("level", pa.string()),
        ("stage_row", pa.bool_()),
        ("args", pa.string()),
    ]
)
"""Every event but the metadata, in the order of the file.

`connection_id` joins what was launched with what launched it: from the args of an X event, from the id of a HostToDevice
flow where it is sure; the ends of any flow are joined by `flow_id`, and with their tasks by thread and `start_ns`. The
compiled reader gives a batch whose `flow_id` are all texts of whole numbers as int64. `stage_row` marks the second copy of
each task that hccl timelines held until 2023-05.
"""

ASKED_ONLY = pa.schema([("frequency_mhz", pa.string())])
"""Columns that a frame has only where they are asked for: the value of a counter of the frequency, as it is written."""

TEXT_ARGS: dict[str, tuple[str, ...]] = {
    "task_type": ("Task Type",),
    "mode": ("Mode",),
    "level": ("level",),
    "frequency_mhz": ("MHz",),
}
INTEGER_ARGS: dict[str, tuple[str, ...]] = {
    "connection_id": ("connection_id",),
    "stream_id": ("Stream Id", "Physic Stream Id", "stream id"),
    "task_id": ("Task Id", "task id"),
    "model_id": ("Model Id", "Model ID", "model id"),
    "batch_id": ("Batch Id", "batch id"),
    "subtask_id": ("Subtask Id", "subtask id"),
}
"""The keys of `args` that a column comes from: the first of them that has a value."""
COSTLY = frozenset(name for name, keys in INTEGER_ARGS.items() if len({key.lower() for key in keys}) < len(keys))
"""Columns whose keys differ in their case alone, which duckdb takes for one: an event with them takes a quarter longer to read."""
NO_ID_COLUMNS = frozenset({"model_id", "subtask_id"})
"""Where 4294967295 stands for none."""

RAW_FLOW = 2**32
PACKED_FLOW = 2**48
"""How the id of a HostToDevice flow tells its connection: below RAW_FLOW it is the connection (copies, seen in 2025-01);
else it is connection << 32 plus a context, which may be -1. Since 2025-01 the id of a compute task is stream << 64,
task << 48, batch << 32 and context: that is no connection, and what could be either is none.
"""
STAGE_ROW = r"Stage-?\d+Step-?\d+"
LONGEST_US = 2**50 / 1000
"""Thirteen days, as for tables: nothing that is measured takes longer."""
LATEST_NS = 2**61
SEPARATOR = "\x1f"
EXACT_US = 2**43
"""Below this a float64 tells thousandths of a microsecond apart."""
THREE_DECIMALS_US = 2**46
"""From here on no float64 is written with three decimals: what is, was a text."""
_STAGE_ROW = re.compile(STAGE_ROW, re.ASCII)


def is_stage_row(name: str | None) -> bool:
    """Whether this is the second copy of an hccl task."""
    return name is not None and name.startswith("Stage") and _STAGE_ROW.fullmatch(name) is not None


class Collector(Protocol):
    """What takes in events, batch after batch."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events."""


class MergingCollector(Collector, Protocol):
    """What can take in what others have, too."""

    def merge(self, other: Self, /) -> None:
        """Take in what another one has: of events behind its own."""


C = TypeVar("C", bound=Collector)
M = TypeVar("M", bound=MergingCollector)


class OddFileError(Exception):
    """Something in this file has to be looked at event by event."""


@dataclass(slots=True)
class Names:
    """What metadata events call processes and threads; the last one counts."""

    processes: dict[str, str] = field(default_factory=dict)
    threads: dict[str, str] = field(default_factory=dict)

    def learn(self, what: str | None, pid: str | None, tid: str | None, name: str | None) -> None:
        if name is None:
            return
        if what == "process_name":
            self.processes[pid or ""] = name
        elif what == "thread_name":
            self.threads[thread_key(pid, tid)] = name


def thread_key(pid: str | None, tid: str | None) -> str:
    return f"{pid or ''}{SEPARATOR}{tid or ''}"


@dataclass(frozen=True, slots=True)
class TimelineLook:
    """What one pass over a timeline tells; nothing but `findings` where the file is no whole list of events."""

    events: int = 0
    """Elements of the list = rows of the frame + `metadata` + `reported`."""
    phases: dict[str, int] = field(default_factory=dict)
    """Usable events by phase, metadata (M) among them."""
    reported: int = 0
    """Events that cannot be used; each is in `findings`."""
    start_ns: int | None = None
    end_ns: int | None = None
    """From when to when X events last."""
    stage_rows: int = 0
    findings: tuple[Finding, ...] = ()
    names: Names = field(default_factory=Names)
    plain: bool = True
    """Whether duckdb reads every event exactly; else they are walked through one by one."""
    usable: bool = True
    """Whether the file is a whole list of events."""

    @property
    def metadata(self) -> int:
        """Events that only name things."""
        return self.phases.get("M", 0)

    @property
    def rows(self) -> int:
        """Events that are in the frame."""
        return sum(self.phases.values()) - self.metadata

    @property
    def processes(self) -> tuple[str, ...]:
        """The names of processes, each once."""
        return tuple(dict.fromkeys(self.names.processes.values()))


def wanted_schema(columns: Iterable[str] | None) -> pa.Schema:
    """The part of EVENTS_SCHEMA and ASKED_ONLY that is asked for, in their order; KeyError for a column that is in neither."""
    if columns is None:
        return EVENTS_SCHEMA
    asked = set(columns)
    every = [*EVENTS_SCHEMA, *ASKED_ONLY]
    if unknown := asked - {spec.name for spec in every}:
        raise KeyError(", ".join(sorted(unknown)))
    return pa.schema([spec for spec in every if spec.name in asked])


def text_array(values: Sequence[str | None]) -> pa.Array:
    """Texts as an Arrow array (`pa.array` would import pandas)."""
    encoded = [b"" if value is None else value.encode(errors="replace") for value in values]
    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum([len(value) for value in encoded], out=offsets[1:])
    there = np.asarray([value is not None for value in values], dtype=bool)
    buffers = [_validity(there), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def integer_array(values: Sequence[int | None], kind: pa.DataType | None = None) -> pa.Array:
    """int64 (or int32) values as an Arrow array."""
    there = np.asarray([value is not None for value in values], dtype=bool)
    width = np.int32 if kind == pa.int32() else np.int64
    whole = np.asarray([0 if value is None else value for value in values], dtype=width)
    return pa.Array.from_buffers(kind or pa.int64(), len(values), [_validity(there), pa.py_buffer(whole)])


def boolean_array(values: Sequence[bool]) -> pa.Array:
    packed = np.packbits(np.asarray(values, dtype=bool), bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(packed)])


def _validity(there: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pa.Buffer | None:
    return None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
