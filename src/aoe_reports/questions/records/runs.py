"""The runs below some paths, each as it is stored: profiles, banks, tuning reports and files of records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from aoe_reports.engine.ask import read_units
from aoe_reports.engine.captures import (
    aoe_files,
    bank_files,
    files_without_run,
    find_runs,
    nothing_measured,
    record_files,
    unread_files,
)
from aoe_reports.engine.question import FileUnit, Notes, Reader, Reading, Request
from aoe_reports.engine.rules import NOTHING_MEASURED
from aoe_reports.formats.capture import Capture, kinds_of
from aoe_reports.formats.discovery import Discovery
from aoe_reports.formats.vendor import TABLES
from aoe_reports.model.classes import record
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.questions.records.load import load_bank, load_profile, load_tuning
from aoe_reports.questions.records.normalise import run_of_profile, run_of_tuning, runs_of_bank
from aoe_reports.questions.records.options import RecordOptions
from aoe_reports.questions.records.record_files import RecordFile, read_records, runs_of_records
from aoe_reports.questions.rules import NO_RUN
from aoe_reports.store import Run

MEASURED = frozenset(name for name, table in TABLES.items() if table.facts in {"tasks", "sums", "kernels", "steps"})
"""Tables that records are made of."""


@record
class RunUnit:
    """What is read at one time of profiles: the captures of one run."""

    captures: tuple[Capture, ...]

    @property
    def path(self) -> Path:
        """Where its first capture lies."""
        return self.captures[0].root


Part: TypeAlias = tuple[Run, ...] | RecordFile
"""Runs; of records it is known only among all files which make up one."""


class RunReader(Reader[RecordOptions, Part]):
    """Normalises every run; findings of files that make up no run go into the notes."""

    def prepare(self, files: Discovery, asked: Request[RecordOptions]) -> None:
        """Say which files are no runs."""
        if files.files and len(unread_files(files)) == len(files.files):
            asked.notes.add([nothing_measured(asked.inputs, say("nothing here can be read"))])
        for found in files_without_run(files):
            message = say(
                "this ({kind}) is not a run and is not stored; use `check` to examine it", kind=found.name.kind
            )
            asked.notes.add([NO_RUN.found(str(found.path), message)])

    def units(self, files: Discovery, asked: Request[RecordOptions]) -> Sequence[RunUnit | FileUnit]:
        """Profiles, then banks, tuning reports and records, which may be those of what stands before them."""
        del asked
        others = [file for family in (bank_files, aoe_files, record_files) for file in family(files)]
        return [*(RunUnit(captures=run) for run in find_runs(files)), *(FileUnit(file=file) for file in others)]

    def map_unit(self, unit: RunUnit | FileUnit, asked: Request[RecordOptions]) -> Part:
        """The runs of one unit, each with what was found in it."""
        options = asked.options
        if isinstance(unit, RunUnit):
            return self._profile(unit.captures, asked)
        if unit.file.name.kind == "record":
            return read_records(unit.file, options)
        if unit.file.name.kind == "gdat":
            bank, findings = load_bank(unit.file)
            runs = runs_of_bank(bank, findings, options)
        else:
            tunings, findings = load_tuning(unit.file, options)
            runs = [run_of_tuning(tuning, options) for tuning in tunings]
        told = {finding for run in runs for finding in run.findings}
        asked.notes.add(finding for finding in findings if finding not in told)
        return tuple(runs)

    def _profile(self, captures: tuple[Capture, ...], asked: Request[RecordOptions]) -> tuple[Run, ...]:
        run = self.run_of(captures, asked.options)
        if run.records:
            return (run,)
        asked.notes.add(finding for finding in run.findings if finding.rule != "workload-unknown")
        asked.notes.add([_nothing_measured(captures, run)])
        return ()

    def run_of(self, captures: tuple[Capture, ...], options: RecordOptions) -> Run:
        """One profile as it is stored."""
        return run_of_profile(load_profile(captures, options), options)


def read_runs(
    paths: Sequence[Path], options: RecordOptions, notes: Notes, *, reader: RunReader | None = None
) -> Iterator[Run]:
    """Every run below some paths, one at a time; what belongs to no run goes into `notes`."""
    reading = read_units(reader or RunReader(), paths, options.asked_for(paths))
    yield from runs_read(reading)
    notes.take(reading.asked.notes)


def runs_read(reading: Reading[Part]) -> Iterator[Run]:
    """The runs of all units, one at a time: of one that is done with nothing is held."""
    asked = reading.asked
    seen: set[str] = set()
    read: set[str] = set()
    for _, part in reading.parts:
        if isinstance(part, RecordFile):
            runs, findings = runs_of_records(part, asked.options, seen, read)
            asked.notes.add(findings)
            yield from runs
            del runs
        else:
            read.update(run.header.run_id for run in part)
            yield from part
        del part


def _nothing_measured(captures: Sequence[Capture], run: Run) -> Finding:
    files = [file for capture in captures for file in capture.files]
    if not any(MEASURED & set(file.holds) for file in files):
        message = say("this command cannot measure anything here; found {kinds}", kinds=kinds_of(files))
        return NOTHING_MEASURED.found(run.header.path, message)
    message = say(
        "no usable time in this capture; expected tasks or steps in op_summary, kernel_details, op_statistic, "
        "task_time or step_trace"
    )
    return NOTHING_MEASURED.found(run.header.path, message)
