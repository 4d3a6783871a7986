"""The snippets of docs/notebooks.md run, and the page names every plot."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from commandline import ROOT
from made_traces import planted

from aoe_reports.present.figures.plot import Plot
from aoe_reports.present.figures.plots import PAINTERS
from aoe_reports.simulation.nights import SLOW_NIGHT

PAGE = (ROOT / "docs" / "notebooks.md").read_text()
SNIPPETS = dict(re.findall(r"<!-- tested: (\w+) -->\n+```python\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def night(tmp_path: Path) -> Path:
    """Tables of two ranks, and the timeline of one."""
    shutil.copytree(ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks", tmp_path / "night")
    planted().write(tmp_path / "night")
    return tmp_path / "night"


def run(name: str, **places: object) -> dict[str, Any]:
    code = SNIPPETS[name]
    for place, path in places.items():
        code = code.replace(f'"/data/{place}"', repr(str(path)))
    assert "/data/" not in code
    made: dict[str, Any] = {}
    exec(compile(code, name, "exec"), made)
    return made


def test_a_notebook_begins_like_this(night: Path, simulated_nights: Path) -> None:
    nights = sorted(simulated_nights.iterdir())
    pair = f'"{nights[SLOW_NIGHT - 2]}", "{nights[SLOW_NIGHT - 1]}"'
    SNIPPETS["begin"] = SNIPPETS["notebook"].replace('"/data/night", "/data/other"', pair)
    made = run("begin", night=night)
    assert len(made["ranked"].rows) == 12


def test_frames_hold_what_the_answer_does(night: Path) -> None:
    made = run("frames", night=night)
    assert made["total_ns"] == made["frame"]["total_ns"].sum()
    assert made["gaps"]["duration_ns"].tolist() == [500_000, 240_000, 50_000, 500]


def test_the_nights_of_a_store_are_frames(simulated_store: Path) -> None:
    made = run("series", history=simulated_store)
    assert made["frame"]["night"].is_sorted()
    assert isinstance(made["plot"](made["nights"]), Plot)


def test_the_page_names_every_plot() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted("read_series" if name == "series" else name for name in PAINTERS)
