"""Records as enumerations are the records as texts."""

from __future__ import annotations

import polars as pl
import pytest

from aoe_reports.engine.question import Notes
from aoe_reports.history.detection.run import read_coded
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.simulation.nights import MODEL, write_nights
from aoe_reports.store import History, Where, equals
from aoe_reports.store.care import compact
from aoe_reports.store.layout import ROWS
from aoe_reports.topics.records.options import IngestOptions

COLUMNS = [field.name for field in ROWS]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Nights of two months, tuned ones among them."""
    folder = tmp_path_factory.mktemp("coded")
    write_nights(folder / "nights", 33)
    ingest([folder / "nights"], str(folder / "store"), IngestOptions(workload=MODEL), Notes())
    return str(folder / "store")


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize(
    "where",
    [
        (),
        (equals("source", "aoe", "!="),),
        (equals("night", "2026-01-30", ">="), equals("phase", "after")),
        (equals("model", "nobody's"),),
    ],
)
def test_every_value_is_the_same(store: str, where: Where, merged: bool) -> None:
    history = History.open(store)
    if merged:
        compact(history.log)
    texts = pl.DataFrame(history.records(COLUMNS, where))
    coded = read_coded(history, COLUMNS, where)
    assert coded.columns == texts.columns
    assert coded.height == texts.height
    for name in COLUMNS:
        assert coded[name].to_list() == texts[name].to_list(), name
    by = ["series_id", "run_id", "workload_args"]
    assert coded.sort(by)["run_id"].to_list() == texts.sort(by)["run_id"].to_list()
