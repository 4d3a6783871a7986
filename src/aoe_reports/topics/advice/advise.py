"""What could be gained, and where to look first."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only
from aoe_reports.model.documents import Json
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row, row_from
from aoe_reports.model.shares import rounded, share_of
from aoe_reports.topics.advice.thresholds import Thresholds
from aoe_reports.topics.roofline.peaks import PeakOptions, refuse_unknown_chip

if TYPE_CHECKING:
    from aoe_reports.facts.bounds import StepShares
    from aoe_reports.formats.capture import Capture
    from aoe_reports.model.findings import Finding
    from aoe_reports.topics.advice.captures import DeviceAdvice
    from aoe_reports.topics.advice.registry import Advice
    from aoe_reports.topics.communication.run import Communication


@options
class AdviseOptions(PeakOptions, CaptureOptions):
    """What is looked at, how much of it is shown of each device, and by which thresholds."""

    top: int = option(default=20, minimum=1, help="Number of rows per device of each run.")
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")
    all_steps: bool = option(
        default=False,
        help="Keep the steps of warm-up and tear-down, which are left out otherwise.",
        flags=["--all-steps"],
    )
    thresholds: Thresholds = option(default=Thresholds(), help="What rules decide by.", cli=False)


@row
class AdviceRow:
    """One piece of advice on one device; bounds are the most that a step could get shorter, after overlap."""

    position: int | None = column(default=None)
    run: str = column()
    rank_id: int | None = column(default=None)
    device_id: int | None = column(default=None)
    rule: str = column("Rule")
    source: str = column()
    op_type: str | None = column(default=None)
    op_name: str | None = column("Operator", default=None)
    input_shapes: str | None = column(default=None)
    count: int | None = column("Tasks", "integer", detail=True, default=None)
    total_ns: int | None = column("Total", unit=US, detail=True, default=None)
    share: float | None = column("Share", "percent", detail=True, default=None)
    bound_by: str | None = column(default=None)
    evidence: Mapping[str, Json] = column()
    bound_us: float | None = column(default=None)
    bound_share: float | None = column(default=None)
    advice: str | None = column(default=None)


@row
class Headline:
    """What the steps of one device consist of, in numbers and in one sentence; times are means of a step."""

    run: str = column()
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    headline: str = column()
    source: str = column()
    steps: int = column("Steps", "integer")
    step_us: float | None = column("Step", "us")
    computing_share: float | None = column("Computing", "percent")
    communication_not_overlapped_share: float | None = column("Not overlapped", "percent")
    overlapped_share: float | None = column()
    free_share: float | None = column("Free", "percent")
    bound_saving_us: float = column("Operator tuning saves at most", "us")
    bound_saving_share: float | None = column()
    advice: int = column()


_Part = tuple[list["DeviceAdvice"], list[AdviceRow], "Communication", frozenset[str]]
"""(the advice on each device of a capture, msprof's own, its communication where that may matter, which parts it has)."""


class Advise(Question[AdviseOptions, _Part]):
    """Rank optimisation opportunities by upper bound on the gain. Covers communication, free time and what limits operators, and shows msprof's advice beside it."""

    example = "advise profile --top 10"
    page = "advice"
    title = "Advice"
    options = AdviseOptions
    tables = (("rows", AdviceRow), ("headlines", Headline))
    has_highlights = True
    nothing = "nothing here for which advice could be given"
    every_rank = "headlines"

    def units(self, files: Any, asked: Request[AdviseOptions]) -> Sequence[Unit]:
        """Every capture, and recordings of memory that no profiler made."""
        from aoe_reports.engine.runs import units_of_memory

        runs = super().units(files, asked)
        return [*runs, *units_of_memory(files, len(runs))]

    def prepare(self, files: Any, asked: Request[AdviseOptions]) -> None:
        """Refuse a chip that nothing is known of."""
        del files
        refuse_unknown_chip(asked.options)

    def map_unit(self, unit: Unit, asked: Request[AdviseOptions]) -> _Part:
        """What one capture tells of its devices, without its operators: they may be many, and large."""
        from aoe_reports.engine.fleet.parts import parts_of
        from aoe_reports.topics.advice.captures import advise_capture, advise_recordings, communication_of
        from aoe_reports.topics.communication.run import Communication

        capture, chosen, findings = unit.capture, asked.options, asked.notes.findings
        findings += capture.findings
        if capture.of_memory:
            return advise_recordings(capture, chosen, findings), [], Communication(), frozenset()
        if not capture.info.may_hold(chosen.rank):
            return [], [], communication_of(capture, [] if unit.alone else None, chosen, findings), frozenset()
        devices = advise_capture(capture, chosen, chosen, findings)
        stated = stated_rows(unit.run, capture, devices, chosen, findings)
        for device in devices:
            device.bounds = None
        gone = {step for device in devices for step in device.left_out}
        talk = communication_of(capture, devices if unit.alone else None, chosen, findings, gone)
        return devices, stated, talk, frozenset() if unit.alone else parts_of(capture)

    def finish(self, parts: Sequence[tuple[Unit, _Part]], asked: Request[AdviseOptions]) -> Finished:
        """The advice on each run, with what only all its ranks together tell; msprof's own behind ours."""
        from aoe_reports.engine.absent import absent_parts, chooses_ranks
        from aoe_reports.topics.advice.report import headline_of, highlights_of, sections_of
        from aoe_reports.topics.communication.run import Communication

        labels = {unit.number: unit.run for unit, _ in parts}
        rows: list[AdviceRow] = []
        headlines: list[Headline] = []
        for run, of_run in groupby(parts, key=lambda part: part[0].number):
            of_ranks = list(of_run)
            if not chooses_ranks(asked.options):
                asked.notes.add(absent_parts([(unit.capture, part[3]) for unit, part in of_ranks]))
            readings = [part for _, part in of_ranks]
            devices, talk = [device for mine, *_ in readings for device in mine], Communication()
            for _, _, mine, _ in readings:
                talk.take(mine)
            # ranks are held against each other before the rows of each are cut
            advice, said = rows_of_run(labels[run], devices, talk, replace(asked.options, top=sys.maxsize))
            rows += [*advice, *(one for _, stated, *_ in readings for one in stated)]
            headlines += said
        top = asked.options.top
        listed = [row for row in rows if (row.position or 0) <= top]
        return Finished(
            tables=(Rows(type=AdviceRow, rows=listed), Rows(type=Headline, rows=headlines, key="headlines")),
            headline=headline_of(headlines),
            highlights=highlights_of(listed),
            sections=sections_of(rows, headlines, top),
        )


advise = asking(Advise(), AdviseOptions)
"""What could be gained below some paths: `advise([path], top=5).rows`."""


def rows_of_run(
    run: str, devices: Sequence[DeviceAdvice], talk: Communication, chosen: AdviseOptions
) -> tuple[list[AdviceRow], list[Headline]]:
    """(the advice on each device of one run, one headline a device), with what only all ranks together tell."""
    from aoe_reports.topics.advice.captures import communication_matters, with_run
    from aoe_reports.topics.communication.run import Communication

    rows: list[AdviceRow] = []
    headlines: list[Headline] = []
    talk = talk if communication_matters(devices, chosen) else Communication()
    awaited = talk.awaited
    for device in devices:
        advices = with_run(device, devices, talk, awaited, chosen.thresholds)
        headlines.append(_headline(run, device.shares, advices))
        rows += [_advised(run, n, device.shares, one) for n, one in enumerate(advices[: chosen.top], start=1)]
    return rows, headlines


def _advised(run: str, position: int, shares: StepShares, advice: Advice) -> AdviceRow:
    return row_from(
        AdviceRow,
        advice,
        position=position,
        run=run,
        rank_id=shares.rank_id,
        device_id=shares.device_id,
        source="aoe-reports",
        share=rounded(shares.share_of_tasks(advice.total_ns)),
        bound_us=None if advice.saving_ns is None else round(shares.per_step_us(advice.saving_ns), 3),
        bound_share=rounded(shares.share(advice.saving_ns)),
    )


def _headline(run: str, shares: StepShares, advice: Sequence[Advice]) -> Headline:
    from aoe_reports.topics.advice.registry import headline

    return Headline(
        run=run,
        rank_id=shares.rank_id,
        device_id=shares.device_id,
        headline=headline(shares, advice),
        source=shares.source,
        steps=shares.steps,
        step_us=None if shares.step_us is None else round(shares.step_us, 3),
        computing_share=rounded(shares.share(shares.computing_ns)),
        communication_not_overlapped_share=rounded(shares.share(shares.communication_not_overlapped_ns)),
        overlapped_share=rounded(shares.share(shares.overlapped_ns)),
        free_share=rounded(shares.share(shares.free_ns)),
        bound_saving_us=round(shares.bound_saving_us, 3),
        bound_saving_share=rounded(shares.share(shares.bound_saving_ns)),
        advice=len(advice),
    )


def stated_rows(
    run: str, capture: Capture, devices: Sequence[DeviceAdvice], chosen: AdviseOptions, findings: list[Finding]
) -> list[AdviceRow]:
    """Msprof's own advice (prof_rule), with what the operators that it names took here."""
    from aoe_reports.engine.captures import joined, read_source

    tables = read_source(capture.preferred("prof_rule"), hashed=False)
    findings += [finding for data in tables for finding in data.findings]
    frame = joined(tables)
    rows = []
    for stated in frame.to_pylist() if frame is not None else ():
        number = stated.get("device_id")
        rank = capture.info.rank_of(number)
        if chosen.rank in {None, rank} and (number is None or chosen.device in {None, number}):
            rows.append(_stated(run, rank, number, stated, devices))
    return rows


def _stated(
    run: str, rank: int | None, number: int | None, stated: Mapping[str, str | None], devices: Sequence[DeviceAdvice]
) -> AdviceRow:
    from aoe_reports.topics.advice.captures import time_of

    mine = [
        device for device in devices if None in {number, device.shares.device_id} or device.shares.device_id == number
    ]
    wholes = [one.shares.tasks_ns for one in mine if one.shares.tasks_ns is not None]
    tuned = json.loads(stated.get("operators") or "[]")
    named = [str(name) for name in (tuned if isinstance(tuned, list) else [tuned])]
    count, total = time_of(named, mine)
    return AdviceRow(
        run=run,
        rank_id=rank,
        device_id=number,
        rule=_slug(stated.get("rule_subtype") or stated.get("rule_type") or ""),
        source="prof_rule",
        op_name=", ".join(named) or None,
        count=count,
        total_ns=total,
        share=rounded(share_of(total, None if len(wholes) < len(mine) else sum(wholes))),
        evidence={
            "section": stated.get("section"),
            "rule_type": stated.get("rule_type"),
            "rule_description": stated.get("rule_description") or None,
            "rule_subtype": stated.get("rule_subtype"),
        },
        advice=stated.get("suggestion"),
    )


def _slug(words: str) -> str:
    return re.sub(r"\W+", "-", words.strip().casefold()).strip("-") or "prof-rule"
