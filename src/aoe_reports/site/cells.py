"""Tables as HTML: every value as escaped text, what belongs to a number right-aligned.

Cells are put together as strings, because a page has hundreds of them: what goes in unescaped is markup of this module,
everything else goes through `words`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from markupsafe import Markup, escape

from aoe_reports.model.history.changes import METRICS
from aoe_reports.model.history.metrics import loss
from aoe_reports.model.rows import Kind
from aoe_reports.present.reports.series_cells import Valued, value_words
from aoe_reports.present.values import NONE, plain, show
from aoe_reports.site.texts import Texts

LONGEST = 300
"""Characters of a name in a table, which wraps; its own page has it whole."""
LONG = 24
"""Characters of a name from which on its column is wider, to wrap in."""

Columns = list[tuple[str, str]]
"""(title, text or number) of each column."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page: its columns, and rows of cells."""

    columns: Columns
    rows: Sequence[Sequence[str]]
    about: str = ""
    """The sentences above it."""
    title: str = ""
    """Empty where the template has it."""
    stacks: bool = False
    """Whether a narrow page shows the cells of a row below each other, each with its title."""

    def __bool__(self) -> bool:
        """Whether it has rows."""
        return bool(self.rows)


def about_first(about: str, shown: int, count: int, text: Texts) -> str:
    """The sentences above a table; where rows are left out, the last says how many are shown."""
    if count <= shown:
        return about
    return text.joined(" ", (about, text("The first {shown} of {count} are listed.", shown=shown, count=count)))


@lru_cache(maxsize=65536)
def _escaped(text: str) -> str:
    return str(escape(plain(text)))


def words(value: Any) -> str:
    """A value as escaped text, control characters spelled out; a dash for none."""
    text = value if value.__class__ is str else str(value) if value is not None else ""
    return _escaped(text) if text else NONE


def short(text: str) -> str:
    """A name, cut at its end where no page has room for it."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def with_code(text: str) -> Markup:
    """A sentence as escaped text; text in `backticks` becomes code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one has no partner: it is part of the text
        return Markup(_escaped(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(plain(part)) if place % 2 else plain(part) for place, part in enumerate(parts)
    )


def below(sub: Any) -> str:
    """The smaller line below a name or a number; it explains that, and is whole."""
    return f'<span class="sub">{words(sub)}</span>' if sub else ""


def _size(text: str) -> str:
    return "text long" if len(text) > LONG else "text"


def cell(value: Any, kind: Kind = "text", sub: Any = None) -> str:
    """A cell of text or of a number, with a smaller line below it."""
    if kind != "text":
        shown = show(value, kind)
        # what our formats make of a number has nothing to escape
        safe = shown if value.__class__ in {float, int} else words(shown)
        return f'<td class="number">{safe}{below(sub)}</td>'
    text = short(str(value)) if value is not None else ""
    return f'<td class="{_size(text)}">{words(text)}{below(sub)}</td>'


def sentence(text: str | None) -> str:
    """A cell with a text that is read to its end."""
    return f'<td class="text long said">{words(text)}</td>'


@lru_cache(maxsize=16384, typed=True)
def head(text: Any, href: str | None = None, sub: Any = None) -> str:
    """The cell that names a row, with a link to what it names; a name that is cut is whole in the cell's title."""
    name = str(text)
    whole = "" if len(name) <= LONGEST else f' title="{words(name)}"'
    return f'<th scope="row" class="{_size(name)}"{whole}>{_linked(name, href)}{below(sub)}</th>'


def linked(text: Any, href: str | None, sub: Any = None) -> str:
    """A cell with a link, where there is somewhere to go."""
    shown = words(short(str(text))) if text else NONE
    inner = f'<a href="{words(href)}">{shown}</a>' if href and text else shown
    return f'<td class="{_size(str(text or ""))}">{inner}{below(sub)}</td>'


def named(
    text: str, href: str | None, notes: Sequence[str], summary: str, lines: Sequence[tuple[str, str | None, str]]
) -> str:
    """The cell that names a row, with notes below it, and lines (text, page, what is said of it) behind a fold."""
    inner = "".join(
        f"<li>{_linked(line, page)} {words(more)}</li>" if more else f"<li>{_linked(line, page)}</li>"
        for line, page, more in lines
    )
    under = "".join(map(below, notes))
    fold = f'<details class="fold"><summary>{words(summary)}</summary><ul>{inner}</ul></details>'
    return f'<th scope="row" class="text long">{_linked(text, href)}{under}{fold}</th>'


def _linked(text: str, href: str | None) -> str:
    shown = words(short(text))
    return f'<a href="{words(href)}">{shown}</a>' if href else shown


def level(value: float | None, one: Valued, sub: float | None = None) -> str:
    """A cell with a level of a series, maybe with another one below it: a time in the unit of its column, a metric in its own."""
    return f'<td class="number">{words(level_text(value, one))}{below(level_text(sub, one))}</td>'


def level_text(value: float | None, one: Valued) -> str:
    """The text of such a cell; empty for none."""
    if value is None:
        return ""
    return show(value, "time") if one.scope not in METRICS else value_words(value, one.unit)


def changed(value: float | None, sub: Any = None, better: str | None = "lower", *, look: str = "") -> str:
    """A change as a signed share, in the colour of better or worse, unless it has another `look`."""
    if value is None:
        return cell(None, "change")
    shown = words(show(value, "change"))
    if shown != NOTHING:
        look = look or ("slower-word" if loss(value, better) > 0 else "quicker-word")
        shown = f'<span class="{look}">{shown}</span>'
    return f'<td class="number">{shown}{below(sub)}</td>'


MINOR = "minor"
"""The look of what is too small to matter."""
NOTHING = show(0.0, "change")


def interval(low: float | None, high: float | None) -> str:
    """The 95 % interval of a change."""
    return "" if low is None or high is None else f"{show(low, 'change')} … {show(high, 'change')}"


def marked(text: str, look: str) -> str:
    """A cell with a number that is a text already; `look` is the class of its colour."""
    shown = f'<span class="{words(look)}">{words(text)}</span>' if look and text else words(text)
    return f'<td class="number">{shown}</td>'


def stated(word: str, shown: str, more: str = "") -> str:
    """A cell with a state as a mark; `word` decides its colour."""
    return f'<td class="text"><span class="state {words(class_of(word))}">{words(shown)}</span>{f" {words(more)}" if more else ""}</td>'


def class_of(word: str) -> str:
    """A word as the name of a class."""
    return "".join(char if char.isalnum() else "-" for char in word)


def drawn(chart: Markup) -> str:
    """A cell that holds a chart of `charts`."""
    return f"<td>{chart}</td>"


def _with_titles(columns: Columns, row: Sequence[str]) -> list[str]:
    """Cells with the titles of their columns as attributes, for the style sheet; the head of a row needs none."""
    return [
        one.replace("<td", f'<td data-title="{words(title)}"', 1) if title and one.startswith("<td") else one
        for (title, _), one in zip(columns, row, strict=True)
    ]


def as_html(caption: str, region: str, table: Table) -> Markup:
    """A whole table of such cells, in a region of its own that scrolls where the page is narrow."""
    heads = "".join(
        f'<th scope="col"{" class=number" if kind == "number" else ""}>{words(title)}</th>' if title else "<td></td>"
        for title, kind in table.columns
    )
    rows = map(partial(_with_titles, table.columns), table.rows) if table.stacks else table.rows
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    kinds = " class=stacks" if table.stacks else ""
    return Markup(
        f'<div class="wide" role="region" tabindex="0" aria-label="{words(region)}"><table{kinds}>'
        f"<caption>{words(caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )
