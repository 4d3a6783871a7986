"""`plan`: order, bounds and rejections against a planted truth, worked out row by row from the simulated files."""

from __future__ import annotations

import csv
import json
import random
import shlex
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from commandline import FIXTURES, ROOT, Cli, Ended
from tuning.jobs import SOC, write_bank

from aoe_reports.simulation.tuning import BEFORE, OPERATORS, SimulatedOperator, write_profile, write_result
from aoe_reports.tuning.plan.prior import DEFAULT_COST_S, DEFAULT_SAVED_SHARE

REAL = ROOT.parent / "shared" / "data" / "msprof"
SCHEMA = json.loads((ROOT / "schemas" / "plan.schema.json").read_text())


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return write_profile(tmp_path / "profile", BEFORE, random.Random(5))


Planner = Callable[..., Ended]


@pytest.fixture
def planner(cli: Cli, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planner:
    """`plan` on the simulated profile, in a home without any bank."""
    for name in ("TUNE_BANK_PATH", "ASCEND_CACHE_PATH", "AOE_REPORTS_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def run(*args: object, of: Path = profile, into: str = "plan") -> Ended:
        return cli("plan", of, "-o", tmp_path / into, "--format", "json", *args)

    return run


def written(tmp_path: Path, into: str = "plan") -> dict[str, Any]:
    document = json.loads((tmp_path / into / "plan.json").read_text())
    jsonschema.validate(document, SCHEMA)
    return document


def test_a_plan_keeps_what_the_device_has_to_have(cli: Cli, planner: Planner, profile: Path, tmp_path: Path) -> None:
    """Preflight holds another machine against it: blocks and cores, memory, and number of operators that are compiled at the same time."""
    planner("--te-parallel", "6", "--model", tmp_path / "m.onnx")
    plan = written(tmp_path)
    assert plan["device_memory_used_bytes"] is None
    assert plan["cube_blocks"] == max(
        int(row["Block Dim"]) for row in rows_of(profile) if row["Task Type"] == "AI_CORE"
    )
    assert plan["vector_blocks"] == max(
        int(row["Block Dim"]) for row in rows_of(profile) if row["Task Type"] == "AI_VECTOR_CORE"
    )
    assert plan["job"]["te_parallel"] == 6
    assert "export TE_PARALLEL_COMPILER=6" in (tmp_path / "plan" / "run.sh").read_text()
    (stage,) = cli("tune", "run", tmp_path / "plan", "--dry-run", "--format", "json").json["rows"]
    assert stage["environment"]["TE_PARALLEL_COMPILER"] == "6"
    rows = cli("tune", "check", tmp_path / "plan", "--format", "json").json["rows"]
    assert next(row["seen"] for row in rows if row["rule"] == "preflight-te-parallel").startswith("6 (set by the plan)")
    assert planner("--te-parallel", "33", into="no").code == 2


def test_a_plan_keeps_the_memory_that_the_profile_shows_as_reserved(planner: Planner, tmp_path: Path) -> None:
    of = FIXTURES / "msprof" / "valid" / "torch_npu_memory_and_communication"
    planner(of=of)
    (path,) = of.rglob("memory_record.csv")
    with path.open(newline="") as file:
        most = max(float(row["Total Reserved(MB)"]) for row in csv.DictReader(file))
    assert written(tmp_path)["device_memory_used_bytes"] == round(most * 2**20)


def test_more_blocks_than_cores_run_in_rounds(planner: Planner, profile: Path, tmp_path: Path) -> None:
    """An older chip (its info file says so) has one kind of cores."""
    (summary,) = profile.rglob("op_summary*.csv")
    info = summary.parent.parent / "device_0" / "info.json.0"
    info.parent.mkdir(exist_ok=True)
    for told, found in (
        ({"ai_core_num": 20, "aiv_num": 40}, (20, 40)),
        ({"ai_core_num": 32, "aiv_num": 0}, (32, None)),
    ):
        info.write_text(json.dumps({"DeviceInfo": [told], "devices": "0"}))
        planner(into=str(told["aiv_num"]))
        plan = written(tmp_path, str(told["aiv_num"]))
        assert (plan["cube_cores"], plan["vector_cores"]) == found
        assert (plan["vector_blocks"] is None) is (told["aiv_num"] == 0)


def rows_of(profile: Path) -> list[dict[str, str]]:
    (path,) = profile.rglob("op_summary*.csv")
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def ns(text: str) -> int:
    whole, _, part = text.strip().partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0"))


class Truth:
    """What the plan has to say, by loops over the rows."""

    def __init__(self, profile: Path, steps: int = 12) -> None:
        rows = rows_of(profile)
        self.steps = steps
        talks = [r for r in rows if r["Task Type"] == "COMMUNICATION"]
        busy = [(ns(r["Task Start Time(us)"]), ns(r["Task Duration(us)"])) for r in talks]
        self.total: dict[str, int] = defaultdict(int)
        self.alone: dict[str, int] = defaultdict(int)
        begins, ends = [], []
        for row in rows:
            start, length = ns(row["Task Start Time(us)"]), ns(row["Task Duration(us)"])
            begins.append(start)
            ends.append(start + length)
            name = row["Op Name"]
            self.total[name] += length
            beside = sum(max(0, min(start + length, b + d) - max(start, b)) for b, d in busy)
            self.alone[name] += length - beside
        self.step = (max(ends) - min(begins)) / steps
        self.communication = sum(d for _, d in busy)

    def expected_us(self, name: str, share: float = DEFAULT_SAVED_SHARE) -> float:
        return self.alone[name] * share / self.steps / 1000


def eligible(operator: SimulatedOperator) -> bool:
    static = operator.core != "AI_CPU" and operator.state == "static"
    return static and not operator.overlapped and operator.op_type != "Muls"


def test_order_bounds_and_rejections_are_the_planted_ones(planner: Planner, profile: Path, tmp_path: Path) -> None:
    ended = planner()
    assert ended.code == 0, ended.err
    plan, truth = written(tmp_path), Truth(profile)
    cube = {op.name: op.cube_ratio or 0.0 for op in OPERATORS}
    bound = {op.name: truth.total[op.name] * (1 - cube[op.name]) / truth.steps / 1000 for op in OPERATORS}
    expected = {op.name: min(truth.expected_us(op.name), bound[op.name]) for op in OPERATORS if eligible(op)}
    ordered = sorted(expected, key=lambda name: -expected[name])
    assert [one["op_name"] for one in plan["candidates"]] == ordered
    for one in plan["candidates"]:
        name = one["op_name"]
        assert one["total_us"] == truth.total[name] / 1000
        assert one["share"] == pytest.approx(truth.total[name] / truth.steps / truth.step, abs=1e-6)
        if one["bound_by"] == "unknown":
            assert one["bound_saving_us"] is None
        else:
            assert one["bound_saving_us"] == pytest.approx(bound[name], abs=0.01)
        assert one["expected_saving_us"] == pytest.approx(expected[name], abs=0.01)
        assert one["cost_s"] == DEFAULT_COST_S
        assert one["prior"] == {"saved_share": DEFAULT_SAVED_SHARE, "source": "default", "results": 0}
    left = {one["op_name"]: one["reason"].partition(":")[0] for one in plan["rejected"] if one["op_name"]}
    assert left == {
        "block5/conv": "overlapped",
        "block6/conv": "overlapped",
        "input/decode": "ai-cpu",
        "head/where": "dynamic-shape",
        "head/ragged": "dynamic-shape",
    }
    rest = {one["op_type"]: one["reason"].partition(":")[0] for one in plan["rejected"] if not one["op_name"]}
    assert rest == {"Muls": "below-threshold", "hcom_allReduce_": "communication"}
    # nothing is lost: candidates and what is left out are all tasks of the file
    told = sum(one["total_us"] for one in [*plan["candidates"], *plan["rejected"]])
    assert told == pytest.approx(sum(truth.total.values()) / 1000)


def test_a_saving_that_rests_on_no_result_is_called_assumed(planner: Planner, profile: Path, tmp_path: Path) -> None:
    ended = planner("--format", "text")
    plan = written(tmp_path)
    saving = sum(one["expected_saving_us"] for one in plan["candidates"])
    assert plan["expected_saving_us"] == plan["assumed_saving_us"] == pytest.approx(saving, abs=0.01)
    assert "Assumed 26.1% each: no result of these types is known." in ended.out.splitlines()[0]
    result = write_result(tmp_path / "r", BEFORE.replace(hour=4))
    ended, told = planner("--results", result, "--repeat-tune", "--format", "text"), written(tmp_path)
    known = [one for one in told["candidates"] if one["prior"]["source"] != "default"]
    assumed = [one for one in told["candidates"] if one["prior"]["source"] == "default"]
    assert known
    assert assumed
    assert told["assumed_saving_us"] == pytest.approx(sum(one["expected_saving_us"] for one in assumed), abs=0.01)
    assert told["assumed_saving_us"] < told["expected_saving_us"]
    said = f"are assumed, 26.1% for each of {len(assumed)} candidates: no result of their types is known."
    assert said in ended.out.splitlines()[0]


@pytest.mark.parametrize(
    ("soc", "near"),
    [("Ascend999", "Ascend910"), ("ascend910b3", "Ascend910B3"), ("910B", "Ascend910B"), ("../x", "Ascend910")],
)
def test_a_chip_that_there_is_not_is_refused_with_names_that_resemble_it(planner: Planner, soc: str, near: str) -> None:
    ended = planner("--soc", soc)
    assert ended.code == 2
    assert f"--soc {soc!r} is not a known chip; expected AOE's name for it, as " in ended.err
    assert near in ended.err


@pytest.mark.parametrize("soc", ["Ascend910B", "Ascend910B4-1", "Ascend910_9391", "Ascend310P3", "Ascend310B4"])
def test_names_of_chips_are_taken(planner: Planner, tmp_path: Path, soc: str) -> None:
    assert planner("--soc", soc).code == 0
    assert written(tmp_path)["soc"] == soc


def test_the_step_is_bounded_by_what_computes_alone(planner: Planner, profile: Path, tmp_path: Path) -> None:
    planner()
    plan, truth = written(tmp_path), Truth(profile)
    computing = sum(total for name, total in truth.total.items() if not name.startswith("hcom"))
    alone = sum(total for name, total in truth.alone.items() if not name.startswith("hcom"))
    assert plan["step_us"] == pytest.approx(truth.step / 1000, abs=0.001)
    assert plan["computing_share"] == pytest.approx(computing / truth.steps / truth.step, abs=1e-6)
    assert plan["bound_saving_us"] == pytest.approx(alone / truth.steps / 1000, abs=0.001)
    assert sum(one["expected_saving_us"] for one in plan["candidates"]) < plan["bound_saving_us"]
    # the longest operator of all runs beside communication: nothing of it is gained
    left = {one["op_name"]: one["total_us"] for one in plan["rejected"]}
    assert left["block6/conv"] > max(one["total_us"] for one in plan["candidates"])


def test_the_bound_of_an_operator_caps_what_is_expected(planner: Planner, tmp_path: Path) -> None:
    planner()
    (one,) = [c for c in written(tmp_path)["candidates"] if c["op_name"] == "head/matmul1"]
    assert one["bound_by"] == "cube"
    assert one["expected_saving_us"] == one["bound_saving_us"]
    assert one["reason"].endswith("limited to its bound")


def test_the_plan_does_not_depend_on_the_order_of_rows(planner: Planner, profile: Path, tmp_path: Path) -> None:
    planner()
    first = written(tmp_path)
    (path,) = profile.rglob("op_summary*.csv")
    head, *lines = path.read_text().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    path.write_text("".join([head, *lines]))
    planner(into="again")
    second = written(tmp_path, "again")
    assert first.pop("baseline_hash") != second.pop("baseline_hash")
    assert first == second


def test_what_is_asked_for_is_the_union_of_names(planner: Planner, tmp_path: Path) -> None:
    planner("--top", 3)
    names = [one["op_name"] for one in written(tmp_path)["candidates"]]
    assert len(names) == 3
    document = json.loads((tmp_path / "plan" / "tune_ops.json").read_text())
    assert document == {"tune_ops_name": names, "tune_ops_type": []}


@pytest.mark.parametrize(
    ("options", "reason", "left"),
    [
        (("--top", 2), "beyond-top", 12),
        (("--budget", 1), "beyond-budget", 12),
        (("--min-share", 0.05), "below-threshold", None),
    ],
)
def test_limits_leave_out_with_a_reason(
    planner: Planner, tmp_path: Path, options: Sequence[object], reason: str, left: int | None
) -> None:
    planner(into="whole")
    planner(*options)
    plan, whole = written(tmp_path), written(tmp_path, "whole")
    kept = [one["op_name"] for one in plan["candidates"]]
    names = [one["op_name"] for one in whole["candidates"]]
    assert kept
    assert kept == [name for name in names if name in kept]
    gone = [one for one in plan["rejected"] if one["reason"].startswith(reason)]
    assert gone
    if left is not None:
        assert len(gone) == left
    told = [sum(one["total_us"] for one in [*p["candidates"], *p["rejected"]]) for p in (plan, whole)]
    assert told[0] == pytest.approx(told[1])


def test_a_budget_is_kept(planner: Planner, tmp_path: Path) -> None:
    planner("--budget", 2)
    assert sum(one["cost_s"] for one in written(tmp_path)["candidates"]) == 4 * DEFAULT_COST_S


def test_an_undocumented_type_warns_and_is_not_left_out(planner: Planner, tmp_path: Path) -> None:
    ended = planner()
    assert "head/own_kernel" in {one["op_name"] for one in written(tmp_path)["candidates"]}
    (finding,) = [f for f in ended.json["findings"] if f["rule"] == "plan-type-undocumented"]
    assert "OwnFusedKernel" in finding["message"]


def test_pytorch_tunes_whole_types_that_are_dumped(planner: Planner, tmp_path: Path) -> None:
    operators = [replace(OPERATORS[0], name="aclnnConvolution_Conv2D", mean_us=900.0), *OPERATORS]
    other = write_profile(tmp_path / "other", BEFORE, random.Random(2), operators=operators)
    planner("--scenario", "pytorch", of=other)
    plan = written(tmp_path)
    assert {one["op_name"] for one in plan["candidates"]} == {None}
    assert {one["op_type"] for one in plan["candidates"]} == {"Conv2D", "BNInfer", "MatMulV2", "SoftmaxV2", "Muls"}
    reasons = {one["op_name"]: one["reason"].partition(":")[0] for one in plan["rejected"]}
    assert reasons["aclnnConvolution_Conv2D"] == "aclnn"
    assert reasons["head/own_kernel"] == "type-not-tunable"
    document = json.loads((tmp_path / "plan" / "tune_ops.json").read_text())
    assert document["tune_ops_name"] == []
    assert set(document["tune_ops_type"]) == {"Conv2D", "BNInfer", "MatMulV2", "SoftmaxV2", "Muls"}
    assert "set_aoe" in (tmp_path / "plan" / "snippet.py").read_text()


def test_shapes_that_nobody_tells_are_not_taken_for_static(planner: Planner, profile: Path, tmp_path: Path) -> None:
    (path,) = profile.rglob("op_summary*.csv")
    place = _lines(path)[0].split(",").index("OP State")
    path.write_text("".join(",".join(c for i, c in enumerate(_raw(line)) if i != place) for line in _lines(path)))
    ended = planner()
    assert (ended.code, written(tmp_path)["candidates"]) == (0, [])
    assert "unknown-shape" in {one["reason"].partition(":")[0] for one in written(tmp_path)["rejected"]}
    assert "plan-empty" in ended.rules()
    advice = "If the model has static shapes only, run plan again with --assume-static."
    assert advice in (tmp_path / "plan" / "report.md").read_text()
    planner("--assume-static", into="assumed")
    assert "block4/conv" in {one["op_name"] for one in written(tmp_path, "assumed")["candidates"]}
    assert advice not in (tmp_path / "assumed" / "report.md").read_text()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


def _raw(line: str) -> list[str]:
    """Cells as they stand there, quotes and all."""
    cells, quoted, now = [], False, ""
    for char in line:
        quoted ^= char == '"'
        if char == "," and not quoted:
            cells.append(now)
            now = ""
        else:
            now += char
    return [*cells, now]


def test_results_tell_what_is_banked_and_what_failed(planner: Planner, tmp_path: Path) -> None:
    path = write_result(tmp_path / "earlier", BEFORE)
    document = json.loads(path.read_text())
    document[1]["OPAT"] |= {"opat_tuning_result": "tuning failed", "tuning_failed_operators": ["block2/conv_OPAT_0"]}
    path.write_text(json.dumps(document))
    ended = planner("--results", tmp_path / "earlier")
    assert ended.code == 0, ended.json["findings"]
    reasons = {one["op_name"]: one["reason"] for one in written(tmp_path)["rejected"]}
    assert reasons["block3/conv"].startswith("banked: ")
    assert path.name in reasons["block3/conv"]
    assert reasons["block2/conv"].startswith("failed-before: ")
    planner("--results", tmp_path / "earlier", "--repeat-tune", into="again")
    plan = written(tmp_path, "again")
    assert plan["repeat_tune"] is True
    assert "block3/conv" in {one["op_name"] for one in plan["candidates"]}


def test_results_make_the_prior_and_the_cost(planner: Planner, tmp_path: Path) -> None:
    write_result(tmp_path / "earlier", BEFORE)
    planner("--results", tmp_path / "earlier")
    by_type = {one["op_type"]: one for one in written(tmp_path)["candidates"]}
    # three convolutions with 20 % of their time saved, and the default once
    assert by_type["Conv2D"]["prior"] == {
        "saved_share": pytest.approx((3 * 0.2 + DEFAULT_SAVED_SHARE) / 4, abs=1e-5),
        "source": "claimed",
        "results": 3,
    }
    assert by_type["BNInfer"]["prior"]["source"] == "default"
    assert {one["cost_s"] for one in by_type.values()} == {40.0}


def test_damaged_results_are_said_and_not_built_upon(planner: Planner, tmp_path: Path) -> None:
    path = write_result(tmp_path / "earlier", BEFORE)
    path.write_text(path.read_text()[:600])
    ended = planner("--results", path)
    assert ended.code == 1
    assert "json-truncated" in ended.rules()
    assert "damage" in ended.json["reasons"]
    assert "block3/conv" in {one["op_name"] for one in written(tmp_path)["candidates"]}
    missing = planner("--results", tmp_path / "nowhere", into="other")
    assert missing.code == 3


def test_the_bank_tells_names_and_types(planner: Planner, tmp_path: Path) -> None:
    bank = tmp_path / "bank_in_use"
    write_bank(bank, "Conv2D", ["block4/conv", "BNInfer"])
    ended = planner("--bank", bank, "--soc", SOC)
    plan = written(tmp_path)
    reasons = {one["op_name"]: one["reason"].partition(":")[0] for one in plan["rejected"]}
    assert reasons["block4/conv"] == "banked"
    (finding,) = [f for f in ended.json["findings"] if f["rule"] == "plan-bank-has-type"]
    assert "BNInfer" in finding["message"]
    assert (plan["bank"], plan["soc"]) == (str(bank), SOC)


def test_the_store_tells_priors_of_all_models_and_operators_of_one(cli: Cli, planner: Planner, tmp_path: Path) -> None:
    write_result(tmp_path / "earlier", BEFORE)
    store = tmp_path / "history"
    assert cli("ingest", tmp_path / "earlier", "--store", store, "--workload", "mine").code == 0
    planner("--store", store)
    by_name = {one["op_name"]: one for one in written(tmp_path)["candidates"]}
    assert by_name["block3/conv"]["prior"]["source"] == "claimed"
    assert by_name["block3/conv"]["prior"]["results"] == 3
    assert by_name["block3/conv"]["cost_s"] == 40.0
    planner("--store", store, "--workload", "mine", into="mine")
    reasons = {one["op_name"]: one["reason"] for one in written(tmp_path, "mine")["rejected"]}
    assert reasons["block3/conv"].startswith("banked: ")
    assert "2026-03-01" in reasons["block3/conv"]


def test_subgraphs_come_first_and_operators_from_the_profile_after(
    cli: Cli, planner: Planner, profile: Path, tmp_path: Path
) -> None:
    (tmp_path / "m.onnx").write_bytes(b"")
    ended = planner("--mode", "both", "--model", tmp_path / "m.onnx", "--soc", SOC)
    assert "plan-two-rounds" in ended.rules()
    plan = written(tmp_path)
    assert [one["kind"] for one in plan["candidates"]] == ["subgraph"]
    assert "after-subgraphs" in {one["reason"].partition(":")[0] for one in plan["rejected"]}
    assert not (tmp_path / "plan" / "tune_ops.json").exists()
    assert "--job_type=1" in (tmp_path / "plan" / "run.sh").read_text()
    assert "--job_type=2" not in (tmp_path / "plan" / "run.sh").read_text()
    assert "Choose the operators: run" in (tmp_path / "plan" / "report.md").read_text()
    refused = planner("--after", tmp_path / "plan", into="second")
    assert refused.code == 2
    (tmp_path / "plan" / "bank").mkdir()
    assert planner("--after", tmp_path / "plan", into="second").code == 0
    second = written(tmp_path, "second")
    assert (second["mode"], second["soc"], second["bank"]) == ("opat", SOC, str(tmp_path / "plan" / "bank"))
    assert second["job"]["model"] == str(tmp_path / "m.onnx")
    assert (tmp_path / "second" / "tune_ops.json").exists()
    assert "Choose the operators" not in (tmp_path / "second" / "report.md").read_text()


def test_gradients_are_tuned_while_the_script_runs(planner: Planner, tmp_path: Path) -> None:
    ended = planner("--mode", "gdat", "--scenario", "tf-training", "--", "python3", "train it.py")
    assert ended.code == 0
    script = (tmp_path / "plan" / "run.sh").read_text()
    assert "export AOE_MODE=4" in script
    assert "'train it.py'" in script
    assert "The possible saving is not known" in (tmp_path / "plan" / "report.md").read_text()


@pytest.mark.skipif(not REAL.is_dir(), reason="no real data here")
def test_what_gradient_tuning_could_save_is_bounded(planner: Planner, tmp_path: Path) -> None:
    training = ("--mode", "gdat", "--scenario", "tf-training", "--", "python3", "train.py")
    ended = planner(*training, of=REAL / "msprof_2023-08")
    assert ended.code == 0
    report = (tmp_path / "plan" / "report.md").read_text()
    assert "has 20,017.053 us of all-reduce after its backward pass; at most 4,259.037 us (16.33%)" in report
    assert "All gradients together." in report


@pytest.mark.parametrize("scenario", ["offline", "mindspore", "tf-online-inference"])
def test_gradients_of_anything_but_training_are_refused(planner: Planner, tmp_path: Path, scenario: str) -> None:
    ended = planner("--mode", "gdat", "--scenario", scenario)
    assert ended.code == 2
    assert "TensorFlow training only" in ended.err
    assert not (tmp_path / "plan").exists()


def test_secrets_of_the_environment_are_not_written_down(
    planner: Planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUB_TOKEN", "hunter2-token")
    monkeypatch.setenv("SIGNING_KEY", "hunter2-key")
    monkeypatch.setenv("DB_PASSWORD", "hunter2-password")
    secrets = ("--token=hunter2-token", "hunter2-key", "hunter2-password")
    ended = planner("--scenario", "tf-training", "--", "sh", "train.sh", *secrets)
    assert ended.code == 0
    files = "".join(path.read_text() for path in (tmp_path / "plan").iterdir())
    assert "hunter2" not in files + ended.out + ended.err
    assert written(tmp_path)["job"]["command"] == ["sh", "train.sh", "--token=***", "***", "***"]
    ran = subprocess.run([tmp_path / "plan" / "run.sh"], capture_output=True, text=True, check=False)
    assert (ran.returncode, "held a secret" in ran.stderr) == (2, True)
    assert not (tmp_path / "plan" / "runs").exists()


def test_the_profile_is_found_from_anywhere(planner: Planner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert planner(of=Path("profile")).code == 0
    assert written(tmp_path)["profile"] == str(tmp_path / "profile")


def test_names_from_the_profile_are_quoted(planner: Planner, tmp_path: Path) -> None:
    odd = "evil$(touch pwned)';`rm`/conv"
    operators = [replace(OPERATORS[0], name=odd, mean_us=2000.0), *OPERATORS]
    other = write_profile(tmp_path / "other", BEFORE, random.Random(2), operators=operators)
    model = tmp_path / "a model's $(file).onnx"
    model.write_bytes(b"")
    planner("--model", model, of=other)
    assert written(tmp_path)["candidates"][0]["op_name"] == odd
    script = (tmp_path / "plan" / "run.sh").read_text()
    assert shlex.quote(f"--model={model}") in script
    assert subprocess.run(["sh", "-n", tmp_path / "plan" / "run.sh"], check=False).returncode == 0
    report = (tmp_path / "plan" / "report.md").read_text()
    assert "`rm`" not in report.replace("\\`", "")


def test_a_folder_with_a_job_is_left_alone(planner: Planner, tmp_path: Path) -> None:
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "state.json").write_text("{}")
    ended = planner()
    assert ended.code == 2
    assert sorted(path.name for path in (tmp_path / "plan").iterdir()) == ["state.json"]


def test_nothing_to_read_is_said(planner: Planner, tmp_path: Path) -> None:
    assert planner(of=tmp_path / "nowhere").code == 3
    (tmp_path / "empty").mkdir()
    assert planner(of=tmp_path / "empty").code in {1, 3}
    assert not (tmp_path / "plan").exists()


def test_a_damaged_row_is_said_and_the_rest_is_planned(planner: Planner, profile: Path, tmp_path: Path) -> None:
    (path,) = profile.rglob("op_summary*.csv")
    lines = _lines(path)
    lines[5] = lines[5].replace(",", ",,", 1)
    path.write_text("".join(lines))
    ended = planner()
    assert ended.code == 1
    assert "csv-ragged-row" in ended.rules()
    assert written(tmp_path)["candidates"]


@pytest.mark.parametrize("form", ["text", "markdown", "html", "csv"])
def test_the_plan_in_every_form(cli: Cli, profile: Path, tmp_path: Path, form: str) -> None:
    ended = cli("plan", profile, "-o", tmp_path / "plan", "--format", form)
    assert ended.code == 0
    assert "block4/conv" in ended.out.replace("\\", "")
    report = (tmp_path / "plan" / "report.md").read_text()
    assert "Excluded items" in report


@pytest.mark.skipif(not REAL.is_dir(), reason="no real data here")
def test_on_real_data_computing_is_a_small_part_of_the_step(cli: Cli, tmp_path: Path) -> None:
    level1 = REAL / "torch_npu_2025-01" / "text" / "level1"
    ended = cli("plan", level1, "-o", tmp_path / "plan", "--scenario", "pytorch", "--rank", 0, "--format", "json")
    assert ended.code == 0
    plan = written(tmp_path)
    assert f"{plan['computing_share']:.1%}" == "6.5%"
    assert plan["candidates"] == []
    report = (tmp_path / "plan" / "report.md").read_text()
    assert "Tuning of computing cannot help here: computing takes 6.5% of the step" in report
    refused = subprocess.run(["sh", tmp_path / "plan" / "run.sh"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2


def test_fixtures_of_two_ranks_choose_the_longer_step(cli: Cli, tmp_path: Path) -> None:
    ended = cli("plan", FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks", "-o", tmp_path / "p", "--format", "json")
    assert ended.code == 0
    (told,) = (one["message"] for one in ended.json["findings"] if one["rule"] == "plan-device")
    assert told.startswith("planned for rank 1: the longest step among 2 devices")  # and no device that nothing tells
    assert ended.json["scenario"] == "pytorch"  # torch_npu wrote it


def test_the_report_is_in_the_language_that_is_asked_for_and_the_plan_is_not(planner: Planner, tmp_path: Path) -> None:
    english, chinese = planner(into="en"), planner("--lang", "zh", into="zh")
    assert chinese.json["rows"] == english.json["rows"]
    assert (tmp_path / "zh" / "plan.json").read_bytes() == (tmp_path / "en" / "plan.json").read_bytes()
    report = (tmp_path / "zh" / "report.md").read_text()
    assert report.startswith("# 14 个候选：")
    assert report.splitlines()[2] == "调优计划（opat，offline）"
    assert "overlapped：与其他任务重叠，一个 step 中等待它的时间不足" in report
    assert "（4 个算子）" in report
    assert "节省时间 26.1%（默认值：没有同类型的结果）" in report
