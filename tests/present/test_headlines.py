"""A headline names one incident: what belongs to it is not counted again."""

from __future__ import annotations

import html
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
def test_the_headline_counts_nothing_of_the_incident_that_it_names(
    cli: Cli, tmp_path: Path, slower: Callable[[Path], list[Path]]
) -> None:
    slower(tmp_path / "nights")
    store = tmp_path / "store"
    nightly = cli("nightly", tmp_path / "nights", "--store", store, "--workload", "net").out
    rows = cli("regressions", "--store", store, "--format", "json").json["rows"]
    slow = [row for row in rows if row["state"] in {"confirmed", "drift"} and row["change"] > 0]
    assert len(slow) == (1 if slower is one_wait else 3)
    headlines = set()
    for text in (nightly, cli("report", "--store", store).out, cli("regressions", "--store", store).out):
        headline = next(line for line in text.splitlines() if line.startswith("Regression: "))
        headlines.add(headline)
        assert " other " not in headline
    assert len(headlines) == 1
    (headline,) = headlines
    assert headline.startswith(f"Regression: step of net{'' if slower is a_simulated_operator else ', rank 0'} +")
    assert ("operator layer6/conv (Conv2D) +7" if slower is a_simulated_operator else "free time adds ") in headline
    cli("site", "--store", store, "-o", tmp_path / "site")
    page = html.unescape((tmp_path / "site" / "index.html").read_text())
    assert page.partition("<h1")[2].partition(">")[2].partition("</h1>")[0] == headline
