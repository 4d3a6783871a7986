"""The recipe of CONTRIBUTING for a rule on results, followed in a copy of the tree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

RULE = '''"""The rule on times with many digits."""

from __future__ import annotations

from aoe_reports.model.texts import say
from aoe_reports.formats.aoe.results import TuningResult
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.document import DOCS, RESULTS, claims_of


@RESULTS.rule("many-digits", "warning", "nobody measures picoseconds", DOCS).checked_by
def many_digits(task: TuningResult) -> Found:
    """No time has more than six digits behind the point."""
    for claim in claims_of(task):
        for word, value in (("before", claim.before), ("after", claim.after)):
            if value is not None and value.as_tuple().exponent < -6:
                yield claim.place(word), say("{value} has too many digits", value=value)
'''
LAST_MODULE = "(outcome, claims)\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with one more rule and its fixture."""
    copy = tmp_path_factory.mktemp("tree")
    for folder in ("src", "schemas"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    rules = copy / "src" / "aoe_reports" / "rules" / "results"
    (rules / "many_digits.py").write_text(RULE)
    registry = (rules / "__init__.py").read_text()
    assert registry.count(LAST_MODULE) == 1
    registry = registry.replace(LAST_MODULE, LAST_MODULE.replace(")", ", many_digits)"))
    (rules / "__init__.py").write_text(registry.replace("file_rules, outcome\n", "file_rules, many_digits, outcome\n"))
    made = copy / "fixtures" / "aoe" / "invalid" / "many-digits"
    made.mkdir(parents=True)
    source = next((ROOT / "fixtures" / "aoe" / "valid" / "array_flat").glob("aoe_result_*.json"))
    text, changed = re.subn(r'(_before_tune\(us\)": [0-9]+)(\.[0-9]+)?', _lengthened, source.read_text(), count=1)
    assert changed == 1
    (made / source.name).write_text(text)
    return copy


def _lengthened(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2] or '.'}0000000"


def run(tree: Path, *arguments: str) -> Any:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-m", "aoe_reports", *arguments, "--format", "json"]
    ended = subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True, check=False)
    return json.loads(ended.stdout)


def test_check_reports_the_new_rule_and_nothing_else(tree: Path) -> None:
    """It sees the digits of the file, which floats would not have."""
    (finding,) = run(tree, "check", "fixtures/aoe/invalid/many-digits")["findings"]
    assert (finding["rule"], finding["severity"]) == ("many-digits", "warning")
    assert finding["line"] is not None
    assert finding["pointer"].endswith("/performance_before_tune(us)")


def test_check_lists_the_new_rule(tree: Path) -> None:
    rows = {row["rule"]: row for row in run(tree, "check", "--rules")["rows"]}
    assert rows["many-digits"]["reason"] == "nobody measures picoseconds"
    assert rows["many-digits"]["on"] == "AOE results"


def test_the_new_rule_can_be_selected(tree: Path) -> None:
    assert run(tree, "check", "fixtures", "--ignore", "many-digits")["findings"] == []
