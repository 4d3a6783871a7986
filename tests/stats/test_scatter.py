"""Segments of other scatter are found where they are, and nowhere in noise with steps and spikes."""

from __future__ import annotations

import numpy as np
import pytest

from aoe_reports.stats.scatter import may_have_changed, off_levels, scatter_segments


@pytest.mark.parametrize(("before", "after"), [(0.005, 0.02), (0.02, 0.005)])
def test_a_change_of_scatter_is_found_where_it_is(before: float, after: float) -> None:
    found = 0
    for seed in range(50):
        logs = np.random.default_rng(seed).standard_normal(120) * np.where(np.arange(120) < 80, before, after)
        logs[40:] += 0.1
        segments = scatter_segments(off_levels(logs), 0.0)
        if len(segments) == 2 and abs(segments[1][0] - 80) <= 8:
            found += segments[0][1] == pytest.approx(before, rel=0.4) and segments[1][1] == pytest.approx(
                after, rel=0.4
            )
    assert found >= 45


def test_steps_and_spikes_are_no_change_of_scatter() -> None:
    several = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        logs = 0.01 * random.standard_t(3, 120) / np.sqrt(3) + (random.random(120) < 0.02) * random.uniform(
            0.1, 0.3, 120
        )
        logs[60:] += 0.2
        several += len(scatter_segments(off_levels(logs), 0.0)) > 1
    assert several <= 4


def test_few_nights_have_one_scatter() -> None:
    assert len(scatter_segments(off_levels(np.random.default_rng(1).standard_normal(10)), 0.0)) == 1


def test_the_glance_at_many_series_misses_none_whose_scatter_changed() -> None:
    random = np.random.default_rng(8)
    after = random.choice([0.5, 1.0, 2.0, 4.0], (200, 1))
    logs = 0.01 * random.standard_normal((200, 90)) * np.where(np.arange(90) < 50, 1.0, after)
    proved = np.array([len(scatter_segments(off_levels(one), 0.0)) > 1 for one in logs])
    glance = may_have_changed(logs, np.full(200, 90))
    assert proved.sum() > 50
    assert not (proved & ~glance).any()
    assert (~glance[after[:, 0] == 1.0]).mean() > 0.8
    short = may_have_changed(logs, np.full(200, 60))
    assert short.all(), "those with gaps are looked at more closely"
    assert not may_have_changed(logs[:, :12], np.full(200, 12)).any()
