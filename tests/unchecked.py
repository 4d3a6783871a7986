"""Rows put into a store as they are, without a look at them: what older versions imported, and other programs wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aoe_reports.store import History
from aoe_reports.store.history import _pieces
from aoe_reports.store.layout import RUNS_MONTH, month_of, table_of


def store_unchecked(rows: list[dict[str, Any]], store: Path) -> None:
    """Write rows of any kind into a new store, in one commit."""
    placed = []
    for row in rows:
        time = row.get("timestamp_ns")
        month = RUNS_MONTH if row["kind"] == "run" else month_of(time if isinstance(time, int) else 0)
        placed.append({**row, "month": month})
    history = History.open(str(store), create=True)
    history.log.upgrade()
    history.log.commit(history.log.folder.write(_pieces(table_of(placed))), [])
