"""Says of captures that are compared whether their steps are steady enough to be."""

from __future__ import annotations

from collections.abc import Iterable

from aoe_reports.engine.question import Notes
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.texts import say
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.quality.facts import DeviceFacts, judge_device
from aoe_reports.topics.quality.steadiness import series_of
from aoe_reports.topics.quality.words import evidence_of
from aoe_reports.topics.rules import UNSTEADY


def note_unsteady(
    path: str, steps: Iterable[Step], notes: Notes, *, rank: int | None = None, device: int | None = None
) -> None:
    """Say if steps (of one rank or device) scatter or drift too much to be compared, of several ranks the worst.

    Only the table of steps decides; `quality` also checks whether steps run different numbers of tasks, as in serving.
    """
    by_device = lists_by_key(
        ((step.rank_id, step.device_id), step)
        for step in steps
        if rank in {None, step.rank_id} and (step.device_id is None or device in {None, step.device_id})
    )
    judged = [
        judge_device(DeviceFacts(rank_id=place[0], device_id=place[1], steps=tuple(of_device)), series_of(of_device))
        for place, of_device in by_device.items()
    ]
    unfit = [judgement for facts in judged for judgement in facts.judgements if judgement.effect == "no-baseline"]
    if unfit:
        worst = max(unfit, key=lambda judgement: judgement.weight)
        message = say(
            "{evidence}; `quality` says whether anything can be compared with them", evidence=evidence_of(worst)
        )
        notes.add([UNSTEADY.found(path, message)])
