"""What `roofline` found, in words and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aoe_reports.model.findings import Finding
from aoe_reports.model.pictures.roofline import PointKind, RooflinePicture, RooflinePoint, RooflineRoof
from aoe_reports.model.texts import Text, join, say
from aoe_reports.topics.roofline.facts import TOLERANCE, Roofed, Roofline
from aoe_reports.topics.roofline.flops import FORMULAS
from aoe_reports.topics.roofline.roofline import Roof, RoofedDevice, RoofedOperator
from aoe_reports.topics.rules import ABOVE_PEAK, COUNTERS_DISAGREE, PEAK_UNKNOWN

_NAMED = 3
"""So many operators are in a finding."""
_MIN_SHARE = 0.01
"""Of operators that take less of the computing time nobody needs to hear."""
_ABOVE_COUNTER, _BELOW_COUNTER, _APART = 1.1, 0.5, 0.05
"""A formula may count less than the cube computed (padding), hardly more; small shares are not held against each other."""


def findings_of(path: str, roofline: Roofline, mfu: float | None) -> Iterator[Finding]:
    """What is not to be trusted in the figures of one device."""
    if not roofline.peaks.cube:
        message = say(
            "the peak of this chip is not known, so no share of it is computed; give --chip, or --peak-tflops and --peak-gb-per-s"
        )
        yield PEAK_UNKNOWN.found(path, message)
    elif roofline.peaks.bytes_per_s is None:
        message = say(
            "the memory bandwidth of this chip is not known, so there is no roof; give --chip or --peak-gb-per-s"
        )
        yield PEAK_UNKNOWN.found(path, message)
    above = [one for one in roofline.known if one.is_above]
    if above:
        message = say(
            "{operators}: above the peak; the formula or the peak is wrong",
            operators=_listed(above, [max(one.compute_share or 0.0, one.least_share or 0.0) for one in above]),
        )
        yield ABOVE_PEAK.found(path, message)
    if mfu is not None and mfu > 1 + TOLERANCE and not above:
        message = say("MFU {mfu:.0%}: above the peak; a formula, the peak or the length of the steps is wrong", mfu=mfu)
        yield ABOVE_PEAK.found(path, message)
    yield from _against_counters(path, roofline)


def _against_counters(path: str, roofline: Roofline) -> Iterator[Finding]:
    """Where formula and counters disagree strongly."""
    more: list[tuple[Roofed, float, float]] = []
    less: list[tuple[Roofed, float, float]] = []
    for one in roofline.known:
        formula, counter = one.compute_share, one.counted.cube_share
        known = (
            one.work is not None and one.work.engine == "cube" and one.total_ns >= _MIN_SHARE * roofline.computing_ns
        )
        if not known or formula is None or counter is None or abs(formula - counter) < _APART:
            continue
        if formula > counter * _ABOVE_COUNTER:
            more.append((one, formula, counter))
        elif formula < counter * _BELOW_COUNTER:
            less.append((one, formula, counter))
    if more:
        message = say(
            "{operators}: the formula gives more than the cube counters measured: the operator computes less (a mask), or the peak is too low",
            operators=_pairs(more),
        )
        yield COUNTERS_DISAGREE.found(path, message)
    if less:
        message = say(
            "{operators}: the formula gives less than half of what the cube counters measured: the kernel computes more (padding)",
            operators=_pairs(less),
        )
        yield COUNTERS_DISAGREE.found(path, message)


def _pairs(found: Sequence[tuple[Roofed, float, float]]) -> Text:
    told = [
        say("{name} {formula:.0%} (counters {counter:.0%})", name=_name(one), formula=formula, counter=counter)
        for one, formula, counter in found[:_NAMED]
    ]
    return _with_more(told, len(found))


def _listed(operators: Sequence[Roofed], shares: Sequence[float]) -> Text:
    told = [
        say("{name} {share:.0%}", name=_name(one), share=share)
        for one, share in list(zip(operators, shares, strict=True))[:_NAMED]
    ]
    return _with_more(told, len(operators))


def _with_more(told: Sequence[Text], count: int) -> Text:
    if count <= len(told):
        return join(", ", told)
    return say("{operators} and {count} more", operators=join(", ", told), count=count - len(told))


def _name(one: Roofed) -> str:
    return f"{one.words[0]} [{one.words[2]}]"


def headline_of(devices: Sequence[RoofedDevice]) -> str:
    """MFU of the device that computes longest, and what it is of."""
    most = longest(devices)
    if most is None:
        return ""
    rank = "" if most.rank_id is None else say(" on rank {rank}", rank=most.rank_id)
    if most.mfu is None:
        return say(
            "Formulas are known for {known:.1%} of the computing time{rank}; no MFU: {why}.",
            known=most.known_share or 0.0,
            rank=rank,
            why=_why_no_mfu(most),
        )
    return say(
        "MFU {mfu:.1%}{rank} ({tflops:,.1f} TFLOP/s of the step); formulas are known for {known:.1%} of the computing time.",
        mfu=most.mfu,
        rank=rank,
        tflops=most.tflops or 0.0,
        known=most.known_share or 0.0,
    )


def _why_no_mfu(device: RoofedDevice) -> Text:
    if not device.cube_flops:
        return say("there is no matrix product, convolution or attention with known FLOPs")
    if device.step_ns is None:
        return say("the length of a step is not known")
    return say("the peak of the chip is not known")


def longest(devices: Sequence[RoofedDevice]) -> RoofedDevice | None:
    """The device that computes longest, the first of several."""
    return max(devices, key=lambda one: one.computing_ns, default=None)


def sentences_of(devices: Sequence[RoofedDevice], rows: Sequence[RoofedOperator]) -> list[str]:
    """What the figures are of."""
    if not devices:
        return []
    told: list[str] = []
    with_mfu = [device for device in devices if device.mfu is not None]
    if with_mfu:
        told.append(
            say(
                "MFU: the FLOPs of matrix products, convolutions and attention by formula, each at the peak of its precision, as a share of the step."
            )
        )
    if any((one.cube_known_share or 0.0) < 1 for one in with_mfu):
        told.append(say("Operators without a formula count as time without FLOPs: the MFU is a lower bound."))
    if any(row.note == "at-most" for row in rows):
        told.append(say("at-most: an upper bound, because the capture does not record masks or padding."))
    return told


def picture_of(
    devices: Sequence[RoofedDevice], rows: Sequence[RoofedOperator], roofs: Sequence[Roof]
) -> RooflinePicture | None:
    """The roofline of the device that computes longest."""
    most = longest(devices)
    if most is None:
        return None
    whose = (most.run, most.rank_id, most.device_id)
    mine = [row for row in rows if (row.run, row.rank_id, row.device_id) == whose]
    drawn = [one for one in mine if one.intensity and one.tflops]
    used = {(one.precision, _engine(one)) for one in drawn}
    levels: dict[tuple[str, float], list[str]] = {}
    for roof in roofs:
        drawn_here = (roof.precision, roof.engine) in used or (roof.engine, roof.precision) == ("cube", "fp16")
        if (roof.run, roof.rank_id, roof.device_id) == whose and drawn_here:
            levels.setdefault((roof.engine, roof.tflops), []).append(roof.precision.upper())
    rank = "" if most.rank_id is None else say(" on rank {rank}", rank=most.rank_id)
    title = (
        say("Roofline{rank}", rank=rank)
        if most.mfu is None
        else say("Roofline{rank}: MFU {mfu:.1%}", rank=rank, mfu=most.mfu)
    )
    return RooflinePicture(
        title,
        tuple(RooflineRoof(f"{name} {'/'.join(kinds)}", tflops * 1e12) for (name, tflops), kinds in levels.items()),
        None if most.peak_gb_per_s is None else most.peak_gb_per_s * 1e9,
        tuple(_point(one) for one in drawn),
        len(mine) - len(drawn),
    )


def _engine(operator: RoofedOperator) -> str:
    formula = FORMULAS.get(operator.op_type or "")
    return "none" if formula is None else formula.engine


def _point(operator: RoofedOperator) -> RooflinePoint:
    kind: PointKind = operator.bound_by if operator.bound_by in _KINDS else "unbounded"  # type: ignore[assignment]
    label = f"{operator.op_type} [{operator.input_shapes}]" if operator.input_shapes else str(operator.op_type)
    return RooflinePoint(label, operator.intensity or 0.0, (operator.tflops or 0.0) * 1e12, operator.share or 0.0, kind)


_KINDS = frozenset({"compute", "memory", "cache", "small"})
