"""The recipe of CONTRIBUTING for a rule on results, followed in a copy of the tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commandline import ROOT
from copies import add_module_of_recipe, copied_package, replace_once, run_in_copy

LAST_MODULE = "operators, parts_and_whole\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with one more rule and its fixture."""
    copy = tmp_path_factory.mktemp("tree")
    rules = copied_package(copy) / "rules" / "results"
    add_module_of_recipe(copy, "rules/results/hundredfold.py")
    registry = rules / "__init__.py"
    replace_once(registry, LAST_MODULE, LAST_MODULE.replace("\n", ", hundredfold\n"))
    replace_once(registry, "    improvement,\n", "    hundredfold,\n    improvement,\n")
    made = copy / "fixtures" / "aoe" / "invalid" / "hundredfold"
    made.mkdir(parents=True)
    source = next((ROOT / "fixtures" / "aoe" / "valid" / "array_flat").glob("aoe_result_*.json"))
    text = source.read_text().replace("40.5", "0.5", 1).replace("50.00%", "12050.00%", 1)
    (made / source.name).write_text(text)
    return copy


def run(tree: Path, *arguments: str) -> Any:
    return json.loads(run_in_copy(tree, *arguments, "--format", "json").stdout)


@pytest.mark.slow
def test_check_reports_the_new_rule_and_nothing_else(tree: Path) -> None:
    (finding,) = run(tree, "check", "fixtures/aoe/invalid/hundredfold")["findings"]
    assert (finding["rule"], finding["severity"]) == ("hundredfold", "warning")
    assert finding["line"] is not None
    assert finding["pointer"].endswith("/performance_after_tune(us)")
    ignored = run(tree, "check", "fixtures/aoe/invalid/hundredfold", "--ignore", "hundredfold")
    assert ignored["findings"] == []


@pytest.mark.slow
def test_check_lists_the_new_rule(tree: Path) -> None:
    rows = {row["rule"]: row for row in run(tree, "check", "--rules")["rows"]}
    assert rows["hundredfold"]["reason"] == "no tuning gains as much"
    assert rows["hundredfold"]["on"] == "AOE results"
