"""Every way in which a time is written in names, results and records, as whole nanoseconds UTC; what is none is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import ROUND_FLOOR, Decimal
from typing import Any

NS_PER_S = 1_000_000_000

_FIRST_YEAR, _LAST_YEAR = 1971, 2200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NS_OF_DIGITS = {10: NS_PER_S, 13: 1_000_000, 16: 1_000, 19: 1}
"""What an epoch counts, by the digits before its point: seconds, ms, us, ns have had these since 2001 and until 2286."""

_NUMBER = re.compile(r"(?P<whole>[0-9]+)(?:\.(?P<fraction>[0-9]+))?", re.ASCII)
_DIGITS = re.compile(r"[0-9]{8}_?[0-9]{6}(?:[0-9]{3})?", re.ASCII)
_ISO = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[T ](?P<clock>[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:[.,](?P<fraction>[0-9]+))?"
    r" ?(?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)?",
    re.ASCII | re.IGNORECASE,
)
_ISO_BASIC = re.compile(
    r"(?P<date>[0-9]{8})T(?P<clock>[0-9]{4}(?:[0-9]{2})?)(?:[.,](?P<fraction>[0-9]+))?"
    r"(?P<zone>Z|[+-][0-9]{2}(?:[0-9]{2})?)?",
    re.ASCII | re.IGNORECASE,
)
_WITH_SECONDS = 6


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A point in time, and whether its form says so by itself or a zone had to be taken for it."""

    ns: int
    zoned: bool


def parse_timestamp(value: Any, zone: tzinfo = UTC) -> Timestamp | None:
    """A time in any form that is known, exactly; None for what is none. `zone` is that of forms without one.

    Numbers or texts of digits: an epoch of 10 (s), 13 (ms), 16 (us) or 19 (ns) digits, with or without a fraction, or
    YYYYMMDDHHMMSS[mmm]. Texts: YYYYMMDD_HHMMSS[mmm] and ISO-8601. Digits beyond nanoseconds are cut off.
    """
    text = _as_text(value)
    if text is None:
        return None
    timestamp = _of_epoch(text) or _of_iso(text, zone)
    if timestamp is None and _DIGITS.fullmatch(text):
        ns = digits_to_ns(text, zone)
        timestamp = None if ns is None else Timestamp(ns, zoned=False)
    return timestamp


def night_of(ns: int, zone: tzinfo = UTC) -> str:
    """The night of a time: its date in a time zone."""
    return f"{datetime.fromtimestamp(ns // NS_PER_S, zone):%Y-%m-%d}"


def digits_to_ns(digits: str | None, zone: tzinfo = UTC) -> int | None:
    """`YYYYMMDDHHMMSS` and up to nine digits of a fraction, with or without `_`, in a time zone; None for no such time."""
    plain = (digits or "").replace("_", "")
    if not (plain.isascii() and plain.isdecimal()):
        return None
    return _of_clock(plain[:14], "%Y%m%d%H%M%S", plain[14:], zone)


def _as_text(value: Any) -> str | None:
    """A number or a text as digits; a float as the shortest ones that give it."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite() or abs(number.adjusted()) >= _LONGEST:
        return None
    return str(int(number)) if number == int(number) else f"{number:f}"


_LONGEST = 40


def _of_epoch(text: str) -> Timestamp | None:
    match = _NUMBER.fullmatch(text)
    unit = _NS_OF_DIGITS.get(len(match["whole"])) if match else None
    if match is None or unit is None or match["whole"].startswith("0"):
        return None
    part = Decimal(f"0.{(match['fraction'] or '0')[:_LONGEST]}") * unit
    ns = int(match["whole"]) * unit + int(part.to_integral_value(ROUND_FLOOR))
    return Timestamp(ns, zoned=True) if ns < _LAST_NS else None


_LAST_NS = 7_289_654_400 * NS_PER_S
"""The end of _LAST_YEAR: an int64 holds it."""


def _of_iso(text: str, zone: tzinfo) -> Timestamp | None:
    match = _ISO.fullmatch(text) or _ISO_BASIC.fullmatch(text)
    if match is None:
        return None
    clock = match["clock"].replace(":", "")
    if len(clock) < _WITH_SECONDS and match["fraction"]:
        return None  # a fraction of a minute
    offset = _offset(match["zone"])
    if match["zone"] and offset is None:
        return None
    digits = match["date"].replace("-", "") + clock.ljust(_WITH_SECONDS, "0")
    ns = _of_clock(digits, "%Y%m%d%H%M%S", match["fraction"] or "", zone if offset is None else UTC)
    return None if ns is None else Timestamp(ns - (offset or 0), zoned=offset is not None)


def _offset(zone: str | None) -> int | None:
    """An offset from UTC in ns; None for none, and for one that no clock has."""
    if zone is None:
        return None
    if zone in "Zz":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours >= _HOURS or minutes >= _MINUTES:
        return None
    seconds = (hours * _MINUTES + minutes) * 60 * NS_PER_S
    return -seconds if zone[0] == "-" else seconds


_HOURS, _MINUTES = 24, 60


def _of_clock(digits: str, form: str, fraction: str, zone: tzinfo) -> int | None:
    try:
        whole = datetime.strptime(digits, form).replace(tzinfo=zone)
    except ValueError:
        return None
    if len(digits) != _ALL_DIGITS or not _FIRST_YEAR <= whole.year <= _LAST_YEAR:
        return None
    return (whole - _EPOCH) // timedelta(seconds=1) * NS_PER_S + int(fraction[:9].ljust(9, "0"))


_ALL_DIGITS = 14
