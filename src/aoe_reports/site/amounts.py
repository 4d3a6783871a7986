"""Times and changes in tables: one unit a column, four digits with the exact time as a title, colours by the effect on the step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aoe_reports.model.history.changes import is_small
from aoe_reports.model.time_units import MAX_SPAN, difference_words, significant_difference, unit_of
from aoe_reports.present.values import NONE, show
from aoe_reports.site.cells import MINOR, below, changed, words

NS = {"ns": 1, "us": 1_000, "ms": 1_000_000}
"""Nanoseconds in one of each unit that rows have."""


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """How a column shows its times: in one unit, which its title has, or each in its own."""

    kind: str
    """The unit in which the rows have them: us or ms."""
    unit: tuple[int, str] | None

    @classmethod
    def of(cls, kind: str, times: Iterable[float | None]) -> TimeColumn:
        """The column for some times."""
        sizes = [abs(time) for time in times if time]
        if not sizes:
            return cls(kind, (NS[kind], kind))
        if max(sizes) > MAX_SPAN * min(sizes):
            return cls(kind, None)
        return cls(kind, unit_of(max(sizes) * NS[kind]))

    def title(self, title: str) -> tuple[str, str]:
        """The head of the column."""
        return (f"{title} ({self.unit[1]})" if self.unit else title), "number"

    def shown(self, time: float | None, *, signed: bool = False) -> str:
        """A time as the column shows it."""
        if time is None:
            return NONE
        time_ns = time * NS[self.kind]
        if signed:
            return significant_difference(time_ns / self.unit[0]) if self.unit else difference_words(time_ns)
        return show(time_ns / self.unit[0], "time") if self.unit else show(time_ns, "duration")

    def cell(self, time: float | None, sub: Any = None, *, signed: bool = False, href: str | None = None) -> str:
        """A cell with a time, maybe a link; its title has the time as it is stored."""
        if time is None:
            return f'<td class="number">{NONE}{below(sub)}</td>'
        exact, shown = f"{time:,.10g} {self.kind}", self.shown(time, signed=signed)
        inner = f'<a href="{words(href)}">{shown}</a>' if href else shown
        return f'<td class="number" title="{exact}">{inner}{below(sub)}</td>'


def in_own_unit(time: float, kind: str, *, signed: bool = False) -> str:
    """A time in a sentence, with its unit."""
    return difference_words(time * NS[kind]) if signed else show(time * NS[kind], "duration")


def effect_cell(share: float | None, effect: float | None) -> str:
    """A cell with the change of a time, in colour where its effect on the step is not known to be minor."""
    return changed(share, look=MINOR if is_small(effect) else "")
