"""Cells of tables on pages."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from aoe_reports.site.cells import (
    MINOR,
    Table,
    as_html,
    cell,
    changed,
    drawn,
    head,
    linked,
    sentence,
    short,
    stated,
    with_code,
    words,
)

NONE = "–"


def test_values_are_escaped_and_none_is_a_dash() -> None:
    assert [words(value) for value in ("<a>&\x1b", 5, 0, None, "")] == ["&lt;a&gt;&amp;\\x1b", "5", "0", NONE, NONE]
    assert sentence("a<b") == '<td class="text long said">a&lt;b</td>'
    assert sentence(None) == f'<td class="text long said">{NONE}</td>'
    assert drawn(Markup("<svg/>")) == "<td><svg/></td>"


@pytest.mark.parametrize(("length", "whole"), [(300, True), (301, False)])
def test_a_very_long_name_is_cut_at_its_end(length: int, whole: bool) -> None:
    name = "a" * length
    assert short(name) == (name if whole else "a" * 299 + "…")


@pytest.mark.parametrize(("length", "kind"), [(24, "text"), (25, "text long")])
def test_a_column_of_long_names_is_wider(length: int, kind: str) -> None:
    name = "n" * length
    assert cell(name) == f'<td class="{kind}">{name}</td>'
    assert head(name) == f'<th scope="row" class="{kind}">{name}</th>'


def test_cells_hold_numbers_links_and_smaller_lines() -> None:
    assert cell(1234.5, "us") == '<td class="number">1,234.500</td>'
    assert cell(None, "us") == f'<td class="number">{NONE}</td>'
    assert cell("<", "us", "<sub>") == '<td class="number">&lt;<span class="sub">&lt;sub&gt;</span></td>'
    assert cell(None) == f'<td class="text">{NONE}</td>'
    assert cell("x", "text", "below") == '<td class="text">x<span class="sub">below</span></td>'
    assert cell("x", "text", "") == '<td class="text">x</td>'
    assert (
        head("x", "a&b.html", 7)
        == '<th scope="row" class="text"><a href="a&amp;b.html">x</a><span class="sub">7</span></th>'
    )
    assert linked("x", "a.html") == '<td class="text"><a href="a.html">x</a></td>'
    assert linked("x", None, "below") == '<td class="text">x<span class="sub">below</span></td>'
    assert linked(None, "a.html") == f'<td class="text">{NONE}</td>'


def test_a_change_has_the_colour_of_its_sign() -> None:
    assert changed(0.051) == '<td class="number"><span class="slower-word">+5.1%</span></td>'
    assert (
        changed(-0.051, "x")
        == '<td class="number"><span class="quicker-word">-5.1%</span><span class="sub">x</span></td>'
    )
    assert changed(0.0) == '<td class="number">0%</td>'
    assert changed(0.001, look=MINOR) == '<td class="number"><span class="minor">+0.10%</span></td>'
    assert changed(None) == f'<td class="number">{NONE}</td>'


def test_a_state_is_a_mark_with_words_behind() -> None:
    assert stated("too few", "zu wenig") == '<td class="text"><span class="state too-few">zu wenig</span></td>'
    assert stated("a", "b", "<c>") == '<td class="text"><span class="state a">b</span> &lt;c&gt;</td>'


def test_what_stands_in_backticks_is_code() -> None:
    assert with_code("run `a<b` now") == "run <code>a&lt;b</code> now"
    assert with_code("a ` b") == "a ` b"
    assert with_code("a < b") == "a &lt; b"
    assert with_code("`a` and `b`") == "<code>a</code> and <code>b</code>"


def test_a_table_has_a_caption_heads_and_rows() -> None:
    table = Table([("Name", "text"), ("Time", "number"), ("", "text")], [[cell("a"), cell(1), cell("b")], [cell("c")]])
    assert as_html("<cap>", "region", table) == (
        '<div class="wide" role="region" tabindex="0" aria-label="region"><table><caption>&lt;cap&gt;</caption>\n'
        '<thead><tr><th scope="col">Name</th><th scope="col" class=number>Time</th><td></td></tr></thead>\n'
        '<tbody>\n<tr><td class="text">a</td><td class="text">1</td><td class="text">b</td></tr>\n'
        '<tr><td class="text">c</td></tr>\n</tbody></table></div>'
    )
    assert (bool(table), bool(Table([("Name", "text")], []))) == (True, False)
