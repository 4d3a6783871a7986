"""A path that does not exist, given to each function of the Python interface."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commandline import OF_CAPTURES, Cli

import aoe_reports
from aoe_reports import AoeReportsError, PlanOptions, VerifyOptions
from aoe_reports.engine.ask import Paths
from aoe_reports.formats.ascend.tables import TABLES

PATH = Path("no/such/path")
REFUSED = "no/such/path: no such file or folder; expected a file or a folder"
QUESTIONS = [*(name.replace("-", "_") for name in OF_CAPTURES), "bank", "inspect"]
OF_TWO = ("bank_diff", "compare", "explain")
CALLS: dict[str, Callable[[Any], object]] = {
    **{name: lambda function: function(PATH) for name in (*QUESTIONS, "open_capture", "read_profile")},
    **{name: lambda function: function([PATH, PATH]) for name in OF_TWO},
    "ab": lambda function: function([PATH], [PATH]),
    "check_claims": lambda function: function(PATH, PATH, VerifyOptions()),
    "make_plan": lambda function: function(PATH, Path("plan"), PlanOptions(), {}),
}
IN_OTHER_WORDS: dict[str, Callable[[Any], object]] = {
    **{
        name: lambda function: function(PATH)
        for name in ("read_bank", "read_operator_bank", "read_results", "read_plan")
    },
    **{name: lambda function: function(str(PATH)) for name in ("open_store", "read_series", "report_night")},
    "build_site": lambda function: function(str(PATH), Path("site")),
    "read_table": lambda function: function(PATH, TABLES["op_summary"]),
    "verify": lambda function: function(PATH, VerifyOptions()),
}
WITHOUT_INPUT = {"check_result", "check_result_file", "load_schema", "plot", "validate", "write_figures", "write_plan"}


@pytest.mark.parametrize("name", CALLS)
def test_a_missing_path_raises_the_sentence_that_the_shell_prints(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AoeReportsError) as error:
        CALLS[name](getattr(aoe_reports, name))
    assert str(error.value) == REFUSED


@pytest.mark.parametrize("name", IN_OTHER_WORDS)
def test_a_missing_store_plan_or_single_file_raises_too(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AoeReportsError, match=r"^no/such/path: "):
        IN_OTHER_WORDS[name](getattr(aoe_reports, name))


def test_no_function_that_takes_a_path_is_forgotten() -> None:
    functions = {name: value for name in dir(aoe_reports) if inspect.isfunction(value := getattr(aoe_reports, name))}
    taking_paths = {
        name
        for name, function in functions.items()
        if any(is_path(one) for one in inspect.signature(function, eval_str=False).parameters.values())
    }
    assert taking_paths - WITHOUT_INPUT == CALLS.keys() | IN_OTHER_WORDS.keys()


def is_path(parameter: inspect.Parameter) -> bool:
    if parameter.default is not inspect.Parameter.empty:
        return False
    words = str(parameter.annotation)
    return parameter.name in {"paths", "store", "uri"} or "Path" in words or parameter.annotation is Paths


def test_an_option_that_is_a_missing_path_raises_too(tmp_path: Path) -> None:
    with pytest.raises(AoeReportsError, match="no such file or folder"):
        aoe_reports.bank(tmp_path, profile=tmp_path / "none")


def test_the_shell_prints_the_same_words(cli: Cli) -> None:
    ended = cli("hotspots", PATH)
    path, words = REFUSED.split(": ")
    assert ended.code == 3
    assert f"{path}: error: {words} [unreadable]" in ended.err
