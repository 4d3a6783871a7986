"""`steps`: steps of every form, ranks held against each other, steps without head or tail named."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from commandline import REAL, Cli, needs_real

HEADER = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free"


def written(folder: Path, ranks: dict[int, list[tuple[int, int, int]]]) -> Path:
    """Captures of several ranks; (step, computing, communication) in us for each."""
    for rank, steps in ranks.items():
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text("{}")
        lines = [HEADER, *(f"{step},{computing},{talk},0,{talk},10" for step, computing, talk in steps)]
        (output / "step_trace_time.csv").write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    return folder


def messages(cli: Cli, *arguments: object, rule: str) -> list[str]:
    found = cli("steps", *arguments, "--format", "json").json["findings"]
    return [finding["message"] for finding in found if finding["rule"] == rule]


def test_a_database_of_steps(cli: Cli, tmp_path: Path) -> None:
    output = tmp_path / "rank3_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output.parent / "profiler_info_3.json").write_text("{}")
    connection = sqlite3.connect(output / "analysis.db")
    connection.execute(
        "CREATE TABLE StepTraceTime (deviceId, step TEXT, computing, communication_not_overlapped, overlapped, "
        "communication, free, stage, bubble, communication_not_overlapped_and_exclude_receive, preparing)"
    )
    connection.execute("INSERT INTO StepTraceTime VALUES (5, '7', 100.5, 20.25, 1, 21.25, 9, 0, 0, 0, 0)")
    connection.commit()
    connection.close()
    (row,) = cli("steps", tmp_path, "--format", "json").json["rows"]
    assert (row["rank_id"], row["device_id"], row["step"], row["duration_us"]) == (3, 5, 7, 129.75)


def test_rank_device_and_step_are_chosen(cli: Cli, msprof: Path) -> None:
    ranks = msprof / "torch_npu_two_ranks"
    (row,) = cli("steps", ranks, "--rank", 1, "--step", 51, "--format", "json").json["rows"]
    assert (row["rank_id"], row["step"]) == (1, 51)
    iterations = msprof / "ten_iterations"
    assert len(cli("steps", iterations, "--device", 0, "--format", "json").json["rows"]) == 10
    ended = cli("steps", iterations, "--device", 1, "--format", "json")
    assert (ended.code, ended.json["rows"]) == (1, [])
    assert "no step here (device 1)" in ended.out


def test_what_a_cluster_says_is_used_where_its_ranks_say_nothing(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    ended = cli("steps", msprof / "cluster_of_two_ranks", "--format", "json")
    rows = ended.json["rows"]
    assert [(row["rank_id"], row["step"], row["duration_us"]) for row in rows] == [
        (0, 50, 26410.316),
        (1, 50, 26366.316),
    ]
    table = next((msprof / "cluster_of_two_ranks").rglob("cluster_step_trace_time.csv"))
    (tmp_path / table.parent.name).mkdir()
    shutil.copy(table, tmp_path / table.parent.name)
    alone = cli("steps", tmp_path, "--format", "json").json["rows"]
    assert [{**row, "run": ""} for row in alone] == [{**row, "run": ""} for row in rows]


def test_a_rank_without_a_table_has_the_steps_that_its_cluster_tells(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, {0: [(1, 100, 20)], 1: [(1, 90, 30)], 2: [(1, 80, 40)]})
    bare = tmp_path / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    (bare / "step_trace_time.csv").unlink()
    (bare / "api_statistic.csv").write_text("Device_id,Level,API Name,Time(us),Count,Avg(us)\n0,acl,Run,5,1,5\n")
    assert messages(cli, tmp_path, rule="step-missing") == ["no step table here (step_trace, step_trace_time)"]
    cluster = tmp_path / "cluster_analysis_output"
    cluster.mkdir()
    rows = [f"1,rank,{rank},{100 - 10 * rank},{20 + 10 * rank},0,{20 + 10 * rank},10" for rank in range(3)]
    lines = [HEADER.replace("Step,", "Step,Type,Index,"), *rows]
    (cluster / "cluster_step_trace_time.csv").write_text("".join(f"{line}\n" for line in lines))
    told = cli("steps", tmp_path, "--format", "json").json["rows"]
    assert [(row["rank_id"], row["computing_us"]) for row in told] == [(0, 100.0), (1, 90.0), (2, 80.0)]
    assert messages(cli, tmp_path, rule="step-missing") == []


def test_a_cluster_that_says_otherwise_than_its_ranks_is_told(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, {0: [(1, 100, 20)], 1: [(1, 100, 20)]})
    cluster = tmp_path / "cluster_analysis_output"
    cluster.mkdir()
    lines = [HEADER.replace("Step,", "Step,Type,Index,"), "1,rank,0,100,20,0,20,10", "1,rank,1,100,20,0,20,11"]
    (cluster / "cluster_step_trace_time.csv").write_text("".join(f"{line}\n" for line in lines))
    assert messages(cli, tmp_path, rule="forms-disagree") == [
        "rank 1, step 1: 131.000 us here, but 130.000 us in the rank's own table, which is used"
    ]
    assert len(cli("steps", tmp_path, "--format", "json").json["rows"]) == 2


def test_the_slowest_rank_is_named_by_step(cli: Cli, tmp_path: Path) -> None:
    always = written(tmp_path / "always", {0: [(1, 50, 50), (2, 50, 50)], 1: [(1, 80, 30), (2, 70, 40)]})
    assert messages(cli, always, rule="rank-skew") == [
        "all 2 steps: the slowest is always rank 1",
        "step 1: rank 1 is the slowest with 120.000 us, 10.000 us (9.1%) more than rank 0; rank 1 has the longest computing time",
        "step 2: rank 1 is the slowest with 120.000 us, 10.000 us (9.1%) more than rank 0; rank 1 has the longest computing time",
    ]
    turns = written(
        tmp_path / "turns", {0: [(1, 50, 50), (2, 50, 70), (3, 5, 5)], 1: [(1, 50, 60), (2, 50, 50), (3, 5, 5)]}
    )
    assert messages(cli, turns, rule="rank-skew") == [
        "all 3 steps: the slowest is not always the same (rank 0 in 2, rank 1 in 1)",
        "step 1: rank 1 is the slowest with 120.000 us, 10.000 us (9.1%) more than rank 0",
        "step 2: rank 0 is the slowest with 130.000 us, 20.000 us (18.2%) more than rank 1",
        "step 3: all ranks take 20.000 us",
    ]
    assert len(messages(cli, turns, "--step", 2, rule="rank-skew")) == 1


STAGED = HEADER + ",Stage,Bubble,Communication(Not Overlapped and Exclude Receive),Preparing"


def pipeline(folder: Path, ranks: dict[int, list[tuple[int, int]]], length: int = 1000) -> Path:
    """Steps of a pipeline, all of one length: (computing, bubble) in us for each; the rest is other communication."""
    for rank, steps in ranks.items():
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text("{}")
        lines = [STAGED]
        for number, (computing, bubble) in enumerate(steps):
            talk = length - computing
            lines.append(f"{number},{computing},{talk},0,{talk},0,{length - bubble},{bubble},{talk - bubble},0")
        (output / "step_trace_time.csv").write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    return folder


def test_a_pipeline_whose_stages_compute_equally_long_needs_more_micro_batches(cli: Cli, tmp_path: Path) -> None:
    even = pipeline(tmp_path, {0: [(700, 210), (700, 190)], 1: [(735, 250), (700, 250)], 2: [(700, 100), (700, 100)]})
    (message,) = messages(cli, even, rule="pipeline-bubbles")
    assert message == (
        "3 ranks wait in bubbles for 18.3% of their steps, rank 1 most (25.0%); no rank computes 5% longer than the "
        "median: more micro-batches make bubbles shorter, moving layers does not"
    )
    rows = cli("steps", even, "--format", "json").json["rows"]
    assert [(row["stage_us"], row["bubble_us"]) for row in rows[:2]] == [(790.0, 210.0), (810.0, 190.0)]
    assert {"Stage", "Bubble"} <= set(cli("steps", even, "--format", "markdown").out.replace("|", " ").split())


def test_the_longest_stage_of_a_pipeline_is_named(cli: Cli, tmp_path: Path) -> None:
    ranks = {0: [(600, 300)], 1: [(600, 310)], 2: [(780, 20)], 3: [(600, 330)]}
    uneven = pipeline(tmp_path, ranks)
    longest = (
        "4 ranks wait in bubbles for 24.0% of their steps, rank 3 most (33.0%); rank 2 computes longest, 780.000 us a "
        "step, 30.0% longer than the median: its stage has more work than others, or the rank is slow (see "
        "`stragglers`)"
    )
    assert messages(cli, uneven, rule="pipeline-bubbles") == [longest]
    assert messages(cli, uneven, "--rank", 0, rule="pipeline-bubbles") == [longest], "the others are still compared"


def test_bubbles_are_told_of_the_step_that_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    folder = pipeline(tmp_path, {0: [(600, 100), (600, 0)], 1: [(600, 100), (600, 0)]})
    assert "10.0% of their steps" in messages(cli, folder, "--step", 0, rule="pipeline-bubbles")[0]
    assert messages(cli, folder, "--step", 1, rule="pipeline-bubbles") == []


def test_a_single_rank_has_bubbles_but_no_stage_to_compare_it_with(cli: Cli, tmp_path: Path) -> None:
    alone = pipeline(tmp_path, {5: [(600, 100)]})
    assert messages(cli, alone, rule="pipeline-bubbles") == []
    assert cli("steps", alone, "--format", "json").json["rows"][0]["bubble_us"] == 100.0


def test_a_cluster_tells_of_the_bubbles_of_its_ranks_and_stages_are_no_ranks(cli: Cli, tmp_path: Path) -> None:
    cluster = tmp_path / "cluster_analysis_output"
    cluster.mkdir()
    lines = [
        STAGED.replace("Step,", "Step,Type,Index,"),
        "1,rank,0,500,400,0,400,100,700,300,100,0",
        "1,rank,1,600,300,0,300,100,900,100,200,0",
        '1,stage,"(0, 1)",600,400,0,400,100,900,300,200,0',
    ]
    (cluster / "cluster_step_trace_time.csv").write_text("".join(f"{line}\n" for line in lines))
    (message,) = messages(cli, tmp_path, rule="pipeline-bubbles")
    assert message.startswith("2 ranks wait in bubbles for 20.0% of their steps, rank 0 most (30.0%); rank 1 computes")
    assert "9.1% longer" in message


def test_a_rank_without_steps_is_told(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "torch_npu_two_ranks", tmp_path / "in")
    (tmp_path / "in" / "rank1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv").unlink()
    assert messages(cli, tmp_path / "in", rule="step-missing") == ["no step table here (step_trace, step_trace_time)"]
    ended = cli("steps", msprof / "statistic_only", "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["damage"])


@needs_real
def test_steps_of_real_ranks(cli: Cli) -> None:
    for level in (0, 1, 2):
        rows = cli("steps", REAL / "torch_npu_2025-01" / "text" / f"level{level}", "--format", "json").json["rows"]
        assert [(row["rank_id"], row["step"]) for row in rows] == [(0, 50), (1, 50)]
        assert all(abs(row["stage_us"] + row["bubble_us"] - row["duration_us"]) <= 1 for row in rows)
    assert (rows[1]["computing_us"], rows[1]["communication_us"], rows[1]["free_us"]) == (
        8902.301,
        97455.326,
        26441.689,
    )
    rows = cli("steps", REAL / "torch_npu_2025-01" / "db" / "level2", "--format", "json").json["rows"]
    assert [row["computing_us"] for row in rows] == [8900.456, 8926.368]
    rows = cli("steps", REAL / "msprof_2023-08", "--format", "json").json["rows"]
    assert [row["duration_us"] for row in rows] == [
        47587.81, 15369.16, 15304.02, 15375.02, 17467.03, 15528.70, 15422.47, 16455.82, 15105.87, 16329.38,
    ]  # fmt: skip


def test_a_step_trace_without_its_iterations_is_reported_and_the_others_are_listed(
    cli: Cli, msprof: Path, tmp_path: Path
) -> None:
    shutil.copytree(msprof / "ten_iterations", tmp_path / "run")
    first, *others = sorted(tmp_path.rglob("step_trace_0_2_*.csv"))
    first.write_text(first.read_text().replace("Iteration ID", "Iteration"))
    ended = cli("steps", tmp_path, "--format", "json")
    assert others
    assert (ended.code, len(ended.json["rows"])) == (1, 10)
    assert "missing-column" in ended.rules()
