"""How near operators come to the peaks of the chip, and the MFU of a step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only
from aoe_reports.model.options import option, options
from aoe_reports.model.rows import US, Rows, column, row
from aoe_reports.model.texts import say
from aoe_reports.topics.roofline.peaks import PeakOptions, refuse_unknown_chip, roofline_of

if TYPE_CHECKING:
    from aoe_reports.facts.tasks import TaskSet
    from aoe_reports.formats.capture import Capture
    from aoe_reports.model.topics.steps import Step
    from aoe_reports.topics.roofline.facts import Roofed, Roofline

RoofedBy = Literal["op_type", "shape"]


@options
class RooflineOptions(PeakOptions, CaptureOptions):
    """Which operators are compared with the peaks, and how they are grouped."""

    by: RoofedBy = option(default="shape", help="Key by which rows are grouped.")
    top: int = option(default=20, minimum=1, help="Number of rows per device of each run.")
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")


@row
class RoofedOperator:
    """One group of tasks of one device; shares are means over the time of those whose work is known.

    `flops` and `bytes` are of all calls, by formula: each input read once, each output written once.
    """

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column()
    op_type: str | None = column("Operator type")
    task_type: str | None = column("Core", detail=True)
    input_shapes: str | None = column("Input shapes")
    output_shapes: str | None = column()
    precision: str | None = column("Precision", detail=True)
    count: int = column("Tasks", "integer", detail=True)
    total_ns: int = column("Total", unit=US, detail=True)
    share: float | None = column("Share", "percent")
    known_ns: int = column(unit=US)
    flops: int | None = column()
    bytes_: int | None = column()
    intensity: float | None = column("FLOP/byte", "number", detail=True)
    tflops: float | None = column("TFLOP/s", "number")
    gb_per_s: float | None = column("GB/s", "number", detail=True)
    compute_share: float | None = column("Of the compute peak", "percent")
    memory_share: float | None = column("Of the bandwidth", "percent")
    roof_share: float | None = column()
    bound_by: str | None = column("Bound by", "word")
    note: str | None = column("Note", "word", detail=True)
    cube_by_counters: float | None = column("Cube by counters", "percent", detail=True)
    mac_ratio: float | None = column()
    vec_ratio: float | None = column("Vector ratio", "percent", detail=True)
    mte2_ratio: float | None = column("MTE2 ratio", "percent", detail=True)
    gb_per_s_by_counters: float | None = column("GB/s by counters", "number", detail=True)


@row
class RoofedDevice:
    """One device: its peaks, and how much of its steps products would take at them (MFU).

    `known_share` is of the time of all computing operators, `cube_known_share` of those on cube cores.
    """

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    chip: str | None = column("Chip")
    peak_tflops: float | None = column("FP16 TFLOP/s", "number")
    peak_gb_per_s: float | None = column("GB/s", "number")
    peaks_told_by: str | None = column("Peaks", "sentence", detail=True)
    steps: int = column("Steps", "integer")
    step_ns: int | None = column("Step", unit=US)
    """Mean length."""
    step_told_by: str | None = column()
    computing_ns: int = column("Computing", unit=US, detail=True)
    known_ns: int = column(unit=US)
    known_share: float | None = column("Formula known", "percent")
    cube_ns: int = column(unit=US)
    cube_known_share: float | None = column("Of cube operators", "percent", detail=True)
    cube_flops: int = column()
    tflops: float | None = column("TFLOP/s of the step", "number")
    mfu: float | None = column("MFU", "percent")
    near_share: float | None = column("Near the roof", "percent")


@row
class Roof:
    """A peak of a device, by unit and precision."""

    run: str = column()
    rank_id: int | None = column()
    device_id: int | None = column()
    engine: str = column()
    precision: str = column()
    tflops: float = column()


Part = tuple[list[RoofedOperator], list[RoofedDevice], list[Roof]]


class RooflineOfRuns(Question[RooflineOptions, Part]):
    """Compare operators with the peaks of the chip. Counts FLOPs and bytes by operator type and shapes, shows what bounds each operator, and computes the MFU of a step."""

    example = "roofline profile --peak-tflops 320 --peak-gb-per-s 1600"
    page = "roofline"
    title = "Roofline"
    options = RooflineOptions
    tables = (("rows", RoofedOperator), ("devices", RoofedDevice), ("roofs", Roof))
    form_help = "Output format; csv omits devices and roofs, svg is a roofline of the device that computes longest."
    has_picture = True
    nothing = "no task to compare with the peaks here"
    every_rank = "devices"

    def prepare(self, files: Any, asked: Request[RooflineOptions]) -> None:
        """Refuse a chip that nothing is known of."""
        del files
        refuse_unknown_chip(asked.options)

    def map_unit(self, unit: Unit, asked: Request[RooflineOptions]) -> Part:
        """The operators of each device of a capture."""
        from aoe_reports.engine.captures import read_tasks
        from aoe_reports.topics.quality.trimming import note_unusual
        from aoe_reports.topics.roofline.facts import TASK_COLUMNS
        from aoe_reports.topics.roofline.words import findings_of
        from aoe_reports.topics.task_source import of_source

        capture, chosen, notes = unit.capture, asked.options, asked.notes
        notes.add(capture.findings)
        part: Part = ([], [], [])
        if not capture.info.may_hold(chosen.rank):
            return part
        sets, tables = read_tasks(capture, TASK_COLUMNS, by_type=False)
        notes.add(finding for data in tables for finding in data.findings)
        notes.add(of_source(capture, sets, tables))
        steps = _steps_of(capture, chosen, notes.findings) if sets else []
        if chosen.step is None:
            note_unusual(str(capture.root), steps, notes, trims=False, rank=chosen.rank, device=chosen.device)
        for tasks in sorted(sets, key=lambda tasks: tasks.place):
            roofline = _measured(capture, tasks, chosen)
            if roofline is not None:
                device = _device(unit.run, tasks, roofline, steps)
                notes.add(findings_of(unit.path, roofline, device.mfu))
                part[0].extend(_rows(unit.run, tasks, roofline, chosen))
                part[1].append(device)
                part[2].extend(_roofs(unit.run, tasks, roofline))
        return part

    def finish(self, parts: Sequence[tuple[Unit, Part]], asked: Request[RooflineOptions]) -> Finished:
        """The devices, then the operators of all of them."""
        from aoe_reports.topics.roofline.words import headline_of, picture_of, sentences_of

        del asked
        rows = [one for _, part in parts for one in part[0]]
        devices = [one for _, part in parts for one in part[1]]
        roofs = [one for _, part in parts for one in part[2]]
        drawn = picture_of(devices, rows, roofs)
        return Finished(
            tables=(
                Rows(type=RoofedOperator, rows=rows, of_runs=True, place=1),
                Rows(
                    type=RoofedDevice,
                    rows=devices,
                    key="devices",
                    title=say("Devices"),
                    of_runs=True,
                    sentences=sentences_of(devices, rows),
                ),
                Rows(type=Roof, rows=roofs, key="roofs", is_shown=False),
            ),
            headline=headline_of(devices),
            pictures=[] if drawn is None else [drawn],
        )


roofline = asking(RooflineOfRuns(), RooflineOptions)
"""How near operators below some paths come to the peaks of their chip: `roofline([path]).table("devices")`."""


def _steps_of(capture: Capture, chosen: RooflineOptions, findings: list[Any]) -> list[Step]:
    """The steps of the framework's table, which tells how long they took with all that runs on no device."""
    from aoe_reports.engine.captures import read_steps_noting, timeline_tells_steps

    if timeline_tells_steps(capture):
        return []
    steps = read_steps_noting(capture, findings)
    return [step for step in steps if step.has_parts and chosen.step in {None, step.step}]


def _measured(capture: Capture, tasks: TaskSet, chosen: RooflineOptions) -> Roofline | None:
    import pyarrow.compute as pc

    if chosen.rank not in {None, tasks.rank_id} or chosen.device not in {None, tasks.device_id}:
        return None
    frame = tasks.frame
    if chosen.step is not None:
        frame = frame.filter(pc.equal(frame["step"], chosen.step))
    return roofline_of(capture, frame, chosen)


def _rows(run: str, tasks: TaskSet, roofline: Roofline, chosen: RooflineOptions) -> Iterator[RoofedOperator]:
    groups = (
        roofline.by_type(chosen.top)
        if chosen.by == "op_type"
        else [[operator] for operator in roofline.operators(chosen.top)]
    )
    for position, group in enumerate(groups, start=1):
        yield _operator(group, position, (run, tasks.rank_id, tasks.device_id), roofline.computing_ns)


def _operator(
    group: Sequence[Roofed], position: int, whose: tuple[str, int | None, int | None], computing_ns: int
) -> RoofedOperator:
    first, total = group[0], sum(one.total_ns for one in group)
    works = [(one, one.work) for one in group if one.work is not None]
    known_ns = sum(one.total_ns for one, _ in works)
    flops = sum(work.flops * one.count for one, work in works)
    moved = sum(work.bytes_ * one.count for one, work in works)
    single = len(group) == 1
    counted = first.counted if single else None
    return RoofedOperator(
        position=position,
        run=whose[0],
        rank_id=whose[1],
        device_id=whose[2],
        op_type=first.words[0],
        task_type=first.words[1],
        input_shapes=first.words[2] if single else None,
        output_shapes=first.words[5] if single else None,
        precision=_only(work.precision for _, work in works),
        count=sum(one.count for one in group),
        total_ns=total,
        share=_rounded(total / computing_ns) if computing_ns else None,
        known_ns=known_ns,
        flops=flops if works else None,
        bytes_=moved if works else None,
        intensity=_rounded(flops / moved) if moved else None,
        tflops=_rounded(flops / known_ns / 1e3) if known_ns else None,
        gb_per_s=_rounded(moved / known_ns) if known_ns else None,
        compute_share=_mean(group, "compute_share"),
        memory_share=_mean(group, "memory_share"),
        roof_share=_mean(group, "roof_share"),
        bound_by=_most((one.bound, one.total_ns) for one in group),
        note=_note(group),
        cube_by_counters=None if counted is None else _rounded(counted.cube_share),
        mac_ratio=None if counted is None else _rounded(counted.mac_ratio),
        vec_ratio=None if counted is None else _rounded(counted.vec_ratio),
        mte2_ratio=None if counted is None else _rounded(counted.mte2_ratio),
        gb_per_s_by_counters=None if counted is None else _rounded(counted.gb_per_s),
    )


def _note(group: Sequence[Roofed]) -> str | None:
    """Why nothing is known, or that what is known is at most; of several that of most time."""
    told = [
        (one.why or ("at-most" if one.work is not None and one.work.at_most else None), one.total_ns) for one in group
    ]
    return _most(told)


def _most(told: Iterable[tuple[str | None, int]]) -> str | None:
    sums: dict[str | None, int] = {}
    for word, time in told:
        sums[word] = sums.get(word, 0) + time
    return max(sums, key=lambda word: sums[word])


def _only(words: Iterable[str | None]) -> str | None:
    found = {word for word in words if word is not None}
    return found.pop() if len(found) == 1 else None


def _mean(group: Sequence[Roofed], name: str) -> float | None:
    """The mean of a share over the time of those that have one."""
    shares = [(share, one.total_ns) for one in group if (share := getattr(one, name)) is not None]
    time = sum(ns for _, ns in shares)
    return _rounded(sum(share * ns for share, ns in shares) / time) if time else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _device(run: str, tasks: TaskSet, roofline: Roofline, steps: Sequence[Step]) -> RoofedDevice:
    from aoe_reports.topics.roofline.facts import NEAR

    whole_ns, count, told_by = _length(tasks, roofline, steps)
    near = sum(one.total_ns for one in roofline.known if (one.roof_share or 0.0) >= NEAR)
    computing, cube, peaks = roofline.computing_ns, roofline.cube_ns, roofline.peaks
    fp16 = peaks.cube.get("fp16")
    return RoofedDevice(
        run=run,
        rank_id=tasks.rank_id,
        device_id=tasks.device_id,
        chip=peaks.chip,
        peak_tflops=None if fp16 is None else _rounded(fp16 / 1e12),
        peak_gb_per_s=None if peaks.bytes_per_s is None else _rounded(peaks.bytes_per_s / 1e9),
        peaks_told_by=peaks.told_by or None,
        steps=count,
        step_ns=None if whole_ns is None else round(whole_ns / count),
        step_told_by=told_by,
        computing_ns=computing,
        known_ns=roofline.known_ns,
        known_share=_rounded(roofline.known_ns / computing) if computing else None,
        cube_ns=cube,
        cube_known_share=_rounded(roofline.cube_known_ns / cube) if cube else None,
        cube_flops=roofline.cube_flops,
        tflops=_rounded(roofline.cube_flops / whole_ns / 1e3) if whole_ns and roofline.cube_flops else None,
        mfu=_rounded(roofline.mfu(whole_ns)),
        near_share=_rounded(near / computing) if computing and peaks.bytes_per_s is not None else None,
    )


def _length(tasks: TaskSet, roofline: Roofline, steps: Sequence[Step]) -> tuple[int | None, int, str | None]:
    """(the time of all steps whose tasks are here, how many they are, what tells it): the framework's table where it has them all."""
    from aoe_reports.facts.idle import step_of_tasks
    from aoe_reports.facts.steps import steps_of_device

    mine = steps_of_device(steps, tasks)
    told = step_of_tasks(tasks.frame)
    known = {step for step in told[1].tolist() if step >= 0} if told is not None else set()
    if mine and (not known or {one.step for one in mine} == known):
        return sum(one.duration_ns for one in mine), len(mine), "step_trace_time"
    return roofline.step_ns, roofline.steps, None if roofline.step_ns is None else "tasks"


def _roofs(run: str, tasks: TaskSet, roofline: Roofline) -> Iterator[Roof]:
    for engine, peaks in (("cube", roofline.peaks.cube), ("vector", roofline.peaks.vector)):
        for precision, flops in peaks.items():
            yield Roof(
                run=run,
                rank_id=tasks.rank_id,
                device_id=tasks.device_id,
                engine=engine,
                precision=precision,
                tflops=flops / 1e12,
            )
