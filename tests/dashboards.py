"""Stores for the tests of the site: names that nobody should be called by."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from stores import store_at_once

from aoe_reports.topics.records.options import RecordOptions

HOSTILE = (
    "<script>alert(1)</script>\"'&amp;</td>",
    "right\u202eto left\u2066",
    "\x1b[31mred\x1b[0m\nline",
    "long/" + "x" * 4096,
    "../../etc/passwd#&?=%00",
    "{{ 7 * 7 }}{% raw %}",
)


def store_hostile_names(folder: Path) -> Path:
    """Fourteen nights of workloads with those names, all slower in the end; where the store is."""
    lines = []
    for night in range(14):
        for place, name in enumerate(HOSTILE):
            when = datetime(2026, 1, 1, 2, place, tzinfo=UTC) + timedelta(days=night)
            slow = 1.5 if night >= 9 else 1.0
            lines.append(
                json.dumps(
                    {
                        "workload": name,
                        "engine": name[:200],
                        "hardware": name[:200],
                        "runtime_ms_mean": slow * (1 + 0.001 * ((night * 7 + place) % 5)),
                        "runtime_ms_std": None,
                        "timestamp": when.timestamp(),
                        "schema_version": "0.1",
                        "metadata": {},
                    }
                )
            )
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    store_at_once([folder / "records.jsonl"], folder / "store", RecordOptions())
    return folder / "store"
