"""A store with a planted regression, made once for these tests."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from made_series import gauss, stepped
from stores import store_at_once

from aoe_reports.store import Run
from aoe_reports.topics.records.options import RecordOptions

NAMES = ("net", 'a "quoted" name')
METRIC = "throughput"


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of forty nights: the steps of two models on two devices, and a metric; all get slower by a tenth in the end."""
    folder = tmp_path_factory.mktemp("planted")
    lines = []
    for number, name in enumerate(NAMES):
        for device in (0, 1):
            for night, value in enumerate(stepped(gauss(number * 2 + device, 40), (30, 0.1))):
                lines.append(json.dumps(_record(name, device, night, value)))
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    store_at_once([folder / "records.jsonl"], folder / "store", RecordOptions(), _of_profiles)
    return folder / "store"


def _of_profiles(run: Run) -> Run:
    """Records of a file as those of profiles: of steps, on a device."""
    made = [
        replace(one, scope="step", device_id=int(one.hardware.removeprefix("npu"))) if one.scope == "model" else one
        for one in run.records
    ]
    return replace(run, records=made)


def _record(name: str, device: int, night: int, value: float) -> dict[str, object]:
    when = datetime(2026, 1, 1, 2, tzinfo=UTC) + timedelta(days=night)
    return {
        "workload": f"{name}/step",
        "engine": "cann",
        "hardware": f"npu{device}",
        "runtime_ms_mean": value,
        "runtime_ms_std": None,
        "timestamp": when.timestamp(),
        "schema_version": "0.1",
        "metadata": {},
        "workload_metadata": {"class": "step"},
        "metrics": {METRIC: 1e5 / value},
    }
