"""The rules on how a tuning run went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aoe_reports.model.findings import Finding, Severity
from aoe_reports.model.texts import say


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


def finding_of(rule: str, path: str, message: str, severity: Severity | None = None) -> Finding:
    """A finding of one of TUNE_RULES."""
    return Finding(severity or TUNE_RULES[rule].severity, rule, path, message)


def describe_unended(processes: Sequence[str]) -> str:
    """Which processes are still running, though they were killed."""
    return say("still running, and could not be ended: {processes}", processes=", ".join(processes))
