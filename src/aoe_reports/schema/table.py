"""Table and Column: how a table that SQL queries is declared, and the statements that make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Type = Literal["BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN"]
"""Times that are whole nanoseconds are BIGINT: their sums are exact."""
_UNITS = ("ns", "us", "ms", "s", "bytes")


@dataclass(frozen=True, slots=True)
class Column:
    """One column; null where a value is unknown."""

    name: str
    comment: str
    type: Type = "BIGINT"
    refers_to: str = ""
    """`table.column` that it joins."""

    @property
    def unit(self) -> str:
        """The unit that its name ends with; empty where it names none."""
        return next((unit for unit in _UNITS if self.name.endswith(f"_{unit}")), "")


@dataclass(frozen=True, slots=True)
class Table:
    """One table; `key` are the columns in which no two rows are the same."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def ddl(self) -> str:
        """The statements that create it, with comments."""
        columns = ", ".join(f"{column.name} {column.type}" for column in self.columns)
        comments = [f"COMMENT ON TABLE {self.name} IS {_quoted(self.comment)}"]
        comments += [
            f"COMMENT ON COLUMN {self.name}.{column.name} IS {_quoted(column.comment)}" for column in self.columns
        ]
        return "; ".join([f"CREATE TABLE {self.name} ({columns})", *comments])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
