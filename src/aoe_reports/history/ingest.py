"""Checks, normalises and stores everything below some paths; doing it twice adds nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

from aoe_reports.engine.captures import (
    aoe_files,
    bank_files,
    files_without_run,
    find_runs,
    nothing_measured,
    record_files,
    unread_files,
)
from aoe_reports.formats.capture import Capture, kinds_of
from aoe_reports.formats.discovery import Discovery, discover
from aoe_reports.formats.vendor import TABLES
from aoe_reports.history.advising import Advising, Advisor, digest_of
from aoe_reports.history.origin import origin_of
from aoe_reports.history.sharing import Sharing
from aoe_reports.model.errors import AoeReportsError, ReadError, StoreError, WorkloadConflictError
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import Text, join, say
from aoe_reports.questions.records.load import load_bank, load_profile, load_tuning
from aoe_reports.questions.records.naming import INFERRED
from aoe_reports.questions.records.normalise import run_of_profile, run_of_tuning, runs_of_bank
from aoe_reports.questions.records.options import RecordOptions
from aoe_reports.questions.records.record_files import load_records
from aoe_reports.store import History, Outcome, Run
from aoe_reports.store.care import tend
from aoe_reports.store.layout import NORMALISER_VERSION

Progress = Callable[[Text], None]
"""Is told what is done next: each line takes the place of the one before."""


def unseen(_: Text) -> None:
    """Nobody looks on."""


@dataclass(slots=True)
class Gathered:
    """What came of reading: findings of files that make up no run, and whether something could not be read."""

    findings: list[Finding] = field(default_factory=list)
    unreadable: bool = False
    progress: Progress = unseen
    _read: int = 0
    _all: int = 0

    def begin(self, count: int) -> None:
        """Know how many captures and files are to be read."""
        self._all += count

    def reading(self, path: Path) -> None:
        """Tell whoever looks on what is read next."""
        self._read += 1
        self.progress(say("reading {number:,} of {count:,}: {path}", number=self._read, count=self._all, path=path))

    def failed(self, error: AoeReportsError, path: Path) -> None:
        """Note a file that cannot be read, and go on with the healthy ones."""
        self.unreadable = True
        message = join("; ", (error.what, error.expected)) if isinstance(error, ReadError) else str(error)
        self.findings.append(Finding("error", "unreadable", str(path), message))


@dataclass(frozen=True, slots=True)
class Stored:
    """One run and what the store did with it: of its records and its body only what a summary needs stays in memory."""

    run: Run
    outcome: Outcome
    records: int
    series: frozenset[str]


MEASURED = frozenset(name for name, table in TABLES.items() if table.facts in {"tasks", "sums", "kernels", "steps"})
"""Tables that records are made of."""

SUMMARY_SCOPES = frozenset({"step", "op_type", "model"})
SUMMARY_FACTS = ("kind", "tuning_name", "modified")


def gather_runs(
    paths: Sequence[Path],
    options: RecordOptions,
    gathered: Gathered,
    advisor: Advisor | None = None,
    sharing: Sharing | None = None,
) -> Iterator[Run]:
    """Every run below some paths, normalised, one at a time; what belongs to no run goes into `gathered`.

    With an `advisor` profiles carry advice, once they are stored; `sharing` sees their captures before they are read.
    """
    options = options.asked_for(paths)
    gathered.progress(say("looking for files"))
    discovery = discover(paths, max_expanded=options.max_expanded)
    gathered.findings += discovery.findings
    gathered.unreadable |= discovery.unreadable
    if discovery.files and len(unread_files(discovery)) == len(discovery.files):
        gathered.findings.append(nothing_measured(paths, say("nothing here can be read")))
    read: set[str] = set()
    captures = find_runs(discovery)
    others = sum(len(files(discovery)) for files in (bank_files, aoe_files, record_files))
    gathered.begin(len(captures) + others)
    if sharing is not None:
        sharing.look_ahead(captures)
    profiles = _profiles(captures, options, gathered, advisor)
    for item in chain(profiles, *(source(discovery, options, gathered) for source in (_banks, _tunings))):
        read.add(item.header.run_id)
        yield item
    yield from _records(discovery, options, gathered, read)


def _profiles(
    runs: Sequence[tuple[Capture, ...]], options: RecordOptions, gathered: Gathered, advisor: Advisor | None
) -> Iterator[Run]:
    for captures in runs:
        gathered.reading(captures[0].root)
        advising = None if advisor is None else advisor.of_run(captures)
        try:
            profile = load_profile(captures, options, None if advising is None else advising.look)
        except (ReadError, OSError) as error:
            gathered.failed(_as_read_error(error, captures[0].root), captures[0].root)
            continue
        run = run_of_profile(profile, options)
        if run.records:
            yield run if advising is None else replace(run, rest=partial(_with_advice, advising))
        else:
            gathered.findings += [finding for finding in run.findings if finding.rule != "workload-unknown"]
            gathered.findings.append(_nothing_measured(captures, run))


def _with_advice(advising: Advising, run: Run) -> Run:
    """The run with advice, and in its own row what tells whether that is still the same."""
    rows = advising.rows()
    return replace(run, advice=rows, body={**run.body, "advice": digest_of(rows)})


def _banks(discovery: Discovery, options: RecordOptions, gathered: Gathered) -> Iterator[Run]:
    for found in bank_files(discovery):
        gathered.reading(found.path)
        try:
            bank, findings = load_bank(found)
        except (ReadError, OSError) as error:
            gathered.failed(_as_read_error(error, found.path), found.path)
            continue
        runs = runs_of_bank(bank, findings, options)
        told = {finding for run in runs for finding in run.findings}
        gathered.findings += [finding for finding in findings if finding not in told]
        yield from runs
    for found in files_without_run(discovery):
        message = say("this ({kind}) is not a run and is not stored; use `check` to examine it", kind=found.name.kind)
        gathered.findings.append(Finding("info", "no-run", str(found.path), message))


def _tunings(discovery: Discovery, options: RecordOptions, gathered: Gathered) -> Iterator[Run]:
    for found in aoe_files(discovery):
        gathered.reading(found.path)
        try:
            tunings, findings = load_tuning(found, options)
        except (ReadError, OSError) as error:
            gathered.failed(_as_read_error(error, found.path), found.path)
            continue
        told = {finding for tuning in tunings for finding in tuning.findings}
        gathered.findings += [finding for finding in findings if finding not in told]
        for tuning in tunings:
            yield run_of_tuning(tuning, options)


def _records(discovery: Discovery, options: RecordOptions, gathered: Gathered, read: set[str]) -> Iterator[Run]:
    """Runs of files of records; one that was `read` from what it was made of is not taken a second time."""
    seen: set[str] = set()
    for found in record_files(discovery):
        gathered.reading(found.path)
        try:
            runs, findings = load_records(found, options, seen, read)
        except (ReadError, OSError) as error:
            gathered.failed(_as_read_error(error, found.path), found.path)
            continue
        gathered.findings += findings
        yield from runs


TEND_EVERY = 16
"""Runs after which an ingest of many looks whether there are small files to be merged."""

MERGES = 16
"""So many merges at most are made then, each as a commit; an ingest of one run makes one."""


def ingest(
    paths: Sequence[Path],
    store: str,
    options: RecordOptions,
    gathered: Gathered,
    command: str = "ingest",
    *,
    renew: bool = False,
) -> list[Stored]:
    """Store every run below some paths; a run that the store refuses is reported and the others go on."""
    history: History | None = None
    stored: list[Stored] = []
    sharing = Sharing(store, options.asked_for(paths))
    count = 0
    for run in gather_runs(paths, options, gathered, Advisor(os.environ), sharing):
        try:
            admitted = sharing.admit(run)  # where all are refused no store is made
            history = sharing.history = history or History.open(store, create=True, origin=origin_of(command))
            if count % TEND_EVERY == 0:
                _tend(history, gathered, at_most=1 if count == 0 else MERGES)
            count += 1
            added, outcome = _add(history, sharing, run, admitted, renew=renew)
            stored.append(_kept(added, outcome))
            if outcome == "less-complete":
                gathered.findings.append(_less_complete(run))
        except WorkloadConflictError as error:
            gathered.findings.append(Finding("error", "workload-conflict", run.header.path, error.what))
        del run  # what advice would have been made of, before the next one is read
    if history is not None:
        if len(stored) > TEND_EVERY:
            _tend(history, gathered, at_most=MERGES)  # many small files are not left to those who read
        gathered.findings += _older(history, stored, store)
    gathered.findings += sharing.findings()
    return stored


def _add(history: History, sharing: Sharing, run: Run, admitted: Run, *, renew: bool) -> tuple[Run, Outcome]:
    """(the run as it is stored, what the store did with it); a run that is stored already keeps a name nobody chose."""
    try:
        outcome = history.add(admitted, renew=renew)
    except WorkloadConflictError as error:
        if run.named_by not in INFERRED or error.stored_as is None:
            raise
        admitted = sharing.renamed(run, error.stored_as)
        outcome = history.add(admitted, renew=renew)
    sharing.keep(admitted)
    return admitted, outcome


def _older(history: History, stored: Sequence[Stored], store: str) -> list[Finding]:
    """How many of the runs read are in the store as an older version made them."""
    older = {header.content_hash for header in history.runs() if header.normaliser_version < NORMALISER_VERSION}
    count = sum(item.outcome == "unchanged" and item.run.header.content_hash in older for item in stored)
    if count == 0:
        return []
    message = say("{count} of these runs are stored as normalised by an older version (see --renew)", count=count)
    return [Finding("info", "older-normaliser", store, message)]


def _tend(history: History, gathered: Gathered, at_most: int) -> None:
    """Merge small files where there are many; what keeps that from being done is told, and keeps no run out."""
    failed: list[StoreError] = []
    for _ in range(at_most):
        if tend(history.log, failed) is None:
            break
    for message in dict.fromkeys(map(str, failed)):
        finding = Finding(
            "warning",
            "store-not-compacted",
            history.uri,
            say("small files were not merged: {message}", message=message),
        )
        if finding not in gathered.findings:
            gathered.findings.append(finding)


def _kept(run: Run, outcome: Outcome) -> Stored:
    records = [record for record in run.records if record.scope in SUMMARY_SCOPES]
    body = {name: run.body[name] for name in SUMMARY_FACTS if name in run.body}
    series = frozenset(record.series_id for record in run.records) if run.header.run_kind != "tuning" else frozenset()
    return Stored(replace(run, records=records, body=body, facts={}, rest=None), outcome, len(run.records), series)


def _less_complete(run: Run) -> Finding:
    message = say(
        "the store has a more complete version of this run, or other ranks of it, and keeps "
        "that; to replace it, give the whole capture (all ranks)"
    )
    return Finding("warning", "less-complete", run.header.path, message)


def _as_read_error(error: Exception, path: Path) -> ReadError:
    if isinstance(error, ReadError):
        return error
    return ReadError(path, getattr(error, "strerror", None) or str(error), say("a readable export was expected"))


def _nothing_measured(captures: Sequence[Capture], run: Run) -> Finding:
    files = [file for capture in captures for file in capture.files]
    if not any(MEASURED & set(file.holds) for file in files):
        message = say("this command cannot measure anything here; found {kinds}", kinds=kinds_of(files))
        return Finding("error", "nothing-measured", run.header.path, message)
    message = say(
        "no usable time in this capture; expected tasks or steps in op_summary, kernel_details, op_statistic, "
        "task_time or step_trace"
    )
    return Finding("error", "nothing-measured", run.header.path, message)


@row
class StoredRow:
    """One run: what it is, what was made of it, what the store did with it."""

    night: str = column("Night")
    run: str = column("Run")
    kind: str = column("Kind", "word")
    workload: str = column("Workload")
    hardware: str | None = column()
    records: int = column("Records", "integer")
    step_ms: float | None = column()
    outcome: str = column("Store", "word")
    status: str | None = column()
    path: str = column("Path")


def stored_row(item: Stored) -> StoredRow:
    """One run that was ingested, as a row; its step is the longest of its ranks."""
    header = item.run.header
    steps = [record.runtime_ms_mean for record in item.run.records if record.scope == "step"]
    return StoredRow(
        night=header.night,
        run=header.run_id,
        kind=header.run_kind,
        workload=header.model,
        hardware=header.hardware,
        records=item.records,
        step_ms=max(steps, default=None),
        outcome=item.outcome,
        status=header.status,
        path=header.path,
    )
