"""Each night against its previous nights."""

from __future__ import annotations

import polars as pl

from aoe_reports.regression.compare import FACTS, LEAST_NIGHTS, WINDOW, Series, find_change, find_changes, series_of


def series(*values: float) -> Series:
    nights = tuple(f"2026-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in range(len(values)))
    return Series(
        "s", {"workload": "w"}, nights, values, tuple(f"run{i}" for i in range(len(values))), (10.0,) * len(values)
    )


QUIET = [1.0, 1.01, 0.99, 1.0, 1.005, 0.995] * 3


def change(values: list[float], tonight: int = -1):
    one = series(*values)
    return find_change(one, {one.nights[tonight]})


def test_a_quiet_series_says_nothing() -> None:
    assert change(QUIET) is None


def test_a_step_is_found_with_the_night_it_began() -> None:
    found = change([*QUIET, 1.08, 1.09, 1.08])
    assert found is not None
    assert (found.state, found.since_run) == ("confirmed", f"run{len(QUIET)}")
    assert round(found.change, 2) == 0.08
    assert round(found.impact_ms, 3) == round(10 * (1 - 1 / 1.08), 3)


def test_a_quicker_series_has_improved() -> None:
    found = change([*QUIET, 0.8])
    assert found is not None
    assert found.state == "improved"


def test_noise_wider_than_the_threshold_is_no_change() -> None:
    wild = [1.0, 1.3, 0.8, 1.2, 0.7, 1.1, 0.9, 1.25, 0.75, 1.0]
    assert change([*wild, 1.3]) is None


def test_less_than_the_threshold_is_no_change() -> None:
    assert change([1.0] * 20 + [1.049]) is None
    assert change([1.0] * 20 + [1.051]) is not None


def test_too_few_nights_are_no_baseline() -> None:
    assert change([1.0] * (LEAST_NIGHTS - 1) + [2.0]) is None
    assert change([1.0] * LEAST_NIGHTS + [2.0]) is not None


def test_a_spell_that_ended_is_recovered_only_while_its_nights_are_looked_at() -> None:
    one = series(*QUIET, 1.2, 1.2, 1.0)
    found = find_change(one, set(one.nights))
    assert found is not None
    assert (found.state, found.since_run) == ("recovered", f"run{len(QUIET)}")
    assert find_change(one, {one.nights[-1]}) is None


def test_a_long_spell_is_the_new_normal() -> None:
    assert change([1.0] * 10 + [1.2] * WINDOW) is not None
    assert change([1.0] * 10 + [1.2] * (WINDOW + 1)) is None


def test_later_nights_change_nothing_about_a_night_looked_at() -> None:
    one = series(*QUIET, 1.2, 1.0, 1.0)
    found = find_change(one, {one.nights[len(QUIET)]})
    assert found is not None
    assert found.state == "confirmed"


def row(night: str, value: float, run: str = "r", stamp: int = 1) -> dict:
    return {
        "series_id": "s",
        "night": night,
        "run_id": run,
        "timestamp_ns": stamp,
        "runtime_ms_mean": value,
        "total_ns": None,
        **dict.fromkeys(FACTS),
        "workload": "w",
    }


def test_a_rerun_of_tonight_is_never_its_own_baseline() -> None:
    rows = [row(f"2026-01-0{i}", 1.0) for i in range(1, 6)]
    rows += [row("2026-01-06", 2.0, f"again{i}", i) for i in range(9)]
    (one,) = series_of(pl.DataFrame(rows))
    assert one.values_ms == (1.0,) * 5 + (2.0,)
    assert one.runs[-1] == "again8"
    (found,) = find_changes([one], {"2026-01-06"})
    assert (found.before_ms, found.after_ms) == (1.0, 2.0)


def test_the_order_of_records_changes_nothing() -> None:
    rows = [row(f"2026-01-0{i}", float(i)) for i in range(1, 6)]
    assert series_of(pl.DataFrame(rows)) == series_of(pl.DataFrame(rows[::-1]))
