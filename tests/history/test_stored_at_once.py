"""What tests store at once is what `ingest` stores run by run."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import FIXTURES
from stores import store_at_once

from aoe_reports.engine.question import Notes
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.simulation.nights import write_nights
from aoe_reports.store import History
from aoe_reports.store.layout import RUN_KINDS
from aoe_reports.topics.records.options import IngestOptions, RecordOptions


def rows(store: Path) -> dict[str, list[str]]:
    history = History.open(str(store))
    return {kind: sorted(map(repr, history.rows(kind).to_pylist())) for kind in RUN_KINDS}


@pytest.mark.parametrize("workload", [None, "net"])
def test_every_row_is_the_same(tmp_path: Path, workload: str | None) -> None:
    write_nights(tmp_path / "nights", 3)
    paths = [tmp_path / "nights", FIXTURES / "aoe/valid/array_grouped", FIXTURES / "records"]
    store_at_once(paths, tmp_path / "at-once", RecordOptions(workload=workload))
    ingest(paths, str(tmp_path / "one-by-one"), IngestOptions(workload=workload), Notes())
    assert rows(tmp_path / "at-once") == rows(tmp_path / "one-by-one")
    with pytest.raises(AssertionError, match="stored already"):
        store_at_once(paths, tmp_path / "at-once", RecordOptions(workload=workload))
