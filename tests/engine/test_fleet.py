"""Units read by a real Dask cluster: processes that are killed cost what they read, and nothing else."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from captures import QUIET, write_night, write_ranks
from commandline import FIXTURES, Cli
from odd_question import Odd, dies_once, ends_the_scheduler_first, slow_until_others_are_done
from stores import stored_rows

from aoe_reports.engine.ask import ask
from aoe_reports.engine.fleet.dask_executor import AHEAD, LOCAL, Fleet
from aoe_reports.engine.fleet.executors import AutoExecutor, Processes, Serial, executor_here, executor_of
from aoe_reports.engine.question import RunOptions
from aoe_reports.model.errors import AoeReportsError, UsageError
from aoe_reports.topics.communication.communication import CommunicationOfRuns, CommunicationOptions


def _end(process: subprocess.Popen[Any]) -> None:
    """End a process and those that it started: a nanny that is asked to go may wait for its worker without an end."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def cluster(folder: Path, workers: int, *options: str) -> Iterator[str]:
    """A scheduler on loopback in a process of its own, and workers that are processes with a nanny each."""
    pytest.importorskip("distributed")
    scheduler_file, place = folder / "scheduler.json", ("--host", "127.0.0.1", "--no-dashboard")
    tests = str(Path(__file__).parents[1])
    with ExitStack() as running:

        def start(name: str, *more: object) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.{name}", *place, *map(str, more)]
            environment = os.environ | {"PYTHONPATH": tests}
            process = running.enter_context(
                subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment, start_new_session=True)
            )
            running.callback(_end, process)
            return process

        scheduler = start("dask_scheduler", "--port", 0, "--scheduler-file", scheduler_file)
        (folder / "scheduler").write_text(f"{scheduler.pid}")
        for _ in range(2400):
            if (scheduler_file.exists() and scheduler_file.read_text().endswith("}")) or scheduler.poll() is not None:
                break
            time.sleep(0.05)
        address = json.loads(scheduler_file.read_text())["address"]
        if workers:
            local = ("--nthreads", 1, "--local-directory", folder, *options)
            start("dask_worker", address, "--nworkers", workers, *local)
        yield address


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a cluster of two workers is asked."""
    with cluster(tmp_path_factory.mktemp("cluster"), workers=2) as place:
        yield place


def test_a_cluster_answers_as_one_process_does(address: str) -> None:
    paths = [FIXTURES / "msprof" / "valid"]
    alone = ask(CommunicationOfRuns(), paths, CommunicationOptions())
    assert ask(CommunicationOfRuns(), paths, CommunicationOptions(scheduler=address)) == alone
    assert alone.rows


def test_workers_of_another_folder_read_what_is_named_from_here(
    cli: Cli, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES / "msprof" / "valid")
    plain = cli("communication", Path.cwd() / "torch_npu_two_ranks", "--format", "json")
    ended = cli("communication", "torch_npu_two_ranks", "--format", "json", "--scheduler", address)
    assert (ended.code, ended.out) == (plain.code, plain.out)
    here = cli("communication", "torch_npu_two_ranks", "--format", "json", "--scheduler", LOCAL)
    assert here.json["inputs"] == ["torch_npu_two_ranks"]


@pytest.mark.torture
def test_what_kills_its_worker_is_named_and_the_rest_goes_on(address: str, tmp_path: Path) -> None:
    write_ranks(tmp_path, 6)
    (tmp_path / "rank_2" / "deadly").touch()
    answer = ask(Odd(), [tmp_path], RunOptions(scheduler=address))
    assert [Path(one.path).name for one in answer.rows] == ["rank_0", "rank_3", "rank_4", "rank_5"]
    lost = [one for one in answer.findings if one.rule == "unreadable" and one.path.endswith("rank_2")]
    assert ["the process that read it was terminated" in one.message for one in lost] == [True]


@pytest.mark.torture
def test_a_worker_that_is_killed_loses_nothing(address: str, tmp_path: Path) -> None:
    """One dies while it reads the sixth unit for the first time."""
    results = Fleet(address).map(dies_once, [(tmp_path / "died", number) for number in range(12)])
    assert list(results) == list(range(12))
    assert (tmp_path / "died").exists()


def test_a_slow_unit_holds_up_none_of_the_next(address: str, tmp_path: Path) -> None:
    units = [(tmp_path, number, AHEAD - 1) for number in range(20)]
    assert list(Fleet(address).map(slow_until_others_are_done, units)) == list(range(20))


@pytest.mark.torture
def test_every_capture_read_twice_by_jobs_that_race_is_stored_once(cli: Cli, address: str, tmp_path: Path) -> None:
    for number in range(3):
        for rank in range(3):
            write_night(tmp_path / "nights" / f"{number}", number, QUIET, rank=rank)
    ingest = ("ingest", tmp_path / "nights", "--workload", "net", "--rank-series", 2, "--store")
    assert cli(*ingest, tmp_path / "alone").code == 0
    command = [sys.executable, "-m", "aoe_reports", *map(str, ingest), tmp_path / "store", "--scheduler", address]
    racing = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [one.wait(timeout=300) for one in racing] == [0, 0]
    assert stored_rows(tmp_path / "store") == stored_rows(tmp_path / "alone")
    assert cli("store", "verify", "--store", tmp_path / "store").code == 0


@pytest.mark.torture
def test_a_scheduler_that_goes_away_is_an_error_in_one_line(tmp_path: Path) -> None:
    with cluster(tmp_path, workers=1) as place:
        results = Fleet(place).map(ends_the_scheduler_first, [(tmp_path, number) for number in range(3)])
        with pytest.raises(AoeReportsError, match=f"{re.escape(place)}: the scheduler has gone away"):
            list(results)


@pytest.mark.parametrize(
    ("preloaded", "said"),
    [
        ("import sys\nsys.modules['aoe_reports'] = None", "has no aoe-reports: install it there"),
        ("import aoe_reports.model.version as v\nv.__version__ = '0.0.1'", "has version 0.0.1, this is"),
    ],
    ids=["none", "other"],
)
def test_workers_of_another_version_are_refused(tmp_path: Path, preloaded: str, said: str) -> None:
    with (
        cluster(tmp_path, 1, "--preload", preloaded) as place,
        pytest.raises(AoeReportsError, match=said),
    ):
        list(Fleet(place).map(str, [1]))


@pytest.mark.torture
def test_ctrl_c_while_a_cluster_begins_here_is_one_line(tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = STARTING.format(told=str(told))
    command = [sys.executable, "-c", script, "hotspots", str(FIXTURES / "msprof" / "valid"), "--scheduler", LOCAL]
    with ExitStack() as running:
        process = running.enter_context(
            subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        )
        running.callback(_end, process)
        while not told.exists() and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "aoe-reports: interrupted\n")


STARTING = """
import os, sys, time
import multiprocessing.util as util
from pathlib import Path
from aoe_reports.__main__ import main

started = util.spawnv_passfds
def told(path, arguments, files):
    process = started(path, arguments, files)
    if any("spawn_main" in str(one) for one in arguments):
        status = Path(f"/proc/{{process}}/status")
        while not any(
            int(line.split()[1], 16) & 2 for line in status.read_text().splitlines() if line[:6] in {{"SigCgt", "SigBlk"}}
        ):
            time.sleep(0.001)
        Path({told!r}).touch()
    return process
util.spawnv_passfds = told
main()
"""
"""Tells as soon as a process that it started would hear of Ctrl-C, or never will."""


def test_nobody_at_an_address_is_an_error_in_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aoe_reports.engine.fleet.dask_executor.CONNECT_S", 1)
    ended = cli("hotspots", FIXTURES / "msprof" / "valid", "--scheduler", "tcp://127.0.0.1:9")
    assert ended.code == 3
    assert "tcp://127.0.0.1:9: no scheduler answers" in ended.err


def test_a_cluster_without_workers_is_an_error_after_a_while(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("aoe_reports.engine.fleet.dask_executor.WORKERLESS_S", 1)
    with (
        cluster(tmp_path, workers=0) as place,
        pytest.raises(AoeReportsError, match=f"{re.escape(place)}: no worker is left"),
    ):
        list(Fleet(place).map(str, [1]))


def test_a_scheduler_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aoe_reports.engine.fleet.dask_executor.CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(AoeReportsError, match="no scheduler answers"):
        list(Fleet(f"tcp://127.0.0.1:{silent.getsockname()[1]}").map(str, [1]))


@pytest.mark.parametrize("address", ["nonsense://x", "tls://127.0.0.1:1", "tcp://", "http://127.0.0.1:1"])
def test_an_address_that_is_none_is_an_error_in_one_line(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aoe_reports.engine.fleet.dask_executor.CONNECT_S", 1)
    with pytest.raises(AoeReportsError, match="no scheduler answers"):
        list(Fleet(address).map(str, [1]))
    client = pytest.importorskip("distributed").Client
    assert [one for one in gc.get_objects() if isinstance(one, client) and one.status != "closed"] == []


def test_who_reads_is_what_the_options_say() -> None:
    assert isinstance(executor_of(RunOptions()), Serial)
    assert isinstance(executor_of(RunOptions(jobs=1)), Serial)
    assert isinstance(executor_of(RunOptions(jobs=3)), Processes)
    assert isinstance(executor_of(RunOptions(scheduler=LOCAL)), Fleet)
    assert isinstance(executor_here(RunOptions()), AutoExecutor)
    assert isinstance(executor_here(RunOptions(jobs=1)), Serial)
    with pytest.raises(UsageError, match="give one of them"):
        executor_of(RunOptions(jobs=2, scheduler=LOCAL))
