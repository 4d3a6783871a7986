"""Packets: sums are those of the table, classes hold what they say, and only what is lost for nothing is told."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.topics.communication.facts import OperatorTime
from aoe_reports.topics.communication.packets import (
    CLASSES,
    PacketSum,
    RdmaTime,
    alignment,
    alignments_of_ranks,
    class_of,
    classes_of,
    packets_of,
    resent,
    small_packets,
)


def row(distribution: Any, transport: str = "HCCS") -> dict[str, Any]:
    text = distribution if isinstance(distribution, str) else json.dumps(distribution)
    return {"transport": transport, "size_distribution": text}


sizes = st.integers(0, 2**40)
entries = st.dictionaries(sizes, st.tuples(st.integers(1, 10**6), st.integers(0, 10**12)), max_size=8)


@given(st.lists(entries, max_size=4))
def test_no_packet_byte_or_nanosecond_is_lost(tables: list[dict[int, tuple[int, int]]]) -> None:
    rows = [
        row(
            "{{{}}}".format(
                ", ".join(
                    f'"{Decimal(size) / 10**6}": [{count}, {Decimal(ns) / 10**6}]' for size, (count, ns) in one.items()
                )
            )
        )
        for one in tables
    ]
    sums, unusable = packets_of(3, rows)
    every = [(size, count, ns) for one in tables for size, (count, ns) in one.items()]
    assert unusable == 0
    assert sum(one.packets for one in sums) == sum(count for _, count, _ in every)
    assert sum(one.transit_bytes for one in sums) == sum(size * count for size, count, _ in every)
    assert sum(one.transit_ns for one in sums) == sum(ns for _, _, ns in every)
    classes = classes_of(sums)
    assert sum(one.transit_ns for one in classes) == sum(ns for _, _, ns in every)
    assert all(0 <= (one.lost_ns or 0) <= one.transit_ns for one in classes)


@given(sizes)
def test_a_packet_is_in_the_class_whose_bounds_it_is_within(size: int) -> None:
    least = class_of(size)
    assert least in CLASSES
    assert least <= size
    assert not any(least < other <= size for other in CLASSES)


@pytest.mark.parametrize(
    "text",
    ["[", "[1]", '{"x": [1, 2]}', '{"1": 5}', '{"1": [1]}', '{"1": [1.5, 2]}', '{"1": [-1, 2]}', '{"1": [1, -2]}', '{"-1": [1, 2]}',
     '{"1e999": [1, 2]}', '{"4e12": [4000000000000000, 2]}', '{"1e999999999": [1, 2]}', '{"1": [1, 1e999]}', '{"1": ["1", 2]}', '{"NaN": [1, 2]}', '{"1": [true, 2]}', '{"1": [NaN, 2]}'],
)  # fmt: skip
def test_what_is_no_size_is_counted_and_in_no_sum(text: str) -> None:
    assert packets_of(0, [row(text), row({"2": [3, 4.5]})]) == (
        [PacketSum(0, None, "HCCS", 2_000_000, 3, 6_000_000, 4_500_000)],
        1,
    )


def test_an_empty_distribution_tells_of_no_packets() -> None:
    assert packets_of(0, [row("{}"), {"transport": None, "size_distribution": None}]) == ([], 0)


def test_the_extra_time_is_against_the_fastest_size_of_the_same_transport() -> None:
    sums, _ = packets_of(0, [row({"0.1": [1000, 50], "8": [50, 20]}), row({"0.1": [10, 1]}, "RDMA")])
    small, large, other = classes_of(sums)
    assert (small.least_bytes, small.most_bytes, small.transit_bytes, small.gb_per_s) == (
        64_000,
        500_000,
        100_000_000,
        2.0,
    )
    assert small.lost_ns == 45_000_000  # 100 MB at 20 GB/s take 5 ms, not 50
    assert (large.gb_per_s, large.lost_ns) == (20.0, None)
    assert (other.transport, other.lost_ns) == ("RDMA", None)
    assert (small.bytes_share, small.time_share) == (0.2, 50 / 70)


def test_a_size_with_hardly_a_byte_is_no_measure() -> None:
    sums, _ = packets_of(0, [row({"8": [50, 20], "70": [1, 0.1]}), row({"20": [50, 50]})])
    eight, twenty, seventy = classes_of(sums)
    assert (seventy.gb_per_s, seventy.bytes_share) == (700.0, 70 / 1470)
    assert (eight.lost_ns, twenty.lost_ns, seventy.lost_ns) == (0, None, None)


@pytest.mark.parametrize(("small_ms", "told"), [(8.9, False), (9.1, True)])
def test_small_packets_are_told_from_a_fifth_of_the_time_on(small_ms: float, *, told: bool) -> None:
    sums, _ = packets_of(
        0, [row({"0.1": [1000, small_ms], "8": [50, 16]})]
    )  # 4 ms at the rate of the large ones: 25 GB/s
    found = small_packets(classes_of(sums))
    assert [(small.lost_ns, fast.least_bytes) for small, fast in found] == ([(5_100_000, 2_000_000)] if told else [])


def test_less_than_a_millisecond_is_not_worth_a_word() -> None:
    sums, _ = packets_of(0, [row({"0.1": [100, 0.9], "8": [5, 1.6]})])
    assert small_packets(classes_of(sums)) == []


def operator(rank: int, seconds: float, name: str = "a") -> OperatorTime:
    return OperatorTime(rank, 1, "collective", name, "allreduce", "g", None, round(seconds * 1e9))


KEY = (1, "collective", "g", "a")


@pytest.mark.parametrize(
    ("elapsed", "transfer", "told"),
    [((4.5, 4.6), 4.4, True), ((4.5, 3.9), 4.4, False), ((4.5, 4.6), 3.9, False), ((4.0, 4.6), 4.4, False)],
)
def test_packets_were_sent_again_where_no_rank_was_through_in_4_s(
    elapsed: tuple[float, float], transfer: float, *, told: bool
) -> None:
    operators = [operator(rank, seconds) for rank, seconds in enumerate(elapsed)]
    rdma = [RdmaTime(KEY, 0, 1_000_000), RdmaTime(KEY, 1, round(transfer * 1e9))]
    found = resent(operators, rdma)
    assert [(own.rank_id, one.transit_ns) for own, one in found] == ([(1, round(transfer * 1e9))] if told else [])


def test_alignments_of_steps_add_up_to_those_of_ranks() -> None:
    parts = [alignment(0, 1, "HCCS", (2, 1024, 9, 1, 512, 5)), alignment(0, 2, "HCCS", (3, 2048, 8, 2, 700, 4))]
    assert alignments_of_ranks(parts) == [alignment(0, None, "HCCS", (5, 3072, 17, 3, 1212, 9))]
