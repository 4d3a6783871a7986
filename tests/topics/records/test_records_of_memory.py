"""Records of memory: the peak and its owners, to the byte; of many ranks that of the largest peak; no time of a program."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import captures
import pytest
from commandline import Cli
from hypothesis import given
from hypothesis import strategies as st
from memory_devices import a_device, an_owner
from memory_nights import MIB, write_memory_night, write_snapshot
from planted_memory import planted, write_planted

from aoe_reports.model.topics.memory import DeviceMemory, Growth, Level
from aoe_reports.rules.schema import schema_errors
from aoe_reports.topics.records.context import RunContext
from aoe_reports.topics.records.from_memory import MAX_OWNERS, OWNERS, records_from_memory
from aoe_reports.topics.records.over_ranks import over_ranks


def memory(sizes: list[int], rank: int = 0, **parts: Any) -> DeviceMemory:
    """A device with so many owners."""
    owners = [an_owner(size, f"op{number}") for number, size in enumerate(sizes)]
    return a_device(owners, rank, **parts)


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
    write_memory_night(tmp_path / "still", 1, [("cache", MIB), *[("view", 0)] * 11], every_ns=3_670_000)
    found = {}
    for name in ("leak", "still"):
        ended = cli("ingest", "--dry-run", tmp_path / name, "--workload", name)
        records = [json.loads(line) for line in ended.out.splitlines()]
        (found[name],) = [
            one["metrics"]["growth_bytes_per_step"] for one in records if one["workload"] == f"{name}/memory"
        ]
    assert found["still"] == {"value": 0.0, "unit": "bytes/step", "better": "lower"}
    assert found["leak"]["value"] == pytest.approx(MIB, rel=0.1)


def test_growth_of_all_ranks_is_the_largest_of_any() -> None:
    leak = Growth(
        component="PTA",
        owner=None,
        meaning="leak",
        total_bytes=10**9,
        bytes_per_step=1e8,
        low=1e8,
        high=1e8,
        first_step=1,
        last_step=12,
    )
    devices = [memory([size], rank, growth=(leak,) if rank == 2 else ()) for rank, size in enumerate((50, 90, 70))]
    (found,), _ = over_ranks([*records_from_memory(CONTEXT, devices)], 2)
    assert found.metrics["growth_bytes_per_step"] == {"value": 1e8, "unit": "bytes/step", "better": "lower"}
    assert (found.metrics["largest_rank"], found.metrics["growth_rank"]) == (1, 2)


def test_of_many_ranks_the_process_that_holds_most_counts_with_its_components() -> None:
    def device(rank: int, held: int) -> DeviceMemory:
        plain = memory([100 - rank], rank)
        hccl = replace(
            plain.pool, scope="component", component="HCCL", reserved=Level(size_bytes=held, at_ns=0, step=None)
        )
        return replace(
            plain, pools=(plain.pool, hccl), process=hccl.reserved, process_parts=(an_owner(held, "HCCL", kind="communication"),)
        )  # fmt: skip

    devices = [device(rank, (1 << 30) + rank) for rank in range(3)]
    (found,), _ = over_ranks([*records_from_memory(CONTEXT, devices)], 2)
    metrics: Any = found.metrics
    assert (metrics["largest_rank"], metrics["process_rank"]) == (0, 2)
    assert metrics["peak_process_bytes"]["value"] == metrics["peak_component_HCCL_bytes"]["value"] == (1 << 30) + 2
    assert metrics["process_parts"] == [{"name": "HCCL", "bytes": (1 << 30) + 2}]


def test_the_eight_largest_components_are_recorded() -> None:
    plain = memory([1])
    levels = {f"C{number}": Level(size_bytes=(64 << 20) + number - 1, at_ns=0, step=None) for number in range(12)}
    levels |= {
        "APP": Level(size_bytes=1 << 40, at_ns=0, step=None),
        "a b": Level(size_bytes=1 << 40, at_ns=0, step=None),
    }
    pools = [replace(plain.pool, scope="component", component=name, reserved=level) for name, level in levels.items()]
    (record,) = records_from_memory(CONTEXT, [replace(plain, pools=(plain.pool, *pools))])
    named = {name for name in record.metrics if "component" in name}
    assert named == {f"peak_component_C{number}_bytes" for number in range(4, 12)}
    (small,) = records_from_memory(CONTEXT, [replace(plain, pools=(plain.pool, pools[0]))])  # a byte too small
    assert not [name for name in small.metrics if "component" in name]


def test_of_two_processes_on_a_device_the_one_with_the_larger_peak_counts() -> None:
    devices = [replace(memory([size]), process_id=process) for size, process in ((5, 9), (7, 4))]
    (record,) = records_from_memory(CONTEXT, devices)
    assert record.metrics["peak_allocated_bytes"] == {"value": 7, "unit": "bytes", "better": "lower"}


def test_growth_is_not_stated_where_it_could_not_be_judged() -> None:
    (record,) = records_from_memory(CONTEXT, [memory([1], growth_not_judged="few steps")])
    assert "growth_bytes_per_step" not in record.metrics


def test_a_peak_of_reserved_memory_is_no_peak_of_allocated_memory() -> None:
    devices = [memory([], rank, peak=size, measure="reserved") for rank, size in enumerate((50, 90, 70))]
    records = [*records_from_memory(CONTEXT, devices)]
    assert {name for record in records for name in record.metrics} == {"peak_reserved_bytes", "peak_pool", OWNERS}
    (found,), _ = over_ranks(records, 2)
    assert found.metrics["largest_rank"] == 1
    assert "median_rank_peak_allocated_bytes" not in found.metrics


def test_what_all_processes_use_is_no_record() -> None:
    assert not [*records_from_memory(CONTEXT, [memory([], peak=9, measure="reserved", scope="device")])]


SAMPLES = "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n"


def test_of_a_process_alone_its_reserved_memory_is_recorded(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "STEPS", 12)
    home = write_memory_night(tmp_path, 0, [("cache", MIB)])
    exports = home / "ASCEND_PROFILER_OUTPUT"
    first = (exports / "memory_record.csv").read_text().splitlines()[1].split(",")[1].strip()
    for name in ("operator_memory.csv", "memory_record.csv"):
        (exports / name).unlink()
    (exports / "npu_mem.csv").write_text(f"{SAMPLES}0,app,0,0,100,{first}\t\n0,device,0,0,900,{first}\t\n")
    records = [json.loads(line) for line in cli("ingest", "--dry-run", tmp_path, "--workload", "net").out.splitlines()]
    (found,) = [one["metrics"] for one in records if one["workload"] == "net/memory"]
    assert found == {
        "peak_reserved_bytes": {"value": 100 * 1024, "unit": "bytes", "better": "lower"}, "peak_pool": "APP", OWNERS: []
    }  # fmt: skip


def test_growth_is_not_stated_of_steps_that_memory_was_not_recorded_in(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captures, "STEPS", 12)
    write_memory_night(tmp_path, 0, [("cache", MIB)] * 3, every_ns=1000)
    records = [json.loads(line) for line in cli("ingest", "--dry-run", tmp_path, "--workload", "net").out.splitlines()]
    (found,) = [one["metrics"] for one in records if one["workload"] == "net/memory"]
    assert "growth_bytes_per_step" not in found


def memory_of_night(cli: Cli, folder: Path) -> tuple[list[Any], set[str]]:
    """(the metrics of the records of memory, the findings that name another form)."""
    ended = cli("ingest", "--dry-run", folder, "--workload", "net")
    records = [json.loads(line) for line in ended.out.splitlines()]
    return [one["metrics"] for one in records if one["workload"] == "net/memory"], set(ended.err.splitlines())


def test_a_recording_in_the_folder_of_a_capture_is_its_memory(cli: Cli, tmp_path: Path) -> None:
    home = captures.write_night(tmp_path, 0, captures.QUIET)
    write_snapshot(home / "snapshot.json", 8 * MIB)
    (found,), said = memory_of_night(cli, tmp_path)
    kinds = {owner.get("kind"): owner["bytes"] for owner in found[OWNERS]}
    assert kinds == {"kv_cache": 8 * MIB, None: 4 * MIB}
    assert any("no table of memory here; snapshot.json is used instead" in line for line in said)


@pytest.mark.parametrize("name", ["snapshot_rank3.json", "two"])
def test_a_recording_of_another_rank_and_several_are_not_used(cli: Cli, tmp_path: Path, name: str) -> None:
    home = captures.write_night(tmp_path, 0, captures.QUIET)
    names = ["snapshot_a.json", "snapshot_b.json"] if name == "two" else [name]
    for one in names:
        write_snapshot(home / one, 8 * MIB)
    found, said = memory_of_night(cli, tmp_path)
    assert not found
    assert any("none is used" in line for line in said) == (name == "two")


def test_tables_of_memory_count_before_a_recording(cli: Cli, tmp_path: Path) -> None:
    write_snapshot(write_memory_night(tmp_path, 0, [("cache", MIB)]) / "snapshot.json", 8 * MIB)
    (found,), _ = memory_of_night(cli, tmp_path)
    assert found["peak_allocated_bytes"]["value"] == 101 * MIB


@pytest.mark.parametrize("kind", ["leak", "saw"])
def test_growth_is_that_of_the_steps_of_the_host_as_in_the_question(cli: Cli, tmp_path: Path, kind: str) -> None:
    write_planted(planted(kind, 1), tmp_path)
    (exports,) = tmp_path.rglob("ASCEND_PROFILER_OUTPUT")
    times = [event["ts"] for event in json.loads((exports / "trace_view.json").read_text()) if "ts" in event]
    tasks = [f"a,MatMul,AI_CORE,{time},1\n" for time in times]  # without steps: those of the host alone are known
    (exports / "kernel_details.csv").write_text(
        "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n" + "".join(tasks)
    )
    (found,), _ = memory_of_night(cli, tmp_path)
    rows = cli("memory", tmp_path, "--format", "json").json["growth"]
    paces = [row["bytes_per_step"] for row in rows if row["is_all"] and row["measure"] == "allocated"]
    assert found["growth_bytes_per_step"]["value"] == pytest.approx(max(paces, default=0.0), abs=1)
    assert bool(paces) == (kind == "leak")


def test_tasks_have_steps_where_no_timeline_is(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures, "STEPS", 12)
    write_memory_night(tmp_path, 0, [("leak", MIB)] * 12, every_ns=3_670_000)
    (found,), _ = memory_of_night(cli, tmp_path)
    (row,) = [one for one in cli("memory", tmp_path, "--format", "json").json["growth"] if one["is_all"]]
    assert row["bytes_per_step"] == pytest.approx(found["growth_bytes_per_step"]["value"], abs=1)
