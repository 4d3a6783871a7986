"""Changes of steps divided over operators, whole: every number of made-up nights in which all kinds of things change."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
from whole_texts import assert_recorded

from aoe_reports.history.changes.attribution import COLUMNS, Attribution, StepNight, attribute_change

EXPECTED = Path(__file__).with_name("whole_attributions")
SCHEMA = dict.fromkeys(COLUMNS, pl.String) | {"communication": pl.Boolean, "count": pl.Int64, "total_ns": pl.Int64}
NIGHTS, STEPS = {"before": 7, "after": 5}, {"before": 10, "after": 12}
Kind = Mapping[str, Any]
QUIET: dict[str, Kind] = {
    "conv": {"ns": 100_000, "count": 2},
    "matmul": {"ns": 60_000},
    "relu": {"ns": 9_000, "count": 4},
    "reduce": {"ns": 30_000, "communication": True},
}
CHANGES: dict[str, dict[str, Kind | None]] = {
    "nothing": {},
    "slower": {"conv": {"ns": 115_000, "count": 2}},
    "faster": {"conv": {"ns": 80_000, "count": 2}},
    "more calls": {"relu": {"ns": 9_000, "count": 7}},
    "fewer calls": {"relu": {"ns": 9_000, "count": 1}},
    "slower and more": {"relu": {"ns": 12_000, "count": 5}},
    "other shapes": {"matmul": {"ns": 75_000, "input_shapes": "16,16"}},
    "other formats": {"matmul": {"ns": 75_000, "input_formats": "NZ"}},
    "other data types": {"matmul": {"ns": 75_000, "input_data_types": "FLOAT"}},
    "other shapes and formats": {"matmul": {"ns": 75_000, "input_shapes": "16,16", "input_formats": "NZ"}},
    "tuned": {"conv": {"ns": 85_000, "count": 2, "repository": "run t2"}},
    "tuned, and more calls": {"relu": {"ns": 9_000, "count": 9, "repository": "run t2"}},
    "renamed": {"matmul": None, "matmul_1": {"ns": 61_000}},
    "fused": {"matmul": None, "relu": None, "fused": {"ns": 94_000}},
    "split": {"conv": None, "left": {"ns": 90_000}, "right": {"ns": 112_000}},
    "two moves": {"matmul": None, "matmul_1": {"ns": 62_000}, "relu": None, "gelu": {"ns": 35_000}},
    "gone": {"matmul": None},
    "new": {"norm": {"ns": 50_000}},
    "slower communication": {"reduce": {"ns": 60_000, "communication": True}},
}


def rows(side: str, kinds: Mapping[str, Kind], source: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(NIGHTS[side]):
        for name, kind in kinds.items():
            count = kind.get("count", 1) * STEPS[side]
            scatter = 1 + 0.004 * (sum(source.random() for _ in range(12)) - 6)
            row = dict.fromkeys(COLUMNS) | {"side": side, "night": f"{side}{number}", "op_type": name.rstrip("_1").title(), "op_name": name, "input_shapes": "8,8", "input_formats": "ND", "communication": False}  # fmt: skip
            told = {column: value for column, value in kind.items() if column not in {"ns", "count"}}
            yield row | {"count": count, "total_ns": round(kind["ns"] * count * scatter)} | told


def found(changed: Mapping[str, Kind | None], *, parts: bool = True) -> Attribution:
    """What a change goes on: the step has its operators, what nobody knows of, communication and free time; one night is odd."""
    source = random.Random(7)
    sides = {"before": QUIET, "after": {name: kind for name, kind in {**QUIET, **changed}.items() if kind is not None}}
    calls = [row for side, kinds in sides.items() for row in rows(side, kinds, source)]
    nights = []
    for side in ("before", "after"):
        for number in range(NIGHTS[side]):
            ran = sum(
                row["total_ns"] for row in calls if row["night"] == f"{side}{number}" and not row["communication"]
            )
            odd = 400_000 * STEPS[side] if (side, number) == ("before", 3) else 0
            talk, free = (8_000 + (2_000 if side == "after" else 0)) * STEPS[side], 20_000 * STEPS[side] + odd
            known = {"communication_not_overlapped_ns": talk, "free_ns": free} if parts else {}
            total = ran + talk + free + 1_234 * STEPS[side]
            nights.append(StepNight(side, f"{side}{number}", STEPS[side], total, **known))
    told = attribute_change(pl.DataFrame(calls, schema=SCHEMA), nights)
    assert told is not None
    return told


def words(told: Attribution) -> Iterator[str]:
    whole = asdict(told)
    operators = whole.pop("operators")
    yield " ".join(f"{name}={value}" for name, value in whole.items())
    for one, share in zip(operators, told.operators, strict=True):
        kept = {name: f"{value:.9g}" if isinstance(value, float) else value for name, value in one.items() if value is not None}  # fmt: skip
        yield "  " + " ".join(f"{name}={value}" for name, value in kept.items()) + f" sure={share.sure_ns:.9g}"


def test_changes_go_on_these_operators() -> None:
    lines = []
    for name, changed in CHANGES.items():
        lines += [f"{name}:", *words(found(changed))]
    lines += ["parts of steps not known:", *words(found(CHANGES["slower"], parts=False))]
    assert_recorded(EXPECTED, {"text": "\n".join(lines) + "\n"}, all_of_it=True)
