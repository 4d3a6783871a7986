"""`tune` against the stand-in of aoe, by the command line: what came of each operator, every way to fail, stop and go on."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time

import pytest
from tuning.jobs import NAMES, SOC, Bench, rules, write_tuned

from aoe_reports.tuning.aoe.command import remeasure_script
from aoe_reports.tuning.plan.plan import Candidate, Job
from aoe_reports.tuning.plan.planning import expected_files


def test_a_job_is_run_and_everything_is_collected(bench: Bench) -> None:
    bench.plan()
    write_tuned(bench.root / "home" / "Ascend/latest/data/aoe/custom/op", [NAMES[2]])
    ended = bench.tune()
    assert ended.code == 0, ended.err
    assert bench.statuses(ended) == {NAMES[0]: "improved", NAMES[1]: "improved", NAMES[2]: "already-banked"}
    assert ended.json["reasons"] == []
    assert rules(ended) <= {"op-type-unknown", "parts-and-whole"}
    assert [row["gain"] for row in ended.json["rows"]] == [0.5, 0.55, None]
    assert ended.json["rows"][0]["expected_saving_us"] == 10.0
    assert ended.json["bank"]["by"] == "default"
    (change,) = ended.json["bank_changes"]
    assert (change["change"], change["entries_added"], change["entries_lost"]) == ("changed", 2, 0)
    (environment,) = bench.notes("environment")
    assert environment["REPEAT_TUNE"] == "False"
    assert environment["TUNE_BANK_PATH"] == str(bench.folder / "bank")
    assert environment["ASCEND_WORK_PATH"] == environment["cwd"] == str(bench.folder / "runs" / "001-opat")
    assert "Aoe process finished" in (bench.folder / "runs" / "001-opat" / "aoe.log").read_text()
    assert "opat: 3 of 3 operators done, 2 improved, best speed-up +55.0%" in ended.err
    assert json.loads((bench.folder / "outcome.json").read_text())["rows"] == ended.json["rows"]
    assert bench.state()["status"] == "done"
    assert not list((bench.root / "home").rglob("*aoe_result*"))


@pytest.mark.parametrize(
    ("there", "installed", "used"),
    [
        (["cann", "latest"], "", "cann"),
        (["latest"], "", "latest"),
        (["cann", "latest"], "/opt/Ascend/ascend-toolkit/latest", "latest"),
        (["latest"], "/opt/Ascend/cann-8.5.0", "cann"),
    ],
)
def test_the_default_bank_is_that_of_the_installation(
    bench: Bench, there: list[str], installed: str, used: str
) -> None:
    bench.plan()
    for name in there:
        write_tuned(bench.root / "home" / "Ascend" / name / "data/aoe/custom/op", [NAMES[2]])
    ended = bench.tune(**({"ASCEND_HOME_PATH": installed} if installed else {}))
    place = str(bench.root / "home" / "Ascend" / used / "data/aoe/custom/op")
    assert (ended.json["bank"]["operators"], ended.json["bank"]["files"]) == (place, int(used in there))
    assert ("private bank: empty" in ended.err) is (used not in there)


def test_a_private_bank_that_begins_empty_is_reported_with_the_places_looked_at(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune()
    homes = [bench.root / "home" / "Ascend" / name / "data/aoe/custom" for name in ("latest", "cann")]
    places = [str(homes[0] / "op" / SOC), str(homes[0] / "graph" / SOC), str(homes[1])]
    assert ended.json["bank"]["looked_at"] == places
    assert "private bank: empty, because there is nothing of the chip in the bank in use" in ended.err
    assert all(place in ended.err for place in places)


def test_what_runs_is_given_what_the_plan_names_and_nothing_else(bench: Bench) -> None:
    bench.plan()
    bench.tune(AOE_MODE="2", PROFILING_MODE="true")
    (argv,), (environment,) = bench.notes("argv"), bench.notes("environment")
    assert argv == [
        "--framework=5",
        f"--model={bench.root / 'model.onnx'}",
        "--job_type=2",
        "--tune_ops_file=tune_ops.json",
    ]
    assert environment["AOE_MODE"] is None
    assert environment["PROFILING_MODE"] is None
    asked = json.loads((bench.folder / "runs" / "001-opat" / "tune_ops.json").read_text())
    assert asked == {"tune_ops_name": list(NAMES), "tune_ops_type": []}


FAILURES = {
    "eg": {"tune-error-code", "tune-no-finish-line", "tune-no-result", "tune-exit-code"},
    "eg-and-success": {"tune-error-code"},
    "other-code": {"tune-error-code"},
    "failed": {"tuning-failed"},
    "crash": {"tune-killed", "tune-no-finish-line", "tune-bad-result", "json-truncated"},
    "killed": {"tune-killed", "tune-no-finish-line", "tuning-incomplete"},
    "no-finish": {"tune-no-finish-line"},
    "no-result": {"tune-no-result"},
    "bad-result": {"tune-bad-result", "schema"},
}


@pytest.mark.parametrize("behaviour", FAILURES)
def test_each_way_to_fail_is_told_and_ends_with_one(bench: Bench, behaviour: str) -> None:
    bench.plan()
    ended = bench.tune(STAND_IN=behaviour)
    assert ended.code == 1
    assert ended.json["reasons"] == ["tuning-failed"]
    assert rules(ended) >= FAILURES[behaviour]
    assert "Traceback" not in ended.err
    assert bench.state()["status"] == "failed"


def test_an_incomplete_tuning_is_no_success(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune(STAND_IN="incomplete")
    assert ended.code == 1
    assert "tuning-incomplete" in ended.rules()


def test_the_codes_are_explained(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune(STAND_IN="eg")
    (said,) = [f["message"] for f in ended.json["findings"] if f["rule"] == "tune-error-code"]
    assert "EG0013, Device Operation Failure" in said
    assert "npu-smi" in said


def test_a_failed_operator_is_named(bench: Bench) -> None:
    bench.plan()
    statuses = bench.statuses(bench.tune(STAND_IN="failed"))
    assert statuses == {NAMES[0]: "failed", NAMES[1]: "improved", NAMES[2]: "improved"}


@pytest.mark.parametrize(
    ("behaviour", "rule", "status"),
    [
        ("nothing", "tune-nothing-changed", "not-seen"),
        ("not-better", "tune-nothing-changed", "not-better"),
        ("exit-1", "tune-exit-code", "improved"),
        ("wrong-claim", "tune-claim-mismatch", "improved"),
        ("memory", "tune-memory", "improved"),
        ("leaves-child", "tune-left-running", "improved"),
        ("no-bank", "tune-bank-unchanged", "improved"),
    ],
)
def test_what_is_odd_is_a_warning(bench: Bench, behaviour: str, rule: str, status: str) -> None:
    bench.plan()
    ended = bench.tune(STAND_IN=behaviour)
    assert ended.code == 0
    assert rule in rules(ended)
    assert set(bench.statuses(ended).values()) == {status}


def test_the_words_of_older_releases_are_a_finish_line(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune(STAND_IN="old-words")
    assert (ended.code, rules(ended) & {"tune-claim-mismatch", "tune-no-finish-line"}) == (0, set())
    assert ended.json["stages"][0]["claims"] == [{"name": "stand_in", "percent": "20.00"}]


def test_a_result_where_it_ran_is_found(bench: Bench) -> None:
    bench.plan()
    assert bench.tune(STAND_IN="cwd").code == 0


def test_suffixes_and_letters_of_types_make_no_difference(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune(STAND_IN="opat-n")
    assert set(bench.statuses(ended).values()) == {"improved"}
    assert ended.json["rows"][0]["tuned_name"] == f"{NAMES[0]}_OPAT_0"
    assert ended.json["rows"][0]["reason"] == ""


def test_parts_of_fused_operators_are_recognised(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune(STAND_IN="fused")
    assert set(bench.statuses(ended).values()) == {"improved"}
    assert "fused operator net/a/MatMulnet/Relu" in ended.json["rows"][0]["reason"]


def test_whole_types_are_tuned_where_no_name_is_given(bench: Bench) -> None:
    bench.plan(
        candidates=(
            Candidate(kind="operator", op_name=NAMES[0], op_type="MatMulV2"),
            Candidate(kind="operator", op_type="Add"),
        )
    )
    ended = bench.tune()
    assert json.loads((bench.folder / "tune_ops.json").read_text()) == {
        "tune_ops_name": [NAMES[0]],
        "tune_ops_type": ["Add"],
    }
    assert [(row["op_type"], row["status"], row["reason"]) for row in ended.json["rows"]] == [
        ("MatMulV2", "improved", ""),
        ("Add", "improved", "matched by type"),
    ]


def test_a_list_that_somebody_edited_is_used_and_that_is_said(bench: Bench) -> None:
    bench.plan()
    (bench.folder / "tune_ops.json").write_text('{"tune_ops_name": ["net/b/MatMul"]}')
    ended = bench.tune()
    assert "tune-ops-edited" in rules(ended)
    assert bench.notes("tuned") == [NAMES[1]]


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"tune_ops_name": []}', '{"tune_ops_name": ["a"], "more": 1}', '{"tune_ops_name": [3]}', "{"]
)
def test_a_list_that_would_mean_something_else_is_refused(bench: Bench, text: str) -> None:
    bench.plan()
    (bench.folder / "tune_ops.json").write_text(text)
    ended = bench.tune()
    assert ended.code == 3
    assert "tune_ops.json" in ended.err
    assert bench.notes("argv") == []


def test_without_a_candidate_nothing_is_run(bench: Bench) -> None:
    bench.plan(candidates=())
    ended = bench.tune()
    assert ended.code == 2
    assert "no candidate" in ended.err
    assert not (bench.folder / "tune_ops.json").exists()
    script = subprocess.run(
        [bench.folder / "run.sh"], env=bench.environment, capture_output=True, text=True, check=False
    )
    assert (script.returncode, "no candidate" in script.stderr) == (2, True)
    assert bench.notes("argv") == []


def test_without_a_plan_it_is_wrong_usage(bench: Bench) -> None:
    for folder in (bench.root / "nothing", bench.root / "home"):
        ended = bench.run("tune", "run", folder)
        assert ended.code == 2
        assert "no plan.json" in ended.err


def test_without_aoe_it_cannot_be_run_and_nothing_is_left(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune(PATH="/usr/bin:/bin")
    assert ended.code == 3
    assert "aoe: not found on PATH" in ended.err
    assert not (bench.folder / "state.json").exists()


def test_an_aoe_that_cannot_be_started_is_said(bench: Bench) -> None:
    bench.plan()
    (bench.root / "bin" / "aoe").write_text("#!/nowhere/at/all\n")
    ended = bench.tune()
    assert ended.code == 3
    assert "cannot be run" in ended.err
    assert bench.state()["status"] == "interrupted"


@pytest.mark.torture
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["int", "term", "hup"]
)
def test_told_to_end_it_ends_everything_and_can_go_on(bench: Bench, number: int, code: int) -> None:
    bench.plan()
    inherited = signal.signal(number, signal.SIG_DFL)  # `nohup` ignores SIGHUP for all that it starts
    try:
        process = bench.start("tune", "run", bench.folder, "--format", "json", STAND_IN="hang")
    finally:
        signal.signal(number, inherited)
    bench.wait_for("ready", process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "opat: 1 of 3 operators done, 1 changed so far, best speed-up +50.0% (not final)\n" in err
    assert "--resume" in err
    assert bench.running() == []
    (row,) = (row for row in json.loads(out)["rows"] if row["op_name"] == NAMES[0])
    assert (row["status"], row["before_us"], row["after_us"], row["gain"]) == ("unclear", None, None, None)
    assert "its figures are not used" in row["reason"]
    assert bench.state()["status"] == "interrupted"
    assert bench.tune().code == 2, "neither --resume nor --restart was said"
    ended = bench.tune("--resume")
    assert ended.code == 0, ended.err
    assert bench.notes("tuned") == list(NAMES), "what was banked is not tuned again"
    assert set(bench.statuses(ended).values()) == {"improved"}
    gains = {row["op_name"]: row["gain"] for row in ended.json["rows"]}
    assert (gains[NAMES[0]], gains[NAMES[1]]) == (None, 0.55), "numbers of the broken-off task are used by nobody"


@pytest.mark.parametrize("behaviour", ["hang", "killed", "crash", "incomplete"])
def test_numbers_of_a_broken_off_task_are_no_improvement(bench: Bench, behaviour: str) -> None:
    """Nobody reads +50 % improved from numbers of which the same page says that they are not used."""
    bench.plan()
    ended = bench.run("tune", "run", bench.folder, "--quiet", "--timeout", "2s", "--grace", "0.3", STAND_IN=behaviour)
    assert ended.code == 1
    assert "50.00%" not in ended.out
    assert "improved" not in ended.out
    assert "Tuning did not finish; operators: " in ended.out
    document = json.loads((bench.folder / "outcome.json").read_text())
    assert "improved" not in document["counts"]
    assert {row["gain"] for row in document["rows"]} == {None}


def test_a_broken_off_tuning_of_subgraphs_is_no_improvement(bench: Bench) -> None:
    bench.plan(mode="sgat", candidates=(Candidate(kind="subgraph"),))
    ended = bench.tune("--timeout", "2s", "--grace", "0.3", STAND_IN="hang")
    (row,) = ended.json["rows"]
    assert (row["kind"], row["status"], row["gain"], row["after_us"]) == ("subgraph", "unclear", None, None)


def test_what_came_of_a_job_says_that_no_step_was_measured(bench: Bench) -> None:
    bench.plan()
    text = bench.run("tune", "run", bench.folder, STAND_IN="not-better").out
    assert text.splitlines()[0] == (
        "Tuned operators: 3 not-better. Times are AOE's own, measured on single operators; the duration of a step was not measured."
    )


def test_a_bank_of_another_chip_than_planned_is_said(bench: Bench) -> None:
    bench.plan(soc=f"{SOC}4")
    ended = bench.tune()
    assert "tune-other-chip" in ended.rules()
    bench.plan()
    assert "tune-other-chip" not in bench.tune("--restart").rules()


@pytest.mark.torture
def test_a_group_that_does_not_listen_is_ended_all_the_same(bench: Bench) -> None:
    bench.plan()
    process = bench.start("tune", "run", bench.folder, "--grace", "0.3", STAND_IN="stubborn")
    bench.wait_for("ready", process)
    assert len(bench.running()) == 2
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert bench.running() == []


@pytest.mark.torture
def test_told_twice_it_does_not_wait(bench: Bench) -> None:
    bench.plan()
    process = bench.start("tune", "run", bench.folder, "--grace", "3600", STAND_IN="stubborn")
    bench.wait_for("ready", process)
    until = time.monotonic() + 60
    while bench.running() and time.monotonic() < until:
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert bench.running() == []


@pytest.mark.torture
def test_killed_itself_it_leaves_nothing_running_and_can_go_on(bench: Bench) -> None:
    bench.plan()
    process = bench.start("tune", "run", bench.folder, "--grace", "0.3", STAND_IN="stubborn")
    bench.wait_for("ready", process)
    process.kill()
    process.communicate(timeout=60)
    until = time.monotonic() + 60
    while bench.running() and time.monotonic() < until:
        time.sleep(0.05)
    assert bench.running() == []
    ended = bench.tune("--resume")
    assert ended.code == 0, ended.err
    assert bench.notes("tuned") == list(NAMES)
    assert set(bench.statuses(ended).values()) == {"improved"}, "what was improved before is told"


@pytest.mark.parametrize("behaviour", ["hang", "stubborn"])
def test_it_takes_no_longer_than_it_may(bench: Bench, behaviour: str) -> None:
    bench.plan()
    ended = bench.tune("--timeout", "1s", "--grace", "0.3", STAND_IN=behaviour)
    assert ended.code == 1
    assert "tune-timeout" in rules(ended)
    assert ended.json["reasons"] == ["tuning-failed"]
    assert ended.json["status"] == "interrupted"
    assert bench.running() == []


@pytest.mark.slow
def test_subgraphs_go_first_and_a_broken_run_is_reloaded(bench: Bench) -> None:
    bench.plan(mode="both")
    process = bench.start("tune", "run", bench.folder, "--format", "json", STAND_IN="hang")
    bench.wait_for("ready", process)
    process.terminate()
    out, _ = process.communicate(timeout=60)
    assert [(stage["stage"], stage["status"]) for stage in json.loads(out)["stages"]] == [("sgat", "interrupted")]
    ended = bench.tune("--resume")
    assert ended.code == 0, ended.err
    assert [(stage["stage"], stage["folder"]) for stage in ended.json["stages"]] == [
        ("sgat", "001-sgat"),
        ("sgat", "001-sgat"),
        ("opat", "003-opat"),
    ]
    assert ["--reload" in argv for argv in bench.notes("argv")] == [False, True, False]
    assert ["--tune_ops_file=tune_ops.json" in argv for argv in bench.notes("argv")] == [False, False, True]
    subgraph = next(row for row in ended.json["rows"] if row["kind"] == "subgraph")
    assert (subgraph["repo_key"], subgraph["before_us"], subgraph["after_us"]) == (
        "15294858920613849201",
        6000.0,
        5000.0,
    )
    assert (bench.folder / "tuned" / "stand_in_1_tune.om").read_bytes() == b"stand-in for an offline model"


def test_what_is_through_is_not_run_again(bench: Bench) -> None:
    bench.plan(mode="both")
    assert bench.tune(STAND_IN="stage-2-fails").code == 1
    ended = bench.tune("--resume")
    assert ended.code == 0, ended.err
    assert [stage["stage"] for stage in ended.json["stages"]] == ["sgat", "opat", "opat"]
    assert bench.tune("--resume").code == 2, "it is through"


def test_without_subgraphs_operators_are_not_tuned(bench: Bench) -> None:
    bench.plan(mode="both")
    ended = bench.tune(STAND_IN="nothing")
    assert ended.code == 1
    assert "subgraph-failed" in ended.rules()
    assert len(bench.notes("argv")) == 1


def test_with_repeat_tune_a_job_that_goes_on_leaves_out_what_is_through(bench: Bench) -> None:
    bench.plan(repeat_tune=True)
    assert bench.tune(STAND_IN="killed").code == 1
    assert bench.tune("--resume").code == 0
    assert bench.notes("tuned") == list(NAMES)


def test_begun_anew_nothing_is_lost(bench: Bench) -> None:
    bench.plan()
    assert bench.tune().code == 0
    assert bench.tune().code == 2
    ended = bench.tune("--restart")
    assert ended.code == 0, ended.err
    assert bench.notes("tuned") == list(NAMES) * 2
    assert {path.name for path in (bench.folder / "old-001").iterdir()} >= {
        "bank",
        "runs",
        "state.json",
        "outcome.json",
    }


def test_a_plan_that_changed_is_another_job(bench: Bench) -> None:
    bench.plan()
    assert bench.tune(STAND_IN="killed").code == 1
    bench.plan(step_us=5.0)
    ended = bench.tune("--resume")
    assert ended.code == 2
    assert "--restart" in ended.err


@pytest.mark.slow
def test_started_by_somebody_who_ignores_how_children_end_it_knows_all_the_same(bench: Bench) -> None:
    bench.plan()
    done = subprocess.run(
        bench.command("tune", "run", bench.folder),
        env=bench.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.torture
def test_what_is_ignored_stays_ignored(bench: Bench) -> None:
    """As under nohup: the terminal may go, the job goes on."""
    bench.plan()
    command = ["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *bench.command("tune", "run", bench.folder)]
    process = subprocess.Popen(
        command, env={**bench.environment, "STAND_IN": "hang"}, stderr=subprocess.PIPE, text=True
    )
    bench.wait_for("ready", process)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143, "it was the second signal that ended it"


@pytest.mark.torture
def test_two_at_once_are_refused(bench: Bench) -> None:
    bench.plan()
    process = bench.start("tune", "run", bench.folder, STAND_IN="hang")
    bench.wait_for("ready", process)
    ended = bench.tune("--resume")
    assert ended.code == 3
    assert "another tune" in ended.err
    process.terminate()
    process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("variable", "where"), [("TUNE_BANK_PATH", SOC), ("ASCEND_CACHE_PATH", f"aoe_data/{SOC}")], ids=["bank", "cache"]
)
def test_the_bank_that_is_copied_is_the_one_in_use(bench: Bench, variable: str, where: str) -> None:
    bench.plan()
    in_use = bench.root / "in_use"
    path = write_tuned((in_use / where).parent, [NAMES[0]])
    content = path.read_text()
    (path.parent.parent / "graph.json").write_text("{}")
    ended = bench.tune(**{variable: str(in_use)})
    assert ended.json["bank"]["by"] == variable
    assert bench.statuses(ended)[NAMES[0]] == "already-banked"
    assert (bench.folder / "bank" / "graph.json").is_file()
    assert path.read_text() == content, "the one in use stays what it was"


def test_kernels_of_dumped_operators_are_made_and_nothing_else_is_expected(bench: Bench) -> None:
    dumped = bench.root / "dumped"
    dumped.mkdir()
    options = ("--op_tune_mode=fast", f"--op_tune_file={dumped}", "--soc_version=Ascend910B3")
    bench.plan(soc="Ascend910B3", job=Job(options=options))
    none = bench.tune()
    assert (none.code, "tune-no-kernel" in none.rules()) == (1, True)
    (dumped / "MatMulV2_1.json").write_text("{}")
    ended = bench.tune("--restart")
    assert ended.code == 0, ended.err
    assert rules(ended) & {"tune-no-result", "tune-no-kernel", "tune-nothing-changed", "tune-ops-edited"} == set()
    assert bench.notes("argv")[-1] == ["--job_type=2", *options, "--precision_mode=must_keep_origin_dtype"]


def test_an_empty_bank_tunes_everything(bench: Bench) -> None:
    bench.plan()
    write_tuned(bench.root / "in_use", NAMES)
    ended = bench.tune("--bank", "empty", TUNE_BANK_PATH=str(bench.root / "in_use"))
    assert set(bench.statuses(ended).values()) == {"improved"}


def test_with_several_chips_one_has_to_be_named(bench: Bench) -> None:
    bench.plan(soc=None)
    write_tuned(bench.root / "in_use", NAMES)
    (bench.root / "in_use" / "Ascend310P").mkdir()
    ended = bench.tune(TUNE_BANK_PATH=str(bench.root / "in_use"))
    assert (ended.code, "--soc" in ended.err) == (2, True)
    assert bench.tune("--soc", SOC, TUNE_BANK_PATH=str(bench.root / "in_use")).code == 0


def test_secrets_are_not_written_down(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job())
    secret = "hunter2-hunter2"
    command = ("--", str(bench.root / "bin" / "aoe"), "--training", str(bench.folder / "aoe_config.json"), secret)
    ended = bench.tune(*command, STAND_IN="tells-environment", MY_API_KEY=secret)
    assert ended.code == 0, ended.err
    assert bench.notes("argv")[0][-1] == secret
    assert secret not in bench.everything_written()
    assert "MY_API_KEY=***" in (bench.folder / "runs" / "001-opat" / "aoe.log").read_text()


def test_a_command_with_a_secret_has_to_be_given_again(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job())
    command = (
        "--",
        str(bench.root / "bin" / "aoe"),
        "--training",
        str(bench.folder / "aoe_config.json"),
        "hunter2-hunter2",
    )
    assert bench.tune(*command, STAND_IN="killed", TOKEN="hunter2-hunter2").code == 1
    assert bench.tune("--resume").code == 2
    assert bench.tune("--resume", *command, TOKEN="hunter2-hunter2").code == 0


def test_a_bank_that_cannot_be_read_is_not_taken_for_the_jobs_own(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.plan()
    monkeypatch.setattr("aoe_reports.tuning.banks.bank.MAX_BANK_FILE_BYTES", 4)
    write_tuned(bench.root / "in_use", NAMES)
    ended = bench.tune(TUNE_BANK_PATH=str(bench.root / "in_use"))
    assert (ended.code, "too large" in ended.err) == (3, True)
    assert not [path for path in bench.folder.iterdir() if "bank" in path.name]


@pytest.mark.parametrize("text", ["", "[" * 200_000, '{"attempts": 5}'])
def test_a_damaged_state_is_put_away(bench: Bench, text: str) -> None:
    bench.plan()
    (bench.folder / "state.json").write_text(text)
    ended = bench.tune()
    assert (ended.code, "state.json" in ended.err) == (3, True)
    assert bench.tune("--restart").code == 0
    assert (bench.folder / "old-001" / "state.json").read_text() == text


def test_an_option_with_a_secret_has_to_be_given_again(bench: Bench) -> None:
    bench.plan(job=Job(model=str(bench.root / "model.onnx"), options=("--precision_mode=***",)))
    ended = bench.tune()
    assert (ended.code, "--aoe-option" in ended.err) == (2, True)
    assert bench.tune("--aoe-option", "--precision_mode=hunter2", SIGNING_KEY="hunter2").code == 0
    assert "--precision_mode=hunter2" in bench.notes("argv")[0]
    assert "--precision_mode=***" not in bench.notes("argv")[0]
    assert "hunter2" not in bench.everything_written()


def test_a_secret_that_is_a_common_word_hides_no_finish_line(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune(DB_PASSWORD="finished", STAND_IN="eg-and-success")
    assert "tune-no-finish-line" not in rules(ended)
    assert "Aoe process ***" in (bench.folder / "runs" / "001-opat" / "aoe.log").read_text()


def test_a_subgraph_run_that_was_killed_is_reloaded(bench: Bench) -> None:
    bench.plan(mode="sgat")
    assert bench.tune(STAND_IN="killed").code == 1
    assert bench.tune("--resume").code == 0
    assert ["--reload" in argv for argv in bench.notes("argv")] == [False, True]


def test_a_bank_in_use_that_is_not_there_is_no_empty_one(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune(TUNE_BANK_PATH=str(bench.root / "nowhere"))
    assert (ended.code, "does not exist" in ended.err) == (2, True)
    assert bench.tune("--bank", "empty", TUNE_BANK_PATH=str(bench.root / "nowhere")).code == 0


def test_what_the_plan_expects_and_is_not_there_is_said(bench: Bench) -> None:
    plan = bench.plan(mode="both")
    bench.plan(mode="both", expected_files=expected_files(plan))
    assert "tune-file-missing" not in bench.tune().rules()
    bench.plan(expected_files=("nothing.json",))
    assert "tune-file-missing" in bench.tune("--restart").rules()


def test_a_training_tunes_while_it_runs(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job(device=3))
    command = (str(bench.root / "bin" / "aoe"), "--training", str(bench.folder / "aoe_config.json"))
    ended = bench.tune("--", *command)
    assert ended.code == 0, ended.err
    (environment,) = bench.notes("environment")
    assert (environment["AOE_MODE"], environment["ASCEND_DEVICE_ID"]) == ("2", "3")
    assert set(bench.statuses(ended).values()) == {"improved"}


def test_a_script_is_asked_for_what_the_list_asks_for(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job())
    config = bench.folder / "aoe_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"tune_optimization_level": "O1"}))
    (bench.folder / "tune_ops.json").write_text('{"tune_ops_name": ["net/b/MatMul"]}')
    ended = bench.tune("--", bench.root / "bin" / "aoe", "--training", config)
    assert ended.code == 0, ended.err
    assert bench.notes("tuned") == [NAMES[1]]
    assert json.loads(config.read_text()) == {
        "tune_ops_name": [NAMES[1]],
        "tune_ops_type": [],
        "tune_optimization_level": "O1",
    }
    config.write_text("[]")
    assert bench.tune("--restart", "--", bench.root / "bin" / "aoe", "--training", config).code == 3


@pytest.mark.parametrize(
    ("behaviour", "rule"),
    [("no-finish", "tune-no-finish-line"), ("exit-1", "tune-exit-code"), ("adapter-failed", "tune-error-code")],
)
def test_a_training_that_did_not_tune_is_no_success(bench: Bench, behaviour: str, rule: str) -> None:
    bench.plan(scenario="tf-training", job=Job())
    ended = bench.tune("--", bench.root / "bin" / "aoe", "--training", STAND_IN=behaviour)
    assert (ended.code, ended.json["reasons"]) == (1, ["tuning-failed"])
    assert rule in rules(ended)


def test_an_adapter_says_why_in_words(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job())
    ended = bench.tune("--", bench.root / "bin" / "aoe", "--training", STAND_IN="adapter-failed")
    said = "".join(f["message"] for f in ended.json["findings"] if f["rule"] == "tune-error-code")
    assert "AOE_ERROR_DYNAMIC_GRAPH" in said


def test_a_relative_script_is_not_found_in_a_fresh_folder_and_that_is_said_before(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job())
    (bench.root / "train.py").write_text("")
    ended = bench.tune("--", "python3", "train.py")
    assert (ended.code, "--working-folder" in ended.err) == (2, True)


def test_a_command_can_run_where_it_belongs(bench: Bench) -> None:
    bench.plan(scenario="tf-training", job=Job())
    place = bench.root / "project"
    place.mkdir()
    ended = bench.tune("--working-folder", place, "--", bench.root / "bin" / "aoe", "--training", STAND_IN="cwd")
    assert ended.code == 0, ended.err
    assert bench.notes("environment")[0]["cwd"] == str(place)
    assert list((bench.folder / "runs" / "001-opat").glob("aoe_result_opat_*.json")), "the result is kept with the run"


def test_gradients_are_tuned_into_the_bank(bench: Bench) -> None:
    bench.plan(scenario="tf-training", mode="gdat", candidates=(), job=Job())
    command = ("--", bench.root / "bin" / "aoe", "--training")
    ended = bench.tune(*command)
    assert ended.code == 0, ended.err
    assert bench.notes("environment")[0]["AOE_MODE"] == "4"
    assert [change["path"] for change in ended.json["bank_changes"]] == [f"{SOC}_gradient_fusion.json"]
    ended = bench.tune("--restart", *command, STAND_IN="nothing")
    assert ended.code == 1
    assert {"tune-bank-not-tuned", "gdat-not-tuned"} <= rules(ended)


def test_dumped_graphs_are_tuned(bench: Bench) -> None:
    bench.plan(scenario="pytorch", job=Job())
    (bench.folder / "dump").mkdir()
    ended = bench.tune()
    assert ended.code == 0, ended.err
    assert bench.notes("argv")[0] == [
        f"--model_path={bench.folder / 'dump'}",
        "--job_type=2",
        "--tune_ops_file=tune_ops.json",
    ]


def test_options_are_added_but_not_those_of_the_plan(bench: Bench) -> None:
    bench.plan()
    assert bench.tune("--aoe-option", "--job_type=1").code == 2
    assert bench.tune("--aoe-option", "rm").code == 2
    assert bench.tune("--aoe-option", "--precision_mode=force_fp16").code == 0
    assert bench.notes("argv")[0][-1] == "--precision_mode=force_fp16"


def test_a_dry_run_prints_and_runs_nothing(bench: Bench) -> None:
    bench.plan(mode="both")
    ended = bench.tune("--dry-run")
    assert ended.code == 0
    assert [row["stage"] for row in ended.json["rows"]] == ["sgat", "opat"]
    assert ended.json["rows"][1]["tune_ops"]["tune_ops_name"] == list(NAMES)
    for form in ("text", "csv", "markdown"):
        said = bench.run("tune", "run", bench.folder, "--dry-run", "--format", form).out
        assert "--framework=5" in said.replace("\\", "")
    assert f"export TUNE_BANK_PATH={bench.folder / 'bank'}\n" in bench.run("tune", "run", bench.folder, "--dry-run").out
    assert bench.notes("argv") == []
    assert not (bench.folder / "state.json").exists()


@pytest.mark.slow
def test_a_long_log_is_kept_at_both_ends(bench: Bench) -> None:
    from aoe_reports.tuning.job.runner import Limits, run_process, stopping

    log = bench.root / "log"
    lines: list[str] = []
    with stopping() as stop:
        ended = run_process(
            [str(bench.root / "bin" / "aoe"), "--job_type=3"],
            folder=bench.root,
            environment={**bench.environment, "STAND_IN": "chatty"},
            log=log,
            stop=stop,
            on_line=lambda line, _: lines.append(line),
            on_look=lambda: None,
            limits=Limits(max_log_bytes=10_000),
        )
    text = log.read_text()
    assert (ended.exit_code, lines[-1][:6]) == (1, "EG0000")
    assert len(lines) == 200_001, "every line is looked at"
    assert ended.log_dropped_bytes > 0
    assert text.startswith("line 0\n")
    assert "bytes left out" in text
    assert text.rstrip().endswith(lines[-1])
    assert len(text) < 10_000 + (1 << 20) + 1000


def test_what_is_printed_is_no_command_for_a_terminal(bench: Bench) -> None:
    bench.plan()
    (bench.root / "bin" / "aoe").write_text("#!/bin/sh\nprintf '\\033[31mred\\a\\n'\nexit 1\n")
    ended = bench.tune()
    assert ended.code == 1
    assert "\x1b" not in ended.err
    assert "\\x1b[31mred" in ended.err


def test_preflight_is_looked_at_and_stops_only_if_that_is_wished(bench: Bench) -> None:
    bench.plan()
    ended = bench.tune("--strict", RANK_SIZE="8", TE_PARALLEL_COMPILER="99")
    assert ended.code == 1
    assert "preflight-te-parallel" in ended.rules()
    assert ended.json["reasons"] == ["preflight"]
    assert bench.notes("argv") == []
    assert bench.tune(TE_PARALLEL_COMPILER="99").code == 0


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "html"])
def test_every_form(bench: Bench, form: str) -> None:
    bench.plan()
    ended = bench.run("tune", "run", bench.folder, "--format", form)
    assert ended.code == 0
    assert NAMES[0] in ended.out
    assert "measure again" in ended.err


def test_measuring_again_is_written_down(bench: Bench) -> None:
    bench.plan(profile="/data/PROF_1", engine_version="8.0.RC3")
    bench.tune()
    page = (bench.folder / "remeasure.md").read_text()
    for words in ("Restore the script", "TUNE_BANK_PATH", "op_compiler_cache_mode=force", "/data/PROF_1", "msprof"):
        assert words in page
    msprof = bench.root / "bin" / "msprof"
    msprof.write_text('#!/bin/sh\necho "$TUNE_BANK_PATH" "${AOE_MODE-unset}" "$@"\n')
    msprof.chmod(0o755)
    environment = {**bench.environment, "AOE_MODE": "2"}
    script = bench.folder / "remeasure.sh"
    done = subprocess.run([script, "infer", "a b"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(
        f"{bench.folder / 'bank'} unset --output={bench.folder / 'remeasured'} --task-time=on"
    )
    assert done.stdout.splitlines()[0].endswith("infer a b")
    assert subprocess.run([script], env=environment, capture_output=True, check=False).returncode == 2


def test_measuring_again_leaves_a_log_that_says_what_used_the_bank(bench: Bench) -> None:
    bench.plan()
    assert bench.tune(ASCEND_GLOBAL_LOG_LEVEL="1").code == 0
    names = (*NAMES, "net/other")
    msprof = bench.root / "bin" / "msprof"
    msprof.write_text('#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n')
    msprof.chmod(0o755)
    script = [bench.folder / "remeasure.sh", "aoe", "--compile", *names]
    for _ in range(2):
        subprocess.run(script, env=bench.environment, capture_output=True, check=True)
    ended = bench.run("bank", "--log", bench.folder / "remeasured_log")
    assert ended.out.startswith("3 of 4 operators used the bank; 1 did not: net/other.")
    tuning = bench.run("bank", "--log", bench.folder / "runs", "--format", "json").json["uses"]
    assert {one["status"] for one in tuning} == {"missed"}, "tuning compiles before the entries are there"


def test_a_script_that_compiles_itself_begins_a_new_log_each_time(bench: Bench) -> None:
    plan = bench.plan(scenario="pytorch")
    script = bench.folder / "remeasure.sh"
    script.write_text(remeasure_script(plan))
    (bench.folder / "bank").mkdir()
    for name in NAMES[:2]:
        subprocess.run(["sh", script, "aoe", "--compile", name], env=bench.environment, capture_output=True, check=True)
    assert len(list(bench.folder.glob("remeasured_log.*"))) == 1
    ended = bench.run("bank", "--log", bench.folder / "remeasured_log")
    assert ended.out.startswith(f"0 of 1 operator used the bank; 1 did not: {NAMES[1]}.")


def test_people_are_told_in_their_language_and_programs_are_not(bench: Bench) -> None:
    bench.plan()
    english = bench.tune()
    page = (bench.folder / "remeasure.md").read_text()
    chinese = bench.tune("--restart", "--lang", "zh")
    assert [row["reason"] for row in chinese.json["rows"]] == [row["reason"] for row in english.json["rows"]]
    assert "opat：已完成 3/3 个算子，优化 3 个，最大加速 +60.0%" in chinese.err
    told = (bench.folder / "remeasure.md").read_text()
    assert told.startswith("# 重新测量\n")
    assert told.count("\n") == page.count("\n")
    assert [line for line in told.splitlines() if line.startswith("   ")] == [
        line for line in page.splitlines() if line.startswith("   ")
    ]
    refused = bench.tune(AOE_REPORTS_LANG="zh")
    assert refused.code == 2
    assert f"{bench.folder}：已调优过" in refused.err


@pytest.mark.parametrize(("stand_in", "said"), [("nothing", {"tune-nothing-changed"}), (None, set())])
def test_where_nothing_got_faster_that_is_said(bench: Bench, stand_in: str | None, said: set[str]) -> None:
    bench.plan()
    ended = bench.tune(**({} if stand_in is None else {"STAND_IN": stand_in}))
    found = [one for one in ended.json["findings"] if one["rule"] in {"tune-nothing-changed", "tune-bank-unchanged"}]
    assert {one["rule"] for one in found} == said
    why = "no improvement: AOE found nothing to tune, found nothing faster, or all operators are already in the bank"
    assert [one["message"] for one in found] == [why] * len(said)


@pytest.mark.parametrize(("known", "said"), [(False, set()), (True, {"tune-nothing-changed"})])
def test_gradients_that_the_bank_has_already_are_no_improvement(bench: Bench, known: bool, said: set[str]) -> None:
    bench.plan(scenario="tf-training", mode="gdat", candidates=(), job=Job())
    command = ("--", bench.root / "bin" / "aoe", "--training")
    assert bench.tune(*command).code == 0
    if known:
        in_use = bench.root / "in_use"
        shutil.copytree(bench.folder / "bank", in_use)
        bench.environment["TUNE_BANK_PATH"] = str(in_use)
    ended = bench.tune("--restart", *command)
    assert (ended.code, bool(ended.json["bank_changes"])) == (0, not known), ended.err
    assert rules(ended) & {"tune-nothing-changed", "tune-bank-unchanged"} == said
