"""What earlier tuning left to know, as whoever plans needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.tuning.names import type_key
from aoe_reports.tuning.plan.prior import Gain, Priors
from aoe_reports.tuning.plan.ranking import Known


@dataclass(frozen=True, slots=True)
class PriorSources:
    """Where earlier tuning may be told of."""

    store: str | None = None
    workload: str | None = None
    """Of the store only what is told of single operators of this one counts."""
    results: tuple[Path, ...] = ()
    bank_files: Mapping[str, Path] = field(default_factory=dict)
    """The files of the bank in use, by their paths in it."""


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

    def known(self, op_names: Sequence[str], op_types: Sequence[str]) -> Known:
        """What is known of some operators and types by their names."""
        banked = {name: say("it is named in an entry of the bank") for name in op_names if name in self.bank_entries}
        counts: dict[str, int] = {}
        for word, number in self.bank_entries.items():
            counts[type_key(word)] = counts.get(type_key(word), 0) + number
        types = {name: counts[type_key(name)] for name in op_types if type_key(name) in counts}
        return Known(self.banked | banked, self.failed, types)
