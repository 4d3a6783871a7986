"""Plan folders: what is written, what is refused, and run.sh, which is really run."""

from __future__ import annotations

import ast
import copy
import json
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from commandline import ROOT
from documents import SCALARS, places
from hypothesis import given
from hypothesis import strategies as st
from killing import COMPILER, Fault, killer
from tuning.jobs import NAMES, SOC, Bench, write_bank, write_tuned

from aoe_reports.formats.schemas import load_schema
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.tuning.aoe.command import files_of_plan, stages_of_plan
from aoe_reports.tuning.aoe.preflight import Declared, Host, check_host
from aoe_reports.tuning.job.driver import Argument
from aoe_reports.tuning.job.job import dry_run
from aoe_reports.tuning.options import TuneOptions
from aoe_reports.tuning.plan.folder import read_plan, write_plan
from aoe_reports.tuning.plan.plan import (
    Candidate,
    Job,
    Plan,
    Rejected,
    document_of_plan,
    plan_of_document,
    tune_ops_of_document,
    tune_ops_of_plan,
)

HOSTILE = (
    "a'b",
    'a"b',
    "a\nb",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned #",
    "-rf",
    "../../x",
    "a\\",
    "名前",
    "\x1b[31m",
    "%s{}",
)
CONTRACT = [
    "format_version",
    "profile",
    "baseline_hash",
    "soc",
    "engine_version",
    "scenario",
    "mode",
    "bank",
    "repeat_tune",
    "step_us",
    "computing_share",
    "communication_not_overlapped_share",
    "free_share",
    "bound_saving_us",
    "bound_saving_share",
    "candidates",
    "rejected",
    "expected_files",
]


def run_script(bench: Bench, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [bench.folder / "run.sh"],
        env={**bench.environment, **environment},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_files_of_a_plan(bench: Bench) -> None:
    plan = bench.plan()
    document = json.loads((bench.folder / "plan.json").read_text())
    assert set(CONTRACT) <= document.keys()
    jsonschema.validate(document, load_schema("plan"))
    assert read_plan(bench.folder) == plan
    assert json.loads((bench.folder / "tune_ops.json").read_text()) == {
        "tune_ops_name": list(NAMES),
        "tune_ops_type": [],
    }
    assert {path.name for path in bench.folder.iterdir()} == {"plan.json", "tune_ops.json", "run.sh", "report.md"}


@pytest.mark.parametrize(
    ("scenario", "more"),
    [
        ("tf-training", {"aoe_config.json", "snippet.py"}),
        ("tf-online-inference", {"aoe_config.json", "snippet.py"}),
        ("pytorch", {"snippet.py"}),
        ("mindspore", {"snippet.py"}),
        ("ir-graph", set()),
    ],
)
def test_each_scenario_has_its_files(bench: Bench, scenario: Any, more: set[str]) -> None:
    bench.plan(scenario=scenario, job=Job())
    assert {p.name for p in bench.folder.iterdir()} == {"plan.json", "tune_ops.json", "run.sh", "report.md"} | more
    if "snippet.py" in more:
        ast.parse((bench.folder / "snippet.py").read_text())
    bench.plan()
    assert more.isdisjoint(path.name for path in bench.folder.iterdir()), "what the plan before had is gone"


def test_run_sh_tunes_without_us(bench: Bench) -> None:
    bench.plan(mode="both")
    in_use = bench.root / "in use"
    write_tuned(in_use, [NAMES[0]])
    (in_use / "graph.json").write_text("{}")
    done = run_script(bench, TUNE_BANK_PATH=str(in_use), AOE_MODE="2", ASCEND_WORK_PATH="/nowhere")
    assert done.returncode == 0, done.stderr
    assert [environment["AOE_MODE"] for environment in bench.notes("environment")] == [None, None]
    assert {environment["TUNE_BANK_PATH"] for environment in bench.notes("environment")} == {str(bench.folder / "bank")}
    assert (bench.folder / "bank" / "graph.json").is_file()
    assert bench.notes("tuned") == list(NAMES[1:])
    assert len(list((bench.folder / "runs" / "by-hand-opat-1").glob("aoe_result_opat_*"))) == 1
    assert run_script(bench, TUNE_BANK_PATH=str(in_use)).returncode == 0
    assert (bench.folder / "runs" / "by-hand-opat-2").is_dir()
    assert (in_use / SOC / f"{SOC}_32_AiCore_MatMulV2_runtime_kb.json").read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("there", "installed", "copied"),
    [
        (["cann", "latest"], "", "cann"),
        (["latest"], "", "latest"),
        (["cann", "latest"], "/opt/Ascend/ascend-toolkit/latest", "latest"),
        (["cann", "latest"], "/opt/Ascend/cann-8.5.0", "cann"),
        (["latest"], "/opt/Ascend/cann-8.5.0", None),
        ([], "", None),
    ],
)
def test_run_sh_copies_the_bank_of_the_installation(
    bench: Bench, there: list[str], installed: str, copied: str | None
) -> None:
    bench.plan()
    for name in there:
        write_bank(bench.root / "home" / "Ascend" / name / "data/aoe/custom/op", name, ["x"])
    done = run_script(bench, ASCEND_HOME_PATH=installed)
    assert done.returncode == 0, done.stderr
    assert [
        name for name in ("cann", "latest") if list((bench.folder / "bank").rglob(f"*_{name}_runtime_kb.json"))
    ] == ([] if copied is None else [copied])
    assert ("bank/ begins empty" in done.stderr) is (copied is None)


def test_run_sh_and_tune_run_the_same(bench: Bench) -> None:
    bench.plan(
        scenario="tf-training", job=Job(command=("aoe", "--training", str(bench.folder / "aoe_config.json")), device=2)
    )
    assert run_script(bench).returncode == 0
    assert bench.tune().code == 0
    assert bench.notes("argv")[0] == bench.notes("argv")[1]
    first, second = (
        {k: v for k, v in e.items() if k not in {"cwd", "ASCEND_WORK_PATH"}} for e in bench.notes("environment")
    )
    assert first == second


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hostile_plan_is_run(bench: Bench, text: str) -> None:
    """Operators' names come from a profile, which anybody may have made."""
    model = bench.root / text.replace("/", "_")
    model.write_bytes(b"stand-in")
    bench.plan(
        candidates=(Candidate(kind="operator", op_name=text, op_type=text), Candidate(kind="operator", op_type=text)),
        profile=text,
        baseline_hash=text,
        engine_version=text,
        job=Job(model=str(model), framework=5),
    )
    done = run_script(bench)
    assert done.returncode == 0, done.stderr
    assert bench.notes("argv")[0][1] == f"--model={model}"
    assert text in bench.notes("tuned")
    ended = bench.tune("--bank", "empty", "--restart")
    assert ended.code == 0, ended.err
    assert bench.notes("argv")[1][1] == f"--model={model}"
    assert "\x1b[31m" not in ended.err
    assert not list(bench.root.rglob("pwned"))
    environment = {**bench.environment, "PATH": "/usr/bin:/bin"}
    subprocess.run([bench.folder / "remeasure.sh", "true"], env=environment, capture_output=True, check=False)
    assert not list(bench.root.rglob("pwned"))


@pytest.mark.parametrize("text", [*HOSTILE, "a b"])
def test_commands_are_quoted(bench: Bench, text: str) -> None:
    bench.plan(scenario="tf-training", mode="gdat", job=Job(command=("aoe", "--training", text, "", "*")))
    done = run_script(bench)
    assert done.returncode == 0, done.stderr
    assert bench.notes("argv")[0] == ["--training", text, "", "*"]


def test_a_folder_with_an_odd_name_works(bench: Bench) -> None:
    bench.plan()
    odd = bench.root / 'it\'s a "plan" $(x)'
    bench.folder.rename(odd)
    done = subprocess.run([odd / "run.sh"], env=bench.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert bench.run("tune", "run", odd).code == 0


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=30))
def test_a_shell_reads_an_argument_as_it_was(text: str) -> None:
    """Relative paths, too, which stand behind a variable."""
    line = f'here=/h; printf "%s\\0" {Argument(text).quoted()} {Argument("--m=", text or "x").quoted()}'
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:2] == [text, f"--m=/h/{text or 'x'}"]


@pytest.mark.parametrize("number", ["1e999", "1" + "0" * 400, "NaN"])
def test_a_number_that_is_none_is_refused(bench: Bench, number: str) -> None:
    bench.plan()
    path = bench.folder / "plan.json"
    path.write_text(path.read_text().replace('"step_us": null', f'"step_us": {number}'))
    ended = bench.run("tune", "check", bench.folder)
    assert (ended.code, "plan.json" in ended.err) == (3, True)


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "/../x", "", "a\0b"])
def test_expected_files_stay_in_the_folder(bench: Bench, path: str) -> None:
    plan = bench.plan()
    document = document_of_plan(replace(plan, expected_files=(path,)))
    (bench.folder / "plan.json").write_text(json.dumps(document))
    ended = bench.tune()
    assert ended.code == 3
    assert "/expected_files/0" in ended.err
    assert bench.notes("argv") == []


@pytest.mark.parametrize("member", ["model", "model_path", "weight", "working_folder", "bank"])
def test_relative_paths_do_not_leave_the_folder(bench: Bench, member: str) -> None:
    document = document_of_plan(bench.plan())
    (document if member == "bank" else document["job"])[member] = "sub/../../secret"
    (bench.folder / "plan.json").write_text(json.dumps(document))
    assert bench.tune().code == 3
    assert bench.notes("argv") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"format_version": 2}',
        '{"format_version": 1, "scenario": "x", "mode": "opat", "candidates": [], "rejected": [], "expected_files": []}',
        "\xff\xfe",
        '{"a": 1, "a": 2}',
        "[" * 100_000,
    ],
)
def test_what_is_no_plan_is_said_in_a_line(bench: Bench, text: str) -> None:
    bench.folder.mkdir()
    (bench.folder / "plan.json").write_text(text, encoding="latin-1")
    for command in ("run", "check"):
        ended = bench.run("tune", command, bench.folder)
        assert ended.code == 3
        assert "plan.json" in ended.err
        assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "state",
    [
        "{",
        "[]",
        '{"attempts": [{"stage": "opat", "folder": "../../x", "status": "done"}], "job": {}}',
        '{"attempts": 3}',
        '{"attempts": [], "job": {}, "status": "failed", "plan_sha256": 3}',
        '{"attempts": [{"stage": "opat", "folder": "a", "status": "done", "signal": "x"}], "job": {}, "status": "failed"}',
    ],
)
def test_a_state_that_is_none_is_said_in_a_line(bench: Bench, state: str) -> None:
    bench.plan()
    (bench.folder / "state.json").write_text(state)
    ended = bench.tune("--resume")
    assert ended.code == 3
    assert "state.json" in ended.err
    assert "Traceback" not in ended.err


def test_a_number_with_a_point_is_no_device(bench: Bench) -> None:
    document = document_of_plan(bench.plan())
    (bench.folder / "plan.json").write_text(json.dumps({**document, "job": {"device": 1.0}}))
    ended = bench.tune()
    assert (ended.code, "$.job.device" in ended.err) == (3, True)


def test_soc_is_no_path(bench: Bench) -> None:
    document = document_of_plan(bench.plan())
    (bench.folder / "plan.json").write_text(json.dumps({**document, "soc": "../../../etc"}))
    assert bench.tune().code == 3
    bench.plan(soc=None)
    assert bench.tune("--soc", "../x").code == 2


def test_a_plan_comes_back_as_it_was() -> None:
    plan = Plan(
        "mindspore",
        "both",
        profile="p",
        step_us=1.5,
        candidates=(
            Candidate(kind="operator", op_name="a", op_type="b", prior={"n": 3}),
            Candidate(kind="subgraph", cost_s=2.0),
        ),
        expected_files=("a.json",),
        job=Job(command=("x", "y"), options=("--a=1",)),
    )
    assert plan_of_document(json.loads(json.dumps(document_of_plan(plan)))) == plan


def test_names_are_asked_for_once_and_types_only_as_a_whole() -> None:
    names = [
        Candidate(kind="operator", op_name="a", op_type="Add"),
        Candidate(kind="operator", op_name="a", op_type="Add"),
        Candidate(kind="operator", op_name="b", op_type="Mul"),
    ]
    plan = Plan(
        "offline", "opat", candidates=(*names, Candidate(kind="operator", op_type="Sub"), Candidate(kind="subgraph"))
    )
    asked = tune_ops_of_plan(plan)
    assert asked is not None
    assert asked.as_document() == {"tune_ops_name": ["a", "b"], "tune_ops_type": ["Sub"]}


def test_a_subgraph_alone_asks_for_no_operators() -> None:
    plan = Plan("offline", "both", candidates=(Candidate(kind="subgraph"),), job=Job(model="m.onnx"))
    assert [stage.name for stage in stages_of_plan(plan)] == ["sgat"]
    assert "tune_ops.json" not in files_of_plan(plan, "/plan")


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (Job(), "expected --model"),
        (Job(model="a.onnx", model_path="b"), "mutually exclusive"),
        (Job(model="a.bin"), "does not identify a framework"),
        (Job(model="a.onnx", command=("x",)), "a command is not accepted"),
    ],
)
def test_a_plan_that_says_too_little_is_refused_and_so_is_its_script(job: Job, words: str, tmp_path: Path) -> None:
    plan = Plan("offline", "opat", candidates=(Candidate(kind="operator", op_name="a"),), job=job)
    with pytest.raises(UsageError, match=words):
        stages_of_plan(plan)
    write_plan(tmp_path, plan)
    done = subprocess.run([tmp_path / "run.sh"], capture_output=True, text=True, check=False)
    assert (done.returncode, words in done.stderr) == (2, True)


@pytest.mark.parametrize("scenario", ["offline", "pytorch", "tf-online-inference"])
def test_gradients_are_tuned_in_training_only(scenario: Any) -> None:
    with pytest.raises(UsageError, match="TensorFlow training"):
        stages_of_plan(Plan(scenario, "gdat"))


@pytest.mark.parametrize(("model", "framework"), [("m.prototxt", 0), ("m.air", 1), ("m.pb", 3), ("m.ONNX", 5)], ids=str)
def test_the_framework_follows_from_the_suffix(model: str, framework: int) -> None:
    plan = Plan("ir-graph", "opat", candidates=(Candidate(kind="operator", op_name="a"),), job=Job(model=model))
    assert stages_of_plan(plan)[0].argv("/p")[1:3] == [f"--framework={framework}", f"--model=/p/{model}"]


def changed(draw: st.DrawFn, document: Any) -> Any:
    """A document with up to three values of it set to something else, or dropped."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        every = places(document)
        container, key = every[draw(st.integers(0, len(every) - 1))]
        if draw(st.booleans()):
            container[key] = draw(SCALARS | st.just([]) | st.just({}) | st.sampled_from(["../x", "/etc", "-x", "--a"]))
        else:
            del container[key]
        if not places(document):
            break
    return document


@given(st.data())
def test_whatever_stands_in_a_plan_or_a_state_ends_in_a_line_or_a_command(data: st.DataObject) -> None:
    """Never in anything but one of our errors; and the command that is run stays a list of texts."""
    plan = Plan(
        "tf-training",
        "both",
        soc="Ascend910B4",
        candidates=(
            Candidate(kind="operator", op_name="a", op_type="Add", prior={"n": [1]}),
            Candidate(kind="subgraph"),
        ),
        rejected=(Rejected(op_name="b", op_type="Mul", total_us=1.5, reason="x"),),
        expected_files=("outcome.json",),
        job=Job(command=("x", "y"), options=("--a=1",), working_folder="w", device=1),
    )
    state = {
        "format_version": 1,
        "plan_sha256": "0",
        "status": "interrupted",
        "job": document_of_plan(plan)["job"],
        "bank": {"soc": "x"},
        "attempts": [{"stage": "sgat", "folder": "001-sgat", "status": "running", "result_files": ["a"], "signal": 9}],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_plan(folder, plan)
        which = data.draw(st.sampled_from(["plan.json", "state.json", "tune_ops.json"]))
        original = {"plan.json": document_of_plan(plan), "state.json": state}.get(which) or {"tune_ops_name": ["a"]}
        (folder / which).write_text(json.dumps(data.draw(st.composite(changed)(original))))
        try:
            rows = dry_run(folder, TuneOptions(resume=True)).rows
            listed = read_plan(folder)
        except AoeReportsError:
            return
        assert all(isinstance(part, str) for row in rows for part in row.argv)
        files_of_plan(listed, "/plan")
        check_host(listed, Host(), Declared())


@pytest.mark.torture
@pytest.mark.skipif(COMPILER is None, reason="no C compiler to put faults between plan and the disk")
def test_a_plan_that_was_killed_leaves_no_mixture_of_two_plans(bench: Bench) -> None:
    profile = ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"
    arguments = ("plan", profile, "-o", bench.folder, "--assume-static", "--scenario", "offline")
    assert bench.run(*arguments, "--top", "1").code == 0
    one = (bench.folder / "tune_ops.json").read_text()
    with killer(bench.environment, "aoe_reports.tuning.plan.planning") as killing:
        changes = killing.run(*arguments, "--top", "3", root=bench.folder, cwd=bench.root).changes
        assert (bench.folder / "tune_ops.json").read_text() != one
        for at in range(1, len(changes) + 1):
            assert bench.run(*arguments, "--top", "1").code == 0
            killing.run(*arguments, "--top", "3", root=bench.folder, cwd=bench.root, fault=Fault(at))
            told = bench.run(
                "tune", "run", bench.folder, "--dry-run", "--model", bench.root / "model.onnx", "--format", "json"
            )
            assert told.code == (0 if (bench.folder / "plan.json").exists() else 2), changes[at - 1]
            if told.code == 0:
                asked = json.loads((bench.folder / "plan.json").read_text())["candidates"]
                listed = json.loads((bench.folder / "tune_ops.json").read_text())
                assert len(asked) == len(listed["tune_ops_name"]) + len(listed["tune_ops_type"]), changes[at - 1]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, {"REPEAT_TUNE": "False"}),
        ({"repeat_tune": True}, {"REPEAT_TUNE": "True"}),
        ({"device": 3, "te_parallel": 8}, {"REPEAT_TUNE": "False", "ASCEND_DEVICE_ID": "3", "TE_PARALLEL_COMPILER": "8"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("scenario", "mode", "first"),
    [("tf-training", "opat", "2"), ("tf-training", "sgat", "1"), ("tf-training", "gdat", "4"), ("tf-online-inference", "opat", "2"), ("mindspore", "opat", None), ("offline", "sgat", None)],
)  # fmt: skip
def test_a_stage_has_its_variables_in_order(
    bench: Bench, scenario: Any, mode: Any, first: str | None, changes: dict[str, Any], told: dict[str, str]
) -> None:
    """TensorFlow is told by the environment what to tune, first of all."""
    job = Job(command=() if scenario == "offline" else ("python", "train.py"), model=str(bench.root / "model.onnx") if scenario == "offline" else None, device=changes.get("device"), te_parallel=changes.get("te_parallel"))  # fmt: skip
    chosen = {} if mode == "opat" else {"candidates": (Candidate(kind="subgraph"),) if mode == "sgat" else ()}
    plan = bench.plan(scenario=scenario, mode=mode, **chosen, job=job, repeat_tune=changes.get("repeat_tune", False))
    (stage,) = stages_of_plan(plan, None)
    expected = ({} if first is None else {"AOE_MODE": first}) | told
    assert stage.environment == tuple(expected.items())


@pytest.mark.parametrize(
    ("document", "asks"),
    [
        ({"tune_ops_name": ["a", "b", "a"]}, (("a", "b"), ())),
        ({"tune_ops_name": [], "tune_ops_type": ["Add"]}, ((), ("Add",))),
        ({"tune_ops_name": [], "tune_ops_type": []}, None),
        ({}, None),
        ({"tune_ops_name": ["a", ""]}, None),
        ({"tune_ops_name": ["a", 1]}, None),
        ({"tune_ops_name": "a"}, None),
        ({"tune_ops_name": ["a"], "other": []}, None),
        (["a"], None),
    ],
)
def test_a_file_of_operators_to_tune_is_two_lists_and_asks_for_something(
    document: object, asks: tuple[tuple[str, ...], tuple[str, ...]] | None
) -> None:
    found = tune_ops_of_document(document)
    assert (None if found is None else (found.names, found.types)) == asks
