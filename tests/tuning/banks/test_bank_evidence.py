"""What a job's bank tells where AOE's results leave open what became of an operator."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from commandline import FIXTURES
from tuning.jobs import NAMES, SOC, Bench
from tuning.test_outcome import changed, results

from aoe_reports.tuning.aoe.bank import AOE_BANK, BankEvidence, evidence_of
from aoe_reports.tuning.aoe.outcome import outcome_rows
from aoe_reports.tuning.banks.bank import difference, document_of_listing, list_bank, listing_of_document
from aoe_reports.tuning.job.driver import BankSides
from aoe_reports.tuning.plan.plan import Candidate, Plan, TuneOps

BANKS = FIXTURES / "banks"
KB = Path("Ascend910B3") / "unified_bank" / "Ascend910B3_20_AiCore_MatMulV3_runtime_kb.json"
CHIP = "Ascend910B3"


def candidate(name: str, shapes: str | None, **more: str | None) -> Candidate:
    told = {"input_data_types": "FLOAT16;FLOAT16", "input_formats": "ND;ND", "output_data_types": "FLOAT16", **more}
    return Candidate(kind="operator", op_name=name, op_type="MatMulV3", input_shapes=shapes, **told)


KEPT = candidate("kept", "512,1024;1024,256")
CHANGED = candidate("changed", "768,96;320,96")
ABSENT = candidate("absent", "99,101;101,103")
SQUARE = candidate("square", "2048,2048;2048,2048")


def sides(before: Path = BANKS / "before", after: Path = BANKS / "after") -> BankSides:
    return BankSides(list_bank(AOE_BANK, before), list_bank(AOE_BANK, after), after)


def evidence(bank: BankSides | None = None, soc: str | None = CHIP) -> BankEvidence:
    found = evidence_of(bank or sides(), soc)
    assert found is not None
    return found


def test_an_entry_was_kept_or_changed_or_is_absent() -> None:
    told = evidence()
    assert [told.state_of(one) for one in (KEPT, CHANGED, ABSENT, SQUARE)] == ["kept", "changed", None, None]


@pytest.mark.parametrize(
    "unknown",
    ["input_shapes", "input_data_types", "input_formats", "output_data_types"],
)
def test_nothing_is_told_of_an_operator_that_the_plan_does_not_tell_enough_of(unknown: str) -> None:
    assert evidence().state_of(replace(KEPT, **{unknown: None})) is None  # type: ignore[arg-type]
    assert evidence().state_of(replace(KEPT, output_data_types="FLOAT")) is None


def test_an_entry_with_a_type_without_a_name_proves_nothing(tmp_path: Path) -> None:
    shutil.copytree(BANKS / "after", tmp_path / "b")
    text = (tmp_path / "b" / KB).read_text().replace('"out_dtype":1', '"out_dtype":999')
    (tmp_path / "b" / KB).write_text(text)
    assert evidence(sides(tmp_path / "b", tmp_path / "b")).state_of(KEPT) is None


UNIFIED = Path("Ascend910B3") / "unified_bank" / "Ascend910B3_20_AiCore_matmul.json"
TILED = replace(candidate("tiled", "100,1000;1000,200"), op_type="MatMulV2")
ADDED = replace(candidate("added", "20,30;20,30"), op_type="Add")


def test_tilings_of_ga_tuning_and_graphs_of_auto_tune_tell_the_same(tmp_path: Path) -> None:
    banks = BANKS / "tilings"
    shutil.copytree(banks, tmp_path / "b")
    text = (tmp_path / "b" / UNIFIED).read_text().replace('"vector_block_num": 0', '"vector_block_num": 1', 1)
    (tmp_path / "b" / UNIFIED).write_text(text)
    told = evidence(sides(banks, tmp_path / "b"))
    assert [told.state_of(one) for one in (TILED, ADDED)] == ["changed", "kept"]
    before, after = (list_bank(AOE_BANK, place) for place in (banks, tmp_path / "b"))
    assert [(one.path, one.entries_added, one.entries_lost) for one in difference(before, after)] == [
        (str(UNIFIED), 1, 1)
    ]
    (tmp_path / "empty").mkdir()
    assert evidence(sides(tmp_path / "empty", banks)).state_of(TILED) == "changed"
    assert (
        outcomes(results([], reserved=1, unsatisfied=1), TILED, ADDED, bank=evidence(sides(banks, banks)))
        == ["already-banked"] * 2
    )
    (tmp_path / "b" / UNIFIED).write_text(text[:-40])
    assert evidence_of(sides(banks, tmp_path / "b"), CHIP) is None


def test_damage_on_either_side_and_another_chip_tell_nothing(tmp_path: Path) -> None:
    shutil.copytree(BANKS / "after", tmp_path / "b")
    with (tmp_path / "b" / KB).open("a") as file:
        file.write("[]\n")
    assert evidence_of(sides(after=tmp_path / "b"), CHIP) is None
    assert evidence_of(sides(before=tmp_path / "b"), CHIP) is None
    assert evidence_of(sides(), None) is None, "entries of two chips"
    assert evidence(soc="Ascend310P").state_of(KEPT) is None
    assert evidence(sides(BANKS / "before", BANKS / "before"), None).state_of(KEPT) == "kept"


def test_a_bank_of_before_that_was_written_down_without_keys_tells_nothing() -> None:
    bank = sides()
    older = {name: replace(entry, values=None) for name, entry in bank.before.items()}
    assert evidence_of(replace(bank, before=older), CHIP) is None


def test_a_listing_keeps_what_the_bank_holds() -> None:
    listing = list_bank(AOE_BANK, BANKS / "before")
    assert listing_of_document(json.loads(json.dumps(document_of_listing(listing)))) == listing
    assert len(listing[str(KB)].values or {}) == 3


def outcomes(found: object, *candidates: Candidate, ended: bool = True, bank: BankEvidence | None) -> list[str]:
    plan = Plan("offline", "opat", soc=CHIP, candidates=candidates)
    names = TuneOps(tuple(one.op_name or "" for one in candidates))
    rows = outcome_rows(plan, names, found, ended=ended, bank=bank)  # type: ignore[arg-type]
    assert all(row.gain is None and row.before_us is None for row in rows if row.reason)
    return [row.status for row in rows]


def test_the_bank_answers_what_counts_leave_open() -> None:
    found = results([], reserved=1, unsatisfied=1)
    assert outcomes(found, KEPT, ABSENT, bank=None) == ["unclear", "unclear"]
    assert outcomes(found, KEPT, ABSENT, bank=evidence()) == ["already-banked", "not-better"]
    assert outcomes(found, KEPT, SQUARE, bank=evidence()) == ["already-banked", "not-better"]
    assert outcomes(found, SQUARE, ABSENT, bank=evidence()) == ["unclear", "unclear"]


def test_the_others_are_not_better_only_if_the_bank_has_all_that_was_kept() -> None:
    assert outcomes(results([], reserved=2, unsatisfied=1), KEPT, ABSENT, SQUARE, bank=evidence()) == [
        "already-banked",
        "unclear",
        "unclear",
    ]
    assert outcomes(results([], reserved=1, unsatisfied=5), KEPT, ABSENT, bank=evidence()) == [
        "already-banked",
        "not-better",
    ]


def test_an_entry_that_the_job_changed_improved_the_operator_without_times() -> None:
    found = results([], reserved=1, unsatisfied=1)
    assert outcomes(found, CHANGED, ABSENT, bank=evidence()) == ["improved", "unclear"]


def test_what_aoe_itself_tells_is_not_changed_by_the_bank() -> None:
    assert outcomes(results([changed("kept")], unsatisfied=1), KEPT, ABSENT, bank=evidence()) == [
        "improved",
        "not-better",
    ]
    assert outcomes(results([], ("kept",), unsatisfied=1), KEPT, ABSENT, bank=evidence()) == ["failed", "not-better"]
    assert (
        outcomes(results([], reserved=1, unsatisfied=1), KEPT, ABSENT, ended=False, bank=evidence()) == ["unclear"] * 2
    )


def test_a_job_on_a_copy_of_a_bank_tells_each_operator(bench: Bench) -> None:
    folder = bench.root / "bank" / SOC / "unified_bank"
    folder.mkdir(parents=True)
    entry = json.loads((BANKS / "before" / KB).read_text().splitlines()[0])
    (folder / f"{SOC}_20_AiCore_MatMulV2_runtime_kb.json").write_text(json.dumps({**entry, "op": "MatMulV2"}) + "\n")
    shapes = ("512,1024;1024,256", "99,101;101,103", None)
    candidates = [
        replace(candidate(name, shape), op_type="MatMulV2") for name, shape in zip(NAMES, shapes, strict=True)
    ]
    bench.plan(candidates=tuple(candidates), bank=str(bench.root / "bank"))
    ended = bench.tune(STAND_IN="kept-first")
    assert ended.code == 0, ended.err
    assert [(row["op_name"], row["status"]) for row in ended.json["rows"]] == [
        (NAMES[0], "already-banked"),
        (NAMES[1], "not-better"),
        (NAMES[2], "not-better"),
    ]
    assert ended.json["rows"][0]["reason"] == "the bank had the entry for its inputs, and this job did not change it"
    listed = json.loads((bench.folder / "bank_before.json").read_text())
    assert len(listed[f"{SOC}/unified_bank/{SOC}_20_AiCore_MatMulV2_runtime_kb.json"]["values"]) == 1
