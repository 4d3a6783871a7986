"""What a rank lacks that others of its run have: rows in an answer, kinds of facts in its capture."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from aoe_reports.engine.captures import in_short
from aoe_reports.engine.question import Finished, Question, Request, Unit
from aoe_reports.formats.capture import Capture
from aoe_reports.model.findings import Finding
from aoe_reports.model.history.expected import find_absent
from aoe_reports.model.texts import N_, join, say

_OF_SOME_RANKS = ("rank", "device", "phase")
"""Options that choose among ranks: who asks for some expects no others."""


def absent_from_answer(question: Question[Any, Any], finished: Finished, asked: Request[Any]) -> Iterator[Finding]:
    """A finding for each rank without a row where others of its run have some."""
    step = getattr(asked.options, "step", None)
    if not question.every_rank or chooses_ranks(asked.options) or (step is not None and not question.every_step):
        return
    rows = next(table.rows for table in finished.tables if table.key == question.every_rank)
    present: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        if row.rank_id is not None:
            present[row.run].add(row.rank_id)
    runs: dict[str, list[Capture]] = defaultdict(list)
    for unit in asked.units:
        if isinstance(unit, Unit):
            runs[unit.run].append(unit.capture)
    for run, captures in runs.items():
        yield from absent_ranks(captures, present[run], asked.notes.findings, step)


def chooses_ranks(options: object) -> bool:
    """Whether an option leaves out ranks."""
    return any(getattr(options, name, None) is not None for name in _OF_SOME_RANKS)


def absent_ranks(
    captures: Sequence[Capture], present: Collection[int | None], findings: Sequence[Finding], step: int | None
) -> Iterator[Finding]:
    """A finding for each rank of a run that is not among the present ones, unless an error of its own says why."""
    known = sorted(rank for rank in present if rank is not None)
    if not known:
        return
    wrong = [finding.path for finding in findings if finding.severity == "error"]
    reason = say("found for rank {ranks} of the same run", ranks=in_short(known))
    for capture in captures:
        root = str(capture.root)
        if not capture.of_cluster and not any(path == root or path.startswith(f"{root}/") for path in wrong):
            expected = {str(rank): reason for rank in sorted(capture.info.every_rank)}
            yield from find_absent(root, "rank" if step is None else "step", expected, set(map(str, known)), step=step)


_PARTS = N_(
    {
        "tasks": "table of tasks",
        "timeline": "timeline",
        "steps": "table of steps",
        "communication": "table of communication",
    }
)


def absent_parts(ranks: Sequence[tuple[Capture, Collection[str]]]) -> list[Finding]:
    """A finding for each rank that lacks some of the PARTS that at least half of the ranks of its run have; `ranks` are captures with their parts."""
    parts = [
        (capture, mine)
        for capture, mine in ranks
        if capture.info.rank_id is not None and not capture.of_cluster and not capture.of_service
    ]
    counts = Counter(part for _, mine in parts for part in mine)
    found: list[Finding] = []
    for capture, mine in parts:
        lacking: dict[int, list[str]] = defaultdict(list)
        for part in _PARTS:
            if part not in mine and len(parts) <= 2 * counts[part]:
                lacking[counts[part]].append(part)
        for count, names in lacking.items():  # one cause, as a rule: one finding
            absent = join(", ", [say(_PARTS[name]) for name in names])
            reason = say("{count} of {all} ranks of the same run have it", count=count, all=len(parts))
            found += find_absent(str(capture.root), "parts", {str(capture.info.rank_id): reason}, (), parts=absent)
    return found
