"""Report and Section: what is to be said, in order, in no format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoe_reports.model.documents import Cells
from aoe_reports.model.findings import Severity
from aoe_reports.model.rows import Column
from aoe_reports.model.texts import Language, say

if TYPE_CHECKING:
    from aoe_reports.model.pictures import Picture


@dataclass(frozen=True, slots=True)
class Grid:
    """A table."""

    columns: tuple[Column, ...]
    rows: Sequence[Cells]
    oldest_first: bool = False
    """Whether what is left out of a long list is what comes first."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A line over nights with marked points: drawn by a renderer that can, described in words for all."""

    title: str
    nights: Sequence[str]
    lines: Mapping[str, Sequence[float | None]]
    unit: str
    description: str
    marked: str | None = None
    """The night at which something changed."""
    subtitle: str = ""
    """More words under the title."""
    levels: Sequence[tuple[str, str, float]] = ()
    """Levels before and after what is marked: first night, last night, value."""


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars side by side for each label, in the order of the labels; drawn by a renderer that can, described for all."""

    title: str
    labels: Sequence[str]
    bars: Mapping[str, Sequence[float | None]]
    unit: str
    description: str
    intervals: Mapping[str, Sequence[tuple[float, float] | None]] = field(default_factory=dict)
    """(low, high) of some of the bars."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Bars from the longest to the shortest, with words beside each; drawn as large as a message's picture."""

    title: str
    subtitle: str
    labels: Sequence[str]
    values: Sequence[float]
    words: Sequence[str]
    description: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Differences that add up to a whole, each from where the one before ended; drawn as large as a message's picture."""

    title: str
    subtitle: str
    parts: Sequence[tuple[str, float]]
    whole: tuple[str, float]
    unit: str
    description: str


Drawing = Chart | BarChart | Ranking | Waterfall


@dataclass(frozen=True, slots=True)
class Highlight:
    """One message that makes sense without the report: an annotation of a CI system."""

    severity: Severity
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with sentences and at most one table and one chart under it."""

    title: str
    sentences: Sequence[str] = ()
    grid: Grid | None = None
    chart: Drawing | None = None
    lines: Sequence[str] = ()
    """A list of lines that are shown whole, each as it is."""
    figure: str = ""
    """What the chart is called where it becomes a file of its own."""
    link: str = ""
    """Where that file lies, seen from the report."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Where the pages of the store lie, seen from the report."""

    first: str = ""
    """Empty where there are none."""
    series: Mapping[str, str] = field(default_factory=dict)
    """By the id of a series."""
    runs: Mapping[str, str] = field(default_factory=dict)
    """By the id of a run."""

    def of_cell(self, key: str, row: Cells) -> str:
        """Where what a cell names has a page of its own; empty where it has none."""
        if key in {"what", "workload"}:
            return self.series.get(str(row.get("series_id")), "")
        named = {"run": "run", "since": "since_run"}.get(key)
        return self.runs.get(str(row.get(named)), "") if named else ""


@dataclass(frozen=True, slots=True)
class Report:
    """A title, a headline that says it all, and sections."""

    title: str
    headline: str
    sections: Sequence[Section]
    verdict: str = ""
    """The last line on a terminal."""
    language: Language = "en"
    """The language of its texts."""
    pages: Pages = Pages()
    sign_off: Sequence[Section] = ()
    """What stands above the sections, which then are details, on a page that is printed and signed: HTML has it."""
    pictures: Sequence[Picture] = ()
    """What HTML draws above the sections."""


PAGES = say("All pages of the store")
"""What leads from a report to them."""
