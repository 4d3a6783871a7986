"""Checks the claims of any tuner against two sides of measurements: no plan, nothing is written.

A side is one profile, or a folder of several captures that were taken one after another: repeated runs, folders of `msprof op`
among them, each of which measures one kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from aoe_reports.engine.captures import read_source
from aoe_reports.formats.rules import UNKNOWN_FILE, UNREADABLE
from aoe_reports.formats.sources.discovery import refuse_missing, why_not_read
from aoe_reports.formats.sources.head import head_of
from aoe_reports.formats.sources.objects import asked_path
from aoe_reports.formats.tuner_files import TUNERS, kind_of_tuner_file
from aoe_reports.formats.vendor import parse_name
from aoe_reports.jobs.claims_report import (
    ClaimsFacts,
    ClaimsPage,
    Environment,
    claims_report,
    next_steps_of_claims,
    statistics_table,
)
from aoe_reports.jobs.options import VerifyOptions
from aoe_reports.jobs.sign_off import Evidence, claim_files, sign_off
from aoe_reports.jobs.verify_answer import facts_of, highlight, reasons_for, remarks_on_claims, remarks_on_noise
from aoe_reports.jobs.verify_case import FREQUENCY, Measured, Profile, may_be_held, profile_of, was_taken_first
from aoe_reports.model.arrays.columns import floats
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import EXAMPLES_PER_RULE, Finding, Severity, has
from aoe_reports.model.findings import in_order as findings_in_order
from aoe_reports.model.options import check_options
from aoe_reports.model.rows import Rows, as_mapping
from aoe_reports.model.texts import join, say
from aoe_reports.stats.bootstrap import MIN_VALUES
from aoe_reports.topics.rules import COMPARABILITY_UNKNOWN, NOT_COMPARABLE
from aoe_reports.tuning.answers import JobAnswer
from aoe_reports.tuning.claim_files import tables_below, why_no_table
from aoe_reports.tuning.files_only import FilesOnly
from aoe_reports.tuning.plan.measured import runs_below
from aoe_reports.tuning.rules import (
    VERIFY_FREQUENCY,
    VERIFY_NOT_IN_TURNS,
    VERIFY_NOTHING_CLAIMED,
    VERIFY_ORDER,
    VERIFY_SAME_CAPTURES,
    VERIFY_SAME_PROFILE,
    VERIFY_SLOWER_TAIL,
)
from aoe_reports.tuning.tuner import Claims, Tuner, claims_together, tuner
from aoe_reports.tuning.verify.intervals import LARGE_DRIFT
from aoe_reports.tuning.verify.rows import Row
from aoe_reports.tuning.verify.sides import called, repeated
from aoe_reports.tuning.verify.statistics import (
    NAMES,
    HostCalls,
    StatisticRow,
    host_statistics,
    judged_by,
    slower_tails,
    statistics_of,
)
from aoe_reports.tuning.verify.verdicts import Verified, verify_claims


def check_claims(before: Path, after: Path, options: VerifyOptions) -> JobAnswer:
    """Hold the claims in some files (`options.claims`) against two sides of measurements."""
    check_options(options)
    sides = asked_path(before), asked_path(after)
    refuse_missing(sides)
    findings: list[Finding] = []
    claims, unreadable = _claims(options, findings)
    first, lost = _side(sides[0], None, options, findings)
    rank = options.rank if first is None else first.profiles[0].device.tasks.rank_id
    last, lost_after = _side(sides[1], (rank,), options, findings)
    inputs = tuple(map(str, (*options.claims, *sides)))
    if first is None or last is None or unreadable:
        return _nothing_read(inputs, options, findings)
    claims = _against_itself(claims, options)
    first, last = _named(claims, first, last, options)
    first, last = _repeated(first, last, findings)
    verified = None
    statistics: tuple[StatisticRow, ...] = ()
    if _are_comparable(first, last, options, findings):
        verified = verify_claims(claims, first.side, last.side, needs_noise=True)
        statistics = statistics_of(claims, first.side, last.side)
        if options.statistic != "mean":
            verified = judged_by(verified, statistics, options.statistic)
        findings += _remarks(first, last, verified)
        findings += remarks_on_claims(verified, str(last.path))
        findings += _slower_tails(verified, statistics, str(last.path))
        statistics += host_statistics(*(_host_calls(side) for side in (first, last)))
    answer = _answer(inputs, claims, (first, last), verified, findings_in_order(findings), options, statistics)
    return replace(answer, unreadable=lost or lost_after)


def _nothing_read(inputs: tuple[str, ...], options: VerifyOptions, findings: list[Finding]) -> JobAnswer:
    found = findings_in_order(findings)
    why = reasons_for(found, None, accepted=False, strict=options.strict)
    table = Rows(type=Row, rows=())
    return JobAnswer(
        command="verify", title="", inputs=inputs, tables=(table,), findings=found, unreadable=True, why=why
    )


def _claims(options: VerifyOptions, findings: list[Finding]) -> tuple[Claims, bool]:
    parts: list[Claims] = []
    unreadable = False
    for path in options.claims:
        if (why := why_not_read(path)) is not None:
            unreadable = True
            findings.append(UNREADABLE.found(str(path), why))
            continue
        read = [_reader(name, options).read_results([path]) for name in TUNERS]
        found = [finding for one in read for finding in one.findings]
        parts += [one.claims for one in read]
        unreadable = unreadable or any(one.unreadable for one in read)
        findings += found
        if path.is_file() and not found and not any(one.claims.claimed_by for one in read):
            findings.append(UNKNOWN_FILE.found(str(path), _unknown(path)))
        findings += _passed_over(path)
    claims = claims_together(parts)
    if not claims.operators and not claims.subgraphs and not has(findings, "error"):
        where = join(", ", map(str, options.claims))
        findings.append(VERIFY_NOTHING_CLAIMED.found(where, say("no claim here that could be checked")))
    return claims, unreadable


def _reader(name: str, options: VerifyOptions) -> Tuner:
    """The tuner that reads claims; of tables with several versions, those from one of `--versions` to the other one."""
    known = tuner(name)
    if options.versions is None or not isinstance(known, FilesOnly) or known.between is None:
        return known
    before, separator, after = options.versions.partition(",")
    if not separator or not before.strip() or not after.strip():
        raise UsageError(say("verify: expected two versions as --versions OLD,NEW"))
    return known.between((before.strip(), after.strip()))


def _against_itself(claims: Claims, options: VerifyOptions) -> Claims:
    """The claims; a reference program's time before is one only where `--operator` names that program in BEFORE, too."""
    if len(options.operator) > 1:
        return claims
    operators = (replace(claim, before_us=None) if claim.reference else claim for claim in claims.operators)
    return replace(claims, operators=tuple(operators))


def _unknown(path: Path) -> str:
    titles = join(", ", (tuner(name).title for name in TUNERS))
    unknown = say("no claims in a form of {tuners} (docs/tuning.md lists the forms)", tuners=titles)
    why = why_no_table(head_of(path))
    return unknown if why is None else join("; ", (unknown, why))


def _passed_over(folder: Path) -> list[Finding]:
    """Unused tables below a folder, each with the reason."""
    found = []
    for path in tables_below(folder):
        try:
            of_other = parse_name(path.name, path.parent.name) is not None
            if not of_other and kind_of_tuner_file(path.name, head_of(path)) is None:
                found.append(UNKNOWN_FILE.found(str(path), _unknown(path), severity="warning"))
        except OSError:  # said when it was read
            continue
    return found[:EXAMPLES_PER_RULE]


# The two sides


def _side(
    path: Path, ranks: tuple[int | None] | None, options: VerifyOptions, findings: list[Finding]
) -> tuple[Measured | None, bool]:
    """(usable captures of one side, None without any; whether something could not be read)."""
    runs, unreadable = runs_below(path, options.max_expanded, findings)
    known = len(findings)
    profiles = []
    for captures in runs or [()]:
        where = captures[0].root if len(runs) > 1 else path
        profile = profile_of(where, captures, ranks, options, findings, silent=unreadable)
        if profile is not None:  # else it is found
            profiles.append(profile)
            ranks = ranks or (profile.device.tasks.rank_id,)
    unreadable = unreadable or any(finding.rule == UNREADABLE.name for finding in findings[known:])
    return (Measured(path, tuple(profiles), profiles[0].side) if profiles else None), unreadable


def _named(claims: Claims, before: Measured, after: Measured, options: VerifyOptions) -> tuple[Measured, Measured]:
    """Both sides with the operators of `--operator` renamed to the name in the claim."""
    names = options.operator
    if not names:
        return before, after
    if len(claims.operators) != 1 or len(names) > len(("before", "after")):
        raise UsageError(
            say(
                "verify: --operator is for one claim, and is given at most twice; {count} claims here",
                count=len(claims.operators),
            )
        )
    claimed = claims.operators[0].op_name
    return _calling(before, names[0], claimed), _calling(after, names[-1], claimed)


def _calling(side: Measured, name: str, claimed: str) -> Measured:
    """A side with one operator of all its captures called otherwise."""
    profiles = []
    for profile in side.profiles:
        renamed = called(profile.side, name, claimed)
        if renamed is None:
            raise UsageError(say("verify: no operator {name!r} in {path}", name=name, path=profile.path))
        profiles.append(replace(profile, side=renamed))
    return replace(side, profiles=tuple(profiles), side=profiles[0].side)


def _repeated(before: Measured, after: Measured, findings: list[Finding]) -> tuple[Measured, Measured]:
    """Both sides as one profile each; the blocks are captures where both have enough of them."""
    sides = (before, after)
    enough = min(_repeats(side, findings) for side in sides) >= MIN_VALUES
    first, last = (
        replace(side, side=repeated([profile.side for profile in side.profiles], by_captures=enough))
        if len(side.profiles) > 1
        else side
        for side in sides
    )
    return first, last


def _repeats(side: Measured, findings: list[Finding]) -> int:
    """The number of captures measured; copies count once."""
    count = len(side.profiles)
    if count < MIN_VALUES or len({profile.digest for profile in side.profiles}) > 1:
        return count
    text = say("all {count} captures have the same content: they count as one", count=count)
    findings.append(VERIFY_SAME_CAPTURES.found(str(side.path), text))
    return 1


def _are_comparable(before: Measured, after: Measured, options: VerifyOptions, findings: list[Finding]) -> bool:
    """Whether the two sides may be compared; adds findings."""
    same = [profile for profile in after.profiles if any(_is_same(profile, other) for other in before.profiles)]
    if same:
        text = say("the same content as {path}: nothing was measured again", path=before.path)
        findings.append(VERIFY_SAME_PROFILE.found(str(same[0].path), text))
        return False
    severity: Severity = "warning" if options.force else "error"
    where, against = str(after.path), []
    if all(was_taken_first(profile, other) for profile in after.profiles for other in before.profiles):
        text = say("it was captured before {path}", path=before.path)
        against.append(VERIFY_ORDER.found(where, text, severity=severity))
    clocks = [_mean_mhz(side) for side in (before, after)]
    if None not in clocks and abs((clocks[1] or 0.0) / (clocks[0] or 1.0) - 1) > LARGE_DRIFT:
        text = say("{after:,.0f} MHz after, {before:,.0f} MHz before", before=clocks[0], after=clocks[1])
        against.append(VERIFY_FREQUENCY.found(where, text, severity=severity))
    findings += against
    if against and not options.force:
        return False
    return may_be_held(before, after, findings, least=0.0, force=options.force)


def _mean_mhz(side: Measured) -> float | None:
    """The mean clock frequency of what was measured; None where a capture does not tell it."""
    if FREQUENCY not in side.side.frame.column_names:
        return None
    values, there = floats(side.side.frame[FREQUENCY])
    return float(values.mean()) if len(values) and there.all() and values.min() > 0 else None


def _remarks(before: Measured, after: Measured, verified: Verified) -> Iterator[Finding]:
    """Remarks for whoever relies on the verdicts."""
    where = str(after.path)
    if not _by_captures((before, after)):
        yield from remarks_on_noise(verified.noise, where)
        return
    times = [[profile.device.capture.made_ns() for profile in side.profiles] for side in (before, after)]
    known_times = [[time for time in side if time is not None] for side in times]
    whole = all(len(known) == len(side) for known, side in zip(known_times, times, strict=True))
    if (
        verified.noise.drift is None
        and whole
        and (max(known_times[0]) < min(known_times[1]) or max(known_times[1]) < min(known_times[0]))
    ):
        text = say("take captures in turns: before, after, before …")
        yield VERIFY_NOT_IN_TURNS.found(where, text)


def _slower_tails(verified: Verified, statistics: Sequence[StatisticRow], where: str) -> Iterator[Finding]:
    for one in slower_tails(verified.rows, statistics):
        text = say(
            "{name}: {statistic} of its calls {change:+.1%} ({low:+.1%} … {high:+.1%})",
            name=one.op_name,
            statistic=NAMES[one.statistic],
            change=one.change,
            low=one.ci_low,
            high=one.ci_high,
        )
        yield VERIFY_SLOWER_TAIL.found(where, text)


def _host_calls(side: Measured) -> list[HostCalls]:
    """What each capture of a side says of the functions of AscendCL; none of a capture that does not tell."""
    found = []
    for capture in {profile.device.capture.root: profile.device.capture for profile in side.profiles}.values():
        source = capture.preferred("api_statistic")
        try:
            tables = read_source(source, _HOST_COLUMNS, hashed=False) if source is not None else []
        except (ReadError, OSError):  # said by `check`
            tables = []
        functions: dict[str, tuple[int, int]] = {}
        for call in (call for table in tables for call in table.frame.to_pylist()):
            if (call.get("level") or "").casefold() in _ACL and call.get("api_name") and call.get("count"):
                count, spent = functions.get(call["api_name"], (0, 0))
                functions[call["api_name"]] = (count + call["count"], spent + (call.get("total_time_ns") or 0))
        if functions:
            found.append(HostCalls(functions))
    return found


_ACL = frozenset({"acl", "ascendcl"})
_HOST_COLUMNS = frozenset({"level", "api_name", "total_time_ns", "count"})


def _environment(verified: Verified | None, findings: Sequence[Finding]) -> Environment:
    """Whether what decides comparability was equal on both sides."""
    rules = {finding.rule for finding in findings}
    if verified is None or rules & {NOT_COMPARABLE.name, VERIFY_FREQUENCY.name}:
        return "differs"
    return "partly-known" if COMPARABILITY_UNKNOWN.name in rules else "equal"


def _is_same(profile: Profile, other: Profile) -> bool:
    if profile.device.capture.root == other.device.capture.root:
        return True
    return profile.digest == other.digest and profile.first_ns is not None


# What comes of it


def _by_captures(sides: tuple[Measured, Measured]) -> bool:
    return all(side.side.captures for side in sides)


def _answer(
    inputs: tuple[str, ...],
    claims: Claims,
    sides: tuple[Measured, Measured],
    verified: Verified | None,
    findings: list[Finding],
    options: VerifyOptions,
    statistics: Sequence[StatisticRow],
) -> JobAnswer:
    before, after = sides
    rank = before.profiles[0].device.tasks.rank_id
    facts = facts_of(verified, options, str(before.path), str(after.path), rank)
    facts = replace(facts, signs=())  # which are signs of a bank
    measured = ClaimsFacts(
        claims=len(claims.operators),
        claimed_by=claims.claimed_by,
        captures_before=len(before.profiles),
        captures_after=len(after.profiles),
        by_captures=_by_captures(sides),
        statistic=options.statistic,
        accuracy_agreed=sum(claim.accuracy is True for claim in claims.operators),
        accuracy_differed=sum(claim.accuracy is False for claim in claims.operators),
        environment=_environment(verified, findings),
    )
    rows = () if verified is None else verified.rows
    evidence = Evidence(before, after, claim_files(options.claims))
    page = ClaimsPage(
        claims=claims, rows=rows, facts=facts, measured=measured, findings=findings, statistics=statistics
    )
    report = claims_report(page)
    return JobAnswer(
        command="verify",
        title=report.title,
        inputs=inputs,
        tables=(Rows(type=Row, rows=rows), statistics_table(page)),
        findings=findings,
        more={**facts.as_document(), **as_mapping(measured)},
        headline=report.headline,
        highlights=[highlight(row) for row in rows],
        sections=report.sections,
        sign_off=sign_off(rows, facts, findings, evidence, next_steps_of_claims(facts)),
        tells_findings=True,
        why=reasons_for(findings, verified, accepted=facts.accepted, strict=options.strict),
    )
