"""What is drawn of memory: the peak, bars that add up, and names that are only text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from aoe_reports.model.pictures.memory import MemoryCurve, MemoryPicture, MemoryStep, OwnerBar
from aoe_reports.model.texts import say
from aoe_reports.present.drawings.memory import description_of_memory
from aoe_reports.present.drawings.step import WIDTH
from aoe_reports.present.drawings.svg import render

SVG = "{http://www.w3.org/2000/svg}"
MIB = 1 << 20


def picture(*parts: OwnerBar, **more: Any) -> MemoryPicture:
    at, size = np.array([0, 500_000, 1_000_000]), np.array([10 * MIB, 40 * MIB, 20 * MIB])
    curves = (MemoryCurve("reserved", at, size + 8 * MIB), MemoryCurve("allocated", at, size))
    steps = (MemoryStep(7, 0, 500_000), MemoryStep(8, 500_000, 1_000_000))
    values = {"curves": curves, "steps": steps, "peak_ns": 500_000, "peak_bytes": 40 * MIB, "parts": parts} | more
    return MemoryPicture(**{"title": say("Memory"), "duration_ns": 1_000_000} | values)


def drawn(made: MemoryPicture, language: str = "en") -> ET.Element:
    shown = SimpleNamespace(language=language, answer=SimpleNamespace(pictures=[made]))
    return ET.fromstring("".join(render(cast("Any", shown))))


def texts(root: ET.Element) -> list[str]:
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


def bars(root: ET.Element) -> list[float]:
    rects = [
        one
        for one in root.iter(f"{SVG}rect")
        if one.attrib["class"].startswith("part-") and one.attrib["height"] == "34"
    ]
    return [float(one.attrib["width"]) for one in rects]


def test_the_bar_of_the_peak_is_as_wide_as_its_parts() -> None:
    root = drawn(picture(OwnerBar("owner", "a", 30 * MIB), OwnerBar("before", "b", 10 * MIB)))
    assert bars(root) == pytest.approx([0.75 * WIDTH, 0.25 * WIDTH])
    assert "30.00 MiB, 75.0%" in texts(root)
    assert "peak 40.00 MiB at +500.0 us" in texts(root)
    assert {"step 7", "step 8"} <= set(texts(root))


def test_what_is_below_zero_is_named_and_takes_no_room() -> None:
    root = drawn(picture(OwnerBar("owner", "a", 50 * MIB), OwnerBar("unexplained", "u", -10 * MIB)))
    assert bars(root) == pytest.approx([WIDTH, 0])
    assert "-10.00 MiB, -25.0%" in texts(root)


def test_a_step_holds_its_size_until_the_next_sample() -> None:
    root = drawn(picture())
    (path,) = (
        one.attrib["d"]
        for one in root.iter(f"{SVG}path")
        if one.attrib["class"] == "curve allocated" and "V" in one.attrib["d"]
    )
    assert path.count("V") == 2
    assert path.startswith("M130.0 ")
    assert path.endswith(f"H{WIDTH:.1f}")


def test_names_are_only_text() -> None:
    root = drawn(picture(OwnerBar("owner", '<script>alert("1")</script>\x1b[31m', 40 * MIB)))
    assert not [one for one in root.iter() if one.tag.endswith("script")]
    assert any("<script>" in text for text in texts(root))


def test_a_source_without_a_clock_has_no_times() -> None:
    words = texts(drawn(picture(has_clock=False, duration_ns=1000, peak_ns=500)))
    assert "peak 40.00 MiB at +500 events" in words
    assert not any(text.endswith((" us", " ns", " ms")) for text in words)


def test_words_of_the_picture_name_the_peak_and_its_owners() -> None:
    made = picture(OwnerBar("owner", "aten::mm", 40 * MIB))
    assert str(description_of_memory(made)) == (
        "Memory over time; allocated: peak 40.00 MiB at +500.0 us. Held then by aten::mm: 40.00 MiB."
    )
    assert texts(drawn(made, "zh")) != texts(drawn(made))
