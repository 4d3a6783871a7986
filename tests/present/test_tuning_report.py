"""Gains are exact, and there are none where the times are no times; what is listed, and how much of it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from commandline import Cli

from aoe_reports.present.reports.tuning import gain


def test_a_gain_is_exact() -> None:
    found = gain(Decimal("0.3"), Decimal("0.1"))
    assert found == (Decimal("0.2"), Decimal(2), 1 - Decimal("0.1") / Decimal("0.3"))


@pytest.mark.parametrize(
    ("before", "after"), [(None, "1"), ("1", None), ("0", "1"), ("1", "0"), ("-1", "1"), ("1", "-2"), ("1E15", "1")]
)
def test_there_is_no_gain_without_two_times(before: str | None, after: str | None) -> None:
    assert gain(*(None if time is None else Decimal(time) for time in (before, after))) is None


@pytest.mark.parametrize(("types", "cut"), [(10, False), (11, True)])
def test_a_night_lists_ten_operator_types(cli: Cli, tmp_path: Path, types: int, cut: bool) -> None:
    header = "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"
    rows = [f"Type{n:02d},AI_CORE,1,10,10,10,10,{100 / types:.3f}" for n in range(types)]
    (tmp_path / "op_statistic_20260101000000.csv").write_text("\n".join((header, *rows, "")))
    out = cli("nightly", tmp_path, "--store", tmp_path / "store", "--workload", "w", "--tz", "UTC").out
    assert ("Type09" in out, "Type10" in out, "; the first 10 of 11 types" in out) == (True, False, cut)
