"""Temporary files of a process that is killed go with the next run, those of one at work stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aoe_reports.formats import owned

MAKES = """
from aoe_reports.formats.owned import TemporaryFolder
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
