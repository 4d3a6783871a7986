"""Pictures of steps of planted timelines: lanes and their sums, gaps by kind, the critical path, and how large they get."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from dependency_events import batch, call, talk, task

from aoe_reports.model.pictures.blocks import read_blocks
from aoe_reports.model.pictures.path_kinds import KINDS
from aoe_reports.model.pictures.step import MAX_BYTES, NoPicture, StepPicture, longest_median, median_place
from aoe_reports.topics.critical_path import step_pictures
from aoe_reports.topics.critical_path.dependencies import Dependencies, Device
from aoe_reports.topics.critical_path.step_paths import paths_of
from aoe_reports.topics.critical_path.step_pictures import Place, bytes_of, picture_of


def device_of(*rows: dict[str, Any]) -> Device:
    collected = Dependencies()
    collected.add(batch(*rows))
    (device,) = collected.devices()
    return device


def drawn(device: Device) -> StepPicture:
    (path,) = paths_of(device)
    found = picture_of(device, path, Place(0, 3, path.step, 1))
    assert isinstance(found, StepPicture)
    return found


def lane(picture: StepPicture, role: str, name: str = "") -> list[tuple[int, int, str, int, str, int]]:
    """(start, end, kind, on path, name, count) of each block."""
    (cells,) = [one.cells for one in picture.lanes if (one.role, one.name) == (role, name)]
    blocks = read_blocks(cells)
    columns = (blocks.start, blocks.end, blocks.kind, blocks.on_path, blocks.name, blocks.count)
    return [
        (start, end, KINDS[kind], path, picture.names[place] if place >= 0 else "", count)
        for start, end, kind, path, place, count in zip(*(column.tolist() for column in columns), strict=True)
    ]


def planted() -> Device:
    """A product, a wait for the host, a convolution, an all-reduce of another stream, and an addition that nothing explains why it waits."""
    return device_of(
        task("matmul", 10_000, 4_000, connection_id=1),
        task("conv", 20_000, 6_000, connection_id=2),
        talk("allReduce", 26_000, 8_000, stream_id=5),
        task("add", 34_000, 1_000, connection_id=3),
        call("Node@launch", 9_000, 100, 1),
        call("Node@launch", 19_000, 100, 2),
        call("Node@launch", 19_500, 100, 3),
    )


def test_lanes_have_what_ran_and_the_path_is_the_whole_step() -> None:
    picture = drawn(planted())
    assert (picture.start_ns, picture.duration_ns, picture.grain_ns) == (10_000, 25_000, 3)
    assert [(one.role, one.name, one.count, one.busy_ns) for one in picture.lanes] == [
        ("path", "", 5, 25_000),
        ("idle", "", 1, 6_000),
        ("host", "Thread 7", 2, 0),
        ("device", "Stream 2", 3, 11_000),
        ("communication", "Stream 5", 1, 8_000),
    ]
    assert lane(picture, "device", "Stream 2") == [
        (0, 4_000, "computing", 0, "matmul", 1),
        (10_000, 16_000, "computing", 1, "conv", 1),
        (24_000, 25_000, "computing", 1, "add", 1),
    ]
    assert lane(picture, "host", "Thread 7") == [(9_000, 9_000, "launch", 1, "", 1), (9_500, 9_500, "launch", 0, "", 1)]
    path = lane(picture, "path")
    assert path[-3:] == [
        (10_000, 16_000, "computing", 0, "conv", 1),
        (16_000, 24_000, "unexplained wait", 0, "", 1),
        (24_000, 25_000, "computing", 0, "add", 1),
    ]
    assert path[0][0] == 0
    assert path[-1][1] == 25_000
    assert all(before[1] == after[0] for before, after in pairwise(path))
    assert picture.launched_before == 1


def test_gaps_have_the_kind_of_the_path_and_what_stands_around_them() -> None:
    picture = drawn(planted())
    (gap,) = picture.gaps
    assert (gap.start_ns, gap.duration_ns, gap.before, gap.after) == (4_000, 6_000, "matmul", "conv")
    assert lane(picture, "idle") == [(4_000, 10_000, gap.kind, 0, "", 1)]
    assert gap.kind in {"host", "unexplained wait"}
    assert [(one.name, one.start_ns, one.duration_ns, one.on_path) for one in picture.operators] == [
        ("allReduce", 16_000, 8_000, False),
        ("conv", 10_000, 6_000, True),
        ("matmul", 0, 4_000, False),
        ("add", 24_000, 1_000, True),
    ]


def many(count: int, name: str = "tiny", every: int = 2_000, length: int = 700) -> Device:
    rows: list[dict[str, Any]] = [
        task(f"{name}{number % 300}", 1_000 + number * every, length, stream=2 + number % 3, connection_id=number)
        for number in range(count)
    ]
    launches = [call("Node@launch", number * every, 10, number) for number in range(count)]
    return device_of(*rows, *launches)


@pytest.mark.parametrize("name", ["tiny", "x" * 500, "\x00\x1b" * 100, "算子" * 200, "<script>\"'&"])
def test_thousands_of_tiny_operators_stay_below_the_limit_and_none_is_lost(name: str) -> None:
    count = 4_000
    picture = drawn(many(count, name))
    assert bytes_of(picture) <= MAX_BYTES
    assert len(json.dumps(picture.lanes[0].cells)) > 100
    streams = [one for one in picture.lanes if one.role == "device"]
    assert sum(one.count for one in streams) == count
    assert sum(int(read_blocks(one.cells).count.sum()) for one in streams) == count
    assert sum(one.busy_ns for one in streams) == count * 700
    (host,) = [one for one in picture.lanes if one.role == "host"]
    assert host.count + picture.launched_before == count
    (path,) = [one for one in picture.lanes if one.role == "path"]
    assert path.busy_ns == picture.duration_ns


def test_lanes_with_least_in_them_are_counted_where_there_are_too_many() -> None:
    rows = [task(f"op{number}", 1_000 * number, 10 + number, stream=number) for number in range(20)]
    picture = drawn(device_of(*rows))
    shown = [one.name for one in picture.lanes if one.role == "device"]
    assert shown == [f"Stream {number}" for number in range(12, 20)]
    assert (picture.lanes_left_out, picture.slices_left_out) == (12, 12)


def test_of_too_many_slices_there_is_no_picture_and_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_pictures, "MAX_SLICES", 5)
    device = planted()
    (path,) = paths_of(device)
    found = picture_of(device, path, Place(0, 3, None, 1))
    assert isinstance(found, NoPicture)
    assert found.why_not == "the step has 6 tasks and launches, and a picture shows at most 5"


def test_the_median_step_is_chosen_and_of_several_devices_the_longest() -> None:
    assert [median_place(durations) for durations in ([5], [9, 1], [3, 9, 5], [4, 4, 4], [1, 2, 3, 4])] == [
        0,
        1,
        2,
        1,
        1,
    ]
    base = drawn(planted())
    one = [replace(base, device_id=0, duration_ns=value, steps=2) for value in (10, 30, 20)]
    other = [replace(base, device_id=1, duration_ns=value) for value in (5, 25, 500)]
    found = longest_median([*one, *other])
    assert found is not None
    assert (found.device_id, found.duration_ns, found.steps) == (1, 25, 3)
    assert longest_median([]) is None
