"""What workloads are called: as the command line shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from captures import BERT, FIRST, QUIET, RANKER, Night, write_night, write_tuning
from commandline import Cli, Ended

from aoe_reports.simulation.nights import write_nights
from aoe_reports.topics.records.naming import WorkloadFrom, lasting_name

MODELS: Mapping[str, Night] = {"resnet50": QUIET, "bert": BERT, "ranker": RANKER}


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
        for row in cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]:
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


@pytest.mark.slow
def test_three_models_in_one_folder_are_three_workloads(cli: Cli, tmp_path: Path) -> None:
    nights = write_models(tmp_path / "nights", *range(4))
    ended = cli("nightly", nights, "--store", tmp_path / "store", "--format", "json")
    assert (ended.code, conflicts(ended)) == (0, [])
    assert stored(cli, tmp_path / "store") == {"resnet50": 4, "bert": 4, "ranker": 4}
    steps = cli("regressions", "--store", tmp_path / "store", "--scope", "step", "--whole-history", "--format", "json")
    assert steps.json["rows"] == []  # three levels of their own, none of which moved
    records = cli(
        "store", "history", "records", "--store", tmp_path / "store", "--scope", "step", "--format", "json"
    ).json["rows"]
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
    lines = cli("ingest", "--dry-run", nights).out.splitlines()
    assert {json.loads(line)["workload"].partition("/")[0] for line in lines} == set(MODELS)
    mapped = cli(
        "ingest", "--dry-run", nights / date_of(0) / "bert", "--workload-from", "/**/{workload}/host_*"
    ).out.splitlines()
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
