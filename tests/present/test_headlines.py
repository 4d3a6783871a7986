"""A headline names one incident: what belongs to it is not counted again."""

from __future__ import annotations

from pathlib import Path

from captures import QUIET, changed, write_night
from commandline import Cli

from aoe_reports.simulation.nights import MODEL


def test_an_operator_that_is_slower_is_named_once(cli: Cli, simulated_store: Path, tmp_path: Path) -> None:
    headline = headline_of(cli, simulated_store, tmp_path, members=3)
    assert headline.startswith(f"Regression: step of {MODEL} +")
    assert "operator layer6/conv (Conv2D) +7" in headline


def test_the_headline_of_a_night_is_that_of_the_store(cli: Cli, tmp_path: Path) -> None:
    """Nights in which only the step gets slower: it waits longer."""
    waiting = changed(free_us=900.0)
    for number in range(26):
        write_night(tmp_path / "nights", number, QUIET if number < 20 else waiting)
    store = tmp_path / "store"
    nightly = cli("nightly", tmp_path / "nights", "--store", store, "--workload", "net").out
    headline = headline_of(cli, store, tmp_path, nightly, members=1)
    assert headline.startswith("Regression: step of net, rank 0 +")
    assert "free time adds " in headline


def headline_of(cli: Cli, store: Path, folder: Path, *more: str, members: int) -> str:
    """The one headline of all that is printed of a store, which counts nothing of the incident that it names again."""
    rows = cli("regressions", "--store", store, "--format", "json").json["rows"]
    slow = [row for row in rows if row["state"] in {"confirmed", "drift"} and row["change"] > 0]
    assert len(slow) == members
    headlines = set()
    for text in (*more, cli("report", "--store", store).out, cli("regressions", "--store", store).out):
        headline = next(line for line in text.splitlines() if line.startswith("Regression: "))
        headlines.add(headline)
        assert " other " not in headline
    assert len(headlines) == 1
    (headline,) = headlines
    return headline
