"""Makes copies of AOE results that may be shown to others, and says whether `check` finds the same in them."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from aoe_reports.engine.ask import ask
from aoe_reports.engine.output import write_whole
from aoe_reports.engine.question import Answer, Notes
from aoe_reports.formats.aoe.redaction import Redaction
from aoe_reports.formats.aoe.result_files import kind_of, parse_results, read_bytes
from aoe_reports.formats.aoe.results import Kind
from aoe_reports.formats.ascend.names import parse_name
from aoe_reports.formats.rules import JSON_TOO_LARGE
from aoe_reports.formats.sources.discovery import result_files
from aoe_reports.formats.sources.found import FileName
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import Rows, column, row
from aoe_reports.model.texts import join, say
from aoe_reports.topics.files.check import Check, CheckOptions

_SALT_BYTES = 32
_SHOWN_WORDS = 200


@row
class SharedFile:
    """One result and its copy."""

    path: str = column("Result")
    copy: str = column("Copy")
    renamed: int = column("Names replaced", "integer")
    alike: bool = column("Same findings")


def share_results(paths: Sequence[Path], folder: Path, max_size: int | None = None) -> Answer:
    """Write a copy of every AOE result below some paths into a new folder, its names replaced by hashes."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(say("{folder}: expected a new or an empty folder for the copies", folder=folder))
    notes = Notes()
    rows: list[SharedFile] = []
    kept: set[str] = set()
    salt = secrets.token_bytes(_SALT_BYTES)  # known to nobody afterwards
    for number, (path, name) in enumerate(result_files(paths), start=1):
        with notes.where_unreadable(path):
            text = read_bytes(path, max_size)
            if large := _too_large(path, name, text, max_size):
                notes.take(Notes(large, unreadable=True))
                continue
            redaction = Redaction(salt)
            copy = folder / str(number) / (path.name if parse_name(path.name) else _name_of(kind_of(name)))
            _write(copy, redaction.redact(text))
            kept |= redaction.kept
            alike = _found_in(path, max_size) == _found_in(copy, max_size)
            rows.append(SharedFile(path=str(path), copy=str(copy), renamed=len(redaction.renamed), alike=alike))
    if not rows and not notes.findings:
        raise UsageError(say("check --share: no AOE result below {paths}", paths=join(", ", map(str, paths))))
    return Answer(
        command="check",
        title="Copies without names",
        inputs=tuple(map(str, paths)),
        tables=(Rows(type=SharedFile, rows=rows, sentences=_about(sorted(kept))),),
        more={"kept": sorted(kept)},
        findings=notes.findings,
        unreadable=notes.unreadable,
    )


def _about(kept: Sequence[str]) -> list[str]:
    """A reminder before copies are shared."""
    said: list[str] = [
        say("Read the copies before you send them: names are hashes, numbers and times are as they were.")
    ]
    if not kept:
        return said
    words = join(", ", kept[:_SHOWN_WORDS])
    if len(kept) > _SHOWN_WORDS:
        words = say("{words} and {count} more (`--format json` lists all)", words=words, count=len(kept) - _SHOWN_WORDS)
    return [*said, say("Kept as words of AOE, or types of operators: {words}", words=words)]


def _too_large(path: Path, name: FileName, text: bytes, max_size: int | None) -> list[Finding]:
    findings = parse_results(path, name, text, max_size).findings
    return [finding for finding in findings if finding.rule == JSON_TOO_LARGE.name]


def _name_of(kind: Kind) -> str:
    """A name like AOE's for a file whose own name is none."""
    return f"aoe_result_{kind}_20000101000000000_pid1.json"


def _write(path: Path, text: bytes) -> None:
    try:
        path.parent.mkdir(parents=True)
        write_whole(path, text)
    except OSError as error:
        raise AoeReportsError(
            say("{path}: cannot be written: {why}", path=path, why=error.strerror or error)
        ) from error


def _found_in(path: Path, max_size: int | None) -> Counter[tuple[str, str, int | None]]:
    """What `check` finds in a file: rules, severities, lines."""
    found = ask(Check(), [path], CheckOptions(max_size=max_size)).findings
    return Counter((one.rule, one.severity, one.line) for one in found)
