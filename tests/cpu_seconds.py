"""What each test costs in CPU seconds, with the processes that it waits for; `make slow-tests` prints the dearest.

A plugin of pytest writes them to build/cpu_seconds.json: each run adds its tests. Wall times on a shared machine say little.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

RECORD = Path(__file__).parents[1] / "build" / "cpu_seconds.json"
SHARE = 0.02
LAST = pytest.StashKey[float]()


def used() -> float:
    """CPU seconds of this process and of those that it started and waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[LAST] = used()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Gives each report of a phase the seconds of this phase; xdist passes them on."""
    report = yield
    now = used()
    report.user_properties = [("cpu_seconds", now - item.stash[LAST])]
    item.stash[LAST] = now
    return report


class Recorder:
    """Writes the sums of phases, in the process that the reports come to."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        taken = sum(float(str(value)) for name, value in report.user_properties if name == "cpu_seconds")
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + taken

    def pytest_sessionfinish(self) -> None:
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(json.dumps(recorded() | self.seconds, indent=0))


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder())


def recorded() -> dict[str, float]:
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def main() -> None:
    """Prints the dearest tests and their share."""
    dearest = sorted(recorded().items(), key=lambda test: -test[1])
    whole = sum(seconds for _, seconds in dearest)
    shown = dearest[: int(len(dearest) * SHARE) + 1]
    lines = [f"{seconds:8.2f}  {test}" for test, seconds in shown]
    share = sum(seconds for _, seconds in shown) / (whole or 1)
    lines.append(f"{len(shown):,} of {len(dearest):,} tests: {share:.0%} of {whole:,.0f} CPU seconds")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
