"""Of several exports the newest is in force, whole: all its slices, and nothing of an older one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.ascend.capture import group_captures, newest_exports
from aoe_reports.formats.ascend.names import parse_name
from aoe_reports.formats.sources.found import FoundFile

FOLDER = Path("/x/PROF_000001_20260605155111872_ABCDEFGHIJKLMNOP/mindstudio_profiler_output")
DEVICE = FOLDER.parent / "device_0" / "summary"


def files(*names: str, folder: Path = FOLDER) -> list[FoundFile]:
    parsed = [(folder / name, parse_name(name, folder.name)) for name in names]
    return [FoundFile(path, name, 1, (name.kind,)) for path, name in parsed if name is not None]


def in_force(*names: str, folder: Path = FOLDER) -> list[str]:
    found, superseded = newest_exports(files(*names, folder=folder))
    assert len(found) + len(superseded) == len(names)
    return [file.path.name for file in found]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["op_summary_20260101000000.csv", "op_summary_20260101000001.csv"], [1]),
        (["op_summary_20260101000000.csv", "op_statistic_20260101000009.csv"], [1, 0]),
        (["op_summary_slice_0_20260101000000.csv", "op_summary_slice_1_20260101000001.csv"], [0, 1]),
        (["op_summary_slice_0_20260101000000.csv", "op_summary_slice_1_20260101000000.csv"], [0, 1]),
        (["op_summary_slice_0_20260101000000.csv", "op_summary_slice_1_20260101010000.csv"], [0, 1]),
        (["op_summary_slice_0_20260101000000.csv", "op_summary_slice_1_20260101010001.csv"], [1]),
        (["op_summary_slice_0_20260101000000.csv", "op_summary_slice_1_20260101000001.csv", "op_summary_20260102000000.csv"], [2]),
        (["op_summary_20260101000000.csv", "op_summary_slice_0_20260102000000.csv", "op_summary_slice_1_20260102000001.csv"], [1, 2]),
        (["op_summary_slice_0_20260101000000.csv", "op_summary_slice_1_20260101000001.csv", "op_summary_slice_0_20260102000000.csv"], [2]),
        (["op_summary_20260101000000.csv", "op_summary_slice_1_20260101000001.csv", "op_summary_slice_2_20260101000002.csv"], [0, 1, 2]),
        (["op_summary_20260101000000.csv", "op_summary_20260101000000_copy.csv"], [0]),
        (["op_summary_20260101000000.csv", "op_summary_20260101000000.json"], [0, 1]),
        (["task_time_20260101000000.csv", "task_time_20260101000000.json"], [0, 1]),
    ],
)  # fmt: skip
def test_which_of_several_is_used(names: list[str], expected: list[int]) -> None:
    assert in_force(*names) == sorted(names[place] for place in expected)


def test_devices_models_and_iterations_are_exports_of_their_own() -> None:
    names = [f"op_summary_{device}_{model}_{run}.csv" for device in (0, 1) for model in (1, 2) for run in (1, 2)]
    assert in_force(*names, folder=DEVICE) == names
    assert in_force("op_summary_0_1_1.csv", "op_summary_0_1_1_20230905101100.csv", folder=DEVICE) == [
        "op_summary_0_1_1_20230905101100.csv"
    ]


def test_two_folders_do_not_supersede_each_other() -> None:
    both = [*files("op_summary_20260101000000.csv"), *files("op_summary_0.csv", folder=DEVICE)]
    assert newest_exports(both)[1] == []


exports = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@given(exports=exports, python=st.booleans(), apart=st.integers(0, 3), order=st.randoms(use_true_random=False))
def test_the_last_export_is_used_whole(exports: list[int], python: bool, apart: int, order) -> None:
    """Exports one after the other, each of some slices written `apart` seconds after each other."""
    written, last = [], []
    for hour, slices in enumerate(exports):
        last = []
        for number in range(slices):
            plain = slices == 1 or (python and number == 0)
            part = "" if plain else f"_slice_{number}"
            last.append(f"op_summary{part}_202601{hour + 1:02d}0000{number * apart:02d}.csv")
        written += last
    order.shuffle(written)
    assert in_force(*written) == sorted(last)


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ([0, 1, 2], None),
        ([None, 1, 2], None),
        ([None], None),
        ([0], None),
        ([0, 2], "1"),
        ([1], "0"),
        ([2], "0, 1"),
        ([None, 2], "1"),
        ([None, 3], "1, 2"),
    ],
)
def test_gaps_between_slices_are_said(numbers: list[int | None], missing: str | None) -> None:
    names = [f"op_summary{'' if n is None else f'_slice_{n}'}_2026010100000{n or 0}.csv" for n in numbers]
    (capture,) = group_captures(files(*names))
    found = [finding for finding in capture.findings if finding.rule == "slice-missing"]
    assert [finding.message.split(" of ")[0] for finding in found] == ([f"slice {missing}"] if missing else [])
    assert all(finding.severity == "error" for finding in found)


def test_what_is_not_used_is_said() -> None:
    names = ["op_summary_20260101000000.csv", "op_summary_20260102000000.csv", "op_summary_20260102000000_copy.csv"]
    (capture,) = group_captures(files(*names))
    assert [(finding.severity, finding.rule) for finding in capture.findings] == [
        ("info", "superseded"),
        ("warning", "several-exports"),
    ]
