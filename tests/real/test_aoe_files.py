"""Every AOE file beside the real exports, with what `check` says of it; skipped where there are none."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from commandline import Cli
from real.test_oracles import DATA

from aoe_reports.formats.aoe.operands import product_of
from aoe_reports.formats.aoe.operator_bank_file import read_operator_bank
from aoe_reports.formats.aoe.operator_banks import OperatorEntry
from aoe_reports.topics.banks.coverage import BankIndex, CalledOperator, banked_operator

AOE = DATA / "aoe"
CASES = DATA.parent / "cases"
pytestmark = pytest.mark.skipif(not AOE.is_dir(), reason=f"no AOE files in {AOE}")

BANKS = {
    "bank_2021/Ascend310_AiCore_2_v001_20210824_155338_854171.json": ("auto_tune", 141),
    "cann81/Ascend910B2_AiCore_24_v001.json": ("auto_tune", 16),
    "cann81/Ascend910_9382_16_AiCore_MatMulV3_runtime_kb.json": ("runtime_kb", 2),
    "cann81/ascend910b2_l2cache.json": ("subgraph_bank", 137),
    "cann81/mdat_knowledge_bank.json": ("mdat_bank", 2425),
    "cann81/repository_Ascend910B2_matmul.json": ("repository_bank", 20),
    "cann81/unified_bank/Ascend910B1_25_AiCore_matmul.json": ("unified_bank", 144),
    **{f"gdat_bank/Ascend910{chip}_gradient_fusion.json": ("gdat", 161) for chip in ("", "A", "B", "PremiumA", "ProA", "ProB")},
}  # fmt: skip
"""(kind, entries; of a bank of gradients its gradients)."""
SAMPLES = {
    "doc_samples/opat_blog_fragment.raw.txt": (1, "opat", {"json-syntax": "error"}),
    "doc_samples/opat_v0_601_pytorch.repaired.json": (0, "opat", {"claim-unmeasured": "warning"}),
    "doc_samples/opat_v1_62rc1.raw.txt": (1, "opat", {"json-syntax": "error"}),
    "doc_samples/opat_v1_62rc1.repaired.json": (0, "opat", {"parts-and-whole": "info"}),
    "doc_samples/opat_v2_800_tf.raw.txt": (1, "opat", {"json-syntax": "error"}),
    "doc_samples/opat_v2_800_tf.repaired.json": (0, "opat", {"claim-unmeasured": "warning"}),
    "doc_samples/sgat_v1_62rc1.raw.txt": (1, "sgat", {"json-syntax": "error"}),
    "doc_samples/sgat_v1_62rc1.repaired.json": (0, "sgat", {"parts-and-whole": "info"}),
    "doc_samples/sgat_v2_800_tf.raw.txt": (1, "sgat", {"json-syntax": "error"}),
    "doc_samples/sgat_v2_800_tf.repaired.json": (0, "sgat", {"parts-and-whole": "info", "total-sum": "warning"}),
    "doc_samples/tvm_v01_sample.raw.txt": (0, "record", {}),
    "doc_samples/tvm_v01_sample.repaired.json": (0, "record", {}),
}
"""(exit code, kind, findings)."""
NO_INPUT = {"INDEX.md", "aoe_error_codes.json", "aoe_operator_lists.json"}
"""Lists of facts, which no program of CANN writes."""
RESULTS = {
    "aoe_writer_all_hit": (0, "pass", {"nothing-improved": "info"}),
    "aoe_writer_failed": (1, "fail", {"tuning-failed": "error"}),
    "aoe_writer_filler": (0, "warn", {"claim-unmeasured": "warning"}),
    "claim-contradicts-exit0": (1, "fail", {"improvement-mismatch": "error"}),
    "bank_placeholder": (0, "pass", {"operator-bank-entry": "info"}),
}
"""(exit code, verdict, findings) of the cases."""


def test_every_file_has_its_value_here() -> None:
    there = {path.relative_to(AOE).as_posix() for path in AOE.rglob("*") if path.is_file()}
    assert there == {*BANKS, *SAMPLES, *NO_INPUT}


@pytest.mark.parametrize("name", BANKS)
def test_every_entry_of_a_bank_is_read(name: str, cli: Cli) -> None:
    kind, entries = BANKS[name]
    checked, inspected = (cli(command, AOE / name, "--format", "json") for command in ("check", "inspect"))
    assert (checked.code, [(row["kind"], row["verdict"]) for row in checked.json["rows"]]) == (0, [(kind, "pass")])
    assert [(row["kind"], row["rows"]) for row in inspected.json["rows"]] == [(kind, entries)]
    assert (checked.json["findings"], inspected.json["findings"]) == ([], [])


def lines_of(name: str) -> int:
    """How many lines of a file are not blank."""
    return sum(bool(line.strip()) for line in (AOE / name).read_bytes().splitlines())


def test_entries_are_counted_independently() -> None:
    members = {
        name: len(json.loads((AOE / name).read_text())) for name in BANKS if "_v001" in name or "unified" in name
    }
    assert members == {name: BANKS[name][1] for name in members}
    assert lines_of("cann81/mdat_knowledge_bank.json") == 2425
    assert lines_of("cann81/repository_Ascend910B2_matmul.json") == 20
    assert lines_of("cann81/ascend910b2_l2cache.json") == 1 + 137  # the first line is the version of the form


def entries_of(name: str) -> tuple[OperatorEntry, ...]:
    return read_operator_bank(AOE / name).entries


def test_the_hash_of_every_entry_of_a_unified_bank_is_that_of_what_it_is_for() -> None:
    entries = entries_of("cann81/unified_bank/Ascend910B1_25_AiCore_matmul.json")
    assert sum(entry.is_named_right for entry in entries) == 144
    assert {entry.op_type for entry in entries} == {"matmul"}
    assert sum(entry.cost_ns or 0 for entry in entries) == _sum_of_costs_ns()
    assert all((product := product_of(entry.info)) is not None and product.has_known_names for entry in entries)


def _sum_of_costs_ns() -> int:
    document = json.loads(
        (AOE / "cann81/unified_bank/Ascend910B1_25_AiCore_matmul.json").read_text(), parse_float=Decimal
    )
    return int(sum(Decimal(one["cost_time"]) * 1000 for found in document.values() for one in found))


def test_every_node_of_graphs_that_come_with_cann_has_a_name() -> None:
    for name, single in (
        ("bank_2021/Ascend310_AiCore_2_v001_20210824_155338_854171.json", 45),
        ("cann81/Ascend910B2_AiCore_24_v001.json", 0),
    ):
        entries = entries_of(name)
        assert not any(word.isdigit() for entry in entries for word in (entry.operators or "").split(", "))
        assert sum(entry.inputs is not None for entry in entries) == single


def test_subgraphs_have_their_parts() -> None:
    entries = entries_of("cann81/ascend910b2_l2cache.json")
    assert sum(len(entry.parts) for entry in entries) == 412
    assert {entry.kernel for entry in entries} >= {"densenet_bs32", "wav2vec_sim_mod"}


def test_an_operator_of_each_product_finds_its_own_entry() -> None:
    bank = read_operator_bank(AOE / "cann81/unified_bank/Ascend910B1_25_AiCore_matmul.json")
    index = BankIndex(
        (banked_operator(one, "unified_bank", "Ascend910B1", 25) for one in bank.entries), "Ascend910B1", 25
    )
    found = Counter(index.look_up(called_as(entry)).status for entry in bank.entries)
    # five have batches; where sizes are equal, the profile leaves open which operand is transposed
    assert found == {"covered": 120, "unclear": 19, "missing": 5}


def test_a_key_made_as_cann_makes_it_has_the_hash_of_the_entry_that_is_said_to_cover() -> None:
    """Independent of the reading: `get_kb_query_attr` of CANN 8.1.RC1 fills these words in, and looks the MD5 of the text up."""
    bank = read_operator_bank(AOE / "cann81/unified_bank/Ascend910B1_25_AiCore_matmul.json")
    index = BankIndex(
        (banked_operator(one, "unified_bank", "Ascend910B1", 25) for one in bank.entries), "Ascend910B1", 25
    )
    tried = 0
    for entry in bank.entries:
        product = product_of(entry.info)
        assert product is not None
        info = entry.info or {}
        if not product.alone or product.bias or "fixpipe_flag" in info or info["strideH"] != 1:
            continue
        m, k, n = product.m - 3, product.k, product.n - 5  # not whole blocks
        flag = 1 + product.transposes[0] + 2 * product.transposes[1]
        key = {
            "op_type": "matmul", "A_shape": [1, -(-k // 16), -(-m // 16), 16, 16], "B_shape": [-(-k // 16) * 16, -(-n // 16), 1, 1, 16],
            "C_shape": [0] * 5, "A_dtype": "float16", "B_dtype": "float16", "C_dtype": "float16", "mad_dtype": "float32",
            "padl": 0, "padr": 0, "padu": 0, "padd": 0, "strideH": 1, "strideW": 1, "strideH_expand": 1, "strideW_expand": 1,
            "dilationH": flag, "dilationW": 1, "group": 1, "bias_flag": False, "fused_double_operand_num": 0, "shape_a_align": 1,
            "shape_b_align": 1, "scalar_size": 0, "batch_type": 0, "reduce_fusion": 0,
        }  # fmt: skip
        assert hashlib.md5(json.dumps(key).encode()).hexdigest() == entry.named_key
        first, second = ((k, m) if product.transposes[0] else (m, k)), ((n, k) if product.transposes[1] else (k, n))
        shapes = f"{first[0]},{first[1]};{second[0]},{second[1]}"
        found = index.look_up(CalledOperator("MatMulV2", shapes, "FLOAT16;FLOAT16", None, "FLOAT16", "static"))
        assert entry.key in {one.key for one in found.entries}
        tried += 1
    assert tried > 50


def called_as(entry: OperatorEntry) -> CalledOperator:
    """The operator that an entry is of, as a profile with sizes of whole blocks has it."""
    product = product_of(entry.info)
    assert product is not None
    shapes = ";".join(",".join(map(str, shape)) for shape in product.shapes)
    types = ";".join(map(str, product.data_types))
    if product.bias:
        shapes, types = f"{shapes};{product.n}", f"{types};{product.bias_type}"
    return CalledOperator("MatMulV2", shapes, types.replace("DT_", ""), None, product.output_type, "static")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_of_the_documents(name: str, cli: Cli) -> None:
    code, kind, rules = SAMPLES[name]
    ended = cli("check", AOE / name, "--format", "json")
    assert (ended.code, [row["kind"] for row in ended.json["rows"]]) == (code, [kind])
    assert {finding["rule"]: finding["severity"] for finding in ended.json["findings"]} == rules


@pytest.mark.parametrize("name", sorted(NO_INPUT))
def test_what_is_no_input_is_said_to_be_unknown(name: str, cli: Cli) -> None:
    ended = cli("check", AOE / name, "--format", "json")
    assert (ended.code, ended.rules()) == (1, {"unknown-file"})


@pytest.mark.parametrize("name", RESULTS)
def test_a_case_of_what_aoe_writes(name: str, cli: Cli) -> None:
    folder = CASES / name
    if not folder.is_dir():
        pytest.skip(f"no such case in {CASES}")
    code, verdict, rules = RESULTS[name]
    (path,) = folder.glob("*.json")
    ended = cli("check", path, "--format", "json")
    assert (ended.code, [row["verdict"] for row in ended.json["rows"]]) == (code, [verdict])
    assert {finding["rule"]: finding["severity"] for finding in ended.json["findings"]} == rules


def test_entries_whose_ids_exceed_32_bits_are_listed(cli: Cli) -> None:
    bank = AOE / "cann81" / "Ascend910_9382_16_AiCore_MatMulV3_runtime_kb.json"
    ended = cli("bank", bank, "--format", "json")
    assert ended.json["findings"] == []
    assert [row["shapes"] for row in ended.json["rows"]] == ["64,7168;256,7168"] * 2


def test_a_bank_of_gradients_that_aoe_just_created_is_no_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "Ascend910B_gradient_fusion.json").touch()
    ended = cli("check", tmp_path, "--format", "json")
    assert (ended.code, [(one["rule"], one["severity"]) for one in ended.json["findings"]]) == (
        0,
        [("json-truncated", "info")],
    )


def test_a_folder_of_cann_lists_all_its_banks(cli: Cli) -> None:
    ended = cli("bank", AOE / "cann81", "--format", "json")
    assert (ended.code, ended.json["findings"]) == (0, [])
    assert {row["kind"]: row["entries"] for row in ended.json["files"]} == {
        kind: entries for name, (kind, entries) in BANKS.items() if name.startswith("cann81/")
    }
    assert len(ended.json["rows"]) == 16 + 2 + 137 + 2425 + 20 + 144
