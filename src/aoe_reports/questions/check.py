"""Is what was read right: AOE results against schema and rules, tables against their declarations."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import Asked, FileUnit, Finished, Question, RunOptions, Unit
from aoe_reports.model.banks import BankSummary
from aoe_reports.model.classes import record
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding, has, in_order, place_of
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import Rows, as_mapping, column, row
from aoe_reports.model.texts import join, say

if TYPE_CHECKING:
    from aoe_reports.engine.spool import Spool
    from aoe_reports.formats.aoe.results import Outline, TuningResult
    from aoe_reports.formats.discovery import Discovery
    from aoe_reports.formats.found import FoundFile

Verdict = Literal["pass", "warn", "fail"]


@options
class CheckOptions(RunOptions):
    """Which rules are asked for, how much is read, and whether a tuning run is followed first."""

    select: tuple[str, ...] = option(default=(), help="Only this rule (repeatable).", names="nothing")
    ignore: tuple[str, ...] = option(default=(), help="Not this rule (repeatable).", names="nothing")
    rules: bool = option(default=False, help="List every rule.", flags=["--rules"], only_here=say("what else is shown"))
    max_size: int | None = option(
        default=None,
        minimum=1,
        help="Bytes of the largest AOE result that is read (256 MiB unless told).",
        protects=True,
    )
    watch: bool = option(
        default=False,
        help="Follow a tuning run until all its results are there (or Ctrl-C), then check.",
        flags=["--watch"],
        only_here=say("what is waited for"),
    )
    interval: float = option(default=1.0, minimum=0.05, help="Seconds between two looks of --watch.")

    def takes(self, finding: Finding) -> bool:
        """Whether a finding is asked for; that something cannot be read is always said."""
        if finding.rule == "unreadable":
            return True
        return (not self.select or finding.rule in self.select) and finding.rule not in self.ignore


@row
class CheckedFile:
    """One file: what it is, and whether it is right; null where no file of its kind has it."""

    path: str = column("Path")
    kind: str = column("Kind")
    container: str | None = column("Container")
    body: str | None = column("Body")
    vocabulary: str | None = column("Vocabulary")
    tasks: int | None = column("Tasks", "integer")
    tuning_names: Sequence[str | None] = column()
    statuses: Sequence[str | None] = column()
    summary: BankSummary | Mapping[str, object] | None = column()
    verdict: Verdict = column("Verdict", "state")


@record
class OneFile:
    """What one file hands on: its row, by its own findings alone, and those findings in order."""

    row: CheckedFile
    findings: Sequence[Finding] = ()
    details: Sequence[Any] = ()
    """What is told of each tuning task in it."""


Summarise = Callable[[str, "TuningResult", Sequence[Finding]], Any]
"""What is kept of a tuning task: of the file's path, the task, everything that was found in the file."""


class Check(Question[CheckOptions, OneFile | Sequence[Finding]]):
    """Validate AOE results, gradient banks and records against schemas and rules, tables against their declarations."""

    name = "check"
    title = "Checked"
    options = CheckOptions
    rows = (CheckedFile,)
    held = False

    def __init__(self, summarise: Summarise | None = None) -> None:
        """With what is kept of each tuning task, for forms that tell of them."""
        self._summarise = summarise

    def units(self, files: Discovery, asked: Asked[CheckOptions]) -> list[Unit | FileUnit]:
        """Every capture, whose forms are held against each other, and then every file that is checked by itself."""
        del asked
        alone = [FileUnit(file=file) for file in files.files if _checker(file) is not None]
        return [*_captures(files), *alone]

    def map_unit(self, unit: Unit | FileUnit, asked: Asked[CheckOptions]) -> OneFile | Sequence[Finding]:
        """One file; of a capture what its forms say of each other."""
        if isinstance(unit, Unit):
            from aoe_reports.questions.crosscheck import cross_check

            return [finding for finding in cross_check(unit.capture) if asked.options.takes(finding)]
        from aoe_reports.formats.identify import why

        check = _checker(unit.file)
        assert check is not None
        try:
            one = check(unit.file, asked.options, self._summarise)
        except (ReadError, OSError) as error:
            asked.notes.unreadable = True
            message = join("; ", (error.what, error.expected)) if isinstance(error, ReadError) else why(error)
            one = _one(unit.file, [Finding("error", "unreadable", unit.path, message)])
        if not one.findings:
            return one
        found = in_order(finding for finding in _said(one, unit.file, asked.options) if asked.options.takes(finding))
        return replace(one, row=replace(one.row, verdict=_verdict(found)), findings=found)

    def finish(
        self, parts: Iterable[tuple[Unit | FileUnit, OneFile | Sequence[Finding]]], asked: Asked[CheckOptions]
    ) -> Finished:
        """One row a file and all findings in order; however many files there are, little of them is held."""
        from aoe_reports.engine.spool import Spool

        rows: Spool[CheckedFile] = Spool(as_mapping, _row_of)
        told: Spool[Finding] = Spool(Finding.as_fields, Finding.from_fields)
        between: dict[str, list[Finding]] = {}
        details: list[Any] = []
        for _, part in parts:
            if isinstance(part, OneFile):
                rows.append(_judged(part, between))
                for finding in part.findings:
                    told.append(finding)
                details += part.details
            else:
                for finding in part:
                    between.setdefault(finding.path, []).append(finding)
        others = in_order(
            finding
            for finding in (*asked.notes.findings, *(one for some in between.values() for one in some))
            if asked.options.takes(finding)
        )
        table = Rows(type=CheckedFile, rows=rows)
        return Finished(tables=(table,), spooled=_merged(told, others), details=details)


check = asking(Check(), CheckOptions)
"""Whether everything below some paths is right: `check([path]).findings`."""


def _captures(files: Discovery) -> list[Unit]:
    if not any(file.name.source not in {"aoe", "tuner", "foreign"} for file in files.files):
        return []
    from aoe_reports.engine.captures import find_runs, label_of

    runs = [(captures, label_of(captures)) for captures in find_runs(files)]
    return [Unit(capture=capture, run=run) for captures, run in runs for capture in captures]


def _said(one: OneFile, file: FoundFile, chosen: CheckOptions) -> Iterable[Finding]:
    """What was found in a file; AOE may still be writing a result that is watched, so its end may be missing."""
    if not (chosen.watch and file.name.source == "aoe"):
        return one.findings
    return [replace(found, severity="warning") if found.rule == "json-truncated" else found for found in one.findings]


def _judged(part: OneFile, between: Mapping[str, Sequence[Finding]]) -> CheckedFile:
    """The row of a file, judged by what other forms of its capture say, too."""
    others = between.get(part.row.path)
    return part.row if others is None else replace(part.row, verdict=_verdict([*part.findings, *others]))


def _verdict(findings: Sequence[Finding]) -> Verdict:
    return "fail" if has(findings, "error") else "warn" if has(findings, "warning") else "pass"


def _merged(told: Sequence[Finding], others: Sequence[Finding]) -> Spool[Finding]:
    """All findings in order, equal ones once."""
    from aoe_reports.engine.spool import Spool

    merged: Spool[Finding] = Spool(Finding.as_fields, Finding.from_fields)
    last: Finding | None = None
    for finding in heapq.merge(told, others, key=place_of):
        if finding != last:
            merged.append(finding)
        last = finding
    return merged


def _row_of(cells: Mapping[str, Any]) -> CheckedFile:
    return CheckedFile(**cells)


_Check = Callable[["FoundFile", CheckOptions, Summarise | None], OneFile]


def _checker(file: FoundFile) -> _Check | None:
    from aoe_reports.formats.ascend.names import AOE_KINDS, INFO_KINDS, UNREAD_KINDS

    if file.name.kind in AOE_KINDS:
        return _bank if file.name.kind == "gdat" else _result
    if file.name.kind == "record":
        return _records
    if file.name.source == "tuner":
        return _tuner_file
    if file.name.kind in INFO_KINDS or file.name.kind in UNREAD_KINDS:
        return None  # read, and complained of, with its capture; or not read, which is said of its folder
    return _empty if file.size == 0 and file.name.form != "csv" else _tables


def _result(file: FoundFile, chosen: CheckOptions, summarise: Summarise | None) -> OneFile:
    """An AOE result."""
    from aoe_reports.formats.aoe.result_files import parse_results, read_bytes
    from aoe_reports.formats.aoe.results import outline_of
    from aoe_reports.rules.results.check import check_result_file, check_result_text

    data = read_bytes(file.path, chosen.max_size)
    if summarise is None:
        outline, findings = check_result_text(data, file.path, file.name, chosen.max_size)
        return _of_outline(file, outline, findings)
    read = parse_results(file.path, file.name, data, chosen.max_size)
    findings = check_result_file(read)
    details = [summarise(str(file.path), result, findings) for result in read.results]
    return replace(_of_outline(file, outline_of(read.results), findings), details=details)


def _of_outline(file: FoundFile, outline: Outline | None, findings: Sequence[Finding]) -> OneFile:
    if outline is None:
        return _one(file, findings)
    return _one(
        file,
        findings,
        tasks=len(outline.statuses),
        container=outline.container,
        body=outline.body,
        vocabulary=outline.vocabulary,
        tuning_names=outline.tuning_names,
        statuses=outline.statuses,
    )


def _bank(file: FoundFile, chosen: CheckOptions, _: Summarise | None) -> OneFile:
    """A gradient bank of AOE."""
    from aoe_reports.formats.aoe.bank_file import read_bank
    from aoe_reports.rules.gradient_bank import check_bank_file

    read = read_bank(file.path, file.name, max_bytes=chosen.max_size)
    return _one(file, check_bank_file(read), summary=read.bank.summary() if read.parsed else None)


def _tuner_file(file: FoundFile, chosen: CheckOptions, _: Summarise | None) -> OneFile:
    """A file of another tuner than AOE."""
    from aoe_reports.formats.tuner_files import tuner_file_kind

    read = tuner_file_kind(file.name.kind).read(file.path, chosen.max_size)
    return _one(file, read.findings, tasks=read.tasks, tuning_names=read.names, summary=read.summary)


def _records(file: FoundFile, chosen: CheckOptions, _: Summarise | None) -> OneFile:
    """A file of v0.1 records."""
    from aoe_reports.rules.records import check_records_file

    return _one(file, check_records_file(file.path, chosen.max_size))


def _tables(file: FoundFile, _: CheckOptions, __: Summarise | None) -> OneFile:
    """Every table that a file holds, and the events of a timeline."""
    from aoe_reports.engine.captures import look_at, read_file

    found = dict.fromkeys(finding for kind in file.holds for finding in read_file(file, kind).findings)
    if file.name.timeline:
        found |= dict.fromkeys(look_at(file).findings)
    return _one(file, list(found))


def _empty(file: FoundFile, _: CheckOptions, __: Summarise | None) -> OneFile:
    return _one(file, [Finding("error", "empty-file", str(file.path), say("the file is empty"))])


def _one(file: FoundFile, findings: Sequence[Finding], **known: Any) -> OneFile:
    """What a file hands on, null what is not known of it."""
    cells: dict[str, Any] = {
        "container": None,
        "body": None,
        "vocabulary": None,
        "tasks": None,
        "tuning_names": (),
        "statuses": (),
        "summary": None,
        **known,
    }
    row = CheckedFile(path=str(file.path), kind=file.name.kind, verdict="pass", **cells)
    return OneFile(row=row, findings=findings)
