"""Writes a file under any header as exporters of that day wrote it, and says what has to be read from it.

What a column is and which unit it has is told from the header's words alone, by rules of this module: nothing of the
declarations under test is asked.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

from museum.headers import GE_COLUMNS, PMU, TABS_SINCE, Exhibit

NO_ID = "4294967295"

_TIME_UNIT = {"ns": 1, "us": 1000, "ms": 1_000_000}
_SIZE_UNIT = {"byte": 1, "Byte": 1, "Bytes": 1, "KB": 1024, "MB": 1024**2}
_UNIT = re.compile(r"\((ns|us|ms|[Bb]ytes?|KB|MB|%)\)$")
_STAMP = re.compile(
    r"^(device )?(task |instruction )?start[ _]time|^(device )?end[ _]time|^task_(start|stop)$|^time_?stamp$"
    r"|^(fp|reduce) start$|^(bp|iteration) end$|^(allocation|release|active release) time$",
    re.IGNORECASE,
)
_COUNTERS = {cell for columns in PMU.values() for cell in columns.split(",")}
WITH_COUNTERS = {"op_summary", "kernel_details", "ai_core_utilization", "ai_vector_core_utilization"}
"""Kinds that have columns of counters, which no table declares."""
_BARE_STAMPS = {
    # a header without a unit means this one
    ("op_summary", "Task Start Time"): "us",
    ("step_trace", "FP Start"): "us",
    ("step_trace", "BP End"): "us",
    ("step_trace", "Iteration End"): "us",
    ("step_trace", "Reduce Start"): "us",
    ("ai_stack_time", "Start Time"): "ns",
    ("acl", "Start Time"): "ns",
    ("ge_op_execute", "Start Time"): "us",
    ("dp", "Timestamp"): "ns",
}
_NUMBERS = {
    "Variance", "Hit Rate", "Victim Rate", "TLB Hit Rate", "TLB Miss Rate", "read_bandwidth", "write_bandwidth",
    "read_ost", "write_ost", "start_time", "dur_time", "L2Buffer_bandwidth_level", "MATA_bandwidth_level",
    "Memory Total", "Memory Free", "Buffers", "Cached", "Share Memory", "Commit Limit", "Committed AS",
}  # fmt: skip
_NO_UNIT_KNOWN = {("nic", "Timestamp"), ("roce", "Timestamp"), ("ub", "TimeStamp"), ("acc_pmu", "time_stamp")}
_INTEGERS = {
    "Device_id", "Step Id", "Model ID", "Task ID", "Stream ID", "Infer ID", "Block Dim", "Mix Block Dim", "Block Num",
    "Mix Block Num", "Context ID", "Count", "Calls", "Process ID", "Thread ID", "PID", "pid", "tid", "mark_id",
    "Iteration ID", "Graph ID", "Node Index Start", "Node Index End", "Stream Id", "Task Id", "stream_id", "task_id",
    "acc_id", "block_id", "AccId", "Channel Id", "Instruction ID", "Notify Instruction ID", "Notify Rank ID",
    "Dvpp Id", "Engine ID", "All Frame", "Total Cpu Numbers", "Occupied Cpu Numbers", "Recommend Cpu Numbers",
    "funcId", "Cycles", "PortId", "Step", "Stream Ptr", "Queue Size", "Cached Buffer Size", "Read", "Write", "Victim",
    "Allocate", "No", "graph_id", "read", "write", "victim", "allocate",
}  # fmt: skip
_SHAPES = ("Input Shapes", "Output Shapes")


@dataclass(frozen=True)
class Kind:
    """What one column holds."""

    what: str
    """`text`, `shape`, `integer`, `number`, `share`, `duration`, `stamp` or `size`."""
    factor: int = 1


@dataclass(frozen=True)
class Style:
    """How the exporter writes."""

    crlf: bool = False
    bom: bool = False
    trimmed: bool = False
    """Whether zeros at the end of a fraction are cut."""
    tabs: bool = False
    numbers_in_json: bool = False


def kind_of(exhibit: Exhibit, header: str) -> Kind:
    """What a column holds, from its header's words."""
    cell = header.strip()
    if _is_number(exhibit, cell):
        return Kind("number")
    if unit := _unit_of(exhibit, cell):
        if unit in _TIME_UNIT:
            return Kind("stamp" if _STAMP.match(_UNIT.sub("", cell)) else "duration", _TIME_UNIT[unit])
        return Kind("share") if unit == "%" else Kind("size", _SIZE_UNIT[unit])
    if cell in _INTEGERS or cell.endswith("(pages)"):
        return Kind("integer")
    if exhibit.table in {"step_trace_time", "cluster_step_trace_time"} and cell not in {"Type", "Index"}:
        return Kind("duration", 1000)
    return Kind("shape" if cell in _SHAPES and exhibit.kind != "operator_details" else "text")


def _is_number(exhibit: Exhibit, cell: str) -> bool:
    """Counters, rates, bandwidths, and times of which nobody says the unit."""
    return (
        (cell in _COUNTERS and exhibit.kind in WITH_COUNTERS)
        or (exhibit.table, cell) in _NO_UNIT_KNOWN
        or cell in _NUMBERS
        or re.search(r"/u?s\)?$|\(Packet\)$", cell) is not None
    )


def _unit_of(exhibit: Exhibit, cell: str) -> str | None:
    if (exhibit.table, cell) in _BARE_STAMPS:
        return _BARE_STAMPS[exhibit.table, cell]
    if exhibit.kind == "aicpu" and cell == "Timestamp":
        return "ms" if any("(ms)" in other for other in exhibit.header) else "us"
    found = _UNIT.search(cell)
    return found[1] if found else None


def expected_value(kind: Kind, cell: str) -> Any:
    """What a cell must become: whole nanoseconds, whole bytes, parts of 1, words; None for what is not there."""
    if cell.strip() in {"", "N/A"} or (kind.what == "integer" and cell in {NO_ID, "host"}):
        return None
    if kind.what == "shape":
        return cell.removeprefix('"').removesuffix('"') or None
    if kind.what == "integer":
        return int(cell)
    if kind.what in {"number", "share"}:
        return float(Decimal(cell) / 100) if kind.what == "share" else float(cell)
    if kind.what in {"duration", "stamp", "size"}:
        return int((Decimal(cell.strip()) * kind.factor).to_integral_value(ROUND_HALF_EVEN))
    return cell


def cells_of(exhibit: Exhibit, rows: int, style: Style, needed: set[int], rng: random.Random) -> list[list[str]]:
    """Rows of plausible cells; no two columns hold the same. `needed` are columns that always have a value."""
    table = []
    for row in range(rows):
        line = []
        for position, header in enumerate(exhibit.header):
            kind = kind_of(exhibit, header)
            if position not in needed and rng.random() < 0.15:
                line.append(_missing(kind, header.strip(), rng))
            else:
                line.append(_cell(exhibit, kind, header.strip(), style, rng, row, position))
        table.append(line)
    return table


def _missing(kind: Kind, header: str, rng: random.Random) -> str:
    if kind.what == "integer" and header == "Device_id":
        return "host"
    if kind.what == "integer" and header in {"Model ID", "Context ID"}:
        return rng.choice([NO_ID, "N/A"])
    return '""' if kind.what == "shape" and rng.random() < 0.5 else rng.choice(["N/A", ""])


def _cell(exhibit: Exhibit, kind: Kind, header: str, style: Style, rng: random.Random, row: int, position: int) -> str:
    if kind.what == "stamp":
        return _stamp(exhibit, kind, style, rng) + ("\t" if style.tabs else "")
    if kind.what in {"text", "shape"}:
        return _words(exhibit, kind, header, rng, row, position)
    whole = kind.what == "integer" or (kind.factor == 1 and kind.what in {"duration", "size"})
    if whole:
        return str(rng.choice([row, position + 100 * row, rng.randrange(2**31), 0]))
    if kind.what == "size":
        return _decimal(rng.randrange(2**24) * 5**8, 8, style) if style.trimmed else str(rng.randrange(2**24))
    if kind.what == "share":
        return _decimal(rng.randrange(100_001), 3, style)
    return _decimal(rng.choice([0, rng.randrange(10**10), 1000 * rng.randrange(10**6)]), 3, style)


def _stamp(exhibit: Exhibit, kind: Kind, style: Style, rng: random.Random) -> str:
    """Before 2023-09 a clock of the host or the device, since then microseconds since 1970 with three decimals."""
    start = 1_736_408_883_704_643_212 if exhibit.since >= "2023-09" else 56_635_864_658_490
    ns = start + rng.randrange(10**12)
    if kind.factor == 1:
        return str(ns)
    places = 3 if kind.factor == 1000 else 6
    return _decimal(ns, places, style)


def _decimal(thousandths: int, places: int, style: Style) -> str:
    text = f"{Decimal(thousandths).scaleb(-places):.{places}f}"
    return (text.rstrip("0").rstrip(".") if style.trimmed else text) or "0"


def _words(exhibit: Exhibit, kind: Kind, header: str, rng: random.Random, row: int, position: int) -> str:
    if kind.what == "shape":
        return f'"{rng.choice(["1,2;3,4", ";;", f"{row},{position},224,224", ";"])}"'
    if header in GE_COLUMNS:
        return rng.choice(["FLOAT;FLOAT16", "ND", "NC1HWC0;FRACTAL_Z:32", "INT64"])
    if header in {"Task Type", "Accelerator Core", "Core Type"}:
        return rng.choice(["AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "AI_CPU", "COMMUNICATION"])
    if exhibit.kind == "operator_details":
        return rng.choice(["aten::add", "2,3;\r\n2,3", 'a.py(1): f;\n"b".py(2)', "Optimizer.step#Adam"])
    return rng.choice([f"w{position}_{row}", f"op/{row}/Conv2D,{position}", "矩阵乘", "a b", "x" * 70, 'say "no"'])


def csv_text(exhibit: Exhibit, rows: list[list[str]], style: Style) -> bytes:
    """The file as the exporters write it: nothing quoted but what has to be."""
    end = "\r\n" if style.crlf else "\n"
    lines = [",".join(exhibit.header), *(",".join(_quoted(cell) for cell in row) for row in rows)]
    return (b"\xef\xbb\xbf" if style.bom else b"") + end.join([*lines, ""]).encode()


def _quoted(cell: str) -> str:
    if cell.startswith('"') or any(c in cell for c in ',"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def json_text(exhibit: Exhibit, rows: list[list[str]], style: Style) -> bytes:
    """The same rows as --summary-format=json: a list of objects, one a row."""
    objects = []
    for row in rows:
        pairs = zip(exhibit.header, row, strict=True)
        cells = (f"{json.dumps(header)}: {_value(kind_of(exhibit, header), cell, style)}" for header, cell in pairs)
        objects.append("{" + ", ".join(cells) + "}")
    return f"[{', '.join(objects)}]".encode()


def _value(kind: Kind, cell: str, style: Style) -> str:
    """A cell as JSON: numbers with every digit, where this exporter writes numbers."""
    is_number = kind.what not in {"text", "shape"} and re.fullmatch(r"-?\d+(\.\d+)?", cell)
    return cell if style.numbers_in_json and is_number else json.dumps(cell)


def default_style(exhibit: Exhibit) -> Style:
    """How the exporter of that day wrote."""
    return Style(
        crlf=exhibit.torch_npu or not (exhibit.merged or exhibit.aoe),
        trimmed=not exhibit.merged,
        tabs=exhibit.since >= TABS_SINCE,
    )


def place_of(exhibit: Exhibit, form: str, folder: Path) -> Path:
    """Where the exporter of that day put the file, and under which name."""
    if exhibit.aoe:
        return folder / f"{exhibit.kind}.{form}"
    if exhibit.torch_npu:
        return folder / "x_20250109_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / f"{exhibit.kind}.{form}"
    root = folder / "PROF_000001_20230818142704322_COJGGGCANRMICFBC"
    if exhibit.merged:
        return root / "mindstudio_profiler_output" / f"{exhibit.kind}_20240605155140.{form}"
    if exhibit.kind in {"acl", "acl_statistic", "runtime_api", "ge_op_execute", "api_statistic"}:
        return root / "host" / "summary" / f"{exhibit.kind}.{form}"
    return root / "device_0" / "summary" / f"{exhibit.kind}_0_2_1.{form}"
