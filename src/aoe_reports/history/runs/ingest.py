"""Checks, normalises and stores everything below some paths; doing it twice adds nothing."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from aoe_reports.engine.ask import Progress, no_progress, read_units
from aoe_reports.engine.fleet.executors import Executor
from aoe_reports.engine.question import FileUnit, Notes, Request, Unit
from aoe_reports.formats.sources.discovery import Discovery
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.history.origin import origin_of
from aoe_reports.history.rules import (
    CLOCK_AHEAD,
    LESS_COMPLETE,
    OLDER_NORMALISER,
    STORE_NOT_COMPACTED,
    WORKLOAD_RESEMBLES,
)
from aoe_reports.history.runs.advising import Advising, Advisor, LeftOut, Looked, digest_of, left_out_of
from aoe_reports.history.runs.clocks import clock_jumps, read_runs
from aoe_reports.history.runs.sharing import Sharing
from aoe_reports.model.arrays.memory import give_back
from aoe_reports.model.classes import record
from aoe_reports.model.errors import NoticeWarning, StoreError, WorkloadConflictError
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.runs import IngestedRun
from aoe_reports.model.names import resembling
from aoe_reports.model.texts import count_of, say
from aoe_reports.store import History, Outcome, Run
from aoe_reports.store.care import compact_if_needed
from aoe_reports.store.layout import NORMALISER_VERSION, ranks_table
from aoe_reports.topics.records.load import read_capture
from aoe_reports.topics.records.naming import INFERRED
from aoe_reports.topics.records.options import IngestOptions, RecordOptions
from aoe_reports.topics.records.over_ranks import over_ranks
from aoe_reports.topics.records.runs import RankPart, RunReader, runs_read, units_by_run
from aoe_reports.topics.rules import WORKLOAD_CONFLICT


@dataclass(frozen=True, slots=True)
class Stored:
    """One run and what the store did with it: of its records and its body only what a summary needs stays in memory."""

    run: Run
    outcome: Outcome
    records: int
    series: frozenset[str]


SUMMARY_SCOPES = frozenset({"step", "op_type", "model"})
SUMMARY_FACTS = ("kind", "tuning_name", "modified")


class AdvisedRunReader(RunReader):
    """Normalises every run; profiles carry advice, which is worked out once it is certain that they are stored."""

    def __init__(self, advisor: Advisor) -> None:
        """With what is known of earlier tuning."""
        self._advisor = advisor

    def units(self, files: Discovery, asked: Request[RecordOptions]) -> Sequence[Unit | FileUnit]:
        """As they are; captures of runs of which too much would be looked into for advice are marked."""
        units = super().units(files, asked)
        left_out = {
            number: left_out_of([unit.capture for unit in of_run])[0] for number, of_run in units_by_run(units).items()
        }
        return [
            LightUnit(
                capture=unit.capture,
                run=unit.run,
                number=unit.number,
                alone=unit.alone,
                left_out=left_out[unit.number],
            )
            if isinstance(unit, Unit) and left_out.get(unit.number, "nothing") != "nothing"
            else unit
            for unit in units
        ]

    def part_of(self, unit: Unit, asked: Request[RecordOptions]) -> RankPart:
        """What one capture tells of its run and for its advice, from one reading of its tables."""
        looked = Looked(unit.run, unit.alone)
        look = partial(looked.look, left_out=unit.left_out if isinstance(unit, LightUnit) else "nothing")
        return RankPart(data=read_capture(unit.capture, asked.options, look), more=looked)

    def run_of(
        self, units: Sequence[Unit], parts: Iterable[tuple[Unit, RankPart]], asked: Request[RecordOptions]
    ) -> Run:
        """One profile as it is stored, with its advice still to be made."""
        advising = Advising(self._advisor, tuple(unit.capture for unit in units))
        run = super().run_of(units, _shown(advising, parts), asked)
        return replace(run, rest=partial(_with_advice, advising))


@record
class LightUnit(Unit):
    """A capture of which not all is looked into for advice."""

    left_out: LeftOut


def _shown(advising: Advising, parts: Iterable[tuple[Unit, RankPart]]) -> Iterator[tuple[Unit, RankPart]]:
    """The parts of a run without the input of advice, which `advising` takes."""
    for unit, part in parts:
        advising.run.take(part.more)
        yield unit, RankPart(data=part.data)


def _with_advice(advising: Advising, run: Run) -> Run:
    """The run with advice, and the digest of the advice in its own row."""
    rows = advising.rows()
    return replace(run, advice=rows, body={**run.body, "advice": digest_of(rows)})


TEND_EVERY = 16
"""Runs after which an ingest of many looks whether there are small files to be merged."""

MERGES = 16
"""So many merges at most are made then, each as a commit; an ingest of one run makes one."""


def ingest(
    paths: Sequence[Path],
    store: str,
    options: IngestOptions,
    notes: Notes,
    *,
    command: str = "ingest",
    executor: Executor | None = None,
    progress: Progress = no_progress,
) -> list[Stored]:
    """Store every run below some paths; a run that the store refuses is reported and the others go on."""
    history: History | None = None
    stored: list[Stored] = []
    paths = [path_of(path) for path in paths]
    options = options.asked_for(paths)
    sharing = Sharing(store, options)
    reader = AdvisedRunReader(Advisor(dict(os.environ)))
    reading = read_units(reader, paths, options, executor=executor, progress=progress)
    runs = units_by_run(reading.asked.units).values()
    sharing.look_ahead([tuple(unit.capture for unit in units) for units in runs])
    count = 0
    try:
        for one in runs_read(reader, reading):
            run = over_all_ranks(one, options.rank_series)
            del one
            give_back()  # what reading took is not held beside what the store takes
            try:
                admitted = sharing.admit(run)  # where all are refused no store is made
                history = sharing.history = history or History.open(store, create=True, origin=origin_of(command))
                if count % TEND_EVERY == 0:
                    _tend(history, notes, at_most=1 if count == 0 else MERGES)
                count += 1
                added, outcome = _add(history, sharing, run, admitted, renew=options.renew)
                stored.append(_kept(added, outcome))
                if outcome == "less-complete":
                    message = say(
                        "the store has a more complete version of this run, or other ranks of it, and keeps "
                        "that; to replace it, give the whole capture (all ranks)"
                    )
                    notes.add([LESS_COMPLETE.found(run.header.path, message)])
            except WorkloadConflictError as error:
                notes.add([WORKLOAD_CONFLICT.found(run.header.path, error.what)])
            del run  # what advice would have been made of, before the next one is read
    except (KeyboardInterrupt, SystemExit):
        if stored:
            message = count_of(  # each run is a commit of its own
                len(stored),
                "at least {number} run is stored and stays; the same command stores the rest, and no run twice",
                "at least {number} runs are stored and stay; the same command stores the rest, and no run twice",
            )
            warnings.warn(NoticeWarning(message), stacklevel=2)
        raise
    if history is not None:
        if len(stored) > TEND_EVERY:
            _tend(history, notes, at_most=MERGES)  # many small files are not left to those who read
        notes.add(_older(history, stored, store))
        notes.add(_resembling(history, stored, store))
        notes.add(_wrong_clocks(history, stored))
    notes.add(sharing.findings())
    notes.take(reading.asked.notes)
    return stored


def over_all_ranks(run: Run, most: int) -> Run:
    """A profile of many ranks by what its records tell of all of them."""
    if run.header.run_kind != "profile":
        return run
    records, single = over_ranks(run.records, most)
    return replace(run, records=records, ranks=ranks_table(single) if single else run.ranks)


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
    return [OLDER_NORMALISER.found(store, message)]


def _resembling(history: History, stored: Sequence[Stored], store: str) -> Iterator[Finding]:
    """New workload names given by somebody that resemble a stored one."""
    added = {item.run.header.run_id for item in stored if item.outcome == "added"}
    known = {header.model for header in history.runs() if header.run_id not in added and header.model is not None}
    named = {item.run.header.model for item in stored if item.run.named_by not in INFERRED}
    for model in sorted(name for name in named - known if name is not None):
        near = resembling(model, known)
        if near is not None:
            message = say(
                "workload {model!r} is new to the store, and its name resembles that of {near!r}: if that is meant, undo "
                "this run and store it as {near!r}",
                model=model,
                near=near,
            )
            yield WORKLOAD_RESEMBLES.found(store, message)


MAX_AHEAD_NS = 86_400 * 10**9
"""Time zones that nobody stated explain up to a day between a run and this machine's clock."""


def _wrong_clocks(history: History, stored: Sequence[Stored]) -> list[Finding]:
    """Runs dated far from all others of their workload, and the number of runs dated after now."""
    jumps = clock_jumps(history, read_runs(history))
    ours = [item.run.header for item in stored]
    findings = [jumps[header.run_id] for header in ours if header.run_id in jumps]
    now = time.time_ns()
    ahead = [our for our in ours if our.timestamp_ns > now + MAX_AHEAD_NS and our.run_id not in jumps]
    if ahead:
        newest = max(ahead, key=lambda one: (one.timestamp_ns, one.run_id))
        message = say(
            "{count} of these runs are dated more than a day after the clock of this machine, run {run_id} on {night} as the last "
            "(`store undo {run_id}` removes it)",
            count=len(ahead),
            run_id=newest.run_id,
            night=newest.night,
        )
        findings.append(CLOCK_AHEAD.found(newest.path, message))
    return findings


def _tend(history: History, notes: Notes, at_most: int) -> None:
    """Merge small files if there are many; a failure is reported and does not stop the ingest."""
    failed: list[StoreError] = []
    for _ in range(at_most):
        if compact_if_needed(history.log, failed) is None:
            break
    for message in dict.fromkeys(map(str, failed)):
        finding = STORE_NOT_COMPACTED.found(history.uri, say("small files were not merged: {message}", message=message))
        if finding not in notes.findings:
            notes.add([finding])


def _kept(run: Run, outcome: Outcome) -> Stored:
    records = [record for record in run.records if record.scope in SUMMARY_SCOPES]
    body = {name: run.body[name] for name in SUMMARY_FACTS if name in run.body}
    series = frozenset(record.series_id for record in run.records) if run.header.run_kind != "tuning" else frozenset()
    count = len(run.records) + (0 if run.ranks is None else run.ranks.num_rows)
    return Stored(replace(run, records=records, ranks=None, body=body, facts={}, rest=None), outcome, count, series)


def stored_row(item: Stored) -> IngestedRun:
    """One run that was ingested, as a row."""
    header = item.run.header
    steps = [record.runtime_ms_mean for record in item.run.records if record.scope == "step"]
    return IngestedRun(
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
