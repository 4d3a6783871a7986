"""The documentation in a real browser: axe finds nothing, nothing sticks out, nothing is asked for elsewhere, the search finds."""

from __future__ import annotations

import pytest
from chromium import Tab
from commandline import ROOT

from aoe_reports.present.style import Scheme, tokens

pytestmark = pytest.mark.site_docs

SITE = ROOT / "docs" / "_build" / "site"
PAGES = ("index", "tutorial", "gallery", "howto/gate", "zh/index", "zh/howto/sign-off", "overview", "search")
"""Of each kind one: pictures, commands with output, tables that are wide, Chinese."""


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_and_nothing_sticks_out(tab: Tab, axe: str, name: str) -> None:
    tab.go((SITE / f"{name}.html").as_uri())
    tab.run(f"(() => {{ {axe} }})()")
    for width in (390, 1280):
        for scheme in ("light", "dark"):
            tab.look(width, 900, scheme)
            told = tab.run(
                "axe.run({resultTypes: ['violations'], preload: false}).then((told) =>"
                " told.violations.map((rule) => [rule.id, rule.nodes.map((node) => node.html.slice(0, 200))]))"
            )
            assert told == [], (name, width, scheme)
            assert tab.run("document.documentElement.scrollWidth") <= width, (name, width, scheme)
    assert tab.complaints == []
    assert {one.partition(":")[0] for one in tab.requests} <= {"file", "data"}


def test_colours_and_fonts_are_those_of_the_dashboard(tab: Tab) -> None:
    tab.go((SITE / "index.html").as_uri())
    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        tab.look(1280, 900, scheme)
        style = "getComputedStyle(document.body)"
        shown = {
            name: tab.run(f"{style}.getPropertyValue('--{name}')")
            for name in ("color-background-primary", "color-foreground-primary", "color-brand-content", "font-stack")
        }
        names = ("--back", "--ink", "--link", "--font")
        assert list(shown.values()) == [tokens(scheme)[name] for name in names]


@pytest.mark.parametrize(
    ("folder", "word", "page"), [("", "baseline", "regressions.html"), ("zh", "门禁", "howto/gate.html")]
)
def test_the_search_works_from_the_disk(tab: Tab, folder: str, word: str, page: str) -> None:
    tab.go((SITE / folder / "search.html").as_uri() + f"?q={word}")
    tab.wait_for("document.querySelectorAll('#search-results li a').length")
    tab.wait_for(f"[...document.querySelectorAll('#search-results li a')].some((one) => one.href.includes('{page}'))")
