"""Series that go to and fro between two levels for days at a time, as clocks, caches and placements make them.

Which of the two modes (`stats/modes`) each night belongs to is the path of least loss through both, where a switch costs (Viterbi 1967).
Who was on the other level and back three times has two modes: its nights in the other mode are moved to that of the newest night, so the
next switch is no news, and what is left is judged like any series. Values are natural logarithms of times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aoe_reports.stats.modes import MIN_NIGHTS, Modes, find_modes
from aoe_reports.stats.noise import CLIP, FLOOR, HALF, Floats, Integers, median, running_median, scale

SWITCHES = 6
"""There and back three times: a regression that was fixed and came again, and again, is five, and must be told."""
KNOWN_SWITCHES = 2
"""There and back once, in a workload that is known for it: KNOWN_SHARE of its series, two at least, were there and back three times."""
KNOWN_SHARE, MIN_KNOWN = 1 / 4, 2
SWITCH_COST = 6.0
"""Twice the log odds against a switch in a night: one night counts as a stay where it is no night of the usual noise."""
STAY = 5.0
"""Nights of a stay on average at least: what changes more often is noise of two modes (`stats/modes`), and weighed as such."""
LASTING = 1.8
"""Variance of nights over that of what they are off their neighbours, at a glance: 1 where nothing stays; as calculated for modes 4.3 sigma apart, 1.4 for stays of 3 nights, 2.9 of 10."""
LASTING_ALONE = 2.0
"""The same of a series whose workload is not known for it: a step on top of stays of 3 nights makes 1.8 to 2."""
MIN_SQUARES = 1e-9
"""Of neighbours: times that never change stay anywhere."""
IN_MODES = 0.9
"""Share of the nights that lie in their mode: of levels that are more than two, fewer do."""

SAME = 1.4
"""Scatter of the nights, moved to one mode, over that from night to night: of 238 looks at two modes it was above 1.2 in one of 30."""


class Switch(NamedTuple):
    """The newest switch of a series between its modes: its first night, and by how much the level went up."""

    night: int
    step: float


class Path(NamedTuple):
    """How a series went to and fro: which nights are in the upper of its modes, how often it switched, and how much it stays (`LASTING`)."""

    upper: NDArray[np.bool_]
    modes: Modes
    switches: int
    lasting: float

    @property
    def newest(self) -> Switch:
        """The newest switch."""
        nights, apart = np.flatnonzero(self.upper != self.upper[-1]), self.modes.upper - self.modes.lower
        return Switch(int(nights[-1]) + 1, apart if self.upper[-1] else -apart)

    def in_newest_mode(self, logs: Floats) -> Floats:
        """The nights, those of the other mode moved to that of the newest night."""
        moved: Floats = logs + np.where(self.upper != self.upper[-1], self.newest.step, 0.0)
        return moved


def find_paths(logs: Floats, scaled: Floats, lengths: Integers, sigma: Floats) -> dict[int, Path]:
    """The paths of those series (series, nights), compacted, that have been in another mode and back; `scaled` as of `noise.clip`."""
    lasting = _lasting(scaled, lengths)
    rows = np.flatnonzero((lengths >= MIN_NIGHTS) & (lasting > LASTING)).tolist()
    paths = {row: _path_of(logs[row, : lengths[row]], float(sigma[row]), float(lasting[row])) for row in rows}
    return {row: path for row, path in paths.items() if path is not None}


def go_to_and_fro(paths: Mapping[int, Path], workloads: Sequence[int] | None) -> list[int]:
    """Which series with paths have switched often enough to have modes; `workloads` numbers that of each series, where they tell."""
    often = [series for series, path in paths.items() if path.switches >= SWITCHES]
    alone = {series for series in often if paths[series].lasting > LASTING_ALONE}
    if workloads is None:
        return sorted(alone)
    sizes, of_them = Counter(workloads), Counter(workloads[series] for series in often)
    known = {one for one, count in of_them.items() if count >= max(KNOWN_SHARE * sizes[one], MIN_KNOWN)}
    return [series for series in paths if series in alone or workloads[series] in known]


def _lasting(scaled: Floats, lengths: Integers) -> Floats:
    """How long each series stays on its levels (`LASTING`), cheaply: most do not."""
    counted = np.arange(scaled.shape[1]) < lengths[:, None]
    nights = np.maximum(lengths, 1)
    means = np.where(counted, scaled, 0.0).sum(axis=1) / nights
    variance = np.where(counted, np.square(scaled - means[:, None]), 0.0).sum(axis=1)
    neighbours = np.where(counted[:, 1:], np.square(scaled[:, 1:] - scaled[:, :-1]), 0.0).sum(axis=1) / 2
    lasting: Floats = variance / np.maximum(neighbours, MIN_SQUARES)
    return lasting


def _path_of(logs: Floats, sigma: float, lasting: float) -> Path | None:
    """The path of a series; None without two modes, or if it returned less than once."""
    off = np.abs(logs - running_median(logs))
    off[:HALF], off[-HALF:] = 0.0, 0.0
    modes = find_modes(logs[off <= CLIP * sigma])
    if modes is None:
        return None
    distances = np.abs(logs - modes.mean - np.array([[modes.lower], [modes.upper]])) / modes.sigma
    upper, apart = _upper_nights(np.square(np.minimum(distances, CLIP))), modes.upper - modes.lower
    switches = int(np.count_nonzero(upper[1:] != upper[:-1]))
    in_modes = (np.where(upper, distances[1], distances[0]) <= CLIP).mean() >= IN_MODES
    often = KNOWN_SWITCHES <= switches <= len(logs) / STAY
    if not often or not in_modes or not _on_one_level(logs - apart * upper):
        return None
    return Path(upper, modes, switches, lasting)


def _on_one_level(moved: Floats) -> bool:
    usual = max(scale(np.abs(np.diff(moved))) / sqrt(2), FLOOR)
    off = np.minimum(np.abs(moved - median(moved)), CLIP * usual)
    return float(np.sqrt(np.square(off).mean())) <= SAME * usual


def _upper_nights(losses: Floats) -> NDArray[np.bool_]:
    """Whether each night is in the upper state on the cheapest path; a switch costs SWITCH_COST."""
    gains = (losses[0] - losses[1]).tolist()
    ahead, lead = [], 0.0  # by how much the best path that ends in the second state is ahead
    for gain in gains:
        lead = min(max(lead, -SWITCH_COST), SWITCH_COST) + gain
        ahead.append(lead)
    second = np.empty(len(gains), dtype=bool)
    state = lead > 0
    for night in range(len(gains) - 1, -1, -1):
        second[night] = state
        if night:
            state = ahead[night - 1] > (-SWITCH_COST if state else SWITCH_COST)
    return second
