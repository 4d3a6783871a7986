"""Recordings of memory that no profiler made: their peaks are compared by themselves, with the kinds that they state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from captures import QUIET, write_night
from commandline import FIXTURES, Cli
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_nights import MIB, write_snapshot
from planted_snapshots import Allocator, snapshot_of

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


def write_two_processes(folder: Path, first: int, sizes: tuple[int, int]) -> Path:
    """A dump of msMemScope of two processes on one device, whose weights take so many bytes; the second begins later."""
    write_dump(folder, sizes[0])
    (dump,) = folder.iterdir()
    header, *rows = dump.read_text().splitlines(keepends=True)
    text = "".join(rows)
    other = text.replace(f"size:{4096 + sizes[0]},", f"size:{4096 + sizes[1]},").replace(",00000,", ",")
    for used in (4096, 20480, 22528, 6144):
        other = other.replace(f"used:{used + sizes[0]},", f"used:{used + sizes[1]},")
    other = other.replace("17723664000", "17723664010")
    mine, other = (part.replace(",4000,400", f",{pid},{pid}") for part, pid in ((text, first + 7), (other, first)))
    dump.write_text(header + mine + other)
    return folder


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_two_processes_of_a_device_are_compared_one_by_one(cli: Cli, tmp_path: Path, command: str) -> None:
    before = write_two_processes(tmp_path / "a" / "rank_2", 4000, (MIB, 2 * MIB))
    after = write_two_processes(tmp_path / "b" / "rank_2", 9000, (MIB, 5 * MIB))
    answer: dict[str, Any] = cli(command, before, after, "--format", "json").json
    peaks = [peak for peak in answer["memory_peaks"] if peak["component"] != "process"]
    assert [(peak["process_id"], peak["difference_bytes"]) for peak in peaks] == [(9007, 0), (9000, 3 * MIB)]
    parts = [(part["process_id"], part["kind"], part["difference_bytes"]) for part in answer["memory"]]
    assert parts == [(9000, "weight", 3 * MIB)]
    said = cli(command, before, after).out.splitlines()[0]
    assert "Peak memory on rank 2 (process 9000): +3.000 MiB" in said
    assert said.endswith("; weights +3.000 MiB.")


def test_another_number_of_processes_is_not_compared(cli: Cli, tmp_path: Path) -> None:
    before = write_dump(tmp_path / "a" / "rank_2", 0)
    after = write_two_processes(tmp_path / "b" / "rank_2", 9000, (0, MIB))
    ended = cli("compare", before, after, "--format", "json")
    assert not ended.json["memory_peaks"]
    (found,) = [one for one in ended.json["findings"] if one["rule"] == "comparability-unknown"]
    assert found["message"] == "memory of rank 2 is not compared: 1 processes use it in the baseline, 2 in this"


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_change_between_snapshots_is_that_of_their_allocators_by_owner(cli: Cli, tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    held: list[dict[str, int]] = []
    for name in ("a", "b"):
        allocator, sizes = Allocator(), dict.fromkeys(("forward", "cached"), 0)
        for owner in random.choice(["forward", "cached"], int(random.integers(1, 20))).tolist():
            size = int(random.integers(1, 64)) * 512
            allocator.allocate(size, [{"filename": "/job/model.py", "line": 3, "name": owner}])
            sizes[owner] += size
        (tmp_path / f"{name}_snapshot.json").write_text(json.dumps(snapshot_of(allocator)))
        held.append(sizes)
    answer = cli("compare", *(tmp_path / f"{name}_snapshot.json" for name in ("a", "b")), "--format", "json").json
    (peak,) = answer["memory_peaks"]
    differences = {owner: held[1][owner] - held[0][owner] for owner in held[0]}
    assert peak["difference_bytes"] == sum(differences.values())
    found = {part["name"].rpartition(" ")[2]: part["difference_bytes"] for part in answer["memory"]}
    assert found == {owner: size for owner, size in differences.items() if size}


WORDS = {"kv_cache": "KV cache", "weight": "weights"}


@pytest.mark.parametrize("command", ["compare", "explain"])
@pytest.mark.parametrize("source", ["snapshot", "msmemscope", "tracker"])
def test_peaks_of_recordings_are_compared_by_kind(cli: Cli, tmp_path: Path, command: str, source: str) -> None:
    paths, kind, more = pair_of(source, tmp_path)
    answer: dict[str, Any] = cli(command, *paths, "--format", "json").json
    peak = answer["memory_peaks"][0]
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
