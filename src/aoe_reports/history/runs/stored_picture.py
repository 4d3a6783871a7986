"""The picture of one step that is stored with a run: as a row of kind advice, and read back as far as it is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aoe_reports.formats.capture import Capture
from aoe_reports.formats.records.payloads import NotDecodableError, decode
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.classes import made
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.pictures.blocks import Blocks, read_blocks
from aoe_reports.model.pictures.path_kinds import KINDS
from aoe_reports.model.pictures.step import NoPicture, PictureGap, PictureLane, PictureOperator, StepPicture
from aoe_reports.model.texts import say
from aoe_reports.topics.critical_path.pictures import Picture, picture_of_capture

PICTURE = "picture"
"""The state of a row that holds a picture: nothing that is listed."""
MAX_TIMELINE_BYTES = 8 << 20
"""Timelines and databases of the one rank that are read for a picture: of larger ones it would take more than a quarter of an ingest that reads tables alone."""
_PACKED = 10
"""So many times as large may what is compressed be."""
_MAX_NS = 2**60


def picture_of_run(captures: Sequence[Capture], rank_id: int | None, device_id: int | None) -> Picture | None:
    """A step of the device that a run is planned for; None where no timeline of it is there."""
    with_events = [capture for capture in captures if vendor_of(capture.profiler).events(capture)]
    mine = [event for event in with_events if event.info.may_hold(rank_id)] or with_events
    if not mine:
        return None
    files = [file for files in vendor_of(mine[0].profiler).events(mine[0]) for file in files]
    size = sum(map(read_size, files))
    if size > MAX_TIMELINE_BYTES:
        return NoPicture(
            why_not=say(
                "{size_mb:,.0f} MB of timelines were not read for it; `critical-path --format svg` on the profile draws it",
                size_mb=size / 1e6,
            )
        )
    try:
        return picture_of_capture(mine[0], device_id)
    except (AoeReportsError, OSError) as error:
        return NoPicture(why_not=say("the timeline cannot be used: {why}", why=str(error) or type(error).__name__))


def read_size(file: FoundFile) -> int:
    """How much there may be to read of a file."""
    return file.size * (_PACKED if file.name.packed else 1)


def read_picture(body: str | None, told: Mapping[str, Any]) -> Picture | None:
    """The picture that a row holds; None where it holds none. `told` is its body with sentences for every language."""
    why_not = told.get("why_not")
    if isinstance(why_not, str):
        return NoPicture(why_not=why_not)
    for kind in (PictureLane, PictureOperator, PictureGap):
        made(kind)
    try:
        picture: StepPicture = decode(body, made(StepPicture))
        return picture if _is_whole(picture) else None
    except (NotDecodableError, ValueError):
        return None


def _is_whole(picture: StepPicture) -> bool:
    """Whether everything in it is inside of the step, and has a name."""
    if not 0 < picture.duration_ns < _MAX_NS or picture.grain_ns < 1:
        return False
    listed: list[PictureOperator | PictureGap] = [*picture.operators, *picture.gaps]
    if not all(0 <= one.start_ns <= one.start_ns + one.duration_ns <= picture.duration_ns for one in listed):
        return False
    return all(_fits(read_blocks(lane.cells), picture) for lane in picture.lanes)


def _fits(blocks: Blocks, picture: StepPicture) -> bool:
    return bool(
        np.all(blocks.end <= picture.duration_ns)
        and np.all(blocks.end >= blocks.start)
        and np.all(blocks.kind < len(KINDS))
        and np.all(blocks.name < len(picture.names))
        and np.all(blocks.count >= 1)
    )
