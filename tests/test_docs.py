"""The docs say what the code does."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import ROOT

from aoe_reports.cli import menu
from aoe_reports.formats.vendor import TABLES
from aoe_reports.jobs.rules import list_rules
from aoe_reports.present import REGRESSION_RENDERERS, RENDERERS
from aoe_reports.present.forms import forms_of


@pytest.mark.slow
def test_the_generated_pages_are_up_to_date() -> None:
    ended = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr


def test_the_pages_name_every_command_table_rule_and_renderer() -> None:
    pages = [ROOT / "docs" / name for name in ("commands.md", "tables.md", "rules.md")]
    text = "".join(page.read_text() for page in [*pages, *(ROOT / "docs" / "commands").glob("*.md")])
    names = [f"aoe-reports {' '.join(words)}" for words, _ in menu.every_command()]
    names += [*TABLES, *(rule.rule for rule in list_rules()), *RENDERERS, *forms_of("check"), *REGRESSION_RENDERERS]
    assert [name for name in names if name not in text] == []


def test_the_overview_names_every_command() -> None:
    text = (ROOT / "docs" / "overview.md").read_text()
    names = menu.ROOT.commands
    assert [name for name in names if f"`{name}" not in text] == []


PAGES = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "README.zh.md",
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "SECURITY.md",
            "fixtures/README.md",
        )
    ),
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert page.parent.joinpath(target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_per_cent_is_written_as_the_program_writes_it(page: Path) -> None:
    assert re.findall(r".*\d\s+%(?!\w).*", page.read_text()) == []


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_readme_is_short_and_has_the_two_targets(name: str) -> None:
    text = (ROOT / name).read_text()
    assert len(text.splitlines()) <= 120
    assert re.findall(r"^make (\S+)", text, re.MULTILINE) == ["demo", "test"]


def test_the_picture_in_the_architecture_names_every_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    packages = {
        path.stem
        for path in (ROOT / "src" / "aoe_reports").iterdir()
        if path.name[0] != "_" and path.suffix in {"", ".py"}
    }
    assert {name for name in packages if f"`{name}`" not in text} == set()


@pytest.mark.parametrize(("name", "variable"), [("kubernetes", "JOB_COMPLETION_INDEX"), ("volcano", "VC_TASK_INDEX")])
def test_each_container_of_a_template_maps_a_share_of_its_own(tmp_path: Path, name: str, variable: str) -> None:
    yaml = pytest.importorskip("yaml")
    spec = yaml.safe_load((ROOT / "examples" / "fleet" / f"{name}.yaml").read_text())["spec"]
    template = spec["tasks"][0]["template"] if "tasks" in spec else spec["template"]
    assert "tasks" not in spec or "env" in spec["plugins"]  # who sets the variable
    (container,) = template["spec"]["containers"]
    (tmp_path / "aoe-reports").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "aoe-reports").chmod(0o755)
    command, path = [*container["command"], *container["args"]], f"{tmp_path}:/usr/bin:/bin"
    third = subprocess.run(command, capture_output=True, text=True, env={"PATH": path, variable: "2"}, check=True)
    assert third.stdout == "fleet map /work/manifest.json --partials /work/partials --shard 3/32 --jobs 1\n"
    unset = subprocess.run(command, capture_output=True, text=True, env={"PATH": path}, check=False)
    assert (unset.returncode != 0, unset.stdout) == (True, "")


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


def test_every_room_has_its_line_in_the_count_of_lines() -> None:
    counted = subprocess.run([sys.executable, ROOT / "docs" / "lines.py"], capture_output=True, text=True, check=True)
    rooms = {path.name for path in (ROOT / "src" / "aoe_reports").iterdir() if path.is_dir() and path.name[0] != "_"}
    lines = dict(line.split(maxsplit=1) for line in counted.stdout.splitlines())
    assert rooms | {"native", "total"} <= set(lines)
