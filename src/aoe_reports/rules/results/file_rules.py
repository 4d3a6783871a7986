"""Rules on a whole result file: its segments, keys, units, words, and the sizes of its times."""

from __future__ import annotations

from decimal import Decimal

from aoe_reports.formats.aoe.results import MODEL_KEYS, is_plausible
from aoe_reports.formats.json.text import without_count
from aoe_reports.formats.rules import UNIT_MISMATCH
from aoe_reports.model.findings import is_below
from aoe_reports.model.texts import say
from aoe_reports.rules.found import Found
from aoe_reports.rules.results.document import DOCS, RESULTS, TIME_KEYS, UNITS, Document, mistaken_keys, times_in
from aoe_reports.rules.schema import unknown_keys


@RESULTS.rule("segment-kind", "error", "the file name says opat and the segment SGAT, or the reverse", DOCS).checked_by
def segment_kind(document: Document) -> Found:
    """The segment of a task is the one that the file's name tells."""
    kind = document.kind
    for task in document.tasks:
        if task.has_segment and task.kind != kind:
            segment = task.kind.upper()
            text = say("the file is named {kind}, but its segment is {segment}", kind=kind, segment=segment)
            yield task.segment_pointer, text


@RESULTS.rule("segment-count", "error", "exactly one basic, at most one OPAT or SGAT", DOCS).checked_by
def segment_count(document: Document) -> Found:
    """A task has one segment `basic`, unless it was cut off before it, and one of `OPAT` and `SGAT` at most."""
    for task in document.tasks:
        segments = [segment for segment in document.segments_of(task) if isinstance(segment, dict)]
        names = [without_count(name) for segment in segments for name in segment]
        basic, opat, sgat = map(names.count, ("basic", "OPAT", "SGAT"))
        if basic != 1 and not (task.truncated and not basic):
            yield task.pointer, say("{count} segments 'basic'; expected exactly one", count=basic)
        if opat + sgat > 1:
            text = say("{opat} segments 'OPAT', {sgat} 'SGAT'; expected at most one of them", opat=opat, sgat=sgat)
            yield task.pointer, text


@UNIT_MISMATCH.checked_by
def unit_mismatch(document: Document) -> Found:
    """Times of operators stand under keys that end with `(us)`, those of subgraphs and models with `(ms)`."""
    if not document.is_documented:
        for at, key, expected, segment in mistaken_keys(document.content):
            yield at, say("{key!r} in {segment}; expected {expected}", key=key, segment=segment, expected=expected)


@RESULTS.rule("unknown-key", "info", "an undocumented key: the schema is open", DOCS).checked_by
def unknown_key(document: Document) -> Found:
    """Every key of a task of the right shape is one that its schema names."""
    if document.is_documented:
        return
    for task in document.fitting:
        for at in unknown_keys(task.kind, "task", document.segments_of(task), task.pointer):
            key = at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
            if key not in UNITS:  # segment-kind reports these
                yield at, say("the key {key!r} is unknown; it is skipped", key=key[:200])


@RESULTS.rule("mixed-vocabulary", "warning", "one version of AOE uses one vocabulary", DOCS).checked_by
def mixed_vocabulary(document: Document) -> Found:
    """All tasks of a file use the words of one version of CANN, and each of them only those."""
    spoken: dict[str, str] = {}
    for task in document.tasks:
        if task.vocabulary == "mixed":
            mixed = say("wording of CANN 6.0 ('tune ...') and of later versions ('tuning ...') in one task")
            yield task.segment_pointer, mixed
        elif task.vocabulary is not None:
            spoken.setdefault(task.vocabulary, task.segment_pointer)
    if len(spoken) > 1:
        (other, place), (words, at) = spoken.items()
        text = "this task uses the wording '{words} ...', the one at {place} the wording '{other} ...'"
        yield at, say(text, words=words, place=place, other=other)


_OTHER_KEYS = frozenset({*MODEL_KEYS[:2], "tuning_time(s)"})


@RESULTS.rule("implausible-time", "error", "a tuning time of 31 years is impossible", "arithmetic").checked_by
def implausible_time(document: Document) -> Found:
    """A time is 0, or between 10^-9 and 10^15 of its unit."""
    for at, key, value, _ in times_in(document.content):
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)) or is_plausible(Decimal(value)):
            continue
        is_time = key.partition("(")[0] in TIME_KEYS or key in _OTHER_KEYS
        if is_time and any(is_below(at, task.pointer) for task in document.fitting):
            yield at, say("the number is outside the range of a time (0 or 10^-9 to 10^15); it is not used")
