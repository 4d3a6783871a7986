"""What the chip of a capture can do at most, as the capture tells or the user says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aoe_reports.model.options import option, options
from aoe_reports.model.texts import join, say

if TYPE_CHECKING:
    import pyarrow as pa

    from aoe_reports.facts.bounds import Counters
    from aoe_reports.formats.capture import Capture
    from aoe_reports.topics.roofline.facts import Roofline

_MAX = 1_000_000.0
"""TFLOP/s or GB/s: no device has a thousandth of it, and a picture has room for it."""


@options
class PeakOptions:
    """What the chip can do at most, where its capture does not tell or tells otherwise."""

    chip: str | None = option(
        default=None,
        help="The chip, as CANN names it, such as Ascend910B2 [default: as recorded in the captures].",
        names="nothing",
    )
    peak_tflops: float | None = option(
        default=None,
        minimum=0.001,
        maximum=_MAX,
        help="Peak of the cube cores in FP16, in TFLOP/s; other types by their ratio to it.",
    )
    peak_gb_per_s: float | None = option(
        default=None, minimum=0.001, maximum=_MAX, help="Bandwidth of the device's memory, in GB/s."
    )


def refuse_unknown_chip(chosen: PeakOptions) -> None:
    """UsageError for a chip that nothing is known of."""
    from aoe_reports.model.errors import UsageError
    from aoe_reports.topics.roofline.chips import CHIPS, named

    if chosen.chip is not None and named(chosen.chip) is None:
        raise UsageError(
            say(
                "--chip: nothing is known of {chip}; expected one of {chips}, or --peak-tflops and --peak-gb-per-s",
                chip=chosen.chip,
                chips=join(", ", CHIPS),
            )
        )


def may_be_roofed(capture: Capture, chosen: PeakOptions) -> bool:
    """Whether compute and bandwidth of the chip may both be known."""
    from aoe_reports.topics.roofline.chips import may_have_roof

    return chosen.peak_gb_per_s is not None or may_have_roof(chosen.chip or capture.info.device_type)


def roofline_of(
    capture: Capture, tasks: pa.Table, chosen: PeakOptions, *, least_ns: float = 0, counters: Counters | None = None
) -> Roofline | None:
    """The roofline of the tasks of one device of a capture, with their counters, or apart from them; None where none of them computes."""
    from aoe_reports.facts.bounds import CoreCounts
    from aoe_reports.topics.roofline.facts import measure_roofline

    return measure_roofline(
        tasks,
        CoreCounts.of_hardware({} if chosen.chip is not None else capture.info.hardware),
        chosen.chip or capture.info.device_type,
        tflops=chosen.peak_tflops,
        gb_per_s=chosen.peak_gb_per_s,
        least_ns=least_ns,
        counters=counters,
    )
