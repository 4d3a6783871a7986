"""The critical path of simulated schedules, whose dependencies are known: sums, slack, and what a change of one slice gives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.arrays.columns import Ints
from aoe_reports.model.arrays.intervals import Intervals
from aoe_reports.model.pictures.path_kinds import KINDS
from aoe_reports.topics.critical_path.facts import (
    MAX_SLACK,
    POINT,
    Graph,
    Slices,
    ends_after,
    graph_of,
    path_of,
    slack_of,
    time_by_kind,
    window_of,
)

COMPUTING = KINDS.index("computing")


@dataclass(frozen=True)
class Task:
    """What is planned: how long it takes, in which lane, behind which other one, and how long after that at least."""

    length: int
    lane: int
    cause: int = -1
    delay: int = 0
    host: bool = False
    point: bool = False


def simulated(tasks: list[Task]) -> list[tuple[int, int]]:
    """(begin, end) of each: as early as its lane and its cause allow."""
    free: dict[int, int] = {}
    times: list[tuple[int, int]] = []
    for task in tasks:
        begin = free.get(task.lane, 0)
        if task.cause >= 0:
            begin = max(begin, times[task.cause][1] + task.delay)
        times.append((begin, begin + task.length))
        free[task.lane] = begin + task.length
    return times


def slices_of(tasks: list[Task], order: list[int] | None = None) -> Slices:
    """What a profile of the simulated run tells, in any order."""
    order = list(range(len(tasks))) if order is None else order
    places = {number: place for place, number in enumerate(order)}
    times = simulated(tasks)

    def column(values: list[int]) -> Ints:
        return np.asarray([values[number] for number in order], dtype=np.int64)

    return Slices(
        start=column([begin for begin, _ in times]),
        end=column([end for _, end in times]),
        lane=column([task.lane for task in tasks]),
        kind=column([POINT if task.point else COMPUTING for task in tasks]),
        cause=column([places.get(task.cause, -1) for task in tasks]),
        delay=column([task.delay for task in tasks]),
        host=column([int(task.host) for task in tasks]),
        name=column(list(range(len(tasks)))),
    )


def shorter(graph: Graph, number: int, by: int) -> int:
    """The end of all slices if one takes so much less time; the slices are named by their number."""
    window = window_of(graph, 0, int(graph.slices.end.max()))
    saved = np.where(graph.slices.name == number, by, 0)
    return int(ends_after(window, saved).max())


lengths = st.integers(1, 50)


@st.composite
def plans(draw: st.DrawFn) -> list[Task]:
    """A few lanes; a cause is any earlier task of another lane."""
    tasks: list[Task] = []
    for number in range(draw(st.integers(1, 24))):
        lane = draw(st.integers(0, 3))
        others = [place for place in range(number) if tasks[place].lane != lane]
        cause = draw(st.sampled_from([-1, *others]))
        tasks.append(Task(draw(lengths), lane, cause, draw(st.integers(0, 5)) if cause >= 0 else 0))
    return tasks


SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6), st.integers(0, 2)), min_size=1, max_size=20)


@given(SPANS)
def test_before_a_slice_stands_what_ended_last_in_its_lane(spans: list[tuple[int, int, int]]) -> None:
    """Slices of a lane may overlap, and take no time; of those that end with one the last, of those that also begin with it none behind it."""
    start, length, lane = (np.asarray(column, dtype=np.int64) for column in zip(*spans, strict=True))
    nothing = np.zeros(len(spans), dtype=np.int64)
    graph = graph_of(Slices(start, start + length, lane, nothing, nothing - 1, nothing, nothing, np.arange(len(spans))))
    told = graph.slices
    for place, before in enumerate(graph.before.tolist()):
        ended = [
            (int(told.end[one]), one)
            for one in range(len(spans))
            if told.lane[one] == told.lane[place] and (told.end[one], one) < (told.start[place], place)
        ]
        assert before == max(ended, default=(0, -1))[1]


@given(plans())
def test_the_segments_of_a_path_are_the_whole_time_one_behind_the_other(tasks: list[Task]) -> None:
    graph = graph_of(slices_of(tasks))
    end = int(graph.slices.end.max())
    path = path_of(graph, int(np.argmax(graph.slices.end)), 0, {})
    assert (path.start[0], path.end[-1]) == (0, end)
    assert path.end[:-1].tolist() == path.start[1:].tolist()
    assert (path.duration > 0).all()
    assert sum(time_by_kind(path).values()) == end


@given(plans(), st.data())
def test_a_shortened_slice_gives_the_time_of_the_run_simulated_with_it(tasks: list[Task], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(tasks) - 1))
    by = data.draw(st.integers(0, tasks[number].length - 1))
    changed = [replace(task, length=task.length - by * (place == number)) for place, task in enumerate(tasks)]
    truth = max(end for _, end in simulated(changed))
    assert shorter(graph_of(slices_of(tasks)), number, by) == truth


@given(plans())
def test_nothing_shortened_is_the_measured_run_to_the_nanosecond(tasks: list[Task]) -> None:
    graph = graph_of(slices_of(tasks))
    window = window_of(graph, 0, int(graph.slices.end.max()))
    assert ends_after(window, np.zeros(len(window), dtype=np.int64)).tolist() == graph.slices.end.tolist()


@given(plans(), st.data())
def test_the_gain_is_never_more_than_what_is_shortened_on_the_path(tasks: list[Task], data: st.DataObject) -> None:
    graph = graph_of(slices_of(tasks))
    end = int(graph.slices.end.max())
    path = path_of(graph, int(np.argmax(graph.slices.end)), 0, {})
    on_path = set(graph.slices.name[path.place[path.kind == COMPUTING]].tolist())
    number = data.draw(st.integers(0, len(tasks) - 1))
    by = data.draw(st.integers(0, tasks[number].length))
    assert 0 <= end - shorter(graph, number, by) <= (by if number in on_path else 0)


@given(plans(), st.data())
def test_slack_is_how_much_longer_a_slice_may_take(tasks: list[Task], data: st.DataObject) -> None:
    graph = graph_of(slices_of(tasks))
    end = int(graph.slices.end.max())
    window = window_of(graph, 0, end)
    slack = slack_of(window, np.ones(len(window), dtype=bool), end)
    place = data.draw(st.integers(0, len(tasks) - 1))
    number = int(graph.slices.name[place])
    assert shorter(graph, number, -int(slack[place])) == end
    assert shorter(graph, number, -int(slack[place]) - 1) == end + 1


@given(plans(), st.randoms(use_true_random=False))
def test_the_order_of_the_file_decides_nothing(tasks: list[Task], random: object) -> None:
    order = list(range(len(tasks)))
    random.shuffle(order)  # type: ignore[attr-defined]
    one, other = graph_of(slices_of(tasks)), graph_of(slices_of(tasks, order))
    assert one.slices.name.tolist() == other.slices.name.tolist()
    assert one.before.tolist() == other.before.tolist()
    assert one.slices.cause.tolist() == other.slices.cause.tolist()


@given(plans(), st.integers(0, 200))
def test_a_path_of_a_part_of_the_time_is_that_long(tasks: list[Task], begin: int) -> None:
    graph = graph_of(slices_of(tasks))
    last = int(np.argmax(graph.slices.end))
    end = int(graph.slices.end[last])
    path = path_of(graph, last, min(begin, end), {})
    assert path.duration.sum() == end - min(begin, end)
    window = window_of(graph, min(begin, end), end)
    whole = ends_after(window, np.zeros(len(window), dtype=np.int64))
    assert whole.tolist() == window.end.tolist()


HOST, STREAM, OTHER = 0, 1, 2
LAUNCHED = [
    Task(0, HOST, host=True, point=True),  # 0: at 0
    Task(100, STREAM, cause=0, delay=10),  # 1: 10 to 110
    Task(30, OTHER, cause=0, delay=10),  # 2: 10 to 40
    Task(50, STREAM, cause=2),  # 3: 110 to 160
]


def test_the_chain_is_that_of_what_was_ready_last() -> None:
    graph = graph_of(slices_of(LAUNCHED))
    path = path_of(graph, int(np.argmax(graph.slices.end)), 0, {})
    assert [(KINDS[kind], *times) for kind, *times in zip(path.kind, path.start, path.end, strict=True)] == [
        ("launch", 0, 10),
        ("computing", 10, 110),
        ("computing", 110, 160),
    ]


def test_slack_of_what_another_lane_waits_for_is_the_time_until_that_is_free() -> None:
    graph = graph_of(slices_of(LAUNCHED))
    window = window_of(graph, 0, 160)
    slack = slack_of(window, np.ones(len(window), dtype=bool), 160)
    assert dict(zip(graph.slices.name.tolist(), slack.tolist(), strict=True)) == {0: 0, 1: 0, 2: 70, 3: 0}


def test_shortening_gives_no_more_than_until_another_chain_is_the_longest() -> None:
    graph = graph_of(slices_of(LAUNCHED))
    assert 160 - shorter(graph, 1, 60) == 60
    assert 160 - shorter(graph, 1, 100) == 70  # then the other stream bounds it


def test_what_nothing_of_a_step_depends_on_has_any_slack() -> None:
    graph = graph_of(slices_of(LAUNCHED))
    window = window_of(graph, 0, 160)
    slack = slack_of(window, graph.slices.name == 1, 110)
    assert slack[graph.slices.name.tolist().index(3)] == MAX_SLACK


def test_time_of_the_host_outside_of_recorded_ranges_is_unexplained() -> None:
    tasks = [
        Task(0, HOST, host=True, point=True),
        Task(0, STREAM, host=True, point=True, cause=0, delay=100),
        Task(20, OTHER, cause=1, delay=5),
    ]
    graph = graph_of(slices_of(tasks))
    ranges = Intervals(np.asarray([-50, 60]), np.asarray([30, 70]))
    path = path_of(graph, int(np.argmax(graph.slices.end)), 0, {STREAM: ranges})
    assert [(KINDS[kind], duration) for kind, duration in zip(path.kind, path.duration.tolist(), strict=True)] == [
        ("host", 30),
        ("unexplained wait", 30),
        ("host", 10),
        ("unexplained wait", 30),
        ("launch", 5),
        ("computing", 20),
    ]


def test_a_cause_that_ends_only_after_its_effect_began_is_none() -> None:
    slices = slices_of([Task(100, 0), Task(10, 1), Task(10, 1)])
    slices = replace(slices, cause=np.asarray([-1, 0, 0]))
    assert graph_of(slices).slices.cause.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("count", [0, 1])
def test_few_slices_are_a_graph(count: int) -> None:
    assert len(graph_of(slices_of([Task(5, 0)] * count)).slices) == count
