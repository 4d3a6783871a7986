"""Records of memory: the peak and its owners, to the byte; of many ranks that of the largest peak; no time of a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import captures
import pytest
from commandline import Cli
from hypothesis import given
from hypothesis import strategies as st
from memory_nights import MIB, write_memory_night

from aoe_reports.model.topics.memory import DeviceMemory, Level, Owner, PoolMemory
from aoe_reports.rules.schema import schema_errors
from aoe_reports.topics.memory.measured import MeasuredMemory
from aoe_reports.topics.records.context import RunContext
from aoe_reports.topics.records.from_memory import MAX_OWNERS, OWNERS, records_from_memory
from aoe_reports.topics.records.over_ranks import over_ranks


def memory(sizes: list[int], rank: int = 0) -> MeasuredMemory:
    """A device with so many owners."""
    level = Level(size_bytes=sum(sizes), at_ns=5, step=None)
    pool = PoolMemory(
        scope="allocator",
        component="PTA",
        source="memory_record",
        allocated=level,
        reserved=level,
        active=None,
        first_ns=0,
        last_ns=2_000_000,
        samples=2,
    )
    owners = [
        Owner(name=f"op{number}", kind=None, module=None, size_bytes=size, allocations=1, largest_bytes=size)
        for number, size in enumerate(sizes)
    ]
    device = DeviceMemory(
        rank_id=rank,
        device_id=rank,
        pools=(pool,),
        peak_pool="PTA",
        peak=level,
        running=(),
        owners=tuple(owners),
        reserved_at_peak=None,
        active_at_peak=None,
        unusable_bytes=None,
        explained=1.0,
        growth=(),
    )
    return MeasuredMemory(device, steps=0)


CONTEXT = RunContext("20260101T000000-00000000", 1_767_225_600_000_000_000, model="net", source="msprof")


@given(sizes=st.lists(st.integers(0, 2**50), min_size=1, max_size=2 * MAX_OWNERS))
def test_owners_of_a_record_add_up_to_its_peak(sizes: list[int]) -> None:
    (record,) = records_from_memory(CONTEXT, [memory(sizes)])
    owners: Any = record.metrics[OWNERS]
    assert len(owners) <= MAX_OWNERS + 1
    assert sum(owner["bytes"] for owner in owners) == sum(sizes)
    assert record.metrics["peak_allocated_bytes"] == {"value": sum(sizes), "unit": "bytes", "better": "lower"}
    assert record.runtime_ms_mean == 2.0


@pytest.mark.parametrize(("most", "ranks"), [(3, [0, 1, 2]), (2, [None])])
def test_of_many_ranks_the_one_with_the_largest_peak_counts(most: int, ranks: list[int | None]) -> None:
    records = [*records_from_memory(CONTEXT, [memory([size], rank) for rank, size in enumerate((50, 90, 70))])]
    found, single = over_ranks(records, most)
    assert [record.rank_id for record in found] == ranks
    assert not single
    if ranks == [None]:
        assert found[0].metrics["largest_rank"] == 1
        assert found[0].metrics["median_rank_peak_allocated_bytes"] == {"value": 70, "unit": "bytes", "better": "lower"}


def test_a_capture_with_memory_has_a_valid_record_of_it(cli: Cli, tmp_path: Path) -> None:
    write_memory_night(tmp_path, 0, [("aten::mm", 200 * MIB)])
    ended = cli("ingest", "--dry-run", tmp_path, "--workload", "net")
    records = [json.loads(line) for line in ended.out.splitlines()]
    (found,) = [one for one in records if one["metadata"]["aoe_reports"]["scope"] == "memory"]
    assert not [*schema_errors("record", found)]
    assert found["workload"] == "net/memory"
    assert found["metrics"]["peak_allocated_bytes"]["value"] == 300 * MIB
    assert found["metrics"][OWNERS] == [
        {"name": "aten::mm", "bytes": 200 * MIB}, {"since_before": True, "bytes": 100 * MIB}
    ]  # fmt: skip


def test_damaged_memory_leaves_the_times_of_a_run(cli: Cli, tmp_path: Path) -> None:
    home = write_memory_night(tmp_path, 0, [("aten::mm", 200 * MIB)])
    table = home / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv"
    table.write_text(table.read_text()[:-20])
    ended = cli("ingest", "--dry-run", tmp_path, "--workload", "net")
    records = [json.loads(line)["metadata"]["aoe_reports"] for line in ended.out.splitlines()]
    assert "memory" not in {one["scope"] for one in records}
    assert {one["run"]["status"] for one in records if "run" in one} == {"ok"}
    assert ended.code == 0


def test_what_every_step_keeps_is_growth(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures, "STEPS", 12)
    write_memory_night(tmp_path / "leak", 0, [("leak", MIB)] * 12, every_ns=3_670_000)
    write_memory_night(tmp_path / "still", 1, [("cache", MIB)])
    found = {}
    for name in ("leak", "still"):
        ended = cli("ingest", "--dry-run", tmp_path / name, "--workload", name)
        records = [json.loads(line) for line in ended.out.splitlines()]
        (found[name],) = [
            one["metrics"]["growth_bytes_per_step"] for one in records if one["workload"] == f"{name}/memory"
        ]
    assert found["still"] == {"value": 0.0, "unit": "bytes/step", "better": "lower"}
    assert found["leak"]["value"] == pytest.approx(MIB, rel=0.1)
