"""A language is one file: with a catalogue that nobody has seen, every command says everything in it."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from catalogues import FOLDER, extraction
from commandline import FIXTURES, ROOT
from typer.core import TyperGroup

from aoe_reports.cli.main import app

HEAD = r"""
msgid ""
msgstr ""
"Language: xx_YY\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=1; plural=0;\n"
""".lstrip()
DRIVER = """
import contextlib, io, json, sys
from aoe_reports.cli.main import main
ended = []
for arguments in json.load(sys.stdin):
    sys.argv, said, code = ["aoe-reports", *arguments], io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as error:
            code = error.code
    ended.append([code, said.getvalue()])
print(json.dumps(ended))
"""
ENGLISH = re.compile(r"(?<![\w.$/`<'\"-])[A-Za-z]?[a-z]+[,;:]?(?: [a-z]+[,;:]?){2,}(?![\w|/-])")
_UNSEEN = re.compile(r"<(style|script|pre)\b.*?</\1>|data:image[^\"]*", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_HEARD = re.compile(r"\b(?:alt|aria-label|title|data-hint|data-filter)=\"([^\"]*)\"")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one more catalogue, in which every text stands in brackets."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(FOLDER.parent, folder / "aoe_reports")
    shutil.copytree(ROOT / "schemas", folder / "aoe_reports" / "json_schemas")  # as a wheel has them
    made = folder / "aoe_reports" / "locale" / "xx.po"
    made.write_text(HEAD)
    head, *entries = extraction.updated(made).split("\n\n")
    made.write_text("\n\n".join([head, *map(_bracketed, entries)]) + "\n")
    return folder


def _bracketed(entry: str) -> str:
    """An entry whose translation is its English in brackets; what stands between parts stays."""
    before, _, _ = entry.partition("\nmsgstr")
    if "msgid_plural " in before:
        return f"{before}\nmsgstr[0] {_said(before.partition('msgid_plural ')[2])}"
    return f"{before}\nmsgstr {_said(before.partition('msgid ')[2])}"


def _said(quoted: str) -> str:
    english = "".join(map(json.loads, re.findall(r'"(?:[^"\\]|\\.)*"', quoted)))
    return json.dumps(english if english.startswith("{}") else f"⟦{english}⟧", ensure_ascii=False)


def run(package: Path, *calls: tuple[object, ...]) -> list[tuple[object, str]]:
    """How commands ended in a process of the copy, and what they said."""
    ended = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps([[str(part) for part in call] for call in calls]),
        env={**os.environ, "PYTHONPATH": str(package), "COLUMNS": "100", "AOE_REPORTS_LANG": "xx"},
        cwd=package,
        capture_output=True,
        text=True,
        check=True,
    )
    return [(code, said) for code, said in json.loads(ended.stdout)]


def left_in_english(text: str) -> list[str]:
    """Three and more words of English in a row outside of all brackets."""
    if "<!doctype html" in text:
        text = _UNSEEN.sub("", text)
        text = html.unescape("\n".join([_TAG.sub("\n", text), *_HEARD.findall(text)]))
    outside, depth = [], 0
    for part in re.split(r"([⟦⟧])", text):
        depth += (part == "⟦") - (part == "⟧")
        if not depth and part != "⟧":
            outside.append(part)
    return [found[0] for found in ENGLISH.finditer("|".join(outside))]


def paths(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, TyperGroup):
        for name, one in command.commands.items():
            yield from paths(one, (*path, name))


def test_english_is_found() -> None:
    assert left_in_english("⟦all of ⟦this is⟧ said here⟧ but this is not: ⟦at all⟧") == ["but this is not:"]


EXAMPLE = re.compile(r"^  aoe-reports .*$", re.MULTILINE)
"""A command line in a help, which is the same in every language."""


def test_every_help(package: Path) -> None:
    calls = [(*path, "--help") for path in paths(typer.main.get_command(app))]
    ended = run(package, *calls)
    told = {call: (code, EXAMPLE.sub("", said)) for call, (code, said) in zip(calls, ended, strict=True)}
    assert {call: (code, left_in_english(said)) for call, (code, said) in told.items()} == {
        call: (0, []) for call in calls
    }
    assert all("⟦Options⟧" in said for _, said in ended)
    assert re.search(r"<en\|[a-z|_]*\bxx\b[a-z|_]*>", ended[0][1])


def test_errors_of_usage(package: Path) -> None:
    ended = run(package, ("stor",), ("steps",), ("hotspots", "x", "--top", "a"))
    assert [(code, left_in_english(said)) for code, said in ended] == [(2, [])] * 3


PROFILES = FIXTURES / "msprof" / "valid"
OF_A_FILE = "Fuse them with the operators before them"
"""What msprof advises in one of these profiles, in its own words."""


def test_reports_findings_and_pages(package: Path, tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    calls: list[tuple[object, ...]] = [
        ("check", FIXTURES / "msprof" / "invalid", FIXTURES / "aoe" / "invalid", FIXTURES / "records" / "invalid"),
        ("check", "--rules"),
        ("inspect", FIXTURES / "msprof" / "invalid"),
        *((command, PROFILES) for command in ("hotspots", "steps", "breakdown", "communication", "advise")),
        ("advise", PROFILES, "--format", "html"),
        ("demo", "-o", demo),
        *((command, "--store", demo / "history") for command in ("regressions", "report")),
        *(("store", "history", what, "--store", demo / "history") for what in ("runs", "changes", "advice")),
        ("report", "--store", demo / "history", "--format", "html"),
        ("store", "info", "--store", demo / "history"),
        ("tune", "run", tmp_path / "nothing"),
    ]
    ended = run(package, *calls)
    assert {code for code, _ in ended} <= {0, 1, 2, 3, 4}
    left = [
        (call, found)
        for call, (_, said) in zip(calls, ended, strict=True)
        for found in left_in_english(said)
        if found != OF_A_FILE
    ]
    assert left == []
    pages = {path: path.read_text() for path in (demo / "site").rglob("*.html")}
    assert len(pages) > 50
    assert [(path.name, found) for path, page in pages.items() for found in left_in_english(page)] == []
    assert all('<html lang="xx-YY">' in page for page in pages.values())
