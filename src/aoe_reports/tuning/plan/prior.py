"""What tuning an operator may bring and cost, before it is tried: what earlier tuning brought, else a stated default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal

from aoe_reports.model.documents import JsonObject
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.tuning.names import type_key

Source = Literal["measured", "claimed", "default"]

DEFAULT_SAVED_SHARE = 0.2612
"""Time saved (1 - after/before): the median of the five operators that were measured in the examples of AOE's documents
(CANN 6.0 to 8.0); the gains of two more are filled in.

Examples show what was improved, so this is a large default. It only decides between types where something else is known.
"""

DEFAULT_COST_S = 26.0
"""Seconds an operator: the median of tuning time / (added + updated + unsatisfied) in the same three examples."""

DEFAULT_SUBGRAPH_SAVED_SHARE = 0.3553
"""Time saved of the model in the example of subgraph tuning (5.600486 ms before, 3.610442 ms after)."""

DEFAULT_SUBGRAPH_COST_S = 48.5
"""Seconds a model: the mean of the two examples of subgraph tuning (78 s, 19 s)."""

DEFAULT_SOURCE = say("the examples in AOE's documents, which are not measurements")


@dataclass(frozen=True, slots=True)
class Gain:
    """What tuning one operator brought: time saved (1 - after/before), as AOE claimed it or as a new profile showed it."""

    op_type: str | None
    """Null for subgraphs, and for a model."""
    saved_share: float
    measured: bool = False


@dataclass(frozen=True, slots=True)
class Prior:
    """What is expected of tuning: time saved (1 - after/before), from how many results of which source."""

    saved_share: float
    source: Source
    results: int

    def as_document(self) -> JsonObject:
        """As it stands in plan.json."""
        return {"saved_share": round(self.saved_share, 6), "source": self.source, "results": self.results}


class Priors:
    """What earlier tuning tells of operator types, of subgraphs and of the time that tuning takes."""

    def __init__(
        self,
        gains: Iterable[Gain] = (),
        costs_s: Sequence[float] = (),
        subgraph_costs_s: Sequence[float] = (),
    ) -> None:
        self._gains: dict[str | None, list[Gain]] = {}
        for gain in gains:
            self._gains.setdefault(None if gain.op_type is None else type_key(gain.op_type), []).append(gain)
        self.cost_s = median(costs_s) if costs_s else DEFAULT_COST_S
        self.cost_results = len(costs_s)
        self.subgraph_cost_s = median(subgraph_costs_s) if subgraph_costs_s else DEFAULT_SUBGRAPH_COST_S

    def of_type(self, op_type: str) -> Prior:
        """What is expected of tuning operators of a type."""
        return self._of(type_key(op_type), DEFAULT_SAVED_SHARE)

    def of_subgraphs(self) -> Prior:
        """What is expected of tuning a model's subgraphs."""
        return self._of(None, DEFAULT_SUBGRAPH_SAVED_SHARE)

    def _of(self, key: str | None, default: float) -> Prior:
        """Measured gains count before claimed ones; the default counts as one result, so that one alone decides little."""
        known = self._gains.get(key, [])
        chosen = [gain for gain in known if gain.measured] or known
        if not chosen:
            return Prior(default, "default", 0)
        mean = (sum(sorted(gain.saved_share for gain in chosen)) + default) / (len(chosen) + 1)
        return Prior(max(mean, 0.0), "measured" if chosen[0].measured else "claimed", len(chosen))


def saved_share(before: object, after: object) -> float | None:
    """Time saved, 1 - after/before; null where a time is none."""
    if before is None or after is None:
        return None
    first, second = float(str(before)), float(str(after))
    return 1 - second / first if first > 0 and 0 < second < float("inf") else None


def cost_of_summary(tuning_time_s: float | None, summary: Mapping[str, float]) -> float | None:
    """Seconds an operator of one tuning task: what was in the repository and stayed was not worked at."""
    worked_at = sum(summary.get(f"repo_{name}_num", 0) for name in ("add", "update", "unsatisfied"))
    return tuning_time_s / worked_at if tuning_time_s is not None and tuning_time_s > 0 and worked_at > 0 else None


@dataclass(frozen=True, slots=True)
class PriorSources:
    """Where earlier tuning may be recorded."""

    store: str | None = None
    workload: str | None = None
    """Of the store only records of single operators of this one count."""
    results: tuple[Path, ...] = ()
    bank_files: Mapping[str, Path] = field(default_factory=dict)
    """The files of the bank in use, by their paths in it."""


@dataclass(frozen=True, slots=True)
class KnownOperators:
    """What is known of single operators by name, and where from; types of which a bank has entries, and how many."""

    banked: Mapping[str, str] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    bank_types: Mapping[str, int] = field(default_factory=dict)


@dataclass
class PriorJobs:
    """What is known before a plan is made, and whether something that was named could not be read."""

    gains: list[Gain] = field(default_factory=list)
    costs_s: list[float] = field(default_factory=list)
    subgraph_costs_s: list[float] = field(default_factory=list)
    banked: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    bank_entries: dict[str, int] = field(default_factory=dict)
    """How many entries the bank has under each name or type."""
    findings: list[Finding] = field(default_factory=list)
    unreadable: bool = False

    def priors(self) -> Priors:
        """What is expected of tuning."""
        return Priors(self.gains, self.costs_s, self.subgraph_costs_s)

    def known(self, op_names: Sequence[str], op_types: Sequence[str]) -> KnownOperators:
        """What is known of some operators and types by their names."""
        banked = {name: say("it is named in an entry of the bank") for name in op_names if name in self.bank_entries}
        counts: dict[str, int] = {}
        for word, number in self.bank_entries.items():
            counts[type_key(word)] = counts.get(type_key(word), 0) + number
        types = {name: counts[type_key(name)] for name in op_types if type_key(name) in counts}
        return KnownOperators(self.banked | banked, self.failed, types)
