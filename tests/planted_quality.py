"""Captures in which one thing is wrong, by kind and seed: what `quality` has to say of them is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

ORIGIN_NS = 1_717_575_960_208_020_758
PYTHON = 9
USUAL_US = 100_000.0
NAMED = (("CANN", 8), ("Ascend Hardware", 14), ("AI Core Freq", 12), ("Communication", 15))
INFO: dict[str, Any] = {
    "config": {
        "common_config": {"schedule": {"wait": 1, "warmup": 2, "active": 5, "repeat": 1, "skip_first": 10}},
        "experimental_config": {"_profiler_level": "Level1", "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION"},
    }
}


@dataclass(frozen=True)
class Rank:
    """One rank of a planted capture; times in us."""

    rank: int
    durations: Sequence[float]
    tasks: Sequence[int] = ()
    computing: Sequence[float] = ()
    """By step; the rest of a step beyond three tenths of the usual one is free time."""
    compiling: dict[int, float] = field(default_factory=dict)
    """By the place of the step: for what part of it the host compiles."""
    clocks: Sequence[tuple[float, float]] = ((0.0, 1800.0),)
    """(part of the capture's time, MHz from then on)."""
    late: float = 0.0
    """How much later the first step begins."""
    first: int = 10
    """The number of the first step."""
    intruder: float = 0.0
    """What part of the time tasks of another process take."""
    info: dict[str, Any] = field(default_factory=lambda: INFO)
    metadata: dict[str, Any] = field(default_factory=dict)
    has_steps: bool = True

    def write(self, folder: Path) -> None:
        """Write it below a folder."""
        output = folder / f"rank{self.rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (output.parent / f"profiler_info_{self.rank}.json").write_text(json.dumps({"rank_id": self.rank, **self.info}))
        (output.parent / "profiler_metadata.json").write_text(json.dumps(self.metadata))
        (output / "trace_view.json").write_text(json.dumps(_events(self)))


def _pid(layer: int, rank: int, process: int = 4711) -> int:
    return process + rank << 10 | layer << 5 | rank % 8


def _event(name: str, place: tuple[int, int], start: float, length: float | None, **args: Any) -> dict[str, Any]:
    ns = ORIGIN_NS + round(start * 1000)
    event = {"name": name, "pid": place[0], "tid": place[1], "ts": f"{ns // 1000}.{ns % 1000:03d}", "args": args}
    return {**event, "ph": "C"} if length is None else {**event, "ph": "X", "dur": round(length, 3)}


def _events(one: Rank) -> list[dict[str, Any]]:
    host, device, clock, talk = (_pid(layer, one.rank) for _, layer in NAMED)
    pids = {host: "CANN", device: "Ascend Hardware", clock: "AI Core Freq", talk: "Communication", PYTHON: "Python"}
    if one.intruder:
        pids[_pid(14, one.rank, 5000)] = "Ascend Hardware"
    found = [
        {"name": "process_name", "pid": pid, "tid": 0, "ph": "M", "args": {"name": name}} for pid, name in pids.items()
    ]
    begin, connection = one.late, 0
    for place, length in enumerate(one.durations):
        if one.has_steps:
            found.append(_event(f"ProfilerStep#{one.first + place}", (PYTHON, 9), begin, length))
        tasks = one.tasks[place] if one.tasks else 6
        computing = one.computing[place] if one.computing else 0.6 * USUAL_US
        starts = np.linspace(begin, begin + length - computing / tasks, tasks)
        for start in starts.tolist():
            connection += 1
            told = {"Task Type": "AI_CORE", "connection_id": connection}
            found.append(_event(f"MatMul{connection % tasks}", (device, 3), start, computing / tasks, **told))
            found.append(_event("Node@launch", (host, 7), begin + 1, 1.0, connection_id=connection, level="node"))
        if part := one.compiling.get(place):
            found.append(_event("AscendCL@opCompile", (host, 7), begin + 2, part * length))
        if one.intruder:
            where = (_pid(14, one.rank, 5000), 3)
            found.append(_event("Other", where, begin, one.intruder * length, **{"Task Type": "AI_CORE"}))
        begin += length
    whole = begin - one.late
    found += [_event("AI Core Freq", (clock, 0), one.late + part * whole, None, MHz=mhz) for part, mhz in one.clocks]
    return found


@dataclass(frozen=True)
class Planted:
    """A planted capture, and the judgements (no notes) that are to be made of it."""

    ranks: Sequence[Rank]
    codes: frozenset[str]
    verdict: str
    notes: frozenset[str] = frozenset()


def _steady(random: np.random.Generator, count: int | None = None, scatter: float = 0.005) -> list[float]:
    count = int(random.integers(8, 20)) if count is None else count
    return (USUAL_US * (1 + scatter * np.clip(random.standard_normal(count), -2.5, 2.5))).tolist()


def _one(durations: Sequence[float], *codes: str, verdict: str = "yes, but", **more: Any) -> Planted:
    return Planted([Rank(0, durations, **more)], frozenset(codes), verdict)


def _healthy(random: np.random.Generator) -> Planted:
    return _one(_steady(random, scatter=float(random.uniform(0, 0.02))), verdict="yes")


def _healthy_ranks(random: np.random.Generator) -> Planted:
    return Planted([Rank(rank, _steady(random, 10)) for rank in range(4)], frozenset(), "yes")


def _warm_up(random: np.random.Generator) -> Planted:
    steps = _steady(random)
    for place in range(int(random.integers(1, 4))):
        steps[place] *= float(random.uniform(1.3, 5)) * (1.5 if place == 0 else 1)
    return _one(steps, "warm-up")


def _tear_down(random: np.random.Generator) -> Planted:
    steps = _steady(random)
    steps[-1] *= float(random.uniform(1.3, 4))
    return _one(steps, "tear-down")


def _both_ends(random: np.random.Generator) -> Planted:
    steps = _steady(random)
    steps[0] *= float(random.uniform(1.5, 4))
    steps[-1] *= float(random.uniform(1.3, 4))
    return _one(steps, "warm-up", "tear-down")


def _cut(random: np.random.Generator) -> Planted:
    steps = _steady(random)
    place = int(random.choice([0, -1]))
    steps[place] *= float(random.uniform(0.65, 0.8))
    return _one(steps, "cut-step")


def _one_step(random: np.random.Generator) -> Planted:
    return _one(_steady(random, 1), "one-step")


def _few_steps(random: np.random.Generator) -> Planted:
    return _one(_steady(random, 2), "few-steps")


def _drift(random: np.random.Generator) -> Planted:
    steps = np.asarray(_steady(random, int(random.integers(10, 30))))
    rise = float(random.uniform(0.1, 0.6))
    return _one((steps * np.linspace(1, 1 + rise, len(steps))).tolist(), "drift", verdict="no")


def _unsteady(random: np.random.Generator) -> Planted:
    count = int(random.integers(8, 16))
    steps = USUAL_US * (1.35 + 0.35 * random.choice([-1, 1], count) + random.uniform(-0.1, 0.1, count))
    steps[:4] = USUAL_US * np.asarray([1.7, 1.0, 1.65, 1.05])
    steps[-4:] = USUAL_US * np.asarray([1.05, 1.7, 1.65, 1.0])
    return _one(steps.tolist(), "unsteady", verdict="no")


def _scatter(random: np.random.Generator) -> Planted:
    count = 12
    pattern = np.asarray([1, -1, 0.5, -0.5, 0.8, -0.8, -1, 1, -0.5, 0.5, -0.8, 0.8])
    return _one((USUAL_US * (1 + float(random.uniform(0.06, 0.12)) * pattern[:count])).tolist(), "scatter")


def _serving(random: np.random.Generator) -> Planted:
    """Steps of a server: each has other inputs, and computes for as long as these take."""
    count = int(random.integers(12, 30))
    sizes = np.concatenate([random.uniform(0.4, 3.0, count - 2), [3.0, 0.5]])
    random.shuffle(sizes[1:-1])
    sizes[0], sizes[-1] = 1.5, 1.4
    steps = USUAL_US * sizes
    return _one(steps.tolist(), "varying-work", computing=(0.8 * steps).tolist())


def _other_counts(random: np.random.Generator) -> Planted:
    """Steps that run other numbers of tasks, and take other times for it."""
    counts = random.integers(4, 16, 14)
    counts[0], counts[-1] = 10, 10
    counts[5:9] = [4, 15, 4, 15]
    steps = (USUAL_US * (0.65 + counts / 10 * random.uniform(0.95, 1.05, 14))).tolist()
    return _one(steps, "varying-work", tasks=counts.tolist())


def _outlier(random: np.random.Generator) -> Planted:
    steps = _steady(random, 14)
    steps[int(random.integers(4, 8))] *= float(random.uniform(1.8, 4))
    return _one(steps, "outlier-steps")


def _compilation(random: np.random.Generator) -> Planted:
    steps = _steady(random)
    places = [int(random.integers(3, 6))]
    compiling = dict.fromkeys(range(len(steps)), 0.1) | dict.fromkeys(places, float(random.uniform(0.25, 0.6)))
    return _one(steps, "compilation", compiling=compiling)


def _slower_clock(random: np.random.Generator) -> Planted:
    low = float(random.integers(800, 1500))
    return _one(_steady(random), "frequency-drop", verdict="no", clocks=((0.0, 1800.0), (0.5, low)))


def _short_drop(random: np.random.Generator) -> Planted:
    begin = float(random.uniform(0.3, 0.6))
    clocks = ((0.0, 1800.0), (begin, 1500.0), (begin + 0.15, 1800.0))
    return _one(_steady(random, 18), "frequency-drop", clocks=clocks)


def _intruder(random: np.random.Generator) -> Planted:
    return _one(_steady(random), "other-work", verdict="no", intruder=float(random.uniform(0.08, 0.5)))


def _late(random: np.random.Generator) -> Planted:
    late = float(random.uniform(0.3, 0.9)) * USUAL_US
    first = _steady(random, 5)
    second = [first[0] - late, *first[1:]] if late < 0.05 * USUAL_US else first
    caught_up = [second[0] * 0.999, *second[1:]]
    ranks = [Rank(0, [first[0] + late, *first[1:]]), Rank(1, caught_up, late=late)]
    return Planted(ranks, frozenset({"start-skew", "warm-up"}), "yes, but")


def _apart(random: np.random.Generator) -> Planted:
    """Clocks of two hosts that are apart make no skew."""
    steps = _steady(random, 8)
    return Planted([Rank(0, steps), Rank(1, steps, late=float(random.uniform(0.1, 3)) * USUAL_US)], frozenset(), "yes")


def _no_common(random: np.random.Generator) -> Planted:
    ranks = [Rank(0, _steady(random, 8)), Rank(1, _steady(random, 8), first=int(random.integers(18, 40)))]
    return Planted(ranks, frozenset({"no-common-step"}), "no")


def _other_steps(random: np.random.Generator) -> Planted:
    steps, moved = _steady(random, 8), int(random.integers(1, 4))
    ranks = [Rank(0, steps), Rank(1, steps, first=10 + moved, late=sum(steps[:moved]))]
    return Planted(ranks, frozenset({"other-steps"}), "yes, but")


def _groups(size: int, rank: int) -> dict[str, Any]:
    return {
        "parallel_group_info": {
            "g": {"group_name": "default_group", "group_rank": rank, "global_ranks": [*range(size)]}
        }
    }


def _missing(random: np.random.Generator) -> Planted:
    size = int(random.integers(4, 16))
    gone = int(random.integers(1, size - 2))
    ranks = [Rank(rank, _steady(random, 8), metadata=_groups(size, rank)) for rank in range(3) if rank != gone]
    return Planted(ranks, frozenset({"missing-ranks"}), "yes, but")


def _alone(random: np.random.Generator) -> Planted:
    size = int(random.integers(2, 16))
    planted = _one(_steady(random), verdict="yes", metadata=_groups(size, 0))
    return replace(planted, notes=frozenset({"one-rank"}))


def _no_steps(random: np.random.Generator) -> Planted:
    return _one(_steady(random), "no-steps", has_steps=False)


def _level0(random: np.random.Generator) -> Planted:
    told = {"_profiler_level": "Level0", "_aic_metrics": "ACL_AICORE_NONE"}
    info = {"config": {**INFO["config"], "experimental_config": told}}
    return replace(_one(_steady(random), verdict="yes", info=info), notes=frozenset({"profiler-level", "no-metrics"}))


def _recorded(random: np.random.Generator) -> Planted:
    common = {**INFO["config"]["common_config"], "with_stack": True, "profile_memory": bool(random.integers(2))}
    info = {"config": {**INFO["config"], "common_config": common}}
    return replace(_one(_steady(random), verdict="yes", info=info), notes=frozenset({"recording-overhead"}))


def _no_warm_up(random: np.random.Generator) -> Planted:
    info = {"config": {**INFO["config"], "common_config": {"schedule": {"_warmup": 0, "_active": 1}}}}
    return _one(_steady(random, 1), "one-step", "no-warm-up", info=info)


KINDS: dict[str, Callable[[np.random.Generator], Planted]] = {
    "healthy": _healthy,
    "healthy ranks": _healthy_ranks,
    "warm-up": _warm_up,
    "tear-down": _tear_down,
    "both ends": _both_ends,
    "cut step": _cut,
    "one step": _one_step,
    "few steps": _few_steps,
    "drift": _drift,
    "unsteady": _unsteady,
    "scatter": _scatter,
    "serving": _serving,
    "other counts": _other_counts,
    "outlier": _outlier,
    "compilation": _compilation,
    "slower clock": _slower_clock,
    "short drop": _short_drop,
    "other process": _intruder,
    "late rank": _late,
    "clocks apart": _apart,
    "no common step": _no_common,
    "other steps": _other_steps,
    "missing ranks": _missing,
    "one of several ranks": _alone,
    "no steps": _no_steps,
    "level 0": _level0,
    "stacks": _recorded,
    "no warm-up": _no_warm_up,
}


def planted(kind: str, seed: int) -> Planted:
    """The capture of a kind and seed."""
    return KINDS[kind](np.random.default_rng([seed, *kind.encode()]))


def write_planted(folder: Path, kind: str, seed: int) -> Planted:
    """Write it below a folder."""
    one = planted(kind, seed)
    for rank in one.ranks:
        rank.write(folder)
    return one
