"""Two workloads never share a series: what is refused, what goes on, and under which name."""

from __future__ import annotations

import csv
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from captures import BERT, QUIET, RANKER, Kernel, Night, changed, write_night
from commandline import Cli
from stores import stored_rows
from topics.test_workloads import (
    MODELS,
    conflicts,
    date_of,
    ingest,
    names,
    stored,
    write_models,
    write_summary,
)
from unchecked import store_unchecked

REAL = Path(os.environ.get("AOE_REPORTS_REAL_DATA", Path(__file__).parents[3] / "shared" / "data")) / "msprof"


# two workloads in one series


def test_models_that_nothing_names_are_refused_before_one_is_stored_and_the_rest_goes_on(
    cli: Cli, tmp_path: Path
) -> None:
    nights = write_models(tmp_path / "nights", 0, 1)
    shutil.move(nights / date_of(0) / "ranker", tmp_path / "ranker")
    given = [nights / date_of(number) / name for number in (0, 1) for name in ("resnet50", "bert")]
    write_night(tmp_path / "more" / "named", 2, RANKER)
    ended = cli("nightly", *given, tmp_path / "more", "--store", tmp_path / "store", "--format", "json")
    assert ended.code == 1
    messages = conflicts(ended)
    assert len(messages) == 4
    for message in messages:
        assert "BatchMatMulV2" in message
        assert "Conv2D" in message
        assert "--workload-from folder" in message
        assert "--workload NAME" in message
    assert stored(cli, tmp_path / "store") == {"named": 1}


def test_models_of_one_night_are_refused_under_a_given_name_too(cli: Cli, tmp_path: Path) -> None:
    nights = write_models(tmp_path / "nights", 0)
    ended = ingest(cli, tmp_path / "store", nights, "--workload", "net")
    assert (ended.code, len(conflicts(ended)), ended.json["rows"]) == (1, 3, [])
    one = ingest(cli, tmp_path / "store", nights / date_of(0) / "bert", "--workload", "net")
    assert one.code == 0
    other = ingest(cli, tmp_path / "store", nights / date_of(0) / "ranker", "--workload", "net")
    assert (other.code, stored(cli, tmp_path / "store")) == (1, {"net": 1})


def test_another_model_does_not_go_on_with_a_history(cli: Cli, tmp_path: Path) -> None:
    for number in range(3):
        assert ingest(cli, tmp_path / "store", write_night(tmp_path / "a", number, QUIET)).code == 0
    ended = ingest(cli, tmp_path / "store", write_night(tmp_path / "b", 3, BERT))
    (message,) = conflicts(ended)
    assert ended.code == 1
    assert "of the store" in message
    assert "7%" in message or "0%" in message
    assert "at least 50%" in message
    assert stored(cli, tmp_path / "store") == {"unknown": 3}


@pytest.mark.parametrize(("common_us", "alike"), [(108.0, True), (92.0, False)])
def test_operators_of_one_workload_agree_to_half_at_least(
    cli: Cli, tmp_path: Path, common_us: float, alike: bool
) -> None:
    for number, other in enumerate(("Conv2D", "Relu")):  # half of the calls are the same, and 52 % or 48 % of the time
        night = Night((Kernel("matmul", "MatMulV2", common_us), Kernel("other", other, 100.0)))
        ended = ingest(cli, tmp_path / "store", write_night(tmp_path / "in", number, night))
    assert (ended.code, len(conflicts(ended))) == ((0, 0) if alike else (1, 1))


def test_captures_of_one_job_agree_to_half_at_least(cli: Cli, tmp_path: Path) -> None:
    """Exactly half is enough: of the calls, and of the time."""
    for number, other in enumerate(("Conv2D", "Relu")):
        write_summary(tmp_path / "in", number, other)
    for path in (tmp_path / "in").rglob("op_summary*"):
        head, row = path.read_text().splitlines()
        both = (
            row.replace(",1,1,2,0,", ",1,2,2,0,")
            .replace("000000.000", "000020.000")
            .replace("conv2d,Conv2D", "matmul,MatMulV2")
        )
        path.write_text(f"{head}\n{row}\n{both.replace('relu,Relu', 'matmul,MatMulV2')}\n")
    ended = ingest(cli, tmp_path / "store", tmp_path / "in")
    assert (ended.code, conflicts(ended), len(ended.json["rows"])) == (0, [], 2)


@pytest.mark.parametrize("factor", [2.0, 20.0, 1000.0])
def test_what_only_takes_longer_is_the_same_workload(cli: Cli, tmp_path: Path, factor: float) -> None:
    slower = changed(replace(QUIET.kernels[1], us=QUIET.kernels[1].us * factor))
    whole = replace(QUIET, kernels=tuple(replace(kernel, us=kernel.us * factor) for kernel in QUIET.kernels))
    for number, night in enumerate((QUIET, slower, QUIET, whole)):
        ended = ingest(cli, tmp_path / "store", write_night(tmp_path / "in", number, night))
        assert (ended.code, conflicts(ended)) == (0, [])


def test_a_version_that_replaces_some_operators_is_the_same_workload(cli: Cli, tmp_path: Path) -> None:
    fused = changed(Kernel("attention", "FlashAttentionScore", 700.0), gone=["softmax", "relu"])
    for number, night in enumerate((QUIET, fused)):
        ended = ingest(cli, tmp_path / "store", write_night(tmp_path / "in", number, night))
        assert (ended.code, conflicts(ended)) == (0, [])


def test_a_version_that_replaces_most_is_stored_where_its_name_is_given_and_then_goes_on(
    cli: Cli, tmp_path: Path
) -> None:
    write_night(tmp_path / "a" / "net", 0, QUIET)
    write_night(tmp_path / "b" / "net", 1, BERT)
    write_night(tmp_path / "c" / "net", 2, BERT)
    assert ingest(cli, tmp_path / "store", tmp_path / "a").code == 0
    (message,) = conflicts(ingest(cli, tmp_path / "store", tmp_path / "b"))
    assert "if it is the same workload with new operators, use --workload net" in message
    given = ingest(cli, tmp_path / "store", tmp_path / "b", "--workload", "net")
    assert (given.code, conflicts(given)) == (0, [])
    (warning,) = (one for one in given.json["findings"] if one["rule"] == "workload-changed")
    assert warning["severity"] == "warning"
    assert f"store undo {given.json['rows'][0]['run']}" in warning["message"]
    assert cli("ingest", tmp_path / "b", "--store", tmp_path / "store", "--workload", "net").code == 0
    after = ingest(cli, tmp_path / "store", tmp_path / "c")
    assert (after.code, conflicts(after), stored(cli, tmp_path / "store")) == (0, [], {"net": 3})


def test_ranks_and_devices_are_compared_with_themselves_only(cli: Cli, tmp_path: Path) -> None:
    for rank, night in enumerate((QUIET, BERT)):  # stages of a pipeline, each rank in a folder of its own
        for number in range(2):
            home = write_night(tmp_path / "in" / "gpt" / f"rank_{rank}", number, night, hours=rank)
            info = json.loads((home / "profiler_info_0.json").read_text())
            (home / "profiler_info_0.json").unlink()
            (home / f"profiler_info_{rank}.json").write_text(json.dumps({**info, "rank_id": rank}))
    ended = ingest(cli, tmp_path / "store", tmp_path / "in")
    assert (ended.code, conflicts(ended), stored(cli, tmp_path / "store")) == (0, [], {"gpt": 4})


def test_devices_without_ranks_are_compared_with_themselves_only(cli: Cli, tmp_path: Path) -> None:
    for number, (device, op_type) in enumerate(((0, "Conv2D"), (1, "MatMulV2"), (0, "Conv2D"), (1, "MatMulV2"))):
        write_summary(tmp_path / "in", number, op_type, device)
    assert conflicts(ingest(cli, tmp_path / "store", tmp_path / "in")) == []
    write_summary(tmp_path / "other", 4, "Conv2D", device=1)
    assert conflicts(ingest(cli, tmp_path / "store", tmp_path / "other")) != []


def test_a_capture_that_is_cut_off_conflicts_with_nothing(cli: Cli, tmp_path: Path) -> None:
    assert ingest(cli, tmp_path / "store", write_night(tmp_path / "in", 0, QUIET)).code == 0
    cut = write_night(tmp_path / "in", 1, QUIET) / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    lines = cut.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[:2]) + lines[2][:30])
    ended = ingest(cli, tmp_path / "store", cut.parents[1])
    assert conflicts(ended) == []
    assert [row["status"] for row in ended.json["rows"]] == ["incomplete"]
    again = ingest(cli, tmp_path / "store", write_night(tmp_path / "in", 2, QUIET))
    assert (again.code, conflicts(again)) == (0, [])


def without_types(home: Path) -> Path:
    """The capture as profiler level 0 writes it: names only."""
    table = home / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    with table.open(newline="") as file:
        rows = list(csv.reader(file))
    kept = [
        place
        for place, name in enumerate(rows[0])
        if "Shapes" not in name and "Types" not in name and "Formats" not in name
    ]
    of_type = rows[0].index("Type")
    for number, row in enumerate(rows[1:]):
        row[of_type] = "N/A"
        row[rows[0].index("Name")] += f"_{number}"
    with table.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([row[place] for place in kept] for row in rows)
    return home


def test_at_level_0_names_without_their_numbers_tell_workloads_apart(cli: Cli, tmp_path: Path) -> None:
    assert ingest(cli, tmp_path / "store", write_night(tmp_path / "in", 0, QUIET)).code == 0
    same = ingest(cli, tmp_path / "store", without_types(write_night(tmp_path / "in", 1, QUIET)))
    assert (same.code, conflicts(same)) == (0, [])
    other = ingest(cli, tmp_path / "store", without_types(write_night(tmp_path / "in", 2, BERT)))
    assert (other.code, len(conflicts(other))) == (1, 1)


def test_the_same_files_under_another_name_are_refused_and_undo_is_named(cli: Cli, tmp_path: Path) -> None:
    capture = write_night(tmp_path / "in", 0, QUIET)
    run = ingest(cli, tmp_path / "store", capture, "--workload", "a").json["rows"][0]["run"]
    for options in (["--workload", "b"], ["--workload-from", "/**/{workload}/host*"]):
        ended = ingest(cli, tmp_path / "store", capture, *options)
        (message,) = conflicts(ended)
        assert (ended.code, f"store undo {run}" in message) == (1, True)
    assert cli("store", "undo", run, "--store", tmp_path / "store").code == 0
    assert ingest(cli, tmp_path / "store", capture, "--workload", "b").code == 0
    assert stored(cli, tmp_path / "store") == {"b": 1}


def test_a_damaged_store_is_compared_with_nothing_and_that_is_said(cli: Cli, tmp_path: Path) -> None:
    assert ingest(cli, tmp_path / "store", write_night(tmp_path / "in", 0, QUIET)).code == 0
    (file,) = (tmp_path / "store").glob("kind=record/**/*.parquet")
    content = bytearray(file.read_bytes())
    content[4:200] = bytes(196)
    file.write_bytes(content)
    ended = ingest(cli, tmp_path / "store", write_night(tmp_path / "in", 1, QUIET))
    (warning,) = (one for one in ended.json["findings"] if one["rule"] == "workload-unchecked")
    assert (ended.code, warning["severity"]) == (0, "warning")
    assert "workload 'unknown'" in warning["message"]
    assert [row["outcome"] for row in ended.json["rows"]] == ["added"]


# histories called unknown


def test_an_unknown_history_goes_on_under_its_name_and_that_is_said(cli: Cli, tmp_path: Path) -> None:
    nights = write_models(tmp_path / "nights", *range(6))
    for number in range(3):
        ingest(cli, tmp_path / "store", nights / date_of(number) / "resnet50")
    assert stored(cli, tmp_path / "store") == {"unknown": 3}
    for number in (3, 4):
        ended = ingest(cli, tmp_path / "store", nights / date_of(number))
        assert ended.code == 0
        assert names(ended) == {"resnet50": "unknown", "bert": "bert", "ranker": "ranker"}
        (remark,) = (one for one in ended.json["findings"] if one["rule"] == "workload-continued")
        assert remark["severity"] == "info"
        assert "'resnet50'" in remark["message"]
    again = ingest(cli, tmp_path / "store", nights)
    assert again.code == 0
    assert stored(cli, tmp_path / "store") == {"unknown": 6, "bert": 6, "ranker": 6}
    assert {
        row["outcome"]
        for row in again.json["rows"]
        if Path(row["path"]).parts[-3] < date_of(5) and row["workload"] == "unknown"
    } == {"unchanged"}
    records = cli(
        "store", "history", "records", "--store", tmp_path / "store", "--scope", "step", "--format", "json"
    ).json["rows"]
    assert len({row["series_id"] for row in records if row["workload"] == "unknown/step"}) == 1


def test_a_continued_history_is_not_taken_over_by_another_name_with_the_same_operators(
    cli: Cli, tmp_path: Path
) -> None:
    two = {"bs32": QUIET, "bs64": QUIET}
    nights = write_models(tmp_path / "nights", *range(3), models=two)
    ingest(cli, tmp_path / "store", nights / date_of(0) / "bs32")
    assert len(conflicts(ingest(cli, tmp_path / "store", nights / date_of(1)))) == 2
    assert stored(cli, tmp_path / "store") == {"unknown": 1}  # nothing tells which of the two it is
    shutil.rmtree(nights / date_of(1) / "bs64")
    assert names(ingest(cli, tmp_path / "store", nights / date_of(1))) == {"bs32": "unknown"}
    assert names(ingest(cli, tmp_path / "store", nights / date_of(2))) == {"bs32": "unknown", "bs64": "bs64"}


def test_several_workloads_under_unknown_are_not_gone_on_with(cli: Cli, tmp_path: Path) -> None:
    nights = write_models(tmp_path / "nights", 0, 1, 2)
    store = tmp_path / "store"
    mixed_store(cli, store, nights / date_of(0))
    both = ingest(cli, store, nights / date_of(1))
    assert (both.code, len(conflicts(both)), both.json["rows"]) == (1, 3, [])
    assert "--workload-from folder" in conflicts(both)[0]
    one = tmp_path / "one"
    shutil.copytree(nights / date_of(1) / "bert", one / "bert")
    alone = ingest(cli, store, one)
    assert (alone.code, alone.json["rows"]) == (1, [])
    assert "--workload bert" in conflicts(alone)[0]
    again = ingest(cli, store, nights / date_of(0))  # what is there adds nothing, and is no error
    assert (again.code, {row["outcome"] for row in again.json["rows"]}) == (0, {"unchanged"})
    given = ingest(cli, store, *(nights / date_of(0) / name for name in MODELS))
    assert (given.code, {row["outcome"] for row in given.json["rows"]}) == (0, {"unchanged"})
    assert ingest(cli, store, nights / date_of(1), "--workload-from", "folder").code == 0
    assert names(ingest(cli, store, nights / date_of(2))) == {name: name for name in MODELS}


def mixed_store(cli: Cli, store: Path, night: Path) -> None:
    """A store as versions made it that called everything unknown: each capture from a store of its own."""
    rows = []
    for name in MODELS:
        part = store.parent / f"part-{name}"
        assert ingest(cli, part, night / name).code == 0
        rows += stored_rows(part)
    store_unchecked(rows, store)


# real captures


@pytest.mark.skipif(not REAL.is_dir(), reason="the real exports are not here")
def test_real_captures_of_one_job_never_conflict_and_those_of_different_jobs_do(cli: Cli, tmp_path: Path) -> None:
    job = [
        REAL / "torch_npu_2025-01" / form / level for form in ("text", "db") for level in ("level0", "level1", "level2")
    ]
    together = ingest(cli, tmp_path / "together", *job)
    assert conflicts(together) == []
    for path in reversed(job):
        assert conflicts(ingest(cli, tmp_path / "one-by-one", path)) == []
    other = ingest(cli, tmp_path / "together", REAL / "torch_npu_2023-09" / "test_rank_0")
    assert (other.code, len(conflicts(other))) == (1, 1)
    older = ingest(cli, tmp_path / "together", REAL / "msprof_2023-08")
    assert (older.code, len(conflicts(older))) == (1, 1)
