"""Every error of this package. What is wrong in a file that can be read is a Finding, not an error."""

from __future__ import annotations

import os
import re
from pathlib import Path

from aoe_reports.model.texts import N_, Text, say

_OF_THE_SYSTEM = frozenset(N_((
    "Bad file descriptor", "Device or resource busy", "Directory not empty", "Disk quota exceeded", "File exists",
    "File name too long", "File too large", "Input/output error", "Invalid argument", "Is a directory",
    "No space left on device", "No such file or directory", "No such device or address", "Not a directory",
    "Operation not permitted", "Permission denied", "Read-only file system", "Resource temporarily unavailable",
    "Stale file handle", "Too many levels of symbolic links", "Too many open files",
    "Transport endpoint is not connected",
)))  # fmt: skip


def of_the_system(words: str) -> str:
    """A message of the operating system, as a text that can be translated where it is a usual one."""
    return say(words) if words in _OF_THE_SYSTEM else words


def reason(error: BaseException) -> str:
    """The first line of what an error of a client of object stores says, and its last cause.

    What a server answered is named by its status and its code alone: the rest of it may tell more of credentials than a log should have.
    """
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    text = str(error)
    status, codes = _STATUS.search(text), _CODE.findall(text)
    if status is not None:
        return ": ".join([status[1], *codes[-1:]])
    first, *others = text.splitlines() or [type(error).__name__]
    causes = codes or [_ESCAPES.sub("", line).strip(" ↳") for line in others if "↳" in line]
    return ": ".join([_TIME.sub("", first.partition("<")[0])[:300], *causes[-1:]])


_STATUS = re.compile(r"status code: (\d{3}[A-Za-z ]{0,40})")
_CODE = re.compile(r"<Code>(\w{1,80})</Code>")
_TIME = re.compile(r" in [\d.]+[nµm]?s\b")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class AoeReportsError(Exception):
    """The parent of every error of this package; `exit_code` is what the command line ends with."""

    exit_code = 3

    def __str__(self) -> str:
        """The message; one that can be translated stays one."""
        return self.args[0] if len(self.args) == 1 and isinstance(self.args[0], Text) else super().__str__()


class ToldWarning(UserWarning):
    """What is said meanwhile, and is no result: the command line prints it on stderr at once."""

    def __str__(self) -> str:
        """The message; one that can be translated stays one."""
        return self.args[0] if len(self.args) == 1 and isinstance(self.args[0], Text) else super().__str__()


class NoticeWarning(ToldWarning):
    """Something worth knowing that changes nothing: a wait, a leftover."""


class LeftOutWarning(ToldWarning):
    """A row of a store, or a value in it, cannot be used, and what is read goes on without it.

    The command line tells each once, and ends with 3.
    """


class UsageError(AoeReportsError):
    """The command cannot mean anything as it was written."""

    exit_code = 2


class ReadError(AoeReportsError):
    """A file or folder cannot be opened or read at all."""

    def __init__(self, path: Path, what: str, expected: str, line: int | None = None) -> None:
        """State where, what is wrong and what was expected."""
        what = of_the_system(what)
        super().__init__(path, what, expected, line)
        self.path, self.what, self.expected, self.line = path, what, expected, line

    def __str__(self) -> str:
        """`<path>: [line n:] <what is wrong>; <what was expected>`."""
        if self.line is not None:
            values = {"path": self.path, "line": self.line, "what": self.what, "expected": self.expected}
            return say("{path}: line {line}: {what}; {expected}", **values)
        return say("{path}: {what}; {expected}", path=self.path, what=self.what, expected=self.expected)


class SchemaMissingError(AoeReportsError):
    """A JSON Schema is neither in the installed package nor in the checkout."""


class StoreError(AoeReportsError):
    """The store cannot be opened, read or written."""


class ForeignStoreError(StoreError):
    """The store was written by a newer version, or is some other table."""


class WorkloadConflictError(StoreError):
    """The same content is already stored under another workload name, or a workload's series would hold two workloads."""

    def __init__(self, path: str, what: str, stored_as: str | None = None) -> None:
        """State which file it is, what is wrong with it, and under which name the same content is stored."""
        super().__init__(say("{path}: {text}", path=path, text=what))
        self.what = what
        self.stored_as = stored_as
