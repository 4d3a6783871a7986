"""Growth beside the pool whose peak is taken apart: components, and sums only where none of their parts grows."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from commandline import FIXTURES, Cli

TABLES = {"memory_record.csv": "Total Reserved(MB)", "npu_module_mem.csv": "Total Reserved(MB)"}


def _grown(folder: Path, wanted: dict[str, set[str]]) -> Path:
    """The planted training of rank 0, in which some components of some tables reserve 100 MB more with each of their samples."""
    shutil.copytree(FIXTURES / "memory" / "training" / "rank0_ascend_pt", folder / "rank0_ascend_pt")
    for name, components in wanted.items():
        path = folder / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / name
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        grown = [row for row in rows if row["Component"] in components]
        for number, row in enumerate(grown):
            row[TABLES[name]] = str(float(row[TABLES[name]]) + 100 * number)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return folder


@pytest.mark.parametrize(
    ("wanted", "grows"),
    [
        ({}, set()),
        ({"npu_module_mem.csv": {"HCCL"}, "memory_record.csv": {"APP"}}, {"HCCL as a whole"}),
        ({"npu_module_mem.csv": {"RUNTIME"}}, {"RUNTIME as a whole"}),
    ],
    ids=["nothing", "HCCL and with it the process", "RUNTIME"],
)
def test_components_that_grow_are_said(cli: Cli, tmp_path: Path, wanted: dict[str, set[str]], grows: set[str]) -> None:
    rows = cli("memory", _grown(tmp_path, wanted), "--format", "json").json["growth"]
    found = {row["owner"]: row for row in rows if row["measure"] == "reserved"}
    assert found.keys() == grows
    for row in found.values():
        assert (row["meaning"], row["bytes_per_step"]) == ("grows", 200 << 20)
