"""Templates filled: a page's context in, its text out. No page asks the network for anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from aoe_reports.present.style import STYLE_SHEET, style_sheet
from aoe_reports.present.values import plain
from aoe_reports.site.cells import as_html
from aoe_reports.site.texts import Texts

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
"""What a page may ask for: its own folder's styles, scripts and icon."""

ASSETS = (
    STYLE_SHEET,
    "site.js",
    "compare.js",
    "step.js",
    "list.js",
    "history.js",
    "icon.svg",
    "uPlot.iife.min.js",
    "uPlot.min.css",
    "uPlot.LICENSE.txt",
)


def _shown(value: Any) -> Any:
    """Control characters and direction marks of names are spelled out wherever they are printed."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("aoe_reports.site"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_shown,
    )
    environment.globals["table_as_html"] = as_html
    return environment


Context = Mapping[str, object]
"""What a template shows, by the names that it has for it."""
Content = tuple[Context, Mapping[str, object]]
"""A page, and what its JSON has."""


def render_page(template: str, text: Texts, page: Context) -> bytes:
    """One page."""
    made = _environment().get_template(f"{template}.html.j2")
    return made.render(text=text, language=text.tag, policy=Markup(POLICY), **page).encode("utf-8", "replace")


@cache
def links_of(text: Texts, navigation: Sequence[Any], root: str, at: str) -> Markup:
    """The pages of the whole store: thousands of pages have the same links to them."""
    made = _environment().get_template("links.html.j2")
    return Markup(made.render(text=text, navigation=navigation, root=root, at=at))


def asset(name: str) -> bytes:
    """A file that pages share."""
    if name == STYLE_SHEET:
        return style_sheet().encode()
    return (files("aoe_reports.site") / "assets" / name).read_bytes()


def look() -> str:
    """A hash of the code and texts that make pages: after a change all pages are rebuilt."""
    digest = hashlib.sha256()
    for package in ("aoe_reports.site", "aoe_reports.present", "aoe_reports.locale"):
        folder = Path(str(files(package)))
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".py", ".j2", ".po", ".mo"}:
                digest.update(f"{path.relative_to(folder)}".encode() + path.read_bytes())
    return digest.hexdigest()[:20]
