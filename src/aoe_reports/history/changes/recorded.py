"""What the store remembers of changes beside the nights themselves: which were told, acknowledged, announced; named runs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar, cast

import pyarrow as pa
from msgspec import to_builtins

from aoe_reports.formats.records.payloads import (
    WORDS,
    Acknowledged,
    Expected,
    NotDecodableError,
    RecordedChange,
    Revoked,
    Seen,
    Tagged,
    Withdrawn,
    decode,
)
from aoe_reports.formats.records.record import canonical_json
from aoe_reports.history.series.baselines import Acceptance, Expectation, LevelShift
from aoe_reports.history.series.series import MAX_COST, MIN_COST, SeriesLabels
from aoe_reports.model.documents import JsonObject
from aoe_reports.model.errors import LeftOutWarning
from aoe_reports.model.history.metrics import value_change, value_of
from aoe_reports.model.texts import say
from aoe_reports.store import History
from aoe_reports.store.layout import month_of, table_of

WITHDRAWN, UNDONE = "withdrawn", "undone"
SHIFT_STATES = ("confirmed", "drift", "recovered", "improved")
SHIFT_FIELDS = (
    "since", "since_run", "before", "after", "ci_low", "ci_high", "before_nights", "after_nights", "reach", "until",
    "incident", "found", "memory",
)  # fmt: skip


@dataclass(slots=True)
class Recorded:
    """Changes and acceptances by series, expectations by workload, runs by name: those that stand."""

    shifts: dict[str, list[LevelShift]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """How many rows of changes each series has, those of withdrawn ones among them."""
    acceptances: dict[str, list[Acceptance]] = field(default_factory=dict)
    expectations: list[tuple[str, Expectation]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    """The run that each name was given to."""
    active: dict[str, str] = field(default_factory=dict)
    """The subject of each acknowledgement and expectation that stands, by its id."""
    incidents: dict[str, list[tuple[str, Seen]]] = field(default_factory=dict)
    """By incident: what was seen of it, oldest first, each with the night on which that was recorded; withdrawn changes stay."""

    def of_costs(self, labels: SeriesLabels) -> tuple[list[LevelShift], list[Acceptance]]:
        """Changes and acceptances of a series, of its costs; none of one that nobody says the good direction of."""
        series, better = labels.series_id, labels.better
        if better is None:
            return [], []
        accepted = self.acceptances.get(series, ())
        return (
            [shift_of_costs(one, better) for one in self.shifts.get(series, ())],
            [replace(one, limit=value_of(one.limit, better)) for one in accepted],
        )

    def expectations_of(self, labels: SeriesLabels) -> list[Expectation]:
        """What was announced of a series: of its model, of its workload, or of what that is a part of."""
        workload = str(labels.workload)
        return [
            expected
            for subject, expected in self.expectations
            if subject in {labels.model, workload} or workload.startswith(f"{subject}/")
        ]


def read_recorded(history: History) -> Recorded:
    """What the store remembers; rows that nobody can make sense of are left out aloud: a baseline hangs on them."""
    recorded = Recorded()
    _read_changes(history, recorded)
    _read_words(history, recorded)
    return recorded


def change_of(state: str, body: str | None) -> RecordedChange | Withdrawn | None:
    """What a row of kind change says of a series; None of one that tells of a run that was undone.

    NotDecodableError where that is not as it was written.
    """
    if state == UNDONE:
        decode(body, JsonObject)
        return None
    if state == WITHDRAWN:
        return cast("Withdrawn", decode(body, Withdrawn))
    if state not in SHIFT_STATES:
        raise NotDecodableError(say("an unknown state"))
    found = cast("RecordedChange", decode(body, RecordedChange))
    if not all(MIN_COST / 2 < value < MAX_COST * 2 for value in (found.before, found.after)):
        raise NotDecodableError(say("a duration outside the plausible range"))
    return found


def word_of(state: str, body: str | None) -> Acknowledged | Expected | Revoked | Tagged:
    """What a row of kind ack says; NotDecodableError where that is not as it was written."""
    if state not in WORDS:
        raise NotDecodableError(say("an unknown state"))
    word: Acknowledged | Expected | Revoked | Tagged = decode(body, WORDS[state])
    return word


_Body = TypeVar("_Body")


@dataclass(frozen=True, slots=True)
class _Row:
    """What a row of kind change or ack says, and of what."""

    subject: str
    state: str
    body: str | None
    timestamp_ns: int


def _sound(history: History, kind: str, read: Callable[[str, str | None], _Body]) -> list[tuple[_Row, _Body]]:
    """Rows of a kind with their bodies; rows with other content than was written are left out with a warning."""
    found = []
    for row in history.read(kind, _Row):
        try:
            found.append((row, read(row.state, row.body)))
        except NotDecodableError as error:
            message = say(
                "{uri}: a row of kind {kind} about {subject} is left out: its content differs from what was written "
                "({why}); results for that series may be wrong",
                uri=history.uri,
                kind=kind,
                subject=row.subject,
                why=error.args[0],
            )
            warnings.warn(LeftOutWarning(message), stacklevel=2)
    return found


def _read_changes(history: History, recorded: Recorded) -> None:
    rows = _sound(history, "change", change_of)
    changes = [(row.subject, row.state, body) for row, body in rows if body is not None]
    changes.sort(key=lambda one: (one[2].position, canonical_json(to_builtins(one[2]))))
    for series, state, body in changes:
        recorded.counts[series] = max(recorded.counts.get(series, 0), body.position + 1)
        recorded.shifts[series] = _after(recorded.shifts.get(series, []), state, body)
    found = [body for _, _, body in changes if isinstance(body, RecordedChange)]
    # older rows tell of their change alone: the surest of a night dated the incident
    found.sort(key=lambda body: (body.found, body.seen is None, body.reach, body.since, body.since_run or ""))
    for body in found:
        seen = body.seen or Seen(body.since, body.since_run, None)
        recorded.incidents.setdefault(body.incident, []).append((body.found, seen))


def _read_words(history: History, recorded: Recorded) -> None:
    rows = _sound(history, "ack", word_of)
    rows.sort(key=lambda one: (one[0].timestamp_ns, one[0].state == "revoked", one[0].subject, one[0].body))
    gone: set[str] = set()
    for row, word in rows:
        if isinstance(word, Revoked):
            gone |= set(word.ids)
        elif isinstance(word, Tagged):
            recorded.tags[row.subject] = word.run
        else:
            recorded.active[word.id] = row.subject
    recorded.active = {name: subject for name, subject in recorded.active.items() if name not in gone}
    for row, word in rows:
        if isinstance(word, Acknowledged | Expected) and word.id in recorded.active:
            _take(recorded, row, word)


def _after(shifts: list[LevelShift], state: str, body: RecordedChange | Withdrawn) -> list[LevelShift]:
    """The recorded changes of a series after one more row."""
    if isinstance(body, Withdrawn):
        return [shift for shift in shifts if (shift.since, shift.incident) != (body.since, body.incident)]
    fields = {name: getattr(body, name) for name in SHIFT_FIELDS}
    return [*shifts, LevelShift(state=state, first_since=body.since, **fields)]  # type: ignore[arg-type] # of SHIFT_STATES


def _take(recorded: Recorded, row: _Row, word: Acknowledged | Expected) -> None:
    when = datetime.fromtimestamp(row.timestamp_ns // 1_000_000_000, UTC).isoformat()
    who = word.id, word.who, when, word.reason
    if isinstance(word, Expected):
        recorded.expectations.append((row.subject, Expectation(word.since, word.until, word.low, word.high, *who)))
        return
    for one in word.accepted:
        recorded.acceptances.setdefault(one.series_id, []).append(Acceptance(one.through, one.limit, *who))


def shift_of_costs(shift: LevelShift, better: str | None) -> LevelShift:
    """A change of values as one of costs, or the other way: the store holds values, as people see them."""
    if better != "higher":
        return shift
    return replace(
        shift,
        before=value_of(shift.before, better),
        after=value_of(shift.after, better),
        ci_low=value_change(shift.ci_high, better),
        ci_high=value_change(shift.ci_low, better),
    )


def ack_rows(subject: str, state: str, body: JsonObject, timestamp_ns: int) -> pa.Table:
    """One row of kind ack: an acknowledgement, an expectation, a name, or that one of them is revoked."""
    about = {"kind": "ack", "month": month_of(timestamp_ns), "run_id": "", "timestamp_ns": timestamp_ns}
    return table_of([{**about, "subject": subject, "state": state, "body": canonical_json(dict(body))}])


def ack_id(subject: str, body: JsonObject, timestamp_ns: int) -> str:
    """What an acknowledgement or an expectation is called."""
    return hashlib.sha256(canonical_json([subject, dict(body), timestamp_ns]).encode()).hexdigest()[:12]
