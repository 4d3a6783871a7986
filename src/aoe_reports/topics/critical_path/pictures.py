"""Reads the picture of a step: of the device with the longest steps, the step of median duration."""

from __future__ import annotations

from collections.abc import Iterator

from aoe_reports.formats.capture import Capture
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.pictures.step import NoPicture, StepPicture, longest_median, median_place
from aoe_reports.model.texts import say
from aoe_reports.topics.critical_path.dependencies import Device, dependencies_of
from aoe_reports.topics.critical_path.step_paths import StepPath, paths_of
from aoe_reports.topics.critical_path.step_pictures import Place, picture_of

Picture = StepPicture | NoPicture
"""What a timeline tells of one step."""


def picture_of_steps(device: Device, paths: list[StepPath], place: Place) -> Picture | None:
    """The picture of the median of some steps of a device; `place` names the step where the timeline has none."""
    if not paths:
        return None
    path = paths[median_place([one.duration_ns for one in paths])]
    return picture_of(device, path, Place(place.rank_id, place.device_id, place.step if path.step is None else path.step, len(paths)))  # fmt: skip


def picture_of_capture(capture: Capture, device_id: int | None) -> Picture | None:
    """The picture of a device's step (of the device with the longest ones where it is not there); None without a timeline."""
    wrong: list[Finding] = []
    pictures = list(_pictures(capture, wrong))
    mine = [picture for picture in pictures if isinstance(picture, StepPicture) and picture.device_id == device_id]
    found = longest_median(mine or [picture for picture in pictures if isinstance(picture, StepPicture)])
    if found is not None:
        return found
    refused = next((picture for picture in pictures if isinstance(picture, NoPicture)), None)
    errors = [finding.message for finding in wrong if finding.severity == "error"]
    if refused is None and errors:
        return NoPicture(why_not=say("the timeline cannot be used: {why}", why=errors[0]))
    return refused


def _pictures(capture: Capture, wrong: list[Finding]) -> Iterator[Picture]:
    """One of each export and device: graphs are large, and are let go one by one."""
    for files in vendor_of(capture.profiler).events(capture):
        devices, found = dependencies_of(files, capture)
        wrong += found
        for number, device in devices:
            place = Place(capture.info.rank_of(number), number, files[0].name.iteration, 1)
            if (picture := picture_of_steps(device, paths_of(device), place)) is not None:
                yield picture
