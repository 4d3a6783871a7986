"""Planted captures and their judgements, what --trim leaves out, and what is said on the command line."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commandline import FIXTURES, Cli
from hypothesis_profiles import seeds
from planted_quality import INFO, KINDS, USUAL_US, Rank, write_planted

from aoe_reports import breakdown, compare, explain, hotspots, quality, steps
from aoe_reports.engine.question import Notes
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.quality.trimming import note_unusual, without_steps

SEEDS = 9
"""Of each kind: 252 captures in all, of which each run tries some."""
WARM = [4 * USUAL_US, *[USUAL_US * (1 + 0.001 * place) for place in range(7)]]
"""Steps 10 to 17, of which the first is warm-up."""


@pytest.mark.parametrize("kind", KINDS)
def test_planted_captures_are_told_with_the_right_words(kind: str, tmp_path: Path) -> None:
    wrong = []
    for seed in seeds(SEEDS):
        folder = tmp_path / str(seed)
        planted = write_planted(folder, kind, seed)
        answer = quality([folder])
        told = {row.code for row in answer.rows if row.effect != "note"}
        notes = {row.code for row in answer.rows if row.effect == "note"}
        (run,) = answer.table("runs")
        if (told, notes, run.verdict) != (planted.codes, planted.notes, planted.verdict):
            wrong.append((seed, told, notes, run.verdict))
    assert not wrong


@pytest.mark.parametrize(
    ("kind", "verdict", "code", "strict"),
    [
        ("healthy", "yes.", 0, 0),
        ("tear-down", "yes, but step", 0, 1),
        ("drift", "no, it is no baseline, because the step", 1, 1),
    ],
)
def test_the_first_line_and_the_exit_code_are_the_verdict(
    cli: Cli, tmp_path: Path, kind: str, verdict: str, code: int, strict: int
) -> None:
    write_planted(tmp_path, kind, 1)
    ran = cli("quality", tmp_path)
    assert ran.code == code
    assert ran.out.splitlines()[0].startswith(f"Worth reading: {verdict}")
    assert cli("quality", tmp_path, "--strict").code == strict


def test_several_runs_are_counted_and_listed(cli: Cli, tmp_path: Path) -> None:
    for kind in ("healthy", "drift", "one step"):
        write_planted(tmp_path / kind, kind, 2)
    printed = cli("quality", tmp_path).out
    assert "Worth reading: 1 of 3 runs yes, 1 yes, but with care, 1 no." in printed
    runs = cli("quality", tmp_path, "--format", "json").json["runs"]
    assert [(Path(run["run"]).parent.name, run["verdict"]) for run in runs] == [
        ("drift", "no"),
        ("healthy", "yes"),
        ("one step", "yes, but"),
    ]
    assert runs[0]["no_baseline"] == ["drift"]


def test_evidence_has_numbers_with_units(tmp_path: Path) -> None:
    Rank(0, WARM).write(tmp_path)
    (row,) = quality([tmp_path]).rows
    assert row.evidence == "step 10 is warm-up: 400.0 ms against 100.3 ms of a usual step (4.0 times as long)"
    assert "--trim" in row.advice
    assert (row.effect, row.ranks) == ("caution", "0")
    (device,) = quality([tmp_path]).table("devices")
    assert (device.steps, device.warm_up, device.usual_steps, device.usual_ns) == (8, [10], 7, 100_300_000)


def database_with_clocks(folder: Path) -> Path:
    """Ten tasks, one of them of another process; the clock drops in the middle."""
    output = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    second = 10**9
    path = output / "ascend_pytorch_profiler_0.db"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, "
            "globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER)"
        )
        database.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
        database.execute("INSERT INTO STRING_IDS VALUES (1, 'AI_CORE')")
        for number in range(10):
            process = 8 if number == 9 else 7
            database.execute(
                "INSERT INTO TASK VALUES (?,?,0,?,?,?,1,0,3,?,0)",
                (number * second, number * second + second // 2, number, number, process, number),
            )
        database.execute("CREATE TABLE AICORE_FREQ (deviceId INTEGER, timestampNs NUMERIC, freq INTEGER)")
        database.executemany("INSERT INTO AICORE_FREQ VALUES (0,?,?)", [(0, 1800), (5 * second, 900)])
    return path


def test_the_clock_of_a_database_is_told(tmp_path: Path) -> None:
    database_with_clocks(tmp_path)
    answer = quality([tmp_path])
    told = {row.code: row.evidence for row in answer.rows}
    assert told["frequency-drop"] == (
        "the cores ran at 900 to 1,800 MHz: computing takes up to 33.3% longer than at the highest"
    )
    assert told["other-work"] == "tasks of other processes ran on the device for 500.0 ms (5.3% of its time)"


def test_what_a_database_cannot_tell_of_clocks_and_processes_is_said(cli: Cli, tmp_path: Path) -> None:
    path = database_with_clocks(tmp_path)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE AICORE_FREQ SET freq = 'abc' WHERE rowid = 2")
        database.execute("UPDATE TASK SET globalPid = 'x' WHERE rowid = 10")
    ended = cli("quality", tmp_path, "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["damage"])
    said = [one for one in ended.json["findings"] if one["rule"] == "db-value"]
    assert {one["path"] for one in said} == {str(path)}
    assert [one["message"].split(":")[0] for one in said] == ["AICORE_FREQ.freq", "TASK.globalPid"]
    assert {row["code"] for row in ended.json["rows"]}.isdisjoint({"frequency-drop", "other-work"})


def test_how_long_another_process_ran_is_told_once(tmp_path: Path) -> None:
    """Both processes stand for the device: what the other one ran counts, not what the job did."""
    Rank(0, [USUAL_US] * 8, intruder=0.2).write(tmp_path)
    (row,) = quality([tmp_path]).rows
    assert row.evidence == "tasks of other processes ran on the device for 160.0 ms (20.0% of its time)"
    (device,) = quality([tmp_path]).table("devices")
    assert device.others_ns == 160_000_000


def test_a_rated_frequency_that_is_none_is_not_told(tmp_path: Path) -> None:
    folder = tmp_path / "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP"
    output = folder / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (folder / "device_0").mkdir()
    (folder / "device_0" / "info.json.0").write_text(
        json.dumps({"DeviceInfo": [{"aic_frequency": "1e400"}], "rank_id": 0})
    )
    Rank(0, WARM[1:]).write(tmp_path / "made")
    next((tmp_path / "made").rglob("trace_view.json")).rename(output / "msprof_20260605155140.json")
    assert not quality([folder]).rows


def test_missing_ranks_are_named_and_counted(tmp_path: Path) -> None:
    groups = {"parallel_group_info": {"g": {"group_name": "default_group", "global_ranks": [0, 1, 2]}}}
    for rank in (0, 2):
        Rank(rank, WARM[1:], metadata=groups).write(tmp_path)
    (row,) = quality([tmp_path]).rows
    assert row.evidence == "rank 1 is missing: 2 of 3 are here"


def test_metrics_that_msprof_recorded_are_known(tmp_path: Path) -> None:
    folder = tmp_path / "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP"
    (folder / "device_0").mkdir(parents=True)
    (folder / "device_0" / "sample.json").write_text(json.dumps({"ai_core_metrics": "None"}))
    (folder / "device_0" / "info.json.0").write_text(
        json.dumps({"DeviceInfo": [{"aic_frequency": "2000"}], "rank_id": 0})
    )
    output = folder / "mindstudio_profiler_output"
    output.mkdir()
    Rank(0, WARM, info=INFO).write(tmp_path / "made")
    made = next((tmp_path / "made").rglob("trace_view.json"))
    made.rename(output / "msprof_20260605155140.json")
    codes = [row.code for row in quality([folder]).rows]
    assert codes == ["warm-up", "frequency-below-rated", "no-metrics"]


def test_a_service_and_a_single_kernel_are_not_judged(cli: Cli) -> None:
    for fixture in ("msopprof", "msserviceprofiler"):
        for path in FIXTURES.glob(f"*/{fixture}*"):
            assert not quality([path]).rows


def test_what_cannot_be_read_is_no_verdict(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    ended = cli("quality", tmp_path)
    assert ended.code == 1
    assert "Worth reading:" not in ended.out


def step_of(place: int, number: int, us: int) -> Step:
    """A step of the device and rank with this number."""
    start = number * 1_000_000
    return Step(
        rank_id=place,
        device_id=place,
        step=number,
        start_ns=start,
        duration_ns=us * 1000,
        computing_ns=us * 900,
        free_ns=us * 100,
    )


def _write_steps(folder: Path, *, first: int) -> None:
    """A table of eight steps, of which the first may take longer."""
    header = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing\n"
    rows = [
        f"{step},{first if step == 10 else 500},0,0,0,{20 if step > 10 or first == 500 else 100},0,0,0\n"
        for step in range(10, 18)
    ]
    (folder / "step_trace_time.csv").write_text(header + "".join(rows))


class TestTrim:
    """`--trim` of other questions."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        Rank(0, WARM).write(tmp_path)
        return tmp_path

    def test_steps_leave_out_what_is_warm_up(self, cli: Cli, folder: Path) -> None:
        assert [row.step for row in steps([folder], trim=True).rows] == [*range(11, 18)]
        assert "rank 0: --trim leaves out step 10 (warm-up)" in cli("steps", folder, "--trim").err

    def test_steps_name_what_could_be_left_out(self, cli: Cli, folder: Path) -> None:
        assert [row.step for row in steps([folder]).rows] == [*range(10, 18)]
        told = cli("steps", folder).err
        assert "rank 0: not like the other steps: step 10 (warm-up)" in told
        assert "--trim excludes them" in told

    @pytest.fixture
    def with_table(self, folder: Path) -> Path:
        _write_steps(next(folder.rglob("trace_view.json")).parent, first=900)
        return folder

    @pytest.mark.parametrize(
        "command", ["hotspots", "breakdown", "compare", "explain", "roofline", "communication", "stragglers"]
    )
    def test_others_have_a_word_of_it(self, cli: Cli, with_table: Path, command: str) -> None:
        paths = [with_table] * (2 if command in {"compare", "explain"} else 1)
        findings = cli(command, *paths, "--format", "json").json["findings"]
        told = {one["message"] for one in findings if one["rule"] == "trimmed"}
        trims = command in {"hotspots", "breakdown", "compare", "explain"}
        end = "--trim excludes them (see `quality`)" if trims else "see `quality`"
        assert told == {f"rank 0: not like the other steps: step 10 (warm-up); {end}"}

    @pytest.mark.parametrize(
        ("rank", "device", "told"),
        [(None, None, ["ranks 0-1: "]), (0, None, ["rank 0: "]), (1, 1, ["rank 1: "]), (2, None, []), (0, 1, [])],
    )
    def test_who_asks_for_one_rank_or_device_is_told_of_no_other(
        self, rank: int | None, device: int | None, told: list[str]
    ) -> None:
        """Of a capture of three devices, as msprof writes them, of which two warm up."""
        every = [
            step_of(place, number, 900 if number == 0 and place < 2 else 500 + number % 2)
            for place in range(3)
            for number in range(9)
        ]
        notes = Notes()
        note_unusual("here", every, notes, rank=rank, device=device)
        end = "not like the other steps: step 0 (warm-up); --trim excludes them (see `quality`)"
        assert [one.message for one in notes.findings] == [f"{whose}{end}" for whose in told]

    @pytest.mark.parametrize(
        ("command", "chosen", "told"),
        [
            ("stragglers", [], ["ranks 0-2: "]),
            ("communication", [], ["ranks 0-2: "]),
            ("communication", ["--rank", 1], ["rank 1: "]),
            ("communication", ["--rank", 3], []),
            ("communication", ["--step", 12], []),
        ],
    )
    def test_ranks_of_a_run_are_told_of_together(
        self, cli: Cli, tmp_path: Path, command: str, chosen: list[object], told: list[str]
    ) -> None:
        for rank in range(4):
            Rank(rank, WARM).write(tmp_path)
            _write_steps(tmp_path / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT", first=900 if rank < 3 else 500)
        found = cli(command, tmp_path, *chosen, "--format", "json").json["findings"]
        end = "not like the other steps: step 10 (warm-up); see `quality`"
        assert [one["message"] for one in found if one["rule"] == "trimmed"] == [f"{whose}{end}" for whose in told]

    @pytest.mark.parametrize("command", ["hotspots", "breakdown", "roofline"])
    def test_who_asks_for_one_step_is_told_of_no_other(self, cli: Cli, with_table: Path, command: str) -> None:
        found = cli(command, with_table, "--step", 12, "--format", "json").json["findings"]
        assert [one for one in found if one["rule"] == "trimmed"] == []

    def test_hotspots_and_compare_count_no_task_of_it(self, folder: Path) -> None:
        every, some = hotspots([folder], by="op_name"), hotspots([folder], by="op_name", trim=True)
        assert sum(row.count for row in every.rows) == 48
        assert sum(row.count for row in some.rows) == 42
        change = compare([folder, folder], by="op_name", trim=True)
        assert {row.baseline_count for row in change.rows} == {7}

    def test_breakdown_covers_the_time_of_the_others(self, folder: Path) -> None:
        whole, *each = breakdown([folder], trim=True).rows
        every = breakdown([folder]).rows[0]
        assert [row.step for row in each] == [*range(11, 18)]
        assert whole.tasks == 42
        assert whole.start_ns == each[0].start_ns
        assert whole.end_to_end_ns == each[-1].start_ns + each[-1].end_to_end_ns - each[0].start_ns
        assert every.tasks == 48
        assert not any(row.step == 10 for row in breakdown([folder], trim=True).table("gaps"))

    def test_explain_is_of_the_mean_of_the_others(self, folder: Path, tmp_path: Path) -> None:
        """As of a capture that has never had the warm-up; the parts still add up to the change."""
        warm, usual, slow = folder / "rank0_ascend_pt", tmp_path / "usual", tmp_path / "slow"
        Rank(0, WARM[1:], first=11).write(usual)
        Rank(0, [1.2 * length for length in WARM], computing=[90_000.0] * len(WARM)).write(slow)
        assert [*explain([warm, usual], trim=True).rows, *explain([usual, warm], trim=True).rows] == []
        found, expected = explain([warm, slow], trim=True), explain([usual, slow], trim=True)
        assert found.table("steps")[0].baseline_steps == found.table("steps")[0].candidate_steps == 7
        assert explain([warm, slow]).table("steps")[0].baseline_steps == 8
        parts = [(row.cause, row.name, row.difference_ns, row.before_ns) for row in found.rows]
        assert parts == [(row.cause, row.name, row.difference_ns, row.before_ns) for row in expected.rows]
        assert sum(row.difference_ns for row in found.rows) == found.table("steps")[0].difference_ns == 20_060_000

    def test_explain_by_a_table_of_steps(self, with_table: Path) -> None:
        answer = explain([with_table, with_table], trim=True)
        assert [(row.baseline_steps, row.candidate_steps) for row in answer.table("steps")] == [(7, 7)]
        assert {one.message for one in answer.findings if one.rule == "trimmed"} == {
            "rank 0: --trim leaves out step 10 (warm-up)"
        }

    @pytest.mark.parametrize(("has_steps", "first"), [(False, 10), (True, 15)])
    def test_explain_leaves_nothing_out_where_the_timeline_has_other_steps_than_the_table(
        self, with_table: Path, tmp_path: Path, has_steps: bool, first: int
    ) -> None:
        """Else all of the time would be divided by the steps that are usual."""
        table = next(with_table.rglob("step_trace_time.csv"))
        other = tmp_path / "other"
        Rank(0, WARM, has_steps=has_steps, first=first).write(other)
        (next(other.rglob("trace_view.json")).parent / table.name).write_bytes(table.read_bytes())
        found, expected = explain([other, other], trim=True), explain([other, other])
        assert found.rows == expected.rows
        (mine,), (whole,) = found.table("steps"), expected.table("steps")
        assert (mine.baseline_steps, mine.before_ns) == (8, whole.before_ns)
        assert {one.message for one in found.findings if one.rule == "trimmed"} == {
            "--trim excludes nothing: the timeline lacks the steps that the table of steps has"
        }

    def test_breakdown_says_that_a_timeline_has_other_steps_than_the_table(self, tmp_path: Path) -> None:
        Rank(0, WARM, has_steps=False).write(tmp_path)
        header = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing\n"
        rows = [f"{step},{900 if step == 10 else 500},0,0,0,20,0,0,0\n" for step in range(10, 18)]
        (next(tmp_path.rglob("trace_view.json")).parent / "step_trace_time.csv").write_text(header + "".join(rows))
        answer = breakdown([tmp_path], trim=True)
        assert answer.rows == breakdown([tmp_path]).rows
        (told,) = [one.message for one in answer.findings if one.rule == "trimmed" and one.severity == "warning"]
        assert told.endswith("the timeline lacks the steps that the table of steps has")

    def test_nothing_is_left_out_of_steady_steps(self, tmp_path: Path) -> None:
        Rank(0, WARM[1:]).write(tmp_path)
        answer = breakdown([tmp_path], trim=True)
        assert answer.rows == breakdown([tmp_path]).rows
        assert not [finding for finding in answer.findings if finding.rule == "trimmed"]

    def test_tasks_without_steps_are_chosen_by_their_times(self) -> None:
        """op_summary has no steps, step_trace tells when each iteration ran."""
        folder = FIXTURES / "msprof" / "valid" / "ten_iterations"
        left = [finding.message for finding in hotspots([folder], trim=True).findings if finding.rule == "trimmed"]
        assert left == [finding.message for finding in steps([folder], trim=True).findings if finding.rule == "trimmed"]

    @pytest.mark.parametrize("ask", [hotspots, breakdown])
    def test_that_a_capture_without_steps_is_left_whole_is_said(self, tmp_path: Path, ask: Callable[..., Any]) -> None:
        Rank(0, WARM, has_steps=False).write(tmp_path)
        (told,) = [finding for finding in ask([tmp_path], trim=True).findings if finding.rule == "trimmed"]
        assert (told.severity, told.message) == (
            "warning",
            "--trim excludes nothing: the capture has no steps of its own",
        )

    @pytest.mark.parametrize("by", [{"step": [1, 1, 1, 2]}, {"task_start_ns": [0, 1, 399, 400]}])
    def test_tasks_of_other_models_stay(self, by: dict[str, list[int]]) -> None:
        frame = pa.table({"model_id": [7, 8, None, 7], **by})
        left_out = {(0, 0): (Step(rank_id=0, device_id=0, model_id=7, step=1, start_ns=0, duration_ns=400),)}
        (kept,) = without_steps([TaskSet(0, 0, frame)], left_out, "here", Notes())
        assert kept.frame["model_id"].to_pylist() == [8, 7]

    def test_tasks_that_know_neither_steps_nor_times_stay_and_that_is_said(self) -> None:
        frame = pa.table({"op_type": ["MatMul"], "total_time_ns": [5]})
        left_out = {(0, 0): (Step(rank_id=0, device_id=0, step=10, duration_ns=400),)}
        notes = Notes()
        (kept,) = without_steps([TaskSet(0, None, frame, grouped=True)], left_out, "here", notes)
        assert kept.frame.num_rows == 1
        (told,) = notes.findings
        assert (told.severity, told.message) == (
            "warning",
            "nothing is left out by --trim: the tasks have neither steps nor times",
        )


@pytest.mark.parametrize(
    ("question", "kind", "is_said"),
    [
        ("compare", "healthy", False),
        ("explain", "warm-up", False),
        ("compare", "scatter", False),
        ("explain", "one step", False),
        ("compare", "unsteady", True),
        ("explain", "unsteady", True),
        ("explain", "drift", True),
    ],
)
def test_who_compares_hears_of_unsteady_steps(
    cli: Cli, tmp_path: Path, question: str, kind: str, is_said: bool
) -> None:
    for seed in seeds(3):
        write_planted(tmp_path / f"{seed}", kind, seed)
        write_planted(tmp_path / f"steady{seed}", "healthy", seed)
        for pair in ((f"{seed}", f"steady{seed}"), (f"steady{seed}", f"{seed}")):
            found = cli(question, *(tmp_path / name for name in pair), "--format", "json").json["findings"]
            told = [one["path"] for one in found if one["rule"] == "unsteady-steps"]
            assert all(str(tmp_path / f"{seed}") in path for path in told)
            assert bool(told) == is_said
