"""What the store holds, as rows."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Literal

from aoe_reports.errors import UsageError
from aoe_reports.store import History, Where, equals

_COLUMNS = (
    "night", "run_id", "timestamp_ns", "workload", "model", "scope", "source", "phase", "op_type", "op_name", "rank_id",
    "device_id", "hardware", "engine_version", "runtime_ms_mean", "runtime_ms_std", "count", "total_ns", "series_id",
)  # fmt: skip


def list_history(
    store: str,
    what: Literal["runs", "records"],
    *,
    workload: str | None = None,
    scope: str | None = None,
    since: str | None = None,
    last: int | None = None,
) -> list[dict[str, Any]]:
    """Runs or records, oldest first; `last` keeps the newest."""
    if since is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", since):
        raise UsageError(f"--since {since!r}: expected a date such as 2026-01-31")
    history = History.open(store)
    where = [] if since is None else [equals("night", since, ">=")]
    rows = _runs(history, workload, where) if what == "runs" else _records(history, workload, scope, where)
    return rows[-last:] if last is not None else rows


def _runs(history: History, workload: str | None, where: Where) -> list[dict[str, Any]]:
    return [
        {
            "night": header.night,
            "run": header.run_id,
            "kind": header.run_kind,
            "workload": header.model,
            "hardware": header.hardware,
            "status": header.status,
            "time": datetime.fromtimestamp(header.timestamp_ns // 1_000_000_000, UTC).isoformat(),
            "timestamp_ns": header.timestamp_ns,
            "members": len(header.members),
            "path": header.path,
        }
        for header in history.runs(where)
        if workload in {None, header.model}
    ]


def _records(history: History, workload: str | None, scope: str | None, where: Where) -> list[dict[str, Any]]:
    where = [*where, *([] if scope is None else [equals("scope", scope)])]
    if workload is not None:
        where = [*where, (equals("model", workload), equals("workload", workload))]
    rows = history.records(_COLUMNS, where).to_pylist()
    rows.sort(key=lambda row: (row["timestamp_ns"], row["workload"], row["phase"] != "before", row["series_id"]))
    return [{"night": row.pop("night"), "run": row.pop("run_id"), **row} for row in rows]
