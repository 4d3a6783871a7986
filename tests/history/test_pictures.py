"""The pictures of docs/detection.md show what the detector does now."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["steps", "thresholds", "drift"])
def test_a_picture_is_the_one_that_is_drawn_and_is_told_in_words(name: str, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.svg"
    runpy.run_path(str(DOCS / "pictures.py"))[f"draw_{name}"](drawn)
    kept = DOCS / f"detection-{name}.svg"
    assert drawn.read_bytes() == kept.read_bytes(), "run `python docs/pictures.py`"
    title = ET.fromstring(drawn.read_text(encoding="utf-8")).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text
    text = (DOCS / "detection.md").read_text(encoding="utf-8")
    (words,) = re.findall(rf"!\[([^]]+)\]\({kept.name}\)", text)
    assert len(words) > len(title.text)
