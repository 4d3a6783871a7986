"""Claims of any tuner, or of a person, as a plain table: `operator, shapes, before_us, after_us`.

The columns may stand in any order, among others; `shapes` may be missing or empty (all shapes of the operator), and so may
single times before (then the claim is only how long the operator takes now). This form is this project's own.
"""

from __future__ import annotations

from pathlib import Path

from aoe_reports.formats.tuner_files import TunerFile, TunerFileKind
from aoe_reports.tuning.claim_files import CLAIMS_DUPLICATE, CLAIMS_FORM, CLAIMS_NO_GAIN, CLAIMS_ROW, has_columns

COLUMNS = ("operator", "before_us", "after_us")


def is_claim_list(name: str, head: str = "") -> bool:
    """Whether a file is such a table: its header tells."""
    return name.lower().endswith(".csv") and has_columns(head, COLUMNS)


def _read(path: Path, most: int | None) -> TunerFile:
    from aoe_reports.tuning.claim_list.tuner import read_file  # noqa: PLC0415 -- most folders have no such file

    return read_file(path, most)


FILES: tuple[TunerFileKind, ...] = (
    TunerFileKind(
        kind="claim_list",
        form="csv",
        fits=is_claim_list,
        read=_read,
        rules=(CLAIMS_FORM, CLAIMS_ROW, CLAIMS_DUPLICATE, CLAIMS_NO_GAIN),
        columns=COLUMNS,
    ),
)
