"""One browser and one set of sites for all tests here; workers of one run share the sites."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium, Tab, find_chromium
from commandline import FIXTURES
from dashboards import HOSTILE, store_hostile_names
from made_traces import dense

from aoe_reports.engine.question import Notes
from aoe_reports.history.runs.ingest import ingest
from aoe_reports.simulation.nights import MODEL, write_nights
from aoe_reports.simulation.tuning import write_loop
from aoe_reports.site.build import build_site
from aoe_reports.topics.records.options import IngestOptions
from aoe_reports.tuning.plan.folder import write_plan
from aoe_reports.tuning.plan.plan import Plan

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
MORE = ("valid/torch_npu_two_ranks", "valid/torch_npu_memory_and_communication", "valid/ten_iterations",
        "invalid/statistic-mismatch")  # fmt: skip
"""Captures with what the simulated nights lack: parts of steps, several ranks, findings. Their times are in their files."""


def needed(name: str, there: object) -> None:
    """Skip a test for which something is not there; where that must be there, it fails."""
    if not there:
        reason = f"{name} cannot be found; tests/browser/install.sh installs what is needed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    needed("chromium", find_chromium())
    with Chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def tab(chromium: Chromium) -> Iterator[Tab]:
    tab = chromium.open_tab()
    tab.look()
    yield tab
    tab.close()


@pytest.fixture(scope="session")
def axe() -> str:
    needed("axe-core", AXE.is_file())
    return AXE.read_text()


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sites `plain`, `chinese` (of the same store) and `hostile`, and with `reports`."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sites"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            write_nights(folder / "nights")
            store = str(folder / "store")
            ingest([folder / "nights"], store, IngestOptions(workload=MODEL), Notes())
            for name in MORE:
                ingest([FIXTURES / "msprof" / name], store, IngestOptions(workload=name.rpartition("/")[2]), Notes())
            ingest([FIXTURES / "memory" / "training"], store, IngestOptions(workload="training"), Notes())
            ingest([dense().write(folder / "dense")], store, IngestOptions(workload="dense"), Notes())
            build_site(store, folder / "plain", false_alarms_per_year=12.0, language="en")
            build_site(store, folder / "chinese", false_alarms_per_year=12.0, language="zh")
            (folder / "names").mkdir()
            hostile = str(store_hostile_names(folder / "names"))
            ingest([dense(HOSTILE).write(folder / "odd")], hostile, IngestOptions(workload=HOSTILE[0]), Notes())
            build_site(hostile, folder / "hostile", false_alarms_per_year=12.0, language="en")
            _write_reports(folder, store)
            (folder / "made").touch()
    return folder


def _write_reports(folder: Path, store: str) -> None:
    """A night with its charts, AOE's results, a tuning to be signed, a list of operators, as files in `reports`."""
    (folder / "reports").mkdir()
    loop = write_loop(folder / "loop", "faster", 3)
    write_plan(folder / "plan", Plan("offline", "opat"))
    verify = ("verify", folder / "plan", "--before", loop.before, "--after", loop.after, "--results", loop.result)
    commands: dict[str, tuple[object, ...]] = {
        "night": ("report", "--store", store, "--workload", MODEL),
        "check": ("check", FIXTURES / "aoe"),
        "signed": verify,
        "signed-chinese": (*verify, "--lang", "zh"),
        "hotspots": ("hotspots", FIXTURES / "msprof" / "valid" / "torch_npu_two_ranks"),
    }
    for name, command in commands.items():
        page = str(folder / "reports" / f"{name}.html")
        asked = [sys.executable, "-m", "aoe_reports", *map(str, command), "--format", "html", "-o", page]
        subprocess.run(asked, check=False, capture_output=True)


@pytest.fixture(scope="session")
def served(sites: Path) -> Iterator[str]:
    """The address of the site `plain`, as `serve` says it."""
    command = [sys.executable, "-m", "aoe_reports", "site", "--serve", str(sites / "plain"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
