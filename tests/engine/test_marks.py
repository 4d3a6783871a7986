"""Marks of users (mstx): they are read wherever msprof and torch_npu write them, and are no tasks."""

from __future__ import annotations

from pathlib import Path

from commandline import FIXTURES, Cli
from made_traces import Trace, device, planted

MARKS = FIXTURES / "msprof" / "valid" / "merged_with_marks_and_memory"
MSPROF_TX = 4711 << 10 | 2


def marked(trace: Trace) -> Trace:
    """A range over both steps: on the host, on the device, and the flow between them."""
    trace.named(MSPROF_TX, "MsprofTx", {5: "Thread 5"})
    trace.event("decode", (MSPROF_TX, 5), 10, 1900, event_type="start/end", domain="default", mark_id=1)
    trace.event("decode", (device(0), 3), 90, 1800, **{"Physic Stream Id": 3, "Task Id": 7})
    for ph, pid, ts in (("s", MSPROF_TX, 10), ("f", device(0), 90)):
        trace.events.append({"name": "MsTx_1", "ph": ph, "cat": "MsTx", "id": "1", "pid": pid, "tid": 3, "ts": str(ts)})
    return trace


def test_marks_are_a_table(cli: Cli) -> None:
    rows = cli("table", "msprof_tx", MARKS, "--format", "json").json["rows"]
    assert rows
    assert {"message", "domain", "event_type"} <= set(rows[0])


def test_marks_stand_in_the_timeline_of_the_framework(cli: Cli, tmp_path: Path) -> None:
    folder = marked(planted()).write(tmp_path)
    rows = cli("table", "trace_view", folder, "--format", "json").json["rows"]
    found = [(row["process"], row["duration_us"]) for row in rows if row["name"] == "decode"]
    assert found == [("MsprofTx", 1900.0), ("Ascend Hardware", 1800.0)]


def test_a_mark_on_the_device_is_no_task(cli: Cli, tmp_path: Path) -> None:
    plain = planted().write(tmp_path / "plain")
    with_marks = marked(planted()).write(tmp_path / "marked")
    for command in (("hotspots", "--by", "op_name"), ("breakdown",), ("steps",), ("critical-path",)):
        one, other = (cli(command[0], place, *command[1:], "--format", "json").json for place in (plain, with_marks))
        assert one["rows"]
        assert _without_place(other["rows"]) == _without_place(one["rows"])
        assert [found["rule"] for found in one["findings"]] == [found["rule"] for found in other["findings"]]


def _without_place(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: value for key, value in row.items() if key not in {"run", "path", "capture"}} for row in rows]
