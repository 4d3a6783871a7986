"""Following a tuning run: AOE is stood in for by this test, which writes result files as AOE does, bit by bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aoe_reports.formats.aoe.result_files import ResultFile, read_results
from aoe_reports.formats.sources.found import FileName
from aoe_reports.jobs.watch import watch
from aoe_reports.model.errors import ReadError

NAME = "aoe_result_opat_20260101020304005_pid4711.json"


def followed(folder: Path, steps: list[bytes | None], name: str = NAME) -> list[str]:
    """What is told while a file goes through some states, one a look; then nothing changes any more."""
    told: list[str] = []
    waiting: Iterator[bytes | None] = iter(steps)
    looks = 0

    def pause(_: float) -> None:
        nonlocal looks
        looks += 1
        assert looks < 100, "never ended"
        for text in waiting:
            path = folder / name
            if text is None:
                path.unlink()
            else:
                path.write_bytes(text)
                os.utime(path, ns=(looks, looks))  # a clock of its own: two writes within one tick of the real one
            return

    watch([folder], lambda path, text: told.append(f"{path.name[11:15]}: {text}"), pause=pause)
    return told


def test_each_state_is_told_once_and_the_end_is_seen(aoe: Path, tmp_path: Path) -> None:
    whole = next((aoe / "array_grouped").iterdir()).read_bytes()
    cut = whole.index(b'"op_name": "head/matmul"')
    told = followed(tmp_path, [b"", whole[: cut + 20], whole[: cut + 30], whole])
    assert told[0].startswith("opat: the file is empty")
    assert told[1:] == [
        "opat: fixture: being written, 2 operators so far",
        "opat: fixture: tuning successful, 3 operators improved",
    ]


def test_a_tuning_that_is_incomplete_goes_on(aoe: Path, tmp_path: Path) -> None:
    whole = next((aoe / "array_grouped").iterdir()).read_bytes()
    unfinished = whole.replace(b"tuning successful", b"tuning incomplete")
    told = followed(tmp_path, [unfinished, None, whole.replace(b"tuning successful", b"tuning failed")])
    assert told == [
        "opat: fixture: tuning incomplete, 3 operators improved",
        "opat: gone",
        "opat: fixture: tuning failed, 3 operators improved",
    ]


def test_subgraphs_have_no_status_and_end_with_their_time(aoe: Path, tmp_path: Path) -> None:
    whole = json.loads(next((aoe / "array_subgraphs").iterdir()).read_text())
    name = NAME.replace("opat", "sgat")
    failed = followed(tmp_path, [json.dumps(whole[:1]).encode()], name)
    assert failed == ["sgat: fixture: no SGAT segment"], "a task that took its time and has no segment has failed"
    begun = {"basic": {"tuning_name": "fixture"}}
    states = [[begun], [begun, whole[1]], whole]
    told = followed(tmp_path, [json.dumps(state).encode() for state in states], name)
    assert told == [
        "sgat: fixture: no SGAT segment",
        "sgat: fixture: no SGAT segment yet",
        "sgat: fixture: being tuned, 1 subgraphs improved",
        "sgat: fixture: tuned, 1 subgraphs improved",
    ]


def started(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "aoe_reports", "check", "--watch", "--interval", "0.05", "--format", "json"]
    return subprocess.Popen(
        [*command, *more, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def test_the_command_ends_when_every_file_is_complete(aoe: Path, tmp_path: Path) -> None:
    whole = next((aoe / "array_grouped").iterdir()).read_bytes()
    (tmp_path / NAME).write_bytes(whole[:900])
    process = started(tmp_path)
    assert process.stderr is not None
    assert "being written" in process.stderr.readline()
    (tmp_path / NAME).write_bytes(whole)
    out, err = process.communicate(timeout=60)
    assert "tuning successful, 3 operators improved" in err
    assert [row["verdict"] for row in json.loads(out)["rows"]] == ["pass"]
    assert process.returncode == 0


def test_the_command_ends_when_told_and_a_file_that_is_being_written_is_no_error(aoe: Path, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(next((aoe / "array_grouped").iterdir()).read_bytes()[:900])
    process = started(tmp_path)
    assert process.stderr is not None
    assert "being written" in process.stderr.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert "received a signal to end" in err
    assert [(f["rule"], f["severity"]) for f in json.loads(out)["findings"]] == [("json-truncated", "warning")]
    assert process.returncode == 0


def test_a_folder_that_is_not_there_is_not_waited_for(tmp_path: Path) -> None:
    process = started(tmp_path / "nothing")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "no such file or folder" in err


def test_a_file_that_may_be_read_later_is_read_then(aoe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / NAME
    path.write_bytes(next((aoe / "array_grouped").iterdir()).read_bytes())
    path.chmod(0o200)

    def read(path: Path, name: FileName, *, max_bytes: int | None) -> ResultFile:
        if not path.stat().st_mode & 0o400:  # root may read it all the same
            raise ReadError(path, "Permission denied", "")
        return read_results(path, name, max_bytes=max_bytes)

    monkeypatch.setattr("aoe_reports.jobs.watch.read_results", read)
    looks = iter([lambda: None, lambda: path.chmod(0o600), *[lambda: None] * 3])
    told: list[str] = []
    watch([path], lambda _, text: told.append(text), pause=lambda _: next(looks)())
    assert told[0].startswith("cannot be read")
    assert told[1:] == ["fixture: tuning successful, 3 operators improved"]


def test_a_file_of_another_name_is_followed_and_one_that_is_no_result_is_not(aoe: Path, tmp_path: Path) -> None:
    path = tmp_path / "tuned.json"
    path.write_bytes(next((aoe / "array_grouped").iterdir()).read_bytes())
    out, err = started(path).communicate(timeout=60)
    assert "tuning successful, 3 operators improved" in err
    assert [row["verdict"] for row in json.loads(out)["rows"]] == ["pass"]
    path.write_text("[]")
    process = started(path)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "neither the name nor the content is that of an AOE result" in err
