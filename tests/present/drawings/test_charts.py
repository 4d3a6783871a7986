"""Charts: what is drawn is what is there, however many nights and whatever names."""

from __future__ import annotations

import re
from datetime import date
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.present.drawings.charts import (
    BUCKETS,
    HEIGHT,
    WIDTH,
    Bars,
    Frame,
    Level,
    Noted,
    bar,
    card_chart,
    code_of,
    days_of,
    grouped,
    history_chart,
    pair,
    ranking,
    sparkline,
    waterfall,
)

times = st.floats(1e-6, 1e9)


def points(svg: str) -> list[tuple[float, float]]:
    found = re.search('points="([^"]*)"', svg)
    assert found is not None
    numbers = [float(number) for number in re.split("[ ,]", found[1])]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


@given(st.lists(times, min_size=1, max_size=60), st.integers(0, 400), st.none() | st.floats(1e-4, 0.5))
def test_a_history_is_well_formed_and_stays_inside_its_frame(
    values: list[float], gap: int, sigma: float | None
) -> None:
    days = np.arange(len(values)) + 730_000
    days[len(values) // 2 :] += gap
    levels = [Level(0, len(values), values[0], values[-1])]
    svg = str(history_chart(days, np.array(values), levels, sigma, changes=[0], words="<words> & \u202e"))
    drawn = ET.fromstring(svg)
    assert drawn.get("aria-label") == "<words> & \\x202e"
    if len(values) > 1:
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points(svg))


@pytest.mark.parametrize(("first", "last"), [(10.0, 10.0), (8.0, 12.0)])
def test_the_band_lies_a_quiet_night_above_and_below_its_level(first: float, last: float) -> None:
    sigma, days = 0.05, np.arange(20) + 730_000
    values = np.linspace(first, last, 20)
    svg = str(history_chart(days, values, [Level(0, 20, first, last)], sigma, changes=[], words=""))
    band = re.search(r'class="band" d="M(\d+) ([\d.]+)L(\d+) ([\d.]+)V([\d.]+)L(\d+) ([\d.]+)Z"', svg)
    level = re.search(r'class="level" d="M(\d+) ([\d.]+)L(\d+) ([\d.]+)"', svg)
    assert band is not None
    assert level is not None
    ticks = [(float(y) - 4, float(label)) for y, label in re.findall(r'tick end"[^>]* y="(\d+)">([\d.]+)<', svg)]
    (low_y, low), (high_y, high) = ticks[0], ticks[-1]

    def time_at(y: str) -> float:
        return low + (float(y) - low_y) * (high - low) / (high_y - low_y)

    upper_first, upper_last, lower_last, lower_first = (time_at(band[place]) for place in (2, 4, 5, 7))
    spread = float(np.exp(1.96 * sigma))
    assert (upper_first, upper_last) == pytest.approx((first * spread, last * spread), rel=0.01)
    assert (lower_first, lower_last) == pytest.approx((first / spread, last / spread), rel=0.01)
    assert (time_at(level[2]), time_at(level[4])) == pytest.approx((first, last), rel=0.01)


def test_of_many_nights_no_extreme_is_lost() -> None:
    noise = np.random.default_rng(5)
    values = noise.normal(10, 0.1, 5 * BUCKETS)
    values[1234], values[777] = 14.0, 6.0
    days = np.arange(len(values)) + 730_000
    heights = [y for _, y in points(str(history_chart(days, values, [], None, changes=[], words="")))]
    assert len(heights) <= 2 * BUCKETS
    alone = [
        y
        for _, y in points(str(history_chart(days[:800], np.resize([6.0, 14.0], 800), [], None, changes=[], words="")))
    ]
    assert (min(heights), max(heights)) == (min(alone), max(alone))


@given(st.lists(st.tuples(st.text(max_size=80), st.floats(-1e6, 1e6)), min_size=1, max_size=8))
def test_the_bars_of_a_waterfall_end_where_the_whole_does(parts: list[tuple[str, float]]) -> None:
    total = sum(size for _, size in parts)
    svg = str(waterfall(parts, ("whole", total), "said"))
    if not svg:
        assert max(abs(size) for _, size in parts) < 1e-6
        return
    bars = [bar for bar in ET.fromstring(svg) if bar.tag == "rect"]
    assert len(bars) == len(parts) + 1
    ends = [{float(bar.get("x", 0)), float(bar.get("x", 0)) + float(bar.get("width", 0))} for bar in bars[-2:]]
    assert min(abs(a - b) for a in ends[0] for b in ends[1]) <= 1.2  # px: a bar is at least 1 wide


def test_small_charts_say_what_they_show() -> None:
    spark = ET.fromstring(str(sparkline(code_of(np.array([3.0, 1.0])), 1, "two nights")))
    assert (spark.get("role"), spark.get("aria-label")) == ("img", "two nights")
    assert str(sparkline(code_of(np.array([])), -1)) == ""


def test_dates_are_days() -> None:
    assert np.diff(days_of(("2024-02-28", "2024-03-01"))).tolist() == [2]
    with pytest.raises(ValueError):
        days_of(("2024-02-30",))


def attributes(svg: object, tag: str) -> list[dict[str, str]]:
    return [dict(one.attrib) for one in ET.fromstring(str(svg)) if one.tag == tag]


LEFT, RIGHT, TOP, BOTTOM = 72.0, WIDTH - 12.0, 26.0, HEIGHT - 26.0


def test_a_history_lies_where_its_days_and_times_say() -> None:
    """Ten days, of which one has no time; times from 10 to 20, which the ends of the axis are."""
    days = np.arange(10) + 730_000
    values = np.array([10.0, 12.0, np.nan, 14.0, 20.0, 16.0, 15.0, 14.0, 13.0, 12.0])
    svg = str(
        history_chart(
            days, values, [Level(0, 4, 11.0, 12.0), Level(4, 10, 16.0, 14.0)], None, changes=[4, 9], words="words"
        )
    )

    def x(day: float) -> float:
        return LEFT + day * (RIGHT - LEFT) / 9

    def y(time: float) -> float:
        return BOTTOM - (time - 10) * (BOTTOM - TOP) / 10

    known = [(day, value) for day, value in enumerate(values.tolist()) if not np.isnan(value)]
    assert points(svg) == [(round(x(day)), round(y(value))) for day, value in known]
    texts = [
        (one.attrib["class"], one.text, float(one.attrib["x"]), float(one.attrib["y"]))
        for one in ET.fromstring(svg)
        if one.tag == "text"
    ]
    assert [one for one in texts if one[0] == "tick end" and "-" not in str(one[1])] == [
        ("tick end", label, LEFT - 8, round(y(time) + 4))
        for label, time in (("10", 10), ("12.5", 12.5), ("15", 15), ("17.5", 17.5), ("20", 20))
    ]
    first, last = (day.isoformat() for day in (date.fromordinal(730_000), date.fromordinal(730_009)))
    assert [one for one in texts if "-" in str(one[1])] == [
        ("tick start", first, LEFT, HEIGHT - 7),
        ("tick end", last, RIGHT, HEIGHT - 7),
    ]
    paths = {
        kind: [one["d"] for one in attributes(svg, "path") if one["class"] == kind]
        for kind in ("grid", "level", "mark", "band")
    }
    assert paths["grid"] == [f"M72 {y(time):.0f}H{RIGHT:.0f}" for time in (10, 12.5, 15, 17.5, 20)]
    assert paths["level"] == [
        f"M{x(0):.0f} {y(11):.1f}L{x(3):.0f} {y(12):.1f}",
        f"M{x(4):.0f} {y(16):.1f}L{x(9):.0f} {y(14):.1f}",
    ]
    assert paths["mark"] == [f"M{x(day):.0f} 26V{BOTTOM:.0f}" for day in (4, 9)]
    assert paths["band"] == []


def test_dates_without_a_run_break_the_line_and_lie_on_the_axis() -> None:
    days = np.array([0, 1, 4, 6, 7]) + 730_000
    noted = Noted(gaps=[(730_002, 2), (730_005, 1)], baseline=30.0)
    svg = history_chart(days, np.array([10.0, 12.0, 14.0, 20.0, 16.0]), [], None, changes=[], words="", noted=noted)
    width = (RIGHT - LEFT) / 7
    assert [one["points"].count(",") for one in attributes(svg, "polyline")] == [3, 3]  # two nights each
    (dot,) = attributes(svg, "circle")
    assert dot["cx"] == f"{LEFT + 4 * width:.0f}"
    gaps, baseline = (
        [one["d"] for one in attributes(svg, "path") if one["class"] == kind] for kind in ("gap", "baseline")
    )
    assert gaps == [
        f"M{LEFT + 1.5 * width:.1f} {BOTTOM - 2:.0f}H{LEFT + 3.5 * width:.1f}",
        f"M{LEFT + 4.5 * width:.1f} {BOTTOM - 2:.0f}H{LEFT + 5.5 * width:.1f}",
    ]
    assert baseline == [f"M72 {TOP:.1f}H{RIGHT:.0f}"]  # the highest of all, within the frame


def test_a_gap_among_more_nights_than_pixels_breaks_the_line_too() -> None:
    days = np.concatenate([np.arange(1500), np.arange(1600, 3000)]) + 730_000
    svg = history_chart(
        days, np.resize([1.0, 2.0], len(days)), [], None, changes=[], words="", noted=Noted(gaps=[(731_500, 100)])
    )
    assert len(attributes(svg, "polyline")) == 2


def test_a_small_chart_shows_the_days_of_a_large_one() -> None:
    days = np.arange(5, 10) + 730_000
    svg = history_chart(
        days, np.linspace(1.0, 2.0, 5), [], None, changes=[], words="", frame=Frame(400, 150, (730_000, 730_010))
    )
    assert ET.fromstring(str(svg)).get("viewBox") == "0 0 400 150"
    assert [x for x, _ in points(str(svg))] == [round(72 + (388 - 72) * day / 10) for day in range(5, 10)]
    texts = [one.text for one in ET.fromstring(str(svg)) if one.tag == "text" and "-" in str(one.text)]
    assert texts == [date.fromordinal(day).isoformat() for day in (730_000, 730_010)]


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 1.0, ["0", "0.25", "0.5", "0.75", "1"]),
        (0.0, 4.0, ["0", "1", "2", "3", "4"]),
        (0.0, 4.1, ["0", "2", "4"]),
        (3.0, 10.0, ["4", "6", "8", "10"]),
        (0.0, 12.0, ["0", "5", "10"]),
        (1000.0, 9000.0, ["2,000", "4,000", "6,000", "8,000"]),
        (0.0001, 0.0009, ["0.0002", "0.0004", "0.0006", "0.0008"]),
        (7.0, 7.0, ["7"]),
    ],
)
def test_times_beside_a_history_are_round(low: float, high: float, labels: list[str]) -> None:
    svg = history_chart(np.arange(2) + 730_000, np.array([low, high]), [], None, changes=[], words="")
    ticks = [one.text for one in ET.fromstring(str(svg)) if one.tag == "text" and "-" not in str(one.text)]
    assert ticks == labels


@pytest.mark.parametrize(
    ("days", "named"), [(9, [0, 9]), (10, [0, 2, 4, 6, 8, 10]), (11, [0, 2, 4, 6, 8, 11]), (0, [0])]
)
def test_dates_between_are_named_from_ten_days_on(days: int, named: list[int]) -> None:
    across = np.array(sorted({0, days})) + 730_000
    svg = history_chart(across, np.linspace(1.0, 2.0, len(across)), [], None, changes=[], words="")
    texts = [one for one in ET.fromstring(str(svg)) if one.tag == "text" and "-" in str(one.text)]
    assert [one.text for one in texts] == [date.fromordinal(730_000 + day).isoformat() for day in named]
    sides = [one.attrib["class"] for one in texts]
    assert sides == (["tick start", *["tick middle"] * (len(named) - 2), "tick end"] if days else ["tick start"])


def test_one_night_is_a_dot_and_none_is_nothing() -> None:
    (dot,) = attributes(history_chart(np.array([730_000]), np.array([5.0]), [], None, changes=[], words=""), "circle")
    assert (dot["cx"], dot["cy"], dot["r"]) == ("72", f"{BOTTOM:.0f}", "3")
    assert str(history_chart(np.array([730_000]), np.array([np.nan]), [], None, changes=[], words="")) == ""


def test_a_sparkline_spans_its_box_and_ends_in_a_dot() -> None:
    svg = sparkline(code_of(np.array([1.0, 3.0, 2.0])), 1)
    assert points(str(svg)) == [(3.0, 39.0), (110.0, 5.0), (217.0, 22.0)]
    assert attributes(svg, "circle") == [{"class": "dot", "cx": "217", "cy": "22", "r": "2.5"}]
    assert attributes(svg, "path") == [{"class": "mark", "d": "M110 2V42"}]
    assert 'aria-hidden="true"' in svg
    assert points(str(sparkline(code_of(np.array([4.0])), -1))) == [(3.0, 39.0)]
    assert code_of(np.array([1.0, 3.0, 2.0])) == "0yh"
    assert attributes(sparkline("00", -1), "path") == []


@pytest.mark.parametrize(("height", "high"), [(150, 42.0), (150, 100.0), (240, 101.0), (300, 101.0)])
def test_a_chart_has_three_lines_at_least_and_a_large_one_no_fewer_than_others(height: int, high: float) -> None:
    svg = history_chart(
        np.arange(730_000, 730_002), np.array([1.0, high]), [], None, changes=[], words="", frame=Frame(960, height)
    )
    assert len([path for path in attributes(svg, "path") if path["class"] == "grid"]) >= 3


@pytest.mark.parametrize(
    ("share", "of", "width"),
    [(0.25, 1.0, "25.00"), (1.5, 1.0, "100.00"), (-0.5, 1.0, "0.00"), (3.0, 4.0, "75.00"), (3.0, 0.0, "0.00")],
)
def test_a_bar_is_as_wide_as_its_share(share: float, of: float, width: str) -> None:
    track, shown = attributes(bar(share, "free", of), "rect")
    assert (track["class"], track["width"], shown["class"], shown["width"]) == ("track", "100", "free", width)


@pytest.mark.parametrize(
    ("before", "after", "most", "widths"),
    [
        (2.0, 4.0, None, ["50.00", "100.00"]),
        (4.0, 1.0, None, ["100.00", "25.00"]),
        (2.0, 4.0, 8.0, ["25.00", "50.00"]),
        (-2.0, 4.0, None, ["0.00", "100.00"]),
        (0.0, 0.0, None, ["0.00", "0.00"]),
    ],
)
def test_two_bars_share_their_scale(before: float, after: float, most: float | None, widths: list[str]) -> None:
    rects = attributes(pair(before, after, most), "rect")
    assert [(one["class"], one["y"], one["width"]) for one in rects] == [
        ("was", "0", widths[0]),
        ("became", "8", widths[1]),
    ]
    assert str(pair(None, after)) == str(pair(before, None)) == ""


def test_a_waterfall_has_a_row_for_each_part_and_one_for_the_whole() -> None:
    name = "n" * 44
    svg = waterfall([("first", 30.0), (name, -10.0), (name + "x", 0.001)], ("whole", 20.001), "words")
    left, right = 310.0, WIDTH - 90.0

    def x(value: float) -> float:
        return left + value * (right - left) / 30

    rects = attributes(svg, "rect")
    assert [one["class"] for one in rects] == ["longer", "shorter", "longer", "longer"]
    assert [(one["x"], one["y"], one["width"]) for one in rects] == [
        (f"{x(0):.1f}", "6", f"{x(30) - x(0):.1f}"),
        (f"{x(20):.1f}", "30", f"{x(30) - x(20):.1f}"),
        (f"{x(20):.1f}", "54", "1.0"),
        (f"{x(0):.1f}", "78", f"{x(20.001) - x(0):.1f}"),
    ]
    assert texts_of(svg, "tick end") == [
        (shown, 300.0, 24.0 * place + 18)
        for place, shown in enumerate(("first", name, "n" * 22 + "…" + "n" * 20 + "x", "whole"))
    ]
    assert texts_of(svg, "tick") == [
        ("+30.0", near(x(30) + 6), 18.0),
        ("-10.0", near(x(30) + 6), 42.0),
        ("+0.001", near(x(20.001) + 6), 66.0),
        ("+20.0", near(x(20.001) + 6), 90.0),
    ]
    assert [one["d"] for one in attributes(svg, "path") if one["class"] == "zero"] == [f"M{x(0):.1f} 0V104"]
    axis = [(str(tick), near(x(tick)), 118.0) for tick in (0, 10, 20, 30)]
    assert texts_of(svg, "tick middle") == [*axis, ("us", near((left + right) / 2), 134.0)]
    assert str(waterfall([("a", 9e-7)], ("b", 9e-7), "")) == ""
    assert str(waterfall([("a", 1.1e-6)], ("b", 1.1e-6), "")) != ""


def test_a_ranking_has_the_longest_bar_as_wide_as_the_words_behind_the_bars_allow() -> None:
    svg = ranking([("long", 40.0, "words behind"), ("short", 10.0, ""), ("none", 0.0, "0")], "said")
    first, second, third = attributes(svg, "rect")
    assert float(first["x"]) + float(first["width"]) == near(WIDTH - 12 * 6.6 - 12)
    assert float(second["width"]) == near(float(first["width"]) / 4)
    assert third["width"] == "0.0"
    assert [text for text, *_ in texts_of(svg, "tick end")] == ["long", "short", "none"]
    assert [text for text, *_ in texts_of(svg, "tick")] == ["words behind", None, "0"]
    assert len(attributes(ranking([], "said"), "rect")) == 0


def test_grouped_bars_begin_at_zero_and_have_their_intervals_through_them() -> None:
    groups = (Bars("was", (10.0, None)), Bars("became", (-5.0, 20.0), (None, (15.0, 30.0))))
    svg = grouped(("first", "second"), groups, "said", "saved (%)")
    left, right = 310.0, WIDTH - 30.0

    def x(value: float) -> float:
        return left + (value + 5) * (right - left) / 35

    assert [(one["class"], one["x"], one["width"], one["y"]) for one in attributes(svg, "rect")] == [
        ("was", f"{x(0):.1f}", f"{x(10) - x(0):.1f}", "6"),
        ("became", f"{x(-5):.1f}", f"{x(0) - x(-5):.1f}", "17"),
        ("became", f"{x(0):.1f}", f"{x(20) - x(0):.1f}", "49"),
    ]
    (interval,) = (one["d"] for one in attributes(svg, "path") if one["class"] == "interval")
    assert interval == f"M{x(15):.1f} 53.5H{x(30):.1f}"
    assert [text for text, *_ in texts_of(svg, "tick middle")] == ["0", "10", "20", "30", "saved (%)"]


def texts_of(svg: object, kind: str) -> list[tuple[str | None, float, float]]:
    """What is written in one class: the last text of each element, its place."""
    return [
        ([*one.itertext()][-1] if [*one.itertext()] else None, float(one.attrib["x"]), float(one.attrib["y"]))
        for one in ET.fromstring(str(svg))
        if one.tag == "text" and one.attrib["class"] == kind
    ]


def near(value: float) -> float:
    return pytest.approx(value, abs=0.06)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["<script>&\"'</script>", "\x1b[31m\u202e\ud800", "名称" * 200, ""])
def test_no_name_breaks_a_chart_of_bars(name: str) -> None:
    for svg in (
        ranking([(name, 1.0, name)], name),
        grouped([name], [Bars("was", [1.0])], name, name),
        waterfall([(name, 1.0)], (name, 1.0), name, name),
        history_chart(np.array([730_000, 730_001]), np.array([1.0, 2.0]), [], None, changes=[], words=name, unit=name),
    ):
        assert {one.tag for one in ET.fromstring(str(svg)).iter()} <= {
            "svg",
            "text",
            "title",
            "rect",
            "path",
            "polyline",
        }
        assert all(char.isprintable() for char in str(svg))


def test_a_card_has_rings_for_bad_nights_gaps_for_missing_ones_and_no_more_than_its_span() -> None:
    days = np.array([1, 2, 3, 6, 7], dtype=np.int64) + 700_000
    values = np.array([10.0, 10.01, 10.0, 10.02, 10.0])
    svg = card_chart(
        days,
        values,
        [],
        None,
        changes=[3],
        words="said",
        in_words=lambda value: f"{value:.2f} ms",
        span=(700_001, 700_009),
        past=[1],
        versions=[4],
    )
    assert (svg.count("<polyline"), svg.count('class="odd-night"'), svg.count('class="version"')) == (2, 1, 1)
    assert svg.count('class="mark"') == 1
    assert [said for said in re.findall(r">([^<]*)</text>", svg) if said.endswith("ms")] == ["10.21 ms", "9.81 ms"]
    assert re.findall(r">(\d{4}-\d\d-\d\d)<", svg) == [date.fromordinal(day).isoformat() for day in (700_001, 700_009)]
