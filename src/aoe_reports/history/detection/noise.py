"""The noise that a series leaves around its levels: scatter, memory, spikes, modes, and how likely that makes a night.

A night is of a bell (or of one of two), or a spike that may lie anywhere (Box and Tiao 1968, "A Bayesian approach to some outlier
problems"), so however far a single night lies out, it proves no more than spikes are rare. Memory is AR(1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aoe_reports.history.detection.verdicts import Parameters, relative
from aoe_reports.stats import noise
from aoe_reports.stats.habits import OWN_WEIGHT, RARE_NIGHTS, Habits
from aoe_reports.stats.modes import Modes, find_modes
from aoe_reports.stats.noise import Floats

MAX_RARE = 0.1
"""What happens every tenth night is no exception: single nights never count less than this makes them."""
FREEDOM = 0.8
"""Share of the nights that count as degrees of freedom of sigma: it comes from clipped residuals."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What nights are off their levels by, as a distribution; in the unit of their logarithms."""

    sigma: float
    freedom: float
    """Degrees of freedom that `sigma` is known by."""
    memory: float
    feared: float
    """Memory with a margin for the error of its estimate: that of levels, which memory moves."""
    certain: float
    """Memory less its standard error, as far as the series alone tells it: what thresholds are asked for."""
    rare: float
    """Share of spikes."""
    modes: Modes | None
    skewness: float
    whitens: bool
    """Whether nights are held against what memory makes of the nights before them."""

    def loss(self, deviations: Floats) -> Floats:
        """Twice the negative log likelihood of deviations; a spike costs -2 log(rare), however far it is."""
        if self.modes is not None:
            lower, upper = densities(deviations, self.modes)
            likelihoods: Floats = (1 - self.rare) * (lower + upper) + self.rare
            return -2 * np.log(likelihoods)
        losses = deviations / self.sigma
        # in place: most of the time would go on new memory
        np.minimum(np.square(losses, out=losses), 200.0, out=losses)
        losses *= -0.5
        np.exp(losses, out=losses)
        losses *= 1 - self.rare
        losses += self.rare
        np.log(losses, out=losses)
        losses *= -2
        return losses

    def surprise(self, deviations: Floats) -> Floats:
        """The loss of what each night is off what memory makes of the night before; a night out of line is not remembered."""
        if not self.whitens:
            return self.loss(deviations)
        memory, limit = self.memory, noise.CLIP * self.sigma
        news = deviations.copy()
        news[..., 1:] -= memory * np.minimum(np.maximum(deviations[..., :-1], -limit), limit)
        news[..., 1:] /= math.sqrt(1 - memory * memory)
        return self.loss(news)

    def variance(self, before: float, after: float) -> float:
        """Of the difference of two levels of so many nights, in squared sigma."""
        return float(noise.inflation(self.feared, before) / before + noise.inflation(self.feared, after) / after)

    def inflation(self, before: float, after: float) -> float:
        """By how much memory inflates a gain in likelihood: not where it is taken off night by night."""
        return 1.0 if self.whitens else self.variance(before, after) / (1 / before + 1 / after)

    def normal(self, square: float) -> float:
        """A squared t score as a squared normal score: sigma is an estimate, too."""
        return self.freedom * math.log1p(square / self.freedom)


class Sums(NamedTuple):
    """What nights that are off their levels tell of the noise."""

    nights: int
    levels: int
    sigma: float
    squares: float
    """Of what nights are off their levels, clipped; `products` are those of neighbours on one level."""
    products: float
    spikes: int
    """Nights out of line that stand alone."""


def noise_of(
    residuals: Floats,
    clipped: Floats,
    changes: list[int],
    habits: Habits,
    parameters: Parameters,
    *,
    may_have_modes: bool,
) -> Noise:
    """The noise of what nights are off their levels."""
    count, levels = len(residuals), len(changes) + 1
    squares = float(np.square(clipped).sum())
    sigma = float(scatter_of(squares, count - levels))
    outside = np.abs(residuals) > noise.CLIP * sigma
    some = bool(outside.any())
    spikes = int(stand_alone(np.where(outside, np.sign(residuals), 0.0)).sum()) if some else 0
    core = residuals[~outside] if some else residuals
    modes = find_modes(core) if may_have_modes else None
    products = clipped[1:] * clipped[:-1]
    if changes:
        products[np.array(changes) - 1] = 0.0
    sums = Sums(count, levels, sigma, squares, float(products.sum()), spikes)
    return noise_of_sums(sums, habits, parameters, modes, _skewness(core))


def noise_of_sums(
    sums: Sums, habits: Habits, parameters: Parameters, modes: Modes | None = None, skewness: float = 0.0
) -> Noise:
    """The noise that sums over the nights show; the skewness is asked for by changes alone."""
    count, levels = sums.nights, sums.levels
    memory, known = _memory(sums), float(count)
    # one look at a whole history holds levels against memory themselves (`outdo_memory`)
    if not parameters.hindsight:
        known = count + habits.weight
        memory = (memory * count + habits.memory * habits.weight) / known
    bounded = min(max(memory, 0.0), noise.MAX_MEMORY)
    # memory within its own standard error may be chance: the threshold of noise without memory holds
    certain = max(bounded - 1 / math.sqrt(known), 0.0)
    # the thresholds of noise with memory are those of memory that the series alone tells
    certain *= (count + OWN_WEIGHT) / known if not parameters.hindsight else 1.0
    return Noise(
        sigma=sums.sigma,
        freedom=FREEDOM * max(count - levels, 1),
        memory=bounded,
        feared=min(max(memory + parameters.memory_margin / math.sqrt(known), 0.0), noise.MAX_MEMORY),
        certain=certain,
        rare=min((sums.spikes + habits.spikes * RARE_NIGHTS) / (count + RARE_NIGHTS), MAX_RARE),
        modes=modes,
        skewness=skewness,
        whitens=not parameters.hindsight and modes is None and bounded > 0,
    )


def scatter_of(squares: Any, freedom: int) -> Any:
    """The standard deviation of nights from the sum of their squares, of one series or of many."""
    return np.maximum(np.sqrt(squares / max(freedom, 1)), noise.FLOOR)


def _memory(sums: Sums) -> float:
    count, levels = sums.nights, sums.levels
    memory = sums.products / sums.squares if sums.squares > 0 else 0.0
    # a level taken off pulls the correlation down by (1 + 3 r) / n each (Kendall 1954)
    return (memory + levels / count) / max(1 - 3 * levels / count, 0.2)


def _skewness(core: Floats) -> float:
    square = core * core
    variance = float(square.sum()) / max(len(core), 1)
    return float((square * core).sum()) / len(core) / variance**1.5 if variance > 0 else 0.0


def stand_alone(sides: Floats) -> NDArray[np.bool_]:
    """Which nights are out of line (sides -1, 1) with no neighbour out on the same side: a run of them is no spike."""
    alone: NDArray[np.bool_] = sides != 0
    together = sides[..., 1:] == sides[..., :-1]
    alone[..., 1:] &= ~together
    alone[..., :-1] &= ~together
    return alone


def densities(deviations: Floats, modes: Modes) -> Floats:
    """How likely deviations are in either mode."""
    lower, upper = (deviations - modes.lower) / modes.sigma, (deviations - modes.upper) / modes.sigma
    return np.stack([(1 - modes.share) * np.exp(-lower * lower / 2), modes.share * np.exp(-upper * upper / 2)])


POWER_NIGHTS, POWER_SCORE = 14, 1.2816
"""The smallest detectable change is confirmed within two weeks in nine cases of ten (the normal quantile of 0.9)."""
MAX_TAKEN = 0.5
"""Share of the scatter that a mean of few nights with memory may hide: of more nothing is known."""


def smallest_detectable(left: Noise, level: int, threshold: float, parameters: Parameters) -> float | None:
    """The relative slow-down that is confirmed within POWER_NIGHTS nights in nine cases of ten, where `threshold` is asked for.

    `left` is the noise around the newest level, which has so many nights.
    """
    nights = POWER_NIGHTS
    baseline = max(level, parameters.least_baseline)
    gain = left.freedom * relative(threshold / left.freedom)
    most = -2 * math.log(left.rare) / (1 / baseline + 1 / nights)
    if threshold * left.inflation(baseline, nights) > most:
        return None  # every night counts as a spike before the gain is reached
    # where nights remember, their mean takes part of the scatter with it
    taken = min((float(noise.inflation(left.feared, baseline)) - 1) / baseline, MAX_TAKEN)
    step = (math.sqrt(gain) + POWER_SCORE) * left.sigma * math.sqrt(left.variance(baseline, nights) / (1 - taken))
    return max(relative(step), parameters.least_effect)
