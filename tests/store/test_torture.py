"""Nothing lost, nothing doubled, nothing half there, nothing unreadable: the short form of benchmarks/torture.py."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import torture

pytestmark = pytest.mark.torture

NIGHTS = 8


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return torture.nights(tmp_path_factory.mktemp("nights"), NIGHTS)


@pytest.fixture(scope="module")
def alone(nights: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    return torture.expected(tmp_path_factory.mktemp("alone") / "store", nights)


@pytest.fixture(scope="module")
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("disk")
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_eight_writers_two_by_two_over_the_same_nights(nights: list[Path], alone: Counter[str], tmp_path: Path) -> None:
    torture.race(tmp_path / "store", nights, 8, alone)


def test_a_writer_killed_again_and_again(nights: list[Path], alone: Counter[str], tmp_path: Path) -> None:
    torture.kill(tmp_path / "store", nights, 4, alone, seed=7)


def test_a_disk_that_is_full_and_then_is_not(nights: list[Path], alone: Counter[str], small_disk: Path) -> None:
    few = {run_id: count for run_id, count in alone.items() if run_id[:8] <= "20260105"}
    assert torture.fill(small_disk / "store", small_disk / "ballast", nights[:5], Counter(few), 20_000) > 0


def test_ingest_beside_compaction_beside_undoing(nights: list[Path], alone: Counter[str], tmp_path: Path) -> None:
    torture.mix(tmp_path / "store", nights, 8, alone)
