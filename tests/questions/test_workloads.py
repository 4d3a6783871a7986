"""What workloads are called, and what keeps two of them out of one series: as the command line shows it."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from captures import BERT, FIRST, QUIET, RANKER, Kernel, Night, changed, write_night, write_tuning
from commandline import Cli, Ended

from aoe_reports.questions.records.naming import WorkloadFrom, lasting_name
from aoe_reports.simulation.nights import write_nights

MODELS: Mapping[str, Night] = {"resnet50": QUIET, "bert": BERT, "ranker": RANKER}
REAL = Path(os.environ.get("AOE_REPORTS_REAL_DATA", Path(__file__).parents[3] / "shared" / "data")) / "msprof"


def date_of(number: int) -> str:
    return f"{FIRST + timedelta(days=number):%Y-%m-%d}"


def write_models(folder: Path, *numbers: int, models: Mapping[str, Night] = MODELS) -> Path:
    """Nights of several models: one folder a night, one a model in it."""
    for number in numbers:
        for hours, (name, night) in enumerate(models.items()):
            write_night(folder / date_of(number) / name, number, night, hours=hours)
    return folder


def ingest(cli: Cli, store: Path, *more: object) -> Ended:
    return cli("ingest", *more, "--store", store, "--format", "json")


def names(ended: Ended) -> dict[str, str]:
    """Workload by the folder above the capture."""
    return {Path(row["path"]).parent.name: row["workload"] for row in ended.json["rows"]}


def stored(cli: Cli, store: Path) -> dict[str, int]:
    """How many runs the store has of each workload."""
    found: dict[str, int] = {}
    if store.exists():
        for row in cli("history", "runs", "--store", store, "--format", "json").json["rows"]:
            found[row["workload"]] = found.get(row["workload"], 0) + 1
    return found


def conflicts(ended: Ended) -> list[str]:
    return [one["message"] for one in ended.json["findings"] if one["rule"] == "workload-conflict"]


def write_summary(folder: Path, number: int, op_type: str = "Conv2D", device: int = 0, model: str = "N/A") -> None:
    """A capture of msprof with one task, which no info file gives a rank."""
    start = FIRST + timedelta(days=number, minutes=device)
    exports = (
        folder / f"PROF_000001_{start:%Y%m%d%H%M%S}000_ABCDEFGHIJKLMNO{'PQ'[device]}" / "mindstudio_profiler_output"
    )
    exports.mkdir(parents=True)
    (exports / f"op_summary_{start:%Y%m%d%H%M%S}.csv").write_text(
        "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time(us),"
        "Task Duration(us),Task Wait Time(us),Block Dim\n"
        f"{device},{model},1,1,2,0,{op_type.lower()},{op_type},AI_CORE,{int(start.timestamp())}000000.000\t,12.5,0,24\n"
    )


# names


def test_three_models_in_one_folder_are_three_workloads(cli: Cli, tmp_path: Path) -> None:
    nights = write_models(tmp_path / "nights", *range(10))
    ended = cli("nightly", nights, "--store", tmp_path / "store", "--format", "json")
    assert (ended.code, conflicts(ended)) == (0, [])
    assert stored(cli, tmp_path / "store") == {"resnet50": 10, "bert": 10, "ranker": 10}
    steps = cli("regressions", "--store", tmp_path / "store", "--scope", "step", "--whole-history", "--format", "json")
    assert steps.json["rows"] == []  # three levels of their own, none of which moved
    records = cli("history", "records", "--store", tmp_path / "store", "--scope", "step", "--format", "json").json[
        "rows"
    ]
    levels: dict[str, list[float]] = {}
    for row in records:
        levels.setdefault(row["workload"], []).append(row["runtime_ms_mean"])
    assert sorted(levels) == ["bert/step", "ranker/step", "resnet50/step"]
    assert all(max(times) < 1.05 * min(times) for times in levels.values())


def test_a_name_does_not_depend_on_whether_one_night_is_given_or_all(cli: Cli, tmp_path: Path) -> None:
    nights = write_models(tmp_path / "perf", 0, 1)
    one = ingest(cli, tmp_path / "one", nights / date_of(0))
    assert names(one) == {name: name for name in MODELS}
    assert names(ingest(cli, tmp_path / "all", nights)) == names(one)
    assert names(ingest(cli, tmp_path / "above", tmp_path)) == {name: f"perf/{name}" for name in MODELS}


def test_normalize_names_workloads_as_ingest_does(cli: Cli, tmp_path: Path) -> None:
    nights = write_models(tmp_path / "nights", 0)
    lines = cli("normalize", nights).out.splitlines()
    assert {json.loads(line)["workload"].partition("/")[0] for line in lines} == set(MODELS)
    mapped = cli("normalize", nights / date_of(0) / "bert", "--workload-from", "/**/{workload}/host_*").out.splitlines()
    assert {json.loads(line)["workload"].partition("/")[0] for line in mapped} == {"bert"}


def test_a_capture_given_itself_or_below_dates_alone_stays_unknown(cli: Cli, tmp_path: Path) -> None:
    capture = write_night(tmp_path / "resnet50" / date_of(0), 0, QUIET)
    for path in (capture, capture.parent, capture / "ASCEND_PROFILER_OUTPUT", tmp_path / "resnet50"):
        ended = ingest(cli, tmp_path / "store", path)
        assert [row["workload"] for row in ended.json["rows"]] == ["unknown"]
        assert "workload-unknown" in ended.rules()


def test_simulated_nights_below_dates_are_one_unknown_history(cli: Cli, tmp_path: Path) -> None:
    write_nights(tmp_path / "nights", 6)
    ended = ingest(cli, tmp_path / "store", tmp_path / "nights")
    assert ended.code == 0
    assert {row["workload"] for row in ended.json["rows"] if row["kind"] == "profile"} == {"unknown"}


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("resnet50", "resnet50"),
        ("resnet50_20260214", "resnet50"),
        ("2026-02-14_resnet50_bs32", "resnet50_bs32"),
        ("resnet50.2026-02-14T02:00:00Z", "resnet50"),
        ("net-a1b2c3d", "net"),
        ("llama_2048_1024", "llama_2048_1024"),
        ("t5", "t5"),
        ("u-net", "u-net"),
        ("w8a8", "w8a8"),
        ("deepseek_v3_671b", "deepseek_v3_671b"),
        ("中文模型", "中文模型"),
        ("train", "train"),
        ("GPT-3_result", "GPT-3_result"),
        *(
            (generic, None)
            for generic in (
                "2026-02-14", "20260214", "20260214T020000Z", "2026_02_14-03.15.00", "2026", "02", "nightly-2026-02-14T02:00:00",
                "host_4711_20260301020000_ascend_pt", "PROF_000001_20260605155111872_JDEKRCNERPBNJEGA", "PROF_001_x",
                "rank_0", "rank0_ascend_pt", "device_0", "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output", "run-17",
                "job_8812", "build-1234", "level1", "before", "ge_default_20230118103502_1", "kernel_graph_0", "a1b2c3d", "0",
            )
        ),
    ],
)  # fmt: skip
def test_what_changes_with_the_night_is_no_part_of_a_name(folder: str, name: str | None) -> None:
    assert lasting_name(folder) == name


def test_folders_between_the_path_and_the_capture_are_the_name_together(cli: Cli, tmp_path: Path) -> None:
    for hours, size in enumerate(("bs32", "bs64")):
        write_night(tmp_path / "in" / "resnet50" / date_of(0) / size, 0, QUIET, hours=hours)
    assert names(ingest(cli, tmp_path / "store", tmp_path / "in")) == {"bs32": "resnet50/bs32", "bs64": "resnet50/bs64"}


def test_what_a_script_says_in_the_metadata_names_the_workload_before_folders_do(cli: Cli, tmp_path: Path) -> None:
    for key, expected in (("model_name", "llama-7b"), ("workload", "llama-7b"), ("other", "folder-of-mine")):
        capture = write_night(tmp_path / key / "folder-of-mine", 0, QUIET)
        (capture / "profiler_metadata.json").write_text(json.dumps({key: "llama-7b", "ENV_VARIABLES": {}}))
        assert names(ingest(cli, tmp_path / f"store-{key}", tmp_path / key)) == {"folder-of-mine": expected}
    (capture / "profiler_metadata.json").write_text("{")
    assert "info-file" in ingest(cli, tmp_path / "damaged", capture).rules()


def test_the_model_name_of_a_table_names_the_workload_unless_it_is_dated(cli: Cli, tmp_path: Path) -> None:
    for written, expected in (
        ("resnet50", "resnet50"),
        ("ge_default_20260301020000_1", "mine"),
        ("vit_20260301", "vit"),
    ):
        write_summary(tmp_path / written / "mine", 0, model=written)
        rows = ingest(cli, tmp_path / f"store-{written}", tmp_path / written).json["rows"]
        assert [row["workload"] for row in rows] == [expected]


def test_captures_side_by_side_are_compared_under_the_names_that_they_are_stored_under(
    cli: Cli, tmp_path: Path
) -> None:
    write_summary(tmp_path / "in", 0, "Conv2D", model="resnet50")
    write_summary(tmp_path / "in", 1, "BatchMatMulV2", model="bert_20260302")
    ended = ingest(cli, tmp_path / "store", tmp_path / "in")
    assert (ended.code, conflicts(ended)) == (0, [])
    assert stored(cli, tmp_path / "store") == {"resnet50": 1, "bert": 1}
    write_summary(tmp_path / "same", 0, "Conv2D", model="vit")
    write_summary(tmp_path / "same" / "of-a-folder", 1, "BatchMatMulV2", model="vit")
    ended = ingest(cli, tmp_path / "other", tmp_path / "same")
    assert (ended.code, len(conflicts(ended)), ended.json["rows"]) == (1, 2, [])
    assert all("which is also workload 'vit'" in message for message in conflicts(ended))


def test_a_name_that_only_the_sums_of_operators_tell_is_known_before_captures_are_compared(
    cli: Cli, tmp_path: Path
) -> None:
    for number, (op_type, model) in enumerate((("Conv2D", "resnet50"), ("BatchMatMulV2", "bert"))):
        write_summary(tmp_path / "in", number, op_type)
        (table,) = (tmp_path / "in").glob(f"PROF_000001_2026030{number + 1}*/*/op_summary_*.csv")
        table.rename(table.with_name(table.name.replace("op_summary", "op_statistic")))
        table.with_name(table.name.replace("op_summary", "op_statistic")).write_text(
            "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
            f"0,{model},{op_type},AI_CORE,2,25,12.5,12.5,12.5,100\n"
        )
    ended = ingest(cli, tmp_path / "store", tmp_path / "in")
    assert (ended.code, conflicts(ended)) == (0, [])
    assert stored(cli, tmp_path / "store") == {"resnet50": 1, "bert": 1}


def test_what_nothing_names_is_not_advised_to_be_called_unknown(cli: Cli, tmp_path: Path) -> None:
    write_summary(tmp_path / "in", 0, "Conv2D")
    write_summary(tmp_path / "in", 1, "BatchMatMulV2")
    ended = ingest(cli, tmp_path / "store", tmp_path / "in")
    assert len(conflicts(ended)) == 2
    assert all("--workload NAME" in message for message in conflicts(ended))
    assert "--workload unknown" not in ended.out + ended.err
    write_summary(tmp_path / "later" / "net", 2, "Conv2D")
    assert ingest(cli, tmp_path / "store", tmp_path / "later").code == 0
    (capture,) = (tmp_path / "later" / "net").iterdir()
    again = ingest(cli, tmp_path / "store", capture)
    (remark,) = (one["message"] for one in again.json["findings"] if one["rule"] == "workload-continued")
    assert "continue as workload 'net'" in remark
    assert "--workload unknown" not in again.out + again.err


@pytest.mark.parametrize("command", ["ingest", "nightly"])
def test_where_all_is_refused_no_store_is_made(cli: Cli, tmp_path: Path, command: str) -> None:
    write_summary(tmp_path / "in", 0, "Conv2D")
    write_summary(tmp_path / "in", 1, "BatchMatMulV2")
    ended = cli(command, tmp_path / "in", "--store", tmp_path / "store", "--format", "json")
    assert (ended.code, len(conflicts(ended))) == (1, 2)
    assert not (tmp_path / "store").exists()


def test_given_wins_over_mapped_wins_over_what_is_said_wins_over_folders(cli: Cli, tmp_path: Path) -> None:
    capture = write_night(tmp_path / "in" / "first" / "second", 0, QUIET)
    (capture / "profiler_metadata.json").write_text(json.dumps({"model_name": "said"}))
    tuning = write_tuning(tmp_path / "in" / "first" / "second", FIRST, "conv")  # its tuning_name is net
    cases: list[tuple[list[str], tuple[str, str]]] = [
        (["--workload", "given", "--workload-from", "folder"], ("given", "given")),
        (["--workload-from", "*/{workload}"], ("second", "second")),
        (["--workload-from", "folder"], ("first/second", "first/second")),
        (["--workload-from", "{workload}_*"], ("said", "net")),  # does not fit
        ([], ("said", "net")),
    ]
    for place, (options, expected) in enumerate(cases):
        ended = ingest(cli, tmp_path / f"store{place}", tmp_path / "in", *options)
        by_kind = {row["kind"]: row["workload"] for row in ended.json["rows"]}
        assert (by_kind["profile"], by_kind["tuning"]) == expected, options
        assert ("workload-from" in ended.rules()) == (options == ["--workload-from", "{workload}_*"])
    assert tuning.exists()


# --workload-from


def test_folder_names_what_is_given_itself_too(cli: Cli, tmp_path: Path) -> None:
    nights = write_models(tmp_path / "nights", 0, 1)
    given = [nights / date_of(number) / name for number in (0, 1) for name in MODELS]
    ended = ingest(cli, tmp_path / "store", *given, "--workload-from", "folder")
    assert (ended.code, stored(cli, tmp_path / "store")) == (0, dict.fromkeys(MODELS, 2))


@pytest.mark.parametrize(
    ("pattern", "folders", "name"),
    [
        ("{workload}", "resnet50/x", "resnet50"),
        ("*/{workload}", "2026-02-14/bert", "bert"),
        ("*/{workload}", "2026-02-14", None),
        ("{workload}_bs*", "resnet50_v2_bs32/x", "resnet50_v2"),
        ("*_{workload}_prof", "x_a_b_prof", "a_b"),
        ("**/models/{workload}", "q/models/n/z", "n"),
        ("**/{workload}/host_*", "a/b/c/host_1", "c"),
        ("a/**/{workload}.d", "b/x.d", None),
        ("{workload}", "bert_20260214", "bert"),
        ("{workload}", "2026-02-14", None),
        ("{workload}/PROF*", "a/b", None),
    ],
)
def test_a_pattern_names_the_folder_it_says(pattern: str, folders: str, name: str | None) -> None:
    assert WorkloadFrom.parse(pattern).name_of(Path("/given", folders), tuple(folders.split("/"))) == name


def test_a_pattern_that_begins_with_a_slash_sees_the_whole_path(cli: Cli, tmp_path: Path) -> None:
    capture = write_night(tmp_path / "nights" / date_of(0) / "bert", 0, BERT)
    for place, path in enumerate((tmp_path, capture.parent, capture)):
        ended = ingest(cli, tmp_path / f"store{place}", path, "--workload-from", "/**/nights/*/{workload}")
        assert names(ended) == {"bert": "bert"}


@pytest.mark.parametrize(
    "pattern", ["", "*", "{workload}/{workload}", "a**/{workload}", "{workload}*", "*{workload}", "a/b", "x" * 501]
)
def test_a_pattern_that_cannot_name_anything_is_wrong_usage(cli: Cli, tmp_path: Path, pattern: str) -> None:
    ended = cli("ingest", tmp_path, "--store", tmp_path / "store", "--workload-from", pattern)
    assert ended.code == 2
    assert "--workload-from" in ended.err


def test_no_pattern_takes_long() -> None:
    calls = 0

    class Counted(str):
        __slots__ = ()

        def find(self, *args: object) -> int:  # type: ignore[override]
            nonlocal calls
            calls += 1
            return super().find(*args)  # type: ignore[arg-type]

    rule = WorkloadFrom.parse("**/" + "*a" * 150 + "-{workload}-" + "a*" * 50 + "b")
    assert rule.name_of(Path("/x"), tuple(Counted("a" * 250) for _ in range(100))) is None
    assert calls < 100 * 250  # at most one look a piece and folder


def test_the_configuration_file_maps_folders(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_models(tmp_path / "nights", 0)
    (tmp_path / "aoe-reports.toml").write_text('workload-from = "*/{workload}"\n')
    monkeypatch.chdir(tmp_path)
    assert names(cli("ingest", "nights", "--store", "store", "--format", "json")) == {name: name for name in MODELS}
    (tmp_path / "aoe-reports.toml").write_text('workload-from = "*"\n')
    assert cli("ingest", "nights", "--store", "store").code == 2


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
        both = row.replace(",1,1,2,0,", ",1,2,2,0,").replace("conv2d,Conv2D", "matmul,MatMulV2")
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
    records = cli("history", "records", "--store", tmp_path / "store", "--scope", "step", "--format", "json").json[
        "rows"
    ]
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
    for name in MODELS:
        part = store.parent / f"part-{name}"
        assert ingest(cli, part, night / name).code == 0
        exported = store.parent / f"{name}.jsonl"
        assert cli("store", "export", exported, "--store", part).code == 0
        assert cli("store", "import", exported, "--store", store).code == 0


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
