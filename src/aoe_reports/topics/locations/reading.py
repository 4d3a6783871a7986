"""Reads where in a program tasks were launched, from the timeline or the database of a capture."""

from __future__ import annotations

from collections.abc import Sequence

from aoe_reports.engine.captures import collect_events_of
from aoe_reports.formats.ascend.tables.timelines import LAUNCH_CATEGORY
from aoe_reports.formats.sources.found import FoundFile
from aoe_reports.model.findings import Finding
from aoe_reports.topics.locations.launch_sites import EVENT_COLUMNS, FRAME_CATEGORY, LaunchSites


def launch_sites_of(exports: Sequence[Sequence[FoundFile]]) -> tuple[LaunchSites, list[Finding]]:
    """(where tasks were launched, of all exports of a capture; what is wrong with the files)."""
    whole, findings = LaunchSites(), list[Finding]()
    for files in exports:
        if not any(map(_may_tell, files)):
            continue
        sites, wrong = collect_events_of(files, EVENT_COLUMNS, LaunchSites)
        findings += wrong
        add_flows_of(files, sites)
        whole.merge(sites)
    return whole, findings


def add_flows_of(files: Sequence[FoundFile], sites: LaunchSites) -> None:
    """The flows of databases, which are no events of theirs."""
    for file in files:
        if file.name.form == "db":
            from aoe_reports.formats.sqlite import flows_of_database

            sites.add_flows(flows_of_database(file.path))


def _may_tell(file: FoundFile) -> bool:
    """Whether a timeline has a flow from a framework to a task: without any it tells nothing of launches."""
    return _may_mention(file, LAUNCH_CATEGORY)


def may_tell_frames(files: Sequence[FoundFile]) -> bool:
    """Whether a timeline may have Python frames, by a quick look."""
    return any(_may_mention(file, FRAME_CATEGORY) for file in files)


def _may_mention(file: FoundFile, word: str) -> bool:
    if file.name.form == "db" or file.name.packed:
        return True
    from aoe_reports.formats.trace.json_list import has_both_ends
    from aoe_reports.formats.trace.mentions import mentions

    # of one cut off, the part that is gone may
    return not has_both_ends(file.path) or mentions(file.path, word.encode())
