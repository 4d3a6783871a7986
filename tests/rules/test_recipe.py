"""The recipe of CONTRIBUTING for a rule on results, followed in a copy of the tree."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commandline import ROOT
from copies import copied_package, replace_once, run_in_copy

RULE = '''"""The rule on times with many digits."""

from __future__ import annotations

from aoe_reports.model.texts import say
from aoe_reports.rules.results.task import DOCS, RESULTS, Task
from aoe_reports.rules.found import Found


@RESULTS.rule("many-digits", "warning", "nobody measures picoseconds", DOCS).checked_by
def many_digits(task: Task) -> Found:
    """No time has more than six digits behind the point."""
    for claim in task.claims:
        for word, value in (("before", claim.before), ("after", claim.after)):
            if value is not None and value.as_tuple().exponent < -6:
                yield task.place_of(claim, word), say("{value} has too many digits", value=value)
'''
LAST_MODULE = "operators, parts_and_whole\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with one more rule and its fixture."""
    copy = tmp_path_factory.mktemp("tree")
    rules = copied_package(copy) / "rules" / "results"
    (rules / "many_digits.py").write_text(RULE)
    registry = rules / "__init__.py"
    replace_once(registry, LAST_MODULE, LAST_MODULE.replace("\n", ", many_digits\n"))
    replace_once(registry, "    keys,\n", "    keys,\n    many_digits,\n")
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
    return json.loads(run_in_copy(tree, *arguments, "--format", "json").stdout)


@pytest.mark.slow
def test_check_reports_the_new_rule_and_nothing_else(tree: Path) -> None:
    """The digits that it looks at are lost in floats: it sees those of the file all the same."""
    (finding,) = run(tree, "check", "fixtures/aoe/invalid/many-digits")["findings"]
    assert (finding["rule"], finding["severity"]) == ("many-digits", "warning")
    assert finding["line"] is not None
    assert finding["pointer"].endswith("/performance_before_tune(us)")
    ignored = run(tree, "check", "fixtures/aoe/invalid/many-digits", "--ignore", "many-digits")
    assert ignored["findings"] == []


@pytest.mark.slow
def test_check_lists_the_new_rule(tree: Path) -> None:
    rows = {row["rule"]: row for row in run(tree, "check", "--rules")["rows"]}
    assert rows["many-digits"]["reason"] == "nobody measures picoseconds"
    assert rows["many-digits"]["on"] == "AOE results"
