"""What pictures draw, held against the numbers that they are of: where lines, bars and words lie in them, written as SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from xml.etree import ElementTree as ET

import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG

from aoe_reports.model.report import Chart, Ranking, Waterfall
from aoe_reports.present.figures.charts import _PICTURE, _fixed_style, _paint

SVG = "{http://www.w3.org/2000/svg}"
BLUE, RED, GREY = "#0072b2", "#d55e00", "#555555"
Point = tuple[float, float]


@dataclass(frozen=True)
class Word:
    text: str
    x: float
    y: float
    size: float
    bold: bool
    anchor: str
    colour: str


class Picture:
    """An SVG of matplotlib: its paths with their styles, its words, and the box of its axes."""

    def __init__(self, chart: Chart | Ranking | Waterfall) -> None:
        buffer = io.StringIO()
        with _fixed_style(_PICTURE | {"svg.fonttype": "none"}):
            figure = _paint(chart, str)
            FigureCanvasSVG(figure)
            figure.savefig(buffer, format="svg")
        self.root = ET.fromstring(buffer.getvalue())
        self.size = tuple(float(self.root.attrib[side].removesuffix("pt")) for side in ("width", "height"))
        (box,) = (one for one in self.root.iter(f"{SVG}rect") if one.get("fill") is None)
        self.left, self.top = float(box.attrib["x"]), float(box.attrib["y"])
        self.right = self.left + float(box.attrib["width"])
        self.bottom = self.top + float(box.attrib["height"])

    def paths(self, *styles: str) -> list[list[list[Point]]]:
        """The runs of points of each path in the axes that is drawn in all of these styles."""
        found = []
        for one in self.root.iter(f"{SVG}path"):
            if one.get("clip-path") and all(style in one.get("style", "") for style in styles):
                runs = one.attrib["d"].replace("z", "").split("M ")[1:]
                found.append([[point(step) for step in run.split("L ")] for run in runs])
        return found

    def bars(self, *styles: str) -> list[tuple[float, float, float, float]]:
        """Start, end, top and bottom of bars."""
        closed = [run for runs in self.paths(*styles) for run in runs if len(run) == 4]
        return [(run[0][0], run[1][0], run[0][1], run[2][1]) for run in closed]

    def markers(self) -> list[Point]:
        return [
            (float(one.attrib["x"]), float(one.attrib["y"]))
            for one in self.root.iter(f"{SVG}use")
            if f"fill: {BLUE}" in one.get("style", "")
        ]

    def words(self) -> Iterator[Word]:
        for one in self.root.iter(f"{SVG}text"):
            style = one.attrib["style"]
            size = re.search(r"([\d.]+)px", style)
            anchor = re.search(r"text-anchor: (\w+)", style)
            colour = re.search(r"fill: (#\w+)", style)
            assert size is not None
            moved = re.match(r"translate\(([\d.]+) ([\d.]+)\)", one.get("transform", ""))
            x, y = moved.groups() if moved else (one.attrib["x"], one.attrib["y"])
            bold = re.search(r"\b(700|bold)\b", style) is not None
            yield Word(
                "".join(one.itertext()), float(x), float(y), float(size[1]), bold, anchor[1] if anchor else "start",
                colour[1] if colour else "",
            )  # fmt: skip

    def word(self, text: str) -> Word:
        (found,) = (one for one in self.words() if one.text == text)
        return found


def point(step: str) -> Point:
    x, y = step.split()
    return float(x), float(y)


def near(value: float) -> float:
    return pytest.approx(value, abs=0.01)  # type: ignore[no-any-return]


def nights(*days: int) -> list[str]:
    return [(date(2026, 1, 1) + timedelta(days=day)).isoformat() for day in days]


DAYS = (0, 1, 2, 9, 10, 17, 25, 26)
HISTORY = Chart(
    "Title", nights(*DAYS), {"step": [1.0, 2.0, None, 3.0, 2.0, 4.0, 3.0, 3.5]}, "ms", "words", subtitle="Subtitle",
    marked="2026-01-26", levels=(("2026-01-01", "2026-01-18", 2.5), ("2026-01-26", "2026-01-27", 3.25)),
)  # fmt: skip


class Scales:
    """Where days and values of a history lie, by the labels of its axes."""

    def __init__(self, picture: Picture) -> None:
        dates = [one for one in picture.words() if re.fullmatch(r"\d{4}-\d\d-\d\d", one.text)]
        self.days = [(date.fromisoformat(one.text) - date(2026, 1, 1)).days for one in dates]
        self._x0, self._day = dates[0].x, (dates[-1].x - dates[0].x) / (self.days[-1] - self.days[0])
        lines = sorted(runs[0][0][1] for runs in picture.paths("stroke: #dddddd"))[::-1]
        labels = [one for one in picture.words() if re.fullmatch(r"[\d.,]+", one.text)]
        values = [float(one.text.replace(",", "")) for one in labels]
        self._y0, self._v0 = lines[0], values[0]
        self._unit = (lines[-1] - lines[0]) / (values[-1] - values[0])

    def x(self, day: float) -> float:
        return near(self._x0 + (day - self.days[0]) * self._day)

    def y(self, value: float) -> float:
        return near(self._y0 + (value - self._v0) * self._unit)


def test_a_history_has_each_night_at_its_day_and_gaps_of_more_than_a_week() -> None:
    picture = Picture(HISTORY)
    scales = Scales(picture)
    assert picture.size == (864, 432)
    assert scales.days == [0, 5, 10, 15, 20, 26]
    known = [(day, value) for day, value in zip(DAYS, HISTORY.lines["step"], strict=True) if value is not None]
    at = [(scales.x(day), scales.y(value)) for day, value in known]
    assert picture.paths(f"stroke: {BLUE}", "stroke-width: 2") == [[at[:2], at[2:5], at[5:]]]
    assert picture.markers() == at


def test_levels_reach_half_a_night_beyond_their_nights_and_the_change_is_between() -> None:
    picture = Picture(HISTORY)
    scales = Scales(picture)
    (before,), (after,) = (picture.paths(f"stroke: {colour}", "stroke-width: 5")[0] for colour in (GREY, RED))
    assert before == [(scales.x(-0.5), scales.y(2.5)), (scales.x(17.5), scales.y(2.5))]
    assert after == [(scales.x(24.5), scales.y(3.25)), (scales.x(26.5), scales.y(3.25))]
    ((mark,),) = picture.paths(f"stroke: {RED}", "dasharray", "stroke-width: 2")
    assert mark == [(scales.x(24.5), near(picture.bottom)), (scales.x(24.5), near(picture.top))]
    said = picture.word("since 2026-01-26: 2.5000 → 3.2500 ms")
    assert (said.x, said.anchor, said.bold, said.colour) == (near(mark[0][0] - 8), "end", True, RED)
    assert picture.top < said.y < picture.top + 16
    early = Picture(replace(HISTORY, marked="2026-01-10", levels=()))
    ((mark,),) = early.paths(f"stroke: {RED}", "dasharray")
    said = early.word("since 2026-01-10")
    assert (said.x, said.anchor) == (near(mark[0][0] + 8), "start")


def test_a_history_has_room_above_for_its_words_and_on_both_sides() -> None:
    picture = Picture(HISTORY)
    scales = Scales(picture)
    # 5 % on both sides of values from 1 to 4, then 3 % of that below and 12 % above
    assert (scales.y(0.85 - 0.03 * 3.3), scales.y(4.15 + 0.12 * 3.3)) == (picture.bottom, picture.top)
    assert (scales.x(-0.5 - 0.03 * 27), scales.x(26.5 + 0.03 * 27)) == (picture.left, picture.right)
    unmarked = Picture(replace(HISTORY, marked=None, levels=()))
    scales = Scales(unmarked)
    assert (scales.x(-0.05 * 26), scales.x(26 + 0.05 * 26)) == (unmarked.left, unmarked.right)


def test_titles_stand_at_the_left_above_the_axes() -> None:
    picture = Picture(HISTORY)
    title, subtitle, unit = (picture.word(text) for text in ("Title", "Subtitle", "ms"))
    assert (title.x, title.size, title.bold, title.anchor) == (near(8.64), 20, True, "start")
    assert (subtitle.x, subtitle.size, subtitle.bold, subtitle.colour) == (near(8.64), 15, False, GREY)
    assert title.y == pytest.approx(432 * 0.03 + 15, abs=2)
    assert subtitle.y == pytest.approx(432 * 0.105 + 11, abs=2)
    assert subtitle.y < picture.top < 432 * 0.18
    assert unit.x < 30


@pytest.mark.parametrize(("count", "radius"), [(70, 3.0), (71, 1.5)])
def test_many_nights_have_smaller_dots(count: int, radius: float) -> None:
    values = [12_000.0 + 100 * day for day in range(count)]
    picture = Picture(replace(HISTORY, nights=nights(*range(count)), lines={"step": values}, marked=None, levels=()))
    sizes = {
        float(found[1])
        for one in picture.root.iter(f"{SVG}path")
        if (found := re.match(r"M 0 ([\d.]+)\s+C", one.attrib["d"])) and BLUE in one.get("style", "")
    }
    assert sizes == {radius}
    assert "12,000" in {one.text for one in picture.words()}


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.0009999, "0.0009999"), (0.001, "0.0010000"), (9999.9, "9,999.9"), (10000.0, "10,000"), (12345.678, "12,345.7")],
)
def test_levels_have_five_digits(value: float, said: str) -> None:
    levels = ((HISTORY.nights[0], HISTORY.nights[1], value), (HISTORY.nights[6], HISTORY.nights[7], 3.0))
    picture = Picture(replace(HISTORY, levels=levels))
    assert picture.word(f"since 2026-01-26: {said} → 3.0000 ms")


def test_one_night_is_drawn() -> None:
    picture = Picture(replace(HISTORY, nights=nights(3), lines={"step": [2.0]}, marked=None, levels=()))
    assert len(picture.markers()) == 1
    assert [one.text for one in picture.words()].count("2026-01-04") == 1


# Rankings


def ranked(*values: float, words: str = "words") -> Ranking:
    labels = [f"label {place}" for place in range(len(values))]
    return Ranking("Title", "Subtitle", labels, values, [f"{words} {place}" for place in range(len(values))], "told")


@pytest.mark.parametrize(("values", "rows"), [((10.0, 4.0), 4), ((5.0, 4.0, 3.0, 2.0, 1.0), 5)])
def test_a_ranking_has_a_bar_a_row_from_the_top_with_its_words_behind(values: Sequence[float], rows: int) -> None:
    picture = Picture(ranked(*values))
    pitch = (picture.bottom - picture.top) / rows
    bars = picture.bars(f"fill: {BLUE}")
    longest = bars[0][1] - bars[0][0]
    assert len(bars) == len(values)
    for place, (value, (start, end, top, bottom)) in enumerate(zip(values, bars, strict=True)):
        assert (start, end) == (near(picture.left), near(picture.left + longest * value / values[0]))
        middle = picture.top + pitch * (place + 0.5)
        assert (top, bottom) == (near(middle - 0.35 * pitch), near(middle + 0.35 * pitch))
        word, label = picture.word(f"words {place}"), picture.word(f"label {place}")
        assert (word.x, word.size, word.anchor) == (near(end + 8), 15, "start")
        assert abs(word.y - middle) < 8
        assert (label.anchor, label.x < picture.left) == ("end", True)
        assert abs(label.y - middle) < 8
    assert {one.text for one in picture.words()} == {
        "Title", "Subtitle", *(f"{kind} {place}" for kind in ("words", "label") for place in range(len(values))),
    }  # fmt: skip


def room_of_words(picture: Picture, colour: str = BLUE) -> float:
    return picture.right - max(end for _, end, *_ in picture.bars(f"fill: {colour}"))


def test_the_longest_bar_leaves_just_the_room_for_its_words() -> None:
    short, long = (Picture(ranked(3.0, 2.0, words="w" * count)) for count in (10, 30))
    per_letter = (room_of_words(long) - room_of_words(short)) / 20
    assert 10 < per_letter < 15  # a w of 15 points
    assert room_of_words(short) == pytest.approx(12 * per_letter, abs=25)
    assert short.right < 864


def test_a_ranking_of_nothing_is_as_wide_as_one_of_something() -> None:
    (start, end, *_) = Picture(ranked(0.0)).bars(f"fill: {BLUE}")[0]
    assert start == end


# Waterfalls


def waterfall(*parts: float, whole: float) -> Waterfall:
    named = [(f"part {place}", size) for place, size in enumerate(parts)]
    return Waterfall("Title", "Subtitle", named, ("all", whole), "us", "told")


def test_parts_begin_where_the_one_before_ended_and_the_whole_at_zero() -> None:
    picture = Picture(waterfall(30.0, -5.0, 0.5, whole=25.5))
    ((zero,),) = picture.paths("stroke: #000000", "fill: none")
    unit = (picture.bars(f"fill: {RED}")[0][1] - zero[0][0]) / 30
    pitch = (picture.bottom - picture.top) / 4

    def bar(place: int, start: float, end: float) -> tuple[float, ...]:
        middle = picture.top + pitch * (place + 0.5)
        x = [near(zero[0][0] + unit * value) for value in (start, end)]
        return (*x, near(middle - 0.33 * pitch), near(middle + 0.33 * pitch))

    assert picture.bars(f"fill: {RED}") == [bar(0, 0, 30), bar(2, 25, 25.5)]
    assert picture.bars("fill: url(#") == [bar(1, 30, 25)]  # hatched
    assert picture.bars(f"fill: {GREY}") == [bar(3, 0, 25.5)]
    ends = [runs[0] for runs in picture.paths("stroke: #999999")]
    assert ends == [
        [(bar(place, 0, at)[1], bar(place, 0, at)[2]), (bar(place, 0, at)[1], bar(place + 1, 0, at)[3])]
        for place, at in enumerate((30, 25, 25.5))
    ]
    assert zero[0][1] == near(picture.bottom)
    # 3 % of what is drawn is left of it
    assert zero[0][0] - picture.left == near(0.03 * 30 * unit)
    said = [(picture.word("+30.0"), 30), (picture.word("-5.0"), 30), (picture.word("+0.500"), 25.5)]
    for word, at in said:
        assert (word.x, word.bold) == (near(zero[0][0] + unit * at + 8), False)
    assert [word.colour for word, _ in said] == [RED, BLUE, RED]
    whole = picture.word("+25.5")
    assert (whole.x, whole.bold, whole.colour) == (near(zero[0][0] + unit * 25.5 + 8), True, GREY)
    texts = {one.text for one in picture.words()}
    assert {"0", "+5", "+30", "us", "part 0", "part 1", "part 2", "all"} <= texts


@pytest.mark.parametrize(("size", "said"), [(0.9994, "+0.999"), (1.0, "+1.0"), (-0.9994, "-0.999"), (-1.0, "-1.0")])
def test_parts_below_one_have_three_digits(size: float, said: str) -> None:
    picture = Picture(waterfall(size, 20.0, whole=20.0 + size))
    assert picture.word(said)


def test_savings_lie_left_of_zero() -> None:
    picture = Picture(waterfall(-2.0, -1.0, whole=-3.0))
    ((zero,),) = picture.paths("stroke: #000000", "fill: none")
    starts = [bar[0] for bar in picture.bars("fill: url(#")]
    unit = (zero[0][0] - picture.bars(f"fill: {GREY}")[0][1]) / 3
    assert starts == [near(zero[0][0]), near(zero[0][0] - 2 * unit)]
    assert picture.bars(f"fill: {GREY}")[0][1] - picture.left == near(0.03 * 3 * unit)
    assert picture.word("-3.0").x == near(zero[0][0] + 8)


def test_a_waterfall_leaves_room_for_its_words_and_one_of_nothing_is_drawn() -> None:
    short, long = (Picture(waterfall(size, whole=size)) for size in (5.0, 5_000_000.0))
    more = room_of_words(long, RED) - room_of_words(short, RED)
    assert more == pytest.approx(1.2 * 8 * 9.5, rel=0.2)  # eight characters, of 16 points each
    nothing = Picture(waterfall(whole=0.0))
    ((zero,),) = nothing.paths("stroke: #000000", "fill: none")
    taken = (nothing.right - nothing.left) / 1.03
    assert zero[0][0] - nothing.left == pytest.approx(0.03 * taken, rel=0.15)


@pytest.mark.parametrize("marked", [None, "2026-01-04"])
def test_a_night_that_is_not_drawn_is_not_marked(marked: str | None) -> None:
    assert Picture(replace(HISTORY, marked=marked)).paths("dasharray") == []
