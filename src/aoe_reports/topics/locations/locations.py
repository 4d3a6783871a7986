"""Tasks with where in the program they were launched: the column that `--by module`, `layer` and `stack` group by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from aoe_reports.engine.question import Notes
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.arrays.columns import (
    Ints,
    Numbering,
    codes,
    column_of_words,
    distinct_rows,
    exact_sum,
    integers,
    values_of,
)
from aoe_reports.model.findings import Finding
from aoe_reports.model.groupings import LocatedBy
from aoe_reports.model.texts import N_, Text, join, say
from aoe_reports.stats.grouping import is_communication
from aoe_reports.topics.locations.facts import (
    TOLD_BY,
    Parts,
    blocks_of,
    layers_of,
    lines_along,
    modules_along,
    scope_of,
    telling,
    whole_paths,
)
from aoe_reports.topics.locations.launch_sites import CallPaths, LaunchSites, Sites
from aoe_reports.topics.locations.reading import launch_sites_of
from aoe_reports.topics.rules import NO_LOCATION

LOCATED_BY = frozenset({"task_start_ns", "op_name", "task_duration_ns", "task_type"})
"""The columns of tasks that tell where they were launched."""
_NO_LAUNCH, _NO_FRAMES, _NO_MODULE = range(3)
_REASONS = N_(
    {
        _NO_LAUNCH: "{share:.1%} of it: no call of the framework is recorded that launched it",
        _NO_FRAMES: "{share:.1%} of it: its launch is in no Python frame, and no forward operator is known",
        _NO_MODULE: "{share:.1%} of it: its launch is in no module",
    }
)


def locate(
    sets: Sequence[TaskSet], capture: Capture, by: LocatedBy, notes: Notes, *, all_tasks: bool = False
) -> list[TaskSet]:
    """The same tasks with the columns `location` and `told_by`; of what is in none the share and the reason are said.

    Nothing is said of communication, unless it is counted (`all_tasks`).
    """
    found, has_frames = _sites_of(sets, capture, notes)
    names, words = names_of(sets, "op_name")
    every = _located(found, names, words, by)
    notes.add(_said(sets, every, capture, by, has_frames=has_frames, all_tasks=all_tasks))
    return [*_with_columns(sets, every)]


def with_layers(
    sets: Sequence[TaskSet], sites: LaunchSites, capture: Capture, notes: Notes
) -> tuple[list[TaskSet], Mapping[str, str]]:
    """(the same tasks with the columns that `locate` adds, by layer, the block of each location in one); without them where no task has any.

    Nothing is said of what is in none.
    """
    names, words = names_of(sets, "op_name")
    every = _located(_of_tasks(sites, sets, capture, notes), names, words, "layer")
    return ([*_with_columns(sets, every)], every.blocks) if every.words else ([*sets], {})


def sites_of(
    sets: Sequence[TaskSet], capture: Capture, by: LocatedBy, notes: Notes, *, all_tasks: bool = False
) -> Sites:
    """Where the tasks were launched, one set below the other; said is what `locate` says."""
    found, has_frames = _sites_of(sets, capture, notes)
    every = _located(found, *names_of(sets, "op_name"), by)
    notes.add(_said(sets, every, capture, by, has_frames=has_frames, all_tasks=all_tasks))
    return found


def _sites_of(sets: Sequence[TaskSet], capture: Capture, notes: Notes) -> tuple[Sites, bool]:
    """(where the tasks were launched, whether any Python frame is recorded)."""
    sites = LaunchSites()
    with notes.where_unreadable(capture.root):
        sites, wrong = launch_sites_of(vendor_of(capture.profiler).events(capture))
        notes.add(wrong)
    has_frames = sites.has_frames
    return _of_tasks(sites, sets, capture, notes), has_frames


def _of_tasks(sites: LaunchSites, sets: Sequence[TaskSet], capture: Capture, notes: Notes) -> Sites:
    starts = [_starts_of(tasks.frame) for tasks in sets]
    found, crossing = sites.of_tasks(np.concatenate([np.zeros(0, dtype=np.int64), *starts]))
    if crossing:
        message = say(
            "Python frames that overlap others without being within them: {count}; the smaller part is cut off",
            count=crossing,
        )
        notes.add([NO_LOCATION.found(str(capture.root), message)])
    return telling(found)


@dataclass(frozen=True, slots=True)
class _Located:
    """Of each task the number of its location among the words and of what told it, -1 for none, and the reason where there is none."""

    location: Ints
    told_by: Ints
    reason: Ints
    words: tuple[str, ...]
    blocks: Mapping[str, str]
    """Of layers."""


def _starts_of(frame: pa.Table) -> Ints:
    """When each task starts; -1 where the table does not tell."""
    if "task_start_ns" not in frame.column_names:
        return np.full(frame.num_rows, -1, dtype=np.int64)
    start, there = integers(frame["task_start_ns"])
    return np.where(there, start, -1)


def names_of(sets: Sequence[TaskSet], column: str) -> tuple[Ints, list[str]]:
    """(the word of each task in a column as a number, counted from 1, 0 for none; the words)."""
    numbers, words = [np.zeros(0, dtype=np.int64)], Numbering()
    for tasks in sets:
        mine = np.zeros(tasks.frame.num_rows, dtype=np.int64)
        if column in tasks.frame.column_names:
            places, named = codes(tasks.frame[column])
            mine = _integers([0, *(words[word] + 1 for word in named)])[places]
        numbers.append(mine)
    return np.concatenate(numbers), list(words)


def _located(sites: Sites, names: Ints, words: Sequence[str], by: LocatedBy) -> _Located:
    of_paths, of_scopes, labels, blocks = _tellers(sites.paths, words, by)
    location = np.full(len(names), -1, dtype=np.int64)
    told = location.copy()
    for number, mine in enumerate((of_paths[sites.own], of_paths[sites.forward], of_scopes[names])):
        fits = (told < 0) & (mine >= 0)
        location[fits], told[fits] = mine[fits], number
    outside = (sites.own < 0) & (sites.forward < 0)
    reason = np.where(~sites.launched, _NO_LAUNCH, np.where(outside, _NO_FRAMES, _NO_MODULE))
    return _Located(location, told, reason, labels, blocks)


def _tellers(
    paths: CallPaths, names: Sequence[str], by: LocatedBy
) -> tuple[Ints, Ints, tuple[str, ...], Mapping[str, str]]:
    """(the number of the location of each stack of calls, and behind them -1; that of each name of an operator, before them -1; the locations; the blocks of layers)."""
    blocks: dict[str, str] = {}
    labels = Numbering()
    scopes: Sequence[Parts | None] = [None] * len(names)
    if by == "stack":
        of_paths = [labels[line] for line in lines_along(paths)]
    else:
        modules, scopes = modules_along(paths), [*map(scope_of, names)]
        whole = whole_paths(modules)
        told = _labels(set(whole.values()), by, whole=False)
        if by == "layer":
            blocks = blocks_of({*whole.values()} - {()}, whole=False) | blocks_of({*filter(None, scopes)}, whole=True)
        of_paths = [labels[told[whole[parts]]] if parts else -1 for parts in modules]
    told = _labels({parts for parts in scopes if parts}, by, whole=True)
    of_scopes = [labels[told[parts]] if parts else -1 for parts in scopes]
    return _integers([*of_paths, -1]), _integers([-1, *of_scopes]), tuple(labels), blocks


def _integers(values: Sequence[int]) -> Ints:
    return np.asarray(values, dtype=np.int64)


def _labels(every: set[Parts], by: LocatedBy, *, whole: bool) -> dict[Parts, str]:
    known = every - {()}
    return layers_of(known, whole=whole) if by == "layer" else {parts: "/".join(parts) for parts in known}


def _with_columns(sets: Sequence[TaskSet], every: _Located) -> Iterator[TaskSet]:
    """The tasks with their columns; what told a location is said of all of it, so that it is one group."""
    told = [0] * len(every.words)
    pairs, _ = distinct_rows(every.location, every.told_by)
    for location, by in zip(*(column.tolist() for column in pairs), strict=True):
        if location >= 0:
            told[location] |= 1 << by
    said = [", ".join(word for place, word in enumerate(TOLD_BY) if bits >> place & 1) for bits in told]
    kinds = Numbering()
    kind = _integers([*(kinds[one] for one in said), -1])
    first = 0
    for tasks in sets:
        mine = every.location[first : first + tasks.frame.num_rows]
        first += tasks.frame.num_rows
        frame = tasks.frame.append_column("location", _column(mine, every.words))
        yield replace(tasks, frame=frame.append_column("told_by", _column(kind[mine], tuple(kinds))))


def _column(numbers: Ints, words: Sequence[str]) -> pa.ChunkedArray:
    known = values_of(words) if words else pa.nulls(0, pa.string())
    return column_of_words(numbers.astype(np.int32), numbers >= 0, known)


def _said(
    sets: Sequence[TaskSet], every: _Located, capture: Capture, by: LocatedBy, *, has_frames: bool, all_tasks: bool
) -> list[Finding]:
    """What share of the time is in no location, and why."""
    if not sets:
        return []
    frames = [tasks.frame for tasks in sets]
    duration = np.concatenate([integers(frame["task_duration_ns"])[0] for frame in frames])
    counted = np.ones(len(duration), dtype=bool)
    if not all_tasks:
        counted = ~np.concatenate([is_communication(frame["task_type"]) for frame in frames])
    lost = counted & (every.location < 0)
    whole, without = exact_sum(duration[counted]), exact_sum(duration[lost])
    if not without:
        return []
    if without == whole:
        return [NO_LOCATION.found(str(capture.root), _nothing_told(by, has_frames=has_frames), severity="warning")]
    reasons = [
        say(words, share=part / without)
        for reason, words in _REASONS.items()
        if (part := exact_sum(duration[lost & (every.reason == reason)]))
    ]
    message = say(
        "{share:.1%} of the device time ({time:,.3f} us) cannot be attributed and has a row of its own; {reasons}",
        share=without / whole,
        time=without / 1000,
        reasons=join(", ", reasons),
    )
    return [NO_LOCATION.found(str(capture.root), message)]


def _nothing_told(by: LocatedBy, *, has_frames: bool) -> Text:
    if by == "stack":
        return say("no Python stacks found: profile with with_stack, and export the timeline")
    if has_frames:
        return say("no modules found: neither Python frames nor names of operators name any")
    return say("no modules found: profile with with_modules or with_stack; names of operators have no scopes either")
