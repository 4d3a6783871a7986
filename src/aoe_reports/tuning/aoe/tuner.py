"""AOE behind the protocol of a tuner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aoe_reports.formats.aoe.results import TuningResult
from aoe_reports.formats.ascend.names import RESULT_KINDS, parse_name
from aoe_reports.tuning.aoe.bank import AOE_BANK
from aoe_reports.tuning.aoe.claims import TITLE, read_claims
from aoe_reports.tuning.aoe.driver import AOE_DRIVER
from aoe_reports.tuning.bank import Bank
from aoe_reports.tuning.driver import Driver
from aoe_reports.tuning.tuner import ClaimsRead, Tuner


@dataclass(frozen=True, slots=True)
class Aoe:
    """The Ascend Optimization Engine."""

    title: str = TITLE
    driver: Driver[TuningResult] | None = AOE_DRIVER
    bank: Bank | None = AOE_BANK

    def is_result(self, name: str) -> bool:
        """Whether a name is one that AOE gives results, and nothing that leads elsewhere."""
        parsed = parse_name(name)
        return parsed is not None and parsed.kind in RESULT_KINDS and parsed.source == "aoe"

    def read_results(self, paths: Sequence[Path]) -> ClaimsRead:
        """What its results below some paths claim."""
        return read_claims(paths)


TUNER: Tuner = Aoe()
