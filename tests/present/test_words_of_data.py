"""The words that data use for what they say, which people read in their own language."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

from catalogues import CHINESE

from aoe_reports.model.findings import SEVERITIES
from aoe_reports.present.reports import words
from aoe_reports.tuning.verify.rows import Scope, Verdict


def listed() -> set[str]:
    """The words that the module names."""
    (marked,) = (one for one in ast.walk(ast.parse(Path(words.__file__).read_text())) if isinstance(one, ast.Call))
    return {one.value for one in ast.walk(marked) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_every_word_of_data_has_its_word_for_people() -> None:
    assert listed() - CHINESE.keys() == set()


def test_words_of_verdicts_findings_and_scopes_are_among_them() -> None:
    assert {*get_args(Verdict), *SEVERITIES, *get_args(Scope)} - {"operators"} <= listed()
