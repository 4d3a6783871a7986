"""Maps of many cells, a colour each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from aoe_reports.history.site_facts import Floats
from aoe_reports.site.cells import words

LABEL, TOP, WIDTH, ROW = 200, 4, 960, 15
"""Pixels: what names take, what is free above, the whole, a row."""
EMPTY = "heatless"
"""The class of cells without a value."""
_LONGEST_NAME = 26


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Floats,
    edges: Sequence[float],
    colours: Sequence[str],
    said: str,
) -> Markup:
    """An SVG picture of `values` (rows x columns): the first colour below the first edge, and so on; nan has none.

    Cells of one colour that stand side by side are one.
    """
    chosen = np.where(np.isnan(values), len(colours), np.searchsorted(edges, values, side="right"))
    wide = (WIDTH - LABEL) / max(len(columns), 1)
    paths: dict[int, list[str]] = {}
    for row, line in enumerate(chosen.tolist()):
        start = 0
        for column in range(1, len(line) + 1):
            if column == len(line) or line[column] != line[start]:
                x, y = LABEL + start * wide, TOP + row * ROW
                width = (column - start) * wide
                paths.setdefault(line[start], []).append(f"M{x:.1f} {y}h{width:.1f}v{ROW - 1}h-{width:.1f}z")
                start = column
    names = (*colours, EMPTY)
    drawn = [f'<path class="{names[colour]}" d="{"".join(cells)}"/>' for colour, cells in sorted(paths.items())]
    drawn += [
        f'<text class="tick" x="0" y="{TOP + row * ROW + ROW - 4}">{words(_shortened(name))}</text>'
        for row, name in enumerate(rows)
    ]
    bottom = TOP + len(rows) * ROW
    ends = [(LABEL, "start", columns[0]), (WIDTH, "end", columns[-1])]
    drawn += [
        f'<text class="tick" x="{x}" y="{bottom + 14}" text-anchor="{at}">{words(name)}</text>' for x, at, name in ends
    ]
    return Markup(
        f'<svg viewBox="0 0 {WIDTH} {bottom + 18}" role="img" aria-label="{words(said)}">{"".join(drawn)}</svg>'
    )


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
