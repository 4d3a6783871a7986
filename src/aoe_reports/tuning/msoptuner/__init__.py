"""msOpTuner (`mstuner_catlass`): the candidates of one kernel of the CATLASS library, each with its measured time.

`--output=results.csv` writes a row a candidate: `case_id,task_duration(us),device_id,operation,description,m,n,k,A,B,C`, and
behind them what single kernels need more (CATLASS, tools/tuner: README.md and src/metrics.cpp, 2025-12). A candidate that
could not be measured has a time of 0 and is in no list of the best there. None of them is marked as what ran before.
"""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile, TunerFileKind
from aoe_reports.model.rules import Scope
from aoe_reports.model.texts import say
from aoe_reports.tuning.claim_files import CLAIMS_FORM, CLAIMS_ROW, has_columns

OPTUNER_NOT_MEASURED = Scope("files of other tuners").rule(
    "optuner-not-measured",
    "info",
    "candidates with a time of 0: they could not be measured",
    say("CATLASS, tools/tuner"),
)


TIME = "task_duration(us)"
COLUMNS = ("case_id", TIME, "operation", "description")


def is_candidates(name: str, head: str = "") -> bool:
    """Whether a file is such a table: its header tells, as its name is whatever was asked for."""
    return name.lower().endswith(".csv") and has_columns(head, COLUMNS)


def _read(path: Path, most: int | None) -> TunerFile:
    from aoe_reports.tuning.msoptuner.tuner import read_file  # noqa: PLC0415 -- most folders have no such file

    return read_file(path, most)


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="msoptuner_results",
        form="csv",
        fits=is_candidates,
        read=_read,
        rules=(CLAIMS_FORM, CLAIMS_ROW, OPTUNER_NOT_MEASURED),
        columns=COLUMNS,
    ),
)
