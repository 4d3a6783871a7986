"""Lists of many rows: what their script has."""

from __future__ import annotations

import json
from typing import Any

from aoe_reports.site.listed import Facet, ListColumn, Listed


def called(listed: Listed) -> dict[str, Any]:
    """What the script of a list hands over."""
    script = listed.script.decode()
    assert script.startswith("aoeList(")
    assert script.endswith(");\n")
    found: dict[str, Any] = json.loads(script.removeprefix("aoeList(").removesuffix(");\n"))
    return found


def test_the_script_has_all_rows_and_the_page_the_first_hundred() -> None:
    names = [f"name {number}" for number in range(150)]
    listed = Listed(
        [
            ListColumn("item", "Item", names, "head", links=names, below=["op"] * 150),
            ListColumn(
                "change", "Change", ["", "+1.5%"] * 75, "number", [None, 0.0151234567] * 75, looks=["", "minor"] * 75
            ),
        ],
        [Facet("rank", "Rank", [(str(number % 12), f"rank {number % 12}") for number in range(150)], is_number=True)],
        "",
    )
    rows = called(listed)
    item, change = rows["columns"]
    assert (len(listed), len(listed.table.rows)) == (150, 100)
    assert item["texts"] == item["links"] == names
    assert item["below"] == {"words": ["op"], "of": [0] * 150}
    assert change == {
        "key": "change", "kind": "number", "keys": {"words": [None, 0.0151235], "of": [0, 1] * 75}, "units": [], "texts": {"words": ["", "+1.5%"], "of": [0, 1] * 75}, "below": [], "links": [],
        "looks": {"words": ["", "minor"], "of": [0, 1] * 75}, "marks": [],
    }  # fmt: skip
    (rank,) = rows["facets"]
    assert [key for key, _ in rank["values"]] == [str(number) for number in range(12)]  # not 0, 1, 10, 11, 2
    assert rank["of"][:13] == [*range(12), 0]
    assert listed.table.rows[1][1] == '<td class="number"><span class="minor">+1.5%</span></td>'
    assert listed.table.rows[0][1] == '<td class="number">–</td>'


def test_names_in_a_script_are_text() -> None:
    odd = "</script>\u202e\udcff&"
    listed = Listed([ListColumn("item", "Item", [odd], "head")], [Facet("model", "Model", [(odd, odd)])], "")
    assert b"<" not in listed.script
    rows = called(listed)
    assert rows["columns"][0]["texts"] == [r"</script>\x202e\xdcff&"]
    assert rows["facets"][0]["values"] == [[r"</script>\x202e\xdcff&"] * 2]


def test_numbers_of_any_length_are_put_in_order() -> None:
    long = "1" * 5000  # more digits than int() takes
    keys = ["none", long, "10", "9"]
    for is_number, order in ((True, ["9", "10", long, "none"]), (False, ["10", long, "9", "none"])):
        facet = Facet("rank", "Rank", [(key, key) for key in keys], is_number=is_number)
        (listed,) = called(Listed([ListColumn("item", "Item", keys)], [facet], ""))["facets"]
        assert [key for key, _ in listed["values"]] == order
