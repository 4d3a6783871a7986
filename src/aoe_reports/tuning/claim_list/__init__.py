"""Claims of any tuner, or of a person, as a plain table: `operator, shapes, before_us, after_us`.

The columns may stand in any order, among others; `shapes` may be missing or empty (all shapes of the operator), and so may
single times before (then the claim is only how long the operator takes now). This form is this project's own.
"""

from __future__ import annotations

from aoe_reports.formats.tuner_files import TunerFileKind, read_by
from aoe_reports.tuning.claim_files import (
    CLAIMS_DUPLICATE,
    CLAIMS_FORM,
    CLAIMS_NO_GAIN,
    CLAIMS_ROW,
    LIST_COLUMNS,
    has_columns,
)


def is_claim_list(name: str, head: str = "") -> bool:
    """Whether a file is such a table: its header tells."""
    return name.lower().endswith(".csv") and has_columns(head, LIST_COLUMNS)


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="claim_list",
        form="csv",
        fits=is_claim_list,
        read=read_by("aoe_reports.tuning.claim_list.tuner"),
        rules=(CLAIMS_FORM, CLAIMS_ROW, CLAIMS_DUPLICATE, CLAIMS_NO_GAIN),
        columns=LIST_COLUMNS,
    ),
)
