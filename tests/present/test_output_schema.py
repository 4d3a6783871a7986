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

from aoe_reports.present.schema import schema_of_answers
from aoe_reports.topics.advice.advise import Advise
from aoe_reports.topics.banks.bank import Bank
from aoe_reports.topics.banks.diff import BankDiff
from aoe_reports.topics.communication.communication import CommunicationOfRuns
from aoe_reports.topics.comparison.compare import Compare
from aoe_reports.topics.comparison.explain import Explain
from aoe_reports.topics.critical_path.critical_path import CriticalPath
from aoe_reports.topics.device_time.breakdown import Breakdown
from aoe_reports.topics.device_time.hotspots import Hotspots
from aoe_reports.topics.files.check import Check
from aoe_reports.topics.files.inspect import Inspect
from aoe_reports.topics.host.host import Host
from aoe_reports.topics.locations.stacks import Stacks
from aoe_reports.topics.quality.quality import Quality
from aoe_reports.topics.roofline.roofline import RooflineOfRuns
from aoe_reports.topics.serving.serving import Serving
from aoe_reports.topics.steps.steps import Steps
from aoe_reports.topics.steps.stragglers import Stragglers

SCHEMA = json.loads((ROOT / "docs" / "outputs.schema.json").read_text())
MSPROF = FIXTURES / "msprof" / "valid"
RANKS = MSPROF / "communication_of_four_ranks"
ASKED = {
    "hotspots": [MSPROF / "merged_two_devices", FIXTURES / "msprof" / "invalid" / "csv-ragged-row"],
    "steps": [MSPROF],
    "breakdown": [],
    "critical-path": [],
    "host": [],
    "communication": [MSPROF],
    "stragglers": [MSPROF],
    "compare": [MSPROF / "ten_iterations", MSPROF / "ten_iterations"],
    "explain": [RANKS, MSPROF / "torch_npu_two_ranks", "--force"],
    "roofline": [MSPROF, "--chip", "Ascend910B2"],
    "quality": [MSPROF],
    "stacks": [MSPROF],
    "serving": [FIXTURES / "serving"],
    "advise": [MSPROF],
    "inspect": [FIXTURES / "aoe" / "valid", MSPROF / "ten_iterations", FIXTURES / "records" / "valid"],
    "bank": [FIXTURES / "banks" / "after", "--profile", FIXTURES / "banks" / "profile"],
    "bank diff": [FIXTURES / "banks" / "before", FIXTURES / "banks" / "after"],
    "check": [FIXTURES / "aoe", FIXTURES / "msprof" / "invalid"],
}


QUESTIONS = (
    Advise,
    Bank,
    BankDiff,
    Breakdown,
    Check,
    CommunicationOfRuns,
    Compare,
    CriticalPath,
    Explain,
    Host,
    Hotspots,
    Inspect,
    Quality,
    RooflineOfRuns,
    Serving,
    Stacks,
    Steps,
    Stragglers,
)


def test_every_question_has_a_schema() -> None:
    assert schema_of_answers(kind() for kind in QUESTIONS) == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert {*ASKED, "finding"} == set(SCHEMA["$defs"])


@pytest.mark.parametrize("command", ASKED)
def test_what_is_printed_fits(cli: Cli, tmp_path: Path, command: str) -> None:
    if not (paths := ASKED[command]):
        write_timelines(tmp_path)
        paths = [tmp_path]
    printed = cli(*command.split(), *paths, "--format", "json").json
    check_output_schema(printed)
    jsonschema_rs.validate({**SCHEMA["$defs"][command], "$defs": SCHEMA["$defs"]}, printed)
    tables = [
        key for key, what in SCHEMA["$defs"][command]["properties"].items() if "properties" in what.get("items", {})
    ]
    # rows of slow ends, hosts, stages, experts, copies, contention, gradients, calls and sequences: tests/questions
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
    }


def test_another_key_does_not_fit(cli: Cli) -> None:
    printed = cli("hotspots", MSPROF / "ten_iterations", "--format", "json").json
    printed["rows"][0]["another"] = 1
    with pytest.raises(jsonschema_rs.ValidationError):
        check_output_schema(printed)
