"""What stored rows hold as JSON, typed: the one decoder of all of it, because a store that was imported is somebody else's."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, TypeGuard

import msgspec
from msgspec import Meta, Struct

from aoe_reports.formats.records.identity import Member
from aoe_reports.model.documents import Json, JsonObject, text_of
from aoe_reports.model.errors import LeftOutWarning
from aoe_reports.model.texts import say

MAX_DEPTH = 220
"""Files of records are read to a depth of 200, and some levels are put around what stood in them."""
_MAX_BODY_DEPTH = 20
"""What we write into bodies is nested less."""
_INT64 = 1 << 63
"""Whole numbers from here on (files may tell of any) are read as floats: no column and no page takes larger ones."""
_LONG_NUMBER = re.compile(r"[0-9]{19}")
_MIN_NIGHT, _MAX_NIGHT = "1678-01-01", "2262-04-11"
"""Times are int64 nanoseconds: there are no other nights."""

Number = int | float
Share = Annotated[float, Meta(ge=-1)]
Count = Annotated[int, Meta(ge=0)]


class NotDecodableError(ValueError):
    """A text that does not hold what it should."""


def decode(text: str | None, kind: Any = Any) -> Any:
    """The value of a JSON text, of this type; NotDecodableError where it is another, no JSON or nested too deep."""
    if text is None:
        raise NotDecodableError(say("the value is missing"))
    try:
        value = msgspec.json.decode(text, type=kind)
    except RecursionError:
        raise NotDecodableError(say("it is nested deeper than {most} levels", most=MAX_DEPTH)) from None
    except (msgspec.MsgspecError, ValueError) as error:  # UnicodeError and numbers of thousands of digits, too
        raise NotDecodableError(str(error)[:200]) from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise NotDecodableError(say("it is nested deeper than {most} levels", most=MAX_DEPTH))
    return value


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


def _depth(text: str) -> int:
    """How deep the brackets of a JSON text are nested."""
    deepest = depth = 0
    for found in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        deepest = max(deepest, depth)
    return deepest


def is_night(text: Any) -> bool:
    """Whether it is a date that exists, such as 2026-01-31, of a time that can be stored."""
    return isinstance(text, str) and _is_night(text)


@lru_cache(maxsize=4096)
def _is_night(text: str) -> bool:
    try:
        known = date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
    return known and _MIN_NIGHT <= text <= _MAX_NIGHT


def members_of(text: str | None) -> tuple[Member, ...]:
    """The members of a run; NotDecodableError where there are none."""
    members: tuple[Member, ...] = decode(text, tuple[Member, ...])
    if not members:
        raise NotDecodableError(say("a run has at least one member"))
    return members


def object_in(row: Mapping[str, Json], column: str) -> JsonObject:
    """The JSON object in a column of a row, empty where there is none; what is no object is left out aloud."""
    text = row.get(column)
    if not isinstance(text, str) or text == "{}":
        return {}
    try:
        value: JsonObject = decode(text, JsonObject)
    except NotDecodableError as error:
        leave_out(column, row, error.args[0])
        return {}
    return value


def text_in(values: Mapping[str, Json], name: str) -> str | None:
    """A text of a JSON object; None where there is none."""
    return text_of(values.get(name))


def number_in(values: Mapping[str, Json], name: str) -> Number | None:
    """A number of a JSON object; None where there is none."""
    value = values.get(name)
    return value if is_number(value) else None


def leave_out(column: str, row: Mapping[str, Json], why: str) -> None:
    """Say aloud that the value of a column of a row is used by nobody."""
    about = next((row[name] for name in ("run_id", "series_id", "subject", "workload") if row.get(name)), "?")
    told = say("{column} of a row about {about} cannot be used and is left out: {why}", column=column, about=about, why=why)  # fmt: skip
    warnings.warn(LeftOutWarning(told), stacklevel=2)


def is_number(value: Json) -> TypeGuard[Number]:
    """Whether it is a number that every JSON takes."""
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < _INT64
    return isinstance(value, float) and -float("inf") < value < float("inf")


class _Modification(Struct):
    name: str
    unit: str
    before: Number | None
    after: Number | None


_FIELDS = {
    **dict.fromkeys(
        (
            "advice", "kind", "tuning_name", "op_type", "op_name", "input_shapes", "verdict", "claim", "reason", "verdict_of_job",
            "bank_digest", "scope", "id", "who", "run", "night", "since", "until", "found", "withdrawn", "incident", "since_run",
        ),
        str,
    ),
    **dict.fromkeys(
        (
            "model_baseline_ms", "model_result_ms", "tuning_time_s", "modified", "unmeasured", "claimed_before_us", "claimed_after_us",
            "measured_before_us", "measured_after_us", "claimed_change", "change", "ci_low", "ci_high", "position", "before", "after",
            "before_nights", "after_nights", "memory", "reach", "low", "high",
        ),
        Number,
    ),
    "failed_operators": list[str],
    "ids": list[str],
    "summary": dict[str, Number],
    "modifications": list[_Modification],
}  # fmt: skip
"""What the values are that are computed with or shown, by their names."""


def read_body(text: str | None) -> JsonObject | None:
    """The JSON object that a row holds beside its columns; None where what is there is none."""
    try:
        body: JsonObject = decode(text, JsonObject)
    except NotDecodableError:
        return None
    if text is not None and _LONG_NUMBER.search(text):
        body = _without_long_numbers(body)
    return body


def _without_long_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_long_numbers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_long_numbers(inner) for inner in value]
    if isinstance(value, int) and abs(value) >= _INT64:
        try:
            return float(value)
        except OverflowError:
            return float("inf")
    return value


def body_of(text: str | None) -> JsonObject:
    """What a row says of itself; what is not as it was written is left out, and all of it where it is no JSON object."""
    return {name: value for name, value in (read_body(text) or {}).items() if _fits(name, value)}


def verdict_of(text: str | None) -> JsonObject:
    """What a stored verdict says of itself, with one claim: rows of older versions tell the model's times beside operators' change."""
    body = body_of(text)
    before, after, claimed = (
        number_in(body, name) for name in ("claimed_before_us", "claimed_after_us", "claimed_change")
    )
    if before is None or after is None or claimed is None:
        return body
    rounding = _ROUNDING * (1 + 2 / before) if before else 0.0
    if not before or abs(after / before - 1 - claimed) > rounding:
        body |= {"claimed_before_us": None, "claimed_after_us": None}
    return body


_ROUNDING = 1e-6
"""Of stored changes, and of stored times in us."""


def unfit_names(text: str | None) -> list[str] | None:
    """The names of what `body_of` leaves out, for `store verify`; None where it leaves out everything."""
    body = read_body(text)
    return None if body is None else [name for name, value in body.items() if not _fits(name, value)]


def fits_body(body: Mapping[str, Json]) -> bool:
    """Whether a body can be stored as it is."""
    return all(_fits(name, value) for name, value in body.items())


def _fits(name: str, value: Any) -> bool:
    if value is None:
        return True
    if name not in _FIELDS:
        return _is_usual(value)
    try:
        msgspec.convert(value, _FIELDS[name])
    except (msgspec.ValidationError, RecursionError):
        return False
    return _is_usual(value)


def _is_usual(value: Any, depth: int = 0) -> bool:
    """Whether it can be shown, and written as JSON again."""
    if value is None or isinstance(value, str | bool) or is_number(value):
        return True
    inner = list(value.values()) if isinstance(value, dict) else value
    return isinstance(inner, list) and depth < _MAX_BODY_DEPTH and all(_is_usual(one, depth + 1) for one in inner)


class Withdrawn(Struct):
    """What a row of kind change says of a change that was recorded, and does not hold any more."""

    position: Count
    since: str
    incident: str | None

    def __post_init__(self) -> None:
        _refuse_no_nights(self.since)


class ChangedFact(Struct, frozen=True):
    """A fact of the environment that was one thing before a change and another since."""

    name: str
    before: str | None
    after: str | None


class Seen(Struct):
    """An incident as it was seen when a change of it was recorded: since when, in which run, and what else changed there."""

    since: str
    since_run: str | None
    metadata: list[ChangedFact] | None
    """None: nobody wrote it down."""

    def __post_init__(self) -> None:
        _refuse_no_nights(self.since)


class RecordedChange(Struct):
    """What a row of kind change says of a change that was found."""

    position: Count
    since: str
    since_run: str | None
    before: Number
    after: Number
    ci_low: Share
    ci_high: Share
    before_nights: Count
    after_nights: Count
    reach: Count
    until: str | None
    incident: str
    found: str
    memory: Annotated[float, Meta(ge=0, lt=1)]
    seen: Seen | None = None
    """Older rows do not say it."""

    def __post_init__(self) -> None:
        _refuse_no_nights(self.since, self.until, self.found)


class Accepted(Struct):
    """The new level of one series that somebody accepted."""

    series_id: str
    through: str
    limit: Number


class Acknowledged(Struct):
    """What a row of kind ack says of slow-downs that somebody accepted."""

    id: str
    who: str | None
    reason: str
    accepted: list[Accepted]


class Expected(Struct):
    """What a row of kind ack says of a change that was announced."""

    id: str
    who: str | None
    reason: str
    since: str
    until: str
    low: Number
    high: Number


class Revoked(Struct):
    """What a row of kind ack says of acknowledgements and expectations that were taken back."""

    ids: list[str]


class Tagged(Struct):
    """What a row of kind ack says of a run that was given a name."""

    run: str
    night: str


def _refuse_no_nights(*nights: str | None) -> None:
    for night in nights:
        if night is not None and not is_night(night):
            raise ValueError(f"Expected a date that exists, got {night[:20]!r}")


WORDS: Mapping[str, type[Acknowledged | Expected | Revoked | Tagged]] = {
    "acknowledged": Acknowledged,
    "expected": Expected,
    "revoked": Revoked,
    "tag": Tagged,
}
"""What the bodies of rows of kind ack are, by their states."""
