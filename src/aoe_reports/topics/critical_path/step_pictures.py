"""A picture of one step of a device from its graph and its critical path: few blocks in lanes, however many slices there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache

import numpy as np

from aoe_reports.model.arrays.columns import Ints, distinct, exact_sum, places_by
from aoe_reports.model.arrays.intervals import Intervals, union
from aoe_reports.model.names import shorten_middle
from aoe_reports.model.pictures.blocks import Blocks, blocks_of, merged, renumbered, written
from aoe_reports.model.pictures.path_kinds import KINDS, Kind
from aoe_reports.model.pictures.step import (
    MAX_BYTES,
    MAX_LISTED,
    MAX_SLICES,
    NoPicture,
    PictureGap,
    PictureLane,
    PictureOperator,
    Role,
    StepPicture,
)
from aoe_reports.model.texts import say
from aoe_reports.topics.critical_path.dependencies import Device
from aoe_reports.topics.critical_path.facts import COMMUNICATION, is_busy
from aoe_reports.topics.critical_path.step_paths import StepPath

FINEST = 8192
"""Blocks are no finer than so many parts of the step."""
MAX_HOST_LANES, MAX_STREAMS = 3, 8
MIN_DIGITS = 4
"""No block is written in fewer."""
MAX_NAME_BYTES = 96
"""Of a longer name, as JSON, the picture has its beginning and its end."""
_LAUNCH = KINDS.index("launch")


@dataclass(frozen=True, slots=True)
class Place:
    """Whose step a picture is of: `steps` is how many there are."""

    rank_id: int | None
    device_id: int | None
    step: int | None
    steps: int


def picture_of(device: Device, path: StepPath, place: Place) -> StepPicture | NoPicture | None:
    """The picture of a step; None of one that takes no time."""
    if not path.duration_ns:
        return None
    seen = _Seen(device, path)
    if (count := len(seen.tasks) + len(seen.launches)) > MAX_SLICES:
        return NoPicture(
            why_not=say(
                "the step has {count:,} tasks and launches, and a picture shows at most {most:,}",
                count=count,
                most=MAX_SLICES,
            )
        )
    listed = seen.operators(), seen.gaps()
    lanes = seen.lanes()
    grain = max(path.duration_ns // FINEST, 1)
    while True:
        lanes = [lane.merged(grain) for lane in lanes]
        kept, left_out = _chosen(lanes)
        if grain > path.duration_ns or sum(len(lane.blocks) for lane in kept) * MIN_DIGITS <= MAX_BYTES:
            picture = _put_together(seen, kept, left_out, grain, place, *listed)
            if grain > path.duration_ns or bytes_of(picture) <= MAX_BYTES:
                return picture
        grain *= 2


def bytes_of(picture: StepPicture) -> int:
    """How long it is as JSON."""
    return len(json.dumps(asdict(picture), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class _Lane:
    role: Role
    name: str
    blocks: Blocks

    def merged(self, grain_ns: int) -> _Lane:
        return _Lane(self.role, self.name, merged(self.blocks, grain_ns))


class _Seen:
    """What of a device reaches into a step, in time since its begin."""

    def __init__(self, device: Device, path: StepPath) -> None:
        self.device, self.path = device, path
        self.begin, self.end = path.start_ns, path.start_ns + path.duration_ns
        slices = device.graph.slices
        inside = (slices.start < self.end) & ((slices.end > self.begin) | (slices.start >= self.begin))
        self.tasks: Ints = np.flatnonzero(inside & (slices.host == 0) & (slices.kind >= 0))
        cause = slices.cause[self.tasks]
        by_host = cause[cause >= 0]
        by_host = by_host[slices.host[by_host] > 0]
        self.launched_before = int((slices.start[by_host] < self.begin).sum())
        launches = distinct(by_host)
        self.launches: Ints = launches[inside[launches]]
        self.on_path = np.zeros(len(slices), dtype=np.int64)
        places = path.segments.place
        self.on_path[places[path.segments.of_slices | (slices.host[places] > 0)]] = 1
        self.start = np.maximum(slices.start, self.begin) - self.begin
        self.until = np.minimum(slices.end, self.end) - self.begin

    def lanes(self) -> list[_Lane]:
        """The path, the gaps, launches by thread, tasks by stream; each with a block for each slice."""
        return [_Lane("path", "", self._path()), _Lane("idle", "", self._gaps()), *self._of(self.launches), *self._of(self.tasks)]  # fmt: skip

    def _of(self, places: Ints) -> list[_Lane]:
        """The lanes that some slices are in, in order."""
        slices = self.device.graph.slices
        lane = slices.lane[places]
        found = []
        for number, some in places_by(lane):
            mine = places[some]
            kind = np.where(slices.host[mine] > 0, _LAUNCH, slices.kind[mine])
            blocks = blocks_of(self.start[mine], self.until[mine], kind, self.on_path[mine], slices.name[mine])
            found.append(_Lane(_role_of(blocks), self.device.lanes[number], blocks))
        return found

    def _path(self) -> Blocks:
        segments = self.path.segments
        names = self.device.graph.slices.name[segments.place]
        return blocks_of(
            segments.start - self.begin,
            segments.end - self.begin,
            segments.kind,
            np.zeros(len(segments), dtype=np.int64),
            np.where(segments.of_slices, names, -1),
        )

    @cached_property
    def idle(self) -> Intervals:
        """When the device neither computed nor communicated."""
        busy = self.tasks[is_busy(self.device.graph.slices.kind[self.tasks])]
        covered = union(self.start[busy], self.until[busy])
        starts = np.append(0, covered.ends)
        ends = np.append(covered.starts, self.path.duration_ns)
        real = ends > starts
        return Intervals(starts[real], ends[real])

    def _gaps(self) -> Blocks:
        idle = self.idle
        nothing = np.zeros(len(idle), dtype=np.int64)
        return blocks_of(idle.starts, idle.ends, self.kinds_of_gaps, nothing, nothing - 1)

    @cached_property
    def kinds_of_gaps(self) -> Ints:
        """What most of each gap is on the critical path; of equal parts the first in KINDS."""
        idle, segments = self.idle, self.path.segments
        if not len(idle):
            return idle.starts
        edges = segments.start - self.begin
        cuts = distinct(np.concatenate([idle.starts, idle.ends, edges]))
        starts, lengths = cuts[:-1], np.diff(cuts)
        gap = np.searchsorted(idle.starts, starts, side="right") - 1
        inside = (gap >= 0) & (starts < idle.ends[np.maximum(gap, 0)])
        kind = segments.kind[np.maximum(np.searchsorted(edges, starts, side="right") - 1, 0)]
        times = np.zeros((len(idle), len(KINDS)), dtype=np.int64)
        np.add.at(times, (gap[inside], kind[inside]), lengths[inside])
        kinds_of: Ints = times.argmax(axis=1)
        return kinds_of

    def operators(self) -> list[PictureOperator]:
        """The longest of the tasks that compute or communicate."""
        slices = self.device.graph.slices
        busy = self.tasks[is_busy(slices.kind[self.tasks])]
        length = self.until[busy] - self.start[busy]
        order = np.lexsort((slices.name[busy], self.start[busy], -length))[:MAX_LISTED]
        return [
            PictureOperator(
                name=_shortened(self.device.names[int(slices.name[place])]),
                lane=_shortened(self.device.lanes[int(slices.lane[place])]),
                kind=KINDS[int(slices.kind[place])],
                start_ns=int(self.start[place]),
                duration_ns=int(self.until[place] - self.start[place]),
                on_path=bool(self.on_path[place]),
            )
            for place in busy[order].tolist()
        ]

    def gaps(self) -> list[PictureGap]:
        """The longest gaps, the longest first."""
        idle, kinds = self.idle, self.kinds_of_gaps
        order = np.lexsort((idle.starts, idle.starts - idle.ends))[:MAX_LISTED]
        slices = self.device.graph.slices
        busy = self.tasks[is_busy(slices.kind[self.tasks])]
        found = []
        for place in order.tolist():
            start, end = int(idle.starts[place]), int(idle.ends[place])
            kind: Kind = KINDS[int(kinds[place])]
            before, after = self._named(busy[self.until[busy] == start]), self._named(busy[self.start[busy] == end])
            found.append(PictureGap(kind=kind, start_ns=start, duration_ns=end - start, before=before, after=after))
        return found

    def _named(self, places: Ints) -> str | None:
        """The first of some names."""
        names = [self.device.names[number] for number in self.device.graph.slices.name[places].tolist()]
        return _shortened(min(names)) if names else None


def _role_of(blocks: Blocks) -> Role:
    """What a lane of launches or of tasks is."""
    if (blocks.kind == _LAUNCH).all():
        return "host"
    talking = exact_sum(blocks.busy[blocks.kind == COMMUNICATION])
    return "communication" if talking * 2 > blocks.busy_ns else "device"


def _put_together(
    seen: _Seen,
    kept: Sequence[_Lane],
    left_out: Sequence[_Lane],
    grain: int,
    place: Place,
    operators: Sequence[PictureOperator],
    gaps: Sequence[PictureGap],
) -> StepPicture:
    used = distinct(np.concatenate([lane.blocks.name for lane in kept]))
    used = used[used >= 0]
    numbers = np.full(len(seen.device.names) + 1, -1, dtype=np.int64)
    numbers[used] = np.arange(len(used))
    return StepPicture(
        rank_id=place.rank_id,
        device_id=place.device_id,
        step=place.step,
        steps=place.steps,
        start_ns=seen.begin,
        duration_ns=seen.path.duration_ns,
        grain_ns=grain,
        names=[_shortened(seen.device.names[number]) for number in used.tolist()],
        lanes=[
            PictureLane(
                role=lane.role,
                name=_shortened(lane.name),
                count=int(lane.blocks.count.sum()),
                busy_ns=lane.blocks.busy_ns,
                cells=written(renumbered(lane.blocks, numbers)),
            )
            for lane in kept
        ],
        lanes_left_out=len(left_out),
        slices_left_out=sum(int(lane.blocks.count.sum()) for lane in left_out),
        launched_before=seen.launched_before,
        operators=operators,
        gaps=gaps,
    )


def _chosen(lanes: Sequence[_Lane]) -> tuple[list[_Lane], list[_Lane]]:
    """(lanes that are drawn, in their order; those that are not: the ones with least in them)."""
    hosts = sorted((lane for lane in lanes if lane.role == "host"), key=lambda lane: -int(lane.blocks.count.sum()))
    streams = [lane for lane in lanes if lane.role in {"device", "communication"}]
    streams.sort(key=lambda lane: -lane.blocks.busy_ns)
    left_out = [*hosts[MAX_HOST_LANES:], *streams[MAX_STREAMS:]]
    no_progress = set(map(id, left_out))
    return [lane for lane in lanes if id(lane) not in no_progress], left_out


@lru_cache(maxsize=4096)
def _shortened(name: str) -> str:
    """A name of at most MAX_NAME_BYTES as JSON."""
    return shorten_middle(name, MAX_NAME_BYTES, _bytes_as_json)


def _bytes_as_json(text: str) -> int:
    if text.isascii() and text.isprintable():
        return len(text) + text.count('"') + text.count("\\")
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) - 2
