"""A small store with something of everything: two models, a slow-down, a tuning with verdicts, advice."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from captures import BERT, FIRST, QUIET, Kernel, changed, write_night, write_tuning
from stores import store_at_once

from aoe_reports.formats.records.record import canonical_json
from aoe_reports.store import History
from aoe_reports.store.layout import table_of
from aoe_reports.topics.records.options import RecordOptions

SLOW = changed(Kernel("matmul", "MatMulV2", 900.0, calls=2), Kernel("gelu", "Gelu", 50.0), gone=["softmax"])
STEP = {"change": -0.1, "ci_low": -0.12, "ci_high": -0.08, "measured_before_us": 1000.0, "measured_after_us": 900.0}


def verdict(scope: str, said: str, name: str | None, **more: Any) -> dict[str, Any]:
    """A row that `verify` leaves in a store."""
    body = canonical_json({"scope": scope, "verdict": said, "verdict_of_job": "confirmed", "op_name": name, **more})
    at = int((FIRST + timedelta(days=5, hours=9)).timestamp()) * 10**9
    return {
        "kind": "verdict", "month": "2026-03", "run_id": "verify-1", "timestamp_ns": at, "night": "2026-03-06",
        "model": "net", "hardware": "npu", "scope": scope, "op_name": name, "subject": f"{scope} {name}", "state": said,
        "body": body,
    }  # fmt: skip


def write_small_store(folder: Path) -> None:
    """`net` got slower in its thirteenth night and was tuned before; `bert` has two nights."""
    for number in range(16):
        write_night(folder / "nights" / "net", number, QUIET if number < 12 else SLOW)
    for number in (14, 15):
        write_night(folder / "nights" / "bert", number, BERT, hours=1)
    write_tuning(folder / "nights" / "net", FIRST + timedelta(days=5, hours=3), "conv", "matmul")
    store = folder / "store"
    for name in ("net", "bert"):
        options = RecordOptions(workload=name, tz="UTC", hardware="npu")
        store_at_once([folder / "nights" / name], store, options)
    said = [
        verdict("step", "confirmed", None, **STEP),
        verdict("operator", "confirmed", "conv"),
        verdict("operator", "not-reproduced", "matmul"),
    ]
    History.open(str(store)).add_extra(table_of(said))
