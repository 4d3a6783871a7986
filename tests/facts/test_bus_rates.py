"""Bus rates: bytes of all transports once, links of the operators that are told of, and no rate where the time is of other bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from aoe_reports.model.topics.communication import TransportVolume
from aoe_reports.topics.communication.facts import OperatorTime, Transfer
from aoe_reports.topics.communication.run import Communication

NOMINAL = {"HCCS": 28.0, "RDMA": 25.0, "PCIE": 20.0}


def communication(
    carried: dict[str, int], links: Sequence[tuple[str, int, str]] = (), *, examples: bool = False
) -> Communication:
    """An all-reduce of 1 ms on rank 0; links of (type of operator, destination, transport)."""
    return Communication(
        operators=[OperatorTime(0, 1, "collective", "a", "allreduce", "g", None, 1_000_000, transit_ns=1_000_000)],
        volumes=[TransportVolume(rank_id=0, group="g", op_type="allreduce", transport=name, transit_bytes=size, transit_ns=1)
                 for name, size in carried.items()],
        transfers=[
            Transfer(0, 1, "collective", op_type, op_type, "g", 0, peer, transport, 1, 1, is_example=examples)
            for op_type, peer, transport in links
        ],
        nominal_gb_per_s=dict(NOMINAL),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("carried", "size"),
    [
        ({"HCCS": 5, "SDMA": 5}, 5),
        ({"SDMA": 7}, 7),
        ({"RDMA": 3, "SDMA": 7}, 10),  # what carried it is not told
        ({"RDMA": 3, "HCCS": 4, "PCIE": 1, "SIO": 2, "SDMA": 7}, 10),
        ({"RDMA": 3, "HCCS": 4, "SDMA": 0}, 7),
        ({"unknown": 2, "SDMA": 7}, 9),
        ({}, 0),
    ],
)
def test_each_byte_counts_once(carried: dict[str, int], size: int) -> None:
    rates = communication(carried).bus_rates()
    assert [one.transit_bytes for one in rates.values()] == ([size] if carried else [])


def nominal(*links: tuple[str, int, str], examples: bool = False) -> float | None:
    return communication({"HCCS": 1}, links, examples=examples).bus_rates()[(0, "g", "allreduce")].nominal


def test_links_are_those_of_the_same_operators_and_a_chip_has_one_of_rdma() -> None:
    assert nominal(("allreduce", 1, "HCCS"), ("allreduce", 2, "HCCS"), ("broadcast", 3, "HCCS")) == 56.0
    assert nominal(("allreduce", 1, "HCCS"), ("allreduce", 8, "RDMA"), ("allreduce", 9, "RDMA")) == 53.0
    assert nominal(("allreduce", 1, "PCIE"), ("allreduce", 2, "PCIE")) == 20.0
    assert nominal(("allreduce", 1, "HCCS"), ("allreduce", 2, "SIO")) is None
    assert nominal(("allreduce", 1, "HCCS"), examples=True) is None
    assert nominal(("broadcast", 1, "HCCS")) is None


def test_there_is_no_rate_where_an_operator_sent_outside_of_its_time() -> None:
    run = communication({"HCCS": 5_000_000})
    assert run.bus_rates()[(0, "g", "allreduce")].gb_per_s == 5.0
    other = Communication(untimed=[(0, "g", "allreduce"), (1, "g", "allreduce")])
    run.take(other)
    found = run.bus_rates()
    assert [*found] == [(0, "g", "allreduce")]
    assert found[(0, "g", "allreduce")].gb_per_s is None
