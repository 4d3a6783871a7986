"""Rows and options that are declared once: what JSON, people, schemas and Python see of them."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.classes import declared_fields, is_record, record, without_none
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import check_options, chosen_of, declared, option, options
from aoe_reports.model.rows import (
    MS,
    US,
    Column,
    Rows,
    as_mapping,
    column,
    columns_of,
    derived,
    fields_of,
    labelled,
    row,
    row_from,
    schema_of,
    shown,
    telling_columns,
)


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


@row
class Sum:
    run: str = column("Run", default="")
    calls: int
    each_ns: int

    @derived("Total", unit=US)
    def total_ns(self) -> int | None:
        """Of all calls."""
        return self.calls * self.each_ns or None

    name: str = column("Name")


@row
class Placed(Moved, Sum):
    """Of two classes."""


def test_a_row_of_two_classes_has_the_columns_of_both() -> None:
    assert [each.name for each in fields_of(Placed)] == ["run", "total_ns", "name", "first", "second", "third"]


def test_a_derived_column_stands_where_it_is_declared_and_a_field_without_a_column_is_in_no_answer() -> None:
    one = Sum(calls=3, each_ns=500, name="x")
    assert [as_mapping(each) for each in labelled([one], "a")] == [{"run": "a", "total_us": 1.5, "name": "x"}]
    assert [each.title for each in columns_of(Sum)] == ["Run", "Total", "Name"]
    jsonschema.validate(as_mapping(Sum(calls=0, each_ns=1, name="x")), schema_of(Sum))
    assert pickle.loads(pickle.dumps(one)).total_ns == one.total_ns == 1500


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


@pytest.mark.parametrize(("key", "inside"), [("top", [1, 2, 8, 9]), ("step", [0, 1, 1000])])
def test_an_option_is_taken_up_to_its_limits(key: str, inside: list[int]) -> None:
    for value in inside:
        check_options(Chosen(**{key: value}))


def test_options_that_nobody_gave_have_their_defaults() -> None:
    chosen = Chosen()
    assert (chosen.strict, chosen.by, chosen.top, chosen.step) == (False, "a", 3, None)


@options
class Many(Base):
    paths: tuple[str, ...] = option(default=(), help="Paths.", flags=["--path", "-p"])


def test_an_option_may_be_given_several_times() -> None:
    assert [(one.name, one.many, one.default) for one in declared(Many)] == [("paths", True, ()), ("strict", False, False)]  # fmt: skip
    assert not any(one.many for one in declared(Chosen))


def test_options_of_a_class_are_taken_from_values_by_name() -> None:
    assert chosen_of(Chosen, top=5, strict=True, other=1) == Chosen(top=5, strict=True)
    assert chosen_of(Chosen) == Chosen()


@row
class Several:
    from_: Sequence[Inner] = column("From")
    kept: Sequence[int] = column()
    ratio: float | None = column("Ratio", "ratio", default=None)
    text: str | None = column("Text", default=None)


def test_rows_within_a_row_leave_as_lists() -> None:
    one = Several(from_=(Inner(files=1), Inner(files=2)), kept=(3, 4))
    assert as_mapping(one) == {"from": [{"files": 1}, {"files": 2}], "kept": (3, 4), "ratio": None, "text": None}
    assert as_mapping(Several(from_=(), kept=()))["from"] == ()
    assert as_mapping(Several(from_=[Inner(files=1)], kept=[2]))["from"] == [{"files": 1}]
    assert Rows(type=Several, rows=[one]).mappings() == [as_mapping(one)]
    schema = schema_of(Several)
    assert schema["properties"]["from"]["items"] == schema_of(Inner)
    assert schema["properties"]["kept"] == {"type": "array", "items": {"type": "integer"}}
    assert schema["properties"]["ratio"] == {"type": ["number", "null"]}


def test_a_row_is_made_of_another_that_has_its_values() -> None:
    made = row_from(Example, _example(name="y"), state="old")
    assert made == _example(name="y", state="old")


@pytest.mark.parametrize(
    ("values", "says"),
    [([None], False), ([False], False), ([""], False), ([[]], False), ([None, 0], True), ([0.0], True), ([True], True), (["x"], True), ([None, None, [1]], True), ([], False)],
)  # fmt: skip
def test_columns_without_a_word_are_not_shown(values: list[Any], says: bool) -> None:
    columns = (Column("a", "A"), Column("b", "B"))
    shown_ones = telling_columns(columns, [{"a": 1, "b": value} for value in values] or [{"a": 1}])
    assert [one.key for one in shown_ones] == (["a", "b"] if says else ["a"])


@record
class First:
    a: int
    b: int = 2


@record
class Second(First):
    c: int = column("C", default=3)


def test_a_record_is_made_at_its_first_use() -> None:
    assert is_record(Second)
    assert not is_record(Chosen())
    assert not is_record(int)
    assert list(declared_fields(Second)) == ["c"]
    assert Second(a=1) == Second(a=1, b=2, c=3)
    assert pickle.loads(pickle.dumps(Second(a=5))).a == 5
    with pytest.raises(AttributeError):
        Second(a=1).a = 2
    with pytest.raises(TypeError):
        Second(1)


@pytest.mark.parametrize(
    ("kind", "there"),
    [(int | None, int), (int, int), (int | str | None, int | str | None), (list[int] | None, list[int])],
)
def test_the_type_of_a_value_that_is_there(kind: Any, there: Any) -> None:
    assert without_none(kind) == there
