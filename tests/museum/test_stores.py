"""Stores that older versions wrote are read, judged and written as if this version had begun them.

The archives were written by the last version of format 1 and the first of format 2, from the first twelve simulated nights.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from commandline import Cli

from aoe_reports.store.layout import FORMAT

ARCHIVES = Path(__file__).parent / "stores"
STORED, LATER, NIGHTS = 12, 35, 45


@pytest.fixture(params=range(1, FORMAT + 1))
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[int, Path]:
    """A format, and a store of it."""
    with tarfile.open(ARCHIVES / f"format-{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return request.param, tmp_path / "store"


def outcomes(cli: Cli, store: Path, *nights: Path) -> list[str]:
    ended = cli("ingest", *nights, "--store", store, "--format", "json")
    assert ended.code == 0
    return [row["outcome"] for row in ended.json["rows"]]


def format_of(cli: Cli, store: Path) -> int:
    (row,) = cli("store", "info", "--store", store, "--format", "json").json["rows"]
    return int(row["format"])


def test_an_old_store_is_read_without_being_changed(cli: Cli, old: tuple[int, Path]) -> None:
    number, store = old
    before = sorted(path.relative_to(store) for path in store.rglob("*"))
    runs = cli("store", "history", "--store", store, "--format", "json")
    assert (runs.code, runs.json["rows"][0]["night"]) == (0, "2026-01-01")
    assert len({row["night"] for row in runs.json["rows"]}) == STORED
    judged = cli("regressions", "--store", store)
    assert (judged.code, judged.out.splitlines()[-1]) == (0, "gate passed · 0 incidents open")
    assert cli("store", "verify", "--store", store).code == 0
    assert (format_of(cli, store), sorted(path.relative_to(store) for path in store.rglob("*"))) == (number, before)


def test_an_old_store_goes_on(cli: Cli, old: tuple[int, Path], simulated_nights: Path) -> None:
    _, store = old
    nights = sorted(simulated_nights.iterdir())
    assert len(nights) == NIGHTS
    assert set(outcomes(cli, store, nights[STORED - 1])) == {"unchanged"}
    assert set(outcomes(cli, store, *nights[LATER:])) == {"added"}
    assert format_of(cli, store) == FORMAT
    judged = cli("regressions", "--store", store)
    assert judged.code == 1
    assert "since 2026-02-07" in judged.out
    assert cli("store", "verify", "--store", store).code == 0
