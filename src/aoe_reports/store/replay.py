"""What the log says one commit after the other, held against itself: each commit against the next, checkpoints against both."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import reason
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.store.commits import Commit, commit_path, path_of, read_commit
from aoe_reports.store.digest import digest_of
from aoe_reports.store.parts import Folder
from aoe_reports.store.rules import STORE_LOG, STORE_NOT_COVERED, STORE_UNREADABLE

_COMMIT = re.compile(r"_delta_log/(\d{20})\.json")
_CHECKPOINT = re.compile(r"_delta_log/(\d{20})\.checkpoint.*\.parquet")
_WHOLE_CHECKPOINT = re.compile(r"_delta_log/\d{20}\.checkpoint\.parquet")
_HINT = "_delta_log/_last_checkpoint"

Lines = dict[bytes, bytes]
"""For the path of each file in force all that the log says of it."""


def versions_in(folder: Folder) -> list[int]:
    """The commits that lie in the log."""
    return sorted(int(match[1]) for info in folder.listed("_delta_log") if (match := _COMMIT.fullmatch(info.path)))


@dataclass(slots=True)
class Replay:
    """The log, gone through from its first commit that is still there."""

    folder: Folder
    findings: list[Finding] = field(default_factory=list)
    uncovered: list[int] = field(default_factory=list)
    """Commits that do not say what is in force after them."""
    after: dict[int, Lines] = field(default_factory=dict)
    """What was in force after the commits that are asked for."""
    _lines: Lines | None = None
    """What is in force; None where it cannot be known."""
    _differs: bool = False
    _last: tuple[int, Commit] | None = None
    _description: JsonObject | None = None

    def run(self, asked: int) -> None:
        """Go through all, and keep what was in force after one of the commits."""
        checkpoints: dict[int, list[str]] = {}
        for info in self.folder.listed("_delta_log"):
            if match := _CHECKPOINT.fullmatch(info.path):
                checkpoints.setdefault(int(match[1]), []).append(info.path)
        commits = versions_in(self.folder)
        if commits[:1] == [0]:
            self._lines = {}
        for version in sorted({*commits, *checkpoints}):
            if version in commits:
                self._go_over_gap(version)
                self._take_commit(version)
            for path in checkpoints.get(version, ()):
                self._take_checkpoint(path)
            if version == asked and self._lines is not None:
                self.after[version] = dict(self._lines)
        self._check_hint()

    def _go_over_gap(self, version: int) -> None:
        if self._last is not None and version != self._last[0] + 1:
            self._tell(commit_path(self._last[0] + 1), say("this commit is missing"))
            self._lines = self._last = None

    def _take_commit(self, version: int) -> None:
        path = commit_path(version)
        content = self._content(path)
        if content is None:
            self._lines = self._last = None
            return
        commit = read_commit(content.to_pybytes())
        if self._last is not None and commit.previous not in {None, self._last[1].sha256}:
            self._tell(
                commit_path(self._last[0]),
                say("this commit differs from what was written: the next commit records a different hash"),
            )
        self._last = version, commit
        if commit.problem:
            self._tell(path, commit.problem)
            self._lines = None
            return
        self._description = self._description_of(commit.description) or self._description
        self._apply(path, commit)
        if commit.in_force is None:
            self.uncovered.append(version)
        elif self._lines is not None:
            self._hold(path, commit.in_force)

    def _apply(self, path: str, commit: Commit) -> None:
        if self._lines is None:
            return
        try:
            added, gone = commit.lines(), {path_of(remove) for remove in commit.removes}
        except (ValueError, TypeError, LookupError, AttributeError):
            self._tell(path, say("the description of a file in this commit cannot be interpreted"))
            self._lines = None
            return
        for name in sorted(gone - set(self._lines)):
            self._tell(path, say("it removes {name}, which does not exist", name=_shown(name)))
        for name in sorted(set(added) & set(self._lines)) if commit.in_force else ():
            self._tell(path, say("it adds {name}, which already exists", name=_shown(name)))
        self._lines = {name: line for name, line in self._lines.items() if name not in gone} | added

    def _hold(self, path: str, told: str) -> None:
        """A change in the log persists through all later commits: it is reported once."""
        differs = self._lines is not None and digest_of(self._lines.values()) != told
        if differs and not self._differs:
            self._tell(
                path,
                say(
                    "the files active after this commit differ from those that it states: this commit or an "
                    "earlier one is damaged"
                ),
            )
        self._differs = differs

    def _take_checkpoint(self, path: str) -> None:
        content = self._content(path)
        if content is None:
            return
        try:
            table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True, use_threads=False)
            lines = _lines_in(table) if _WHOLE_CHECKPOINT.fullmatch(path) else None
            descriptions = [row for row in table["metaData"].to_pylist() if row] if lines is not None else []
        except (OSError, ValueError, TypeError, LookupError, AttributeError, pa.ArrowException) as error:
            self._tell(path, reason(error))
            return
        if lines is None:
            return  # one of several pieces, as other programs write them
        if self._lines is None:
            self._lines = lines
        elif lines != self._lines:
            self._tell(path, say("the files in this checkpoint differ from those stated by the commits up to it"))
        if self._description and [self._description_of(row) for row in descriptions] != [self._description]:
            self._tell(path, say("this checkpoint describes the table differently from the commits up to it"))

    @staticmethod
    def _description_of(told: Any) -> JsonObject | None:
        if not isinstance(told, dict):
            return None
        return {
            **{name: told.get(name) for name in ("id", "name", "description", "schemaString", "partitionColumns")},
            "configuration": dict(told.get("configuration") or ()),
        }

    def _check_hint(self) -> None:
        """Where Delta looks first for the last checkpoint."""
        hints = [info.path for info in self.folder.listed("_delta_log") if info.path == _HINT]
        for path in hints:
            content = self._content(path)
            if content is not None and not self._leads_to_a_checkpoint(content.to_pybytes()):
                self._tell(path, say("the checkpoint that it names does not exist or does not match its description"))

    def _leads_to_a_checkpoint(self, content: bytes) -> bool:
        try:
            hint = json.loads(content)
            if "parts" in hint or hint.get("v2Checkpoint"):
                return True  # as other programs write them
            path = f"_delta_log/{hint['version']:020}.checkpoint.parquet"
            (found,) = (info for info in self.folder.listed("_delta_log") if info.path == path)
            data = pq.read_table(pa.BufferReader(self.folder.content(path)), columns=["add"], use_threads=False)
            files = sum(add is not None for add in data["add"].to_pylist())
            told = {"size": data.num_rows, "sizeInBytes": found.size, "numOfAddFiles": files}
        except (OSError, ValueError, TypeError, LookupError, AttributeError, pa.ArrowException):
            return False
        return all(hint.get(name, value) == value for name, value in told.items())

    def _content(self, path: str) -> pa.Buffer | None:
        try:
            return self.folder.content(path)
        except OSError as error:
            refused = error.errno is not None
            self.findings.append(
                (STORE_UNREADABLE if refused else STORE_LOG).found(f"{self.folder.uri}/{path}", reason(error))
            )
            return None

    def _tell(self, path: str, message: str) -> None:
        self.findings.append(STORE_LOG.found(f"{self.folder.uri}/{path}", message))


def _lines_in(checkpoint: pa.Table) -> Lines:
    """The state of each active file by a checkpoint."""
    adds = [
        {**add, "partitionValues": dict(add["partitionValues"])}
        for add in checkpoint["add"].to_pylist()
        if add is not None
    ]
    return Commit("", adds).lines()


def _shown(name: bytes) -> str:
    return name.decode(errors="replace")


def not_covered(folder: Folder, versions: list[int]) -> Iterator[Finding]:
    """A note of the commits that say nothing of what is in force after them."""
    if versions:
        message = say(
            "{count} commits (the last is {version}) were written by an older version or another program: they "
            "do not record which files are active after them, so not every change in the log up to there can be "
            "detected",
            count=len(versions),
            version=versions[-1],
        )
        yield STORE_NOT_COVERED.found(f"{folder.uri}/_delta_log", message)
