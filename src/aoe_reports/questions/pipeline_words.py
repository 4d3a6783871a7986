"""What is said of one step of a pipeline, beside its picture and in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from aoe_reports.facts.pipeline_steps import PIPELINE_STEP, PipelineStep
from aoe_reports.model.findings import Finding
from aoe_reports.model.pipeline_picture import PipelinePicture
from aoe_reports.model.texts import Text, join, say


def pipeline_waits(found: Mapping[str, PipelineStep | None]) -> Iterator[Finding]:
    """How much of a step the stages of each run wait, or that there is no pipeline."""
    for label, one in found.items():
        said = _no_pipeline() if one is None else say("{what}: {told}", what=_title(one), told=join("; ", _lines(one)))
        yield PIPELINE_STEP.found(label, said)


def pipeline_picture(found: Iterable[PipelineStep | None]) -> PipelinePicture:
    """The slowest step of all runs; without any why there is none."""
    there = [one for one in found if one is not None]
    if not there:
        return PipelinePicture(title=_no_pipeline())
    one = max(there, key=lambda some: some.duration_ns)
    return PipelinePicture(title=_title(one), lines=tuple(_lines(one)), duration_ns=one.duration_ns, lanes=one.lanes)


def _no_pipeline() -> Text:
    return say(
        "no pipeline to draw: no timelines here in which two stages send and receive in one step, beside one another"
    )


def _title(one: PipelineStep) -> Text:
    stages, duration = len(one.lanes), one.duration_ns / 1e6
    if one.step is None:
        return say("pipeline of {stages} stages, {duration:,.3f} ms", stages=stages, duration=duration)
    return say(
        "step {step}: pipeline of {stages} stages, {duration:,.3f} ms", step=one.step, stages=stages, duration=duration
    )


def _lines(one: PipelineStep) -> Iterator[Text]:
    """The measured share of bubbles, that of the schedule, and what the difference is worth."""
    yield say("bubbles: {share:.1%} of the step", share=float(one.waiting_share))
    least = one.least_share
    if least is None and one.has_all_stages:
        yield say("the micro-batches cannot be told")
        return
    if least is None:
        yield say("not all stages were read")
        return
    yield say(
        "schedule: (p-1)/(m+p-1) = {share:.1%}, p = {stages}, m = {count}",
        share=float(least),
        stages=len(one.lanes),
        count=one.micro_batches,
    )
    yield say(
        "difference: {time:+,.3f} ms of the step of each stage",
        time=float((one.waiting_share - least) * one.duration_ns) / 1e6,
    )
