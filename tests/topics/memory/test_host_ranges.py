"""In which module of which thread the host was."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from aoe_reports.topics.memory.host_ranges import HostRanges

Range = tuple[str, int, int, str, str]
"""Name, begin, end, process, thread."""


def _ranges(rows: list[Range], moments: list[int], modules: list[int]) -> HostRanges:
    names, starts, ends, processes, threads = (list(column) for column in zip(*rows, strict=True))
    words = {
        "ph": ["X"] * len(rows),
        "name": names,
        "category": ["python_function"] * len(rows),
        "tid": threads,
        "pid": processes,
    }
    numbers = {"start_ns": starts, "duration_ns": [end - start for start, end in zip(starts, ends, strict=True)]}
    batch = pa.RecordBatch.from_pydict(
        {
            **{name: pa.array(column, pa.string()).dictionary_encode() for name, column in words.items()},
            **{name: pa.array(column, pa.int64()) for name, column in numbers.items()},
            "stage_row": pa.array([False] * len(rows)),
        }
    )
    ranges = HostRanges(moments, np.asarray(modules, dtype=np.int64))
    ranges.add(batch)
    return ranges


def test_of_modules_that_begin_together_the_inner_one_is_named() -> None:
    rows = [("nn.Module: Inner_0", 10, 20, "1", "7"), ("nn.Module: Outer_0", 10, 40, "1", "7")]
    assert _ranges(rows, [], [10, 19, 20, 40]).modules() == {10: "Inner_0", 19: "Inner_0", 20: "Outer_0"}


def test_threads_of_one_number_in_two_processes_are_two() -> None:
    rows = [
        ("nn.Module: Model_0", 0, 100, "1", "7"),
        ("nn.Module: Linear_0", 10, 60, "1", "7"),
        ("nn.Module: Other_0", 20, 30, "2", "7"),
    ]
    ranges = _ranges(rows, [25], [25])
    assert ranges.modules() == {25: "Linear_0"}
    assert ranges.open_at(25) == ("nn.Module: Model_0", "nn.Module: Linear_0")
