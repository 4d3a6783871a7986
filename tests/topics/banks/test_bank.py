"""`bank` and `bank diff`: what is covered, and what differs."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

BANKS = FIXTURES / "banks"
KB = Path("Ascend910B3") / "unified_bank" / "Ascend910B3_20_AiCore_MatMulV3_runtime_kb.json"


def test_entries_are_told_by_chip_type_shapes_and_version(cli: Cli) -> None:
    ended = cli("bank", BANKS / "after", "--format", "json")
    assert ended.code == 0
    told = [
        (
            row["kind"],
            row["soc"],
            row["cores"],
            row["op_type"],
            row["shapes"],
            row["data_types"],
            row["attributes"],
            row["version"],
        )
        for row in ended.json["rows"]
    ]
    assert told == [
        ("runtime_kb", "Ascend910B1", 24, "MatMulV3", "128,384;384,160", "FLOAT16;FLOAT16", None, 0),
        ("runtime_kb", "Ascend910B3", 20, "Conv3D", None, None, None, 0),
        ("runtime_kb", "Ascend910B3", 20, "MatMulV3", "2048,2048;2048,2048", "FLOAT16;FLOAT16", "trans_b", 0),
        ("runtime_kb", "Ascend910B3", 20, "MatMulV3", "768,96;320,96", "FLOAT16;FLOAT16", "trans_b", 0),
        ("runtime_kb", "Ascend910B3", 20, "MatMulV3", "512,1024;1024,256", "FLOAT16;FLOAT16", None, 0),
        ("gdat", "Ascend910B3", None, None, None, None, None, None),
    ]
    assert [(row["soc"], row["op_type"], row["entries"]) for row in ended.json["files"]] == [
        ("Ascend910B1", "MatMulV3", 1),
        ("Ascend910B3", "Conv3D", 1),
        ("Ascend910B3", "MatMulV3", 3),
        ("Ascend910B3", None, 1),
    ]
    assert ended.json["rows"][2]["knowledge"]["baseM"] == 128
    assert ended.json["rows"][5]["model"] == "5317"


def test_a_key_that_is_not_translated_is_shown_as_the_bank_has_it(cli: Cli) -> None:
    rows = cli("bank", BANKS / "after", "--format", "json").json["rows"]
    assert "aShapeD=4, aShapeH=28" in rows[1]["looked_up_by"]
    assert {row["looked_up_by"] for row in rows if row["op_type"] == "MatMulV3"} == {None}


def test_of_an_auto_tune_bank_the_type_is_null_and_its_nodes_are_named(cli: Cli) -> None:
    ended = cli("bank", "list", BANKS / "auto_tune", "--format", "json").json
    assert [(row["op_type"], row["shapes"], row["nodes"]) for row in ended["rows"]] == [
        (None, "2,48,7", 2),
        (None, "5,9;5,1;6", 3),
    ]
    assert [row["operators"] for row in ended["rows"]] == [
        "elewise_binary_add, input",
        "elewise_binary_sub, elewise_single_rec, elewise_binary_add",
    ]
    assert "the code of CANN 8.1.RC1 that reads it" in ended["files"][0]["form_known_from"]
    assert ended["files"][0]["written"] == "20210203_040506_000789"


def test_the_command_is_list_where_none_is_named(cli: Cli) -> None:
    named, unnamed = (cli(*words, BANKS / "after") for words in (("bank", "list"), ("bank",)))
    assert named == unnamed
    for words in (("--lang", "zh"), ("--lang=zh",)):
        assert "条目" in cli("bank", *words, BANKS / "after").out
        assert "条目" in cli("bank", *words, "diff", BANKS / "before", BANKS / "after").out
    assert cli("bank", "--format", "csv", BANKS / "after").out.startswith("path,kind,soc,cores,op_type,shapes")


def test_what_differs(cli: Cli) -> None:
    ended = cli("bank", "diff", BANKS / "before", BANKS / "after", "--format", "json")
    assert ended.code == 0
    assert [(row["change"], row["soc"], row["op_type"], row["shapes"]) for row in ended.json["rows"]] == [
        ("added", "Ascend910B3", None, None),
        ("added", "Ascend910B1", "MatMulV3", "128,384;384,160"),
        ("added", "Ascend910B3", "Conv3D", None),
        ("changed", "Ascend910B3", "MatMulV3", "768,96;320,96"),
        ("removed", "Ascend910B3", "MatMulV3", "64,640;640,48"),
        ("added", "Ascend910B3", "MatMulV3", "2048,2048;2048,2048"),
    ]
    changed = ended.json["rows"][3]
    assert changed["fields"] == ["singleCoreM: 128 → 256", "baseM: 128 → 256"]
    assert changed["before"] != changed["after"]
    totals = {(row["kind"], row["soc"], row["op_type"]): row for row in ended.json["totals"]}
    counts = totals["runtime_kb", "Ascend910B3", "MatMulV3"]
    assert [counts[name] for name in ("added", "removed", "changed", "unchanged")] == [1, 1, 1, 1]


def test_people_are_told_first_how_much_differs(cli: Cli) -> None:
    before, after = BANKS / "before", BANKS / "after"
    rows = cli("bank", "diff", before, after, "--format", "json").json["rows"]
    first = cli("bank", "diff", before, after).out.splitlines()[0]
    for outcome in ("added", "removed", "changed"):
        count = sum(row["change"] == outcome for row in rows)
        assert (f"{count} {outcome}" in first) == bool(count)
    assert cli("bank", "diff", after, after).out.startswith("No entry differs; ")


def test_the_same_bank_does_not_differ_however_it_is_written(cli: Cli, tmp_path: Path) -> None:
    shutil.copytree(BANKS / "after", tmp_path / "b")
    lines = (tmp_path / "b" / KB).read_text().splitlines()
    turned = [json.dumps(dict(reversed(json.loads(one).items()))) for one in reversed(lines)]
    (tmp_path / "b" / KB).write_text("\n".join(turned))
    ended = cli("bank", "diff", BANKS / "after", tmp_path / "b", "--format", "json").json
    assert ended["rows"] == []
    assert sum(row["unchanged"] for row in ended["totals"]) == 6


def test_damage_on_one_side_adds_or_removes_nothing(cli: Cli, tmp_path: Path) -> None:
    shutil.copytree(BANKS / "after", tmp_path / "b")
    (tmp_path / "b" / KB).write_text("[]\n")
    ended = cli("bank", "diff", BANKS / "before", tmp_path / "b", "--format", "json")
    assert (ended.code, ended.rules()) == (1, {"operator-bank-entry"})
    assert {(row["kind"], row["soc"]) for row in ended.json["rows"]} == {
        ("gdat", "Ascend910B3"),
        ("runtime_kb", "Ascend910B1"),
    }
    (tmp_path / "empty").mkdir()
    ended = cli("bank", "diff", BANKS / "before", tmp_path / "empty", "--format", "json")
    assert (ended.code, ended.json["rows"]) == (1, [])


PROFILE = BANKS / "profile"


def test_hot_shapes_are_covered_stale_missing_or_unclear(cli: Cli) -> None:
    ended = cli("bank", BANKS / "after", "--profile", PROFILE, "--soc", "Ascend910B3", "--format", "json")
    assert ended.code == 0
    assert [
        (row["position"], row["op_type"], row["input_shapes"], row["status"]) for row in ended.json["coverage"]
    ] == [
        (1, "MatMulV3", "512,1024;1024,256", "covered"),
        (2, "MatMulV3", "768,96;320,96", "covered"),
        (3, "MatMulV3", "128,384;384,160", "stale"),
        (4, "MatMulV3", "2048,2048;2048,2048", "unclear"),
        (5, "MatMulV3", "64,640;640,48", "missing"),
        (6, "MatMulV3", "99,101;101,103", "missing"),
        (7, "Conv3D", "1,32,4,28,28;64,32,3,3,3", "unclear"),
        (8, "Add", "512,256;512,256", "missing"),
    ]
    first = ended.json["coverage"][0]
    assert (first["count"], first["total_us"], first["share"]) == (2, 802.0, 0.423834)
    assert len(ended.json["rows"]) == 6


def test_people_are_told_first_how_much_is_covered(cli: Cli) -> None:
    ended = cli("bank", BANKS / "after", "--profile", PROFILE, "--soc", "Ascend910B3", "--top", "4")
    assert ended.out.startswith(
        "4 operator shapes, by their time: 2 covered (69.2%), 1 stale (15.7%), 1 unclear (15.1%)."
    )
    assert "Entries\n" not in ended.out
    assert "其中" in cli("bank", BANKS / "after", "--profile", PROFILE, "--lang", "zh").out


def test_with_a_profile_csv_holds_what_is_covered(cli: Cli) -> None:
    asked = ("bank", BANKS / "after", "--profile", PROFILE, "--soc", "Ascend910B3")
    rows = list(csv.DictReader(io.StringIO(cli(*asked, "--format", "csv").out)))
    told = cli(*asked, "--format", "json").json["coverage"]
    assert [(row["op_type"], row["status"]) for row in rows] == [(row["op_type"], row["status"]) for row in told]


@pytest.mark.parametrize(("soc", "said"), [("Foo", True), ("ascend910b3", False), ("Ascend910B1", False)])
def test_a_chip_that_no_bank_is_of_is_named(cli: Cli, soc: str, *, said: bool) -> None:
    ended = cli("bank", BANKS / "after", "--profile", PROFILE, "--soc", soc, "--format", "json")
    messages = [finding["message"] for finding in ended.json["findings"] if finding["rule"] == "bank-chip"]
    expected = f"--soc {soc}: no bank here has an entry for this chip; chips here: Ascend910B1, Ascend910B3"
    assert messages == ([expected] if said else [])
    assert ended.code == 0


def test_a_profile_that_does_not_tell_its_chip_is_not_compared(cli: Cli) -> None:
    rows = cli("bank", BANKS / "after", "--profile", PROFILE, "--format", "json").json["coverage"]
    assert [row["status"] for row in rows] == ["unclear"] * 7 + ["missing"]


def test_a_profile_that_is_none(cli: Cli, tmp_path: Path) -> None:
    assert cli("bank", BANKS / "after", "--profile", tmp_path / "none").code == 3
    ended = cli("bank", BANKS / "after", "--profile", BANKS / "before", "--format", "json")
    assert (ended.code, ended.rules(), ended.json["coverage"]) == (1, {"nothing-measured"}, [])
    ended = cli("bank", PROFILE, "--profile", PROFILE, "--format", "json")
    assert (ended.code, ended.rules(), ended.json["coverage"]) == (1, {"nothing-measured"}, [])


def test_ranks_are_looked_up_by_themselves(cli: Cli) -> None:
    ranks = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
    rows = cli("bank", BANKS / "after", "--profile", ranks, "--soc", "Ascend910B3", "--format", "json").json["coverage"]
    assert {row["rank_id"] for row in rows} == {0, 1}
    assert [row["position"] for row in rows if row["rank_id"] == 1][:2] == [1, 2]


def test_python_asks_the_same() -> None:
    from aoe_reports import bank, bank_diff

    covered = bank([BANKS / "after"], profile=PROFILE, soc="Ascend910B3").table("coverage")
    assert [row.status for row in covered][:3] == ["covered", "covered", "stale"]
    assert len(bank_diff([BANKS / "before", BANKS / "after"]).rows) == 6
