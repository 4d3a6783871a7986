"""The same store through Delta's clients for object stores, here over a folder: no call may need a disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from aoe_reports.engine.objects import object_store
from aoe_reports.engine.question import Notes
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.simulation.nights import write_nights
from aoe_reports.store import History, Origin
from aoe_reports.store.care import compact, vacuum
from aoe_reports.store.verify import verify
from aoe_reports.topics.records.options import IngestOptions


def test_a_store_in_an_object_store_is_written_read_merged_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aoe_reports.store.log._files", object_store)
    store = str(tmp_path / "store")
    write_nights(tmp_path / "nights", 5)
    options = IngestOptions(workload="w", tz="UTC")
    for outcome in ("added", "unchanged"):
        stored = ingest([tmp_path / "nights"], store, options, Notes())
        assert {item.outcome for item in stored} == {outcome}
    history = History.open(store)
    before = history.records().sort_by([("series_id", "ascending"), ("timestamp_ns", "ascending")])
    assert compact(history.log).files == 3  # runs, records, advice
    assert vacuum(history.log, 0).files_deleted == 15
    assert history.records().sort_by([("series_id", "ascending"), ("timestamp_ns", "ascending")]).equals(before)
    assert verify(store, Origin()) == ([], 3)
    lost = history.log.parts("record")[0].path
    (tmp_path / "store" / lost).unlink()
    assert [(finding.rule, finding.path) for finding in verify(store, Origin())[0]] == [
        ("store-missing", f"{store}/{lost}")
    ]
