"""Every rule is declared once, listed, and raised by its declaration alone."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tables_of_docs import rules_of_docs

import aoe_reports
from aoe_reports.jobs.rules import list_rules
from aoe_reports.rules.results import FILE_RULES, RULES

SOURCE = Path(aoe_reports.__file__).parent
REMADE = {
    "model/rules.py": "by a rule",
    "model/findings.py": "that there are more of one rule",
    "history/site_facts.py": "of a row of the store",
    "tuning/aoe/machine.py": "of what a rule of preflight said",
}
"""Where findings are made, and of what."""


@cache
def _nodes() -> dict[str, list[ast.AST]]:
    """The syntax trees of the package's modules, node by node."""
    return {
        str(path.relative_to(SOURCE)): [*ast.walk(ast.parse(path.read_text()))] for path in sorted(SOURCE.rglob("*.py"))
    }


def _declarations() -> Iterator[tuple[str, str]]:
    """(name of a rule, name of the constant or function that it is) of each declaration."""
    for nodes in _nodes().values():
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=owner)], value=made):
                    pass
                case ast.FunctionDef(name=owner, decorator_list=[ast.Attribute(attr="checked_by", value=made)]):
                    pass
                case _:
                    continue
            match made:
                case ast.Call(func=ast.Attribute(attr="rule"), args=[ast.Constant(value=str(name)), *_]):
                    yield name, owner


def test_the_list_is_what_is_declared() -> None:
    declared = Counter(name for name, _ in _declarations())
    assert declared == Counter(one.rule for one in list_rules())


def test_findings_are_made_by_rules() -> None:
    making = {
        module
        for module, nodes in _nodes().items()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
    }
    assert making == set(REMADE)


def test_no_rule_is_left_that_nobody_raises() -> None:
    used = {
        node.id
        for nodes in _nodes().values()
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    tried = {*FILE_RULES, *RULES}
    assert [name for name, owner in _declarations() if owner not in used and name not in tried] == []


def test_rules_are_listed_by_what_they_are_about_then_by_name() -> None:
    listed = [(one.on, one.rule) for one in list_rules()]
    assert listed == sorted(listed)


def test_docs_list_every_rule_as_it_is_declared() -> None:
    told = {one.rule: [one.severity, one.on, one.reason, one.source] for one in list_rules()}
    assert told == rules_of_docs()
