"""Whether captures are worth reading: what is in their steps but the job, what differs between ranks, what was not recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit
from aoe_reports.model.by_key import lists_by_key
from aoe_reports.model.findings import Finding
from aoe_reports.model.rows import US, Rows, column, row
from aoe_reports.model.shares import rounded
from aoe_reports.model.texts import N_, join, say

if TYPE_CHECKING:
    from aoe_reports.engine.clusters import Cluster
    from aoe_reports.formats.sources.discovery import Discovery
    from aoe_reports.topics.quality.facts import Conditions, DeviceFacts, JudgedDevice, Judgement

EFFECTS = N_({"no-baseline": "no-baseline", "caution": "caution", "note": "note"})
VERDICTS = N_({"no-baseline": "no", "caution": "yes, but", "note": "yes"})
_VERDICT_OF_NOTHING = "note"


@row
class JudgementRow:
    """One thing that is so of a run, with its evidence and what to do about it."""

    run: str = column("Run")
    code: str = column("Judgement")
    effect: str = column("Effect", "word")
    ranks: str | None = column("Ranks")
    evidence: str = column("Evidence", "sentence")
    advice: str = column("What to do", "sentence")


@row
class DeviceRow:
    """One device: which of its steps are usual, and how far these say the same; null where nothing tells."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    steps: int = column("Steps", "integer")
    warm_up: list[int] = column("Warm-up")
    tear_down: list[int] = column("Tear-down")
    usual_steps: int = column("Usual steps", "integer")
    usual_ns: float | None = column("Usual step (median)", unit=US)
    scatter: float | None = column("Scatter", "percent")
    detectable: float | None = column("Minimum detectable change", "percent")
    drift: float | None = column("Drift", "change")
    highest_mhz: float | None = column("Highest MHz", "number", detail=True)
    lowest_mhz: float | None = column("Lowest MHz", "number", detail=True)
    lost_to_clock: float | None = column("Lost to clock", "percent")
    others_ns: int = column(unit=US)


@row
class RunRow:
    """One run, in a word."""

    run: str = column("Run")
    verdict: str = column("Worth reading", "word")
    devices: int = column("Devices", "integer")
    no_baseline: list[str] = column("Because")
    caution: list[str] = column("But")
    notes: list[str] = column()


@dataclass(frozen=True, slots=True)
class Read:
    """What one capture hands on."""

    devices: list[DeviceFacts] = field(default_factory=list)
    conditions: list[Conditions] = field(default_factory=list)
    named: tuple[int, ...] = ()
    parts: frozenset[str] = frozenset()
    """What a rank of several has of tasks, timeline, steps and communication."""


class Quality(Question[CaptureOptions, Read]):
    """Check whether captures are worth reading: warm-up, tear-down, scatter, drift, clock, other work, ranks, what was recorded."""

    example = "quality profile"
    page = "quality"
    title = "Worth reading"
    options = CaptureOptions
    tables = (("rows", JudgementRow), ("devices", DeviceRow), ("runs", RunRow))
    form_help = "Output format; csv omits devices and runs."
    nothing = "no capture to judge here"

    def prepare(self, files: Discovery, asked: Request[CaptureOptions]) -> list[Cluster]:
        """What the tables of whole clusters tell of steps and ranks."""
        from aoe_reports.engine.clusters import read_clusters

        return read_clusters(files, asked.notes)

    def map_unit(self, unit: Unit, asked: Request[CaptureOptions]) -> Read:
        """What one capture tells of itself, from one pass over its timeline."""
        from aoe_reports.topics.quality.reading import read_capture

        return read_capture(unit, asked.context, asked.notes)

    def finish(self, parts: Sequence[tuple[Unit, Read]], asked: Request[CaptureOptions]) -> Finished:
        """The judgements of each run, what forbids a baseline first."""
        from aoe_reports.engine.absent import absent_parts
        from aoe_reports.topics.quality.facts import judge_run
        from aoe_reports.topics.quality.words import headline_of

        runs = lists_by_key((unit.number, (unit, read)) for unit, read in parts if read.devices)
        rows: list[JudgementRow] = []
        devices: list[DeviceRow] = []
        told: dict[str, list[Judgement]] = {}
        for mine in runs.values():
            label = mine[0][0].run
            judged = _judged(read for _, read in mine)
            named = {rank for _, read in mine for rank in read.named} | _of_clusters(asked.context, label)
            lacking = absent_parts([(unit.capture, read.parts) for unit, read in mine])
            asked.notes.add(lacking)
            paths = {finding.path for finding in lacking}
            unequal = [(unit.capture.info.rank_id, None) for unit, _ in mine if unit.path in paths]
            judgements = judge_run(
                judged, named, [condition for _, read in mine for condition in read.conditions], unequal
            )
            told.setdefault(label, []).extend(judgements)
            rows += [_row(label, one) for one in judgements]
            devices += [_device(label, one) for one in judged]
            asked.notes.add(_findings(label, judgements))
        counts = Counter(device.run for device in devices)
        return Finished(
            tables=(
                Rows(type=JudgementRow, rows=rows, of_runs=True),
                Rows(type=DeviceRow, rows=devices, key="devices", title="Steps by device", of_runs=True),
                Rows(
                    type=RunRow,
                    rows=[_run(label, counts[label], found) for label, found in told.items()],
                    key="runs",
                    title="Runs",
                    place=-1,
                    is_shown=len(told) > 1,
                ),
            ),
            headline=headline_of(told),
        )


quality = asking(Quality(), CaptureOptions)
"""Whether everything below some paths is worth reading: `quality([path]).table("runs")`."""


def _judged(reads: Iterable[Read]) -> list[JudgedDevice]:
    from aoe_reports.topics.quality.facts import judge_device
    from aoe_reports.topics.quality.steadiness import series_of

    return [judge_device(facts, series_of(facts.steps)) for read in reads for facts in read.devices]


def _of_clusters(clusters: Sequence[Cluster], run: str) -> set[int]:
    """The ranks that analyses of the whole cluster name."""
    mine = [cluster for cluster in clusters if cluster.tells_of(run)]
    stepping = {step.rank_id for one in mine for step in one.steps if step.rank_id is not None}
    return stepping | {rank for one in mine for rank in one.places}


def worst_of(judgements: Sequence[Judgement]) -> str:
    """What the worst of some judgements, which are in order, does to the run."""
    return judgements[0].effect if judgements else _VERDICT_OF_NOTHING


def _row(run: str, judgement: Judgement) -> JudgementRow:
    from aoe_reports.topics.quality.words import advice_of, evidence_of, ranks_of

    return JudgementRow(
        run=run,
        code=judgement.code,
        effect=say(EFFECTS[judgement.effect]),
        ranks=ranks_of(judgement),
        evidence=evidence_of(judgement),
        advice=advice_of(judgement),
    )


def _device(run: str, device: JudgedDevice) -> DeviceRow:
    facts, series, steadiness = device.facts, device.series, device.steadiness
    clock = facts.clock
    return DeviceRow(
        run=run,
        rank_id=facts.rank_id,
        device_id=facts.device_id,
        steps=0 if series is None else len(series.steps),
        warm_up=[] if series is None else [step.step for step in series.warm_up if step.step is not None],
        tear_down=[] if series is None else [step.step for step in series.tear_down if step.step is not None],
        usual_steps=0 if series is None else len(series.usual),
        usual_ns=None if steadiness is None else steadiness.median_ns,
        scatter=None if steadiness is None else rounded(steadiness.scatter),
        detectable=None if steadiness is None else rounded(steadiness.detectable),
        drift=None if steadiness is None else rounded(steadiness.drift) or None,
        highest_mhz=None if clock is None else clock.highest_mhz,
        lowest_mhz=None if clock is None else clock.lowest_mhz,
        lost_to_clock=None if clock is None else rounded(clock.lost),
        others_ns=facts.others_ns,
    )


def _run(run: str, devices: int, judgements: Sequence[Judgement]) -> RunRow:
    def codes(effect: str) -> list[str]:
        return [judgement.code for judgement in judgements if judgement.effect == effect]

    return RunRow(
        run=run,
        verdict=say(VERDICTS[worst_of(judgements)]),
        devices=devices,
        no_baseline=codes("no-baseline"),
        caution=codes("caution"),
        notes=codes("note"),
    )


def _findings(run: str, judgements: Sequence[Judgement]) -> list[Finding]:
    """What decides the exit code: that a run is no baseline is an error, that it is to be read with care a warning."""
    from aoe_reports.topics.rules import NO_BASELINE, READ_WITH_CARE

    by_effect: Mapping[str, list[str]] = {
        effect: [judgement.code for judgement in judgements if judgement.effect == effect]
        for effect in ("no-baseline", "caution")
    }
    if by_effect["no-baseline"]:
        message = say("no baseline: {codes}", codes=join(", ", by_effect["no-baseline"]))
        return [NO_BASELINE.found(run, message)]
    if by_effect["caution"]:
        message = say("to be read with care: {codes}", codes=join(", ", by_effect["caution"]))
        return [READ_WITH_CARE.found(run, message)]
    return []
