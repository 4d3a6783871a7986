"""Values of parameters: taken as they are where they are plain, they are what typer would make of them, and wrong ones are told in its words."""

from __future__ import annotations

import json
import subprocess
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


def test_every_parameter_of_a_command_takes_what_typer_takes() -> None:
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for parameter in (each for one in commands.values() for each in one.get_params(typer.Context(one))):
        typers = type(parameter).get_runtime_param(parameter)
        for value in VALUES:
            assert made(parameter.get_runtime_param().coerce, parameter, value) == made(typers.coerce, parameter, value)


def test_parameters_of_groups_are_plain_too() -> None:
    root: Any = typer.main.get_command(app)
    groups = [root, *(each for each in root.commands.values() if hasattr(each, "commands"))]
    assert len(groups) > 2
    assert all(isinstance(each, PlainValues) for each in groups)


@pytest.mark.slow
def test_neither_plain_values_nor_a_timeline_load_what_takes_long(tmp_path: Path) -> None:
    step = {"ph": "X", "name": "ProfilerStep#1", "ts": 1, "dur": 9, "pid": 1, "tid": 1}
    task = {"ph": "X", "name": "MatMul", "ts": 3, "dur": 2, "pid": 2, "tid": 3, "args": {"Task Type": "AI_CORE"}}
    name = {"ph": "M", "name": "process_name", "pid": 2, "tid": 0, "args": {"name": "Ascend Hardware"}}
    timeline = tmp_path / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    timeline.parent.mkdir()
    timeline.write_text(json.dumps([name, step, task]))
    script = (
        "import sys; sys.argv = ['aoe-reports', 'breakdown', sys.argv[1], '--format', 'json', '--jobs', '1', '-o', sys.argv[2]]\n"
        "from aoe_reports.cli.main import app\n"
        "try: app()\n"
        "except SystemExit: pass\n"
        "print({'pydantic', 'pandas'} & set(sys.modules))"
    )
    output = tmp_path / "out.json"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), str(output)], check=False, capture_output=True, text=True
    )
    assert json.loads(output.read_text())["rows"], done.stderr
    assert done.stdout == "set()\n"
