"""Banks of subgraphs (`<chip>_l2cache.json`): a version, and then a subgraph a line, as those look that come with CANN 8.1.RC1.

{"feature": {"feature": [{"struct": [{"op", "in", "dsize"}, …]}, …]}, "graphID", "strategy": {"group": [{"cut", …}, …], "end2EndTime", "modelName"}}:
each `struct` is a part, and the `group` at its place says how its operators are cut.
"""

from __future__ import annotations

from typing import Any

from aoe_reports.formats.aoe.operator_banks import (
    NotAnEntryError,
    OperatorEntry,
    Part,
    counted,
    digest_of,
    mapping,
    member,
    sizes_of,
)
from aoe_reports.model.texts import say

_ABSENT = (-1,)
"""The shape of an input that an operator does without."""


def version_of(document: Any) -> str | None:
    """The version of the form, where a line holds nothing else."""
    if isinstance(document, dict) and document.keys() == {"version"} and isinstance(document["version"], str):
        return document["version"]
    return None


def entry_of_subgraph(document: Any, line: int | None) -> OperatorEntry:
    """The entry of one line. Raises NotAnEntryError."""
    document = mapping(document)
    feature, strategy = member(document, "feature"), member(document, "strategy")
    graph = document.get("graphID")
    if not isinstance(graph, str) or not graph:
        raise NotAnEntryError(say("{name} is missing or is no text", name="graphID"))
    parts = _parts(feature.get("feature"), strategy.get("group"))
    model, time = strategy.get("modelName"), strategy.get("end2EndTime")
    return OperatorEntry(
        line=line,
        info={"graphID": graph, "feature": feature["feature"]},
        knowledge=strategy,
        nodes=sum(len(part.operators) for part in parts),
        operators=counted([name for part in parts for name, _ in part.operators]),
        parts=parts,
        kernel=model if isinstance(model, str) and model else None,
        raw_time=time if type(time) is int and 0 < time < 1 << 63 else None,
        named_key=graph,
        key=digest_of([graph, feature]),
        value=digest_of(strategy["group"]),
    )


def _parts(structs: Any, groups: Any) -> tuple[Part, ...]:
    if not isinstance(structs, list) or not isinstance(groups, list) or len(structs) != len(groups) or not structs:
        raise NotAnEntryError(say("it has not as many parts as ways to cut them"))
    return tuple(_part(struct, group) for struct, group in zip(structs, groups, strict=True))


def _part(struct: Any, group: Any) -> Part:
    operators, cut = mapping(struct).get("struct"), sizes_of(mapping(group).get("cut"))
    if not isinstance(operators, list) or not operators:
        raise NotAnEntryError(say("a part of it has no operators"))
    if cut is None or len(cut) != len(operators):
        raise NotAnEntryError(say("a part of it has not as many operators as ways to cut them"))
    return Part(tuple(_operator(one) for one in operators), cut)


def _operator(document: Any) -> tuple[str, tuple[tuple[int, ...], ...]]:
    name, shapes = mapping(document).get("op"), mapping(document).get("in")
    sizes = [sizes_of(shape) for shape in shapes] if isinstance(shapes, list) else [None]
    if not isinstance(name, str) or not name or None in sizes:
        raise NotAnEntryError(say("an operator of it has no name or no shapes"))
    return name, tuple(shape for shape in sizes if shape is not None and shape != _ABSENT)
