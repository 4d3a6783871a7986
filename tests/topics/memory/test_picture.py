"""The picture of a question on memory: of the device with the highest peak, and its parts add up to it."""

from __future__ import annotations

import base64
import re

import pytest
from commandline import FIXTURES, Cli

from aoe_reports import memory, plot
from aoe_reports.model.pictures.memory import MemoryPicture

TRAINING = FIXTURES / "memory" / "training"


def test_parts_and_curve_agree_with_the_answer() -> None:
    answer = memory([TRAINING])
    (picture,) = answer.pictures
    assert isinstance(picture, MemoryPicture)
    highest = max(answer.table("devices"), key=lambda row: row.peak_bytes)
    assert (picture.peak_bytes, sum(part.size_bytes for part in picture.parts)) == (highest.peak_bytes,) * 2
    allocated = next(curve for curve in picture.curves if curve.measure == "allocated")
    assert int(allocated.size_bytes.max()) == highest.peak_bytes
    assert picture.peak_ns in allocated.at_ns.tolist()
    assert {curve.measure for curve in picture.curves} == {"reserved", "active", "allocated"}
    assert any(step.number == highest.step and step.start_ns <= picture.peak_ns < step.end_ns for step in picture.steps)


def test_it_is_drawn_as_one_file_in_both_languages(cli: Cli) -> None:
    english, chinese = (cli("memory", TRAINING, "--format", "svg", "--lang", one).out for one in ("en", "zh"))
    assert english.startswith("<svg ")
    assert "rank 1" in english
    assert english != chinese
    assert "<script" not in english


def test_html_holds_the_same_picture(cli: Cli) -> None:
    svg, html = (cli("memory", TRAINING, "--format", form, "--lang", "zh").out for form in ("svg", "html"))
    (source,) = re.findall(r'<img class="picture" src="data:image/svg\+xml;base64,([^"]+)" alt="[^"]{20,}">', html)
    assert base64.b64decode(source).decode() == svg.rstrip("\n")
    assert "img-src data:" in html


def test_it_is_plotted_with_its_words() -> None:
    answer = memory([TRAINING])
    figure = plot(answer)
    above, below = figure.axes
    (picture,) = answer.pictures
    assert isinstance(picture, MemoryPicture)
    assert sum(bar.get_width() for bar in below.patches) == pytest.approx(picture.peak_bytes / (1 << 20))
    assert len(above.lines) == 3 + len(picture.steps) + 1
    assert figure.alt.startswith("Memory of PTA+GE · rank 1 · device 1 · peak 534.0 MiB")
