"""A headline counts the series that got slower beside the one it names: neither that one again, nor one too few."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from captures import QUIET, changed, write_night
from commandline import Cli

from aoe_reports.simulation.nights import write_nights


def a_simulated_operator(folder: Path) -> list[Path]:
    return write_nights(folder)


def one_wait(folder: Path) -> list[Path]:
    """Nights in which only the step gets slower: it waits longer."""
    waiting = changed(free_us=900.0)
    return [write_night(folder, number, QUIET if number < 20 else waiting) for number in range(26)]


@pytest.mark.parametrize("slower", [a_simulated_operator, one_wait])
def test_the_headline_counts_the_other_series_that_got_slower(
    cli: Cli, tmp_path: Path, slower: Callable[[Path], list[Path]]
) -> None:
    slower(tmp_path / "nights")
    store = tmp_path / "store"
    nightly = cli("nightly", tmp_path / "nights", "--store", store, "--workload", "net").out
    rows = cli("regressions", "--store", store, "--format", "json").json["rows"]
    others = sum(row["state"] in {"confirmed", "drift"} and row["change"] > 0 for row in rows) - 1
    assert others == (0 if slower is one_wait else 2)
    for text in (nightly, cli("report", "--store", store).out):
        headline = next(line for line in text.splitlines() if line.startswith("Slower: "))
        if others == 0:
            assert "other series" not in headline
        else:
            assert headline.endswith(f" {others} other series are slower, too.")
