"""Values of parameters: taken as they are where they are plain, they are what typer would make of them, and wrong ones are told in its words."""

from __future__ import annotations

import subprocess  # the package itself, in a process of its own
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.exceptions import TyperException

from aoe_reports.cli.conversion import PlainValues
from aoe_reports.cli.main import app

VALUES = (
    None, True, False, "3", 3, "-1", -1, "0", "007", "1.5", 2.5, "x", "", " ", "+3", "1_000", "٣", "9" * 30, "en", "EN", "json", "text",
    "a\0b", Path("x/y"), "s3://bucket/key", "/", ["a", "b"], ("1", "2"), [], ["x", "1"],
)  # fmt: skip


def made(convert: Any, parameter: Any, value: Any) -> tuple[Any, ...]:
    """What comes of it, with its type, or what is said instead."""
    try:
        found = convert(value, param=parameter, ctx=None)
    except TyperException as error:
        return "error", error.message
    except (TypeError, AttributeError, ValueError) as error:  # what no command line gives
        return (type(error),)
    return type(found), found


@pytest.mark.parametrize("name", sorted(typer.main.get_command(app).commands))  # type: ignore[attr-defined]
def test_every_parameter_of_a_command_takes_what_typer_takes(name: str) -> None:
    command: Any = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    context = typer.Context(command)
    for parameter in command.get_params(context):
        typers = type(parameter).get_runtime_param(parameter)
        for value in VALUES:
            assert made(parameter.get_runtime_param().coerce, parameter, value) == made(typers.coerce, parameter, value)


def test_parameters_of_groups_are_plain_too() -> None:
    root: Any = typer.main.get_command(app)
    groups = [root, *(each for each in root.commands.values() if hasattr(each, "commands"))]
    assert len(groups) > 2
    assert all(isinstance(each, PlainValues) for each in groups)


def test_plain_values_load_no_pydantic(tmp_path: Path) -> None:
    script = (
        "import sys; sys.argv = ['aoe-reports', 'hotspots', sys.argv[1], '--format', 'json', '--jobs', '1', '-o', sys.argv[2]]\n"
        "from aoe_reports.cli.main import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(tmp_path / "out.json")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1:] == ["False"], done.stderr
