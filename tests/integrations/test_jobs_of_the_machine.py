"""The units of systemd and the line of cron are what those programs accept, and start commands that exist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from commandline import ROOT, Cli

UNITS = ROOT / "integrations" / "systemd"
SERVICES = ("aoe-reports-nightly.service", "aoe-reports-serve.service")
ANALYZE = shutil.which("systemd-analyze")
COMMAND = "/opt/aoe-reports/bin/aoe-reports"
needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="Debian's systemd is not installed")


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, with a command that is there on any machine."""
    for path in UNITS.glob("aoe-reports-*"):
        (tmp_path / path.name).write_text(path.read_text().replace(COMMAND, "/bin/true"))
    return tmp_path


@needs_systemd
@pytest.mark.integrations
def test_systemd_accepts_the_units(units: Path) -> None:
    names = sorted(path.name for path in units.iterdir())
    assert len(names) == 3
    command = [str(ANALYZE), "verify", "--man=no", *(f"./{name}" for name in names)]
    ended = subprocess.run(command, cwd=units, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@needs_systemd
@pytest.mark.integrations
@pytest.mark.parametrize("name", SERVICES)
def test_a_service_may_do_little(units: Path, name: str) -> None:
    command = [str(ANALYZE), "security", "--offline=yes", "--threshold=15", "--no-pager", f"./{name}"]
    ended = subprocess.run(command, cwd=units, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-200:]  # exposure of at most 1.5 of 10


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_confined(name: str) -> None:
    lines = (UNITS / name).read_text().splitlines()
    assert {"NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "PrivateTmp=yes"} <= set(lines)
    assert any(line.startswith("MemoryMax=") for line in lines)


def _commands() -> list[list[str]]:
    texts = [path.read_text() for path in (*(UNITS / name for name in SERVICES), UNITS / "grafana.conf")]
    return [shlex.split(line) for text in texts for line in re.findall(r"^Exec\w+=-?(/.*)$", text, re.MULTILINE)]


def test_the_units_start_commands_with_options_that_exist(cli: Cli) -> None:
    commands = _commands()
    assert [words[:2] for words in commands] == [
        [COMMAND, "nightly"], [COMMAND, "site"], [COMMAND, "regressions"], [COMMAND, "store"], [COMMAND, "regressions"],
    ]  # fmt: skip
    for words in commands:
        known = cli(*words[1 : 3 if words[1] == "store" else 2], "--help").out
        assert [word for word in words if word.startswith("--") and word not in known] == []


def test_the_line_of_cron_runs_one_job_at_a_time(tmp_path: Path) -> None:
    (line,) = (
        line for line in (ROOT / "integrations/cron/aoe-reports").read_text().splitlines() if line.startswith("30 4")
    )
    *_, command = line.split(None, 6)
    assert re.search(r"(?<!\\)%", command) is None  # cron makes a line end of it
    for name in ("flock", "aoe-reports"):
        (tmp_path / name).write_text('#!/bin/sh\nfor word in "$@"; do echo "$word"; done\n')
        (tmp_path / name).chmod(0o755)
    script = command.replace(r"\%", "%")

    def run(workload: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": str(tmp_path), "AOE_WORKLOAD": workload}
        return subprocess.run(["/bin/sh", "-c", script], env=env, capture_output=True, text=True, check=True)

    ended = run("")
    assert "--workload" not in ended.stdout
    assert "--workload=a net" in run("a net").stdout.split("\n")
    assert ended.stdout.split("\n")[:5] == [
        "--nonblock",
        "/var/lib/aoe-reports/lock",
        "aoe-reports",
        "nightly",
        "/data/nights",
    ]
    assert ended.stdout.split("\n")[-2] == "scope=step,effect>=3%"
