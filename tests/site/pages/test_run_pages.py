"""The page of a run: what decides whether it is made anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from aoe_reports.history.site_facts import RunFacts, SeriesFacts
from aoe_reports.model.classes import declared_fields
from aoe_reports.model.history.changes import SeriesChange
from aoe_reports.site.build import run_key
from aoe_reports.site.pages.run import Surroundings
from aoe_reports.site.texts import Texts

ROW = SeriesChange(**{**dict.fromkeys(declared_fields(SeriesChange)), "series_id": "s", "workload": "net/op/Cast", "scope": "op", "state": "confirmed", "since": "2026-01-05", "change": 0.1, "better": "lower", "step_share": 0.02})  # type: ignore[arg-type] # fmt: skip
SERIES = SeriesFacts(ROW, "net", "E", "s", (), np.array([]), (), (), None, None, 0, None, None)
RUN = RunFacts("r", "profile", "2026-01-05", 0, "net", "npu", "complete", "/r", {}, {})


def key(series: SeriesFacts) -> str:
    return run_key(RUN, Surroundings(None, None, (), [series], (), None, None), Texts())


@pytest.mark.parametrize("known", [{"step_share": 0.001}, {"state": "suspect"}, {"better": "higher"}])
def test_what_decides_the_colour_of_a_changed_series_is_in_the_key(known: dict[str, Any]) -> None:
    assert key(replace(SERIES, row=replace(ROW, **known))) != key(SERIES)


def test_a_series_that_has_a_page_now_is_linked() -> None:
    assert key(replace(SERIES, has_page=False)) != key(SERIES)
