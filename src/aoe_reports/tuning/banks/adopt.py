"""Puts a job's private bank into use: a copy beside the bank in use takes its place at once, the old one is kept."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from aoe_reports.engine.question import exit_code_of
from aoe_reports.formats.aoe.bank_log import read_bank_logs
from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.findings import Finding, has
from aoe_reports.model.rows import Rows, as_mapping, column, row
from aoe_reports.model.rules import Rule, Scope
from aoe_reports.model.texts import join, say
from aoe_reports.topics.banks.uses import remarks_on_logs
from aoe_reports.tuning.answers import JobAnswer, job_answer
from aoe_reports.tuning.banks.bank import (
    Bank,
    BankChange,
    BankLayout,
    Listing,
    bank_of_plan,
    difference,
    digest_of,
    list_bank,
    list_layout,
    paths_of_layout,
)
from aoe_reports.tuning.banks.exchange import (
    AdoptError,
    Left,
    NewFolder,
    candidates,
    complete_left,
    describe_unclear,
    holds_all,
    locked_bank,
    look_for_left,
    replace_folders,
)
from aoe_reports.tuning.chip_names import check_chip
from aoe_reports.tuning.job.runner import stopping
from aoe_reports.tuning.job.state import JobState
from aoe_reports.tuning.options import AdoptOptions
from aoe_reports.tuning.plan.folder import (
    BANK,
    STATE,
    VERIFY,
    kept_verifications,
    locked,
    read_plan,
    read_state,
    read_verification,
)
from aoe_reports.tuning.tuner import bank_of_tuner
from aoe_reports.tuning.verify.rows import PASSED, Verification
from aoe_reports.tuning.verify.uses import uses_of

_ADOPTING = Scope("adopting banks")
ADOPT_NOT_VERIFIED = _ADOPTING.rule(
    "adopt-not-verified", "error", "no new profile confirmed the gain (a warning with --force)"
)
ADOPT_VERDICTS_DIFFER = _ADOPTING.rule(
    "adopt-verdicts-differ",
    "warning",
    "another verification of the same bank, kept next to verify.json, measured no gain or cannot be read",
)
ADOPT_OTHER_CHIP = _ADOPTING.rule(
    "adopt-other-chip",
    "error",
    "the private bank contains operators of another chip (a warning if it also contains operators of the job's chip)",
)
ADOPT_PARTLY = _ADOPTING.rule("adopt-partly", "warning", "a new profile confirmed part of the gain")
ADOPT_NOT_USED = _ADOPTING.rule(
    "adopt-not-used", "warning", "a log says that tuned operators did not use the bank: their entries are unproven"
)
ADOPT_CHANGED_SINCE = _ADOPTING.rule(
    "adopt-changed-since", "error", "the private bank is not the one that was verified (a warning with --force)"
)
ADOPT_NOT_TUNED = _ADOPTING.rule("adopt-not-tuned", "error", "the job is not finished (a warning with --force)")
ADOPT_REPLACES = _ADOPTING.rule(
    "adopt-replaces", "warning", "the private bank lacks entries of the bank in use: the banks cannot be merged"
)
ADOPT_COMPLETED = _ADOPTING.rule("adopt-completed", "warning", "an interrupted adopt run is completed or rolled back")
ADOPT_UNCLEAR = _ADOPTING.rule(
    "adopt-unclear",
    "error",
    "an adopt run was interrupted, and the old folders cannot be distinguished from the new ones: "
    "nothing is moved or deleted",
)
ADOPT_LEFTOVER = _ADOPTING.rule(
    "adopt-leftover", "warning", "a folder left by an interrupted adopt run; it is not in use"
)
ADOPT_NOTHING = _ADOPTING.rule("adopt-nothing", "info", "the bank in use already matches the private one")


@row
class InUse:
    """Which bank is (or, in a dry run, would be) put into use, and what is kept of the one before."""

    bank: str = column()
    by: str = column()
    soc: str = column()
    backups: tuple[str, ...] = column()
    adopted: bool = column()


@dataclass(frozen=True, slots=True)
class Adopted:
    """The bank, what differs (a row a file), and what was found."""

    in_use: InUse
    changes: list[BankChange]
    findings: list[Finding]

    def answer(self, folder: Path, *, strict: bool) -> JobAnswer:
        """The changes, and which bank is in use now."""
        return job_answer(
            "adopt",
            "Changes to the bank in use",
            folder,
            Rows(type=BankChange, rows=self.changes),
            findings=self.findings,
            more=as_mapping(self.in_use),
            why=["verification"][: exit_code_of(self.findings, unreadable=False, strict=strict)],
        )


@dataclass(frozen=True, slots=True)
class _Case:
    folder: Path
    kind: Bank
    bank: Path
    layout: BankLayout
    soc: str
    state: JobState | None
    options: AdoptOptions

    def doubt(self, rule: Rule, file: str, text: str) -> Finding:
        """What speaks against it, unless that is forced."""
        return rule.found(str(self.folder / file), text, severity="warning" if self.options.force else None)


def adopt(folder: Path, environment: Mapping[str, str], options: AdoptOptions) -> Adopted:
    """Put the private bank of a folder's job into use, if it was verified or that is forced.

    It goes to `to` (laid out as under TUNE_BANK_PATH), else to the plan's bank, else to where the environment says.
    """
    plan = read_plan(folder)
    kind, bank = bank_of_tuner(plan), folder / BANK
    if not bank.is_dir():
        raise UsageError(say("{folder}: no private bank; `aoe-reports tune run` creates one", folder=folder))
    state = read_state(folder)
    seeded = None if state is None or state.bank is None else state.bank.soc
    soc = check_chip(options.soc) if options.soc else plan.soc or seeded or _only_soc(bank)
    if options.to is not None:
        layout = kind.at(PurePosixPath(os.path.abspath(options.to)))
    else:
        layout = bank_of_plan(kind, plan, folder, environment)
    case = _Case(folder=folder, kind=kind, bank=bank, layout=layout, soc=soc, state=state, options=options)
    with locked(folder), locked_bank(layout, soc), stopping():  # a signal on the way would leave half of it: it waits
        return _adopt(case)


def _adopt(case: _Case) -> Adopted:
    layout, soc, dry_run = case.layout, case.soc, case.options.dry_run
    left, findings = _left_behind(layout, soc, dry_run=dry_run)
    listing = list_bank(case.kind, case.bank)
    findings += _doubts(case, digest_of(listing))
    before = list_layout(case.kind, layout, soc)
    changes = difference(before, {n: e for n, e in listing.items() if n.startswith(f"{soc}/") or "/" not in n})
    findings += _other_chips(case, listing, changes)
    refused = has(findings, "error")
    findings += _losses(layout, changes)
    replaces = bool(changes) and not refused and not dry_run
    kept = (
        replace_folders(_new_folders(case, changes), lambda: _see_that_nothing_changed(case, before))
        if replaces
        else []
    )
    if not (changes or left or refused):  # an error says why nothing of the chip differs
        findings.append(ADOPT_NOTHING.found(str(layout.operators_root), say("no differences")))
    in_use = InUse(
        bank=str(layout.operators_root),
        by=layout.by,
        soc=soc,
        backups=tuple(map(str, (*left, *kept))),
        adopted=bool(left) or replaces,
    )
    return Adopted(in_use, changes, findings)


def _left_behind(layout: BankLayout, soc: str, *, dry_run: bool) -> tuple[list[Path], list[Finding]]:
    left = look_for_left(layout, soc)
    if not left.clear:
        return [], [ADOPT_UNCLEAR.found(str(left.journal), describe_unclear(left))]
    findings = _found_left(left, dry_run=dry_run)
    return [] if dry_run else complete_left(left), findings


def _found_left(left: Left, *, dry_run: bool) -> list[Finding]:
    found = []
    if left.journal is not None:
        if left.begun and dry_run:
            text = say(
                "an adopt run was interrupted: half of the bank in use may be the new one; adopt completes the "
                "replacement"
            )
        elif left.begun:
            text = say("an interrupted adopt run is now completed: the new bank is in use, the previous one is kept")
        else:
            text = say("an adopt run was interrupted before it replaced anything; its prepared files are removed")
        found.append(ADOPT_COMPLETED.found(str(left.journal), text))
    for path in left.copies:
        text = say("a copy that an adopt run made and never used; it is removed")
        found.append(ADOPT_LEFTOVER.found(str(path), text))
    return found


def _other_chips(case: _Case, listing: Listing, changes: Sequence[BankChange]) -> list[Finding]:
    """Whether the private bank holds entries of another chip, which would stay unused or lie in the wrong place."""
    kind, bank, soc = case.kind, case.bank, case.soc
    operators = {kind.chip_of(path) for path in listing if "/" in path}
    gradients = {
        kind.chip_of(change.path) for change in changes if "/" not in change.path and change.change != "removed"
    }
    chips = {chip for chip in operators | gradients if chip is not None}
    others = sorted(chips - {soc})
    if not others:
        return []
    names, ours = join(", ", others), soc in chips
    text = say(
        ("it also contains entries for {others}, which are not put into use: the chip is {soc} (--soc selects another)")
        if ours
        else (
            "it contains entries for {others} and none for {soc}, the chip of the job: expected --soc with "
            "AOE's name for the chip"
        ),
        others=names,
        soc=soc,
    )
    return [ADOPT_OTHER_CHIP.found(str(bank), text, severity="warning" if ours else None)]


def _only_soc(bank: Path) -> str:
    there = sorted(entry.name for entry in bank.iterdir() if entry.is_dir())
    if len(there) != 1:
        raise UsageError(say("{bank}: the chip cannot be determined; expected --soc", bank=bank))
    return there[0]


def _doubts(case: _Case, digest: str) -> list[Finding]:
    """What speaks against putting the bank into use."""
    found, state, verification = [], case.state, read_verification(case.folder / VERIFY)
    if state is None or not state.status:
        found.append(case.doubt(ADOPT_NOT_TUNED, STATE, say("the job was never run by `tune run`")))
    elif state.status != "done":
        found.append(case.doubt(ADOPT_NOT_TUNED, STATE, say("the job is {status}", status=say(state.status))))
    if verification is None:
        text = say("not verified: measure again (remeasure.md), then `aoe-reports verify`")
        return [*found, case.doubt(ADOPT_NOT_VERIFIED, VERIFY, text)]
    found += _doubts_of_verdict(case, verification)
    found += _doubts_of_use(case, verification)
    found += _other_verdicts(case.folder, verification, digest)
    if verification.bank_digest not in {None, digest}:
        found.append(case.doubt(ADOPT_CHANGED_SINCE, BANK, say("the private bank has changed since it was verified")))
    return found


def _doubts_of_verdict(case: _Case, verification: Verification) -> list[Finding]:
    verdict = say(verification.verdict)
    if verification.verdict in PASSED and verification.regressed:
        text = say(
            "the verdict is {verdict}, but operators are slower than before: {names} (`verify` with --accept-regressed accepts them)",
            verdict=verdict,
            names=join(", ", verification.regressed),
        )
        return [case.doubt(ADOPT_NOT_VERIFIED, VERIFY, text)]
    if not verification.passed:
        return [case.doubt(ADOPT_NOT_VERIFIED, VERIFY, say("the verdict is {verdict}", verdict=verdict))]
    if verification.damaged:
        text = say("the verdict ({verdict}) is based on damaged files; verify again with intact files", verdict=verdict)
        return [case.doubt(ADOPT_NOT_VERIFIED, VERIFY, text)]
    if verification.verdict == "partly":
        text = say("the measured gain is smaller than claimed, but it is still a gain")
        return [ADOPT_PARTLY.found(str(case.folder / VERIFY), text)]
    return []


def _doubts_of_use(case: _Case, verification: Verification) -> list[Finding]:
    """That operators did not use the bank: by a named log, else as `verify` found."""
    use, place = verification.bank_use, case.options.log
    if place is None:
        if use is None or not use.not_used:
            return []
        return [ADOPT_NOT_USED.found(str(case.folder / VERIFY), say("{told}.", told=join("; ", use.sentences())))]
    claimed = [row.get("op_name") for row in verification.rows if row.get("scope") == "operator" and row.get("claim")]
    names = [name for name in claimed if isinstance(name, str)]
    logs = read_bank_logs([place])
    use = uses_of(logs, names).use_of(names, [str(place)])
    found = list(remarks_on_logs(logs, place))
    if not use.not_used:
        return found
    text = say("{told}.", told=join("; ", use.sentences()))
    if use.used:
        return [*found, ADOPT_NOT_USED.found(str(place), text)]
    return [*found, replace(case.doubt(ADOPT_NOT_VERIFIED, VERIFY, text), path=str(place))]


def _other_verdicts(folder: Path, verification: Verification, digest: str) -> list[Finding]:
    """Sound verdicts on the same bank that were replaced since and disagree with the current one."""
    found = []
    for path in kept_verifications(folder):
        try:
            other = read_verification(path)
        except ReadError as error:
            text = say("its verdict cannot be read: {why}", why=error.what)
            found.append(ADOPT_VERDICTS_DIFFER.found(str(path), text))
            continue
        if (
            other is not None
            and other.sound
            and other.passed != verification.passed
            and other.bank_digest in {None, digest}
        ):
            text = say(
                "for the same bank, its verdict is {verdict}, based on {after}; the newest verdict, {newest}, is "
                "in force",
                verdict=say(other.verdict),
                after=other.after or say("an unnamed profile"),
                newest=say(verification.verdict),
            )
            found.append(ADOPT_VERDICTS_DIFFER.found(str(path), text))
    return found


def _losses(layout: BankLayout, changes: list[BankChange]) -> list[Finding]:
    """What the bank in use has and the private one has not."""
    found = []
    for change in changes:
        if change.change == "removed":
            text = say(
                "{path}: is not in the private bank; it will no longer be used (it stays in the backup)",
                path=change.path,
            )
        elif change.entries_lost:
            text = say(
                "{path}: {entries_lost} entries of the file in use are not in the private one, which replaces it",
                path=change.path,
                entries_lost=change.entries_lost,
            )
        elif change.change == "changed" and change.entries_lost is None:
            text = say("{path}: is replaced; its content cannot be compared entry by entry", path=change.path)
        else:
            continue
        found.append(ADOPT_REPLACES.found(str(layout.operators_root), text))
    return found


# Putting into use


def _see_that_nothing_changed(case: _Case, before: Listing) -> None:
    if list_layout(case.kind, case.layout, case.soc) != before:
        raise AdoptError(
            say(
                "{operators_root}: it changed in the meantime; try again when no tuning uses it",
                operators_root=case.layout.operators_root,
            )
        )


def _new_folders(case: _Case, changes: Sequence[BankChange]) -> list[NewFolder]:
    """The folders of the bank in use to replace: one where it holds all differences, else its parts."""
    layout, soc = case.layout, case.soc
    private = case.kind.at(PurePosixPath(os.path.abspath(case.bank)))
    files = paths_of_layout(private, soc)
    whole, *parts = candidates(layout, soc)
    if not parts:
        return [NewFolder(whole, files, lambda path: "/" in path or ((whole / path).is_dir() and path != soc))]
    operators = {name.removeprefix(f"{soc}/"): path for name, path in files.items() if "/" in name}
    graphs = {name: path for name, path in files.items() if "/" not in name}
    folders = [
        NewFolder(parts[0], operators, lambda _: False),
        NewFolder(parts[1], graphs, lambda path: "/" in path or (parts[1] / path).is_dir()),
    ]
    differing = {"/" in change.path for change in changes}  # operators, and subgraphs or gradients
    folders = [folder for folder, is_operators in zip(folders, (True, False), strict=True) if is_operators in differing]
    if len(folders) == 1 or not holds_all(layout, soc):
        return folders
    return [_both(whole, folders)]


def _both(whole: Path, folders: Sequence[NewFolder]) -> NewFolder:
    """One folder in which two are replaced, and everything else stays."""
    inner = {folder.target.relative_to(whole).as_posix(): folder for folder in folders}
    files = {f"{lead}/{name}": path for lead, folder in inner.items() for name, path in folder.files.items()}

    def stays(path: str) -> bool:
        for lead, folder in inner.items():
            if path.startswith(f"{lead}/"):
                return folder.stays(path.removeprefix(f"{lead}/"))
        return True

    return NewFolder(whole, files, stays)
