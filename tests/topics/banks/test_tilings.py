"""`bank --profile` with the banks of tilings, graphs and subgraphs that CANN has beside runtime_kb."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

from aoe_reports import bank
from aoe_reports.formats.aoe.operator_bank_file import read_operator_bank
from aoe_reports.topics.banks.coverage import BankIndex, CalledOperator, banked_operator

BANKS = FIXTURES / "banks" / "tilings"
PROFILE = FIXTURES / "banks" / "static_profile"
UNIFIED = BANKS / "Ascend910B3" / "unified_bank" / "Ascend910B3_20_AiCore_matmul.json"
CALLED = CalledOperator("MatMulV2", "100,1000;1000,200", "FLOAT16;FLOAT16", "ND;ND", "FLOAT16", "static")


Tables = dict[str, list[dict[str, object]]]


@pytest.fixture(scope="module")
def answer() -> Tables:
    asked = bank([BANKS], profile=PROFILE, soc="Ascend910B3")
    return {name: [asdict(row) for row in asked.table(name)] for name in ("coverage", "subgraphs", "times")}


def test_what_takes_most_time_is_looked_up_in_each_form(answer: Tables) -> None:
    rows = [(row["op_type"], row["input_shapes"], row["op_state"], row["status"]) for row in answer["coverage"]]
    assert rows == [
        ("MatMulV2", "100,1000;1000,200", "static", "covered"),
        ("MatMulV2", "100,1000;1000,200", "dynamic", "missing"),
        ("MatMulV2", "120,380;150,380;150", "static", "covered"),
        ("MatMulV2", "8,4,16,16;3,8,16,16", "static", "covered"),
        ("BatchMatMulV2", "12,128,64;12,64,128", "static", "unclear"),
        ("SoftmaxV2", "8,72", "static", "covered"),
        ("SoftmaxV2", "9,72", "static", "unclear"),
        ("SoftmaxV2", "10,72", "static", "unclear"),
        ("Add", "20,30;20,30", "static", "covered"),
        ("Mul", "600;600", "static", "unclear"),
        ("TransData", "4,3,30,30", "static", "unclear"),
        ("Conv2D", "4,1,30,30,16;9,2,16,16;32", "static", "unclear"),
        ("Relu", "4,2,30,30,16", "static", "unclear"),
    ]
    assert answer["coverage"][1]["reason"] == "its entries are for static shapes; it was compiled for dynamic shapes"
    assert answer["coverage"][6]["reason"] == "an entry has its inputs; its attributes are not in the profile"


def test_a_subgraph_is_covered_where_its_operators_run_one_behind_the_other(answer: Tables) -> None:
    rows = [(row["graph_id"], row["operators_found"], row["parts_found"], row["status"]) for row in answer["subgraphs"]]
    assert rows == [
        ("7700000000000000001", 3, 2, "covered"),
        ("7700000000000000002", 2, 0, "unclear"),
    ]


def test_times_of_both_stand_beside_each_other_the_largest_effect_first(answer: Tables) -> None:
    rows = [
        (row["input_shapes"], row["count"], row["cost_ns"], row["mean_ns"], row["ratio"], row["effect_ns"])
        for row in answer["times"]
    ]
    assert rows == [
        ("100,1000;1000,200", 2, 12_500, 100_000, 8.0, 175_000),
        ("120,380;150,380;150", 1, 8_625, 80_000, 9.2754, 71_375),
        ("8,4,16,16;3,8,16,16", 1, 3_250, 70_000, 21.5385, 66_750),
        ("8,72", 1, 2_750, 50_000, 18.1818, 47_250),
    ]


def test_people_are_told_whose_times_these_are(cli: Cli) -> None:
    ended = cli("bank", BANKS, "--profile", PROFILE, "--soc", "Ascend910B3")
    assert "Subgraphs: 1 of 3 covered, 1 more with operators of the profile." in " ".join(ended.out.split())
    assert "which are the tuner's own of a single operator" in ended.out
    titles = ("\nHot operator shapes\n", "\nSubgraphs\n", "\nTimes of the profile")
    assert sorted(titles, key=ended.out.index) == [*titles]


def status(
    called: CalledOperator, path: Path = UNIFIED, soc: str = "Ascend910B3", cores: int | None = 20
) -> tuple[str, str]:
    file = read_operator_bank(path)
    name = file.name
    index = BankIndex((banked_operator(one, name.form, name.soc, name.cores) for one in file.entries), soc, cores)
    found = index.look_up(called)
    return found.status, found.reason


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        (CALLED, "covered"),
        (replace(CALLED, input_shapes="97,1008;1008,208"), "covered"),  # the same blocks
        (replace(CALLED, input_shapes="96,1008;1008,208"), "missing"),
        (replace(CALLED, op_type="BatchMatMulV2"), "covered"),
        (replace(CALLED, op_type="MatMulV3"), "missing"),
        (replace(CALLED, op_state=None), "covered"),
        (replace(CALLED, op_state="dynamic"), "missing"),
        (replace(CALLED, data_types="FLOAT;FLOAT"), "missing"),
        (replace(CALLED, input_shapes="120,380;150,380;150", data_types="FLOAT16;FLOAT16;FLOAT"), "covered"),
        (replace(CALLED, input_shapes="120,380;150,380;150", data_types="FLOAT16;FLOAT16;FLOAT16"), "missing"),
        (replace(CALLED, input_shapes="120,380;150,380"), "missing"),
    ],
)
def test_a_product_is_covered_by_its_blocks_types_and_bias(called: CalledOperator, expected: str) -> None:
    assert status(called)[0] == expected


def test_a_unified_bank_of_a_chip_that_cann_searches_next_covers() -> None:
    assert status(CALLED, soc="Ascend910B4") == ("covered", "in the bank of Ascend910B3, which CANN searches next")
    assert status(CALLED, soc="Ascend910B1") == ("stale", "its entry is for Ascend910B3 with 20 AI Cores")
    assert status(CALLED, soc="Ascend910B4", cores=24)[0] == "stale"


def test_what_differs_between_banks_of_every_form(cli: Cli, tmp_path: Path) -> None:
    shutil.copytree(BANKS, tmp_path / "b")
    path = tmp_path / "b" / UNIFIED.relative_to(BANKS)
    path.write_text(path.read_text().replace('"vector_block_num": 0', '"vector_block_num": 1', 1))
    for name, cut in (
        ("ascend910b3_l2cache.json", 3),
        ("mdat_knowledge_bank.json", 1),
        ("repository_Ascend910B3_matmul.json", 1),
    ):
        lines = (tmp_path / "b" / name).read_text().splitlines()
        (tmp_path / "b" / name).write_text("\n".join(lines[:cut]))
    graphs = tmp_path / "b" / "Ascend910B3_AiCore_20_v001.json"
    graphs.write_text(json.dumps(dict(list(json.loads(graphs.read_text()).items())[:2])))
    ended = cli("bank", "diff", BANKS, tmp_path / "b", "--format", "json")
    assert sorted((row["kind"], row["change"]) for row in ended.json["rows"]) == [
        ("auto_tune", "removed"),
        ("mdat_bank", "removed"),
        ("repository_bank", "removed"),
        ("subgraph_bank", "removed"),
        ("unified_bank", "changed"),
    ]
    assert next(row["fields"] for row in ended.json["rows"] if row["change"] == "changed") == [
        "vector_block_num: 0 → 1"
    ]


def test_a_bank_of_subgraphs_that_is_damaged_is_said_once(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ascend910b3_l2cache.json").write_text("[]\n")
    ended = cli("bank", tmp_path, "--profile", PROFILE, "--soc", "Ascend910B3", "--format", "json")
    assert [finding["rule"] for finding in ended.json["findings"]].count("operator-bank-entry") == 1
    assert ended.json["subgraphs"] == []


def test_what_a_bank_calls_a_kernel_is_shown_as_text(cli: Cli, tmp_path: Path) -> None:
    name = "repository_Ascend910B3_matmul.json"
    text = (BANKS / name).read_text().replace("te_matmulv2_7b1e_1", "=cmd()\\u001b[31m[bold]")
    (tmp_path / name).write_text(text)
    assert "\x1b" not in cli("bank", tmp_path).out
    assert "'=cmd()" in cli("bank", tmp_path, "--format", "csv").out
    assert cli("bank", tmp_path, "--format", "json").json["rows"][0]["kernel"] == "=cmd()\x1b[31m[bold]"
