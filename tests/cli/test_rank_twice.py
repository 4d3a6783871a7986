"""A rank that was captured twice is named."""

from __future__ import annotations

import shutil
from pathlib import Path

from commandline import FIXTURES, Cli

RANK = FIXTURES / "msprof" / "valid" / "cluster_of_two_ranks" / "host_4701_20250109073120_ascend_pt"


def test_stragglers_name_a_rank_that_is_there_twice(cli: Cli, tmp_path: Path) -> None:
    shutil.copytree(RANK, tmp_path / RANK.name)
    shutil.copytree(RANK, tmp_path / RANK.name.replace("4701", "4711"))
    ended = cli("stragglers", tmp_path)
    assert ended.out.startswith("Rank 0 twice: captures of one rank are not compared with each other.")
