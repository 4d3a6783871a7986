"""Whether the tuned bank was in use, as logs of CANN tell it: where they lie, what they say, and why an entry was not found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from aoe_reports.engine.captures import operator_bank_files
from aoe_reports.engine.question import Notes
from aoe_reports.formats.aoe.bank_log import BankLogs, read_bank_logs
from aoe_reports.formats.sources.discovery import discover
from aoe_reports.formats.sources.identify import unreadable_file
from aoe_reports.formats.sources.objects import ObjectPath
from aoe_reports.jobs.verify_case import Case, Pair
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import join, say
from aoe_reports.topics.banks.banked import content_of
from aoe_reports.topics.banks.coverage import BankedOperator, BankIndex, CalledOperator
from aoe_reports.topics.banks.uses import NAMED, remarks_on_logs, why_missed
from aoe_reports.tuning.plan.folder import BANK, REMEASURED_LOG
from aoe_reports.tuning.rules import VERIFY_BANK_NOT_USED
from aoe_reports.tuning.tuner import Claims
from aoe_reports.tuning.verify.rows import Row
from aoe_reports.tuning.verify.uses import BankUse, Uses, uses_of


def read_use(case: Case, pair: Pair, claims: Claims, findings: list[Finding]) -> tuple[Uses, BankUse | None] | None:
    """(what logs say of the claims, the same as it is shown, null: nothing); None where the named log cannot be read.

    Without --log those of the profile itself count, else those that remeasure.sh left in the job's folder; logs of the tuning
    itself tell nothing of what was measured afterwards.
    """
    try:
        logs, place = _logs(case, pair, findings)
    except ReadError as error:
        findings.append(unreadable_file(error.path, error))
        return None
    names = [claim.op_name for claim in claims.operators]
    uses = uses_of(logs, names)
    if place is None or not (uses.hits or uses.subgraphs):
        return uses, None
    return uses, uses.use_of(names, [str(place)])


def _logs(case: Case, pair: Pair, findings: list[Finding]) -> tuple[BankLogs, Path | None]:
    named = case.options.log
    if named is not None:
        logs = read_bank_logs([named])
        findings += [
            replace(one, severity="warning") if one.severity == "error" else one for one in remarks_on_logs(logs, named)
        ]
        return logs, named
    for place in (pair.after.path, case.folder / REMEASURED_LOG):
        if isinstance(place, ObjectPath) or not place.is_dir():
            continue
        try:
            logs = read_bank_logs([place])
        except ReadError as error:  # nobody named it: the measurement decides as if it were not there
            findings.append(replace(unreadable_file(error.path, error), severity="warning"))
            continue
        if logs.searches:
            findings += remarks_on_logs(logs, place)
            return logs, place
    return BankLogs(), None


def with_reasons(case: Case, pair: Pair, rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows, those that did not use the bank with the reason that the private bank tells."""
    if not any(row.verdict == "not-used" and row.scope == "operator" for row in rows):
        return tuple(rows)
    device = pair.after.device.capture.info
    cores = device.hardware.get("ai_core_num")
    operators = list(_operators(case.folder / BANK))
    index = BankIndex(operators, case.plan.soc or device.device_type, cores if isinstance(cores, int) else None)
    return tuple(_with_reason(case, row, index) if operators else row for row in rows)


def _with_reason(case: Case, row: Row, index: BankIndex) -> Row:
    if row.verdict != "not-used" or row.scope != "operator":
        return row
    planned = next((one for one in case.plan.operators if one.op_name == row.op_name), None)
    if planned is not None:
        types = (planned.input_data_types, planned.input_formats, planned.output_data_types)
        called = CalledOperator(planned.op_type, row.input_shapes or planned.input_shapes, *types)
    elif row.measured_after_us is not None:
        called = CalledOperator(row.op_type, row.input_shapes, None, None)
    else:
        return row  # a claim's type is not always written as a bank has it
    return replace(row, reason=join("; ", (row.reason or "", why_missed(called, index))))


def _operators(bank: Path) -> Iterator[BankedOperator]:
    """The operators of the private bank that can be read."""
    if not bank.is_dir():
        return
    notes = Notes()
    for file in operator_bank_files(discover([bank])):
        with suppress(ReadError, OSError):  # of a bank that is damaged no entry is known
            yield from content_of(file, notes).operators


def remarks_on_use(use: BankUse | None, rows: Sequence[Row], where: str) -> Iterator[Finding]:
    """That the bank, or a part of it, was not in use, and why."""
    if use is None or not use.not_used:
        return
    why = {row.op_name: row.reason for row in rows if row.scope == "operator" and row.verdict == "not-used"}
    reasons = [say("{name}: {reason}", name=name, reason=why.get(name) or "") for name in use.not_used[:NAMED]]
    yield VERIFY_BANK_NOT_USED.found(where, join("; ", [*use.sentences(), *reasons]))
