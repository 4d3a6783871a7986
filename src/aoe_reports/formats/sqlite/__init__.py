"""The database form of exports (.db): the same tables as from text, read-only, never locked."""

from aoe_reports.formats.sqlite.plain import read_plain_table
from aoe_reports.formats.sqlite.reader import (
    DatabaseInfo,
    clocks_of_database,
    flows_of_database,
    info_of_database,
    kinds_of_database,
    read_database,
    read_database_events,
)

__all__ = [
    "DatabaseInfo",
    "clocks_of_database",
    "flows_of_database",
    "info_of_database",
    "kinds_of_database",
    "read_database",
    "read_database_events",
    "read_plain_table",
]
