"""Makes copies of AOE results that may be shown to others, and says whether `check` finds the same in them."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from aoe_reports.engine.ask import ask
from aoe_reports.engine.output import write_whole
from aoe_reports.engine.question import Answer
from aoe_reports.formats.aoe.redaction import Redaction
from aoe_reports.formats.aoe.result_files import MAX_RESULT_BYTES, kind_of, read_bytes
from aoe_reports.formats.ascend.names import parse_name
from aoe_reports.formats.discovery import result_files
from aoe_reports.formats.rules import JSON_TOO_LARGE, UNREADABLE
from aoe_reports.model.errors import AoeReportsError, ReadError, UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import Rows, column, row
from aoe_reports.model.texts import join, say
from aoe_reports.questions.check import Check, CheckOptions

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
    findings: list[Finding] = []
    rows: list[SharedFile] = []
    kept: set[str] = set()
    salt = secrets.token_bytes(_SALT_BYTES)  # known to nobody afterwards
    for number, (path, name) in enumerate(result_files(paths), start=1):
        redaction = Redaction(salt)
        try:
            text = read_bytes(path, max_size)
        except ReadError as error:
            findings.append(UNREADABLE.found(str(path), error.what))
            continue
        if len(text) > (max_size or MAX_RESULT_BYTES):
            findings.append(
                JSON_TOO_LARGE.found(
                    str(path),
                    say("at most {limit} bytes are read; this file is larger", limit=max_size or MAX_RESULT_BYTES),
                )
            )
            continue
        known = parse_name(path.name)
        copy = (
            folder
            / str(number)
            / (path.name if known is not None else f"aoe_result_{kind_of(name)}_20000101000000000_pid1.json")
        )
        _write(copy, redaction.redact(text))
        kept |= redaction.kept
        alike = _found_in(path) == _found_in(copy)
        rows.append(SharedFile(path=str(path), copy=str(copy), renamed=len(redaction.renamed), alike=alike))
    if not rows and not findings:
        raise UsageError(say("check --share: no AOE result below {paths}", paths=join(", ", map(str, paths))))
    words = sorted(kept)
    about = [say("Read the copies before you send them: names are hashes, numbers and times are as they were.")]
    if words:
        about.append(
            say("Kept as words of AOE, or types of operators: {words}", words=join(", ", words[:_SHOWN_WORDS]))
        )
    table = Rows(type=SharedFile, rows=rows, sentences=about)
    return Answer(
        command="check",
        title="Copies without names",
        inputs=tuple(map(str, paths)),
        tables=(table,),
        findings=findings,
        unreadable=bool(findings),
    )


def _write(path: Path, text: bytes) -> None:
    try:
        path.parent.mkdir(parents=True)
        write_whole(path, text)
    except OSError as error:
        raise AoeReportsError(
            say("{path}: cannot be written: {why}", path=path, why=error.strerror or error)
        ) from error


def _found_in(path: Path) -> Counter[tuple[str, str, int | None]]:
    """What `check` finds in a file: rules, severities, lines."""
    return Counter((one.rule, one.severity, one.line) for one in ask(Check(), [path], CheckOptions()).findings)
