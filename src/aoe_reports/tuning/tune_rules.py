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
    "tune-no-finish-line": TuneRule("error", say("the console did not report that tuning finished"), _GUIDE),
    "tune-error-code": TuneRule(
        "error", say("the console reported an error code"), say("AOE errors (EG codes), API error codes")
    ),
    "tune-memory": TuneRule("warning", say("the console warned of too little memory (WG0000)"), say("AOE errors")),
    "tune-no-result": TuneRule("error", say("no result file of this run"), _GUIDE),
    "tune-bad-result": TuneRule("error", say("a result file of this run is truncated or not valid"), _GUIDE),
    "tune-incomplete": TuneRule("error", say("a result file reports that a task was not tuned completely"), _GUIDE),
    "tune-bank-not-tuned": TuneRule(
        "error", say("gradient tuning left no tuned bank"), say("the code that writes these banks")
    ),
    "tune-exit-code": TuneRule(
        "error", say("the command ended with an error (a warning for aoe, whose exit codes are not documented)"), _GUIDE
    ),
    "tune-killed": TuneRule(
        "error", say("a signal that this tool did not send ended the process: a crash, or too little memory")
    ),
    "tune-guardian-lost": TuneRule(
        "error", say("the process that monitors the command was killed; a daemon of the command may still run")
    ),
    "tune-timeout": TuneRule("error", say("it took longer than --timeout and was stopped")),
    "tune-interrupted": TuneRule("error", say("it received a signal to stop before it was complete")),
    "tune-left-running": TuneRule(
        "warning", say("processes were still running after the command had ended, and were terminated")
    ),
    "tune-claim-mismatch": TuneRule(
        "warning", say("the console's percentage differs from the one in the result file"), _GUIDE
    ),
    "tune-nothing-changed": TuneRule("warning", say("tuning succeeded without changes: no measurement is needed")),
    "tune-bank-unchanged": TuneRule("warning", say("the result reports changes, but no file of the bank changed")),
    "tune-other-aoe": TuneRule(
        "warning",
        say("the job continues with a different aoe than the one it started with"),
        say("AOE reference: command line"),
    ),
    "tune-other-chip": TuneRule(
        "warning",
        say("AOE wrote to the bank of a chip that differs from the chip in the plan"),
        say("AOE reference: environment variables"),
    ),
    "tune-not-ended": TuneRule(
        "warning",
        say(
            "some processes of the job could not be terminated (they belong to another user or are "
            "waiting for a device)"
        ),
    ),
    "tune-log-capped": TuneRule("info", say("the middle of a long console log was left out")),
    "tune-file-missing": TuneRule("warning", say("a file that the plan expects is missing")),
    "tune-ops-edited": TuneRule("warning", say("tune_ops.json and plan.json make different requests")),
}
"""Rules of `tune`."""


def finding_of(rule: str, path: str, message: str, severity: Severity | None = None) -> Finding:
    """A finding of one of TUNE_RULES."""
    return Finding(severity or TUNE_RULES[rule].severity, rule, path, message)


def describe_unended(processes: Sequence[str]) -> str:
    """Which processes are still running, though they were killed."""
    return say("still running and could not be terminated: {processes}", processes=", ".join(processes))
