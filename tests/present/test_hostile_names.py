"""Names that files hold are shown as what they are, whatever they are: in notebooks, frames and plots, without a warning."""

from __future__ import annotations

from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from captures import QUIET, write_night
from commandline import ROOT
from made_traces import planted

from aoe_reports import (
    breakdown,
    communication,
    compare,
    explain,
    hotspots,
    plot,
    read_series,
    roofline,
    steps,
    stragglers,
)
from aoe_reports.engine.question import Answer
from aoe_reports.model.findings import Finding

VALID = ROOT / "fixtures" / "msprof" / "valid"
TWO_RANKS = VALID / "torch_npu_two_ranks"
TAGS = {"div", "style", "p", "strong", "em", "table", "thead", "tr", "th", "tbody", "td", "img"}
NIGHTS = frozenset({"night", "since", "until"})
"""What is read as a date."""
NAMES = (
    r"""</style><script>alert(1)</script>'"><img src=x onerror=alert(1)>&amp;--> $\frac{1}{0}$ $ _{x} %s {y} [bold]""",
    "a\nb\r\t\x00\x07\x1b[31mred\x7f\u202e\u2066\u2028\ud800名称/算子🚀",
    "_" + "very/long/名称/" * 40,
    "",
)


LABELLED = ("hotspots", "communication", "stragglers", "series")
"""Plots of four kinds, for names that only take more or less room."""


@pytest.fixture(scope="module")
def answers(made_small_store: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """One of each kind that has a plot."""
    folder = tmp_path_factory.mktemp("captures")
    slower = replace(QUIET, kernels=(replace(QUIET.kernels[0], us=1800.0), *QUIET.kernels[1:]))
    nights = [write_night(folder / str(number), number, night) for number, night in enumerate((QUIET, slower))]
    trace = planted().write(tmp_path_factory.mktemp("trace"))
    return {
        "hotspots": hotspots(TWO_RANKS),
        "breakdown": breakdown(trace),
        "steps": steps(TWO_RANKS),
        "compare": compare([TWO_RANKS, VALID / "cluster_of_two_ranks"], force=True),
        "roofline": roofline(TWO_RANKS, chip="Ascend910B3"),
        "communication": communication(VALID / "communication_of_four_ranks"),
        "stragglers": stragglers(TWO_RANKS),
        "explain": explain(nights),
        "series": read_series(str(made_small_store / "store"), scope="step"),
    }


def called(row: Any, name: str) -> Any:
    """A row in which every text is one name."""
    told = {one.name for one in fields(row) if isinstance(getattr(row, one.name), str)} - NIGHTS
    return replace(row, **dict.fromkeys(told, name))


class Tags(HTMLParser):
    """Which elements and attributes a page has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("name", NAMES, ids=("markup", "controls", "long", "empty"))
def test_any_name_is_shown_and_none_is_obeyed(name: str, answers: dict[str, Answer]) -> None:
    for command, answer in answers.items():
        assert answer.rows, command
        tables = tuple(replace(table, rows=[called(row, name) for row in table.rows]) for table in answer.tables)
        findings = [Finding("error", "rule", name, name)]
        odd = replace(answer, tables=tables, title=name, headline=name, inputs=(name,), findings=findings)
        page = odd._repr_html_()
        assert page.encode()
        assert all(char.isprintable() or char == "\n" for char in page)
        seen = Tags(page)
        assert (seen.tags - TAGS, seen.attributes - {"class", "scope"}) == (set(), set()), command
        assert odd.to_arrow().num_rows == len(odd.to_polars()) == len(odd.to_pandas()) == len(answer.rows)
        if name in NAMES[2:] and command not in LABELLED:
            continue
        seen = Tags(plot(odd)._repr_html_())
        assert (seen.tags, seen.attributes) == ({"img"}, {"src", "alt", "style"}), command


def test_an_answer_without_rows_is_shown_and_becomes_empty_frames(answers: dict[str, Answer]) -> None:
    for command, answer in answers.items():
        empty = replace(answer, tables=tuple(replace(table, rows=[]) for table in answer.tables))
        assert Tags(empty._repr_html_()).tags <= TAGS, command
        assert empty.to_arrow().num_rows == len(empty.to_polars()) == len(empty.to_pandas()) == 0
        assert empty.to_arrow().column_names == answer.to_arrow().column_names
