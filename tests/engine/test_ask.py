"""`ask`: one unit after another or in several processes, and on where one cannot be read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from captures import KERNELS, write_ranks
from odd_question import Odd, number_and_process, number_unless_poison, slow_until_others_are_done

from aoe_reports.engine.ask import ask, asking
from aoe_reports.engine.fleet import executors
from aoe_reports.engine.fleet.executors import AHEAD, Processes, Serial
from aoe_reports.engine.question import RunOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.topics.comparison.compare import compare
from aoe_reports.topics.comparison.explain import explain
from aoe_reports.topics.device_time.hotspots import HotspotOptions, Hotspots, hotspots


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    return write_ranks(tmp_path, 4)


@pytest.mark.parametrize("executor", [Serial(), Processes(2)], ids=["serial", "processes"])
def test_what_stops_one_unit_stops_no_other_and_its_notes_survive(ranks: Path, executor: Serial | Processes) -> None:
    answer = ask(Odd(), [ranks], RunOptions(), executor=executor)
    assert [Path(one.path).name for one in answer.rows] == ["rank_0", "rank_2", "rank_3"]
    assert [(one.rule, Path(one.path).name) for one in answer.findings] == [
        ("seen", "rank_0"), ("unreadable", "rank_1"), ("seen", "rank_1"), ("seen", "rank_2"), ("seen", "rank_3"),
    ]  # fmt: skip
    assert answer.unreadable
    assert answer.exit_code() == 3


def test_a_process_that_is_killed_costs_its_own_unit_only(ranks: Path) -> None:
    (ranks / "rank_2" / "deadly").touch()
    answer = ask(Odd(), [ranks], RunOptions(jobs=2))
    assert [Path(one.path).name for one in answer.rows] == ["rank_0", "rank_3"]
    assert {Path(one.path).name for one in answer.findings if one.rule == "unreadable"} == {"rank_1", "rank_2"}


def test_what_ends_its_process_is_tried_once_more_and_the_rest_has_processes_again(tmp_path: Path) -> None:
    """Also where two do; a process for each unit that comes after them would take half a second each."""
    units = [(tmp_path, number, number in {7, 9}) for number in range(60)]
    assert list(Processes(2).map(number_unless_poison, units)) == [
        None if poison else number for _, number, poison in units
    ]
    begun = [line.split() for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    tried = Counter(int(number) for number, _ in begun)
    assert (tried[7], max(tried.values())) == (2, 2)  # 9 may not have begun when 7 ended its process
    assert len({process for _, process in begun}) <= 10


def test_a_slow_unit_holds_up_none_of_the_next(tmp_path: Path) -> None:
    """So many are read by the other process meanwhile that one may take 16 times as long as the others."""
    units = [(tmp_path, number, 2 * AHEAD) for number in range(40)]
    assert list(Processes(2).map(slow_until_others_are_done, units)) == list(range(40))


def test_a_question_is_a_function_of_paths_and_options(ranks: Path) -> None:
    answer = hotspots([ranks], by="op_name", top=1)
    assert [(one.op_name, one.total_ns) for one in answer.rows] == [("a", 2500), ("a", 3500), ("a", 4500), ("a", 5500)]
    with pytest.raises(UsageError, match="top"):
        hotspots([ranks], top=0)


def test_where_nothing_answers_what_was_asked_for_is_named(ranks: Path) -> None:
    (finding,) = asking(Hotspots(), HotspotOptions)([ranks], device=9, step=3).findings
    assert (finding.severity, finding.rule) == ("error", "nothing-measured")
    assert finding.message == "no task to rank here (device 9, step 3)"


def test_processes_read_few_units_before_the_first_is_taken() -> None:
    begun: list[int] = []

    class Units(list[int]):
        def __getitem__(self, part: Any) -> Any:
            return Units(super().__getitem__(part))

        def __iter__(self) -> Iterator[int]:
            for unit in super().__iter__():
                begun.append(unit)
                yield unit

    results = Processes(2).map(abs, Units(range(40)))
    assert next(results) == 0
    assert len(begun) == 2 * AHEAD + 1
    assert list(results) == list(range(1, 40))


@pytest.mark.parametrize(
    ("folders", "listed"), [([0, 1, 2], "0-2"), ([0, 2, 3, 7], "0, 2-3, 7"), ([5], "5"), ([1023, 9, 10], "9-10, 1023")]
)
def test_a_rank_that_is_not_here_is_answered_with_those_that_are(
    tmp_path: Path, folders: list[int], listed: str
) -> None:
    for rank in folders:
        folder = tmp_path / f"host_{rank}_ascend_pt"
        (folder / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
        (folder / f"profiler_info_{rank}.json").write_text(f'{{"rank_id": {rank}}}')
        (folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").write_text(f"{KERNELS}0,a,MatMul,AI_CORE,1.0,2.5\n")
    (found,) = ask(Hotspots(), [tmp_path], HotspotOptions(rank=4)).findings
    assert found.message == f"no task to rank here (rank 4); ranks here: {listed}"
    assert ask(Hotspots(), [tmp_path], HotspotOptions(rank=folders[0])).findings == []


@pytest.mark.parametrize(
    ("worth_s", "least_unit_s", "processors", "others"),
    [(0.0, 0.0, {0, 1, 2}, 4), (1e9, 0.0, {0, 1, 2}, 0), (0.0, 1e9, {0, 1, 2}, 0), (0.0, 0.0, {0}, 0)],
    ids=["worth", "quick", "small", "one"],
)
def test_other_processes_are_started_where_what_is_left_is_worth_it(
    monkeypatch: pytest.MonkeyPatch, worth_s: float, least_unit_s: float, processors: set[int], others: int
) -> None:
    monkeypatch.setattr(executors, "WORTH_S", worth_s)
    monkeypatch.setattr(executors, "START_S", 1e-9)
    monkeypatch.setattr(executors, "MEASURED_S", 0.0)
    monkeypatch.setattr(executors, "MIN_UNIT_S", least_unit_s)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: processors)
    found = list(executors.AutoExecutor().map(number_and_process, range(6)))
    assert [number for number, _ in found] == list(range(6))
    assert [process != os.getpid() for _, process in found] == [False] * (6 - others) + [True] * others


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bye", r"hotspots\(\) has no option 'bye'; did you mean 'by'\?"),
        ("xyz", r"no option 'xyz'; its options: .*top"),
    ],
)
def test_an_unknown_option_is_told_with_the_function_and_what_was_meant(name: str, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        hotspots([], **{name: "op_name"})  # type: ignore[arg-type]


def test_a_question_takes_one_path_of_any_kind_and_options_by_keyword_only(ranks: Path) -> None:
    ask_hotspots: Any = asking(Hotspots(), HotspotOptions)
    assert ask_hotspots(str(ranks)).rows == ask_hotspots(ranks).rows == ask_hotspots([ranks]).rows
    with pytest.raises(TypeError, match="takes its paths as one list"):
        ask_hotspots(ranks, ranks)


@pytest.mark.parametrize(
    ("question", "count"), [(compare, 1), (explain, 1), (explain, 3), (hotspots, 0)], ids=lambda one: str(one)[:20]
)
def test_too_few_or_too_many_paths_are_refused(ranks: Path, question: Any, count: int) -> None:
    with pytest.raises(TypeError, match=rf"takes a list of paths .*; found {count}"):
        question([ranks / f"rank_{number}" for number in range(count)])


def test_editors_are_shown_the_options_of_a_question() -> None:
    shown = signature(asking(Hotspots(), HotspotOptions)).parameters
    assert next(iter(shown)) == "paths"
    assert str(shown["top"]) == "top: 'int' = 20"
    assert {"strict", "jobs", "cache", "by"} < shown.keys()
