"""The change of a peak over its owners, from stored records: it adds up to the byte, whatever the records hold."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.history.changes.peaks import NAMED, attribute_peak

OWNERS = st.lists(
    st.fixed_dictionaries(
        {"bytes": st.integers(-(2**40), 2**50)},
        optional={
            "name": st.sampled_from(["mm", "add", "kv"]),
            "kind": st.sampled_from(["kv_cache", "weight"]),
            "since_before": st.just(value=True),
            "others": st.integers(2, 9),
        },
    ),
    max_size=2 * NAMED,
)


def attributed(*texts: str, levels: tuple[float, float] = (0.0, 0.0)) -> Any:
    """What explains the change at the second of some nights with a record each."""
    nights = [f"2026-01-{number:02}" for number in range(1, len(texts) + 1)]
    labels = SimpleNamespace(scope="memory", metric="peak_allocated_bytes", record_series="s")
    histories = SimpleNamespace(labels=[labels], nights=nights)
    records = pl.DataFrame(
        {
            "series_id": ["s"] * len(texts),
            "night": nights,
            "run_id": [f"r{night}" for night in nights],
            "metrics": texts,
        }
    )
    detected: Any = SimpleNamespace(judged=SimpleNamespace(histories=histories), records=records)
    return attribute_peak(detected, 0, nights[1], SimpleNamespace(before=levels[0], after=levels[1]))


def metrics(owners: list[dict[str, Any]], more: int = 0) -> str:
    size = sum(owner["bytes"] for owner in owners) + more
    return json.dumps({"peak_allocated_bytes": {"value": size}, "peak_owners": owners})


@given(before=OWNERS, after=OWNERS, more=st.integers(-9, 9))
def test_owners_add_up_to_the_change(before: list[dict[str, Any]], after: list[dict[str, Any]], more: int) -> None:
    found = attributed(metrics(before), metrics(after, more))
    sizes = sum(one["bytes"] for one in before), sum(one["bytes"] for one in after) + more
    assert (found.before_bytes, found.after_bytes, found.total_bytes) == (*sizes, sizes[1] - sizes[0])
    assert sum(one.difference_bytes for one in found.owners) + found.other_owners_bytes == found.total_bytes
    assert all(one.difference_bytes == one.after_bytes - one.before_bytes for one in found.owners)
    assert len(found.owners) <= NAMED


def test_the_runs_closest_to_the_levels_are_compared() -> None:
    texts = [metrics([{"name": "kv", "bytes": size}]) for size in (100, 900, 210, 205)]
    found = attributed(*texts, levels=(100.0, 200.0))
    assert (found.before_run, found.after_run, found.total_bytes) == ("r2026-01-01", "r2026-01-04", 105)


def test_records_that_are_not_as_they_were_written_explain_nothing() -> None:
    whole = metrics([{"name": "kv", "bytes": 1}])
    assert attributed("{", whole) is None
    assert attributed('{"peak_allocated_bytes": 5}', whole) is None
    assert attributed('{"peak_allocated_bytes": {"value": 5}, "peak_owners": {}}', whole) is None


def test_names_that_are_no_texts_are_not_known() -> None:
    found = attributed(metrics([{"name": ["kv"], "kind": {}, "module": 7, "bytes": 1}]), metrics([]))
    assert [(one.name, one.kind, one.module, one.difference_bytes) for one in found.owners] == [(None, None, None, -1)]
