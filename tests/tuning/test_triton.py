"""A second tuner: what Triton's autotuner keeps is recognised, checked, and held against two profiles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli
from tuning.jobs import Bench

from aoe_reports.model.errors import UsageError
from aoe_reports.simulation.tuning import TUNED, Outcome, write_loop
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan
from aoe_reports.tuning.tuner import Claim, bank_of_tuner, claims_together, tuner
from aoe_reports.tuning.tuner import Claims as TunerClaims

CACHE = FIXTURES / "triton" / "valid"
KERNEL = "conv_kernel"


@pytest.mark.parametrize("folder", sorted((FIXTURES / "triton" / "invalid").iterdir()), ids=lambda path: path.name)
def test_damage_is_found_by_its_rule(folder: Path, cli: Cli) -> None:
    ended = cli("check", folder, "--format", "json")
    assert {finding["rule"] for finding in ended.json["findings"]} == {folder.name}
    assert ended.code == (1 if any(f["severity"] == "error" for f in ended.json["findings"]) else 0)
    listed = {row["rule"] for row in cli("check", "--rules", "--format", "json").json["rows"]}
    assert folder.name in listed


def test_a_sound_cache_is_checked_without_complaint_and_said_in_a_line(cli: Cli) -> None:
    ended = cli("check", CACHE, "--strict", "--format", "json")
    assert ended.code == 0
    assert [(one["rule"], Path(one["path"]).name) for one in ended.json["findings"]] == [
        ("autotune-no-claim", "train.log")
    ]
    shown = {row["summary"]["key"]: row for row in ended.json["rows"] if row["kind"] == "triton_autotune"}
    row = shown["4096, 1024, torch.float16"]
    assert (row["kind"], row["tuning_names"], row["verdict"]) == ("triton_autotune", ["softmax_kernel"], "pass")
    assert row["summary"]["best"].startswith("XBLOCK: 256, num_warps: 4")
    assert (row["summary"]["configs"], row["summary"]["failed"]) == (3, 1)


def test_inspect_names_the_files(cli: Cli) -> None:
    rows = cli("inspect", CACHE, "--format", "json").json["rows"]
    assert [(row["kind"], row["source"], row["rows"]) for row in rows] == [
        ("triton_autotune", "tuner", 3),
        ("triton_autotune", "tuner", 3),
        ("triton_autotune", "tuner", 2),
        ("triton_printed", "tuner", 2),
    ]


def test_a_claim_is_of_all_keys_of_a_kernel_and_what_was_best_at_first_is_none() -> None:
    read = tuner("triton").read_results([CACHE])
    (claim,) = read.claims.operators
    assert (claim.op_name, claim.before_us, claim.after_us) == ("softmax_kernel", pytest.approx(80), pytest.approx(60))
    assert claim.source.count("softmax_kernel.autotune.json") == 2
    assert (read.findings, read.unreadable, read.claims.claimed_by) == ((), False, ("Triton",))


def test_nothing_is_claimed_of_what_is_damaged() -> None:
    read = tuner("triton").read_results([FIXTURES / "triton" / "invalid" / "autotune-time"])
    assert read.claims.operators == ()
    assert [finding.rule for finding in read.findings] == ["autotune-time"]


def rename(profile: Path, old: str, new: str) -> None:
    for path in profile.rglob("*.csv"):
        path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(("outcome", "verdict"), [("faster", "confirmed"), ("only-claimed", "not-reproduced")])
def test_its_claims_are_held_against_two_profiles(bench: Bench, outcome: Outcome, verdict: str) -> None:
    loop = write_loop(bench.root / "loop", outcome, 1)
    tuned = min(TUNED)
    for profile in (loop.before, loop.after):
        rename(profile, tuned, KERNEL)
    cache = bench.root / "cache" / "ABCD"
    cache.mkdir(parents=True)
    timings = [[{"kwargs": {"B": 64}}, [1.0, 0.9, 1.1]], [{"kwargs": {"B": 128}}, [0.8, 0.7, 0.9]]]
    document = {"key": ["4096"], "configs_timings": timings}
    (cache / f"{KERNEL}.autotune.json").write_text(json.dumps(document))
    write_plan(bench.folder, Plan("offline", "opat"))
    options = ("--before", loop.before, "--after", loop.after, "--results", cache.parent, "--format", "json")
    ended = bench.run("verify", bench.folder, *options)
    (row,) = [row for row in ended.json["rows"] if row["scope"] == "operator"]
    assert (row["op_name"], row["verdict"], row["claimed_change"]) == (KERNEL, verdict, pytest.approx(-0.2))
    assert (row["claimed_before_us"], row["claimed_after_us"]) == (1000, 800)
    assert ended.json["verdict"] == verdict
    page = (bench.folder / "verify.md").read_text()
    assert "Claims by Triton" in page
    assert "Triton claims 20.0% less" in page
    assert "Claims by AOE" not in page


def test_a_tuner_without_driver_and_bank_has_nothing_to_run_or_to_adopt(bench: Bench) -> None:
    document = {"format_version": 1, "tuner": "triton", "scenario": "offline", "mode": "opat"}
    bench.folder.mkdir()
    lists = {"candidates": [], "rejected": [], "expected_files": []}
    (bench.folder / "plan.json").write_text(json.dumps({**document, **lists}))
    ended = bench.run("tune", "run", bench.folder)
    assert (ended.code, "Triton tunes inside the program" in ended.err) == (2, True)
    ended = bench.run("tune", "adopt", bench.folder)
    assert (ended.code, "Triton does not keep a bank" in ended.err) == (2, True)
    with pytest.raises(UsageError, match="Triton does not keep a bank"):
        bank_of_tuner(Plan("offline", "opat", tuner="triton"))
    with pytest.raises(UsageError, match="expected one of aoe, triton"):
        tuner("nobody")


def test_of_two_tuners_the_later_one_has_the_last_word_and_no_model_is_mixed() -> None:
    one = TunerClaims((Claim("a", ("A",), 10, 9), Claim("b", ("B",), 10, 8)), model_us=(2, 1), claimed_by=("AOE",))
    other = TunerClaims((Claim("a", ("A",), 10, 5),), model_us=(3, 2), unproven=("b", "c"), claimed_by=("Triton",))
    both = claims_together([one, other])
    assert [(claim.op_name, claim.after_us) for claim in both.operators] == [("a", 5), ("b", 8)]
    assert (both.model_us, both.unproven, both.claimed_by) == (None, ("c",), ("AOE", "Triton"))
    assert claims_together([one, TunerClaims()]).model_us == (2, 1)
