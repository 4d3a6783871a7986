"""The store: nothing doubled, nothing lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commandline import Cli

from aoe_reports.model.errors import StoreError
from aoe_reports.model.texts import in_language
from aoe_reports.store import History
from aoe_reports.store.layout import message_of


def ingest(cli: Cli, path: Path, store: Path, *more: object) -> list[str]:
    return [
        row["outcome"]
        for row in cli("ingest", path, "--store", store, "--workload", "w", "--format", "json", *more).json["rows"]
    ]


def state(store: Path) -> tuple[int, int, int]:
    history = History.open(str(store))
    runs = [header.run_id for header in history.runs()]
    return len(runs), len(set(runs)), history.records(["run_id"]).num_rows


def test_ingesting_twice_adds_nothing(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    assert ingest(cli, msprof / "torch_npu_two_ranks", store) == ["added"]
    before = state(store)
    assert ingest(cli, msprof / "torch_npu_two_ranks", store) == ["unchanged"]
    assert state(store) == before


def test_a_folder_below_and_a_copy_elsewhere_add_nothing(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    ingest(cli, msprof / "torch_npu_two_ranks", store)
    before = state(store)
    for rank in (0, 1):
        assert ingest(cli, msprof / "torch_npu_two_ranks" / f"rank{rank}_ascend_pt", store) == ["unchanged"]
    copy = shutil.copytree(msprof / "torch_npu_two_ranks", tmp_path / "elsewhere")
    assert ingest(cli, copy, store) == ["unchanged"]
    assert state(store) == before


@pytest.mark.parametrize("first", [0, 1])
def test_a_rank_met_alone_is_superseded_by_the_whole_job(cli: Cli, msprof: Path, tmp_path: Path, first: int) -> None:
    store, whole = tmp_path / "s", tmp_path / "whole"
    assert ingest(cli, msprof / "torch_npu_two_ranks" / f"rank{first}_ascend_pt", store) == ["added"]
    assert ingest(cli, msprof / "torch_npu_two_ranks", store) == ["superseded"]
    ingest(cli, msprof / "torch_npu_two_ranks", whole)
    assert state(store) == state(whole)


def test_a_half_written_export_is_superseded_when_it_is_whole_and_not_the_other_way(
    cli: Cli, msprof: Path, tmp_path: Path
) -> None:
    store, folder = tmp_path / "s", tmp_path / "rank0_ascend_pt"
    shutil.copytree(msprof / "torch_npu_two_ranks" / "rank0_ascend_pt", folder)
    table = folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    whole = table.read_bytes()
    table.write_bytes(whole[: len(whole) // 2])
    assert ingest(cli, folder, store) == ["added"]
    assert [header.status for header in History.open(str(store)).runs()] == ["incomplete"]
    table.write_bytes(whole)
    assert ingest(cli, folder, store) == ["superseded"]
    assert [header.status for header in History.open(str(store)).runs()] == ["ok"]
    table.write_bytes(whole[: len(whole) // 2])
    assert ingest(cli, folder, store) == ["less-complete"]
    assert state(store)[:2] == (1, 1)


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_versions_with_as_many_rows_one_stays_whichever_comes_first_and_again(
    cli: Cli, msprof: Path, tmp_path: Path, first: int
) -> None:
    versions = [tmp_path / name / "rank0_ascend_pt" for name in ("a", "b")]
    for folder in versions:
        shutil.copytree(msprof / "torch_npu_two_ranks" / "rank0_ascend_pt", folder)
    table = versions[1] / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    header, row, *rest = table.read_text().splitlines(keepends=True)
    cells = row.split(",")
    place = header.split(",").index("Duration(us)")
    cells[place] = f"{float(cells[place]) + 1:.3f}"
    table.write_text("".join([header, ",".join(cells), *rest]))

    def hashes(store: Path) -> list[str]:
        return [stored.content_hash for stored in History.open(str(store)).runs()]

    contents = []
    for place_of, folder in enumerate(versions):
        assert ingest(cli, folder, tmp_path / f"alone{place_of}") == ["added"]
        contents += hashes(tmp_path / f"alone{place_of}")
    assert len(set(contents)) == 2
    stays = contents.index(max(contents))
    store, order = tmp_path / "s", [first, 1 - first]
    outcomes = [outcome for which in (*order, *order, *order) for outcome in ingest(cli, versions[which], store)]
    again = ["unchanged" if which == stays else "less-complete" for which in order]
    assert outcomes == ["added", again[1] if first == stays else "superseded", *again, *again]
    assert hashes(store) == [contents[stays]]


def test_the_same_content_under_another_workload_is_refused(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    ingest(cli, msprof / "statistic_only", tmp_path / "s")
    ended = cli(
        "ingest", msprof / "statistic_only", "--store", tmp_path / "s", "--workload", "other", "--format", "json"
    )
    assert ended.code == 1
    assert "workload-conflict" in ended.rules()
    assert state(tmp_path / "s")[0] == 1


def test_two_nights_with_identical_files_are_two_runs(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    source = (
        next((msprof / "statistic_only").iterdir()) / "mindstudio_profiler_output" / "op_statistic_20260606155140.csv"
    )
    for night in ("20260606", "20260607"):
        folder = tmp_path / "in" / f"PROF_000002_{night}155111872_ABCDEFGHIJKLMNOP" / "mindstudio_profiler_output"
        folder.mkdir(parents=True)
        shutil.copy(source, folder / f"op_statistic_{night}155140.csv")
    assert ingest(cli, tmp_path / "in", tmp_path / "s") == ["added", "added"]


def test_a_folder_with_other_things_never_becomes_a_store(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    ended = cli("ingest", msprof / "statistic_only", "--store", tmp_path)
    assert ended.code == 3
    assert ended.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


def test_a_store_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the store does not exist"):
        History.open(str(tmp_path / "nothing"))


def test_findings_are_stored_with_what_they_were_made_of(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    store = tmp_path / "s"
    assert cli("ingest", msprof / "torch_npu_two_ranks", "--raw", 1, "--store", store).code == 0

    def told(place: Path) -> dict[str, tuple[str, str]]:
        asked = ("rule", "message", "body")
        rows = History.open(str(place)).rows("finding", asked).to_pylist()
        return {row["rule"]: (row["message"], in_language(message_of(row), "zh")) for row in rows}

    found = told(store)
    english, chinese = found["raw-capped"]
    assert "records have no individual times: there are more than 1, or only sums of them" in english
    assert chinese == f"{english.split()[0]} 条记录不含单次时间：超过 1 个，或只有汇总值"
    assert found["workload-unknown"][1] == "没有信息说明测量的对象；以工作负载 'unknown' 存入（参见 --workload）"
    assert cli("store", "verify", "--store", store).code == 0


@pytest.mark.parametrize(
    "body",
    [
        None, "", "{", "[]", "7", "null", '["english", "{name}: {why}", {}, 1]', '["other", "{name}: {why}", {"name": 1, "why": 2}]',
        '["english", "{name.__class__}", {"name": 1}]', '["english", "{name}: {why}", {"name": [1], "why": {}}]', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_body_that_is_none_leaves_the_message_as_it_is(body: str | None) -> None:
    assert in_language(message_of({"message": "english", "body": body}), "zh") == "english"
