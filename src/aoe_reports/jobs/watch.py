"""Follows a tuning run: AOE rewrites its result files while it tunes, and each change is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.formats.aoe.result_files import read_results
from aoe_reports.formats.aoe.results import TuningResult, status_of
from aoe_reports.formats.rules import JSON_SYNTAX, JSON_TRUNCATED
from aoe_reports.formats.sources.discovery import result_files
from aoe_reports.formats.sources.found import FileName
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import join, say

INTERVAL_S = 1.0
"""How long is waited between two looks."""

_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class State:
    """What a result file says at one time."""

    text: str
    finished: bool
    """Whether nothing more is to be expected: every task in it was tuned to its end, well or not."""


def watch(
    paths: Sequence[Path],
    tell: Callable[[Path, str], None],
    *,
    interval_s: float = INTERVAL_S,
    max_size: int | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Look at the result files below some paths again and again, `tell` of each change of state, end when all are finished.

    A file is finished when two looks in a row find it so, and unchanged. Until there is a first one, it is waited for.
    """
    stamps: dict[Path, _Stamp] = {}
    states: dict[Path, State] = {}
    while True:
        found = dict(result_files(paths))
        changed = False
        for path in sorted(states.keys() - found.keys()):
            del states[path], stamps[path]
            changed = True
            tell(path, say("gone"))
        for path, name in found.items():
            stamp = _stamp(path)
            if stamp is None or stamps.get(path) == stamp:
                continue
            changed = True
            stamps[path], state = stamp, _state(path, name, max_size)
            if states.get(path) != state:
                tell(path, state.text)
            states[path] = state
        if states and not changed and all(state.finished for state in states.values()):
            return
        pause(interval_s)


def _stamp(path: Path) -> _Stamp | None:
    """A stamp that changes when a file is written or becomes readable; None if it is gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _state(path: Path, name: FileName, max_size: int | None) -> State:
    try:
        file = read_results(path, name, max_bytes=max_size)
    except ReadError as error:
        return State(say("cannot be read: {error}", error=str(error)), finished=False)
    if not file.parsed:
        said = file.findings[-1]
        return State(said.message, finished=said.rule not in {JSON_TRUNCATED.name, JSON_SYNTAX.name})
    parts = [_task(result) for result in file.results]
    text = join("; ", (text for text, _ in parts)) or say("no tuning task")
    return State(text, finished=bool(parts) and all(finished for _, finished in parts))


def _task(result: TuningResult) -> tuple[str, bool]:
    """(findings on a task, whether its tuning is over)."""
    what = say("operators" if result.kind == "opat" else "subgraphs")
    name = result.tuning_name or say("a task without a name")
    changed = len(result.modifications)
    if result.truncated:
        return say("{name}: being written, {changed} {what} so far", name=name, changed=changed, what=what), False
    status = status_of(result.status)
    timed = "tuning_time(s)" in result.present
    if result.has_segment:
        if result.kind == "opat":
            ended = status != "incomplete"
            word = say("tuning {word}", word=say(status)) if status else say("status {word!r}", word=result.status)
        else:
            ended = timed
            word = say("tuned" if timed else "being tuned")
        return say("{name}: {word}, {changed} {what} improved", name=name, word=word, changed=changed, what=what), ended
    text = say(
        "{name}: no {segment} segment" if timed else "{name}: no {segment} segment yet",
        name=name,
        segment=result.kind.upper(),
    )
    return text, timed
