"""The job of `verify`: what it refuses, what it remarks, what it leaves in the folder and in a store."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from commandline import FIXTURES, Cli

from aoe_reports.jobs.options import Accept, VerifyOptions
from aoe_reports.jobs.verify import verify
from aoe_reports.jobs.verify_answer import ACCEPT, is_accepted
from aoe_reports.model.errors import UsageError
from aoe_reports.simulation.tuning import BEFORE, OPERATORS, SimulatedLoop, write_profile, write_result
from aoe_reports.store import History
from aoe_reports.tuning.answers import JobAnswer
from aoe_reports.tuning.banks.bank import digest_of, list_bank
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Candidate, Plan, to_json
from aoe_reports.tuning.tuner import bank_of_tuner
from aoe_reports.tuning.verify.rows import Row, Verdict

TWO_RANKS = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
CLAIMED = ("block5/conv", "block6/conv")
STEPS = 6


def scaled(profile: Path, target: Path, factors: Mapping[str, float], hours: int = 5) -> Path:
    """A copy of a profile, some hours later, in which some operators take longer or shorter."""
    shutil.copytree(profile, target)
    for path in (*target.rglob("op_summary*.csv"), *target.rglob("step_trace*.csv")):
        lines = [line.split(",") for line in path.read_text().splitlines()]
        names = lines[0]
        for cells in lines[1:]:
            for place, name in enumerate(names):
                if name in {"Task Start Time(us)", "FP Start(us)", "BP End(us)", "Iteration End(us)"}:
                    whole, _, rest = cells[place].partition(".")
                    cells[place] = f"{int(whole) + hours * 3600 * 10**6}.{rest}"
            if names[4] == "Op Name":
                cells[9] = f"{float(cells[9]) * factors.get(cells[4], 1.0):.3f}"
        path.write_text("".join(",".join(cells) + "\n" for cells in lines))
    return target


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> SimulatedLoop:
    """Two operators take 0.8 of their time, as AOE claims, and nothing else differs; nobody may write there."""
    root = tmp_path_factory.mktemp("loop")
    before = write_profile(root / "before", BEFORE, random.Random(1), steps=STEPS)
    after = scaled(before, root / "after", dict.fromkeys(CLAIMED, 0.8))
    return SimulatedLoop(before, after, write_result(root / "aoe", BEFORE.replace(hour=4), CLAIMED))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_plan(tmp_path / "plan", Plan("offline", "opat"))
    return tmp_path / "plan"


def run(folder: Path, loop: SimulatedLoop, **asked: Any) -> JobAnswer:
    given: dict[str, Any] = {"before": loop.before, "after": loop.after, "results": (loop.result,)}
    return verify(folder, VerifyOptions(**{**given, **asked}))


def found(answer: JobAnswer) -> dict[str, tuple[str, str, str]]:
    """Severity, place and words of each rule."""
    return {one.rule: (one.severity, one.path, str(one.message)) for one in answer.findings}


def document(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "verify.json").read_text())


def test_a_gain_as_claimed_is_confirmed_and_left_in_the_folder(folder: Path, loop: SimulatedLoop) -> None:
    answer = run(folder, loop)
    assert (answer.command, answer.inputs, answer.reasons(), answer.exit_code()) == ("verify", (str(folder),), [], 0)
    assert found(answer).keys() == {"comparability-unknown"}
    facts = answer.more
    assert facts["verdict"] == "confirmed"
    assert (facts["accepted"], facts["accept"], facts["rule"]) == (True, "confirmed", ACCEPT["confirmed"])
    assert (facts["before"], facts["after"], facts["rank_id"]) == (str(loop.before), str(loop.after), None)
    assert (facts["stored"], facts["kept_as"], facts["signs"]) == (0, None, ())
    assert (facts["same_operators_share"], facts["noise"]["drift"]) == (1.0, 0.0)
    assert facts["verdict_is_about"]["scope"] == "operators"
    assert (facts["method"]["steps_before"], facts["method"]["steps_after"]) == (STEPS, STEPS)
    left = document(folder)
    assert {name: left[name] for name in ("verdict", "damaged", "bank_digest")} == {
        "verdict": "confirmed", "damaged": False, "bank_digest": None,
    }  # fmt: skip
    assert None not in {left["baseline_hash"], left["after_hash"]}
    assert left["baseline_hash"] != left["after_hash"]
    assert [row["op_name"] for row in left["rows"]] == [None, None, *CLAIMED]
    assert str(answer.headline).startswith("Confirmed: tuned operators take 20.0% less time (")
    assert str(answer.headline) in (folder / "verify.md").read_text()
    assert '<p class="lead">Tuning, verified</p>' in (folder / "verify.html").read_text()
    assert sorted(path.name for path in folder.glob("verify*")) == ["verify.html", "verify.json", "verify.md"]
    again = run(folder, loop)
    assert (again.more, document(folder)) == (facts, left)
    assert "verify-replaced" not in found(again)


def test_a_share_of_operators_and_parts_of_savings_have_few_digits(
    folder: Path, loop: SimulatedLoop, tmp_path: Path
) -> None:
    operators = [*OPERATORS[:-4], *[replace(one, name=f"other/{one.name}") for one in OPERATORS[-4:]]]
    other = write_profile(tmp_path / "o", BEFORE.replace(hour=9), random.Random(1), operators=operators, steps=STEPS)
    facts = run(folder, loop, after=other).more
    assert facts["same_operators_share"] == round(facts["same_operators_share"], 6) < 1
    for numbers in (facts["noise"], facts["reconciliation"]):
        assert {
            name: value for name, value in numbers.items() if isinstance(value, float) and round(value, 6) != value
        } == {}


# What is refused


def test_the_same_content_elsewhere_is_refused(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    shutil.copytree(loop.before, tmp_path / "copy")
    for force in (False, True):
        answer = run(folder, loop, after=tmp_path / "copy", force=force)
        assert found(answer)["verify-same-profile"] == (
            "error", str(tmp_path / "copy"), f"the same content as {loop.before}: nothing was measured again",
        )  # fmt: skip
        assert (answer.reasons(), answer.exit_code(), answer.more["verdict"]) == (
            ["not-comparable"],
            1,
            "not-comparable",
        )
        assert str(answer.headline) == "Not comparable: the profiles do not show whether there was a gain."
        assert (answer.more["accepted"], answer.more["method"], answer.tables[0].rows) == (False, {}, ())
        assert document(folder)["damaged"] is False


def test_profiles_in_the_wrong_order_are_refused_unless_that_is_forced(folder: Path, loop: SimulatedLoop) -> None:
    asked = {"before": loop.after, "after": loop.before}
    refused, forced = run(folder, loop, **asked), run(folder, loop, **asked, force=True)
    told = (str(loop.before), f"it was captured before {loop.after}")
    assert found(refused)["verify-order"] == ("error", *told)
    assert found(forced)["verify-order"] == ("warning", *told)
    assert (refused.reasons(), refused.more["verdict"]) == (["not-comparable"], "not-comparable")
    assert (forced.reasons(), forced.more["verdict"]) == (["verification"], "regressed")


def test_the_profile_of_the_plan_is_no_profile_after_tuning(folder: Path, loop: SimulatedLoop) -> None:
    run(folder, loop)
    write_plan(folder, Plan("offline", "opat", baseline_hash=document(folder)["after_hash"]))
    told = found(run(folder, loop))["verify-order"]
    assert told == (
        "error", str(loop.after), "it is the profile from which the plan was made, captured before tuning",
    )  # fmt: skip


@pytest.mark.parametrize(("mode", "refused"), [("opat", True), ("sgat", False)])
def test_half_of_the_time_before_has_to_be_in_the_same_operators(
    folder: Path, loop: SimulatedLoop, tmp_path: Path, mode: Any, refused: bool
) -> None:
    """Subgraphs change names, and may leave few."""
    write_plan(folder, Plan("offline", mode))
    known = {"block5/conv", "block6/conv", "block4/conv"}  # 1440 of 5107 us
    operators = [one if one.name in known else replace(one, name=f"other/{one.name}") for one in OPERATORS]
    other = write_profile(tmp_path / "o", BEFORE.replace(hour=9), random.Random(1), operators=operators, steps=STEPS)
    answer = run(folder, loop, after=other)
    assert (answer.more["verdict"] == "not-comparable", "verify-other-workload" in found(answer)) == (refused, refused)
    if refused:
        severity, path, text = found(answer)["verify-other-workload"]
        share = run(folder, loop, after=other, force=True).more["same_operators_share"]
        assert (severity, path, answer.reasons()) == ("error", str(other), ["not-comparable"])
        assert text == (
            f"its operators with the same names and shapes account for only {share:.1%} of the time before tuning; "
            "is it another model?"
        )
        assert 0.2 < share < 0.5
        forced = run(folder, loop, after=other, force=True)
        assert found(forced)["verify-other-workload"][0] == "warning"
        assert forced.tables[0].rows


@pytest.mark.parametrize("mode", ["opat", "sgat"])
def test_profiles_without_any_common_operator_are_refused(
    folder: Path, loop: SimulatedLoop, tmp_path: Path, mode: Any
) -> None:
    write_plan(folder, Plan("offline", mode))
    operators = [replace(one, name=f"other/{one.name}") for one in OPERATORS]
    other = write_profile(tmp_path / "o", BEFORE.replace(hour=9), random.Random(1), operators=operators, steps=STEPS)
    assert "account for only 0.0% of" in found(run(folder, loop, after=other))["verify-other-workload"][2]


def test_without_a_profile_before_there_is_nothing_to_hold_against(folder: Path, loop: SimulatedLoop) -> None:
    with pytest.raises(UsageError, match="verify: the plan names no profile; expected --before PROFILE"):
        run(folder, loop, before=None)
    write_plan(folder, Plan("offline", "opat", profile=str(loop.before)))
    assert run(folder, loop, before=None).more["before"] == str(loop.before)


def test_what_cannot_be_read_leaves_no_verdict(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    lacking: Sequence[dict[str, Any]] = (
        {"after": tmp_path / "nowhere"},
        {"before": tmp_path / "nowhere"},
        {"after": tmp_path / "empty"},
        {"results": (loop.result, tmp_path / "nowhere.json")},
    )
    for asked in lacking:
        answer = run(folder, loop, **asked)
        assert (answer.exit_code(), answer.reasons(), answer.tables[0].rows) == (3, ["damage"], ()), asked
        assert list(folder.glob("verify*")) == []
    steps = shutil.copytree(loop.before, tmp_path / "steps")
    next(steps.rglob("op_summary*")).unlink()
    nothing = run(folder, loop, after=steps)
    assert found(nothing)["nothing-measured"] == ("error", str(steps), "no tasks here to compare")
    assert list(folder.glob("verify*")) == []
    missing = found(run(folder, loop, results=(tmp_path / "nowhere.json",)))
    assert missing["unreadable"] == (
        "error",
        str(tmp_path / "nowhere.json"),
        "no such file or folder; expected a file or a folder",
    )


# What is remarked


def test_the_baseline_of_another_plan_and_other_steps_are_remarked(
    folder: Path, loop: SimulatedLoop, tmp_path: Path
) -> None:
    other = write_profile(tmp_path / "o", BEFORE.replace(hour=9), random.Random(1), steps=STEPS + 2)
    write_plan(folder, Plan("offline", "opat", baseline_hash="0" * 64))
    told = found(run(folder, loop, after=other))
    assert told["verify-other-baseline"] == (
        "warning", str(loop.before), "not the profile from which the plan was made (its content differs)",
    )  # fmt: skip
    assert told["verify-steps-differ"] == ("info", str(other), f"{STEPS} steps before, {STEPS + 2} after")
    run(folder, loop)
    write_plan(folder, Plan("offline", "opat", baseline_hash=document(folder)["baseline_hash"]))
    assert not {"verify-other-baseline", "verify-steps-differ"} & found(run(folder, loop)).keys()


def test_a_step_of_twice_the_work_is_remarked(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    operators = [replace(one, calls=2) for one in OPERATORS]
    other = write_profile(tmp_path / "o", BEFORE.replace(hour=9), random.Random(1), operators=operators, steps=STEPS)
    answer = run(folder, loop, after=other)
    assert found(answer)["verify-other-step"] == (
        "warning",
        str(other),
        "a step after tuning contains 2 times the calls of a step before; does the export distinguish steps?",
    )
    assert answer.more["reconciliation"] is None


def test_another_speed_of_the_machine_is_remarked(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    for factor, change in ((1.04, "+4.0%"), (0.96, "-4.0%")):
        after = scaled(loop.before, tmp_path / f"{factor}", dict.fromkeys((one.name for one in OPERATORS), factor))
        answer = run(folder, loop, after=after)
        severity, path, text = found(answer)["verify-drift"]
        controls = answer.more["noise"]["controls"]
        assert (severity, path) == ("warning", str(after))
        assert text == f"{controls} untuned operators changed by {change}: clock, load or temperature differed"


def test_too_few_untouched_operators_are_remarked(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    few = [*OPERATORS[4:6], *OPERATORS[:2]]
    before = write_profile(tmp_path / "b", BEFORE, random.Random(1), operators=few, steps=STEPS)
    answer = run(folder, loop, before=before, after=scaled(before, tmp_path / "a", {}))
    assert found(answer)["verify-noise-unknown"] == (
        "warning",
        str(tmp_path / "a"),
        "2 untuned operators in both profiles; at least 5 are needed to estimate how much captures differ",
    )
    assert "verify-drift" not in found(answer)


def test_a_tuned_operator_that_the_other_profile_lacks_is_remarked(
    folder: Path, loop: SimulatedLoop, tmp_path: Path
) -> None:
    after = scaled(loop.before, tmp_path / "a", {})
    (path,) = after.rglob("op_summary*.csv")
    path.write_text(path.read_text().replace(",block5/conv,", ",block5/renamed,"))
    severity, where, text = found(run(folder, loop, after=after))["verify-operator-changed"]
    assert (severity, where) == ("info", str(after))
    assert text == "block5/conv (32,80,56,56;80,3,3,3): the profile after tuning contains no calls with these shapes"


def with_claims_of_the_model(loop: SimulatedLoop, target: Path) -> Path:
    claims = json.loads(loop.result.read_text())
    claims[1]["OPAT"] |= {
        "model_baseline_performance(ms)": 60.0,
        "model_result_performance(ms)": 20.0,
        "model_performance_improvement": "200.00%",
    }
    target.mkdir()
    (target / loop.result.name).write_text(json.dumps(claims))
    return target / loop.result.name


def test_claims_that_contradict_each_other_are_remarked(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    answer = run(folder, loop, results=(with_claims_of_the_model(loop, tmp_path / "r"),))
    model, operators = answer.more["step_claims"]
    assert (model["claim"], model["judged"], operators["judged"]) == ("model", True, False)
    assert found(answer)["verify-claims-differ"] == (
        "info",
        str(loop.after),
        (
            f"AOE makes two different claims for a step: -66.67% by its times of the model, {operators['change']:+.2%} by "
            "its times of operators (after/before - 1); the step verdict uses the times of the model"
        ),
    )


def test_results_that_claim_nothing_are_remarked(folder: Path, loop: SimulatedLoop) -> None:
    """Without names of files they are looked for in the plan's folder, run after run; other files are none."""
    nothing = found(run(folder, loop, results=()))
    assert nothing["verify-nothing-claimed"] == (
        "warning", str(folder), "no AOE result here claims a change; the verdicts are based on measurements only",
    )  # fmt: skip
    for place, after in (("by-hand-opat-10", 300.0), ("by-hand-opat-9", 400.0)):
        claims = json.loads(loop.result.read_text())
        entries = claims[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"]
        entries[0]["performance_after_tune(us)"] = after
        entries[0]["performance_improvement"] = f"{(entries[0]['performance_before_tune(us)'] / after - 1) * 100:.2f}%"
        (folder / "runs" / place / "deeper").mkdir(parents=True)
        (folder / "runs" / place / loop.result.name).write_text(json.dumps(claims))
        (folder / "runs" / place / "notes.json").write_text("{")
        (folder / "runs" / place / "deeper" / loop.result.name).write_text("{")
    (folder / "runs" / "file").write_text("no folder")
    answer = run(folder, loop, results=())
    assert [row.claimed_after_us for row in answer.tables[0].rows if row.op_name == CLAIMED[0]] == [300.0]
    assert answer.reasons() == []


def test_types_that_were_asked_for_as_a_whole_tell_nothing_of_noise(folder: Path, loop: SimulatedLoop) -> None:
    whole = (
        Candidate(kind="operator", op_type="Conv2D"),
        Candidate(kind="operator", op_type="Muls", op_name="tail/scale1"),
    )
    write_plan(folder, Plan("offline", "opat", candidates=whole))
    tuned = sum(one.op_type == "Conv2D" for one in OPERATORS)
    computing = len(OPERATORS)
    assert run(folder, loop, results=()).more["noise"]["controls"] == computing - tuned


# The bank


def with_bank(folder: Path, *, before: Mapping[str, Any] | None = None, told: str | None = None) -> str:
    """A private bank of one file, what it was before, what `tune` says of it; its digest."""
    (folder / "bank" / "Ascend910B").mkdir(parents=True, exist_ok=True)
    (folder / "bank" / "Ascend910B" / "Ascend910B_32_AiCore_Conv2D_runtime_kb.json").write_text('{"op": "x"}\n')
    if before is not None:
        (folder / "bank_before.json").write_text(to_json(before))
    digest = digest_of(list_bank(bank_of_tuner(Plan("offline", "opat")), folder / "bank"))
    (folder / "outcome.json").write_text(to_json({"counts": {}, "bank": {"digest": told or digest}}))
    return digest


def test_the_verdict_is_on_the_content_of_the_bank(folder: Path, loop: SimulatedLoop) -> None:
    digest = with_bank(folder)
    assert "verify-bank-changed" not in found(run(folder, loop))
    assert document(folder)["bank_digest"] == digest
    with_bank(folder, told="1" * 64)
    assert found(run(folder, loop))["verify-bank-changed"] == (
        "warning",
        str(folder / "bank"),
        "its content is not what `tune run` wrote: it is not certain which bank was measured",
    )
    shutil.rmtree(folder / "bank")
    assert "verify-bank-changed" not in found(run(folder, loop))
    assert document(folder)["bank_digest"] is None


def test_a_bank_that_tuning_did_not_change_is_a_sign_beside_others(
    folder: Path, loop: SimulatedLoop, tmp_path: Path
) -> None:
    unchanged = scaled(loop.before, tmp_path / "unchanged", {})
    same = "no file of the private bank differs from its state before tuning"

    def signs(after: Path) -> list[str]:
        answer = run(folder, loop, after=after)
        told = [str(one.message) for one in answer.findings if one.rule == "verify-bank-not-used"]
        assert sorted(told) == sorted(str(sign) for sign in answer.more["signs"])
        return [str(sign) for sign in answer.more["signs"]]

    assert (len(signs(unchanged)), signs(loop.after)) == (2, [])
    with_bank(folder, before={})
    assert same not in signs(unchanged)
    content = (folder / "bank" / "Ascend910B" / "Ascend910B_32_AiCore_Conv2D_runtime_kb.json").read_bytes()
    entry = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "entries": None}
    with_bank(folder, before={"Ascend910B/Ascend910B_32_AiCore_Conv2D_runtime_kb.json": entry})
    assert signs(unchanged)[2:] == [same]
    assert signs(loop.after) == []
    shutil.rmtree(folder / "bank")
    assert len(signs(unchanged)) == 2


# Which device


def test_the_device_with_the_longest_step_before_is_held_against_itself(folder: Path, tmp_path: Path) -> None:
    """Rank 1 has the longest step before; afterwards rank 0 has it."""
    after = tmp_path / "after"
    shutil.copytree(TWO_RANKS, after)
    for path in after.glob("rank0*/*/step_trace_time.csv"):
        path.write_text(
            path.read_text().replace(",25744.05,272", ",85744.05,872").replace(",25744.05,271", ",85744.05,871")
        )
    write_plan(folder, Plan("pytorch", "opat"))
    options = VerifyOptions(before=TWO_RANKS, after=after)
    for asked, rank in ((options, 1), (replace(options, rank=0), 0), (replace(options, rank=1), 1)):
        answer = verify(folder, asked)
        assert answer.more["rank_id"] == rank
        chosen = [one for one in answer.findings if one.rule == "verify-device"]
        assert [(one.path, str(one.message)) for one in chosen] == (
            [
                (
                    str(TWO_RANKS),
                    "rank 1, device None: the longest step among 2 devices (use --rank and --device to choose another)",
                )
            ]
            if asked.rank is None
            else []
        )
        (step,) = (row for row in answer.tables[0].rows if row.scope == "step")
        assert step.measured_before_us == (27203.846 if rank else 27201.0)
        assert step.measured_after_us == (27203.846 if rank else 87201.0)


def test_of_ranks_that_take_as_long_the_lowest_is_compared(folder: Path, tmp_path: Path) -> None:
    """Whichever of their folders comes first."""
    before = tmp_path / "before"
    for rank, name in ((0, "z_ascend_pt"), (1, "a_ascend_pt")):
        shutil.copytree(TWO_RANKS / f"rank{rank}_ascend_pt", before / name)
    (steps,) = before.glob("z*/*/step_trace_time.csv")
    (others,) = before.glob("a*/*/step_trace_time.csv")
    others.write_text(steps.read_text())
    write_plan(folder, Plan("pytorch", "opat"))
    answer = verify(folder, VerifyOptions(before=before, after=TWO_RANKS))
    assert answer.more["rank_id"] == 0
    assert found(answer)["verify-device"][2].startswith("rank 0, ")


# What a job has to show


def row(scope: Any, verdict: Verdict) -> Row:
    return Row(scope=scope, op_name="op", claim="operators", verdict=verdict)


@pytest.mark.parametrize(
    ("whole", "step", "operators", "passed"),
    [
        ("confirmed", "confirmed", ("confirmed", "confirmed"), {"confirmed", "partly", "step", "all"}),
        ("confirmed", "not-reproduced", ("confirmed", "partly"), {"confirmed", "partly"}),
        ("partly", "partly", ("partly",), {"partly"}),
        ("partly", "partly", ("confirmed",), {"confirmed", "partly", "all"}),
        ("confirmed", "confirmed", (), {"confirmed", "partly", "step"}),
        ("confirmed", "not-reproduced", ("not-reproduced",), set()),
        ("regressed", "confirmed", ("confirmed",), {"step"}),
        ("not-reproduced", "not-reproduced", ("confirmed",), set()),
    ],
)
def test_a_rule_of_acceptance_passes_what_it_says(
    whole: Verdict, step: Verdict, operators: Sequence[Verdict], passed: set[str]
) -> None:
    rows = [*(row("operator", verdict) for verdict in operators), row("step", step)]
    assert {accept for accept in get_args(Accept) if is_accepted(whole, rows, accept)} == passed


def test_each_verdict_is_an_annotation(cli: Cli, folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    def annotated(before: Path, after: Path) -> tuple[int, list[str]]:
        asked = ("--before", before, "--after", after, "--results", loop.result, "--format", "github")
        ended = cli("verify", folder, *asked)
        return ended.code, [line for line in ended.out.splitlines() if "comparability" not in line]

    code, confirmed = annotated(loop.before, loop.after)
    assert code == 0
    assert confirmed[-2:-1] == [
        "::notice title=confirmed::block6/conv: claimed -20.00%25, measured -20.00%25 (after/before - 1)"
    ]
    assert confirmed[-1].startswith(
        "::notice title=Tuning%2C verified::Confirmed: tuned operators take 20.0%25 less time ("
    )
    quick = scaled(loop.before, tmp_path / "quick", dict.fromkeys(CLAIMED, 0.6), hours=0)
    code, regressed = annotated(quick, scaled(quick, tmp_path / "slow", dict.fromkeys(CLAIMED, 1.5)))
    assert code == 1
    assert not any("stream-overlap" in line for line in regressed)
    assert "::warning title=not-reproduced::step: claimed -2.88%25, measured +0.00%25 (after/before - 1)" in regressed
    assert "::error title=regressed::block5/conv: claimed -20.00%25, measured +50.00%25 (after/before - 1)" in regressed
    assert regressed[-1].startswith("::error title=Tuning%2C verified::Regressed: tuned operators 50.0%25 slower (")


def test_what_is_not_accepted_is_a_reason(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    refused = run(folder, loop, accept="step")  # communication hides what these operators save
    assert (refused.reasons(), refused.exit_code(), refused.more["accepted"]) == (["verification"], 1, False)
    assert (refused.more["accept"], refused.more["rule"]) == ("step", "the step itself is confirmed to be faster")
    unchanged = run(folder, loop, after=scaled(loop.before, tmp_path / "u", {}))
    assert (unchanged.reasons(), unchanged.more["verdict"]) == (["verification"], "not-reproduced")
    strict = run(folder, loop, after=tmp_path / "u", strict=True)
    assert strict.reasons() == ["damage", "not-comparable", "verification"]


def test_damage_is_a_reason_and_stays_with_the_verdict(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    after = scaled(loop.before, tmp_path / "a", {})
    (path,) = after.rglob("op_summary*.csv")
    text = path.read_text()
    path.write_text(text[: len(text) * 2 // 3] + "\n")
    damaged = run(folder, loop, after=after)
    assert damaged.reasons() == ["damage", "verification"]
    assert document(folder)["damaged"] is True
    sound = run(folder, loop)
    assert sound.reasons() == []
    kept = run(folder, loop, after=after)
    assert found(kept)["verify-kept"] == (
        "warning",
        str(folder / "verify.json"),
        f"verify.json is unchanged (confirmed, based on {loop.after}): this run produced no usable measurement",
    )
    assert document(folder)["verdict"] == "confirmed"


# Verdicts that follow each other


def test_another_verdict_keeps_the_one_before(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    no_quicker = scaled(loop.before, tmp_path / "no_quicker", {})
    run(folder, loop)
    pages = {path.suffix: path.read_bytes() for path in folder.glob("verify.*")}
    worse = run(folder, loop, after=no_quicker)
    assert worse.more["verdict"] == "not-reproduced"
    assert worse.more["kept_as"] == "verify-001.json"
    assert found(worse)["verify-replaced"] == (
        "warning",
        str(folder / "verify.json"),
        f"the previous verdict (confirmed, based on {loop.after}) is kept as verify-001.json",
    )
    assert {path.suffix: path.read_bytes() for path in folder.glob("verify-001.*")} == pages
    better = run(folder, loop)
    assert found(better)["verify-replaced"][0] == "info"
    assert (better.more["kept_as"], document(folder)["verdict"]) == ("verify-002.json", "confirmed")
    (folder / "verify.json").write_text("{")
    unreadable = run(folder, loop)
    severity, _, text = found(unreadable)["verify-replaced"]
    assert severity == "info"
    assert text.startswith("the previous verdict cannot be read (")
    assert text.endswith("); it is kept as verify-003.json")
    assert (folder / "verify-003.json").read_text() == "{"


def test_a_verdict_without_the_name_of_its_profile_is_one_of_an_unnamed_one(folder: Path, loop: SimulatedLoop) -> None:
    run(folder, loop)
    told = document(folder)
    (folder / "verify.json").write_text(to_json({**told, "after": None, "after_hash": "0" * 64}))
    assert found(run(folder, loop))["verify-replaced"][2] == (
        "the previous verdict (confirmed, based on an unnamed profile) is kept as verify-001.json"
    )


# The store


def test_verdicts_are_stored_once_with_what_they_are_of(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    write_plan(folder, Plan("offline", "opat", soc="Ascend910B", engine_version="8.0"))
    store = str(tmp_path / "store")
    first = run(folder, loop, store=store, workload="mine")
    assert first.more["stored"] == document(folder)["stored"] == 4
    assert run(folder, loop, store=store, workload="mine").more["stored"] == 0
    rows = History.open(store).rows("verdict").to_pylist()
    assert len({row["run_id"] for row in rows}) == 1
    assert {len(row["run_id"]) for row in rows} == {len("verify-") + 16}
    shapes = ["32,80,56,56;80,3,3,3", "32,96,56,56;96,3,3,3"]
    assert sorted(row["subject"] for row in rows) == [
        "op_type Conv2D",
        f"operator Conv2D {CLAIMED[0]} {shapes[0]}",
        f"operator Conv2D {CLAIMED[1]} {shapes[1]}",
        "step",
    ]
    common = {"month": "2026-03", "night": "2026-03-01", "model": "mine", "hardware": "Ascend910B", "engine_version": "8.0", "content_hash": document(folder)["after_hash"], "rank_id": None}  # fmt: skip
    for stored in rows:
        assert {name: str(stored[name]) if name == "night" else stored[name] for name in common} == common
        body = json.loads(stored["body"])
        assert (body["verdict"], body["verdict_of_job"], body["bank_digest"]) == (stored["state"], "confirmed", None)
        assert (body["scope"], body["op_name"]) == (stored["scope"], stored["op_name"])
    start_ns = int(BEFORE.timestamp() + 5 * 3600) * 10**9
    assert {row["timestamp_ns"] for row in rows} == {start_ns}
    with_bank(folder)
    assert run(folder, loop, store=store).more["stored"] == 4
    rows = History.open(store).rows("verdict").to_pylist()
    assert {row["model"] for row in rows} == {"mine", "unknown"}


def test_what_cannot_be_compared_is_not_stored(folder: Path, loop: SimulatedLoop, tmp_path: Path) -> None:
    answer = run(folder, loop, after=loop.before, store=str(tmp_path / "store"))
    assert (answer.more["stored"], (tmp_path / "store").exists()) == (0, False)
