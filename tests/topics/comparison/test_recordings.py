"""Recordings of memory that no profiler made: their peaks are compared by themselves, with the kinds that they state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from captures import QUIET, write_night
from commandline import FIXTURES, Cli
from memory_nights import MIB, write_snapshot

VALID = FIXTURES / "memory" / "valid"


def write_dump(folder: Path, more: int) -> Path:
    """The dump of msMemScope among the fixtures, with weights of so many bytes more."""
    (source,) = (VALID / "msmemscope").rglob("*.csv")
    folder.mkdir(parents=True)
    text = source.read_text()
    for key, size in (("size", 4096), ("used", 4096), ("used", 20480), ("used", 22528), ("used", 6144)):
        text = text.replace(f"{key}:{size},", f"{key}:{size + more},")
    (folder / source.name).write_text(text)
    return folder


def write_tracker(folder: Path, more: int) -> Path:
    """The file of MindSpore's tracker among the fixtures, with weights of so many bytes more."""
    (source,) = (VALID / "mindspore_tracker").rglob("*.csv")
    folder.mkdir(parents=True)
    text = source.read_text().replace(",4096,4096,", f",{4096 + more},{4096 + more},")
    for size in (12288, 14336):
        text = text.replace(f",{size},", f",{size + more},")
    (folder / source.name).write_text(text)
    return folder


def pair_of(source: str, folder: Path) -> tuple[list[Path], str, int]:
    """(two recordings, the kind of what grows in the second, by how much)."""
    if source == "snapshot":
        return (
            [write_snapshot(folder / f"snapshot_{n}.json", size * MIB) for n, size in enumerate((8, 12))],
            "kv_cache",
            4 * MIB,
        )
    write = write_dump if source == "msmemscope" else write_tracker
    return [write(folder / str(n) / "rank_2", more) for n, more in enumerate((0, MIB))], "weight", MIB


WORDS = {"kv_cache": "KV cache", "weight": "weights"}


@pytest.mark.parametrize("command", ["compare", "explain"])
@pytest.mark.parametrize("source", ["snapshot", "msmemscope", "tracker"])
def test_peaks_of_recordings_are_compared_by_kind(cli: Cli, tmp_path: Path, command: str, source: str) -> None:
    paths, kind, more = pair_of(source, tmp_path)
    answer: dict[str, Any] = cli(command, *paths, "--format", "json").json
    (peak,) = answer["memory_peaks"]
    assert peak["difference_bytes"] == more
    assert [(part["kind"], part["difference_bytes"]) for part in answer["memory"]] == [(kind, more)]
    ended = cli(command, *paths)
    assert ended.code == 0
    assert f"; {WORDS[kind]} +{more // MIB}.000 MiB." in ended.out.splitlines()[0]


def test_a_peak_that_stays_the_same_is_said(cli: Cli, tmp_path: Path) -> None:
    paths = [write_snapshot(tmp_path / f"{name}_snapshot.json", 8 * MIB) for name in ("a", "b")]
    said = cli("compare", *paths).out
    assert said.startswith("The highest peak of memory changes by less than 1%: 12.00 MiB before, 12.00 MiB after.")


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_a_profile_and_a_recording_are_not_comparable(cli: Cli, tmp_path: Path, command: str) -> None:
    snapshot = write_snapshot(tmp_path / "snapshot.json", MIB)
    ended = cli(command, write_night(tmp_path / "night", 0, QUIET), snapshot, "--format", "json")
    assert ended.code == 1
    assert {finding["rule"] for finding in ended.json["findings"]} >= {"not-comparable"}


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_two_recordings_of_a_device_are_not_one_side(cli: Cli, tmp_path: Path, command: str) -> None:
    for name in ("a", "b"):
        write_snapshot(tmp_path / f"snapshot_{name}.json", MIB)
    ended = cli(command, tmp_path, tmp_path / "snapshot_a.json", "--format", "json")
    assert ended.code == 1
    assert any("several recordings" in finding["message"] for finding in ended.json["findings"])
