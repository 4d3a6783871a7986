"""`verify --claims`: claims of any tuner against two sides of measurements."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli, Ended

from aoe_reports.simulation.claims import EXPECTED, write_claims, write_kernel
from aoe_reports.simulation.tuning import TUNED, Outcome, write_loop

RESULTS = FIXTURES / "msoptuner" / "valid" / "basic_matmul" / "results.csv"
CAPTURES = FIXTURES / "msopprof" / "valid" / "two_kernels"


def claims_file(folder: Path, *rows: str, name: str = "claims.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(("operator,shapes,before_us,after_us", *rows)) + "\n")
    return path


def checked(cli: Cli, *args: object) -> Ended:
    return cli("verify", *args, "--format", "json")


def operators(ended: Ended) -> dict[str, dict[str, Any]]:
    return {row["op_name"]: row for row in ended.json["rows"] if row["scope"] == "operator"}


@pytest.mark.parametrize(
    ("outcome", "verdict", "code"),
    [("faster", "confirmed", 0), ("only-claimed", "not-reproduced", 1), ("slower", "regressed", 1)],
)
def test_the_planted_truth_is_told_of_two_profiles(
    cli: Cli, tmp_path: Path, outcome: Outcome, verdict: str, code: int
) -> None:
    loop = write_loop(tmp_path / "loop", outcome, 1)
    path = claims_file(tmp_path, *(f"{name},,100,80" for name in TUNED))
    ended = checked(cli, "--claims", path, loop.before, loop.after)
    assert (ended.code, ended.json["verdict"]) == (code, verdict)
    assert ended.json["reasons"] == ([] if code == 0 else ["verification"])
    assert {row["verdict"] for row in operators(ended).values()} == {verdict}
    told = {
        key: ended.json[key] for key in ("claims", "claimed_by", "captures_before", "captures_after", "by_captures")
    }
    assert list(told.values()) == [len(TUNED), ["CSV"], 1, 1, False]
    assert not (tmp_path / "verify.json").exists()


def test_aoe_is_judged_as_with_a_plan(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    ended = checked(cli, "--claims", loop.result.parent, loop.before, loop.after)
    assert (ended.code, ended.json["claimed_by"]) == (0, ["AOE"])
    assert {row["verdict"] for row in operators(ended).values()} == {"confirmed"}


@pytest.mark.parametrize(
    ("outcome", "verdict"), [("faster", "not-comparable"), ("only-claimed", "not-comparable"), ("slower", "regressed")]
)
def test_a_gain_that_aoe_filled_in_is_no_claim(cli: Cli, tmp_path: Path, outcome: Outcome, verdict: str) -> None:
    loop = write_loop(tmp_path / "loop", outcome, 1)
    document = json.loads(loop.result.read_text())
    (first, *_), *_ = document[1]["OPAT"]["repo_modified_operators"].values()
    filled = first["op_name"]
    first |= {"performance_before_tune(us)": 50, "performance_after_tune(us)": 49, "performance_improvement": "2.04%"}
    loop.result.write_text(json.dumps(document))
    ended = checked(cli, "--claims", loop.result.parent, loop.before, loop.after)
    rows = operators(ended)
    row = next(row for row in rows.values() if row["claim"] == "unmeasured")
    assert (row["claimed_change"], row["verdict"]) == (None, verdict)
    assert row["reason"] == "unmeasured claim: AOE fills in a difference of 1 us where it measured no gain"
    assert [one["claim"] for one in rows.values()].count("operators") == len(rows) - 1
    page = cli("verify", "--claims", loop.result.parent, loop.before, loop.after).out
    assert page.splitlines()[0].endswith("; 1 claim is unmeasured.")
    assert f"(a difference of exactly 1 us); it is not counted: {filled}" in page


@pytest.mark.slow
def test_sixty_planted_claims_are_judged_right(cli: Cli, tmp_path: Path) -> None:
    right, confirmed, count = 0, [], 0
    for case in write_claims(tmp_path, 1):
        rows = operators(checked(cli, "--claims", case.file, case.before, case.after))
        for claim in case.claims:
            verdict = rows[claim.op_name]["verdict"]
            right += verdict == EXPECTED[claim.truth]
            confirmed += [claim.truth] if verdict == "confirmed" and claim.truth != "true" else []
            count += 1
    assert count == 60
    assert right / count >= 0.95
    assert len(confirmed) / count <= 0.02
    assert "control" not in confirmed


@pytest.mark.parametrize(("repeats", "verdict"), [(5, "confirmed"), (4, "not-comparable")])
def test_a_kernel_alone_needs_five_captures_on_each_side(cli: Cli, tmp_path: Path, repeats: int, verdict: str) -> None:
    drawn = random.Random(1)
    write_kernel(tmp_path / "b", "k", 100, drawn, repeats=6)
    write_kernel(tmp_path / "a", "k", 80, drawn, repeats=repeats)
    ended = checked(cli, "--claims", claims_file(tmp_path, "k,,100,80"), tmp_path / "b", tmp_path / "a")
    row = operators(ended)["k"]
    assert (row["verdict"], ended.json["by_captures"], ended.code) == (verdict, repeats == 5, int(repeats < 5))
    assert row["change"] == pytest.approx(-0.2, abs=0.03)
    if repeats < 5:
        assert "or 5 captures on each side" in row["reason"]
        assert "verify-noise-unknown" in ended.rules()


def test_one_capture_of_a_kernel_many_times_called_confirms_nothing(cli: Cli, tmp_path: Path) -> None:
    """Calls within one capture vary by less than captures do, and nothing else there tells by how much those differ."""
    loop = write_loop(tmp_path / "loop", "faster", 1)
    for profile in (loop.before, loop.after):
        (path,) = profile.rglob("op_summary*.csv")
        head, *lines = path.read_text().splitlines(keepends=True)
        path.write_text(head + "".join(line for line in lines if "block1/conv" in line))
    ended = checked(cli, "--claims", claims_file(tmp_path, "block1/conv,,240,192"), loop.before, loop.after)
    row = operators(ended)["block1/conv"]
    assert (row["verdict"], row["ci_low"], ended.code) == ("not-comparable", None, 1)
    assert "how much two captures differ is not known" in row["reason"]


def test_of_several_kernels_each_is_judged_by_its_own_captures(cli: Cli, tmp_path: Path) -> None:
    drawn = random.Random(1)
    for side, factor in (("b", 1.0), ("a", 0.7)):
        write_kernel(tmp_path / side, "often", 100 * factor, drawn, repeats=6)
        write_kernel(tmp_path / side, "seldom", 100 * factor, drawn, first=10, repeats=3)
    path = claims_file(tmp_path, "often,,100,70", "seldom,,100,70")
    ended = checked(cli, "--claims", path, tmp_path / "b", tmp_path / "a")
    told = {name: row["verdict"] for name, row in operators(ended).items()}
    assert told == {"often": "confirmed", "seldom": "not-comparable"}
    assert (ended.json["verdict"], ended.json["method"]["operators_together"]["ci_low"]) == ("not-comparable", None)


def test_copies_of_one_capture_are_one_measurement(cli: Cli, tmp_path: Path) -> None:
    drawn = random.Random(1)
    for side, mean in (("b", 100), ("a", 90)):
        write_kernel(tmp_path / side, "k", mean, drawn, repeats=1)
        (one,) = (tmp_path / side).iterdir()
        for number in range(5):
            shutil.copytree(one, tmp_path / side / f"OPPROF_2026011009000{number}000_ABCDEFGHIJKLMNOP")
    ended = checked(cli, "--claims", claims_file(tmp_path, "k,,100,90"), tmp_path / "b", tmp_path / "a")
    assert (operators(ended)["k"]["verdict"], ended.json["by_captures"]) == ("not-comparable", False)
    assert "verify-same-captures" in ended.rules()


def test_repeated_profiles_of_a_model_are_taken_together(cli: Cli, tmp_path: Path) -> None:
    loops = [write_loop(tmp_path / f"loop{seed}", "faster", seed) for seed in range(1, 6)]
    for number, loop in enumerate(loops):
        for side, path in (("b", loop.before), ("a", loop.after)):
            shutil.copytree(path, tmp_path / side / f"{number}" / path.name)
    path = claims_file(tmp_path, "block1/conv,,240,192", "block2/conv,,300,240")
    ended = checked(cli, "--claims", path, tmp_path / "b", tmp_path / "a")
    rows = operators(ended)
    assert (ended.json["captures_before"], ended.json["captures_after"], ended.json["by_captures"]) == (5, 5, True)
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "block1/conv": "confirmed",
        "block2/conv": "not-reproduced",
    }
    step = ended.json["rows"][0]
    assert (step["scope"], step["verdict"]) == ("step", "confirmed")
    shutil.rmtree(tmp_path / "a" / "4")
    ended = checked(cli, "--claims", path, tmp_path / "b", tmp_path / "a")
    assert (ended.json["by_captures"], ended.json["method"]["steps_after"]) == (False, 48)
    assert operators(ended)["block1/conv"]["verdict"] == "confirmed"


def test_a_claim_of_a_time_after_is_held_against_the_time_before(cli: Cli, tmp_path: Path) -> None:
    drawn = random.Random(1)
    for side, mean in (("b", 21.5), ("a", 14.2)):
        write_kernel(tmp_path / side, f"main_{side}_mix_aic", mean, drawn)
    sides = (tmp_path / "b", tmp_path / "a")
    names = ("--operator", "main_b_mix_aic", "--operator", "main_a")
    ended = checked(cli, "--claims", RESULTS, *sides, *names)
    (row,) = operators(ended).values()
    assert (ended.code, row["verdict"], row["claimed_before_us"], row["claimed_after_us"]) == (
        0,
        "confirmed",
        None,
        14.12,
    )
    lines = [path.read_text().splitlines()[1] for path in (tmp_path / "b").rglob("*.csv")]
    assert row["measured_before_us"] == pytest.approx(sum(float(line.split(",")[2]) for line in lines) / 6, abs=1e-3)
    assert row["claimed_change"] == pytest.approx(14.12 / row["measured_before_us"] - 1, abs=1e-5)
    assert row["reason"].startswith("only a time after tuning is claimed")
    without = checked(cli, "--claims", RESULTS, *sides)
    assert (without.code, without.json["verdict"], "verify-other-workload" in without.rules()) == (
        1,
        "not-comparable",
        True,
    )
    slow = checked(cli, "--claims", claims_file(tmp_path, "k,,,25"), *sides, *names)
    assert (slow.code, operators(slow)["k"]["verdict"]) == (1, "not-comparable")
    assert "not below the time that was measured before" in operators(slow)["k"]["reason"]


def test_people_read_the_verdicts_and_how_they_were_made(cli: Cli, tmp_path: Path) -> None:
    drawn = random.Random(1)
    for side, mean in (("b", 100), ("a", 80)):
        write_kernel(tmp_path / side, "k", mean, drawn)
    asked = ("verify", "--claims", claims_file(tmp_path, "k,,100,80"), tmp_path / "b", tmp_path / "a")
    text = cli(*asked).out
    assert text.startswith("Confirmed: tuned operators take 19.5% less time")
    assert "CSV claims 20.0% less.\n" in text
    assert "Claimed operators by verdict: confirmed: 1." in text
    assert "captures as blocks (6 before, 6 after), fixed seed." in text
    assert "The claimed gain was measured: use the tuned kernels." in text
    assert "per step" not in text
    chinese = cli(*asked, "--lang", "zh").out
    assert "声称的算子按结论统计：已确认：1。" in chinese
    assert "以采集为块（调优前 6 次，调优后 6 次）" in chinese
    assert cli(*asked, "--format", "csv").out.splitlines()[-1].startswith("operator,k,k,,100.0,80.0,99.241333,")


def test_a_claim_of_one_shape_is_about_that_shape(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    for profile in (loop.before, loop.after):
        (path,) = profile.rglob("op_summary*.csv")
        path.write_text(path.read_text().replace("block2/conv", "block1/conv"))
    rows = ('block1/conv,"[32,16,56,56],[16,3,3,3]",240,192', 'block1/conv,"1,1",240,192')
    ended = checked(cli, "--claims", claims_file(tmp_path, *rows), loop.before, loop.after)
    told = {row["input_shapes"]: row for row in ended.json["rows"] if row["scope"] == "operator"}
    assert told["32,16,56,56;16,3,3,3"]["verdict"] == "confirmed"
    assert told["1,1"]["reason"] == "no operator of this name with these shapes is in either profile"
    ended = checked(cli, "--claims", claims_file(tmp_path, "block1/conv,,,192"), loop.before, loop.after)
    found = {row["reason"] for row in ended.json["rows"] if row["scope"] == "operator"}
    assert found == {
        "only a time after tuning is claimed, and its shapes are not given",
        "nothing is claimed of these shapes",
    }
    rows = ("block1/conv,,300,290", rows[0])
    ended = checked(cli, "--claims", claims_file(tmp_path, *rows), loop.before, loop.after)
    found = [row for row in ended.json["rows"] if row["scope"] == "operator"]
    assert {(row["input_shapes"], row["claimed_after_us"]) for row in found} == {
        ("32,16,56,56;16,3,3,3", 192),
        ("32,32,56,56;32,3,3,3", 290),
    }


def test_the_same_captures_and_sides_in_the_wrong_order_are_refused(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    path = claims_file(tmp_path, "block1/conv,,240,192")
    ended = checked(cli, "--claims", path, loop.before, loop.before)
    assert (ended.code, ended.json["verdict"], ended.json["reasons"]) == (1, "not-comparable", ["not-comparable"])
    assert "verify-same-profile" in ended.rules()
    ended = checked(cli, "--claims", path, loop.after, loop.before)
    assert (ended.code, ended.json["rows"], "verify-order" in ended.rules()) == (1, [], True)
    ended = checked(cli, "--claims", path, loop.after, loop.before, "--force")
    assert operators(ended)["block1/conv"]["verdict"] == "regressed"
    ended = checked(cli, "--claims", claims_file(tmp_path, "add_custom,,9,8"), CAPTURES, CAPTURES)
    assert "verify-same-profile" in ended.rules()


def test_a_kernel_may_well_take_the_same_time_before_and_after(cli: Cli, tmp_path: Path) -> None:
    drawn = random.Random(1)
    for side in "ba":
        write_kernel(tmp_path / side, "k", 100, drawn)
    one, other = (min((tmp_path / side).rglob("*.csv")) for side in "ba")
    shutil.copy(one, other)
    ended = checked(cli, "--claims", claims_file(tmp_path, "k,,100,80"), tmp_path / "b", tmp_path / "a")
    assert (operators(ended)["k"]["verdict"], "verify-same-profile" in ended.rules()) == ("not-reproduced", False)


@pytest.mark.parametrize(("first", "said"), [(0, False), (5, False), (6, True)])
def test_captures_that_were_not_taken_in_turns_are_named(cli: Cli, tmp_path: Path, first: int, said: bool) -> None:
    drawn = random.Random(1)
    write_kernel(tmp_path / "b", "k", 100, drawn)
    write_kernel(tmp_path / "a", "k", 80, drawn, first=first)
    ended = checked(cli, "--claims", claims_file(tmp_path, "k,,100,80"), tmp_path / "b", tmp_path / "a")
    assert (ended.code, "verify-not-in-turns" in ended.rules()) == (0, said)


def test_people_are_shown_the_first_of_many_claims(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    path = claims_file(tmp_path, "block1/conv,,240,192", *(f"none{n},,2,1" for n in range(100)))
    asked = ("verify", "--claims", path, loop.before, loop.after)
    assert "100 of 101 rows; JSON and CSV contain all of them." in cli(*asked).out
    assert len(operators(cli(*asked, "--format", "json"))) == 101


@pytest.mark.parametrize(("mhz", "refused"), [("1750", False), ("1740", True), ("NA", False)])
def test_kernels_at_another_clock_are_not_compared(cli: Cli, tmp_path: Path, mhz: str, refused: bool) -> None:
    drawn = random.Random(1)
    for side, mean in (("b", 100), ("a", 80)):
        write_kernel(tmp_path / side, "k", mean, drawn)
    for path in (tmp_path / "b").rglob("*.csv"):
        path.write_text(path.read_text().replace("1800,1800", f"{mhz},1800"))
    asked = ("--claims", claims_file(tmp_path, "k,,100,80"), tmp_path / "b", tmp_path / "a")
    ended = checked(cli, *asked)
    assert (ended.code, "verify-frequency" in ended.rules()) == (int(refused), refused)
    if refused:
        assert (ended.json["verdict"], ended.json["reasons"]) == ("not-comparable", ["not-comparable"])
        forced = checked(cli, *asked, "--force")
        assert (forced.code, forced.json["verdict"], "verify-frequency" in forced.rules()) == (0, "confirmed", True)


def test_what_cannot_be_read_or_is_nobodys_is_said(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    sides = (loop.before, loop.after)
    ended = checked(cli, "--claims", tmp_path / "none.csv", *sides)
    assert (ended.code, ended.rules()) == (3, {"unreadable"})
    assert checked(cli, "--claims", claims_file(tmp_path, "a,,2,1"), tmp_path / "nothing", loop.after).code == 3
    other = tmp_path / "other.csv"
    other.write_text("name,time\na,1\n")
    ended = checked(cli, "--claims", other, *sides)
    assert (ended.code, "unknown-file" in ended.rules(), "damage" in ended.json["reasons"]) == (1, True, True)
    ended = checked(cli, "--claims", claims_file(tmp_path, "block1/conv,,240,192", "x,y"), *sides)
    assert (ended.code, ended.json["reasons"]) == (1, ["damage"])
    assert operators(ended)["block1/conv"]["verdict"] == "confirmed"
    assert [finding["line"] for finding in ended.json["findings"] if finding["rule"] == "claims-row"] == [3]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("{b}", "{a}"), "expected one plan's folder"),
        (("--claims", "{claims}", "{b}"), "expected two places, BEFORE and AFTER; found 1"),
        (("--claims", "{claims}", "{b}", "{a}", "--after", "{a}"), "belong to a plan's folder"),
        (("--claims", "{claims}", "{b}", "{a}", "--operator", "x"), "2 claims here"),
        (("{b}", "--after", "{a}", "--operator", "x"), "--operator is for --claims"),
        (("{b}",), "expected --after PROFILE"),
    ],
)
def test_what_does_not_go_together_is_refused(cli: Cli, tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    names = {"claims": claims_file(tmp_path, "a,,2,1", "b,,2,1"), "b": loop.before, "a": loop.after}
    ended = cli("verify", *(arg.format(**names) for arg in args))
    assert ended.code == 2
    assert said in ended.err


def two_kernels(folder: Path, drawn: random.Random, counts: tuple[int, int]) -> None:
    write_kernel(folder, "small", 100, drawn, repeats=counts[0])
    write_kernel(folder, "large", 1000, drawn, first=30, repeats=counts[1])


@pytest.mark.parametrize("damage", ["value", "removed", "encoding"])
def test_a_damaged_capture_is_a_finding_and_the_others_are_judged(cli: Cli, tmp_path: Path, damage: str) -> None:
    drawn = random.Random(1)
    write_kernel(tmp_path / "b", "k", 100, drawn, repeats=6)
    write_kernel(tmp_path / "a", "k", 80, drawn, repeats=6)
    broken = sorted((tmp_path / "a").iterdir())[2]
    table = broken / "OpBasicInfo.csv"
    text = table.read_text()
    if damage == "value":
        table.write_text(text.split("\n")[0] + "\nk,vector,NA,8,NA,0,NA,1800,1800,\n")
    elif damage == "removed":
        table.write_text(text.split("\n")[0] + "\n")
    else:
        table.write_bytes(text.encode("utf-16"))
    ended = checked(cli, "--claims", claims_file(tmp_path, "k,,100,80"), tmp_path / "b", tmp_path / "a")
    assert (ended.code, ended.json["verdict"], ended.json["reasons"]) == (1, "confirmed", ["damage"])
    assert operators(ended)["k"]["verdict"] == "confirmed"
    assert (ended.json["captures_before"], ended.json["captures_after"]) == (6, 5)
    assert any(Path(one["path"]).is_relative_to(broken) for one in ended.json["findings"] if one["severity"] == "error")


def test_where_no_capture_of_a_side_can_be_used_nothing_is_judged(cli: Cli, tmp_path: Path) -> None:
    drawn = random.Random(1)
    for side in ("b", "a"):
        write_kernel(tmp_path / side, "k", 100, drawn, repeats=2)
    for table in (tmp_path / "a").rglob("*.csv"):
        table.write_bytes(b"")
    ended = checked(cli, "--claims", claims_file(tmp_path, "k,,100,80"), tmp_path / "b", tmp_path / "a")
    assert (ended.code, ended.json["rows"]) == (3, [])


def test_a_sum_counts_each_kernel_by_the_captures_that_have_it(cli: Cli, tmp_path: Path) -> None:
    """Twelve captures of the larger kernel do not make it weigh more, and none that lacks a kernel makes it shorter."""
    drawn = random.Random(1)
    two_kernels(tmp_path / "b", drawn, (6, 12))
    two_kernels(tmp_path / "a", drawn, (6, 6))
    path = claims_file(tmp_path, "small,,100,80", "large,,1000,800")
    ended = checked(cli, "--claims", path, tmp_path / "b", tmp_path / "a")
    together = ended.json["method"]["operators_together"]
    assert together["measured_before_us"] == pytest.approx(1100, rel=0.02)
    assert together["measured_after_us"] == pytest.approx(1100, rel=0.02)
    text = "measured in different captures: each operator counts by the captures that have it"
    assert together["reason"] == f"{text} (12, 6 of 18)"


def test_a_kernel_that_is_claimed_under_two_names_counts_once(cli: Cli, tmp_path: Path) -> None:
    drawn = random.Random(1)
    for side, factor in (("b", 1.0), ("a", 0.8)):
        write_kernel(tmp_path / side, "k_mix_aic", 100 * factor, drawn, repeats=6)
    once = claims_file(tmp_path, "k_mix_aic,,100,80", name="once.csv")
    twice = claims_file(tmp_path, "k_mix_aic,,100,80", "k,,100,90", name="twice.csv")
    sides = (tmp_path / "b", tmp_path / "a")
    first, second = (checked(cli, "--claims", path, *sides).json for path in (once, twice))
    assert second["method"]["operators_together"] == first["method"]["operators_together"]
    by_type = [row for row in second["rows"] if row["scope"] == "op_type"]
    assert by_type == [row for row in first["rows"] if row["scope"] == "op_type"]
    reasons = [row["reason"] for row in second["rows"] if row["scope"] == "operator"]
    assert sorted(reasons, key=str) == [None, "also claimed as k_mix_aic: sums count it once, by that claim"]


def test_a_store_is_refused_where_it_is_named_and_passed_over_where_it_is_everybodys(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    asked = ("--claims", claims_file(tmp_path, "block1/conv,,240,192"), loop.before, loop.after)
    refused = cli("verify", *asked, "--store", tmp_path / "s")
    assert (refused.code, "nothing is stored; --store belongs to a plan's folder" in refused.err) == (2, True)
    monkeypatch.setenv("AOE_REPORTS_STORE", str(tmp_path / "s"))
    assert cli("verify", *asked).code == 0
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("operator;shapes;before_us;after_us", "its cells are separated by ';'; expected commas"),
        ("operator\tbefore_us\tafter_us", "its cells are separated by a tab; expected commas"),
        (
            "Operator,before_us,after",
            "its header lacks operator, after_us; it has Operator, before_us, after",
        ),
        ("operator,after_us", "its header lacks before_us; it has operator, after_us"),
        ("name,gain", None),
    ],
)
@pytest.mark.parametrize("in_folder", [False, True])
def test_a_table_that_is_nearly_one_of_claims_is_named_with_what_it_lacks(
    cli: Cli, tmp_path: Path, header: str, why: str | None, *, in_folder: bool
) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    folder = tmp_path / "claims"
    folder.mkdir()
    claims_file(folder, "block1/conv,,240,192")
    wrong = folder / "wrong.csv"
    wrong.write_text(f"{header}\nx\n")
    asked = (folder,) if in_folder else (folder / "claims.csv", wrong)
    options = [part for path in asked for part in ("--claims", path)]
    ended = checked(cli, *options, loop.before, loop.after)
    (finding,) = [one for one in ended.json["findings"] if one["rule"] == "unknown-file"]
    assert (finding["path"], finding["severity"]) == (str(wrong), "warning" if in_folder else "error")
    assert finding["message"].startswith(
        "no claims in a form of AOE, Triton, msOpTuner, msKL, TileLang, PyPTO, AKG, version table, CSV"
    )
    assert finding["message"].partition("; ")[2] == (why or "")
    assert ended.json["verdict"] == "confirmed"


def test_tables_of_profilers_beside_claims_are_not_named(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    claims_file(tmp_path, "block1/conv,,240,192")
    ended = checked(cli, "--claims", tmp_path, loop.before, loop.after)
    assert "unknown-file" not in ended.rules()


def test_acceptance_says_what_was_compared_and_what_no_profile_shows(cli: Cli, tmp_path: Path) -> None:
    loop = write_loop(tmp_path / "loop", "faster", 1)
    path = claims_file(tmp_path, "block1/conv,,240,192")
    for profile in (loop.before, loop.after):
        (place,) = {found.parent for found in profile.rglob("op_summary*.csv")}
        time = 900 if profile == loop.before else 850
        text = f"Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\nacl,aclmdlExecute,{time},10,{time / 10},1,99,0\n"
        (place / "api_statistic_20260301020000.csv").write_text(text)
    ended = checked(cli, "--claims", path, loop.before, loop.after)
    found = {(row["op_name"], row["statistic"]): row for row in ended.json["statistics"]}
    assert list(found) == [*(("block1/conv", name) for name in ("mean", "p95", "p99")), ("aclmdlExecute", "host")]
    assert found["aclmdlExecute", "host"]["change"] == pytest.approx(-1 / 18, abs=1e-4)
    assert found["block1/conv", "p95"]["reason"] == "fewer than 20 calls on a side"
    told = [ended.json[key] for key in ("statistic", "environment", "accuracy_agreed", "accuracy_differed")]
    assert told == ["mean", "partly-known", 0, 0]
    page = cli("verify", "--claims", path, loop.before, loop.after).out
    assert "Accuracy: the claims do not state whether results agree with a reference." in page
    assert "Environment: equal as far as both sides record it; see the findings." in page
    ended = checked(cli, "--claims", path, loop.before, loop.after, "--statistic", "p95")
    assert (ended.json["verdict"], ended.code) == ("not-comparable", 1)
    page = cli("verify", "--claims", path, loop.before, loop.after, "--statistic", "p95").out
    assert page.startswith("Not comparable: P95 of the calls of the claimed operators; not comparable: 1.")
