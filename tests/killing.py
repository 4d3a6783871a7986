"""Ends a command before (or in the middle of) each change that it makes below a folder, or lets that change fail.

A library between the program and libc (support/killing.c) counts what is opened to be written, written, renamed, linked, made,
taken away, synchronised. One process that has everything imported is forked for each try, so that a try takes some hundredths of a second.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent / "support" / "killing.c"
COMPILER = shutil.which("gcc") or shutil.which("cc")
KILLED = -9


@dataclass(frozen=True)
class Tried:
    """What a try left: its exit code (-9: killed), what it printed, and which changes it began."""

    code: int
    out: str
    err: str
    changes: list[str]


@dataclass(frozen=True)
class Fault:
    """What happens to the n-th change: the process is killed, or the change fails with an error number."""

    at: int = 0
    error: int = 0
    half: bool = False
    """Whether a write is killed when half of it is written."""
    forever: bool = False
    """Whether all later changes but taking away fail, too."""
    in_steps: bool = False
    """Whether the file system cannot exchange names at once."""


NO_FAULT = Fault()


@dataclass
class Killer:
    """Tries commands under faults; `killer` makes one."""

    process: subprocess.Popen[str]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: object, root: Path, cwd: Path, fault: Fault = NO_FAULT, **environment: str) -> Tried:
        """Run `aoe-reports ARGUMENTS` with a fault among its changes below `root`."""
        asked = {
            "arguments": [str(one) for one in arguments],
            "root": str(root.resolve()),
            "cwd": str(cwd),
            "environment": {**self.environment, **environment},
            "fault": [fault.at, fault.error, int(fault.half), int(fault.forever), int(fault.in_steps)],
            "folder": str(self.folder),
        }
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        code = int(self.process.stdout.readline())
        out, err, log = ((self.folder / name).read_text(errors="replace") for name in ("out", "err", "log"))
        return Tried(code, out, err, log.splitlines())


@contextmanager
def killer(environment: Mapping[str, str], *modules: str) -> Iterator[Killer]:
    """A killer with some modules imported beforehand; `environment` is that of every command."""
    assert COMPILER is not None, "a C compiler is needed"
    with tempfile.TemporaryDirectory() as name:
        library = Path(name) / "killing.so"
        compiled = [COMPILER, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(compiled, check=True, capture_output=True)
        command = [sys.executable, __file__, *modules]
        with subprocess.Popen(
            command,
            env={**os.environ, "LD_PRELOAD": str(library)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            yield Killer(process, Path(name), dict(environment))
            process.stdin.close()


def main() -> None:
    """Fork for each line that comes in, and print how the child ended."""
    for module in ("aoe_reports.cli.main", *sys.argv[1:]):
        __import__(module)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _try(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201
        _import_what_was_needed(Path(json.loads(line)["folder"]) / "modules")


def _import_what_was_needed(path: Path) -> None:
    """So that the next child has it."""
    for module in path.read_text().split() if path.exists() else ():
        with suppress(ImportError):
            __import__(module)
    path.unlink(missing_ok=True)


def _try(asked: dict[str, Any]) -> None:
    """The command, in a process of its own that never comes back."""
    from aoe_reports.cli.main import main as command_line

    folder = Path(asked["folder"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["cwd"])
    sys.argv = ["aoe-reports", *asked["arguments"]]
    at, *how = asked["fault"]
    ctypes.CDLL(None).killing_arm(os.fsencode(asked["root"]), ctypes.c_long(at), *how, os.fsencode(folder / "log"))
    code, before = 70, set(sys.modules)
    try:
        command_line()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 -- as the interpreter would end
        import traceback

        traceback.print_exc()
        code = 1
    finally:
        (folder / "modules").write_text(" ".join(sorted(set(sys.modules) - before)))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
