"""Runs, jobs, verdicts and hotspots of a night in a report: each sentence, and what stands in the tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from aoe_reports.model.classes import declared_fields
from aoe_reports.model.history.listings import ListedVerdict
from aoe_reports.model.history.runs import IngestedRun
from aoe_reports.model.report import Ranking, Section
from aoe_reports.present.reports.night_content import Hotspots, Job, Night, StoredRun, TypeTime
from aoe_reports.present.reports.night_runs import hotspots_section, read_section, run_sections, verdict_sections


def filled(kind: type[Any], **values: Any) -> Any:
    """A row of which only some cells are known."""
    return kind(**{**dict.fromkeys(declared_fields(kind)), **values})


def runs(*status: str) -> list[StoredRun]:
    return [filled(StoredRun, run=f"r{place}", status=one) for place, one in enumerate(status)]


def keys(section: Section) -> set[str]:
    assert section.grid is not None
    return {column.key for column in section.grid.columns}


def listed(section: Section, name: str) -> list[Any]:
    assert section.grid is not None
    return [row.get(name) for row in section.grid.rows]


def test_a_store_of_nothing_has_no_runs() -> None:
    assert run_sections(Night(night=None, runs=runs("ok"))) == []


def test_runs_of_a_night_are_counted_and_listed() -> None:
    (told,) = run_sections(Night(night="2026-01-05", runs=runs("ok")))
    assert told.title == "Runs of the night"
    assert told.sentences == ["1 run stored for 2026-01-05. The step time is that of the slowest rank."]
    assert listed(told, "run") == ["r0"]
    (told,) = run_sections(Night(night="2026-01-05", runs=runs("ok", "incomplete", "incomplete")))
    assert told.sentences == [
        "3 runs stored for 2026-01-05. The step time is that of the slowest rank.",
        "2 runs of them truncated: not compared.",
    ]


@pytest.mark.parametrize(("count", "more"), [(15, []), (16, ["The newest 15 are listed."])])
def test_the_newest_fifteen_runs_are_listed(count: int, more: list[str]) -> None:
    (told,) = run_sections(Night(night="2026-01-05", runs=runs(*["ok"] * count)))
    assert told.sentences[1:] == more
    assert listed(told, "run") == [f"r{place}" for place in range(count - 15, count)]
    read = read_section(Job(read=[filled(IngestedRun, run=f"r{place}", outcome="added") for place in range(count)]))
    assert read.sentences[1:] == more
    assert listed(read, "run") == [f"r{place}" for place in range(count - 15, count)]


def test_other_workloads_and_later_nights_are_named() -> None:
    night = Night(
        night="2026-01-05", runs=runs("ok"), others=[f"w{n}" for n in range(16)], later=[f"n{n}" for n in range(16)]
    )
    some = [", ".join(f"{letter}{n}" for n in span) for letter, span in (("w", range(15)), ("n", range(1, 16)))]
    (told,) = run_sections(night)
    assert told.sentences[1:] == [
        f"Other workloads with a run that night: {some[0]}. Use `--workload` to report on one of them.",
        f"No measurements on 16 later nights with a run: {some[1]}.",
    ]
    (told,) = run_sections(replace(night, workload="net", others=(), later=["2026-01-06"]))
    assert told.sentences[1:] == ["No measurements of this workload on 1 later night with a run: 2026-01-06."]


def test_what_a_job_read_is_counted_by_what_became_of_it() -> None:
    outcomes = ("unchanged", "added", "added", "superseded")
    read = [filled(IngestedRun, run=f"r{n}", outcome=one, path="p", status="incomplete" if n == 1 else "ok") for n, one in enumerate(outcomes)]  # fmt: skip
    told = read_section(Job(read=read))
    assert told.title == "Data read"
    assert told.sentences == [
        "4 runs read: 2 added, 1 superseded, 1 unchanged. The step time is that of the slowest rank.",
        "1 run of them truncated: not compared.",
    ]
    assert "path" not in keys(told)
    nothing = read_section(Job(read=[]))
    assert nothing == Section("Data read", ["0 runs read: none. The step time is that of the slowest rank."], None)
    assert read_section(Job(read=read[:1])).sentences[0].startswith("1 run read: 1 unchanged. ")


@pytest.mark.parametrize(("count", "more"), [(15, ""), (16, " The first 15 of 16 rows.")])
def test_fifteen_verdicts_are_listed_without_what_is_too_long(count: int, more: str) -> None:
    verdicts = [
        filled(ListedVerdict, night="2026-01-05", scope="operator", op_name=f"op{n}", input_shapes="1,2", reason="why", verdict="confirmed")
        for n in range(count)
    ]  # fmt: skip
    (told,) = verdict_sections(verdicts)
    assert told.title == "Claimed vs measured"
    assert told.sentences == [
        "Measurements by `verify` of AOE's claims, from profiles before and after tuning; change is after/before - 1."
        + more
    ]
    assert listed(told, "op_name") == [f"op{n}" for n in range(15)]
    assert not {"night", "input_shapes", "reason"} & keys(told)
    assert verdict_sections([]) == []


def times(count: int) -> list[TypeTime]:
    return [
        TypeTime(position=n + 1, op_type=f"T{n}", task_type="AI_CORE" if n % 2 else None, count=1 if n == 0 else 1000 * n, total_us=2000.0 - n, mean_us=None, share=None if n == 1 else 0.125)
        for n in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize(("count", "more"), [(10, ""), (11, "; the first 10 of 11 types")])
def test_the_first_ten_types_are_listed_and_drawn(ranks: int, count: int, more: str) -> None:
    hot = Hotspots("r1", "net", ranks, times(count), 12345.6)
    told = hotspots_section(Night(night="2026-01-05", hotspots=hot))
    of = ", sum of 4 ranks" if ranks == 4 else ""
    about = f"Compute tasks of run r1 (net) by operator type{of}, 12,345.600 us in all{more}"
    assert (told.title, told.figure, told.sentences) == ("Device time breakdown", "hotspots", [f"{about}."])
    assert listed(told, "op_type") == [f"T{n}" for n in range(10)]
    chart = told.chart
    assert isinstance(chart, Ranking)
    assert chart.title == "net: breakdown of device time"
    assert chart.subtitle == f"Night 2026-01-05: 12,346 us of compute tasks by operator type{of}"
    assert chart.labels == [f"T{n} (AI_CORE)" if n % 2 else f"T{n}" for n in range(10)]
    assert chart.values == [2000.0 - n for n in range(10)]
    assert chart.words[:3] == [
        "12.5%   2,000.0 us, 1 task",
        "1,999.0 us, 1,000 tasks",
        "12.5%   1,998.0 us, 2,000 tasks",
    ]
    types = ", ".join(f"T{n} {2000 - n:,.3f} us" + ("" if n == 1 else " (12.5%)") for n in range(10))
    assert chart.description == f"Bar chart, night 2026-01-05. {about}: {types}"


def test_a_night_without_operators_says_so() -> None:
    assert hotspots_section(Night(night="2026-01-05")) == Section(
        "Device time breakdown", ["No run of that night has operator data."]
    )
