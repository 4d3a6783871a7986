"""`verify` and `tune adopt` with logs of CANN: what did not use the bank is neither confirmed nor refuted."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commandline import ROOT, Cli, Ended
from jsonschema import validate
from planted_logs import HIT, MISSED, NOT_COUNTED, SUBGRAPH_MISSED, operator, subgraph, write_log

from aoe_reports.simulation.tuning import BEFORE, SimulatedLoop, write_profile, write_result
from aoe_reports.tuning.plan.folder import REMEASURED_LOG, write_plan
from aoe_reports.tuning.plan.plan import Candidate, Plan

SCHEMA = json.loads((ROOT / "schemas" / "verification.schema.json").read_text())
CLAIMED = ("block5/conv", "block6/conv")
USED, UNUSED = CLAIMED
STEPS = 6


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> SimulatedLoop:
    """Two operators take 0.8 of their time, as AOE claims; nobody may write there."""
    root = tmp_path_factory.mktemp("loop")
    before = write_profile(root / "before", BEFORE, random.Random(1), steps=STEPS)
    factors = dict.fromkeys(CLAIMED, 0.8)
    after = write_profile(root / "after", BEFORE.replace(hour=9), random.Random(1), factors=factors, steps=STEPS)
    return SimulatedLoop(before, after, write_result(root / "aoe", BEFORE.replace(hour=4), CLAIMED))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_plan(tmp_path / "plan", Plan("offline", "opat"))
    return tmp_path / "plan"


class Verifying:
    def __init__(self, cli: Cli, folder: Path, loop: SimulatedLoop) -> None:
        self.cli, self.folder, self.loop = cli, folder, loop

    def run(self, *more: object, form: str = "json", after: Path | None = None) -> Ended:
        given = ("--before", self.loop.before, "--after", after or self.loop.after, "--results", self.loop.result)
        return self.cli("verify", self.folder, *given, "--format", form, *more)

    def logged(self, lines: Sequence[str], *more: object, form: str = "json") -> Ended:
        log = write_log(self.folder.parent / "log", lines)
        return self.run("--log", log, *more, form=form)

    @property
    def left(self) -> dict[str, Any]:
        document = json.loads((self.folder / "verify.json").read_text())
        validate(document, SCHEMA)
        return document


@pytest.fixture
def verifying(cli: Cli, folder: Path, loop: SimulatedLoop) -> Verifying:
    return Verifying(cli, folder, loop)


def verdicts(answer: dict[str, Any]) -> dict[str, str]:
    return {row["op_name"] or row["scope"]: row["verdict"] for row in answer["rows"]}


def test_what_did_not_use_the_bank_is_neither_confirmed_nor_refuted(verifying: Verifying) -> None:
    lines = [operator(USED, HIT), operator(f"{UNUSED}_OPAT_0", MISSED), operator("other", MISSED)]
    ended = verifying.logged(lines)
    assert ended.code == 0
    answer = ended.json
    assert verdicts(answer) == {"step": "confirmed", "op_type": "confirmed", USED: "confirmed", UNUSED: "not-used"}
    assert answer["verdict"] == "confirmed"
    row = next(row for row in answer["rows"] if row["op_name"] == UNUSED)
    assert row["change"] == pytest.approx(-0.2, abs=0.01)
    assert row["reason"] == "the log says that it did not use the bank"
    of_type = next(row for row in answer["rows"] if row["scope"] == "op_type")
    assert of_type["measured_before_us"] == pytest.approx(
        next(row for row in answer["rows"] if row["op_name"] == USED)["measured_before_us"], rel=1e-6
    )
    use = answer["bank_use"]
    assert (use["used"], use["not_used"], use["not_named"]) == ([USED], [UNUSED], [])
    assert verifying.left["bank_use"] == use
    told = next(one["message"] for one in answer["findings"] if one["rule"] == "verify-bank-not-used")
    assert told.startswith(f"1 of 2 tuned operators used the bank; 1 did not: {UNUSED}; {UNUSED}: the log says")
    page = (verifying.folder / "verify.html").read_text()
    assert f"1 of 2 tuned operators used the bank; 1 did not: {UNUSED}" in page
    assert verifying.logged(lines, "--accept", "all").json["accepted"] is False
    chinese = verifying.logged(lines, "--lang", "zh", form="text").out
    assert "2 个调优算子中有 1 个使用了知识库" in chinese


def test_where_nothing_used_the_bank_nothing_is_accepted(verifying: Verifying) -> None:
    lines = [operator(name, MISSED) for name in CLAIMED]
    for accept in ("confirmed", "partly", "step", "all"):
        ended = verifying.logged(lines, "--accept", accept)
        assert (ended.code, ended.json["reasons"]) == (1, ["verification"])
    answer = ended.json
    assert verdicts(answer) == {"step": "not-used", USED: "not-used", UNUSED: "not-used"}
    assert (answer["verdict"], answer["signs"]) == ("not-used", [])
    ended = verifying.logged(lines, form="text")
    assert ended.out.startswith("Bank not used: ")
    assert f"0 of 2 tuned operators used the bank; 2 did not: {USED}, {UNUSED}" in ended.out
    assert "Make sure that the tuned bank is in use" in ended.out


def test_a_log_takes_back_a_verdict_on_the_same_profile_only(verifying: Verifying, tmp_path: Path) -> None:
    assert verifying.run().json["verdict"] == "confirmed"
    missed = [operator(name, MISSED) for name in CLAIMED]
    other = write_profile(tmp_path / "o", BEFORE.replace(hour=11), random.Random(3), steps=STEPS)
    answer = verifying.run("--log", write_log(tmp_path / "log", missed), after=other)
    assert answer.json["verdict"] == "not-used"
    assert "verify-kept" in answer.rules()
    assert verifying.left["verdict"] == "confirmed"
    assert verifying.logged(missed).json["kept_as"] == "verify-001.json"
    assert verifying.left["verdict"] == "not-used"


def test_contradictions_and_what_does_not_count_leave_the_verdict_to_the_measurement(verifying: Verifying) -> None:
    lines = [operator(USED, HIT), operator(USED, MISSED, process=8), operator(UNUSED, NOT_COUNTED)]
    ended = verifying.logged(lines)
    assert verdicts(ended.json)[USED] == verdicts(ended.json)[UNUSED] == "confirmed"
    use = ended.json["bank_use"]
    assert (use["contradicted"], use["not_counted"]) == ([USED], [UNUSED])
    assert "bank-log-contradicts" in ended.rules()
    assert "verify-bank-not-used" not in ended.rules()
    silent = verifying.run("--log", write_log(verifying.folder.parent / "silent", []))
    assert (silent.code, silent.json["bank_use"]) == (0, None)
    assert {one["severity"] for one in silent.json["findings"] if one["rule"] == "bank-log-silent"} == {"warning"}
    others = verifying.logged([operator("other", MISSED), subgraph("graph_1", SUBGRAPH_MISSED)])
    assert others.json["bank_use"]["not_named"] == list(CLAIMED)
    assert others.json["verdict"] == "confirmed"


def test_logs_of_the_profile_and_of_measuring_again_are_found(verifying: Verifying, tmp_path: Path) -> None:
    write_log(verifying.folder / "runs" / "001-opat" / "log", [operator(name, MISSED) for name in CLAIMED])
    assert verifying.run().json["bank_use"] is None, "the log of tuning is none of the measurement"
    write_log(verifying.folder / REMEASURED_LOG, [operator(name, MISSED) for name in CLAIMED])
    assert verifying.run().json["verdict"] == "not-used"
    after = tmp_path / "after"
    shutil.copytree(verifying.loop.after, after)
    write_log(after / "log", [operator(name, HIT) for name in CLAIMED])
    answer = verifying.run(after=after).json
    assert (answer["verdict"], answer["bank_use"]["logs"]) == ("confirmed", [str(after)])
    assert verifying.run("--log", tmp_path / "none").code == 3


def test_the_private_bank_tells_why_an_entry_was_not_found(verifying: Verifying) -> None:
    kb = verifying.folder / "bank" / "Ascend910B3" / "Ascend910B3_20_AiCore_MatMulV3_runtime_kb.json"
    shutil.copytree(ROOT / "fixtures" / "banks" / "after" / "Ascend910B3", kb.parent)
    planned = Candidate(kind="operator", op_name=UNUSED, op_type="MatMulV3", input_shapes="64,640;640,48")
    write_plan(verifying.folder, Plan("offline", "opat", soc="Ascend910B3", candidates=(planned,)))
    ended = verifying.logged([operator(USED, HIT), operator(UNUSED, MISSED)])
    row = next(row for row in ended.json["rows"] if row["op_name"] == UNUSED)
    assert row["reason"] == (
        "the log says that it did not use the bank; unclear: 3 entries of this type; their keys cannot be compared with the profile"
    )


def test_adopting_says_what_did_not_use_the_bank(verifying: Verifying, cli: Cli, tmp_path: Path) -> None:
    (verifying.folder / "bank" / "Ascend910B3").mkdir(parents=True)
    (verifying.folder / "bank" / "Ascend910B3" / "x.json").write_text("{}")
    asked = ("tune", "adopt", verifying.folder, "--to", tmp_path / "to", "--dry-run", "--format", "json")
    verifying.logged([operator(USED, HIT), operator(UNUSED, MISSED)])
    found = {one["rule"]: (one["severity"], one["message"]) for one in cli(*asked).json["findings"]}
    told = f"1 of 2 tuned operators used the bank; 1 did not: {UNUSED}."
    assert found["adopt-not-used"] == ("warning", told)
    assert "adopt-not-verified" not in found
    log = write_log(tmp_path / "later", [operator(name, MISSED) for name in CLAIMED])
    ended = cli(*asked, "--log", log)
    found = {one["rule"]: (one["severity"], one["path"]) for one in ended.json["findings"]}
    assert (ended.code, found["adopt-not-verified"]) == (1, ("error", str(log)))
    verifying.logged([operator(name, MISSED) for name in CLAIMED])
    ended = cli(*asked)
    assert ended.code == 1
    assert "the verdict is not-used" in ended.out
