"""Jobs that map shares, killed anywhere and racing: nothing is lost or half, and only what is missing is read again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from captures import KERNELS
from commandline import Cli

from aoe_reports.engine.fleet.partials import Partials

pytestmark = pytest.mark.torture

RANKS, KILLS = 40, 12


@pytest.fixture
def manifest(cli: Cli, tmp_path: Path) -> Path:
    for rank in range(RANKS):
        folder = tmp_path / "night" / f"rank_{rank}"
        folder.mkdir(parents=True)
        rows = [f"{rank},op{n},MatMul,AI_CORE,{n}.0,{rank + n}.5\n" for n in range(200)]
        (folder / "kernel_details.csv").write_text(KERNELS + "".join(rows))
    assert cli("hotspots", tmp_path / "night", "--manifest", tmp_path / "m.json").code == 0
    return tmp_path / "m.json"


def start(manifest: Path, shard: str = "1/1") -> subprocess.Popen[str]:
    arguments = [
        "fleet",
        "map",
        str(manifest),
        "--partials",
        str(manifest.parent / "p"),
        "--shard",
        shard,
        "--format",
        "json",
        "--jobs",
        "1",
    ]
    return subprocess.Popen([sys.executable, "-m", "aoe_reports", *arguments], stdout=subprocess.PIPE, text=True)


def check_reduced(cli: Cli, manifest: Path) -> None:
    plain = cli("hotspots", manifest.parent / "night", "--format", "json")
    reduced = cli("fleet", "reduce", manifest, "--partials", manifest.parent / "p", "--format", "json")
    assert (reduced.code, reduced.out) == (0, plain.out)


def test_killed_anywhere_nothing_is_lost_or_half(cli: Cli, manifest: Path) -> None:
    partials_folder = manifest.parent / "p"
    chance, kept, partials = random.Random(21), set[str](), Partials(partials_folder)
    keys = json.loads(manifest.read_text())["keys"]["of"]
    for _ in range(KILLS):
        process, count = start(manifest), len(kept) + chance.randrange(1, 4)
        while process.poll() is None and len(list(partials_folder.rglob("*.gz"))) < count:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.01))
        process.kill()
        process.communicate()
        now = partials.kept(keys)
        assert kept <= now
        assert all(partials.load(key) is not None for key in now)
        kept = now
    last = start(manifest)
    outcomes = [one["outcome"] for one in json.loads(last.communicate()[0])["rows"]]
    assert outcomes == ["kept" if key in kept else "read" for key in keys]
    check_reduced(cli, manifest)
    assert [
        file for file in (manifest.parent / "p").rglob("*") if file.is_file() and not file.name.endswith(".gz")
    ] == []


def test_jobs_that_race_for_the_same_captures_keep_the_same_bytes(cli: Cli, manifest: Path) -> None:
    processes = [start(manifest, shard) for shard in ("1/1", "1/1", "1/2", "2/2")]
    assert [process.communicate() and process.returncode for process in processes] == [0] * 4
    files = {file: file.read_bytes() for file in (manifest.parent / "p").rglob("*.gz")}
    assert len(files) == RANKS
    check_reduced(cli, manifest)
    for file in files:
        file.unlink()
    assert start(manifest).communicate()[0]
    assert {file: file.read_bytes() for file in (manifest.parent / "p").rglob("*.gz")} == files
