"""When a device waits for an event: one classification for all that say why a device does nothing."""

from __future__ import annotations

import numpy as np

from aoe_reports.formats.spilled import Numbers
from aoe_reports.model.arrays.columns import Ints, distinct_rows
from aoe_reports.model.arrays.intervals import Intervals, common, union

EVENT_WAITS = ("event wait", "notify wait", "stream wait event")
"""What types of tasks begin with that compute nothing (in lower case without underscores): their stream waits until another stream, or another device, reaches some point.

Real exports have EVENT_WAIT, EVENT_WAIT_SQE, NOTIFY_WAIT and Notify Wait.
"""

_NOTHING = np.zeros(0, dtype=np.int64)


def begins_like(word: str, beginnings: tuple[str, ...]) -> bool:
    """Whether the name or the type of a task begins with one of `beginnings`, in any spelling."""
    return word.replace("_", " ").casefold().startswith(beginnings)


def is_event_wait(task_type: str) -> bool:
    """Whether tasks of a type wait for an event."""
    return begins_like(task_type, EVENT_WAITS)


def waited_for_events(waits: Numbers, starts: Ints, behind: Numbers, launched: Ints) -> Intervals:
    """When, in gaps of a device, the stream of the task behind each gap waits for an event.

    Gaps are from `starts` to the start of the tasks behind them; `launched` is 0 where that is not known. A task that was launched only
    when its stream had waited is late because of its launch.
    """
    found: list[Intervals] = []
    if not len(waits["start"]):  # nearly always
        return Intervals(_NOTHING, _NOTHING)
    streams, place = distinct_rows(behind["pid"], behind["thread"])
    for number, (pid, thread) in enumerate(zip(*(column.tolist() for column in streams), strict=True)):
        mine = (waits["pid"] == pid) & (waits["thread"] == thread)
        if thread < 0 or not mine.any():
            continue
        waited = union(waits["start"][mine], waits["end"][mine])
        gaps = np.flatnonzero(place == number)
        begin, end = starts[gaps], behind["start"][gaps]
        last = np.searchsorted(waited.starts, end) - 1
        until = waited.ends[last]
        held = (last >= 0) & (until > begin) & (launched[gaps] <= until)
        found.append(common(waited, union(begin[held], end[held])))
    return union(
        *(np.concatenate([_NOTHING, *(getattr(intervals, edge) for intervals in found)]) for edge in ("starts", "ends"))
    )
