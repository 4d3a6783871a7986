"""What came of each operator, what the console says, what differs between banks: by themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from commandline import FIXTURES
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.aoe.results import results_of_document
from aoe_reports.tuning.aoe.bank import bank_in_use
from aoe_reports.tuning.aoe.console import CONSOLE_CODES, Console, codes_of_line, explain_code, is_failure
from aoe_reports.tuning.aoe.driver import AoeDriver
from aoe_reports.tuning.aoe.outcome import is_part_of, judge_stage, outcome_rows, progress_of
from aoe_reports.tuning.banks.bank import (
    difference,
    digest_of,
    document_of_listing,
    entry_of_bytes,
    listing_of_document,
)
from aoe_reports.tuning.job.driver import describe_progress
from aoe_reports.tuning.job.runner import Ended
from aoe_reports.tuning.job.state import PrintedClaim
from aoe_reports.tuning.names import type_key
from aoe_reports.tuning.plan.plan import Candidate, Plan, Rejected, TuneOps
from aoe_reports.tuning.verify.rows import Verification, step_claim


def results(operators: list[dict[str, Any]], failed: tuple[str, ...] = (), **counts: int) -> Any:
    keys = ("repo_add_num", "repo_hit_num", "repo_reserved_num", "repo_unsatisfied_num", "repo_update_num", "total_num")
    body: dict[str, Any] = {
        "opat_tuning_result": "tuning failed" if failed else "tuning successful",
        "repo_modified_operators": {"add_repo_operators": operators},
        "repo_summary": {key: counts.get(key.removeprefix("repo_").removesuffix("_num"), 0) for key in keys},
    }
    if failed:
        body["tuning_failed_operators"] = list(failed)
    document = [{"basic": {"tuning_name": "x", "tuning_time(s)": 1}}, {"OPAT": body}]
    return results_of_document(json.loads(json.dumps(document), parse_float=Decimal), "opat")


def changed(name: str, op_type: str = "matmulv2") -> dict[str, Any]:
    return {"op_name": name, "op_type": op_type, "performance_before_tune(us)": 30, "performance_after_tune(us)": 20}


def statuses(names: list[str], found: Any, *, types: tuple[str, ...] = (), ended: bool = True) -> list[str]:
    plan = Plan(
        "offline",
        "opat",
        candidates=tuple(Candidate(kind="operator", op_name=name, op_type="MatMulV2") for name in names),
    )
    rows = outcome_rows(plan, TuneOps(tuple(names), types), found, ended=ended)
    return [row.status for row in rows if row.requested]


def test_what_is_not_named_is_told_by_counts_only_where_they_are_certain() -> None:
    assert statuses(["a", "b"], results([changed("a")], reserved=1)) == ["improved", "already-banked"]
    assert statuses(["a", "b"], results([changed("a")], unsatisfied=1)) == ["improved", "not-better"]
    assert statuses(["a", "b"], results([changed("a")])) == ["improved", "not-seen"]
    assert statuses(["a", "b", "c"], results([], reserved=1, unsatisfied=1)) == ["unclear"] * 3
    assert statuses(["a", "b", "c"], results([], reserved=2)) == ["unclear"] * 3, "one of three was not seen"
    assert statuses(["a"], results([], reserved=1), types=("Add",)) == ["unclear", "unclear"], "it may be an Add"
    assert statuses(["a"], [], ended=False) == ["not-seen"]
    assert statuses(["a", "b"], results([], ("b",), reserved=1)) == ["already-banked", "failed"]


def test_what_nobody_asked_for_is_told_too() -> None:
    plan = Plan("offline", "opat", candidates=(Candidate(kind="operator", op_name="a", op_type="Add"),))
    rows = outcome_rows(plan, TuneOps(("a",)), results([changed("z")], ("y",)), ended=True)
    assert [(row.op_name, row.status, row.requested) for row in rows] == [
        ("a", "not-seen", True),
        ("z", "improved", False),
        ("y", "failed", False),
    ]


@pytest.mark.parametrize(
    ("timed", "ended", "status", "gain"),
    [(True, True, "improved", 0.5), (False, True, "improved", 0.5), (True, False, "improved", 0.5), (False, False, "unclear", None)],
)  # fmt: skip
def test_a_subgraph_counts_unless_tuning_broke_off_and_its_time_is_missing(
    timed: bool, ended: bool, status: str, gain: float | None
) -> None:
    subgraph = {"repo_key": "7", "performance_before_tune(ms)": 3, "performance_after_tune(ms)": 2}
    basic = {"tuning_name": "x", **({"tuning_time(s)": 1} if timed else {})}
    body = {"model_baseline_performance(ms)": 3, "repo_modified_subgraphs": {"add_repo_subgraphs": [subgraph]}}
    found = results_of_document([{"basic": basic}, {"SGAT": body}], "sgat")
    (row,) = outcome_rows(Plan("offline", "sgat"), None, found, ended=ended)
    assert (row.status, row.gain) == (status, gain)


def test_another_type_than_planned_is_said() -> None:
    plan = Plan("offline", "opat", candidates=(Candidate(kind="operator", op_name="a", op_type="Add"),))
    (row,) = outcome_rows(plan, TuneOps(("a",)), results([changed("a", "Mul")]), ended=True)
    assert row.reason == "AOE reports its type as Mul"
    assert row.gain == 0.5


@pytest.mark.parametrize(
    ("name", "fused", "is_part"),
    [
        ("net/a/Conv2D", "net/a/Conv2Dnet/a/Relu", True),
        ("net/a/Relu", "net/a/Conv2Dnet/a/Relu", True),
        ("net/conv1", "net/conv10", False),
        ("net/conv1", "net/conv1_1net/relu", False),
        ("conv1", "conv1relu1", True),
        ("conv1", "conv10", False),
        ("net/a", "other/xnet/ab", False),
        ("a", "a", False),
        ("", "a", False),
    ],
)
def test_parts_of_fused_operators(name: str, fused: str, is_part: bool) -> None:
    assert is_part_of(name, fused, {"relu1", "net/a"}) is is_part


def test_a_rejected_operator_helps_to_take_a_fused_name_apart() -> None:
    plan = Plan(
        "offline",
        "opat",
        candidates=(Candidate(kind="operator", op_name="c1"),),
        rejected=(Rejected(op_name="r1", op_type="Relu"),),
    )
    (row,) = outcome_rows(plan, TuneOps(("c1",)), results([changed("c1r1")]), ended=True)
    assert row.status == "improved"


@given(st.text("ab/1_", min_size=1, max_size=6), st.text("ab/1_", max_size=8))
def test_a_part_is_in_the_whole(name: str, fused: str) -> None:
    if is_part_of(name, fused, set()):
        assert name in fused
        assert name != fused


def test_types_are_compared_without_case_and_version() -> None:
    assert type_key("MatMulV2") == type_key("matmul") == type_key("MatMul")
    assert type_key("Conv2D") != type_key("Conv3D")


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("EG0013: Device operation failed", ["EG0013"]),
        ("[ERROR] something EG10000 and EG10001", ["EG10000", "EG10001"]),
        ("E19999: Inner Error!", ["E19999"]),
        ("[ERROR] EZ9999: Inner Error!", ["EZ9999"]),
        ("loss at step E19999: 3", []),
        ("MEG0013 EG00131234", []),
        ("exec aoe tuning func failed[9].", ["AOE 9"]),
        ("exec aoe tuning graph func failed", ["AOE"]),
        ("exec aoe tuning func failed[8].", []),
        ("WG0000: memory", ["WG0000"]),
        ("", []),
    ],
)
def test_codes_in_a_line(line: str, codes: list[str]) -> None:
    assert list(codes_of_line(line)) == codes
    assert all(explain_code(code) for code in codes)


def test_every_code_has_words() -> None:
    for code, (title, _) in CONSOLE_CODES.items():
        assert title in explain_code(code)
        assert is_failure(code) is code.startswith("E")
    assert "not in its published list" in explain_code("EG7777")
    assert "another part of CANN" in explain_code("EZ9999")
    assert "not in AOE's list" in explain_code("AOE 77")


@given(st.text(max_size=200))
def test_any_line_can_be_taken_in(line: str) -> None:
    console = Console("offline", "aoe")
    console.take(line)
    console.take(f"{line} process finished. Performance improved by 3.5%")
    assert console.claims[-1].percent == "3.5"
    assert console.missing is None


@pytest.mark.parametrize(
    ("console", "file", "agrees"),
    [("20.00", "20.00%", True), ("20", "20.4%", True), ("20.01", "20.00%", True), ("21.1", "20.00%", False)],
)
def test_a_claim_agrees_within_its_last_digit(console: str, file: str, agrees: bool) -> None:
    assert PrintedClaim("x", console).agrees(file) is agrees


@pytest.mark.parametrize(
    ("environment", "by", "operators", "graphs"),
    [
        ({"TUNE_BANK_PATH": "/t", "ASCEND_CACHE_PATH": "/c"}, "TUNE_BANK_PATH", "/t/S", "/t"),
        ({"TUNE_BANK_PATH": "rel"}, "TUNE_BANK_PATH", "/cwd/rel/S", "/cwd/rel"),
        ({"ASCEND_CACHE_PATH": "/c"}, "ASCEND_CACHE_PATH", "/c/aoe_data/S", "/c/aoe_data"),
        (
            {"TUNE_BANK_PATH": ""},
            "default",
            "/home/me/Ascend/latest/data/aoe/custom/op/S",
            "/home/me/Ascend/latest/data/aoe/custom/graph/S",
        ),
        (
            {"ASCEND_HOME_PATH": "/usr/local/Ascend/cann-8.5.0"},
            "default",
            "/home/me/Ascend/cann/data/aoe/custom/op/S",
            "/home/me/Ascend/cann/data/aoe/custom/graph/S",
        ),
        (
            {"ASCEND_TOOLKIT_HOME": "/usr/local/Ascend/ascend-toolkit/latest"},
            "default",
            "/home/me/Ascend/latest/data/aoe/custom/op/S",
            "/home/me/Ascend/latest/data/aoe/custom/graph/S",
        ),
    ],
)
def test_which_bank_is_in_use(environment: dict[str, str], by: str, operators: str, graphs: str) -> None:
    layout = bank_in_use(environment, "/home/me", "/cwd")
    assert (layout.by, layout.operators("S"), layout.graphs("S")) == (
        by,
        PurePosixPath(operators),
        PurePosixPath(graphs),
    )


def test_what_differs_between_banks() -> None:
    name = "S/S_32_AiCore_Add_runtime_kb.json"
    before = {
        name: entry_of_bytes(b'{"a":1}\n{"b":1}\n', holds_lines=True),
        "g.json": entry_of_bytes(b"1", holds_lines=False),
        "same": entry_of_bytes(b"", holds_lines=False),
    }
    after = {
        name: entry_of_bytes(b'{"b":1}\n{"c":1}\n{"d":1}', holds_lines=True),
        "h.json": entry_of_bytes(b"1", holds_lines=False),
        "same": entry_of_bytes(b"", holds_lines=False),
    }
    assert [(c.path, c.change, c.entries_added, c.entries_lost) for c in difference(before, after)] == [
        (name, "changed", 2, 1),
        ("g.json", "removed", None, None),
        ("h.json", "added", None, None),
    ]
    assert difference(before, before) == []
    assert digest_of(before) != digest_of(after)
    assert listing_of_document(json.loads(json.dumps(document_of_listing(before)))) == before


def test_progress_in_words_and_as_a_share() -> None:
    found = results([changed("a"), changed("b_OPAT_0")], add=2, reserved=1)
    progress = progress_of(found, 6)
    assert describe_progress("opat", progress) == "opat: 3 of 6 operators done, 2 improved, best speed-up +50.0%"
    assert progress.share == 0.5
    assert describe_progress("opat", progress_of(found, None)).startswith("opat: 3 operators done")
    assert progress_of(found, None).share is None
    assert progress_of([], 0).share is None


def test_counts_of_a_script_are_of_everything_it_may_have_tuned() -> None:
    plan = Plan(
        "tf-training",
        "opat",
        candidates=(Candidate(kind="operator", op_name="a"), Candidate(kind="operator", op_name="b")),
    )
    asked = TuneOps(("a", "b"))

    def told(found: Any) -> list[str]:
        return [row.status for row in outcome_rows(plan, asked, found, ended=True)]

    assert told(results([changed("a")], reserved=1)) == ["improved", "already-banked"]
    assert told(results([changed("a")], reserved=9)) == ["improved", "unclear"]
    assert told(results([changed("a"), changed("z")], reserved=1)) == ["improved", "unclear", "improved"]


def test_an_operator_that_is_asked_for_by_name_and_by_type_is_told_once() -> None:
    plan = Plan(
        "offline",
        "opat",
        candidates=(Candidate(kind="operator", op_name="a", op_type="Add"), Candidate(kind="operator", op_type="Add")),
    )
    found = results([changed("a", "add"), changed("z", "add")])
    rows = outcome_rows(plan, TuneOps(("a",), ("Add",)), found, ended=True)
    assert [(row.op_name, row.reason) for row in rows] == [("a", ""), ("z", "matched by type")]


FINISHED = "process finished. Performance improved by"


@pytest.mark.parametrize(
    ("scenario", "runs", "lines", "missing"),
    [
        ("offline", "tuner", [], "'Aoe process finished' did not appear"),
        ("offline", "tuner", ["[INFO] Aoe process finished."], None),
        ("offline", "tuner", [f"[Aoe]net {FINISHED} 3%"], None),
        ("offline", "tuner", ["in tune mode, training graph handled by tools"], "'Aoe process finished' did not appear"),
        ("offline", "command", [], None),
        ("pytorch", "command", [], None),
        ("tf-training", "command", [], "'in tune mode, training graph handled by tools' and 'Aoe tuning graph' did not appear: the framework did not tune"),
        ("tf-training", "command", ["x in tune mode, training graph handled by tools"], "'Aoe tuning graph' did not appear: the framework did not tune"),
        ("tf-training", "command", ["Aoe tuning graph 3"], "'in tune mode, training graph handled by tools' did not appear: the framework did not tune"),
        ("tf-training", "command", ["Aoe tuning graph", "in tune mode, training graph handled by tools"], None),
    ],
)  # fmt: skip
def test_what_should_have_been_said(scenario: Any, runs: Any, lines: list[str], missing: str | None) -> None:
    console = Console(scenario, runs)
    for line in lines:
        console.take(line)
    assert console.missing == missing


def test_claims_and_codes_are_kept_with_their_names() -> None:
    console = Console("offline", "tuner")
    console.take(f"  2026-01-01 [Aoe]net1 {FINISHED} 12.50 %, code EG0001: bad", shown="  2026-01-01 [Aoe]shown process finished. Performance improved by *** EG0001 ")  # fmt: skip
    console.take("EG0001 again, and EG9999", shown=None)
    console.take(f"{FINISHED} -3%")
    console.take(f"[Aoe]net2 {FINISHED} much")
    assert console.claims == [PrintedClaim("shown", "12.50"), PrintedClaim("", "-3")]
    assert console.codes == {
        "EG0001": "2026-01-01 [Aoe]shown process finished. Performance improved by *** EG0001",
        "EG9999": "EG0001 again, and EG9999",
    }


@pytest.mark.parametrize(("length", "kept"), [(299, 299), (300, 300), (301, 300)])
def test_a_line_of_a_code_is_kept_as_far_as_it_is_read(length: int, kept: int) -> None:
    console = Console("offline", "tuner")
    console.take("EG0001 ".ljust(length, "x"))
    assert [len(line) for line in console.codes.values()] == [kept]


def test_fifty_codes_and_claims_are_kept() -> None:
    console = Console("offline", "tuner")
    for number in range(60):
        console.take(f"EG1{number:04d}")
        console.take(f"[Aoe]net{number} {FINISHED} {number}%")
    assert list(console.codes) == [f"EG1{number:04d}" for number in range(50)]
    assert [claim.name for claim in console.claims] == [f"net{number}" for number in range(50)]


@pytest.mark.parametrize(
    ("change", "saved", "speed_up"), [(-0.2, 0.2, 0.25), (0.25, -0.25, -0.2), (0.0, 0.0, 0.0), (-1.0, 1.0, None)]
)
def test_a_claim_of_a_step_is_put_in_three_ways(change: float, saved: float, speed_up: float | None) -> None:
    row = step_claim("model", change, judged=True)
    assert (row.claim, row.change, row.time_saved, row.judged) == ("model", change, saved, True)
    assert row.speed_up == (None if speed_up is None else pytest.approx(speed_up))


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_results_that_cannot_be_read_hide_no_others(tmp_path: Path, place: int, interrupted: bool) -> None:
    (good,) = (FIXTURES / "aoe" / "valid" / "array_grouped").iterdir()
    cut = tmp_path / good.name
    cut.write_text(good.read_text()[:-40])
    paths = [good, cut]
    paths.insert(place, tmp_path / "gone.json")
    read = AoeDriver().read(paths, interrupted=interrupted)
    assert [task.truncated for task in read.tasks] == [False, True]
    assert sorted(read.damaged) == (["gone.json"] if interrupted else sorted(["gone.json", cut.name]))
    severities = {finding.rule: finding.severity for finding in read.findings}
    assert (severities["unreadable"], severities["json-truncated"]) == ("error", "warning" if interrupted else "error")


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("[ERROR] EG0001 and WG10002, EG0001 again", ["EG0001", "WG10002"]),
        ("XEG0001 EG000123 EG1", []),
        ("E10001: bad", ["E10001"]),
        ("  [ERROR] EZ9999: bad", ["EZ9999"]),
        ("at E10001: bad", []),
        ("EG0001: bad", ["EG0001"]),
        ("exec aoe tuning func failed", ["AOE"]),
        ("exec aoe tuning func failed[100]", ["AOE 100"]),
        ("exec aoe tuning func failed[-1] EG0001", ["EG0001", "AOE -1"]),
        ("exec aoe tuning func failed[0]", []),
        ("exec aoe tuning func failed[8]", []),
        ("exec aoe tuning func failed[12]", []),
        ("exec aoe tuning func failed[7]", ["AOE 7"]),
    ],
)
def test_codes_stand_in_a_line(line: str, codes: list[str]) -> None:
    assert list(codes_of_line(line)) == codes


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("AOE", "the framework's adapter reports that tuning failed, without a code"),
        ("AOE 77", "code 77, which is not in AOE's list"),
        ("AOE 9", "code 9, AOE_ERROR_DYNAMIC_GRAPH: the graph is dynamic; only static shapes are tuned"),
        ("EG7777", "EG7777, an AOE error that is not in its published list"),
        ("EZ9999", "EZ9999, an error of another part of CANN (not in AOE's list): see CANN's troubleshooting guide"),
    ],
)
def test_codes_in_a_sentence(code: str, words: str) -> None:
    assert explain_code(code) == words


def test_a_verification_as_it_is_written() -> None:
    one = Verification("confirmed", "digest", "before", after="folder", after_hash="after", rows=({"a": 1},))
    assert one.as_document({"after": "folder"}) == {
        "format_version": 1,
        "verdict": "confirmed",
        "bank_digest": "digest",
        "baseline_hash": "before",
        "damaged": False,
        "after": "folder",
        "after_hash": "after",
        "rows": [{"a": 1}],
    }
    assert (one.sound, one.passed) == (True, True)
    assert one == replace(one, after="elsewhere"), "where the profile lay says nothing of what it holds"
    for verdict, passed in (("confirmed", True), ("partly", True), ("slower", False), ("not-comparable", False)):
        changed_one = replace(one, verdict=verdict)
        assert (changed_one.sound, changed_one.passed) == (verdict != "not-comparable", passed)
        assert not replace(changed_one, damaged=True).sound


def judged(ended: Ended, *lines: str, found: Any = (), damaged: tuple[str, ...] = (), runs: Any = "tuner", gradients: bool | None = None) -> list[tuple[str, str, str]]:  # fmt: skip
    console = Console("offline", runs)
    for line in lines:
        console.take(line)
    return [
        (one.rule, one.severity, one.message)
        for one in judge_stage("/p", console, ended, found, damaged, gradients=gradients)
    ]


DONE = "tuning net process finished. Performance improved by 20%"
NO_RESULT = (
    "tune-no-result",
    "error",
    "no aoe_result_*.json was created, neither in ASCEND_WORK_PATH nor in the working folder",
)
SOUND = results([changed("a")])


@pytest.mark.parametrize(
    ("ended", "runs", "rule", "severity", "message"),
    [
        (Ended(0, None, "exited"), "tuner", None, "", ""),
        (Ended(3, None, "exited"), "tuner", "tune-exit-code", "warning", "exit code 3"),
        (Ended(3, None, "exited"), "command", "tune-exit-code", "error", "exit code 3"),
        (Ended(None, 9, "exited"), "tuner", "tune-killed", "error", "terminated by signal 9 (the system does this when memory runs out: see preflight)"),
        (Ended(None, 15, "exited"), "tuner", "tune-killed", "error", "terminated by signal 15"),
        (Ended(None, 9, "exited", guardian_lost=True), "tuner", "tune-guardian-lost", "error", "the process that monitors the command was killed, and all known processes of the command were terminated"),
        (Ended(None, 15, "timeout"), "tuner", "tune-timeout", "error", "it took longer than --timeout; entries that are in the bank are kept: `tune run --resume` continues"),
        (Ended(None, 15, "interrupted"), "tuner", "tune-interrupted", "error", "received a signal to end; what is in the bank is kept: continue with `tune run --resume`"),
        (Ended(0, None, "exited", left_running=2), "tuner", "tune-left-running", "warning", "2 processes were still running after it had ended, and were terminated"),
        (Ended(0, None, "exited", unended=("7 aoe", "8 opp")), "tuner", "tune-not-ended", "warning", "still running and could not be terminated: 7 aoe, 8 opp"),
        (Ended(0, None, "exited", log_dropped_bytes=512), "tuner", "tune-log-capped", "info", "512 bytes in the middle of the log were left out"),
    ],
)  # fmt: skip
def test_how_a_stage_ended_is_said(ended: Ended, runs: Any, rule: str | None, severity: str, message: str) -> None:
    found = [one for one in judged(ended, DONE, found=SOUND, runs=runs) if one[0] != "tune-no-finish-line"]
    assert found == ([] if rule is None else [(rule, severity, message)])


def test_what_a_stage_left_is_said() -> None:
    well = Ended(0, None, "exited")
    assert judged(well, DONE) == [NO_RESULT]
    assert judged(well, DONE, damaged=("aoe_result_opat_1.json",)) == [
        ("tune-bad-result", "error", "aoe_result_opat_1.json: see its findings")
    ]
    assert judged(well, DONE, gradients=True) == []
    assert [one[0] for one in judged(well, DONE, gradients=False)] == ["tune-bank-not-tuned"]
    broken = results([changed("a")])
    broken = [replace(one, status="tuning incomplete") for one in broken]
    assert judged(well, DONE, found=broken) == [
        ("tune-incomplete", "error", "a task is incomplete: `tune run --resume` continues it")
    ]
    assert [one[0] for one in judged(Ended(None, 15, "timeout"), found=broken)] == ["tune-timeout"]
    assert [one[0] for one in judged(well, found=SOUND)] == ["tune-no-finish-line"]
    assert [one[0] for one in judged(Ended(None, 15, "timeout"), found=SOUND)] == ["tune-timeout"]


@pytest.mark.parametrize(
    ("told", "file", "message"),
    [
        ("20%", "20.00%", None),
        ("30%", "20.00%", "the console reports 30% for net, the result file 20.00%"),
        ("30%", "no number", None),
        ("30%", None, None),
    ],
)
def test_what_the_console_claims_is_held_against_the_file(told: str, file: str | None, message: str | None) -> None:
    found = [replace(one, tuning_name="net", model_improvement=file) for one in SOUND]
    line = f"net{DONE.removeprefix('tuning net').replace('20%', told)}"
    said = [one[2] for one in judged(Ended(0, None, "exited"), line, found=found) if one[0] == "tune-claim-mismatch"]
    assert said == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("counts", "ended", "reason"),
    [
        ({}, True, "AOE neither changed it nor counted any unchanged operator; it may not be in AOE's graph"),
        ({}, False, "tuning ended before anything about it was reported"),
        ({"reserved": 1}, True, "AOE lists only what it changed; for the remaining 1, it counts 1 kept and 0 not improved: all were already in a bank and are unchanged"),
        ({"unsatisfied": 1}, True, "AOE lists only what it changed; for the remaining 1, it counts 0 kept and 1 not improved: nothing faster was found"),
        ({"unsatisfied": 1}, False, "AOE lists only what it changed; for the remaining 1, it counts 0 kept and 1 not improved: these cannot be distinguished"),
        ({"reserved": 1, "unsatisfied": 1}, True, "AOE lists only what it changed; for the remaining 1, it counts 1 kept and 1 not improved: these cannot be distinguished"),
    ],
)  # fmt: skip
def test_why_nothing_is_told_of_an_operator(counts: dict[str, int], ended: bool, reason: str) -> None:
    plan = Plan("offline", "opat", candidates=(Candidate(kind="operator", op_name="b", op_type="MatMulV2"),))
    (row,) = [one for one in outcome_rows(plan, TuneOps(("b",)), results([], **counts), ended=ended) if one.requested]
    assert row.reason == reason


@pytest.mark.parametrize(
    ("ended", "status", "reason"),
    [
        (False, "not-seen", "tuning ended before an operator of this type was changed"),
        (True, "unclear", "no operator of this type was changed; AOE does not report by type whether they were already in the bank or nothing better was found"),
    ],
)  # fmt: skip
def test_why_nothing_is_told_of_a_type(ended: bool, status: str, reason: str) -> None:
    plan = Plan("offline", "opat", candidates=(Candidate(kind="operator", op_type="Add"),))
    (row,) = [
        one for one in outcome_rows(plan, TuneOps((), ("Add",)), results([], reserved=1), ended=ended) if one.requested
    ]
    assert (row.status, row.reason) == (status, reason)
