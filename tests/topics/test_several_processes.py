"""What questions hand on of a capture goes to another process and back: the answers are the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from stores import stored_rows

from aoe_reports.engine.ask import ask
from aoe_reports.engine.fleet.executors import Processes
from aoe_reports.engine.question import Notes, Question, Request
from aoe_reports.model.report import Section
from aoe_reports.present.answers import report_of
from aoe_reports.topics.communication.communication import CommunicationOfRuns
from aoe_reports.topics.device_time.breakdown import Breakdown
from aoe_reports.topics.steps.steps import Steps

if TYPE_CHECKING:
    from commandline import Cli


@pytest.mark.parametrize("question", [Breakdown(), CommunicationOfRuns()], ids=lambda one: one.name)
def test_processes_answer_as_one_process_does(msprof: Path, question: Question[Any, Any]) -> None:
    paths = [msprof / name for name in ("communication_of_four_ranks", "cluster_of_two_ranks", "torch_npu_two_ranks")]
    alone = ask(question, paths, question.options())
    several = ask(question, paths, question.options(), executor=Processes(2))
    assert [table.mappings() for table in several.tables] == [table.mappings() for table in alone.tables]
    assert several.findings == alone.findings
    assert all(alone.rows)


def test_one_run_is_said_once_above_all_tables(msprof: Path) -> None:
    def told(*names: str) -> tuple[Section, list[bool]]:
        paths = [msprof / name for name in names]
        sections = report_of(ask(CommunicationOfRuns(), paths, CommunicationOfRuns.options())).sections
        grids = [section.grid for section in sections if section.grid is not None]
        return sections[0], [any(column.key == "run" for column in grid.columns) for grid in grids]

    first, runs = told("communication_of_four_ranks")
    assert first.sentences == [f"Run: {msprof / 'communication_of_four_ranks'}"]
    assert not any(runs)
    first, runs = told("communication_of_four_ranks", "torch_npu_memory_and_communication")
    assert first.title == "Ranks that others wait for"
    assert all(runs)


def test_two_runs_of_one_folder_are_not_taken_for_one(tmp_path: Path) -> None:
    header = "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
    for run, day in enumerate(("20260101", "20260102")):
        for rank in range(2):
            folder = tmp_path / f"host_{rank}_{day}000000000_ascend_pt"
            folder.mkdir()
            (folder / f"profiler_info_{rank}.json").write_text(f'{{"rank_id": {rank}}}')
            (folder / "kernel_details.csv").write_text(f"{header}{rank},a,MatMul,AI_CORE,{run}.0,2.5\n")
    steps = Steps()
    asked = Request(options=steps.options(), notes=Notes())
    units = steps.units(steps.discover([tmp_path], asked), asked)
    assert {unit.run for unit in units} == {str(tmp_path)}
    assert sorted(unit.number for unit in units) == [0, 0, 1, 1]


def test_runs_that_several_processes_read_are_stored_with_their_advice(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    rows = []
    for jobs in (1, 2):
        store = tmp_path / f"store{jobs}"
        paths = [msprof / name for name in ("communication_of_four_ranks", "torch_npu_two_ranks", "ten_iterations")]
        cli("ingest", *paths, "--workload-from", "*/{workload}", "--store", store, "--jobs", jobs)
        rows.append(stored_rows(store))
    assert rows[0] == rows[1]
    assert {row["kind"] for row in rows[0]} >= {"run", "record", "advice"}
