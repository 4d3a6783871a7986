"""The tasks of one stream run one after another, through the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli

HEADER = "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Context ID\n"
Task = tuple[int, int, str, str]
"""(stream, start in us, duration in us, context)."""


def rules_of(cli: Cli, folder: Path, *tasks: Task, kind: str = "AI_CORE") -> dict[str, str]:
    """The rules that `check` and `hotspots` name for some tasks, with their severity."""
    rows = [
        f"0,{number},{stream},Add{number},Add,{kind},{1_736_408_883_704_643 + start}.000\t,{duration},{context}\n"
        for number, (stream, start, duration, context) in enumerate(tasks)
    ]
    (folder / "op_summary_20260605155140.csv").write_text(HEADER + "".join(rows))
    checked = cli("check", folder, "--format", "json").json["findings"]
    ranked = cli("hotspots", folder, "--format", "json").json["findings"]
    assert [one for one in ranked if one["rule"].startswith("st")] == checked
    return {one["rule"]: one["severity"] for one in checked}


IN_ORDER: list[Task] = [(3, 100 * place, "50.0", "N/A") for place in range(20)]


@pytest.mark.parametrize(
    ("duration", "found"),
    [
        ("101.000", {}),  # what float64 of microseconds since 1970 may add
        ("101.001", {"stream-overlap": "warning"}),
        ("150.000", {"stream-overlap": "error"}),  # the next one lies within it
    ],
)
def test_tasks_of_one_stream_do_not_overlap(cli: Cli, tmp_path: Path, duration: str, found: dict[str, str]) -> None:
    tasks = [*IN_ORDER]
    tasks[5] = (3, 500, duration, "N/A")
    assert rules_of(cli, tmp_path, *tasks) == found


def test_tasks_of_two_streams_overlap(cli: Cli, tmp_path: Path) -> None:
    assert rules_of(cli, tmp_path, *IN_ORDER, (4, 0, "5000.0", "N/A")) == {}


def test_parts_of_one_task_run_beside_each_other(cli: Cli, tmp_path: Path) -> None:
    assert rules_of(cli, tmp_path, *IN_ORDER, (3, 2000, "90.0", "0"), (3, 2001, "80.0", "1")) == {}


def test_a_communication_lies_over_computing(cli: Cli, tmp_path: Path) -> None:
    assert rules_of(cli, tmp_path, (3, 0, "500.0", "N/A"), (3, 100, "50.0", "N/A"), kind="COMMUNICATION") == {}


def test_a_task_that_starts_before_the_one_above_is_named(cli: Cli, tmp_path: Path) -> None:
    tasks = [*IN_ORDER]
    tasks[10:] = [(stream, start - 3_600_000_000, *rest) for stream, start, *rest in tasks[10:]]  # type: ignore[misc]
    assert rules_of(cli, tmp_path, *tasks) == {"stream-order": "warning"}


def test_an_order_of_somebody_s_own_is_none_of_time(cli: Cli, tmp_path: Path) -> None:
    assert rules_of(cli, tmp_path, *reversed(IN_ORDER)) == {}


def test_starts_without_their_last_digits_are_one_finding(cli: Cli, tmp_path: Path) -> None:
    tasks = [(3, start - start % 500, duration, context) for _, start, duration, context in IN_ORDER]
    assert rules_of(cli, tmp_path, *tasks) == {"start-rounded": "error"}


@pytest.mark.parametrize("step", [1, -1])
def test_tasks_that_take_no_time_start_with_others(cli: Cli, tmp_path: Path, step: int) -> None:
    pairs = [[(3, 100 * place, "50.0", "N/A"), (3, 100 * place, "0.0", "N/A")][::step] for place in range(5)]
    assert rules_of(cli, tmp_path, *(task for pair in pairs for task in pair)) == {}


@pytest.mark.parametrize(
    ("moved", "rule"), [(-3_600_000_000, "stream-order"), (0, None)], ids=["an hour back", "as it was"]
)
def test_a_step_is_not_made_of_starts_that_cannot_be(cli: Cli, tmp_path: Path, moved: int, rule: str | None) -> None:
    tasks = [*IN_ORDER]
    tasks[10:] = [(stream, start + moved, *rest) for stream, start, *rest in tasks[10:]]  # type: ignore[misc]
    assert rules_of(cli, tmp_path, *tasks) == ({rule: "warning"} if rule else {})
    said = cli("advise", tmp_path).out
    assert said.startswith("Times of tasks contradict each other (stream-order): figures here may be wrong.") == bool(
        rule
    )
    assert ("A step takes 1.950 ms" in said) == (rule is None)
    assert ("The duration of a step is not known" in said) == bool(rule)
    assert "3,599" not in said
    explained = cli("explain", tmp_path, tmp_path)
    assert ("1.950 → 1.950 ms" in explained.out) == (rule is None)


def test_answers_say_first_that_a_task_overruns_others(cli: Cli, tmp_path: Path) -> None:
    tasks = [*IN_ORDER]
    tasks[5] = (3, 500, "2000000.0", "N/A")
    rules_of(cli, tmp_path, *tasks)
    for command in ("hotspots", "advise"):
        first = cli(command, tmp_path).out.splitlines()[0]
        assert first.startswith("Times of tasks contradict each other (stream-overlap): figures here may be wrong.")
    assert "contradict" not in cli("check", tmp_path).out


def _timeline(folder: Path, *tasks: Task) -> None:
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 7, "tid": 0, "args": {"name": "Ascend Hardware"}}
    ]
    for number, (stream, start, duration, _) in enumerate(tasks):
        args = {"Task Type": "AI_CORE", "Physic Stream Id": stream, "Task Id": number}
        at = f"{1_736_408_883_704_643 + start}.000"
        event = {"name": f"Add{number}", "ph": "X", "pid": 7, "tid": stream, "ts": at, "dur": float(duration)}
        events.append({**event, "args": args})
    output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events))


def test_the_tasks_of_a_timeline_do_not_overlap_either(cli: Cli, tmp_path: Path) -> None:
    tasks = [*IN_ORDER]
    _timeline(tmp_path / "right", *reversed(tasks))  # events stand in any order
    tasks[5] = (3, 500, "150.0", "N/A")
    _timeline(tmp_path / "wrong", *tasks)
    assert cli("check", tmp_path / "right").code == 0
    ended = cli("check", tmp_path / "wrong", "--format", "json")
    assert (ended.code, ended.rules()) == (1, {"stream-overlap"})
    (found,) = ended.json["findings"]
    assert found["message"].startswith("Add5 at 1736408883705143.000 us: this task takes 150.000 us")
    assert cli("advise", tmp_path / "wrong").out.startswith("Times of tasks contradict each other (stream-overlap)")


def test_exponents_that_lost_digits_are_found_without_streams(cli: Cli, tmp_path: Path) -> None:
    text = (FIXTURES / "msprof" / "invalid" / "start-rounded" / "kernel_details.csv").read_text()
    rows = [line.split(",") for line in text.splitlines()]
    (tmp_path / "kernel_details.csv").write_text("".join(",".join(row[:3] + row[4:]) + "\n" for row in rows))
    assert cli("check", tmp_path, "--format", "json").rules() >= {"start-rounded"}
