"""Waiting that only the durations of several ranks tell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.topics.comparison.explained_runs import waits_among_ranks
from aoe_reports.topics.comparison.exposed import Ran

NAMES = ("hcom_allReduce__868_0_1", "hcom_allGather__868_1_1", "hcom_reduceScatter__5_0_1", "hcom_alltoallv__5_1_1")


def ran(calls: int, total_ns: int) -> Ran:
    return Ran(calls, total_ns, total_ns)


def test_the_last_rank_to_come_waits_for_nobody() -> None:
    told = waits_among_ranks({0: {NAMES[0]: ran(4, 90)}, 1: {NAMES[0]: ran(4, 60)}, 2: {NAMES[0]: ran(4, 75)}})
    assert {rank: (talk[NAMES[0]].wait_ns, talk[NAMES[0]].transit_ns) for rank, talk in told.items()} == {
        0: (30, 60), 1: (0, 60), 2: (15, 60),
    }  # fmt: skip


def test_nothing_is_told_of_one_rank_of_other_numbers_of_calls_and_of_what_not_all_ranks_wait_in() -> None:
    assert waits_among_ranks({0: {NAMES[0]: ran(4, 90)}}) == {}
    assert waits_among_ranks({0: {NAMES[0]: ran(4, 90)}, 1: {NAMES[0]: ran(3, 60)}}) == {}
    assert waits_among_ranks({0: {NAMES[0]: ran(4, 90)}, 1: {NAMES[0]: ran(4, 0)}}) == {}
    for name in (
        "allReduce_0",
        "hcom_broadcast__868_0_1",
        "hcom_send__868_0_1",
        "hcom_receive__868_0_1",
        "hcom_reduce__868_0_1",
    ):
        assert waits_among_ranks({0: {name: ran(4, 90)}, 1: {name: ran(4, 60)}}) == {}


@given(st.dictionaries(st.integers(0, 5), st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1000), min_size=1)))
def test_waiting_and_transfer_are_all_of_an_operator(times: dict[int, dict[str, int]]) -> None:
    ranks = {rank: {name: ran(2, time) for name, time in mine.items()} for rank, mine in times.items()}
    told = waits_among_ranks(ranks)
    for rank, talk in told.items():
        for name, one in talk.items():
            assert one.elapsed_ns == times[rank][name] == one.wait_ns + one.transit_ns
    for name in NAMES:
        waits = [talk[name].wait_ns for talk in told.values() if name in talk]
        assert not waits or (len(waits) > 1 and min(waits) == 0)
