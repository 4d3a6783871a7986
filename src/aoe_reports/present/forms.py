"""An answer in any form: JSON and CSV hold its rows, people are shown its tables. One line a form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aoe_reports.model.classes import record
from aoe_reports.model.texts import Language
from aoe_reports.present import RENDERERS

if TYPE_CHECKING:
    from aoe_reports.engine.question import Answer


@record
class Shown:
    """An answer that is to be shown: whether warnings are a reason, too, and in which language."""

    answer: Answer
    strict: bool
    language: Language


def _json(shown: Shown) -> str:
    from aoe_reports.present.as_json import render_rows  # noqa: PLC0415

    answer = shown.answer
    first, *others = answer.tables
    more = {**{table.key: table.mappings() for table in others}, **answer.more}
    reasons = answer.reasons(strict=shown.strict)
    return render_rows(answer.command, answer.inputs, first.mappings(), answer.findings, reasons, more)


def _csv(shown: Shown) -> str:
    from aoe_reports.present.csv import render_rows  # noqa: PLC0415

    return render_rows(shown.answer.tables[0].mappings())


def _report(form: str) -> Callable[[Shown], str]:
    def render(shown: Shown) -> str:
        from aoe_reports.present.answers import report_of  # noqa: PLC0415
        from aoe_reports.present.reports.language import report_in  # noqa: PLC0415

        return RENDERERS[form](report_in(report_of(shown.answer), shown.language))

    return render


FORMS: dict[str, Callable[[Shown], str]] = {
    "text": _report("text"),
    "json": _json,
    "csv": _csv,
    "markdown": _report("markdown"),
    "html": _report("html"),
}
"""The forms of every answer, as `--format` names them."""
