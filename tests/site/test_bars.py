"""Bars as lists: pieces that follow one another on one scale, names and times as text."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from aoe_reports.model.pictures.waterfall import WaterfallBar, WaterfallPicture
from aoe_reports.model.texts import say
from aoe_reports.site.bars import WIDE, stacked_bars, waterfall_bars
from aoe_reports.site.texts import Texts


def spans(item: ET.Element) -> list[tuple[str, float, float]]:
    """(class, from, to) of the pieces of a row."""
    return [
        (rect.get("class", ""), float(rect.get("x", 0)), float(rect.get("x", 0)) + float(rect.get("width", 0)))
        for rect in item.iter("rect")
    ]


def test_parts_follow_each_other_on_one_scale() -> None:
    rows = [
        ("Rank 0", [("computing", 1.0), ("communication", 0.0), ("free", 3.0)], "4 ms", "all of it"),
        ("<b>", [("computing", 2.0), ("free", -1.0)], "2 ms", "half of it"),
    ]
    long, half = ET.fromstring(str(stacked_bars(rows)))
    assert spans(long) == [("computing", 0, WIDE / 4), ("free", WIDE / 4, WIDE)]
    assert spans(half) == [("computing", 0, WIDE / 2)]
    assert ["".join(part.itertext()) for part in half] == ["<b>", "", "2 ms"]
    svg = long[1]
    assert (svg.get("role"), svg.get("aria-label")) == ("img", "all of it")


def test_each_part_of_a_waterfall_begins_where_the_one_above_ends() -> None:
    picture = WaterfallPicture(
        say("before"),
        (
            WaterfallBar("before", 0, 1_000, "whole"),
            WaterfallBar("conv", 1_000, 1_400, "longer"),
            WaterfallBar("relu", 1_400, 1_300, "shorter"),
            WaterfallBar("after", 0, 1_300, "whole"),
        ),
    )
    rows = list(ET.fromstring(str(waterfall_bars(picture, Texts()))))
    (before, conv, relu, after) = (spans(row)[0] for row in rows)
    assert [kind for kind, *_ in (before, conv, relu, after)] == ["whole", "longer", "shorter", "whole"]
    assert (before[1], before[2], conv[2]) == (0, conv[1], WIDE)
    assert relu[2] == conv[2]
    assert relu[1] == after[2]
    assert ["".join(row.itertext()) for row in rows] == [
        "before1.000 us",
        "conv+400 ns",
        "relu-100 ns",
        "after1.300 us",
    ]
