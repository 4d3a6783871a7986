"""Several jobs with one store and one site: the second waits and says so, every verdict is printed, no page is lost."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commandline import Cli

RUN = (sys.executable, "-m", "aoe_reports")


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*RUN, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """What another job does while it writes its pages."""
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(handle)


@pytest.fixture
def site(cli: Cli, msprof: Path, tmp_path: Path) -> Path:
    options = ("--store", tmp_path / "s", "--site", tmp_path / "site")
    assert cli("nightly", msprof / "exports_of_2022", *options, "--workload", "first").code in {0, 1}
    return tmp_path / "site"


def waits(process: subprocess.Popen[str]) -> None:
    """Wait until it says that it does: with whose number is in the line."""
    assert process.stderr is not None
    for line in process.stderr:
        if "waiting" in line:
            assert f"process {os.getpid()} is writing there; waiting" in line
            return
    raise AssertionError("it did not wait")


@pytest.mark.torture
def test_nightly_prints_its_verdict_and_waits_for_whom_it_says(site: Path, msprof: Path, tmp_path: Path) -> None:
    with alone_in(site):
        second = start(
            "nightly", msprof / "statistic_only", "--store", tmp_path / "s", "--site", site, "--workload", "second"
        )
        waits(second)
        assert second.stdout is not None
        assert second.stdout.readline().startswith("Not enough nights yet")
        assert "second" not in (site / "runs" / "index.html").read_text()
    _, err = second.communicate()
    assert second.returncode in {0, 1}, err
    assert "second" in (site / "runs" / "index.html").read_text()
    assert "second" in (site / "report.md").read_text()


@pytest.mark.torture
@pytest.mark.parametrize("command", [("site", "-o"), ("report", "-o")], ids=["site", "report"])
def test_others_that_write_into_a_site_wait_too(site: Path, tmp_path: Path, command: tuple[str, str]) -> None:
    target = site if command[0] == "site" else site / "mail.txt"
    with alone_in(site):
        other = start(command[0], "--store", tmp_path / "s", command[1], target)
        waits(other)
        fresh = tmp_path / "fresh"  # another job replaces the folder as a whole, and this one must see the new one
        fresh.mkdir()
        (fresh / "manifest.json").write_text("{}")
        site.rename(tmp_path / "old")
        fresh.rename(site)
        third = os.open(site, os.O_RDONLY)  # and a third one is at work in that
        fcntl.flock(third, fcntl.LOCK_EX)
    waits(other)
    os.close(third)
    _, err = other.communicate()
    assert other.returncode == 0, err
    assert (site / "index.html" if command[0] == "site" else target).is_file()


@pytest.mark.torture
def test_jobs_that_start_at_once_all_end_well(site: Path, msprof: Path, aoe: Path, tmp_path: Path) -> None:
    profiles = ("ten_iterations", "torch_npu_two_ranks")
    store = ("--store", tmp_path / "s")
    jobs = [start("nightly", msprof / name, *store, "--site", site, "--workload", name) for name in profiles]
    jobs += [start("report", *store, "-o", site / "mail.txt"), start("site", *store, "-o", site)]
    ended = [(job.communicate(), job.returncode) for job in jobs]
    for (_, err), code in ended:
        assert code in {0, 1}, err
        assert "Traceback" not in err
    assert all("\n\nNight report" in out for (out, _), _ in ended[:2])
    pages = (site / "runs" / "index.html").read_text()
    assert all(name in pages for name in profiles)
    assert (site / "mail.txt").is_file()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert not [path for path in site.rglob("*") if path.name.startswith(".")]


@pytest.mark.torture
def test_nights_of_several_models_at_once_are_those_of_one_after_another(
    cli: Cli, msprof: Path, tmp_path: Path
) -> None:
    profiles = ("exports_of_2022", "ten_iterations", "torch_npu_two_ranks")

    def options(place: str, name: str) -> tuple[object, ...]:
        return msprof / name, "--store", tmp_path / place / "s", "--site", tmp_path / place / "site", "--workload", name

    def stored(place: str, what: str) -> list[str]:
        rows = cli("store", "history", what, "--store", tmp_path / place / "s", "--format", "json").json["rows"]
        return sorted(json.dumps(row, sort_keys=True) for row in rows)

    for night in range(2):  # the second time everything is there already
        alone = [cli("nightly", *options("alone", name)).code for name in profiles]
        jobs = [start("nightly", *options("at_once", name)) for name in profiles]
        ended = [(job.communicate(), job.returncode) for job in jobs]
        assert [code for _, code in ended] == alone, (night, [err for (_, err), _ in ended])
        assert not [err for (_, err), _ in ended if "Traceback" in err]
    for what in ("runs", "records"):
        assert stored("at_once", what) == stored("alone", what) != []
    assert cli("store", "verify", "--store", tmp_path / "at_once" / "s").code == 0
    pages = {
        place: {str(path.relative_to(tmp_path / place)) for path in (tmp_path / place / "site").rglob("*")}
        for place in ("alone", "at_once")
    }
    assert pages["at_once"] == pages["alone"]
    listed = (tmp_path / "at_once" / "site" / "runs" / "index.html").read_text()
    assert all(name in listed for name in profiles)
    first, again = ((tmp_path / place / "site" / "report.md").read_text().splitlines()[0] for place in pages)
    assert again == first


@pytest.mark.parametrize("kind", ["file", "denied"])
def test_a_site_that_cannot_be_written_is_told_after_the_report(
    cli: Cli, msprof: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    site = tmp_path / "site"
    if kind == "file":
        site.write_text("not a folder")
    else:
        site.mkdir()
        refused = PermissionError(errno.EACCES, "Permission denied", str(site))
        monkeypatch.setattr("aoe_reports.engine.locks.os.open", lambda *_: (_ for _ in ()).throw(refused))
    ended = cli("nightly", msprof / "exports_of_2022", "--store", tmp_path / "s", "--site", site, "--workload", "net")
    assert ended.code == 3
    assert "\n\nNight report" in ended.out
    assert str(site) in ended.err.splitlines()[-1]


def test_without_locks_it_goes_on_and_says_so(
    cli: Cli, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    ended = cli("site", "--store", tmp_path / "s", "-o", site)
    assert (ended.code, "does not support locks" in ended.err) == (0, True)
