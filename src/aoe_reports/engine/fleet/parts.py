"""Which kinds of facts a capture has: a file without rows or events has none."""

from __future__ import annotations

from collections.abc import Iterable

from aoe_reports.engine.captures import sources_of, timeline_tells_tasks
from aoe_reports.formats.capture import Capture, Source
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.formats.sources.head import HEAD_BYTES
from aoe_reports.formats.table_file import read_table_file
from aoe_reports.formats.trace.mentions import shows_device
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import has

_COMMUNICATION = frozenset({"communication", "communication_bandwidth", "communication_matrix"})


def parts_of(capture: Capture) -> frozenset[str]:
    """What a capture has of tasks, timeline, steps and communication, in whatever form."""
    vendor = vendor_of(capture.profiler)
    tables = (*sources_of(capture, "tasks"), *sources_of(capture, "kernels"))
    talk = [(file, kind) for file in capture.files for kind in sorted(_COMMUNICATION.intersection(file.holds))]
    has_part = {
        "tasks": not timeline_tells_tasks(capture) and _have_rows(tables),
        "timeline": any(_shows_device(file) for files in vendor.events(capture) for file in files),
        "steps": _have_rows(vendor.steps(capture)),
        "communication": any(_has_rows(file, kind) for file, kind in talk),
    }
    return frozenset(part for part, there in has_part.items() if there)


def _have_rows(sources: Iterable[Source]) -> bool:
    return any(_has_rows(file, source.kind) for source in sources for file in source.files)


def _has_rows(file: FoundFile, kind: str) -> bool:
    """Whether a table has a row: only one that is no larger than a header may be is read. What is wrong with a damaged one its own finding says."""
    if (
        file.may_hold_events or file.size > HEAD_BYTES
    ):  # a table of a database that has no rows is not among those that it holds
        return True
    try:
        data = read_table_file(file, kind, hashed=False)
    except (ReadError, OSError):
        return True
    return data.rows_read > 0 or has(data.findings, "error")


def _shows_device(file: FoundFile) -> bool:
    return "task_time" in file.holds if file.name.form == "db" else shows_device(file)
