"""Cells of tables: every value as escaped text, what belongs to a number right-aligned."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from aoe_reports.renderers.values import NONE, plain, show
from aoe_reports.reports.report import Kind

LONGEST = 120
"""Characters of a name in a table; its own page has it whole."""

Columns = list[tuple[str, str]]
"""Titles, and what stands below them: text or number."""


def words(value: Any) -> Markup:
    """A value as escaped text, control characters spelled out; a dash for none."""
    text = str(value) if value is not None else ""
    return escape(plain(text)) if text else Markup(NONE)


def short(text: str) -> str:
    """A name whose middle is left out when it is very long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


def cell(value: Any, kind: Kind = "text", sub: Any = None) -> Markup:
    """A cell of text or of a number, with a smaller line below it."""
    below = Markup('<span class="sub">{}</span>').format(words(sub)) if sub else Markup()
    if kind != "text":
        return Markup('<td class="number">{}{}</td>').format(words(show(value, kind)), below)
    text = short(str(value)) if value is not None else ""
    size = " long" if len(text) > LONG else ""
    return Markup('<td class="text{}">{}{}</td>').format(size, words(text), below)


LONG = 24


def head(text: Any, href: str | None = None, sub: Any = None) -> Markup:
    """The cell that names a row, with a link to what it names."""
    shown = words(short(str(text)))
    size = " long" if len(str(text)) > LONG else ""
    inner = Markup('<a href="{}">{}</a>').format(href, shown) if href else shown
    below = (
        Markup('<span class="sub">{}</span>').format(sub if isinstance(sub, Markup) else words(sub))
        if sub
        else Markup()
    )
    return Markup('<th scope="row" class="text{}">{}{}</th>').format(size, inner, below)


def linked(text: Any, href: str | None) -> Markup:
    """A cell with a link, where there is somewhere to go."""
    inner = Markup('<a href="{}">{}</a>').format(href, words(short(str(text)))) if href and text else words(text)
    return Markup('<td class="text">{}</td>').format(inner)


def changed(value: float | None, sub: Any = None) -> Markup:
    """A change as a signed share: slower and quicker differ in colour and in sign."""
    if value is None:
        return cell(None, "change")
    kind = "slower-word" if value > 0 else "quicker-word"
    below = Markup('<span class="sub">{}</span>').format(words(sub)) if sub else Markup()
    return Markup('<td class="number"><span class="{}">{}</span>{}</td>').format(
        kind, words(show(value, "change")), below
    )


def raw(inner: Markup, kind: str = "text") -> Markup:
    """A cell that holds a chart or a mark."""
    return Markup('<td class="{}">{}</td>').format(kind, inner)
