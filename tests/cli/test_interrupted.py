"""What is interrupted or killed: one line, no traceback, a whole store, and leftovers that are named and go."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from commandline import Cli

from aoe_reports.store import History

PLACES = {
    "before the files": "folder.Folder.write = before(folder.Folder.write)",
    "before the commit": "log.Log.commit = before(log.Log.commit)",
    "after the commit": "log.Log.commit = after(log.Log.commit)",
    "where Python swallows it": "log.Log.commit = before(log.Log.commit, swallowed)",
    "while modules are loaded": "sys.meta_path.insert(0, Finder())",
}
SCRIPT = """
import os, signal, sys, weakref
import aoe_reports.store.log as log, aoe_reports.store.parts as folder
from aoe_reports.__main__ import main

def strike():
    os.kill(os.getpid(), signal.SIGINT)

def swallowed():
    class Dying:
        def __del__(self):
            strike()
            sum(range(1000))
    Dying()

def before(work, strike=strike):
    def run(*arguments, **options):
        strike()
        return work(*arguments, **options)
    return run

def after(work):
    def run(*arguments, **options):
        done = work(*arguments, **options)
        strike()
        return done
    return run

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "aoe_reports.history.runs.ingest":
            strike()
"""


@pytest.mark.torture
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_ctrl_c_while_storing_is_one_line_and_leaves_a_whole_store(
    cli: Cli, msprof: Path, tmp_path: Path, place: str
) -> None:
    store = tmp_path / "s"
    assert cli("ingest", msprof / "ten_iterations", "--store", store, "--workload", "net").code in {0, 1}
    arguments = ["x", "ingest", str(msprof / "exports_of_2022"), "--store", str(store), "--workload", "net"]
    ended = subprocess.run(
        [sys.executable, "-c", f"{SCRIPT}\n{place}\nsys.argv = {arguments!r}\nmain()"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (130, "aoe-reports: interrupted\n")
    assert cli("store", "verify", "--store", store).code == 0
    parts = {str(path.relative_to(store)) for path in store.glob("kind=*/**/*.parquet")}
    named = {
        action["add"]["path"]
        for path in (store / "_delta_log").glob("*.json")
        for action in map(json.loads, path.read_text().splitlines())
        if "add" in action
    }
    assert named <= parts
    assert parts == named or "Log.commit = before" in place  # what no commit names goes with `store vacuum`
    assert cli("ingest", msprof / "exports_of_2022", "--store", store, "--workload", "net").code in {0, 1}
    assert len(cli("store", "history", "runs", "--store", store, "--format", "json").json["rows"]) == 2


def test_a_reader_who_goes_away_leaves_no_traceback(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    cli("nightly", msprof / "exports_of_2022", "--store", tmp_path / "s", "--site", tmp_path / "site")
    (tmp_path / "site" / "large.json").write_bytes(b" " * 50_000_000)  # more than a socket holds
    command = [sys.executable, "-m", "aoe_reports", "site", "--serve", str(tmp_path / "site"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        for _ in range(3):
            reader = socket.create_connection(("127.0.0.1", port))
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close is a reset
            reader.sendall(b"GET /large.json HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            reader.recv(10)
            reader.close()
        with socket.create_connection(("127.0.0.1", port)) as reader:
            reader.sendall(b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            assert reader.recv(12) == b"HTTP/1.0 200"
        server.send_signal(signal.SIGINT)
        _, err = server.communicate()
    assert (server.returncode, err) == (0, "")


def test_a_closed_pipe_costs_no_page_and_no_exit_code(msprof: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    reader, pipe = os.pipe()
    os.close(reader)
    given = (msprof / "exports_of_2022", "--store", tmp_path / "s", "--strict-data", "--site", site)
    ended = subprocess.run(
        [sys.executable, "-m", "aoe_reports", "nightly", *map(str, given)], stdout=pipe, stderr=pipe, check=False
    )
    os.close(pipe)
    assert ended.returncode == 4, "as without a pipe: too few nights"
    assert {"index.html", "report.html", "report.json", "report.md"} <= {path.name for path in site.iterdir()}


def test_a_report_that_cannot_be_written_costs_no_page(cli: Cli, msprof: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    given = ("nightly", msprof / "exports_of_2022", "--store", tmp_path / "s", "--site", tmp_path / "site")
    ended = cli(*given, "-o", tmp_path / "file" / "report.txt")
    assert (ended.code, "cannot be written" in ended.err) == (3, True)
    assert (tmp_path / "site" / "index.html").exists()


@pytest.mark.parametrize(
    ("number", "code", "last"), [(signal.SIGINT, 130, "aoe-reports: interrupted\n"), (signal.SIGTERM, 143, "")]
)
def test_an_interrupted_ingest_says_how_many_runs_are_stored_and_how_to_go_on(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int, last: str
) -> None:
    files = [tmp_path / f"{name}.jsonl" for name in "abcd"]
    for day, file in enumerate(files, start=1):
        line = {
            "workload": file.stem, "engine": "x", "hardware": "h", "runtime_ms_mean": 1.0, "runtime_ms_std": None,
            "timestamp": f"2026-01-0{day}T02:00:00Z", "schema_version": "0.1",
        }  # fmt: skip
        file.write_text(json.dumps(line) + "\n")
    add, added = History.add, list[object]()

    def strike(*arguments: Any, **options: Any) -> Any:
        if len(added) == 2:
            os.kill(os.getpid(), number)
        added.append(arguments)
        return add(*arguments, **options)

    monkeypatch.setattr(History, "add", strike)
    ended = cli("ingest", *files, "--store", tmp_path / "s")
    said = "aoe-reports: at least 2 runs are stored and stay; the same command stores the rest, and no run twice\n"
    assert (ended.code, ended.err) == (code, said + last)
    assert len(cli("store", "history", "runs", "--store", tmp_path / "s", "--format", "json").json["rows"]) == 2
    monkeypatch.undo()
    assert [row["outcome"] for row in cli("ingest", *files, "--store", tmp_path / "s", "--format", "json").json["rows"]] == [
        "unchanged", "unchanged", "added", "added",
    ]  # fmt: skip


HOLD = """
import sys, time
from pathlib import Path
from aoe_reports.engine.output import unfinished
with unfinished(Path(sys.argv[1])) as made:
    print(made, flush=True)
    sys.stdin.read()
"""


def writer(target: Path) -> tuple[subprocess.Popen[str], Path]:
    """A run that writes a file, and is not done yet."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


@pytest.fixture
def store(cli: Cli, msprof: Path, tmp_path: Path) -> Path:
    assert cli("ingest", msprof / "exports_of_2022", "--store", tmp_path / "s", "--workload", "net").code in {0, 1}
    return tmp_path / "s"


@pytest.mark.torture
def test_what_a_killed_run_left_is_named_and_goes(
    cli: Cli, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    process, left = writer(out / "rows.csv")
    foreign = out / ".rows.csv.mine"
    foreign.write_text("not ours")
    monkeypatch.setattr("aoe_reports.engine.output._seen", set())
    other = cli("report", "--store", store, "-o", out / "report.md")
    assert str(left) not in other.err  # it is being written
    process.kill()
    process.communicate()
    monkeypatch.setattr("aoe_reports.engine.output._seen", set())
    ended_before = cli("report", "--store", store, "-o", out / "report.md")
    assert f"{left}: left over from a killed run; the next run that writes rows.csv deletes it" in ended_before.err
    assert left.exists()
    ended = cli("store", "history", "-o", out / "rows.csv", "--store", store)
    assert (ended.code, f"{left}: left over from a killed run; it is deleted" in ended.err) == (0, True)
    assert {path.name for path in out.iterdir()} == {"rows.csv", "report.md", foreign.name}


def test_a_file_that_is_being_written_is_left_alone(cli: Cli, store: Path, tmp_path: Path) -> None:
    process, made = writer(tmp_path / "rows.jsonl")
    assert cli("store", "history", "-o", tmp_path / "rows.jsonl", "--store", store).code == 0
    assert made.exists()
    process.kill()
    process.communicate()


@pytest.mark.torture
def test_a_killed_run_leaves_what_the_next_one_deletes(cli: Cli, store: Path, tmp_path: Path) -> None:
    """Killed where it hurts: when all is written and nothing has its name."""
    code = (
        "import os, signal, sys, pathlib\n"
        "pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from aoe_reports.__main__ import main\n"
        f"sys.argv = ['x', 'history', '-o', {str(tmp_path / 'x.csv')!r}, '--store', {str(store)!r}]\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".x.csv")]
    assert cli("store", "history", "-o", tmp_path / "x.csv", "--store", store).code == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".x.csv")]


def test_a_mark_in_a_name_of_somebody_else_deletes_nothing(cli: Cli, store: Path, tmp_path: Path) -> None:
    handle, name = tempfile.mkstemp(dir=tmp_path, prefix=".other.aoe-reports-")
    os.close(handle)
    (tmp_path / ".rows.jsonl.aoe-reports-12345678").symlink_to(name)
    assert cli("store", "history", "-o", tmp_path / "rows.jsonl", "--store", store).code == 0
    assert Path(name).exists()
    assert (tmp_path / ".rows.jsonl.aoe-reports-12345678").is_symlink()
