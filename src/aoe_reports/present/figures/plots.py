"""`plot`: the answers that have a picture, and who draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aoe_reports.engine.question import Answer
from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import Language, join, say
from aoe_reports.present.figures.bars import draw_breakdown, draw_comparison, draw_explanation, draw_hotspots
from aoe_reports.present.figures.lines import draw_series, draw_steps
from aoe_reports.present.figures.maps import draw_links, draw_ranks, draw_roofline
from aoe_reports.present.figures.memory import draw_memory
from aoe_reports.present.figures.plot import Plot, Sheet, new_sheet

PAINTERS: Mapping[str, Callable[[Answer, Sheet], None]] = {
    "hotspots": draw_hotspots,
    "breakdown": draw_breakdown,
    "steps": draw_steps,
    "series": draw_series,
    "compare": draw_comparison,
    "explain": draw_explanation,
    "roofline": draw_roofline,
    "communication": draw_links,
    "stragglers": draw_ranks,
    "memory": draw_memory,
}
"""By the command of the answer."""


def plot(answer: Answer, *, top: int = 20, language: Language = "en") -> Plot:
    """A picture of an answer, of its first `top` rows where it has bars or lines; the title names run and rank.

    It is a `matplotlib.figure.Figure` of its own, in the style that is set (`matplotlib.style.use`). Raises UsageError
    where there is nothing to draw.
    """
    painter = PAINTERS.get(answer.command)
    if painter is None:
        known = ", ".join(PAINTERS)
        raise UsageError(say("{command} has no plot; {known} have one", command=answer.command, known=known))
    if not answer.rows and not answer.pictures:
        why = [finding.as_text() for finding in answer.findings if finding.severity == "error"][:1]
        raise UsageError(join("; ", [say("{command} has no rows to plot", command=answer.command), *why]))
    with new_sheet(top, language) as sheet:
        painter(answer, sheet)
        return sheet.plot
