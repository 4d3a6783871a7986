"""The long form of tests/store/test_torture.py: writers that race, are killed, run out of space; files that are damaged.

usage: python benchmarks/torture.py [--nights 200] [--kills 50] [--seed 1] [--disk FOLDER]
8 processes over so many nights, each two of them over the same (50 ingests each with 200 nights); so many kills (-9) at
random moments; ingest beside compaction beside undoing; each file of a store truncated, flipped, deleted in turn; `adopt` killed before
each change of the disk (where there is a C compiler); with
--disk, a folder on a small file system (`mount -t tmpfs -o size=3m tmpfs FOLDER`), ingest while it is full and then is not.
Ends with an AssertionError when anything is lost, doubled, half there, unreadable, or a damage is not named.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import killing
import torture
from tuning import adoption
from tuning.jobs import Bench

from aoe_reports.store import History

WRITERS = 8


def flip(path: Path) -> None:
    """Turn one bit around."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 16
    path.write_bytes(content)


def truncate(path: Path) -> None:
    """Cut a file in the middle."""
    os.truncate(path, path.stat().st_size // 2)


def harm(store: Path, paths: Sequence[Path], scratch: Path) -> int:
    """Damage each file of a store in each way, in a copy; how many damages were named."""
    torture.ended(torture.start("ingest", store, paths))
    in_force = {part.path for part in History.open(str(store)).log.parts()}  # merged ones stay until vacuum
    named = 0
    for path in sorted(store.rglob("*.parquet")):
        for damage in (flip, truncate, Path.unlink):
            copy = scratch / "copy"
            shutil.copytree(store, copy)
            damage(copy / path.relative_to(store))
            found = [text for text in torture.damage(copy) if path.name in text]
            assert found or str(path.relative_to(store)) not in in_force, f"{damage.__name__} of {path} is not named"
            named += bool(found)
            shutil.rmtree(copy)
    return named


def kill_adopt(scratch: Path) -> tuple[int, int]:
    """Kill `adopt` before each of its changes, and let each fail, for every layout of a bank; how many kills and failures."""
    kills = failures = 0
    for layout in adoption.LAYOUTS:
        for in_steps in (False, True):
            bench = Bench(scratch / f"{layout}-{in_steps}" / "bench")
            with killing.killer(bench.environment, *adoption.MODULES) as killer:
                adopting = adoption.Adoption(bench, layout, killer)
                kills += adoption.kill_everywhere(adopting, in_steps=in_steps)
                kills += adoption.kill_everywhere(adopting, in_steps=in_steps, half=True)
                failures += adoption.fail_everywhere(adopting, in_steps=in_steps)
    return kills, failures


def main() -> None:
    """Do everything and print what was survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nights", type=int, default=200)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--disk", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nights = torture.nights(folder / "nights", arguments.nights)
        alone = torture.expected(folder / "alone", nights)
        print(f"{len(nights)} nights, {len(alone)} runs with {alone.total()} records", flush=True)
        looks = torture.race(folder / "race", nights, WRITERS, alone)
        print(f"race of {WRITERS} writers: nothing lost, nothing doubled; {looks} looks, no half run", flush=True)
        acknowledged = torture.kill(folder / "kill", nights, arguments.kills, alone, arguments.seed)
        print(f"{arguments.kills} kills: nothing of {acknowledged} acknowledged runs lost, nothing doubled", flush=True)
        looks = torture.mix(folder / "mix", nights, len(nights) // 2, alone)
        print(f"ingest beside compaction beside undoing: nothing lost; {looks} looks, no half run", flush=True)
        few = nights[: min(len(nights), 10)]
        print(f"{harm(folder / 'harm', few, folder)} damages: each named by verify", flush=True)
        if killing.COMPILER is not None:
            kills, failures = kill_adopt(folder / "adopt")
            print(
                f"{kills} kills of adopt, {failures} changes that failed: old bank or new, completed by the next",
                flush=True,
            )
        if arguments.disk is not None:
            few_alone = torture.expected(folder / "few", few)
            disk = arguments.disk
            failed = torture.fill(disk / "store", disk / "ballast", few, few_alone, 20_000)
            print(f"a full disk: {failed} ingests refused in one line, nothing lost, and stored when there was space")


if __name__ == "__main__":
    main()
