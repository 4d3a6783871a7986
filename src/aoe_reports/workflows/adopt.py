"""Puts a job's private bank into use: a copy beside the bank in use takes its place at once, the old one is kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from aoe_reports.errors import AoeReportsError, UsageError
from aoe_reports.findings import Finding, Severity
from aoe_reports.texts import say
from aoe_reports.tuning.bank import BankChange, BankLayout, Listing, bank_at, difference, digest_of
from aoe_reports.tuning.command import BANK
from aoe_reports.tuning.plan import check_soc
from aoe_reports.tuning.runner import stopping
from aoe_reports.tuning.verification import ADOPT_RULES, Verification
from aoe_reports.workflows.banks import (
    bank_of_environment,
    bank_of_plan,
    copy_files,
    list_bank,
    list_layout,
    paths_of_layout,
)
from aoe_reports.workflows.output import exchange_names
from aoe_reports.workflows.plan_folder import STATE, VERIFY, locked, read_plan, read_state, read_verification


class AdoptError(AoeReportsError):
    """A bank cannot be put into use; the one in use is what it was."""


@dataclass(slots=True)
class Adopted:
    """What was (or, in a dry run, would be) put into use: a row a file that differs."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    refused: bool = False
    more: dict[str, Any] = field(default_factory=dict)


def adopt(
    folder: Path, environment: Mapping[str, str], *, to: Path | None, soc: str | None, force: bool, dry_run: bool
) -> Adopted:
    """Put the private bank of a folder's job into use, if it was verified or `force` is told.

    It goes to `to` (laid out as under TUNE_BANK_PATH), else to the plan's bank, else to where the environment says.
    """
    plan = read_plan(folder)
    bank = folder / BANK
    if not bank.is_dir():
        raise UsageError(say("{folder}: no private bank; `aoe-reports tune` makes one", folder=folder))
    state = read_state(folder)
    told = (state or {}).get("bank")
    soc = soc or plan.soc or (told.get("soc") if isinstance(told, dict) else None)
    soc = check_soc(soc if isinstance(soc, str) else _only_soc(bank))
    layout = _target(folder, environment, to, plan.bank is not None)
    adopted = Adopted()
    with locked(folder):
        listing = list_bank(bank)
        adopted.findings += _doubts(folder, state, digest_of(listing), force=force)
        adopted.refused = any(finding.severity == "error" for finding in adopted.findings)
        before = list_layout(layout, soc)
        changes = difference(before, {n: e for n, e in listing.items() if n.startswith(f"{soc}/") or "/" not in n})
        adopted.rows = [asdict(change) for change in changes]
        adopted.findings += _losses(layout, changes)
        adopted.more = {
            "bank": str(layout.operators_root),
            "by": layout.by,
            "soc": soc,
            "backups": [],
            "adopted": False,
        }
        if not changes:
            text = say("nothing differs")
            adopted.findings.append(_finding("adopt-nothing", str(layout.operators_root), text))
        elif not adopted.refused and not dry_run:
            with stopping():  # a signal in between would leave half of it: it waits
                adopted.more["backups"] = _put_into_use(layout, soc, bank, before)
            adopted.more["adopted"] = True
    return adopted


def _only_soc(bank: Path) -> str:
    there = sorted(entry.name for entry in bank.iterdir() if entry.is_dir())
    if len(there) != 1:
        raise UsageError(say("{bank}: which chip is meant is not known; expected --soc", bank=bank))
    return there[0]


def _target(folder: Path, environment: Mapping[str, str], to: Path | None, planned: bool) -> BankLayout:
    if to is not None:
        return bank_at(PurePosixPath(os.path.abspath(to)))
    return bank_of_plan(read_plan(folder), folder, environment) if planned else bank_of_environment(environment)


def _doubts(folder: Path, state: Mapping[str, Any] | None, digest: str, *, force: bool) -> list[Finding]:
    """What speaks against putting the bank into use."""
    found = []
    severity: Severity | None = "warning" if force else None
    verification: Verification | None = read_verification(folder)
    if state is None or state.get("status") != "done":
        status = "" if state is None else str(state.get("status"))
        text = say("the job is {status}", status=say(status)) if status else say("the job was never run by `tune`")
        found.append(_finding("adopt-not-tuned", str(folder / STATE), text, severity))
    if verification is None:
        text = say("not verified: measure again (remeasure.md), then `aoe-reports verify`")
        found.append(_finding("adopt-not-verified", str(folder / VERIFY), text, severity))
    elif not verification.passed:
        text = say("the verdict is {verdict}", verdict=say(verification.verdict))
        found.append(_finding("adopt-not-verified", str(folder / VERIFY), text, severity))
    elif verification.damaged:
        text = say(
            "the verdict ({verdict}) was made from damaged files; verify again with sound ones",
            verdict=say(verification.verdict),
        )
        found.append(_finding("adopt-not-verified", str(folder / VERIFY), text, severity))
    elif verification.verdict == "partly":
        text = say("less than the claimed gain was measured, and still a gain")
        found.append(_finding("adopt-partly", str(folder / VERIFY), text))
    if verification is not None and verification.bank_digest not in {None, digest}:
        text = say("the private bank has changed since it was verified")
        found.append(_finding("adopt-changed-since", str(folder / BANK), text, severity))
    return found


def _losses(layout: BankLayout, changes: list[BankChange]) -> list[Finding]:
    """What the bank in use has and the private one has not."""
    found = []
    for change in changes:
        if change.change == "removed":
            text = say(
                "{path}: is not in the private bank; it goes out of use (and stays in the backup)", path=change.path
            )
        elif change.entries_lost:
            text = say(
                "{path}: {entries_lost} entries of the file in use are not in the private one, which replaces it",
                path=change.path,
                entries_lost=change.entries_lost,
            )
        elif change.change == "changed" and change.entries_lost is None:
            text = say("{path}: is replaced; what it holds cannot be compared entry by entry", path=change.path)
        else:
            continue
        found.append(_finding("adopt-replaces", str(layout.operators_root), text))
    return found


def _finding(rule: str, path: str, message: str, severity: Severity | None = None) -> Finding:
    return Finding(severity or ADOPT_RULES[rule][0], rule, path, message)


# Putting into use. A folder of the bank is replaced as a whole: AOE never sees half of it.


@dataclass(slots=True)
class _Move:
    """One folder of the bank in use, and the complete new one beside it that is to take its place."""

    fresh: Path
    target: Path
    existed: bool
    done: bool = False

    def make(self) -> None:
        """Put the new folder into use, at once; the old one has the new one's name then."""
        if self.existed:
            exchange_names(self.fresh, self.target)
        else:
            self.fresh.rename(self.target)
        self.done = True

    def take_back(self) -> None:
        """Put the old folder into use again."""
        if self.existed:
            exchange_names(self.fresh, self.target)
        else:
            self.target.rename(self.fresh)
        self.done = False


def _put_into_use(layout: BankLayout, soc: str, bank: Path, before: Listing) -> list[str]:
    """Replace each folder of the bank in use by a complete new one: all or none. Where the old ones are kept is returned."""
    moves: list[_Move] = []
    try:
        for target, files, rest in _folders(layout, soc, bank):
            moves.append(_stage(target, files, rest))
        _see_that_nothing_changed(layout, soc, before)
        for move in moves:
            move.make()
    except BaseException as error:
        for move in reversed(moves):
            if move.done:
                move.take_back()
            shutil.rmtree(move.fresh, ignore_errors=True)
        if isinstance(error, OSError):
            where = error.filename or layout.operators_root
            raise AdoptError(
                say("{where}: {why}; the bank in use is what it was", where=where, why=error.strerror or error)
            ) from error
        raise
    return [str(_keep(move)) for move in moves if move.existed]


def _see_that_nothing_changed(layout: BankLayout, soc: str, before: Listing) -> None:
    if list_layout(layout, soc) != before:
        raise AdoptError(
            say(
                "{operators_root}: it changed meanwhile; try again when nobody tunes with it",
                operators_root=layout.operators_root,
            )
        )


def _folders(layout: BankLayout, soc: str, bank: Path) -> list[tuple[Path, dict[str, Path], bool]]:
    """(folder of the bank in use, its new files by their path in it, whether what else is in it stays)."""
    private = bank_at(PurePosixPath(os.path.abspath(bank)))
    files = paths_of_layout(private, soc)
    if not layout.graphs_by_soc:
        return [(_real(layout.operators_root), files, True)]
    operators = {name.removeprefix(f"{soc}/"): path for name, path in files.items() if "/" in name}
    graphs = {name: path for name, path in files.items() if "/" not in name}
    folders = [(_real(layout.operators(soc)), operators, False), (_real(layout.graphs(soc)), graphs, True)]
    return [entry for entry in folders if entry[1] or entry[0].exists()]


def _real(path: PurePosixPath) -> Path:
    """A folder itself, where a link leads to it: the link stays."""
    return Path(os.path.realpath(path))


def _stage(target: Path, files: Mapping[str, Path], rest: bool) -> _Move:
    """A complete new folder beside a folder of the bank; `rest`: other folders in it (of other chips) are copied, too."""
    existed = target.is_dir()
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.new-"))
    if existed and rest:
        soc_folders = {name.split("/", 1)[0] for name in files if "/" in name}
        for entry in target.iterdir():
            if entry.is_symlink() and entry.is_dir() and entry.name not in soc_folders:
                (fresh / entry.name).symlink_to(entry.readlink())
            elif entry.is_dir() and entry.name not in soc_folders:
                shutil.copytree(entry, fresh / entry.name, symlinks=True)
    copy_files(files, fresh)
    if existed:
        shutil.copystat(target, fresh)
    else:
        fresh.chmod(0o755)
    return _Move(fresh, target, existed)


def _keep(move: _Move) -> Path:
    """Give the old folder a name that says what it is."""
    number = 1
    while (kept := move.target.with_name(f"{move.target.name}.backup-{number:03d}")).exists():
        number += 1
    move.fresh.rename(kept)
    return kept
