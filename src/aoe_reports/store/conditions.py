"""Conditions on rows: what a query asks for, and which files and row groups cannot hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from aoe_reports.model.arrays.columns import scalar, values_of

Sign = Literal["=", "!=", "<=", ">="]

_COMPARE: dict[Sign, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<=": pc.less_equal,
    ">=": pc.greater_equal,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """What the value of a column has to be; a row without a value never fits."""

    column: str
    sign: Sign
    value: str | int

    def holds_between(self, least: Any, most: Any) -> bool:
        """Whether a value between two bounds may fit; an unknown bound (None) excludes nothing."""
        if least is None or most is None:
            return True
        if self.sign == "=":
            return bool(least <= self.value <= most)
        if self.sign == "<=":
            return bool(least <= self.value)
        if self.sign == ">=":
            return bool(most >= self.value)
        return not least == most == self.value

    def holds_for_all_between(self, least: Any, most: Any) -> bool:
        """Whether every value between two known bounds fits."""
        if least is None or most is None:
            return False
        if self.sign == "=":
            return bool(least == most == self.value)
        if self.sign == "<=":
            return bool(most <= self.value)
        if self.sign == ">=":
            return bool(least >= self.value)
        return not least <= self.value <= most


AnyOf = tuple[Condition, ...]
Where = Sequence[Condition | AnyOf]
"""All have to hold; of a tuple one."""


def equals(column: str, value: str | int, sign: Sign = "=") -> Condition:
    """A condition on a column."""
    return Condition(column, sign, value)


def alternatives(where: Where) -> list[AnyOf]:
    """Every condition as a choice of one or several."""
    return [condition if isinstance(condition, tuple) else (condition,) for condition in where]


def columns_of(where: Where) -> set[str]:
    """The columns that have to be read to decide."""
    return {condition.column for choice in alternatives(where) for condition in choice}


def may_hold(where: Where, bounds: Mapping[str, tuple[Any, Any]]) -> bool:
    """Whether rows whose columns lie between these bounds may fit."""
    unknown = (None, None)
    return all(
        any(condition.holds_between(*bounds.get(condition.column, unknown)) for condition in choice)
        for choice in alternatives(where)
    )


def undecided(where: Where, bounds: Mapping[str, tuple[Any, Any]]) -> list[AnyOf]:
    """The conditions that rows have to be asked for: those that do not hold for all between these bounds."""
    unknown = (None, None)
    return [
        choice
        for choice in alternatives(where)
        if not any(condition.holds_for_all_between(*bounds.get(condition.column, unknown)) for condition in choice)
    ]


def matching(rows: pa.Table, where: Where) -> pa.Table:
    """The rows that fit."""
    for choice in alternatives(where):
        if len(choice) > 1 and {(one.column, one.sign) for one in choice} == {(choice[0].column, "=")}:
            values = values_of([one.value for one in choice])
            rows = rows.filter(pc.is_in(rows[choice[0].column], value_set=values))
            continue
        masks = [_COMPARE[c.sign](rows[c.column], scalar(c.value)) for c in choice]
        rows = rows.filter(reduce(pc.or_kleene, masks))
    return rows
