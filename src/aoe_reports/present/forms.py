"""An answer in any form: JSON and CSV hold its rows, people are shown its tables. One line a form, here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

from aoe_reports.model.classes import record
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import Language
from aoe_reports.present import REGRESSION_RENDERERS, RENDERERS
from aoe_reports.present.screen import PAPER, Screen

if TYPE_CHECKING:
    from aoe_reports.engine.question import Answer
    from aoe_reports.model.rules import ListedRule
    from aoe_reports.present.reports.changes import Changes


@record
class Shown:
    """An answer that is to be shown: whether warnings are a reason, too, and in which language."""

    answer: Answer
    strict: bool
    language: Language
    rules: Sequence[ListedRule] = ()
    """Every rule, for a form that lists them."""
    changes: Changes | None = None
    """What `regressions` found, whole, for its own forms."""
    screen: Screen = PAPER
    """What a text is shown on."""
    most: int | None = None
    """Of how many rows of each list people are shown; null for all."""

    def fails(self, finding: Finding) -> bool:
        """Whether a finding is a reason for exit code 1."""
        return finding.severity == "error" or (self.strict and finding.severity == "warning")


class Form(NamedTuple):
    """One form of an answer."""

    render: Callable[[Shown], Iterable[str]]
    """The text, in as many pieces as it comes in."""
    has_findings: bool = True
    """Whether it has the findings, too; else they go to stderr."""


def _json(shown: Shown) -> Iterator[str]:
    from aoe_reports.present.as_json import render_rows  # noqa: PLC0415

    answer = shown.answer
    first, *others = answer.tables
    more = {**{table.key: table.mappings() for table in others}, **answer.more}
    reasons = answer.reasons(strict=shown.strict)
    yield render_rows(answer.command, answer.inputs, first.mappings(), answer.findings, reasons, more)


def _csv(shown: Shown) -> Iterator[str]:
    from aoe_reports.present.csv import render_rows  # noqa: PLC0415

    tables = shown.answer.tables
    yield render_rows(next((table for table in tables if table.is_csv), tables[0]).mappings())


def _text(shown: Shown) -> Iterator[str]:
    from aoe_reports.present.answers import report_of  # noqa: PLC0415
    from aoe_reports.present.reports.language import report_in  # noqa: PLC0415
    from aoe_reports.present.text import render_pieces  # noqa: PLC0415

    return render_pieces(report_in(report_of(shown.answer, shown.most), shown.language), shown.screen)


def _report(form: str) -> Callable[[Shown], Iterator[str]]:
    def render(shown: Shown) -> Iterator[str]:
        from aoe_reports.present.answers import report_of  # noqa: PLC0415
        from aoe_reports.present.reports.language import report_in  # noqa: PLC0415

        yield RENDERERS[form](report_in(report_of(shown.answer, shown.most), shown.language))

    return render


def _of_changes(form: str) -> Callable[[Shown], Iterator[str]]:
    def render(shown: Shown) -> Iterator[str]:
        assert shown.changes is not None, "only `regressions` has changes"
        yield REGRESSION_RENDERERS[form](shown.changes)

    return render


def _in(module: str, function: str = "render") -> Callable[[Shown], Iterable[str]]:
    """The function of a module of this room, which is imported when it is first used."""

    def render(shown: Shown) -> Iterable[str]:
        pieces: Iterable[str] = getattr(import_module(f"aoe_reports.present.{module}"), function)(shown)
        return pieces

    return render


FORMS: dict[str, Form] = {
    "text": Form(_text, has_findings=False),
    "json": Form(_json),
    "csv": Form(_csv, has_findings=False),
    "markdown": Form(_report("markdown"), has_findings=False),
    "html": Form(_report("html"), has_findings=False),
}
"""The forms of every answer, as `--format` names them."""

Kind = Literal["annotated", "drawn", "stacks", "check", "regressions", "ab"]
_MORE: dict[Kind, dict[str, Form]] = {
    "annotated": {"github": Form(_in("ci.github", "as_annotations"))},
    "drawn": {"svg": Form(_in("drawings.svg"), has_findings=False)},
    "stacks": {
        "svg": Form(_in("drawings.svg"), has_findings=False),
        "collapsed": Form(_in("collapsed"), has_findings=False),
    },
    "ab": {"junit": Form(_in("ci.sides", "as_junit")), "sarif": Form(_in("ci.sides", "as_sarif"), has_findings=False)},
    "check": {
        "text": Form(_in("checked", "as_text")),
        "json": Form(_in("checked", "as_json")),
        "markdown": Form(_in("checked", "as_markdown")),
        "html": Form(_in("checked", "as_html")),
        "junit": Form(_in("ci.junit")),
        "sarif": Form(_in("ci.sarif")),
        "github": Form(_in("ci.github")),
    },
    "regressions": {
        "junit": Form(_of_changes("junit")),
        "sarif": Form(_of_changes("sarif")),
        "github": Form(_of_changes("github")),
        "openmetrics": Form(_of_changes("openmetrics"), has_findings=False),
        "grafana": Form(_of_changes("grafana"), has_findings=False),
    },
}
"""Further forms: of answers with highlights, that can be drawn, are stacks of calls, or of these three commands."""


def forms_of(*kinds: Kind) -> dict[str, Form]:
    """The forms of answers of all these kinds: those of every answer, and theirs."""
    return dict(chain(FORMS.items(), *(_MORE[kind].items() for kind in kinds)))
