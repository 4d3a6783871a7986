"""What metrics mean, by their names and by declarations; costs and values are each other's mirror."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.history.metrics import (
    Declaration,
    Meaning,
    cost_of,
    loss,
    meaning_of,
    normalised,
    value_change,
    value_levels,
    value_of,
)


@pytest.mark.parametrize(
    ("name", "unit", "better"),
    [
        ("tokens/s", "tokens/s", "higher"),
        ("max_memory_allocated", None, "lower"),
        ("Peak GPU memory (MiB)", "MiB", "lower"),
        ("peak_reserved_bytes", "bytes", "lower"),
        ("memory_bandwidth_gb", None, None),
        ("tokens_per_s", "tokens/s", "higher"),
        ("tokens/sec/npu", "tokens/s", "higher"),
        ("output_throughput", "tokens/s", "higher"),
        ("total_token_throughput", "tokens/s", "higher"),
        ("max_output_tokens_per_s", "tokens/s", "higher"),
        ("request_throughput", "requests/s", "higher"),
        ("request_goodput", "requests/s", "higher"),
        ("items_per_second", "items/s", "higher"),
        ("bytes_per_second", "B/s", "higher"),
        ("throughput per GPU (TFLOP/s/GPU)", "TFLOP/s", "higher"),
        ("throughput", None, "higher"),
        ("TTFT", None, "lower"),
        ("mean_ttft_ms", "ms", "lower"),
        ("P99 TTFT (ms)", "ms", "lower"),
        ("p99_tpot_ms", "ms", "lower"),
        ("median_itl_ms", "ms", "lower"),
        ("ttft_p50_s", "s", "lower"),
        ("MFU", None, "higher"),
        ("train_mfu", None, "higher"),
        ("accuracy", None, "higher"),
        ("gsm8k_accuracy", None, "higher"),
        ("std_ttft_ms", None, None),
        ("total_input_tokens", None, None),
        ("completed", None, None),
        ("lm loss", None, None),
        ("grad norm", None, None),
        ("inaccuracy", None, None),
    ],
)
def test_names_that_many_programs_use_mean_this(name: str, unit: str | None, better: str | None) -> None:
    assert meaning_of(name, Meaning()) == Meaning(unit, better)  # type: ignore[arg-type]


def test_a_mapping_file_goes_before_the_record_and_the_record_before_the_name() -> None:
    assert meaning_of("goodput", Meaning("1/s", "higher")) == Meaning("1/s", "higher")
    assert meaning_of("mean_ttft_ms", Meaning("s", None)) == Meaning("s", "lower")
    declared = (Declaration("good*", Meaning("req/s", "lower")),)
    assert meaning_of("Goodput", Meaning("1/s", "higher"), declared) == Meaning("req/s", "lower")
    assert meaning_of("other", Meaning("1/s", "higher"), declared) == Meaning("1/s", "higher")
    of_unit = (Declaration("goodput", Meaning("req/min")),)
    assert meaning_of("goodput", Meaning("1/s", "higher"), of_unit) == Meaning("req/min", "higher")
    never = (Declaration("*_ttft_*", Meaning(), judged=False), Declaration("*", Meaning(None, "lower")))
    assert meaning_of("mean_ttft_ms", Meaning(), never) == Meaning("ms", None)


def test_names_are_compared_by_their_words() -> None:
    assert normalised("P99 TTFT (ms)") == "p99_ttft_ms"
    assert normalised("Tokens/s") == "tokens_per_s"


VALUES = st.floats(1e-20, 1e20)


@given(VALUES, VALUES)
def test_more_cost_is_worse_whatever_is_better(before: float, after: float) -> None:
    for better in ("higher", "lower"):
        costs = cost_of(before, Meaning(better=better)), cost_of(after, Meaning(better=better))
        worse = after < before if better == "higher" else after > before
        assert (costs[1] > costs[0]) >= (worse and costs[0] != costs[1])
        assert value_of(costs[0], better) == pytest.approx(before, rel=1e-15)
        assert (loss(after / before - 1, better) > 0) == (
            (before - after if better == "higher" else after - before) > 0
        ) or (after / before == 1)


@given(VALUES, VALUES)
def test_levels_of_values_are_those_of_costs(before: float, after: float) -> None:
    change = before / after - 1  # of costs: 1 / after over 1 / before
    costs = SimpleNamespace(before=1 / before, after=1 / after, change=change, ci_low=change, ci_high=change)
    if change <= -1 + 1e-12 or after / before - 1 <= -1 + 1e-12:
        return
    told = value_levels(costs, "higher")
    assert told["before"] == pytest.approx(before)
    assert told["after"] == pytest.approx(after)
    # a cost that is nearly gone leaves of `change` only what it lacks to -1
    assert 1 + told["change"] == pytest.approx(after / before, rel=1e-9 + 4e-16 * after / before)


def test_the_ends_of_an_interval_change_places() -> None:
    costs = SimpleNamespace(before=0.001, after=0.00125, change=0.25, ci_low=0.2, ci_high=0.3)
    told = value_levels(costs, "higher")
    assert told["before"] == 1000
    assert told["after"] == 800
    assert told["change"] == pytest.approx(-0.2)
    assert (told["ci_low"], told["ci_high"]) == (pytest.approx(1 / 1.3 - 1), pytest.approx(1 / 1.2 - 1))
    assert value_levels(costs, "lower") == vars(costs)
    assert value_levels(SimpleNamespace(before=None, after=None, change=None, ci_low=None, ci_high=None), "higher") == (
        dict.fromkeys(("before", "after", "change", "ci_low", "ci_high"))
    )


def test_what_has_no_level_costs_nothing() -> None:
    assert [cost_of(value, Meaning(better="higher")) for value in (0.0, -1.0, 1e31, float("inf"))] == [0, 0, 0, 0]
    assert value_of(0.0, "higher") == 0
    assert value_change(0.25, "lower") == 0.25
