"""The nightly report lists every result of AOE that it was given, of operators and of subgraphs."""

from __future__ import annotations

from pathlib import Path

from commandline import Cli

from aoe_reports.simulation.nights import MODEL, SUBGRAPHS_EVERY, write_nights


def test_results_of_operators_and_of_subgraphs_are_both_in_the_report(cli: Cli, tmp_path: Path) -> None:
    night = write_nights(tmp_path / "nights", SUBGRAPHS_EVERY)[-1]
    out = cli("nightly", night, "--store", tmp_path / "store").out
    told = out.partition("Claims by AOE")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[1:3] for line in told if line.startswith(night.name)] == [[MODEL, "sgat"], [MODEL, "opat"]]
