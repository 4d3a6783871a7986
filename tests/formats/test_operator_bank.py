"""Banks of operators: what is read of an entry, what is no entry, and what makes two entries the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st
from real.test_oracles import DATA

from aoe_reports.formats.aoe import operator_bank_file
from aoe_reports.formats.aoe.operands import product_of
from aoe_reports.formats.aoe.operator_bank_file import OperatorBankFile, read_operator_bank
from aoe_reports.formats.aoe.operator_banks import BankName, bank_name_of, entry_of_line
from aoe_reports.model.findings import EXAMPLES_PER_RULE
from aoe_reports.rules.operator_bank import check_operator_bank

BANKS = FIXTURES / "banks"
KB = "Ascend910B3_20_AiCore_MatMulV3_runtime_kb.json"
AUTO_TUNE = "Ascend310_AiCore_2_v001_20210203_040506_000789.json"
REAL = DATA / "aoe" / "bank_2021" / "Ascend310_AiCore_2_v001_20210824_155338_854171.json"


def read(tmp_path: Path, text: str | bytes, name: str = KB) -> OperatorBankFile:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_operator_bank(path)


def said(file: OperatorBankFile) -> list[tuple[str, str, int | None]]:
    return [(f.rule, f.severity, f.line) for f in check_operator_bank(file)]


def line(**changed: Any) -> str:
    entry = {"id": 7, "op": "MatMulV3", "version": 0, "info_dict": {"m": 1.0}, "knowledge": {"baseM": 16}}
    return json.dumps({name: value for name, value in {**entry, **changed}.items() if value is not ...})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (KB, BankName("runtime_kb", "Ascend910B3", 20, "MatMulV3")),
        (
            "Ascend910_9392_24_AiCore_Conv3D_runtime_kb.json",
            BankName("runtime_kb", "Ascend910_9392", 24, "Conv3D"),
        ),
        (AUTO_TUNE, BankName("auto_tune", "Ascend310", 2, version=1, time="20210203_040506_000789")),
        ("Ascend910B3_0_AiCore_MatMulV3_runtime_kb.json", None),
        ("Ascend910B3_20_MatMulV3_runtime_kb.json", None),
        (f"{KB}.bak", None),
    ],
)
def test_the_name_tells_chip_cores_and_operator(name: str, told: BankName | None) -> None:
    assert bank_name_of(name) == told


def test_an_entry_a_line(tmp_path: Path) -> None:
    file = read(tmp_path, f"{line()}\n\n{line(info_dict={'m': 2}, version=3)}\n")
    assert [(entry.line, entry.op_type, entry.version, entry.info) for entry in file.entries] == [
        (1, "MatMulV3", 0, {"m": 1.0}),
        (3, "MatMulV3", 3, {"m": 2}),
    ]
    assert said(file) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (line()[:40], "not JSON: the text ends inside an object"),
        ("[1]", "not an object"),
        (line(op=...), "op is missing or is no text"),
        (line(op=""), "op is missing or is no text"),
        (line(id="1"), "id is missing or is no whole number"),
        (line(version=1 << 32), "version is missing or is no whole number of 32 bits"),
        (line(version=True), "version is missing or is no whole number of 32 bits"),
        (line(info_dict={}), "info_dict is missing or is no object with members"),
        (line(knowledge=[1]), "knowledge is missing or is no object with members"),
        (line(info_dict={"m": 5}).replace("5", "1e400"), "a number is out of range"),
        (line(knowledge={"m": 5}).replace("5", "-1e400"), "a number is out of range"),
        ('{"id": 1, "id": 2}', 'not JSON: key "id" appears twice'),
        ("[" * 100_000, "not JSON: lists or objects are nested too deeply"),
    ],
)
def test_what_is_no_entry_is_left_out_and_named_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    file = read(tmp_path, f"{line()}\n{text}\n")
    assert len(file.entries) == 1
    assert said(file) == [("operator-bank-entry", "error", 2)]
    assert f"no entry: {why}" in file.findings[0].message


def test_many_lines_that_are_no_entries_are_counted(tmp_path: Path) -> None:
    file = read(tmp_path, "[]\n" * (EXAMPLES_PER_RULE + 3))
    assert len(said(file)) == EXAMPLES_PER_RULE + 1
    assert file.findings[-1].message == "and 3 more of this kind"


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / KB).write_text(line())
    assert [f.rule for f in read_operator_bank(tmp_path / KB, max_bytes=10).findings] == ["json-too-large"]
    monkeypatch.setattr(operator_bank_file, "MAX_LINE_BYTES", len(line()))
    file = read(tmp_path, f"{line()}\n{line(id=71)}\n")
    assert [entry.line for entry in file.entries] == [1]
    assert said(file) == [("operator-bank-entry", "error", 2)]


def test_two_entries_are_the_same_however_they_are_written() -> None:
    one = entry_of_line(
        {"id": 1, "op": "A", "version": 0, "info_dict": {"m": 1.0, "f": True}, "knowledge": {"x": 2}}, 1
    )
    two = entry_of_line(
        {"id": 9, "op": "A", "version": 5, "info_dict": {"f": True, "m": 1}, "knowledge": {"x": 2.0}}, 2
    )
    other = entry_of_line({"id": 1, "op": "A", "version": 0, "info_dict": {"m": 1, "f": 1}, "knowledge": {"x": 2}}, 3)
    assert (one.key, one.value) == (two.key, two.value)
    assert one.key != other.key


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_any_document_is_an_entry_or_said_to_be_none(document: Any) -> None:
    for name in ("info_dict", "knowledge"):
        whole = {"id": 1, "op": "A", "version": 0, "info_dict": {"m": 1}, "knowledge": {"x": 2}, name: {"v": document}}
        assert entry_of_line(whole, None).key


def test_the_key_of_a_matrix_product_in_the_words_of_a_profile() -> None:
    entries = read_operator_bank(BANKS / "after" / "Ascend910B3" / "unified_bank" / KB).entries
    told = [product_of(entry.info) for entry in entries]
    assert [(one.shapes, one.transposes, one.data_types, one.formats) for one in told if one] == [
        (((2048, 2048), (2048, 2048)), (False, True), ("FLOAT16", "FLOAT16"), ("ND", "ND")),
        (((768, 96), (320, 96)), (False, True), ("FLOAT16", "FLOAT16"), ("ND", "ND")),
        (((512, 1024), (1024, 256)), (False, False), ("FLOAT16", "FLOAT16"), ("ND", "ND")),
    ]


def test_batches_are_told_and_other_operators_are_not_translated() -> None:
    info = read_operator_bank(BANKS / "after" / "Ascend910B3" / "unified_bank" / KB).entries[0].info
    assert info is not None
    assert product_of(info) is not None
    batched = product_of({**info, "batch_b2": 4})
    assert batched is not None
    assert not batched.alone
    fused = product_of({**info, "l1_fused_num": 1.0})
    assert fused is not None
    assert not fused.alone
    assert product_of({**info, "trans_a_flag": 0}) is None
    assert product_of({name: value for name, value in info.items() if name != "k"}) is None
    assert product_of(None) is None
    unknown = product_of({**info, "a_dtype": 999, "a_format": 999})
    assert unknown is not None
    assert (unknown.data_types[0], unknown.formats[0]) == (None, None)


def test_an_auto_tune_bank_tells_nodes_and_their_dimensions() -> None:
    first, second = read_operator_bank(BANKS / "auto_tune" / AUTO_TUNE).entries
    assert (first.op_type, first.info, first.knowledge, first.version) == (None, None, None, None)
    assert (first.shapes, first.nodes) == (((2, 48, 7),), 2)
    assert (second.shapes, second.nodes) == (((5, 9), (5, 1), (6,)), 3)  # two graphs one behind the other


@pytest.mark.parametrize(
    "key", ["", "x", "[]", "[[1]]", '[[1, "a", [], 9, []]]', "{}", "[" * 100_000, "[[1,[2],[],9,[]]]x"]
)
def test_a_key_that_is_no_graph_is_left_out(tmp_path: Path, key: str) -> None:
    file = read(tmp_path, json.dumps({key: "v", "[[1, [2], [], 9, []]]": "v"}), AUTO_TUNE)
    assert [entry.nodes for entry in file.entries] == [1]
    assert said(file) == [("operator-bank-entry", "error", None)]


@pytest.mark.parametrize(
    ("text", "rule"),
    [("[]", "operator-bank-entry"), ("", "json-truncated"), ('{"a": ', "json-truncated"), ('{"a" "b"}', "json-syntax")],
)
def test_a_damaged_auto_tune_bank(tmp_path: Path, text: str, rule: str) -> None:
    file = read(tmp_path, text, AUTO_TUNE)
    assert file.entries == ()
    assert {found[0] for found in said(file)} == {rule}


def test_of_an_entry_that_is_cut_off_nothing_is_used(tmp_path: Path) -> None:
    text = json.dumps({"[[1, [2], [], 9, []]]": "a", "[[1, [3], [], 9, []]]": "bcdef"})
    file = read(tmp_path, text[:-5], AUTO_TUNE)
    assert [entry.shapes for entry in file.entries] == [((2,),)]
    assert {found[0] for found in said(file)} == {"json-truncated"}


@pytest.mark.parametrize("rule", ["operator-bank-entry", "operator-bank-duplicate", "operator-bank-name"])
def test_damage_is_named_by_check_and_by_bank(rule: str, cli: Cli) -> None:
    folder = BANKS / "invalid" / rule
    for command in ("check", "bank"):
        ended = cli(command, folder, "--format", "json")
        assert ended.rules() == {rule}
        assert ended.code == (1 if rule == "operator-bank-entry" else 0)


@pytest.mark.skipif(not REAL.is_file(), reason=f"no real bank at {REAL}")
def test_the_real_bank_of_2021() -> None:
    file = read_operator_bank(REAL)
    assert (file.name.soc, file.name.cores, file.name.version) == ("Ascend310", 2, 1)
    assert (len(file.entries), check_operator_bank(file)) == (141, [])
    assert sum(entry.nodes or 0 for entry in file.entries) == 2260
    assert {entry.op_type for entry in file.entries} == {None}
    assert len({entry.key for entry in file.entries}) == 141
