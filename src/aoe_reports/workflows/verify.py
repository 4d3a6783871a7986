"""Verifies a tuning job: AOE's claims against two profiles, the page that tells the whole story, the verdict for `adopt`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from aoe_reports.analysis.tasks import TaskSet
from aoe_reports.checks.results import check_result_file
from aoe_reports.columns import has_value, integers
from aoe_reports.errors import ReadError, UsageError
from aoe_reports.findings import FAILED_TUNING, Finding, Severity, has, reasons_of
from aoe_reports.findings import in_order as findings_in_order
from aoe_reports.readers.discovery import result_files
from aoe_reports.readers.results import read_results
from aoe_reports.records.record import canonical_json
from aoe_reports.renderers import RENDERERS
from aoe_reports.reports.language import report_in
from aoe_reports.reports.report import Report
from aoe_reports.reports.verified import verified_report
from aoe_reports.results import TuningResult
from aoe_reports.store import History
from aoe_reports.store.layout import month_of, table_of
from aoe_reports.texts import Language, join, say
from aoe_reports.timestamps import night_of
from aoe_reports.tuning.bank import difference, digest_of
from aoe_reports.tuning.command import BANK, to_json
from aoe_reports.tuning.plan import Plan, document_of_plan
from aoe_reports.tuning.verdicts import (
    KEYS,
    LARGE_DRIFT,
    LEAST_CONTROLS,
    SAME_WORKLOAD_SHARE,
    Claim,
    Claims,
    MeasuredSide,
    Row,
    Verified,
    is_same_work,
    same_workload_share,
    side_of_tasks,
    verify_claims,
)
from aoe_reports.tuning.verification import (
    PASSED,
    VERIFY_RULES,
    Verdict,
    Verification,
    document_of_verification,
    says_the_same,
    verification_of_document,
)
from aoe_reports.workflows.banks import list_bank
from aoe_reports.workflows.compare import ComparedRun, CompareOptions, may_be_compared
from aoe_reports.workflows.load import EPOCH_FROM_NS
from aoe_reports.workflows.measured import MeasuredDevice, captures_of_run, digest_of_captures, read_devices
from aoe_reports.workflows.origin import origin_of
from aoe_reports.workflows.output import write_whole
from aoe_reports.workflows.plan_folder import (
    VERIFY,
    keep_verification,
    locked,
    next_kept_name,
    read_listing,
    read_outcome,
    read_plan,
    read_state,
    read_verify_document,
)
from aoe_reports.workflows.tune import BANK_BEFORE, RUNS

Accept = Literal["confirmed", "partly", "step", "all"]

ACCEPT: dict[Accept, str] = {
    "confirmed": say("the verdict on the whole is a gain, and something was confirmed"),
    "partly": say("the verdict on the whole is a gain, at least in part"),
    "step": say("the step itself is confirmed to be faster"),
    "all": say("the verdict on the whole is a gain, and every operator that AOE claims was confirmed"),
}
"""What a job has to show to pass."""

REPORTS = {"verify.md": "markdown", "verify.html": "html"}
_COLUMNS = frozenset(
    {*KEYS, "task_type", "step", "iteration", "task_start_ns", "task_duration_ns", "block_num", "device_id"}
)


@dataclass(frozen=True, slots=True)
class VerifyWish:
    """What is asked of `verify`."""

    before: Path | None
    """None: the profile that the plan was made from."""
    after: Path
    results: tuple[Path, ...] = ()
    accept: Accept = "confirmed"
    store: str | None = None
    workload: str | None = None
    rank: int | None = None
    device: int | None = None
    force: bool = False
    strict: bool = False
    max_expanded: int | None = None
    language: Language = "en"
    """Of the pages in the plan's folder."""


@dataclass(slots=True)
class VerifyOutcome:
    """The rows, the report, what was found, why the exit code is not 0, and the facts around it."""

    rows: list[dict[str, Any]]
    report: Report | None
    findings: list[Finding]
    reasons: list[str]
    unreadable: bool
    more: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Profile:
    """One of the two profiles."""

    path: Path
    device: MeasuredDevice
    side: MeasuredSide
    digest: str
    first_ns: int | None


def verify(folder: Path, wish: VerifyWish) -> VerifyOutcome:
    """Hold what AOE claims in a plan's folder against two profiles; verify.json and the reports are left in it.

    Where something cannot be read nothing is written, and what measured nothing never takes the place of a sound verdict; another
    sound one does, and the former one is kept as verify-NNN.json.
    """
    plan = read_plan(folder)
    read_state(folder)
    with locked(folder):
        return _verify(folder, plan, wish)


def _verify(folder: Path, plan: Plan, wish: VerifyWish) -> VerifyOutcome:
    findings: list[Finding] = []
    claims, unreadable = _claims(folder, plan, wish.results, findings)
    before_path = wish.before or _planned_profile(plan)
    before, missing = _read_profile(before_path, None, wish, findings)
    rank = before.device.tasks.rank_id if before is not None else wish.rank
    after, missing_after = _read_profile(wish.after, (rank,), wish, findings)
    unreadable |= missing or missing_after
    if before is None or after is None or unreadable:
        found = findings_in_order(findings)
        return VerifyOutcome([], None, found, reasons_of(found, strict=wish.strict) or ["damage"], True, {})
    digest = digest_of(list_bank(folder / BANK)) if (folder / BANK).is_dir() else None
    comparable = _comparable(plan, before, after, wish, findings)
    verified = verify_claims(claims, before.side, after.side) if comparable else None
    if verified is not None:
        verified = replace(verified, signs=_signs(folder, verified))
        findings += _remarks(folder, before, after, verified, digest)
    return _closed(folder, plan, wish, claims, before, after, verified, digest, findings)


def _planned_profile(plan: Plan) -> Path:
    if plan.profile is None:
        raise UsageError(say("verify: the plan names no profile; expected --before PROFILE"))
    return Path(plan.profile)


# What AOE claims


def _claims(folder: Path, plan: Plan, given: Sequence[Path], findings: list[Finding]) -> tuple[Claims, bool]:
    """(what the results of a job claim, whether one of them could not be read)."""
    results, unreadable = _read_claims(folder, given, findings)
    last: dict[str, Claim] = {}
    unproven: dict[str, None] = {}
    for result in results:
        of_result: dict[str, Claim] = {}
        if result.broken_off:
            unproven |= dict.fromkeys(m.join_name for m in result.modifications if result.kind == "opat")
            continue
        for modification in result.modifications if result.kind == "opat" else ():
            before, after = modification.before, modification.after
            if before is None or after is None or before <= 0 or after <= 0:
                continue  # said by the rules on results
            claim = Claim(modification.join_name, modification.op_type, float(before), float(after))
            best = of_result.get(claim.op_name)
            if best is None or claim.change < best.change:  # of several tuning modes the one that brought most
                of_result[claim.op_name] = claim
        last |= of_result  # a later task has the last word
    times = _model_times(results)
    whole = tuple(c.op_type for c in plan.operators if c.op_type and not c.op_name)
    subgraphs = sum(len(result.modifications) for result in results if result.kind == "sgat")
    claims = Claims(
        tuple(last[name] for name in sorted(last)),
        whole,
        times,
        subgraphs,
        tuple(name for name in unproven if name not in last),
    )
    if not claims.operators and not subgraphs and not has(findings, "error"):
        text = say("no result of AOE here claims a change; verdicts are by the clock alone")
        findings.append(_finding("verify-nothing-claimed", str(folder), text))
    return claims, unreadable


def _model_times(results: Sequence[TuningResult]) -> tuple[float, float] | None:
    """What the last task says of the model, in us; None where tasks are of several models: the step may be any one's."""
    told = [r for r in results if r.model_baseline_ms and r.model_result_ms and not r.broken_off]
    if not told or len({result.tuning_name for result in told}) > 1:
        return None
    before, after = told[-1].model_baseline_ms, told[-1].model_result_ms
    return (float(before) * 1000, float(after) * 1000) if before and after else None


def _read_claims(folder: Path, given: Sequence[Path], findings: list[Finding]) -> tuple[list[TuningResult], bool]:
    """The tasks of a job's results in the order in which they were tuned, of damaged ones none."""
    unreadable = False
    files: list[Path] = []
    for path in given:
        if not path.exists():
            unreadable = True
            findings.append(Finding("error", "unreadable", str(path), say("no such file or folder")))
        files += sorted((found for found, _ in result_files([path])), key=lambda found: (found.name, str(found)))
    if not given:
        places = sorted((folder / RUNS).iterdir(), key=_in_turn) if (folder / RUNS).is_dir() else []
        ours = [(path, name) for place in places if place.is_dir() for path, name in result_files([place])]
        files = [path for path, _ in ours if path.parent in places]
    results = []
    for path in files:
        try:
            file = read_results(path)
        except ReadError as error:
            unreadable = True
            findings.append(Finding("error", "unreadable", str(path), join("; ", (error.what, error.expected))))
            continue
        found = check_result_file(file)
        findings += found
        if not any(f.severity == "error" and f.rule not in FAILED_TUNING for f in found):
            results += [result for result in file.results if not result.ambiguous]
    return results, unreadable


def _in_turn(place: Path) -> tuple[list[tuple[int, str]], str]:
    """The order of runs: the tenth by hand is behind the second."""
    parts = re.split(r"([0-9]+)", place.name)
    return [(int(part), "") if number % 2 else (0, part) for number, part in enumerate(parts)], place.name


# What the clock says


def _read_profile(
    path: Path, ranks: tuple[int | None] | None, wish: VerifyWish, findings: list[Finding]
) -> tuple[_Profile | None, bool]:
    """(the device of a profile that is compared, whether something could not be read)."""
    captures, unreadable = captures_of_run(path, wish.max_expanded, findings)
    best: tuple[tuple[Any, ...], MeasuredDevice] | None = None
    devices = 0
    try:
        for one in read_devices(captures, _COLUMNS, findings, rank=wish.rank, device=wish.device):
            devices += 1
            mine = ranks is None or one.tasks.rank_id in ranks
            order = (not mine, -(one.shares.step_us or 0.0), *(-1 if n is None else n for n in _whose(one.tasks)))
            if best is None or order < best[0]:
                best = (order, one)
    except (ReadError, OSError) as error:
        findings.append(Finding("error", "unreadable", str(path), str(error)))
        return None, True
    if best is None:
        if not unreadable and not has(findings, "error"):
            findings.append(Finding("error", "nothing-measured", str(path), say("no tasks here to compare")))
        return None, True
    device = best[1]
    if devices > 1 and ranks is None:
        rank, number = _whose(device.tasks)
        text = say(
            "rank {rank}, device {number}: the longest step of {devices} devices (--rank, --device choose another)",
            rank=rank,
            number=number,
            devices=devices,
        )
        findings.append(_finding("verify-device", str(path), text))
    frame = device.tasks.frame
    first = None
    if has_value(frame, "task_start_ns"):
        starts, there = integers(frame["task_start_ns"])
        first = int(starts[there].min())
    side = side_of_tasks(frame, device.own_steps, device.shares)
    light = replace(device, tasks=replace(device.tasks, frame=side.frame))
    return _Profile(path, light, side, digest_of_captures(captures), first), unreadable


def _whose(tasks: TaskSet) -> tuple[int | None, int | None]:
    return tasks.rank_id, tasks.device_id


def _comparable(plan: Plan, before: _Profile, after: _Profile, wish: VerifyWish, findings: list[Finding]) -> bool:
    """Whether the two profiles may be compared; what speaks against it is found."""
    if before.digest == after.digest:
        text = say("the same content as {path}: nothing was measured again", path=before.path)
        findings.append(_finding("verify-same-profile", str(after.path), text))
        return False
    if plan.baseline_hash == after.digest or _was_taken_first(after, before):
        text = say("it was taken before {path}", path=before.path)
        if plan.baseline_hash == after.digest:
            text = say("it is the profile that the plan was made from, taken before anything was tuned")
        severity: Severity = "warning" if wish.force else "error"
        findings.append(_finding("verify-order", str(after.path), text, severity))
        if not wish.force:
            return False
    runs = [
        ComparedRun(
            str(one.path), (one.device.capture,), [one.device.tasks], list(one.device.own_steps), one.device.metrics
        )
        for one in (before, after)
    ]
    fits = may_be_compared(
        runs[0], runs[1], CompareOptions("shape", force=wish.force), findings, leave_out={"number of steps"}
    )
    least = SAME_WORKLOAD_SHARE if plan.mode == "opat" else 0.0
    share = same_workload_share(before.side, after.side)
    if fits and (share < least or not share):
        text = say(
            "operators that take {share:.1%} of the time before are in it with the same names and shapes; "
            "another model?",
            share=share,
        )
        severity = "warning" if wish.force else "error"
        findings.append(_finding("verify-other-workload", str(after.path), text, severity))
        return wish.force
    return fits


def _was_taken_first(one: _Profile, other: _Profile) -> bool:
    """Whether one profile is certainly the older one; clocks that count from a start-up tell nothing."""
    times = (one.first_ns, other.first_ns)
    if any(time is None or time < EPOCH_FROM_NS for time in times):
        return False
    return (one.first_ns or 0) < (other.first_ns or 0)


def _remarks(folder: Path, before: _Profile, after: _Profile, verified: Verified, digest: str | None) -> list[Finding]:
    """What whoever relies on the verdict has to know."""
    found = []
    plan, where = read_plan(folder), str(after.path)
    if plan.baseline_hash not in {None, before.digest}:
        text = say("not the profile that the plan was made from (its content is another one)")
        found.append(_finding("verify-other-baseline", str(before.path), text))
    if before.side.blocks != after.side.blocks:
        text = say("{before} steps before, {after} after", before=before.side.blocks, after=after.side.blocks)
        found.append(_finding("verify-steps-differ", where, text))
    if not is_same_work(verified.work_ratio):
        text = say(
            "a step holds {work_ratio:.3g} times the calls of one before; does the export tell steps?",
            work_ratio=verified.work_ratio,
        )
        found.append(_finding("verify-other-step", where, text))
    if verified.claims_differ:
        model, operators = (one.change for one in verified.step_claims)
        text = say(
            "AOE claims two things of a step: by its times of the model {model:+.2%}, by those of its operators {operators:+.2%} "
            "(after/before - 1); the step is judged by the model's",
            model=model,
            operators=operators,
        )
        found.append(_finding("verify-claims-differ", where, text))
    noise = verified.noise
    if noise.drift is None:
        text = say(
            "{controls} untouched operators in both profiles; {least} tell how far captures are apart",
            controls=noise.controls,
            least=LEAST_CONTROLS,
        )
        found.append(_finding("verify-noise-unknown", where, text))
    elif abs(noise.drift) > LARGE_DRIFT:
        text = say(
            "{controls} untouched operators take {drift:+.1%}: clock, load or temperature were others",
            controls=noise.controls,
            drift=noise.drift,
        )
        found.append(_finding("verify-drift", where, text))
    found += [_finding("verify-bank-not-used", where, sign) for sign in verified.signs]
    for row in verified.rows:
        if row.scope == "operator" and row.change is None:
            shapes = row.input_shapes or say("shapes unknown")
            text = say("{name} ({shapes}): {reason}", name=row.op_name, shapes=shapes, reason=row.reason)
            found.append(_finding("verify-operator-changed", where, text))
    left = read_outcome(folder).get("bank")
    told = left.get("digest") if isinstance(left, dict) else None
    if told is not None and digest is not None and told != digest:
        text = say("its content is not what `tune` left: which bank was measured is not certain")
        found.append(_finding("verify-bank-changed", str(folder / BANK), text))
    return found


def _signs(folder: Path, verified: Verified) -> tuple[str, ...]:
    """The signs that the profiles show, and what the bank itself shows beside them."""
    if not (verified.signs and (folder / BANK_BEFORE).exists() and (folder / BANK).is_dir()):
        return verified.signs
    if difference(read_listing(folder / BANK_BEFORE), list_bank(folder / BANK)):
        return verified.signs
    return (*verified.signs, say("no file of the private bank is another one than before tuning"))


# What comes of it


def _closed(
    folder: Path,
    plan: Plan,
    wish: VerifyWish,
    claims: Claims,
    before: _Profile,
    after: _Profile,
    verified: Verified | None,
    digest: str | None,
    findings: list[Finding],
) -> VerifyOutcome:
    accepted = verified is not None and is_accepted(verified.verdict, verified.rows, wish.accept)
    verdict = verified.verdict if verified is not None else "not-comparable"
    rows = [] if verified is None else [row.as_dict() for row in verified.rows]
    verification = Verification(verdict, digest, before.digest, _damaged(findings), str(after.path))
    evidence = {**document_of_verification(verification), "after_hash": after.digest, "rows": rows}
    replaces = _replaces(folder, verification, evidence, findings)
    found = findings_in_order(findings)
    reasons = reasons_of(found, strict=wish.strict)
    if verified is None:
        reasons = [*dict.fromkeys([*(r for r in reasons if r != "damage" or _damaged(found)), "not-comparable"])]
    elif not accepted:
        reasons = [*reasons, "verification"]
    more: dict[str, Any] = {
        "verdict": verdict,
        "verdict_is_about": None if verified is None else _subject(verified.subject),
        "accepted": accepted,
        "accept": wish.accept,
        "rule": ACCEPT[wish.accept],
        "before": str(before.path),
        "after": str(after.path),
        "rank_id": before.device.tasks.rank_id,
        "noise": _noise(verified),
        "reconciliation": None
        if verified is None or verified.reconciliation is None
        else verified.reconciliation.as_dict(),
        "step_claims": [] if verified is None else [one.as_dict() for one in verified.step_claims],
        "signs": [] if verified is None else list(verified.signs),
        "same_operators_share": None
        if verified is None or verified.same_share is None
        else round(verified.same_share, 6),
        "method": {} if verified is None else dict(verified.facts),
        "stored": 0,
    }
    report = verified_report(document_of_plan(plan), _claims_of(claims), read_outcome(folder), rows, more, found)
    if wish.store is not None and verified is not None:
        more["stored"] = _store(wish, plan, after, rows, more, digest)
    more["kept_as"] = keep_verification(folder) if replaces == "another" else None
    if replaces != "nothing":
        document = {**document_of_verification(verification), **more, "after_hash": after.digest, "rows": rows}
        write_whole(folder / VERIFY, to_json({name: value for name, value in document.items() if name != "kept_as"}))
        for name, form in REPORTS.items():
            write_whole(folder / name, RENDERERS[form](report_in(report, wish.language)))
    return VerifyOutcome(rows, report, found, reasons, False, more)


def _replaces(
    folder: Path, verification: Verification, evidence: Mapping[str, Any], findings: list[Finding]
) -> Literal["nothing", "same", "another"]:
    """What a new verdict takes the place of: nothing may (a sound one stays), the same or none, or another, which is kept."""
    where, name = str(folder / VERIFY), next_kept_name(folder)
    try:
        document = read_verify_document(folder)
    except ReadError as error:
        text = say("the verdict before cannot be read ({why}); it is kept as {name}", why=error.what, name=name)
        findings.append(_finding("verify-replaced", where, text))
        return "another"
    if document is None or says_the_same(document, evidence):
        return "same"
    former = verification_of_document(document)
    said = {"verdict": say(former.verdict), "after": former.after or say("a profile that it does not name")}
    if former.sound and not verification.sound:
        text = say("verify.json is unchanged ({verdict}, by {after}): this run measured nothing usable", **said)
        findings.append(_finding("verify-kept", where, text))
        return "nothing"
    severity: Severity = "warning" if former.passed and not verification.passed else "info"
    text = say("the verdict before ({verdict}, by {after}) is kept as {name}", name=name, **said)
    findings.append(_finding("verify-replaced", where, text, severity))
    return "another"


_REFUSALS = frozenset(
    {"verify-same-profile", "verify-order", "verify-other-workload", "not-comparable", "comparability-unknown"}
)


def _damaged(findings: Sequence[Finding]) -> bool:
    """Whether any error is about something damaged, and not about what cannot be compared."""
    return any(f.severity == "error" and f.rule not in _REFUSALS | FAILED_TUNING for f in findings)


def is_accepted(verdict: Verdict, rows: Sequence[Row], accept: Accept) -> bool:
    """Whether the verdict on the whole and the rows pass a rule of ACCEPT."""
    step = next(row for row in rows if row.scope == "step")
    verdicts = {row.verdict for row in rows}
    operators = [row for row in rows if row.scope == "operator"]
    if accept == "step":
        return step.verdict == "confirmed"
    if verdict not in PASSED:  # what `adopt` refuses passes no rule, whatever a single row says
        return False
    if accept == "all":
        return bool(operators) and all(row.verdict == "confirmed" for row in operators)
    return bool(verdicts & ({"confirmed", "partly"} if accept == "partly" else {"confirmed"}))


def _subject(row: Row) -> dict[str, Any]:
    """What the verdict on the whole is about: the step, or the tuned operators as one."""
    return {**row.as_dict(), "scope": "step" if row.scope == "step" else "operators"}


def _noise(verified: Verified | None) -> dict[str, Any] | None:
    if verified is None:
        return None
    noise = verified.noise
    return {
        "controls": noise.controls,
        "drift": None if noise.drift is None else round(noise.drift, 6),
        "spread": None if noise.spread is None else round(noise.spread, 6),
    }


def _claims_of(claims: Claims) -> Mapping[str, Any]:
    """The claims as the report takes them."""
    operators = [
        {
            "op_name": claim.op_name,
            "op_type": ", ".join(claim.op_types),
            "before_us": claim.before_us,
            "after_us": claim.after_us,
            "speed_up": claim.before_us / claim.after_us - 1,
            "saved": -claim.change,
        }
        for claim in claims.operators
    ]
    return {
        "operators": operators,
        "model_us": claims.model_us,
        "subgraphs": claims.subgraphs,
        "unproven": list(claims.unproven),
    }


def _store(
    wish: VerifyWish,
    plan: Plan,
    after: _Profile,
    rows: Sequence[Mapping[str, Any]],
    more: Mapping[str, Any],
    bank: str | None,
) -> int:
    """Put the verdicts into the store; the same ones once."""
    assert wish.store is not None
    time_ns = after.first_ns if after.first_ns is not None and after.first_ns >= EPOCH_FROM_NS else None
    time_ns = time_ns if time_ns is not None else after.device.capture.info.start_ns or after.device.capture.modified_ns
    facts = (plan.baseline_hash, after.digest, bank)
    run_id = "verify-" + hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    common = {
        "kind": "verdict",
        "month": month_of(time_ns),
        "run_id": run_id,
        "timestamp_ns": time_ns,
        "night": night_of(time_ns),
        "model": wish.workload or "unknown",
        "hardware": plan.soc,
        "engine_version": plan.engine_version,
        "content_hash": after.digest,
        "rank_id": more["rank_id"],
    }
    stored = [
        {
            **common,
            "scope": row["scope"],
            "op_type": row["op_type"],
            "op_name": row["op_name"],
            "subject": " ".join(
                str(row[name]) for name in ("scope", "op_type", "op_name", "input_shapes") if row[name]
            ),
            "state": row["verdict"],
            "body": canonical_json({**row, "bank_digest": bank, "verdict_of_job": more["verdict"]}),
        }
        for row in rows
    ]
    return History.open(wish.store, create=True, origin=origin_of("verify")).add_extra(table_of(stored))


def _finding(rule: str, path: str, message: str, severity: Severity | None = None) -> Finding:
    return Finding(severity or VERIFY_RULES[rule][0], rule, path, message)
