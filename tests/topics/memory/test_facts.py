"""Whatever is recorded, the owners of a peak add up to it; what is alive is what a loop over the rows finds."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats import spilled_table
from aoe_reports.formats.memory import event_frame, sample_frame
from aoe_reports.model.topics.memory import MemoryRecording
from aoe_reports.topics.memory.facts import DevicePeak, device_memory
from aoe_reports.topics.memory.samples import StepSpan, StepTimes
from aoe_reports.topics.memory.static import graphs_of

TIMES = st.none() | st.integers(0, 40)
SIZES = st.integers(0, 1 << 44)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "component": st.sampled_from(["PTA", "GE"]),
            "owner": st.none() | st.sampled_from(["a", "b", "c"]),
            "kind": st.none() | st.sampled_from(["weight", "nonsense"]),
            "location": st.none() | st.sampled_from(["x;y", "z"]),
            "size_bytes": SIZES,
            "allocated_ns": TIMES,
            "released_ns": TIMES,
            "reusable_ns": TIMES,
            "release_allocated_bytes": st.none() | SIZES,
        }
    ),
    max_size=30,
)
SAMPLES = st.lists(
    st.fixed_dictionaries(
        {
            "component": st.sampled_from(["PTA", "GE", "PTA+GE", "APP"]),
            "sampled_ns": st.integers(-5, 45),
            "allocated_bytes": st.none() | SIZES,
            "reserved_bytes": st.none() | SIZES,
        }
    ),
    min_size=1,
    max_size=30,
)


def _columns(rows: list[dict[str, Any]]) -> dict[str, pa.Array]:
    words = {"component", "owner", "kind", "location", "scope"}
    return {
        name: pa.array([row[name] for row in rows], pa.string()).dictionary_encode()
        if name in words
        else pa.array([row[name] for row in rows], pa.int64())
        for name in (rows[0] if rows else {})
    }


def _recordings(rows: list[dict[str, Any]], samples: list[dict[str, Any]]) -> list[MemoryRecording]:
    for sample in samples:
        sample["scope"] = "process" if sample["component"] == "APP" else "allocator"
    events = event_frame(_columns(rows), len(rows))
    return [
        MemoryRecording(rank_id=0, device_id=0, source="operator_memory", events=events, samples=sample_frame({}, 0)),
        MemoryRecording(
            rank_id=0,
            device_id=0,
            source="memory_record",
            events=event_frame({}, 0),
            samples=sample_frame(_columns(samples), len(samples)),
        ),
    ]


def _is_alive(row: dict[str, Any], time: int) -> bool:
    ends = [row[name] for name in ("released_ns", "reusable_ns") if row[name] is not None]
    return (row["allocated_ns"] is None or row["allocated_ns"] <= time) and all(end > time for end in ends)


@given(ROWS, SAMPLES)
def test_owners_add_up_to_any_peak(rows: list[dict[str, Any]], samples: list[dict[str, Any]]) -> None:
    found = device_memory(_recordings(rows, samples), StepTimes(()))
    recorded = [one for one in samples if (one["allocated_bytes"], one["reserved_bytes"]) != (None, None)]
    if found is None:
        assert not recorded
        return
    if not found.owners:
        return
    assert sum(owner.size_bytes for owner in found.owners) == found.peak.size_bytes
    assert 0 <= found.explained <= 1
    both = found.pool.component == "PTA+GE"
    alive: dict[Any, int] = {}
    for row in rows:
        if (both or row["component"] == found.pool.component) and _is_alive(row, found.peak.at_ns):
            key = row["owner"], row["location"], row["allocated_ns"] is None
            alive[key] = alive.get(key, 0) + row["size_bytes"]
    named: dict[Any, int] = {}
    for owner in found.owners:
        if owner.allocations:
            key = owner.name, owner.module, owner.since_before
            named[key] = named.get(key, 0) + owner.size_bytes
            assert owner.kind in {None, "weight"}
    assert named == alive
    before = [owner.size_bytes for owner in found.owners if owner.since_before and not owner.allocations]
    assert all(size >= 0 for size in before)


@given(ROWS, SAMPLES, st.integers(0, 40), st.integers(0, 40))
def test_a_peak_within_a_step_is_the_highest_of_its_samples(
    rows: list[dict[str, Any]], samples: list[dict[str, Any]], begin: int, length: int
) -> None:
    recordings = _recordings(rows, samples)
    whole = DevicePeak.of(recordings)
    peak = None if whole is None else whole.within(StepSpan(1, begin, begin + length))
    if peak is None:
        return
    found = peak.memory(StepTimes([StepSpan(1, begin, begin + length)]))
    mine = [one for one in samples if one["component"] == found.pool.component]
    inside = [one["allocated_bytes"] for one in mine if begin <= one["sampled_ns"] < begin + length]
    sizes = [size for size in inside if size is not None]
    assert found.peak.step == 1
    assert not sizes or found.peak.size_bytes == max(sizes)


def test_older_memory_only_falls_and_what_rises_is_unexplained() -> None:
    """Recorded 100 at first, 60 after older memory was released, 90 without an allocation that is known."""
    samples = [
        {"component": "PTA", "sampled_ns": time, "allocated_bytes": size, "reserved_bytes": size}
        for time, size in ((1, 100), (2, 60), (3, 190))
    ]
    rows = [
        {
            "component": "PTA", "owner": "a", "kind": None, "location": None, "size_bytes": 100, "allocated_ns": 3,
            "released_ns": None, "reusable_ns": None, "release_allocated_bytes": None,
        }
    ]  # fmt: skip
    found = device_memory(_recordings(rows, samples), StepTimes(()))
    assert found is not None
    sizes = {(one.name, one.since_before, one.unexplained): one.size_bytes for one in found.owners}
    assert sizes == {("a", False, False): 100, (None, True, False): 60, (None, False, True): 30}
    assert found.explained == 1 - 30 / (40 + 130)


NODES = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 9), st.none() | st.integers(0, 9), SIZES),
    max_size=20,
)


@given(NODES)
def test_the_peak_of_a_graph_is_that_of_its_worst_node(rows: list[tuple[str, int, int, int | None, int]]) -> None:
    words = [name for name, *_ in rows]
    frame = pa.table(
        {
            "op_name": pa.chunked_array([pa.array(words, pa.string()).dictionary_encode()]),
            "model_name": pa.chunked_array([pa.array(["m"] * len(rows), pa.string()).dictionary_encode()]),
            **{
                name: pa.chunked_array([pa.array([row[place] for row in rows], pa.int64())])
                for name, place in (("graph_id", 1), ("node_index_start", 2), ("node_index_end", 3), ("size_bytes", 4))
            },
        }
    )
    found = {graph.graph: graph for graph in graphs_of(frame)}
    assert found.keys() == {row[1] for row in rows}
    for number, graph in found.items():
        mine = [row for row in rows if row[1] == number and (row[3] is None or row[2] < row[3])]
        held = [
            sum(row[4] for row in mine if row[2] <= node and (row[3] is None or node < row[3])) for node in range(10)
        ]
        assert graph.peak_bytes == max(held)
        assert sum(one.size_bytes for one in graph.held) == graph.peak_bytes


@given(ROWS, SAMPLES, st.sampled_from([1, 2, 5]))
def test_many_blocks_give_what_one_does(rows: list[dict[str, Any]], samples: list[dict[str, Any]], size: int) -> None:
    """Rows out of order, with equal times and without releases."""
    steps = StepTimes([StepSpan(number, 6 * number, 6 * number + 6) for number in range(7)])
    rows = [{**row, "allocation_allocated_bytes": row["size_bytes"]} for row in rows]
    for recordings in (_recordings(rows, samples), _recordings(rows, samples[:0])):
        whole = device_memory(recordings, steps)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spilled_table, "BLOCK_ROWS", size)
            assert device_memory(recordings, steps) == whole
