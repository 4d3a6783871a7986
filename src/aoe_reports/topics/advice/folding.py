"""Advice on which ranks of a run agree, as one row for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from aoe_reports.engine.captures import in_short
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.rows import US, column, row
from aoe_reports.model.texts import say
from aoe_reports.topics.advice.advise import AdviceRow

_NEAR = 0.9
"""Bounds agree if the smallest is at least this part of the largest."""


@row
class AgreedAdvice:
    """One piece of advice on the ranks that agree: the medians of their numbers, the evidence of that with the largest bound."""

    position: int = column("#", "integer")
    rule: str = column("Rule")
    ranks: str | None = column("Ranks")
    devices: str | None = column("Devices")
    op_type: str | None = column("Operator type")
    op_name: str | None = column("Operator")
    bound_us: float | None = column("Bound, per step", "us")
    bound_share: float | None = column("Bound, share of the step", "percent")
    evidence: str = column("Evidence", "sentence")
    count: int | None = column("Tasks", "integer", detail=True)
    total_ns: float | None = column("Total", unit=US, detail=True)
    share: float | None = column("Share", "percent", detail=True)


def agreed_advice(
    rows: Sequence[AdviceRow], words_of: Callable[[AdviceRow], str], *, one_device: bool
) -> list[AgreedAdvice]:
    """The advice on one run, the largest bound first; `words_of` says the evidence of a row."""
    by_subject = lists_by_key(((one.rule, one.op_type, one.op_name, one.input_shapes), one) for one in rows)
    groups = [group for alike in by_subject.values() for group in _groups(alike)]
    groups.sort(key=lambda group: (-(_median([one.bound_us for one in group]) or 0.0), group[0].position or 0))
    return [_agreed(n, group, words_of, one_device=one_device) for n, group in enumerate(groups, start=1)]


def _groups(rows: Sequence[AdviceRow]) -> Iterator[list[AdviceRow]]:
    """Rows whose bounds are nearly equal, the largest bound first; those of one device never together."""
    left = sorted(rows, key=lambda one: -(one.bound_us or 0.0))
    while left:
        group: list[AdviceRow] = []
        rest: list[AdviceRow] = []
        devices: set[tuple[int | None, int | None]] = set()
        for advice in left:
            device = (advice.rank_id, advice.device_id)
            if group and (device in devices or not _is_near(advice, group[0])):
                rest.append(advice)
            else:
                group.append(advice)
                devices.add(device)
        yield group
        left = rest


def _is_near(one: AdviceRow, largest: AdviceRow) -> bool:
    if one.bound_us is None or largest.bound_us is None:
        return one.bound_us is largest.bound_us
    return one.bound_us >= _NEAR * largest.bound_us


def _agreed(
    position: int, group: Sequence[AdviceRow], words_of: Callable[[AdviceRow], str], *, one_device: bool
) -> AgreedAdvice:
    worst, words = group[0], words_of(group[0])
    ranks = [one.rank_id for one in group if one.rank_id is not None]
    devices = [] if ranks else [one.device_id for one in group if one.device_id is not None]
    if words and len(ranks) > 1:
        words = say("rank {rank}: {evidence}", rank=worst.rank_id, evidence=words)
    return AgreedAdvice(
        position=position,
        rule=worst.rule,
        ranks=in_short(sorted(ranks)) if ranks and not one_device else None,
        devices=in_short(sorted(devices)) if devices and not one_device else None,
        op_type=worst.op_type,
        op_name=worst.op_name,
        bound_us=_median([one.bound_us for one in group]),
        bound_share=_median([one.bound_share for one in group]),
        evidence=words,
        count=None if (count := _median([one.count for one in group])) is None else round(count),
        total_ns=_median([one.total_ns for one in group]),
        share=_median([one.share for one in group]),
    )


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
