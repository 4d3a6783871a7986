"""What the store remembers of changes beside the nights themselves: which were told, acknowledged, announced; named runs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from aoe_reports.errors import StoreError
from aoe_reports.records.record import canonical_json
from aoe_reports.regression.baselines import Acceptance, Expectation, Move
from aoe_reports.regression.detector import VERSION, Parameters
from aoe_reports.regression.series import FACTS, LEAST_MS, MOST_MS
from aoe_reports.store import History
from aoe_reports.store.layout import month_of, table_of
from aoe_reports.texts import join, say
from aoe_reports.workflows.bodies import read_body

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

    def expectations_of(self, facts: Mapping[str, Any]) -> list[Expectation]:
        """What was announced of a series: of its model, of its workload, or of what that is a part of."""
        workload = str(facts.get("workload"))
        return [
            expected
            for subject, expected in self.expectations
            if subject in {facts.get("model"), workload} or workload.startswith(f"{subject}/")
        ]


def read_told(history: History) -> Told:
    """What the store remembers; rows that nobody can make sense of are an error, since a baseline hangs on them."""
    told = Told()
    _read_changes(history, told)
    _read_words(history, told)
    return told


def _read_changes(history: History, told: Told) -> None:
    changes = []
    for row in history.rows("change", ("subject", "state", "body")).to_pylist():
        if row["state"] in {*MOVE_STATES, WITHDRAWN}:
            changes.append((row["subject"], row["state"], _body(history, row)))
        elif row["state"] != UNDONE:
            raise _unusable(history, "change", row["subject"])
    for series, _, body in changes:
        if not isinstance(series, str) or not isinstance(body.get("position"), int):
            raise _unusable(history, "change", series)
    changes.sort(key=lambda one: (one[2]["position"], canonical_json(one[2])))
    for series, state, body in changes:
        try:
            told.counts[series] = max(told.counts.get(series, 0), body["position"] + 1)
            told.moves[series] = _after(told.moves.get(series, []), state, body)
        except (KeyError, TypeError) as error:
            raise _unusable(history, "change", series) from error


def _read_words(history: History, told: Told) -> None:
    """Acknowledgements, expectations and names, in the order in which they were given."""
    columns = ("subject", "state", "body", "timestamp_ns")
    rows = [(row, _body(history, row)) for row in history.rows("ack", columns).to_pylist()]
    rows.sort(key=lambda one: (one[0]["timestamp_ns"], one[0]["state"] == "revoked", one[0]["subject"], one[0]["body"]))
    gone: set[str] = set()
    for row, body in rows:
        try:
            if row["state"] == "revoked":
                gone |= set(body["ids"])
            elif row["state"] == "tag":
                told.tags[row["subject"]] = Tag(row["subject"], body["run"], body["night"])
            else:
                told.standing[body["id"]] = row["subject"]
        except (KeyError, TypeError) as error:
            raise _unusable(history, "ack", row["subject"]) from error
    told.standing = {name: subject for name, subject in told.standing.items() if name not in gone}
    for row, body in rows:
        if body.get("id") in told.standing:
            _take(told, row, body, history)


def _after(moves: list[Move], state: str, body: Mapping[str, Any]) -> list[Move]:
    """The told changes of a series after one more row."""
    if state == WITHDRAWN:
        return [move for move in moves if (move.since, move.incident) != (body["since"], body["incident"])]
    move = Move(state=state, **{name: body[name] for name in _MOVE_FIELDS})  # type: ignore[arg-type] # checked above
    _refuse_unless(*(isinstance(body[name], str) for name in ("since", "found", "incident")))
    _refuse_unless(*(isinstance(body[name], str | None) for name in ("since_run", "until")))
    _refuse_unless(*(LEAST_MS / 2 < body[name] < MOST_MS * 2 for name in ("before", "after")))
    _refuse_unless(*(-1 <= body[name] < math.inf for name in ("ci_low", "ci_high")), 0 <= body["memory"] < 1)
    _refuse_unless(
        *(isinstance(body[name], int) and body[name] >= 0 for name in ("before_nights", "after_nights", "reach"))
    )
    return [*moves, move]


def _refuse_unless(*sound: bool) -> None:
    if not all(sound):
        raise TypeError("not what was written")


def _take(told: Told, row: Mapping[str, Any], body: Mapping[str, Any], history: History) -> None:
    try:
        who = {"id": body["id"], "who": body["who"], "when": _when(row["timestamp_ns"]), "reason": body["reason"]}
        if row["state"] == "expected":
            places = {name: body[name] for name in ("since", "until", "low", "high")}
            _refuse_unless(*(isinstance(body[name], str) for name in ("since", "until")))
            _refuse_unless(*(isinstance(body[name], int | float) for name in ("low", "high")))
            told.expectations.append((row["subject"], Expectation(**places, **who)))
            return
        for one in body["accepted"]:
            _refuse_unless(isinstance(one["through"], str), isinstance(one["limit"], int | float))
            accepted = Acceptance(one["through"], one["limit"], **who)
            told.acceptances.setdefault(one["series_id"], []).append(accepted)
    except (KeyError, TypeError) as error:
        raise _unusable(history, "ack", row["subject"]) from error


def _when(timestamp_ns: int) -> str:
    return datetime.fromtimestamp(timestamp_ns // 1_000_000_000, UTC).isoformat()


def _body(history: History, row: Mapping[str, Any]) -> dict[str, Any]:
    body = read_body(row["body"])
    if body is None:
        raise _unusable(history, join(" or ", ("change", "ack")), row["subject"])
    return body


def _unusable(history: History, kind: str, subject: object) -> StoreError:
    return StoreError(
        say(
            "{uri}: a row of kind {kind} about {subject} cannot be used: its body is not as it was written",
            uri=history.uri,
            kind=kind,
            subject=subject,
        )
    )


@dataclass(frozen=True, slots=True)
class News:
    """What is to be remembered of one series: changes that nobody told yet, and told ones that hold no more."""

    facts: Mapping[str, Any]
    timestamp_ns: int
    """Of the newest run of the series: the same nights make the same row, whoever looks at them, and when."""
    last_night: str
    moves: Sequence[Move]
    withdrawn: Sequence[Move] = ()


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
            body = {**_move_body(move), "found": one.last_night, "change": move.change, **by}
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
