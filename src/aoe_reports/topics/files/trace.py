"""What is cut out of timelines: around a finding, of a step, or between two times."""

from __future__ import annotations

from aoe_reports.engine.question import ReadOptions, only
from aoe_reports.model.options import option, options
from aoe_reports.model.texts import say


@options
class TraceOptions(ReadOptions):
    """What is cut out of a timeline."""

    around: str | None = option(
        default=None,
        help="Only the time around a finding: its rule, or its place as FILE:LINE, of an event FILE#/NUMBER.",
        metavar="FINDING",
        only_here=say("what is cut out"),
    )
    step: int | None = only("step")
    start: str | None = option(
        default=None,
        help="Only from this time on, in ns like `start_ns` of `table`; with a leading +, after the first event.",
        flags=["--from"],
        metavar="NS",
        only_here=say("what is cut out"),
    )
    end: str | None = option(
        default=None,
        help="Only before this time, in ns as for --from.",
        flags=["--to"],
        metavar="NS",
        only_here=say("what is cut out"),
    )
    margin_ms: int | None = option(
        default=None,
        minimum=0,
        maximum=1_000_000,
        help="Further time before and after that, in ms (default: 10 around a finding, else 0).",
    )
    rank: int | None = only("rank")
