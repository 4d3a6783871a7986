"""What is asked of `ab`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from aoe_reports.history.options import MetricOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import option, options
from aoe_reports.model.texts import say
from aoe_reports.topics.records.options import RecordOptions

if TYPE_CHECKING:
    from aoe_reports.history.changes.gate import Gate

DEFAULT_MARGIN = "2%"
FailOn = Literal["slower", "not-proved-same", "never"]


@options
class AbOptions(MetricOptions, RecordOptions):
    """What is compared, what counts as the same, and what fails the job."""

    a: tuple[str, ...] = option(
        default=(),
        metavar="GLOB",
        help="Repeats of the baseline, as a pattern such as 'runs/old-*' (repeatable).",
        only_here=say("what is compared"),
    )
    b: tuple[str, ...] = option(
        default=(),
        metavar="GLOB",
        help="Repeats of the candidate, as a pattern (repeatable); or give them after `--`.",
        only_here=say("what is compared"),
    )
    margin: str = option(
        default=DEFAULT_MARGIN, help="Difference within which both sides count as the same.", names="nothing"
    )
    metric: tuple[str, ...] = option(
        default=(),
        metavar="NAME",
        help="Only this quantity: step, an operator type, or a metric of a benchmark; the others take no part in the error budget (repeatable).",
        names="nothing",
    )
    gate: tuple[str, ...] = option(
        default=(),
        help=(
            'Fail only on matching slow-downs: "scope=step,effect>=3%"; may be repeated [default: a step, a benchmark, and '
            "operators that add 0.5% to a step]."
        ),
        names="nothing",
    )
    fail_on: FailOn = option(
        default="slower",
        help="Exit with 1 if the candidate is slower; not-proved-same: also exit with 5 unless it is proved to be the same or faster.",
    )
    store: str | None = option(
        default=None,
        help="Store whose nights show the noise of this workload where repeats are too few; it is only read.",
        names="place",
    )
    samples: bool = option(
        default=False,
        help="Count the single times that a result lists as repeats; they say nothing of the difference between processes.",
        flags=["--samples"],
    )

    next_builds: Path | None = option(
        default=None,
        metavar="LIST",
        help="File with a line for each build, oldest first (name, then its repeats): say which build to measure next to find the one that changed.",
        flags=["--next"],
        only_here=say("what is compared"),
    )
    machines: int = option(
        default=1, minimum=1, maximum=1000, help="With --next: how many builds can be measured at once."
    )

    def gates(self) -> tuple[Gate, ...]:
        """The gates. Raises UsageError."""
        from aoe_reports.history.changes.gate import DEFAULT_GATE, parse_gate  # noqa: PLC0415 -- msgspec

        try:
            gates = tuple(map(parse_gate, self.gate)) or (DEFAULT_GATE,)
        except ValueError as error:
            raise UsageError(say("--gate {why}", why=error.args[0])) from error
        if any(gate.alarms_per_year is not None for gate in gates):
            raise UsageError(say("--gate: alarms<=N/year is a budget of nights; two sides share an error of 5%"))
        return gates

    def same_within(self) -> float:
        """The margin as a share. Raises UsageError."""
        number = self.margin.strip().removesuffix("%")
        try:
            share = float(number) / (100 if self.margin.strip().endswith("%") else 1)
        except ValueError:
            share = -1.0
        if not 0 < share < 1:
            raise UsageError(say("--margin {margin}: expected a share such as 2% or 0.02", margin=self.margin))
        return share

    def check(self) -> None:
        """Refuse what cannot be meant, before anything is read. Raises UsageError."""
        self.gates()
        self.same_within()
        self.declarations()
