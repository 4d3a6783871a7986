"""Results of AOE in the forms of `check`, whole: what every kind of ending of a task looks like to its reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import FIXTURES, Cli
from whole_texts import assert_recorded

EXPECTED = Path(__file__).with_name("texts_of_checks")
ENDINGS = (
    "valid/report_flat",
    "valid/report_subgraphs",
    "invalid/hit-sum",
    "invalid/json-truncated",
    "invalid/nothing-improved",
    "invalid/nothing-tunable",
    "invalid/subgraph-failed",
    "invalid/tuning-failed",
    "invalid/tuning-incomplete",
)


@pytest.mark.parametrize("form", ["text", "html", "markdown", "junit", "github", "csv"])
def test_a_form_says_all_of_this(cli: Cli, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FIXTURES / "aoe")
    ended = cli("check", *ENDINGS, "--format", form)
    said = ended.out[ended.out.index("<body") :] if form == "html" else ended.out
    assert_recorded(EXPECTED, {form: said})
    assert ended.code == 1
