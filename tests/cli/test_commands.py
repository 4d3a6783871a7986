"""Every command as a user would call it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commandline import FIXTURES, Cli


def test_table_keeps_all_digits_of_a_time_stamp(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    folder = msprof / "torch_npu_two_ranks" / "rank0_ascend_pt"
    rows = cli("table", "kernel_details", folder, "--format", "json").json["rows"]
    assert rows[0]["task_start_ns"] == 1736408883704643212
    cli("table", "kernel_details", folder, "--format", "parquet", "-o", tmp_path / "t.parquet")
    table = pq.read_table(tmp_path / "t.parquet")
    assert table["task_start_ns"][0].as_py() == 1736408883704643212
    assert table.num_rows == len(rows)


def test_table_lists_every_kind(cli: Cli) -> None:
    from aoe_reports.formats.ascend.tables import TIMELINES
    from aoe_reports.formats.vendor import TABLES

    timelines = [name if name not in TABLES else f"{name}_events" for name in TIMELINES]
    assert [row["kind"] for row in cli("table", "--list", "--format", "json").json["rows"]] == [*TABLES, *timelines]


@pytest.mark.parametrize(
    "arguments",
    [
        ("table",),
        ("table", "nothing", "."),
        ("check",),
        ("check", "--select", "nothing", "."),
        ("hotspots",),
        ("hotspots", ".", "--by", "colour"),
        ("store", "history", "runs", "--since", "soon", "--store", "s"),
        ("nothing",),
        ("nightly", ".", "--tz", "Mars/Olympus", "--store", "s"),
        ("hotspots", ".", "--top", "0"),
        ("table", "op_summary", ".", "--format", "parquet"),
    ],
)
def test_wrong_usage_ends_with_2(
    cli: Cli, arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = cli(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err


def test_check_selects_and_ignores_rules(cli: Cli) -> None:
    folder = FIXTURES / "aoe" / "invalid" / "failed-without-list"
    assert cli("check", folder, "--format", "json").rules() == {"failed-without-list", "tuning-failed"}
    assert cli("check", folder, "--select", "tuning-failed", "--format", "json").rules() == {"tuning-failed"}
    ended = cli("check", folder, "--ignore", "tuning-failed,failed-without-list", "--format", "json")
    assert (ended.code, ended.json["findings"], ended.json["rows"][0]["verdict"]) == (0, [], "pass")


def test_hotspots_by_type_are_the_rows_of_op_statistic(cli: Cli, msprof: Path) -> None:
    folder = msprof / "torch_npu_two_ranks" / "rank0_ascend_pt"
    rows = cli("hotspots", folder, "--format", "json").json["rows"]
    stated = cli("table", "op_statistic", folder, "--format", "json").json["rows"]
    assert [(r["op_type"], r["task_type"], r["count"], r["total_us"]) for r in rows] == [
        (r["op_type"], r["task_type"], r["count"], r["total_time_us"]) for r in stated
    ]
    assert rows[-1]["cumulative_share"] == 1.0
    assert list(rows[0]) == [
        "position", "run", "rank_id", "op_type", "task_type", "op_name", "input_shapes", "location", "told_by", "count", "total_us",
        "mean_us", "std_us", "min_us", "p50_us", "p95_us", "max_us", "share", "cumulative_share",
    ]  # fmt: skip


def test_hotspots_by_operator_and_shape_add_up_to_the_same(cli: Cli, msprof: Path) -> None:
    folder = msprof / "torch_npu_two_ranks"
    totals = set()
    for by in ("op_type", "op_name", "shape"):
        rows = cli("hotspots", folder, "--by", by, "--top", 1000, "--format", "json").json["rows"]
        assert {row["rank_id"] for row in rows} == {0, 1}
        totals.add(round(sum(row["total_us"] for row in rows), 3))
    assert len(totals) == 1


def test_hotspots_of_one_rank_device_or_step(cli: Cli, msprof: Path) -> None:
    ranks = msprof / "torch_npu_two_ranks"
    assert {r["rank_id"] for r in cli("hotspots", ranks, "--rank", 1, "--format", "json").json["rows"]} == {1}
    one = cli("hotspots", ranks, "--rank", 0, "--step", 50, "--format", "json").json["rows"]
    both = cli("hotspots", ranks, "--rank", 0, "--format", "json").json["rows"]
    assert sum(r["count"] for r in one) * 2 == sum(r["count"] for r in both) == 14
    devices = msprof / "merged_two_devices"
    one = cli("hotspots", devices, "--device", 1, "--format", "json").json["rows"]
    assert sum(row["count"] for row in one) == 14
    assert cli("hotspots", ranks, "--rank", 7).code == 1


def test_a_task_is_counted_once_however_often_it_is_told(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    source = next((msprof / "merged_two_devices").iterdir())
    shutil.copytree(source, tmp_path / source.name)
    rows = cli("hotspots", tmp_path, tmp_path / source.name, "--by", "op_name", "--format", "json").json["rows"]
    assert sum(row["count"] for row in rows) == 28


def test_task_time_alone_stands_in_by_type_too_and_no_capture_is_lost_beside_others(
    cli: Cli, msprof: Path, tmp_path: Path
) -> None:
    (source,) = (msprof / "statistic_only").rglob("task_time*.csv")
    alone = tmp_path / "alone" / "PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
    alone.mkdir(parents=True)
    shutil.copy(source, alone)
    by_name = cli("hotspots", alone, "--by", "op_name", "--format", "json").json["rows"]
    ended = cli("hotspots", alone, "--format", "json")
    assert (ended.code, ended.rules()) == (0, {"stands-in"})
    assert sum(row["count"] for row in ended.json["rows"]) == sum(row["count"] for row in by_name)
    alone.joinpath(source.name).write_text("".join(source.read_text().splitlines(keepends=True)[:1]))
    beside = cli("hotspots", tmp_path / "alone", msprof / "statistic_only", "--format", "json")
    assert [(one["severity"], one["rule"]) for one in beside.json["findings"] if "alone" in one["path"]] == [
        ("warning", "nothing-measured")
    ]


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown", "html"])
def test_every_form_is_the_same_bytes_each_time_and_can_go_into_a_file(
    cli: Cli, msprof: Path, tmp_path: Path, form: str
) -> None:
    first = cli("hotspots", msprof / "torch_npu_two_ranks", "--format", form)
    cli("hotspots", msprof / "torch_npu_two_ranks", "--format", form, "-o", tmp_path / "new" / "out")
    assert (tmp_path / "new" / "out").read_text() == first.out
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["out"]


def test_the_order_of_inputs_changes_nothing(cli: Cli, msprof: Path) -> None:
    paths = sorted(msprof.iterdir())
    assert cli("hotspots", *paths).out == cli("hotspots", *paths[::-1]).out


def test_history_lists_runs_and_records(cli: Cli, msprof: Path, aoe: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    cli(
        "ingest", msprof / "ten_iterations", aoe / "array_grouped", "--store", store, "--workload", "net", "--tz", "UTC"
    )
    runs = cli("store", "history", "--store", store, "--format", "json").json["rows"]
    assert [(row["night"], row["kind"]) for row in runs] == [("2023-08-18", "profile"), ("2026-01-01", "tuning")]
    assert [
        r["kind"]
        for r in cli("store", "history", "--store", store, "--since", "2025-01-01", "--format", "json").json["rows"]
    ] == ["tuning"]
    assert len(cli("store", "history", "--store", store, "--last", 1, "--format", "json").json["rows"]) == 1
    steps = cli("store", "history", "records", "--store", store, "--scope", "step", "--format", "json").json["rows"]
    assert [row["workload"] for row in steps] == ["net/step"]
    named = cli(
        "store", "history", "records", "--store", store, "--workload", "net/op/block1/conv", "--format", "json"
    ).json["rows"]
    assert [row["phase"] for row in named] == ["before", "after"]
    assert cli("store", "history", "--store", tmp_path / "nothing").code == 3


def test_the_store_may_come_from_the_environment(
    cli: Cli, msprof: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AOE_REPORTS_STORE", str(tmp_path / "env"))
    assert cli("ingest", msprof / "statistic_only").code == 0
    assert len(cli("store", "history", "--format", "json").json["rows"]) == 1


def test_debug_shows_the_traceback_of_an_error(cli: Cli, tmp_path: Path) -> None:
    ended = cli("store", "history", "--store", tmp_path / "nothing")
    assert (ended.code, ended.err.count("\n")) == (3, 1)
    assert ended.err.startswith("aoe-reports: error: ")
    shown = cli("--debug", "history", "--store", tmp_path / "nothing")
    assert (shown.code, "Traceback" in shown.err, "StoreError" in shown.err) == (3, True, True)
    assert shown.err.endswith(ended.err)


def test_what_cannot_be_written_is_one_line(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for arguments in (
        ("hotspots", msprof / "statistic_only", "-o", tmp_path / "file" / "x"),
        ("nightly", msprof / "statistic_only", "--store", tmp_path / "s", "--site", tmp_path / "file"),
    ):
        ended = cli(*arguments)
        assert ended.code == 3
        assert ended.err.splitlines()[-1].startswith("aoe-reports: error: ")


def test_a_path_that_is_not_there_comes_last_and_ends_with_3(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    ended = cli(
        "nightly", tmp_path / "nothing", msprof / "statistic_only", "--store", tmp_path / "s", "--format", "json"
    )
    assert ended.code == 3
    assert len(ended.json["rows"]) == 1
    assert "unreadable" in ended.rules()
    assert ended.json["reasons"] == ["damage"]


@pytest.mark.slow
def test_damage_leaves_the_healthy_and_the_stored_alone(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    cli("nightly", msprof / "ten_iterations", "--store", store, "--workload", "w")
    before = cli("store", "history", "records", "--store", store, "--format", "json").json["rows"]
    ended = cli(
        "nightly",
        FIXTURES / "msprof" / "invalid",
        msprof / "ten_iterations",
        "--store",
        store,
        "--workload",
        "w",
        "--site",
        tmp_path / "site",
        "--format",
        "json",
    )
    assert ended.code == 1
    assert "ten_iterations" in " ".join(row["path"] for row in ended.json["rows"])
    after = cli("store", "history", "records", "--store", store, "--format", "json").json["rows"]
    assert [row for row in after if row in before] == before
    written = json.loads((tmp_path / "site" / "report.json").read_text())
    assert written["rows"] == ended.json["rows"]


def test_records_are_written_under_known_endings_only(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    assert cli("ingest", "--dry-run", msprof / "statistic_only", "-o", tmp_path / "n.txt").code == 2
    assert not (tmp_path / "n.txt").exists()


@pytest.mark.parametrize("kind", ["op_summary", "kernel_details"])
def test_parquet_takes_tables_with_empty_shapes(cli: Cli, tmp_path: Path, kind: str) -> None:
    header = {
        "op_summary": "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)",
        "kernel_details": "Name,Type,Accelerator Core,Start Time(us),Duration(us)",
    }
    rows = 'a,b,c,1,2,""""""\nd,e,f,1,2,"""1,2"""\ng,h,i,1,2,N/A\n'
    (tmp_path / f"{kind}.csv").write_text(f"{header[kind]},Input Shapes\n{rows}")
    assert cli("table", kind, tmp_path, "--format", "parquet", "-o", tmp_path / "t.parquet").code == 0
    assert pq.read_table(tmp_path / "t.parquet")["input_shapes"].to_pylist() == [None, "1,2", None]


@pytest.mark.parametrize("command", ["hotspots", "steps", "breakdown", "communication", "advise"])
def test_what_is_missing_is_missing_at_one_path_in_any_order(cli: Cli, msprof: Path, command: str) -> None:
    ranks = [msprof / "torch_npu_two_ranks" / f"rank{rank}_ascend_pt" for rank in (0, 1)]
    first, second = (
        cli(command, *paths, "--rank", 9, "--format", "json").json["findings"] for paths in (ranks, ranks[::-1])
    )
    assert first == second
    assert "nothing-measured" in {finding["rule"] for finding in first}
