"""Plan folders and a place for the stand-in of aoe, for the tests of the tuning loop."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from commandline import Ended

from aoe_reports.simulation import aoe
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Candidate, Job, Plan, Rejected

STAND_IN = Path(aoe.__file__)
SOC = "Ascend910B"
NAMES = ("net/a/MatMul", "net/b/MatMul", "net/c/MatMul")


@dataclass
class Bench:
    """A home, a PATH with the stand-in as `aoe`, a plan's folder, and what the stand-in notes."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("home", "bin", "notes"):
            (self.root / name).mkdir(parents=True)
        command = self.root / "bin" / "aoe"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -S {STAND_IN} "$@"\n')
        command.chmod(0o755)
        (self.root / "model.onnx").write_bytes(b"stand-in")
        inherited = {k: v for k, v in os.environ.items() if k in {"LANG", "LC_ALL", "TMPDIR", "PYTHONPATH"}}
        self.environment = {
            **inherited,
            "PATH": f"{self.root / 'bin'}:/usr/bin:/bin",
            "HOME": str(self.root / "home"),
            "STAND_IN_NOTES": str(self.root / "notes"),
        }

    @property
    def folder(self) -> Path:
        return self.root / "plan"

    def plan(self, **changes: Any) -> Plan:
        candidates = tuple(
            Candidate(kind="operator", op_name=name, op_type="MatMulV2", total_us=100.0, expected_saving_us=10.0)
            for name in NAMES
        )
        given: dict[str, Any] = {
            "scenario": "offline",
            "mode": "opat",
            "soc": SOC,
            "candidates": candidates,
            "rejected": (Rejected(op_name="net/x/Cast", op_type="Cast", total_us=3.0, reason="runs on the AI CPU"),),
            "job": Job(model=str(self.root / "model.onnx")),
        }
        made = Plan(**{**given, **changes})
        write_plan(self.folder, made, "# A plan\n")
        return made

    def command(self, *args: object) -> list[str]:
        return [sys.executable, "-m", "aoe_reports", *map(str, args)]

    def run(self, *args: object, **environment: str) -> Ended:
        """The command line as a user has it, in this process (`start` starts one)."""
        from aoe_reports.cli.main import main

        out, err, before = io.StringIO(), io.StringIO(), Path.cwd()
        os.chdir(self.root)
        try:
            with (
                mock.patch.dict(os.environ, {**self.environment, **environment}, clear=True),
                mock.patch.object(sys, "argv", ["aoe-reports", *map(str, args)]),
                redirect_stdout(out),
                redirect_stderr(err),
            ):
                main()
        except SystemExit as ended:
            return Ended(int(ended.code or 0), out.getvalue(), err.getvalue())
        finally:
            os.chdir(before)
        raise AssertionError("the command line always exits")

    def tune(self, *args: object, **environment: str) -> Ended:
        return self.run("tune", "run", self.folder, "--format", "json", *args, **environment)

    def start(self, *args: object, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*args),
            env={**self.environment, **environment},
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def notes(self, name: str) -> list[Any]:
        path = self.root / "notes" / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def wait_for(self, name: str, process: subprocess.Popen[str]) -> None:
        """Wait until the stand-in has noted something."""
        until = time.monotonic() + 60
        while not self.notes(name):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.01)

    def running(self) -> list[int]:
        """Which of the stand-in's processes, and of their groups, still run."""
        pids = self.notes("pids")
        return [pid for pid in pids if _runs(pid) or _group_runs(pid)]

    def state(self) -> dict[str, Any]:
        return json.loads((self.folder / "state.json").read_text())

    def statuses(self, ended: Ended) -> dict[str | None, str]:
        return {row["op_name"]: row["status"] for row in ended.json["rows"]}

    def everything_written(self) -> str:
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return "".join(path.read_text(errors="replace") for path in files)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _group_runs(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return any(_group_of(entry.name) == group and _runs(int(entry.name)) for entry in Path("/proc").iterdir())


def _group_of(pid: str) -> int | None:
    try:
        return int(Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[2]) if pid.isdigit() else None
    except OSError:
        return None


def rules(ended: Ended) -> set[str]:
    """The rules of what was found, but for what preflight says of this machine."""
    return {rule for rule in ended.rules() if not rule.startswith("preflight-")}


def write_bank(root: Path, name: str, entries: Sequence[str]) -> Path:
    """A file of operators below a folder that is laid out as under TUNE_BANK_PATH."""
    path = root / SOC / f"{SOC}_32_AiCore_{name}_runtime_kb.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"op": entry}) + "\n" for entry in entries))
    return path


def write_tuned(root: Path, names: Sequence[str]) -> Path:
    """A bank that has the entries of these operators, as the simulated aoe looks for them."""
    path = write_bank(root, "MatMulV2", [])
    path.write_text("".join(json.dumps(aoe.entry_of(aoe.unnamed(name))) + "\n" for name in names))
    return path
