"""There is one verdict on a file, whoever reads it and whatever is asked: what differs today fails here, and is expected to."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commandline import Cli

HEADER = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"


WHOLE = json.dumps(
    [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Ascend Hardware"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "Stream 1"}},
        *(
            {"ph": "X", "name": f"op{n}", "pid": 1, "tid": 1, "ts": 10 * n, "dur": 5, "args": {"Task Type": "AI_CORE"}}
            for n in range(1, 5)
        ),
    ],
    indent=1,
)
CUT = "the file ends before its list of events is closed; only the whole events in it are used [json-truncated]"


@pytest.mark.parametrize(
    ("text", "tasks", "code", "said"),
    [
        (WHOLE, 4, 0, ""),
        (f'{{"traceEvents": {WHOLE}, "displayTimeUnit": "ns"}}', 4, 0, ""),
        (f'{{"metadata": {{"a": [1]}}, "traceEvents": {WHOLE[:-1]}', 4, 1, CUT),
        (WHOLE[:-1], 4, 1, CUT),
        (WHOLE[:-2] + ",", 4, 1, CUT),
        (WHOLE[:-2] + ",\n]", 4, 0, "warning: a comma follows the last event [timeline-comma]"),
        (WHOLE[:-20], 3, 1, CUT),
        (
            WHOLE.replace('"dur": 5', '"dur": 5x', 1),
            3,
            1,
            "; the event is left out",
        ),
    ],
)
def test_the_whole_events_of_a_timeline_are_used_and_its_damage_is_said(
    cli: Cli, tmp_path: Path, text: str, tasks: int, code: int, said: str
) -> None:
    path = tmp_path / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    ended = cli("hotspots", tmp_path, "--all-tasks", "--format", "json")
    assert (sum(row["count"] for row in ended.json["rows"]), ended.code) == (tasks, code)
    checked = cli("check", tmp_path)
    assert checked.code == code
    lines = [line for line in (checked.out + checked.err).splitlines() if said and said in line]
    assert [re.search(r"trace_view\.json:\d+:\d+: ", line) is not None for line in lines] == [True] * bool(said)


def test_a_row_that_appears_twice_is_found_by_every_grouping(cli: Cli, tmp_path: Path) -> None:
    # a file of 1.6 MB
    rows = [f"0,{'layer/' * 25}op{number},MatMul,AI_CORE,{1000 + 20 * number}.0,12.345\n" for number in range(9000)]
    rows.insert(5, rows[4].replace("12.345", "12.3450"))
    path = tmp_path / "PROF_1" / "mindstudio_profiler_output" / "op_summary_20240101000000.csv"
    path.parent.mkdir(parents=True)
    path.write_text(HEADER + "".join(rows))
    found = [
        cli("hotspots", tmp_path, "--all-tasks", "--by", by, "--top", "9001", "--format", "json")
        for by in ("op_type", "op_name")
    ]
    assert {"duplicate-row"} == {one["rule"] for ended in found for one in ended.json["findings"]}
    assert len({(ended.code, sum(row["count"] for row in ended.json["rows"])) for ended in found}) == 1


def test_a_key_that_appears_twice_in_args_is_found_beside_any_other_event(cli: Cli, tmp_path: Path) -> None:
    task = '{{"ph":"X","name":"op{n}","pid":1,"tid":1,"ts":{n}0,"dur":5,"args":{{"Task Type":"AI_CORE"{more}}}}}'
    labels = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Ascend Hardware"}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "Stream 1"}},
    ]
    events = [*map(json.dumps, labels)]
    events += [task.format(n=n, more=',"Task Type":"AI_CPU"' if n % 2 else "") for n in range(1, 11)]
    told = []
    for name, more in (("quiet", []), ("odd", ['{"ph":"C","name":"c","pid":2,"ts":1,"args":{"x":NaN}}'])):
        path = tmp_path / name / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
        path.parent.mkdir(parents=True)
        path.write_text(f"[{','.join([*events, *more])}]")
        ended = cli("hotspots", path.parents[1], "--all-tasks", "--format", "json")
        told.append((sum(row["count"] for row in ended.json["rows"]), ended.code))
    assert told == [(5, 1), (5, 1)]
