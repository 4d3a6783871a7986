"""Rows of many ranks as people are shown them: one row, with the median, the least and the worst."""

from __future__ import annotations

from pathlib import Path

from commandline import Cli

from aoe_reports.model.rank_spread import RankSpread, spread_of

KERNELS = "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
STEPS = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n"


def run_of(folder: Path, *times: int) -> Path:
    """A run of ranks whose MatMul and whose step take so many us."""
    for rank, time in enumerate(times):
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{rank}.json").write_text("{}")
        (output / "kernel_details.csv").write_text(
            f"{KERNELS}0,m,MatMul,AI_CORE,1.0,{time}.0\n0,r,Relu,AI_CORE,900.0,2.0\n"
        )
        (output / "step_trace_time.csv").write_text(f"{STEPS}1,{time},5,0,5,10\n2,{time},5,0,5,10\n")
    return folder


def cells(text: str, name: str) -> list[str]:
    """The cells of the row that begins with a name, or has it second."""
    return next(words for line in text.splitlines()[1:] if name in (words := line.split())[:2])


def test_of_equal_times_the_lowest_rank_is_named() -> None:
    assert spread_of({7: 5, 3: 5, 4: 5}) == RankSpread(
        ranks=3, median_ns=5, least_ns=5, least_rank=3, worst_ns=5, worst_rank=3
    )


def test_hotspots_of_four_ranks_are_a_row_an_operator(cli: Cli, tmp_path: Path) -> None:
    text = cli("hotspots", run_of(tmp_path, 100, 104, 110, 102)).out
    assert text.startswith(
        "MatMul takes 98.2% of computing time on rank 2: 110.0 us in 1 task. The median of 4 ranks is 103.0 us."
    )
    assert cells(text, "MatMul") == ["1", "MatMul", "AI_CORE", "1", "4", "103.0", "100.0", "0", "110.0", "2", "98.1%"]
    assert cells(text, "Relu")[5:] == ["2.000", "2.000", "0", "2.000", "0", "1.9%"]
    assert text.count("MatMul ") == 2


def test_three_ranks_and_one_asked_for_are_listed(cli: Cli, tmp_path: Path) -> None:
    assert "Median" not in cli("hotspots", run_of(tmp_path / "three", 100, 104, 110)).out
    asked = cli("hotspots", run_of(tmp_path / "four", 100, 104, 110, 102), "--rank", 1).out
    assert ("Median" in asked, cells(asked, "MatMul")[4]) == (False, "104.0")


def test_json_and_csv_keep_every_rank(cli: Cli, tmp_path: Path) -> None:
    run = run_of(tmp_path, 100, 104, 110, 102)
    for command in ("hotspots", "steps"):
        rows = cli(command, run, "--format", "json").json["rows"]
        assert sorted(row["rank_id"] for row in rows) == [0, 0, 1, 1, 2, 2, 3, 3]
        assert cli(command, run, "--format", "csv").out.count("\n") == 9


def test_steps_of_four_ranks_are_a_row_a_step_and_a_row_a_part(cli: Cli, tmp_path: Path) -> None:
    text = cli("steps", run_of(tmp_path, 100, 104, 110, 102)).out
    durations, parts = text.split("Parts of a step (mean of each rank)")
    assert cells(durations, "2") == ["2", "4", "118.0", "115.0", "0", "125.0", "2"]
    assert cells(parts, "Computing") == ["Computing", "4", "103.0", "100.0", "0", "110.0", "2"]
    assert cells(parts, "Free") == ["Free", "4", "10.00", "10.00", "0", "10.00", "0"]


def test_a_run_of_many_ranks_beside_one_of_few(cli: Cli, tmp_path: Path) -> None:
    few, many = run_of(tmp_path / "few", 100, 104), run_of(tmp_path / "many", 100, 104, 110, 102)
    text = cli("hotspots", few, many).out
    first, second = text.split(f"Run: {many}")
    assert f"Run: {few}" in first
    assert ("Median" in first, "Median" in second) == (False, True)
