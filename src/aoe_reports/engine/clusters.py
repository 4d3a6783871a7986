"""What analyses of whole clusters tell of ranks that stand beside them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aoe_reports.engine.captures import cluster_captures, joined, read_source
from aoe_reports.facts.steps import Step, steps_of_cluster

if TYPE_CHECKING:
    from aoe_reports.engine.question import Notes
    from aoe_reports.formats.discovery import Discovery


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What an analysis of a whole cluster says of the steps of its ranks: the folder of the ranks, and the table's path."""

    folder: Path
    path: str
    steps: tuple[Step, ...]

    def tells_of(self, run: str) -> bool:
        """Whether the ranks of a run are in its folder."""
        return self.folder == Path(run) or self.folder in Path(run).parents


def read_clusters(files: Discovery, notes: Notes) -> list[Cluster]:
    """The tables of steps of whole clusters: each may stand beside several runs."""
    found = []
    for capture in cluster_captures(files):
        with notes.where_unreadable(str(capture.root)):
            tables = read_source(capture.preferred("cluster_step_trace_time"), hashed=False)
            notes.add(finding for data in tables for finding in data.findings)
            frame = joined(tables)
            if frame is not None:
                steps = tuple(steps_of_cluster(frame))
                found.append(Cluster(folder=capture.root.parent, path=str(tables[0].path), steps=steps))
    return found


def steps_of_ranks(clusters: Collection[Cluster], run: str, ranks: Collection[int | None]) -> list[Step]:
    """The steps that clusters tell of some ranks of a run."""
    return [step for one in clusters if one.tells_of(run) for step in one.steps if step.rank_id in ranks]
