"""The long form of tests/store/test_torture.py: writers that race, are killed, run out of space; files that are damaged.

usage: python benchmarks/torture.py [--nights 200] [--kills 50] [--flips 2000] [--seed 1] [--disk FOLDER] [--only-flips]
8 processes over so many nights, each two of them over the same (50 ingests each with 200 nights); so many kills (-9) at
random moments; ingest beside compaction beside undoing; each file of a store truncated, flipped, deleted in turn; one byte
changed after the other (one bit, or all of it): each of the last two commits, both behind the last checkpoint, one of them
taking files out, and so many anywhere in a store of 60 nights (in its log, in what is in force, in the last checkpoint);
`adopt` killed before each change of the disk, and each change made to fail (where there is a C compiler); with --disk, a
folder on a small file system (`mount -t tmpfs -o size=3m tmpfs FOLDER`), ingest while it is full and then is not.
Ends with an AssertionError when anything is lost, doubled, half there, mixed, unreadable, a damage is not named, or a byte that
changed made other answers, a traceback or a dead process of a read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import killing
import torture
from tuning import adoption
from tuning.jobs import Bench

from aoe_reports.history.care import undo_run
from aoe_reports.store import History

WRITERS = 8
NIGHTS_FLIPPED = 60


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


def behind_the_checkpoint(store: Path, path: Path) -> list[Path]:
    """The last two commits, made so that Delta reads both: one takes a run out, the next stores it again."""
    log = store / "_delta_log"
    while True:
        undo_run(str(store), max(header.run_id for header in History.open(str(store)).runs()))
        torture.ended(torture.start("ingest", store, [path]))
        commits = sorted(log.glob("*.json"))[-2:]
        if json.loads((log / "_last_checkpoint").read_text())["version"] < int(commits[0].stem):
            return commits


def flips(store: Path, paths: Sequence[Path], count: int, seed: int) -> dict[str, Counter[str]]:
    """Change bytes of a store; what came of them, by where they lie."""
    torture.ended(torture.start("ingest", store, paths))
    commits = behind_the_checkpoint(store, paths[-1])
    assert any('{"remove"' in commit.read_text() for commit in commits)
    chance = random.Random(seed)
    found = {
        f"every byte of commit {int(path.stem)}": torture.flip(
            store, torture.flips_of(path, store, range(path.stat().st_size), chance)
        )
        for path in commits
    }
    return {**found, "bytes anywhere": torture.flip(store, torture.random_flips(store, count, seed))}


def main() -> None:
    """Do everything and print what was survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nights", type=int, default=200)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flips", type=int, default=2000)
    parser.add_argument("--disk", type=Path)
    parser.add_argument("--only-flips", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for where, outcomes in flips(
            folder / "flips", torture.nights(folder / "sixty", NIGHTS_FLIPPED), arguments.flips, arguments.seed
        ).items():
            told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
            print(f"{where}: {outcomes.total()} changed one at a time: {told}; no other answer", flush=True)
        if arguments.only_flips:
            return
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
