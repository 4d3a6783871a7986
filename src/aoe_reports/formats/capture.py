"""Captures: the files that one profiler wrote of one rank; captures of several ranks are one run.

Of several forms of the same facts one is chosen; the others are there to be checked against it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from itertools import compress, groupby
from pathlib import Path

from aoe_reports.formats.sources.found import FoundFile, Writer
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join
from aoe_reports.model.timestamps import digits_to_ns
from aoe_reports.model.topics.parallel import GroupPlace

RANKS_APART_NS = 120 * 1_000_000_000
"""Captures of several ranks belong to one job when they were made within this time of each other."""


@dataclass(frozen=True, slots=True)
class CaptureInfo:
    """What info files say about a capture; null where there is no such file."""

    rank_id: int | None = None
    """The rank where the whole capture has one."""
    ranks: dict[int, int] = field(default_factory=dict)
    """The rank of each device where info files of devices tell it."""
    pid: int | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    profiler_level: str | None = None
    aic_metrics: str | None = None
    engine: str = "unknown"
    """What ran the tasks: the vendor's software below the framework."""
    engine_version: str | None = None
    hardware: dict[str, int | str] = field(default_factory=dict)
    device_type: str | None = None
    """The name of the chip, where all devices have the same one."""
    host: str | None = None
    """The name of the machine that it was taken on."""
    nominal_gb_per_s: Mapping[str, float] = field(default_factory=dict)
    """What one link of the chip can carry, one way, by transport, where that is known."""
    groups: dict[int, tuple[GroupPlace, ...]] = field(default_factory=dict)
    """The places of ranks in the groups that split the work of the job: of this rank, or of all where it is of a cluster."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Versions, variables of the environment and whatever else scripts said, by name: what may explain a difference."""
    members: frozenset[tuple[int, ...]] = frozenset()
    """The ranks of the job in each group that its metadata names, in their order within it; empty where nothing records them."""
    schedule: Mapping[str, int] = field(default_factory=dict)
    """When the framework's profiler was to record (`wait`, `warmup`, `active`, `repeat`, `skip_first`), as far as that is told."""
    recording: tuple[str, ...] = ()
    """The options of the framework's profiler that are on and make the host record more, by name."""
    workload: str | None = None
    """What somebody's script said was measured (`add_metadata` of the framework's profiler)."""

    def rank_of(self, device_id: int | None) -> int | None:
        return self.rank_id if device_id is None else self.ranks.get(device_id, self.rank_id)

    def may_hold(self, rank_id: int | None) -> bool:
        """Whether a rank (None: any) may be among those of this capture."""
        return rank_id is None or rank_id in self.every_rank

    @property
    def every_rank(self) -> frozenset[int]:
        """The ranks that are known to be here."""
        every = (self.rank_id, *self.ranks.values())
        return frozenset(one for one in every if one is not None)

    @property
    def named_ranks(self) -> tuple[int, ...]:
        """The ranks of the job that groups of its metadata name, rising."""
        return tuple(sorted({rank for ranks in self.members for rank in ranks}))

    @property
    def several_ranks(self) -> bool:
        """Whether devices of several ranks are here."""
        return len(set(self.ranks.values())) > 1


@dataclass(frozen=True, slots=True)
class Source:
    """One form of some facts: a kind of table, and the files that hold it, by device, model, iteration and slice."""

    kind: str
    files: tuple[FoundFile, ...]


@dataclass(frozen=True, slots=True)
class Capture:
    """The exports of one capture of one rank: those in force and those that a newer export superseded."""

    root: Path
    files: tuple[FoundFile, ...]
    superseded: tuple[FoundFile, ...]
    info: CaptureInfo
    findings: tuple[Finding, ...] = ()
    preference: tuple[int, ...] = ()
    """How early the form of each file is asked, the lowest first; () where all forms are alike."""
    profiler: Writer = ""
    """Which profiler made this capture."""
    has_data: bool = True
    """Whether there is more here than files about a capture."""
    measures: bool = True
    """Whether a profiler measured something here: AOE's tables lie where it worked, and measure nothing."""
    of_service: bool = False
    """Whether requests and batches of a service are told here, and nothing that ran on a device."""
    services: tuple[Capture, ...] = ()
    """What profilers of services tell beside it: one of them may be the service that ran here."""
    of_memory: bool = False
    """Whether all here was recorded of memory alone, by something that is no profiler (`formats/memory_files`)."""
    recordings: tuple[Capture, ...] = ()
    """Recordings of memory that lie in its folder."""
    of_cluster: bool = False
    """Whether all here was computed from the captures of several ranks."""
    named_time: str | None = None
    """The digits of the (local) time in the capture's name, else of the oldest in its files' names."""
    unique_name: str | None = None
    """The capture's name where the profiler made it to be unique."""

    def sources(self, *kinds: str) -> list[Source]:
        """Everything here that holds the same facts, the form that is used first: the others are held against it.

        Of one form the first of `kinds`.
        """
        found: dict[tuple[int, int], list[FoundFile]] = defaultdict(list)
        for file, form in zip(self.files, self.preference or (0,) * len(self.files), strict=True):
            for place, kind in enumerate(kinds):
                if kind in file.holds:
                    found[(form, place)].append(file)
                    break
        return [Source(kinds[key[1]], tuple(sorted(found[key], key=_order))) for key in sorted(found)]

    def preferred(self, *kinds: str) -> Source | None:
        """The form that is used of the facts that these kinds hold, where there is one."""
        return next(iter(self.sources(*kinds)), None)

    def without(self, is_left: Callable[[FoundFile], bool]) -> Capture:
        kept = [not is_left(file) for file in self.files]
        return replace(
            self,
            files=tuple(compress(self.files, kept)),
            preference=tuple(compress(self.preference, kept)) if self.preference else (),
        )

    @property
    def timelines(self) -> tuple[FoundFile, ...]:
        return tuple(sorted((file for file in self.files if file.name.timeline), key=_order))

    def made_ns(self, zone: tzinfo = UTC) -> int | None:
        """When the capture was made, as far as info files and names tell; the times in names are in `zone`."""
        return self.info.start_ns or self.info.end_ns or digits_to_ns(self.named_time, zone)

    @property
    def modified_ns(self) -> int:
        """When the oldest file was written; the last resort for a time."""
        return min(f.path.stat().st_mtime_ns for f in self.files)


def kinds_of(files: Iterable[FoundFile]) -> str:
    """The kinds of some files and their forms, as people read them."""
    return join(", ", sorted({f"{file.name.kind} ({file.name.form})" for file in files}))


def _order(file: FoundFile) -> tuple[int | str, ...]:
    name = file.name
    numbers = (name.device_id, name.model_id, name.iteration, name.slice)
    return (*(-1 if number is None else number for number in numbers), str(file.path))


def group_runs(captures: Sequence[Capture]) -> list[tuple[Capture, ...]]:
    """Captures by run: neighbours of different known ranks, made at about one time, are one run."""
    dated = sorted(
        ((capture, capture.made_ns()) for capture in captures),
        key=lambda pair: (str(pair[0].root.parent), pair[1] or 0, pair[0].info.rank_id or 0),
    )
    neighbours = groupby(dated, key=lambda pair: pair[0].root.parent)
    jobs = [job for _, members in neighbours for job in _jobs_of(members)]
    ordered = [tuple(sorted(job.captures, key=lambda c: (c.info.rank_id or 0, str(c.root)))) for job in jobs]
    return sorted(ordered, key=lambda run: str(run[0].root))


def _jobs_of(captures: Iterable[tuple[Capture, int | None]]) -> list[_Job]:
    """The captures of one folder, each with its time, by job."""
    jobs: list[_Job] = []
    alone: list[_Job] = []
    for capture, made in captures:
        rank = capture.info.rank_id
        fitting = None if rank is None else next((job for job in reversed(jobs) if job.takes(rank, made)), None)
        if fitting is None:
            fitting = _Job()
            (alone if rank is None else jobs).append(fitting)  # a capture of an unknown rank is a run by itself
        fitting.add(capture, made)
    return [*alone, *jobs]


@dataclass(slots=True)
class _Job:
    """Captures of one folder that are one run as far as they are known."""

    captures: list[Capture] = field(default_factory=list)
    ranks: set[int | None] = field(default_factory=set)
    first: int | None = None
    last: int | None = None
    """When the first and the last of them were made; None where that is not known."""

    def takes(self, rank: int, made: int | None) -> bool:
        """Whether a capture made then is another rank of the same job."""
        if rank in self.ranks:
            return False
        if self.first is None or self.last is None or made is None:
            return self.first is None and made is None
        return max(self.last, made) - min(self.first, made) <= RANKS_APART_NS

    def add(self, capture: Capture, made: int | None) -> None:
        self.captures.append(capture)
        self.ranks.add(capture.info.rank_id)
        if made is not None:
            self.first = made if self.first is None else min(self.first, made)
            self.last = made if self.last is None else max(self.last, made)


def by_folder(
    files: Iterable[FoundFile], part_of: Callable[[FoundFile], str | None] = lambda _: None
) -> list[tuple[Path, tuple[FoundFile, ...]]]:
    """(root, files) of each capture where it is what one folder holds: of several parts in one folder each has a root of its own."""
    folders: dict[Path, dict[str | None, list[FoundFile]]] = defaultdict(lambda: defaultdict(list))
    for file in files:
        folders[file.path.parent][part_of(file)].append(file)
    roots = [
        (folder if len(parts) == 1 else folder / str(part), tuple(sorted(members, key=lambda file: str(file.path))))
        for folder, parts in folders.items()
        for part, members in parts.items()
    ]
    return sorted(roots, key=lambda root: root[0])


def no_source(_: Capture) -> tuple[Source, ...]:
    """What a vendor whose files have no tasks or no steps finds in a capture."""
    return ()


def no_events(_: Capture) -> list[list[FoundFile]]:
    """What a vendor without a timeline of a device finds in a capture."""
    return []
