"""What every verification answers with: its facts, the rule that it has to pass, what is said of single rows, and why it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from aoe_reports.jobs.options import Accept, VerifyOptions
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import FAILED_TUNING, Finding, Severity, reasons_of
from aoe_reports.model.report import Highlight
from aoe_reports.model.rows import as_mapping, column, row
from aoe_reports.model.texts import join, say
from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN, NOT_COMPARABLE
from aoe_reports.tuning.rules import (
    VERIFY_CLAIM_NOT_ATTRIBUTABLE,
    VERIFY_CLAIM_SCALE,
    VERIFY_DRIFT,
    VERIFY_FREQUENCY,
    VERIFY_NOISE_UNKNOWN,
    VERIFY_ORDER,
    VERIFY_OTHER_WORKLOAD,
    VERIFY_SAME_PROFILE,
)
from aoe_reports.tuning.verify.intervals import LARGE_DRIFT, MIN_CONTROLS, Noise
from aoe_reports.tuning.verify.matches import SAME_TIME
from aoe_reports.tuning.verify.reconciliation import Reconciliation, rounded_row
from aoe_reports.tuning.verify.rows import PASSED, Method, Row, StepClaim, Verdict
from aoe_reports.tuning.verify.uses import BankUse
from aoe_reports.tuning.verify.verdicts import Verified

ACCEPT: dict[Accept, str] = {
    "confirmed": say("the overall verdict is a gain, at least one item is confirmed, and no operator regressed"),
    "partly": say("the overall verdict is a gain, at least in part, and no operator regressed"),
    "step": say("the step itself is confirmed to be faster"),
    "all": say("the overall verdict is a gain, and every operator that AOE claims is confirmed"),
}
"""What a job has to show to pass."""


@row
class VerifyFacts:
    """What `verify` says beside its rows."""

    verdict: Verdict = column()
    verdict_is_about: Row | None = column(default=None)
    """The step, or all tuned operators as one; null where nothing could be compared, as all that follows from it."""
    accepted: bool = column()
    accept: Accept = column()
    rule: str = column()
    regressed: Sequence[str] = column(default=())
    """The operators, or types, that are slower than before, and that neither `--accept` nor `--accept-regressed` accepts."""
    before: str = column()
    after: str = column()
    rank_id: int | None = column()
    noise: Noise | None = column(default=None)
    reconciliation: Reconciliation | None = column(default=None)
    step_claims: Sequence[StepClaim] = column(default=())
    signs: Sequence[str] = column(default=())
    bank_use: BankUse | None = column(default=None)
    """What logs say; null where none says anything."""
    same_operators_share: float | None = column(default=None)
    method: Method | None = column(default=None)
    stored: int = column(default=0)
    """How many verdicts the store has taken."""

    def as_document(self) -> JsonObject:
        """As JSON."""
        return {**as_mapping(self), "method": {} if self.method is None else as_mapping(self.method)}


def facts_of(
    verified: Verified | None, options: VerifyOptions, before: str, after: str, rank_id: int | None
) -> VerifyFacts:
    """What a comparison shows beside its rows; null: the profiles may not be compared."""
    accept = options.accept
    regressed = () if verified is None else unaccepted(verified.rows, options)
    facts = VerifyFacts(
        verdict="not-comparable" if verified is None else verified.verdict,
        accepted=verified is not None and not regressed and is_accepted(verified.verdict, verified.rows, accept),
        accept=accept,
        rule=ACCEPT[accept],
        regressed=regressed,
        before=before,
        after=after,
        rank_id=rank_id,
    )
    if verified is None:
        return facts
    subject, share = verified.subject, verified.same_share
    return replace(
        facts,
        verdict_is_about=subject if subject.scope == "step" else replace(subject, scope="operators"),
        noise=rounded_row(verified.noise, 6),
        reconciliation=verified.reconciliation,
        step_claims=verified.step_claims,
        signs=verified.signs,
        same_operators_share=None if share is None else round(share, 6),
        method=verified.method,
    )


def highlight(row: Row) -> Highlight:
    """What is told of one row by itself."""
    name = row.op_name or row.op_type or say(row.scope)
    measured = "" if row.change is None else say("measured {change:+.2%}", change=row.change)
    claimed = "" if row.claimed_change is None else say("claimed {change:+.2%}", change=row.claimed_change)
    told = [part for part in (claimed, measured, row.reason) if part]
    message = say("{name}: {told} (after/before - 1)", name=name, told=join(", ", told)) if told else name
    return Highlight(_SEVERITIES.get(row.verdict, "warning"), row.verdict, message)


_SEVERITIES: dict[str, Severity] = {"confirmed": "info", "regressed": "error"}


def reasons_for(findings: list[Finding], verified: Verified | None, *, accepted: bool, strict: bool) -> list[str]:
    """Why the exit code is not 0."""
    reasons = reasons_of(findings, strict=strict)
    if verified is None:
        return [*dict.fromkeys([*(r for r in reasons if r != "damage" or is_damaged(findings)), "not-comparable"])]
    return reasons if accepted else [*reasons, "verification"]


_REFUSALS = frozenset(
    rule.name
    for rule in (
        VERIFY_SAME_PROFILE,
        VERIFY_ORDER,
        VERIFY_FREQUENCY,
        VERIFY_OTHER_WORKLOAD,
        NOT_COMPARABLE,
        COMPARABILITY_UNKNOWN,
    )
)


def is_damaged(findings: Sequence[Finding]) -> bool:
    """Whether any error is about something damaged, and not about what cannot be compared."""
    return any(f.severity == "error" and f.rule not in _REFUSALS | FAILED_TUNING for f in findings)


def is_accepted(verdict: Verdict, rows: Sequence[Row], accept: Accept) -> bool:
    """Whether the verdict on the whole and the rows pass a rule of ACCEPT."""
    step = next(row for row in rows if row.scope == "step")
    verdicts = {row.verdict for row in rows}
    operators = [row for row in rows if row.scope == "operator" and row.claim == "operators"]
    if accept == "step":
        return step.verdict == "confirmed"
    if verdict not in PASSED:  # what `tune adopt` refuses passes no rule, whatever a single row says
        return False
    if accept == "all":
        return bool(operators) and all(row.verdict == "confirmed" for row in operators)
    return bool(verdicts & ({"confirmed", "partly"} if accept == "partly" else {"confirmed"}))


def regressed_rows(rows: Sequence[Row]) -> list[Row]:
    """Regressed operators, and regressed types without a regressed operator, the slowest first."""
    slower = [row for row in rows if row.verdict == "regressed"]
    operators = [row for row in slower if row.scope == "operator"]
    kinds = {row.op_type for row in operators}
    named = [*operators, *(row for row in slower if row.scope == "op_type" and row.op_type not in kinds)]
    return sorted(named, key=lambda row: (-(row.change or 0.0), row.op_name or row.op_type or ""))


def unaccepted(rows: Sequence[Row], options: VerifyOptions) -> tuple[str, ...]:
    """The names of what regressed without being accepted; whoever judges the step alone accepts what it is made of."""
    if options.accept == "step":
        return ()
    accepted = set(options.accept_regressed)
    left = [row for row in regressed_rows(rows) if not accepted & {row.op_name, row.op_type}]
    return tuple(dict.fromkeys(row.op_name or row.op_type or "" for row in left))


def remarks_on_claims(verified: Verified, where: str) -> Iterator[Finding]:
    """The claims that cannot be about what was measured, as far as times show it."""
    for one in verified.unattributed:
        text = say("{name}: {reason}", name=one.op_name, reason=one.reason)
        yield VERIFY_CLAIM_NOT_ATTRIBUTABLE.found(where, text)
    for one in verified.rows:
        claimed, measured = one.claimed_before_us, one.measured_before_us
        if one.scope == "op_type" or not claimed or not measured:
            continue
        if not 1 / SAME_TIME <= claimed / measured <= SAME_TIME:
            text = say(
                "{name}: {claimed:,.4g} us before tuning are claimed, {measured:,.4g} us were measured ({ratio:.2g} times)",
                name=one.op_name or say(one.scope),
                claimed=claimed,
                measured=measured,
                ratio=claimed / measured,
            )
            yield VERIFY_CLAIM_SCALE.found(where, text)


def remarks_on_noise(noise: Noise, where: str) -> Iterator[Finding]:
    if noise.drift is None:
        text = say(
            "{controls} untuned operators in both profiles; at least {least} are needed to estimate how much "
            "captures differ",
            controls=noise.controls,
            least=MIN_CONTROLS,
        )
        yield VERIFY_NOISE_UNKNOWN.found(where, text)
    elif abs(noise.drift) > LARGE_DRIFT:
        text = say(
            "{controls} untuned operators changed by {drift:+.1%}: clock, load or temperature differed",
            controls=noise.controls,
            drift=noise.drift,
        )
        yield VERIFY_DRIFT.found(where, text)
