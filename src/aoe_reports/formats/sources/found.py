"""FileName and FoundFile: what the name of a file tells, and where a file of ours lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Writer = str
"""Who wrote a file: a profiler of a vendor, `aoe`, TUNER, or `foreign`: any tool that writes benchmark log records (schema v0.1)."""
TUNER = "tuner"
"""One of those in `formats.tuner_files`."""
Form = Literal["csv", "json", "db", "txt", "parquet", "pickle", "pb"]


@dataclass(frozen=True, slots=True)
class FileName:
    """What a file's name tells: kind, form, and where the name carries them device, model, iteration, slice, time."""

    kind: str
    form: Form
    source: Writer
    device_id: int | None = None
    model_id: int | None = None
    iteration: int | None = None
    slice: int | None = None
    time: str | None = None
    pid: int | None = None
    rank_id: int | None = None
    other: str | None = None
    soc: str | None = None
    timeline: bool = False
    """Whether it is a Chrome trace: a list of events, not of rows."""
    packed: bool = False
    """Whether it is compressed (gzip)."""

    @property
    def export(self) -> tuple[object, ...]:
        """What one export is of: of several exports with one such key the newest is the one in force."""
        return (self.kind, self.form, self.timeline, self.device_id, self.model_id, self.iteration)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of ours: where it lies, what its name (or its content) says it is, its size."""

    path: Path
    name: FileName
    size: int
    holds: tuple[str, ...] = ()
    """The tables that can be read from it."""
    max_expanded: int | None = None
    """How far a compressed file may expand, where somebody said it."""

    @property
    def may_hold_events(self) -> bool:
        """Whether it is a timeline, or a database, which may hold what one does."""
        return self.name.timeline or self.name.form == "db"
