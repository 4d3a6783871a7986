"""`verify`: AOE's claims against the clock, on simulated loops whose truth is known."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from commandline import FIXTURES, ROOT, Ended
from stores import stored_rows
from tuning.jobs import SOC, Bench, write_bank
from unchecked import store_unchecked

from aoe_reports.simulation import aoe
from aoe_reports.simulation.tuning import (
    BEFORE,
    OPERATORS,
    OUTCOMES,
    TUNED,
    Outcome,
    SimulatedLoop,
    write_loop,
    write_profile,
    write_result,
)
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan
from aoe_reports.tuning.verify.intervals import Interval
from aoe_reports.tuning.verify.rows import judge
from aoe_reports.tuning.verify.verdicts import is_same_work

SCHEMA = json.loads((ROOT / "schemas" / "verification.schema.json").read_text())
COLUMNS = [
    "scope",
    "op_name",
    "op_type",
    "input_shapes",
    "claimed_before_us",
    "claimed_after_us",
    "measured_before_us",
    "measured_after_us",
    "change",
    "ci_low",
    "ci_high",
    "verdict",
]


def verified(bench: Bench, loop: SimulatedLoop, *args: object, plan: Plan | None = None) -> Ended:
    write_plan(bench.folder, plan or Plan("offline", "opat"))
    options = ("--before", loop.before, "--after", loop.after, "--results", loop.result, "--format", "json")
    return bench.run("verify", bench.folder, *options, *args)


def left(bench: Bench) -> dict[str, Any]:
    document = json.loads((bench.folder / "verify.json").read_text())
    jsonschema.validate(document, SCHEMA)
    return document


@pytest.mark.parametrize(
    ("outcome", "verdict", "code", "signs"),
    [
        ("faster", "confirmed", 0, 0),
        ("only-claimed", "not-reproduced", 1, 0),
        ("slower", "regressed", 1, 0),
        ("bank-not-used", "not-reproduced", 1, 2),
    ],
)
def test_the_planted_truth_is_told(bench: Bench, outcome: Outcome, verdict: str, code: int, signs: int) -> None:
    loop = write_loop(bench.root / "loop", outcome, 1)
    ended = verified(bench, loop)
    assert (ended.code, ended.json["verdict"]) == (code, verdict), ended.err
    assert ended.json["reasons"] == ([] if code == 0 else ["verification"])
    assert left(bench)["verdict"] == verdict
    rows = ended.json["rows"]
    assert [list(row)[: len(COLUMNS)] for row in rows] == [COLUMNS] * len(rows)
    operators = {row["op_name"]: row for row in rows if row["scope"] == "operator"}
    assert set(operators) == set(TUNED)
    assert {row["verdict"] for row in operators.values()} == {verdict}
    for row in operators.values():
        assert row["change"] == pytest.approx(row["measured_after_us"] / row["measured_before_us"] - 1, abs=1e-5)
        assert row["change"] == pytest.approx(OUTCOMES[outcome] - 1, abs=0.06)
        assert row["ci_low"] <= row["change"] <= row["ci_high"]
    assert len(ended.json["signs"]) == signs
    assert ("verify-bank-not-used" in ended.rules()) is bool(signs)
    assert "Noise: " in (bench.folder / "verify.md").read_text()


def test_the_page_is_in_the_language_that_is_asked_for_and_the_verdict_is_not(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "bank-not-used", 1)
    english, document = verified(bench, loop), left(bench)
    chinese = verified(bench, loop, "--lang", "zh")
    assert left(bench) == document
    assert chinese.json == english.json
    page = (bench.folder / "verify.md").read_text()
    assert (
        "未重现：调优的算子耗时未变（-4.1% … +2.4%），AOE 声称减少 20.0%；一个 step 耗时未变（-2.8% … +1.5%）。" in page
    )
    assert "调优后的知识库未被使用的迹象：block 数都与调优前相同：kernel 没有变化。" in page
    assert 'lang="zh' in (bench.folder / "verify.html").read_text()


def test_the_savings_add_up_to_the_step(bench: Bench) -> None:
    parts = verified(bench, write_loop(bench.root / "loop", "faster", 4)).json["reconciliation"]
    whole = parts["operators_us"] + parts["others_us"] - parts["hidden_by_overlap_us"]
    whole += parts["communication_us"] + parts["free_us"] + parts["unexplained_us"]
    assert whole == pytest.approx(parts["step_saving_us"], abs=0.01)
    assert abs(parts["unexplained_us"]) < 1
    means = {op.name: op.mean_us for op in OPERATORS}
    assert parts["claimed_us"] == pytest.approx(0.2 * sum(means[name] for name in TUNED), rel=0.03)


def scale_tasks(profile: Path, factors: Mapping[str, float]) -> None:
    """Change how long some operators take, and only the tasks: what runs beside them goes on as before."""
    (path,) = profile.rglob("op_summary*.csv")
    lines = path.read_text().splitlines(keepends=True)
    for place, line in enumerate(lines):
        cells = line.split(",")
        if cells[4] in factors:
            cells[9] = f"{float(cells[9]) * factors[cells[4]]:.3f}"
            lines[place] = ",".join(cells)
    path.write_text("".join(lines))


def test_what_communication_hides_is_named(bench: Bench) -> None:
    """An operator beside communication that gets faster does not make the step shorter."""
    hidden = ["block5/conv", "block6/conv"]
    before = write_profile(bench.root / "b", BEFORE, random.Random(1))
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(1))
    scale_tasks(after, dict.fromkeys(hidden, 0.5))
    result = write_result(bench.root / "r", BEFORE.replace(hour=4), hidden)
    ended = verified(bench, SimulatedLoop(before, after, result))
    parts = ended.json["reconciliation"]
    assert parts["operators_us"] == pytest.approx(0.5 * (480 + 540), rel=0.05)
    assert parts["hidden_by_overlap_us"] == pytest.approx(parts["operators_us"], rel=0.01)
    assert parts["step_saving_us"] == pytest.approx(0, abs=0.01)
    step = ended.json["rows"][0]
    assert (step["scope"], step["verdict"]) == ("step", "not-reproduced")
    assert "hidden by overlap" in (bench.folder / "verify.md").read_text()


@pytest.mark.parametrize(("accept", "code"), [("confirmed", 0), ("partly", 0), ("step", 0), ("all", 0)])
def test_a_rule_of_acceptance_passes(bench: Bench, accept: str, code: int) -> None:
    ended = verified(bench, write_loop(bench.root / "loop", "faster", 2), "--accept", accept)
    assert (ended.code, ended.json["accepted"]) == (code, True)


def half_true(bench: Bench) -> SimulatedLoop:
    """The tuned operators get faster by a half of what AOE claims."""
    before = write_profile(bench.root / "b", BEFORE, random.Random(11), steps=20)
    factors = dict.fromkeys(TUNED, 0.8)
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(12), factors=factors, steps=20)
    path = write_result(bench.root / "r", BEFORE.replace(hour=4))
    document = json.loads(path.read_text())
    for entry in document[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"]:
        entry["performance_after_tune(us)"] = round(entry["performance_before_tune(us)"] * 0.4, 3)
        entry["performance_improvement"] = "150.00%"
    path.write_text(json.dumps(document))
    return SimulatedLoop(before, after, path)


def test_less_than_claimed_is_partly(bench: Bench) -> None:
    ended = verified(bench, half_true(bench))
    assert (ended.code, ended.json["verdict"]) == (1, "partly")
    assert {row["verdict"] for row in ended.json["rows"] if row["scope"] == "operator"} == {"partly"}
    again = verified(bench, SimulatedLoop(*(next((bench.root / n).iterdir()) for n in "bar")), "--accept", "partly")
    assert again.code == 0


def scaled_loop(bench: Bench, factors: Mapping[str, float], claimed: Mapping[str, float]) -> SimulatedLoop:
    """Two profiles without noise between them, but for what some operators take; AOE claims times after/before."""
    before = write_profile(bench.root / "b", BEFORE, random.Random(1))
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(1))
    scale_tasks(after, factors)
    path = write_result(bench.root / "r", BEFORE.replace(hour=4), list(claimed))
    document = json.loads(path.read_text())
    for entry in document[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"]:
        left = claimed[entry["op_name"]]
        entry["performance_after_tune(us)"] = round(entry["performance_before_tune(us)"] * left, 3)
        entry["performance_improvement"] = f"{(1 / left - 1) * 100:.2f}%"
    path.write_text(json.dumps(document))
    return SimulatedLoop(before, after, path)


@pytest.mark.parametrize(("part", "verdict"), [(0.82, "confirmed"), (0.78, "partly")])
def test_four_fifths_of_a_claim_confirm_it_and_less_does_not(bench: Bench, part: float, verdict: str) -> None:
    """The claim lies outside of the interval, so only the part that was measured decides."""
    ended = verified(bench, scaled_loop(bench, {"block5/conv": 1 - part * 0.6}, {"block5/conv": 0.4}))
    (row,) = (row for row in ended.json["rows"] if row["scope"] == "operator")
    assert row["ci_low"] > row["claimed_change"]
    assert row["change"] == pytest.approx(part * row["claimed_change"], abs=1e-3)
    assert (row["verdict"], ended.json["verdict"]) == (verdict, verdict)


@pytest.mark.parametrize(
    ("change", "low", "high", "claimed", "verdict"),
    [
        (0.1, 0.0, 0.2, -0.1, "not-reproduced"),
        (0.1, 1e-9, 0.2, -0.1, "regressed"),
        (-0.1, -0.2, 0.0, -0.1, "not-reproduced"),
        (-0.1, -0.2, -1e-9, -0.1, "confirmed"),
        (-0.1, -0.2, -0.05, -0.2, "confirmed"),
        (-0.1, -0.2, -0.05, -0.2001, "partly"),
        (-0.0801, -0.09, -0.07, -0.1, "confirmed"),
        (-0.0799, -0.09, -0.07, -0.1, "partly"),
        (-0.01, -0.02, -0.005, None, "confirmed"),
        (None, None, None, -0.1, "not-comparable"),
    ],
)
def test_a_verdict_at_its_limits(
    change: float | None, low: float | None, high: float | None, claimed: float | None, verdict: str
) -> None:
    interval = None if low is None or high is None else Interval(low, high, None)
    assert judge(change, interval, claimed) == verdict


@pytest.mark.parametrize(("factor", "said"), [(1.029, False), (1.031, True), (0.971, False), (0.969, True)])
def test_a_machine_that_is_three_percent_away_is_another_one(bench: Bench, factor: float, said: bool) -> None:
    loop = scaled_loop(bench, dict.fromkeys((op.name for op in OPERATORS), factor), {"block5/conv": 0.8})
    assert ("verify-drift" in verified(bench, loop).rules()) is said


@pytest.mark.parametrize(("untouched", "known"), [(5, True), (4, False)])
def test_a_few_untouched_operators_tell_no_noise(bench: Bench, untouched: int, known: bool) -> None:
    names = [op.name for op in OPERATORS]
    computing = [name for name in names if "allreduce" not in name.lower() and "hcom" not in name.lower()]
    claimed = dict.fromkeys(computing[untouched:], 0.8)
    ended = verified(bench, scaled_loop(bench, dict.fromkeys(computing[untouched:], 0.8), claimed))
    assert ended.json["noise"]["controls"] == untouched
    assert ((ended.json["noise"]["drift"] is not None), "verify-noise-unknown" in ended.rules()) == (known, not known)


@pytest.mark.parametrize(("ratio", "same"), [(1.1, True), (1.11, False), (1 / 1.1, True), (0.9, False), (None, True)])
def test_how_much_more_work_a_step_may_hold(ratio: float | None, same: bool) -> None:
    assert is_same_work(ratio) is same


def test_one_run_gives_the_same_bytes_and_the_order_of_rows_changes_nothing(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 3)
    first = verified(bench, loop)
    html = (bench.folder / "verify.html").read_bytes()
    assert verified(bench, loop).out == first.out
    assert (bench.folder / "verify.html").read_bytes() == html
    assert b'role="img"' in html
    for side in (loop.before, loop.after):
        (path,) = side.rglob("op_summary*.csv")
        head, *lines = path.read_text().splitlines(keepends=True)
        random.Random(1).shuffle(lines)
        path.write_text("".join([head, *lines]))
    assert verified(bench, loop).json["rows"] == first.json["rows"]


def with_times_of_the_model(loop: SimulatedLoop, before_ms: float, after_ms: float) -> SimulatedLoop:
    """The loop, whose result claims something of the model, too."""
    document = json.loads(loop.result.read_text())
    document[1]["OPAT"] |= {
        "model_baseline_performance(ms)": before_ms,
        "model_result_performance(ms)": after_ms,
        "model_performance_improvement": f"{(before_ms / after_ms - 1) * 100:.2f}%",
    }
    loop.result.write_text(json.dumps(document))
    return loop


def table_of(text: str, scope: str) -> list[dict[str, str]]:
    """The rows of a scope in the table of verdicts that people read."""
    lines = text.splitlines()
    head = next(place for place, line in enumerate(lines) if line.startswith("Scope "))
    widths = [len(dashes) for dashes in lines[head + 1].split("  ")]
    starts = [sum(widths[:place]) + 2 * place for place in range(len(widths))]
    titles, *rows = ([line[start : start + width].strip() for start, width in zip(starts, widths, strict=True)]
                     for line in (lines[head], *lines[head + 2 :]))  # fmt: skip
    return [dict(zip(titles, row, strict=True)) for row in rows if row[0] == scope]


def test_a_row_holds_one_claim_and_its_verdict_is_about_that_one(bench: Bench) -> None:
    """AOE claims 16.7 % of the model and, by its operators, far less: a small gain does not confirm the large claim."""
    loop = with_times_of_the_model(write_loop(bench.root / "loop", "faster", 1), 60.0, 20.0)
    ended = verified(bench, loop)
    step, *others = ended.json["rows"]
    assert (step["claimed_before_us"], step["claimed_after_us"], step["claim"]) == (60000.0, 20000.0, "model")
    assert step["claimed_change"] == pytest.approx(20 / 60 - 1, abs=1e-6)
    assert step["change"] > 0.8 * step["claimed_change"]
    assert step["verdict"] == "partly", "a third of what AOE claims of the model is not the claimed gain"
    assert {row["claim"] for row in others} == {"operators"}
    for row in ended.json["rows"]:
        times = (row["claimed_before_us"], row["claimed_after_us"])
        assert (None in times) == (times == (None, None))
        if None not in times:
            assert row["claimed_change"] == pytest.approx(times[1] / times[0] - 1, abs=1e-6)
    model, operators = ended.json["step_claims"]
    assert (model["claim"], model["judged"], operators["claim"], operators["judged"]) == (
        "model",
        True,
        "operators",
        False,
    )
    assert (model["time_saved"], model["speed_up"]) == pytest.approx((2 / 3, 2.0), abs=1e-6)
    claimed_us = ended.json["reconciliation"]["claimed_us"]
    assert operators["change"] == pytest.approx(-claimed_us / step["measured_before_us"], abs=1e-5)
    assert "verify-claims-differ" in ended.rules()
    text = bench.run(
        "verify", bench.folder, "--before", loop.before, "--after", loop.after, "--results", loop.result
    ).out
    (shown,) = table_of(text, "step")
    assert (shown["Basis of claim"], shown["Claimed change (after/before - 1)"]) == ("model", "-66.67%")
    assert f"amount to {operators['change']:+.2%} of a step" in text
    assert "time saved (1 - after/before) 66.67%, speed-up (before/after - 1) 200.00%" in text
    assert f"step takes {-step['change']:.1%} less time" in text.splitlines()[0]
    assert text.splitlines()[0].endswith("AOE claims 66.7% less.")


@pytest.mark.slow
def test_two_claims_that_agree_are_no_contradiction(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    (only,) = verified(bench, loop).json["step_claims"]
    assert (only["claim"], only["judged"]) == ("operators", True)
    for part, differ in ((1.0, False), (0.81, False), (0.79, True), (1.24, False), (1.26, True)):
        ended = verified(bench, with_times_of_the_model(loop, 100.0, 100 * (1 + part * only["change"])))
        assert ("verify-claims-differ" in ended.rules()) is differ, part


def test_times_of_several_models_are_no_claim_on_the_step(bench: Bench) -> None:
    loop = with_times_of_the_model(write_loop(bench.root / "loop", "faster", 1), 60.0, 20.0)
    document = json.loads(loop.result.read_text())
    other = [{"basic": {**document[0]["basic"], "tuning_name": "other"}}, document[1]]
    reports = {"report_20260301040000000_1": document, "report_20260301040000000_2": other}
    loop.result.write_text(json.dumps(reports))
    step = verified(bench, loop).json["rows"][0]
    assert (step["claim"], step["claimed_before_us"]) == ("operators", None)


def test_what_a_broken_off_task_changed_is_no_claim_and_no_measure_of_noise(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    whole = verified(bench, loop).json
    document = json.loads(loop.result.read_text())
    del document[0]["basic"]["tuning_time(s)"]
    document[1]["OPAT"]["opat_tuning_result"] = "tuning incomplete"
    loop.result.write_text(json.dumps(document))
    ended = verified(bench, loop)
    assert {"tuning-incomplete", "verify-nothing-claimed"} <= ended.rules()
    assert [row["scope"] for row in ended.json["rows"]] == ["step"]
    assert ended.json["noise"] == whole["noise"]
    assert ended.json["verdict"] == "not-comparable"
    text = bench.run(
        "verify", bench.folder, "--before", loop.before, "--after", loop.after, "--results", loop.result
    ).out
    assert re.search(
        r"No claim is counted for \d+ operators that an interrupted task changed: block1/conv", " ".join(text.split())
    )


def first_sentence(bench: Bench) -> str:
    return (bench.folder / "verify.md").read_text().splitlines()[0].removeprefix("# ")


def test_a_headline_names_what_is_slower(bench: Bench) -> None:
    """Slower operators in an unchanged step are no slower model, and the other way round."""
    before = write_profile(bench.root / "b", BEFORE, random.Random(1))
    result = write_result(bench.root / "r", BEFORE.replace(hour=4), ["block5/conv", "block6/conv"])
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(1))
    scale_tasks(after, {"block5/conv": 1.2, "block6/conv": 1.2})
    ended = verified(bench, SimulatedLoop(before, after, result))
    step = ended.json["rows"][0]
    assert (ended.json["verdict"], step["verdict"]) == ("regressed", "not-reproduced")
    about = ended.json["verdict_is_about"]
    assert (about["scope"], about["verdict"]) == ("operators", "regressed")
    said = first_sentence(bench)
    assert said.startswith(
        f"Regressed: tuned operators {about['change']:.1%} slower ({about['ci_low']:+.1%} … {about['ci_high']:+.1%})"
    )
    assert said.endswith(f"; step unchanged ({step['ci_low']:+.1%} … {step['ci_high']:+.1%}).")


def test_a_headline_names_the_step_where_the_step_decides(bench: Bench) -> None:
    before = write_profile(bench.root / "b", BEFORE, random.Random(1))
    untouched = max((op for op in OPERATORS if op.name not in TUNED), key=lambda op: op.mean_us)
    factors = {untouched.name: 4.0}
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(2), factors=factors)
    ended = verified(bench, SimulatedLoop(before, after, write_result(bench.root / "r", BEFORE.replace(hour=4))))
    about = ended.json["verdict_is_about"]
    assert (ended.json["verdict"], about["scope"], about["change"]) == (
        "regressed",
        "step",
        ended.json["rows"][0]["change"],
    )
    said = first_sentence(bench)
    assert said.startswith(f"Regressed: step {about['change']:.1%} slower (")
    assert "; tuned operators " in said


def test_verdicts_go_into_the_store_once_and_become_priors(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 3)
    store = bench.root / "history"
    first = verified(bench, loop, "--store", store, "--workload", "mine")
    assert first.json["stored"] == len(first.json["rows"])
    assert verified(bench, loop, "--store", store, "--workload", "mine").json["stored"] == 0
    assert bench.run("store", "verify", "--store", store).code == 0
    from aoe_reports import History

    rows = History.open(str(store)).rows("verdict").to_pylist()
    assert {row["state"] for row in rows} == {"confirmed"}
    assert {row["model"] for row in rows} == {"mine"}
    planned = bench.run("plan", loop.before, "-o", bench.root / "next", "--store", store, "--format", "json")
    prior = {row["op_type"]: row["prior"] for row in planned.json["rows"]}["Conv2D"]
    assert (prior["source"], prior["results"]) == ("measured", 3)
    assert bench.run("ingest", loop.result, "--store", store, "--workload", "mine").code == 0
    assert bench.run("site", "--store", store, "-o", bench.root / "site").code == 0
    (job,) = json.loads((bench.root / "site" / "tuning.json").read_text())["rows"]
    step = next(row for row in first.json["rows"] if row["scope"] == "step")
    assert (job["proven"]["verdict"], job["proven"]["step"]["change"]) == ("confirmed", step["change"])
    assert job["claimed_speed_up"] is None  # its file has no time of the model


def test_verdicts_of_the_store_are_listed_and_reported_beside_claims(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 3)
    store = bench.root / "history"
    rows = verified(bench, loop, "--store", store, "--workload", "mine").json["rows"]
    listed = bench.run("store", "history", "verdicts", "--store", store, "--format", "json").json["rows"]
    names = (
        "scope",
        "op_type",
        "op_name",
        "verdict",
        "measured_before_us",
        "measured_after_us",
        "change",
        "claimed_after_us",
    )

    def told(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return sorted((tuple(row[name] for name in names) for row in found), key=repr)

    assert told(listed) == told(rows)
    assert listed[0]["scope"] == "step"
    assert {row["workload"] for row in listed} == {"mine"}
    assert (
        bench.run("store", "history", "verdicts", "--store", store, "--workload", "other", "--format", "json").json[
            "rows"
        ]
        == []
    )
    assert "confirmed" in bench.run("store", "history", "verdicts", "--store", store).out
    assert bench.run("ingest", loop.after, "--store", store, "--workload", "mine").code == 0
    report = bench.run("report", "--store", store, "--format", "json").json
    assert (report["night"], told(report["verdicts"])) == (listed[0]["night"], told(rows))
    text = bench.run("report", "--store", store).out
    assert "Claimed vs measured" in text
    assert "confirmed" in text


def test_the_same_profile_twice_is_refused(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    shutil.copytree(loop.before, bench.root / "copy" / loop.before.name)
    ended = verified(bench, replace(loop, after=bench.root / "copy"))
    assert (ended.code, ended.json["verdict"], ended.json["rows"]) == (1, "not-comparable", [])
    assert ended.json["reasons"] == ["not-comparable"]
    assert "verify-same-profile" in ended.rules()
    assert left(bench)["verdict"] == "not-comparable"


def test_a_profile_of_another_workload_is_refused(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    operators = [replace(op, name=f"other/{op.name}") for op in OPERATORS]
    other = write_profile(bench.root / "o", BEFORE.replace(hour=9), random.Random(3), operators=operators)
    ended = verified(bench, replace(loop, after=other))
    assert (ended.code, ended.json["verdict"]) == (1, "not-comparable")
    assert ended.json["reasons"] == ["not-comparable"]
    assert "verify-other-workload" in ended.rules()
    forced = verified(bench, replace(loop, after=other), "--force")
    assert forced.json["rows"]
    assert {row["verdict"] for row in forced.json["rows"] if row["scope"] == "operator"} == {"not-comparable"}


def test_a_tuned_operator_with_other_shapes_is_not_comparable(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    (path,) = loop.after.rglob("op_summary*.csv")
    path.write_text(path.read_text().replace('"""32,1024"""', '"""64,1024"""'))
    ended = verified(bench, loop)
    rows = [row for row in ended.json["rows"] if row["op_name"] == "head/softmax"]
    assert [(row["input_shapes"].strip('"'), row["verdict"]) for row in rows] == [
        ("32,1024", "not-comparable"),
        ("64,1024", "not-comparable"),
    ]
    assert "verify-operator-changed" in ended.rules()


def test_a_slower_machine_is_told_from_a_slower_kernel(bench: Bench) -> None:
    """Everything takes 8 % longer: tuned operators, that were not tuned at all, prove nothing."""
    before = write_profile(bench.root / "b", BEFORE, random.Random(1))
    factors = {op.name: 1.08 for op in OPERATORS}
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(2), factors=factors)
    result = write_result(bench.root / "r", BEFORE.replace(hour=4))
    ended = verified(bench, SimulatedLoop(before, after, result))
    assert "verify-drift" in ended.rules()
    assert ended.json["noise"]["drift"] == pytest.approx(0.08, abs=0.02)
    assert ended.json["verdict"] == "not-reproduced"


def test_profiles_that_changed_places_are_refused(bench: Bench) -> None:
    """Tuning made it slower: the other way round that looks like a gain."""
    loop = write_loop(bench.root / "loop", "slower", 1)
    changed = SimulatedLoop(loop.after, loop.before, loop.result)
    ended = verified(bench, changed)
    assert (ended.code, ended.json["verdict"], ended.json["reasons"]) == (1, "not-comparable", ["not-comparable"])
    assert "verify-order" in ended.rules()
    assert verified(bench, changed, "--force").json["rows"]


def test_the_profile_of_the_plan_is_not_the_one_afterwards(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    planned = bench.run("plan", loop.before, "-o", bench.root / "planned", "--format", "json")
    assert planned.code == 0
    older = write_profile(bench.root / "o", BEFORE.replace(hour=1), random.Random(3))
    ended = bench.run("verify", bench.root / "planned", "--before", older, "--after", loop.before, "--results",
                      loop.result, "--format", "json")  # fmt: skip
    assert (ended.code, ended.json["verdict"]) == (1, "not-comparable")
    assert "verify-order" in ended.rules()


@pytest.mark.parametrize("steps", [6, 24])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("accept", ["confirmed", "partly", "step"])
def test_steps_that_hold_other_work_prove_nothing(bench: Bench, steps: int, told: bool, accept: str) -> None:
    """Without a table of steps a whole capture is one step: with fewer iterations in it nothing got faster."""
    before = write_profile(bench.root / "b", BEFORE, random.Random(1), steps=12)
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(2), steps=steps)
    for side in (before,) if told else (before, after):
        next(side.rglob("step_trace*.csv")).unlink()
    ended = verified(bench, SimulatedLoop(before, after, write_result(bench.root / "r", BEFORE.replace(hour=4))),
                     "--accept", accept)  # fmt: skip
    assert (ended.code, ended.json["verdict"], ended.json["accepted"]) == (1, "not-reproduced", False)
    step = ended.json["rows"][0]
    assert (step["verdict"], step["change"]) == ("not-comparable", None)
    assert ended.json["reconciliation"] is None
    assert "verify-other-step" in ended.rules()


def test_one_confirmed_operator_does_not_outweigh_the_others(bench: Bench) -> None:
    before = write_profile(bench.root / "b", BEFORE, random.Random(1))
    factors = {**dict.fromkeys(TUNED, 1.03), "head/softmax": 0.75}
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(2), factors=factors)
    ended = verified(bench, SimulatedLoop(before, after, write_result(bench.root / "r", BEFORE.replace(hour=4))))
    assert "confirmed" in {row["verdict"] for row in ended.json["rows"]}
    assert ended.json["verdict"] not in {"confirmed", "partly"}
    assert (ended.code, ended.json["accepted"]) == (1, False)


def test_few_steps_say_little_and_single_calls_stand_in(bench: Bench) -> None:
    before = write_profile(bench.root / "b", BEFORE, random.Random(1), steps=1)
    factors = dict.fromkeys(TUNED, 0.5)
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(2), factors=factors, steps=1)
    result = write_result(bench.root / "r", BEFORE.replace(hour=4))
    ended = verified(bench, SimulatedLoop(before, after, result))
    # one call of each: the untouched operators alone tell how much two captures differ
    assert {row["verdict"] for row in ended.json["rows"] if row["scope"] == "operator"} == {"confirmed"}


@pytest.mark.parametrize("text", ["[" * 200_000, '{"bank": 7, "counts": [1]}', '{"bank": {"digest": [1]}}', ""])
def test_a_damaged_outcome_tells_nothing(bench: Bench, text: str) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    write_plan(bench.folder, Plan("offline", "opat"))
    (bench.folder / "outcome.json").write_text(text)
    assert verified(bench, loop).json["verdict"] == "confirmed"


def test_the_last_run_by_hand_has_the_last_word(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    write_plan(bench.folder, Plan("offline", "opat"))
    for number, after in ((2, 200.0), (10, 192.0)):
        document = json.loads(loop.result.read_text())
        entries = document[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"]
        (mine,) = (entry for entry in entries if entry["op_name"] == "block1/conv")
        mine["performance_after_tune(us)"] = after
        mine["performance_improvement"] = f"{(mine['performance_before_tune(us)'] / after - 1) * 100:.2f}%"
        place = bench.folder / "runs" / f"by-hand-opat-{number}"
        place.mkdir(parents=True)
        (place / loop.result.name).write_text(json.dumps(document))
    options = ("--before", loop.before, "--after", loop.after, "--format", "json")
    rows = bench.run("verify", bench.folder, *options).json["rows"]
    assert [row["claimed_after_us"] for row in rows if row["op_name"] == "block1/conv"] == [192.0]


def test_damage_is_said(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    whole = loop.result.read_text()
    loop.result.write_text(whole[: len(whole) // 2])
    ended = verified(bench, loop)
    assert ended.code == 1
    assert {"damage", "verification"} == set(ended.json["reasons"])
    assert "json-truncated" in ended.rules()
    assert left(bench)["damaged"] is True
    assert not [row for row in ended.json["rows"] if row["scope"] == "operator"]


def test_a_missing_profile_leaves_no_verdict(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    ended = verified(bench, replace(loop, after=bench.root / "nowhere"))
    assert ended.code == 3
    assert "unreadable" in ended.rules()
    assert not (bench.folder / "verify.json").exists()
    missing = verified(bench, replace(loop, result=bench.root / "nowhere.json"))
    assert missing.code == 3


def test_a_plan_that_is_cut_off_is_refused(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    write_plan(bench.folder, Plan("offline", "opat"))
    path = bench.folder / "plan.json"
    path.write_text(path.read_text()[:80])
    ended = bench.run("verify", bench.folder, "--before", loop.before, "--after", loop.after)
    assert ended.code == 3
    assert "plan.json" in ended.err
    assert "Traceback" not in ended.err


def test_a_failed_tuning_is_a_reason(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    document = json.loads(loop.result.read_text())
    document[1]["OPAT"] |= {"opat_tuning_result": "tuning failed", "tuning_failed_operators": ["block2/conv"]}
    loop.result.write_text(json.dumps(document))
    ended = verified(bench, loop)
    assert ended.code == 1
    assert "tuning-failed" in ended.json["reasons"]


def test_nothing_claimed_is_said(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "only-claimed", 1)
    write_plan(bench.folder, Plan("offline", "opat"))
    options = ("--before", loop.before, "--after", loop.after, "--format", "json")
    ended = bench.run("verify", bench.folder, *options)
    assert (ended.code, ended.json["verdict"]) == (1, "not-comparable")
    assert ended.json["reasons"] == ["verification"]
    assert "verify-nothing-claimed" in ended.rules()


def test_subgraphs_are_judged_by_the_step(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    body = {
        "model_baseline_performance(ms)": 5.0,
        "model_result_performance(ms)": 4.8,
        "model_performance_improvement": "4.17%",
        "repo_modified_subgraphs": {
            "add_repo_subgraphs": [
                {
                    "performance_before_tune(ms)": 2.0,
                    "performance_after_tune(ms)": 1.8,
                    "performance_improvement": "11.11%",
                    "repo_key": "123",
                }
            ]
        },
        "repo_summary": {
            "repo_add_num": 1,
            "repo_hit_num": 0,
            "repo_reserved_num": 0,
            "repo_unsatisfied_num": 0,
            "repo_update_num": 0,
            "total_num": 1,
        },
    }
    path = bench.root / "aoe_result_sgat_20260301040000000_pid1.json"
    path.write_text(json.dumps([{"basic": {"tuning_name": "m", "tuning_time(s)": 60}}, {"SGAT": body}]))
    ended = verified(bench, replace(loop, result=path), plan=Plan("offline", "sgat"))
    step = ended.json["rows"][0]
    assert (step["scope"], step["claimed_before_us"], step["claimed_after_us"]) == ("step", 5000.0, 4800.0)
    assert ended.json["verdict"] == step["verdict"] == "confirmed"


def test_names_in_reports_are_no_markup(bench: Bench) -> None:
    odd = "<script>alert(1)</script>|`x`"
    operators = [replace(OPERATORS[0], name=odd), *OPERATORS[1:]]
    before = write_profile(bench.root / "b", BEFORE, random.Random(1), operators=operators)
    after = write_profile(bench.root / "a", BEFORE.replace(hour=7), random.Random(2), operators=operators)
    result = write_result(bench.root / "r", BEFORE.replace(hour=4))
    document = json.loads(result.read_text())
    document[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"][0]["op_name"] = odd
    result.write_text(json.dumps(document))
    verified(bench, SimulatedLoop(before, after, result))
    assert "<script>" not in (bench.folder / "verify.html").read_text()
    assert "\\<script\\>" in (bench.folder / "verify.md").read_text()


def test_profiles_of_different_chips_are_not_comparable(bench: Bench) -> None:
    write_plan(bench.folder, Plan("pytorch", "opat"))
    base = FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"
    loop = write_loop(bench.root / "loop", "faster", 1)
    ended = bench.run("verify", bench.folder, "--before", base, "--after", loop.after, "--format", "json")
    assert ended.code == 1
    assert ended.json["verdict"] == "not-comparable"


def test_the_whole_loop_is_one_story(bench: Bench) -> None:
    """Plan, tune (with a stand-in for aoe), measure again, verify, adopt."""
    in_use = bench.root / "in_use"
    write_bank(in_use, "Conv2D", ["block1/conv"])
    bench.environment["TUNE_BANK_PATH"] = str(in_use)
    before = write_profile(bench.root / "before", BEFORE, random.Random(1))
    model = bench.root / "model.onnx"
    planned = bench.run("plan", before, "-o", bench.folder, "--model", model, "--soc", SOC, "--top", 3)
    assert planned.code == 0, planned.err
    plan = json.loads((bench.folder / "plan.json").read_text())
    names = [one["op_name"] for one in plan["candidates"]]
    assert len(names) == 3
    assert "block1/conv" not in names  # banked
    assert bench.run("tune", "check", bench.folder, "--format", "json").code in {0, 1}
    tuned = bench.tune()
    assert tuned.code == 0, tuned.err
    refused = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (refused.code, refused.json["reasons"]) == (1, ["verification"])
    claims = {row["op_name"]: row["after_us"] / row["before_us"] for row in tuned.json["rows"]}
    after = write_profile(bench.root / "after", BEFORE.replace(hour=9), random.Random(2), factors=claims)
    ended = bench.run("verify", bench.folder, "--after", after, "--format", "json")
    assert (ended.code, ended.json["verdict"]) == (0, "confirmed"), ended.json["findings"]
    assert {row["op_name"] for row in ended.json["rows"] if row["scope"] == "operator"} == set(names)
    assert "verify-other-baseline" not in ended.rules()
    story = (bench.folder / "verify.md").read_text()
    titles = ["Hotspots", "Tuning attempts", "Claims by AOE", "Measured results", "Next steps"]
    places = [story.index(f"## {title}") for title in titles]
    assert places == sorted(places)
    assert "3 improved" in story
    assert "aoe-reports tune adopt" in story
    adopted = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (adopted.code, adopted.json["adopted"]) == (0, True), adopted.json["findings"]
    banked = "".join(path.read_text() for path in in_use.rglob("*.json"))
    entries = [aoe.entry_of(aoe.unnamed(name)) for name in names]
    assert all(f'"id":{entry["id"]},' in banked for entry in entries)
    assert "block1/conv" in banked


def test_a_stored_verdict_of_an_older_version_is_shown_with_one_claim(bench: Bench) -> None:
    """Steps were stored with the model's times beside the change that operators claim."""
    store = bench.root / "history"
    loop = with_times_of_the_model(write_loop(bench.root / "loop", "faster", 3), 60.0, 20.0)
    verified(bench, loop, "--store", store)
    lines = stored_rows(store)
    of_step = [line for line in lines if line.get("scope") == "step"]
    assert len(of_step) == 1
    body = json.loads(of_step[0]["body"])
    assert (body["claim"], body["claimed_after_us"]) == ("model", 20000.0)
    del body["claim"]
    of_step[0]["body"] = json.dumps({**body, "claimed_change": -0.0248})
    store_unchecked(lines, bench.root / "old")
    shown = bench.run("store", "history", "verdicts", "--store", bench.root / "old", "--format", "json").json["rows"]
    (step,) = (row for row in shown if row["scope"] == "step")
    assert (step["claimed_before_us"], step["claimed_after_us"], step["claimed_change"]) == (None, None, -0.0248)
    operator = next(row for row in shown if row["scope"] == "operator")
    assert None not in (operator["claimed_before_us"], operator["claimed_after_us"])


def kept(bench: Bench) -> dict[str, str]:
    """The verdicts that are kept beside verify.json."""
    return {path.name: json.loads(path.read_text())["verdict"] for path in sorted(bench.folder.glob("verify-*.json"))}


def tuned_job(bench: Bench) -> tuple[Path, dict[str, Path]]:
    """A job that is through, and profiles after it: as fast as AOE claims, slower, and cut off inside of its tasks."""
    before = write_profile(bench.root / "before", BEFORE, random.Random(1))
    planned = bench.run(
        "plan", before, "-o", bench.folder, "--model", bench.root / "model.onnx", "--soc", SOC, "--top", 3
    )
    assert planned.code == 0, planned.err
    claims = {row["op_name"]: row["after_us"] / row["before_us"] for row in bench.tune().json["rows"]}
    made = {
        "faster": write_profile(bench.root / "after", BEFORE.replace(hour=9), random.Random(2), factors=claims),
        "slower": write_profile(
            bench.root / "slow", BEFORE.replace(hour=10), random.Random(3), factors=dict.fromkeys(claims, 1.3)
        ),
        "cut": write_profile(bench.root / "cut", BEFORE.replace(hour=11), random.Random(4), factors=claims),
    }
    (path,) = made["cut"].rglob("op_summary*.csv")
    whole = path.read_text()
    path.write_text(whole[: len(whole) * 2 // 3] + "\n")
    return before, made


def test_what_measured_nothing_does_not_replace_a_sound_verdict(bench: Bench) -> None:
    before, after = tuned_job(bench)
    good = bench.run("verify", bench.folder, "--after", after["faster"], "--format", "json")
    assert (good.json["verdict"], good.json["kept_as"]) == ("confirmed", None)
    files = {path: path.read_bytes() for path in bench.folder.glob("verify*")}
    for options in (
        ("--after", before),
        ("--before", after["faster"], "--after", after["faster"]),
        ("--after", after["cut"]),
    ):
        ended = bench.run("verify", bench.folder, *options, "--format", "json")
        assert ended.code == 1, options
        assert "verify-kept" in ended.rules(), options
        (kept_as_it_is,) = (one["message"] for one in ended.json["findings"] if one["rule"] == "verify-kept")
        assert re.fullmatch(
            r"verify\.json is unchanged \(.+, based on .+\): this run produced no usable measurement", kept_as_it_is
        )
        assert {path: path.read_bytes() for path in bench.folder.glob("verify*")} == files, options
    again = bench.run("verify", bench.folder, "--after", after["faster"], "--format", "json")
    assert (again.code, again.json["kept_as"], kept(bench)) == (0, None, {}), "the same verdict again is no second one"
    assert not {"verify-kept", "verify-replaced"} & again.rules()
    assert bench.run("tune", "adopt", bench.folder, "--format", "json").json["adopted"] is True


def test_another_measurement_takes_over_and_the_former_one_is_kept(bench: Bench) -> None:
    _, after = tuned_job(bench)
    bench.run("verify", bench.folder, "--after", after["faster"])
    pages = {suffix: (bench.folder / f"verify{suffix}").read_bytes() for suffix in (".json", ".md", ".html")}
    worse = bench.run("verify", bench.folder, "--after", after["slower"], "--format", "json")
    assert (worse.json["verdict"], worse.json["kept_as"]) == ("regressed", "verify-001.json")
    (said,) = (one for one in worse.json["findings"] if one["rule"] == "verify-replaced")
    assert said["severity"] == "warning"
    assert said["message"].startswith("the previous verdict (confirmed, based on ")
    assert said["message"].endswith("is kept as verify-001.json")
    assert {suffix: (bench.folder / f"verify-001{suffix}").read_bytes() for suffix in pages} == pages
    refused = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (refused.code, refused.json["adopted"]) == (1, False), "the newest measurement counts"
    assert {"adopt-not-verified", "adopt-verdicts-differ"} <= refused.rules()
    better = bench.run("verify", bench.folder, "--after", after["faster"], "--format", "json")
    assert (left(bench)["verdict"], kept(bench)) == (
        "confirmed",
        {"verify-001.json": "confirmed", "verify-002.json": "regressed"},
    )
    (said,) = (one for one in better.json["findings"] if one["rule"] == "verify-replaced")
    assert said["severity"] == "info"
    adopted = bench.run("tune", "adopt", bench.folder, "--format", "json")
    assert (adopted.json["adopted"], "adopt-verdicts-differ" in adopted.rules()) == (True, True)
    bench.tune("--restart")
    assert not list(bench.folder.glob("verify*")), "verdicts on another bank are put away with it"
    assert len(list((bench.folder / "old-001").glob("verify*"))) == 9


def test_a_verdict_that_cannot_be_read_is_kept_as_it_is(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    write_plan(bench.folder, Plan("offline", "opat"))
    (bench.folder / "verify.json").write_text('{"verdict": "conf')
    ended = verified(bench, loop)
    assert (ended.code, ended.json["kept_as"]) == (0, "verify-001.json")
    assert "verify-replaced" in ended.rules()
    assert (bench.folder / "verify-001.json").read_text() == '{"verdict": "conf'


@pytest.mark.parametrize(("other", "refused"), [(0.45, False), (0.55, True)])
def test_profiles_that_share_half_of_their_time_are_of_one_workload(bench: Bench, other: float, refused: bool) -> None:
    """Of the time before, so much is in operators that the other profile does not have."""
    loop = write_loop(bench.root / "loop", "faster", 1)
    first, *rest = OPERATORS
    whole = sum(op.mean_us for op in rest)
    large = replace(first, mean_us=whole * other / (1 - other))
    before = write_profile(bench.root / "b", BEFORE, random.Random(3), operators=[large, *rest])
    renamed = replace(large, name="other/name")
    after = write_profile(bench.root / "a", BEFORE.replace(hour=9), random.Random(4), operators=[renamed, *rest])
    ended = verified(bench, replace(loop, before=before, after=after))
    assert ("verify-other-workload" in ended.rules()) is refused


def test_a_claimed_operator_that_neither_profile_has_keeps_the_type_that_was_claimed(bench: Bench) -> None:
    loop = write_loop(bench.root / "loop", "faster", 1)
    document = json.loads(loop.result.read_text())
    entry = document[1]["OPAT"]["repo_modified_operators"]["add_repo_operators"][0]
    named, entry["op_name"] = entry["op_name"], "nowhere"
    loop.result.write_text(json.dumps(document))
    rows = [row for row in verified(bench, loop).json["rows"] if row["op_name"] in {named, "nowhere"}]
    assert [(row["op_name"], row["op_type"], row["verdict"], row["reason"]) for row in rows] == [
        ("nowhere", "Conv2D", "not-comparable", "no operator of this name is in either profile")
    ]
    assert (rows[0]["claimed_before_us"], rows[0]["claimed_after_us"], rows[0]["claimed_change"]) == (
        240.0,
        192.0,
        -0.2,
    )
    assert rows[0]["input_shapes"] is rows[0]["measured_before_us"] is rows[0]["measured_after_us"] is None
