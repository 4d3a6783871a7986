"""What the store remembers of changes beside the nights themselves: which were told, acknowledged, announced; named runs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import pyarrow as pa
from msgspec import to_builtins

from aoe_reports.errors import LeftOutWarning
from aoe_reports.records.payloads import (
    WORDS,
    Acknowledged,
    Expected,
    Found,
    NotDecodableError,
    Revoked,
    Seen,
    Tagged,
    Withdrawn,
    decode,
)
from aoe_reports.records.record import canonical_json
from aoe_reports.regression.baselines import Acceptance, Expectation, Move
from aoe_reports.regression.detector import VERSION, Parameters
from aoe_reports.regression.series import FACTS, LEAST_MS, MOST_MS
from aoe_reports.store import History
from aoe_reports.store.layout import month_of, table_of
from aoe_reports.texts import say

Row = dict[str, Any]

WITHDRAWN, UNDONE = "withdrawn", "undone"
_FACTS_OF_CHANGE = tuple(name for name in FACTS if name != "phase")
"""What a row of a change says of its series: one that AOE claims, which has a phase, is never judged."""
MOVE_STATES = ("confirmed", "drift", "recovered", "improved")
_MOVE_FIELDS = (
    "since", "since_run", "before", "after", "ci_low", "ci_high", "before_nights", "after_nights", "reach", "until",
    "incident", "found", "memory",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tag:
    """A name that somebody gave to a run."""

    name: str
    run: str
    night: str


@dataclass(slots=True)
class Told:
    """Changes and acceptances by series, expectations by workload, runs by name: those that stand."""

    moves: dict[str, list[Move]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    """How many rows of changes each series has, those of withdrawn ones among them."""
    acceptances: dict[str, list[Acceptance]] = field(default_factory=dict)
    expectations: list[tuple[str, Expectation]] = field(default_factory=list)
    tags: dict[str, Tag] = field(default_factory=dict)
    standing: dict[str, str] = field(default_factory=dict)
    """The subject of each acknowledgement and expectation that stands, by its id."""
    incidents: dict[str, list[tuple[str, Seen]]] = field(default_factory=dict)
    """By incident: what was seen of it, oldest first, each with the night on which that was recorded; withdrawn changes stay."""

    def expectations_of(self, facts: Mapping[str, Any]) -> list[Expectation]:
        """What was announced of a series: of its model, of its workload, or of what that is a part of."""
        workload = str(facts.get("workload"))
        return [
            expected
            for subject, expected in self.expectations
            if subject in {facts.get("model"), workload} or workload.startswith(f"{subject}/")
        ]


def read_told(history: History) -> Told:
    """What the store remembers; rows that nobody can make sense of are left out aloud: a baseline hangs on them."""
    told = Told()
    _read_changes(history, told)
    _read_words(history, told)
    return told


def change_of(row: Mapping[str, Any]) -> Found | Withdrawn | None:
    """What a row of kind change says of a series; None of one that tells of a run that was undone.

    NotDecodableError where that is not as it was written.
    """
    if row["state"] == UNDONE:
        decode(row["body"], dict[str, Any])
        return None
    if row["state"] == WITHDRAWN:
        return cast("Withdrawn", decode(row["body"], Withdrawn))
    if row["state"] not in MOVE_STATES:
        raise NotDecodableError(say("a state that is not known"))
    found = cast("Found", decode(row["body"], Found))
    if not all(LEAST_MS / 2 < time < MOST_MS * 2 for time in (found.before, found.after)):
        raise NotDecodableError(say("a duration outside the possible range"))
    return found


def word_of(row: Mapping[str, Any]) -> Acknowledged | Expected | Revoked | Tagged:
    """What a row of kind ack says; NotDecodableError where that is not as it was written."""
    if row["state"] not in WORDS:
        raise NotDecodableError(say("a state that is not known"))
    word: Acknowledged | Expected | Revoked | Tagged = decode(row["body"], WORDS[row["state"]])
    return word


_Body = TypeVar("_Body")


def _sound(
    history: History, kind: str, columns: Sequence[str], read: Callable[[Row], _Body]
) -> list[tuple[Row, _Body]]:
    """Rows of a kind with their bodies; those that are not as they were written are left out aloud."""
    found = []
    for row in history.rows(kind, columns).to_pylist():
        try:
            found.append((row, read(row)))
        except NotDecodableError as error:
            subject, why = row["subject"], error.args[0]
            warnings.warn(LeftOutWarning(_unusable(history, kind, subject, why)), stacklevel=2)
    return found


def _unusable(history: History, kind: str, subject: object, why: str) -> str:
    return say(
        "{uri}: a row of kind {kind} about {subject} is left out: its body is not as it was written ({why}); what is told of "
        "that series may be wrong until it is mended: `store export` writes .jsonl, `store import` leaves such rows out",
        uri=history.uri,
        kind=kind,
        subject=subject,
        why=why,
    )


def _read_changes(history: History, told: Told) -> None:
    rows = _sound(history, "change", ("subject", "state", "body"), change_of)
    changes = [(row["subject"], row["state"], body) for row, body in rows if body is not None]
    changes.sort(key=lambda one: (one[2].position, canonical_json(to_builtins(one[2]))))
    for series, state, body in changes:
        told.counts[series] = max(told.counts.get(series, 0), body.position + 1)
        told.moves[series] = _after(told.moves.get(series, []), state, body)
    found = [body for _, _, body in changes if isinstance(body, Found)]
    for body in sorted(found, key=_first_of_incident):
        seen = body.seen or Seen(body.since, body.since_run, None)
        told.incidents.setdefault(body.incident, []).append((body.found, seen))


def _first_of_incident(body: Found) -> tuple[Any, ...]:
    """Order of what was recorded of incidents; older rows tell of their change alone: the surest of a night dated the incident."""
    return body.found, body.seen is None, body.reach, body.since, body.since_run or ""


def _read_words(history: History, told: Told) -> None:
    """Acknowledgements, expectations and names, in the order in which they were given."""
    rows = _sound(history, "ack", ("subject", "state", "body", "timestamp_ns"), word_of)
    rows.sort(key=lambda one: (one[0]["timestamp_ns"], one[0]["state"] == "revoked", one[0]["subject"], one[0]["body"]))
    gone: set[str] = set()
    for row, word in rows:
        if isinstance(word, Revoked):
            gone |= set(word.ids)
        elif isinstance(word, Tagged):
            told.tags[row["subject"]] = Tag(row["subject"], word.run, word.night)
        else:
            told.standing[word.id] = row["subject"]
    told.standing = {name: subject for name, subject in told.standing.items() if name not in gone}
    for row, word in rows:
        if isinstance(word, Acknowledged | Expected) and word.id in told.standing:
            _take(told, row, word)


def _after(moves: list[Move], state: str, body: Found | Withdrawn) -> list[Move]:
    """The told changes of a series after one more row."""
    if isinstance(body, Withdrawn):
        return [move for move in moves if (move.since, move.incident) != (body.since, body.incident)]
    fields = {name: getattr(body, name) for name in _MOVE_FIELDS}
    move = Move(state=state, first_since=body.since, **fields)  # type: ignore[arg-type] # of MOVE_STATES
    return [*moves, move]


def _take(told: Told, row: Row, word: Acknowledged | Expected) -> None:
    who: dict[str, Any] = {"id": word.id, "who": word.who, "when": _when(row["timestamp_ns"]), "reason": word.reason}
    if isinstance(word, Expected):
        told.expectations.append((row["subject"], Expectation(word.since, word.until, word.low, word.high, **who)))
        return
    for one in word.accepted:
        told.acceptances.setdefault(one.series_id, []).append(Acceptance(one.through, one.limit, **who))


def _when(timestamp_ns: int) -> str:
    return datetime.fromtimestamp(timestamp_ns // 1_000_000_000, UTC).isoformat()


@dataclass(frozen=True, slots=True)
class News:
    """What is to be remembered of one series: changes that nobody told yet, and told ones that hold no more."""

    facts: Mapping[str, Any]
    timestamp_ns: int
    """Of the newest run of the series: the same nights make the same row, whoever looks at them, and when."""
    last_night: str
    moves: Sequence[Move]
    withdrawn: Sequence[Move] = ()
    seen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is seen of the incidents of the changes, by their ids."""


def record_news(
    history: History, told: Told, news: Iterable[News], parameters: Parameters, false_alarms_per_year: float
) -> int:
    """Store what is new, in one commit; how many rows that were. What is there already adds nothing."""
    by = {
        "detector": VERSION,
        "parameters": asdict(parameters),
        "false_alarms_per_year": false_alarms_per_year,
    }
    rows = []
    for one in news:
        position = told.counts.get(one.facts["series_id"], 0)
        for move in one.moves:
            seen = one.seen.get(move.incident or "")
            body = {**_move_body(move), "found": one.last_night, "change": move.change, "seen": seen, **by}
            rows.append(_row(one, move, move.state, {**body, "position": position}))
            position += 1
        for move in one.withdrawn:
            body = {**_move_body(move), "change": move.change, "withdrawn": one.last_night, **by}
            rows.append(_row(one, move, WITHDRAWN, {**body, "position": position}))
            position += 1
    return history.add_extra(table_of(rows)) if rows else 0


def _move_body(move: Move) -> dict[str, Any]:
    return {name: getattr(move, name) for name in _MOVE_FIELDS}


def _row(news: News, move: Move, state: str, body: dict[str, Any]) -> dict[str, Any]:
    facts = news.facts
    return {
        "kind": "change",
        "month": month_of(news.timestamp_ns),
        "run_id": move.since_run or "",
        "timestamp_ns": news.timestamp_ns,
        "night": move.since,
        **{name: facts.get(name) for name in _FACTS_OF_CHANGE},
        "series_id": facts["series_id"],
        "subject": facts["series_id"],
        "state": state,
        "body": canonical_json(body),
    }


def ack_rows(subject: str, state: str, body: Mapping[str, Any], timestamp_ns: int) -> pa.Table:
    """One row of kind ack: an acknowledgement, an expectation, a name, or that one of them is revoked."""
    return table_of(
        [
            {
                "kind": "ack",
                "month": month_of(timestamp_ns),
                "run_id": "",
                "timestamp_ns": timestamp_ns,
                "subject": subject,
                "state": state,
                "body": canonical_json(dict(body)),
            }
        ]
    )


def ack_id(subject: str, body: Mapping[str, Any], timestamp_ns: int) -> str:
    """What an acknowledgement or an expectation is called."""
    return hashlib.sha256(canonical_json([subject, dict(body), timestamp_ns]).encode()).hexdigest()[:12]
