"""Reports in a real browser: axe finds nothing, charts follow the colour scheme, what is printed is whole."""

from __future__ import annotations

import io
import unicodedata
from pathlib import Path

import pytest
from chromium import Tab

from aoe_reports.present.style import Scheme, tokens

pytestmark = pytest.mark.browser

NAMES = ("night", "check", "signed", "signed-chinese", "hotspots")
WIDE = (
    "[...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.ariaLabel)"
)


@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing_and_nothing_sticks_out(tab: Tab, axe: str, sites: Path, name: str) -> None:
    tab.go((sites / "reports" / f"{name}.html").as_uri())
    tab.run(f"(() => {{ {axe} }})()")
    tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for width in (390, 1280):
        for scheme in ("light", "dark"):
            tab.look(width, 900, scheme)
            told = tab.run(
                "axe.run({resultTypes: ['violations'], preload: false}).then((told) => ({"
                " passes: told.passes.map((rule) => rule.id),"
                " violations: told.violations.map((rule) => [rule.id, rule.nodes.map((node) => node.html)])}))"
            )
            assert told["violations"] == [], (width, scheme)
            assert {"color-contrast", "html-has-lang", "landmark-one-main", "region"} <= set(told["passes"])
            assert tab.run("document.documentElement.scrollWidth") <= width, (width, scheme)
    assert tab.complaints == []


CHARTS = """[...document.querySelectorAll('svg.chart')].map((one) => [
  one.getAttribute('role'), one.getAttribute('aria-label').length,
  [...one.querySelectorAll('text')].filter((text) => text.getBBox().x < -1 || text.getBBox().x + text.getBBox().width > 961).length,
])"""


@pytest.mark.parametrize(("name", "charts"), [("night", 3), ("signed", 1)])
def test_charts_are_described_whole_and_in_the_colours_of_the_scheme(
    tab: Tab, sites: Path, name: str, charts: int
) -> None:
    tab.go((sites / "reports" / f"{name}.html").as_uri())
    tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    drawn = tab.run(CHARTS)
    assert len(drawn) == charts
    assert all(role == "img" and length > 20 and outside == 0 for role, length, outside in drawn)
    schemes: tuple[Scheme, ...] = ("light", "dark")
    for scheme in schemes:
        tab.look(1280, 900, scheme)
        seen = tab.run("getComputedStyle(document.querySelector('svg.chart .tick')).fill")
        assert seen == rgb(tokens(scheme)["--soft"])


def rgb(colour: str) -> str:
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return f"rgb({', '.join(map(str, parts))})"


@pytest.mark.parametrize("name", NAMES)
def test_a_report_is_printed_whole(tab: Tab, sites: Path, name: str) -> None:
    from pypdf import PdfReader

    tab.go((sites / "reports" / f"{name}.html").as_uri())
    tab.look(794, 1100, media="print")  # A4 in CSS pixels
    assert tab.run("document.documentElement.scrollWidth") <= 794
    assert tab.run(WIDE) == []
    wanted = tab.run("document.querySelector('main').innerText")
    tab.look()
    reader = PdfReader(io.BytesIO(tab.print()))
    printed = _letters("".join(page.extract_text() for page in reader.pages))
    words = [word for word in wanted.split() if word.isascii()]  # others are no text in a file where no font has them
    assert [word for word in words if _letters(word) not in printed] == []
    if name.startswith("signed"):
        assert len(reader.pages) == 1


def _letters(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())
