"""Templates filled: a page's context in, its text out. No page asks the network for anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, nodes
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from aoe_reports.model.classes import record
from aoe_reports.present.values import plain
from aoe_reports.site.cells import Table, as_html
from aoe_reports.site.texts import Texts

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
"""What a page may ask for: its own folder's styles, scripts and icon."""

ASSETS = (
    "style.css",
    "site.js",
    "compare.js",
    "step.js",
    "icon.svg",
    "uPlot.iife.min.js",
    "uPlot.min.css",
    "uPlot.LICENSE.txt",
)


def _shown(value: Any) -> Any:
    """Control characters and direction marks of names are spelled out wherever they are printed."""
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


class _Constants(NodeTransformer):
    """Texts without values are the same on every page: they are put into the templates once."""

    def __init__(self, text: Texts) -> None:
        self.text = text

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802 -- the name that jinja calls
        """A call of `text` with nothing but a key as what it says; every other call as it is."""
        if isinstance(node.node, nodes.Name) and node.node.name == "text" and not node.kwargs:
            match node.args:
                case [nodes.Const(value=str(key))]:
                    return nodes.Const(self.text(key), lineno=node.lineno)
        return self.generic_visit(node)


class _Environment(Environment):
    """Templates in one language."""

    text: Texts

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        found: nodes.Template = _Constants(self.text).visit(super()._parse(source, name, filename))
        return found


@cache
def _environment(text: Texts) -> Environment:
    environment = _Environment(
        loader=PackageLoader("aoe_reports.site"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=_shown,
    )
    environment.text = text
    environment.globals["table_as_html"] = as_html
    return environment


@record
class Frame:
    """What stands around every page."""

    page: str
    """What kind of page it is."""
    at: str
    """The entry of the navigation that leads here."""
    root: str
    """The folder of the site, seen from the page."""
    twin: str
    """The same as JSON."""
    made_from: str
    navigation: Sequence[Any]
    """The pages of the whole store, which every page links."""
    report: bool
    """Whether the report of a job stands beside the pages."""


@record
class Page:
    """What stands in a page; a template has the fields of its own class as variables."""

    title: str


@record
class ListPage(Page):
    """A list of everything of a kind."""

    listed: Table
    """What the template `list` shows."""


Content = tuple[Page, Mapping[str, object]]
"""A page of the whole store, and what its JSON has."""


def render_page(template: str, text: Texts, frame: Frame, page: Page) -> bytes:
    """One page."""
    made = _environment(text).get_template(f"{template}.html.j2")
    links = _links(text, frame.navigation, frame.root, frame.at)
    shown = made.render(text=text, language=text.tag, policy=Markup(POLICY), links=links, **vars(frame), **vars(page))
    return shown.encode("utf-8", "replace")


@cache
def _links(text: Texts, navigation: Sequence[Any], root: str, at: str) -> Markup:
    """The pages of the whole store: thousands of pages have the same links to them."""
    made = _environment(text).get_template("links.html.j2")
    return Markup(made.render(text=text, navigation=navigation, root=root, at=at))


def asset(name: str) -> bytes:
    """A file that pages share."""
    return (files("aoe_reports.site") / "assets" / name).read_bytes()


def look() -> str:
    """A hash of what turns facts into pages: pages of another look are made anew."""
    found = hashlib.sha256()
    for package in ("aoe_reports.site", "aoe_reports.locale"):
        for name, part in sorted(_sources(files(package), "")):
            found.update(name.encode() + part.read_bytes())
    return found.hexdigest()[:20]


def _sources(folder: Traversable, lead: str) -> list[tuple[str, Traversable]]:
    found = []
    for entry in folder.iterdir():
        name = f"{lead}{entry.name}"
        if entry.is_dir() and entry.name == "templates":
            found += _sources(entry, f"{name}/")
        elif entry.name.endswith((".py", ".j2", ".po", ".mo")):
            found.append((name, entry))
    return found
