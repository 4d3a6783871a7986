"""What `--help` lists, what old names do, and that a form of answers is accepted wherever answers are printed."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
import typer
from commandline import FIXTURES, Cli

from aoe_reports.cli.main import app
from aoe_reports.cli.menu import ALIASES, ROOT, Entry, every_command
from aoe_reports.present.forms import FORMS
from aoe_reports.present.values import width

MAX_NAMES = 25
PROFILE = FIXTURES / "msprof" / "valid" / "statistic_only"
OF_THEIR_OWN = {"collect", "nightly", "report", "store history"}
"""Commands that print what is no table, or have no CSV."""


def listed(help_: str) -> list[str]:
    return re.findall(r"^  ([a-z][a-z-]*)  +\S", help_, re.MULTILINE)


def command_of(words: tuple[str, ...]) -> Any:
    found: Any = typer.main.get_command(app)
    for word in words:
        found = found.commands[word]
    return found


def test_the_first_screen_is_short_and_all_commands_are_one_option_away(cli: Cli) -> None:
    first = listed(cli("--help").out)
    assert len(first) <= MAX_NAMES
    assert set(first) < set(listed(cli("--help-all").out)) == set(ROOT.commands)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_titles_fit_into_a_line(cli: Cli, language: str) -> None:
    for words in ((), ("store",), ("tune",), ("bank",), ("fleet",), ("cache",)):
        lines = cli("--lang", language, *words, "--help" if words else "--help-all").out.splitlines()
        assert max(map(width, lines)) <= 80


def test_help_imports_no_command(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aoe_reports.cli.menu._resolved", lambda entry: pytest.fail(f"{entry} is imported"))
    assert cli("--help").code == cli("--help-all").code == cli("store", "--help").code == 0


@pytest.mark.parametrize("old", ALIASES)
def test_an_old_name_is_the_new_command_and_says_so(cli: Cli, old: str) -> None:
    new = ALIASES[old].split()
    given = ["x", "--help"] if old == "tune" else ["--help"]
    before, after = cli(old, *given), cli(*(word for word in new if word != "--serve"), "--help")
    assert (before.code, before.out) == (0, after.out)
    assert before.err == f"`{old}` is now `{ALIASES[old]}`.\n"
    assert old not in listed(cli("--help-all").out) or old == "tune"


def test_old_names_take_arguments_as_before(cli: Cli, tmp_path: Any) -> None:
    assert (
        cli("normalize", PROFILE, "--workload", "net").out
        == cli("ingest", "--dry-run", PROFILE, "--workload", "net").out
    )
    assert (
        cli("config", "--all", "--format", "json").json == cli("doctor", "--options", "--all", "--format", "json").json
    )
    assert cli("tune", tmp_path / "none").code == cli("tune", "run", tmp_path / "none").code == 2
    for given in ((tmp_path, "--port", "0"), ("--port", "0", tmp_path), ("--port=0", tmp_path)):
        assert "no index.html" in cli("serve", *given).err


def test_tables_of_old_names_stay_valid_in_configuration_files(cli: Cli, tmp_path: Any) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[history]\nlast = 3\n[tune]\ntimeout = '2h'\n")
    rows = cli("--config", file, "doctor", "--options", "--format", "json").json["rows"]
    assert {(row["command"], row["option"]): row["value"] for row in rows} == {
        ("store history", "last"): 3,
        ("tune run", "timeout"): "2h",
    }


def test_every_form_of_answers_is_accepted_by_every_command_that_answers() -> None:
    for words, entry in every_command():
        forms = {one.name: one for one in command_of(words).params}.get("form") if isinstance(entry, Entry) else None
        if forms is not None and " ".join(words) not in OF_THEIR_OWN:
            assert set(FORMS) <= set(get_args(forms.type_descriptor.annotation)), words
