"""The rule on keys that no document names."""

from __future__ import annotations

from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.document import UNITS, Document
from aoe_reports.rules.results.task import DOCS, RESULTS
from aoe_reports.rules.schema import unknown_keys


@RESULTS.rule("unknown-key", "info", "an undocumented key: the schema is open", DOCS).checked_by
def unknown_key(document: Document) -> Found:
    """Every key of a task of the right shape is one that its schema names."""
    if document.is_documented:
        return
    for task in document.fitting:
        facts = task.facts
        for at in unknown_keys(facts.kind, "task", document.segments_of(facts), facts.pointer):
            key = at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
            if key not in UNITS:  # that is for segment-kind to tell
                yield at, say("the key {key!r} is unknown; it is skipped", key=key[:200])
