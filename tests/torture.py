"""Writers that race, are killed or run out of space, bytes that change, and what has to hold afterwards. Also the process they run in.

usage: python torture.py ingest|compact|undo|flip STORE PATH…
`ingest` stores each path in turn and prints the ids of the runs that the store acknowledged; `compact` merges once for each
path; `undo` stores each path, takes its runs out and stores it again; `flip` changes one byte of the store after the other, as
its input says (path, place, value), and prints what came of it.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from aoe_reports.engine.question import Notes
from aoe_reports.history.care import undo_run
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.model.errors import StoreError
from aoe_reports.simulation.nights import write_nights
from aoe_reports.store import History, equals
from aoe_reports.store.care import compact
from aoe_reports.store.layout import EXTRA_KINDS, RUN_KINDS
from aoe_reports.store.log import Origin
from aoe_reports.store.verify import verify
from aoe_reports.topics.records.options import IngestOptions

OPTIONS = IngestOptions(workload="w", tz="UTC")


def nights(folder: Path, count: int) -> list[Path]:
    """Folders of simulated nights, a run or two in each."""
    write_nights(folder, count)
    return sorted(folder.iterdir())


def start(command: str, store: Path, paths: Sequence[Path]) -> subprocess.Popen[str]:
    """Start a process of its own."""
    arguments = [sys.executable, __file__, command, str(store), *map(str, paths)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> list[str]:
    """The runs that a process acknowledged; it has to have ended well."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out.split()


def expected(store: Path, paths: Sequence[Path]) -> Counter[str]:
    """How many records each run has, where one writer stored them alone."""
    ended(start("ingest", store, paths))
    return records(store)


def records(store: Path) -> Counter[str]:
    """How many records each run has: what one look at the store sees."""
    history = History.open(str(store))
    runs = [header.run_id for header in history.runs()]
    assert len(runs) == len(set(runs)), "a run is doubled"
    found = Counter(history.records(["run_id"])["run_id"].to_pylist())
    assert set(found) <= set(runs), "records are there without their run"
    return found


def look(store: Path, alone: Counter[str]) -> Counter[str]:
    """Look at a store that others write: each run is there whole or not at all."""
    found = records(store)
    assert all(alone[run_id] == count for run_id, count in found.items()), "a run is half there"
    return found


def damage(store: Path) -> list[str]:
    """What `store verify` finds."""
    return [finding.as_text() for finding in verify(str(store), Origin())[0]]


def race(store: Path, paths: Sequence[Path], writers: int, alone: Counter[str]) -> int:
    """Writers, each two of them over the same paths, while we look; how many looks there were."""
    started = [start("ingest", store, paths[writer // 2 :: (writers + 1) // 2]) for writer in range(writers)]
    looks = 0
    while any(process.poll() is None for process in started):
        if (store / "_delta_log").is_dir() and any((store / "_delta_log").glob("*.json")):
            look(store, alone)
            looks += 1
    acknowledged = {run_id for process in started for run_id in ended(process)}
    assert acknowledged == set(records(store)), "a run that was acknowledged is lost"
    assert records(store) == alone
    assert damage(store) == []
    return looks


def kill(store: Path, paths: Sequence[Path], kills: int, alone: Counter[str], seed: int) -> int:
    """Kill a writer again and again at random moments; how many runs were acknowledged before."""
    random_moment = random.Random(seed)
    acknowledged: set[str] = set()
    for _ in range(kills):
        process = start("ingest", store, paths)
        assert process.stdout is not None
        for _ in range(random_moment.randrange(1, 6)):
            acknowledged.add(process.stdout.readline().strip())
        try:
            process.wait(timeout=random_moment.uniform(0, 0.05))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
        acknowledged.update(out.split())
        assert acknowledged - {""} <= set(look(store, alone)), "a run that was acknowledged is lost"
    assert damage(store) == []
    ended(start("ingest", store, paths))
    assert records(store) == alone
    return len(acknowledged)


def fill(store: Path, ballast: Path, paths: Sequence[Path], alone: Counter[str], space: int) -> int:
    """Ingest on a disk that is full but for some bytes, then on one that is not; how many ingests failed."""
    ended(start("ingest", store, paths[:2]))
    free = os.statvfs(store)
    ballast.write_bytes(b"\0" * max(0, free.f_bavail * free.f_frsize - space))
    failed = 0
    for path in paths[2:]:
        command = [sys.executable, "-m", "aoe_reports", "ingest", str(path), "--store", str(store), "--workload", "w"]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        errors = [line for line in process.stderr.splitlines() if line.startswith("aoe-reports: error: ")]
        assert "Traceback" not in process.stderr
        assert (process.returncode, len(errors)) in {(0, 0), (3, 1)}, process.stderr
        failed += process.returncode == 3
        look(store, alone)
    assert damage(store) == []
    ballast.unlink()
    ended(start("ingest", store, paths))
    assert records(store) == alone
    assert damage(store) == []
    return failed


def mix(store: Path, paths: Sequence[Path], rounds: int, alone: Counter[str]) -> int:
    """Ingest beside compaction beside undoing, while we look; how many looks there were."""
    ended(start("ingest", store, paths[:1]))
    half = len(paths) // 2
    started = [
        start("ingest", store, paths[:half]),
        start("undo", store, paths[half:]),
        start("compact", store, paths[:rounds]),
        start("ingest", store, paths[:half]),
    ]
    looks = 0
    while any(process.poll() is None for process in started):
        look(store, alone)
        looks += 1
    for process in started:
        ended(process)
    assert records(store) == alone
    assert damage(store) == []
    return looks


Flip = tuple[str, int, int]
"""A file of a store, the place of a byte in it, and what it becomes."""


def flips_of(path: Path, store: Path, places: Iterable[int], chance: random.Random) -> Iterator[Flip]:
    """Bytes that change: one bit of each, or all of it."""
    content = path.read_bytes()
    for place in places:
        value = chance.choice((content[place] ^ 1 << chance.randrange(8), chance.randrange(256)))
        yield str(path.relative_to(store)), place, value if value != content[place] else value ^ 1


def random_flips(store: Path, count: int, seed: int) -> list[Flip]:
    """Bytes anywhere in a store: as many in its log as in what is in force; few of those lie in one large file."""
    chance = random.Random(seed)
    log = [path for path in (store / "_delta_log").iterdir() if path.is_file()]
    last = max(path for path in log if path.suffix == ".parquet")
    read = [last, store / "_delta_log" / "_last_checkpoint"]
    parts = [store / part.path for part in History.open(str(store)).log.parts()]
    chosen = [chance.choice(chance.choice((log, read, parts, parts))) for _ in range(count)]
    return [flip for path in chosen for flip in flips_of(path, store, [chance.randrange(path.stat().st_size)], chance)]


def flip(store: Path, flips: Iterable[Flip]) -> Counter[str]:
    """Change one byte after the other, in a process of its own: none may give other answers, or end it; what came of them."""
    text = "".join(f"{path} {place} {value}\n" for path, place, value in flips)
    process = subprocess.Popen(
        [sys.executable, __file__, "flip", str(store)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    out, err = process.communicate(text)
    assert (process.returncode, err) == (0, ""), err
    outcomes = out.split()
    assert len(outcomes) == text.count("\n")
    return Counter(outcomes)


def answers(store: Path) -> list[pa.Table]:
    """All that the store holds, and what it finds by conditions that keep it from opening most files."""
    history = History.open(str(store))
    rows = [history.rows(kind) for kind in (*RUN_KINDS, *sorted(EXTRA_KINDS))]
    nights = sorted({header.night for header in history.runs()})
    return [*rows, *(history.records(where=[equals("night", night, ">=")]) for night in nights[-1:])]


def outcome(store: Path, path: Path, place: int, value: int, whole: list[pa.Table]) -> str:
    """What comes of one byte that changes: the store refuses to answer, `store verify` names it, or nothing."""
    content = path.read_bytes()
    path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
    try:
        assert answers(store) == whole, f"{path}: byte {place} as {value}: other answers without a word"
        findings, _ = verify(str(store), Origin())
    except StoreError:
        return "refused"
    finally:
        path.write_bytes(content)
    return "named" if any(finding.severity == "error" for finding in findings) else "harmless"


def flip_all(store: Path) -> None:
    """Change the bytes that the input names, and print what came of each."""
    whole = answers(store)
    for line in sys.stdin:
        path, place, value = line.rsplit(" ", 2)
        print(outcome(store, store / path, int(place), int(value), whole), flush=True)  # noqa: T201


def main() -> None:
    """Do what the command line says."""
    command, store, *paths = sys.argv[1:]
    if command == "flip":
        flip_all(Path(store))
        return
    for path in paths:
        if command == "compact":
            compact(History.open(store, origin=Origin("torture")).log)
            continue
        notes = Notes()
        stored = ingest([Path(path)], store, OPTIONS, notes)
        if command == "undo":
            for item in stored:
                undo_run(store, item.run.header.run_id)
            stored = ingest([Path(path)], store, OPTIONS, notes)
        if notes.unreadable:
            sys.exit(1)
        for item in stored:
            print(item.run.header.run_id, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
