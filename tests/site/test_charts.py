"""Charts: what is drawn is what is there, however many nights and whatever names."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.site.charts import (
    BUCKETS,
    HEIGHT,
    WIDTH,
    Level,
    days_of,
    history_chart,
    sparkline,
    stacked,
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
    svg = str(history_chart(days, np.array(values), levels, sigma, [0], "<words> & \u202e"))
    drawn = ET.fromstring(svg)
    assert drawn.get("aria-label") == "<words> & \\x202e"
    if len(values) > 1:
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points(svg))


@pytest.mark.parametrize(("first", "last"), [(10.0, 10.0), (8.0, 12.0)])
def test_the_band_lies_a_quiet_night_above_and_below_its_level(first: float, last: float) -> None:
    sigma, days = 0.05, np.arange(20) + 730_000
    values = np.linspace(first, last, 20)
    svg = str(history_chart(days, values, [Level(0, 20, first, last)], sigma, [], ""))
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
    heights = [y for _, y in points(str(history_chart(days, values, [], None, [], "")))]
    assert len(heights) <= 2 * BUCKETS
    alone = [y for _, y in points(str(history_chart(days[:800], np.resize([6.0, 14.0], 800), [], None, [], "")))]
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
    spark = ET.fromstring(str(sparkline([3.0, None, 1.0], 1, "three nights")))
    assert (spark.get("role"), spark.get("aria-label")) == ("img", "three nights")
    bar = ET.fromstring(str(stacked([("computing", 1.0), ("free", 3.0)], "parts")))
    assert [float(part.get("width", 0)) for part in bar] == [150.0, 450.0]
    assert str(sparkline([], None, "")) == str(stacked([("free", 0.0)], "")) == ""


def test_dates_are_days() -> None:
    assert np.diff(days_of(("2024-02-28", "2024-03-01"))).tolist() == [2]
    with pytest.raises(ValueError):
        days_of(("2024-02-30",))
