"""A step's change from stored records: exact for any history, the same whatever lies in which order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.records.record import Record
from aoe_reports.formats.records.row import row_of_record
from aoe_reports.history.changes.stored_attribution import TunedOperator, _part_ns, attribute
from aoe_reports.history.series.series import put_together
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.topics.steps import Step
from aoe_reports.store.layout import table_of
from aoe_reports.topics.records.context import RunContext
from aoe_reports.topics.records.from_profile import records_from_steps

NS = st.integers(0, 2**40)
STEP = st.tuples(NS, NS, NS)
OPERATOR = st.tuples(
    st.sampled_from(["op", "op_type", "communication"]),
    st.sampled_from("abc"),
    st.sampled_from([{}, {"input_shapes": "1"}, {"input_shapes": "2", "input_formats": "ND"}]),
    st.integers(1, 50),
    NS,
)
NIGHT = st.tuples(
    st.lists(STEP, min_size=1, max_size=4),
    st.booleans(),
    st.lists(OPERATOR, max_size=8, unique_by=lambda one: str(one[:3])),
)


def context(number: int) -> RunContext:
    return RunContext(f"202601{number + 1:02d}T000000-00000000", number * 86_400 * 10**9, "net", "npu", source="msprof")


def rows_of_night(number: int, night: tuple[Any, ...]) -> list[dict[str, Any]]:
    told, divided, operators = night
    steps = [
        Step(rank_id=0, device_id=0, step=place, duration_ns=sum(parts), **(_named(parts) if divided else {}))
        for place, parts in enumerate(told)
    ]
    records = records_from_steps(context(number), steps)
    for scope, name, args, count, total in operators:
        named = {"op_type": name, "op_name": name if scope == "op" else None}
        records.append(
            Record(
                **context(number).fields(), workload=f"net/{scope}/{name}", runtime_ms_mean=total / count / 1e6,
                runtime_ms_std=None, workload_args=args, scope=scope, source="msprof", rank_id=0, device_id=number,
                count=count, total_ns=total, **named,
            )
        )  # fmt: skip
    return [{"kind": "record", "night": f"2026-01-{number + 1:02d}", **row_of_record(record)} for record in records]


def _named(parts: tuple[int, int, int]) -> dict[str, int]:
    computing, uncovered, free = parts
    return {"computing_ns": computing, "communication_not_overlapped_ns": uncovered, "free_ns": free}


def told_of(rows: list[dict[str, Any]], at: int, tuned: list[TunedOperator] | None = None) -> dict[str, Any] | None:
    """The attribution of the step for a change in night `at`."""
    records = pl.DataFrame(table_of(rows))
    histories = put_together(records)
    index = [labels.scope for labels in histories.labels].index("step")
    change = SimpleNamespace(night=at, until=len(histories.nights))
    judged = SimpleNamespace(histories=histories, verdicts={index: SimpleNamespace(changes=[change], sigma=0.01)})
    told = attribute(records, judged, index, change, tuned or [])  # type: ignore[arg-type]
    return None if told is None else as_mapping(told)


@given(st.lists(NIGHT, min_size=2, max_size=6), st.data(), st.randoms(use_true_random=False))
def test_the_parts_are_the_whole_for_any_history(nights: Any, data: st.DataObject, random: Any) -> None:
    rows = [row for number, night in enumerate(nights) for row in rows_of_night(number, night)]
    at = data.draw(st.integers(1, len(nights) - 1))
    told = told_of(rows, at)
    if told is None:
        sides = [[kind[0] for night in side for kind in night[2]] for side in (nights[:at], nights[at:])]
        assert not any("communication" in side for side in sides)
        assert not any(all(scope in side for side in sides) for scope in ("op", "op_type"))
        return
    ns = {name: round(value * 1000) for name, value in told.items() if isinstance(value, float)}
    parts = ("operators_us", "communication_not_overlapped_us", "free_us", "unattributed_us")
    assert sum(ns.get(part, 0) for part in parts) == ns["total_us"] == ns["after_us"] - ns["before_us"]
    named = sum(round(one["difference_us"] * 1000) for one in told["operators"])
    assert named + ns["other_operators_us"] == ns["operators_us"]
    random.shuffle(rows)
    assert told_of(rows, at) == told


@given(st.lists(st.integers(0, 2**44), min_size=1, max_size=63))
def test_what_a_part_took_is_told_to_the_nanosecond(free: list[int]) -> None:
    steps = [Step(rank_id=0, device_id=0, step=place, duration_ns=ns, free_ns=ns) for place, ns in enumerate(free)]
    (record,) = records_from_steps(context(1), steps)
    assert _part_ns(row_of_record(record), "free") == sum(free)
    assert _part_ns(row_of_record(record), "communication_not_overlapped") is None


def night(operators: list[tuple[Any, ...]], length: int = 1000) -> tuple[Any, ...]:
    return [(length, 0, 0)], True, operators


def test_a_night_that_tells_of_no_operator_is_not_one_in_which_all_vanished() -> None:
    told_nights = [night([("op", "a", {}, 1, total)]) for total in (500, 500, 900, 900)]
    silent = night([("op_type", "a", {}, 1, 900)])
    nights = [*told_nights[:2], *told_nights[2:], silent]
    found = told_of([row for number, one in enumerate(nights) for row in rows_of_night(number, one)], 2)
    assert found is not None
    assert found["operators_us"] == 0.4


@pytest.mark.parametrize(("op_type", "cause"), [("A_v2", "slower-calls"), ("A", "changed-repository")])
def test_operators_known_by_type_only_are_found_by_their_type(op_type: str, cause: str) -> None:
    nights = [night([("op_type", "a", {}, 1, total)]) for total in (500, 500, 900, 900)]
    rows = [row for number, one in enumerate(nights) for row in rows_of_night(number, one)]
    between = int(1.5 * 86_400 * 10**9)
    tuned = TunedOperator("run", "2026-01-02", between, "net", "unknown", "some/name", op_type)
    found = told_of(rows, 2, [tuned])
    assert found is not None
    assert found["operators"][0]["cause"] == cause
