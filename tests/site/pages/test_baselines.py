"""Which run the newest one is compared with, and why."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from aoe_reports.history.site_facts import PlacedShift, RunFacts, SeriesFacts, StoreFacts
from aoe_reports.model.classes import declared_fields
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.site.pages.comparison import Pair, about_baseline, pairs_of
from aoe_reports.site.texts import Texts

NIGHTS = tuple(f"2026-01-0{day}" for day in range(1, 6))
RUNS = [RunFacts(night, "profile", night, 0, "net", "npu", "complete", "/r", {}, {}) for night in NIGHTS]
ROW = SeriesChange(**{**dict.fromkeys(declared_fields(SeriesChange)), "series_id": "s", "workload": "net/step", "scope": "step"})  # type: ignore[arg-type] # fmt: skip
STEP = SeriesFacts(ROW, "net", "E", "s", NIGHTS, np.ones(5), NIGHTS, (), None, None, 5, None, None)
MEMBER = SimpleNamespace(open=True, model="net")
INCIDENT: Any = SimpleNamespace(open=True, since=NIGHTS[2], incident="i", title="Cast +50%", members=[MEMBER])


def pair_of(step: SeriesFacts, *incidents: Any) -> Pair:
    budget: Any = None
    by_name = {incident.incident: incident for incident in incidents}
    facts = StoreFacts([step], RUNS, (), budget, NIGHTS, 5, by_id={run.run_id: run for run in RUNS}, incidents=by_name)
    return pairs_of(facts)["net"]


def shifted(state: str, start: int) -> SeriesFacts:
    shift = PlacedShift(start, 5, state, 1.0, 1.1, 0.1, 0.05, 0.15)
    return replace(STEP, row=replace(ROW, state=state), shifts=(shift,))


def test_the_baseline_is_before_the_change_of_the_step() -> None:
    pair = pair_of(shifted("confirmed", 3), INCIDENT)
    assert (pair.why, pair.baseline.night) == ("segment", NIGHTS[2])


def test_a_suspected_step_is_said_to_be_suspected() -> None:
    pair = pair_of(shifted("suspect", 4))
    assert (pair.why, pair.baseline.night) == ("suspect", NIGHTS[3])
    assert f"before {NIGHTS[4]}, since when the model's step is suspected" in about_baseline(pair, Texts())


def test_of_a_step_that_is_the_same_it_is_before_the_newest_open_incident() -> None:
    closed = SimpleNamespace(**{**vars(INCIDENT), "open": False, "since": NIGHTS[3], "incident": "closed"})
    pair = pair_of(STEP, INCIDENT, closed)
    assert (pair.why, pair.baseline.night) == ("incident", NIGHTS[1])
    assert f"(Cast +50%, since {NIGHTS[2]})" in about_baseline(pair, Texts())


def test_where_nothing_changed_it_is_the_night_before() -> None:
    pair = pair_of(STEP)
    assert (pair.why, pair.baseline.night) == ("night", NIGHTS[3])
