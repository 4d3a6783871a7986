"""One kind of table or timeline from everything below a path, under canonical names and units."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aoe_reports.errors import AoeReportsError, UsageError
from aoe_reports.findings import Finding
from aoe_reports.tables import TABLES, TIMELINES
from aoe_reports.tables.table import Table
from aoe_reports.texts import join, say
from aoe_reports.workflows.output import whole_file
from aoe_reports.workflows.profiles import Profile, read_profile, timeline_of_kind

_ROWS_AT_ONCE = 50_000


def list_tables() -> list[dict[str, Any]]:
    """Every kind that can be read, one row each: tables, then timelines."""
    rows = [
        {
            "kind": table.name,
            "title": say(table.title),
            "source": "msprof, torch_npu" if table.source == "both" else table.source,
            "files": ", ".join(_files(table)),
            "vintages": ", ".join(sorted({date for date, _ in table.vintages})),
        }
        for table in TABLES.values()
    ]
    rows += [
        {
            "kind": name if name not in TABLES else f"{name}_events",
            "title": say("timeline: {title}", title=say(kind.title)),
            "source": kind.source,
            "files": ", ".join(f"{word}*.json" for word in kind.file_kinds),
            "vintages": "",
        }
        for name, kind in TIMELINES.items()
    ]
    return rows


def _files(table: Table) -> list[str]:
    forms = ("csv", "json") if table.form == "csv" else ("json",)
    return [f"{word}*.{form}" for word in table.file_kinds for form in forms]


class Asked:
    """What `table KIND PATH` was asked for: batches of rows, and what was found on the way."""

    def __init__(self, kind: str, path: Path, max_expanded: int | None = None) -> None:
        """Look what is there; nothing is read yet."""
        self._timeline = timeline_of_kind(kind)
        if kind not in TABLES and self._timeline is None:
            names = join(", ", (row["kind"] for row in list_tables()))
            raise UsageError(say("table: no kind {kind!r}; expected one of {names}", kind=kind, names=names))
        self._kind = kind
        self._profile: Profile = read_profile(path, max_expanded=max_expanded)
        self._empty = False

    @property
    def findings(self) -> list[Finding]:
        """What was found; whole once the batches have been read."""
        found = self._profile.findings
        if self._empty and not found:
            return [Finding("error", "nothing-found", str(self._profile.path), say("no {kind} here", kind=self._kind))]
        return found

    @property
    def unreadable(self) -> bool:
        """Whether something could not be read."""
        return self._profile.unreadable

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, in batches."""
        if self._timeline is None:
            frame = self._profile.frame(self._kind)
            self._empty = not frame.column_names
            yield from frame.to_batches(max_chunksize=_ROWS_AT_ONCE)
            return
        self._empty = self._timeline not in self._profile.timelines
        yield from self._profile.events(self._timeline)

    def rows(self) -> Iterator[list[dict[str, Any]]]:
        """The rows as people read them, in batches: durations in us, time stamps as they are."""
        for batch in self.batches():
            for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
                yield [_shown(row) for row in batch.slice(start, _ROWS_AT_ONCE).to_pylist()]

    def write_parquet(self, path: Path) -> None:
        """Write all rows, whole or not at all, batch after batch."""
        writer: pq.ParquetWriter | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                for batch in self.batches():
                    writer = writer or pq.ParquetWriter(file, batch.schema, write_page_checksum=True)
                    writer.write_batch(batch)
                writer = writer or pq.ParquetWriter(file, pa.schema([]), write_page_checksum=True)
                writer.close()
        except OSError as error:
            raise AoeReportsError(
                say("{path}: cannot be written: {why}", path=path, why=error.strerror or error)
            ) from error


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Durations in us (exact to the ns), time stamps as they are: their 19 digits do not fit a float."""
    return {
        (name.removesuffix("_ns") + "_us" if name in _DURATIONS else name): (
            _us(value) if name in _DURATIONS and value is not None else value
        )
        for name, value in row.items()
    }


def _us(value: Any) -> Any:
    return [_us(part) for part in value] if isinstance(value, list) else None if value is None else value / 1000


_DURATIONS = {"duration_ns"} | {
    column.field for table in TABLES.values() for column in table.columns if column.type == "duration"
}
