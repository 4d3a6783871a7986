"""Reads what modules, layers and the phases of a server take on the devices of a capture, where that is wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aoe_reports.engine.question import Notes
from aoe_reports.facts.tasks import TaskSet
from aoe_reports.formats.capture import Capture
from aoe_reports.formats.vendor import vendor_of
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say
from aoe_reports.model.topics.steps import Step
from aoe_reports.topics.locations.launch_sites import LaunchSites
from aoe_reports.topics.locations.locations import with_layers
from aoe_reports.topics.locations.reading import launch_sites_of, may_tell_frames
from aoe_reports.topics.records.from_parts import PartTime, parts_by_module, parts_by_phase
from aoe_reports.topics.records.options import RecordOptions
from aoe_reports.topics.rules import MODULES_CAPPED, NO_LOCATION
from aoe_reports.topics.serving.facts import TASK_COLUMNS, words_of
from aoe_reports.topics.serving.reading import served_of
from aoe_reports.topics.serving.roles import is_serving

_Reads = Callable[[Capture, Sequence[TaskSet], Sequence[Step], RecordOptions, Notes], list[PartTime]]


def columns_of_parts(options: RecordOptions) -> frozenset[str]:
    """The columns of tasks that are looked at beside those of all records."""
    of_modules = {"step"} if options.by_module else frozenset[str]()
    return (TASK_COLUMNS if options.by_phase else frozenset()) | of_modules


def read_parts(
    capture: Capture, sets: Sequence[TaskSet], steps: Sequence[Step], options: RecordOptions
) -> tuple[tuple[PartTime, ...], list[Finding]]:
    """(the parts that are wanted, what was found on the way); sums of operators have none.

    What timelines tell is used whole or not at all: of one that is cut off, less time would be told of each module, which is no change.
    """
    mine = [tasks for tasks in sets if not tasks.grouped]
    found: list[PartTime] = []
    findings: list[Finding] = []
    if options.by_module and sets and not mine:
        message = say("no records of modules: there are only sums of operators, which are in no module")
        findings.append(NO_LOCATION.found(str(capture.root), message))
    reads: list[_Reads] = [*([_modules] if options.by_module else []), *([_phases] if options.by_phase else [])]
    for read in reads if mine else ():
        notes = Notes()
        parts = read(capture, mine, steps, options, notes)
        wrong = next((finding for finding in notes.findings if finding.severity == "error"), None)
        if wrong is None:
            found += parts
            findings += notes.findings
        else:
            message = say("no records of modules or phases: {message} [{rule}]", message=wrong.message, rule=wrong.rule)
            findings.append(NO_LOCATION.found(str(capture.root), message, severity="warning"))
    return tuple(found), findings


def _modules(
    capture: Capture, sets: Sequence[TaskSet], steps: Sequence[Step], options: RecordOptions, notes: Notes
) -> list[PartTime]:
    located, blocks = with_layers(sets, _sites_of(capture, notes), capture, notes)
    if "location" not in located[0].frame.column_names:
        message = say(
            "no records of modules: neither Python frames (with_modules or with_stack) nor names of operators give any"
        )
        notes.add([NO_LOCATION.found(str(capture.root), message)])
        return []
    found: list[PartTime] = []
    for tasks in located:
        parts, left_out = parts_by_module(tasks, blocks, steps, options.module_series)
        found += parts
        if left_out.modules or left_out.layers:
            message = say(
                "beyond --module-series {most}: modules that become one record together: {modules}; layers without a record of "
                "their own: {layers}",
                modules=left_out.modules,
                most=options.module_series,
                layers=left_out.layers,
            )
            notes.add([MODULES_CAPPED.found(str(capture.root), message)])
    return found


def _sites_of(capture: Capture, notes: Notes) -> LaunchSites:
    """Where tasks were launched; timelines without Python frames tell no module, and are not read."""
    exports = [files for files in vendor_of(capture.profiler).events(capture) if may_tell_frames(files)]
    sites = LaunchSites()
    with notes.where_unreadable(capture.root):
        sites, wrong = launch_sites_of(exports)
        notes.add(wrong)
    return sites


def _phases(
    capture: Capture, sets: Sequence[TaskSet], steps: Sequence[Step], options: RecordOptions, notes: Notes
) -> list[PartTime]:
    del steps
    if not any(is_serving(words_of(tasks.frame)) for tasks in sets):
        return []
    return [
        part
        for one in served_of(capture, sets, notes)
        if one.served is not None
        for part in parts_by_phase(one.tasks, one.served.iterations, options.raw)
    ]
