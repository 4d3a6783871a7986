"""The chain of dependencies that bounds a step: what it consists of, the operators on it, and what shortening them gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from aoe_reports.engine.ask import asking
from aoe_reports.engine.question import CaptureOptions, Finished, Question, Request, Unit, only
from aoe_reports.model.findings import has
from aoe_reports.model.options import option, options
from aoe_reports.model.pictures.path_kinds import KIND_WORDS, KINDS, PathOperator
from aoe_reports.model.pictures.step import longest_median
from aoe_reports.model.rows import US, Rows, column, row, row_from
from aoe_reports.model.texts import join, say
from aoe_reports.model.time_units import times_in_one_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aoe_reports.formats.sources.found import FoundFile
    from aoe_reports.model.pictures.step import StepPicture
    from aoe_reports.topics.critical_path.dependencies import Device
    from aoe_reports.topics.critical_path.step_paths import StepPath

GroupedBy = Literal["op_type", "op_name"]


@options
class CriticalPathOptions(CaptureOptions):
    """Which steps are shown, how operators are grouped, and by how much they are shortened."""

    by: GroupedBy = option(
        default="op_type", help="Key by which operators are grouped; without a table of tasks here, always op_name."
    )
    top: int = option(default=10, minimum=1, maximum=1000, help="Number of operators, and of segments, per step.")
    shorten: int = option(
        default=100, minimum=1, maximum=100, help="By how many percent an operator is shortened for its gain."
    )
    rank: int | None = only("rank")
    device: int | None = only("device")
    step: int | None = only("step")


@row
class CriticalPathRow:
    """What the critical path of one step (without a step: of all of the time) consists of: all kinds together are its duration."""

    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    step: int | None = column("Step", "integer")
    start_ns: int = column()
    duration_ns: int = column("Duration", unit=US)
    computing_ns: int = column("Computing", unit=US)
    communication_ns: int = column("Communication", unit=US)
    other_tasks_ns: int = column("Other tasks", unit=US, detail=True)
    launch_ns: int = column("Launch", unit=US)
    host_ns: int = column("Host", unit=US)
    unexplained_ns: int = column("Unexplained wait", unit=US)
    tasks: int = column()
    launches_unknown: int = column()
    host_shift_ns: int = column(unit=US)


@row
class PathSegment:
    """One of the longest segments of a path: the time of a task, or of what the next one began behind."""

    position: int = column("#", "integer")
    run: str = column("Run")
    rank_id: int | None = column("Rank", "integer")
    device_id: int | None = column("Device", "integer")
    step: int | None = column("Step", "integer")
    start_ns: int = column()
    duration_ns: int = column("Duration", unit=US)
    kind: str = column("Kind", "word")
    lane: str = column("Stream or thread")
    op_name: str | None = column("Operator")


@dataclass(frozen=True, slots=True)
class CapturePaths:
    """The paths in one capture."""

    paths: list[CriticalPathRow] = field(default_factory=list)
    operators: list[PathOperator] = field(default_factory=list)
    segments: list[PathSegment] = field(default_factory=list)
    pictures: list[StepPicture] = field(default_factory=list)
    """That of one step, at most."""


class CriticalPath(Question[CriticalPathOptions, CapturePaths]):
    """Find the chain of dependencies that bounds each step. Follows host launches, streams, communication and waits in timelines back from the end of the step."""

    example = "critical-path profile --top 5"
    page = "critical-path"
    title = "Critical path"
    options = CriticalPathOptions
    tables = (("rows", CriticalPathRow), ("operators", PathOperator), ("segments", PathSegment))
    form_help = "Output format; csv omits operators and segments, svg is a picture of one step."
    has_picture = True
    nothing = "no device task in a timeline here"
    every_rank = "rows"

    def map_unit(self, unit: Unit, asked: Request[CriticalPathOptions]) -> CapturePaths:
        """The paths of the devices of one capture."""
        from aoe_reports.engine.captures import types_of_operators
        from aoe_reports.formats.vendor import vendor_of
        from aoe_reports.topics.quality.trimming import note_unusual_of_table
        from aoe_reports.topics.rules import NO_TIMELINE

        capture, chosen, notes, found = unit.capture, asked.options, asked.notes, CapturePaths()
        notes.add(capture.findings)
        if not capture.info.may_hold(chosen.rank):
            return found
        exports = vendor_of(capture.profiler).events(capture)
        if not exports:
            message = say("no timeline of the whole device here (trace_view, msprof) and no database that contains one")
            notes.add([NO_TIMELINE.found(unit.path, message)])
            return found
        if chosen.step is None:
            note_unusual_of_table(capture, notes, rank=chosen.rank, device=chosen.device, trims=False)
        types = types_of_operators(capture) if chosen.by == "op_type" else {}
        with notes.where_unreadable(unit.path):
            for files in exports:
                _read_export(files, unit, asked, types, found)
        kept = longest_median(found.pictures)
        found.pictures[:] = [] if kept is None else [kept]
        return found

    def finish(self, parts: Sequence[tuple[Unit, CapturePaths]], asked: Request[CriticalPathOptions]) -> Finished:
        """The paths below one another, the operators on them, and their longest segments."""
        paths = [path for _, found in parts for path in found.paths]
        operators = [operator for _, found in parts for operator in found.operators]
        segments = [segment for _, found in parts for segment in found.segments]
        said = say(
            "Gain: how much shorter the step is if each task of the operator is shortened by {percent}%.",
            percent=asked.options.shorten,
        )
        drawn = longest_median([picture for _, found in parts for picture in found.pictures])
        return Finished(
            tables=(
                Rows(type=CriticalPathRow, rows=paths, of_runs=True),
                Rows(
                    type=PathOperator,
                    rows=operators,
                    key="operators",
                    title="Operators by time on the path",
                    sentences=[said],
                    of_runs=True,
                ),
                Rows(
                    type=PathSegment, rows=segments, key="segments", title="Longest segments of the path", of_runs=True
                ),
            ),
            headline=_headline(paths, operators, asked.options.shorten),
            pictures=[] if drawn is None else [drawn],
        )


critical_path = asking(CriticalPath(), CriticalPathOptions)
"""What bounds the steps below some paths: `critical_path([path], step=7).table("operators")`."""


def _read_export(
    files: Sequence[FoundFile],
    unit: Unit,
    asked: Request[CriticalPathOptions],
    types: Mapping[str, str],
    found: CapturePaths,
) -> None:
    """Take in the paths in one export, all of its slices."""
    from aoe_reports.model.pictures.step import StepPicture
    from aoe_reports.topics.critical_path.pictures import picture_of_steps
    from aoe_reports.topics.critical_path.step_paths import paths_of
    from aoe_reports.topics.critical_path.step_pictures import Place

    chosen, info = asked.options, unit.capture.info
    for number, device in _devices_of(files, unit, asked):
        rank = info.rank_of(number)
        if chosen.rank not in {None, rank} or chosen.device not in {None, number}:
            continue
        iteration, types_of_names = files[0].name.iteration, _types_of(device, types, chosen)
        paths = []
        for path in paths_of(device):
            step = iteration if path.step is None else path.step
            if chosen.step in {None, step}:
                paths.append(path)
                where = {"run": unit.run, "rank_id": rank, "device_id": number, "step": step}
                _add(device, path, where, types_of_names, chosen, found)
        picture = picture_of_steps(device, paths, Place(rank, number, iteration, 1))
        if isinstance(picture, StepPicture):
            found.pictures.append(picture)


def _devices_of(
    files: Sequence[FoundFile], unit: Unit, asked: Request[CriticalPathOptions]
) -> list[tuple[int | None, Device]]:
    """What the devices in one export depended on; that there is none is said where nothing else is wrong."""
    from aoe_reports.topics.critical_path.dependencies import dependencies_of
    from aoe_reports.topics.rules import DEVICE_UNKNOWN, NO_TIMELINE

    notes, path = asked.notes, str(files[0].path)
    devices, wrong = dependencies_of(files, unit.capture)
    notes.add(wrong)
    if not devices and not has(wrong, "error"):
        notes.add([NO_TIMELINE.found(path, say("no device task in this timeline"))])
    if not all(device.communication_known for _, device in devices):
        message = say("several devices: the device of the communication is unknown; paths consist of computing only")
        notes.add([DEVICE_UNKNOWN.found(path, message)])
    return devices


def _add(
    device: Device,
    path: StepPath,
    where: Mapping[str, Any],
    types: Sequence[str],
    chosen: CriticalPathOptions,
    paths: CapturePaths,
) -> None:
    """Take in the path of one step, of the run, rank and device of `where`."""
    from aoe_reports.topics.critical_path.step_paths import operators_of

    kinds = path.by_kind
    paths.paths.append(
        row_from(
            CriticalPathRow,
            path,
            **where,
            computing_ns=kinds["computing"],
            communication_ns=kinds["communication"],
            other_tasks_ns=kinds["other task"],
            launch_ns=kinds["launch"],
            host_ns=kinds["host"],
            unexplained_ns=kinds["unexplained wait"],
            launches_unknown=device.launches_missing,
            host_shift_ns=device.shift_ns,
        )
    )
    names = [of_type or name for of_type, name in zip(types, device.names, strict=True)]
    for position, one in enumerate(
        operators_of(device, path, names, shortened_percent=chosen.shorten, top=chosen.top), start=1
    ):
        is_type = one.op_name in types
        paths.operators.append(
            replace(
                one,
                **where,
                position=position,
                op_type=one.op_name if is_type else None,
                op_name=None if is_type else one.op_name,
            )
        )
    _add_segments(device, path, where, chosen, paths)


def _types_of(device: Device, types_of_table: Mapping[str, str], chosen: CriticalPathOptions) -> list[str]:
    """The type of each operator of a device, empty where it is not known: by a table, of communication by its name."""
    from aoe_reports.topics.communication.facts import type_of_operator
    from aoe_reports.topics.critical_path.facts import COMMUNICATION

    if chosen.by != "op_type":
        return [""] * len(device.names)
    slices = device.graph.slices
    communication = set(slices.name[slices.kind == COMMUNICATION].tolist())
    types = {number: type_of_operator(device.names[number]) for number in communication}
    by_name = {number: op_type for number, op_type in types.items() if op_type != "other"}
    return [types_of_table.get(name) or by_name.get(number, "") for number, name in enumerate(device.names)]


def _add_segments(
    device: Device, path: StepPath, where: Mapping[str, Any], chosen: CriticalPathOptions, paths: CapturePaths
) -> None:
    """Take in the longest segments of the path of one step."""
    import numpy as np

    segments, slices = path.segments, device.graph.slices
    long = np.flatnonzero(segments.duration >= np.sort(segments.duration)[-chosen.top :][:1])
    longest = long[np.lexsort((segments.start[long], -segments.duration[long]))]
    for position, one in enumerate(longest[: chosen.top].tolist(), start=1):
        place = segments.place[one]
        name = int(slices.name[place])
        paths.segments.append(
            PathSegment(
                **where,
                position=position,
                start_ns=int(segments.start[one]),
                duration_ns=int(segments.duration[one]),
                kind=say(KIND_WORDS[KINDS[segments.kind[one]]]),
                lane=device.lanes[int(slices.lane[place])],
                op_name=device.names[name] if name >= 0 else None,
            )
        )


_WHOLE = 100


def _headline(paths: Sequence[CriticalPathRow], operators: Sequence[PathOperator], percent: int) -> str:
    """What the path of the longest step consists of, and the operator whose shortening gives most."""
    longest = max(paths, key=lambda one: one.duration_ns, default=None)
    if longest is None or not longest.duration_ns:
        return ""
    parts = {
        say("computing"): longest.computing_ns,
        say("communication"): longest.communication_ns,
        say("the host"): longest.launch_ns + longest.host_ns,
        say("unexplained waits"): longest.unexplained_ns,
    }
    most = max(parts, key=lambda part: parts[part])
    where = (longest.run, longest.rank_id, longest.device_id, longest.step)
    in_step = [
        operator
        for operator in operators
        if (operator.run, operator.rank_id, operator.device_id, operator.step) == where
    ]
    best = max(in_step, key=lambda one: one.gain_ns, default=None)
    (duration,), unit = times_in_one_unit(longest.duration_ns)
    sentence = say(
        "The critical path of the longest step takes {duration} {unit}, {share:.1%} of it {most}.",
        duration=duration,
        unit=unit,
        share=parts[most] / longest.duration_ns,
        most=most,
    )
    if best is None or not best.gain_ns:
        return sentence
    (time,), unit = times_in_one_unit(best.gain_ns)
    gain = say(
        "{operator} shortened by {percent}% makes it {gain} {unit} shorter."
        if percent < _WHOLE
        else "Without {operator} it is {gain} {unit} shorter.",
        operator=best.op_type or best.op_name,
        percent=percent,
        gain=time,
        unit=unit,
    )
    return join(" ", (sentence, gain))
