"""The rule on units of times."""

from __future__ import annotations

from aoe_reports.formats.rules import UNIT_MISMATCH
from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.document import UNITS, Document, Link, mistaken_keys, pointer_to


@UNIT_MISMATCH.checked_by
def unit_mismatch(document: Document) -> Found:
    """Times of operators stand under keys that end with `(us)`, those of subgraphs and models with `(ms)`."""
    if document.is_documented:
        return
    for place, key, expected in mistaken_keys(document.content):
        yield (
            pointer_to(place),
            say("{key!r} in {segment}; expected {expected}", key=key, segment=_segment_of(place), expected=expected),
        )


def _segment_of(place: Link) -> str:
    """The segment that a time stands in."""
    while place is not None and place[1] not in UNITS:
        place = place[0]
    return str(place[1]) if place is not None else ""
