"""MindSpore's own profiler: its tables are read, in units that its files prove; what is not read is named."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections import defaultdict
from pathlib import Path

import pytest
from commandline import FIXTURES, ROOT, Cli

from aoe_reports.formats.mindspore.names import parse_name
from aoe_reports.formats.mindspore.tables import type_of

VALID = FIXTURES / "mindspore" / "valid"
HOME = VALID / "two_ranks" / "profiler"
REAL = Path(os.environ.get("AOE_REPORTS_REAL_DATA", ROOT.parent / "shared" / "data")) / "msprof" / "mindspore_profiler"
RUN = REAL / "run_1" / "normal_run" / "profiler"
JOB = REAL / "cluster_propose"
real = pytest.mark.skipif(not REAL.is_dir(), reason=f"no real files in {REAL}")
UNREAD = {
    "step_trace_point_info.json": '{"fp_start": "a", "bp_end": "b"}',
    "timeline_summary_1.json": '{"total_time": 1.0}',
    "min_cycle_counter_1.txt": "43806841592.0\n",
    "ascend_cluster_analyse_data-parallel_1_1_1.csv": "iteration_interval, fp_and_bp, tail\n0, 2366808, 4097\n",
}
COMMANDS = ("hotspots", "steps", "breakdown", "communication", "advise", "normalize")


@pytest.mark.parametrize(
    ("name", "kind", "form", "rank"),
    [
        ("step_trace_raw_1_detail_time.csv", "step_trace_raw", "csv", 1),
        ("step_trace_point_info.json", "step_trace_point_info", "json", None),
        ("aicore_intermediate_12_type.csv", "aicore_intermediate_type", "csv", 12),
        ("aicore_intermediate_0_detail.csv", "aicore_intermediate_detail", "csv", 0),
        ("output_timeline_data_3.txt", "output_timeline_data", "csv", 3),
        ("output_op_compute_time_detail_3.txt", "output_op_compute_time", "txt", 3),
        ("flops_1.txt", "kernel_flops", "csv", 1),
        ("ascend_cluster_analyse_pipeline-parallel_2_4_0.csv", "cluster_analyse", "csv", 0),
        ("ascend_cluster_analyse_model-parallel_1_2_1.csv", "cluster_analyse", "csv", 1),
        ("ascend_cluster_analyse_data-parallel_1_1_1.csv", "cluster_analyse_steps", "txt", 1),
    ],
)
def test_a_name_tells_kind_and_rank(name: str, kind: str, form: str, rank: int | None) -> None:
    found = parse_name(name, "")
    assert found is not None
    assert (found.kind, found.form, found.source, found.rank_id) == (kind, form, "mindinsight", rank)


@pytest.mark.parametrize("name", ["step_trace_raw_1.csv", "flops.txt", "hccl_raw_x.csv", "my_hccl_raw_0.csv"])
def test_other_names_are_somebody_elses(name: str) -> None:
    assert parse_name(name, "") is None


def test_hotspots_are_the_operators_of_each_rank_without_communication(cli: Cli) -> None:
    rows = cli("hotspots", HOME, "--format", "json").json["rows"]
    assert [(row["rank_id"], row["op_type"], row["count"], row["total_us"]) for row in rows] == [
        (0, "MatMul", 6, 246.0),
        (0, "ApplyMomentum", 3, 24.3),
        (0, "Cast", 3, 6.6),
        (1, "MatMul", 6, 246.42),
        (1, "ApplyMomentum", 3, 24.51),
        (1, "Cast", 3, 6.81),
    ]
    every = cli("hotspots", HOME, "--all-tasks", "--by", "op_name", "--format", "json").json["rows"]
    talk = [row for row in every if row["op_name"].endswith("AllReduce-op31")]
    assert [(row["task_type"], row["total_us"]) for row in talk] == [("HCCL", 45.5), ("HCCL", 45.71)]


def test_steps_are_those_of_the_table_without_their_mean(cli: Cli) -> None:
    rows = cli("steps", HOME, "--format", "json").json["rows"]
    assert [
        (row["rank_id"], row["step"], row["start_ns"], row["duration_us"], row["fp_bp_us"]) for row in rows[:3]
    ] == [
        (0, 1, 438068505470, 117.1, 84.1),
        (0, 2, 438068622570, 132.0, 85.8),
        (0, 3, 438068754570, 130.3, 85.7),
    ]
    assert len(rows) == 6


def test_sums_by_type_stand_in_where_nothing_tells_the_tasks(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(HOME / "aicore_intermediate_0_type.csv", tmp_path)
    rows = cli("hotspots", tmp_path, "--format", "json").json["rows"]
    assert [(row["op_type"], row["count"], row["total_us"]) for row in rows] == [
        ("MatMul", 6, 246.0),
        ("ApplyMomentum", 3, 24.3),
        ("Cast", 3, 6.6),
    ]


def test_a_capture_without_tasks_is_told_which_tables_of_its_profiler_would_tell_them(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(HOME / "step_trace_raw_0_detail_time.csv", tmp_path)
    (finding,) = cli("hotspots", tmp_path, "--format", "json").json["findings"]
    assert finding["message"] == (
        "no table of tasks here (output_timeline_data, aicore_intermediate_type) and no timeline of a whole device; "
        "found step_trace_raw (csv)"
    )


def test_both_ranks_become_records_of_one_run_that_is_stored_once(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first, second = (cli("ingest", HOME, "--store", store, "--format", "json").json["rows"] for _ in range(2))
    assert [(row["outcome"], row["records"]) for row in first] == [("added", 18)]
    assert [row["outcome"] for row in second] == ["unchanged"]
    lines = [json.loads(line) for line in cli("ingest", "--dry-run", HOME).out.splitlines()]
    assert {(line["engine"], line["metadata"]["profiler"]) for line in lines} == {("cann", "mindinsight")}
    assert {line["metadata"]["aoe_reports"]["rank_id"] for line in lines} == {0, 1}


def test_an_operator_whose_core_nobody_tells_may_be_tuned(cli: Cli, tmp_path: Path) -> None:
    plan = cli("plan", HOME, "-o", tmp_path / "a", "--assume-static", "--format", "json").json
    assert [row["op_name"].rpartition("/")[2] for row in plan["rows"][:2]] == ["MatMul-op11", "MatMul-op23"]
    left_out = cli("plan", HOME, "-o", tmp_path / "b", "--format", "json").json["rejected"]
    assert {row["reason"].partition(":")[0] for row in left_out} == {"communication", "unknown-shape"}


def test_headers_that_differ_by_case_alone_are_two_columns(cli: Cli) -> None:
    rows = cli("table", "kernel_flops", HOME / "flops_0.txt", "--format", "json").json["rows"]
    assert [(row["flops"], row["flops_per_s"], row["utilization_percent"]) for row in rows[:2]] == [
        (0.016, 0.1, 0.0),
        (2097.152, 49.345, 0.02),
    ]


@pytest.mark.parametrize(
    ("name", "kind", "header", "row"),
    [
        ("aicore_intermediate_0_type.csv", "aicore_intermediate_type", "op_type,total_time,execution_frequency,percent", "Cast,0.5,2,9"),
        ("aicore_intermediate_0_detail.csv", "aicore_intermediate_detail", "full_kernel_time,execution_time,execution_frequency", "a/Cast-op1,0.5,1"),
        ("ascend_cluster_analyse_model-parallel_1_2_1.csv", "cluster_analyse", "computation,communication_alone_time", "651.9051,1293.1231"),
        ("framework_raw_0.csv", "framework_raw", "task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,op_info", "1,0,32,a/Cast-op1,a/Cast-op1,Cast-op1,Cast,Default,{}"),
    ],
)  # fmt: skip
def test_headers_of_other_releases_are_known(
    cli: Cli, tmp_path: Path, name: str, kind: str, header: str, row: str
) -> None:
    (tmp_path / name).write_text(f"{header}\n{row}\n")
    assert cli("check", tmp_path, "--format", "json").json["findings"] == []
    assert len(cli("table", kind, tmp_path, "--format", "json").json["rows"]) == 1


def test_somebody_elses_flops_are_not_called_damage(cli: Cli, tmp_path: Path) -> None:
    shutil.copy(HOME / "step_trace_raw_0_detail_time.csv", tmp_path)
    (tmp_path / "flops_1.txt").write_text("total: 17\n")
    ended = cli("inspect", tmp_path, "--format", "json")
    assert [row["kind"] for row in ended.json["rows"]] == ["step_trace_raw"]
    assert ended.json["findings"] == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "profiler"
    home.mkdir()
    for name, text in UNREAD.items():
        (home / name).write_text(text)
    return home


def test_what_is_not_read_is_named_and_not_called_damage(cli: Cli, folder: Path) -> None:
    for command in ("inspect", "check"):
        (finding,) = cli(command, folder, "--format", "json").json["findings"]
        assert (finding["severity"], finding["rule"], finding["path"]) == ("warning", "not-read", str(folder))
        assert finding["message"] == (
            "4 files of MindSpore's own profiler (cluster_analyse_steps, min_cycle_counter, step_trace_point_info, "
            "timeline_summary) are recognised, but not read: they repeat or sum up what its other files hold"
        )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_question_that_only_these_files_could_answer_is_not_answered_with_nothing(
    cli: Cli, folder: Path, command: str
) -> None:
    ended = cli(command, folder, *([] if command == "normalize" else ["--format", "json"]))
    assert ended.code == 1
    assert "not-read" in ended.out + ended.err
    assert "nothing-measured" in ended.out + ended.err


def test_a_night_that_only_these_files_tell_of_is_not_a_good_one(cli: Cli, folder: Path, tmp_path: Path) -> None:
    ended = cli("ingest", folder, "--store", tmp_path / "store", "--format", "json")
    assert ended.code == 1
    assert ended.rules() == {"not-read", "nothing-measured"}


def test_beside_exports_they_are_a_remark(cli: Cli, folder: Path) -> None:
    shutil.copytree(FIXTURES / "msprof/valid/mindspore", folder / "beside")
    ended = cli("check", folder, "--strict", "--format", "json")
    assert [(f["severity"], f["rule"]) for f in ended.json["findings"] if f["rule"] == "not-read"] == [
        ("info", "not-read")
    ]
    assert ended.code == 0


def test_one_of_them_that_is_named_is_recognised_whatever_its_ending(cli: Cli, folder: Path) -> None:
    for name in UNREAD:
        ended = cli("check", folder / name, "--format", "json")
        assert (ended.code, ended.rules()) == (0, {"not-read"})


@real
def test_every_real_file_is_named_and_only_the_one_without_a_last_line_end_is_damaged(cli: Cli) -> None:
    ended = cli("inspect", REAL, "--format", "json")
    every = {str(path) for path in REAL.rglob("*") if path.is_file()}
    assert {row["path"] for row in ended.json["rows"]} == every
    assert {row["source"] for row in ended.json["rows"]} == {"mindinsight"}
    damaged = {finding["path"] for finding in ended.json["findings"] if finding["rule"] != "not-read"}
    assert damaged == {str(RUN / "flops_1.txt")}
    assert ended.rules() == {"not-read", "csv-truncated"}


def real_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [{key.strip(): value for key, value in row.items()} for row in csv.DictReader(file)]


@real
def test_tasks_are_those_of_the_summary_and_their_means_those_beside_them(cli: Cli) -> None:
    """2,817 tasks of 199 operators, 1,771,382.85 us; the mean of each operator is that of output_op_compute_time."""
    summary = json.loads((RUN / "timeline_summary_1.json").read_text())
    rows = cli("hotspots", RUN, "--by", "op_name", "--top", "1000", "--format", "json").json["rows"]
    assert sum(row["count"] for row in rows) == summary["op_exe_times"] == 2817
    assert len(rows) == summary["num_of_ops"] == 199
    assert sum(row["total_us"] for row in rows) == pytest.approx(summary["total_time"], abs=1e-6)
    lines = (RUN / "output_op_compute_time_1.txt").read_text().splitlines()[3:]
    means = {line.split()[0]: float(line.split()[1]) for line in lines if not line.startswith("total")}
    assert {row["op_name"]: row["mean_us"] for row in rows} == pytest.approx(
        {name: ms * 1000 for name, ms in means.items()}, abs=0.001
    )


@real
def test_starts_are_those_of_the_timeline_beside_them(cli: Cli) -> None:
    """The timeline counts us from the lowest counter; a ms of the table is 100,000 ticks of it."""
    zero = int(float((RUN / "min_cycle_counter_1.txt").read_text()))
    events = json.loads((RUN / "timeline_display_1.json").read_text())
    shown = {
        (event["args"]["fullname"], event["tid"], round(event["ts"] * 100) + zero, round(event["dur"] * 100))
        for event in events
        if event["pid"] == 1
    }
    rows = cli("table", "output_timeline_data", RUN, "--format", "json").json["rows"]
    read = {
        (row["op_name"], row["stream_id"], row["task_start_ns"] // 10, round(row["task_duration_us"] * 100))
        for row in rows
    }
    assert read == shown
    assert all(row["op_type"] == type_of(row["op_name"]) for row in rows)


@real
def test_types_that_names_tell_are_those_that_files_name() -> None:
    events = json.loads((RUN / "timeline_display_1.json").read_text())
    named = {event["args"]["fullname"]: event["args"]["type"] for event in events if event["pid"] == 1}
    named |= {row["full_kernel_name"]: row["kernel_type"] for row in real_rows(RUN / "framework_raw_1.csv")}
    assert len(named) > 250
    assert {name: type_of(name) for name in named} == named


@real
def test_sums_by_type_are_those_of_the_operators() -> None:
    sums: dict[str, list[float]] = defaultdict(lambda: [0, 0])
    for row in real_rows(RUN / "aicore_intermediate_1_detail.csv"):
        of_type = sums[type_of(row["full_kernel_name"])]
        of_type[0] += int(row["execution_frequency"])
        of_type[1] += float(row["execution_time"]) * int(row["execution_frequency"])
    for row in real_rows(RUN / "aicore_intermediate_1_type.csv"):
        count, total = sums.pop(row["kernel_type"])
        assert (int(row["execution_frequency"]), float(row["total_time"])) == (count, pytest.approx(total, abs=1e-9))
    assert not sums


@real
def test_steps_follow_one_another_and_are_as_long_as_the_timeline_says(cli: Cli) -> None:
    """A part of a stream is 78,628.7 us in the timeline and 7,862,870 ticks in the table of steps."""
    rows = cli("steps", RUN, "--format", "json", "--rows", "1000").json["rows"]
    assert [row["step"] for row in rows] == list(range(1, 323))
    raw = real_rows(RUN / "step_trace_raw_1_detail_time.csv")
    assert [row["duration_us"] for row in rows] == [int(row["total"]) / 100 for row in raw[:-1]]
    ends = [row["start_ns"] + round(row["duration_us"] * 1000) for row in rows]
    touching = sum(row["start_ns"] == end for row, end in zip(rows[1:], ends, strict=False))
    assert touching > 300
    events = json.loads((RUN / "timeline_display_1.json").read_text())
    first = next(event for event in events if event.get("name") == "stream_520_parallel_0")
    assert round(first["dur"] * 100) == int(raw[0]["stream_520_parallel_0"])


@real
@pytest.mark.parametrize("rank", range(4))
def test_computing_and_communication_alone_are_the_step(cli: Cli, rank: int) -> None:
    """To 1.2 %: what comes before the first and behind the last operator is in one of them only."""
    steps = [row for row in cli("steps", JOB, "--format", "json").json["rows"] if row["rank_id"] == rank]
    file = JOB / f"ascend_cluster_analyse_pipeline-parallel_2_4_{rank}.csv"
    parts = cli("table", "cluster_analyse", file, "--format", "json").json["rows"]
    for step, part in zip(steps, parts, strict=False):
        told = part["computing_us"] + part["communication_not_overlapped_us"]
        assert told == pytest.approx(step["duration_us"], rel=0.012)
        assert part["computing_us"] + part["collective_not_overlapped_us"] == pytest.approx(part["stage_us"], abs=0.11)


@real
def test_steps_of_a_pipeline_tell_its_bubbles_and_the_stage_with_more_work(cli: Cli) -> None:
    ended = cli("steps", JOB, "--trim", "--format", "json").json
    for rank in range(4):
        parts = real_rows(JOB / f"ascend_cluster_analyse_pipeline-parallel_2_4_{rank}.csv")
        for row in (row for row in ended["rows"] if row["rank_id"] == rank):
            part = parts[row["step"] - 1]
            assert row["bubble_us"] == pytest.approx(float(part["receive_alone_time"]) * 1000)
            assert row["computing_us"] == pytest.approx(float(part["computation_time"]) * 1000)
            assert row["stage_us"] == pytest.approx(float(part["stage_time"]) * 1000)
    (told,) = (one["message"] for one in ended["findings"] if one["rule"] == "pipeline-bubbles")
    assert "rank 0 most (31.4%); rank 2 computes longest" in told
    assert "79.0% longer than the median" in told


STEPS = "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail\n"
PARTS = "computation_time,communication_alone_time,stage_time,receive_alone_time,collective_communication_alone_time\n"


@pytest.mark.parametrize(
    ("parts", "bubbles"),
    [
        ("7,3,8,2,1\n15,6,20,1,5\n11,4.5,14,1.5,3\n", [2000, 1000]),  # the last row is the mean
        ("7,3,8,2,1\n15,6,20,1,5\n", [2000, 1000]),
        ("7,3,8,2,1\n15,4,18,1,3\n", [None, None]),  # 19 of 21 ms: another profile's
        ("7,3,8,2,1\n", [None, None]),
        ("7,3,8,2,1\n" * 4, [None, None]),
    ],
)
def test_steps_take_the_parts_of_their_own_rows_only(
    cli: Cli, tmp_path: Path, parts: str, bubbles: list[float | None]
) -> None:
    (tmp_path / "step_trace_raw_0_detail_time.csv").write_text(
        STEPS + "1,100000,1100000,1000000,,,0,,\n2,1100000,3200000,2100000,,,0,,\n-,1,2,1550000,,,0,,\n"
    )
    (tmp_path / "ascend_cluster_analyse_pipeline-parallel_2_4_0.csv").write_text(PARTS + parts)
    rows = cli("steps", tmp_path, "--format", "json").json["rows"]
    assert [row["duration_us"] for row in rows] == [10_000, 21_000]
    assert [row["bubble_us"] for row in rows] == bubbles


def test_parts_alone_tell_no_steps(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ascend_cluster_analyse_pipeline-parallel_2_4_0.csv").write_text(PARTS + "7,3,8,2,1\n")
    ended = cli("steps", tmp_path, "--format", "json")
    assert (ended.code, ended.json["rows"]) == (1, [])


@real
@pytest.mark.parametrize("rank", range(4))
def test_operators_of_communication_add_up_to_the_costs_of_their_steps(cli: Cli, rank: int) -> None:
    costs = [row for row in real_rows(JOB / f"hccl_raw_{rank}.csv") if row["step_num"] != "-"]
    for row in costs:
        types = cli("communication", JOB, "--rank", rank, "--step", row["step_num"], "--format", "json").json["rows"]
        for name, cost in (("transit_us", "communication_cost"), ("wait_us", "wait_cost")):
            assert sum(one[name] for one in types) == pytest.approx(float(row[cost]) * 1000, abs=0.01)
        assert {one["op_type"] for one in types} == {"allreduce", "send", "receive"}


def test_what_cannot_be_read_of_communication_is_said(cli: Cli, tmp_path: Path) -> None:
    told = {
        "stream_1_0_AllReduce-op7": ["1", 0.25, 0.75, {"1-0": {"SDMA": [0.2, 8.0, 1.0]}}],
        "stream_1_1_Send-op8": ["1", 0, 2, {}],
        "stream_1_2_Send-op9": ["1", -1, 2, {}],
        "stream_1_3_Send-op10": ["1", None, 2, {}],
        "stream_1_4_Send-op11": {},
    }
    text = json.dumps(told).replace('"', '""')
    (tmp_path / "hccl_raw_3.csv").write_text(
        "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"
        f'1,0.25,2.75,"{{}}","{text}"\n2,0.25,2.75,"{{}}","{text[:40]}"\n-,0.25,2.75,"{{}}","{text}"\n'
    )
    ended = cli("communication", tmp_path, "--format", "json")
    rows = {row["op_type"]: (row["elapsed_us"], row["transit_us"], row["wait_us"]) for row in ended.json["rows"]}
    assert rows == {"allreduce": (1000, 250, 750), "send": (2000, 0, 2000)}
    assert {row["op_name"] for row in ended.json["operators"]} == {"AllReduce-op7", "Send-op8"}
    found = [one for one in ended.json["findings"] if one["rule"] == "communication-incomplete"]
    assert [(Path(one["path"]).name, one["line"], one["column"]) for one in found] == [
        ("hccl_raw_3.csv", 2, 5),
        ("hccl_raw_3.csv", 3, 5),
    ]
    assert {one["message"] for one in found} == {"times of operators in this cell cannot be read; they are in no sum"}


def test_an_older_profiler_s_headers_are_read_and_its_other_files_named(cli: Cli) -> None:
    ended = cli("check", VALID / "older_headers", "--format", "json")
    assert ended.code == 0
    assert {row["kind"] for row in ended.json["rows"]} == {
        "aicore_intermediate_detail", "aicore_intermediate_type", "aicpu_intermediate", "framework_raw",
    }  # fmt: skip
    (named,) = ended.json["findings"]
    assert "9 files of MindSpore's own profiler (ascend_timeline, dataset_iterator_profiling, " in named["message"]
    rows = cli("hotspots", VALID / "older_headers", "--format", "json").json["rows"]
    assert [(row["op_type"], row["count"], row["total_us"]) for row in rows] == [
        ("MatMul", 3, 127.5),
        ("Cast", 3, 6.6),
    ]
