"""The simulated nights: real formats, the same bytes each time, one operator slower."""

from __future__ import annotations

import re
from pathlib import Path

from commandline import Cli

from aoe_reports.simulation.nights import MODEL, NIGHTS, SLOW_BY, SLOW_NIGHT, SLOW_OPERATOR, write_nights


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_nights(tmp_path / name, 15)
    first = {p.relative_to(tmp_path / "a"): p.read_bytes() for p in (tmp_path / "a").rglob("*") if p.is_file()}
    second = {p.relative_to(tmp_path / "b"): p.read_bytes() for p in (tmp_path / "b").rglob("*") if p.is_file()}
    assert first == second
    assert sum("sgat" in path.name for path in first) == 1
    assert sum("opat" in path.name for path in first) == 2


def test_simulated_nights_pass_every_check(cli: Cli, tmp_path: Path) -> None:
    write_nights(tmp_path / "n", 14)
    ended = cli(
        "nightly",
        tmp_path / "n",
        "--store",
        tmp_path / "s",
        "--tz",
        "UTC",
        "--workload",
        "w",
        "--strict",
        "--format",
        "json",
    )
    assert (ended.code, ended.json["findings"]) == (0, [])


def test_the_demo_names_the_planted_operator(cli: Cli, tmp_path: Path) -> None:
    ended = cli("demo", "-o", tmp_path)
    assert ended.code == 0
    done, headline, look = ended.out.splitlines()
    assert done == f"Analysed {NIGHTS} simulated nights; operator {SLOW_OPERATOR} is 8% slower from 2026-02-07 on."
    (size,) = re.findall(
        rf"Regression: step of {MODEL} .*; operator {SLOW_OPERATOR} \(Conv2D\) \+([0-9.]+)% ", headline
    )
    assert abs(float(size) - 100 * SLOW_BY) < 1  # eight nights of 1 % noise
    assert look == f"Open {tmp_path / 'site' / 'index.html'} (full report: {tmp_path / 'site' / 'report.html'})"
    page = (tmp_path / "site" / "report.html").read_text()
    assert SLOW_OPERATOR in page
    assert "simulated" in page
    assert len(list((tmp_path / "nights").iterdir())) == NIGHTS > SLOW_NIGHT
    again = cli("demo", "-o", tmp_path)
    assert (again.code, again.out) == (0, ended.out)
    assert "54 runs read: 54 unchanged" in (tmp_path / "site" / "report.md").read_text()
    assert {path.name for path in (tmp_path / "site").glob("report.*")} == {"report.html", "report.json", "report.md"}
