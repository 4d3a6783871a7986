"""Commands on a store as a user calls them: what each answers, in which form, and what it refuses."""

from __future__ import annotations

import json
import shutil
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from commandline import FIXTURES, Cli
from stores import store_at_once

from aoe_reports.topics.records.options import RecordOptions

FIRST = date(2026, 1, 1)
WHEN = ("--from", "2026-03-01", "--change", "5%")


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workload that is slower since night 31, and one of two nights; nobody may write there."""
    folder = tmp_path_factory.mktemp("slower")
    series = {"net/step": [10.0 + 0.01 * (night % 3) + (night >= 30) for night in range(40)], "new/step": [5.0, 5.1]}
    records = [
        {
            "workload": workload, "engine": "cann", "hardware": "910B", "runtime_ms_mean": value, "runtime_ms_std": None,
            "timestamp": f"{FIRST + timedelta(days=night)}T02:00:00Z", "schema_version": "0.1", "metadata": {},
        }
        for workload, values in series.items()
        for night, value in enumerate(values)
    ]  # fmt: skip
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    store_at_once([folder / "records.jsonl"], folder / "store", RecordOptions(tz="UTC"))
    return folder / "store"


@pytest.fixture
def store(slower: Path, tmp_path: Path) -> Path:
    shutil.copytree(slower, tmp_path / "store")
    return tmp_path / "store"


def test_a_word_on_a_change_is_answered_with_what_the_store_did(cli: Cli, store: Path) -> None:
    place = ("--store", store, "--format", "json")
    (row,) = cli("regressions", *place).json["rows"]
    said = ("--reason", "a new driver \udcff", "--who", "me \udcff")
    done = cli("store", "ack", row["series_id"], *said, *place)
    assert (done.code, done.json["command"], done.json["inputs"]) == (0, "ack", [str(store)])
    (ack,) = done.json["rows"]
    assert (ack["subject"], ack["outcome"], ack["series"]) == (row["series_id"], "added", 1)
    assert (ack["reason"], ack["who"]) == ("a new driver ?", "me ?")
    assert cli("regressions", *place).json["rows"][0]["acknowledged"]["reason"] == "a new driver ?"
    expected = cli("store", "expect", "net/", *WHEN, *said, *place)
    assert (expected.code, expected.json["command"]) == (0, "expect"), expected.err
    assert (expected.json["rows"][0]["subject"], expected.json["rows"][0]["who"]) == ("net", "me ?")
    (run, *_) = cli("store", "history", "runs", *place).json["rows"]
    named = cli("store", "tag", "release \udcff", "--run", run["run"], "--who", "me", *place)
    assert (named.code, named.json["command"]) == (0, "tag"), named.err
    assert (named.json["rows"][0]["tag"], named.json["rows"][0]["run"]) == ("release ?", run["run"])
    titles = [
        cli("store", "ack", ack["id"], "--revoke", *said, *place[:2]).out,
        cli("store", "expect", "net", *WHEN, *said, *place[:2]).out,
        cli("store", "tag", "other", "--run", run["run"], *place[:2]).out,
    ]
    assert [title.strip().splitlines()[0] for title in titles] == ["Acknowledgement", "Expectation", "Named run"]


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        (("store", "ack", "x", "--reason", " "), "--reason"),
        (("store", "expect", "net", *WHEN, "--reason", ""), "--reason"),
        (("store", "expect", " ", *WHEN, "--reason", "y"), "WORKLOAD"),
        (("store", "tag", "\t", "--run", "x"), "NAME"),
    ],
)
def test_a_word_of_nothing_is_refused(cli: Cli, slower: Path, asked: tuple[str, ...], what: str) -> None:
    ended = cli(*asked, "--store", slower)
    assert (ended.code, ended.err) == (2, f"aoe-reports: error: {what}: expected text that is not empty\n")


def test_commands_of_the_store_answer_with_their_name_and_one_row(cli: Cli, store: Path) -> None:
    place = ("--store", store)
    run = cli("store", "history", "runs", *place, "--format", "json").json["rows"][0]["run"]
    for name, *more in (
        ("info",), ("verify",), ("compact",), ("vacuum",), ("undo", run),
    ):  # fmt: skip
        ended = cli("store", name, *more, *place, "--format", "json")
        assert (ended.code, ended.json["command"], ended.json["inputs"]) == (0, f"store {name}", [str(store)]), (
            ended.err
        )
        assert (len(ended.json["rows"]), ended.json["reasons"]) == (1, [])
    assert cli("store", "info", *place).out.startswith("41 runs with 41 records in ")


def test_a_damaged_store_is_verified_with_findings(cli: Cli, store: Path) -> None:
    part = next(store.glob("kind=*/**/*.parquet"))
    part.write_bytes(part.read_bytes()[:-8])
    ended = cli("store", "verify", "--store", store, "--format", "json")
    assert (ended.code, ended.json["reasons"]) == (1, ["damage"])
    assert ended.json["findings"]
    text = cli("store", "verify", "--store", store)
    assert (text.code, "error: " in text.err + text.out) == (1, True)


def test_regressions_have_forms_for_other_programs(cli: Cli, slower: Path) -> None:
    """Forms that have no place for findings have them beside."""
    asked = ("regressions", "--store", slower)
    plain = cli(*asked)
    said = cli(*asked, "--format", "json")
    assert (plain.code, said.code, len(said.json["rows"])) == (1, 1, 1)
    assert "\n\nRegressions\n" in plain.out
    assert "net/step" in plain.out
    told = {form: cli(*asked, "--format", form) for form in ("junit", "sarif", "openmetrics", "grafana")}
    assert {form: ended.code for form, ended in told.items()} == dict.fromkeys(told, 1)
    suites = ET.fromstring(told["junit"].out)
    assert suites.find(".//failure") is not None
    (ran,) = told["sarif"].json["runs"]
    assert ran["tool"]["driver"]["name"] == "aoe-reports"
    assert [one["ruleId"] for one in ran["results"]] != []
    assert told["openmetrics"].out.endswith("# EOF\n")
    assert isinstance(json.loads(told["grafana"].out), list)


@pytest.mark.parametrize(
    ("form", "beside"),
    [("text", True), ("csv", True), ("json", False), ("junit", False), ("sarif", False), ("openmetrics", True), ("grafana", True)],
)  # fmt: skip
def test_findings_stand_beside_a_form_that_has_no_place_for_them(
    cli: Cli, slower: Path, form: str, beside: bool
) -> None:
    asked = ("regressions", "--store", slower, "--workload", "nothing", "--format", form)
    told = (
        f"{slower}: warning: no series of workload 'nothing' is stored; 2 other series are stored [nothing-selected]\n"
    )
    ended = cli(*asked)
    assert (ended.code, ended.err) == (4, told if beside else "")
    strict = cli(*asked, "--strict-data")
    assert (strict.code, strict.err) == (4, ended.err)


def test_history_prints_whole_records_without_limits_only(cli: Cli, slower: Path) -> None:
    lines = cli("store", "history", "records", "--format", "jsonl", "--store", slower)
    assert (lines.code, len(lines.out.splitlines())) == (0, 42)
    assert json.loads(lines.out.splitlines()[0])["workload"] == "new/step"
    for more in (("records", "--last", 1), ("records", "--run", "x"), ("runs",)):
        refused = cli("store", "history", *more, "--format", "jsonl", "--store", slower)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == (
            "aoe-reports: error: --format jsonl outputs whole records; use `store history records` without --last and --run\n"
        )


def test_records_go_into_a_file_of_the_form_that_its_name_says(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    asked = ("ingest", "--dry-run", msprof / "statistic_only", "--workload", "net")
    printed = cli(*asked)
    told = [json.loads(line) for line in printed.out.splitlines()]
    assert len(told) > 1
    for name in ("r.jsonl", "r.json", "r.parquet"):
        ended = cli(*asked, "-o", tmp_path / name)
        assert (ended.code, ended.out, ended.err) == (printed.code, "", printed.err)
    assert (tmp_path / "r.jsonl").read_text() == printed.out
    assert json.loads((tmp_path / "r.json").read_text()) == told
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "r.parquet")["workload"].to_pylist() == [one["workload"] for one in told]
    damaged = FIXTURES / "msprof" / "invalid" / "negative-duration"
    assert cli("ingest", "--dry-run", damaged).code == 1
    assert cli("ingest", "--dry-run", tmp_path / "nothing").code == 3


# The other commands that are no questions


def test_rules_are_named_with_commas_and_blanks(cli: Cli) -> None:
    folder = FIXTURES / "aoe" / "invalid" / "failed-without-list"
    asked = ("check", folder, "--format", "json", "--ignore")
    assert cli(*asked, " tuning-failed , failed-without-list, ").json["findings"] == []
    refused = cli(*asked, "tuning-failed,nothing")
    assert (refused.code, refused.err) == (
        2, "aoe-reports: error: check: no rule 'nothing'; `aoe-reports check --rules` lists them\n",
    )  # fmt: skip
    assert cli("check").err == "aoe-reports: error: check: expected a PATH, or --rules\n"


def test_results_are_followed_until_all_are_there_and_then_checked(cli: Cli, aoe: Path, tmp_path: Path) -> None:
    (result,) = (aoe / "array_grouped").glob("*.json")
    ended = cli("check", aoe / "array_grouped", "--watch", "--interval", "0.1", "--format", "json")
    assert (ended.code, len(ended.json["rows"])) == (0, 1)
    (line,) = ended.err.splitlines()
    assert line.startswith(f"{result}: ")
    assert "tuning successful" in line
    missing = cli("check", tmp_path / "x", "--watch")
    assert (missing.code, missing.err) == (
        2, f"aoe-reports: error: check --watch: {tmp_path / 'x'}: no such file or folder\n",
    )  # fmt: skip
    (tmp_path / "notes.txt").write_text("words")
    other = cli("check", tmp_path / "notes.txt", "--watch")
    assert (other.code, other.err) == (
        2,
        (
            f"aoe-reports: error: check --watch: {tmp_path / 'notes.txt'}: neither the name nor the content is that of an "
            "AOE result\n"
        ),
    )


def test_a_table_needs_a_kind_a_path_and_a_place_for_parquet(cli: Cli, msprof: Path) -> None:
    assert cli("table").err == "aoe-reports: error: table: expected a KIND and a PATH, or --list\n"
    assert cli("table", "op_summary").code == 2
    assert cli("table", "op_summary", msprof, "--format", "parquet").err == (
        "aoe-reports: error: table --format parquet: expected -o FILE (Parquet cannot be shown in a terminal)\n"
    )
    listed = cli("table", "--list")
    assert listed.code == 0
    assert "op_summary" in listed.out
    damaged = FIXTURES / "msprof" / "invalid" / "negative-duration"
    shown, told = cli("table", "kernel_details", damaged), cli("table", "kernel_details", damaged, "--format", "json")
    assert (shown.code, told.code, "[negative-duration]" in shown.err, told.err) == (1, 1, True, "")


def test_a_site_lists_its_pages(cli: Cli, slower: Path, tmp_path: Path) -> None:
    ended = cli("site", "--store", slower, "-o", tmp_path / "site", "--format", "json")
    assert (ended.code, ended.json["command"], ended.json["inputs"]) == (0, "site", [str(slower)])
    assert (tmp_path / "site" / "index.html").is_file()
    assert cli("site", "--store", slower, "-o", tmp_path / "site").out.strip().splitlines()[0] == "Site"


def test_a_long_history_lists_the_newest(cli: Cli, slower: Path) -> None:
    listed = cli("store", "history", "records", "--rows", 2, "--workload", "net/step", "--store", slower).out
    assert "The newest 2 of 40 rows are listed; `--rows 40` lists all." in listed
    assert [night for night in ("2026-02-07", "2026-02-08", "2026-02-09") if night in listed] == [
        "2026-02-08",
        "2026-02-09",
    ]
    asked = ("store", "history", "records", "--rows", 2, "--store", slower, "--format")
    assert len(cli(*asked, "json").json["rows"]) == len(cli(*asked, "csv").out.splitlines()) - 1 == 42
