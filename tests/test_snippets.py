"""What README and docs show of the command line is what happens: every line can be parsed, every `$ aoe-reports …` runs."""

from __future__ import annotations

import itertools
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer.main
from commandline import FIXTURES, ROOT, Cli, Ended
from planted_sides import write_sides

from aoe_reports.simulation.nights import MODEL

GENERATED = ("commands.md", "changelog.md", "contributing.md", "architecture.md")
READMES = ("README.md", "README.zh.md")
PAGES = [
    *READMES,
    *(
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.name not in GENERATED and path.parent.name != "commands"
    ),
]
FENCED = re.compile(r"^ *```(?:console|sh)?\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
BEHIND = re.compile(r"  +#| [|>] | >> ")
"""Where a command ends and a remark or another command begins."""


def lines_of(page: str) -> Iterator[list[str]]:
    """The lines of each block of commands, continued ones joined."""
    for block in FENCED.findall((ROOT / page).read_text(encoding="utf-8")):
        yield re.sub(r"\\\n\s*", "", block).splitlines()


def commands_of(page: str) -> list[str]:
    """What is behind `aoe-reports` in them."""
    found = [re.match(r" *(?:\$ )?aoe-reports (.*)", line) for lines in lines_of(page) for line in lines]
    return [BEHIND.split(match[1])[0] for match in found if match]


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)])
def test_a_command_that_is_shown_has_the_options_that_are_shown(page: str) -> None:
    from aoe_reports.cli.main import app

    for text in commands_of(page):
        command: Any = typer.main.get_command(app)
        context, rest = None, shlex.split(text)
        while True:
            context = command.make_context(command.name, rest, parent=context)
            if not hasattr(command, "resolve_command"):
                break
            _, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])


@dataclass(frozen=True)
class Stage:
    """Where the commands of a page run: what is made there first, and what stands for names that are nobody's."""

    made: str = ""
    """The fixture whose folder is copied there."""
    instead: Mapping[str, str] = field(default_factory=dict)
    output: bool = False
    """Whether what the page shows is what is printed; other pages show captures that are not public."""


STEP = {"--step 50": "--step 1", "rank0_ascend_pt": "before", "/captures/tonight": "before"}
STAGES = {
    "docs/ab.md": Stage("sides", output=True),
    **{page: Stage(output=True) for page in READMES},
    "docs/tutorial.md": Stage(output=True),
    "docs/device-time.md": Stage(output=True),
    "docs/input.md": Stage(output=True),
    "docs/serving.md": Stage(),
    **{
        f"docs/howto/{name}.md": Stage("demo", output=True)
        for name in ("sign-off", "nightly", "gate", "tune-next", "thousands")
    },
    "docs/communication.md": Stage("captures", {"/captures/tonight": "before", " job ": " pipeline "}),
    "docs/critical-path.md": Stage("captures", STEP),
    "docs/explain.md": Stage(
        "captures",
        {
            "nights/2026-02-01 nights/2026-02-10": "before after",
            "before/snapshot_rank0.pickle after/snapshot_rank0.pickle": " ".join(
                ["fixtures/memory/valid/snapshots/snapshot_rank0.pickle"] * 2
            ),
        },
    ),
    "docs/fleet.md": Stage("captures", {"/captures/tonight": "pipeline", "/shared/": "", "2/8": "1/1"}),
    "docs/host.md": Stage("captures", STEP),
    "docs/memory.md": Stage("captures", {"memory capture": "memory training"}),
    "docs/metrics.md": Stage("captures", {"nights": "transformer", "URI": "store"}),
    "docs/modules.md": Stage("captures", {" capture ": " transformer ", "nights/$DATE": "transformer", "URI": "store"}),
    "docs/quality.md": Stage("captures", {"captures/tuesday": "before"}),
    "docs/roofline.md": Stage("captures", {"roofline capture": "roofline server"}),
    "docs/sql.md": Stage("captures", {" profile ": " before "}),
    "docs/upgrading.md": Stage("demo", {"/data/history": "demo/history"}),
    "docs/trace.md": Stage(
        "captures",
        STEP
        | {
            "/captures/before /captures/after": "before after",
            "--around kernel_details.csv:1042": "--step 1",  # no finding of these captures has a time
            "--from 1736405443862052130 --to 1736405443872052130": "--step 1 --margin-ms 1",
        },
    ),
}
"""Every page with a `$ aoe-reports …`."""
REMOTE = "s3://"
"""Buckets have tests of their own (tests/engine/test_remote_captures.py)."""


def test_every_page_with_commands_to_be_run_has_a_stage() -> None:
    shown = {
        page for page in PAGES if any(line.startswith("$ aoe-reports") for line in itertools.chain(*lines_of(page)))
    }
    assert shown == set(STAGES)


@pytest.fixture(scope="module")
def demo_and_output(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """A folder in which `aoe-reports demo -o demo` was run, and what that printed."""
    folder = tmp_path_factory.mktemp("made")
    command = [sys.executable, "-m", "aoe_reports", "demo", "-o", "demo"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=True, text=True)
    return folder, Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="module")
def demo(demo_and_output: tuple[Path, Ended]) -> Path:
    return demo_and_output[0]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five captures of each of two builds, in turns; convolutions take 5 % longer in the second."""
    folder = tmp_path_factory.mktemp("sides")
    write_sides(folder, {"Conv2D": 1.05}, order="abbaabbaab")
    return folder


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captures")
    runpy.run_path(str(ROOT / "docs" / "gallery.py"))["write_captures"](folder)
    return folder


def _is_shown(shown: list[str], printed: list[str]) -> bool:
    """Whether lines are what was printed; `…` stands for any number of lines."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(_is_shown(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0].rstrip() and _is_shown(shown[1:], printed[1:])


def _steps(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(a command, what is shown below it)."""
    at = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for begin, end in itertools.pairwise([*at, len(lines)]):
        yield lines[begin].removeprefix("$ "), lines[begin + 1 : end]


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(STAGES))
def test_what_is_shown_happens(
    page: str, cli: Cli, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = STAGES[page]
    (tmp_path / "fixtures").symlink_to(FIXTURES)
    if stage.made:
        shutil.copytree(request.getfixturevalue(stage.made), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for lines in lines_of(page):
        code, asked = 0, True
        for command, shown in _steps(lines):
            if command == "echo $?":
                assert code == int(shown[0]), lines
                asked = True
                continue
            assert code == 0 or asked, f"{code} before {command}"
            if REMOTE in command:
                continue
            for name, stands_for in stage.instead.items():
                command = command.replace(name, stands_for)  # noqa: PLW2901 -- what is run
            if not command.startswith("aoe-reports "):
                subprocess.run(["bash", "-euc", command], check=True, env={"PATH": os.environ["PATH"]})
            else:
                if command == "aoe-reports demo -o demo":
                    made, ended = request.getfixturevalue("demo_and_output")
                    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
                else:
                    ended = cli(*shlex.split(BEHIND.split(command.removeprefix("aoe-reports "))[0]))
                code, asked = ended.code, not (shown and stage.output)  # a failure that is shown is shown with its code
                assert code in {0, 1}, (command, ended.err)
                if shown and stage.output:
                    printed = (ended.out + ended.err).splitlines()
                    assert _is_shown(shown, ended.out.splitlines()) or _is_shown(shown, printed), (command, printed)
        assert code == 0 or asked, lines


def test_the_model_of_the_demo_is_the_one_of_the_pages() -> None:
    assert f"--workload {MODEL}" in (ROOT / "docs" / "howto" / "nightly.md").read_text()
