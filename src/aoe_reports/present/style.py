"""The style sheet of all pages: dashboards link it, reports hold it, the documentation takes its colours from it."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Literal

STYLE_SHEET = "style.css"
Scheme = Literal["light", "dark", "print"]
_MEDIA = {"dark": "@media (prefers-color-scheme: dark) {", "print": "@media print {"}


@cache
def style_sheet() -> str:
    """The text of the style sheet."""
    return (files("aoe_reports.present") / "assets" / STYLE_SHEET).read_text(encoding="utf-8")


@cache
def tokens(scheme: Scheme) -> dict[str, str]:
    """The values of a colour scheme by name, `--ink` for one: those of light pages, and what another scheme changes of them."""
    sheet = style_sheet()
    if scheme == "light":
        return _first_tokens(sheet)
    return _first_tokens(sheet) | _first_tokens(sheet.partition(_MEDIA[scheme])[2])


def _first_tokens(sheet: str) -> dict[str, str]:
    block = sheet.partition(":root {")[2].partition("}")[0]
    return {name: value.strip() for name, value in re.findall(r"(--[\w-]+):([^;]+);", block)}
