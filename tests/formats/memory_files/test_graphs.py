"""MindSpore's plan of the memory of graphs: what it writes, compared with the sums that MindSpore's own parser makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from commandline import Cli
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.memory_files import graphs, recordings_of
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.model.errors import ReadError

KINDS = ("LifeLongNone", "LifeLongGraphAll", "LifeLongGraphStart", "LifeLongGraphEnd")


@dataclass
class Tensor:
    number: int
    size: int
    start: int
    end: int
    life: str = "LifeLongNone"
    kind: str = "Common"


def varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])


def field(number: int, value: int | bytes | str) -> bytes:
    """One field; as in proto3, one that is 0 or empty is left out."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value) if value else b""
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def node_of(name: str, number: int, outputs: Sequence[int]) -> bytes:
    packed = b"".join(map(varint, outputs))
    return field(1, name) + field(2, number) + (field(4, packed) + field(5, packed) if packed else b"")


def graph_of(number: int, static: int, nodes: Sequence[tuple[str, Sequence[int]]], tensors: Sequence[Tensor]) -> bytes:
    written = field(1, number) + field(2, static)
    for place, (name, outputs) in enumerate(nodes):
        written += field(3, node_of(name, place, outputs))
    for one in tensors:
        lives = field(3, one.kind) + field(4, one.start) + field(5, one.end) + field(6, one.life)
        written += field(4, field(1, one.number) + field(2, one.size) + lives)
    return written


def plan(folder: Path, *of_graphs: bytes, more: bytes = b"") -> Path:
    path = folder / "memory_usage_3.pb"
    path.write_bytes(b"".join(field(1, graph) for graph in of_graphs) + field(2, 32 << 30) + more)
    return path


def test_a_graph_is_taken_apart_at_the_node_at_which_it_holds_most(tmp_path: Path, cli: Cli) -> None:
    nodes = [("Default/MatMul-op1", [0]), ("Default/ReLU-op2", [1]), ("Default/MatMul-op3", [2])]
    tensors = [
        Tensor(0, 512 << 10, 0, 1),
        Tensor(1, 1 << 20, 1, 2),
        Tensor(2, 256 << 10, 2, 0, "LifeLongGraphEnd"),
        Tensor(7, 64 << 10, 1, 1, kind="Workspace"),
    ]
    answer = cli("memory", plan(tmp_path, graph_of(1, 4 << 20, nodes, tensors)), "--format", "json").json
    assert [(row["op_name"], row["size_bytes"], row["first_node"], row["last_node"]) for row in answer["static"]] == [
        ("static_mem", 4 << 20, 0, None),
        ("Default/ReLU-op2", 1 << 20, 1, 3),
        ("Default/MatMul-op1", 512 << 10, 0, 2),
        ("Workspace", 64 << 10, 1, 2),
    ]
    (peak,) = {(row["rank_id"], row["graph_id"], row["peak_bytes"], row["peak_node"]) for row in answer["static"]}
    assert peak == (3, 1, (4 << 20) + (1 << 20) + (576 << 10), 1)


TENSORS = st.tuples(st.integers(0, 1 << 40), st.integers(0, 5), st.integers(0, 5), st.sampled_from(KINDS))


@given(static=st.integers(0, 2**32 - 1), nodes=st.integers(1, 6), tensors=st.lists(TENSORS, max_size=12))
def test_the_sum_at_each_node_is_that_of_its_own_parser(
    tmp_path_factory: pytest.TempPathFactory, static: int, nodes: int, tensors: list[tuple[int, int, int, str]]
) -> None:
    """MindSpore's memory_usage_parser.py adds each tensor to the nodes of its life; one whose life is not in the graph is left out."""
    made = [Tensor(number, *one) for number, one in enumerate(tensors)]
    path = plan(
        tmp_path_factory.mktemp("g"), graph_of(0, static, [(f"n{place}", [place]) for place in range(nodes)], made)
    )
    (file,) = discover([path]).files
    (recording,) = recordings_of(file)
    lives = {
        "LifeLongNone": lambda one: range(one.start, one.end + 1),
        "LifeLongGraphAll": lambda _: range(nodes),
        "LifeLongGraphStart": lambda one: range(one.end + 1),
        "LifeLongGraphEnd": lambda one: range(one.start, nodes),
    }
    spans = [(one, lives[one.life](one)) for one in made]
    usable = [(one, span) for one, span in spans if len(span) and span.stop <= nodes]
    expected = [static + sum(one.size for one, span in usable if node in span) for node in range(nodes)]
    assert recording.graphs is not None
    rows = recording.graphs.to_pylist()
    sums = [
        sum(
            row["size_bytes"]
            for row in rows
            if row["node_index_start"] <= node and (row["node_index_end"] is None or node < row["node_index_end"])
        )
        for node in range(nodes)
    ]
    assert sums == expected
    assert len(recording.findings) == (len(usable) < len(made))


def test_damaged_graphs_are_left_out_and_reported(tmp_path: Path, cli: Cli) -> None:
    whole = graph_of(2, 1 << 20, [("n", [])], [Tensor(0, 1 << 20, 0, 0)])
    path = plan(tmp_path, whole, whole[:-3], more=field(1, whole)[:-5])
    answer = cli("memory", path, "--format", "json").json
    assert {row["peak_bytes"] for row in answer["static"]} == {2 << 20}
    messages = [finding["message"] for finding in answer["findings"] if finding["rule"] == "memory-entry"]
    assert messages == ["graph number 2 is damaged; it is left out", "the file is damaged or cut off after 2 graphs"]
    assert "memory-entry" in cli("check", path).out
    plan(tmp_path, graph_of(2, 1 << 60, [("n", [])], []))
    assert "a static memory of 1,152,921,504,606,846,976 bytes cannot be" in cli("memory", path).err
    path.write_bytes(b"\xff" * 40)
    assert "damaged or cut off after 0 graphs" in cli("memory", path).out + cli("memory", path).err


@given(st.binary(max_size=80))
def test_no_bytes_break_it(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("g") / "memory_usage_0.pb"
    path.write_bytes(field(1, data) + data)
    (file,) = discover([path]).files
    (recording,) = recordings_of(file)
    assert recording.graphs is not None


def test_a_plan_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = plan(tmp_path, graph_of(1, 1, [("n", [])] * 20, []))
    (file,) = discover([path]).files
    monkeypatch.setattr(graphs, "MAX_ENTRIES", 20)
    with pytest.raises(ReadError, match="more than 20 nodes"):
        recordings_of(file)
    monkeypatch.setattr(graphs, "MAX_BYTES", 20)
    with pytest.raises(ReadError, match="at most 20 are read"):
        recordings_of(file)
