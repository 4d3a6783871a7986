"""Which operators CANN found in a bank, as it says in its log (plog) when it compiles them.

| line | who writes it (graph engine of CANN, files as of 2026) |
|---|---|
| `[op_kb_hit][operator][flag][kernel]` | tbe_json_parse.cc, level INFO; flag 1: found, 0: not, -1: not counted |
| `[op_kb_hit][operator][flag][type]` of `GetTuneKnowledgeResult` | op_compiler_format_tune.cpp, level DEBUG: another search, for formats |
| `[sg_kb_hit][graph][flag]` | lxfusion_optimizer.cpp, level INFO; flag 169738280: found, 169738250: not |

Before them stands `[INFO] FE(pid,process):time`. The operator has the numbers of session and graph before its name: `0_1_conv1`.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, cast

from aoe_reports.formats.aoe.results import join_name
from aoe_reports.formats.sources.identify import NEVER_WRITTEN, is_sparse
from aoe_reports.model.errors import ReadError, of_the_system
from aoe_reports.model.texts import say

SearchedFor = Literal["operator", "subgraph", "format"]
"""What was looked up; `format`: of an operator, which formats suit it, in a bank of its own."""
BankHit = Literal["hit", "missed", "mixed", "not-counted"]
"""Whether it was found in a bank; `mixed`: some lines say so, others the contrary."""

MAX_FILES = 10_000
"""So many logs are read of one folder."""
MAX_SEARCHES = 200_000
"""So many operators and subgraphs are told apart in one reading."""
_MAX_LINE = 1 << 16
"""CANN cuts its lines after 1 KiB."""
_MAX_EXPANDED = 1 << 30
_FOUND, _NOT_FOUND = "169738280", "169738250"
_PLOG = re.compile(r"plog-\d{1,10}_\d{8,20}\.log(?:\.\d{1,4})?(?:\.gz)?", re.ASCII)
_PROCESS = re.compile(rb"FE\((\d{1,10}),")
_OPERATOR = re.compile(r"\[op_kb_hit\]\[(.*)\]\[(-?\d{1,9})\]\[([^\[\]]*)(?:\]|$)", re.DOTALL)
_SUBGRAPH = re.compile(r"\[sg_kb_hit\]\[(.*)\]\[(\d{1,10})\]", re.DOTALL)
_OF_FORMATS = b"GetTuneKnowledgeResult"
_GRAPH = re.compile(r"(-?\d{1,19}_-?\d{1,19})_(?=.)", re.ASCII)
_OF_FLAG: dict[str, BankHit] = {"1": "hit", "0": "missed", "-1": "not-counted", _FOUND: "hit", _NOT_FOUND: "missed"}
_MARKS = (b"[op_kb_hit]", b"[sg_kb_hit]")
_ACROSS = max(map(len, _MARKS)) - 1
_SUFFIX = 2
"""Words at the end of a kernel's name that are hashes."""


@dataclass(frozen=True, slots=True)
class Searched:
    """An operator or a subgraph that one process looked for in the banks."""

    kind: SearchedFor
    name: str
    """Without the numbers of session and graph, and without `_OPAT_<n>`."""
    process: int
    graph: str | None
    """Numbers of session and graph; null where the line has none."""


@dataclass(slots=True)
class SearchLines:
    """What the lines on one of them say; its kernel is that of the last one."""

    hits: Counter[BankHit] = field(default_factory=Counter)
    kernel: str | None = None

    @property
    def status(self) -> BankHit:
        """What they say together; lines that do not count contradict none."""
        return hit_of(self.hits)


@dataclass(slots=True)
class BankLogs:
    """What some logs say, and what of them cannot be used."""

    searches: dict[Searched, SearchLines] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    """The logs that were read."""
    damaged: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """(how many lines on banks of a log cannot be read, the number of the first)."""
    left_out: int = 0
    """Lines on more operators than MAX_SEARCHES."""


def hit_of(hits: Counter[BankHit]) -> BankHit:
    """What several statements on one operator come to."""
    if hits["mixed"] or (hits["hit"] and hits["missed"]):
        return "mixed"
    return "hit" if hits["hit"] else "missed" if hits["missed"] else "not-counted"


def logs_below(place: Path) -> list[Path]:
    """The logs of CANN in a folder and those below it, by name; a file is itself one. Raises OSError, ReadError."""
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise ReadError(
            place, say("no such file or folder"), say("a log of CANN (plog) or a folder of such was expected")
        )
    found: list[Path] = []
    for folder, folders, names in os.walk(place, onerror=_raised):
        folders.sort()
        found += [path for name in sorted(names) if _PLOG.fullmatch(name) and (path := Path(folder, name)).is_file()]
        if len(found) > MAX_FILES:
            expected = say("a folder of one measurement was expected")
            raise ReadError(place, say("more than {count:,} logs", count=MAX_FILES), expected)
    return found


def _raised(error: OSError) -> None:
    raise error


def read_bank_logs(places: Sequence[Path]) -> BankLogs:
    """What logs say of banks. Raises ReadError where one cannot be read."""
    logs = BankLogs()
    for place in places:
        try:
            paths = logs_below(place)
        except OSError as error:
            raise _unreadable(place, error) from error
        for path in paths:
            if path not in logs.files:
                logs.files.append(path)
                _read(path, logs)
    return logs


def _unreadable(path: Path, error: OSError | EOFError | zlib.error) -> ReadError:
    why = error.strerror if isinstance(error, OSError) else None
    return ReadError(path, of_the_system(why or str(error)), say("a readable log was expected"))


def _read(path: Path, logs: BankLogs) -> None:
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as packed:
                _read_lines(path, cast("IO[bytes]", packed), logs, most=_MAX_EXPANDED)
            return
        if is_sparse(path, path.stat().st_size):
            raise ReadError(path, NEVER_WRITTEN, say("a readable log was expected"))
        with path.open("rb") as file:
            _read_lines(path, file, logs, most=None)
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from error


def _read_lines(path: Path, file: IO[bytes], logs: BankLogs, *, most: int | None) -> None:
    for number, line in _lines(path, file, most):
        found = _search_of(line)
        if found is None:
            count, first = logs.damaged.get(path, (0, number))
            logs.damaged[path] = (count + 1, first)
            continue
        searched, hit, kernel = found
        lines = logs.searches.get(searched)
        if lines is None:
            if len(logs.searches) >= MAX_SEARCHES:
                logs.left_out += 1
                continue
            lines = logs.searches[searched] = SearchLines()
        lines.hits[hit] += 1
        lines.kernel = kernel


def _lines(path: Path, file: IO[bytes], most: int | None) -> Iterator[tuple[int, bytes | None]]:
    """(number, line) of the lines on banks; null for one that is longer than CANN writes any."""
    number = read = 0
    while line := file.readline(_MAX_LINE):
        number += 1
        has_mark, is_long = any(mark in line for mark in _MARKS), False
        while not line.endswith(b"\n") and (more := file.readline(_MAX_LINE)):
            read += len(line)
            is_long = True
            line = line[-_ACROSS:] + more  # a mark may lie across the border
            has_mark = has_mark or any(mark in line for mark in _MARKS)
            _see_that_it_ends(path, read, most)
        read += len(line)
        _see_that_it_ends(path, read, most)
        if has_mark:
            yield number, None if is_long else line


def _see_that_it_ends(path: Path, read: int, most: int | None) -> None:
    if most is not None and read > most:
        raise ReadError(path, say("expands to more than {limit:,} bytes", limit=most), say("unpack the log first"))


def _search_of(line: bytes | None) -> tuple[Searched, BankHit, str | None] | None:
    """(what was looked for, whether it was found, its kernel); None for a line of another form."""
    if line is None or sum(map(line.count, _MARKS)) != 1:
        return None
    at = max(map(line.find, _MARKS))
    processes = _PROCESS.findall(line, 0, at)
    text = _as_text(line[at:].rstrip(b"\r\n"))
    found = _OPERATOR.match(text) or _SUBGRAPH.match(text)
    if not processes or found is None or (hit := _OF_FLAG.get(found[2])) is None or not found[1]:
        return None
    process = int(processes[-1])
    if found.re is _SUBGRAPH:
        return Searched("subgraph", found[1], process, None), hit, None
    if _OF_FORMATS in line[:at]:
        return Searched("format", found[1], process, None), hit, None
    graph = _GRAPH.match(found[1])
    name = found[1] if graph is None else found[1][graph.end() :]
    return Searched("operator", join_name(name), process, None if graph is None else graph[1]), hit, found[3] or None


def _as_text(line: bytes) -> str:
    """CANN writes names as it is given them: UTF-8, or single bytes."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def fused_types(kernel: str) -> str:
    """The types of the operators that a kernel runs, as its name has them: `te_fused_op_add_mul_<hash>_1`."""
    words = kernel.split("__", maxsplit=1)[0].split("_")
    first = 3 if kernel.startswith("te_fused_op") else 1 if words[0] == "te" else 0
    return "_".join(words[first:-_SUFFIX])
