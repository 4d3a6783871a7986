"""Profile: everything below a path, table by table, with what was found while reading."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from aoe_reports.engine.captures import read_file, stream_events_of
from aoe_reports.engine.rules import REPEATED_EXPORT
from aoe_reports.formats.ascend.capture import databases_with
from aoe_reports.formats.ascend.tables import TIMELINES
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.sources.discovery import discover, refuse_missing
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.identify import unreadable_file
from aoe_reports.formats.sources.objects import asked_path
from aoe_reports.formats.vendor import TABLES, group_captures
from aoe_reports.model.arrays.columns import integers, keep_where
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding, in_order
from aoe_reports.model.texts import join, say
from aoe_reports.rules.tables.copies import first_of_each

_EVENTS = "_events"


@dataclass(slots=True)
class Profile:
    """The captures below a path; a table is read when it is asked for, and what was found then is in `findings`."""

    path: Path
    captures: tuple[Capture, ...]
    unreadable: bool
    _found: list[Finding] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        """What has been found so far, in a stable order."""
        return in_order(self._found)

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that are here."""
        here = {kind for capture in self.captures for file in capture.files for kind in file.holds}
        return tuple(name for name in TABLES if name in here)

    @property
    def timelines(self) -> tuple[str, ...]:
        """The timelines that are here, as files or in databases."""
        here = {file.name.kind for capture in self.captures for file in capture.timelines}
        here |= {kind for kind in TIMELINES if any(databases_with(capture, kind) for capture in self.captures)}
        return tuple(name for name in TIMELINES if name in here)

    def table(self, kind: str) -> Any:
        """One table of all captures as a polars LazyFrame; `rank_id` and `capture` keep them apart."""
        import polars as pl

        return pl.DataFrame(self.frame(kind)).lazy()

    def frame(self, kind: str) -> pa.Table:
        """One table of all captures as an Arrow table."""
        if kind not in TABLES:
            raise UsageError(say("no table {kind!r}; expected one of {names}", kind=kind, names=join(", ", TABLES)))
        frames = []
        for capture in self.captures:
            source = capture.preferred(kind)
            read = [data for file in (source.files if source else ()) if (data := self._read(file, kind))]
            frames += [self._apart(frame, capture) for frame in _each_once(kind, read)]
        frames = [frame for frame in frames if frame.num_rows] or frames[:1]
        return pa.concat_tables(frames, promote_options="permissive") if frames else pa.table({})

    def events(self, kind: str, columns: Collection[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The events of one kind of timeline, batch after batch; findings come first."""
        for capture in self.captures:
            for file in (*self._event_files(capture, kind), *databases_with(capture, kind)):
                try:
                    with stream_events_of(file, columns) as (batches, found):
                        self._found += found
                        for batch in batches:
                            yield from self._apart(pa.Table.from_batches([batch]), capture).to_batches()
                except (ReadError, OSError) as error:
                    self._failed(file, error)

    def _event_files(self, capture: Capture, kind: str) -> list[FoundFile]:
        """The timelines of one kind that are to be read: of those that repeat the whole run, one a device and model."""
        files = [file for file in capture.timelines if file.name.kind == kind]
        if not TIMELINES[kind].whole_in_each_file:
            return files
        chosen: dict[tuple[object, ...], FoundFile] = {}
        for file in files:
            key = (file.path.parent, file.name.device_id, file.name.model_id, file.name.slice)
            if chosen.setdefault(key, file) is not file:
                message = say(
                    "every file of this kind contains the whole run; {name} is used", name=chosen[key].path.name
                )
                self._found.append(REPEATED_EXPORT.found(str(file.path), message))
        return list(chosen.values())

    def _read(self, file: FoundFile, kind: str) -> TableData | None:
        try:
            data = read_file(file, kind, hashed=False)
        except (ReadError, OSError) as error:
            self._failed(file, error)
            return None
        self._found += data.findings
        return data

    def _failed(self, file: FoundFile, error: Exception) -> None:
        self.unreadable = True
        self._found.append(unreadable_file(file.path, error))

    def _apart(self, frame: pa.Table, capture: Capture) -> pa.Table:
        """The frame with its ranks and, where there are several, its capture."""
        if len(self.captures) > 1:
            names = pa.array([str(capture.root)], pa.string())
            indices = pa.array([0] * frame.num_rows, pa.int32())
            frame = frame.add_column(0, "capture", pa.DictionaryArray.from_arrays(indices, names))
        if "device_id" in frame.column_names and len(set(capture.info.ranks.values())) > 1:
            devices, there = integers(frame["device_id"])
            ranks = [capture.info.rank_of(int(d) if t else None) for d, t in zip(devices, there, strict=True)]
            return frame.add_column(0, "rank_id", pa.array(ranks, pa.int64()))
        ranks = [capture.info.rank_id] * frame.num_rows
        return frame.add_column(0, "rank_id", pa.array(ranks, pa.int64()))


def read_profile(path: Path | str, *, max_expanded: int | None = None) -> Profile:
    """Everything of the profilers below a path; compressed files may expand to `max_expanded` bytes each."""
    where = asked_path(path)
    refuse_missing([where])
    discovery = discover([where], max_expanded=max_expanded)
    captures = tuple(capture for capture in group_captures(discovery.files) if capture.has_data)
    found = [*discovery.findings, *(finding for capture in captures for finding in capture.findings)]
    return Profile(where, captures, discovery.unreadable, found)


def timeline_of_kind(kind: str) -> str | None:
    """The timeline that a KIND names: its own name where it is no table, else with `_events` behind it."""
    plain = kind.removesuffix(_EVENTS)
    return plain if plain in TIMELINES and (plain != kind or kind not in TABLES) else None


def _each_once(kind: str, read: list[TableData]) -> list[pa.Table]:
    """The frames of several files; of a kind whose every file holds the whole run each row once."""
    frames = [data.frame for data in read]
    if not TABLES[kind].whole_in_each_file or len(frames) < 2:  # noqa: PLR2004
        return frames
    whole = pa.concat_tables(frames, promote_options="permissive")
    return [whole.filter(keep_where(first_of_each(whole, TABLES[kind].identity)))]
