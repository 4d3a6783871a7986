"""What earlier tuning left to know: results and verdicts in the store, result files, banks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from msgspec import Struct, convert

from aoe_reports.formats.aoe.result_files import read_bytes, read_results
from aoe_reports.formats.aoe.results import TuningResult, join_name
from aoe_reports.formats.records.payloads import Number, body_of, number_in, object_in, text_in
from aoe_reports.formats.rules import NOTHING_FOUND, UNREADABLE
from aoe_reports.formats.sources.discovery import result_files, why_not_read
from aoe_reports.model.errors import ReadError
from aoe_reports.model.findings import FAILED_TUNING, has
from aoe_reports.model.texts import join, say
from aoe_reports.rules.results.check import check_result_file
from aoe_reports.store import History, equals
from aoe_reports.topics.records.from_result import plain_number
from aoe_reports.tuning.aoe.bank import RUNTIME_KB
from aoe_reports.tuning.banks.bank import MAX_BANK_FILE_BYTES
from aoe_reports.tuning.plan.prior import Gain, PriorJobs, PriorSources, cost_of_summary, saved_share
from aoe_reports.tuning.rules import BANK_ENTRY


def read_prior_jobs(sources: PriorSources) -> PriorJobs:
    """What the store, result files and the bank in use tell of earlier tuning with AOE."""
    reading = _Reading()
    if sources.store is not None:
        reading.read_store(sources.store, sources.workload)
    if sources.results:
        reading.read_results(sources.results)
    reading.read_bank(sources.bank_files)
    return reading


class _Reading(PriorJobs):
    def _tell(self, improved: Sequence[str], failed: Sequence[str], source: str) -> None:
        """Take in one tuning task; of an operator the last task counts."""
        for name in map(join_name, improved):
            self.banked[name] = source
            self.failed.pop(name, None)
        for name in map(join_name, failed):
            self.failed[name] = source
            self.banked.pop(name, None)

    def read_results(self, paths: Sequence[Path]) -> None:
        """Take in result files of AOE, in the order of their names (which hold their times)."""
        files = result_files(paths)
        for path in paths:
            if (why := why_not_read(path)) is not None:
                self._cannot(path, why)
            elif not any(found == path or found.is_relative_to(path) for found, _ in files):
                self.findings.append(NOTHING_FOUND.found(str(path), say("no AOE result here")))
        for path, name in sorted(files, key=lambda found: (found[0].name, str(found[0]))):
            try:
                file = read_results(path, name)
            except ReadError as error:
                self._cannot(path, join("; ", (error.what, error.expected)))
                continue
            found = [f for f in check_result_file(file) if f.rule not in FAILED_TUNING]
            self.findings += found
            if has(found, "error"):
                continue  # said above: nothing of a damaged file is built upon
            for result in file.results:
                self._take(result, path.name)

    def _cannot(self, path: Path, why: str) -> None:
        self.unreadable = True
        self.findings.append(UNREADABLE.found(str(path), why))

    def _take(self, result: TuningResult, source: str) -> None:
        if result.ambiguous:
            return
        self.gains += _gains_of_result(result)
        seconds = plain_number(result.tuning_time_s)
        self._cost(result.kind, None if seconds is None else float(seconds), result.summary, complete=result.complete)
        if result.kind == "opat":
            improved = [modification.name for modification in result.modifications]
            self._tell(improved, result.failed_operators, source)

    def _cost(self, kind: str | None, seconds: float | None, summary: Mapping[str, float], *, complete: bool) -> None:
        if not complete or seconds is None or seconds <= 0:
            return
        if kind == "sgat":
            self.subgraph_costs_s.append(seconds)
        elif (cost := cost_of_summary(seconds, summary)) is not None:
            self.costs_s.append(cost)

    def read_store(self, uri: str, workload: str | None) -> None:
        """Take in what a store holds of tuning: gains and costs of all of it, single operators of `workload` only."""
        history = History.open(uri)
        columns = (*_STORED, "model", "phase", "metadata", "timestamp_ns")
        rows = history.records(columns, [equals("source", "aoe")])
        improved: dict[str, list[str]] = {}
        for before, after in _pairs(rows):
            saved = saved_share(before.runtime_ms_mean, after.runtime_ms_mean)
            if saved is not None and before.scope == "op":
                kinds = [] if before.unmeasured else [kind for kind in (before.op_type or "").split(";") if kind]
                self.gains += [Gain(kind, saved) for kind in kinds]
                improved.setdefault(before.run_id, []).append(before.op_name or "")
        runs = history.rows("run", ("run_id", "run_kind", "model", "night", "timestamp_ns", "status", "body"))
        for run in sorted(runs.to_pylist(), key=lambda row: (row["timestamp_ns"], row["run_id"])):
            if run["run_kind"] == "tuning":
                mine = workload is not None and run["model"] == workload
                told = say("in the store, {night}", night=run["night"]) if mine else None
                self._take_run(convert(body_of(run["body"]), _StoredTuning), improved.get(run["run_id"], []), told)
        for row in history.rows("verdict", ("scope", "op_type", "state", "body")).to_pylist():
            is_measured = row["scope"] == "operator" and row["state"] != "not-used"
            change = number_in(body_of(row["body"]), "change") if is_measured else None
            if change is not None and row["op_type"]:
                self.gains.append(Gain(row["op_type"], -change, measured=True))

    def _take_run(self, run: _StoredTuning, improved: Sequence[str], source: str | None) -> None:
        """Take in a run; its single operators only with a `source`, which says that it is of the workload."""
        complete = bool(improved) or run.model_result_ms is not None
        self._cost(run.kind, run.tuning_time_s, run.summary or {}, complete=complete)
        if run.kind == "sgat" and complete:
            saved = saved_share(run.model_baseline_ms, run.model_result_ms)
            self.gains += [] if saved is None else [Gain(None, saved)]
        if run.kind == "opat" and source is not None:
            self._tell(improved, run.failed_operators or (), source)

    def read_bank(self, files: Mapping[str, Path]) -> None:
        """Take in the operators of a bank, by the paths of its files."""
        for name, path in sorted(files.items()):
            if not name.endswith(RUNTIME_KB):
                continue
            try:
                data = read_bytes(path, MAX_BANK_FILE_BYTES)
            except ReadError as error:
                self._cannot(path, join("; ", (error.what, error.expected)))
                continue
            for number, line in enumerate(data.splitlines(), start=1):
                self._take_entry(path, number, line)

    def _take_entry(self, path: Path, number: int, line: bytes) -> None:
        if not line.strip():
            return
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):  # or nested without end
            message = say("not a JSON object; an operator bank has one entry per line")
            self.findings.append(BANK_ENTRY.found(str(path), message, number))
            return
        word = entry.get("op") if isinstance(entry, dict) else None
        if isinstance(word, str) and word:
            self.bank_entries[word] = self.bank_entries.get(word, 0) + 1


def _gains_of_result(result: TuningResult) -> list[Gain]:
    """The gains of a complete tuning: of a fused operator one for each of its types, of a model one."""
    if not result.complete:
        return []
    if result.kind == "sgat":
        saved = saved_share(result.model_baseline_ms, result.model_result_ms)
        return [] if saved is None else [Gain(None, saved)]
    found = []
    for modification in result.modifications:
        saved = None if modification.unmeasured else saved_share(modification.before, modification.after)
        if saved is not None:
            found += [Gain(op_type, saved) for op_type in modification.op_type]
    return found


class _StoredTuning(Struct):
    kind: str | None = None
    tuning_time_s: Number | None = None
    model_baseline_ms: Number | None = None
    model_result_ms: Number | None = None
    summary: dict[str, Number] | None = None
    failed_operators: list[str] | None = None


@dataclass(frozen=True, slots=True)
class _Time:
    run_id: str
    scope: str
    op_type: str | None
    op_name: str | None
    runtime_ms_mean: float | None
    unmeasured: bool


_STORED = ("run_id", "scope", "op_type", "op_name", "runtime_ms_mean")


def _pairs(rows: pa.Table) -> Iterator[tuple[_Time, _Time]]:
    found: dict[tuple[str, str], dict[str, _Time]] = {}
    for row in rows.to_pylist():
        metadata = object_in(row, "metadata")
        pair_id = text_in(metadata, "pair_id")
        if pair_id is not None and row["phase"] in {"before", "after"}:
            time = _Time(**{name: row[name] for name in _STORED}, unmeasured=metadata.get("unmeasured") is True)
            found.setdefault((time.run_id, pair_id), {})[row["phase"]] = time
    for key in sorted(found):
        both = found[key]
        if len(both) == len(("before", "after")):
            yield both["before"], both["after"]
