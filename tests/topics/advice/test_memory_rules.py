"""What rules say of the memory of a device, and that they say nothing without evidence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commandline import FIXTURES, Cli
from memory_devices import a_device
from planted_memory import MIB, planted, write_planted
from planted_snapshots import Allocator, snapshot_of

from aoe_reports.engine.captures import find_captures
from aoe_reports.engine.question import Notes
from aoe_reports.facts.bounds import StepShares
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.topics.memory import (
    DeviceMemory,
    Fragmentation,
    Growth,
    Kind,
    Level,
    Owner,
    PoolMemory,
    Repeated,
)
from aoe_reports.topics.advice.advice import Advice, Facts
from aoe_reports.topics.advice.registry import find_advice
from aoe_reports.topics.advice.thresholds import Thresholds
from aoe_reports.topics.memory.reading import read_memory

SHARES = StepShares(rank_id=0, device_id=0, steps=1, step_ns=1000, computing_ns=900, source="tasks")
PEAK = 1000 * MIB


def _memory(**parts: Any) -> DeviceMemory:
    return a_device(peak=PEAK, **parts)


def _advice(memory: DeviceMemory | None) -> list[Advice]:
    return [one for one in find_advice(Facts(SHARES, memory=memory)) if one.rule.startswith("memory-")]


def _fragmentation(**parts: int | None) -> Fragmentation:
    plain = Fragmentation(
        reserved_bytes=PEAK,
        at_ns=0,
        used_bytes=PEAK // 2,
        excess_bytes=PEAK // 2,
        reserved_by_fragmentation_bytes=0,
        fragmentation_rises=0,
        unusable_bytes=None,
    )
    return replace(plain, **parts)


def _owner(kind: Kind | None, size: int) -> Owner:
    return Owner(name="aten::mm", kind=kind, module="Linear_0", size_bytes=size, allocations=2, largest_bytes=size)


def _leak(owner: str | None, size: float) -> Growth:
    return Growth(
        component="PTA",
        owner=owner,
        meaning="leak",
        total_bytes=round(7 * size),
        bytes_per_step=size,
        low=size,
        high=size,
        first_step=3,
        last_step=9,
    )


@pytest.mark.parametrize(
    ("parts", "size"),
    [
        ({"reserved_by_fragmentation_bytes": 5, "fragmentation_rises": 1}, PEAK // 2),
        ({"unusable_bytes": PEAK // 5}, PEAK // 5),
        ({"unusable_bytes": PEAK // 20}, None),
        ({"reserved_by_fragmentation_bytes": 5, "fragmentation_rises": 1, "excess_bytes": PEAK // 20}, None),
        ({}, None),
    ],
    ids=["by fragmentation", "unusable", "little is unusable", "little is lost", "only larger once"],
)
def test_fragmentation_needs_evidence_and_a_size(parts: dict[str, int], size: int | None) -> None:
    found = _advice(_memory(fragmentation=_fragmentation(**parts)))
    assert [(one.rule, one.size_bytes, one.saving_ns) for one in found] == (
        [] if size is None else [("memory-fragmentation", size, None)]
    )


def test_a_leak_of_owners_is_not_said_again_of_the_pool() -> None:
    found = _advice(_memory(growth=(_leak(None, 7.0), _leak("a", 3.0), _leak("b", 4.0))))
    assert [(one.rule, one.op_name, one.evidence["per_step_bytes"]) for one in found] == [
        ("memory-leak", "b", 4),
        ("memory-leak", "a", 3),
    ]
    (pool,) = _advice(_memory(growth=(_leak(None, 7.0),)))
    assert pool.op_name is None


@pytest.mark.parametrize(("kind", "rule"), [("workspace", "memory-workspace"), ("activation", "memory-recompute")])
def test_kinds_of_the_recording_are_evidence(kind: Kind, rule: str) -> None:
    owners = (_owner(kind, PEAK // 15), _owner(kind, PEAK // 20), _owner(None, PEAK // 2))
    (found,) = _advice(_memory(owners=owners))
    assert (found.rule, found.size_bytes, found.evidence["allocations"]) == (rule, PEAK // 15 + PEAK // 20, 4)
    assert not _advice(_memory(owners=owners[:1]))
    assert not _advice(_memory(owners=owners[2:]))


def test_repeated_allocations_matter_beside_fragmentation_only() -> None:
    repeated = (
        Repeated(owner="a", size_bytes=PEAK // 20, per_step=4, at_once=2, steps=9),
        Repeated(owner="b", size_bytes=PEAK // 20, per_step=4, at_once=1, steps=9),
    )
    assert not _advice(_memory(repeated=repeated, fragmentation=_fragmentation()))
    found = _advice(
        _memory(
            repeated=repeated, fragmentation=_fragmentation(reserved_by_fragmentation_bytes=1, fragmentation_rises=1)
        )
    )
    assert [one.op_name for one in found if one.rule == "memory-repeated"] == ["a"]


def test_advice_without_a_time_comes_last_by_its_memory() -> None:
    memory = _memory(growth=(_leak("a", 3.0),), fragmentation=_fragmentation(unusable_bytes=PEAK))
    assert [one.rule for one in _advice(memory)] == ["memory-fragmentation", "memory-leak"]
    assert _advice(None) == []


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("healthy", set()),
        ("jump", set()),
        ("leak of a graph", {"memory-leak"}),
        ("fragmentation", {"memory-fragmentation"}),
    ],
)
def test_planted_memory_gets_the_advice_that_fits(kind: str, rules: set[str], tmp_path: Path) -> None:
    write_planted(planted(kind, 2), tmp_path)
    ((capture,),) = find_captures(discover([tmp_path]))
    (read,) = read_memory(capture, Notes()).devices
    assert {one.rule for one in _advice(read.memory)} == rules


def test_an_allocator_of_workspaces_is_evidence_where_no_owner_is_one() -> None:
    level = Level(size_bytes=PEAK // 5, at_ns=0, step=1)
    pool = PoolMemory(
        scope="allocator",
        component="WORKSPACE",
        source="memory_record",
        allocated=None,
        reserved=level,
        active=None,
        first_ns=0,
        last_ns=9,
        samples=3,
    )
    (found,) = _advice(_memory(pools=(pool,)))
    assert (found.rule, found.size_bytes) == ("memory-workspace", PEAK // 5)
    assert not _advice(_memory(pools=(replace(pool, reserved=replace(level, size_bytes=PEAK // 20)),)))
    (by_kind,) = _advice(_memory(pools=(pool,), owners=(_owner("workspace", PEAK // 2),)))
    assert by_kind.size_bytes == PEAK // 2


def test_recordings_of_memory_alone_get_advice_on_the_command_line(cli: Cli, tmp_path: Path) -> None:
    """A snapshot in which half of what is reserved is in blocks that hold nothing and cannot be returned."""
    allocator = Allocator()
    pairs = [(allocator.allocate(1 << 20), allocator.allocate(1 << 20)) for _ in range(20)]
    for first, _ in pairs:
        allocator.release(first)
    (tmp_path / "snapshot.json").write_text(json.dumps(snapshot_of(allocator)))
    ran = cli("advise", tmp_path)
    assert "memory-fragmentation" in ran.out
    assert "Only memory was recorded: effects are bytes, and no time is known" in ran.out
    assert "bounds" not in ran.out
    (row,) = cli("advise", tmp_path, "--format", "json").json["rows"]
    assert (row["rule"], row["evidence"]["unusable_bytes"], row["bound_us"]) == ("memory-fragmentation", 20 << 20, None)


def test_a_recording_without_anything_to_say_has_no_advice(cli: Cli, tmp_path: Path) -> None:
    allocator = Allocator()
    allocator.allocate(2 << 20)
    (tmp_path / "snapshot.json").write_text(json.dumps(snapshot_of(allocator)))
    ended = cli("advise", tmp_path)
    assert ended.code == 1
    assert "nothing here for which advice could be given" in ended.err


@pytest.mark.parametrize(
    ("share", "rules"), [(0.101, []), (0.099, ["memory-fragmentation"])], ids=["less than the least", "more"]
)
def test_the_least_share_of_memory_is_a_threshold(share: float, rules: list[str]) -> None:
    memory = _memory(fragmentation=_fragmentation(unusable_bytes=PEAK // 10))
    found = find_advice(Facts(SHARES, memory=memory), replace(Thresholds(), least_memory_share=share))
    assert [one.rule for one in found if one.rule.startswith("memory-")] == rules


def test_a_leak_of_a_training_is_said_on_the_command_line(cli: Cli) -> None:
    """Once for both ranks, with its bytes."""
    ran = cli("advise", FIXTURES / "memory" / "training")
    assert "memory-leak    0-1" in ran.out
    assert "per step 4.000 MiB" in ran.out
    rows = cli("advise", FIXTURES / "memory" / "training", "--format", "json").json["rows"]
    leaks = [row for row in rows if row["rule"] == "memory-leak"]
    assert [(row["op_name"], row["evidence"]["per_step_bytes"], row["bound_us"]) for row in leaks] == [
        ("aten::clone", 4 * MIB, None)
    ] * 2
