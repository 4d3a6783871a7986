"""The style sheet of all pages: what it names it declares, for light and for dark."""

from __future__ import annotations

import re

import pytest

from aoe_reports.present.drawings import svg
from aoe_reports.present.style import style_sheet, tokens


def test_every_colour_that_is_used_is_declared_and_another_one_on_dark_pages() -> None:
    used = set(re.findall(r"var\((--[\w-]+)\)", style_sheet()))
    light, dark = tokens("light"), tokens("dark")
    assert used <= light.keys()
    assert {name for name in light if light[name] == dark[name]} == {"--font", "--mono"}


def test_paper_is_white() -> None:
    assert tokens("print")["--back"] == "#fff"
    assert tokens("print")["--font"] == tokens("light")["--font"]


def test_a_report_can_hold_the_style_sheet() -> None:
    assert "</" not in style_sheet()
    assert style_sheet().isascii()


@pytest.mark.parametrize(("kind", "name"), [("computing", "--part1"), ("communication", "--part2")])
def test_a_picture_by_itself_has_the_colours_of_pages(kind: str, name: str) -> None:
    light, dark = re.findall(rf"\.{kind} {{ fill: ([^;]+); }}", svg._STYLE)
    assert (light, dark) == (tokens("light")[name], tokens("dark")[name])
