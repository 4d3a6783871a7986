"""Records that other tools wrote, and files of records that we wrote: checked, stored once, given back as they were."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli, Ended

from aoe_reports.engine.question import Notes
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.records.runs import read_runs

SAMPLE = Path(__file__).parents[2].parent / "shared" / "data" / "aoe" / "doc_samples" / "tvm_v01_sample.repaired.json"

GOOD: dict[str, Any] = {
    "workload": "example_net",
    "engine": "tvm",
    "hardware": "cloud-16",
    "runtime_ms_mean": 109.43004820081924,
    "runtime_ms_std": None,
    "timestamp": "20191123003411",
    "schema_version": "0.1",
    "metadata": {"docker_tag": "ci:v0.53"},
    "workload_args": {"input_shape_dict": {"data": [1, 3, 112, 112]}, "input_value_dict": {}},
    "runtime_raw": [{"runtime_ms": 109.2, "note": "warm"}, {"runtime_ms": 109.66}],
    "unknown_to_v01": {"kept": [1, 2.5, None, "ü"]},
}
LATER = {**GOOD, "timestamp": 1574512451.5, "runtime_ms_mean": 110}


def lines(path: Path, *documents: Any) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def ingest(cli: Cli, path: Path, store: Path, *more: object) -> Ended:
    return cli("ingest", path, "--store", store, "--format", "json", *more)


def outcomes(ended: Ended) -> list[str]:
    return [row["outcome"] for row in ended.json["rows"]]


def stored(cli: Cli, store: Path, *more: object) -> list[Any]:
    return [
        json.loads(text)
        for text in cli("store", "history", "records", "--store", store, "--format", "jsonl", *more).out.splitlines()
    ]


def normalized(cli: Cli, *args: object) -> list[Any]:
    return [json.loads(text) for text in cli("ingest", "--dry-run", *args).out.splitlines()]


@pytest.mark.parametrize("name", ["r.json", "r.jsonl"])
def test_a_foreign_record_comes_back_from_normalize_and_from_the_store(cli: Cli, tmp_path: Path, name: str) -> None:
    path = lines(tmp_path / name, GOOD)
    assert normalized(cli, path) == [GOOD]
    ended = ingest(cli, path, tmp_path / "s")
    assert ended.code == 0
    assert [(row["kind"], row["workload"], row["night"], row["outcome"]) for row in ended.json["rows"]] == [
        ("foreign", "example_net", "2019-11-23", "added")
    ]
    assert stored(cli, tmp_path / "s") == [GOOD]
    (row,) = cli("store", "history", "records", "--store", tmp_path / "s", "--format", "json").json["rows"]
    assert (row["source"], row["scope"], row["timestamp_ns"]) == ("foreign", "model", 1574469251000000000)
    assert row["runtime_ms_std"] is None


@pytest.mark.skipif(not SAMPLE.is_file(), reason=f"no {SAMPLE}")
def test_the_sample_of_the_schemas_authors_reads_and_writes_back_equal(cli: Cli, tmp_path: Path) -> None:
    document = json.loads(SAMPLE.read_text())
    assert normalized(cli, SAMPLE) == [document]
    assert ingest(cli, SAMPLE, tmp_path / "s").code == 0
    assert stored(cli, tmp_path / "s") == [document]


def test_the_same_records_elsewhere_and_in_another_form_are_the_same_run(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "s"
    assert outcomes(ingest(cli, lines(tmp_path / "a.jsonl", GOOD, LATER), store)) == ["added"]
    shutil.copy(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert outcomes(ingest(cli, tmp_path / "b.jsonl", store)) == ["unchanged"]
    (tmp_path / "c.json").write_text(json.dumps([LATER, GOOD], indent=1))
    assert outcomes(ingest(cli, tmp_path / "c.json", store)) == ["unchanged"]
    assert len(stored(cli, store)) == 2


def test_a_file_that_grew_supersedes_and_a_shorter_one_does_not(cli: Cli, tmp_path: Path) -> None:
    store = tmp_path / "s"
    assert outcomes(ingest(cli, lines(tmp_path / "a.jsonl", GOOD), store)) == ["added"]
    assert outcomes(ingest(cli, lines(tmp_path / "a.jsonl", GOOD, LATER), store)) == ["superseded"]
    assert outcomes(ingest(cli, lines(tmp_path / "b.jsonl", LATER), store)) == ["unchanged"]
    assert stored(cli, store) == [GOOD, LATER]


def test_nights_and_workloads_of_one_file_are_runs_of_their_own(cli: Cli, tmp_path: Path) -> None:
    other = {**GOOD, "workload": "other", "hardware": "b"}
    next_night = {**GOOD, "timestamp": "2019-11-24T00:34:11Z"}
    rows = ingest(cli, lines(tmp_path / "a.jsonl", GOOD, other, next_night), tmp_path / "s").json["rows"]
    assert [(row["workload"], row["night"]) for row in rows] == [
        ("example_net", "2019-11-23"),
        ("other", "2019-11-23"),
        ("example_net", "2019-11-24"),
    ]


def test_a_record_is_used_once_however_often_it_stands_there(cli: Cli, tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", GOOD, GOOD)
    lines(tmp_path / "b.jsonl", LATER, GOOD)
    assert normalized(cli, tmp_path) == [GOOD, LATER]
    assert "repeated-record" in ingest(cli, tmp_path, tmp_path / "s").rules()
    assert outcomes(ingest(cli, tmp_path, tmp_path / "s")) == ["unchanged", "unchanged"]
    assert outcomes(ingest(cli, tmp_path / "b.jsonl", tmp_path / "s")) == ["superseded"]
    assert len(stored(cli, tmp_path / "s")) == 2


def test_the_same_content_under_another_workload_is_refused(cli: Cli, tmp_path: Path) -> None:
    path, store = lines(tmp_path / "a.jsonl", GOOD), tmp_path / "s"
    ingest(cli, path, store)
    ended = ingest(cli, path, store, "--workload", "other")
    assert (ended.code, ended.json["rows"], "workload-conflict" in ended.rules()) == (1, [], True)
    assert stored(cli, store) == [GOOD]
    assert stored(cli, store, "--workload", "other") == []
    named = tmp_path / "named"
    assert ingest(cli, path, named, "--workload", "other").json["rows"][0]["workload"] == "other"
    assert stored(cli, named, "--workload", "other") == [GOOD]


def test_bad_records_are_named_and_kept_out_and_the_others_go_on(cli: Cli, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "a.jsonl",
        {**GOOD, "runtime_ms_mean": "fast"},
        {**GOOD, "timestamp": "soon"},
        GOOD,
        {**GOOD, "runtime_ms_mean": (1 << 53) + 1},
    )
    path.write_text(path.read_text() + json.dumps(GOOD)[:-1] + ', "huge": 1e400}\n{"workload": "cut')
    ended = ingest(cli, path, tmp_path / "s")
    wrong = [(f["line"], f["rule"], f["pointer"]) for f in ended.json["findings"] if f["severity"] == "error"]
    assert wrong == [
        (1, "schema", "/runtime_ms_mean"),
        (2, "timestamp-form", "/timestamp"),
        (4, "record-number", "/runtime_ms_mean"),
        (5, "record-number", ""),
        (6, "json-truncated", None),
    ]
    assert (ended.code, outcomes(ended), ended.json["rows"][0]["status"]) == (1, ["added"], "damaged")
    assert stored(cli, tmp_path / "s") == [GOOD]
    assert [f["rule"] for f in cli("check", path, "--format", "json").json["findings"]] == [
        rule for _, rule, _ in wrong
    ]


def test_places_in_a_list_are_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([GOOD, {**GOOD, "timestamp": "soon"}, 7], indent=1))
    ended = cli("check", tmp_path / "a.json", "--format", "json")
    assert [(f["rule"], f["pointer"]) for f in ended.json["findings"]] == [
        ("timestamp-form", "/1/timestamp"),
        ("schema", "/2"),
    ]
    assert all(finding["line"] for finding in ended.json["findings"])


def test_times_without_a_zone_take_the_one_given_and_say_so(cli: Cli, tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", GOOD)
    assert "time-zone-assumed" in ingest(cli, path, tmp_path / "s").rules()
    ended = ingest(cli, path, tmp_path / "t", "--tz", "Asia/Shanghai")
    assert ended.rules() == set()
    (row,) = cli("store", "history", "records", "--store", tmp_path / "t", "--format", "json").json["rows"]
    assert row["timestamp_ns"] == 1574469251000000000 - 8 * 3600 * 10**9
    assert row["night"] == "2019-11-23"
    zoned = lines(tmp_path / "b.jsonl", LATER, {**GOOD, "timestamp": "2019-11-23T00:34:11+08:00"})
    assert ingest(cli, zoned, tmp_path / "u").rules() == set()


def test_every_digit_of_a_time_counts(cli: Cli, tmp_path: Path) -> None:
    text = json.dumps({**GOOD, "timestamp": 0}).replace('"timestamp": 0', '"timestamp": 1572282699.123456789')
    (tmp_path / "a.json").write_text(f"[{text}]")
    (tmp_path / "b.jsonl").write_text(text.replace("example_net", "other"))
    ingest(cli, tmp_path, tmp_path / "s")
    rows = cli("store", "history", "records", "--store", tmp_path / "s", "--format", "json").json["rows"]
    assert [row["timestamp_ns"] for row in rows] == [1572282699123456789] * 2


def test_nightly_compares_foreign_records_with_their_own_history(cli: Cli, tmp_path: Path) -> None:
    nights = [
        {
            **GOOD,
            "timestamp": f"2019-11-{day:02d}T00:34:11Z",
            "runtime_ms_mean": mean + day % 3 / 10,
            "compilation_config": {"level": level},
        }
        for day, slow in ((day, 1.2 if day > 20 else 1) for day in range(1, 26))
        for level, mean in ((2, 200.0), (3, 100.0 * slow))
    ]
    path = lines(tmp_path / "a.jsonl", *nights)
    ended = cli("nightly", path, "--store", tmp_path / "s", "--format", "json")
    assert (ended.code, ended.json["reasons"], len(ended.json["rows"])) == (1, ["regression"], 25)
    (change,) = ended.json["changes"]
    assert (change["workload"], change["since"], round(change["change"], 2)) == ("example_net", "2019-11-21", 0.2)
    assert round(change["impact_ms"]) == 20
    assert {row["kind"] for row in ended.json["rows"]} == {"foreign"}


@pytest.mark.parametrize(
    ("fixture", "name"), [("msprof/valid/torch_npu_two_ranks", "r.jsonl"), ("aoe/valid/array_grouped", "r.json")]
)
def test_what_normalize_wrote_comes_back_as_it_was(cli: Cli, tmp_path: Path, fixture: str, name: str) -> None:
    source, written = FIXTURES / fixture, tmp_path / name
    cli("ingest", "--dry-run", source, "--workload", "net", "-o", written)
    cli("ingest", "--dry-run", written, "-o", tmp_path / "again" / name)
    assert (tmp_path / "again" / name).read_bytes() == written.read_bytes()
    assert ingest(cli, source, tmp_path / "s", "--workload", "net").code == 0
    assert ingest(cli, written, tmp_path / "t").code == 0
    columns = ("series_id", "source", "scope", "phase", "timestamp_ns", "run", "rank_id", "runtime_ms_mean", "night")
    rows = [
        [
            tuple(row[name] for name in columns)
            for row in cli("store", "history", "records", "--store", tmp_path / place, "--format", "json").json["rows"]
        ]
        for place in ("s", "t")
    ]
    assert rows[0] == rows[1] != []
    assert outcomes(ingest(cli, written, tmp_path / "s")) == ["unchanged"]
    assert outcomes(ingest(cli, source, tmp_path / "t", "--workload", "net")) == ["unchanged"]


def test_records_beside_what_they_were_made_of_are_not_taken_again(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    shutil.copytree(msprof / "statistic_only", tmp_path / "in" / "capture")
    cli("ingest", "--dry-run", tmp_path / "in", "--workload", "net", "-o", tmp_path / "in" / "records.jsonl")
    before = normalized(cli, tmp_path / "in" / "capture", "--workload", "net")
    assert normalized(cli, tmp_path / "in", "--workload", "net") == before
    ended = ingest(cli, tmp_path / "in", tmp_path / "s", "--workload", "net")
    assert (outcomes(ended), "repeated-record" in ended.rules()) == (["added"], True)
    assert ended.code == ingest(cli, tmp_path / "in", tmp_path / "t", "--workload", "other").code == 0


def test_what_our_commands_print_is_no_file_of_records(cli: Cli, tmp_path: Path) -> None:
    ingest(cli, lines(tmp_path / "a.jsonl", GOOD), tmp_path / "s")
    cli("store", "history", "records", "--store", tmp_path / "s", "--format", "json", "-o", tmp_path / "listed.json")
    assert "runtime_ms_mean" in (tmp_path / "listed.json").read_text()
    assert ingest(cli, tmp_path, tmp_path / "s").code == 0


@pytest.mark.parametrize("kept", [slice(1), slice(1, None), slice(0, None, 2)])
def test_some_records_of_a_run_give_way_to_the_whole_and_not_the_other_way(
    cli: Cli, msprof: Path, tmp_path: Path, kept: slice
) -> None:
    source = msprof / "torch_npu_two_ranks"
    documents = normalized(cli, source, "--workload", "net")
    some = lines(tmp_path / "some.jsonl", *documents[kept])
    ingest(cli, source, tmp_path / "s", "--workload", "net")
    assert outcomes(ingest(cli, some, tmp_path / "s")) == ["less-complete"]
    assert len(stored(cli, tmp_path / "s")) == len(documents)
    assert outcomes(ingest(cli, some, tmp_path / "t")) == ["added"]
    if kept.start != 1:  # without the first nothing tells which captures they are of
        assert outcomes(ingest(cli, source, tmp_path / "t", "--workload", "net")) == ["superseded"]
        assert len(stored(cli, tmp_path / "t")) == len(documents)


def test_our_records_keep_their_workload(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    cli("ingest", "--dry-run", msprof / "statistic_only", "--workload", "net", "-o", tmp_path / "r.jsonl")
    ended = ingest(cli, tmp_path / "r.jsonl", tmp_path / "s", "--workload", "other")
    assert (ended.code, ended.rules()) == (1, {"workload-conflict"})
    assert outcomes(ingest(cli, tmp_path / "r.jsonl", tmp_path / "s", "--workload", "net")) == ["added"]


@pytest.mark.parametrize(
    "change",
    [
        {"members": []}, {"members": [["a", "b", 1]]}, {"members": [["a", "b", 1 << 70, True]]}, {"night": "tonight"},
        {"kind": "foreign"}, {"status": None}, {"normaliser_version": True}, {"body": []}, {"records": "all"}, None,
        "members", "night", "body",
    ],
)  # fmt: skip
def test_a_run_that_is_not_as_we_write_it_costs_only_itself(
    cli: Cli, msprof: Path, tmp_path: Path, change: dict[str, Any] | str | None
) -> None:
    documents = normalized(cli, msprof / "statistic_only", "--workload", "net")
    ours = documents[0]["metadata"]["aoe_reports"]
    if change is None:
        ours["run"] = 7
    elif isinstance(change, str):
        del ours["run"][change]
    else:
        ours["run"] |= change
    ended = ingest(cli, lines(tmp_path / "a.jsonl", *documents), tmp_path / "s")
    assert [(row["kind"], row["records"]) for row in ended.json["rows"]] == [("profile", len(documents))]


def test_jsonl_is_of_whole_records(cli: Cli, tmp_path: Path) -> None:
    assert cli("store", "history", "runs", "--store", tmp_path, "--format", "jsonl").code == 2
    assert cli("store", "history", "records", "--store", tmp_path, "--format", "jsonl", "--last", 1).code == 2


def test_a_run_has_what_all_of_its_records_have_in_common(tmp_path: Path) -> None:
    alike = {"engine_version": "0.6", "hardware_config": {"cores": 8}}
    first, second = (
        {**one, **alike, "runtime_config": {"threads": threads}} for one, threads in ((GOOD, 1), (LATER, 2))
    )
    path = lines(tmp_path / "a.jsonl", first, second, {**first, "workload": "alone"})
    both, one = read_runs([path], RecordOptions(), Notes())
    told = {"engine": "tvm", "engine_version": "0.6", "hardware_config": {"cores": 8}}
    assert (len(both.records), both.facts) == (2, told)
    assert (len(one.records), one.facts) == (1, {**told, "runtime_config": {"threads": 1}})
