"""Tasks that are alike are one row, however they come."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.stats.alike import AlikeTasks

Task = tuple[str | None, str, int]
tasks = st.lists(
    st.tuples(
        st.sampled_from(["Conv2D", "Add", "a", "b", "c", None]),
        st.sampled_from(["AI_CORE", "AI_CPU"]),
        st.one_of(st.integers(0, 3), st.integers(2**32 - 2, 2**32 + 1), st.just(2**62)),
    ),
    max_size=40,
)
cuts = st.lists(st.integers(0, 40), max_size=6)


def held(rows: list[Task], bounds: list[int]) -> AlikeTasks:
    """Rows as they come in parts."""
    alike = AlikeTasks(("op_name", "task_type"))
    for start, end in pairwise([0, *sorted(min(bound, len(rows)) for bound in bounds), len(rows)]):
        some = rows[start:end]
        columns = {
            "op_name": pa.array([row[0] for row in some], pa.string()).dictionary_encode(),
            "task_type": pa.array([row[1] for row in some], pa.string()).dictionary_encode(),
            "task_duration_ns": pa.array([row[2] for row in some], pa.int64()),
        }
        alike.add(pa.table(columns))
    return alike


@given(tasks, tasks, cuts, cuts)
def test_every_task_is_in_the_calls_of_one_row(
    first: list[Task], second: list[Task], cuts_of_first: list[int], cuts_of_second: list[int]
) -> None:
    alike = held(first, cuts_of_first)
    alike.merge(held(second, cuts_of_second))
    frame = alike.frame()
    assert frame.column_names == ["op_name", "task_type", "task_duration_ns", "calls"]
    told = [(tuple(row.values())[:3], row["calls"]) for row in frame.to_pylist()]
    assert len(dict(told)) == len(told)
    assert dict(told) == Counter([*first, *second])
    names = [name for name, _, _ in (*first, *second) if name is not None]
    chunks = frame["op_name"].unify_dictionaries().chunks
    assert {word for chunk in chunks for word in chunk.dictionary.to_pylist()} == {*names}
