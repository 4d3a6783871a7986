"""What a run could gain and what is worth tuning next, worked out while its tables are read, as rows for the store.

What is stored is what people read: `advise` and `plan` on the profile itself have the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from aoe_reports.engine.rules import STANDS_IN
from aoe_reports.engine.runs import label_of
from aoe_reports.facts.bounds import StepShares
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.ascend.names import PROFILER_DB
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.history.rules import ADVICE_LIMITED, PLAN_UNKNOWN
from aoe_reports.history.runs.stored_advice import LINKS, SAID, cells_of_links
from aoe_reports.history.runs.stored_picture import PICTURE, picture_of_run, read_size
from aoe_reports.model.errors import AoeReportsError
from aoe_reports.model.findings import Finding
from aoe_reports.model.names import shorten_middle
from aoe_reports.model.pictures.step import StepPicture
from aoe_reports.model.rows import as_mapping
from aoe_reports.model.texts import N_, Text, as_fields, say
from aoe_reports.topics.advice.advise import AdviseOptions, rows_of_run, stated_rows
from aoe_reports.topics.advice.captures import COMMUNICATION_KINDS, DeviceAdvice, advise_tasks, communication_of
from aoe_reports.topics.advice.report import evidence_words
from aoe_reports.topics.communication.link_maps import link_maps
from aoe_reports.topics.communication.run import Communication
from aoe_reports.topics.records.load import WideTables
from aoe_reports.tuning.plan.plan import Plan, document_of_plan
from aoe_reports.tuning.plan.planning import PlannedOperators, known_without_asking, next_plan, planned_first, soc_of
from aoe_reports.tuning.plan.prior import PriorJobs
from aoe_reports.tuning.plan.ranking import RANKED_BY
from aoe_reports.tuning.plan.report import headline as plan_headline

Row = dict[str, Any]

STORED_ADVICE = 20
"""So much advice of a run is stored, what could gain most first; as many rows of msprof's own."""
STORED_CANDIDATES = 20
STORED_DEVICES = 8
STORED_NOTES = 5
LONGEST_TEXT = 500
"""Characters of a name or a sentence that are stored; of a longer one its beginning and its end."""

MAX_MORE_BYTES = 64 << 20
"""Timelines, databases and tables of communication of a run that are looked into for advice: larger ones would take longer
than all that is read for records. Timelines and databases are left out first."""


@dataclass(slots=True)
class Advisor:
    """Works out advice for one run after the other; what it knows of banks is read once for each chip."""

    environment: Mapping[str, str]
    _known: dict[str | None, PriorJobs] = field(default_factory=dict)

    def known(self, captures: Sequence[Capture]) -> PriorJobs:
        """What is known of earlier tuning on the chip of these captures."""
        soc = soc_of(captures)
        if soc not in self._known:
            self._known[soc] = known_without_asking(captures, self.environment)
        return self._known[soc]


@dataclass(slots=True)
class _Longest:
    order: tuple[Any, ...]
    tasks: TaskSet
    shares: StepShares
    operators: PlannedOperators


@dataclass(slots=True)
class Looked:
    """What one capture, or all of a run, hold for the advice on the run."""

    run: str
    alone: bool = True
    """Whether the run has no other capture."""
    devices: list[DeviceAdvice] = field(default_factory=list)
    stated: list[Row] = field(default_factory=list)
    longest: _Longest | None = None
    communication: Communication = field(default_factory=Communication)
    findings: list[Finding] = field(default_factory=list)
    failed: str | None = None
    """Why there is no advice."""

    def look(self, tables: WideTables, left_out: LeftOut) -> None:
        """Work out what the tables tell; what cannot be read for it is told instead of advice, and keeps no run out."""
        try:
            self._look(tables, without(tables.capture, left_out))
        except (AoeReportsError, OSError) as error:
            self.failed = _reason(error)

    def take(self, other: Looked) -> None:
        """Take in another capture of the run; of all ranks only the one with the longest step is held whole."""
        if self.failed is not None:
            return
        self.devices += other.devices
        self.stated += other.stated
        self.communication.take(other.communication)
        self.findings += other.findings
        self.failed = other.failed
        if other.longest is not None and (self.longest is None or other.longest.order < self.longest.order):
            self.longest = other.longest

    def _look(self, tables: WideTables, capture: Capture) -> None:
        devices = self.devices
        sets = tables.tasks
        if sets and tables.stand_in is not None:
            message = say(
                "no table of tasks with their operators here; {table} is used instead ({what})",
                table=tables.stand_in,
                what=say("it has no types and no counters"),
            )
            self.findings.append(STANDS_IN.found(str(capture.root), message))
        for tasks, device in advise_tasks(capture, sets, tables.steps, _CHOSEN, self.findings, plans=True):
            if tasks is not None:
                order = planned_first(tasks, device.shares)
                if self.longest is None or order < self.longest.order:
                    light = tasks.frame.select([name for name in RANKED_BY if name in tasks.frame.column_names])
                    bounds = None if device.bounds is None else replace(device.bounds, ratio={}, clock=None)
                    operators = PlannedOperators(bounds, device.near_roof)
                    self.longest = _Longest(order, replace(tasks, frame=light), device.shares, operators)
            devices.append(device)
        stated = stated_rows(self.run, tables.capture, devices, _CHOSEN, self.findings)
        self.stated += map(as_mapping, stated)
        for device in devices:
            device.bounds = device.near_roof = None  # they may be many, and large
        gone = {step for device in devices for step in device.left_out}
        of_alone = devices if self.alone else None
        self.communication = communication_of(capture, of_alone, _CHOSEN, self.findings, gone)


LeftOut = Literal["nothing", "timelines", "tables"]
"""What of a run is not looked into for advice: also its databases with its timelines, and tables of communication after these."""


def left_out_of(captures: Sequence[Capture]) -> tuple[LeftOut, int]:
    """(what is not looked into, how many bytes that is): as little as leaves no more than MAX_MORE_BYTES."""
    files = [file for capture in captures for file in capture.files]
    timelines = sum(map(read_size, filter(_is_timeline, files)))
    tables = sum(map(read_size, filter(_is_communication, files)))
    if timelines + tables <= MAX_MORE_BYTES:
        return "nothing", 0
    return ("timelines", timelines) if tables <= MAX_MORE_BYTES else ("tables", timelines + tables)


def without(capture: Capture, left_out: LeftOut) -> Capture:
    """The capture without what is not looked into."""
    if left_out == "nothing":
        return capture
    return capture.without(lambda file: _is_timeline(file) or (left_out == "tables" and _is_communication(file)))


_NOT_EXAMINED = N_(
    {
        "timelines": "{size_mb:,.0f} MB of timelines and databases were not examined; `advise` on the profile examines them",
        "tables": "{size_mb:,.0f} MB of timelines, databases and communication tables were not examined; `advise` on the profile examines them",
    }
)


@dataclass(slots=True)
class Advising:
    """The advice on one run, while its captures are read one by one."""

    advisor: Advisor
    captures: tuple[Capture, ...]
    run: Looked = field(default_factory=lambda: Looked(""))
    """What its captures hold for advice."""
    _whole: tuple[Capture, ...] = ()
    """The captures with their timelines, too."""

    def __post_init__(self) -> None:
        """Say what would take too long to be looked into."""
        self._whole = self.captures
        left_out, size = left_out_of(self.captures)
        if left_out != "nothing":
            message = say(_NOT_EXAMINED[left_out], size_mb=size / 1e6)
            self.run.findings.append(ADVICE_LIMITED.found(label_of(self.captures), message))
            self.captures = tuple(without(capture, left_out) for capture in self.captures)

    def rows(self) -> list[Row]:
        """Rows of kind advice: one that sums up, then advice, msprof's own, candidates of a plan, what that leaves out, a picture."""
        return [*self._rows_of_advice(), *self._rows_of_picture()]

    def _rows_of_advice(self) -> list[Row]:
        if self.run.failed is None:
            try:
                return [_stored(row) for row in self._rows()]
            except (AoeReportsError, OSError) as error:
                self.run.failed = _reason(error)
        return [_stored(_summary({"why_not": self.run.failed}))]

    def _rows_of_picture(self) -> Iterator[Row]:
        tasks = None if self.run.longest is None else self.run.longest.tasks
        rank_id, device_id = (None, None) if tasks is None else (tasks.rank_id, tasks.device_id)
        picture = picture_of_run(self._whole, rank_id, device_id)
        if isinstance(picture, StepPicture):  # its texts are short, and its blocks are not to be cut
            yield {"state": PICTURE, "subject": "step", "body": canonical_json(asdict(picture))}
        elif picture is not None:
            yield _stored({"state": PICTURE, "subject": "step", "body": asdict(picture)})

    def _rows(self) -> Iterator[Row]:
        rows, said = rows_of_run(label_of(self.captures), self.run.devices, self.run.communication, _CHOSEN)
        advice = _each_once([as_mapping(row) for row in rows])
        headlines = [as_mapping(one) for one in sorted(said, key=lambda one: -(one.step_us or 0.0))]
        plan, longest = self._plan(), self.run.longest
        found = list(dict.fromkeys(self.run.findings))
        yield _summary(
            {
                "why_not": None if headlines else self._why_not(),
                "found": len(advice),
                "stated": len(self.run.stated),
                "devices": len(headlines),
                "headlines": [_without(row, "run") for row in headlines[:STORED_DEVICES]],
                "plan": None if plan is None or longest is None else _plan_summary(plan, longest),
                "notes": [
                    say("{message} [{rule}]", message=one.message, rule=one.rule) for one in found[:STORED_NOTES]
                ],
            }
        )
        for state, stored in (("advice", advice), ("msprof", self.run.stated)):
            for position, row in enumerate(stored[:STORED_ADVICE], start=1):
                yield {"state": state, **_advice_row(row, position)}
        for one in link_maps(self.run.communication.links):
            links = {name: getattr(one, name) for name in ("group", "transport", "count")}
            yield {"state": LINKS, "subject": "links", "body": {**links, LINKS: cells_of_links(one.shares)}}
        if plan is not None and longest is not None:
            yield from _plan_rows(plan, longest.tasks)
            # they may be many, and large
            longest.operators, longest.tasks = PlannedOperators(None), longest.tasks.without_rows()

    def _why_not(self) -> str:
        """Why there is no advice: the first error, if there is one."""
        errors = (finding.message for finding in self.run.findings if finding.severity == "error")
        return next(errors, say("neither tasks nor steps here for which advice could be given"))

    def _plan(self) -> Plan | None:
        """The next tuning plan; an unreadable bank does not prevent advice."""
        longest = self.run.longest
        if longest is None:
            return None
        try:
            known = self.advisor.known(self.captures)
            self.run.findings += known.findings
            return next_plan(self.captures, longest.tasks, longest.shares, longest.operators, known)
        except (AoeReportsError, OSError) as error:
            message = say("no plan could be made: {why}", why=_reason(error))
            self.run.findings.append(PLAN_UNKNOWN.found(label_of(self.captures), message))
            return None


_CHOSEN = AdviseOptions(top=1000)
"""Of each device so much is held against the other devices' before what is stored is chosen."""


def _is_timeline(file: FoundFile) -> bool:
    return file.name.timeline or file.name.kind == PROFILER_DB


def _is_communication(file: FoundFile) -> bool:
    return not _is_timeline(file) and file.name.kind.startswith(COMMUNICATION_KINDS)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _each_once(rows: Sequence[Row]) -> list[Row]:
    """Advice repeated on several devices as one row: the largest bound, and the number of devices; largest first."""
    found: dict[tuple[Any, ...], Row] = {}
    of_device: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        about = ("op_type", "op_name", "input_shapes") if row["count"] is not None else ()  # else it is on the step
        same = (row["rule"], *(row[name] for name in about))
        device = (*same, row["rank_id"], row["device_id"])
        key = (of_device[device], *same)  # several of one rule on one device (slow links) are several
        of_device[device] += 1
        known = found.get(key)
        devices = 1 if known is None else known["devices"] + 1
        if known is None or _least(row["bound_us"]) > _least(known["bound_us"]):
            known = dict(row)
        found[key] = {**known, "devices": devices}
    return sorted(found.values(), key=lambda row: -_least(row["bound_us"]))


def _least(bound: float | None) -> float:
    return -1.0 if bound is None else bound


def _advice_row(row: Row, position: int) -> Row:
    names = ("rank_id", "device_id", "source", "rule", "op_type", "op_name")
    body = {**_without(row, "run", "evidence", *names), "position": position, "evidence": _said(row)}
    columns = {name: row[name] for name in (*names, "count")}
    about = row["op_name"] or row["op_type"] if row["count"] is not None else None  # else the name is only evidence
    return {**columns, "subject": about or "step", "body": body}


def _said(row: Row) -> str | None:
    if row["source"] != "prof_rule":
        return evidence_words(row["evidence"]) or None
    words = [row["evidence"][name] for name in ("section", "rule_type", "rule_description")]
    return "; ".join(str(word) for word in words if word) or None


def _plan_summary(plan: Plan, longest: _Longest) -> Row:
    document = document_of_plan(plan)
    names = (
        "scenario", "mode", "step_us", "computing_share", "communication_not_overlapped_share", "free_share", "bound_saving_us",
        "bound_saving_share",
    )  # fmt: skip
    return {
        **{name: document[name] for name in names},
        "headline": plan_headline(plan),
        "rank_id": longest.tasks.rank_id,
        "device_id": longest.tasks.device_id,
        "steps": longest.shares.steps,
        "candidates": len(plan.candidates),
        "expected_saving_us": plan.expected_saving_us or 0.0,
        "assumed_saving_us": plan.assumed_saving_us,
        "cost_s": round(sum(candidate.cost_s or 0.0 for candidate in plan.candidates), 3),
        "rejected": len(plan.rejected),
    }


def _plan_rows(plan: Plan, tasks: TaskSet) -> Iterator[Row]:
    whose = {"rank_id": tasks.rank_id, "device_id": tasks.device_id}
    for position, one in enumerate(plan.candidates[:STORED_CANDIDATES], start=1):
        names = (
            "input_shapes", "count", "total_us", "share", "bound_by", "bound_saving_us", "expected_saving_us", "cost_s", "reason",
        )  # fmt: skip
        body = {"position": position, "kind": one.kind, **{name: getattr(one, name) for name in names}}
        columns = {"op_type": one.op_type, "op_name": one.op_name, "count": one.count}
        yield {**whose, **columns, "state": "candidate", "subject": one.op_name or one.op_type or "model", "body": body}
    left: dict[str, Row] = {}
    for entry in plan.rejected:
        parts = entry.reason.values if isinstance(entry.reason, Text) else {"why": str(entry.reason)}
        word = str(parts["why"])
        row = left.setdefault(word, {"meaning": parts.get("meaning"), "operators": 0, "total_us": 0.0})
        row["operators"] += parts.get("count", 1)
        row["total_us"] = round(row["total_us"] + (entry.total_us or 0.0), 3)
    ordered = sorted(left, key=lambda word: (-left[word]["total_us"], word))
    for position, word in enumerate(ordered, start=1):
        body = {"position": position, **left[word]}
        yield {**whose, "state": "left-out", "rule": word, "subject": word, "body": body}


def _summary(body: Row) -> Row:
    return {"state": "summary", "subject": "run", "body": body}


def _without(row: Mapping[str, Any], *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _stored(row: Row) -> Row:
    """A row as the store takes it: texts capped, what has no column as JSON."""
    return {**{name: _capped(value) for name, value in row.items()}, "body": canonical_json(_capped(row["body"]))}


def _capped(value: Any) -> Any:
    """A value as JSON; templates of sentences are beside them under `said`, for other languages."""
    if isinstance(value, str):
        return shorten_middle(value, LONGEST_TEXT)
    if isinstance(value, dict):
        said = {name: made for name, inner in value.items() if (made := _made_of(inner)) is not None}
        capped = {name: _capped(inner) for name, inner in value.items()}
        return {**capped, SAID: said} if said else capped
    return [_capped(inner) for inner in value] if isinstance(value, list) else value


def _made_of(value: Any) -> Any:
    """Template and values of a sentence, or of a list of them; None if there is none or it is shortened."""
    if isinstance(value, Text):
        return as_fields(value)[1:] if len(value) <= LONGEST_TEXT else None
    if isinstance(value, list) and any(isinstance(one, Text) for one in value):
        return [_made_of(one) for one in value]
    return None


def digest_of(rows: Sequence[Row]) -> str:
    """What tells one run's advice from another without reading it: it stands in the row of the run."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:16]
