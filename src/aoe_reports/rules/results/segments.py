"""Rules on the segments of a task: which there are, and how many."""

from __future__ import annotations

from aoe_reports.formats.json.text import without_count
from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.document import Document
from aoe_reports.rules.results.task import DOCS, RESULTS


@RESULTS.rule("segment-kind", "error", "the file name says opat and the segment SGAT, or the reverse", DOCS).checked_by
def segment_kind(document: Document) -> Found:
    """The segment of a task is the one that the file's name tells."""
    kind = document.kind
    for task in document.tasks:
        facts = task.facts
        if facts.has_segment and facts.kind != kind:
            yield (
                facts.segment_pointer,
                say("the file is named {kind}, but its segment is {segment}", kind=kind, segment=facts.kind.upper()),
            )


@RESULTS.rule("segment-count", "error", "exactly one basic, at most one OPAT or SGAT", DOCS).checked_by
def segment_count(document: Document) -> Found:
    """A task has one segment `basic`, unless it was cut off before it, and one of `OPAT` and `SGAT` at most."""
    for task in document.tasks:
        facts = task.facts
        names = [name for segment in document.segments_of(facts) if isinstance(segment, dict) for name in segment]
        if not document.is_documented:
            names = list(map(without_count, names))
        basic, opat, sgat = map(names.count, ("basic", "OPAT", "SGAT"))
        if basic != 1 and not (facts.truncated and not basic):
            yield facts.pointer, say("{count} segments 'basic'; expected exactly one", count=basic)
        if opat + sgat > 1:
            yield (
                facts.pointer,
                say("{opat} segments 'OPAT', {sgat} 'SGAT'; expected at most one of them", opat=opat, sgat=sgat),
            )
