"""What analyses of whole clusters tell of ranks that stand beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aoe_reports.engine.captures import cluster_captures, joined, read_source
from aoe_reports.facts.parallel import Layout, layout_of
from aoe_reports.facts.steps import stages_of_cluster, steps_of_cluster
from aoe_reports.formats.rules import INFO_FILE
from aoe_reports.formats.sources.objects import path_of
from aoe_reports.model.topics.parallel import Places
from aoe_reports.model.topics.steps import Step

if TYPE_CHECKING:
    from aoe_reports.engine.question import Notes, Unit
    from aoe_reports.formats.sources.discovery import Discovery


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What an analysis of a whole cluster says of its ranks: their folder, the path of the table of steps, and what they do."""

    folder: Path
    path: str
    steps: tuple[Step, ...]
    stages: Mapping[int, int]
    """The stage of each rank, where the table has rows of stages."""
    places: Places

    def tells_of(self, run: str) -> bool:
        """Whether the ranks of a run are in its folder."""
        return self.folder == path_of(run) or self.folder in path_of(run).parents


def read_clusters(files: Discovery, notes: Notes) -> list[Cluster]:
    """The steps and groups of the ranks of whole clusters: each may stand beside several runs."""
    found = []
    for capture in cluster_captures(files):
        notes.add(finding for finding in capture.findings if finding.rule == INFO_FILE.name)
        with notes.where_unreadable(str(capture.root)):
            tables = read_source(capture.preferred("cluster_step_trace_time"), hashed=False)
            notes.add(finding for data in tables for finding in data.findings)
            frame = joined(tables)
            found.append(
                Cluster(
                    folder=capture.root.parent,
                    path=str(tables[0].path if tables else capture.root),
                    steps=() if frame is None else tuple(steps_of_cluster(frame)),
                    stages={} if frame is None else stages_of_cluster(frame),
                    places=capture.info.groups,
                )
            )
    return found


def layout_of_run(run: str, units: Iterable[Unit], clusters: Sequence[Cluster]) -> Layout:
    """The groups and stages of the ranks of a run: what each tells itself, else what its cluster tells."""
    mine = [cluster for cluster in clusters if cluster.tells_of(run)]
    told = [unit.capture.info.groups for unit in units]
    return layout_of([*told, *(one.places for one in mine)], [one.stages for one in mine])


def steps_of_ranks(clusters: Collection[Cluster], run: str, ranks: Collection[int | None]) -> list[Step]:
    """The steps that clusters tell of some ranks of a run."""
    return [step for cluster in clusters if cluster.tells_of(run) for step in cluster.steps if step.rank_id in ranks]
