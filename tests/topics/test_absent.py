"""What a run has on one rank and lacks on another, or lost: it is named, with an exit code, and is never zero."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from commandline import Cli

START = 1_736_410_576_404_465_403
NO_ID = 4_294_967_295
WORDS = ("N/A", "KERNEL_AIVEC", "AI_VECTOR_CORE", "conv", "Conv2D", "hcom_allReduce__1", "hcom_allReduce_", "group")
ID = {word: number for number, word in enumerate(WORDS)}
DATABASE = f"""
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO STRING_IDS VALUES {", ".join(f"({number}, '{word}')" for word, number in ID.items())};
CREATE TABLE TASK (startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId,
  taskId, modelId);
CREATE TABLE COMPUTE_TASK_INFO (name, globalTaskId, taskType, opType);
CREATE TABLE COMMUNICATION_OP (opName, startNs, endNs, connectionId, groupName, opId, dataType, algType, count, opType);
INSERT INTO COMMUNICATION_OP VALUES ({ID["hcom_allReduce__1"]}, {START + 5000}, {START + 9000}, 9, {ID["group"]}, 1, 0,
  0, 8, {ID["hcom_allReduce_"]});
"""
KERNELS = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)"
QUESTIONS = ("breakdown", "hotspots", "stragglers", "advise", "check", "steps", "quality", "host", "critical-path")


def database(folder: Path, rank: int, *, tasks: int = 4) -> Path:
    """A database of one rank whose device ran tasks of 1 us, and one operator of communication."""
    output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / f"profiler_info_{rank}.json").write_text("{}")
    path = output / f"ascend_pytorch_profiler_{rank}.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(DATABASE)
        for number in range(tasks):
            start = START + number * 2000
            row = (start, start + 1000, rank, number, number, 1, ID["KERNEL_AIVEC"], NO_ID, 2, number, NO_ID)
            connection.execute(f"INSERT INTO TASK VALUES ({', '.join('?' * len(row))})", row)
            info = (ID["conv"], number, ID["AI_VECTOR_CORE"], ID["Conv2D"])
            connection.execute("INSERT INTO COMPUTE_TASK_INFO VALUES (?, ?, ?, ?)", info)
    return path


def run_of_databases(folder: Path, change: str = "") -> Path:
    """Two ranks; `change` is made to the database of rank 1."""
    database(folder, 0)
    with closing(sqlite3.connect(database(folder, 1))) as connection, connection:
        connection.executescript(change)
    return folder


@pytest.mark.parametrize(
    "lost", ["DROP TABLE STRING_IDS", "DELETE FROM STRING_IDS", "DELETE FROM TASK", "DROP TABLE TASK"]
)
def test_a_database_that_lost_its_tasks_is_an_error_and_no_idle_rank(cli: Cli, tmp_path: Path, lost: str) -> None:
    before, after = run_of_databases(tmp_path / "before"), run_of_databases(tmp_path / "after", lost)
    asked = [(question, after) for question in QUESTIONS]
    for command, *paths in [*asked, ("compare", before, after), ("explain", before, after)]:
        ended = cli(command, *paths, "--format", "json")
        assert ended.out, (command, ended.err)
        assert (ended.code, "db-damaged" in ended.rules()) == (1, True), command
        assert not [row for row in ended.json.get("rows", []) if row.get("rank_id") == 1], command
    assert cli("breakdown", before, "--format", "json").json["rows"][1]["computing_us"] == 4
    verdicts = {row["path"]: row["verdict"] for row in cli("check", after, "--format", "json").json["rows"]}
    assert [verdict for path, verdict in verdicts.items() if "rank1" in path] == ["fail"]


def test_tasks_of_an_unknown_type_are_an_error_as_no_sum_has_them(cli: Cli, tmp_path: Path) -> None:
    run = run_of_databases(tmp_path, "DELETE FROM STRING_IDS WHERE value IN ('KERNEL_AIVEC', 'AI_VECTOR_CORE')")
    for command in ("breakdown", "check"):
        ended = cli(command, run, "--format", "json")
        errors = [one["message"] for one in ended.json["findings"] if one["severity"] == "error"]
        assert (ended.code, errors) == (1, ["TASK: the type of 4 tasks is unknown; no sum of computing includes them"])


def test_a_database_of_the_host_alone_lost_nothing(cli: Cli, tmp_path: Path) -> None:
    lost = "DROP TABLE TASK; DROP TABLE COMPUTE_TASK_INFO; DROP TABLE COMMUNICATION_OP"
    run = run_of_databases(tmp_path, lost)
    alone = cli("check", run / "rank1_ascend_pt", "--format", "json")
    assert (alone.code, alone.rules()) == (0, {"db-incomplete"})
    beside = cli("check", run, "--format", "json")
    assert (beside.code, beside.rules()) == (1, {"db-incomplete", "expected-absent"})
    missing = [
        "data (table of tasks, timeline, table of steps) of rank 1 is missing: 1 of 2 ranks of the same run have it"
    ]
    for question in ("check", "quality", "advise"):
        assert absent(cli, question, run) == missing


def text_run(folder: Path, steps: dict[int, Sequence[int]], *, kernels: Collection[int] | None = None) -> Path:
    """Ranks with tasks of 2 us in these steps, in a table and in a timeline; of `kernels` alone the table has rows."""
    for rank, numbers in steps.items():
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text("{}")
        rows = [KERNELS]
        totals = ["Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"]
        events: list[dict[str, object]] = [
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Python"}},
            {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "Ascend Hardware"}},
        ]
        for number in numbers:
            at = 1_000_000 + number * 100
            mark = {"ph": "X", "name": f"ProfilerStep#{number}", "pid": 1, "tid": 1, "cat": "cpu_op"}
            events.append({**mark, "ts": f"{at}.000", "dur": 50, "args": {}})
            for task in range(2):
                start = at + 5 + task * 10
                rows.append(f"{number},conv{task},Conv2D,AI_CORE,{start}.000,2.000,0.000")
                event = {"ph": "X", "name": f"conv{task}", "pid": 2, "tid": 3, "ts": f"{start}.000", "dur": 2}
                events.append({**event, "args": {"Task Type": "AI_CORE", "Stream Id": 3, "Task Id": task}})
            totals.append(f"{number},4.000,0,0,0,46.000")
        listed = rows if kernels is None or rank in kernels else rows[:1]
        (output / "kernel_details.csv").write_text("".join(f"{row}\n" for row in listed))
        (output / "step_trace_time.csv").write_text("".join(f"{row}\n" for row in totals))
        (output / "trace_view.json").write_text(json.dumps(events))
    return folder


def absent(cli: Cli, *arguments: object) -> list[str]:
    """What an answer misses; such an answer ends with 1, any other with 0."""
    ended = cli(*arguments, "--format", "json")
    found = [one["message"] for one in ended.json["findings"] if one["rule"] == "expected-absent"]
    assert ended.code == bool(found), (arguments, ended.err)
    return found


@pytest.mark.parametrize("question", ["hotspots", "breakdown", "steps", "host", "critical-path", "advise"])
def test_a_rank_without_the_step_that_another_has_is_named(cli: Cli, tmp_path: Path, question: str) -> None:
    run = text_run(tmp_path, {0: [50, 51], 1: [51]})
    assert absent(cli, question, run, "--step", 50) == [
        "step 50 of rank 1 is missing: found for rank 0 of the same run"
    ]
    assert absent(cli, question, run, "--step", 51) == []
    assert absent(cli, question, run, "--step", 50, "--rank", 0) == []


def test_a_rank_that_one_side_lacks_is_named(cli: Cli, tmp_path: Path) -> None:
    two, one = text_run(tmp_path / "two", {0: [1], 1: [1]}), text_run(tmp_path / "one", {0: [1]})
    assert absent(cli, "explain", two, one) == [f"rank 1 is missing: {two} has it"]
    assert absent(cli, "explain", one, two) == [f"rank 1 is missing: {two} has it"]
    assert absent(cli, "explain", two, two) == []
    assert absent(cli, "explain", two, one, "--rank", 0) == []


def test_a_rank_that_neither_side_of_a_comparison_can_tell_is_named(cli: Cli, tmp_path: Path) -> None:
    run = text_run(tmp_path, {0: [1, 2], 1: [2]})
    missing = ["step 1 of rank 1 is missing: found for rank 0 of the same run"]
    assert absent(cli, "compare", run, run, "--step", 1) == missing
    assert absent(cli, "compare", run, run, "--step", 2) == []


def test_a_rank_without_a_timeline_is_named_where_others_have_one(cli: Cli, tmp_path: Path) -> None:
    run = text_run(tmp_path, {0: [1], 1: [1]})
    (run / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").unlink()
    for question in ("breakdown", "host", "critical-path"):
        assert absent(cli, question, run) == ["rank 1 is missing: found for rank 0 of the same run"]
    assert absent(cli, "hotspots", run) == []


def test_ranks_of_a_run_are_compared_by_what_they_have(cli: Cli, tmp_path: Path) -> None:
    run = text_run(tmp_path, {rank: [1, 2] for rank in range(3)})
    assert absent(cli, "check", run) == absent(cli, "quality", run) == []
    output = run / "rank2_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    for name in ("kernel_details.csv", "trace_view.json"):
        (output / name).unlink()
    missing = ["data (table of tasks, timeline) of rank 2 is missing: 2 of 3 ranks of the same run have it"]
    assert absent(cli, "check", run) == absent(cli, "quality", run) == absent(cli, "advise", run) == missing
    told = {row["code"]: row["ranks"] for row in cli("quality", run, "--format", "json").json["rows"]}
    assert (told["unequal-ranks"], told["no-timeline"]) == ("2", "2")


def _only_header(path: Path) -> None:
    path.write_text(path.read_text().splitlines()[0] + "\n")


def _only_host(path: Path) -> None:
    path.write_text(
        json.dumps([event for event in json.loads(path.read_text()) if "Task Type" not in event.get("args", {})])
    )


@pytest.mark.parametrize(
    ("name", "emptied", "part"),
    [
        ("kernel_details.csv", _only_header, "table of tasks"),
        ("step_trace_time.csv", _only_header, "table of steps"),
        ("trace_view.json", _only_host, "timeline"),
        ("communication.json", lambda path: path.write_text("{}"), "table of communication"),
    ],
)
def test_a_file_of_a_rank_without_a_row_or_event_counts_as_absent(
    cli: Cli, tmp_path: Path, name: str, emptied: Callable[[Path], None], part: str
) -> None:
    whole, run = (text_run(tmp_path / of, {0: [1, 2], 1: [1, 2]}) for of in ("whole", "run"))
    for rank in range(2):
        times = {"Start Timestamp(us)": 1_000_105, "Wait Time Ratio": 0.5, "Synchronization Time Ratio": 0.5}
        times |= {f"{part} Time(ms)": 0.002 for part in ("Elapse", "Transit", "Wait", "Synchronization", "Idle")}
        bandwidths = {
            "RDMA": {
                "Transit Size(MB)": 0,
                "Transit Time(ms)": 0,
                "Bandwidth(GB/s)": 0,
                "Large Packet Ratio": 0,
                "Size Distribution": {},
            }
        }
        operator = {"Communication Time Info": times, "Communication Bandwidth Info": bandwidths}
        told = {"step1": {"p2p": {}, "collective": {"hcom_allReduce__586_1_1@1": operator}}}
        output = run / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        (output / "communication.json").write_text(json.dumps(told))
    emptied(run / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / name)
    missing = [f"data ({part}) of rank 1 is missing: 1 of 2 ranks of the same run have it"]
    for question in ("check", "quality", "advise"):
        assert absent(cli, question, run) == missing
    assert absent(cli, "advise", run, "--rank", 0) == []
    assert absent(cli, "explain", whole, run) == missing
    told = {row["code"]: row["ranks"] for row in cli("quality", run, "--format", "json").json["rows"]}
    assert told["unequal-ranks"] == "1"


def test_computing_outside_the_steps_is_judged(cli: Cli, tmp_path: Path) -> None:
    run = text_run(tmp_path, {0: [1, 2, 3]})
    timeline = run / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    assert "outside-steps" not in cli("quality", run).out
    events = json.loads(timeline.read_text())
    behind = {**events[-1], "ts": "1000900.000", "dur": 100}
    timeline.write_text(json.dumps([*events, behind]))
    ended = cli("quality", run)
    assert "89.3% of computing (100.0 us) is in no step; a step takes 50.00 us on the host" in ended.out
    assert "outside-steps" in ended.err + ended.out


def test_steps_of_a_timeline_stay_where_a_table_of_tasks_stands_beside_it(cli: Cli, tmp_path: Path) -> None:
    run = text_run(tmp_path, {0: [1, 2, 3]})
    output = run / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    (output / "step_trace_time.csv").unlink()
    rows = [line.split(",", 1)[1] for line in (output / "kernel_details.csv").read_text().splitlines()]
    (output / "kernel_details.csv").write_text("".join(f"{row}\n" for row in rows))
    steps = cli("steps", run, "--format", "json").json["rows"]
    assert [(step["step"], step["duration_us"]) for step in steps] == [(1, 12), (2, 12), (3, 12)]
    (row,) = cli("hotspots", run, "--step", 2, "--format", "json").json["rows"]
    assert (row["op_type"], row["count"]) == ("Conv2D", 2)


def test_steps_are_counted_by_the_tasks_where_no_table_has_them(cli: Cli, tmp_path: Path) -> None:
    one, two = text_run(tmp_path / "one", {0: [1]}), text_run(tmp_path / "two", {0: [1, 2]})
    for run in (one, two):
        for name in ("step_trace_time.csv", "trace_view.json"):
            (run / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / name).unlink()
    ended = cli("compare", one, two, "--format", "json")
    assert ended.code == 1
    assert "number of steps (1 before, 2 after)" in ended.out
    for run in (one, two):
        path = run / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
        rows = [line.split(",", 1)[1] for line in path.read_text().splitlines()]
        path.write_text("".join(f"{row}\n" for row in rows))
    headline = cli("compare", one, two).out.splitlines()[0]
    assert headline.startswith("Compared calls on rank 0: 4.000 us in 2 calls → 8.000 us in 4 calls (totals: ")
    assert "%" not in headline
