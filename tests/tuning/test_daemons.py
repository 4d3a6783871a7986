"""What a tuned command leaves behind, a daemon too, is ended with the job, however the job ends; what cannot be is named."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tuning.jobs import Bench

from aoe_reports.tuning.plan.plan import Job

pytestmark = pytest.mark.torture

PR_CAPBSET_DROP, CAP_KILL = 24, 5


@pytest.fixture
def start(bench: Bench) -> Callable[..., subprocess.Popen[str]]:
    """Start `tune`."""

    def started(*args: object, **environment: str) -> subprocess.Popen[str]:
        bench.plan()
        return bench.start("tune", "run", bench.folder, "--format", "json", *args, **environment)

    return started


def gone(bench: Bench) -> bool:
    """Whether everything of the stand-in has ended, or does within a minute."""
    (daemon,) = bench.notes("daemons")
    until = time.monotonic() + 60
    while bench.running() and time.monotonic() < until:
        time.sleep(0.05)
    return not Path(f"/proc/{daemon}").exists() or bench.running() == []


def test_a_daemon_is_ended_when_the_command_has_ended(bench: Bench, start) -> None:
    process = start("--grace", "0.3", STAND_IN="daemon")
    out, err = process.communicate(timeout=60)
    assert bench.running() == []
    assert process.returncode == 0, err
    said = [f["message"] for f in json.loads(out)["findings"] if f["rule"] == "tune-left-running"]
    assert said == ["1 processes were still running after it had ended, and were terminated"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"])
def test_a_daemon_is_ended_when_tune_is_told_to_end(bench: Bench, start, number: int, code: int) -> None:
    process = start("--grace", "0.3", STAND_IN="daemon-hang")
    bench.wait_for("ready", process)
    assert len(bench.running()) == 2
    process.send_signal(number)
    process.communicate(timeout=60)
    assert bench.running() == []
    assert process.returncode == code


def test_a_daemon_is_ended_when_the_time_is_up(bench: Bench, start) -> None:
    process = start("--timeout", "1s", "--grace", "0.3", STAND_IN="daemon-hang")
    process.communicate(timeout=60)
    assert bench.notes("daemons")
    assert bench.running() == []
    assert process.returncode == 1


def test_a_daemon_is_ended_when_tune_itself_is_killed(bench: Bench, start) -> None:
    process = start("--grace", "0.3", STAND_IN="daemon-hang")
    bench.wait_for("ready", process)
    process.kill()
    process.communicate(timeout=60)
    assert gone(bench)


def test_a_killed_guardian_is_reported_and_the_command_and_its_daemon_are_ended(bench: Bench, start) -> None:
    process = start("--grace", "0.3", STAND_IN="daemon-hang")
    bench.wait_for("ready", process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert bench.running() == []
    assert process.returncode == 1, err
    assert "tune-guardian-lost" in {finding["rule"] for finding in json.loads(out)["findings"]}
    assert bench.tune("--resume").code == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else whom it may not end")
def test_what_cannot_be_ended_is_named(bench: Bench) -> None:
    """As root without CAP_KILL, with a command that becomes somebody else."""
    bench.plan(scenario="tf-training", job=Job())
    become = "import os, time; os.setresuid(65534, 65534, 65534); time.sleep(600)"
    arguments = ["tune", "run", bench.folder, "--format", "json", "--timeout", "1s", "--grace", "0.1"]
    command = [*bench.command(*arguments), "--", os.path.realpath(sys.executable), "-S", "-c", become]
    done = subprocess.run(
        command,
        env=bench.environment,
        cwd=bench.root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_KILL, 0, 0, 0),
    )
    assert done.returncode == 1, done.stderr
    (said,) = [f["message"] for f in json.loads(done.stdout)["findings"] if f["rule"] == "tune-not-ended"]
    number, name = said.removeprefix("still running and could not be terminated: ").split()
    os.kill(int(number), signal.SIGKILL)
    assert name.startswith("(python")
    assert said in done.stderr
    assert json.loads(done.stdout)["stages"][0]["still_running"] == [f"{number} {name}"]
