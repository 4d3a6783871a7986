"""The runs below some paths, each as it is stored: profiles, banks, tuning reports and files of records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from aoe_reports.engine.ask import read_units
from aoe_reports.engine.captures import (
    aoe_files,
    bank_files,
    files_without_run,
    nothing_measured,
    record_files,
    unread_files,
)
from aoe_reports.engine.fleet.executors import Executor
from aoe_reports.engine.question import FileUnit, Notes, Reader, Reading, Request, Unit
from aoe_reports.engine.rules import NOTHING_MEASURED
from aoe_reports.engine.runs import service_captures
from aoe_reports.formats.capture import Capture, kinds_of
from aoe_reports.formats.rules import UNREADABLE
from aoe_reports.formats.sources.discovery import Discovery
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.formats.vendor import TABLES
from aoe_reports.model.classes import record
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.store import Run
from aoe_reports.topics.records.from_profile import Keys
from aoe_reports.topics.records.load import (
    CaptureData,
    load_bank,
    load_tuning,
    profile_of,
    read_capture,
    with_shared_keys_of,
)
from aoe_reports.topics.records.normalise import run_of_profile, run_of_tuning, runs_of_bank
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.records.record_files import RecordFile, read_records, runs_of_records
from aoe_reports.topics.rules import NO_RUN

MEASURED = frozenset(name for name, table in TABLES.items() if table.facts in {"tasks", "sums", "kernels", "steps"})
"""Tables that records are made of."""


@record
class RankPart:
    """What was read of one capture of a run."""

    data: CaptureData
    more: Any = None
    """What else a reader hands on of it."""


Part: TypeAlias = RankPart | tuple[Run, ...] | RecordFile
"""A part of a run, or whole ones; of records it is known only among all files which make up one."""


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
        for capture in service_captures(files):
            message = say(
                "the tables of a service ({kinds}) are no run and are not stored; use `serving` or `table` to read them",
                kinds=kinds_of(capture.files),
            )
            asked.notes.add([NO_RUN.found(str(capture.root), message)])

    def units(self, files: Discovery, asked: Request[RecordOptions]) -> Sequence[Unit | FileUnit]:
        """The captures of profiles, then banks, tuning reports and records, which may be those of what stands before them."""
        others = [file for family in (bank_files, aoe_files, record_files) for file in family(files)]
        return [*super().units(files, asked), *(FileUnit(file=file) for file in others)]

    def map_unit(self, unit: Unit | FileUnit, asked: Request[RecordOptions]) -> Part:
        """What one capture tells of its run; else the runs of a file, each with what was found in it."""
        options = asked.options
        if isinstance(unit, Unit):
            return self.part_of(unit, asked)
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

    def part_of(self, unit: Unit, asked: Request[RecordOptions]) -> RankPart:
        """What one capture tells of its run."""
        return RankPart(data=read_capture(unit.capture, asked.options))

    def run_of(
        self, units: Sequence[Unit], parts: Iterable[tuple[Unit, RankPart]], asked: Request[RecordOptions]
    ) -> Run:
        """One profile as it is stored, of those of its captures that could be read."""
        keys: Keys = {}
        read = [(unit, with_shared_keys_of(part.data, keys)) for unit, part in parts]
        found = {id(unit) for unit, _ in read}
        lost = _taken([unit.path for unit in units if id(unit) not in found], asked.notes)
        return run_of_profile(profile_of([data for _, data in read], asked.options, lost), asked.options)


def read_runs(
    paths: Sequence[Path],
    options: RecordOptions,
    notes: Notes,
    *,
    reader: RunReader | None = None,
    executor: Executor | None = None,
) -> Iterator[Run]:
    """Every run below some paths, one at a time; what belongs to no run goes into `notes`."""
    reader = reader or RunReader()
    reading = read_units(reader, paths, options.asked_for(paths), executor=executor)
    yield from runs_read(reader, reading)
    notes.take(reading.asked.notes)


def units_by_run(units: Iterable[Any]) -> dict[int, list[Unit]]:
    """The captures of each run among some units, by its number."""
    ranks = (unit for unit in units if isinstance(unit, Unit))
    return {number: list(of_run) for number, of_run in groupby(ranks, lambda unit: unit.number)}


def runs_read(reader: RunReader, reading: Reading[Part]) -> Iterator[Run]:
    """The runs of all units, one at a time: of one that is done with nothing is held."""
    asked = reading.asked
    units = units_by_run(asked.units)
    seen: set[str] = set()
    read: set[str] = set()
    for number, parts in groupby(reading.parts, lambda one: one[0].number if isinstance(one[0], Unit) else None):
        if number is not None:
            run = _profile(reader, units[number], parts, asked)
            if run is not None:
                read.add(run.header.run_id)
                yield run
            del run
            continue
        for _, part in parts:
            if isinstance(part, RecordFile):
                runs, findings = runs_of_records(part, asked.options, seen, read)
                asked.notes.add(findings)
                yield from runs
                del runs
            elif not isinstance(part, RankPart):
                read.update(run.header.run_id for run in part)
                yield from part
            del part


def _profile(
    reader: RunReader, units: Sequence[Unit], parts: Iterable[tuple[Any, Part]], asked: Request[RecordOptions]
) -> Run | None:
    """A run of the captures that could be read; None where nothing was measured."""
    run = reader.run_of(units, ((unit, part) for unit, part in parts if isinstance(part, RankPart)), asked)
    if run.records:
        return run
    asked.notes.add(finding for finding in run.findings if finding.rule != "workload-unknown")
    asked.notes.add([_nothing_measured([unit.capture for unit in units], run)])
    return None


def _taken(lost: Sequence[str], notes: Notes) -> list[Finding]:
    """What was found of captures that could not be read: it is told with their run instead."""
    taken = [
        finding
        for finding in notes.findings
        if finding.rule == UNREADABLE.name and any(path_of(finding.path).is_relative_to(path_of(path)) for path in lost)
    ]
    notes.findings = [finding for finding in notes.findings if finding not in taken]
    return taken


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
