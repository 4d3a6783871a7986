"""Temporary files of a process that is killed go with the next run, those of one at work stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from aoe_reports.formats.sources import owned

MAKES = """
from aoe_reports.formats.sources.owned import TemporaryFolder
folder = TemporaryFolder()
(folder.path / "content").write_text("x")
print(folder.path, flush=True)
input()
"""


def started(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", MAKES],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_is_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (killed, gone), (working, there) = started(tmp_path), started(tmp_path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    others = [tmp_path / name for name in ("aoe_reports-0123456789abcdef", "aoe_reports-files-short", "mine")]
    for one in others:
        one.mkdir()
    (tmp_path / "aoe_reports-files-abcdefgh").symlink_to(others[-1])
    assert gone.exists()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    owned._clear.cache_clear()
    mine = owned.TemporaryFolder()
    assert not gone.exists()
    assert (there / "content").exists()
    assert all(one.exists() for one in (*others, tmp_path / "aoe_reports-files-abcdefgh"))
    path = mine.path
    del mine
    assert not path.exists()
    working.communicate("\n")
    assert not there.exists()


def test_where_a_timeline_spills_is_removed_with_its_process_or_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    script = (
        "from aoe_reports.formats.trace.parts import connected\n"
        "with connected() as database:\n"
        "    database.execute('CREATE TABLE many AS SELECT random() AS one, md5(range::VARCHAR) AS two FROM range(9000000)')\n"
        "    print('spilled', flush=True)\n"
        "    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "spilled\n"
        assert list(tmp_path.glob("aoe_reports-files-*/*.tmp"))
        process.kill()
    (left,) = tmp_path.iterdir()
    assert left.is_dir()
    opens = "from aoe_reports.formats.trace.parts import connected\nwith connected(): pass"
    subprocess.run([sys.executable, "-c", opens], check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_taken_for_a_leftover_before_it_has_its_lock_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = tempfile.mkdtemp

    def remove_the_first(**options: Any) -> str:
        made.append(make(**options))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr("tempfile.mkdtemp", remove_the_first)
    place, handle = owned.make_owned(tmp_path, "mine-", folder=True)
    os.close(handle)
    assert [str(place), len(made)] == [made[1], 2]
