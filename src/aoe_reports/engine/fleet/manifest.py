"""A question written down before anything is read: shares of it are mapped wherever there is room, and reduced where the answer is wanted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from aoe_reports.engine.ask import Progress, answer_to, lost, no_progress, reading_of, request_of, with_progress
from aoe_reports.engine.fleet.executors import Executor
from aoe_reports.engine.fleet.frozen import freeze, thaw
from aoe_reports.engine.fleet.partials import Keys, Partials, UnitResult, is_readable
from aoe_reports.engine.output import write_whole
from aoe_reports.engine.question import Answer, CaptureOptions, Notes, Question, Reading, Request, RunOptions
from aoe_reports.formats.rules import UNREADABLE
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.model.classes import record
from aoe_reports.model.errors import AoeReportsError, ReadError, UsageError
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import count_of, join, say
from aoe_reports.model.version import __version__

O = TypeVar("O", bound=RunOptions)  # noqa: E741 -- options
MAX_BYTES = 1 << 30
"""A manifest that is larger is not read: 12 kB a rank of one with many files make 80,000 ranks."""
NAMED_MISSING = 5
"""How many units are named that nobody has mapped."""


@record
class Manifest:
    """A question, what it is asked of, and the key of each unit."""

    question: str
    version: str
    asked: Request[Any]
    keys: tuple[str, ...]
    digest: str = ""
    """Of the text without it: where units have gone from that, no key tells."""


@record
class Share:
    """Which units of a manifest are somebody's: every `of`-th, counted from `number` (the first is 1)."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Share:
        """A share as the command line has it: `2/8`."""
        found = _SHARE.fullmatch(text)
        if found is None or not 1 <= int(found["number"]) <= int(found["of"]):
            raise UsageError(say("--shard {text}: expected I/N with I from 1 to N", text=text[:_SHARE_SHOWN]))
        return cls(number=int(found["number"]), of=int(found["of"]))

    def among(self, units: Sequence[Any]) -> Sequence[Any]:
        return units[self.number - 1 :: self.of]


_SHARE = re.compile(r"(?P<number>[0-9]{1,9})/(?P<of>[0-9]{1,9})")
_SHARE_SHOWN = 40


@row
class Mapped:
    """One unit that was mapped: how much of it there is, the key of its partial result, and whether that was there before."""

    path: str = column("Path")
    ranks: list[int] = column("Ranks")
    captures: int = column()
    files: int = column("Files", "integer")
    bytes: int = column("Bytes", "integer")
    key: str = column()
    outcome: str = column("Outcome", "state")
    """read, kept (it was there) or unreadable."""
    reason: str | None = column("Reason", "sentence")
    """Why it is unreadable."""


def manifest_of(
    question: Question[O, Any], paths: Sequence[Path], chosen: O, *, progress: Progress = no_progress
) -> Manifest:
    """What a question is asked of, before any capture is read."""
    whole = [path_of(path).absolute() for path in paths]  # jobs run in folders of their own
    asked = request_of(question, whole, chosen, progress=progress)
    keys = Keys(question.name, asked)
    return Manifest(
        question=question.name, version=__version__, asked=asked, keys=tuple(keys.of(unit) for unit in asked.units)
    )


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a manifest, whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, _with_digest(freeze(manifest).encode("ascii")))
    except OSError as error:
        raise AoeReportsError(
            say("{path}: cannot be written: {why}", path=path, why=error.strerror or error)
        ) from error


def read_manifest(path: Path) -> Manifest:
    """A manifest that this version has written."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES)
            found = thaw(text)
    except OSError as error:
        raise ReadError(path, error.strerror or str(error), say("a manifest was expected")) from error
    except ValueError as error:
        raise ReadError(path, say("damaged, or no manifest"), say("a manifest was expected")) from error
    if not (isinstance(found, Manifest) and _is_whole(found)):
        raise ReadError(path, say("no manifest"), say("a manifest was expected"))
    if found.version != __version__:
        raise UsageError(
            say("{path}: of version {theirs}, this is {ours}", path=path, theirs=found.version, ours=__version__)
        )
    if text != _with_digest(text.rpartition(_DIGEST)[0] + _DIGEST + b'"}'):
        raise ReadError(path, say("has been changed since it was written"), say("a manifest was expected"))
    return found


_DIGEST = b'"digest":"'


def _with_digest(text: bytes) -> bytes:
    """The text of a manifest, of which it is the last field, with its digest."""
    return text.removesuffix(b'"}') + sha256(text).hexdigest().encode("ascii") + b'"}'


def _is_whole(manifest: Manifest) -> bool:
    """Whether a manifest is what `manifest_of` makes; its keys name files."""
    asked: Any = manifest.asked
    return (
        isinstance(asked, Request)
        and isinstance(asked.options, RunOptions)
        and isinstance(asked.notes, Notes)
        and isinstance(asked.units, list | tuple)
        and all(hasattr(unit, "path") for unit in asked.units)
        and isinstance(manifest.question, str)
        and isinstance(manifest.keys, tuple)
        and len(manifest.keys) == len(asked.units)
        and all(isinstance(key, str) and _KEY.fullmatch(key) for key in manifest.keys)
    )


_KEY = re.compile(r"[0-9a-f]{64}")


def map_share(
    question: Question[Any, Any],
    manifest: Manifest,
    share: Share,
    partials: Partials,
    *,
    executor: Executor,
    progress: Progress = no_progress,
) -> list[Mapped]:
    """Read the units of a share that nobody has read yet, and keep what each hands on; what cannot be read is kept, too."""
    asked, keys = manifest.asked, Keys(manifest.question, manifest.asked)
    if isinstance(asked.options, CaptureOptions):  # kept where the share says, and nowhere else
        asked = replace(asked, options=replace(asked.options, cache=None))
    mine = list(share.among(list(zip(asked.units, manifest.keys, strict=True))))
    units = [unit for unit, _ in mine]
    mapping = MapUnit(read=reading_of(question, asked), partials=partials, keys=keys)
    results = with_progress(executor.map(mapping, mine), units, progress)
    rows = []
    for (unit, key), result in zip(mine, results, strict=True):
        outcome, reason = result or _lost(unit, key, partials)
        rows.append(_mapped(unit, key, outcome, reason))
    return rows


def _lost(unit: Any, key: str, partials: Partials) -> tuple[str, str]:
    """(what came of a unit whose process was killed, and the reason), which is kept, too."""
    notes = Notes()
    notes.failed(unit.path, lost())
    partials.save(key, (None, notes))
    return "unreadable", notes.findings[-1].message


def _mapped(unit: Any, key: str, outcome: str, reason: str | None) -> Mapped:
    captures = unit.captures if hasattr(unit, "captures") else [unit.capture]
    files = [file for capture in captures for file in capture.files]
    return Mapped(
        path=unit.path,
        ranks=sorted({rank for capture in captures for rank in capture.info.every_rank}),
        captures=len(captures),
        files=len(files),
        bytes=sum(file.size for file in files),
        key=key,
        outcome=outcome,
        reason=reason,
    )


def headline_of(rows: Sequence[Mapped]) -> str:
    """How much was read, how much was there before, and what is left out, and why."""
    taken = [row for row in rows if row.outcome != "unreadable"]
    left_out = [row for row in rows if row.outcome == "unreadable"]
    kept = sum(row.captures for row in taken if row.outcome == "kept")
    ranks, whole = len({rank for row in taken for rank in row.ranks}), sum(row.bytes for row in taken)
    size, unit = next(one for one in _BYTE_UNITS if max(whole, 1) >= one[0])
    return say(
        "{captures}{ranks} mapped ({files}, {size:,.4g} {unit}{kept}); left out: {left_out}.",
        captures=count_of(sum(row.captures for row in taken), "{number} capture", "{number} captures"),
        ranks=count_of(ranks, " of {number} rank", " of {number} ranks") if ranks else "",
        files=count_of(sum(row.files for row in taken), "{number} file", "{number} files"),
        size=whole / size,
        unit=unit,
        kept=say("; {count:,} by an earlier job", count=kept) if kept else "",
        left_out=_left_out(left_out) if left_out else say("none"),
    )


def _left_out(rows: Sequence[Mapped]) -> str:
    """How many captures are left out, and the most frequent reason."""
    count = sum(row.captures for row in rows)
    reasons = Counter(row.reason for row in rows if row.reason).most_common(1)
    return say("{count:,} ({reason})", count=count, reason=reasons[0][0]) if reasons else say("{count:,}", count=count)


_BYTE_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "bytes"))


@record
class MapUnit:
    """What maps one unit, in any process."""

    read: Any
    partials: Partials
    keys: Keys

    def __call__(self, pair: tuple[Any, str]) -> tuple[str, str | None]:
        """(what came of a unit and its key, why it is unreadable)."""
        unit, key = pair
        self._check(unit, key)
        kept = self.partials.load(key)
        if kept is not None and is_readable(kept):
            return "kept", None
        result: UnitResult = self.read(unit)
        self._check(unit, key)  # while it was read, too
        self.partials.save(key, result)
        if is_readable(result):
            return "read", None
        reasons = [finding.message for finding in result[1].findings if finding.rule == UNREADABLE.name]
        return "unreadable", next(iter(reasons), None)

    def _check(self, unit: Any, key: str) -> None:
        if self.keys.of(unit) != key:
            raise AoeReportsError(say("{path}: has changed since the manifest was written", path=unit.path))


def reduce(question: Question[Any, Any], manifest: Manifest, partials: Partials) -> Answer:
    """The answer that partial results come to; nothing but them is read. AoeReportsError where some are missing."""
    asked = manifest.asked
    kept = partials.kept(manifest.keys)
    missing = [unit.path for unit, key in zip(asked.units, manifest.keys, strict=True) if key not in kept]
    if missing:
        raise AoeReportsError(
            say(
                "{place}: {missing:,} of {count:,} units are not mapped: {paths}",
                place=partials.where,
                missing=len(missing),
                count=len(asked.units),
                paths=join(", ", missing[:NAMED_MISSING]),
            )
        )
    return answer_to(question, Reading(asked, _kept(manifest, partials)))


def _kept(manifest: Manifest, partials: Partials) -> Iterator[tuple[Any, Any]]:
    asked = manifest.asked
    for unit, key in zip(asked.units, manifest.keys, strict=True):
        result = partials.load(key)
        if result is None:
            raise AoeReportsError(say("{path}: its partial result is damaged: map it again", path=unit.path))
        part, notes = result
        asked.notes.take(notes)
        if part is not None:
            yield unit, part[0]
