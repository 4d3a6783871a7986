"""Pages of any answer: none is too large, all together are the answer, and texts of files do nothing."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from hypothesis import given
from hypothesis import strategies as some
from hypothesis_profiles import FEW

from aoe_reports.assistants.documents import (
    FIRST_ROWS,
    MAX_PAGE,
    Document,
    Table,
    neutral,
    page_of,
    plain,
    plain_table,
    size_of,
)

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
    headline=TEXTS.map(neutral),
    tables=some.tuples(*(tables(f"table_{number}") for number in range(3))),
    notes=some.lists(TEXTS.map(neutral), max_size=3),
)


@FEW
@given(DOCUMENTS)
def test_pages_fit_and_are_the_whole_answer(document: Document) -> None:
    start, found = 0, {table.key: 0 for table in document.tables}
    while True:
        page, end = page_of(document, start)
        assert size_of(page) <= MAX_PAGE
        for key, table in page["tables"].items():  # type: ignore[union-attr]
            if table.get("rows"):
                assert table["from"] == found[key] + 1
                found[key] += len(table["rows"])
        assert end in {0, sum(found.values())}
        if not end:
            break
        assert end > start
        start = end
    assert found == {table.key: len(table.rows) for table in document.tables}


@given(VALUES)
def test_every_value_is_json_and_no_character_of_it_does_something(value: Any) -> None:
    text = json.dumps(plain(value), allow_nan=False, ensure_ascii=False)
    assert not [char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


def test_a_cut_is_visible() -> None:
    assert neutral("x" * 1000) == "x" * 400 + "… (1,000 characters)"
    assert plain(132233.5224567) == 132233.522


def test_a_column_without_values_is_left_out_and_shared_values_are_given_once() -> None:
    rows = [{"run": "r", "step": None, "total_us": 1.5}, {"run": "r", "step": None, "total_us": 2.5}]
    table = plain_table("rows", rows)
    assert (table.columns, table.same, table.rows) == (["total_us"], {"run": "r"}, [[1.5], [2.5]])


def test_the_first_page_has_the_first_rows_of_every_table() -> None:
    tables = [plain_table(f"table_{number}", [{"number": row} for row in range(2000)]) for number in range(5)]
    page, end = page_of(Document("hotspots", "", tables), 0)
    first: Any = page["tables"]
    assert end
    assert [table["rows"][:FIRST_ROWS] for table in first.values()] == [[[0], [1], [2]]] * 5
    second: Any = page_of(Document("hotspots", "", tables), end)[0]["tables"]
    assert second["table_0"]["from"] == len(first["table_0"]["rows"]) + 1
    assert "rows" not in second["table_4"]
