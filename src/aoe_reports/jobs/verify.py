"""Verifies a tuning job: its tuner's claims against two profiles, the page, the verdict for `tune adopt`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from aoe_reports.engine.output import write_whole
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.formats.rules import UNREADABLE
from aoe_reports.formats.sources.discovery import why_not_read
from aoe_reports.formats.tuner_files import TUNERS
from aoe_reports.history.origin import origin_of
from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.jobs.sign_off import Evidence, claim_files, files_in, sign_off
from aoe_reports.jobs.verified_report import Page, next_steps, verified_report
from aoe_reports.jobs.verify_answer import (
    facts_of,
    highlight,
    is_damaged,
    reasons_for,
    remarks_on_claims,
    remarks_on_noise,
    unaccepted,
)
from aoe_reports.jobs.verify_case import Case, Pair, are_comparable, read_pair, sides_of
from aoe_reports.jobs.verify_use import read_use, remarks_on_use, with_reasons
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding, Severity, has, reasons_of
from aoe_reports.model.findings import in_order as findings_in_order
from aoe_reports.model.rows import Rows, as_mapping
from aoe_reports.model.texts import say
from aoe_reports.model.timestamps import night_of
from aoe_reports.present import RENDERERS
from aoe_reports.present.reports.language import report_in
from aoe_reports.store import History
from aoe_reports.store.layout import month_of, table_of
from aoe_reports.topics.records.load import EPOCH_FROM_NS
from aoe_reports.tuning.answers import JobAnswer, job_answer
from aoe_reports.tuning.banks.bank import difference, digest_of, list_bank
from aoe_reports.tuning.job.job import BANK_BEFORE
from aoe_reports.tuning.plan.folder import (
    BANK,
    RUNS,
    VERIFY,
    keep_verification,
    locked,
    next_kept_name,
    read_listing,
    read_outcome,
    read_plan,
    read_state,
    read_verification,
)
from aoe_reports.tuning.plan.plan import to_json
from aoe_reports.tuning.rules import (
    VERIFY_BANK_CHANGED,
    VERIFY_BANK_NOT_USED,
    VERIFY_CLAIMS_DIFFER,
    VERIFY_KEPT,
    VERIFY_NOTHING_CLAIMED,
    VERIFY_OPERATOR_CHANGED,
    VERIFY_OTHER_BASELINE,
    VERIFY_OTHER_STEP,
    VERIFY_REPLACED,
    VERIFY_STEPS_DIFFER,
)
from aoe_reports.tuning.tuner import Claims, ClaimsRead, bank_of_tuner, claims_together, tuner, tuner_of_plan
from aoe_reports.tuning.verify.rows import Row, Verdict, Verification
from aoe_reports.tuning.verify.uses import BankUse
from aoe_reports.tuning.verify.verdicts import Verified, is_same_work, verify_claims

REPORTS = {"verify.md": "markdown", "verify.html": "html"}


def verify(folder: Path, options: VerifyOptions) -> JobAnswer:
    """Hold what is claimed in a plan's folder against two profiles; verify.json and the reports are left in it.

    Where something cannot be read nothing is written, and what measured nothing never takes the place of a sound verdict; another
    sound one does, and the former one is kept as verify-NNN.json.
    """
    plan = read_plan(folder)
    read_state(folder)
    with locked(folder):
        return _verify(Case(folder, plan, options))


def _verify(case: Case) -> JobAnswer:
    findings: list[Finding] = []
    claims, unreadable = _claims(case, findings)
    pair, missing = read_pair(case, findings)
    used = None if pair is None else read_use(case, pair, claims, findings)
    if pair is None or used is None or unreadable or missing:
        return _nothing_read(case, findings_in_order(findings))
    digest = _bank_digest(case)
    verified = use = None
    if are_comparable(case, pair, findings):
        uses, use = used
        verified = verify_claims(claims, pair.before.side, pair.after.side, uses=uses)
        verified = replace(verified, signs=_signs(case, verified), rows=with_reasons(case, pair, verified.rows))
        findings += _remarks(case, pair, verified, digest)
        findings += remarks_on_use(use, verified.rows, str(pair.after.path))
    return _closed(case, pair, claims, _Measured(verified, digest, use), findings)


def _nothing_read(case: Case, findings: list[Finding]) -> JobAnswer:
    return job_answer(
        "verify",
        "",
        case.folder,
        Rows(type=Row, rows=()),
        findings=findings,
        unreadable=True,
        why=reasons_of(findings, strict=case.options.strict) or ["damage"],
    )


# What is claimed


def _claims(case: Case, findings: list[Finding]) -> tuple[Claims, bool]:
    """(what the results of a job claim, whether one of them could not be read)."""
    missing = {path: why for path in case.options.results if (why := why_not_read(path)) is not None}
    findings += [UNREADABLE.found(str(path), why) for path, why in missing.items()]
    read = _read_claims(case, [path for path in case.options.results if path not in missing])
    findings += [finding for one in read for finding in one.findings]
    whole = tuple(c.op_type for c in case.plan.operators if c.op_type and not c.op_name)
    claims = replace(claims_together(one.claims for one in read), whole_types=whole)
    if not claims.operators and not claims.subgraphs and not has(findings, "error"):
        text = say("no AOE result here claims a change; the verdicts are based on measurements only")
        findings.append(VERIFY_NOTHING_CLAIMED.found(str(case.folder), text))
    return claims, bool(missing) or any(one.unreadable for one in read)


def _read_claims(case: Case, results: Sequence[Path]) -> list[ClaimsRead]:
    """The claims of the named files of any tuner; else the results in the job's folder."""
    if case.options.results:
        return [tuner(name).read_results(results) for name in TUNERS]
    own = tuner_of_plan(case.plan)
    paths = [path for place in _result_places(case) for path in files_in(place) if own.is_result(path.name)]
    return [own.read_results(paths)]


def _result_places(case: Case) -> Sequence[Path]:
    """The named files and folders, else the runs of the job in turn."""
    runs = case.folder / RUNS
    if case.options.results:
        return case.options.results
    return sorted(runs.iterdir(), key=_in_turn) if runs.is_dir() else []


def _in_turn(place: Path) -> tuple[list[tuple[int, str]], str]:
    parts = re.split(r"([0-9]+)", place.name)
    return [(int(part), "") if number % 2 else (0, part) for number, part in enumerate(parts)], place.name


# What whoever relies on the verdict has to know


def _remarks(case: Case, pair: Pair, verified: Verified, digest: str | None) -> list[Finding]:
    where = str(pair.after.path)
    found = [*_remarks_on_profiles(case, pair, verified), *remarks_on_noise(verified.noise, where)]
    found += remarks_on_claims(verified, where)
    found += [VERIFY_BANK_NOT_USED.found(where, sign) for sign in verified.signs]
    for row in verified.rows:
        if row.scope == "operator" and row.change is None and row not in verified.unattributed:
            shapes = row.input_shapes or say("shapes unknown")
            text = say("{name} ({shapes}): {reason}", name=row.op_name, shapes=shapes, reason=row.reason)
            found.append(VERIFY_OPERATOR_CHANGED.found(where, text))
    left = read_outcome(case.folder)
    told = None if left is None else left.bank.digest
    if told is not None and digest is not None and told != digest:
        text = say("its content is not what `tune run` wrote: it is not certain which bank was measured")
        found.append(VERIFY_BANK_CHANGED.found(str(case.folder / BANK), text))
    return found


def _remarks_on_profiles(case: Case, pair: Pair, verified: Verified) -> Iterator[Finding]:
    before, after, where = pair.before, pair.after, str(pair.after.path)
    if case.plan.baseline_hash not in {None, before.digest}:
        text = say("not the profile from which the plan was made (its content differs)")
        yield VERIFY_OTHER_BASELINE.found(str(before.path), text)
    if before.side.blocks != after.side.blocks:
        text = say("{before} steps before, {after} after", before=before.side.blocks, after=after.side.blocks)
        yield VERIFY_STEPS_DIFFER.found(where, text)
    if not is_same_work(verified.work_ratio):
        text = say(
            "a step after tuning contains {work_ratio:.3g} times the calls of a step before; does the export "
            "distinguish steps?",
            work_ratio=verified.work_ratio,
        )
        yield VERIFY_OTHER_STEP.found(where, text)
    if verified.claims_differ:
        model, operators = (claim.change for claim in verified.step_claims)
        text = say(
            "AOE makes two different claims for a step: {model:+.2%} by its times of the model, {operators:+.2%} "
            "by its times of operators (after/before - 1); the step verdict uses the times of the model",
            model=model,
            operators=operators,
        )
        yield VERIFY_CLAIMS_DIFFER.found(where, text)


def _bank_digest(case: Case) -> str | None:
    root = case.folder / BANK
    return digest_of(list_bank(bank_of_tuner(case.plan), root)) if root.is_dir() else None


def _signs(case: Case, verified: Verified) -> tuple[str, ...]:
    """The signs in the profiles and in the bank."""
    folder = case.folder
    if not (verified.signs and (folder / BANK_BEFORE).exists() and (folder / BANK).is_dir()):
        return verified.signs
    if difference(read_listing(folder / BANK_BEFORE), list_bank(bank_of_tuner(case.plan), folder / BANK)):
        return verified.signs
    return (*verified.signs, say("no file of the private bank differs from its state before tuning"))


# What comes of it


@dataclass(frozen=True, slots=True)
class _Measured:
    verified: Verified | None
    """Null where the profiles may not be compared."""
    digest: str | None
    use: BankUse | None

    @property
    def verdict(self) -> Verdict:
        return "not-comparable" if self.verified is None else self.verified.verdict

    @property
    def rows(self) -> Sequence[Row]:
        return () if self.verified is None else self.verified.rows


def _closed(case: Case, pair: Pair, claims: Claims, measured: _Measured, findings: list[Finding]) -> JobAnswer:
    folder, options, verified, rows = case.folder, case.options, measured.verified, measured.rows
    verification = Verification(
        verdict=measured.verdict,
        bank_digest=measured.digest,
        baseline_hash=pair.before.digest,
        damaged=is_damaged(findings),
        after=str(pair.after.path),
        after_hash=pair.after.digest,
        rows=tuple(as_mapping(row) for row in rows),
        regressed=unaccepted(rows, options),
        bank_use=measured.use,
    )
    replaces = _replaces(folder, verification, findings)
    found = findings_in_order(findings)
    facts = facts_of(verified, options, str(pair.before.path), str(pair.after.path), pair.before.device.tasks.rank_id)
    facts = replace(facts, bank_use=measured.use)
    tuner = " + ".join(claims.claimed_by) or tuner_of_plan(case.plan).title
    page = Page(
        plan=case.plan, claims=claims, tuner=tuner, outcome=read_outcome(folder), rows=rows, facts=facts, findings=found
    )
    before, after = sides_of(pair)
    bank = None if measured.digest is None else (folder / BANK, measured.digest)
    evidence = Evidence(before, after, claim_files(_result_places(case)), bank)
    signed = sign_off(rows, facts, found, evidence, next_steps(facts, rows))
    report = replace(verified_report(page), sign_off=signed)
    if options.store is not None and verified is not None:
        facts = replace(facts, stored=_store(options.store, case, pair, measured))
    kept_as = keep_verification(folder) if replaces == "another" else None
    if replaces != "nothing":
        write_whole(folder / VERIFY, to_json(verification.as_document(facts.as_document())))
        for name, form in REPORTS.items():
            write_whole(folder / name, RENDERERS[form](report_in(report, options.language)))
    return job_answer(
        "verify",
        report.title,
        folder,
        Rows(type=Row, rows=rows),
        findings=found,
        more={**facts.as_document(), "kept_as": kept_as},
        headline=report.headline,
        highlights=[highlight(row) for row in rows],
        sections=report.sections,
        sign_off=report.sign_off,
        tells_findings=True,
        why=reasons_for(found, verified, accepted=facts.accepted, strict=options.strict),
    )


def _replaces(
    folder: Path, verification: Verification, findings: list[Finding]
) -> Literal["nothing", "same", "another"]:
    """The verdict that a new one replaces: none (a sound one stays), the same, or another, which is kept."""
    where, name = str(folder / VERIFY), next_kept_name(folder)
    try:
        former = read_verification(folder / VERIFY)
    except ReadError as error:
        text = say("the previous verdict cannot be read ({why}); it is kept as {name}", why=error.what, name=name)
        findings.append(VERIFY_REPLACED.found(where, text))
        return "another"
    if former is None or former == verification:
        return "same"
    said = {"verdict": say(former.verdict), "after": former.after or say("an unnamed profile")}
    of_the_same = verification.verdict == "not-used" and verification.after_hash == former.after_hash
    if former.sound and not verification.sound and not of_the_same:
        text = say(
            ("verify.json is unchanged ({verdict}, based on {after}): this run produced no usable measurement"), **said
        )
        findings.append(VERIFY_KEPT.found(where, text))
        return "nothing"
    severity: Severity = "warning" if former.passed and not verification.passed else "info"
    text = say("the previous verdict ({verdict}, based on {after}) is kept as {name}", name=name, **said)
    findings.append(VERIFY_REPLACED.found(where, text, severity=severity))
    return "another"


def _store(store: str, case: Case, pair: Pair, measured: _Measured) -> int:
    plan, after, bank = case.plan, pair.after, measured.digest
    time_ns = after.first_ns if after.first_ns is not None and after.first_ns >= EPOCH_FROM_NS else None
    time_ns = time_ns if time_ns is not None else after.device.capture.info.start_ns or after.device.capture.modified_ns
    unused = measured.use.not_used if measured.use is not None else ()
    facts = (plan.baseline_hash, after.digest, bank, *unused)
    run_id = "verify-" + hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
    common = {
        "kind": "verdict",
        "month": month_of(time_ns),
        "run_id": run_id,
        "timestamp_ns": time_ns,
        "night": night_of(time_ns),
        "model": case.options.workload or "unknown",
        "hardware": plan.soc,
        "engine_version": plan.engine_version,
        "content_hash": after.digest,
        "rank_id": pair.before.device.tasks.rank_id,
    }
    stored = [
        {
            **common,
            "scope": row.scope,
            "op_type": row.op_type,
            "op_name": row.op_name,
            "subject": " ".join(filter(None, (row.scope, row.op_type, row.op_name, row.input_shapes))),
            "state": row.verdict,
            "body": canonical_json({**as_mapping(row), "bank_digest": bank, "verdict_of_job": measured.verdict}),
        }
        for row in measured.rows
    ]
    return History.open(store, create=True, origin=origin_of("verify")).add_extra(table_of(stored))
