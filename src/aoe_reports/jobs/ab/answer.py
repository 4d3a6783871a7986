"""Is B slower than A? Two sides of a few repeats each, judged for a merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from aoe_reports.engine.ask import Paths, Progress, no_progress
from aoe_reports.engine.fleet.executors import Executor
from aoe_reports.engine.question import Answer, Notes
from aoe_reports.formats.sources.discovery import refuse_missing
from aoe_reports.formats.sources.objects import asked_path
from aoe_reports.jobs.ab.causes import causes_of, facts_of
from aoe_reports.jobs.ab.explanation import NOTHING, Explained, explained, median_captures
from aoe_reports.jobs.ab.options import AbOptions
from aoe_reports.jobs.ab.repeats import Quantity, Repeat, read_side
from aoe_reports.jobs.ab.rules import GATE_NOT_JUDGED, NOTHING_IN_COMMON
from aoe_reports.jobs.ab.scatters import scatters_of
from aoe_reports.jobs.ab.session import remarks
from aoe_reports.jobs.ab.verdicts import FIRST, Judged, gates_not_judged, judge, observe
from aoe_reports.jobs.ab.words import headline_of, highlights_of, sections_of
from aoe_reports.model.classes import record
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import has, in_order
from aoe_reports.model.rows import Rows
from aoe_reports.model.sides import SIDE_EXIT_CODES, QuantityVerdict, SideCause, SideFact
from aoe_reports.model.texts import join, say
from aoe_reports.topics.comparison.explain import ChangePart
from aoe_reports.topics.records.context import UNKNOWN

MAX_PARTS = 10


@record
class AbAnswer(Answer):
    """The verdicts on two sides, and why the exit code is not 0."""

    why: Sequence[str] = ()
    """Keys of SIDE_EXIT_CODES."""

    def reasons(self, *, strict: bool = False) -> list[str]:
        """Damage first, then what the sides show."""
        return [*Answer.reasons(self, strict=strict), *self.why]

    def exit_code(self, *, strict: bool = False) -> int:
        """3 where something could not be read, 1 for damage or a slower candidate, 4 where nothing can be told, 5 where it is not proved the same."""
        if not self.rows and not self.unreadable:
            return SIDE_EXIT_CODES["not-enough-repeats"]
        damage = Answer.exit_code(self, strict=strict)
        return damage or next((code for reason, code in SIDE_EXIT_CODES.items() if reason in self.why), 0)


def compare_sides(
    baseline: Sequence[Path],
    candidate: Sequence[Path],
    options: AbOptions,
    *,
    executor: Executor | None = None,
    progress: Progress = no_progress,
) -> AbAnswer:
    """The verdict on the candidate against the baseline: one for each quantity, and what explains a difference. Raises UsageError."""
    options.check()
    if not baseline or not candidate:
        raise UsageError(say("ab: expected BASELINE... -- CANDIDATE..., or --a and --b"))
    notes = Notes()
    sides = [read_side(paths, options, notes, executor=executor, progress=progress) for paths in (baseline, candidate)]
    inputs = tuple(map(str, (*baseline, *candidate)))
    findings = notes.findings
    observed, one_side, _ = observe(sides, options) if all(sides) else ({}, {}, None)
    known = {quantity.name for quantity in (*observed, *one_side)}
    if all(sides) and (unknown := [name for name in options.metric if name not in known]):
        raise UsageError(say("--metric {name}: not measured here", name=unknown[0]))
    if not observed:
        if not has(findings, "error"):
            findings.append(NOTHING_IN_COMMON.found(inputs[-1], say("no quantity here is measured on both sides")))
        return _answer(inputs, notes, None, sides, [], options)
    hardware = {repeat.hardware for side in sides for repeat in side} - {UNKNOWN}
    judged = judge(sides, options, scatters_of(list(observed.values()), options, hardware, notes))
    facts = facts_of(sides)
    findings += remarks(sides, judged, facts)
    scopes = join(", ", sorted({row.scope for row in judged.rows}))
    for gate in gates_not_judged(judged.rows, options):
        text = say("no quantity that {gate} watches can be judged; scopes here: {scopes}", gate=gate, scopes=scopes)
        findings.append(GATE_NOT_JUDGED.found(inputs[-1], text))
    return _answer(inputs, notes, judged, sides, facts, options)


def _answer(
    inputs: tuple[str, ...],
    notes: Notes,
    judged: Judged | None,
    sides: Sequence[Sequence[Repeat]],
    facts: Sequence[SideFact],
    options: AbOptions,
) -> AbAnswer:
    rows: Sequence[QuantityVerdict] = [] if judged is None else judged.rows
    causes: Sequence[SideCause] = []
    why = NOTHING
    if judged is not None:
        why = _explained(judged, sides)
        notes.add(why.findings)
        causes = causes_of(judged, sides, facts, why.parts)
        rows = [
            replace(row, input_shapes=why.shapes.get(row.name))
            if row.scope == "op_type" and row.verdict in _DIFFERENT
            else row
            for row in rows
        ]
    return AbAnswer(
        command="ab",
        title=say("Candidate against baseline"),
        inputs=inputs,
        findings=in_order(notes.findings),
        unreadable=notes.unreadable,
        tables=(
            Rows(type=QuantityVerdict, rows=rows),
            Rows(type=SideCause, rows=causes, key="causes"),
            Rows(type=ChangePart, rows=why.parts, key="parts"),
            Rows(type=SideFact, rows=facts, key="conditions"),
        ),
        headline=headline_of(rows),
        highlights=highlights_of(rows),
        sections=sections_of(rows, causes, why.parts, facts),
        why=_why(rows, {} if judged is None else judged.one_side, options),
    )


def _explained(judged: Judged, sides: Sequence[Sequence[Repeat]]) -> Explained:
    """What a proved difference of captures consists of."""
    differing = frozenset(row.name for row in judged.rows if row.verdict in _DIFFERENT)
    pair = median_captures(sides) if differing else None
    return NOTHING if pair is None else explained(pair, MAX_PARTS, differing)


_DIFFERENT = frozenset({"slower", "faster"})


def _why(rows: Sequence[QuantityVerdict], one_side: Mapping[Quantity, int], options: AbOptions) -> list[str]:
    why = {row.fails for row in rows if row.fails}
    lost = [quantity for quantity, number in one_side.items() if number == 0 and quantity.scope in FIRST]
    if options.fail_on != "never" and lost:
        why.add("not-in-candidate")
    if options.fail_on != "never" and any(row.ci_low is None and row.scope in FIRST for row in rows):
        why.add("not-enough-repeats")
    if options.fail_on == "not-proved-same" and any(quantity.scope in FIRST for quantity in one_side):
        why.add("not-proved-same")
    if options.fail_on != "never" and gates_not_judged(rows, options):
        why.add("gate-not-judged")
    if rows and options.fail_on != "never" and all(row.ci_low is None for row in rows):
        why.add("not-enough-repeats")
    return [reason for reason in SIDE_EXIT_CODES if reason in why]


def ab(baseline: Paths, candidate: Paths, /, **chosen: Any) -> AbAnswer:
    """Judge whether a candidate is slower than a baseline by a few repeats of each: `ab(["old1", "old2"], ["new1", "new2"]).rows`."""
    before, after = (
        [asked_path(one) for one in ([side] if isinstance(side, str | PathLike) else side)]
        for side in (baseline, candidate)
    )
    refuse_missing((*before, *after))
    return compare_sides(before, after, AbOptions(**chosen))
