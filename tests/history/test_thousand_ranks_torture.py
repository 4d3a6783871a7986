"""A thousand ranks of which one is damaged: the others are stored, and one finding names file and line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from captures import QUIET, write_night
from commandline import Cli

pytestmark = pytest.mark.torture
RANKS, DAMAGED = 1000, 700


def test_one_damaged_rank_of_a_thousand_costs_no_other(cli: Cli, tmp_path: Path) -> None:
    homes = [write_night(tmp_path / "ranks", 0, QUIET, rank=rank) for rank in range(RANKS)]
    table = homes[DAMAGED] / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    table.write_bytes(table.read_bytes()[:900])
    store = tmp_path / "store"
    ended = cli("ingest", tmp_path / "ranks", "--store", store, "--workload", "net", "--format", "json")
    told = ended.json
    assert ended.code == 1
    assert [(row["outcome"], row["status"]) for row in told["rows"]] == [("added", "incomplete")]
    assert [(one["rule"], one["path"], one["line"]) for one in told["findings"]] == [("csv-truncated", str(table), 6)]
    listed = csv.DictReader(io.StringIO(cli("store", "history", "ranks", "--store", store, "--format", "csv").out))
    ranks = {int(row["rank_id"]) for row in listed if row["op_type"] == "SoftmaxV2"}  # behind the cut
    assert ranks == set(range(RANKS)) - {DAMAGED}
