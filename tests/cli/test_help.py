"""Help and errors of usage in Chinese: nothing of ours is left in English, and no other operators changes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from catalogues import CHINESE
from commandline import FIXTURES, Cli
from typer.core import TyperGroup

from aoe_reports.cli.main import app
from aoe_reports.locale import languages
from aoe_reports.present.values import width

NARROW = 80


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    if isinstance(command, TyperGroup):
        for name, one in command.commands.items():
            yield from commands(one, (*path, name))


EVERY = list(commands(typer.main.get_command(app)))


@pytest.fixture(autouse=True)
def _english_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AOE_REPORTS_LANG", raising=False)
    monkeypatch.setenv("COLUMNS", str(NARROW))


def test_every_help_is_in_the_catalogue() -> None:
    told = {text for _, one in EVERY for text in (one.help, *(getattr(p, "help", None) for p in one.params)) if text}
    assert sorted(told - set(CHINESE)) == []


@pytest.mark.parametrize(
    "path", [(), ("store",), ("store", "ack"), ("nightly",), ("hotspots",), ("tune", "run"), ("collect",)], ids=" ".join
)
def test_help_in_chinese_names_the_same_options_and_says_nothing_in_english(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    english = cli(*path, "--help").out
    monkeypatch.setenv("AOE_REPORTS_LANG", "zh")
    chinese = cli(*path, "--help")
    assert chinese.code == 0
    assert set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", chinese.out, re.MULTILINE)) == set(
        re.findall(r"^  (?:-\w, )?(--[a-z-]+)", english, re.MULTILINE)
    )
    assert not re.search(r"Usage|Options:|Commands:|Arguments:|\[default|\[required|env var|this message", chinese.out)
    assert max(width(line) for line in chinese.out.splitlines() if not line.isascii()) <= NARROW


def test_the_language_of_help_is_asked_for_anywhere_on_the_command_line(cli: Cli) -> None:
    assert cli("steps", "--help", "--lang", "zh").out == cli("steps", "--lang=zh", "-h").out
    assert cli("steps", "--help", "--lang", "zh").out.startswith("用法：")
    assert cli("steps", "--help", "--lang", "en").out == cli("steps", "--help").out


def test_the_main_command_and_groups_take_the_language_for_the_command_behind(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(FIXTURES / "msprof" / "valid" / "ten_iterations", "profile")
    (tmp_path / "aoe-reports.toml").write_text('lang = "en"\n')
    monkeypatch.setenv("AOE_REPORTS_LANG", "en")
    assert cli("--help", "--lang", "zh").out == cli("--lang", "zh", "--help").out
    assert cli("store", "--help", "--lang", "zh").out == cli("--lang=zh", "store", "--help").out
    for arguments in (("--help",), ("store", "--help"), ("store", "info", "--help"), ("inspect", "--help")):
        assert cli("--lang", "zh", *arguments).out.startswith("用法：")
    assert cli("ingest", "profile", "--store", "history").code == 0
    chinese = cli("--lang", "zh", "store", "info", "--store", "history")
    assert "记录数" in chinese.out
    assert cli("store", "--lang", "zh", "info", "--store", "history").out == chinese.out
    english = cli("store", "info", "--store", "history")
    assert "Records" in english.out
    for before in (("--lang", "zh", "store"), ("store", "--lang", "zh"), ("--lang", "zh", "store", "--lang", "zh")):
        assert cli(*before, "info", "--lang", "en", "--store", "history").out == english.out
    assert cli("--lang", "zh", "store", "--lang", "en", "info", "--store", "history").out == english.out
    assert cli("--lang", "zh", "inspect", "nothing").err.startswith("nothing：错误：")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--lang", "xx", "store", "info"),
        ("store", "--lang", "xx", "info"),
        ("store", "info", "--lang", "xx"),
        ("--lang", "en", "store", "info", "--lang", "xx"),
        ("--lang", "xx", "store", "info", "--lang", "en"),
    ],
    ids=" ".join,
)
def test_a_language_that_is_none_is_a_usage_error_wherever_it_stands(cli: Cli, arguments: tuple[str, ...]) -> None:
    ended = cli(*arguments)
    assert ended.code == 2
    assert f"'xx' is not one of {', '.join(map(repr, languages()))}" in ended.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("steps",), "错误：缺少参数 'paths'。"),
        (("store", "tag", "x"), "错误：缺少选项 '--run'。"),
        (("steps", "x", "--stepp"), "错误：没有该选项：--stepp（可能的选项：--help, --step）"),
        (("stor",), "错误：没有命令 'stor'。是否指 'store'"),
        (("store", "foo"), "错误：没有命令 'foo'。"),
        (("steps", "--rank"), "错误：选项 '--rank' 需要一个值。"),
        (("steps", "x", "--strict=1"), "错误：选项 '--strict' 不接受值。"),
        (("doctor", "--options", "a", "b"), "错误：多余的参数（a b）"),
        (
            ("hotspots", "x", "--by", "{why}"),
            "错误：'--by' 的值无效：'{why}' 不在 'op_type', 'op_name', 'shape', 'module', 'layer', 'stack' 之中。",
        ),
        (("hotspots", "x", "--top", "a"), "错误：'--top' 的值无效：应为整数"),
        (("hotspots", "x", "--top", "0"), "错误：'--top' 的值无效：应大于或等于 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_errors_of_usage_are_chinese(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    english = cli(*arguments)
    monkeypatch.setenv("AOE_REPORTS_LANG", "zh")
    chinese = cli(*arguments)
    assert (english.code, chinese.code) == (2, 2)
    assert "Error: " in english.err
    assert said in chinese.err
    assert "Error" not in chinese.err


def test_exit_codes_are_the_same_in_chinese(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = ((), ("--version",), ("store",), ("check", FIXTURES / "msprof" / "invalid" / "csv-ragged-row"), ("check",))
    english = [cli(*call).code for call in calls]
    monkeypatch.setenv("AOE_REPORTS_LANG", "zh")
    assert [cli(*call).code for call in calls] == english == [2, 0, 2, 1, 2]
