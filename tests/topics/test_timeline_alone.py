"""A capture that holds a timeline and nothing else: every question answers what a timeline can tell, and says that it is one."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from commandline import REAL, Cli
from made_events import write
from made_traces import Trace, device, planted

from aoe_reports.facts.timeline_tasks import TimelineTasks
from aoe_reports.formats.trace import events

RANKS = sorted(REAL.glob("torch_npu_2025-01/text/*/rank*_ascend_pt"))


def totals(cli: Cli, *paths: object) -> dict[str, tuple[int, int]]:
    """(calls, ns) of each operator."""
    rows = cli("hotspots", *paths, "--by", "op_name", "--top", 100_000, "--format", "json").json["rows"]
    return {row["op_name"]: (row["count"], round(row["total_us"] * 1000)) for row in rows}


def steps(cli: Cli, path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = cli("steps", path, "--format", "json").json["rows"]
    return rows


def test_operators_are_ranked_and_the_timeline_is_named(cli: Cli, tmp_path: Path) -> None:
    path = planted().write(tmp_path)
    assert totals(cli, path) == {
        "first": (1, 100_000), "second": (1, 99_500), "late": (1, 100_000), "behind": (1, 60_000), "last": (1, 50_000),
    }  # fmt: skip
    ended = cli("hotspots", path, "--by", "op_name", "--format", "json")
    assert {row["op_type"] for row in ended.json["rows"]} == {None}
    assert {row["task_type"] for row in ended.json["rows"]} == {"AI_CORE"}
    (found,) = ended.json["findings"]
    assert (found["rule"], Path(found["path"]).name) == ("stands-in", "trace_view.json")
    assert found["message"].startswith("no table of tasks with their operators here; trace_view is used instead")


@pytest.mark.parametrize(("other", "calls"), [({}, 1), ({"Physic Stream Id": 4}, 2), ({"Task Id": 8}, 2)])
def test_tasks_that_their_ids_alone_tell_apart_both_count(
    cli: Cli, tmp_path: Path, other: dict[str, int], calls: int
) -> None:
    """Ids are looked at where all else is the same: a row that stands twice counts once, and that is said."""
    trace = planted()
    for more in ({}, other):
        args = {"Task Type": "AI_CORE", "Physic Stream Id": 3, "Task Id": 7, **more}
        trace.event("same", (device(0), 3), 5_000, 12.5, **args)
    path = trace.write(tmp_path)
    assert totals(cli, path)["same"] == (calls, calls * 12_500)
    said = [one["rule"] for one in cli("hotspots", path, "--format", "json").json["findings"]]
    assert ("duplicate-row" in said) == (calls == 1)


def test_a_task_is_of_the_step_that_launched_it(cli: Cli, tmp_path: Path) -> None:
    path = planted().write(tmp_path)
    assert set(totals(cli, path, "--step", 7)) == {"first", "second", "late", "last"}
    assert set(totals(cli, path, "--step", 8)) == {"behind"}


def test_steps_are_those_of_breakdown(cli: Cli, tmp_path: Path) -> None:
    path = planted().write(tmp_path)
    parts = ("step", "computing_us", "communication_us", "overlapped_us", "communication_not_overlapped_us", "free_us")
    told = [tuple(row[name] for name in parts) for row in steps(cli, path)]
    rows = cli("breakdown", path, "--format", "json").json["rows"]
    assert told == [tuple(row[name] for name in parts) for row in rows if row["step"] is not None]
    assert [row[0] for row in told] == [7, 8]
    (found,) = [one for one in cli("steps", path, "--format", "json").json["findings"] if one["rule"] == "stands-in"]
    assert "no table of steps here; trace_view is used instead" in found["message"]


def test_devices_are_told_apart_by_their_processes(cli: Cli, tmp_path: Path) -> None:
    trace = planted()
    trace.task("other", 2000, 10, on=1)
    path = trace.write(tmp_path, devices=2)
    assert totals(cli, path, "--device", 1) == {"other": (1, 10_000)}
    assert "other" not in totals(cli, path, "--device", 0)


ASKED = [("op_type",), ("op_name",), ("shape",), ("op_name", "--top", 2), ("op_type", "--all-tasks"), ("op_name", "--device", 1)]  # fmt: skip


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_tasks_that_are_alike_are_ranked_as_if_each_were_held(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[object, ...]
) -> None:
    """Two devices, times that repeat, 0, and times beyond 32 bits of nanoseconds: what is held is seen in no answer."""
    random, trace, now = Random(7), planted(), 5_000.0
    for number in range(400):
        length = random.choice([0, 1.5, 1.5, 2, 2.001, 7, 5e6 if number % 50 == 0 else 12])
        kind = random.choice(["AI_CORE", "AI_CORE", "AI_VECTOR_CORE", "EVENT_WAIT", "HCCL"])
        name = random.choice(["a", "b", "c", f"d{number}"])
        trace.event(name, (device(random.randrange(2)), 3), now, length, **{"Task Type": kind})
        now += length + 1
    path = trace.write(tmp_path, devices=2)
    words = ("hotspots", path, "--by", *asked, "--format", "json")
    alike = cli(*words)
    monkeypatch.setattr(TimelineTasks, "differ", lambda _: False)
    singly = cli(*words)
    assert (alike.code, alike.out, alike.err) == (singly.code, singly.out, singly.err)
    assert alike.code == 0


def test_it_is_compared_by_names_for_want_of_types(cli: Cli, tmp_path: Path) -> None:
    before, after = (planted().write(tmp_path / side) for side in ("before", "after"))
    ended = cli("compare", before, after, "--format", "json")
    by_name = cli("compare", before, after, "--by", "op_name", "--format", "json")
    assert ended.json["rows"] == by_name.json["rows"] != []
    (note,) = [one for one in ended.json["findings"] if one["rule"] == "compared-by-name"]
    assert note["message"] == "no tasks of these runs have types: they are compared by op_name"
    assert "compared-by-name" not in {one["rule"] for one in by_name.json["findings"]}


def test_beside_a_table_it_is_compared_by_name_whatever_the_core_and_not_by_type(cli: Cli, tmp_path: Path) -> None:
    table = tmp_path / "table" / "op_summary_0_1_20250101000000.csv"
    table.parent.mkdir()
    head = "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
    table.write_text(head + "first,Add,AI_VECTOR_CORE,1.000,98.000\n")
    sides = (table.parent, planted().write(tmp_path / "line"))
    rows = cli("compare", *sides, "--by", "op_name", "--force", "--format", "json").json["rows"]
    first = next(row for row in rows if row["op_name"] == "first")
    assert (first["state"], first["task_type"], first["difference_us"]) == ("both", None, 2.0)
    ended = cli("compare", *sides, "--force", "--format", "json")
    assert ended.code == 1
    said = [one["message"] for one in ended.json["findings"] if one["severity"] == "error"]
    assert said == [
        "its tasks have no op_type: they cannot be compared by op_type; --by op_name compares what has names"
    ]


def test_it_is_compared_stored_and_planned_from(cli: Cli, tmp_path: Path) -> None:
    before, after = planted().write(tmp_path / "before"), tmp_path / "after"
    slower = planted()
    slower.task("first", 1500, 100, launched=1400)
    slower.write(after)
    (row,) = [
        row
        for row in cli("compare", before, after, "--by", "op_name", "--format", "json").json["rows"]
        if row["op_name"] == "first"
    ]
    assert (row["baseline_count"], row["candidate_count"], row["difference_us"]) == (1, 2, 100.0)
    records = [json.loads(line) for line in cli("ingest", "--dry-run", before).out.splitlines()]
    assert {record["workload"] for record in records} >= {"unknown/step", "unknown/op/first", "unknown/op/last"}
    assert cli("ingest", before, "--store", tmp_path / "store", "--workload", "net").code == 0
    stored = cli("store", "history", "records", "--store", tmp_path / "store", "--format", "json").json["rows"]
    assert {row["scope"] for row in stored} >= {"step", "op"}
    told = cli("advise", before, "--format", "json").json
    assert {one["source"] for one in told["headlines"]} == {"timeline"}
    plan = cli("plan", before, "-o", tmp_path / "plan.json", "--format", "json")
    assert "stands-in" in {one["rule"] for one in plan.json["findings"]}


def test_advice_names_the_longest_free_time_and_no_longer_one_with_communication(cli: Cli, tmp_path: Path) -> None:
    trace = planted()
    trace.task("then", 20_000, 100, launched=19_900)
    trace.task("soon", 24_000, 100, launched=23_900)
    trace.talk("hcom_allReduce__1_0_1", 2_000, 18_000)
    told = cli("advise", trace.write(tmp_path), "--format", "json").json["rows"]
    (free,) = [one["evidence"] for one in told if one["rule"] == "free-time"]
    assert (free["longest_gap_us"], free["task_behind_longest_gap"]) == (3900.0, "soon")


def test_names_of_kernels_alone_tell_of_no_communication(cli: Cli, tmp_path: Path) -> None:
    events = [
        {"name": name, "pid": 0, "tid": 3, "ts": us, "dur": 10, "ph": "X", "args": {"Task Type": "AI_CORE"}}
        for name, us in (("a", 0), ("b", 90))
    ]
    named = {"name": "process_name", "pid": 0, "tid": 0, "ph": "M", "args": {"name": "Ascend Hardware"}}
    (tmp_path / "task_time_0_1_1.json").write_text(json.dumps([named, *events]))
    told = cli("advise", tmp_path, "--format", "json").json
    (said,) = told["headlines"]
    assert (said["communication_not_overlapped_share"], said["free_share"]) == (None, None)
    assert said["headline"] == "computing takes 20.0% of the step; how much of the rest is communication is not known"
    assert {one["rule"] for one in told["rows"]}.isdisjoint({"free-time", "wait-in-front"})


def test_a_compressed_one_is_read_too(cli: Cli, tmp_path: Path) -> None:
    path = planted().write(tmp_path)
    expected = totals(cli, path)
    (plain,) = path.rglob("trace_view.json")
    plain.with_suffix(".json.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert totals(cli, path) == expected


def test_a_damaged_task_is_named_and_the_others_are_ranked(cli: Cli, tmp_path: Path) -> None:
    trace = planted()
    trace.events[-1]["dur"] = -5
    path = trace.write(tmp_path)
    ended = cli("hotspots", path, "--by", "op_name", "--format", "json")
    assert {row["op_name"] for row in ended.json["rows"]} == {"first", "second", "late", "behind", "last"}
    assert "timeline-event" in {one["rule"] for one in ended.json["findings"]}
    assert ended.code == 1


@pytest.mark.parametrize("kind", [["AI_CORE"], {"a": 1}, 5, True])
def test_a_type_that_is_no_text_is_said(cli: Cli, tmp_path: Path, kind: object) -> None:
    trace = planted()
    trace.event("odd", (device(0), 3), 1600, 10, **{"Task Type": kind})
    ended = cli("hotspots", trace.write(tmp_path), "--by", "op_name", "--format", "json")
    assert "odd" not in {row["op_name"] for row in ended.json["rows"]}
    messages = [one["message"] for one in ended.json["findings"] if one["rule"] == "timeline-event"]
    assert messages == ["1 tasks whose type is not text; they are in no sum of computing"]
    assert ended.code == 1


def test_steps_of_a_device_whose_communication_is_not_told_are_said_to_be_left_out(cli: Cli, tmp_path: Path) -> None:
    trace = planted()
    trace.event("other", (77 << 10 | 1, 3), 400, 10, **{"Task Type": "AI_CORE"})
    trace.named(77 << 10 | 1, "Ascend Hardware")
    path = trace.write(tmp_path)
    told = cli("steps", path, "--format", "json").json
    assert [one["message"] for one in told["findings"] if one["severity"] == "warning"] == [
        "1 steps are left out: the device of their communication is unknown"
    ]
    assert {row["step"] for row in told["rows"]} == {7, 8}


def test_without_a_task_of_a_device_nothing_is_ranked(cli: Cli, tmp_path: Path) -> None:
    ended = cli("hotspots", Trace().write(tmp_path), "--format", "json")
    assert ended.json["rows"] == []
    assert "nothing-measured" in {one["rule"] for one in ended.json["findings"]}


@pytest.mark.parametrize("rank", RANKS, ids=[f"{rank.parent.name}-{rank.name}" for rank in RANKS])
def test_a_real_timeline_tells_what_the_tables_do(cli: Cli, tmp_path: Path, rank: Path) -> None:
    """To the nanosecond that each of the two is rounded to."""
    output = tmp_path / rank.name / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    shutil.copy(rank / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", output)
    for path in rank.glob("profiler_info*.json"):
        shutil.copy(path, output.parent)
    tables, timeline = totals(cli, rank), totals(cli, tmp_path)
    assert {name: count for name, (count, _) in timeline.items()} == {
        name: count for name, (count, _) in tables.items()
    }
    assert all(abs(timeline[name][1] - ns) <= count for name, (count, ns) in tables.items())
    (mine,), (theirs,) = steps(cli, tmp_path), steps(cli, rank)
    tasks = sum(count for count, _ in tables.values())
    for part in ("duration_us", "computing_us", "communication_us", "free_us"):
        assert abs(mine[part] - theirs[part]) * 1000 <= tasks
    assert (mine["rank_id"], mine["step"]) == (theirs["rank_id"], theirs["step"])


WITHOUT_STEPS = [
    *sorted(REAL.glob("torch_npu_2025-01/db/level1/*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db")),
    *sorted(REAL.glob("msprof_2023-08/*/device_0/timeline/msprof_0_2_1.json")),
]


@pytest.mark.skipif(not WITHOUT_STEPS, reason="no real data here")
@pytest.mark.parametrize("file", WITHOUT_STEPS, ids=lambda file: file.suffix)
def test_steps_are_those_of_breakdown_whatever_holds_the_events(cli: Cli, tmp_path: Path, file: Path) -> None:
    """A database of events, and a file that is named after the one iteration in it."""
    shutil.copy(file, tmp_path)
    rows = cli("breakdown", tmp_path, "--format", "json").json["rows"]
    (told,) = [row for row in rows if row["step"] is not None]
    (step,) = steps(cli, tmp_path)
    same = ("step", "computing_us", "communication_not_overlapped_us", "overlapped_us", "free_us")
    assert [step[name] for name in same] == [told[name] for name in same]
    by_step = cli("compare", tmp_path, other_side(tmp_path), "--by", "step", "--format", "json").json
    assert {(row["step"], row["difference_us"]) for row in by_step["rows"]} >= {(step["step"], 0.0)}


def other_side(path: Path) -> Path:
    """The same capture once more."""
    return Path(shutil.copytree(path, path.parent / f"{path.name}-again"))


@pytest.mark.parametrize(
    "words",
    [
        ("breakdown",), ("hotspots", "--trim"), ("hotspots", "--by", "op_name", "--step", "7"), ("stragglers",), ("host",),
        ("advise",), ("critical-path",), ("explain",), ("compare",), ("compare", "--trim"), ("communication", "--contention"),
        ("communication", "--bucket-order"), ("ingest", "--dry-run"), ("plan",), ("quality",), ("roofline",), ("serving",), ("stacks",), ("steps",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_the_events_of_a_timeline_are_collected_once(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """Whatever is asked of it: tasks, steps and what the host did come from one pass."""
    paths = [planted().write(tmp_path / side) for side in ("before", "after")[: 1 + (words[0] in TWO_SIDES)]]
    read: list[Path] = []
    monkeypatch.setattr(
        events,
        "collect_events",
        lambda path, *rest, **named: (read.append(path), _collect_events(path, *rest, **named))[1],
    )
    ended = cli(*words, *paths, *NEEDED.get(words[0], ()), *(("-o", tmp_path / "plan") if words == ("plan",) else ()))
    assert ended.code in {0, 1}, ended.err
    assert sorted(read) == sorted(file for path in paths for file in path.rglob("trace_view.json"))


TWO_SIDES = {"explain", "compare"}
NEEDED = {"ingest": ("--workload", "w", "--hardware", "h", "--engine-version", "8.0")}
_collect_events = events.collect_events


def test_tasks_that_take_no_time_are_no_share_of_a_plan(cli: Cli, tmp_path: Path) -> None:
    trace = Trace()
    trace.event("Add", (device(0), 3), 10, 0, **{"Task Type": "AI_CORE"})
    ended = cli("plan", trace.write(tmp_path), "-o", tmp_path / "plan")
    assert (ended.code, "plan-empty" in ended.err) == (0, True), ended.err


@pytest.mark.parametrize("question", ["breakdown", "hotspots", "advise", "host", "check"])
def test_an_event_whose_args_are_no_object_is_a_finding(question: str, tmp_path: Path, cli: Cli) -> None:
    process = {"name": "process_name", "ph": "M", "pid": 7, "tid": 0, "args": {"name": "Ascend Hardware"}}
    task = {"name": "a", "pid": 7, "tid": 1, "ph": "X", "ts": "1.000", "dur": 2, "args": {"Task Type": "AI_CORE"}}
    path = write(tmp_path, [process, task, {**task, "ts": "9.000", "args": ["AI_CORE"]}])
    ended = cli(question, path)
    assert ended.code == 1
    assert (
        f"{path}: error: 'args' is not an object; the event is left out at /2 [timeline-event]" in ended.out + ended.err
    )
