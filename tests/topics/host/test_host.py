"""Planted captures and what holds up their devices, identities of idle time and launches, and what is said on the command line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commandline import Cli
from hypothesis_profiles import seeds
from planted_host import DEVICE, HOST, KINDS, planted_events, write_planted

from aoe_reports import breakdown, host
from aoe_reports.facts.host_calls import CallGroup, call_group
from aoe_reports.facts.host_waits import HOST_CAUSES, WAIT_CAUSES
from aoe_reports.topics.host.host import HostTime

SEEDS = 8
"""Of each kind: 104 captures in all, of which each run tries some."""


def _first_cause(folder: Path) -> frozenset[str]:
    causes = host([folder]).table("causes")
    if not causes:
        return frozenset()
    first = causes[0]
    return frozenset({first.advice.split(" replaces ")[0] if first.cause == "unfused operators" else first.cause})


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_cause_of_planted_captures_is_right_and_healthy_ones_have_none(kind: str, tmp_path: Path) -> None:
    wrong = Counter[str]()
    for seed in seeds(SEEDS):
        folder = tmp_path / str(seed)
        wanted = write_planted(folder, kind, seed)
        if (told := _first_cause(folder)) != wanted:
            wrong[str(sorted(told))] += 1
    assert not wrong


def _parts(one: HostTime, causes: tuple[str, ...] = WAIT_CAUSES) -> int:
    return sum(getattr(one, f"{cause.replace(' ', '_')}_ns") for cause in causes)


@pytest.mark.parametrize(("kind", "seed"), [(kind, 10 + number % 4) for number, kind in enumerate(KINDS)])
def test_causes_add_up_to_the_idle_time_of_breakdown_and_steps_to_the_whole(
    kind: str, seed: int, tmp_path: Path
) -> None:
    write_planted(tmp_path, kind, seed)
    whole, *steps = host([tmp_path]).rows
    (activity,) = (one for one in breakdown([tmp_path]).rows if one.step is None)
    assert whole.idle_ns == activity.free_ns
    assert whole.duration_ns == activity.end_to_end_ns
    for one in (whole, *steps):
        assert _parts(one) == one.idle_ns
        assert _parts(one, HOST_CAUSES) == one.waited_ns <= one.idle_ns <= one.duration_ns
    assert sum(one.idle_ns for one in steps) == whole.idle_ns
    assert sum(one.duration_ns for one in steps) == whole.duration_ns
    assert sum(one.tasks for one in steps) == whole.tasks


def test_launches_are_those_of_the_file(tmp_path: Path) -> None:
    write_planted(tmp_path, "launch bound", 3)
    events = planted_events("launch bound", 3)

    def ns(event: dict[str, str]) -> int:
        whole, _, rest = event["ts"].partition(".")
        return int(whole) * 1000 + int(rest)

    launched = {
        one["args"]["connection_id"]: ns(one) for one in events if one["pid"] == HOST and one["name"] == "Node@launch"
    }
    begun = {one["args"]["connection_id"]: ns(one) for one in events if one["pid"] == DEVICE and one["ph"] == "X"}
    waits = sorted(begun[number] - launched[number] for number in begun)
    whole = host([tmp_path]).rows[0]
    assert whole.launches == len(waits)
    assert whole.launches_unknown == 0
    assert whole.latency_total_ns == sum(waits)
    assert whole.latency_p50_ns == waits[(len(waits) + 1) // 2 - 1]
    assert whole.latency_longest_ns == waits[-1]
    assert whole.queue_span_ns == max(begun.values()) - min(launched.values())
    assert whole.queue_length == pytest.approx(sum(waits) / whole.queue_span_ns, abs=1e-6)
    (device,) = host([tmp_path]).table("devices")
    assert device.task_queue_entries == len(waits)
    assert device.task_queue_p50_ns == device.task_queue_longest_ns == 1000


def test_a_host_whose_clock_is_behind_is_moved_and_that_is_said(tmp_path: Path) -> None:
    write_planted(tmp_path, "healthy", 5)
    answer = host([tmp_path])
    (device,) = answer.table("devices")
    assert device.host_shift_ns < 0
    assert answer.rows[0].latency_p50_ns > 0


def test_compilation_names_operators_and_steps(tmp_path: Path) -> None:
    write_planted(tmp_path, "compiling", 2)
    answer = host([tmp_path])
    steps = sum(one.step is not None for one in answer.rows)
    compiling = [one for one in answer.table("calls") if one.kind == "compilation"]
    assert sum(one.calls for one in compiling) == 4 * steps
    assert all(one.waited_ns > 0 and one.waited_ns <= one.total_ns for one in compiling)
    assert answer.table("causes")[0].evidence.endswith("steps")


def test_the_longest_waits_come_first_and_name_the_tasks_around_them(tmp_path: Path) -> None:
    write_planted(tmp_path, "collecting garbage", 4)
    waits = host([tmp_path], top=3).table("waits")
    assert [one.position for one in waits] == list(range(1, len(waits) + 1))
    assert len(waits) <= 3
    assert [one.waited_ns for one in waits] == sorted((one.waited_ns for one in waits), reverse=True)
    assert waits[0].cause == "garbage collection"
    assert waits[0].before is not None
    assert waits[0].after == "aclnnMatMulV2_MatMulV2AiCore_MatMulV2"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("launch bound", "mostly for launching ("),
        ("healthy", "of its time for the host: no cause takes 5% of it."),
        ("rotary embedding", " times Mul Slice Slice Neg Concat Mul Add, together "),
    ],
)
def test_the_first_line_is_the_answer(cli: Cli, tmp_path: Path, kind: str, words: str) -> None:
    write_planted(tmp_path, kind, 1)
    ran = cli("host", tmp_path)
    assert ran.code == 0
    assert ran.out.splitlines()[0].startswith("The device waited ")
    assert words in ran.out.splitlines()[0]


def test_what_is_not_recorded_is_null_and_said(cli: Cli, tmp_path: Path) -> None:
    write_planted(tmp_path, "healthy", 1)
    (path,) = tmp_path.rglob("trace_view.json")
    events = [one for one in json.loads(path.read_text()) if one["ph"] == "M" or one["pid"] == DEVICE]
    path.write_text(json.dumps(events))
    document = cli("host", tmp_path, "--format", "json").json
    (row,) = document["rows"]
    assert (row["waited_us"], row["waited_share"], row["launching_us"], row["latency_p50_us"]) == (None,) * 4
    assert row["launches_unknown"] == row["tasks"] > 0
    assert row["unknown_us"] == row["idle_us"]
    assert document["causes"] == document["calls"] == document["waits"] == []
    (device,) = document["devices"]
    assert device["not_recorded"][:2] == ["launches", "task queue"]
    assert (
        "It is unknown whether the device waits for the host: no launches are recorded"
        in cli("host", tmp_path).out.splitlines()[0]
    )


def test_only_what_was_asked_for_is_told(cli: Cli, tmp_path: Path) -> None:
    write_planted(tmp_path, "launch bound", 1)
    assert {row["step"] for row in cli("host", tmp_path, "--step", 11, "--format", "json").json["rows"]} == {11}
    assert cli("host", tmp_path, "--rank", 7, "--format", "json").code == 1


def _as_table(folder: Path) -> None:
    """A table of the tasks in the timeline of a capture, which has no steps; the timeline is gone then."""
    (path,) = folder.rglob("trace_view.json")
    lines = ["Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Stream ID"]
    for one in json.loads(path.read_text()):
        if one["ph"] == "X" and one["pid"] == DEVICE and "Task Id" in one["args"]:
            kind, stream = one["args"]["Task Type"], one["args"]["Physic Stream Id"]
            lines.append(f"0,{one['name']},N/A,{kind},{one['ts']}\t,{one['dur']},0,{stream}")
    path.with_name("kernel_details.csv").write_text("\n".join(lines) + "\n")
    path.unlink()


@pytest.mark.parametrize("kind", ["rotary embedding", "RMS norm", "SwiGLU"])
def test_tables_tell_the_sequences_that_a_timeline_does(cli: Cli, tmp_path: Path, kind: str) -> None:
    write_planted(tmp_path, kind, 3)
    timeline = host([tmp_path])
    _as_table(tmp_path)
    tables = host([tmp_path])
    wanted = [(one.fused, one.sequence, one.count, one.total_ns, one.saving_ns) for one in timeline.table("sequences")]
    found = [(one.fused, one.sequence, one.count, one.total_ns, one.saving_ns) for one in tables.table("sequences")]
    assert wanted
    assert [one for one in found if one[0]] == [one for one in wanted if one[0]]
    assert {one.told_by for one in timeline.table("sequences")} == {"timeline"}
    assert {one.told_by for one in tables.table("sequences")} == {"kernel_details"}
    assert (len(tables.rows), len(tables.table("calls")), len(tables.table("devices"))) == (0, 0, 0)
    ran = cli("host", tmp_path)
    assert ran.code == 0
    assert ran.out.startswith("It is unknown whether the device waits for the host: there is no timeline. ")
    assert "Sequences come from kernel_details" in ran.out
    assert "what launched them" in ran.out
    assert cli("host", tmp_path, "--rank", 7, "--format", "json").code == 1


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("AscendCL@aclrtMemcpyAsync", "copy"),
        ("acl_memcpy_host_to_device", "copy"),
        ("Dequeue@acl_memcpy_host_to_device", None),
        ("MemCopySync", "copy"),
        ("aten::item", "synchronisation"),
        ("AscendCL@aclrtSynchronizeStreamWithTimeout", "synchronisation"),
        ("AscendCL@aclopCompileAndExecute", "compilation"),
        ("AscendCL@opCompile", "compilation"),
        ("aten::batch_norm_gather_stats_with_counts", "SyncBN"),
        ("npu::batch_norm_reduce", "SyncBN"),
        ("aten::batch_norm", None),
        ("Optimizer.step#SGD.step", "optimizer"),
        ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "data loading"),
        ("Enqueue", None),
        ("aten::add", None),
    ],
)
def test_calls_are_listed_by_what_they_do(name: str, group: CallGroup | None) -> None:
    assert call_group(name) == group


def test_the_first_line_of_a_step_is_of_that_step(cli: Cli, tmp_path: Path) -> None:
    write_planted(tmp_path, "collecting garbage", 1)
    rows = cli("host", tmp_path, "--format", "json").json["rows"]
    for row in rows[1:]:
        line = cli("host", tmp_path, "--step", row["step"]).out.splitlines()[0]
        assert f"waited {row['waited_share']:.1%} of its time" in line
        assert f"({row['garbage_collection_us'] / row['duration_us']:.1%})" in line
