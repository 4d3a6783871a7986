"""What each question prints as JSON is what docs/outputs.schema.json says."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import jsonschema_rs
import pytest
from commandline import FIXTURES, ROOT, Cli
from documents import check_output_schema
from goldens.timeline import write_timelines

from aoe_reports.cli.menu import every_question
from aoe_reports.present.schema import schema_of_answers
from aoe_reports.topics.files.check import Check

SCHEMA = json.loads((ROOT / "docs" / "outputs.schema.json").read_text())
MSPROF = FIXTURES / "msprof" / "valid"
RANKS = MSPROF / "communication_of_four_ranks"
OF_THEIR_OWN = {
    "hotspots": [MSPROF / "merged_two_devices", FIXTURES / "msprof" / "invalid" / "csv-ragged-row"],
    "breakdown": [],
    "critical-path": [],
    "host": [],
    "compare": [MSPROF / "ten_iterations", MSPROF / "ten_iterations"],
    "explain": [RANKS, MSPROF / "torch_npu_two_ranks", "--force"],
    "roofline": [MSPROF, "--chip", "Ascend910B2"],
    "serving": [FIXTURES / "serving"],
    "memory": [FIXTURES / "memory" / "valid", FIXTURES / "memory" / "training"],
    "inspect": [FIXTURES / "aoe" / "valid", MSPROF / "ten_iterations", FIXTURES / "records" / "valid"],
    "bank": [
        FIXTURES / "banks" / "tilings",
        "--profile",
        FIXTURES / "banks" / "static_profile",
        "--soc",
        "Ascend910B3",
    ],
    "bank diff": [FIXTURES / "banks" / "before", FIXTURES / "banks" / "after"],
    "check": [FIXTURES / "aoe", FIXTURES / "msprof" / "invalid"],
}
"""What questions read that do not read all valid captures; nothing: timelines."""
QUESTIONS = {**every_question(), "check": Check()}


def test_every_question_has_a_schema() -> None:
    questions = sorted(QUESTIONS.values(), key=lambda question: question.name)
    assert schema_of_answers(questions) == SCHEMA, "run `make docs`"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("command", QUESTIONS)
def test_what_is_printed_fits(cli: Cli, tmp_path: Path, command: str) -> None:
    if not (paths := OF_THEIR_OWN.get(command, [MSPROF])):
        write_timelines(tmp_path)
        paths = [tmp_path]
    printed = cli(*command.split(), *paths, "--format", "json").json
    check_output_schema(printed)
    jsonschema_rs.validate({**SCHEMA["$defs"][command], "$defs": SCHEMA["$defs"]}, printed)
    tables = [
        key for key, what in SCHEMA["$defs"][command]["properties"].items() if "properties" in what.get("items", {})
    ]
    # rows of slow ends, hosts, stages, experts, copies, contention, gradients, calls, sequences, memory and searches in banks: tests/topics
    assert {key for key in tables if not printed[key]} <= {
        "slow_ends",
        "slow_hosts",
        "segments",
        "hosts",
        "stages",
        "experts",
        "alignments",
        "contentions",
        "gradients",
        "calls",
        "sequences",
        "memory",
        "memory_peaks",
        "uses",
    }


def test_another_key_does_not_fit(cli: Cli) -> None:
    printed = cli("hotspots", MSPROF / "ten_iterations", "--format", "json").json
    printed["rows"][0]["another"] = 1
    with pytest.raises(jsonschema_rs.ValidationError):
        check_output_schema(printed)
