"""The main job over simulated nights: does the report name the operator that was made slower?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aoe_reports.engine.ask import Progress, no_progress
from aoe_reports.jobs.nightly import NightlyAnswer, run_nightly
from aoe_reports.jobs.options import NightlyOptions
from aoe_reports.model.texts import Language, say
from aoe_reports.simulation.nights import MODEL, SLOW_NIGHT, SLOW_OPERATOR, write_nights


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The headline of the night report, and whether it names what was planted."""

    headline: str
    found: bool
    nights: int
    planted: str
    planted_night: str


def run_demo(folder: Path, language: Language = "en", progress: Progress = no_progress) -> DemoResult:
    """Write the simulated nights into `folder`, do the main job over them, compare with what was planted."""
    progress(lambda: say("simulating nights"))
    nights = write_nights(folder / "nights")
    chosen = NightlyOptions(
        workload=MODEL,
        hardware="simulated-npu",
        engine_version="simulated",
        tz="UTC",
        store=str(folder / "history"),
        site=folder / "site",
    )
    result = run_nightly([folder / "nights"], chosen, simulated=True, language=language, progress=progress)
    planted_night = nights[SLOW_NIGHT - 1].name
    found = _names(result, SLOW_OPERATOR, planted_night)
    return DemoResult(result.headline, found, len(nights), SLOW_OPERATOR, planted_night)


def _names(result: NightlyAnswer, operator: str, since: str) -> bool:
    """Whether exactly this operator is reported as slower since that night."""
    slower = [
        (change.op_name, change.since) for change in result.changes if change.state == "confirmed" and change.op_name
    ]
    return slower == [(operator, since)]
