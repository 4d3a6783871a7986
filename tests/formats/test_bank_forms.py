"""The forms of banks beside runtime_kb: what is read of an entry, what is none, and what hostile text does."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES

from aoe_reports.formats.aoe.graphs import DATA_TYPES, TAGS, entry_of_graph
from aoe_reports.formats.aoe.operands import product_of
from aoe_reports.formats.aoe.operator_bank_file import OperatorBankFile, read_operator_bank
from aoe_reports.formats.aoe.operator_banks import BankName, bank_name_of
from aoe_reports.rules.operator_bank import check_operator_bank

BANKS = FIXTURES / "banks" / "tilings"
UNIFIED = "Ascend910B3_20_AiCore_matmul.json"
REPOSITORY = "repository_Ascend910B3_matmul.json"
SUBGRAPHS = "ascend910b3_l2cache.json"
MDAT = "mdat_knowledge_bank.json"
AUTO_TUNE = "Ascend910B3_AiCore_20_v001.json"
DEEP = "[" * 100_000


def read(tmp_path: Path, name: str, text: str) -> OperatorBankFile:
    (tmp_path / name).write_text(text)
    return read_operator_bank(tmp_path / name)


def said(file: OperatorBankFile) -> list[tuple[str, str]]:
    return [(f.rule, f.severity) for f in check_operator_bank(file)]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        (UNIFIED, BankName("unified_bank", "Ascend910B3", 20, "matmul")),
        ("Ascend910B3_20_AiCore_MatMulV3_runtime_kb.json", BankName("runtime_kb", "Ascend910B3", 20, "MatMulV3")),
        (REPOSITORY, BankName("repository_bank", "Ascend910B3", None, "matmul")),
        (SUBGRAPHS, BankName("subgraph_bank", "ascend910b3")),
        (MDAT, BankName("mdat_bank")),
        (AUTO_TUNE, BankName("auto_tune", "Ascend910B3", 20, version=1)),
        ("l2cache.json", None),
    ],
)
def test_the_name_says_which_form_it_is(name: str, known: BankName | None) -> None:
    assert bank_name_of(name) == known


def test_a_tiling_has_the_type_shapes_types_and_time_of_its_operator() -> None:
    entries = read_operator_bank(BANKS / "Ascend910B3" / "unified_bank" / UNIFIED).entries
    assert [(entry.op_type, entry.shapes, entry.cost_ns) for entry in entries] == [
        ("matmul", ((1, 63, 7, 16, 16), (1008, 13, 1, 1, 16)), 12_500),
        ("matmul", ((1, 24, 8, 16, 16), (384, 10, 1, 1, 16)), 8_625),
        ("matmul", ((12, 4, 8, 16, 16), (64, 8, 1, 1, 16)), None),  # -1: not measured
    ]
    assert {entry.data_types for entry in entries} == {("FLOAT16",) * 3}
    products = [product_of(entry.info) for entry in entries]
    assert [(one.shapes, one.transposes, one.alone) for one in products if one] == [
        (((112, 1008), (1008, 208)), (False, False), True),
        (((128, 384), (160, 384)), (False, True), True),
        (((128, 64), (64, 128)), (False, False), False),
    ]


@pytest.mark.parametrize(
    "changed",
    [
        {"dilationH": 5},
        {"dilationH": True},
        {"A_shape": [1, 63, 7, 16]},
        {"A_shape": [1, 62, 7, 16, 16]},
        {"bias_flag": None},
    ],
)
def test_what_is_no_product_is_not_read_as_one(changed: dict[str, Any]) -> None:
    info = read_operator_bank(BANKS / "Ascend910B3" / "unified_bank" / UNIFIED).entries[0].info
    assert info is not None
    assert product_of({**info, **changed}) is None


@pytest.mark.parametrize(
    "changed",
    [{"batch_type": 2}, {"fused_double_operand_num": 1.0}, {"fixpipe_flag": 5}, {"A_shape": [1, 63, 40_000, 16, 16]}],
)
def test_what_more_than_a_product_is_does_not_stand_alone(changed: dict[str, Any]) -> None:
    info = read_operator_bank(BANKS / "Ascend910B3" / "unified_bank" / UNIFIED).entries[0].info
    assert info is not None
    product = product_of({**info, **changed})
    assert product is not None
    assert not product.alone


def unified(info: Any, key: str | None = None, **changed: Any) -> str:
    text = json.dumps(info) if not isinstance(info, str) else info
    entry = {"knowledge": {"tile": [1]}, "info_dict": info, "cost_time": 2.5, **changed}
    return json.dumps({key or hashlib.md5(text.encode()).hexdigest(): [entry]})


def test_the_hash_of_an_entry_is_that_of_what_it_is_for(tmp_path: Path) -> None:
    assert said(read(tmp_path, UNIFIED, unified({"op_type": "x", "f": 0.5}))) == []
    assert said(read(tmp_path, UNIFIED, unified("op_3f2a"))) == []
    assert said(read(tmp_path, UNIFIED, unified({"op_type": "x"}, "0" * 32))) == [("operator-bank-key", "warning")]


@pytest.mark.parametrize("text", ["", "\n", "{}"])
def test_a_bank_that_is_still_empty_is_no_error(text: str, tmp_path: Path) -> None:
    assert said(read(tmp_path, UNIFIED, text)) == [("operator-bank-entry", "info")]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        json.dumps({"a": []}),
        json.dumps({"a": [1]}),
        unified({"op_type": "x"}, knowledge={}),
        unified({}, "a"),
        unified({"m": 1}).replace("1}", "1e400}"),
        unified({"m": 1}).replace("[1]", "[-1e400]"),
    ],
)
def test_what_is_no_tiling_is_left_out(text: str, tmp_path: Path) -> None:
    file = read(tmp_path, UNIFIED, text)
    assert (file.entries, said(file)) == ((), [("operator-bank-entry", "error")])


@pytest.mark.parametrize(
    "text", [DEEP, '{"a":' * 100_000, '{"a": NaN}', '{"a": [' + "9" * 5000 + "]}", '{"a": "\\ud800']
)
@pytest.mark.parametrize("name", [UNIFIED, REPOSITORY, SUBGRAPHS, MDAT, AUTO_TUNE])
def test_hostile_text_is_said_to_be_none(name: str, text: str, tmp_path: Path) -> None:
    file = read(tmp_path, name, text)
    assert file.entries == ()
    assert "error" in {severity for _, severity in said(file)}


def test_a_hash_that_stands_twice_is_read_twice(tmp_path: Path) -> None:
    one = unified({"op_type": "x"})
    file = read(tmp_path, UNIFIED, f"{one[:-1]}, {one[1:]}")
    assert len(file.entries) == 2
    assert {rule for rule, _ in said(file)} == {"json-duplicate-key", "operator-bank-duplicate"}


@pytest.mark.parametrize("cost", [-1, "3", True, 1e300, None])
def test_a_time_that_cannot_be_is_none(cost: Any, tmp_path: Path) -> None:
    (entry,) = read(tmp_path, UNIFIED, unified({"op_type": "x"}, cost_time=cost)).entries
    assert entry.cost_ns is None


def test_a_repository_names_the_kernel_and_the_time() -> None:
    first, second = read_operator_bank(BANKS / REPOSITORY).entries
    assert (first.kernel, first.cost_ns, second.kernel) == ("te_matmulv2_7b1e_1", 3250, "te_fused_op_mat_mul_2")
    assert first.key != second.key


def test_the_name_of_a_kernel_does_not_make_another_operator(tmp_path: Path) -> None:
    line = (BANKS / REPOSITORY).read_text().splitlines()[0]
    file = read(tmp_path, REPOSITORY, f"{line}\n{line.replace('te_matmulv2_7b1e_1', 'te_other')}\n")
    assert said(file) == [("operator-bank-duplicate", "warning")]


def test_nodes_of_graphs_are_named_and_unknown_numbers_stay_numbers() -> None:
    add, mul, product = read_operator_bank(BANKS / AUTO_TUNE).entries
    assert (add.operators, add.data_types, add.raw_time) == ("elewise_binary_add, input x2", ("FLOAT16",), 9)
    assert (mul.operators, mul.kernel) == ("elewise_binary_mul, input x2", "mul_7@Mul@24_25@Ascend910B")
    assert (product.operators, product.data_types) == ("matmul, l1_to_l0, 130", ("FLOAT", "FLOAT16", "77"))
    assert add.inputs is not None
    assert (add.inputs.types, add.inputs.shapes) == (("Add",), ((20, 30), (20, 30)))
    assert product.inputs is None


def test_the_published_numbers_of_nodes_and_data_types() -> None:
    known = {
        0: "mem_copy",
        10: "elewise_binary_add",
        29: "broadcast_for_tensor",
        38: "matmul",
        47: "elewise_binary_div",
        75: "split_com",
        84: "out_to_ub",
        100: "requant_s16_vaddrelu",
        122: "split",
    }
    assert {number: TAGS[number] for number in known} == known
    assert len(TAGS) == len(set(TAGS)) == 123
    assert {number: DATA_TYPES[number] for number in (1, 9, 10, 11, 14)} == {
        1: "INT8",
        9: "FLOAT16",
        10: "DT_BF16",
        11: "FLOAT",
        14: "UINT1",
    }


@pytest.mark.parametrize("value", ["x", "[" * 100_000, [1], None, json.dumps([1, -5]), json.dumps([1, 1 << 70])])
def test_a_value_without_a_time_is_an_entry(value: Any) -> None:
    entry = entry_of_graph("[[10, [2], [], 9, []], [0, [2], [], 9, [0]]]", value)
    assert (entry.raw_time, entry.kernel) == (None, None)


@pytest.mark.parametrize(
    "key", ["[[-1, [2], [], 99999999999999999999, []]]", "[[1, [2], [], 9, [true]]]", "[[1.0, [2], [], 9, []]]"]
)
def test_numbers_that_cannot_be_are_no_graph(key: str, tmp_path: Path) -> None:
    file = read(tmp_path, AUTO_TUNE, json.dumps({key: "[[], 1]"}))
    assert (file.entries, said(file)) == ((), [("operator-bank-entry", "error")])


def test_a_subgraph_has_its_operators_and_how_they_are_cut() -> None:
    file = read_operator_bank(BANKS / SUBGRAPHS)
    assert (file.form_version, len(file.entries)) == ("2.1", 3)
    first = file.entries[0]
    assert (first.named_key, first.kernel, first.nodes) == ("7700000000000000001", "small_net", 3)
    assert [part.cut for part in first.parts] == [(2, 2), (1,)]
    assert first.parts[0].operators[1] == ("Conv2D", ((4, 1, 30, 30, 16), (9, 2, 16, 16), (32,)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"graphID":"7700000000000000003"', '"graphID":7'),
        ('"cut":[2],"fusionType":[true]', '"cut":[2,2],"fusionType":[true]'),
        ('"cut":[2],"fusionType":[true]', '"cut":2'),
        ('"op":"Relu"', '"op":""'),
        ('"in":[[5,5]]', '"in":[["5"]]'),
        ('"in":[[5,5]]', '"in":5'),
        ('[{"struct":[{"dsize":[2],"in":[[5,5]],"op":"Relu"}]}]', "[]"),
    ],
)
def test_what_is_no_subgraph_is_left_out_with_its_line(old: str, new: str, tmp_path: Path) -> None:
    text = (BANKS / SUBGRAPHS).read_text()
    lines = text.splitlines()
    assert old in lines[3]
    file = read(tmp_path, SUBGRAPHS, "\n".join([*lines[:3], lines[3].replace(old, new)]))
    assert len(file.entries) == 2
    assert [(f.rule, f.line) for f in file.findings] == [("operator-bank-entry", 4)]


def test_an_mdat_bank_is_hashes_and_times(tmp_path: Path) -> None:
    assert [(entry.named_key, entry.raw_time) for entry in read_operator_bank(BANKS / MDAT).entries] == [
        ("10002811048000000001", 61_200),
        ("900000000000000002", 480),
    ]
    file = read(
        tmp_path, MDAT, '{"cost_time":"x","hash_str":"1"}\n{"cost_time":"1"}\n{"cost_time":"٣","hash_str":"1"}\n'
    )
    assert (file.entries, {rule for rule, _ in said(file)}) == ((), {"operator-bank-entry"})
