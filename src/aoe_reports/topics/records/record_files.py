"""Files of benchmark log records as runs: foreign ones a run a night and workload, our own as the runs they were."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from aoe_reports.formats.records.from_document import OwnRun, RunKind, own_run_of, record_of_document
from aoe_reports.formats.records.identity import Member, content_hash_of, run_id_of
from aoe_reports.formats.records.record import Record, RecordSource, canonical_json
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding, has, in_order
from aoe_reports.model.texts import say
from aoe_reports.model.timestamps import night_of, parse_timestamp
from aoe_reports.rules.records import sound_records
from aoe_reports.store import Run, RunHeader
from aoe_reports.store.layout import NORMALISER_VERSION
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.rules import REPEATED_RECORD, TIME_ZONE_ASSUMED, WORKLOAD_CONFLICT


@dataclass(frozen=True, slots=True)
class _Entry:
    """One record, what makes it itself, and what it says of its run where it is ours and the first of it."""

    record: Record
    digest: str
    own_run: OwnRun | None
    zoned: bool
    """Whether its time names its zone."""


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file of records, read, before it is known which of them were in another file."""

    path: str
    entries: Sequence[_Entry]
    findings: Sequence[Finding]


def read_records(file: FoundFile, options: RecordOptions) -> RecordFile:
    """The sound records of a file."""
    findings: list[Finding] = []
    entries = []
    for text in sound_records(file.path, findings, None):
        time = parse_timestamp(text.timestamp, options.zone)
        assert time is not None  # what has no time is not sound
        written = {name: value for name, value in text.document.items() if name not in text.derived}
        digest = hashlib.sha256(canonical_json(written).encode()).hexdigest()[:32]
        named = {"hardware": options.hardware} if text.of_benchmark and options.hardware is not None else {}
        record = record_of_document({**text.document, **named}, time.ns, options.workload)
        entries.append(_Entry(record, digest, own_run_of(text.document), time.zoned))
    return RecordFile(str(file.path), entries, findings)


def runs_of_records(
    file: RecordFile, options: RecordOptions, seen: set[str], read: Collection[str]
) -> tuple[list[Run], list[Finding]]:
    """(the runs in a file of records, what was found in it that belongs to none of them).

    `seen` holds what makes a record itself: one that was in a file before is left out, which is said. So are our own
    records of runs (their ids) that were `read` from what they were made of.
    """
    path, findings = file.path, list(file.findings)
    entries: list[_Entry] = []
    for entry in file.entries:
        if entry.digest not in seen:
            seen.add(entry.digest)
            entries.append(entry)
    if options.tz is None and any(entry.record.source == "foreign" and not entry.zoned for entry in entries):
        message = say("times of records have no time zone; treated as UTC (see --tz)")
        findings.append(TIME_ZONE_ASSUMED.found(path, message))
    if repeated := len(file.entries) - len(entries):
        message = say(
            "{count} of these records already appeared here or in another file; each is used once", count=repeated
        )
        findings.append(REPEATED_RECORD.found(path, message))
    runs = []
    for group in _grouped(entries, options.zone):
        run_id = group[0].record.run_id
        if run_id in read:
            message = say("these are the records of run {run_id}, which was read from its own files", run_id=run_id)
            findings.append(REPEATED_RECORD.found(path, message))
        elif (conflict := _other_workload(group, options, path)) is not None:
            findings.append(conflict)
        else:
            runs.append(_run_of(group, path, options.zone, has(findings, "error")))
    if len(runs) == 1:
        return [replace(runs[0], findings=in_order(findings))], []
    return runs, findings


def _grouped(entries: Sequence[_Entry], zone: tzinfo) -> list[list[_Entry]]:
    """Records that make up one run each, in the order of the file."""
    groups: dict[tuple[str, ...], list[_Entry]] = {}
    for entry in entries:
        record = entry.record
        key = (record.workload, night_of(record.timestamp_ns, zone)) if record.source == "foreign" else (record.run_id,)
        groups.setdefault((record.model, *key), []).append(entry)
    return list(groups.values())


def _run_of(group: Sequence[_Entry], path: str, zone: tzinfo, damaged: bool) -> Run:
    first = min(group, key=lambda entry: (entry.record.timestamp_ns, entry.digest))
    own = _own_run(group, first.record, zone, damaged)
    record = first.record
    run_id = run_id_of(record.timestamp_ns, first.digest) if record.source == "foreign" else record.run_id
    records = [replace(entry.record, run_id=run_id) for entry in group]
    header = RunHeader(
        run_id=run_id,
        run_kind=own.kind,
        timestamp_ns=record.timestamp_ns,
        night=own.night,
        model=record.model,
        hardware="; ".join(sorted({record.hardware for record in records})),
        content_hash=content_hash_of(member.content_hash for member in own.members),
        members=own.members,
        status=own.status,
        path=path,
        normaliser_version=NORMALISER_VERSION if own.normaliser_version is None else own.normaliser_version,
    )
    return Run(header, records, [], own.body, _facts(records))


def _own_run(group: Sequence[_Entry], first: Record, zone: tzinfo, damaged: bool) -> OwnRun:
    """What is known of the run of some records: what they say themselves, else what can be told from them."""
    told = next((entry.own_run for entry in group if entry.own_run is not None), None)
    if told is None:
        members = tuple(Member(entry.digest, entry.digest, 1, named=True) for entry in group)
        return OwnRun(
            _KINDS.get(first.source, "profile"),
            night_of(first.timestamp_ns, zone),
            "damaged" if damaged else "ok",
            members,
        )
    if told.records == len(group):
        return told
    # some of a run's records: of its members, but less complete than what these were made of
    picked = content_hash_of(entry.digest for entry in group)
    return replace(told, members=tuple(member._replace(content_hash=picked, rows=0) for member in told.members))


_KINDS: dict[RecordSource, RunKind] = {"foreign": "foreign", "aoe": "tuning"}
"""What a run is whose records are of this source; a profile else."""


def _facts(records: Sequence[Record]) -> JsonObject:
    """What all records have in common of what a run has columns for."""
    names = ("engine", "engine_version", "hardware_config", "runtime_config")
    first = records[0]
    alike = [name for name in names if all(getattr(record, name) == getattr(first, name) for record in records)]
    return {name: getattr(first, name) for name in alike}


def _other_workload(group: Sequence[_Entry], options: RecordOptions, path: str) -> Finding | None:
    """Our own records say what was measured: another name would make another history of them."""
    record = group[0].record
    if record.source == "foreign" or options.workload in {None, record.model}:
        return None
    message = say(
        "these are records of workload {model!r} (run {run_id}); they are not stored as {workload!r}",
        model=record.model,
        run_id=record.run_id,
        workload=options.workload,
    )
    return WORKLOAD_CONFLICT.found(path, message)
