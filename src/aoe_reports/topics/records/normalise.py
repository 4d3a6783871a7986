"""Turns what was read into what is stored: records of v0.1, and beside them what v0.1 cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from typing import Any

from aoe_reports.formats.aoe.bank_file import BankFile
from aoe_reports.formats.aoe.results import TuningResult
from aoe_reports.formats.csv.rules import CSV_TRUNCATED
from aoe_reports.formats.records.from_document import RunKind
from aoe_reports.formats.records.identity import Member, content_hash_of, identity_of, run_id_of
from aoe_reports.formats.records.record import Record
from aoe_reports.formats.rules import JSON_TRUNCATED, UNIT_MISMATCH
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.documents import Json, JsonObject
from aoe_reports.model.findings import Finding, has, in_order, is_below
from aoe_reports.model.texts import say
from aoe_reports.model.timestamps import night_of
from aoe_reports.rules.results.segments import segment_count, segment_kind
from aoe_reports.rules.results.status import status_unknown
from aoe_reports.rules.schema import SCHEMA
from aoe_reports.store import Run, RunHeader
from aoe_reports.store.layout import CAPTURES
from aoe_reports.topics.records.context import UNKNOWN, RunContext
from aoe_reports.topics.records.from_memory import records_from_memory
from aoe_reports.topics.records.from_parts import records_from_parts
from aoe_reports.topics.records.from_profile import MAX_OPERATORS, records_from_groups, records_from_steps
from aoe_reports.topics.records.from_result import plain_number, records_from_result
from aoe_reports.topics.records.load import ProfileRun, TuningRun
from aoe_reports.topics.records.naming import name_captures, name_workload
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.rules import NO_RECORD, OPERATORS_CAPPED, RAW_CAPPED


def run_of_profile(profile: ProfileRun, options: RecordOptions) -> Run:
    """One profile as it is stored."""
    captures = [data.capture for data in profile.captures]
    named = name_captures(options, captures, (data.model_name for data in profile.captures))
    info = captures[0].info
    context = RunContext(
        run_id=profile.run_id,
        timestamp_ns=profile.timestamp_ns,
        model=named.model,
        hardware=options.hardware or UNKNOWN,
        engine=info.engine,
        source=vendor_of(captures[0].profiler).record_source,
        engine_version=options.engine_version or info.engine_version or UNKNOWN,
        hardware_config=info.hardware,
        runtime_config=_known(profiler_level=info.profiler_level, aic_metrics=info.aic_metrics),
        metadata={"profiler": captures[0].profiler},
    )
    findings = [*profile.findings, *named.findings]
    records: list[Record] = records_from_steps(context, profile.steps, options.raw, profile.tasks)
    for device in profile.tasks:
        records += records_from_groups(context, device)
        if device.left_out:
            message = say(
                "{count} operators beyond the {most} longest do not become records (their types do)",
                count=device.left_out,
                most=MAX_OPERATORS,
            )
            findings.append(OPERATORS_CAPPED.found(str(profile.path), message))
    for sums in profile.communication:
        records += records_from_groups(context, sums)
    records += records_from_parts(context, profile.parts)
    records += records_from_memory(context, profile.memory)
    if options.raw and (without := sum(record.runtime_raw is None for record in records)):
        message = say(
            "{count} records have no individual times: there are more than {raw}, or only sums of them",
            count=without,
            raw=options.raw,
        )
        findings.append(RAW_CAPPED.found(str(profile.path), message))
    path, state = str(profile.path), _state(profile.findings)
    header = _header(context, options.zone, profile.members, path, "profile", state)
    body: JsonObject = {CAPTURES: len(captures)}
    return Run(header, records, in_order(findings), body, _facts(context), named_by=named.by)


def run_of_tuning(tuning: TuningRun, options: RecordOptions) -> Run:
    """One tuning report as it is stored."""
    result, path = tuning.result, str(tuning.file.path)
    named = name_workload(options, tuning.file.path.parent, (result.tuning_name,))
    context = RunContext(
        run_id=tuning.run_id,
        timestamp_ns=tuning.timestamp_ns,
        model=named.model,
        hardware=options.hardware or UNKNOWN,
        engine_version=options.engine_version or UNKNOWN,
        metadata=_known(kind=result.kind, report_key=result.report_key, pid=tuning.file.name.pid),
    )
    header = _header(context, options.zone, (tuning.member,), path, "tuning", status(tuning))
    findings = in_order([*tuning.findings, *named.findings])
    usable = not any(finding.rule in UNUSABLE for finding in findings)
    records = records_from_result(context, result) if usable else []
    body = _body(result, told=bool(records))
    return Run(header, records, findings, body, _facts(context), named_by=named.by)


def _body(result: TuningResult, *, told: bool) -> JsonObject:
    """What a tuning report says of the whole run, and of its parts where no record tells of them."""
    body: JsonObject = {
        "kind": result.kind,
        "container": result.container,
        "vocabulary": result.vocabulary,
        "tuning_name": result.tuning_name,
        "tuning_time_s": plain_number(result.tuning_time_s),
        "model_baseline_ms": plain_number(result.model_baseline_ms),
        "model_result_ms": plain_number(result.model_result_ms),
        "model_improvement": result.model_improvement,
        "summary": {**result.summary},
        "failed_operators": [*result.failed_operators],
        "modified": len(result.modifications),
    }
    if unmeasured := sum(modification.unmeasured for modification in result.modifications):
        body["unmeasured"] = unmeasured
    if told:
        return body
    modifications: list[Json] = [
        {
            "name": modification.name,
            "op_type": [*modification.op_type],
            "tune_mode": modification.mode,
            "update_mode": modification.update_mode,
            "before": plain_number(modification.before),
            "after": plain_number(modification.after),
            "unit": modification.unit,
        }
        for modification in result.modifications
    ]
    return {**body, "modifications": modifications}


def runs_of_bank(file: BankFile, findings: Sequence[Finding], options: RecordOptions) -> list[Run]:
    """The models of a gradient bank, a run each: v0.1 has no record for them, so all there is stands in the run's row.

    A model is what is said of it, for one chip: tuned again it is another run. No bank tells its time: the file's own is taken.
    """
    path, timestamp_ns = str(file.path), file.path.stat().st_mtime_ns
    runs = []
    for model in file.bank.models:
        content = identity_of("gdat", model.modelhash, model.sizes_bytes, model.start, model.deltas)
        soc = file.bank.soc
        identity = content if soc is None else identity_of(soc, content)
        member = Member(identity, content, len(model.sizes_bytes), named=soc is not None)
        run_id = run_id_of(timestamp_ns, identity)
        named = name_workload(options, file.path.parent)
        context = RunContext(
            run_id,
            timestamp_ns,
            named.model,
            options.hardware or soc or UNKNOWN,
            engine_version=options.engine_version or UNKNOWN,
        )
        state = "not tuned" if not model.tuned else "tuned" if model.times == len(model.sizes_bytes) else "damaged"
        header = _header(context, options.zone, (member,), path, "tuning", state)
        body = {
            "kind": "gdat",
            "tuning_name": None,
            "soc": soc,
            "modelhash": model.modelhash,
            "gradient_sizes_bytes": list(model.sizes_bytes),
            "gradient_start": model.start,
            "gradient_times": list(model.deltas),
        }
        inside = [f for f in findings if f.pointer is None or is_below(f.pointer, model.pointer)]
        message = say(
            "gradients are stored as a run without records: v0.1 cannot represent gradients; the time of "
            "the run is that of the file"
        )
        told = in_order([*inside, *named.findings, NO_RECORD.found(path, message)])
        runs.append(Run(header, [], told, body, _facts(context), named_by=named.by))
    return runs


UNUSABLE = frozenset(
    rule.name for rule in (SCHEMA, UNIT_MISMATCH, status_unknown.rule, segment_kind.rule, segment_count.rule)
)
"""Rules after which no number of a tuning report is used."""


def _facts(context: RunContext) -> JsonObject:
    return {
        "engine": context.engine,
        "engine_version": context.engine_version,
        "hardware_config": dict(context.hardware_config),
        "runtime_config": dict(context.runtime_config),
    }


def status(tuning: TuningRun) -> str:
    """How a tuning ended, in AOE's words where it has some."""
    result = tuning.result
    if result.truncated:
        return "incomplete"  # whatever stands there: the rest may say otherwise
    if result.status is not None:
        return result.status
    return "tuning failed" if result.failed else "tuning successful" if result.has_segment else "nothing tunable"


CUT_OFF = frozenset({CSV_TRUNCATED.name, JSON_TRUNCATED.name})
"""Rules that say a file is not whole: means over a part of a step compare with nothing."""


def _state(findings: Sequence[Finding]) -> str:
    """How much of a profile could be used: ok, damaged (rows left out), incomplete (cut off)."""
    if any(finding.rule in CUT_OFF and finding.severity == "error" for finding in findings):
        return "incomplete"
    return "damaged" if has(findings, "error") else "ok"


def _header(
    context: RunContext, zone: tzinfo, members: tuple[Member, ...], path: str, kind: RunKind, status: str
) -> RunHeader:
    return RunHeader(
        run_id=context.run_id,
        run_kind=kind,
        timestamp_ns=context.timestamp_ns,
        night=night_of(context.timestamp_ns, zone),
        model=context.model,
        hardware=context.hardware,
        content_hash=content_hash_of(member.content_hash for member in members),
        members=members,
        status=status,
        path=path,
    )


def _known(**facts: Any) -> JsonObject:
    return {name: value for name, value in facts.items() if value is not None}
