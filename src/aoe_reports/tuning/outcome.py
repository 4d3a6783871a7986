"""What came of a tuning job: each operator that was asked for, and whether the run as a whole went well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aoe_reports.findings import Finding, Severity
from aoe_reports.results import Modification, TuningResult, status_of
from aoe_reports.texts import join, say
from aoe_reports.tuning.codes import explain_code, is_failure
from aoe_reports.tuning.console import Console
from aoe_reports.tuning.plan import TENSORFLOW, Candidate, Plan, TuneOps
from aoe_reports.tuning.progress import gain_of

Status = Literal["improved", "already-banked", "not-better", "failed", "not-seen", "unclear"]

_VERSION = re.compile(r"v\d+\Z")
_TUNED_COPY = re.compile(r"_OPAT_\d+\Z")


def type_key(op_type: str) -> str:
    """An operator type for comparing: AOE writes lower case in some releases, and with or without a version."""
    return _VERSION.sub("", op_type.casefold())


@dataclass(frozen=True, slots=True)
class _Asked:
    """One thing that was asked for, with what the plan knows of it."""

    op_name: str | None
    op_type: str | None
    candidate: Candidate | None


def outcome_rows(
    plan: Plan, tune_ops: TuneOps | None, results: Sequence[TuningResult], *, ended: bool
) -> list[dict[str, Any]]:
    """One row an operator, type or subgraph: those that were asked for in the plan's order, then what else was changed.

    `status` is improved, already-banked, not-better, failed, not-seen or unclear: AOE names only what it changed and what
    failed, of the rest it tells counts. `ended`: whether tuning went on to its end. Times in us, gain as a fraction; of a task
    that was broken off none: what it changed is unclear until tuning comes to its end.
    """
    unproven = {id(m) for result in results if _is_unproven(result, ended=ended) for m in result.modifications}
    asked = _asked(plan, tune_ops)
    operators = [m for result in results if result.kind == "opat" for m in result.modifications]
    known = {a.op_name for a in asked if a.op_name} | {r.op_name for r in plan.rejected if r.op_name}
    failed = {_TUNED_COPY.sub("", name) for result in results for name in result.failed_operators}
    found = _matches(asked, operators, known)
    used = {id(m) for matches in found for m, _ in matches}
    bad = [_is_failed(a, failed, known) for a in asked]
    left = sum(1 for a, m, b in zip(asked, found, bad, strict=True) if a.op_name and not m and not b)
    by_type = any(a.op_name is None for a in asked)
    # A script may leave out that it is to tune a few operators only: then the counts are of others, too.
    exactly = plan.scenario in TENSORFLOW or bool(plan.job.command)
    certain = ended and not by_type and not (exactly and len(used) < len(operators))
    rest = _rest(results, left, certain=certain, exactly=exactly, ended=ended)
    rows: list[dict[str, Any]] = []
    for a, matches, is_bad in zip(asked, found, bad, strict=True):
        rows += [
            _row(a, "improved", modification, how) for modification, how in matches if id(modification) not in unproven
        ]
        rows += [
            _unproven_row(a, modification, ended=ended) for modification, _ in matches if id(modification) in unproven
        ]
        if is_bad:
            rows.append(_row(a, "failed", None, say("AOE names it among the operators whose tuning failed")))
        elif not matches:
            rows.append(_row(a, *_without_time(rest if a.op_name else _rest_of_type(ended=ended))))
    others = [m for m in operators if id(m) not in used]
    rows += [_unproven_row(None, m, ended=ended) for m in others if id(m) in unproven]
    proven = [m for m in others if id(m) not in unproven]
    return rows + _not_asked(asked, proven, failed, known) + _subgraphs(results, unproven, ended=ended)


def _is_unproven(result: TuningResult, *, ended: bool) -> bool:
    """Whether a task's numbers are not used: it was broken off (of subgraphs only the missing time of tuning tells)."""
    untimed = result.kind == "sgat" and result.has_segment and "tuning_time(s)" not in result.present
    return result.broken_off or (untimed and not ended)


def _unproven_row(a: _Asked | None, m: Modification, *, ended: bool) -> dict[str, Any]:
    """What a task changed that was broken off: in the bank, and without a number."""
    return {
        **_row(a, _after_break(ended=ended)[0], m, _after_break(ended=ended)[1], requested=a is not None),
        **_NO_TIMES,
    }


_NO_TIMES: dict[str, None] = {"before_us": None, "after_us": None, "gain": None}


def _after_break(*, ended: bool) -> tuple[Status, str]:
    if ended:
        return "improved", say(
            "by a task that was broken off: its numbers are not used, only a new profile tells the gain"
        )
    return "unclear", say("AOE changed it in the bank before tuning was broken off; its numbers are not used")


def _without_time(rest: tuple[Status, str]) -> tuple[Status, None, str]:
    return rest[0], None, rest[1]


def _not_asked(
    asked: Sequence[_Asked], others: Sequence[Modification], failed: set[str], known: set[str]
) -> list[dict[str, Any]]:
    """Rows of what was changed or failed though nobody asked for it by name."""
    reason = say("nobody asked for it by name")
    rows = [_row(None, "improved", m, reason, requested=False) for m in others]
    told = {a.op_name for a in asked} | {name for name in failed for a in asked if _is_failed(a, {name}, known)}
    named = [_Asked(name, None, None) for name in sorted(failed - told)]
    return rows + [_row(other, "failed", None, reason, requested=False) for other in named]


def _subgraphs(results: Sequence[TuningResult], unproven: set[int], *, ended: bool) -> list[dict[str, Any]]:
    found = [m for result in results if result.kind == "sgat" for m in result.modifications]
    status, reason = _after_break(ended=ended)
    broken = {"status": status, "reason": reason, **_NO_TIMES}
    return [{**_subgraph(m), **(broken if id(m) in unproven else {})} for m in found]


def _asked(plan: Plan, tune_ops: TuneOps | None) -> list[_Asked]:
    by_name: dict[str, Candidate] = {}
    by_type: dict[str, Candidate] = {}
    for candidate in plan.operators:
        if candidate.op_name:
            by_name.setdefault(candidate.op_name, candidate)
        elif candidate.op_type:
            by_type.setdefault(candidate.op_type, candidate)
    if tune_ops is None:
        return []
    asked = [_Asked(name, _type_of(by_name.get(name)), by_name.get(name)) for name in tune_ops.names]
    return asked + [_Asked(None, op_type, by_type.get(op_type)) for op_type in tune_ops.types]


def _type_of(candidate: Candidate | None) -> str | None:
    return candidate.op_type if candidate is not None else None


_Matches = list[tuple[Modification, str]]
"""(modification, how it was recognised) of everything that was changed of what was asked for."""


def _matches(asked: Sequence[_Asked], operators: Sequence[Modification], known: set[str]) -> list[_Matches]:
    """What was changed of each thing that was asked for; of a type what nobody asked for by name."""
    named = [_by_name(a, operators, known) if a.op_name is not None else [] for a in asked]
    used = {id(m) for matches in named for m, _ in matches}
    rest = [m for m in operators if id(m) not in used]
    return [_by_type(a, rest) if a.op_name is None else m for a, m in zip(asked, named, strict=True)]


def _by_type(a: _Asked, operators: Sequence[Modification]) -> _Matches:
    wanted = type_key(a.op_type or "")
    return [(m, say("by its type")) for m in operators if any(type_key(t) == wanted for t in m.op_type)]


def _by_name(a: _Asked, operators: Sequence[Modification], known: set[str]) -> _Matches:
    name = a.op_name or ""
    exact = [m for m in operators if name in {m.name, m.join_name}]
    if exact:
        differs = a.op_type is not None and all(type_key(t) != type_key(a.op_type) for t in exact[0].op_type)
        called = say("AOE calls its type {types}", types=join(", ", exact[0].op_type))
        return [(m, called if differs and exact[0].op_type else "") for m in exact]
    fused = [m for m in operators if is_part_of(name, m.join_name, known)]
    return [(m, say("tuned as a part of the fused operator {join_name}", join_name=m.join_name)) for m in fused]


def is_part_of(name: str, fused: str, known: set[str]) -> bool:
    """Whether a fused operator (its nodes' names one behind the other, nothing between) has a node of this name.

    Certain only where the rest is made of names that are known, or of names in the same scope (`a/Conv2D` + `a/Relu`):
    `conv1` is no part of `conv10`.
    """
    if not name or name == fused or name not in fused:
        return False
    scope = name.split("/", 1)[0] + "/" if "/" in name else None
    at = fused.find(name)
    while at >= 0:
        before, behind = fused[:at], fused[at + len(name) :]
        if _is_names(before, known, scope) and _is_names(behind, known, scope):
            return True
        at = fused.find(name, at + 1)
    return False


def _is_names(text: str, known: set[str], scope: str | None) -> bool:
    """Whether a text is a row of whole names: none, one that begins a scope, or known ones."""
    if not text or text in known:
        return True
    return scope is not None and text.startswith(scope)


def _is_failed(a: _Asked, failed: set[str], known: set[str]) -> bool:
    if a.op_name is None:
        return False
    return a.op_name in failed or any(is_part_of(a.op_name, name, known) for name in failed)


def _rest(
    results: Sequence[TuningResult], rest: int, *, certain: bool, exactly: bool, ended: bool
) -> tuple[Status, str]:
    """What became of `rest` operators that AOE names nowhere: it counts them only.

    `certain`: whether the counts are of them; `exactly`: whether they are only if there are just as many.
    """
    reserved = sum(result.summary.get("repo_reserved_num", 0) for result in results if result.kind == "opat")
    unsatisfied = sum(result.summary.get("repo_unsatisfied_num", 0) for result in results if result.kind == "opat")
    counts = say(
        "AOE names only what it changed; it counts {kept} kept and {unsatisfied} not improved, for {rest} left",
        kept=reserved,
        unsatisfied=unsatisfied,
        rest=rest,
    )
    if not ended and not reserved and not unsatisfied:
        return "not-seen", say("tuning ended before anything was said of it")
    if not reserved and not unsatisfied:
        return "not-seen", say("AOE neither changed it nor counted any operator that it left alone: not in its graph?")
    certain = certain and (reserved + unsatisfied == rest if exactly else reserved + unsatisfied >= rest)
    if certain and not unsatisfied:
        return "already-banked", say("{counts}: all were in a bank, and stay what they were", counts=counts)
    if certain and not reserved:
        return "not-better", say("{counts}: nothing faster was found", counts=counts)
    return "unclear", say("{counts}: which is which cannot be told", counts=counts)


def _rest_of_type(*, ended: bool) -> tuple[Status, str]:
    if not ended:
        return "not-seen", say("tuning ended before an operator of this type was changed")
    return (
        "unclear",
        say("no operator of this type was changed; whether they were banked or not better AOE does not tell by type"),
    )


def _row(
    a: _Asked | None, status: Status, m: Modification | None, reason: str, *, requested: bool = True
) -> dict[str, Any]:
    candidate = a.candidate if a is not None else None
    before = float(m.before) if m is not None and m.before is not None else None
    after = float(m.after) if m is not None and m.after is not None else None
    types = list(m.op_type) if m is not None else []
    return {
        "kind": "operator",
        "op_name": a.op_name if a is not None and a.op_name else m.join_name if m is not None else None,
        "op_type": a.op_type if a is not None and a.op_type else ", ".join(types) or None,
        "status": status,
        "mode": m.mode if m is not None else None,
        "before_us": before,
        "after_us": after,
        "gain": gain_of(m.before, m.after) if m is not None else None,
        "total_us": candidate.total_us if candidate is not None else None,
        "expected_saving_us": candidate.expected_saving_us if candidate is not None else None,
        "tuned_name": m.name if m is not None else None,
        "repo_key": None,
        "requested": requested,
        "reason": reason,
    }


def _subgraph(m: Modification) -> dict[str, Any]:
    row = _row(None, "improved", m, "")
    per_ms = 1000
    row |= {"kind": "subgraph", "op_name": None, "repo_key": m.name, "tuned_name": None}
    row |= {key: float(value * per_ms) if value is not None else None for key, value in _times(m).items()}
    return row


def _times(m: Modification) -> dict[str, Any]:
    return {"before_us": m.before, "after_us": m.after}


@dataclass(frozen=True, slots=True)
class TuneRule:
    """One rule on how a tuning run went: how bad, why, and where the fact comes from."""

    severity: Severity
    reason: str
    source: str = ""


_GUIDE = say("AOE guide: viewing the result")
TUNE_RULES: dict[str, TuneRule] = {
    "tune-no-finish-line": TuneRule("error", say("the console never said that tuning came to its end"), _GUIDE),
    "tune-error-code": TuneRule(
        "error", say("the console named an error code"), say("AOE errors (EG codes), API error codes")
    ),
    "tune-memory": TuneRule("warning", say("the console warned of too little memory (WG0000)"), say("AOE errors")),
    "tune-no-result": TuneRule("error", say("no result file of this run"), _GUIDE),
    "tune-bad-result": TuneRule("error", say("a result file of this run is cut off or not valid"), _GUIDE),
    "tune-incomplete": TuneRule("error", say("a result file says that a task was not tuned to its end"), _GUIDE),
    "tune-bank-not-tuned": TuneRule(
        "error", say("gradient tuning left no tuned bank"), say("the code that writes these banks")
    ),
    "tune-exit-code": TuneRule(
        "error", say("the command ended with an error (of aoe, whose exit codes are not documented: a warning)"), _GUIDE
    ),
    "tune-killed": TuneRule("error", say("a signal ended the process (not ours): a crash, or too little memory")),
    "tune-guardian-lost": TuneRule(
        "error", say("the process that watches over the command was killed; a daemon of the command may still run")
    ),
    "tune-timeout": TuneRule("error", say("it took longer than --timeout and was ended")),
    "tune-interrupted": TuneRule("error", say("it was told to end before it was through")),
    "tune-left-running": TuneRule("warning", say("processes went on after the command had ended, and were ended")),
    "tune-claim-mismatch": TuneRule("warning", say("the console's percentage is not the result file's"), _GUIDE),
    "tune-nothing-changed": TuneRule(
        "warning", say("tuning went well and changed nothing: there is nothing to measure")
    ),
    "tune-bank-unchanged": TuneRule("warning", say("the result tells of changes, and no file of the bank changed")),
    "tune-other-aoe": TuneRule(
        "warning", say("the job goes on with another aoe than it was begun with"), say("AOE reference: command line")
    ),
    "tune-other-chip": TuneRule(
        "warning",
        say("AOE wrote into the bank of another chip than the plan names"),
        say("AOE reference: environment variables"),
    ),
    "tune-not-ended": TuneRule(
        "warning", say("processes of the job could not be ended (of another user, or waiting for a device)")
    ),
    "tune-log-capped": TuneRule("info", say("the middle of a long console log was left out")),
    "tune-file-missing": TuneRule("warning", say("a file that the plan expects is not there")),
    "tune-ops-edited": TuneRule("warning", say("tune_ops.json asks for something else than plan.json")),
}
"""Rules of `tune`."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process of a stage ended."""

    exit_code: int | None
    signal: int | None
    because: Literal["exited", "timeout", "interrupted"]
    left_running: int = 0
    log_dropped_bytes: int = 0
    unended: tuple[str, ...] = ()
    """Processes that could not be ended: number and name of each."""
    guardian_lost: bool = False
    """Whether the process between us and the command was killed: then the command was ended."""


def judge_stage(
    path: str,
    console: Console,
    ended: Ended,
    results: Sequence[TuningResult],
    damaged: Sequence[str],
    *,
    gradients: bool | None = None,
) -> list[Finding]:
    """What is wrong with one stage's run; tuning went well if no error is among it.

    `damaged` are fresh result files with errors in them; `gradients` says of gradient tuning whether its bank is tuned.
    """
    return [
        finding_of(rule, path, text, severity)
        for rule, text, severity in _judged(console, ended, results, damaged, gradients)
    ]


def finding_of(rule: str, path: str, message: str, severity: Severity | None = None) -> Finding:
    """A finding of one of TUNE_RULES."""
    return Finding(severity or TUNE_RULES[rule].severity, rule, path, message)


_Judged = Iterator[tuple[str, str, Severity | None]]


def _judged(
    console: Console, ended: Ended, results: Sequence[TuningResult], damaged: Sequence[str], gradients: bool | None
) -> _Judged:
    yield from _end_judged(console, ended)
    for code, line in console.codes.items():
        rule = "tune-error-code" if is_failure(code) else "tune-memory"
        yield rule, say("{explained}; first in: {line}", explained=explain_code(code), line=line), None
    if gradients is None:
        yield from _results_judged(console, ended, results, damaged)
    elif not gradients:
        yield (
            "tune-bank-not-tuned",
            say("no bank <soc>_gradient_fusion.json with a tuned model is in the private bank"),
            None,
        )
    if ended.left_running:
        yield (
            "tune-left-running",
            say("{left_running} processes went on after it had ended, and were ended", left_running=ended.left_running),
            None,
        )
    if ended.unended:
        yield ("tune-not-ended", describe_unended(ended.unended), None)
    if ended.log_dropped_bytes:
        yield (
            "tune-log-capped",
            say(
                "{log_dropped_bytes} bytes in the middle of the log were left out",
                log_dropped_bytes=ended.log_dropped_bytes,
            ),
            None,
        )


def describe_unended(processes: Sequence[str]) -> str:
    """Which processes are still running, though they were killed."""
    return say("still running, and could not be ended: {processes}", processes=", ".join(processes))


def _end_judged(console: Console, ended: Ended) -> _Judged:
    if ended.because == "timeout":
        text = say("it took longer than --timeout; what is banked stays: `tune --resume` goes on")
        yield "tune-timeout", text, None
    elif ended.because == "interrupted":
        yield "tune-interrupted", say("told to end; what is banked stays: `tune --resume` goes on"), None
    elif ended.guardian_lost:
        text = say(
            "the process that watches over the command was killed, and all that is known of the command was ended"
        )
        yield "tune-guardian-lost", text, None
    elif ended.signal is not None:
        text = say(
            "signal {signal} ended it (where memory runs out the system does that: see preflight)"
            if ended.signal == _SIGKILL
            else "signal {signal} ended it",
            signal=ended.signal,
        )
        yield "tune-killed", text, None
    elif ended.exit_code:
        text = say("exit code {exit_code}", exit_code=ended.exit_code)
        yield "tune-exit-code", text, "warning" if console.runs == "aoe" else "error"


def _results_judged(console: Console, ended: Ended, results: Sequence[TuningResult], damaged: Sequence[str]) -> _Judged:
    if ended.because == "exited" and console.missing:
        yield "tune-no-finish-line", console.missing, None
    if not results and not damaged:
        yield "tune-no-result", say("no aoe_result_*.json appeared, neither in ASCEND_WORK_PATH nor where it ran"), None
    if ended.because == "exited" and results and not came_to_its_end(results):
        yield "tune-incomplete", say("a task is incomplete: `tune --resume` goes on"), None
    for name in damaged:
        yield "tune-bad-result", say("{name}: see what is said of it", name=name), None
    yield from _mismatches(console, results)


_SIGKILL = 9


def _mismatches(console: Console, results: Sequence[TuningResult]) -> _Judged:
    """Claims of the console that no task of a result file makes, too."""
    told = [
        (r.tuning_name, r.model_improvement)
        for r in results
        if r.model_improvement and _PERCENT.fullmatch(r.model_improvement)
    ]
    for claim in console.claims:
        named = [text for name, text in told if name == claim.name] or [text for _, text in told]
        if named and not any(claim.agrees(text) for text in named):
            text = say(
                "the console says {percent}% of {name}, the result file {others}",
                percent=claim.percent,
                name=claim.name or say("the model"),
                others=join(", ", named[:5]),
            )
            yield "tune-claim-mismatch", text, None


_PERCENT = re.compile(r"-?[0-9]{1,12}([.][0-9]{1,12})?%")


def came_to_its_end(results: Sequence[TuningResult]) -> bool:
    """Whether every task was tuned to its end, well or not."""
    return bool(results) and all(
        not r.truncated and (status_of(r.status) != "incomplete" if r.has_segment else True) for r in results
    )


def counts_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows there are of each status, in the order of their first."""
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    return counts
