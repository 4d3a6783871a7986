"""Rules on files of benchmark log records (schema v0.1): the schema, a time that is one, numbers that can be kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from aoe_reports.formats.records.files import RecordText, read_records
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rules import RECORDS
from aoe_reports.model.texts import say
from aoe_reports.model.timestamps import parse_timestamp
from aoe_reports.rules.found import with_places
from aoe_reports.rules.schema import SCHEMA, check_schema, fits_schema

_LONGEST_VALUE = 60

TIMESTAMP_FORM = RECORDS.rule(
    "timestamp-form", "error", "a time in an unknown format; the known formats are epoch, YYYYMMDDHHMMSS and ISO-8601"
)
RECORD_COMPLETED = RECORDS.rule(
    "record-completed", "info", "records without a time or schema version, which the schema demands"
)
RECORD_NUMBER = RECORDS.rule("record-number", "error", "a number that float64 cannot represent")


def check_records_file(path: Path, max_bytes: int | None = None) -> list[Finding]:
    """What is wrong with the records in a file of at most `max_bytes`; ReadError where it cannot be opened."""
    findings: list[Finding] = []
    for _ in sound_records(path, findings, max_bytes):
        pass
    return findings


def sound_records(path: Path, findings: list[Finding], max_bytes: int | None = None) -> Iterator[RecordText]:
    """The records of a file that no rule forbids, one at a time; what is wrong with the others is in `findings` then."""
    wrong: list[Finding] = []
    text = b""
    derived = Counter[str]()
    for record in read_records(path, wrong, max_bytes):
        derived.update(record.derived)
        told = check_record(record, str(path))
        if not told:
            yield record
        elif record.line is not None and record.text:
            wrong += [replace(finding, line=record.line) for finding in with_places(told, record.text)]
        else:
            text = record.text
            wrong += told if record.line is None else [replace(finding, line=record.line) for finding in told]
    if count := derived["timestamp"]:
        message = say("{count} records without a time: that of the file is used", count=count)
        findings.append(RECORD_COMPLETED.found(str(path), message))
    if count := derived["schema_version"]:
        message = say("{count} records without a schema version: they are read as 0.1", count=count)
        findings.append(RECORD_COMPLETED.found(str(path), message))
    findings += with_places(_capped(wrong), text) if text else _capped(wrong)


def check_record(record: RecordText, path: str) -> list[Finding]:
    """What is wrong with one record; pointers lead into its file's document."""
    document = record.document
    if not fits_schema("record", document):
        if not isinstance(document, dict) and record.line is None and not record.pointer:
            return [SCHEMA.found(path, say("neither a record nor a list of records"), pointer="")]
        found = check_schema("record", document, path)
        return [f if f.pointer is None else replace(f, pointer=record.pointer + f.pointer) for f in found]
    found = []
    if parse_timestamp(record.timestamp) is None:
        value = json.dumps(document["timestamp"], ensure_ascii=False)[:_LONGEST_VALUE]
        message = say(
            "{value} is not a time in a known format; expected an epoch, YYYYMMDDHHMMSS or ISO-8601", value=value
        )
        found.append(TIMESTAMP_FORM.found(path, message, pointer=f"{record.pointer}/timestamp"))
    message = say("a number that float64 cannot represent; the record could not be restored unchanged")
    for name in ("runtime_ms_mean", "runtime_ms_std"):
        if not _is_kept(document[name]):
            found.append(RECORD_NUMBER.found(path, message, pointer=f"{record.pointer}/{name}"))
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        found.append(RECORD_NUMBER.found(path, message, pointer=record.pointer))
    return found


def _is_kept(value: float | None) -> bool:
    """Whether a number is the same as a float64."""
    try:
        return value is None or float(value) == value
    except OverflowError:
        return False


def _capped(findings: list[Finding]) -> list[Finding]:
    if len(findings) <= EXAMPLES_PER_RULE:
        return findings
    first = findings[EXAMPLES_PER_RULE]
    more = say("and {count} more findings on records", count=len(findings) - EXAMPLES_PER_RULE)
    return [*findings[:EXAMPLES_PER_RULE], replace(first, message=more, column=None, pointer=None)]
