"""The rule on the keys of a report."""

from __future__ import annotations

from aoe_reports.formats.aoe.results import REPORT_KEY
from aoe_reports.formats.json.text import without_count
from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.task import DOCS, RESULTS, Task


@RESULTS.rule("report-key", "warning", "the key contains the time at which the task was tuned", DOCS).checked_by
def report_key(task: Task) -> Found:
    """The key of a task in a report is `report_<time>_<thread>`."""
    if task.facts.report_key is None:
        return
    key = without_count(task.facts.report_key)
    if not REPORT_KEY.fullmatch(key):
        yield task.facts.pointer, say("the key {key!r} does not have the form report_<time>_<thread>", key=key[:200])
