"""Functions over frames say what the commands say, whoever made the frame; the snippets of docs/python.md run."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from commandline import FIXTURES, ROOT, Cli

import aoe_reports
from aoe_reports import break_down_events, compare_tasks, list_steps, rank_hotspots, read_profile
from aoe_reports.facts.breakdown import EVENT_COLUMNS
from aoe_reports.model.errors import UsageError
from aoe_reports.simulation.nights import SLOW_NIGHT, write_nights

RANKS = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
PAGE = (ROOT / "docs" / "python.md").read_text()
SNIPPETS = dict(re.findall(r"<!-- tested: (\w+) -->\n+```python\n(.*?)```", PAGE, re.DOTALL))
MAKERS = {
    "arrow": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "polars": pl.DataFrame,
    "plain strings": lambda frame: pa.table(
        {
            name: frame[name].cast(pa.string()) if pa.types.is_dictionary(frame[name].type) else frame[name]
            for name in frame.column_names
        }
    ),
    "duckdb": duckdb.from_arrow,
}


@pytest.fixture(params=sorted(MAKERS))
def made(request: pytest.FixtureRequest):
    return MAKERS[request.param]


@pytest.mark.parametrize(
    ("maker", "by", "every"),
    [
        *((maker, "op_name", False) for maker in sorted(MAKERS)),
        ("pandas", "op_type", True), ("arrow", "op_type", False), ("polars", "shape", True), ("duckdb", "shape", False),
    ],
)  # fmt: skip
def test_hotspots_are_those_of_the_command(cli: Cli, maker: str, by: str, every: bool) -> None:
    folder = RANKS / "rank1_ascend_pt"
    groups = rank_hotspots(MAKERS[maker](read_profile(folder).frame("kernel_details")), by, 5, all_tasks=every)
    options = ["--all-tasks"] if every else []
    rows = cli("hotspots", folder, "--by", by, "--top", 5, "--format", "json", *options).json["rows"]
    names = ("op_type", "task_type", "op_name", "input_shapes")[: len(groups[0].key)]
    assert [(group.key, group.count, group.total_ns / 1000) for group in groups] == [
        (tuple(row[name] for name in names), row["count"], row["total_us"]) for row in rows
    ]
    assert [round(group.p95_ns / 1000, 6) for group in groups] == [row["p95_us"] for row in rows]


def test_steps_are_those_of_the_command(cli: Cli, made) -> None:
    steps = list_steps(made(read_profile(RANKS).frame("step_trace_time")))
    rows = cli("steps", RANKS, "--format", "json").json["rows"]
    assert [(step.rank_id, step.step, step.duration_ns / 1000, step.free_ns / 1000) for step in steps] == [
        (row["rank_id"], row["step"], row["duration_us"], row["free_us"]) for row in rows
    ]


def test_iterations_are_steps_too(cli: Cli, tmp_path: Path) -> None:
    (folder,) = write_nights(tmp_path, 1)
    steps = list_steps(read_profile(folder).frame("step_trace"))
    rows = cli("steps", folder, "--format", "json").json["rows"]
    assert [(step.step, step.duration_ns / 1000) for step in steps] == [
        (row["step"], row["duration_us"]) for row in rows
    ]
    assert steps


def test_a_comparison_is_that_of_the_command(cli: Cli, made, simulated_nights: Path) -> None:
    nights = sorted(simulated_nights.iterdir())[SLOW_NIGHT - 2 : SLOW_NIGHT]
    compared = compare_tasks(*(made(read_profile(night).frame("op_summary")) for night in nights), by="op_name", top=4)
    found = cli("compare", *nights, "--by", "op_name", "--top", 4, "--format", "json").json
    assert [(one.key, one.difference_ns / 1000, one.cause) for one in compared.differences] == [
        ((row["op_type"], row["task_type"], row["op_name"]), row["difference_us"], row["cause"])
        for row in found["rows"]
    ]
    assert round(compared.differences[0].interval.low / 1000, 6) == found["rows"][0]["ci_low_us"]
    assert compared.baseline_ns / 1000 == found["totals"][0]["baseline_total_us"]


def test_a_frame_of_events_is_what_its_batches_are(made) -> None:
    columns = dict.fromkeys(EVENT_COLUMNS, pa.string())
    columns |= dict.fromkeys(("pid", "connection_id", "start_ns", "duration_ns"), pa.int64()) | {
        "stage_row": pa.bool_()
    }
    place = {"ph": "X", "stage_row": False, "pid": 3, "process": "Ascend Hardware", "task_type": "AI_CORE"}
    rows = [{**place, "name": f"t{n}", "start_ns": n * 10, "duration_ns": n} for n in range(5)]
    rows.append({"ph": "M", "stage_row": False, "pid": 3, "name": "process_name"})
    table = pa.Table.from_pylist(rows, pa.schema(list(columns.items())))
    (device,) = break_down_events(made(table))
    assert device == break_down_events(table.to_batches())[0]
    assert device == break_down_events(table.to_reader())[0]
    assert device.whole.computing_ns == 10


def test_what_a_frame_lacks_is_told() -> None:
    good = pd.DataFrame({"op_type": ["a", "b"], "task_duration_ns": [1, 2]})
    assert [group.key for group in rank_hotspots(good)] == [("b", None), ("a", None)]
    for frame, message in (
        (good.drop(columns="op_type"), "no column op_type"),
        (good.assign(task_duration_ns=[1, None]), "task_duration_ns: 1 of 2 values are missing"),
        (good.assign(task_duration_ns=[1, 2.5]), "task_duration_ns: expected whole numbers"),
        (good.assign(task_duration_ns=["1", "x"]), "task_duration_ns"),
        ([1, 2], "not list"),
    ):
        with pytest.raises(UsageError, match=message):
            rank_hotspots(frame)
    with pytest.raises(UsageError, match="no column step, computing_ns"):
        list_steps(good)
    with pytest.raises(UsageError, match="expected one of op_type, op_name, shape, communication"):
        compare_tasks(good, good, by="step")
    with pytest.raises(UsageError, match="no column task_type"):
        compare_tasks(good, good, by="communication")
    with pytest.raises(UsageError, match="no column ph"):
        break_down_events(good)
    assert rank_hotspots(good.iloc[:0]) == []


@pytest.mark.parametrize("name", sorted(SNIPPETS))
def test_a_snippet_of_the_page_runs(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = SNIPPETS[name]
    if name == "breakdown":
        from made_traces import planted

        planted().write(tmp_path)
        code = code.replace("/data/night/rank0_ascend_pt", str(tmp_path / "rank0_ascend_pt"))
    code = code.replace("/data/night", str(RANKS / "rank0_ascend_pt"))
    code = code.replace("/data/other", str(RANKS / "rank1_ascend_pt"))
    exec(code, {"__name__": "__main__"})
    assert len(capsys.readouterr().out.splitlines()) > 1


def test_the_page_names_functions_and_answers_that_are_public() -> None:
    assert set(SNIPPETS) == {"questions", "profile", "hotspots", "steps", "breakdown", "compare"}
    (questions,) = (line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `hotspots`, "))
    named = [*re.findall(r"^\| `(\w+)` .*?`(\w+)`", PAGE, re.MULTILINE), re.findall(r"`(\w+)`", questions)]
    for name in named:
        assert all(hasattr(aoe_reports, one) and one in aoe_reports.__all__ for one in name)
