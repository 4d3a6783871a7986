"""PyPTO's tuning tool: the combinations of tiles of one kernel, each with the median of its runs.

`<results_folder>/<date>/config_perf.csv` (`configs_perf.csv` in its README) has `combination,<parameters…>,time(us)`; a combination that
did not run has `Error`. `xgb_tuner.py` writes `combination,time(us),is_real,accepted,<parameters…>`: times of rows without `is_real` are
estimates of a model. `combination_N/combination_params.json` has the lines that a combination puts into the sources (hicann/pypto,
tools/scripts/tuner). Times are the longest working time of a core, and nothing names the kernel.
"""

from __future__ import annotations

from aoe_reports.formats.tuner_files import TunerFileKind, read_by
from aoe_reports.tuning.claim_files import CANDIDATE_RULES, CLAIMS_FORM, has_columns

COMBINATION, TIME = COLUMNS = ("combination", "time(us)")
PARAMETERS = "combination_params.json"


def is_performance(name: str, head: str = "") -> bool:
    """Whether a file is such a table: its header tells."""
    return name.lower().endswith(".csv") and has_columns(head, COLUMNS)


def is_parameters(name: str, head: str = "") -> bool:
    """Whether a file has the lines of one combination: its name tells."""
    del head
    return name == PARAMETERS


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="pypto_performance",
        form="csv",
        fits=is_performance,
        read=read_by("aoe_reports.tuning.pypto.tuner"),
        rules=CANDIDATE_RULES,
        columns=COLUMNS,
    ),
    TunerFileKind(
        kind="pypto_parameters",
        form="json",
        fits=is_parameters,
        read=read_by("aoe_reports.tuning.pypto.parameters"),
        rules=(CLAIMS_FORM,),
    ),
)
