"""`collect`: what it prints is what its own check accepts; the check finds what the collector would not take."""

from __future__ import annotations

import ast
import json
import re
import shlex
from typing import Any

import pytest
from commandline import Cli

from aoe_reports.formats.ascend.profiling import DEFAULTS

PYTHON = ("tf1-estimator", "tf1-session", "tf2", "pytorch", "mindspore")
FRAMEWORKS = (*PYTHON, "vllm", "msprof", "msprof-op")
QUESTIONS = ("hotspots", "steps", "timeline", "communication", "tuning")
OF_NO_KERNEL = ("steps", "timeline", "communication")
ANSWERED = [
    (framework, question)
    for framework in FRAMEWORKS
    for question in QUESTIONS
    if framework != "msprof-op" or question not in OF_NO_KERNEL
]

SAMPLE = (
    '{"output":"/tmp/profiling","training_trace":"on","task_trace":"on","fp_point":"","bp_point":"",'
    '"aic_metrics":"PipeUtilization"}'
)


@pytest.mark.parametrize(("framework", "question"), ANSWERED)
def test_every_question_has_a_recipe_in_every_framework(cli: Cli, framework: str, question: str) -> None:
    ended = cli("collect", "--framework", framework, "--for", question, "--format", "json")
    found = ended.json
    assert (ended.code, found["framework"], found["question"]) == (0, framework, question)
    assert found["rows"]
    assert all(row["source"] for row in found["rows"])
    assert found["switch_off"]
    assert any(row["files"] for row in found["rows"])
    if framework in PYTHON:
        check_snippet(cli, framework, found)


def check_snippet(cli: Cli, framework: str, found: dict[str, Any]) -> None:
    """Snippets are Python, and their options pass the check."""
    tree = ast.parse(found["snippet"])
    ast.parse(found["switch_off"])
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    options = [text for text in strings if text.startswith("{")]
    assert len(options) == (1 if framework.startswith("tf") else 0)
    for text in options:
        checked = cli("collect", "--check", text, "--format", "json")
        assert checked.code == 0
        assert {finding["severity"] for finding in checked.json["findings"]} <= {"info"}
        assert json.loads(text) == {row["key"]: row["value"] for row in found["rows"]}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_command_takes_only_documented_arguments(cli: Cli, question: str) -> None:
    found = cli("collect", "--framework", "msprof", "--for", question, "--format", "json").json
    words = shlex.split(found["snippet"])
    documented = {
        "--output",
        "--ascendcl",
        "--ai-core",
        "--aic-metrics",
        "--task-time",
        "--runtime-api",
        "--hccl",
        "--aicpu",
    }
    arguments = [word.partition("=") for word in words if word.startswith("--")]
    assert {name for name, _, _ in arguments} <= documented
    assert [(name, value) for name, _, value in arguments] == [(row["key"], row["value"]) for row in found["rows"]]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_server_records_a_few_iterations_of_the_engine(cli: Cli, question: str) -> None:
    found = cli("collect", "--framework", "vllm", "--for", question, "--format", "json").json
    assert found["language"] == "shell"
    serve, *requests = [shlex.split(line, comments=True) for line in found["snippet"].splitlines()]
    assert (serve[:2], serve[3]) == (["vllm", "serve"], "--profiler-config")
    options = json.loads(serve[4])
    assert (options["profiler"], options["delay_iterations"], options["max_iterations"]) == ("torch", 10, 5)
    assert options["torch_profiler_dir"].startswith("/")  # vLLM takes absolute paths only
    assert options == {
        row["key"]: row["value"] if row["value"].startswith(("/", "torch")) else json.loads(row["value"])
        for row in found["rows"]
    }
    ends = [words[-1].rpartition("/")[2] for words in requests if words[:3] == ["curl", "-X", "POST"]]
    assert ends == ["start_profile", "stop_profile"]
    analysed = shlex.split(found["after"][0])
    assert options["torch_profiler_dir"] in ast.unparse(ast.parse(analysed[-1]))
    assert any("not marked as steps" in note for note in found["notes"]) == (question == "steps")


def test_a_kernel_is_measured_by_documented_arguments(cli: Cli) -> None:
    found = cli("collect", "--framework", "msprof-op", "--format", "json").json
    words = shlex.split(found["snippet"])
    assert words[:2] == ["msprof", "op"]
    arguments = [tuple(word.split("=")) for word in words if word.startswith("--")]
    assert arguments == [(row["key"], row["value"]) for row in found["rows"]]
    assert {name for name, _ in arguments} == {
        "--output",
        "--kernel-name",
        "--warm-up",
        "--launch-count",
        "--aic-metrics",
    }
    assert "OpBasicInfo*.csv" in {name for row in found["rows"] for name in row["files"]}


@pytest.mark.parametrize("question", OF_NO_KERNEL)
def test_what_single_kernels_do_not_answer_is_refused(cli: Cli, question: str) -> None:
    ended = cli("collect", "--framework", "msprof-op", "--for", question)
    assert (ended.code, ended.out) == (2, "")
    assert f"does not answer {question}; expected --for hotspots, tuning" in ended.err


def test_what_each_question_needs_is_among_the_files(cli: Cli) -> None:
    wanted = {
        ("tf1-session", "steps"): "step_trace_*.csv",
        ("msprof", "steps"): "step_trace_*.csv",
        ("tf2", "communication"): "hccl_*.json",
        ("pytorch", "communication"): "communication.json",
        ("pytorch", "hotspots"): "op_statistic.csv",
        ("tf1-estimator", "tuning"): "op_summary_*.csv",
        ("msprof", "hotspots"): "op_summary_*.csv",
        ("vllm", "hotspots"): "op_statistic.csv",
        ("msprof-op", "tuning"): "PipeUtilization*.csv",
    }
    for (framework, question), file in wanted.items():
        rows = cli("collect", "--framework", framework, "--for", question, "--format", "json").json["rows"]
        assert file in {name for row in rows for name in row["files"]}, (framework, question)


def test_before_tuning_profiling_is_switched_off(cli: Cli) -> None:
    for framework in FRAMEWORKS:
        notes = cli("collect", "--framework", framework, "--for", "tuning", "--format", "json").json["notes"]
        assert any("Switch profiling off before AOE tunes" in note for note in notes)


def test_the_documented_sample_passes(cli: Cli) -> None:
    ended = cli("collect", "--check", SAMPLE, "--format", "json")
    assert (ended.code, ended.json["findings"], len(ended.json["rows"])) == (0, [], 6)


def test_the_quote_that_the_estimator_sample_lacks_is_found(cli: Cli) -> None:
    ended = cli("collect", "--check", SAMPLE.replace('"task_trace"', 'task_trace"'), "--format", "json")
    (found,) = ended.json["findings"]
    assert (ended.code, found["rule"], found["line"]) == (1, "option-syntax", 1)
    assert found["column"] == SAMPLE.index('"task_trace"') + 1
    assert "expected a key in quotation marks near" in found["message"]


def test_no_string_is_the_default_set(cli: Cli) -> None:
    ended = cli("collect", "--check", "", "--format", "json")
    assert (ended.code, ended.rules()) == (0, {"option-default"})
    assert {row["key"]: row["value"] for row in ended.json["rows"]} == DEFAULTS


@pytest.mark.parametrize(
    ("change", "rule", "code"),
    [
        ({"trainingtrace": "on"}, "option-unknown", 1),
        ({"training_trace": "yes"}, "option-value", 1),
        ({"aic_metrics": "Pipe"}, "option-value", 1),
        ({"sys_cpu_freq": "5"}, "option-value", 1),
        ({"sys_hardware_mem_freq": 101}, "option-versions", 0),
        ({"storage_limit": "100MB"}, "option-value", 0),
        ({"task_trace": "off"}, "option-without-effect", 0),
        ({"training_trace": "off", "fp_point": "conv1"}, "option-without-effect", 0),
        ({"training_trace": "off"}, "option-versions", 0),
        ({"instr_profiling_freq": 1000}, "option-conflict", 0),
        ({"output": ""}, "option-output", 0),
        ({"optype": "A" * 2048}, "option-too-long", 1),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, change: dict, rule: str, code: int) -> None:
    ended = cli("collect", "--check", json.dumps({**json.loads(SAMPLE), **change}), "--format", "json")
    assert ended.code == code
    beside = {"option-default"} if change.get("training_trace", "on") == "on" else {"option-default", "option-versions"}
    assert {rule} <= ended.rules() <= {rule, *beside}


@pytest.mark.parametrize("text", ["[]", "3", "{'output':'x'}", '{"output":NaN}', '{"output":"x"', "\x00", "[" * 300])
def test_what_is_no_object_is_said(cli: Cli, text: str) -> None:
    ended = cli("collect", "--check", text, "--format", "json")
    assert (ended.code, ended.rules(), ended.json["reasons"]) == (1, {"option-syntax"}, ["damage"])


def test_a_key_that_stands_twice_is_said(cli: Cli) -> None:
    ended = cli("collect", "--check", SAMPLE[:-1] + ',"task_trace":"off"}', "--format", "json")
    assert "json-duplicate-key" in ended.rules()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_recipe_has_the_same_code_in_every_form_and_language(cli: Cli, framework: str) -> None:
    asked = ("collect", "--framework", framework, "--for", "tuning", "--format")
    found = cli(*asked, "json", "--lang", "zh")
    assert found.out == cli(*asked, "json").out
    chinese = cli(*asked, "markdown", "--lang", "zh").out
    assert "关闭采集" in chinese
    assert not re.search(
        r"\b(of|the|is|are|what)\b", re.sub(r"```.*?```|^    .*?$", "", chinese, flags=re.DOTALL | re.MULTILINE)
    )
    for text in (chinese, cli(*asked, "text").out):
        for line in (*found.json["snippet"].splitlines(), *found.json["switch_off"].splitlines()):
            assert line in text
