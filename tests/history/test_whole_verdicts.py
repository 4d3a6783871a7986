"""What the detector says of many kinds of series, whole: every number of every verdict, to six digits.

Each series is made of a generator that is the same everywhere. What a verdict has to be is tested elsewhere; this notices
whether anything of it becomes another.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from made_series import Values, gauss, stepped
from whole_texts import assert_recorded

from aoe_reports.history.detection.detector import detect_changes, find_levels, review_history
from aoe_reports.history.detection.verdicts import Change, Levels, Parameters, Verdict
from aoe_reports.stats.budget import Budget

EXPECTED = Path(__file__).with_name("whole_verdicts")


def series() -> Iterator[tuple[str, Values]]:
    for seed, nights in ((1, 10), (2, 11), (3, 25), (4, 60), (5, 150), (6, 400)):
        yield f"quiet {nights}", gauss(seed, nights)
    for seed, (at, share) in enumerate(((30, 0.05), (57, 0.05), (58, 0.05), (59, 0.05), (7, 0.08), (50, -0.05), (50, 0.02), (56, 0.3))):  # fmt: skip
        yield f"step {share:+} at {at} of 60", stepped(gauss(10 + seed, 60), (at, share))
    for apart in (3, 4, 8, 14, 20):
        yield f"two steps {apart} apart", stepped(gauss(30 + apart, 90), (60, 0.03), (60 + apart, 0.04))
        yield f"a return after {apart}", stepped(gauss(60 + apart, 90), (60, 0.05), (60 + apart, -0.0476))
    yield "up, down and below", stepped(gauss(90, 150), (50, 0.06), (80, -0.1), (120, 0.03))
    yield "stairs", stepped(gauss(91, 200), *((at, 0.03) for at in (40, 80, 120, 160)))
    for memory in (0.3, 0.6, 0.9):
        yield f"memory {memory}", gauss(100, 200, memory=memory)
        yield f"memory {memory} and a step", stepped(gauss(101, 200, memory=memory), (150, 0.06))
    for slope in (0.0003, 0.001, 0.003):
        yield (
            f"drift {slope}",
            [value * (1 + slope * max(night - 60, 0)) for night, value in enumerate(gauss(110, 160))],
        )
    for wide in (0.04, 0.08):
        source = random.Random(120)
        modes = [source.random() < 0.3 for _ in range(120)]
        two = [value * (1 + wide * mode) for value, mode in zip(gauss(121, 120, 0.004), modes, strict=True)]
        yield f"two modes {wide} apart", two
        yield f"two modes {wide} apart and a step", stepped(two, (90, 0.06))
        stays = [value * (1 + wide * ((night // 9) % 2)) for night, value in enumerate(gauss(122, 120, 0.004))]
        yield f"to and fro {wide}", stays
    yield "spikes", [value * (1.25 if night % 13 == 5 else 1) for night, value in enumerate(gauss(130, 120))]
    yield "spikes and a step", stepped([value * (1.25 if night % 13 == 5 else 1) for night, value in enumerate(gauss(131, 120))], (100, 0.07))  # fmt: skip
    yield "skewed", [100 + abs(value - 100) * 2 for value in gauss(132, 120)]
    yield "skewed and a step", stepped([100 + abs(value - 100) * 2 for value in gauss(133, 120)], (112, 0.02))
    week = [value * (1.06 if night % 7 in {5, 6} else 1) for night, value in enumerate(gauss(140, 112))]
    yield "week-ends", week
    yield "week-ends and a step", stepped(week, (90, 0.04))
    yield "a coarse timer", [round(value / 2) * 2.0 for value in gauss(141, 120)]
    yield "a warm-up", [value * (1 + 0.2 * max(1 - night / 8, 0)) for night, value in enumerate(gauss(142, 60))]
    yield "quicker early", stepped(gauss(143, 60), (9, -0.1))
    yield "lively", stepped(gauss(144, 120, 0.002), (40, 0.05), (60, -0.04), (80, 0.06), (100, -0.05), (116, 0.08))
    yield "constant", [100.0] * 40
    yield "constant and a step", [100.0] * 30 + [101.0] * 10
    yield "no times", [0.0, -1.0, float("nan"), float("inf")] * 5
    gaps = stepped(gauss(145, 80), (60, 0.06))
    yield "gaps", [float("nan") if night % 5 == 3 else 0.0 if night % 17 == 4 else value for night, value in enumerate(gaps)]  # fmt: skip
    for count in (1, 2, 3, 4):
        yield f"{count} odd nights at the end", stepped(gauss(150, 60), (60 - count, 0.045))
        yield f"{count} far nights at the end of a spiky series", stepped([value * (1.2 if night % 10 == 3 else 1) for night, value in enumerate(gauss(151, 60))], (60 - count, 0.2))  # fmt: skip


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"


def change_words(one: Change) -> str:
    numbers = (one.before, one.after, one.change, one.ci_low, one.ci_high, one.statistic, one.threshold)
    return f"{one.state} {one.night}..{one.until} {' '.join(map(number, numbers))} steps {list(one.steps)}"


def words(name: str, verdict: Verdict | Levels) -> str:
    if isinstance(verdict, Levels):
        return "\n  ".join([f"{name}: {number(verdict.level)}", *map(change_words, verdict.changes)])
    numbers = (verdict.level, verdict.sigma, verdict.memory, verdict.rare, verdict.smallest_detectable)
    known = f"{verdict.nights} nights, {verdict.left_out} left out, {verdict.reason}, {verdict.state}"
    suspect = [] if verdict.suspect is None else [f"newest: {change_words(verdict.suspect)}"]
    return "\n  ".join(
        [f"{name}: {known}: {' '.join(map(number, numbers))}", *map(change_words, verdict.changes), *suspect]
    )


def test_verdicts_on_many_kinds_of_series_are_these() -> None:
    every = list(series())
    table = np.full((len(every), max(len(values) for _, values in every)), np.nan)
    for row, (_, values) in enumerate(every):
        table[row, : len(values)] = values
    small = Parameters(budget=Budget(0.0001), least_effect=0.02, least_level=4, least_baseline=14)
    found: dict[str, Sequence[Verdict | Levels]] = {
        "watched": detect_changes(table),
        "looked-back": review_history(table),
        "strict": detect_changes(table, small),
        "from-a-wednesday": detect_changes(table, days=[3 + night + night // 40 for night in range(table.shape[1])]),
        "levels": find_levels(table, Parameters(hindsight=True)),
    }
    texts = {
        name: "\n".join(words(one, verdict) for (one, _), verdict in zip(every, verdicts, strict=True)) + "\n"
        for name, verdicts in found.items()
    }
    assert_recorded(EXPECTED, texts, all_of_it=True)
