"""`read_series` gives what the store holds, and sees the changes that `regressions` sees."""

from __future__ import annotations

from pathlib import Path
from statistics import median_low

import pytest
from commandline import Cli

from aoe_reports import History, read_series
from aoe_reports.model.errors import AoeReportsError


def test_changes_are_those_of_regressions(cli: Cli, simulated_store: Path) -> None:
    answer = read_series(str(simulated_store), whole_history=True)
    told = cli("regressions", "--store", simulated_store, "--whole-history", "--format", "json").json["rows"]
    names = ("series_id", "state", "since", "before", "after", "change", "ci_low", "ci_high")
    assert sorted(tuple(getattr(row, name) for name in names) for row in answer.table("changes")) == sorted(
        tuple(row[name] for name in names) for row in told if row["since"]
    )
    assert answer.table("changes")


def test_values_are_those_of_the_records(simulated_store: Path) -> None:
    history = History.open(str(simulated_store))
    nights: dict[tuple[str, str], list[float]] = {}
    for row in history.records(("series_id", "night", "runtime_ms_mean", "source")).to_pylist():
        if row["source"] != "aoe":  # what AOE measured of itself is no night
            nights.setdefault((row["series_id"], row["night"]), []).append(row["runtime_ms_mean"])
    answer = read_series(history)
    assert {(row.series_id, row.night): row.value for row in answer.rows} == {
        place: median_low(values) for place, values in nights.items()
    }
    assert {row.unit for row in answer.rows} == {"ms"}


def test_series_that_are_not_there_are_said_to_be_none(simulated_store: Path) -> None:
    answer = read_series(str(simulated_store), workload="nosuch")
    assert list(answer.rows) == []
    (found,) = answer.findings
    assert (found.rule, found.severity) == ("not-enough-data", "warning")
    assert found.message.startswith("no series of workload 'nosuch' is stored; ")


def test_where_there_is_no_store_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(AoeReportsError):
        read_series(str(tmp_path / "nothing"))
