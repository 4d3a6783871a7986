"""What is to be said of where the tasks of a capture come from."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.engine.rules import NOTHING_MEASURED, STANDS_IN
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture, kinds_of
from aoe_reports.formats.csv.summary import TableData
from aoe_reports.formats.table import Facts
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join, say


def of_source(capture: Capture, sets: Sequence[TaskSet], tables: Sequence[TableData]) -> list[Finding]:
    """The table that stands in, or that there is none: nothing is passed over in silence."""
    if not tables:
        return [_no_tasks(capture)]
    if not sets:
        message = say("no computing tasks here: nothing of this capture is ranked")
        return [NOTHING_MEASURED.found(str(capture.root), message, severity="warning")]
    return [] if tables[-1].table.facts == "tasks" else [_stands_in(tables[-1])]


def _stands_in(data: TableData) -> Finding:
    what: dict[Facts, str] = {
        "sums": say("it has no spread, no quantiles and no steps"),
        "kernels": say("it has no operator types"),
    }
    message = say(
        "no table of tasks with their operators here; {table} is used instead ({what})",
        table=data.name,
        what=what[data.table.facts],
    )
    return STANDS_IN.found(str(data.path), message)


_TELL = frozenset[Facts]({"tasks", "sums", "kernels"})


def _no_tasks(capture: Capture) -> Finding:
    told = [name for name, table in vendor_of(capture.profiler).tables.items() if table.facts in _TELL]
    message = say(
        "no table of tasks here ({tables}) and no timeline of a whole device; found {kinds}",
        tables=join(", ", told),
        kinds=kinds_of(capture.files),
    )
    return NOTHING_MEASURED.found(str(capture.root), message)
