"""What the commands of a store may be told: which store, what is shown of it, what counts as a regression."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from aoe_reports.model.errors import UsageError
from aoe_reports.model.history.changes import Scope
from aoe_reports.model.options import STORE_VARIABLE, declared, option, options
from aoe_reports.model.texts import say
from aoe_reports.stats.budget import FALSE_ALARMS_PER_YEAR

if TYPE_CHECKING:
    from aoe_reports.history.changes.gate import Gate
    from aoe_reports.history.series.pinned import Baseline
    from aoe_reports.history.series.series import SeriesLabels
    from aoe_reports.model.history.metrics import Declarations

EXIT_CODES = {"regression": 1, "nothing-selected": 4, "suspect": 5, "not-enough-data": 4, "expected-absent": 4}
"""The exit code of each reason that the history gives, the one that counts first."""
STRICT_REASONS = frozenset({"not-enough-data", "expected-absent"})
"""Reasons only with --strict-data."""
FailOn = Literal["confirmed", "suspect", "never"]
_VOUCHED = say("what a person vouches for")


@options
class StoreOptions:
    """Which store it is."""

    store: str = option(
        default="./aoe-history", help="Folder or URI of the store.", env=STORE_VARIABLE, shared=True, names="place"
    )


@options
class MetricOptions:
    """What the metrics of records mean."""

    metrics: Path | None = option(
        default=None,
        help="File that declares unit and good direction of metrics (TOML: a table for each name).",
        metavar="FILE",
        shared=True,
        names="place",
    )

    def declarations(self) -> Declarations:
        """What the file says. Raises UsageError."""
        from aoe_reports.formats.metric_file import read_declarations  # noqa: PLC0415 -- tomllib

        return () if self.metrics is None else read_declarations(self.metrics)


@options
class AlarmOptions(MetricOptions):
    """How sure a change must be."""

    false_alarms_per_year: float = option(
        default=FALSE_ALARMS_PER_YEAR,
        help="Number of false alarms per year allowed for the whole store; all its series share this number.",
        flags=["--max-false-alarms-per-year"],
        minimum=1e-6,
        maximum=1e9,
    )


@options
class StrictDataOptions(AlarmOptions):
    """Whether too few nights, or missing data, are a reason to fail."""

    strict_data: bool = option(
        default=False,
        help="Exit with 4 when no series has enough nights, or something that every recent night had is missing.",
        flags=["--strict-data"],
    )


@options
class GateOptions(StrictDataOptions):
    """Which changes fail a job, and what the newest level is held against."""

    gate: tuple[str, ...] = option(
        default=(),
        help=(
            'Fail only on matching changes: "scope=step,effect>=3%", "scope=memory,effect>=500MiB"; may be repeated. With "alarms<=2/year" the series that it '
            "names have a number of false alarms of their own [default: changes of a step, and others that add 0.5% to one]."
        ),
        names="nothing",
    )
    fail_on: FailOn = option(
        default="confirmed",
        help="Exit with 1 for confirmed regressions; suspect: also exit with 5 for suspected regressions.",
    )
    baseline: str = option(
        default="segment",
        help=(
            "Baseline for the newest level: segment (the level since the last accepted change), run:RUN_ID, "
            "tag:NAME, window:YYYY-MM-DD..YYYY-MM-DD, or nights:N (the N nights before the newest three)."
        ),
        names="nothing",
        completes="baselines",
    )

    def gates(self) -> tuple[Gate, ...]:
        """The gates; where none is given, every change that has an effect on a step. Raises UsageError."""
        from aoe_reports.history.changes.gate import DEFAULT_GATE, parse_gate  # noqa: PLC0415 -- msgspec

        try:
            return tuple(map(parse_gate, self.gate)) or (DEFAULT_GATE,)
        except ValueError as error:
            raise UsageError(say("--gate {why}", why=error.args[0])) from error

    def budgeted_gates(self) -> tuple[Gate, ...]:
        """The gates that have a budget of false alarms of their own, whatever effect they want. Raises UsageError."""
        return tuple(
            replace(gate, least_effect=0.0, least_bytes=min(gate.least_bytes, 1.0), least_share=0.0)
            for gate in self.gates()
            if gate.alarms_per_year is not None
        )

    def held_against(self) -> Baseline:
        """The baseline. Raises UsageError."""
        from aoe_reports.history.series.pinned import parse_baseline  # noqa: PLC0415 -- numpy

        try:
            return parse_baseline(self.baseline)
        except ValueError as error:
            raise UsageError(say("--baseline {why}", why=error.args[0])) from error

    def check(self) -> None:
        """Refuse, before anything is done, what says nothing or does not go together. Raises UsageError."""
        self.gates()
        self.held_against()
        self.declarations()


@options
class RegressionOptions(GateOptions):
    """Which series are shown (None: all), and whether the store remembers what changed."""

    workload: str | None = option(
        default=None, help="Only this model, or workload.", names="nothing", completes="workloads"
    )
    scope: Scope | None = option(default=None, help="Only series of this scope.")
    record: bool = option(
        default=False,
        help="Record the changes in the store, as `nightly` does.",
        flags=["--record"],
        only_here=say("what is recorded in the store"),
    )
    every: bool = option(
        default=False,
        help="Include series that did not change or cannot be judged.",
        flags=["--all"],
        only_here=say("additional output"),
    )
    whole_history: bool = option(
        default=False,
        help=(
            "Analyse every change since the first night at once; the number of false alarms then applies to "
            "this analysis. No change causes a failure."
        ),
        flags=["--whole-history"],
    )

    @classmethod
    def of(cls, gates: GateOptions, **more: Any) -> RegressionOptions:
        """Those of a job that has gates among its options."""
        return cls(**{one.name: getattr(gates, one.name) for one in declared(GateOptions)}, **more)

    def budgeted_gates(self) -> tuple[Gate, ...]:
        """None where all changes since the first night are looked at once: no gate fails then."""
        return () if self.whole_history else super().budgeted_gates()

    def check(self) -> None:
        """Refuse what does not go together, too. Raises UsageError."""
        super().check()
        if self.whole_history and (self.record or self.baseline != "segment"):
            raise UsageError(
                say("--whole-history covers all past changes; it cannot be combined with --baseline or --record")
            )


@dataclass(frozen=True, slots=True)
class View:
    """What is looked at of a store, where it is not all of it."""

    series: Collection[str] | None = None
    """Only these series are shown and recorded; all share the budget."""
    models: Collection[str] = ()
    """With `series`: models all of whose series are shown, too."""
    until: str | None = None
    """The store as it was when this night was its newest (None: as it is)."""

    def shows(self, labels: SeriesLabels) -> bool:
        """Whether a series is among those that are shown; a metric is if the series of its records is."""
        return (
            self.series is None
            or (labels.record_series or labels.series_id) in self.series
            or labels.model in self.models
        )

    def reaches(self, night: str) -> bool:
        """Whether a night was there already."""
        return self.until is None or night <= self.until


EVERYTHING = View()


@options
class HistoryOptions:
    """Which rows of the store are listed."""

    workload: str | None = option(
        default=None, help="Only this model, or this record's workload.", names="nothing", completes="workloads"
    )
    scope: Scope | None = option(default=None, help="Only records of this scope.")
    since: str | None = option(
        default=None, help="Only nights from this date on (YYYY-MM-DD).", names="nothing", completes="nights"
    )
    run: str | None = option(
        default=None,
        help="Only this run (for runs, records, ranks or advice).",
        only_here=say("the run that is named"),
        completes="runs",
    )
    last: int | None = option(default=None, help="Only the newest N.", minimum=1)


@options
class VacuumOptions:
    """How much of what is no part of the store any more is kept."""

    days: int = option(
        default=7, help="Days to keep: files that were active in this period are not deleted.", minimum=0
    )
    force: bool = option(
        default=False,
        help="Allow fewer than 7 days; no process may write to the store at the same time.",
        flags=["--force"],
        only_here=say("what is forced"),
    )


@options
class WhoOptions:
    """Whose word it is."""

    who: str | None = option(
        default=None,
        help="Name of the author; if not given, the name from the CI system or $AOE_REPORTS_USER.",
        only_here=_VOUCHED,
    )


@options
class ReasonOptions(WhoOptions):
    """Whose word it is, and why."""

    reason: str = option(help="Reason; it is saved in the store and shown in every report.", only_here=_VOUCHED)


@options
class AckOptions(MetricOptions, ReasonOptions):
    """What is said of a series or an incident."""

    revoke: bool = option(
        default=False,
        help="Revoke an acknowledgement or expectation instead.",
        flags=["--revoke"],
        only_here=_VOUCHED,
    )


@options
class ExpectOptions(ReasonOptions):
    """Which change is announced."""

    since: str = option(help="First night on which the change may begin.", flags=["--from"], only_here=_VOUCHED)
    change: str = option(help="Size of the slow-down or speed-up: 5% (either way), 0..5%, -3%..5%.", only_here=_VOUCHED)
    until: str | None = option(
        default=None, help="Last night on which the change may begin [default: 7 days later].", only_here=_VOUCHED
    )


@options
class TagOptions(WhoOptions):
    """Which run gets the name."""

    run: str = option(
        help="Id of a run, as `store history runs` shows it.", only_here=say("the run that is named"), completes="runs"
    )
