"""What comes from a file is text, never markup, escape sequence or formula."""

from __future__ import annotations

import io
import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from aoe_reports.model.findings import Finding
from aoe_reports.model.names import shorten_middle
from aoe_reports.model.report import BarChart, Chart, Drawing, Grid, Ranking, Report, Section, Waterfall
from aoe_reports.model.rows import Column
from aoe_reports.model.texts import Language
from aoe_reports.present import RENDERERS
from aoe_reports.present.as_json import render_rows
from aoe_reports.present.csv import render_rows as render_csv
from aoe_reports.present.drawings.of_reports import figure_of
from aoe_reports.present.figures import MAX_ALT, draw_png
from aoe_reports.present.reports.language import report_in
from aoe_reports.present.text import MAX_CELL, MAX_SENTENCE, render, wrapped
from aoe_reports.present.values import plain, show, width

NASTY = '<script>alert(1)</script> \x1b[31mred\u202e | *b* [x](y) $\\frac{1}$ =1+1 "\n& '


@pytest.fixture
def report() -> Report:
    chart = Chart(NASTY, ["2026-01-01", "2026-01-02"], {NASTY: [1.0, None]}, "ms", NASTY, "2026-01-02", NASTY)
    grid = Grid((Column("a", NASTY), Column("b", "B", "us")), [{"a": NASTY, "b": None}])
    return Report(NASTY, NASTY, [Section(NASTY, [NASTY], grid, chart, [NASTY])])


@pytest.mark.parametrize("name", RENDERERS)
def test_no_renderer_passes_control_characters_on(report: Report, name: str) -> None:
    text = RENDERERS[name](report)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", text)
    assert text == RENDERERS[name](report)


def test_html_escapes_everything_and_asks_for_nothing(report: Report) -> None:
    text = RENDERERS["html"](report)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert not re.search(r"(?:src|href)=\"(?!data:)", text)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_html_a_confirmed_gain_is_good_and_a_confirmed_slow_down_is_not(language: Language) -> None:
    columns = (Column("state", "State", "alarm"), Column("change", "Change", "change"), Column("said", "Said", "state"))
    said = [
        ("confirmed", 0.1),
        ("drift", 0.1),
        ("confirmed", -0.1),
        ("suspect", 0.1),
        ("recovered", 0.0),
        ("improved", -0.1),
    ]
    rows = [{"state": state, "change": change, "said": "confirmed"} for state, change in said]
    text = RENDERERS["html"](report_in(Report("", "", [Section("", [], Grid(columns, rows))]), language))
    looks = re.findall(
        '<tr><td><span class="state ([^"]*)">.*<td><span class="state ([^"]*)">[^<]*</span></td></tr>', text
    )
    assert looks == [(look, "good") for look in ("bad", "bad", "good", "odd", "good", "good")]


def test_markdown_escapes_everything(report: Report) -> None:
    text = RENDERERS["markdown"](report)
    assert "<script" not in text.replace("\\<", "")
    assert all(line.count("|") - line.count("\\|") in {0, 3} for line in text.splitlines())


def test_charts_are_the_same_bytes_and_hold_no_markup(report: Report) -> None:
    chart = report.sections[0].chart
    assert chart is not None
    svg = figure_of(chart, "en").svg
    assert svg == figure_of(chart, "en").svg
    assert "<script" not in svg


def test_csv_defuses_formulas() -> None:
    text = render_csv([{"name": "=cmd()", "n": -1.5, "list": [1, "a"], "none": None}, {"name": "@x"}])
    assert text.splitlines() == ["name,n,list,none", '\'=cmd(),-1.5,"[1, ""a""]",', "'@x,,,"]
    assert render_csv([]) == ""


def test_json_has_no_nan_and_no_lone_surrogate() -> None:
    text = render_rows(
        "x", ["\udcff"], [{"a": float("nan"), "b": [float("inf")]}], [Finding("info", "r", "p", "m")], []
    )
    document = json.loads(text)
    assert document["rows"] == [{"a": None, "b": [None]}]
    assert document["findings"][0]["line"] is None
    text.encode()


@given(st.text(st.characters(codec="utf-8") | st.sampled_from(" ，。；）调优算子abc😀"), max_size=400))
@example("😀" * 70)
@example("x" * 200)
@example("/a/long/path" * 20 + " ends here")
def test_a_sentence_takes_as_many_lines_as_it_needs(text: str) -> None:
    sentence = " ".join(plain(text).split())
    lines = wrapped(sentence)
    assert max(map(width, lines)) <= MAX_CELL
    assert "".join(lines).replace(" ", "") == sentence.replace(" ", "")
    assert len(lines) <= 1 + 2 * width(sentence) // (MAX_CELL // 2)


def test_no_line_begins_with_what_closes_the_one_before() -> None:
    for start in range(8):
        lines = wrapped("x" * start + "算子，" * 100)
        assert not [line for line in lines if line[0] == "，"]


def test_a_table_shows_a_long_sentence_whole_and_the_end_of_a_long_name() -> None:
    sentence = "the device had nothing to do: the host was late with what follows, " * 3
    grid = Grid((Column("name", "Name"), Column("why", "Why", "sentence")), [{"name": "x" * 99, "why": sentence}])
    text = render(Report("", "", [Section("", grid=grid)]))
    lines = [line.split() for line in text.split("--\n")[1].splitlines()]
    assert lines[0][0] == "…" + "x" * (MAX_CELL - 1)
    assert " ".join(word for line in lines for word in line if "x" not in word) == sentence.strip()
    endless = Grid((Column("why", "Why", "sentence"),), [{"why": "long " * 10**6}])
    assert len(render(Report("", "", [Section("", grid=endless)]))) <= MAX_SENTENCE + 100


def test_values() -> None:
    assert show(0.0815, "percent") == "8.2%"
    assert show(0.08, "change") == "+8.0%"
    assert show(1234567.1, "us") == "1,234,567.100"
    assert show(0.123456789, "ms") == "0.123457"
    assert show(None) == show("")
    assert [show(number, "integer") for number in (9_999, 10_000, -10_000, 123456)] == [
        "9999", "10,000", "-10,000", "123,456",
    ]  # fmt: skip
    assert plain("a\tb") == "a\\x09b"
    assert width("中a") == 3


def drawings(name: str) -> list[Drawing]:
    nights = ["2026-01-01", "2026-01-02", "2026-02-01"]
    levels = (("2026-01-01", "2026-01-02", 1.0), ("2026-02-01", "2026-02-01", 2.0))
    return [
        Chart(name, nights, {name: [1.0, None, 2.0]}, "ms", name, "2026-02-01", name, levels),
        Chart(name, nights[:1], {name: [0.0]}, "ms", name, None, name),
        Ranking(name, name, [name, name], [2.0, 1.0], [name, "x" * 300], name),
        Ranking(name, name, [name], [0.0], [""], name),
        Waterfall(name, name, [(name, 2.0), (name, -3.5)], (name, -1.5), "us", name),
        Waterfall(name, name, [], (name, 0.0), "us", name),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", [NASTY, "W" * 5000 + "\u6a21\u578b" * 300, "\U00013000\ud800\x00"])
def test_every_drawing_survives_every_name(name: str) -> None:
    for drawing in drawings(name):
        assert not isinstance(drawing, BarChart)
        picture = draw_png(drawing)
        assert name != NASTY or picture == draw_png(drawing)
        with Image.open(io.BytesIO(picture.png)) as image:
            assert image.size == (picture.width, picture.height)
            assert image.info["Description"] == picture.alt
            columns = image.convert("L").point(lambda value: 255 * (value < 250)).getbbox()
            assert columns is None or columns[2] < picture.width  # nothing runs out of the picture
        assert len(picture.alt) <= MAX_ALT
        svg = figure_of(drawing, "en").svg
        assert not svg or ET.fromstring(svg).get("role") == "img"


@given(st.text(), st.integers(1, 40))
def test_a_shortened_name_fits_and_keeps_both_ends(text: str, most: int) -> None:
    short = shorten_middle(text, most, width)
    assert width(short) <= most or short == "\u2026"
    head, _, tail = short.partition("\u2026") if short != text else (text, "", "")
    assert text.startswith(head)
    assert text.endswith(tail)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("ab " + "x" * 64, ["ab", "x" * 64]),  # a word of a whole line is not cut
        ("ab " + "x" * 65, ["ab " + "x" * 61, "xxxx"]),  # a longer one begins where there is room
        ("ab " + "x" * 61, ["ab " + "x" * 61]),
        ("ab " + "x" * 62, ["ab", "x" * 62]),
        ("a" * 30 + " " + "b" * 33 + " c", ["a" * 30 + " " + "b" * 33, "c"]),
        ("算" * 32 + "子", ["算" * 32, "子"]),
        ("a" + "算" * 32, ["a" + "算" * 31, "算"]),
        ("x" * 130, ["x" * 64, "x" * 64, "xx"]),
    ],
)
def test_where_a_line_ends(text: str, lines: list[str]) -> None:
    assert wrapped(text) == lines


@pytest.mark.parametrize(("length", "shown"), [(2000, "x" * 2000), (2001, "x" * 1999 + "…")])
def test_a_sentence_without_end_is_cut(length: int, shown: str) -> None:
    grid = Grid((Column("why", "Why", "sentence"),), [{"why": "x" * length}])
    lines = render(Report("T", "", [Section("", grid=grid)])).splitlines()
    assert "".join(lines[lines.index("-" * 64) + 1 :]) == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x" * 64, "x" * 64),
        ("a" + "x" * 64, "…" + "x" * 63),
        ("算" * 32, "算" * 32),
        ("算" * 33, "…" + "算" * 31),
        ("算" * 31 + "abc", "…" + "算" * 30 + "abc"),
    ],
)
def test_a_long_name_in_a_table_keeps_its_end(name: str, shown: str) -> None:
    columns = (Column("a", "A"), Column("bars", "Bars", "bars"), Column("b", "Much", "integer"))
    grid = Grid(columns, [{"a": name, "b": 5, "bars": (0.5, 1.0)}, {"a": "算", "b": 12345}])
    wide = width(shown)
    assert render(Report("T", "H", [Section("算", ["said"], grid, lines=["last"])], "V")) == (
        f"H\n\nT\n\n算\n--\nsaid\nA{' ' * (wide - 1)}    Much\n{'-' * wide}  ------\n{shown}       5\n"
        f"算{' ' * (wide - 2)}  12,345\nlast\n\nV\n"
    )
