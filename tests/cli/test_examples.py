"""The example in the help of every command runs as it stands, and the page that it names is there; what is said without a command."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from commandline import FIXTURES, ROOT, Cli
from goldens.timeline import write_timelines
from planted_modules import Slow, write_planted
from planted_sides import write_sides
from tuning.jobs import Bench
from typer.core import TyperGroup

from aoe_reports.cli.command import HEADINGS, Guide, guide_of
from aoe_reports.cli.main import app
from aoe_reports.present.values import width

VALID = FIXTURES / "msprof" / "valid"
PROFILES = {
    "communication": VALID / "communication_of_four_ranks",
    "serving": FIXTURES / "serving",
    "memory": FIXTURES / "memory" / "training",
    "bank": FIXTURES / "banks" / "profile",
    "bank list": FIXTURES / "banks" / "profile",
}
"""Where `profile` has to hold more than two ranks of torch_npu."""
WITH_TIMELINE = {"breakdown", "critical-path", "host", "trace"}
WITH_MODULES = {"stacks", "compare", "explain", "plan"}
BEFORE = {
    "fleet": ["hotspots profile --manifest manifest.json"],
    "fleet map": ["hotspots profile --manifest manifest.json"],
    "fleet reduce": ["hotspots profile --manifest manifest.json", "fleet map manifest.json --partials partials"],
    "doctor": ["site -o site --store aoe-history"],
}
"""What is run first."""
CODES = {"tune check": 1, "regressions": 1, "nightly": 0}
"""The exit codes that are not 0: the machine of a test has no NPU, and the store holds a regression."""
MAX_COLUMNS = 80


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Guide | None]]:
    if path:
        yield " ".join(path), guide_of(command)
    if isinstance(command, TyperGroup):
        for name, one in command.commands.items():
            yield from _commands(one, (*path, name))


GUIDES = dict(_commands(typer.main.get_command(app)))


def test_every_command_has_an_example_of_itself_and_a_page_that_is_there() -> None:
    without = [name for name, guide in GUIDES.items() if guide is None]
    assert without == []
    for name, guide in GUIDES.items():
        assert guide is not None
        assert guide.example.split()[: len(name.split())] == name.split()
        assert len(f"  aoe-reports {guide.example}") <= MAX_COLUMNS
        assert (ROOT / guide.path).is_file(), guide.path


def test_help_shows_the_example_in_one_line_and_the_page(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """However narrow the terminal is; tests/goldens has the help of every command in both languages."""
    monkeypatch.setenv("COLUMNS", "40")
    name, guide = max(GUIDES.items(), key=lambda item: len(item[1].example) if item[1] else 0)
    assert guide is not None
    shown = cli(*name.split(), "--help").out
    assert shown.endswith(f"\nExample:\n  aoe-reports {guide.example}\n\nDocumentation:\n  {guide.path}\n")
    chinese = cli(*name.split(), "--help", "--lang", "zh").out
    assert f"\n  aoe-reports {guide.example}\n" in chinese
    assert not any(f"{heading}:" in chinese for heading in HEADINGS)


@pytest.fixture
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, made_small_store: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder in which examples run: profiles, a store, banks, a plan."""
    name = request.node.callspec.params["name"]
    shutil.copytree(made_small_store / "store", tmp_path / "aoe-history")
    shutil.copytree(FIXTURES / "banks" / "before", tmp_path / "bank-before")
    shutil.copytree(FIXTURES / "banks" / "after", tmp_path / "bank-after")
    shutil.copytree(FIXTURES / "banks" / "after", tmp_path / "bank")
    if name in WITH_TIMELINE:
        write_timelines(tmp_path / "profile")
    elif name == "ab":
        write_sides(tmp_path)
    elif name in WITH_MODULES:
        write_planted(tmp_path / "profile", "1")
        write_planted(tmp_path / "before", "1")
        write_planted(tmp_path / "after", "2", Slow(3, "mlp", 1.5))
    else:
        shutil.copytree(PROFILES.get(name, VALID / "torch_npu_two_ranks"), tmp_path / "profile")
    monkeypatch.chdir(tmp_path)
    for variable in ("AOE_REPORTS_STORE", "AOE_REPORTS_LANG"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    "name", [name for name in GUIDES if name not in {"tune", "tune run", "tune adopt", "verify", "demo"}]
)
def test_the_example_runs(
    cli: Cli, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr("aoe_reports.site.serve.serve_folder", lambda folder, port, tell: tell(f"{folder}:{port}"))
    monkeypatch.setattr("aoe_reports.assistants.server.serve", lambda *_: sys.stdout.write("ended"))
    if name == "tune check":
        bench: Bench = request.getfixturevalue("bench")
        bench.plan()
        shutil.copytree(bench.folder, folder / "plan")
    guide = GUIDES[name]
    assert guide is not None
    ids = _ids(cli) if {"RUN", "SERIES"} & {*guide.example.split()} else {}
    for line in (*BEFORE.get(name, []), guide.example):
        ended = cli(*(ids.get(word, word) for word in shlex.split(line)))
        assert ended.code == (CODES.get(name, 0) if line is guide.example else 0), ended.err
    outputs = re.findall(r"-o (\S+)", guide.example)
    assert ended.out or ended.err or outputs
    assert all((folder / one).exists() for one in outputs)


def _ids(cli: Cli) -> dict[str, str]:
    """What stands for the words in capitals."""
    run = cli("store", "history", "runs", "--format", "json").json["rows"][-1]["run"]
    series = next(
        row["series_id"] for row in cli("regressions", "--format", "json").json["rows"] if row["state"] == "confirmed"
    )
    return {"RUN": run, "SERIES": series}


def test_the_examples_of_a_tuning_job_run(bench: Bench) -> None:
    from aoe_reports.simulation.tuning import write_loop

    bench.plan()
    write_loop(bench.root, "faster", 1)
    for name in ("tune", "tune run", "tune adopt", "verify"):
        guide = GUIDES[name]
        assert guide is not None
        if name == "tune adopt":
            assert bench.run("tune", "run", "plan").code == 0
        ended = bench.run(*shlex.split(guide.example))
        assert ended.code in {0, 1}, (name, ended.err)
        assert ended.out


def test_the_demo_is_an_example_that_other_tests_run() -> None:
    """It takes as long as all others together: tests/jobs run it with another folder."""
    assert GUIDES["demo"] == Guide(example="demo -o aoe-reports-demo", page="tutorial")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_a_command_it_is_said_where_to_start(cli: Cli, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AOE_REPORTS_LANG", language)
    ended = cli()
    assert (ended.code, ended.out) == (2, "")
    lines = ended.err.splitlines()
    assert len(lines) <= 20
    assert max(map(width, lines)) <= MAX_COLUMNS
    commands = re.findall(r"aoe-reports ([a-z]+) ", ended.err)
    assert {"advise", "nightly", "plan", "demo", "doctor"} <= set(commands)
    assert set(commands) - {"reads"} <= set(GUIDES)
    assert all((ROOT / page).is_file() for page in re.findall(r"[\w/]+\.md", ended.err))
    assert ("从" in ended.err or "哪" in ended.err) == (language == "zh")


def test_a_language_alone_says_where_to_start_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AOE_REPORTS_LANG", raising=False)
    assert cli("--lang", "zh").err == cli("--lang=zh").err != cli().err
    assert (cli("--isolated").code, "Missing command." in cli("--isolated").err) == (2, True)
