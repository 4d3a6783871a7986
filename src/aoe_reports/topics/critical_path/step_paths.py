"""The critical path of each step of a device, the operators on it, their slack, and what shortening one of them gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aoe_reports.model.arrays.columns import Ints, Mask, distinct, exact_sum, places_by, sums_by
from aoe_reports.model.arrays.intervals import Intervals, covered_each
from aoe_reports.model.pictures.path_kinds import KIND_WORDS, KINDS, Kind, PathOperator
from aoe_reports.model.texts import say
from aoe_reports.topics.critical_path.dependencies import Device
from aoe_reports.topics.critical_path.facts import (
    COMMUNICATION,
    Segments,
    Window,
    ends_after,
    is_busy,
    path_of,
    slack_of,
    time_by_kind,
    window_of,
)


@dataclass(frozen=True, slots=True)
class StepPath:
    """What bounds a step, or all of the time of a device: from the first begin of what it launched to the last end."""

    step: int | None
    start_ns: int
    duration_ns: int
    tasks: int
    """Tasks that compute, operators of communication."""
    segments: Segments
    by_kind: dict[Kind, int]
    """How long each kind of segments is; together they are the duration."""


def paths_of(device: Device) -> list[StepPath]:
    """The path of each step, of all of the time where there are no steps."""
    busy = is_busy(device.graph.slices.kind)
    steps = distinct(device.step[busy & (device.step >= 0)]).tolist()
    if not steps:
        return [_path_of(device, None, busy)] if busy.any() else []
    return [_path_of(device, step, busy & (device.step == step)) for step in steps]


def _path_of(device: Device, step: int | None, own: Mask) -> StepPath:
    slices = device.graph.slices
    begin, end = int(slices.start[own].min()), int(slices.end[own].max())
    last = int(np.flatnonzero(own & (slices.end == end))[-1])
    segments = path_of(device.graph, last, begin, device.at_work)
    return StepPath(step, begin, end - begin, int(own.sum()), segments, time_by_kind(segments))


def operators_of(
    device: Device, path: StepPath, names: Sequence[str], *, shortened_percent: int, top: int
) -> list[PathOperator]:
    """The operators of a step: those with the longest time on its path first, then by their slack.

    `names` has for each of the device's names what it is grouped by. Each task of an operator is shortened by
    `shortened_percent` of its time, one operator after the other.
    """
    window, own = _window_of(device, path)
    here = slice(window.first, window.first + len(window))
    places = np.flatnonzero(own)
    slack = slack_of(window, own, path.start_ns + path.duration_ns)
    on_path = _time_on_path(path, window)
    keys = sorted(set(names))
    numbers = {key: number for number, key in enumerate(keys)}
    key_of_name = np.asarray([numbers[name] for name in names], dtype=np.int64)
    group = key_of_name[device.graph.slices.name[here][places]] * len(KINDS) + window.kind[places]
    groups = list(places_by(group))
    ordered = places[np.concatenate([members for _, members in groups])]
    first = np.cumsum([0, *(len(members) for _, members in groups)])[:-1]
    sums = [np.add.reduceat(of[ordered], first).tolist() for of in (window.end - window.start, on_path > 0, on_path)]
    least = np.minimum.reduceat(slack[ordered], first).tolist()
    operators = []
    for (number, members), total, on, path_ns, slack_ns in zip(groups, *sums, least, strict=True):
        row = PathOperator(
            op_name=keys[number // len(KINDS)],
            kind=say(KIND_WORDS[KINDS[number % len(KINDS)]]),
            tasks=len(members),
            total_ns=total,
            tasks_on_path=on,
            path_ns=path_ns,
            path_share=round(path_ns / path.duration_ns, 6) if path.duration_ns else 0.0,
            slack_ns=slack_ns,
        )
        operators.append((row, places[members]))
    operators.sort(
        key=lambda pair: (-pair[0].path_ns, pair[0].slack_ns, -pair[0].total_ns, pair[0].op_name, pair[0].kind)
    )
    return [
        replace(row, gain_ns=_gain_of(path, window, own, members, shortened_percent * (MILLION // 100)))
        if row.path_ns
        else row  # as long as the path is as it is, the step is
        for row, members in operators[:top]
    ]


def _window_of(device: Device, path: StepPath) -> tuple[Window, Mask]:
    """(what begins within a step, which of that is the step's own)."""
    end = path.start_ns + path.duration_ns
    window = window_of(device.graph, path.start_ns, end)
    own = is_busy(window.kind) & (window.end <= end)
    if path.step is not None:
        own &= device.step[window.first : window.first + len(window)] == path.step
    return window, own


def _time_on_path(path: StepPath, window: Window) -> Ints:
    """How much of the path each slice of a window is."""
    places, times = path.segments.place - window.first, path.segments.duration
    inside = path.segments.of_slices & (places >= 0)
    return sums_by(places[inside], times[inside], len(window))


def path_time_of(device: Device, paths: Sequence[StepPath], starts: Ints, spans: Intervals) -> int:
    """How much of some paths is of tasks that begin at `starts`, or passes between tasks during `spans`; ns.

    Whatever is done about these tasks, no step gets shorter by more: the rest of its path takes as long as before.
    """
    total = 0
    for segments in (path.segments for path in paths):
        is_task = segments.of_slices
        chosen = is_task & (segments.kind != COMMUNICATION) & np.isin(device.graph.slices.start[segments.place], starts)
        between = covered_each(spans, segments.start[~is_task], segments.end[~is_task])
        total += exact_sum(segments.duration[chosen]) + exact_sum(between)
    return total


def gain_of(device: Device, path: StepPath, shortened: Mask, parts: int) -> int:
    """How much shorter a step gets if its tasks of some of the device's names take `parts` millionths less time."""
    on_path = path.segments.place[path.segments.of_slices]
    if not shortened[device.graph.slices.name[on_path]].any():
        return 0  # as long as the path is as it is, the step is
    window, own = _window_of(device, path)
    here = slice(window.first, window.first + len(window))
    chosen = np.flatnonzero(own & shortened[device.graph.slices.name[here]])
    return _gain_of(path, window, own, chosen, parts)


def _gain_of(path: StepPath, window: Window, own: Mask, chosen: Ints, parts: int) -> int:
    """How much shorter a step gets if some of its slices take so many millionths less time, each rounded up to a nanosecond."""
    length = (window.end - window.start)[chosen]
    saved = np.zeros(len(window), dtype=np.int64)
    saved[chosen] = (length // MILLION) * parts - (-(length % MILLION) * parts) // MILLION
    return path.duration_ns - (int(ends_after(window, saved)[own].max()) - path.start_ns)


MILLION = 1_000_000
