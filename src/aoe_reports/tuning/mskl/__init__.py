"""msKL's autotuners of CATLASS and Ascend C kernels: the configurations of one kernel, each with its measured time.

`autotune_v2` writes `MSKL_AUTOTUNE_RESULTS_<time>.csv` with `No.,Config,TaskDuration(us),Args`: a row a configuration that ran, its
values joined by `|`, each `, ` in them written as `_`. It prints `No.1: 64.081 us, {…}` and `Best config: No.1`; `autotune` writes no
file and prints `No.1: 64.081μs, {…}` (Ascend/mskl, mskl/optune/tuner.py). Neither names the kernel, or what ran before.
"""

from __future__ import annotations

import re

from aoe_reports.formats.tuner_files import TunerFileKind, read_by
from aoe_reports.tuning.claim_files import CANDIDATE_RULES, has_columns

NUMBER, CONFIG, TIME, ARGS = COLUMNS = ("No.", "Config", "TaskDuration(us)", "Args")
LINE = re.compile(r"No\.(\d{1,9}): (\S{1,40}?) ?[u\u03bc\u00b5]s, (\{.{0,4000}\})\s*$", re.ASCII | re.MULTILINE)


def is_results(name: str, head: str = "") -> bool:
    """Whether a file is such a table: its header tells."""
    return name.lower().endswith(".csv") and has_columns(head, COLUMNS)


def is_printed(name: str, head: str = "") -> bool:
    """Whether a file is what one of the autotuners printed: a line tells."""
    return not name.endswith((".csv", ".json")) and LINE.search(head) is not None


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="mskl_results",
        form="csv",
        fits=is_results,
        read=read_by("aoe_reports.tuning.mskl.tuner"),
        rules=CANDIDATE_RULES,
        columns=COLUMNS,
    ),
    TunerFileKind(
        kind="mskl_printed",
        form="txt",
        fits=is_printed,
        read=read_by("aoe_reports.tuning.mskl.printed"),
        rules=CANDIDATE_RULES,
    ),
)
