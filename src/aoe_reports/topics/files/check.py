"""Is what was read right: AOE results against schema and rules, tables against their declarations."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import FileUnit, Finished, Question, Request, RunOptions, Unit
from aoe_reports.model.classes import record
from aoe_reports.model.documents import Json
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding, has, in_order, place_of
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows, as_mapping, column, row
from aoe_reports.model.texts import say
from aoe_reports.model.topics.banks import BankSummary

if TYPE_CHECKING:
    from aoe_reports.formats.aoe.results import TuningResult
    from aoe_reports.formats.capture import Capture
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.formats.sources.found import FoundFile
    from aoe_reports.topics.files.spool import Spool

Verdict = Literal["pass", "warn", "fail"]


@options
class CheckOptions(RunOptions):
    """Which rules are asked for, how much is read, and whether a tuning run is followed first."""

    select: tuple[str, ...] = option(
        default=(), help="Only this rule (repeatable).", names="nothing", completes="rules"
    )
    ignore: tuple[str, ...] = option(
        default=(), help="Exclude this rule (repeatable).", names="nothing", completes="rules"
    )
    rules: bool = option(default=False, help="List every rule.", flags=["--rules"], only_here=say("additional output"))
    max_size: int | None = option(
        default=None,
        minimum=1,
        help="Maximum size of an AOE result to read, in bytes (default: 256 MiB).",
        protects=True,
    )
    watch: bool = option(
        default=False,
        help="Follow a tuning run until all its results exist (or Ctrl-C), then check them.",
        flags=["--watch"],
        only_here=say("what to wait for"),
    )
    interval: float = option(default=1.0, minimum=0.05, help="Polling interval of --watch, in seconds.")

    def takes(self, finding: Finding) -> bool:
        """Whether a finding is asked for; that something cannot be read is always said."""
        if not self.select and not self.ignore:
            return True
        from aoe_reports.formats.rules import UNREADABLE

        if finding.rule == UNREADABLE.name:
            return True
        return (not self.select or finding.rule in self.select) and finding.rule not in self.ignore


@row
class CheckedFile:
    """One file: what it is, and whether it is right; null where no file of its kind has it."""

    path: str = column("Path")
    kind: str = column("Kind")
    container: str | None = column("Container", default=None, detail=True)
    body: str | None = column("Payload", default=None, detail=True)
    vocabulary: str | None = column("Vocabulary", default=None, detail=True)
    tasks: int | None = column("Tasks", "integer", default=None)
    tuning_names: Sequence[str | None] = column(default=())
    statuses: Sequence[str | None] = column(default=())
    summary: BankSummary | Mapping[str, Json] | None = column(default=None)
    verdict: Verdict = column("Verdict", "state")


@record
class OneFile:
    """What one file hands on: its row, by its own findings alone, and those findings in order."""

    row: CheckedFile
    findings: Sequence[Finding] = ()
    details: Sequence[Any] = ()
    """What is told of each tuning task in it."""


@record
class OneCapture:
    """What one capture hands on: what its forms say of each other, and which parts it has where it is one of several ranks."""

    findings: Sequence[Finding] = ()
    parts: frozenset[str] = frozenset()


Summarise = Callable[[str, "TuningResult", Sequence[Finding]], Any]
"""What is kept of a tuning task: of the file's path, the task, everything that was found in the file."""


class Check(Question[CheckOptions, OneFile | OneCapture]):
    """Validate results, banks, records and tables. Checks AOE results, gradient banks and records against schemas and rules, and tables against their declarations."""

    title = "Checked"
    options = CheckOptions
    tables = (("rows", CheckedFile),)
    held = False

    def __init__(self, summarise: Summarise | None = None) -> None:
        """With what is kept of each tuning task, for forms that tell of them."""
        self._summarise = summarise

    def units(self, files: Discovery, asked: Request[CheckOptions]) -> list[Unit | FileUnit]:
        """Every capture, whose forms are held against each other, and then every file that is checked by itself."""
        from aoe_reports.topics.files.checked_files import checker_of

        alone = [FileUnit(file=file) for file in files.files if checker_of(file) is not None]
        of_captures = any(file.name.source not in {"aoe", "tuner", "foreign"} for file in files.files)
        return [*(super().units(files, asked) if of_captures else ()), *alone]

    def map_unit(self, unit: Unit | FileUnit, asked: Request[CheckOptions]) -> OneFile | OneCapture:
        """One file; of a capture what its forms say of each other."""
        if isinstance(unit, Unit):
            from aoe_reports.engine.fleet.parts import parts_of
            from aoe_reports.topics.files.crosscheck import cross_check

            findings = [finding for finding in cross_check(unit.capture) if asked.options.takes(finding)]
            return OneCapture(findings=findings, parts=frozenset() if unit.alone else parts_of(unit.capture))
        from aoe_reports.topics.files.checked_files import check_file, not_checked

        try:
            one = check_file(unit.file, asked.options, self._summarise)
        except (ReadError, OSError) as error:
            asked.notes.unreadable = True
            one = not_checked(unit.file, error)
        if not one.findings:
            return one
        found = in_order(finding for finding in _said(one, unit.file, asked.options) if asked.options.takes(finding))
        return replace(one, row=replace(one.row, verdict=_verdict(found)), findings=found)

    def finish(
        self, parts: Iterable[tuple[Unit | FileUnit, OneFile | OneCapture]], asked: Request[CheckOptions]
    ) -> Finished:
        """One row a file and all findings in order; however many files there are, little of them is held."""
        from aoe_reports.engine.absent import absent_parts
        from aoe_reports.topics.files.spool import Spool

        rows: Spool[CheckedFile] = Spool(as_mapping, lambda cells: CheckedFile(**cells))
        told: Spool[Finding] = Spool(Finding.as_fields, Finding.from_fields)
        between: dict[str, list[Finding]] = {}
        for finding in filter(asked.options.takes, asked.notes.findings):  # of what lies here, before any of it is read
            between.setdefault(finding.path, []).append(finding)
        details: list[Any] = []
        ranks: dict[int, list[tuple[Capture, frozenset[str]]]] = {}
        for unit, part in parts:
            if isinstance(part, OneFile):
                rows.append(_judged(part, between))
                for finding in part.findings:
                    told.append(finding)
                details += part.details
            elif isinstance(unit, Unit):
                ranks.setdefault(unit.number, []).append((unit.capture, part.parts))
                for finding in part.findings:
                    between.setdefault(finding.path, []).append(finding)
        asked.notes.add(finding for mine in ranks.values() for finding in absent_parts(mine))
        others = in_order(
            finding
            for finding in (*asked.notes.findings, *(one for some in between.values() for one in some))
            if asked.options.takes(finding)
        )
        table = Rows(type=CheckedFile, rows=rows)
        return Finished(tables=(table,), spooled=_merged(told, others), details=details)


check = asking(Check(), CheckOptions)
"""Whether everything below some paths is right: `check([path]).findings`."""


def _said(one: OneFile, file: FoundFile, chosen: CheckOptions) -> Iterable[Finding]:
    """What was found in a file; AOE may still be writing a result that is watched, so its end may be missing."""
    if not (chosen.watch and file.name.source == "aoe"):
        return one.findings
    from aoe_reports.formats.rules import JSON_TRUNCATED

    return [
        replace(found, severity="warning") if found.rule == JSON_TRUNCATED.name else found for found in one.findings
    ]


def _judged(part: OneFile, between: Mapping[str, Sequence[Finding]]) -> CheckedFile:
    """The row of a file, judged by what other forms of its capture say, too."""
    others = between.get(part.row.path)
    return part.row if others is None else replace(part.row, verdict=_verdict([*part.findings, *others]))


def _verdict(findings: Sequence[Finding]) -> Verdict:
    return "fail" if has(findings, "error") else "warn" if has(findings, "warning") else "pass"


def _merged(findings: Sequence[Finding], others: Sequence[Finding]) -> Spool[Finding]:
    """All findings in order, equal ones once."""
    from aoe_reports.topics.files.spool import Spool

    merged: Spool[Finding] = Spool(Finding.as_fields, Finding.from_fields)
    last: Finding | None = None
    for finding in heapq.merge(findings, others, key=place_of):
        if finding != last:
            merged.append(finding)
        last = finding
    return merged
