"""What else changed: facts that are one thing in all records before and another in all since; baselines as texts."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from aoe_reports.history.changes.surroundings import changed_metadata
from aoe_reports.history.series.pinned import is_date, parse_baseline


def frame(*records: dict[str, Any]) -> pl.DataFrame:
    """Records with a version and configurations as the store has them: JSON texts."""
    rows = [
        {
            name: value if name == "engine_version" or isinstance(value, str) else json.dumps(value)
            for name, value in one.items()
        }
        for one in records
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def told(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[tuple[str, str | None, str | None]]:
    return [(one.name, one.before, one.after) for one in changed_metadata(frame(*before), frame(*after))]


def test_a_version_and_the_leaves_of_configurations_are_facts_by_name() -> None:
    before = {
        "engine_version": "8.0",
        "software_config": {"driver": "23.0", "cann": {"toolkit": "8.0", "kernels": ["a", 1]}, "same": True},
        "hardware_config": {"deep": {"b": {"y": 1, "x": 2}}, "gone": 5, "empty": {}},
    }
    after = {
        "engine_version": "8.1",
        "software_config": {"driver": "24.0", "cann": {"toolkit": "8.1", "kernels": ["a", 2]}, "same": True},
        "hardware_config": {"deep": {"b": {"x": 2, "y": 3}}, "empty": None, "new": "é"},
    }
    assert told([before], [after]) == [
        ("engine_version", "8.0", "8.1"),
        ("hardware_config.deep.b", '{"x": 2, "y": 1}', '{"x": 2, "y": 3}'),
        ("hardware_config.empty", "{}", None),
        ("hardware_config.gone", "5", None),
        ("hardware_config.new", None, "é"),
        ("software_config.cann.kernels", '["a", 1]', '["a", 2]'),
        ("software_config.cann.toolkit", "8.0", "8.1"),
        ("software_config.driver", "23.0", "24.0"),
    ]
    assert told([before], [before]) == []


def test_a_fact_that_is_not_the_same_on_its_own_side_is_none() -> None:
    one, two, three = ({"engine_version": version} for version in ("1", "2", "3"))
    assert told([one, one], [two, two]) == [("engine_version", "1", "2")]
    assert told([one, three], [two, two]) == []
    assert told([one, one], [two, three]) == []
    assert told([one], [{"engine_version": "unknown"}]) == [("engine_version", "1", None)]
    assert told([{"engine_version": None}], [one]) == [("engine_version", None, "1")]


def test_without_records_on_a_side_nothing_is_told() -> None:
    one = frame({"engine_version": "1"})
    assert changed_metadata(one, one.clear()) == changed_metadata(one.clear(), one) == []


def test_twenty_facts_are_told_and_long_values_are_cut() -> None:
    before, after = ({"software_config": {f"k{place:02}": side for place in range(25)}} for side in ("a", "b"))
    assert [name for name, *_ in told([before], [after])] == [f"software_config.k{place:02}" for place in range(20)]
    long = {"engine_version": "v" * 300, "engine_config": {"n" * 300: "x" * 300, "o": {"p" * 300: "y" * 300}}}
    for name, was, became in told([long], [{"engine_version": "1"}]):
        assert max(len(name), len(was or "")) == 200 or name == "engine_version"
        assert len(was or "") == 200
        assert became in {None, "1"}


@pytest.mark.parametrize(
    ("text", "kind", "value", "first", "last", "nights"),
    [
        ("segment", "segment", "", "", "", 0),
        ("run:r:1", "run", "r:1", "", "", 0),
        ("tag:a\nb", "tag", "a\nb", "", "", 0),
        ("nights:1", "nights", "1", "", "", 1),
        ("nights:10000", "nights", "10000", "", "", 10_000),
        ("window:2026-01-01..2026-01-01", "window", "2026-01-01..2026-01-01", "2026-01-01", "2026-01-01", 0),
    ],
)
def test_a_baseline_is_read_as_written(text: str, kind: str, value: str, first: str, last: str, nights: int) -> None:
    found = parse_baseline(text)
    assert (found.kind, found.value, found.first, found.last, found.nights) == (kind, value, first, last, nights)
    assert str(found) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("previous", "expected segment, run:RUN_ID, tag:NAME, window:YYYY-MM-DD..YYYY-MM-DD or nights:N"),
        ("run:", "expected segment, "),
        ("nights:0", "expected a number of nights, 1 to 10000"),
        ("nights:10001", "expected a number of nights, 1 to 10000"),
        ("nights:-1", "expected a number of nights, 1 to 10000"),
        ("nights:\u0663", "expected a number of nights, 1 to 10000"),
        ("window:2026-01-02..2026-01-01", "expected two dates, the earlier one first: window:2026-01-01..2026-01-31"),
        ("window:2026-01-02", "expected two dates, the earlier one first"),
        ("window:x..2026-01-02", "expected two dates, the earlier one first"),
    ],
)
def test_what_is_no_baseline_says_what_is_expected(text: str, why: str) -> None:
    with pytest.raises(ValueError, match="expected") as refused:
        parse_baseline(text)
    assert str(refused.value).startswith(f"{text!r}: {why}")


@pytest.mark.parametrize(
    ("text", "date"),
    [("2026-01-31", True), ("2026-02-29", False), ("20260131", False), ("2026-1-31", False), ("", False), ("2026-W05-6", False)],
)  # fmt: skip
def test_a_date_is_written_in_one_way(text: str, date: bool) -> None:
    assert is_date(text) is date
