"""Gradient banks of AOE: read strictly, checked, and never taken for a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st
from real.test_oracles import DATA

from aoe_reports import read_profile
from aoe_reports.formats.aoe.bank_file import BankFile, read_bank
from aoe_reports.formats.aoe.gradients import GradientModel, bank_of_document
from aoe_reports.formats.ascend.names import parse_name
from aoe_reports.model.findings import EXAMPLES_PER_RULE
from aoe_reports.model.topics.banks import BankSummary
from aoe_reports.rules.gradient_bank import check_bank_file

VALID = FIXTURES / "aoe" / "valid" / "gradient_bank" / "Ascend910B_gradient_fusion.json"
REAL = DATA / "aoe" / "gdat_bank"


def read(tmp_path: Path, text: str | bytes, name: str = "Ascend910B_gradient_fusion.json") -> BankFile:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_bank(path, parse_name(name))


def said(file: BankFile) -> list[tuple[str, str, int | None, int | None, str | None]]:
    return [(f.rule, f.severity, f.line, f.column, f.pointer) for f in check_bank_file(file)]


def model(sizes: list[Any], times: list[Any], modelhash: Any = "1") -> dict[str, Any]:
    return {"modelhash": modelhash, "modelvalue": {"gradientSize": sizes, "gradientTime": times}}


@pytest.mark.parametrize(("more", "rules"), [(0, []), (-1, ["json-too-large"])])
def test_a_bank_of_the_largest_size_is_read(more: int, rules: list[str]) -> None:
    file = read_bank(VALID, max_bytes=VALID.stat().st_size + more)
    assert ([finding.rule for finding in file.findings], file.parsed) == (rules, not rules)
    assert len(file.bank.models) == (0 if rules else 2)


def test_the_first_time_stands_apart_from_the_deltas() -> None:
    file = read_bank(VALID)
    assert file.bank.soc == "Ascend910B"
    first = GradientModel("12345678901234567890", (4000, 8192, 2048, 1048576), 7000123456789, (51000, 120, 980), "/0")
    assert file.bank.models == (first, GradientModel("987654321", (512,), 8000000000000, (), "/1"))
    assert file.bank.summary() == BankSummary(
        soc="Ascend910B",
        models=2,
        used_models=2,
        gradients=5,
        size_bytes=1063328,
        largest_bytes=1048576,
        time_after_start=52100,
        time_unit=None,
    )
    assert said(file) == []


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no real banks in {REAL}")
@pytest.mark.parametrize("soc", ["", "A", "B", "ProA", "ProB", "PremiumA"])
def test_the_real_banks(soc: str) -> None:
    file = read_bank(REAL / f"Ascend910{soc}_gradient_fusion.json")
    assert (file.bank.soc, said(file)) == (f"Ascend910{soc}", [])
    (model,) = file.bank.models
    assert (model.modelhash, model.start, model.deltas[:2]) == ("15294858920613849201", 4657707485836, (50662, 66270))
    summary = file.bank.summary()
    assert (summary.gradients, summary.size_bytes, summary.largest_bytes) == (161, 102236324, 9437184)
    assert summary.time_after_start == 9571533


@pytest.mark.parametrize(
    ("name", "soc"),
    [
        ("Ascend310P3_gradient_fusion.json", "Ascend310P3"),
        ("Ascend910_93_gradient_fusion.json", "Ascend910_93"),
        ("gradient_fusion.json", None),
        ("_gradient_fusion.json", None),
    ],
)
def test_the_name_tells_the_soc(name: str, soc: str | None) -> None:
    found = parse_name(name)
    assert found is not None
    assert (found.kind, found.source, found.form, found.soc) == ("gdat", "aoe", "json", soc)


@pytest.mark.parametrize(
    "name", ["Ascend910_gradient_fusion.json.bak", "Ascend910_gradient_fusion.csv", "a b_gradient_fusion.json"]
)
def test_other_names_are_none_of_ours(name: str) -> None:
    assert parse_name(name) is None


def test_rules_fire_with_their_place(tmp_path: Path) -> None:
    document = [model([1, 2], [1]), model([0] * 5, [0] * 5), model([0] * 4, [0] * 4), model([0] * 5, [0, 0, 0, 0, 1])]
    file = read(tmp_path, json.dumps(document, indent=1), "gradient_fusion.json")
    assert said(file) == [
        ("gdat-length", "error", 4, 17, "/0/modelvalue"),
        ("gdat-not-tuned", "warning", 16, 17, "/1/modelvalue"),
        ("gdat-soc", "warning", None, None, None),
    ]
    assert file.bank.summary().used_models == 2


def test_a_model_that_was_cut_off_is_in_no_sum(tmp_path: Path) -> None:
    document = [model([1, 2], [3, 4]), {"notes": [{"by": "hand"}], **model([1, 2, 3], [1, 2, 3])}]
    whole = json.dumps(document)
    for cut in range(len(json.dumps(document[:1])), len(whole) - 1):
        file = read(tmp_path, whole[:cut])
        assert [rule for rule, *_ in said(file)] == ["json-truncated"], cut
        assert file.bank.summary().gradients == 2


def test_many_findings_of_one_rule_are_counted(tmp_path: Path) -> None:
    file = read(tmp_path, json.dumps([model([0] * 5, [0] * 5)] * 50))
    found = check_bank_file(file)
    assert len(found) == EXAMPLES_PER_RULE + 1
    assert found[-1].message == "and 30 more of this kind"


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({}, ""),
        ([1], "/0"),
        ([{"modelhash": "1"}], "/0"),
        ([model([1], [1], modelhash=1)], "/0/modelhash"),
        ([model([1], [1], modelhash="0x1f")], "/0/modelhash"),
        ([model([1.5], [1])], "/0/modelvalue/gradientSize/0"),
        ([model([True], [1])], "/0/modelvalue/gradientSize/0"),
        ([model([1], [-1])], "/0/modelvalue/gradientTime/0"),
        ([model([1], [2**64])], "/0/modelvalue/gradientTime/0"),
        ([model([1], {})], "/0/modelvalue/gradientTime"),
    ],
)
def test_what_has_the_wrong_shape_is_said_and_left_out(tmp_path: Path, document: Any, pointer: str) -> None:
    file = read(tmp_path, json.dumps(document))
    assert [(rule, at) for rule, _, _, _, at in said(file)] == [("schema", pointer)]
    if not isinstance(document, list) or "hash" not in pointer:
        assert file.bank.models == ()


def test_damage_is_said_with_its_place(tmp_path: Path) -> None:
    text = VALID.read_text()
    cut = read(tmp_path, text[: text.index("512") + 1])
    assert [model.modelhash for model in cut.bank.models] == ["12345678901234567890"]
    assert said(cut)[0][:2] == ("json-truncated", "error")
    broken = read(tmp_path, text.replace("},{", "}{", 1))
    assert said(broken) == [("json-syntax", "error", 1, text.index("},{") + 2, None)]
    assert (broken.parsed, broken.bank.models) == (False, ())
    twice = read(tmp_path, '[{"modelhash":"1","modelhash":"2","modelvalue":{"gradientSize":[1],"gradientTime":[1]}}]')
    assert said(twice) == [("json-duplicate-key", "warning", 1, 19, "/0")]
    foreign = read(tmp_path, json.dumps([{**model([1], [1]), "模型": "x"}], ensure_ascii=False).encode("gb18030"))
    assert [rule for rule, *_ in said(foreign)] == ["json-encoding"]
    assert len(foreign.bank.models) == 1
    assert [rule for rule, *_ in said(read(tmp_path, b""))] == ["json-truncated"]


def test_only_so_much_is_read(tmp_path: Path) -> None:
    file = read_bank(VALID, max_bytes=10)
    assert [finding.rule for finding in check_bank_file(file)] == ["json-too-large"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["modelhash", "modelvalue", "gradientSize", "gradientTime"]), inner)
        ),
    )
)
def test_any_document_is_a_bank_of_what_fits(document: Any) -> None:
    bank = bank_of_document(document, None)
    assert bank.summary().models == len(bank.models)


def test_check_and_inspect_show_what_is_in_it(cli: Cli) -> None:
    ended = cli("check", VALID, "--strict", "--format", "json")
    (row,) = ended.json["rows"]
    assert (ended.code, row["kind"], row["verdict"]) == (0, "gdat", "pass")
    assert row["summary"]["gradients"] == 5
    assert ended.json["findings"] == []
    shown = cli("check", VALID).out
    assert re.search(r"Models +Gradients +Size \(bytes\) +Largest \(bytes\) +Time \(unit unknown\)", shown)
    assert re.search(r"2 +5 +1,063,328 +1,048,576 +52,100 +pass", shown)
    ended = cli("inspect", VALID, "--format", "json")
    (row,) = ended.json["rows"]
    assert (row["kind"], row["source"], row["rows"]) == ("gdat", "aoe", 5)
    assert row["summary"]["time_after_start"] == 52100
    assert ended.json["findings"] == []


def test_a_bank_under_another_name_is_told_by_its_words(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "bank.json"
    path.write_bytes(VALID.read_bytes())
    assert cli("check", tmp_path, "--format", "json").rules() == {"gdat-soc"}


def test_a_bank_beside_a_result_gives_no_records(tmp_path: Path, cli: Cli, aoe: Path) -> None:
    for path in (VALID, *(aoe / "array_grouped").iterdir()):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    ended = cli("ingest", tmp_path, "--store", tmp_path / "store", "--format", "json")
    assert [(row["kind"], row["records"] > 0) for row in ended.json["rows"]] == [
        ("tuning", False),
        ("tuning", False),
        ("tuning", True),
    ]
    assert "no-record" in ended.rules()
    assert ended.code == 0
    records = cli("ingest", "--dry-run", tmp_path)
    assert records.code == 0
    assert all(json.loads(line)["metadata"]["kind"] == "opat" for line in records.out.splitlines())


def test_the_same_gradients_for_another_chip_are_another_run(tmp_path: Path, cli: Cli) -> None:
    for soc in ("Ascend910A", "Ascend910B"):
        (tmp_path / f"{soc}_gradient_fusion.json").write_bytes(VALID.read_bytes())
    models = len(cli("ingest", VALID, "--store", tmp_path / "one", "--format", "json").json["rows"])
    rows = cli("ingest", tmp_path, "--store", tmp_path / "store", "--format", "json").json["rows"]
    assert [row["outcome"] for row in rows] == ["added"] * 2 * models
    again = cli("ingest", tmp_path, "--store", tmp_path / "store", "--format", "json").json["rows"]
    assert {row["outcome"] for row in again} == {"unchanged"}
    runs = cli("store", "history", "runs", "--store", tmp_path / "store", "--format", "json").json["rows"]
    assert {row["hardware"] for row in runs} == {"Ascend910A", "Ascend910B"}


def test_a_bank_that_cannot_be_opened_costs_itself_only(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aoe_reports.formats.aoe import bank_file
    from aoe_reports.model.errors import ReadError

    def refuse(path: Path, _: object) -> BankFile:
        raise ReadError(path, "gone", "a bank was expected")

    monkeypatch.setattr(bank_file, "read_bank", refuse)
    ended = cli("inspect", VALID, "--format", "json")
    assert (ended.code, ended.json["rows"][0]["rows"]) == (3, None)
    assert ended.rules() == {"unreadable"}


HEADER = "No,gradient_size(byte),data_type,graph_id,group_name,gradient_node_name,trace_node_name,allreduce_node_name\n"


def test_the_table_beside_a_bank_is_read_and_checked(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "gradient_summary.csv"
    path.write_text(f"{HEADER}1,4000,float32,1,g,n,t,a\n2,8192,float32,1,g,n,t\n3,,float32,1,g,n,t,a\n")
    ended = cli("check", tmp_path, "--format", "json")
    assert (ended.rules(), ended.code) == ({"csv-ragged-row", "missing-value"}, 1)
    profile = read_profile(tmp_path)
    assert profile.tables == ("gradient_summary",)
    assert profile.table("gradient_summary").collect()["gradient_size_bytes"].to_list() == [4000]
    ended = cli("nightly", tmp_path, "--store", tmp_path / "store", "--format", "json")
    assert (ended.rules(), ended.code) == ({"no-run"}, 0)


def test_a_table_of_that_name_by_somebody_else_is_left_alone(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "gradient_summary.csv").write_text("epoch,gradient_norm\n1,0.5\n")
    (tmp_path / "gradient_summary.json").write_text('[{"epoch": 1}]')
    assert cli("check", tmp_path, "--format", "json").rules() == {"nothing-found"}


def test_a_table_of_another_name_is_told_by_its_header(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "mine.csv").write_text(f"{HEADER}1,4000,float32,1,g,n,t,a\n")
    (row,) = cli("inspect", tmp_path, "--format", "json").json["rows"]
    assert (row["kind"], row["source"], row["rows"]) == ("gradient_summary", "aoe", 1)


def test_a_capture_beside_it_is_one_run_as_before(tmp_path: Path, cli: Cli, msprof: Path) -> None:
    (tmp_path / "gradient_summary.csv").write_text(f"{HEADER}1,4000,float32,1,g,n,t,a\n")
    for path in (msprof / "statistic_only").rglob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    alone = cli("ingest", "--dry-run", msprof / "statistic_only", "--workload", "w").out.splitlines()
    beside = cli("ingest", "--dry-run", tmp_path, "--workload", "w").out.splitlines()
    assert [json.loads(line)["runtime_ms_mean"] for line in beside] == [
        json.loads(line)["runtime_ms_mean"] for line in alone
    ]
