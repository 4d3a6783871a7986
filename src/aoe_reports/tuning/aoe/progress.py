"""How far a tuning run is, by what its result files say."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from aoe_reports.formats.aoe.results import TuningResult
from aoe_reports.tuning.progress import Progress


def progress_of(results: Sequence[TuningResult], asked: int | None) -> Progress:
    """The progress that the tasks of all result files of a run tell."""
    improved = {m.join_name for result in results for m in result.modifications}
    failed = {name for result in results for name in result.failed_operators}
    counted = sum(
        result.summary.get(key, 0)
        for result in results
        for key in ("repo_add_num", "repo_update_num", "repo_reserved_num", "repo_unsatisfied_num")
    )
    gains = [
        gain
        for result in results
        for m in result.modifications
        if not m.unmeasured and (gain := gain_of(m.before, m.after)) is not None
    ]
    what = "subgraphs" if results and all(result.kind == "sgat" for result in results) else "operators"
    done = max(len(improved | failed), counted)
    final = not any(result.broken_off for result in results)
    return Progress(
        done=done,
        asked=asked,
        improved=len(improved),
        failed=len(failed),
        best_gain=max(gains, default=None),
        what=what,
        final=final,
    )


def gain_of(before: Decimal | None, after: Decimal | None) -> float | None:
    """before/after - 1, the way AOE counts improvement; null where a time is missing or not above 0."""
    if before is None or after is None or before <= 0 or after <= 0:
        return None
    return float(before / after - 1)
