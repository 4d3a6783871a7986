"""One step of a run: its timeline as a picture, and the longest operators and gaps of it as tables."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from aoe_reports.model.pictures.path_kinds import KIND_WORDS, KINDS
from aoe_reports.model.pictures.step import NoPicture, PictureGap, PictureOperator, StepPicture
from aoe_reports.model.texts import in_language
from aoe_reports.present.drawings.charts import Figure
from aoe_reports.present.drawings.step import (
    CLASSES,
    LABEL,
    PLOT,
    WIDTH,
    as_sentences,
    description_of,
    draw_step,
    geometry,
    label_of,
    legend_of,
    notes_on,
)
from aoe_reports.present.values import plain
from aoe_reports.site.amounts import TimeColumn
from aoe_reports.site.as_json import as_script
from aoe_reports.site.cells import Table, cell, head, words
from aoe_reports.site.render import Context
from aoe_reports.site.texts import Texts


def step_part(picture: StepPicture | NoPicture | None, text: Texts) -> Context | None:
    """The picture with its tables; None of a run that none was stored with."""
    if picture is None:
        return None
    if isinstance(picture, NoPicture):
        return {"figure": None, "why_not": text("There is no picture: {why}.", why=text.translated(picture.why_not))}
    drawn = draw_step(picture, text.language)
    said = in_language(description_of(picture), text.language)
    svg = f'<svg viewBox="0 0 {WIDTH} {drawn.height}" class="chart timeline" role="img" aria-label="{words(said)}">{drawn.inner}</svg>'
    return {
        "why_not": "",
        "figure": Figure(said, Markup(svg)),
        "legend": [(kind, text.translated(word)) for kind, word in legend_of(picture)],
        "notes": as_sentences(notes_on(picture, drawn), text.language),
        "operators": _operators(picture.operators, text),
        "gaps": _gaps(picture.gaps, text),
        "data": _data(picture, text),
    }


def _operators(rows: Sequence[PictureOperator], text: Texts) -> Table:
    starts = TimeColumn.of("us", (row.start_ns / 1000 for row in rows))
    lengths = TimeColumn.of("us", (row.duration_ns / 1000 for row in rows))
    columns = [
        (text("Operator"), "text"), (text("Stream or thread"), "text"), (text("Kind"), "text"), starts.title(text("Start")),
        lengths.title(text("Duration")), (text("On the critical path"), "text"),
    ]  # fmt: skip
    cells = [
        [
            head(row.name),
            cell(row.lane),
            cell(text.translated(KIND_WORDS[row.kind])),
            starts.cell(row.start_ns / 1000),
            lengths.cell(row.duration_ns / 1000),
            cell(text("yes") if row.on_path else text("no")),
        ]
        for row in rows
    ]
    return Table(columns, cells, stacks=True)


def _gaps(rows: Sequence[PictureGap], text: Texts) -> Table:
    starts = TimeColumn.of("us", (row.start_ns / 1000 for row in rows))
    lengths = TimeColumn.of("us", (row.duration_ns / 1000 for row in rows))
    columns = [
        (text("Kind"), "text"), starts.title(text("Start")), lengths.title(text("Duration")), (text("After task"), "text"),
        (text("Before task"), "text"),
    ]  # fmt: skip
    cells = [
        [
            head(text.translated(KIND_WORDS[row.kind])),
            starts.cell(row.start_ns / 1000),
            lengths.cell(row.duration_ns / 1000),
            cell(row.before),
            cell(row.after),
        ]
        for row in rows
    ]
    return Table(columns, cells, stacks=True)


def _data(picture: StepPicture, text: Texts) -> Markup:
    data = {
        "duration": picture.duration_ns,
        "label": LABEL,
        "plot": PLOT,
        **geometry(),
        "lanes": [lane.cells for lane in picture.lanes],
        "named": [plain(label_of(lane, text.language)) for lane in picture.lanes],
        "names": list(map(plain, picture.names)),
        "kinds": [[CLASSES[kind], text.translated(KIND_WORDS[kind])] for kind in KINDS],
        "buttons": [text("Zoom in"), text("Zoom out"), text("Earlier"), text("Later"), text("Whole step")],
        "hint": text("Drag to move, Ctrl with the wheel or double-click to zoom; on the chart + and - zoom, arrow keys move, 0 shows all."),
    }  # fmt: skip
    return as_script(data)
