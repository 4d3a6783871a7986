"""Rows and options that are declared once: what JSON, people, schemas and Python see of them."""

from __future__ import annotations

from typing import Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import check_options, declared, option, options
from aoe_reports.model.rows import MS, US, as_mapping, column, columns_of, fields_of, row, schema_of, shown


@row
class Inner:
    files: int = column("Files", "integer")


@row
class Example:
    name: str | None = column("Name")
    total_ns: int = column("Total", unit=US)
    longest_ns: float | None = column(unit=MS)
    state: Literal["new", "old"] = column("State", "state")
    inner: Inner | None = column()


def _example(**changed: Any) -> Example:
    values: dict[str, Any] = {"name": "x", "total_ns": 1500, "longest_ns": None, "state": "new", "inner": None}
    return Example(**{**values, **changed})


def test_keys_and_values_leave_in_their_units() -> None:
    assert as_mapping(_example(longest_ns=2_500_000.0, inner=Inner(files=3))) == {
        "name": "x",
        "total_us": 1.5,
        "longest_ms": 2.5,
        "state": "new",
        "inner": {"files": 3},
    }
    assert [each.key for each in fields_of(Example)] == ["name", "total_us", "longest_ms", "state", "inner"]


def test_people_see_titled_columns_and_those_of_the_inner_row() -> None:
    assert [(one.key, one.kind) for one in columns_of(Example)] == [
        ("name", "text"), ("total_us", "us"), ("state", "state"), ("files", "integer"),
    ]  # fmt: skip
    assert shown(_example(inner=Inner(files=3)))["files"] == 3
    assert "files" not in shown(_example())


@row
class Moved:
    first: str = column("First")
    second: str = column("Second")
    third: str = column("Third", before="first")


def test_a_column_may_stand_elsewhere_for_people_than_for_programs() -> None:
    assert list(as_mapping(Moved(first="1", second="2", third="3"))) == ["first", "second", "third"]
    assert [one.key for one in columns_of(Moved)] == ["third", "first", "second"]


@given(st.integers(0, 2**62))
def test_a_time_in_microseconds_keeps_the_nearest_number(time_ns: int) -> None:
    assert as_mapping(_example(total_ns=time_ns))["total_us"] == time_ns / 1000


def test_the_schema_takes_what_leaves_and_nothing_else() -> None:
    schema = schema_of(Example)
    for one in (_example(), _example(inner=Inner(files=0), longest_ns=1.0, name=None)):
        jsonschema.validate(as_mapping(one), schema)
    for wrong in ({"state": "other"}, {"total_us": None}, {"more": 1}, {"inner": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**as_mapping(_example()), **wrong}, schema)


@options
class Base:
    strict: bool = option(default=False, help="Strict.", scope="run")


@options
class Chosen(Base):
    by: Literal["a", "b"] = option(default="a", help="By.")
    top: int = option(default=3, minimum=1, maximum=9, help="Top.")
    step: int | None = option(default=None, minimum=0, help="Step.", flags=["--only-step", "-s"])


def test_options_of_the_run_stand_behind_those_of_the_question() -> None:
    found = declared(Chosen)
    assert [(one.name, one.key, one.type, one.choices) for one in found] == [
        ("by", "by", Literal["a", "b"], ("a", "b")),
        ("top", "top", int, ()),
        ("step", "only-step", int, ()),
        ("strict", "strict", bool, ()),
    ]


@pytest.mark.parametrize("wrong", [{"by": "c"}, {"top": 0}, {"top": 10}, {"step": -1}])
def test_python_refuses_what_the_command_line_refuses(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        check_options(Chosen(**wrong))
    check_options(Chosen(by="b", top=9, step=None))
