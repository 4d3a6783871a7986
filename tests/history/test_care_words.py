"""The sentence with which a command on the store begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from commandline import ROOT, Cli

from aoe_reports.history.care import Undone, Verified
from aoe_reports.history.care_words import sentence_of
from aoe_reports.store.care import Compacted, StoreInfo, Vacuumed


@pytest.mark.parametrize(
    ("done", "sentence"),
    [
        (StoreInfo(runs=1, records=1710, bytes=206969, files=7, version=3, format=2, last_compaction=None), "1 run with 1,710 records in 7 files (206,969 bytes)."),
        (Verified(files=7, damaged=1, unreadable=1), "2 of 7 files damaged or unreadable."),
        (Compacted(files_before=19, files=7, rows_merged=1768), "19 files before, 7 now; 1,768 rows merged."),
        (Vacuumed(files_deleted=1, bytes_deleted=5000, days=7), "1 file deleted (5,000 bytes)."),
        (Undone(night="2026-01-01", run="r", workload="w", path="p", state="undone"), "Run r of 2026-01-01 removed."),
    ],
)  # fmt: skip
def test_a_command_on_the_store_says_what_it_did(
    done: StoreInfo | Verified | Compacted | Vacuumed | Undone, sentence: str
) -> None:
    assert sentence_of(done) == sentence


def test_runs_that_are_stored_and_listed_are_counted(cli: Cli, tmp_path: Path) -> None:
    def first_line(*words: object) -> str:
        return cli(*words, "--store", tmp_path / "s").out.splitlines()[0]

    source = ROOT / "fixtures" / "msprof" / "valid" / "torch_npu_two_ranks"
    added, again = (first_line("ingest", source, "--workload", "w", "--tz", "UTC") for _ in range(2))
    assert added.startswith("1 run with ")
    assert added.endswith(": 1 added.")
    assert again.endswith(": 1 unchanged.")
    assert first_line("store", "history", "runs") == "1 entry, 2025-01-09."
    assert first_line("store", "history", "acks") == "No entry of this kind."
