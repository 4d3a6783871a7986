"""Reads nested JSON of its own shape as flat tables: communication, communication_matrix, prof_rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aoe_reports.formats.ascend.tables import TABLES
from aoe_reports.formats.csv.summary import TableData, nothing_of
from aoe_reports.formats.json.summary import Row, capped, read_document, table_of_rows
from aoe_reports.formats.rules import JSON_ROW, TOTAL_MISMATCH
from aoe_reports.model.arrays.columns import integers
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

TOTAL = "Total Op Info"
"""The name under which the exporter writes the sum of all operators beside them."""

_TOTAL_TOLERANCE_NS = 1_000
_START = "Start Timestamp"
_TIMES, _BANDWIDTHS = "Communication Time Info", "Communication Bandwidth Info"


def read_table_of_document(path: Path, kind: str, fields: frozenset[str] | None = None) -> TableData:
    """The rows of one table in a document; what has not the expected shape is reported with its place."""
    table = TABLES[kind]
    findings: list[Finding] = []
    document, sha256 = read_document(path, findings, say("an export of {kind}", kind=kind))
    if document is None:
        return nothing_of(path, table, table.match([]), *findings)
    broken: list[Finding] = []
    totals: list[Row] = []
    rows: list[Row] = []
    for row in _LAYOUTS[kind](document, broken, str(path)):
        (totals if row.cells.get("op_name") == TOTAL else rows).append(row)
    findings += capped(broken, len(broken))
    if fields is not None:
        fields = fields | {"step", "type"}  # the totals are held against these
    data = table_of_rows(path, table, rows, fields, findings, sha256, broken=len(broken))
    if kind == "communication" and totals and "elapsed_ns" in data.frame.column_names:
        return _held_against_totals(data, totals)
    return data


def _held_against_totals(data: TableData, totals: list[Row]) -> TableData:
    """Whether the operators of each step and type add up to what the exporter says they do."""
    # a total has no start of its own
    whole = [Row({f"{_START}(us)": None, **row.cells}, row.pointer) for row in totals]
    stated = table_of_rows(data.path, data.table, whole, None, [], "")
    sums: dict[tuple[Any, Any], int] = {}
    elapsed, _ = integers(data.frame["elapsed_ns"])
    keys = zip(data.frame["step"].to_pylist(), data.frame["type"].to_pylist(), strict=True)
    for key, ns in zip(keys, elapsed, strict=True):
        sums[key] = sums.get(key, 0) + int(ns)
    found = [*stated.findings]
    for total in stated.frame.to_pylist():
        here = sums.get((total["step"], total["type"]), 0)
        if abs(here - total["elapsed_ns"]) > _TOTAL_TOLERANCE_NS * max(data.frame.num_rows, 1):
            message = say(
                "{step}, {type}: the operators add up to {sum:.3f} us, but {total!r} states {told:.3f} us",
                step=total["step"],
                type=total["type"],
                sum=here / 1000,
                total=TOTAL,
                told=total["elapsed_ns"] / 1000,
            )
            found.append(TOTAL_MISMATCH.found(str(data.path), message))
    return data.with_findings(found)


def _operators(
    document: Any, broken: list[Finding], path: str
) -> Iterator[tuple[dict[str, str | None], JsonObject, str]]:
    """(step, type, operator and group; what stands there; its pointer) of communication*.json."""

    def parts(value: Any, pointer: str) -> Iterator[tuple[str, Any, str]]:
        if isinstance(value, dict):
            for name, inner in value.items():
                yield name, inner, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        else:
            broken.append(_broken(path, pointer, say("an object")))

    for step, types, at_step in parts(document, ""):
        for kind, operators, at_type in parts(types, at_step):
            for operator, content, pointer in parts(operators, at_type):
                name, _, group = operator.rpartition("@") if "@" in operator else (operator, "", None)
                labels = {"step": step, "type": kind, "op_name": name, "group": group}
                if isinstance(content, dict):
                    yield labels, content, pointer
                else:
                    broken.append(_broken(path, pointer, say("an object")))


def _broken(path: str, pointer: str, expected: str) -> Finding:
    message = say("expected {expected} here; the value is not used", expected=expected)
    return JSON_ROW.found(path, message, pointer=pointer)


def _times(document: Any, broken: list[Finding], path: str) -> Iterator[Row]:
    for labels, content, pointer in _operators(document, broken, path):
        times = content.get(_TIMES)
        if not isinstance(times, dict):
            broken.append(_broken(path, f"{pointer}/{_TIMES}", say("an object")))
        elif _is_nameless_total(labels, times):
            broken.append(_broken(path, f"{pointer}/{_TIMES}", say("an operator with a {name!r}", name=_START)))
        else:
            yield Row({**labels, **times}, f"{pointer}/{_TIMES}")


def _is_nameless_total(labels: dict[str, str | None], times: JsonObject) -> bool:
    """Whether this has no start, as only a total has: one whose name is damaged would count everything twice."""
    return labels["op_name"] != TOTAL and not any(name.startswith(_START) for name in times)


def _bandwidths(document: Any, broken: list[Finding], path: str) -> Iterator[Row]:
    for labels, content, pointer in _operators(document, broken, path):
        transports = content.get(_BANDWIDTHS)
        times = content.get(_TIMES)
        if isinstance(times, dict) and _is_nameless_total(labels, times):
            broken.append(_broken(path, f"{pointer}/{_TIMES}", say("an operator with a {name!r}", name=_START)))
            continue
        if not isinstance(transports, dict):
            broken.append(_broken(path, f"{pointer}/{_BANDWIDTHS}", say("an object")))
            continue
        for transport, facts in transports.items():
            if isinstance(facts, dict):
                sizes = facts.get("Size Distribution")
                told = None if not sizes else json.dumps(sizes, sort_keys=True, default=_plain)
                yield Row(
                    {**labels, "transport": transport, **facts, "Size Distribution": told},
                    f"{pointer}/{_BANDWIDTHS}/{transport}",
                )
            else:
                broken.append(_broken(path, f"{pointer}/{_BANDWIDTHS}/{transport}", say("an object")))


def _links(document: Any, broken: list[Finding], path: str) -> Iterator[Row]:
    for labels, content, pointer in _operators(document, broken, path):
        if labels["group"] is None and labels["op_name"] != TOTAL:
            broken.append(
                _broken(path, pointer, say("an operator with its group (name@group) or {total!r}", total=TOTAL))
            )
            continue
        for link, facts in content.items():
            source, _, destination = link.partition("-")
            if isinstance(facts, dict) and source.isdecimal() and destination.isdecimal():
                ranks = {"source_rank": source, "destination_rank": destination}
                yield Row({**labels, **ranks, **facts}, f"{pointer}/{link}")
            else:
                broken.append(_broken(path, f"{pointer}/{link}", say("an object under '<rank>-<rank>'")))


def _advice(document: Any, broken: list[Finding], path: str) -> Iterator[Row]:
    """The rules of prof_rule_*.json: {"status", "data": {section: [{type, description, result: [...]}]}}."""
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict):
        broken.append(_broken(path, "/data", say("an object with one list for each section")))
        return
    for section, rules in data.items():
        for i, rule in enumerate(rules if isinstance(rules, list) else [None]):
            pointer = f"/data/{section}/{i}"
            results = rule.get("result") if isinstance(rule, dict) else None
            if not isinstance(results, list):
                broken.append(_broken(path, pointer, say("a rule with its results")))
                continue
            for j, result in enumerate(results):
                if not isinstance(result, dict):
                    broken.append(_broken(path, f"{pointer}/result/{j}", say("an object")))
                    continue
                tuned = result.get("Tuning Data")
                names = json.dumps(tuned, ensure_ascii=False, default=_plain) if tuned else None
                yield Row(
                    {
                        "section": section,
                        "Rule Type": rule.get("Rule Type"),
                        "Rule Description": rule.get("Rule Description"),
                        "Rule Subtype": result.get("Rule Subtype"),
                        "Rule Suggestion": result.get("Rule Suggestion"),
                        "Tuning Data": names,
                    },
                    f"{pointer}/result/{j}",
                )


def _plain(value: Any) -> Any:
    return float(str(value))


_LAYOUTS = {
    "communication": _times,
    "communication_bandwidth": _bandwidths,
    "communication_matrix": _links,
    "prof_rule": _advice,
}
