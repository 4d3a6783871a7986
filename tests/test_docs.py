"""The docs say what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from commandline import ROOT, Cli

from aoe_reports.cli.main import COMMANDS, GROUPS
from aoe_reports.formats.vendor import TABLES
from aoe_reports.jobs.rules import list_rules
from aoe_reports.present import REGRESSION_RENDERERS, RENDERERS
from aoe_reports.present.forms import CHECK_FORMS


def test_the_generated_pages_are_up_to_date() -> None:
    ended = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr


def test_the_pages_name_every_command_table_rule_and_renderer() -> None:
    text = "".join((ROOT / "docs" / name).read_text() for name in ("commands.md", "tables.md", "rules.md"))
    names = [f"aoe-reports {function.__name__}" for function in COMMANDS]
    names += [f"aoe-reports {group.info.name}" for group in GROUPS]
    names += [*TABLES, *(rule.rule for rule in list_rules()), *RENDERERS, *CHECK_FORMS, *REGRESSION_RENDERERS]
    assert [name for name in names if name not in text] == []


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text()
    names = [*(f.__name__ for f in COMMANDS), *(str(group.info.name) for group in GROUPS)]
    assert [name for name in names if f"`{name}" not in text] == []


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/tutorial.md",
        "docs/python.md",
        "docs/regressions-formats.md",
        "docs/tuning.md",
        "docs/report.md",
        "docs/site.md",
        "docs/detection.md",
        "docs/languages.md",
        "docs/regressions.md",
        "docs/containers.md",
        "docs/security.md",
        "docs/upgrading.md",
        "SECURITY.md",
        "fixtures/README.md",
    ],
)
def test_links_inside_the_project_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), target


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
    assert third.stdout == "map /work/manifest.json --partials /work/partials --shard 3/32 --jobs 1\n"
    unset = subprocess.run(command, capture_output=True, text=True, env={"PATH": path}, check=False)
    assert (unset.returncode != 0, unset.stdout) == (True, "")


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(script: Path, tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_the_output_in_the_readme_is_what_is_printed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "README.md").read_text()
    shown = re.findall(r"^\$ aoe-reports (.*)\n((?:(?!\$ |```).*\n)*)", text, re.MULTILINE)
    assert len(shown) == 2
    for arguments, output in shown:
        assert cli(*arguments.split()).out == output


def test_the_report_in_the_readme_is_what_the_demo_prints(cli: Cli, tmp_path: Path) -> None:
    (block,) = re.findall(r"^```\n(Regression: .*?)```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert cli("demo", "-o", tmp_path).out.startswith(block)
