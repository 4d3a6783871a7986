"""Options that are declared once become options of a command, and come back as their class."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from aoe_reports.cli.options import declared_of, with_options
from aoe_reports.engine.question import RunOptions
from aoe_reports.model.options import declared, option, options


@options
class Kitchen(RunOptions):
    cook: str = option(help="Who cooks.")
    dishes: int = option(default=2, minimum=1, help="How many.")
    spices: tuple[str, ...] = option(help="What goes in (repeatable).", default=(), flags=["--spice"])
    place: Path | None = option(default=None, help="Where.", names="input")


@options
class Guests:
    number: int = option(default=4, help="How many come.")


ASKED: list[Any] = []


def dine(
    house: Annotated[str, typer.Argument()],
    kitchen: Kitchen,
    guests: Guests,
    *,
    quiet: Annotated[bool, typer.Option("--quiet")] = False,
) -> None:
    """Dine."""
    ASKED[:] = [house, kitchen, guests, quiet]


def run(*arguments: str) -> Any:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(with_options(dine))
    return CliRunner().invoke(app, arguments)


def test_each_class_comes_back_whole() -> None:
    ended = run("here", "--cook", "Wu", "--spice", "salt", "--spice", "cumin", "--number", "7", "--quiet", "--strict")
    assert ended.exit_code == 0, ended.output
    assert ["here", Kitchen(cook="Wu", spices=("salt", "cumin"), strict=True), Guests(number=7), True] == ASKED


def test_defaults_are_those_of_the_class() -> None:
    assert run("here", "--cook", "Wu").exit_code == 0
    assert ASKED[1:] == [Kitchen(cook="Wu"), Guests(), False]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["here"], "Missing option"), (["here", "--cook", "Wu", "--dishes", "0"], "greater than or equal to 1")],
)
def test_what_must_be_given_and_limits_are_kept(arguments: list[str], message: str) -> None:
    ended = run(*arguments)
    assert ended.exit_code == 2
    assert message in ended.output


def test_options_of_every_run_stand_last() -> None:
    shown = [line.split()[0] for line in run("--help").output.splitlines() if line.startswith("  --")]
    assert shown == [
        "--cook",
        "--dishes",
        "--spice",
        "--place",
        "--number",
        "--quiet",
        *(f"--{one.key}" for one in declared(RunOptions)),
        "--help",
    ]


def test_a_command_says_what_is_known_of_its_options() -> None:
    found = declared_of(with_options(dine))
    assert found["place"].option.names == "input"
    assert declared_of(dine) == {}
