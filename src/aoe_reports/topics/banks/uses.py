"""Which operators used a bank: what logs of CANN say, operator by operator, and why one did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aoe_reports.formats.aoe.bank_log import BankHit, BankLogs, Searched, SearchedFor, SearchLines, fused_types, hit_of
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding
from aoe_reports.model.rows import column, row
from aoe_reports.model.texts import Text, count_of, join, say
from aoe_reports.topics.banks.coverage import BankIndex, CalledOperator
from aoe_reports.topics.rules import BANK_LOG_CONTRADICTS, BANK_LOG_LINE, BANK_LOG_SILENT

if TYPE_CHECKING:
    from aoe_reports.topics.banks.profile import NamedShape

NAMED = 5
"""Operators without a hit that a sentence names."""
NOT_FOUND: frozenset[BankHit] = frozenset({"missed", "mixed"})
"""Where a profile and the banks may tell why."""
_ORDER: tuple[BankHit, ...] = ("missed", "mixed", "hit", "not-counted")
_KINDS: tuple[SearchedFor, ...] = ("operator", "subgraph", "format")


@row
class BankSearch:
    """An operator or a subgraph that one process looked for in the banks when it was compiled."""

    kind: SearchedFor = column("Searched for", "word")
    name: str = column("Name")
    status: BankHit = column("Status", "state")
    op_type: str | None = column("Operator type", default=None)
    input_shapes: str | None = column("Input shapes", default=None)
    reason: str | None = column("Reason", "sentence", default=None)
    fused_types: str | None = column("Types in the kernel", default=None)
    kernel: str | None = column("Kernel", default=None, detail=True)
    process: int = column("Process", "text")
    graph: str | None = column("Session and graph", default=None, detail=True)
    lines: int = column("Lines", "integer")
    lines_hit: int = column("Lines with a hit", "integer", detail=True)
    lines_missed: int = column("Lines without", "integer", detail=True)


def rows_of_logs(logs: BankLogs) -> list[BankSearch]:
    """One row for each operator and subgraph of each process, those without a hit first."""
    rows = [_row_of(searched, lines) for searched, lines in logs.searches.items()]
    return sorted(rows, key=_place_of)


def _place_of(one: BankSearch) -> tuple[int, int, str, int, str]:
    return _KINDS.index(one.kind), _ORDER.index(one.status), one.name, one.process, one.graph or ""


def _row_of(searched: Searched, lines: SearchLines) -> BankSearch:
    return BankSearch(
        kind=searched.kind,
        name=searched.name,
        status=lines.status,
        fused_types=None if lines.kernel is None else fused_types(lines.kernel) or None,
        kernel=lines.kernel,
        process=searched.process,
        graph=searched.graph,
        lines=lines.hits.total(),
        lines_hit=lines.hits["hit"],
        lines_missed=lines.hits["missed"],
    )


def hits_by_name(logs: BankLogs, kind: SearchedFor) -> dict[str, BankHit]:
    """What all processes together say of each operator or subgraph."""
    hits: dict[str, Counter[BankHit]] = {}
    for searched, lines in logs.searches.items():
        if searched.kind == kind:
            hits.setdefault(searched.name, Counter())[lines.status] += 1
    return {name: hit_of(statuses) for name, statuses in sorted(hits.items())}


def why_missed(called: CalledOperator, index: BankIndex) -> str:
    """Why an operator was not found, as far as the banks tell what it is looked up by."""
    covered = index.look_up(called)
    if covered.status == "covered":
        return say("a bank here has its entry: another bank was in use, or the kernel was not compiled again")
    return say("{status}: {reason}", status=say(covered.status), reason=covered.reason)


def explained(
    rows: Sequence[BankSearch], named: Mapping[str, tuple[NamedShape, BankIndex]], *, has_banks: bool
) -> Iterator[BankSearch]:
    """The rows with what a profile and the banks tell of operators without a hit."""
    for one in rows:
        known = named.get(one.name) if one.kind == "operator" and one.status in NOT_FOUND else None
        if known is None:
            yield one
            continue
        called = known[0].called
        why = why_missed(called, known[1]) if has_banks else None
        yield replace(one, op_type=called.op_type, input_shapes=called.input_shapes, reason=why)


_WITHOUT: Mapping[BankHit, Text] = {
    "missed": say("{number} did not: {names}"),
    "mixed": say("{number} only in part: {names}"),
    "not-counted": say("{number} not counted"),
}


def use_of_bank(hits: Mapping[str, BankHit], *, tuned: bool = False) -> list[Text]:
    """How many (tuned) operators used the bank, which did not, and of which the logs contradict themselves."""
    counts = Counter(hits.values())
    used, count = counts["hit"], len(hits) - counts["not-counted"]
    told = []
    if count and tuned:
        told.append(
            count_of(
                count,
                "{used} of {number} tuned operator used the bank",
                "{used} of {number} tuned operators used the bank",
                used=used,
            )
        )
    elif count:
        told.append(
            count_of(
                count,
                "{used} of {number} operator used the bank",
                "{used} of {number} operators used the bank",
                used=used,
            )
        )
    for status, words in _WITHOUT.items():
        names = [name for name, hit in hits.items() if hit == status]
        if names:
            told.append(say(words, number=len(names), names=some_of(names)))
    return told


def some_of(names: Sequence[str]) -> Text:
    """The first of some names, and how many more there are."""
    if len(names) <= NAMED:
        return join(", ", names)
    return say("{names} and {count} more", names=join(", ", names[:NAMED]), count=len(names) - NAMED)


def headline_of_logs(logs: BankLogs) -> str:
    """How many operators and subgraphs used the bank, and which did not."""
    told = use_of_bank(hits_by_name(logs, "operator"))
    subgraphs = hits_by_name(logs, "subgraph")
    if subgraphs:
        told.append(say("subgraphs: {used} of {count}", used=Counter(subgraphs.values())["hit"], count=len(subgraphs)))
    return say("{told}.", told=join("; ", told)) if told else ""


def remarks_on_logs(logs: BankLogs, place: Path) -> Iterator[Finding]:
    """What of the logs cannot be used, or contradicts itself."""
    if not logs.searches:
        text = say(
            "no line on banks in {count} logs: CANN writes them when operators are compiled, at level INFO of the module FE "
            "(ASCEND_MODULE_LOG_LEVEL=FE=1)",
            count=len(logs.files),
        )
        yield BANK_LOG_SILENT.found(str(place), text)
    for path, (count, first) in logs.damaged.items():
        text = count_of(
            count,
            "{number} line on banks cannot be read; it is left out",
            "{number} lines on banks cannot be read; they are left out",
        )
        yield BANK_LOG_LINE.found(str(path), text, first)
    if logs.left_out:
        text = say("{count} lines on further operators are left out: there are too many", count=logs.left_out)
        yield BANK_LOG_LINE.found(str(place), text)
    yield from _contradictions(logs, place)


def _contradictions(logs: BankLogs, place: Path) -> Iterator[Finding]:
    mixed = [name for name, hit in hits_by_name(logs, "operator").items() if hit == "mixed"]
    for name in mixed[:EXAMPLES_PER_RULE]:
        text = say(
            "{name}: found in a bank by {hit}, not found by {missed}; it is counted as neither",
            name=name,
            hit=_processes(logs, name, "hit"),
            missed=_processes(logs, name, "missed"),
        )
        yield BANK_LOG_CONTRADICTS.found(str(place), text)
    if rest := len(mixed[EXAMPLES_PER_RULE:]):
        yield BANK_LOG_CONTRADICTS.found(str(place), say("and {count} more operators", count=rest))


def _processes(logs: BankLogs, name: str, hit: BankHit) -> Text:
    having = {one.process for one, lines in logs.searches.items() if one.name == name and lines.hits[hit]}
    numbers = join(", ", map(str, sorted(having)))
    return count_of(len(having), "process {processes}", "processes {processes}", processes=numbers)
