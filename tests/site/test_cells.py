"""Cells of tables on pages, the order of the morning's changes, and words on pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from markupsafe import Markup

from aoe_reports.model.classes import declared_fields
from aoe_reports.model.history.changes import Acknowledged, SeriesChange
from aoe_reports.site.cells import (
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
from aoe_reports.site.pages.triage import (
    by_sure_effect,
    group_of,
    grouped,
    slower_word,
    state_of,
    sure_change,
    sure_effect,
)
from aoe_reports.site.texts import Texts

NONE = "–"
ROW = SeriesChange(**{**dict.fromkeys(declared_fields(SeriesChange)), "series_id": "s", "workload": "net", "scope": "op", "state": "confirmed", "since": "2026-01-05", "change": 0.1})  # type: ignore[arg-type] # fmt: skip
ACK = Acknowledged(kind="ack", id="a", who="me", when="now", reason="known")


def row(**known: Any) -> SeriesChange:
    return replace(ROW, **known)


# Cells


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


# Which changes come first


NIGHTS = [f"2026-01-{day:02}" for day in range(1, 21)]


@pytest.mark.parametrize(
    ("known", "group"),
    [
        ({"since": "2026-01-14"}, "new"),
        ({"since": "2026-01-13"}, "ongoing"),
        ({"since": "2026-01-20"}, "new"),
        ({"change": 0.0, "since": "2026-01-20"}, "new"),
        ({"change": -0.01, "since": "2026-01-20"}, "improved"),
        ({"change": -0.01, "acknowledged": ACK}, "improved"),
        ({"acknowledged": ACK, "since": "2026-01-20"}, "acknowledged"),
        ({"state": "suspect", "since": "2026-01-20"}, "suspect"),
        ({"state": "recovered"}, "recovered"),
        ({"state": None}, None),
        ({"change": None}, None),
    ],
)
def test_a_change_is_in_the_group_of_what_is_to_be_done(known: Mapping[str, Any], group: str | None) -> None:
    assert group_of(row(**known), NIGHTS) == group


@pytest.mark.parametrize(
    ("state", "change", "accepted", "word"),
    [
        ("confirmed", 0.1, True, "acknowledged"),
        ("drift", 0.1, True, "acknowledged"),
        ("confirmed", 0.1, False, "confirmed"),
        ("confirmed", 0.0, True, "confirmed"),
        ("confirmed", None, True, "confirmed"),
        ("confirmed", -0.1, True, "confirmed"),
        ("suspect", 0.1, True, "suspect"),
    ],
)
def test_an_accepted_slow_down_is_said_to_be_one(state: str, change: float | None, accepted: bool, word: str) -> None:
    assert slower_word(state, change, accepted=accepted) == word
    assert state_of(row(state=state, change=change, acknowledged=ACK if accepted else None)) == word


def test_a_series_without_a_change_says_why() -> None:
    assert state_of(row(state=None, reason="too-few-nights")) == "too-few-nights"
    assert state_of(row(state=None)) == "unchanged"


@pytest.mark.parametrize(
    ("low", "high", "sure"),
    [(0.02, 0.05, 0.02), (-0.05, -0.02, -0.02), (-0.01, 0.02, 0.0), (0.0, 0.02, 0.0), (-0.02, 0.0, 0.0), (None, 0.2, 0.0), (0.2, None, 0.0)],
)  # fmt: skip
def test_the_sure_part_of_a_change_is_the_nearer_end(low: float | None, high: float | None, sure: float) -> None:
    assert sure_change(row(ci_low=low, ci_high=high)) == sure


def series(name: str, share: float | None = None, **known: Any) -> Any:
    return SimpleNamespace(row=row(ci_low=0.02, ci_high=0.05, **known), share_of_step=share, id=name)


@pytest.mark.parametrize(
    ("share", "scope", "effect"),
    [(0.5, "op", 0.01), (None, "op", None), (None, "step", 0.02), (0.5, "step", 0.02)],
)
def test_the_sure_effect_is_weighed_by_the_share_of_the_step(
    share: float | None, scope: str, effect: float | None
) -> None:
    assert sure_effect(series("s", share, scope=scope)) == effect


def test_the_largest_effect_comes_first_and_then_the_largest_change() -> None:
    small, large, unknown = series("a", 0.1), series("b", 0.9), series("c")
    larger = SimpleNamespace(row=row(ci_low=-0.5, ci_high=-0.3), share_of_step=None, id="d")
    same = series("e", workload="aaa")
    facts: Any = SimpleNamespace(series=[unknown, small, same, larger, large], nights=["2026-01-05"])
    assert sorted(facts.series, key=by_sure_effect) == [large, small, larger, same, unknown]
    assert grouped(facts)["new"] == [large, small, larger, same, unknown]
    assert list(grouped(facts)) == ["new", "ongoing", "suspect", "acknowledged", "recovered", "improved"]


# Words


def test_words_facts_and_places_are_said_in_the_language_of_the_page() -> None:
    english, chinese = Texts(), Texts("zh")
    assert english("{count} rows", count=3) == "3 rows"
    assert english("{count} rows") == "{count} rows"
    assert (english.word("confirmed"), english.word("odd")) == ("slower", "odd")
    assert chinese.word("confirmed") != "slower"
    assert english.place(3, 1) == "Rank 3 · Device 1"
    assert (english.place(None, 0), english.place(0, None), english.place(None, None)) == ("Device 0", "Rank 0", "")
    assert (english.fact("odd_fact"), english.fact("confirmed")) == ("odd_fact", "confirmed")
    assert english.joined(", ", ["a", "b"]) == "a, b"
    assert english.translated(5) == "5"
    assert (english.tag, chinese.tag) == ("en", "zh-Hans")
    columns = dict(english.columns(SeriesChange, "workload", "change", "before"))
    assert set(columns.values()) == {"text", "number"}
    assert any(title.endswith(" (ms)") for title in columns)


WORDS = {
    "confirmed": "slower", "drift": "drift", "suspect": "suspect", "recovered": "recovered", "improved": "improved",
    "unchanged": "unchanged", "too-few-nights": "too few nights to judge", "no-times": "no times", "acknowledged": "acknowledged",
    "error": "error", "warning": "warning", "info": "remark", "operators_rest": "other operators",
    "communication_not_overlapped": "communication, not overlapped", "free": "free time", "unattributed": "unattributed",
    "model": "Model", "scope": "Scope", "hardware": "Hardware", "kind": "Kind", "status": "Status", "op_type": "Operator type",
    "op_name": "Operator", "core": "Core",
}  # fmt: skip
FACTS = {
    "engine": "Engine", "engine_version": "Version", "runtime_config.profiler_level": "Profiler level",
    "runtime_config.aic_metrics": "AI Core metrics",
}  # fmt: skip


def test_words_of_data_have_words_for_people() -> None:
    assert {word: Texts().word(word) for word in WORDS} == WORDS
    assert {name: Texts().fact(name) for name in FACTS} == FACTS
    chinese = Texts("zh")
    assert [
        said for word, said in (WORDS | FACTS).items() if chinese.word(word) in {word, said} and "AI Core" not in said
    ] == []
