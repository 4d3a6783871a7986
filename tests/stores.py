"""Stores and their rows, made quickly: for tests that ask what a history says, not how it came."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from aoe_reports.engine.ask import read_units
from aoe_reports.engine.question import Notes
from aoe_reports.history.origin import origin_of
from aoe_reports.history.runs.advising import Advisor
from aoe_reports.history.runs.ingest import AdvisedRunReader, ingest
from aoe_reports.history.runs.sharing import Sharing
from aoe_reports.store import History, Run
from aoe_reports.store.history import _pieces
from aoe_reports.store.layout import EXTRA_KINDS, RUN_KINDS, rows_of
from aoe_reports.topics.records.options import IngestOptions, RecordOptions
from aoe_reports.topics.records.runs import runs_read, units_by_run


def store_at_once(
    paths: Sequence[Path], store: Path, options: RecordOptions, change: Callable[[Run], Run] = lambda run: run
) -> None:
    """Store all runs below some paths in one commit, where `ingest` makes one a run; each has to be new, and its workload has to be the store's own."""
    options = options.asked_for(paths)
    sharing = Sharing(str(store), options)
    rows = []
    history = History.open(str(store), create=True, origin=origin_of("ingest"))
    reader = AdvisedRunReader(Advisor(os.environ))
    reading = read_units(reader, paths, options)
    runs = units_by_run(reading.asked.units).values()
    sharing.look_ahead([tuple(unit.capture for unit in units) for units in runs])
    for run in runs_read(reader, reading):
        admitted = sharing.admit(change(run))
        assert not history.versions_of(admitted.header), f"{admitted.header.path} is stored already"
        rows.append(rows_of(admitted.whole()))
        sharing.keep(admitted)
    assert not reading.asked.notes.unreadable, reading.asked.notes.findings
    history.log.upgrade()
    history.log.commit(history.log.folder.write(_pieces(pa.concat_tables(rows))), [])


def stored_rows(store: str | Path) -> list[dict[str, Any]]:
    """All rows of a store without null values, run by run, and last those that belong to no run."""
    history = History.open(str(store))
    kinds = (*RUN_KINDS, *sorted(EXTRA_KINDS))
    rows = [
        {name: value for name, value in row.items() if value is not None and name != "month"}
        for kind in kinds
        for row in history.rows(kind).to_pylist()
    ]

    def order(row: dict[str, Any]) -> tuple[Any, ...]:
        is_extra = row["kind"] in EXTRA_KINDS
        return is_extra, "" if is_extra else row["run_id"], kinds.index(row["kind"]), json.dumps(row, sort_keys=True)

    return sorted(rows, key=order)


@cache
def rows_of_paths(*paths: Path) -> tuple[dict[str, Any], ...]:
    """The rows of a store of these paths, stored as workload `net`; nobody may change the rows themselves."""
    with tempfile.TemporaryDirectory() as name:
        ingest(paths, f"{name}/store", IngestOptions(workload="net"), Notes())
        return tuple(stored_rows(f"{name}/store"))
