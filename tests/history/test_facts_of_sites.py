"""What the pages of a store are made of: which series is the step of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aoe_reports.history.site_facts import SeriesFacts, StoreFacts
from aoe_reports.model.classes import declared_fields
from aoe_reports.model.history.changes import SeriesChange


def series(name: str, scope: str, model: str, *values: float) -> SeriesFacts:
    known: dict[str, Any] = {**dict.fromkeys(declared_fields(SeriesChange)), "series_id": name, "scope": scope}
    nights = tuple(f"2026-01-{day:02}" for day in range(1, len(values) + 1))
    times = np.array(values, dtype=np.float64)
    rest: dict[str, Any] = {"engine": "cann", "source": "x", "runs": nights, "shifts": (), "level": None, "sigma": None, "watched": 0, "share_of_step": None, "step_series": None}  # fmt: skip
    return SeriesFacts(row=SeriesChange(**known), model=model, nights=nights, values=times, **rest)


EVERY = (
    series("op", "op", "net", 9.0, 99.0),
    series("short", "step", "net", 9.0, 1.0),
    series("long", "step", "net", 1.0, 2.0),
    series("alike", "step", "net", 2.0),
    series("never", "step", "net"),
    series("whole", "model", "net", 50.0),
    series("whole of b", "model", "b", 5.0),
    series("operator of b", "op", "b", 6.0),
    series("operator of c", "op", "c", 6.0),
)


@pytest.mark.parametrize(("model", "slowest"), [("net", "long"), ("b", "whole of b"), ("c", None), ("d", None)])
def test_the_longest_step_of_a_model_is_that_of_its_newest_night(model: str, slowest: str | None) -> None:
    unused: dict[str, Any] = dict.fromkeys(("runs", "verdicts", "budget", "nights", "watched_nights"))
    for some in (EVERY, EVERY[::-1]):
        found = StoreFacts(series=some, **unused).slowest_of(model)
        assert (None if found is None else found.id) == slowest
