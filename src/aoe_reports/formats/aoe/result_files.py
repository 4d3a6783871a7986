"""Reads an AOE result file: strictly, with every printed digit; what is cut off or broken is said and not used."""

from __future__ import annotations

import hashlib
import os
import stat
from codecs import getincrementaldecoder
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jiter

from aoe_reports.formats.aoe.results import Kind, TuningResult, results_of_document
from aoe_reports.formats.ascend.names import parse_name
from aoe_reports.formats.json.text import explain, recover, with_repeated_keys
from aoe_reports.formats.rules import JSON_DUPLICATE_KEY, JSON_ENCODING, JSON_SYNTAX, JSON_TOO_LARGE, JSON_TRUNCATED
from aoe_reports.formats.sources.found import FileName
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, is_below
from aoe_reports.model.texts import Text, say

MAX_RESULT_BYTES = 256 << 20
"""The largest result file that is read unless told otherwise."""
_RESULT_EXPECTED = say("an AOE result file was expected")

_PIECE = 1 << 24


@dataclass(frozen=True, slots=True)
class ResultFile:
    """One result file: the tasks in it, the document as parsed, and what was found."""

    path: Path
    name: FileName
    results: tuple[TuningResult, ...]
    document: Any
    findings: tuple[Finding, ...]
    sha256: str
    parsed: bool
    """Whether `document` is what the text says: all of it, or of a text that was cut off what is certainly whole."""
    text: bytes = field(default=b"", repr=False)
    """The document's text as UTF-8."""

    @property
    def kind(self) -> Kind:
        """Whether it is of operators or of subgraphs, by its name: the schema that it has to fit."""
        return kind_of(self.name)

    @property
    def truncated(self) -> bool:
        """Whether the file ended before its document did."""
        return any(finding.rule == JSON_TRUNCATED.name for finding in self.findings)


def read_results(path: Path, name: FileName | None = None, *, max_bytes: int | None = None) -> ResultFile:
    """The tuning tasks of a result file of at most `max_bytes` (MAX_RESULT_BYTES unless told).

    Without `name` the file's own tells whether it is of operators (opat) or subgraphs (sgat). Damage is in the
    findings; ReadError only where the file cannot be opened.
    """
    path = path_of(path)
    data = read_bytes(path, max_bytes)
    return parse_results(path, name or _name_of(path, data), data, max_bytes)


def read_bytes(path: Path, max_bytes: int | None = None, expected: str = _RESULT_EXPECTED) -> bytes:
    """A regular file's bytes, one more than `max_bytes` at most; ReadError for what cannot be read, pipes included."""
    limit = (max_bytes or MAX_RESULT_BYTES) + 1
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not make us wait
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise ReadError(path, say("not a file"), expected)
            data = os.read(handle, min(limit, status.st_size + 1))
            if len(data) != status.st_size:
                while len(data) < limit and (more := os.read(handle, min(limit - len(data), _PIECE))):
                    data += more  # larger than one call reads, or it grew meanwhile
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise ReadError(path, what, expected) from error
    return data


def parse_results(path: Path, name: FileName, data: bytes, max_bytes: int | None = None) -> ResultFile:
    """As `read_results`, of bytes that were read already."""
    sha256 = hashlib.sha256(data).hexdigest()
    limit = max_bytes or MAX_RESULT_BYTES
    if len(data) > limit:
        message = say("at most {limit} bytes are read; this file is larger", limit=limit)
        finding = JSON_TOO_LARGE.found(str(path), message)
        return ResultFile(path, name, (), None, (finding,), sha256, parsed=False)
    findings: list[Finding] = []
    text = as_utf8(path, data, findings)
    parsed, document, cut = parse_json(path, text, findings, say("task"))
    repeated = [finding.pointer for finding in findings if finding.rule == JSON_DUPLICATE_KEY.name]
    results = tuple(
        replace(
            result,
            truncated=is_below(cut, result.pointer),
            ambiguous=any(place is None or is_below(place, result.pointer) for place in repeated),
        )
        for result in results_of_document(document, kind_of(name))
    )
    return ResultFile(
        path=path,
        name=name,
        results=results,
        document=document,
        findings=tuple(findings),
        sha256=sha256,
        parsed=parsed,
        text=text,
    )


def kind_of(name: FileName) -> Kind:
    """Whether a result file of this name is of operators or of subgraphs."""
    return "sgat" if name.kind == "sgat" else "opat"


def _name_of(path: Path, data: bytes) -> FileName:
    """What the file's name tells, or else its words."""
    name = parse_name(path.name)
    if name is not None and name.source == "aoe":
        return name
    return FileName("sgat" if b'"SGAT"' in data else "opat", "json", "aoe")


def as_utf8(path: Path, data: bytes, findings: list[Finding]) -> bytes:
    """A JSON text as UTF-8 without a byte order mark; GB18030 is recoded, and said."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.end == len(data) and error.reason == "unexpected end of data":
            return data  # cut off inside of a character
        line = data.count(b"\n", 0, error.start) + 1
        try:
            text = getincrementaldecoder("gb18030")().decode(data)  # a character that was cut off is left out
        except UnicodeDecodeError:
            return data  # the parser says what it is
        findings.append(JSON_ENCODING.found(str(path), say("not UTF-8; read as GB18030"), line))
        return text.encode()
    return data


def parse_floats(data: bytes) -> Any:
    """The document of a JSON text with floats for numbers with a point: quick, and with whole numbers exact.

    ValueError for what is no JSON in UTF-8 (a byte order mark is none), and where a key stands twice in an object.
    """
    return jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")


def parse_json(path: Path, data: bytes, findings: list[Finding], part: str) -> tuple[bool, Any, str | None]:
    """(whether there is a document, the document, the pointer of where it was cut off); `part` is what it has several of."""
    try:
        return True, _parse_exactly(data, unique=True), None
    except ValueError as error:
        message = str(error)
    if message.startswith("Detected duplicate key"):
        try:
            _parse_exactly(data, unique=False)
        except ValueError as error:  # there is damage behind the key
            message = str(error)
        else:
            document, twice = with_repeated_keys(data)
            findings += _said_of_duplicates(path, twice)
            return True, document, None
    if message.startswith("EOF"):
        return _parse_cut(path, data, findings, part)
    wrong = explain(message, data)
    text = say("not JSON: {why}; none of this file is used", why=wrong.message)
    findings.append(JSON_SYNTAX.found(str(path), text, wrong.line, wrong.column))
    return False, None, None


def _parse_exactly(data: bytes, *, unique: bool) -> Any:
    return jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=unique, float_mode="decimal")


def _parse_cut(path: Path, data: bytes, findings: list[Finding], part: str) -> tuple[bool, Any, str | None]:
    """What a text that was cut off certainly says."""
    if not data.strip():
        findings.append(JSON_TRUNCATED.found(str(path), say("the file is empty; it is not used"), 1))
        return False, None, None
    recovered = recover(data)
    document = with_repeated_keys(recovered.text)[0] if recovered.text else None
    text = say(
        "the text ends before the document does (still being written, or truncated); everything complete up to "
        "there is read; no number of the unfinished {part} is used",
        part=part,
    )
    findings.append(JSON_TRUNCATED.found(str(path), text, recovered.line, recovered.column))
    return bool(document), document or None, recovered.inside


def _said_of_duplicates(path: Path, found: Sequence[tuple[str, str, int, int]]) -> list[Finding]:
    def message(key: str) -> Text:
        return say(
            "the key {key!r} occurs more than once in one object; all are read (no number of a task that "
            "contains a repeated key is used)",
            key=key[:200],
        )

    said = [
        JSON_DUPLICATE_KEY.found(str(path), message(key), line, column, pointer=pointer)
        for pointer, key, line, column in found[:EXAMPLES_PER_RULE]
    ]
    if len(found) > EXAMPLES_PER_RULE:
        more = say("and {count} more keys that appear more than once", count=len(found) - EXAMPLES_PER_RULE)
        said.append(JSON_DUPLICATE_KEY.found(str(path), more))
    return said
