"""The rule on what the parts of a model save, and the model as a whole."""

from __future__ import annotations

from decimal import Decimal

from aoe_reports.formats.aoe.results import MODEL_KEYS
from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.task import RESULTS, SAMPLES, Task

PARTS_TOLERANCE = Decimal("1.1")
"""How many times larger one of two savings may be before it is worth a word."""

_CLEAR_FACTOR = 1.099
_FLOAT_ERROR = 1e-9
"""More than sums of floats are beside the exact ones, as a share of what was added up."""


@RESULTS.rule(
    "parts-and-whole", "info", "operators overlap and repeat; a gain from elsewhere would show here", SAMPLES
).checked_by
def parts_and_whole(task: Task) -> Found:
    """What the modifications save together is about what the model saves."""
    if not set(MODEL_KEYS[:2]) <= task.facts.present or _clearly_agree(task):
        return
    result = task.exact
    if result.model_baseline_ms is None or result.model_result_ms is None:
        return
    best: dict[str, Decimal] = {}
    for m in result.modifications:
        if m.before is None or m.after is None or not 0 < m.after < m.before:
            return  # wrong in another way: a sum would mean nothing
        if m.unmeasured:
            continue
        saved = (m.before - m.after) / (1000 if m.unit == "us" else 1)
        best[m.name] = max(saved, best.get(m.name, saved))  # of several modes only one can be in use
    parts, whole = sum(best.values(), Decimal(0)), result.model_baseline_ms - result.model_result_ms
    if parts_disagree(parts, whole):
        text = say(
            "the modified subgraphs save {parts} ms in total, the model {whole} ms"
            if result.kind == "sgat"
            else "the modified operators save {parts} ms in total, the model {whole} ms",
            parts=_ms(parts),
            whole=_ms(whole),
        )
        yield result.segment_pointer, text


def _clearly_agree(task: Task) -> bool:
    """Whether the two savings are alike by a margin, as floats; not asked of several modes of one operator, nor of filled-in gains."""
    columns = task.columns
    if len(columns.distinct_names) < len(columns.names) or columns.may_be_filled_in:
        return False
    *before, model_before = columns.before
    *after, model_after = columns.after
    per_ms = 1000 if task.facts.kind == "opat" else 1
    parts, whole = (sum(before) - sum(after)) / per_ms, model_before - model_after
    error = (sum(before) / per_ms + abs(model_before)) * _FLOAT_ERROR
    low, high = (parts, whole) if parts < whole else (whole, parts)
    return high + error <= (low - error) * _CLEAR_FACTOR


def parts_disagree(parts: Decimal, whole: Decimal) -> bool:
    """Whether two savings (ms) are further apart than tasks that overlap or repeat a little explain."""
    low, high = sorted((parts, whole))
    return low > 0 and high > low * PARTS_TOLERANCE


def _ms(value: Decimal) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")
