"""The order and the colour of the morning's changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from aoe_reports.model.classes import declared_fields
from aoe_reports.model.history.changes import Acknowledged, SeriesChange
from aoe_reports.site.pages.triage import effect_lower_bound, group_of, grouped, look_of, slower_word, state_of, tone_of

ROW = SeriesChange(**{**dict.fromkeys(declared_fields(SeriesChange)), "series_id": "s", "workload": "net", "scope": "op", "state": "confirmed", "since": "2026-01-05", "change": 0.1})  # type: ignore[arg-type] # fmt: skip
ACK = Acknowledged(kind="ack", id="a", who="me", when="now", reason="known")


def row(**known: Any) -> SeriesChange:
    return replace(ROW, **known)


NIGHTS = [f"2026-01-{day:02}" for day in range(1, 21)]


@pytest.mark.parametrize(
    ("known", "group"),
    [
        ({"since": "2026-01-14"}, "new"),
        ({"since": "2026-01-13"}, "ongoing"),
        ({"since": "2026-01-20"}, "new"),
        ({"change": 0.0, "since": "2026-01-20"}, "new"),
        ({"change": -0.01, "since": "2026-01-20"}, "improved"),
        ({"change": -0.01, "acknowledged": ACK}, "improved"),
        ({"acknowledged": ACK, "since": "2026-01-20"}, "acknowledged"),
        ({"state": "suspect", "since": "2026-01-20"}, "suspect"),
        ({"state": "recovered"}, "recovered"),
        ({"state": None}, None),
        ({"change": None}, None),
    ],
)
def test_a_change_is_in_the_group_of_what_is_to_be_done(known: Mapping[str, Any], group: str | None) -> None:
    assert group_of(row(**known), NIGHTS) == group


@pytest.mark.parametrize(
    ("state", "change", "accepted", "word"),
    [
        ("confirmed", 0.1, True, "acknowledged"),
        ("drift", 0.1, True, "acknowledged"),
        ("confirmed", 0.1, False, "confirmed"),
        ("confirmed", 0.0, True, "confirmed"),
        ("confirmed", None, True, "confirmed"),
        ("confirmed", -0.1, True, "confirmed"),
        ("suspect", 0.1, True, "suspect"),
    ],
)
def test_an_accepted_slow_down_is_said_to_be_one(state: str, change: float | None, accepted: bool, word: str) -> None:
    assert slower_word(state, change, accepted=accepted) == word
    assert state_of(row(state=state, change=change, acknowledged=ACK if accepted else None)) == word


def test_a_series_without_a_change_says_why() -> None:
    assert state_of(row(state=None, reason="too-few-nights")) == "too-few-nights"
    assert state_of(row(state=None)) == "unchanged"


def series(name: str, share: float | None = None, **known: Any) -> Any:
    return SimpleNamespace(row=row(**{"ci_low": 0.02, "ci_high": 0.05, **known}), share_of_step=share, id=name)


@pytest.mark.parametrize(
    ("low", "high", "bound"),
    [(0.02, 0.05, 0.02), (-0.05, -0.02, -0.02), (-0.01, 0.02, 0.0), (0.0, 0.02, 0.0), (-0.02, 0.0, 0.0), (None, 0.2, 0.0), (0.2, None, 0.0)],
)  # fmt: skip
def test_the_lower_bound_of_an_effect_is_the_nearer_end(low: float | None, high: float | None, bound: float) -> None:
    assert effect_lower_bound(series("s", scope="step", ci_low=low, ci_high=high)) == bound


@pytest.mark.parametrize(
    ("share", "scope", "effect"),
    [(0.5, "op", 0.01), (None, "op", None), (None, "step", 0.02), (0.5, "step", 0.02)],
)
def test_the_lower_bound_is_weighed_by_the_share_of_the_step(
    share: float | None, scope: str, effect: float | None
) -> None:
    assert effect_lower_bound(series("s", share, scope=scope)) == effect


def test_the_largest_effect_comes_first_an_unknown_one_before_what_is_too_small_to_matter() -> None:
    small, large, unknown = series("a", step_share=0.004), series("b", step_share=-0.09), series("c")
    step = series("d", scope="step", change=0.2)
    facts: Any = SimpleNamespace(series=[unknown, small, step, large], nights=["2026-01-05"])
    assert [one.id for one in grouped(facts)["new"]] == ["d", "b", "c", "a"]
    assert list(grouped(facts)) == ["new", "ongoing", "suspect", "acknowledged", "recovered", "improved"]


@pytest.mark.parametrize(
    ("known", "look"),
    [
        ({"scope": "step", "change": 0.0049}, "minor"),
        ({"scope": "step", "change": 0.005}, "slower-word"),
        ({"scope": "step", "change": 0.02, "state": "suspect"}, "suspect-word"),
        ({"scope": "op", "change": 0.5, "step_share": 0.001}, "minor"),
        ({"scope": "op", "change": 0.5, "step_share": None}, "slower-word"),
        ({"scope": "metric", "change": -0.1, "better": "higher"}, "slower-word"),
        ({"scope": "metric", "change": 0.1, "better": "higher"}, "quicker-word"),
        ({"change": None}, ""),
    ],
)
def test_a_change_has_the_colour_of_its_effect_on_the_step(known: Mapping[str, Any], look: str) -> None:
    assert look_of(row(**{"better": "lower", **known})) == look


@pytest.mark.parametrize(
    ("rows", "tone"),
    [
        ([], "calm"),
        ([{"state": None, "change": None}], "calm"),
        ([{"state": "improved", "change": -0.1}], "good"),
        ([{"state": "recovered", "change": -0.1}], "good"),
        ([{"state": "improved", "change": -0.1, "step_share": -0.001}], "calm"),
        ([{"state": "suspect", "change": -0.1}], "calm"),
        ([{"state": "improved", "change": -0.1}, {"state": "suspect"}], "odd"),
        ([{"state": "improved", "change": -0.1}, {"state": "suspect"}, {}], "bad"),
        ([{"acknowledged": ACK}], "calm"),
    ],
)
def test_a_headline_has_the_colour_of_the_worst_that_matters(rows: list[Mapping[str, Any]], tone: str) -> None:
    assert tone_of([row(**{"better": "lower", "moves": (), **known}) for known in rows]) == tone
