"""Rules on what was modified: which operators or subgraphs, and of which types."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from aoe_reports.formats.aoe.operators import is_tunable
from aoe_reports.formats.aoe.results import types_of
from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found, listed
from aoe_reports.rules.results.task import DOCS, RESULTS, Task

_LISTS = say("torch_npu's list of 112 types, Operator List of CANN 9.0")

MAX_DIGITS = 20
"""Of an unsigned 64-bit number."""


@RESULTS.rule("repo-key", "error", "a 64-bit hash in decimal digits", DOCS).checked_by
def repo_key(task: Task) -> Found:
    """The key of a subgraph is an unsigned 64-bit number."""
    if task.facts.kind != "sgat" or _are_keys(task.columns.names):
        return
    for part in task.exact.modifications:
        if not _is_key(part.name):
            yield (
                f"{part.pointer}/repo_key",
                say("repo_key {name!r} is not an unsigned 64-bit number", name=part.name[:60]),
            )


def _is_key(name: str) -> bool:
    return _are_keys([name])


def _are_keys(names: Sequence[str]) -> bool:
    """Whether all of some names are keys: one look at all of their digits, and none at one name after another."""
    if not names:
        return True
    digits = "".join(names)
    if not (digits.isascii() and digits.isdecimal() and all(names) and max(map(len, names)) <= MAX_DIGITS):
        return False
    return max(map(int, names)) < 2**64


@RESULTS.rule("op-type-unknown", "info", "types outside the list cannot be tuned", _LISTS).checked_by
def op_type_unknown(task: Task) -> Found:
    """Every type of operator stands in the published lists of those that AOE tunes."""
    strange = {name for op_type in task.columns.op_types for name in _strange(op_type)}
    if strange:
        shown = listed([name[:60] for name in sorted(strange)])
        yield (
            f"{task.facts.segment_pointer}/repo_modified_operators",
            say("not in the published (incomplete) lists of operators that AOE tunes: {names}", names=shown),
        )


@lru_cache(maxsize=10_000)
def _strange(op_type: str) -> tuple[str, ...]:
    """The types in one text (a list may be written as one) that are in no list."""
    return tuple(name for name in types_of(op_type) if not is_tunable(name))
