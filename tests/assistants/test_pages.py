"""Pages of any answer: none is too large, all together are the answer, and texts of files do nothing."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from aoe_reports.assistants.documents import Document, Hint, Table, plain_table
from aoe_reports.assistants.pages import MOST_TOKENS, page_of, size_of
from aoe_reports.assistants.refusal import RefusedError
from aoe_reports.assistants.words import MOST_CHARACTERS, meant, neutral, plain, tokens_of

TEXTS = some.text(max_size=60) | some.sampled_from(["汉" * 390, "a" * 5000, "\x1b[2J", "\ud800", "\u202e" * 300, ""])
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | TEXTS,
    lambda inner: some.lists(inner, max_size=20) | some.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=8,
)


@some.composite
def tables(draw: some.DrawFn, key: str) -> Table:
    names = [f"column_{number}" for number in range(draw(some.integers(1, 12)))]
    kinds = draw(some.lists(some.fixed_dictionaries(dict.fromkeys(names, VALUES)), min_size=1, max_size=2))
    return plain_table(key, kinds * draw(some.integers(0, 15)), 5000)


DOCUMENTS = some.builds(
    Document,
    answers=some.just("hotspots"),
    headline=TEXTS.map(lambda text: neutral(text, 300)),
    tables=some.tuples(*(tables(f"table_{number}") for number in range(3))),
    notes=some.lists(TEXTS.map(lambda text: neutral(text, 200)), max_size=3).map(tuple),
    hints=some.lists(
        some.integers(1, 9000).map(lambda size: Hint("files", {"path": "x" * size}, "why")), max_size=3
    ).map(tuple),
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(DOCUMENTS)
def test_pages_fit_and_are_the_whole_answer(document: Document) -> None:
    cursor, count, found = None, 0, {table.key: 0 for table in document.tables}
    while True:
        page = page_of(document, cursor)
        assert size_of(page) <= MOST_TOKENS
        for key, table in page.content["tables"].items():  # type: ignore[union-attr]
            if table.get("rows"):
                assert table["from"] == found[key] + 1
                found[key] += len(table["rows"])
        cursor, before = page.content.get("cursor"), count
        count = sum(found.values())
        if cursor is None:
            break
        assert count > before
    assert found == {table.key: len(table.rows) for table in document.tables}


@given(TEXTS)
def test_a_neutral_text_has_no_character_that_does_something(text: str) -> None:
    told = neutral(text)
    assert not [char for char in told if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]
    assert len(told) <= 6 * MOST_CHARACTERS + 30


@pytest.mark.parametrize(
    "name", ["a\nb", "\udcff1", "\u202eab", "\U000e00410", "\U0001d173", r"\u0041", r"\u0000", "汉字", "\x1b[2J"]
)
def test_a_name_that_was_told_is_meant(name: str) -> None:
    assert meant(neutral(name)) == name


@given(VALUES)
def test_every_value_is_json(value: Any) -> None:
    json.dumps(plain(value), allow_nan=False).encode()


def test_what_is_cut_is_said() -> None:
    assert neutral("x" * 1000) == "x" * 400 + "… (1,000 characters)"
    assert plain(list(range(20))) == [*range(12), "… 8 more"]
    assert plain(132233.5224567) == 132233.522


def test_chinese_counts_more() -> None:
    assert (tokens_of("a" * 10), tokens_of("汉" * 10)) == (4, 20)


def test_a_column_that_says_nothing_is_left_out_and_what_is_alike_is_said_once() -> None:
    rows = [{"run": "r", "step": None, "total_us": 1.5}, {"run": "r", "step": None, "total_us": 2.5}]
    table = plain_table("rows", rows, 2)
    assert (table.columns, table.same, table.units) == (("total_us",), {"run": "r"}, {"total_us": "us"})
    assert table.mappings() == [{"run": "r", "total_us": 1.5}, {"run": "r", "total_us": 2.5}]


def test_a_cursor_of_another_answer_is_refused() -> None:
    one = Document("a", "a", (plain_table("rows", [{"n": number} for number in range(3000)], 3000),))
    other = Document("a", "b", one.tables)
    cursor = page_of(one, None).content["cursor"]
    assert isinstance(cursor, str)
    with pytest.raises(RefusedError, match="of another answer"):
        page_of(other, cursor)
