"""The rule on the sizes that times can have."""

from __future__ import annotations

from decimal import Decimal

from aoe_reports.formats.aoe.results import MODEL_KEYS, is_plausible
from aoe_reports.model.findings import is_below
from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.document import TIME_KEYS, Document, pointer_to, times_in
from aoe_reports.rules.results.task import RESULTS, Task

_SHORTEST, _LONGEST = 2e-9, 9e14
"""Times that are plausible by a margin: at the limits a float may be on the other side than its digits."""
_OTHER_KEYS = frozenset({*MODEL_KEYS[:2], "tuning_time(s)"})


@RESULTS.rule("implausible-time", "error", "a tuning time of 31 years is impossible", "arithmetic").checked_by
def implausible_time(document: Document) -> Found:
    """A time is 0, or between 10^-9 and 10^15 of its unit."""
    if document.is_documented and all(map(_is_clearly_plausible, document.fitting)):
        return
    for place, key, value, _ in times_in(document.exact_content):
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            continue
        if is_plausible(value if isinstance(value, Decimal) else Decimal(value)):
            continue
        at = pointer_to(place)
        is_time = key.partition("(")[0] in TIME_KEYS or key in _OTHER_KEYS
        if is_time and any(is_below(at, task.facts.pointer) for task in document.fitting):
            yield at, say("the number is outside the range of a time (0 or 10^-9 to 10^15); it is not used")


def _is_clearly_plausible(task: Task) -> bool:
    columns, tuned = task.columns, task.tuning_time_s
    is_plausible_tuning = tuned is None or _SHORTEST <= tuned <= _LONGEST
    return is_plausible_tuning and columns.shortest >= _SHORTEST and columns.longest <= _LONGEST
