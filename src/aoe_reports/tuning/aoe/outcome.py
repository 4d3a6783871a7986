"""What came of a tuning job: each operator that was asked for, and whether the run as a whole went well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from aoe_reports.formats.aoe.results import Modification, TuningResult, status_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join, say
from aoe_reports.tuning.aoe.bank import BankEvidence, BankState
from aoe_reports.tuning.aoe.console import Console, explain_code, is_failure
from aoe_reports.tuning.job.driver import OutcomeRow, Progress, Status
from aoe_reports.tuning.job.runner import Ended
from aoe_reports.tuning.names import type_key
from aoe_reports.tuning.plan.plan import TENSORFLOW, Candidate, Plan, TuneOps
from aoe_reports.tuning.rules import (
    TUNE_BAD_RESULT,
    TUNE_BANK_NOT_TUNED,
    TUNE_CLAIM_MISMATCH,
    TUNE_ERROR_CODE,
    TUNE_EXIT_CODE,
    TUNE_GUARDIAN_LOST,
    TUNE_INCOMPLETE,
    TUNE_INTERRUPTED,
    TUNE_KILLED,
    TUNE_LEFT_RUNNING,
    TUNE_LOG_CAPPED,
    TUNE_MEMORY,
    TUNE_NO_FINISH_LINE,
    TUNE_NO_RESULT,
    TUNE_NOT_ENDED,
    TUNE_TIMEOUT,
)

_TUNED_COPY = re.compile(r"_OPAT_\d+\Z")


@dataclass(frozen=True, slots=True)
class _Requested:
    op_name: str | None
    op_type: str | None
    candidate: Candidate | None


def outcome_rows(
    plan: Plan,
    tune_ops: TuneOps | None,
    results: Sequence[TuningResult],
    *,
    ended: bool,
    bank: BankEvidence | None = None,
) -> list[OutcomeRow]:
    """One row an operator, type or subgraph: those that were asked for in the plan's order, then what else was changed.

    `status` is improved, already-banked, not-better, failed, not-seen or unclear: AOE names only what it changed and what
    failed, of the rest it tells counts; where these leave it open, the job's bank may tell. `ended`: whether tuning went on to its end. Times in us, gain as a fraction; of a task
    that was broken off none: what it changed is unclear until tuning comes to its end.
    """
    case = _Reported(plan, _asked(plan, tune_ops), results, ended=ended)
    found = _matches(case.asked, case.operators, case.known)
    used = {id(m) for matches in found for m, _ in matches}
    others = [m for m in case.operators if id(m) not in used]
    rests = _rests(case, [not matches for matches in found], bank, all_used=not others)
    told = zip(case.asked, found, rests, strict=True)
    rows = [row for a, matches, rest in told for row in _rows_of(case, a, matches, rest)]
    rows += [_unproven_row(None, m, ended=ended) for m in others if id(m) in case.unproven]
    rows += _not_asked(case, [m for m in others if id(m) not in case.unproven])
    return [*rows, *_subgraphs(case)]


class _Reported:
    def __init__(self, plan: Plan, asked: list[_Requested], results: Sequence[TuningResult], *, ended: bool) -> None:
        self.asked, self.results, self.ended = asked, results, ended
        self.unproven = {id(m) for result in results if _is_unproven(result, ended=ended) for m in result.modifications}
        self.operators = [m for result in results if result.kind == "opat" for m in result.modifications]
        self.known = {a.op_name for a in asked if a.op_name} | {r.op_name for r in plan.rejected if r.op_name}
        self.failed = {_TUNED_COPY.sub("", name) for result in results for name in result.failed_operators}
        # A script may leave out that it is to tune a few operators only: then the counts are of others, too.
        self.exactly = plan.scenario in TENSORFLOW or bool(plan.job.command)

    @property
    def counted(self) -> tuple[int, int]:
        """How many operators AOE counts as kept, and as not improved."""
        reserved, unsatisfied = (
            sum(result.summary.get(f"repo_{name}_num", 0) for result in self.results if result.kind == "opat")
            for name in ("reserved", "unsatisfied")
        )
        return reserved, unsatisfied

    def is_failed(self, a: _Requested) -> bool:
        """Whether AOE names it, or an operator that it is a part of, as failed."""
        return _is_failed(a, self.failed, self.known)


def _rows_of(case: _Reported, a: _Requested, matches: _Matches, rest: tuple[Status, str]) -> Iterator[OutcomeRow]:
    for modification, how in matches:
        if id(modification) not in case.unproven:
            yield _row(a, "improved", modification, how)
    for modification, _ in matches:
        if id(modification) in case.unproven:
            yield _unproven_row(a, modification, ended=case.ended)
    if case.is_failed(a):
        yield _row(a, "failed", None, say("AOE lists it among the operators whose tuning failed"))
    elif not matches:
        status, reason = rest if a.op_name else _rest_of_type(ended=case.ended)
        yield _row(a, status, None, reason)


def _is_unproven(result: TuningResult, *, ended: bool) -> bool:
    """Whether a task was broken off, so that its numbers are not used. Of subgraphs only a missing tuning time shows it."""
    untimed = result.kind == "sgat" and result.has_segment and "tuning_time(s)" not in result.present
    return result.broken_off or (untimed and not ended)


def _unproven_row(a: _Requested | None, m: Modification, *, ended: bool) -> OutcomeRow:
    """The row of what a broken-off task changed: it is in the bank, and has no number."""
    return _row(a, "unclear", m, "", requested=a is not None).unproven(*_after_break(ended=ended))


def _after_break(*, ended: bool) -> tuple[Status, str]:
    if ended:
        return "improved", say("by an interrupted task: its numbers are not used, only a new profile can show the gain")
    return "unclear", say("AOE changed it in the bank before tuning was interrupted; its figures are not used")


def _not_asked(case: _Reported, others: Sequence[Modification]) -> list[OutcomeRow]:
    """Rows of what was changed or failed without being requested by name."""
    reason = say("not requested by name")
    rows = [_row(None, "improved", m, reason, requested=False) for m in others]
    told = {a.op_name for a in case.asked}
    told |= {name for name in case.failed for a in case.asked if _is_failed(a, {name}, case.known)}
    named = [_Requested(name, None, None) for name in sorted(case.failed - told)]
    return rows + [_row(other, "failed", None, reason, requested=False) for other in named]


def _subgraphs(case: _Reported) -> list[OutcomeRow]:
    found = [m for result in case.results if result.kind == "sgat" for m in result.modifications]
    broken = _after_break(ended=case.ended)
    return [_subgraph(m).unproven(*broken) if id(m) in case.unproven else _subgraph(m) for m in found]


def _asked(plan: Plan, tune_ops: TuneOps | None) -> list[_Requested]:
    by_name: dict[str, Candidate] = {}
    by_type: dict[str, Candidate] = {}
    for candidate in plan.operators:
        if candidate.op_name:
            by_name.setdefault(candidate.op_name, candidate)
        elif candidate.op_type:
            by_type.setdefault(candidate.op_type, candidate)
    if tune_ops is None:
        return []
    named = [(name, by_name.get(name)) for name in tune_ops.names]
    asked = [_Requested(name, None if candidate is None else candidate.op_type, candidate) for name, candidate in named]
    return asked + [_Requested(None, op_type, by_type.get(op_type)) for op_type in tune_ops.types]


_Matches = list[tuple[Modification, str]]
"""(modification, how it was recognised) of everything that was changed of what was asked for."""


def _matches(asked: Sequence[_Requested], operators: Sequence[Modification], known: set[str]) -> list[_Matches]:
    """The modifications of each requested operator; a requested type gets those that no name takes."""
    named = [_by_name(a, operators, known) if a.op_name is not None else [] for a in asked]
    used = {id(m) for matches in named for m, _ in matches}
    rest = [m for m in operators if id(m) not in used]
    return [_by_type(a, rest) if a.op_name is None else m for a, m in zip(asked, named, strict=True)]


def _by_type(a: _Requested, operators: Sequence[Modification]) -> _Matches:
    wanted = type_key(a.op_type or "")
    return [(m, say("matched by type")) for m in operators if any(type_key(t) == wanted for t in m.op_type)]


def _by_name(a: _Requested, operators: Sequence[Modification], known: set[str]) -> _Matches:
    name = a.op_name or ""
    exact = [m for m in operators if name in {m.name, m.join_name}]
    if exact:
        differs = a.op_type is not None and all(type_key(t) != type_key(a.op_type) for t in exact[0].op_type)
        called = say("AOE reports its type as {types}", types=join(", ", exact[0].op_type))
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
    """Whether a text consists of whole names: empty, known, or beginning with the scope."""
    if not text or text in known:
        return True
    return scope is not None and text.startswith(scope)


def _is_failed(a: _Requested, failed: set[str], known: set[str]) -> bool:
    if a.op_name is None:
        return False
    return a.op_name in failed or any(is_part_of(a.op_name, name, known) for name in failed)


def _rests(
    case: _Reported, unmatched: Sequence[bool], bank: BankEvidence | None, *, all_used: bool
) -> list[tuple[Status, str]]:
    """The outcome of each requested operator that AOE does not name: AOE only counts them, and the bank may show more.

    `all_used`: everything that was changed was requested.
    """
    left = [
        without and a.op_name is not None and not case.is_failed(a)
        for a, without in zip(case.asked, unmatched, strict=True)
    ]
    rest = _rest(case, sum(left), all_used=all_used)
    if rest[0] != "unclear" or bank is None or not case.ended:
        return [rest] * len(left)
    states = [
        bank.state_of(a.candidate) if is_left and a.candidate is not None else None
        for a, is_left in zip(case.asked, left, strict=True)
    ]
    reserved, unsatisfied = case.counted
    is_told = _is_certain(case, reserved + unsatisfied, sum(left), all_used=all_used) and "changed" not in states
    if is_told and states.count("kept") == reserved:  # whatever else is left can only be among the others
        message = say("the bank has the entries of all {kept} kept; nothing faster was found", kept=reserved)
        rest = ("not-better", message)
    return [_BY_BANK[state] if state else rest for state in states]


_BY_BANK: dict[BankState, tuple[Status, str]] = {
    "changed": (
        "improved",
        say("AOE does not list it, but this job added or changed the entry for its inputs in the bank"),
    ),
    "kept": ("already-banked", say("the bank had the entry for its inputs, and this job did not change it")),
}


def _rest(case: _Reported, rest: int, *, all_used: bool) -> tuple[Status, str]:
    """The outcome of that many operators by AOE's counts alone."""
    reserved, unsatisfied = case.counted
    if not reserved and not unsatisfied:
        if not case.ended:
            return "not-seen", say("tuning ended before anything about it was reported")
        return "not-seen", say(
            "AOE neither changed it nor counted any unchanged operator; it may not be in AOE's graph"
        )
    counts = say(
        "AOE lists only what it changed; for the remaining {rest}, it counts {kept} kept and {unsatisfied} not "
        "improved",
        kept=reserved,
        unsatisfied=unsatisfied,
        rest=rest,
    )
    if _is_certain(case, reserved + unsatisfied, rest, all_used=all_used):
        if not unsatisfied:
            return "already-banked", say("{counts}: all were already in a bank and are unchanged", counts=counts)
        if not reserved:
            return "not-better", say("{counts}: nothing faster was found", counts=counts)
    return "unclear", say("{counts}: these cannot be distinguished", counts=counts)


def _is_certain(case: _Reported, counted: int, rest: int, *, all_used: bool) -> bool:
    """Whether AOE's counts are exactly about the remaining operators."""
    if not case.ended or any(a.op_name is None for a in case.asked):
        return False
    return counted == rest and all_used if case.exactly else counted >= rest


def _rest_of_type(*, ended: bool) -> tuple[Status, str]:
    if not ended:
        return "not-seen", say("tuning ended before an operator of this type was changed")
    return (
        "unclear",
        say(
            "no operator of this type was changed; AOE does not report by type whether they were already in the "
            "bank or nothing better was found"
        ),
    )


def _row(
    a: _Requested | None, status: Status, m: Modification | None, reason: str, *, requested: bool = True
) -> OutcomeRow:
    asked = a or _Requested(None, None, None)
    row = OutcomeRow(
        op_name=asked.op_name or None, op_type=asked.op_type or None, status=status, requested=requested, reason=reason
    )
    if asked.candidate is not None:
        of_step = asked.candidate.expected_saving_us
        row = replace(row, total_us=asked.candidate.total_us, expected_saving_us=of_step)
    if m is None:
        return row
    return replace(
        row,
        op_name=row.op_name or m.join_name,
        op_type=row.op_type or ", ".join(m.op_type) or None,
        mode=m.mode,
        before_us=None if m.before is None else float(m.before),
        after_us=None if m.after is None else float(m.after),
        gain=None if m.unmeasured else gain_of(m.before, m.after),
        tuned_name=m.name,
        reason=join("; ", [text for text in (reason, _UNMEASURED if m.unmeasured else "") if text]),
    )


_UNMEASURED = say("unmeasured: AOE fills in a difference of exactly 1 where it measured no gain")


def _subgraph(m: Modification) -> OutcomeRow:
    per_ms = 1000
    return replace(
        _row(None, "improved", m, ""),
        kind="subgraph",
        op_name=None,
        repo_key=m.name,
        tuned_name=None,
        before_us=None if m.before is None else float(m.before * per_ms),
        after_us=None if m.after is None else float(m.after * per_ms),
    )


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
    findings = list(_end_judged(path, console, ended))
    for code, line in console.codes.items():
        rule = TUNE_ERROR_CODE if is_failure(code) else TUNE_MEMORY
        findings.append(rule.found(path, say("{explained}; first in: {line}", explained=explain_code(code), line=line)))
    if gradients is None:
        findings += _results_judged(path, console, ended, results, damaged)
    elif not gradients:
        findings.append(
            TUNE_BANK_NOT_TUNED.found(
                path, say("the private bank contains no <soc>_gradient_fusion.json with a tuned model")
            )
        )
    if ended.left_running:
        findings.append(
            TUNE_LEFT_RUNNING.found(
                path,
                say(
                    "{left_running} processes were still running after it had ended, and were terminated",
                    left_running=ended.left_running,
                ),
            )
        )
    if ended.unended:
        findings.append(TUNE_NOT_ENDED.found(path, ended.describe_unended()))
    if ended.log_dropped_bytes:
        findings.append(
            TUNE_LOG_CAPPED.found(
                path,
                say(
                    "{log_dropped_bytes} bytes in the middle of the log were left out",
                    log_dropped_bytes=ended.log_dropped_bytes,
                ),
            )
        )
    return findings


def _end_judged(path: str, console: Console, ended: Ended) -> Iterator[Finding]:
    if ended.because == "timeout":
        text = say(
            "it took longer than --timeout; entries that are in the bank are kept: `tune run --resume` continues"
        )
        yield TUNE_TIMEOUT.found(path, text)
    elif ended.because == "interrupted":
        yield TUNE_INTERRUPTED.found(
            path, say("received a signal to end; what is in the bank is kept: continue with `tune run --resume`")
        )
    elif ended.guardian_lost:
        text = say(
            "the process that monitors the command was killed, and all known processes of the command were terminated"
        )
        yield TUNE_GUARDIAN_LOST.found(path, text)
    elif ended.signal is not None:
        text = say(
            "terminated by signal {signal} (the system does this when memory runs out: see preflight)"
            if ended.signal == _SIGKILL
            else "terminated by signal {signal}",
            signal=ended.signal,
        )
        yield TUNE_KILLED.found(path, text)
    elif ended.exit_code:
        text = say("exit code {exit_code}", exit_code=ended.exit_code)
        yield TUNE_EXIT_CODE.found(path, text, severity="warning" if console.runs == "tuner" else "error")


def _results_judged(
    path: str, console: Console, ended: Ended, results: Sequence[TuningResult], damaged: Sequence[str]
) -> Iterator[Finding]:
    if ended.because == "exited" and console.missing:
        yield TUNE_NO_FINISH_LINE.found(path, console.missing)
    if not results and not damaged:
        yield TUNE_NO_RESULT.found(
            path, say("no aoe_result_*.json was created, neither in ASCEND_WORK_PATH nor in the working folder")
        )
    if ended.because == "exited" and results and not came_to_its_end(results):
        yield TUNE_INCOMPLETE.found(path, say("a task is incomplete: `tune run --resume` continues it"))
    for name in damaged:
        yield TUNE_BAD_RESULT.found(path, say("{name}: see its findings", name=name))
    yield from _mismatches(path, console, results)


_SIGKILL = 9


def _mismatches(path: str, console: Console, results: Sequence[TuningResult]) -> Iterator[Finding]:
    """Claims of the console that no result file repeats."""
    told = [
        (r.tuning_name, r.model_improvement)
        for r in results
        if r.model_improvement and _PERCENT.fullmatch(r.model_improvement)
    ]
    for claim in console.claims:
        named = [text for name, text in told if name == claim.name] or [text for _, text in told]
        if named and not any(claim.agrees(text) for text in named):
            text = say(
                "the console reports {percent}% for {name}, the result file {others}",
                percent=claim.percent,
                name=claim.name or say("the model"),
                others=join(", ", named[:5]),
            )
            yield TUNE_CLAIM_MISMATCH.found(path, text)


_PERCENT = re.compile(r"-?[0-9]{1,12}([.][0-9]{1,12})?%")


def came_to_its_end(results: Sequence[TuningResult]) -> bool:
    """Whether every task was tuned to its end, well or not."""
    return bool(results) and all(
        not r.truncated and (status_of(r.status) != "incomplete" if r.has_segment else True) for r in results
    )


def progress_of(results: Sequence[TuningResult], asked: int | None) -> Progress:
    """The progress that the tasks of all result files of a run tell."""
    improved = {m.join_name for result in results for m in result.modifications}
    failed = {name for result in results for name in result.failed_operators}
    counted = sum(
        result.summary.get(key, 0)
        for result in results
        for key in ("repo_add_num", "repo_update_num", "repo_reserved_num", "repo_unsatisfied_num")
    )
    gains = [
        gain
        for result in results
        for m in result.modifications
        if not m.unmeasured and (gain := gain_of(m.before, m.after)) is not None
    ]
    what = "subgraphs" if results and all(result.kind == "sgat" for result in results) else "operators"
    done = max(len(improved | failed), counted)
    final = not any(result.broken_off for result in results)
    return Progress(
        done=done,
        asked=asked,
        improved=len(improved),
        failed=len(failed),
        best_gain=max(gains, default=None),
        what=what,
        final=final,
    )


def gain_of(before: Decimal | None, after: Decimal | None) -> float | None:
    """before/after - 1, the way AOE counts improvement; null where a time is missing or not above 0."""
    if before is None or after is None or before <= 0 or after <= 0:
        return None
    return float(before / after - 1)
