"""Every AOE file beside the real exports, with what `check` says of it; skipped where there are none."""

from __future__ import annotations

import pytest
from commandline import Cli
from real.test_oracles import DATA

AOE = DATA / "aoe"
CASES = DATA.parent / "cases"
pytestmark = pytest.mark.skipif(not AOE.is_dir(), reason=f"no AOE files in {AOE}")

BANKS = {
    "bank_2021/Ascend310_AiCore_2_v001_20210824_155338_854171.json": ("auto_tune", 141, None),
    "cann81/Ascend910B2_AiCore_24_v001.json": ("auto_tune", 16, None),
    "cann81/Ascend910_9382_16_AiCore_MatMulV3_runtime_kb.json": ("runtime_kb", 2, None),
    "cann81/ascend910b2_l2cache.json": ("subgraph_bank", None, "a bank of subgraphs"),
    "cann81/mdat_knowledge_bank.json": ("mdat_bank", None, "a bank of MDAT"),
    "cann81/repository_Ascend910B2_matmul.json": ("repository_bank", None, "a repository of tilings"),
    "cann81/unified_bank/Ascend910B1_25_AiCore_matmul.json": ("unified_bank", None, "a bank of operators of GA tuning"),
    **{f"gdat_bank/Ascend910{chip}_gradient_fusion.json": ("gdat", 161, None) for chip in ("", "A", "B", "PremiumA", "ProA", "ProB")},
}  # fmt: skip
"""(kind, entries where they are read, what is said of one that is not read)."""
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
def test_a_bank_is_read_or_named(name: str, cli: Cli) -> None:
    kind, entries, what = BANKS[name]
    checked, inspected = (cli(command, AOE / name, "--format", "json") for command in ("check", "inspect"))
    assert (checked.code, [(row["kind"], row["verdict"]) for row in checked.json["rows"]]) == (0, [(kind, "pass")])
    assert [(row["kind"], row["rows"]) for row in inspected.json["rows"]] == [(kind, entries)]
    for ended in (checked, inspected):
        said = [(finding["rule"], finding["severity"], finding["message"]) for finding in ended.json["findings"]]
        assert [one[:2] for one in said] == ([] if what is None else [("not-read", "info")])
        assert what is None or what in said[0][2]


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


def test_a_folder_of_cann_lists_its_banks_and_names_those_that_are_not_read(cli: Cli) -> None:
    ended = cli("bank", AOE / "cann81", "--format", "json")
    assert (ended.code, [row["entries"] for row in ended.json["files"]]) == (0, [16, 2])
    assert [finding["rule"] for finding in ended.json["findings"]] == ["not-read"] * 4
