"""Nights of a training job with Python frames, and of a server, in which one layer or one phase gets slower: by seed."""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
from planted_modules import ORIGIN_NS, Slow, write_planted
from planted_serving import ORIGIN_NS as SERVED_NS
from planted_serving import Planted, Server, planted_by

NIGHTS, SINCE = 20, 14
"""So many nights, and the first that is slower (counted from 0)."""
DAY_NS = 86_400 * 1_000_000_000
FIRST = date(2024, 6, 5)
SERVER = Server(layers=4)


def night(number: int) -> str:
    """The date of a night."""
    return (FIRST + timedelta(days=number)).isoformat()


def write_training(folder: Path, seed: str, slow: Slow | None, nights: int = NIGHTS) -> Path:
    """A capture a night; from SINCE on a part of one layer is slower."""
    for number in range(nights):
        changed = slow if number >= SINCE else None
        home = folder / night(number)
        write_planted(home, f"{seed}/{number}", changed, origin_ns=ORIGIN_NS + number * DAY_NS)
        _write_steps(home / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT")
    return folder


def _write_steps(exports: Path) -> None:
    """The table of steps that belongs to a table of kernels: each from its first task to its last one."""
    found: dict[str, list[tuple[int, int]]] = {}
    with (exports / "kernel_details.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            start = int(Decimal(row["Start Time(us)"].strip()) * 1000)
            found.setdefault(row["Step Id"], []).append((start, round(float(row["Duration(us)"]) * 1000)))
    with (exports / "step_trace_time.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(STEP_TRACE_TIME)
        for step, tasks in found.items():
            busy_ns, span_ns = sum(length for _, length in tasks), tasks[-1][0] + tasks[-1][1] - tasks[0][0]
            writer.writerow([0, step, busy_ns / 1000, 0, 0, 0, (span_ns - busy_ns) / 1000, span_ns / 1000, 0, 0, 0])


STEP_TRACE_TIME = (
    "Device_id", "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free", "Stage", "Bubble",
    "Communication(Not Overlapped and Exclude Receive)", "Preparing",
)  # fmt: skip


def write_serving(folder: Path, seed: int, slower: str | None, factor: float = 1.08, nights: int = NIGHTS) -> Path:
    """The same requests every night; from SINCE on the iterations of one phase take longer."""
    served = planted_by(SERVER, np.random.default_rng([seed, 7]), 20)
    for number in range(nights):
        noise = random.Random(f"{seed}/{number}")
        factors = {"": 1 + noise.gauss(0, 0.002)}
        if slower is not None and number >= SINCE:
            factors[slower] = factor
        _on_night(served, factors, noise, number).write(folder / night(number))
    return folder


def _on_night(served: Planted, factors: dict[str, float], noise: random.Random, number: int) -> Planted:
    """The same tasks with other lengths, each as long behind the one before as it was."""
    phase_of = {place: one.phase for one in served.truth for place in one.places}
    rows, behind, end = [], SERVED_NS, SERVED_NS + number * DAY_NS
    for place, row in enumerate(served.rows):
        longer = factors[""] * factors.get(phase_of.get(place, ""), 1.0) if place in phase_of else factors[""]
        start = end + round((row["start"] - behind) * longer)
        length = max(round(row["length"] * longer * (1 + noise.gauss(0, 0.01))), 1)
        rows.append({**row, "start": start, "length": length})
        behind, end = row["start"] + row["length"], start + length
    return Planted(rows=rows, truth=served.truth, server=served.server)
