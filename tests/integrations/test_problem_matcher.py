"""The problem matchers of VS Code find every finding that `check` prints, and where it is."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from commandline import FIXTURES, ROOT, Cli

TASK = json.loads((ROOT / "integrations" / "vscode" / "tasks.json").read_text())["tasks"][0]
MATCHERS = [matcher["pattern"] for matcher in TASK["problemMatcher"]]
BAD = [
    *sorted((FIXTURES / "msprof" / "invalid").iterdir()),
    *sorted((FIXTURES / "aoe" / "invalid").iterdir()),
    *sorted((FIXTURES / "banks" / "invalid").iterdir()),
]


def _problems(text: str) -> list[dict[str, str | None]]:
    """What VS Code makes of the lines: the first matcher that matches a line takes it."""
    found = []
    for line in text.splitlines():
        for pattern in MATCHERS:
            if match := re.search(pattern["regexp"], line):
                keys = ("file", "line", "column", "severity", "message", "code")
                found.append({key: match[pattern[key]] if key in pattern else None for key in keys})
                break
    return found


def _expected(answer: dict) -> list[tuple[str, str | None, str, str]]:
    lines = [finding["line"] for finding in answer["findings"]]
    found = [(one["path"], one["severity"], one["rule"]) for one in answer["findings"]]
    return [
        (path, None if line is None else str(line), severity, rule)
        for line, (path, severity, rule) in zip(lines, found, strict=True)
    ]


def _seen(text: str) -> list[tuple[str | None, ...]]:
    return [(one["file"], one["line"], one["severity"], one["code"]) for one in _problems(text)]


@pytest.mark.parametrize("folder", BAD[::4], ids=lambda path: path.name)
def test_every_finding_is_found_where_it_is(cli: Cli, folder: Path) -> None:
    answer = cli("check", folder, "--format", "json").json
    assert sorted(_seen(cli("check", folder).out), key=str) == sorted(_expected(answer), key=str)


@pytest.mark.parametrize("name", ["with spaces", "a:7:b", "error: no", "[x] (y)"])
def test_names_may_hold_what_the_lines_hold(cli: Cli, tmp_path: Path, name: str) -> None:
    for rule in ("csv-unparsable", "empty-file"):
        shutil.copytree(FIXTURES / "msprof" / "invalid" / rule, tmp_path / name / rule)
    answer = cli("check", tmp_path / name, "--format", "json").json
    assert len(answer["findings"]) == 2
    assert sorted(_seen(cli("check", tmp_path / name).out), key=str) == sorted(_expected(answer), key=str)


def test_what_has_no_line_is_a_problem_of_the_file() -> None:
    first, second = (matcher.get("kind") for matcher in MATCHERS)
    assert (first, second) == (None, "file")
    text = (
        "a/b.csv:3:7: error: x [csv-unparsable]\na/b.csv:3: error: x [y]\na/b.csv: info: x: y [z]\n2 files, 1 error\n"
    )
    assert [(one["line"], one["column"]) for one in _problems(text)] == [("3", "7"), ("3", None), (None, None)]
