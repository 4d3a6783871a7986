"""Operators of a run of several ranks: one row each, a column a rank, or the median, least and worst of many."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest

from aoe_reports.history.site_facts import RunDetails
from aoe_reports.model.rank_spread import MIN_RANKS
from aoe_reports.site.pages.operators import groups_table, operators_of, places_of, spreads_as_json
from aoe_reports.site.texts import Texts

TEXT = Texts()


def row(rank: int, name: str, total_us: float, **more: Any) -> dict[str, Any]:
    return {
        "rank_id": rank, "device_id": rank, "op_type": "Cast", "op_name": name, "input_shapes": "8,64", "count": 3,
        "total_us": total_us, "share": 0.5, "series_id": f"{name}{rank}", **more,
    }  # fmt: skip


def of_ranks(count: int) -> RunDetails:
    """Two operators; Cast takes longer on higher ranks, conv runs on rank 0 only."""
    rows = [row(rank, "Cast", 1_000.0 + 10 * rank) for rank in range(count)]
    return RunDetails(operators=[*rows, row(0, "conv", 500.0, count=4)])


def words(cell: str) -> str:
    return re.sub(r"<[^>]+>", " ", cell).strip()


@pytest.mark.parametrize("count", [2, MIN_RANKS - 1])
def test_a_few_ranks_have_a_column_each(count: int) -> None:
    kind = operators_of(of_ranks(count), None)
    table = groups_table(kind, places_of(kind), frozenset({"Cast1"}), TEXT, "")
    titles = [title for title, _ in table.columns]
    assert titles[2:-2] == [f"Rank {rank} (ms)" for rank in range(count)]
    assert [words(cell) for cell in table.rows[0][1:4]] == ["3", "1.000", "1.010"]
    assert 'href="../series/Cast1.html"' in table.rows[0][3]
    assert [words(cell) for cell in table.rows[1][2:4]] == ["0.5000", "–"]


def test_of_many_ranks_the_least_and_the_worst_are_named() -> None:
    kind = operators_of(of_ranks(6), None)
    table = groups_table(kind, places_of(kind), frozenset(), TEXT, "")
    assert [words(cell).split() for cell in table.rows[0][2:5]] == [
        ["1.025"],
        ["1.000", "Rank", "0"],
        ["1.050", "Rank", "5"],
    ]
    (cast, _) = spreads_as_json(kind)
    assert (cast["median_us"], cast["worst_rank"], cast["ranks"]) == (1_025.0, 5, 6)


@pytest.mark.parametrize("count", [2, MIN_RANKS])
def test_ranks_without_series_of_their_own_have_their_times(count: int) -> None:
    names = ("rank_id", "device_id", "op_type", "op_name", "workload_args", "count", "total_ns")
    args = '{"input_shapes": "8,64"}'
    stored = [(rank, rank, "Cast", "Cast", args, 3, 1_000_000 + 10_000 * rank) for rank in range(count)]
    ranks = pa.table(dict(zip(names, map(list, zip(*stored, strict=True)), strict=True)))
    of_median = row(0, "Cast", 1_005.0, rank_id=None, device_id=None, series_id="all")
    kind = operators_of(RunDetails(operators=[of_median], operator_ranks=ranks), None)
    (cells,) = groups_table(kind, places_of(kind), frozenset({"all"}), TEXT, "").rows
    assert 'href="../series/all.html"' in cells[0]
    assert [words(cell).split()[0] for cell in cells[2:4]] == (["1.000", "1.010"] if count == 2 else ["1.015", "1.000"])


def test_a_type_that_is_the_name_is_said_once() -> None:
    kind = operators_of(of_ranks(1), None)
    (cast, conv) = groups_table(kind, places_of(kind), frozenset(), TEXT, "").rows
    assert words(cast[0]).split() == ["Cast", "8,64"]
    assert words(conv[0]).split() == ["conv", "Cast", "·", "8,64"]
