"""Events of several timelines in one: each keeps to processes and flows of its own, and may be moved in time.

Only the values of `pid`, `id` and `ts` are replaced, and the names of processes; all else is as it stands in the file. Times stay exact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Context, Decimal
from hashlib import blake2b
from itertools import count

from aoe_reports.formats.trace.parser import strict_json
from aoe_reports.formats.trace.walk import as_json, as_text, nanoseconds
from aoe_reports.model.documents import Json, JsonObject, object_of

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]', re.DOTALL)
_IDS = frozenset({b'"id"', b'"bind_id"'})
_SHIFT_DIGITS = 60
_FLOW_DIGITS = 15


@dataclass(slots=True)
class Processes:
    """Numbers for processes that no other one has."""

    taken: set[str | None] = field(default_factory=set)
    """The texts of those that are known."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def take(self, pids: Iterable[Json]) -> None:
        self.taken.update(map(as_text, pids))

    def free(self) -> int:
        """One more."""
        number = next(number for number in self._numbers if str(number) not in self.taken)
        self.taken.add(str(number))
        return number


@dataclass(slots=True)
class Renamed:
    """One timeline among others: what its processes are called there, and how far its events are moved."""

    label: str
    number: int
    """Which of them it is: no two have the same."""
    shift_ns: int = 0
    processes: Processes | None = None
    """Where its processes get their numbers from; None where they keep theirs, and its flows their ids."""
    _pids: dict[str | None, int] = field(default_factory=dict)

    def pid(self, pid: Json) -> Json:
        """The number of one of its processes."""
        if self.processes is None:
            return pid
        key = as_text(pid)
        if key not in self._pids:
            self._pids[key] = self.processes.free()
        return self._pids[key]

    def metadata(self, texts: Iterable[bytes], pids: Iterable[Json]) -> Iterator[bytes]:
        """Its metadata, a line each, and a name for each of some processes that has none."""
        named = set()
        for text in texts:
            event = object_of(strict_json(text))
            if event.get("name") == "process_name":
                named.add(as_text(event.get("pid")))
                args = object_of(event.get("args"))
                args = {**args, "name": f"{self.label}: {as_text(args.get('name'))}"}
                yield as_line({**event, "pid": self.pid(event.get("pid")), "args": args})
            else:
                yield self._event(text)
        for pid in pids:
            if as_text(pid) not in named:
                named.add(as_text(pid))
                yield as_line(name_of("process_name", self.pid(pid), 0, f"{self.label}: {as_text(pid)}"))

    def events(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        if self.processes is None:
            yield from blocks
            return
        for block in blocks:
            yield b"".join(self._event(line) + b"\n" for line in block[:-1].split(b"\n"))

    def _event(self, text: bytes) -> bytes:
        made, done = [], 0
        for key, start, end in members(text):
            value = self._value(key, text[start:end])
            if value is not None:
                made += [text[done:start], value]
                done = end
        return b"".join([*made, text[done:]])

    def _value(self, key: bytes, text: bytes) -> bytes | None:
        """What stands in the place of a value; None where it stays."""
        if self.processes is None:
            return None
        if key == b'"pid"':
            return json.dumps(self.pid(strict_json(text))).encode()
        if key in _IDS:
            digest = blake2b(text, digest_size=8, salt=str(self.number).encode()).hexdigest()
            return json.dumps(digest[:_FLOW_DIGITS]).encode()
        return moved(text, self.shift_ns) if key == b'"ts"' and self.shift_ns else None


def moved(text: bytes, shift_ns: int) -> bytes | None:
    """A time in us, a number or a text, some ns later: exact, in the form that it has; None for what is no time."""
    value = strict_json(text)
    if nanoseconds(value) is None:
        return None
    exact = Context(prec=len(text) + _SHIFT_DIGITS)
    later = format(exact.add(Decimal(value), exact.scaleb(Decimal(shift_ns), -3)), "f")
    return json.dumps(later).encode() if isinstance(value, str) else later.encode()


def members(text: bytes) -> Iterator[tuple[bytes, int, int]]:
    """(key with its quotes, where its value begins, where it ends) of each member of an object, none of what is inside of them."""
    depth = 0
    key: bytes | None = None
    start = 0
    last = b""
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if depth == 1 and mark == b":":
            key, start = last, token.end()
        elif mark in b"{[":
            depth += 1
        elif mark in b"]}":
            depth -= 1
        if key is not None and (depth == 0 or (depth == 1 and mark == b",")):
            yield key, *_without_blanks(text, start, token.start())
            key = None
        last = mark


def _without_blanks(text: bytes, start: int, end: int) -> tuple[int, int]:
    value = text[start:end]
    return start + len(value) - len(value.lstrip()), end - len(value) + len(value.rstrip())


def name_of(what: str, pid: Json, tid: Json, name: str) -> JsonObject:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}


def mark_of(name: str, pid: Json, tid: Json, at_ns: int, args: JsonObject) -> JsonObject:
    ts = f"{at_ns // 1000}.{at_ns % 1000:03d}"
    return {"ph": "i", "s": "t", "name": name, "cat": "finding", "pid": pid, "tid": tid, "ts": ts, "args": args}


def as_line(event: JsonObject) -> bytes:
    return as_json(event).encode("utf-8", "replace") + b"\n"
