"""The pages about CI systems and Grafana name files, options and jobs that exist."""

from __future__ import annotations

import re

import pytest
from commandline import ROOT, Cli

PAGES = ("ci.md", "grafana.md")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / "docs" / page).read_text()):
        assert (ROOT / "docs" / target).exists(), target


def test_every_template_is_named() -> None:
    text = "".join((ROOT / "docs" / page).read_text() for page in PAGES)
    shipped = [path for path in (ROOT / "integrations").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    folders = ("provisioning",)
    assert [path.name for path in shipped if path.name not in text and not set(path.parts) & set(folders)] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_have_the_options_that_are_shown(cli: Cli, page: str) -> None:
    lines = re.findall(r"^aoe-reports ((?:store )?\w+) (.*)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    assert len(lines) == {"ci.md": 0, "grafana.md": 3}[page]
    for command, rest in lines:
        known = cli(*command.split(), "--help").out
        assert [word for word in rest.split() if word.startswith("--") and word not in known] == []


def test_what_the_page_shows_of_a_template_is_in_it() -> None:
    text = (ROOT / "docs" / "ci.md").read_text()
    action = (ROOT / "integrations/github/action.yml").read_text()
    (shown,) = re.findall(r"uses: \./\.github/actions/aoe-reports\n  with:\n((?:    .*\n)+)", text)
    for name in re.findall(r"^    ([\w-]+):", shown, re.MULTILINE):
        assert f"\n  {name}:\n" in action
    assert "\n.aoe-reports-regressions:\n" in (ROOT / "integrations/gitlab/aoe-reports.gitlab-ci.yml").read_text()
    assert "- id: aoe-reports-check" in text
    assert "- id: aoe-reports-check\n" in (ROOT / ".pre-commit-hooks.yaml").read_text()
