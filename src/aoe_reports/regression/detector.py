"""Has the level of a series changed, since when and by how much?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aoe_reports.regression import noise
from aoe_reports.regression.noise import Floats, Integers
from aoe_reports.regression.partition import partition


@dataclass(frozen=True, slots=True)
class Parameters:
    threshold: float = 22.0
    candidate_share: float = 0.6
    least_baseline: int = 7
    least_level: int = 3
    least_effect: float = 0.005
    rare: float = 0.002
    rare_weight: float = 60.0
    memory_margin: float = 1.5
    skew: float = 1.0
    dof_share: float = 0.8
    majority: float = 0.5


def inflation(memory, nights):
    """By how much AR(1) memory inflates the variance of the mean of `nights` values."""
    n = np.asarray(nights, dtype=np.float64)
    return (1 + memory) / (1 - memory) - 2 * memory * (1 - memory**n) / (n * (1 - memory) ** 2)


class Examined:
    """One series under examination."""

    def __init__(self, x, sigma0, memory0, changes, p: Parameters):
        self.x, self.n, self.p = x, len(x), p
        self.sigma0 = sigma0
        self.changes = list(changes)
        self.settle()

    def settle(self):
        """Levels, noise of the series given its changes."""
        p, x = self.p, self.x
        edges = [0, *self.changes, self.n]
        residuals = np.empty(self.n)
        levels = []
        for a, b in zip(edges, edges[1:]):
            part = x[a:b]
            level = np.median(part) if b - a < 3 else self.middle(part)
            levels.append(level)
            residuals[a:b] = part - level
        limit = noise.CLIP * self.sigma0
        clipped = np.clip(residuals, -limit, limit)
        free = max(self.n - len(levels), 1)
        total = clipped @ clipped
        self.sigma = max(np.sqrt(total / free), noise.FLOOR)
        product = clipped[1:] * clipped[:-1]
        if self.changes:
            product[np.array(self.changes) - 1] = 0.0
        m = len(levels)
        rho = product.sum() / total if total > 0 else 0.0
        rho = (rho + m / self.n) / max(1 - 3 * m / self.n, 0.2)
        self.raw_memory = rho
        self.memory = float(np.clip(rho + p.memory_margin / np.sqrt(self.n), 0, noise.MOST_MEMORY))
        outside = np.abs(residuals) > noise.CLIP * self.sigma
        self.rare = (outside.sum() + p.rare * p.rare_weight) / (self.n + p.rare_weight)
        core = residuals[~outside]
        v = core @ core / max(len(core), 1)
        self.skewness = float((core**3).mean() / v**1.5) if v > 0 else 0.0
        self.levels = levels
        self.free = free

    def middle(self, part):
        m = np.median(part)
        limit = noise.CLIP * self.sigma0
        for _ in range(2):
            m = m + np.clip(part - m, -limit, limit).mean()
        return m

    def loss(self, deviations):
        z2 = np.square(deviations / self.sigma)
        return -2 * np.log((1 - self.rare) * np.exp(-0.5 * np.minimum(z2, 200)) + self.rare)

    def gain(self, a, b, c, grid=np.linspace(0, 1, 33)):
        """z squared for a change at b between a and c."""
        x = self.x
        left, right = x[a:b], x[b:c]
        lo, hi = self.refine(left), self.refine(right)
        split = self.loss(left - lo).sum() + self.loss(right - hi).sum()
        nl, nr = b - a, c - b
        w = nr / (nl + nr)
        where = np.concatenate([grid, [w]])
        centre = lo + (hi - lo) * where
        pooled = self.loss(x[a:c][None, :] - centre[:, None]).sum(axis=1).min()
        g = max(pooled - split, 0.0)
        ratio = (inflation(self.memory, nl) / nl + inflation(self.memory, nr) / nr) / (1 / nl + 1 / nr)
        g /= ratio
        nu = self.p.dof_share * self.free
        z2 = nu * np.log1p(g / nu)
        sign = np.sign(hi - lo) * (1 if nr <= nl else -1)
        lean = max(0.0, sign * self.skewness) * self.p.skew
        if lean > 0 and z2 > 1:
            z = np.sqrt(z2)
            z2 = max(z - lean * (z2 - 1) / (6 * np.sqrt(min(nl, nr))), 0) ** 2
        return z2, hi - lo, lo, hi

    def refine(self, part):
        m = self.middle(part)
        if len(part) < 3:
            return m
        for _ in range(3):
            e = np.exp(-0.5 * np.minimum(np.square((part - m) / self.sigma), 200)) * (1 - self.rare)
            w = e / (e + self.rare)
            s = w.sum()
            if s <= 1e-9:
                break
            m = (w @ part) / s
        return m

    def prune(self):
        p = self.p
        while self.changes:
            edges = [0, *self.changes, self.n]
            weakest, which = np.inf, None
            tests = []
            for i in range(1, len(edges) - 1):
                a, b, c = edges[i - 1], edges[i], edges[i + 1]
                short = (b - a < (p.least_baseline if a == 0 else p.least_level)) or c - b < p.least_level
                z2, effect, lo, hi = self.gain(a, b, c)
                if short:
                    z2 = -1.0
                elif abs(effect) < p.least_effect:
                    z2 = 0.0
                elif not self.agrees(a, b, c, lo, hi):
                    z2 = 0.5
                tests.append(z2)
                if z2 < weakest:
                    weakest, which = z2, i - 1
            if weakest >= p.threshold:
                self.tests = tests
                return
            del self.changes[which]
            self.settle()
        self.tests = []

    def agrees(self, a, b, c, lo, hi):
        """Most of the new level lies on its own side of the middle."""
        right = self.x[b:c]
        sign = 1 if hi > lo else -1
        own = ((right - (lo + hi) / 2) * sign > 0).mean()
        if own * (c - b) < 2.5:
            return False
        left = self.x[a:b]
        own_left = ((left - (lo + hi) / 2) * sign < 0).mean()
        return own > self.p.majority and own_left > self.p.majority

    def locate(self):
        """Move each change to where the two levels around it explain the nights best."""
        p = self.p
        for k in range(len(self.changes)):
            edges = [0, *self.changes, self.n]
            a, b, c = edges[k], edges[k + 1], edges[k + 2]
            lo, hi = self.refine(self.x[a:b]), self.refine(self.x[b:c])
            x = self.x[a:c]
            d = self.loss(x - lo) - self.loss(x - hi)
            # cost of a change at s: left of it lo, from it hi
            cost = np.concatenate([[0.0], np.cumsum(d)])
            first = p.least_baseline if a == 0 else p.least_level
            last = c - a - p.least_level
            if last < first:
                continue
            self.changes[k] = a + first + int(cost[first : last + 1].argmin())


def detect(values, p=Parameters()):
    logs, nights, lengths = noise.compact(values)
    sigma, memory = noise.estimate(logs, lengths)
    scaled = noise.clip(logs, lengths, sigma)
    penalties = p.threshold * p.candidate_share * inflation(memory * 0.5, 5)
    candidates = partition(scaled, lengths, penalties, 2)
    out = []
    for i, found in enumerate(candidates):
        if not found:
            out.append([])
            continue
        e = Examined(logs[i, : lengths[i]], sigma[i], memory[i], found, p)
        e.prune()
        if e.changes:
            e.locate()
        out.append([int(nights[i, c]) for c in e.changes])
    return out
