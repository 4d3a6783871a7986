"""What is drawn of a step: where rectangles stand, what their titles say, and that names are only text."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from aoe_reports.model.arrays.columns import Ints
from aoe_reports.model.pictures.blocks import blocks_of, written
from aoe_reports.model.pictures.step import PictureLane, StepPicture
from aoe_reports.present.drawings.step import LABEL, PLOT, description_of, draw_step, label_of, legend_of, notes_on

SVG = "{http://www.w3.org/2000/svg}"


def ints(*values: int) -> Ints:
    return np.asarray(values, dtype=np.int64)


def lane(role: str, name: str, slices: list[tuple[int, int, int, int, int]]) -> PictureLane:
    """Of (start, end, kind, on path, name)."""
    start, end, kind, path, named = (ints(*column) for column in zip(*slices, strict=True))
    blocks = blocks_of(start, end, kind, path, named)
    return PictureLane(role=role, name=name, count=len(slices), busy_ns=blocks.busy_ns, cells=written(blocks))  # type: ignore[arg-type]


def picture(*lanes: PictureLane, names: tuple[str, ...] = ("matmul", "add", "wait")) -> StepPicture:
    """A step of 800 us: a pixel is a microsecond."""
    return StepPicture(
        rank_id=0,
        device_id=1,
        step=7,
        steps=3,
        start_ns=1,
        duration_ns=PLOT * 1000,
        grain_ns=1,
        names=names,
        lanes=lanes,
        lanes_left_out=2,
        slices_left_out=5,
        launched_before=1,
        operators=(),
        gaps=(),
    )


def rectangles(made: StepPicture, language: str = "en") -> list[tuple[str, float, float, str]]:
    """(class, x since the begin of the step, width, title) of each."""
    inner = draw_step(made, language).inner
    root = ET.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{inner}</svg>')
    return [
        (
            one.attrib["class"],
            float(one.attrib["x"]) - LABEL,
            float(one.attrib["width"]),
            one.findtext(f"{SVG}title") or "",
        )
        for one in root.iter(f"{SVG}rect")
    ]


PLANTED = lane(
    "device",
    "Stream 2",
    [
        (0, 100_500, 0, 1, 0),  # 100.5 pixels
        (200_000, 200_001, 0, 0, 1),  # much less than one
        (300_000, 300_300, 0, 0, 0),  # three within a pixel, the second the longest
        (300_400, 300_900, 1, 0, 1),
        (300_990, 300_999, 2, 1, 2),
        (301_001, 302_001, 0, 0, 0),  # and one behind it
    ],
)


def test_rectangles_stand_where_the_times_are_and_what_is_within_a_pixel_is_one() -> None:
    assert rectangles(picture(PLANTED)) == [
        ("computing", 0.0, 100.5, "matmul, +0.000 us, 100.500 us"),
        ("computing", 200.0, 1.0, "add, +200.000 us, 0.001 us"),
        ("communication", 300.0, 1.0, "add, +300.000 us, 0.809 us, ×3"),
        ("computing", 301.0, 1.0, "matmul, +301.001 us, 1.000 us"),
    ]


def test_the_critical_path_is_marked_below_what_it_passes() -> None:
    inner = draw_step(picture(PLANTED), "en").inner
    (route,) = ET.fromstring(f"<svg>{inner}</svg>").findall(".//path[@class='route']")
    assert route.attrib["d"].count("M") == 2
    assert route.attrib["d"].startswith(f"M{LABEL:.2f} ")


def test_it_says_how_much_is_drawn_as_one_and_what_is_not_drawn() -> None:
    made = picture(PLANTED, lane("path", "", [(0, 600_000, 0, 0, 0), (600_000, 800_000, 5, 0, -1)]))
    said = " ".join(notes_on(made, draw_step(made, "en")))
    assert "It is the step of median duration among 3." in said
    assert "8 slices are drawn as 6 rectangles" in said
    assert "2 more lanes with 5 slices are not drawn. 1 task was launched before the step began." in said
    assert (
        description_of(made)
        == "Step 7, rank 0, device 1: 0.800 ms; its critical path: computing 75.0%, unexplained wait 25.0%"
    )
    assert [kind for kind, _ in legend_of(made)] == ["computing", "communication", "other-task", "unexplained-wait"]
    assert rectangles(made)[-1][3] == "unexplained wait, +600.000 us, 200.000 us"
    assert rectangles(made, "zh")[-1][3].startswith("原因不明的等待, ")
    assert not notes_on(replace(made, steps=1, lanes_left_out=0, launched_before=0), draw_step(made, "en"))[1:]


@pytest.mark.parametrize(
    ("role", "name", "label"),
    [
        ("path", "", "Critical path"),
        ("idle", "", "Idle device"),
        ("host", "Thread 7", "Thread 7: launches"),
        ("device", "Stream 2", "Stream 2"),
        ("communication", "Stream 5", "Stream 5: communication"),
        ("communication", "Group 0 Communication", "Group 0 Communication"),
    ],
)
def test_lanes_say_what_they_are(role: str, name: str, label: str) -> None:
    assert label_of(lane(role, name, [(0, 1000, 0, 1, 0)]), "en") == label


@pytest.mark.parametrize("name", ["<script>alert(1)</script>\"'&amp;]]>", "\x00\x1b[31m\u202e", "x" * 4096, ""])
def test_names_are_text_whatever_they_are(name: str) -> None:
    made = picture(lane("device", name, [(0, 1000, 0, 1, 0)]), names=(name,))
    ((_, _, _, title),) = rectangles(made)
    assert title.endswith(", +0.000 us, 1.000 us")
    inner = draw_step(made, "en").inner
    assert "<script" not in inner
    assert "\x1b" not in inner
