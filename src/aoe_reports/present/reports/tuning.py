"""The result of a tuning run: its tasks, their gains recomputed from AOE's times, the state of the repository."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from aoe_reports.formats.aoe.results import Modification, TuningResult, status_of
from aoe_reports.model.documents import Cells
from aoe_reports.model.findings import FAILED_TUNING, Finding, has, is_below
from aoe_reports.model.report import Grid, Section
from aoe_reports.model.rows import Column, Rows, column, row, row_from, telling_columns
from aoe_reports.model.texts import capital, count_of, join, say
from aoe_reports.present.answers import section_of

SHOWN_MODIFICATIONS = 20
"""Operators or subgraphs that are listed of one task; the others are counted."""
SHOWN_TASKS = 100
"""Tasks whose operators or subgraphs are listed; the overview has all tasks."""

Outcome = Literal["successful", "nothing to tune", "failed", "incomplete", "unknown", "invalid"]
OUTCOMES: tuple[Outcome, ...] = ("successful", "nothing to tune", "failed", "incomplete", "unknown", "invalid")

_LARGEST = Decimal("1e15")

COUNTS = {
    "total_num": ("Total", "{things} that the task tuned."),
    "repo_hit_num": ("Hit", "{things} that were already in the repository: reserved and updated together."),
    "repo_reserved_num": ("Reserved", "already in the repository and left unchanged."),
    "repo_update_num": ("Updated", "already in the repository and replaced by a better result."),
    "repo_add_num": ("Added", "not in the repository before and written to it by this task."),
    "repo_unsatisfied_num": (
        "Unsatisfied",
        "not in the repository before and not written to it: nothing better was found.",
    ),
}
"""AOE's counts on its repository: the word above each and what it counts."""


@dataclass(frozen=True, slots=True)
class TuningTask:
    """The summary of one tuning task; its size does not depend on how many operators AOE lists."""

    path: str
    report_key: str | None
    name: str
    kind: Literal["operators", "subgraphs"]
    outcome: Outcome
    status: str
    """The outcome in words."""
    tuning_time_s: Decimal | None
    baseline_ms: Decimal | None
    result_ms: Decimal | None
    claim: str | None
    summary: Mapping[str, int]
    updates: Mapping[str, int]
    """How many modifications there are of each way of updating the repository (`add`, `update`)."""
    failed: tuple[str, ...]
    largest: tuple[Modification, ...]
    """The modifications that save most; none of a task whose numbers may not be used."""
    rest: int
    rest_saved: Decimal
    """The measured savings of the others."""
    unmeasured: int
    """How many gains AOE filled in."""

    @property
    def modified(self) -> int:
        """How many modifications the task lists."""
        return sum(self.updates.values())


def summarise(path: str, result: TuningResult, findings: Sequence[Finding]) -> TuningTask:
    """One task of a result file in which `findings` were found; gains only where its numbers may be used."""
    inside = [f for f in findings if is_below(f.pointer, result.pointer) and f.rule not in FAILED_TUNING]
    outcome = _outcome(result, invalid=has(inside, "error"))
    counted = outcome == "successful"
    ranked = sorted(result.modifications, key=_by_saving) if counted else []
    rest = ranked[SHOWN_MODIFICATIONS:]
    return TuningTask(
        path=path,
        report_key=result.report_key,
        name=result.tuning_name or say("unnamed"),
        kind="operators" if result.kind == "opat" else "subgraphs",
        outcome=outcome,
        status=_in_words(result, outcome),
        tuning_time_s=result.tuning_time_s,
        baseline_ms=result.model_baseline_ms,
        result_ms=result.model_result_ms if counted else None,
        claim=result.model_improvement,
        summary=result.summary,
        updates=Counter(modification.update_mode for modification in result.modifications),
        failed=result.failed_operators,
        largest=tuple(ranked[:SHOWN_MODIFICATIONS]),
        rest=len(rest),
        rest_saved=sum((gained.saved for m in rest if (gained := _measured(m))), Decimal(0)),
        unmeasured=sum(modification.unmeasured for modification in result.modifications),
    )


def overview_sections(tasks: Sequence[TuningTask], unread: int) -> list[Section]:
    """A row a task, and the repository's state; `unread` result files hold no task that could be read."""
    sections = []
    if tasks or unread:
        rows = [_row(number, task) for number, task in enumerate(tasks, start=1)]
        sentences = [_counted(tasks, unread)] + ([_EXPLANATION] if tasks else [])
        sections.append(section_of(Rows(type=_TaskRow, rows=rows, title="Tuning tasks", sentences=sentences)))
    if tasks:
        several = len({task.kind for task in tasks}) > 1
        things = say("operators and subgraphs") if several else say(tasks[0].kind)
        counts: list[Cells] = [
            {"number": number, "name": task.name, **task.summary, "file": _place(task)}
            for number, task in enumerate(tasks, start=1)
        ]
        meanings = [
            say("{word}: {meaning}", word=say(word), meaning=say(meaning, things=things))
            for word, meaning in COUNTS.values()
        ]
        sections.append(
            Section("Repository and result files", [_REPOSITORY], Grid(_REPOSITORY_COLUMNS, counts), lines=meanings)
        )
    return sections


def task_sections(tasks: Sequence[TuningTask]) -> list[Section]:
    """The operators or subgraphs of each task that has any."""
    with_lists = [(n, task) for n, task in enumerate(tasks, start=1) if task.modified or task.failed]
    sections = [_task(number, task) for number, task in with_lists[:SHOWN_TASKS]]
    if rest := with_lists[SHOWN_TASKS:]:
        text = say(
            "{count} more tasks have changes or failures; check their files separately for details.", count=len(rest)
        )
        sections.append(Section("More tasks", [text]))
    return sections


class Gain(NamedTuple):
    """What two times say: the time saved, and both ways to put it as a share."""

    saved: Decimal
    speed_up: Decimal
    """`before/after - 1`"""
    time_saved: Decimal
    """`1 - after/before`"""


def gain(before: Decimal | None, after: Decimal | None) -> Gain | None:
    """The gain from one time to another; None where either is missing, not above 0 or of an absurd size."""
    if before is None or after is None or not (0 < before < _LARGEST and 0 < after < _LARGEST):
        return None
    return Gain(before - after, before / after - 1, 1 - after / before)


def _measured(modification: Modification) -> Gain | None:
    """The gain of a modification; None also where AOE filled it in."""
    return None if modification.unmeasured else gain(modification.before, modification.after)


_EXPLANATION = say(
    "Speed-up and time saved are recomputed from the two times; AOE's own figures are shown beside them (AOE "
    "calls a speed-up a reduction of time). The times are AOE's own measurements: only a new profile can confirm "
    "them. Gains of several tasks are not added up, because subgraphs and operators of one model overlap. Tasks "
    "that failed, are incomplete or invalid contribute no gain."
)
_REPOSITORY = say("AOE's own counts for its repository, which keeps the best implementation found for each case.")

_REPOSITORY_COLUMNS = (
    Column("number", "#", "integer"),
    Column("name", "Task"),
    *(Column(key, word, "integer") for key, (word, _) in COUNTS.items()),
    Column("file", "File"),
)

_CHANGES = {"add": "added", "update": "updated"}


@row
class _TaskRow:
    number: int = column("#", "integer")
    name: str = column("Task")
    kind: str = column("Tuned", "word")
    status: str = column("Status", "state")
    baseline_ms: Decimal | None = column("Model before", "ms")
    result_ms: Decimal | None = column("Model after", "ms")
    speed_up: Decimal | None = column("Speed-up (before/after - 1)", "gain")
    time_saved: Decimal | None = column("Time saved (1 - after/before)", "gain")
    claim: str | None = column("Claimed by AOE", "gain")
    added: int = column("Added", "integer")
    updated: int = column("Updated", "integer")
    failed: int = column("Failed", "integer")


def _outcome(result: TuningResult, *, invalid: bool) -> Outcome:
    if result.truncated or (result.has_segment and status_of(result.status) == "incomplete"):
        return "incomplete"
    if result.failed:
        return "failed"
    if not result.has_segment:
        return "nothing to tune"
    if invalid or result.ambiguous:
        return "invalid"
    return "successful" if result.complete else "unknown"


def _in_words(result: TuningResult, outcome: Outcome) -> str:
    if outcome == "failed":
        return say("failed" if result.has_segment else "failed: no subgraph written")
    if outcome == "nothing to tune":
        return say("nothing to tune")
    if outcome == "incomplete":
        return say("incomplete: the file is truncated" if result.truncated else "incomplete: interrupted")
    if outcome == "unknown":
        return say("unknown: no status" if result.status is None else "unknown: {status!r}", status=result.status)
    if outcome == "invalid":
        return say("invalid: see findings")
    return say("successful" if result.modifications else "successful: nothing better found")


def _row(number: int, task: TuningTask) -> _TaskRow:
    gained = gain(task.baseline_ms, task.result_ms)
    return row_from(
        _TaskRow,
        task,
        number=number,
        speed_up=None if gained is None else gained.speed_up,
        time_saved=None if gained is None else gained.time_saved,
        added=task.updates.get("add", 0),
        updated=task.updates.get("update", 0),
        failed=len(task.failed),
    )


def _counted(tasks: Sequence[TuningTask], unread: int) -> str:
    counts = Counter(task.outcome for task in tasks)
    said = join(
        ", ",
        (
            say("{number} {outcome}", number=counts[outcome], outcome=say(outcome))
            for outcome in OUTCOMES
            if counts[outcome]
        ),
    )
    parts = []
    if tasks:
        parts.append(count_of(len(tasks), "{number} tuning task: {said}.", "{number} tuning tasks: {said}.", said=said))
    if unread:
        parts.append(
            count_of(
                unread,
                "{number} result file without a task that can be read: see the findings.",
                "{number} result files without a task that can be read: see the findings.",
            )
        )
    return join(" ", parts)


def _task(number: int, task: TuningTask) -> Section:
    title = say("{number}. {name}", number=number, name=task.name)
    said = {"place": _place(task), "status": task.status}
    if task.tuning_time_s is None:
        sentences = [say("{place}: {status}.", **said)]
    else:
        sentences = [say("{place}: {status}; tuned for {seconds:,f} s.", seconds=task.tuning_time_s, **said)]
    rows = _modifications(task.largest)
    if task.modified:
        ways = (
            say("{number} {outcome}", number=count, outcome=say(_CHANGES[way]) if way in _CHANGES else way)
            for way, count in sorted(task.updates.items())
        )
        sentences.append(
            say(
                "{what} in the repository: {said}."
                if task.outcome == "successful"
                else "{what} in the repository: {said}; they do not count as a gain.",
                what=capital(say(task.kind)),
                said=join(", ", ways),
            )
        )
    if task.unmeasured:
        sentences.append(
            count_of(
                task.unmeasured,
                "{number} gain is unmeasured: AOE fills in a difference of exactly 1 us. It is not counted as a saving.",
                "{number} gains are unmeasured: AOE fills in a difference of exactly 1 us. They are not counted as savings.",
            )
        )
    if task.rest:
        sentences.append(
            say(
                ("The {shown} with the largest savings are listed; the other {rest} save {saved:,f} {unit} together."),
                shown=len(rows),
                rest=task.rest,
                saved=task.rest_saved,
                unit=task.largest[0].unit,
            )
        )
    failed = [say("failed: {name}", name=name) for name in task.failed[:SHOWN_MODIFICATIONS]]
    if rest := task.failed[SHOWN_MODIFICATIONS:]:
        failed.append(say("and {count} more that failed", count=len(rest)))
    return Section(title, sentences, Grid(telling_columns(_columns(task), rows), rows) if rows else None, lines=failed)


def _columns(task: TuningTask) -> tuple[Column, ...]:
    unit = task.largest[0].unit
    return (
        Column("name", "Operator" if task.kind == "operators" else "Subgraph (repo_key)"),
        Column("op_type", "Type"),
        Column("mode", "Mode"),
        Column("update_mode", "Change"),
        Column("before", "Before", unit),
        Column("after", "After", unit),
        Column("bars", "Before, after", "bars"),
        Column("saved", "Saved", unit),
        Column("speed_up", "Speed-up (before/after - 1)", "gain"),
        Column("time_saved", "Time saved (1 - after/before)", "gain"),
        Column("claim", "Claimed by AOE", "gain"),
        Column("remark", "Remark"),
    )


def _modifications(modifications: Sequence[Modification]) -> list[Cells]:
    longest = max((max(m.before, m.after) for m in modifications if m.before and m.after), default=Decimal(1))
    return [
        {
            "name": m.name,
            "op_type": list(m.op_type),
            "mode": m.mode,
            "update_mode": say(_CHANGES[m.update_mode]) if m.update_mode in _CHANGES else m.update_mode,
            "before": m.before,
            "after": m.after,
            "bars": (m.before / longest, m.after / longest) if m.before and m.after else None,
            **(gained._asdict() if (gained := _measured(m)) else dict.fromkeys(Gain._fields)),
            "claim": None if m.unmeasured else m.improvement,
            "remark": say("unmeasured") if m.unmeasured else None,
        }
        for m in modifications
    ]


def _by_saving(modification: Modification) -> tuple[bool, Decimal, str, str]:
    gained = _measured(modification)
    return gained is None, -gained.saved if gained else Decimal(0), modification.name, modification.pointer


def _place(task: TuningTask) -> str:
    return task.path if task.report_key is None else f"{task.path}, {task.report_key}"
