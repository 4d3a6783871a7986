"""Times: every form means one nanosecond, and what is no time is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.timestamps import Timestamp, digits_to_ns, parse_timestamp

S = 1_000_000_000
LONDON_2019 = 1_574_469_251 * S  # 2019-11-23T00:34:11Z


@pytest.mark.parametrize(
    ("value", "ns", "zoned"),
    [
        (1572282699.6, 1572282699600000000, True),
        ("1572282699.6", 1572282699600000000, True),
        (1572282699, 1572282699 * S, True),
        (1572282699600, 1572282699600000000, True),
        (1572282699600.25, 1572282699600250000, True),
        (1572282699600123, 1572282699600123000, True),
        ("1572282699600123456", 1572282699600123456, True),
        (1572282699600123456, 1572282699600123456, True),
        (Decimal("1572282699.600123456"), 1572282699600123456, True),
        (Decimal("1572282699.6001234569"), 1572282699600123456, True),
        ("20191123003411", LONDON_2019, False),
        (20191123003411, LONDON_2019, False),
        (20191123003411.0, LONDON_2019, False),
        ("20191123003411123", LONDON_2019 + 123_000_000, False),
        (20191123003411123, LONDON_2019 + 123_000_000, False),
        ("20191123_003411123", LONDON_2019 + 123_000_000, False),
        ("20191123_003411", LONDON_2019, False),
        ("2019-11-23T00:34:11", LONDON_2019, False),
        ("2019-11-23 00:34:11.5", LONDON_2019 + S // 2, False),
        ("2019-11-23T00:34:11,123456789", LONDON_2019 + 123456789, False),
        ("2019-11-23T00:34:11Z", LONDON_2019, True),
        ("2019-11-23T08:34:11+08:00", LONDON_2019, True),
        ("2019-11-22T19:04:11 -0530", LONDON_2019, True),
        ("2019-11-23T08:34:11.000000001+08", LONDON_2019 + 1, True),
        ("20191123T003411Z", LONDON_2019, True),
        ("20191123t003411z", LONDON_2019, True),
        ("2019-11-23t00:34:11z", LONDON_2019, True),
        ("20191123T003411.25", LONDON_2019 + S // 4, False),
        ("2019-11-23T00:34Z", LONDON_2019 - 11 * S, True),
    ],
)
def test_every_form(value: Any, ns: int, zoned: bool) -> None:
    assert parse_timestamp(value) == Timestamp(ns, zoned)


@pytest.mark.parametrize(
    "value",
    [
        None, True, [], {}, "", "soon", "2019", "2019-11-23", "2019-13-23T00:34:11", "2019-11-23T25:00:00", "-1572282699",
        -1572282699, 0, 157228269, 15722826996, 157228269960, "20191323003411", "201911230034111", "201911230034",
        "1572282699.", "1.5e9", "1572282699 s", "1572282699.6.1", "2019-11-23T00:34.5", "2019-11-23T00:34:11+24:00",
        "2019-11-23T00:34:11+08:60", "2019-11-23T23:59:60Z", "9999999999999999999", float("inf"), float("nan"), 1e300,
        "２０１９１１２３００３４１１", "2019_1123003411", "0572282699", 10**4000,
    ],
)  # fmt: skip
def test_what_is_no_time_is_none(value: Any) -> None:
    assert parse_timestamp(value) is None


def test_a_form_without_a_zone_takes_the_one_given() -> None:
    shanghai = ZoneInfo("Asia/Shanghai")
    eight_hours = 8 * 3600 * S
    assert parse_timestamp("20191123003411", shanghai) == Timestamp(LONDON_2019 - eight_hours, zoned=False)
    assert parse_timestamp("2019-11-23T00:34:11", shanghai) == Timestamp(LONDON_2019 - eight_hours, zoned=False)
    assert parse_timestamp("2019-11-23T00:34:11Z", shanghai) == Timestamp(LONDON_2019, zoned=True)
    assert parse_timestamp(1574469251, shanghai) == Timestamp(LONDON_2019, zoned=True)


def test_digits_in_names() -> None:
    assert digits_to_ns("20260101020304005") == 1767232984005000000
    assert digits_to_ns("20260101_020304005") == 1767232984005000000
    assert digits_to_ns("20260101_0203040059") == 1767232984005900000
    assert digits_to_ns("20261301020304") is None
    assert digits_to_ns("99999999999999") is None
    assert digits_to_ns("2026010102030") is None
    assert digits_to_ns("") is None


NANOSECONDS = st.integers(1_000_000_000 * S, 7_289_654_399 * S)


@given(NANOSECONDS)
def test_an_epoch_is_exact_in_every_unit(ns: int) -> None:
    assert parse_timestamp(ns) == parse_timestamp(str(ns)) == Timestamp(ns, zoned=True)
    for unit in (1_000, 1_000_000, S):
        assert parse_timestamp(ns // unit) == Timestamp(ns // unit * unit, zoned=True)
        exact = f"{ns // unit}.{ns % unit:0{len(str(unit)) - 1}d}"
        assert parse_timestamp(exact) == parse_timestamp(Decimal(exact)) == Timestamp(ns, zoned=True)


@given(NANOSECONDS, st.integers(-23 * 60, 23 * 60))
def test_a_clock_is_exact_with_and_without_a_zone(ns: int, minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    local = datetime.fromtimestamp(ns // S, zone)
    fraction = f"{ns % S:09d}"
    sign = "-" if minutes < 0 else "+"
    offset = f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
    if local.year <= 2200:
        assert parse_timestamp(f"{local:%Y-%m-%dT%H:%M:%S}.{fraction}{offset}") == Timestamp(ns, zoned=True)
        assert parse_timestamp(f"{local:%Y-%m-%d %H:%M:%S}.{fraction}", zone) == Timestamp(ns, zoned=False)
        assert parse_timestamp(f"{local:%Y%m%d%H%M%S}", zone) == Timestamp(ns // S * S, zoned=False)
        milliseconds = Timestamp(ns // 1_000_000 * 1_000_000, zoned=False)
        assert parse_timestamp(f"{local:%Y%m%d%H%M%S}{fraction[:3]}", zone) == milliseconds
        assert parse_timestamp(f"{local:%Y%m%d_%H%M%S}{fraction[:3]}", zone) == milliseconds


@given(st.one_of(st.text(), st.floats(), st.integers(), st.text(alphabet="0123456789-:_.TZ+ ")))
def test_anything_is_a_time_that_an_int64_holds_or_none(value: Any) -> None:
    found = parse_timestamp(value, UTC)
    assert found is None or 0 < found.ns < 2**63


@pytest.mark.parametrize(
    ("digits", "ns"),
    [
        ("20191123003411", LONDON_2019),
        ("20191123_003411", LONDON_2019),
        ("20191123003411005", LONDON_2019 + 5_000_000),
        ("20191123003411000000001", LONDON_2019 + 1),
        ("٢٠١٩١١٢٣٠٠٣٤١١", None),
        ("2019-11-23", None),
        ("20191323003411", None),
        ("", None),
        (None, None),
    ],
)
def test_digits_are_a_time_of_plain_ones(digits: str | None, ns: int | None) -> None:
    assert digits_to_ns(digits) == ns
