"""A picture of one step in numbers: what ran in which lane, what the critical path passes, when the device was idle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

from aoe_reports.model.classes import record
from aoe_reports.model.pictures.path_kinds import Kind

Role = Literal["path", "idle", "host", "device", "communication"]
ROLES: tuple[Role, ...] = get_args(Role)
"""What lanes are: the critical path, times without computing and communication, launches of a thread, tasks of a stream, which mostly communicates or does not."""

MAX_BYTES = 16_000
"""No picture takes more, as JSON: its blocks get coarser until it does not."""
MAX_SLICES = 200_000
"""A step of more tasks and launches has no picture."""
MAX_LISTED = 8
"""The longest operators, and the longest gaps, are listed beside the picture."""


@record
class PictureLane:
    """A lane: its blocks by time, as `model.pictures.blocks` writes them."""

    role: Role
    name: str
    """The stream or thread; empty for the path and for gaps."""
    count: int
    """How many slices, those that are drawn as one each counted."""
    busy_ns: int
    """How long they are together, within the step."""
    cells: str


@record
class PictureOperator:
    """One of the longest operators of the step; its time is that within the step."""

    name: str
    lane: str
    kind: Kind
    start_ns: int
    """Since the begin of the step."""
    duration_ns: int
    on_path: bool


@record
class PictureGap:
    """One of the longest times in which the device neither computed nor communicated."""

    kind: Kind
    """What most of it is on the critical path."""
    start_ns: int
    duration_ns: int
    before: str | None
    after: str | None
    """The operators that ended and began there."""


@record
class StepPicture:
    """One step of one device, bounded in size whatever the timeline's."""

    rank_id: int | None
    device_id: int | None
    step: int | None
    """None: the timeline has no steps, so all of it is one."""
    steps: int
    """How many steps there are: this one is the median by duration."""
    start_ns: int
    duration_ns: int
    grain_ns: int
    """Slices of a lane that begin nearer than that to the first of a block are in it."""
    names: Sequence[str]
    """What blocks call by number."""
    lanes: Sequence[PictureLane]
    lanes_left_out: int
    slices_left_out: int
    """Lanes with least in them that are not drawn, and how many slices they have."""
    launched_before: int
    """Tasks that were launched before the step began."""
    operators: Sequence[PictureOperator]
    gaps: Sequence[PictureGap]


@record
class NoPicture:
    """Why there is no picture of a step where there could be one."""

    why_not: str


def median_place(durations: Sequence[int]) -> int:
    """The index of the (lower) median; of equal values the first."""
    order = sorted(range(len(durations)), key=lambda place: (durations[place], place))
    return order[(len(order) - 1) // 2]


def longest_median(pictures: Sequence[StepPicture]) -> StepPicture | None:
    """Of pictures of several exports the one of median duration of each device, of several devices that with the longest."""
    of_device: dict[tuple[int | None, int | None], list[StepPicture]] = {}
    for picture in pictures:
        of_device.setdefault((picture.rank_id, picture.device_id), []).append(picture)
    medians = [
        replace(alike[median_place([one.duration_ns for one in alike])], steps=sum(one.steps for one in alike))
        for alike in of_device.values()
    ]
    return max(medians, key=lambda one: one.duration_ns, default=None)
