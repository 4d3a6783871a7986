"""Captures of pipelines whose schedules are known: 1F1B and GPipe, with stages of any speed; and what share of the step their stages wait."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Literal

from made_traces import HOST, TALK, Trace, device

Schedule = Literal["1F1B", "GPipe"]
Way = Literal["F", "B"]


@dataclass(frozen=True)
class Pipeline:
    """One step: whole us of forward and backward by stage."""

    schedule: Schedule
    micro_batches: int
    forward_us: Sequence[int]
    backward_us: Sequence[int]
    told: dict[tuple[int, Way, int], tuple[int, int]] = field(default_factory=dict)
    """When each stage computes each micro-batch."""

    @property
    def stages(self) -> int:
        return len(self.forward_us)

    def order(self, stage: int) -> list[tuple[Way, int]]:
        """What a stage computes, one after the other."""
        count = self.micro_batches
        ahead = count if self.schedule == "GPipe" else min(self.stages - 1 - stage, count)
        found: list[tuple[Way, int]] = [("F", number) for number in range(ahead)]
        for number in range(count):
            if number + ahead < count:
                found.append(("F", number + ahead))
            found.append(("B", number))
        return found

    def run(self) -> None:
        """Compute when everything happens: as soon as its input is there and its stage is free."""
        orders, free = [self.order(stage) for stage in range(self.stages)], [0] * self.stages
        while any(orders):
            for stage, order in enumerate(orders):
                while order:
                    way, number = order[0]
                    needs = self.needs(stage, way, number)
                    if needs is not None and needs not in self.told:
                        break
                    begin = max(free[stage], self.told[needs][1] if needs else 0)
                    length = (self.forward_us if way == "F" else self.backward_us)[stage]
                    self.told[stage, way, number] = begin, begin + length
                    free[stage] = begin + length
                    order.pop(0)

    def needs(self, stage: int, way: Way, number: int) -> tuple[int, Way, int] | None:
        """What another stage has to compute before."""
        if way == "F":
            return (stage - 1, way, number) if stage else None
        return (stage + 1, way, number) if stage < self.stages - 1 else None

    @property
    def length_us(self) -> int:
        return max(end for _, end in self.told.values())

    @property
    def bubble_share(self) -> Fraction:
        """Of the step of all stages, what none of them computes in."""
        busy = self.micro_batches * (sum(self.forward_us) + sum(self.backward_us))
        return 1 - Fraction(busy, self.length_us * self.stages)


def planted(seed: int, *, alike: bool = False) -> Pipeline:
    """A pipeline of 2 to 8 stages and 1 to 32 micro-batches; `alike`: all stages take as long."""
    random = Random(seed)
    stages, count = random.randint(2, 8), random.randint(1, 32)
    forward, backward = random.randint(40, 200), random.randint(40, 400)
    spread = 0 if alike else random.choice((0, 0, 30))
    made = Pipeline(
        schedule=random.choice(("1F1B", "GPipe")),
        micro_batches=count,
        forward_us=[forward + random.randint(0, spread) for _ in range(stages)],
        backward_us=[backward + random.randint(0, spread) for _ in range(stages)],
    )
    made.run()
    return made


def write(folder: Path, steps: Sequence[Pipeline], *, peers: bool = True, leave_out: Sequence[int] = ()) -> Path:
    """The captures of all stages; `peers`: tasks of the timeline name them."""
    for stage in range(steps[0].stages):
        if stage not in leave_out:
            _write_stage(folder / f"host_{stage}_ascend_pt", steps, stage, peers=peers)
    return folder


def _write_stage(folder: Path, steps: Sequence[Pipeline], stage: int, *, peers: bool) -> None:
    trace, begin, count = Trace(), 1000, 0
    for number, step in enumerate(steps):
        trace.event(f"ProfilerStep#{number}", (9, 9), begin - 500, step.length_us + 600)
        launched = begin - 400.0
        for kind, peer, start, length in _events(step, stage):
            launched += 0.01
            if kind == "compute":
                trace.task("MatMul", begin + start, length, launched)
                continue
            name = f"hcom_{kind}__586_{count}_1"
            trace.connection += 1
            thread = 0 if kind == "send" else 2
            trace.event(name, (TALK, thread), begin + start, length, connection_id=trace.connection)
            trace.event("Node@launch", (HOST, 7), launched, 1, connection_id=trace.connection, level="node")
            if peers:
                args = {
                    "src rank": stage,
                    "dst rank": peer,
                    "size(Byte)": 4096,
                    "transport type": "SDMA",
                    "link type": "HCCS",
                }
                trace.event("Memcpy", (TALK, thread + 1), begin + start, length, **args)
            count += 1
        begin += step.length_us + 2000
    trace.named(device(0), "Ascend Hardware", {3: "Stream 3"})
    trace.named(
        TALK, "Communication", {0: "Group 0 Communication", 1: "Plane 0", 2: "Group 1 Communication", 3: "Plane 0"}
    )
    trace.named(HOST, "CANN", {7: "Thread 7"})
    output = folder / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (folder / f"profiler_info_{stage}.json").write_text(json.dumps({"rank_id": stage}))
    (output / "trace_view.json").write_text(json.dumps(trace.events))


def _events(step: Pipeline, stage: int) -> Iterator[tuple[str, int, float, float]]:
    """(kind, peer, start, length) in us: a receive begins when the stage is free, a send takes 1 us beside what follows."""
    free = 0
    for way, number in step.order(stage):
        begin, end = step.told[stage, way, number]
        needs = step.needs(stage, way, number)
        if needs is not None:
            yield "receive", needs[0], free - (begin == free), begin - free + (begin == free)
        yield "compute", -1, begin, end - begin
        peer = stage + 1 if way == "F" else stage - 1
        if 0 <= peer < step.stages:
            yield "send", peer, end, 1
        free = end
