"""Tables of claims, the candidates of msOpTuner, and what Triton's autotuner prints: recognised, checked, and taken as claims."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import FIXTURES, Cli
from hypothesis import given
from hypothesis import strategies as st
from tuning.jobs import Bench

from aoe_reports.simulation.tuning import write_loop
from aoe_reports.tuning.claim_list.tuner import read_claim_list
from aoe_reports.tuning.msoptuner.tuner import read_candidates
from aoe_reports.tuning.names import shapes_key
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan
from aoe_reports.tuning.triton.printed import read_printed
from aoe_reports.tuning.tuner import Claim, claims_together, tuner
from aoe_reports.tuning.tuner import Claims as TunerClaims

TUNERS = ("claims", "msoptuner", "mskl", "tilelang", "pypto", "akg", "versions")
DAMAGED = [folder for name in TUNERS for folder in sorted((FIXTURES / name / "invalid").iterdir())]
LIST = FIXTURES / "claims" / "valid"
RESULTS = FIXTURES / "msoptuner" / "valid"
PRINTED = FIXTURES / "triton" / "valid" / "printed" / "train.log"
HEADER = "operator,shapes,before_us,after_us\n"


@pytest.mark.parametrize("folder", DAMAGED, ids=lambda path: f"{path.parent.parent.name}-{path.name}")
def test_damage_is_found_by_its_rule(folder: Path, cli: Cli) -> None:
    ended = cli("check", folder, "--format", "json")
    assert ended.rules() == {folder.name}
    assert ended.code == (1 if any(f["severity"] == "error" for f in ended.json["findings"]) else 0)
    listed = {row["rule"] for row in cli("check", "--rules", "--format", "json").json["rows"]}
    assert folder.name in listed


@pytest.mark.parametrize("folder", [LIST, RESULTS], ids=lambda path: path.parent.name)
def test_a_sound_file_is_checked_without_complaint(folder: Path, cli: Cli) -> None:
    ended = cli("check", folder, "--strict", "--format", "json")
    assert (ended.code, ended.json["findings"], len(ended.json["rows"])) == (0, [], 1)


def test_a_table_claims_what_stands_in_it_whatever_else_it_has(tmp_path: Path) -> None:
    read = tuner("claim_list").read_results([LIST])
    told = [(claim.op_name, claim.input_shapes, claim.before_us, claim.after_us) for claim in read.claims.operators]
    assert told == [
        ("MatMulV2", None, 210.5, 180),
        ("conv_kernel", "32,16,56,56;16,16,3,3", 240, 192),
        ("softmax_kernel", None, None, 51.25),
    ]
    assert (read.findings, read.unreadable, read.claims.claimed_by) == ((), False, ("CSV",))
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbfafter_us, operator ,before_us\r\n1,a,2\r\n\r\n")
    assert read_claim_list(path).claims == (Claim("a", (), 2, 1, str(path)),)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("operator,before_us\n", 1, "after_us"),
        ("operator,before_us,after_us,after_us\n", 1, "after_us"),
        ("", 1, "operator"),
        (HEADER + "a,,2,1\nb,,2\n", 3, "3 cells where the header has 4"),
        (HEADER + "a,,2,0\n", 2, "after_us"),
        (HEADER + "a,,2,-1\n", 2, "after_us"),
        (HEADER + "a,,2,nan\n", 2, "after_us"),
        (HEADER + "a,,2,1e999\n", 2, "after_us"),
        (HEADER + "a,,2,1_0\n", 2, "after_us"),
        (HEADER + "a,,\u0662,1\n", 2, "before_us"),
        (HEADER + "a,,inf,1\n", 2, "before_us"),
        (HEADER + "a,,two,1\n", 2, "before_us"),
        (HEADER + ",,2,1\n", 2, "no operator"),
        (HEADER + 'a,"x\ny",2,1\nb,"never closed,2,1\n', 4, "not CSV"),
        (HEADER + f"{'a' * 70_000},,2,1\n", 2, "more than 65536 characters"),
        (HEADER + f"{'a' * 200_000},,2,1\n", 2, "field larger than field limit"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    (finding,) = read_claim_list(path).findings
    assert (finding.line, finding.severity) == (line, "error")
    assert said in finding.message


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "x.csv"
    path.write_text(HEADER + "a,,2,1\n" * 1000)
    ended = cli("check", path, "--max-size", "1000", "--format", "json")
    assert (ended.code, ended.rules()) == (1, {"claims-form"})
    log = tmp_path / "x.log"
    log.write_text("Triton autotuning for function a finished after 1s; best config selected: B: 1;\n" * 100)
    assert cli("check", log, "--max-size", "1000", "--format", "json").rules() == {"autotune-form"}


@given(st.one_of(st.binary(max_size=200), st.text(alphabet='a,"\n\r\0;12.=: ms', max_size=200).map(str.encode)))
def test_nothing_that_a_file_may_hold_raises(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(HEADER.encode() + content)
    read_claim_list(path)
    path.write_bytes(b"case_id,task_duration(us),operation,description\n" + content)
    read_candidates(path)
    path.write_bytes(b"Triton autotuning benchmark results for function a:\n  config=" + content)
    read_printed(path)


def test_of_the_candidates_the_best_one_that_was_measured_is_claimed_and_nothing_of_before(tmp_path: Path) -> None:
    (claim,) = tuner("msoptuner").read_results([RESULTS]).claims.operators
    assert (claim.op_name.rsplit("_", 3)[1:], claim.before_us, claim.after_us, claim.change) == (
        ["64x128x128", "64x128x64", "swizzle3x1"],
        None,
        14.12,
        None,
    )
    text = (RESULTS / "basic_matmul" / "results.csv").read_text().replace(",14.120,", ",0.000,")
    path = tmp_path / "any_name.csv"
    path.write_text(text)
    read = tuner("msoptuner").read_results([path])
    assert read.claims.operators[0].after_us == 15.88
    assert [finding.rule for finding in read.findings] == ["claims-not-measured"]
    path.write_text("".join(text.splitlines(keepends=True)[:1]))
    assert tuner("msoptuner").read_results([path]).claims.operators == ()


def test_what_is_printed_claims_the_time_of_the_chosen_configuration(tmp_path: Path, cli: Cli) -> None:
    read = tuner("triton").read_results([PRINTED])
    (claim,) = read.claims.operators
    assert (claim.op_name, claim.before_us, claim.after_us) == ("softmax_kernel", None, 60)
    assert [(finding.rule, finding.line) for finding in read.findings] == [("autotune-no-claim", 6)]
    (row,) = cli("check", PRINTED, "--format", "json").json["rows"]
    assert (row["kind"], row["tuning_names"], row["verdict"]) == (
        "triton_printed",
        ["softmax_kernel", "add_kernel"],
        "pass",
    )
    path = tmp_path / "second.log"
    path.write_text(PRINTED.read_text().replace(" [selected]", "").replace("p80=0.0830 ms", "p80=0.0830 ms [selected]"))
    assert [claim.after_us for claim in tuner("triton").read_results([path]).claims.operators] == [80]
    path = tmp_path / "twice.log"
    path.write_text(PRINTED.read_text() * 2)
    read = tuner("triton").read_results([path])
    assert read.claims.operators == ()
    assert {finding.message for finding in read.findings if "times" in finding.message} == {
        "softmax_kernel: tuned 2 times, and it is not printed for which shapes"
    }


@pytest.mark.parametrize(("line", "rule"), [("  config=B: 1; p50=0 ms", "autotune-time"), ("", "autotune-form")])
def test_printed_results_that_are_damaged_claim_nothing(tmp_path: Path, line: str, rule: str) -> None:
    path = tmp_path / "x.log"
    path.write_text(f"Triton autotuning benchmark results for function a:\n{line}\n")
    read = tuner("triton").read_results([path])
    assert ([finding.rule for finding in read.findings], read.claims.operators) == ([rule], ())


@pytest.mark.parametrize("shapes", ["32,16;16,8", '"32,16;16,8"', "[32, 16], [16, 8]", "32x16;16x8", "(32,16);(16,8)"])
def test_shapes_are_compared_however_they_are_written(shapes: str) -> None:
    assert shapes_key(shapes) == "32,16;16,8"


def test_claims_of_other_shapes_are_other_claims() -> None:
    one, other = Claim("a", (), 2, 1, input_shapes="1"), Claim("a", (), 2, 1.5, input_shapes="2")
    assert claims_together([TunerClaims((one,)), TunerClaims((other,))]).operators == (one, other)


def test_a_plans_folder_takes_claims_of_other_tuners(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    path = bench.root / "claims.csv"
    path.write_text(HEADER + "block1/conv,,240,192\nhead/softmax,,,48\n")
    write_plan(bench.folder, Plan("offline", "opat"))
    sides = ("--before", loop.before, "--after", loop.after)
    ended = bench.run("verify", bench.folder, *sides, "--results", path, "--format", "json")
    told = {row["op_name"]: row["verdict"] for row in ended.json["rows"] if row["scope"] == "operator"}
    assert (ended.code, told) == (0, {"block1/conv": "confirmed", "head/softmax": "confirmed"})
    page = (bench.folder / "verify.md").read_text()
    assert "CSV claims" in page
    assert "compared with the time that was measured before" in page
