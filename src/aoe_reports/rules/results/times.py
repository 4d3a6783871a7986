"""Rules on two times of one case: both above 0, and the second less than the first."""

from __future__ import annotations

from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.task import DOCS, RESULTS, Task, has_no_time_before, key_of, printed


@RESULTS.rule("non-positive-time", "error", "every operator takes time", DOCS).checked_by
def non_positive_time(task: Task) -> Found:
    """Every time is above 0."""
    if task.columns.shortest > 0:
        return
    for claim in task.claims:
        if claim.before is not None and claim.before <= 0 and not has_no_time_before(claim):
            yield (
                task.place_of(claim, "before"),
                say(
                    "{key} is {value}; expected a time above 0",
                    key=key_of(claim, "before"),
                    value=printed(claim.before),
                ),
            )
        if claim.after is not None and claim.after <= 0:
            yield (
                task.place_of(claim, "after"),
                say(
                    "{key} is {value}; expected a time above 0", key=key_of(claim, "after"), value=printed(claim.after)
                ),
            )


@RESULTS.rule("not-faster", "warning", "only a better policy is stored", DOCS).checked_by
def not_faster(task: Task) -> Found:
    """What was modified is faster than before; the model as a whole may take as long."""
    if task.columns.is_clearly_faster:
        return
    for claim in task.claims:
        _, before, after, _ = claim
        if before is None or after is None or after < before or before <= 0:
            continue
        if after > before or claim.part is not None:
            yield (
                task.place_of(claim, "after"),
                say("after tuning {after}, before {before}: not faster", after=printed(after), before=printed(before)),
            )
