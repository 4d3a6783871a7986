"""Several captures of one side as one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from aoe_reports.facts.bounds import StepShares
from aoe_reports.tuning.verify.sides import MeasuredSide, called, repeated


def side(*blocks: int, steps: tuple[int, ...], free_ns: int | None = None) -> MeasuredSide:
    frame = pa.table({"op_name": ["a", "b"], "op_type": ["A", "B"], "task_duration_ns": [10, 20]})
    shares = StepShares(0, 0, len(steps), sum(steps), computing_ns=30, free_ns=free_ns)
    return MeasuredSide(frame, np.asarray(blocks, dtype=np.int64), steps, shares)


def test_steps_of_all_captures_are_the_blocks_one_behind_the_other() -> None:
    both = repeated([side(0, -1, steps=(40, 50), free_ns=1), side(1, 0, steps=(60, 70))], by_captures=False)
    assert (both.block_of.tolist(), both.step_ns, both.blocks, both.captures) == ([0, -1, 3, 2], (40, 50, 60, 70), 4, 0)
    assert (both.shares.steps, both.shares.step_ns, both.shares.computing_ns) == (4, 220, 60)
    assert both.shares.free_ns is None


def test_captures_are_the_blocks_with_the_mean_step_of_each() -> None:
    both = repeated([side(0, -1, steps=(40, 50)), side(1, 0, steps=(60, 70))], by_captures=True)
    assert (both.block_of.tolist(), both.step_ns, both.blocks, both.captures) == ([0, 0, 1, 1], (45, 65), 2, 2)
    assert both.step_us == pytest.approx(0.055)


@pytest.mark.parametrize("name", ["a", "A"])
def test_an_operator_is_called_otherwise_by_name_or_function(name: str) -> None:
    found = called(side(0, 0, steps=(40,)), name, "c")
    assert found is not None
    assert [found.frame[key].to_pylist() for key in ("op_name", "op_type")] == [["c", "b"], ["c", "B"]]
    assert called(side(0, 0, steps=(40,)), "none", "c") is None
