"""What tests share: the fixtures folder, and the command line as a function."""

from __future__ import annotations

import gc
import math
import pickle
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import forked_queries
import pytest
import typer.main
from buckets import Server, s3_server
from commandline import FIXTURES, Cli, Ended
from small_store import write_small_store
from stores import store_at_once

from aoe_reports.engine.fleet import executors
from aoe_reports.engine.tables import query_process
from aoe_reports.simulation.nights import MODEL, write_nights
from aoe_reports.topics.records.options import RecordOptions

if TYPE_CHECKING:
    from goldens.harness import Place

pytest_plugins = ["cpu_seconds", "hypothesis_profiles"]
# a job in the background ignores Ctrl-C, one of nohup a hangup, and so would all that tests start to interrupt it
signal.signal(signal.SIGINT, signal.default_int_handler)
for ignored in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(ignored, signal.SIG_DFL)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts files with slow tests first: else one worker begins such a file when the others have nothing left to do."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


def pytest_collection_finish() -> None:
    """Tells the garbage collector to leave alone what all tests share: 15,000 items and the modules."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def without_files_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What whoever runs the tests has configured, or has in a cache, changes none of them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def read_in_this_process() -> Iterator[None]:
    """What a command line of this process reads it reads here: on a busy machine it would start others, which import all anew."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(executors, "WORTH_S", math.inf)
        yield


@pytest.fixture(autouse=True, scope="session")
def commands_made_once() -> Iterator[None]:
    """Typer makes all commands anew for each command line, which takes longer than most of them; once a language is enough."""
    from aoe_reports.cli.language import spoken

    make = typer.main.get_command
    made = cache(lambda app, language: make(app))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(typer.main, "get_command", lambda app: made(app, spoken()))
        yield


@pytest.fixture(autouse=True, scope="session")
def queries_in_forked_processes() -> Iterator[None]:
    """An interpreter of its own for each query takes half a CPU second; tests of this process itself start the real one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(query_process, "subprocess", forked_queries)
        yield
    forked_queries.end()


@pytest.fixture(scope="session")
def object_server() -> Iterator[Server]:
    """A server of objects; who uses it empties it first."""
    with s3_server() as server:
        yield server


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """A folder in which commands print what is on record in tests/goldens."""
    from goldens.harness import new_place

    with new_place() as made:
        yield made


@pytest.fixture(scope="module")
def pictures_drawn_once() -> Iterator[None]:
    """Reports of one store show the same few pictures in each form, and drawing one takes longer than all else of a report."""
    from aoe_reports.present import figures

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figures, "draw_png", _once(figures.draw_png))
        yield


def _once(draw: Callable[..., Any]) -> Callable[..., Any]:
    drawn: dict[bytes, Any] = {}

    def look(*chart_and_language: Any) -> Any:
        asked = pickle.dumps(chart_and_language)
        if asked not in drawn:
            drawn[asked] = draw(*chart_and_language)
        return drawn[asked]

    return look


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run `aoe-reports` as a user would, in this process."""
    from aoe_reports.cli.main import main

    def run(*args: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["aoe-reports", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return Ended(int(code or 0), out, err)

    return run


@pytest.fixture(scope="session")
def simulated_nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All simulated nights, a folder each; nobody may write there."""
    folder = tmp_path_factory.mktemp("simulated") / "nights"
    write_nights(folder)
    return folder


@pytest.fixture(scope="session")
def simulated_store(simulated_nights: Path) -> Path:
    """All simulated nights, stored; nobody may write there."""
    store_at_once([simulated_nights], simulated_nights.with_name("store"), RecordOptions(workload=MODEL))
    return simulated_nights.with_name("store")


@pytest.fixture(scope="session")
def made_small_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small store and its nights, which know them by their places below it; nobody may write there."""
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        write_small_store(Path())
    return folder


@pytest.fixture
def small_store(made_small_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small store as `store` in the working directory, its nights beside it."""
    shutil.copytree(made_small_store, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Path("store")


@pytest.fixture
def msprof() -> Path:
    return FIXTURES / "msprof" / "valid"


@pytest.fixture
def aoe() -> Path:
    return FIXTURES / "aoe" / "valid"
