"""Undamaged files of several kinds, ways to damage one, and what must never change without a word."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from commandline import FIXTURES

from aoe_reports.engine.captures import read_file
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.findings import Finding

VALID = FIXTURES / "msprof" / "valid"
API = (
    b"Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
    b"acl,aclmdlExecute,877.5,3,292.5,290,295,4.167\n"
    b"acl,aclrtMemcpy,41,2,20.5,20,21,0.25\n"
    b"node,launch,90,6,15,12,20,9.667\n"
    b"runtime,KernelLaunch,63.5,4,15.875,15.5,16.25,0.07\n"
)
MEMORY = (
    b"Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\r\n"
    b"APP,1736408883573957.920\t,,2109.6015625,,,NPU:0\r\n"
    b"PTA,1736408883704000.000\t,954.3701171875,1452.0,954.3701171875,897357296,NPU:0\r\n"
    b"PTA,1736408883704010.000\t,954.37060546875,1452.0,954.37060546875,897357296,NPU:0\r\n"
    b"GE,1736408883704020.000\t,0.25,242.0,,,NPU:0\r\n"
)


@dataclass(frozen=True)
class Base:
    """One kind of file: where it lies in a capture, and its undamaged content."""

    kind: str
    path: str
    data: bytes
    keys: tuple[str, ...]
    """Sums are by these words."""


def _of(fixture: str, pattern: str) -> bytes:
    return min((VALID / fixture).rglob(pattern)).read_bytes()


PROF = "PROF_000001_20260605155111872_JDEKRCNERPBNJEGA"
MERGED = f"{PROF}/mindstudio_profiler_output"
TORCH = "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"


@cache
def bases() -> dict[str, Base]:
    """Every kind under its name."""
    types = ("op_type", "task_type")
    kinds = (
        Base("op_summary", f"{MERGED}/op_summary_20260605155140.csv", _of("merged_two_devices", "op_summary*"), types),
        Base("kernel_details", f"{TORCH}/kernel_details.csv", _of("torch_npu_two_ranks", "kernel_details*"), types),
        Base("op_statistic", f"{TORCH}/op_statistic.csv", _of("torch_npu_two_ranks", "op_statistic*"), types),
        Base(
            "step_trace",
            f"{PROF}/device_0/summary/step_trace_0_2_1.csv",
            _of("ten_iterations", "step_trace*.csv"),
            (),
        ),
        Base("task_time", f"{MERGED}/task_time_20260605155140.csv", _of("merged_two_devices", "task_time*"), ("task_type",)),
        Base("api_statistic", f"{TORCH}/api_statistic.csv", API, ("level", "api_name")),
        Base("memory_record", f"{TORCH}/memory_record.csv", MEMORY, ("component",)),
        Base(
            "summary_as_json",
            f"{MERGED}/op_summary_20240605155140.json",
            _of("summaries_as_json", "op_summary*.json"),
            types,
        ),
        Base("communication", f"{TORCH}/communication.json", _of("torch_npu_memory_and_communication", "communication.json"), ()),
    )  # fmt: skip
    return {base.kind: base for base in kinds}


Signature = dict[str, dict[tuple[Any, ...], tuple[int, int]]]


def signature(frame: pa.Table, keys: tuple[str, ...]) -> Signature:
    """Of every length of time, size and count: how many values and which sum, by the words of `keys`."""
    told: Signature = {}
    summed = [
        name
        for name in frame.column_names
        if (name.endswith(("_ns", "_bytes")) or name == "count")
        and name not in {"task_start_ns", "task_stop_ns", "timestamp_ns", "start_ns"}  # points in time are never summed
    ]
    rows = frame.select([name for name in frame.column_names if name in {*summed, *keys}]).to_pylist()
    for name in summed:
        sums: dict[tuple[Any, ...], tuple[int, int]] = defaultdict(lambda: (0, 0))
        for row in rows:
            values = row[name] if isinstance(row[name], list) else [row[name]]
            there = [value for value in values if value is not None]
            key = tuple(row.get(word) for word in keys)
            count, total = sums[key]
            sums[key] = (count + len(there), total + sum(there))
        told[name] = {key: value for key, value in sums.items() if value[0]}
    return told


@dataclass(frozen=True)
class Read:
    """What the reader made of one file."""

    tables: tuple[TableData, ...]
    findings: tuple[Finding, ...]

    @property
    def silent(self) -> bool:
        """Whether nothing was said that anybody has to look at."""
        return all(finding.severity == "info" for finding in self.findings)

    def signature(self, base: Base) -> Signature:
        return signature(self.tables[0].frame, base.keys) if self.tables else {}


@contextmanager
def laid(*files: tuple[str, bytes]) -> Iterator[Path]:
    """A folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files:
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        yield Path(folder)


def read(base: Base, data: bytes) -> Read:
    """Read one file as commands do; rows read are rows in the frame and rows reported."""
    with laid((base.path, data)) as folder:
        found = discover([folder])
        tables = tuple(read_file(file, kind) for file in found.files for kind in file.holds)
    for table in tables:
        assert table.rows_read == table.frame.num_rows + table.rows_reported
        if table.rows_reported:
            assert any(finding.severity == "error" for finding in table.findings)
    return Read(tables, (*found.findings, *(finding for table in tables for finding in table.findings)))


@cache
def undamaged(kind: str) -> Signature:
    """What the undamaged file says; nothing is to be said about it."""
    whole = read(bases()[kind], bases()[kind].data)
    assert whole.findings == ()
    return whole.signature(bases()[kind])


def cells(data: bytes) -> list[list[str]]:
    """A CSV file as header and rows, with Python's own reader."""
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def as_csv(rows: list[list[str]], like: bytes) -> bytes:
    """Rows as the exporters write them, with the line ends of another file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n" if b"\r\n" in like else "\n").writerows(rows)
    return buffer.getvalue().encode()


def leaves(document: Any, place: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Every value of a JSON document by its place."""
    if isinstance(document, dict) and document:
        return {at: leaf for key, value in document.items() for at, leaf in leaves(value, (*place, key)).items()}
    if isinstance(document, list) and document:
        return {at: leaf for i, value in enumerate(document) for at, leaf in leaves(value, (*place, i)).items()}
    return {place: document}


def changed_cells(base: Base, data: bytes) -> int | None:
    """How many cells say something else, header and all; None where the shape is another."""
    try:
        if base.path.endswith(".json"):
            before, after = leaves(json.loads(base.data)), leaves(json.loads(data))
            return sum(str(before[at]) != str(after[at]) for at in before) if list(before) == list(after) else None
        old, new = cells(base.data), cells(data)
    except (ValueError, csv.Error):
        return None
    if [len(row) for row in old] != [len(row) for row in new] or old[0] != new[0]:
        return None
    return sum(a != b for x, y in zip(old, new, strict=True) for a, b in zip(x, y, strict=True))


_UNIT = re.compile(r"\((ns|us|ms|s|B|Bytes?|KB|MB|GB)\)")


def changed_unit(base: Base, data: bytes) -> bool:
    """Whether a unit in a header is another one now: µs that became ms are contradicted by other files alone."""
    old, new = base.data.decode(), data.decode(errors="replace")
    return _UNIT.findall(old) != _UNIT.findall(new) and _UNIT.sub("", old) == _UNIT.sub("", new)
