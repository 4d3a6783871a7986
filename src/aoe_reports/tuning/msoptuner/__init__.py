"""msOpTuner (`mstuner_catlass`): the candidates of one kernel of the CATLASS library, each with its measured time.

`--output=results.csv` writes a row a candidate: `case_id,task_duration(us),device_id,operation,description,m,n,k,A,B,C`, and
behind them what single kernels need more (CATLASS, tools/tuner: README.md and src/metrics.cpp, 2025-12). A candidate that
could not be measured has a time of 0 and is in no list of the best there. None of them is marked as what ran before.
"""

from __future__ import annotations

from aoe_reports.formats.tuner_files import TunerFileKind, read_by
from aoe_reports.tuning.claim_files import CANDIDATE_RULES, has_columns

TIME = "task_duration(us)"
COLUMNS = ("case_id", TIME, "operation", "description")


def is_candidates(name: str, head: str = "") -> bool:
    """Whether a file is such a table: its header tells, as its name is whatever was asked for."""
    return name.lower().endswith(".csv") and has_columns(head, COLUMNS)


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="msoptuner_results",
        form="csv",
        fits=is_candidates,
        read=read_by("aoe_reports.tuning.msoptuner.tuner"),
        rules=CANDIDATE_RULES,
        columns=COLUMNS,
    ),
)
