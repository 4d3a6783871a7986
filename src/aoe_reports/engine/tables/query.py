"""What a query names, from DuckDB's own parser, and whether somebody else's query may run."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import join, say

MAX_LEVELS = 500
"""How deep a parsed query may be; an operator takes two levels. The limit of Python's parser differs between processes."""
_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE"})
_TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest"})
_HIDDEN_FUNCTIONS = frozenset({"current_setting", "getenv"})
"""They return paths and variables of this machine."""


@dataclass(frozen=True, slots=True)
class Named:
    """What a query names: tables (without its common table expressions), table functions, functions."""

    tables: frozenset[tuple[str, ...]]
    """Each with the schema and the catalog where it names them."""
    table_functions: frozenset[str]
    functions: frozenset[str]


def names_of(query: str) -> Named:
    """What a SELECT names. Raises UsageError for any other statement, for several, and where it cannot be parsed."""
    tables, table_functions, functions = set(), set(), set()
    for node, own in _nodes(_parsed(query)):
        if node.get("type") == "BASE_TABLE":
            path = tuple(part for part in (node["catalog_name"], node["schema_name"], node["table_name"]) if part)
            if len(path) > 1 or _folded(path[0]) not in own:
                tables.add(path)
        elif node.get("type") == "TABLE_FUNCTION":
            table_functions.add(node["function"]["function_name"].lower())
        elif node.get("type") == "SHOW_REF":
            table_functions.add("show")
        elif node.get("class") == "FUNCTION":
            functions.add(node["function_name"].lower())
        elif "cte_map" in node and node["type"] not in _QUERIES:
            raise UsageError(say("sql: expected one SELECT; no other statement is allowed"))
    return Named(frozenset(tables), frozenset(table_functions), frozenset(functions))


def _parsed(query: str) -> Any:
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise UsageError(say("sql: {why}", why=say("it is no UTF-8"))) from error
    with duckdb.connect() as parser:
        text = parser.execute("SELECT json_serialize_sql(?)", [query]).fetchall()[0][0]
    try:
        tree = json.loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    if tree["error"]:
        if tree["error_type"] == "not implemented":
            raise UsageError(say("sql: expected one SELECT; no other statement is allowed"))
        raise UsageError(say("sql: {why}", why=tree["error_message"]))
    if len(tree["statements"]) != 1:
        raise UsageError(say("sql: expected one SELECT, found {count}", count=len(tree["statements"])))
    return tree


def check_query(query: str, tables: Collection[str]) -> frozenset[str]:
    """Which of some tables a query needs. Raises UsageError where it names anything but these and harmless functions."""
    named = names_of(query)
    unknown = sorted(".".join(path) for path in named.tables if len(path) > 1 or path[0].lower() not in tables)
    if unknown:
        raise UsageError(say("sql: no table {name}; the tables are {names}", name=unknown[0], names=join(", ", tables)))
    if "show" in named.table_functions:
        raise UsageError(say("sql: expected one SELECT; `sql --tables TABLE` lists the columns of a table"))
    refused = sorted(named.table_functions - _TABLE_FUNCTIONS | named.functions & _HIDDEN_FUNCTIONS)
    if refused:
        raise UsageError(say("sql: {name} is not allowed here", name=refused[0]))
    return frozenset(path[0].lower() for path in named.tables)


def _nodes(tree: Any) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Every node, with the names of the common table expressions that are visible there."""
    left: list[tuple[Any, frozenset[str], int]] = [(tree, frozenset(), 1)]
    while left:
        value, own, level = left.pop()
        if level > MAX_LEVELS:
            raise _too_deep()
        if isinstance(value, list):
            left += [(inner, own, level + 1) for inner in value]
        elif isinstance(value, dict):
            inside = own
            for one in value.get("cte_map", {}).get("map", ()):
                left.append((one["value"], inside, level + 1))
                inside |= {_folded(one["key"])}
            yield value, own
            for key, inner in value.items():
                if value.get("type") == "RECURSIVE_CTE_NODE" and key == "right":
                    left.append((inner, inside | {_folded(value["cte_name"])}, level + 1))
                elif key != "cte_map":
                    left.append((inner, inside, level + 1))


def _too_deep() -> UsageError:
    return UsageError(say("sql: the query is nested too deeply"))


def _folded(name: str) -> str:
    """A name as DuckDB compares it: without the case of ASCII letters."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)
