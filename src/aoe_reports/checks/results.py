"""Rules on AOE results: is what the file says possible, and does it agree with itself?

The schema states shapes and types, these rules state values. FILE_RULES look at a whole document, RULES at one tuning
task; each rule is a small function, with its severity, the reason and where the fact comes from.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from aoe_reports.checks.schema import schema_errors, unknown_keys
from aoe_reports.findings import EXAMPLES_PER_RULE, Finding, Severity, is_below
from aoe_reports.operators import is_tunable
from aoe_reports.readers.json_text import locate
from aoe_reports.readers.results import ResultFile
from aoe_reports.results import (
    STATUS_ALIASES,
    STATUSES,
    Modification,
    TuningResult,
    escape,
    is_plausible,
    status_of,
)
from aoe_reports.texts import join, say

Found = Iterator[tuple[str, str]]
"""(JSON Pointer, message) of each place where a rule fires."""

IMPROVEMENT_TOLERANCE = Decimal("0.01")
"""Points of a percentage: OPAT rounds the last digit, SGAT truncates it (measured on the documented samples)."""

CLEARLY_WITHIN = 0.0099
"""Points of a percentage by which a claim may be beside its times, told by floats, to be right by a margin."""

PARTS_TOLERANCE = Decimal("1.1")
"""How many times larger one of two savings may be before it is worth a word."""

REPORT_KEY = re.compile(r"report_\d{8}_?\d{6}_?\d{0,6}_\d+")
"""The key of one task in a report file: a time and a thread id."""

_AGAIN = re.compile(r" \([0-9]+\)\Z")
"""What the reader puts behind a key that stands in its object already."""

CLAIM = re.compile(r"-?[0-9]+([.][0-9]+)?%")
"""An improvement as AOE prints it."""

UNITS = {"OPAT": "(us)", "SGAT": "(ms)"}
"""The unit of single times in each segment."""

_TIME_KEYS = frozenset({"performance_before_tune", "performance_after_tune"})
_MODEL_STEMS = frozenset({"model_baseline_performance", "model_result_performance"})
_MODEL_TIME_KEYS = frozenset({"model_baseline_performance(ms)", "model_result_performance(ms)", "tuning_time(s)"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule on a tuning task: how bad, why, and where the fact comes from."""

    severity: Severity
    check: Callable[[TuningResult], Found]
    reason: str
    source: str


Link = tuple[Any, str | int] | None
"""A step into a document and the steps before it: a pointer is made of it where one is needed."""

TimeMember = tuple[Link, str, Any, str | None]
"""Place, key, value, and the segment it stands in."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A result file on which rules are tried, and what several of them look at."""

    file: ResultFile
    times: tuple[TimeMember, ...]
    fitting: tuple[TuningResult, ...]
    """The tasks that have the right shape."""


@dataclass(frozen=True, slots=True)
class FileRule:
    """One rule on a whole result file."""

    severity: Severity
    check: Callable[[Examined], Found]
    reason: str
    source: str
    on: str = say("AOE results")


def check_result(result: TuningResult, path: str = "") -> list[Finding]:
    """What the rules say of one tuning task; nothing of one that was cut off."""
    if result.truncated:
        return []
    return [
        finding
        for name, rule in RULES.items()
        for finding in _told(name, rule.severity, path, rule.check(result), result.pointer)
    ]


def check_result_file(file: ResultFile) -> list[Finding]:
    """Everything that is to be said about one result file, reading included, with line and column where there is one."""
    return _examined(file)[0]


def check_broken_file(file: ResultFile) -> list[Finding] | None:
    """As `check_result_file`, if no task has the right shape: nothing else of them is looked at. None if one has."""
    findings, fitting = _examined(file)
    return None if fitting else findings


def _examined(file: ResultFile) -> tuple[list[Finding], tuple[TuningResult, ...]]:
    """(everything that is to be said about a result file, the tasks that rules were tried on)."""
    findings = list(file.findings)
    if not file.parsed:
        return findings, ()
    path = str(file.path)
    times = tuple(_times_in(file.document))
    mistaken = {(_pointer(place[0] if place else None), expected) for place, _, expected in _mistaken_keys(times)}
    of_task = _task_places(file.results)
    shapes = _shape_errors(file, mistaken)
    wrong = {of_task(place) for place, _ in mistaken} | {of_task(place) for place, _ in shapes}
    fitting = tuple(result for result in file.results if not result.truncated and result.pointer not in wrong)
    examined = Examined(file, times, fitting)
    for name, rule in FILE_RULES.items():
        findings += _told_by_task(name, rule.severity, path, rule.check(examined), of_task)
    for result in fitting:
        findings += check_result(result, path)
    findings += _told_by_task("schema", "error", path, shapes, of_task)
    return with_places(findings, file.text), fitting


def _shape_errors(file: ResultFile, mistaken: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """(JSON Pointer, message) of what the schema says of a result file: nothing of a task that was cut off.

    `mistaken` are places and keys that are missing there because they stand there with another unit.
    """
    cut = [result.pointer for result in file.results if result.truncated]
    excused = {(at, f'"{key}" is a required property') for at, key in mistaken}
    return [
        (at, message)
        for at, message in schema_errors(kind_of(file), file.document)
        if not any(is_below(at, place) for place in cut) and (at, message) not in excused
    ]


def _task_places(results: Sequence[TuningResult]) -> Callable[[str], str]:
    """What tells the place of the task in which a place is; of what is in no task, the document's."""
    places = {result.pointer for result in results}

    def of_task(place: str) -> str:
        task = place[: place.find("/", 1)] if place.count("/") > 1 else place
        return task if task in places else ""

    return of_task


def _told_by_task(
    name: str, severity: Severity, path: str, found: Iterable[tuple[str, str]], of_task: Callable[[str], str]
) -> list[Finding]:
    """Findings of one rule on a file: what is counted in one line is counted for each task alone."""
    by_task: dict[str, list[tuple[str, str]]] = {}
    for at, text in found:
        by_task.setdefault(of_task(at), []).append((at, text))
    return [finding for task, mine in by_task.items() for finding in _told(name, severity, path, mine, task)]


def kind_of(file: ResultFile) -> str:
    """The schema that a result file has to fit, by its name."""
    return "sgat" if file.name.kind == "sgat" else "opat"


def with_places(findings: Sequence[Finding], text: bytes) -> list[Finding]:
    """The same findings with line and column of what their pointers lead to."""
    pointers = {f.pointer for f in findings if f.pointer is not None and f.line is None and f.severity != "info"}
    if not pointers:
        return list(findings)
    places = locate(text, pointers)
    return [
        replace(f, line=places[f.pointer][0], column=places[f.pointer][1])
        if f.pointer in places and f.line is None
        else f
        for f in findings
    ]


def _told(name: str, severity: Severity, path: str, found: Iterable[tuple[str, str]], task: str) -> list[Finding]:
    """Findings of one rule; after EXAMPLES_PER_RULE of them one line counts the rest, in the task that it is of."""
    every = [Finding(severity, name, path, text, pointer=at) for at, text in found]
    if len(every) <= EXAMPLES_PER_RULE:
        return every
    more = say("and {count} more of this kind", count=len(every) - EXAMPLES_PER_RULE)
    return [*every[:EXAMPLES_PER_RULE], Finding(severity, name, path, more, pointer=task)]


def _segments_of(file: ResultFile, result: TuningResult) -> list[Any]:
    segments = file.document if result.report_key is None else file.document[result.report_key]
    return segments if isinstance(segments, list) else []


def _segment_count(examined: Examined) -> Found:
    file = examined.file
    for result in file.results:
        segments = (segment for segment in _segments_of(file, result) if isinstance(segment, dict))
        names = Counter(_AGAIN.sub("", name) for segment in segments for name in segment)
        if names["basic"] != 1 and not (result.truncated and not names["basic"]):
            yield result.pointer, say("{count} segments 'basic'; expected exactly one", count=names["basic"])
        if names["OPAT"] + names["SGAT"] > 1:
            yield (
                result.pointer,
                say(
                    "{opat} segments 'OPAT', {sgat} 'SGAT'; expected at most one of them",
                    opat=names["OPAT"],
                    sgat=names["SGAT"],
                ),
            )


def _segment_kind(examined: Examined) -> Found:
    kind = kind_of(examined.file)
    for result in examined.file.results:
        if result.has_segment and result.kind != kind:
            yield (
                result.segment_pointer,
                say("the file is named {kind}, its segment is {segment}", kind=kind, segment=result.kind.upper()),
            )


def _mixed_vocabulary(examined: Examined) -> Found:
    spoken: dict[str, str] = {}
    for result in examined.file.results:
        if result.vocabulary == "mixed":
            yield (
                result.segment_pointer,
                say("words of CANN 6.0 ('tune ...') and of later versions ('tuning ...') in one task"),
            )
        elif result.vocabulary is not None:
            spoken.setdefault(result.vocabulary, result.segment_pointer)
    if len(spoken) > 1:
        first, second = spoken.items()
        yield (
            second[1],
            say(
                "this task uses the words of '{words} ...', the one at {place} those of '{other} ...'",
                words=second[0],
                place=first[1],
                other=first[0],
            ),
        )


def _times_in(document: Any) -> Iterator[TimeMember]:
    """Every member whose key ends with a unit."""
    waiting: list[tuple[Link, Any, str | None]] = [(None, document, None)]
    while waiting:
        place, value, segment = waiting.pop()
        if value.__class__ is list:
            waiting += [((place, i), inner, segment) for i, inner in enumerate(value)]
        elif value.__class__ is dict:
            for key, inner in value.items():
                if key[-1:] == ")":
                    yield (place, key), key, inner, segment
                if inner.__class__ is dict or inner.__class__ is list:
                    waiting.append(((place, key), inner, key if key in UNITS else segment))


def _pointer(place: Link) -> str:
    steps = []
    while place is not None:
        place, step = place
        steps.append(f"/{escape(str(step))}")
    return "".join(reversed(steps))


def _unit_mismatch(examined: Examined) -> Found:
    return _unit_mismatches(examined.times)


def _unit_mismatches(times: Sequence[TimeMember]) -> Found:
    for place, key, expected in _mistaken_keys(times):
        yield (
            _pointer(place),
            say(
                "{key!r} in {segment}; expected {expected}",
                key=key,
                segment=_segment_of(place),
                expected=expected,
            ),
        )


def _segment_of(place: Link) -> str:
    """The segment that a time stands in."""
    while place is not None and place[1] not in UNITS:
        place = place[0]
    return str(place[1]) if place is not None else ""


def _mistaken_keys(times: Sequence[TimeMember]) -> Iterator[tuple[Link, str, str]]:
    """(place, key, the key that was expected there) of each time in the wrong unit."""
    for place, key, _, segment in times:
        if segment not in UNITS:
            continue
        stem = key.rpartition("(")[0]
        unit = UNITS[segment] if stem in _TIME_KEYS else "(ms)" if stem in _MODEL_STEMS else None
        if unit is not None and key != stem + unit:
            yield place, key, stem + unit


def _implausible_time(examined: Examined) -> Found:
    for place, key, value, _ in examined.times:
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            continue
        if is_plausible(value if isinstance(value, Decimal) else Decimal(value)):
            continue
        at = _pointer(place)
        is_time = key.partition("(")[0] in _TIME_KEYS or key in _MODEL_TIME_KEYS
        if is_time and any(is_below(at, result.pointer) for result in examined.fitting):
            yield at, say("a number of a size that no time has (0 or 10^-9 to 10^15); it is not used")


def _unknown_key(examined: Examined) -> Found:
    for result in examined.fitting:
        for at in unknown_keys(result.kind, "task", _segments_of(examined.file, result), result.pointer):
            key = at.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
            if key not in UNITS:  # that is for segment-kind to tell
                yield at, say("the key {key!r} is not known here; it is passed over", key=key[:200])


def _report_key(result: TuningResult) -> Found:
    key = _AGAIN.sub("", result.report_key or "")
    if result.report_key is not None and not REPORT_KEY.fullmatch(key):
        yield result.pointer, say("the key {key!r} is not of the form report_<time>_<thread>", key=key[:200])


def _status_unknown(result: TuningResult) -> Found:
    if result.status is not None and status_of(result.status) is None:
        yield (
            _status_at(result),
            say(
                "{status!r} is no known status; expected one of {names}",
                status=result.status[:200],
                names=join(", ", STATUSES),
            ),
        )


def _status_alias(result: TuningResult) -> Found:
    if result.status in STATUS_ALIASES:
        yield (
            _status_at(result),
            say(
                "{status!r} is a slip of the documents; read as {meant}",
                status=result.status,
                meant=STATUS_ALIASES[result.status],
            ),
        )


def _tuning_failed(result: TuningResult) -> Found:
    if status_of(result.status) == "failed":
        yield _status_at(result), failed_text(result.tuning_name, result.failed_operators)


def failed_text(tuning_name: str | None, operators: Sequence[str]) -> str:
    """What is to be said of a tuning that failed."""
    shown = listed(operators) or say("none named")
    return say("tuning of {name!r} failed; operators: {operators}", name=tuning_name, operators=shown)


def listed(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    shown = join(", ", names[:EXAMPLES_PER_RULE])
    more = len(names) - EXAMPLES_PER_RULE
    return say("{names} and {count} more", names=shown, count=more) if more > 0 else shown


def _tuning_incomplete(result: TuningResult) -> Found:
    if status_of(result.status) == "incomplete":
        yield (
            _status_at(result),
            say("tuning of {name!r} was broken off; its numbers are not used", name=result.tuning_name),
        )
    elif result.kind == "sgat" and result.has_segment and "tuning_time(s)" not in result.present:
        text = say(
            "no tuning_time(s), as in a run that was broken off: is {name!r} complete?",
            name=result.tuning_name,
        )
        yield result.pointer, text


def _interrupted_fields(result: TuningResult) -> Found:
    status = status_of(result.status)
    if result.kind != "opat" or not result.has_segment or status is None:
        return
    if status == "incomplete":
        for key in ("tuning_time(s)", "model_result_performance(ms)", "model_performance_improvement"):
            if key in result.present:
                yield (
                    result.segment_pointer,
                    say("{key} is there, which a run that was broken off does not write", key=key),
                )
        return
    if "tuning_time(s)" not in result.present:
        yield result.pointer, say("no tuning_time(s), although the status is {status!r}", status=result.status)
    if "model_baseline_performance(ms)" in result.present:
        for key in ("model_result_performance(ms)", "model_performance_improvement"):
            if key not in result.present:
                yield (
                    result.segment_pointer,
                    say("a baseline, and no {key}, although the status is {status!r}", key=key, status=result.status),
                )


def _subgraph_failed(result: TuningResult) -> Found:
    if result.kind == "sgat" and not result.has_segment:
        yield (
            result.pointer,
            say("no SGAT segment: subgraph tuning of {name!r} failed", name=result.tuning_name),
        )


def _nothing_tunable(result: TuningResult) -> Found:
    if result.kind == "opat" and not result.has_segment:
        yield (
            result.pointer,
            say("no OPAT segment: {name!r} has no operator that can be tuned", name=result.tuning_name),
        )


def _nothing_improved(result: TuningResult) -> Found:
    changed = result.summary.get("repo_add_num", 0) + result.summary.get("repo_update_num", 0)
    if result.has_segment and not changed and not result.failed and status_of(result.status) != "incomplete":
        yield _summary_at(result), say("tuning of {name!r} found nothing better", name=result.tuning_name)


def _failed_without_list(result: TuningResult) -> Found:
    if status_of(result.status) == "failed" and result.failed_key is None:
        yield _status_at(result), say("failed, but no operator is named as failed")


def _list_without_failure(result: TuningResult) -> Found:
    if result.failed_key is not None and status_of(result.status) not in {"failed", None}:
        operators = join(", ", result.failed_operators[:EXAMPLES_PER_RULE])
        at = f"{result.segment_pointer}/{result.failed_key}"
        yield (
            at,
            say(
                "operators are named as failed ({operators}), the status is {status!r}",
                operators=operators,
                status=result.status,
            ),
        )


def _hit_sum(result: TuningResult) -> Found:
    hit, reserved, update = (result.summary.get(f"repo_{part}_num") for part in ("hit", "reserved", "update"))
    if hit is not None and reserved is not None and update is not None and hit != reserved + update:
        at = f"{_summary_at(result)}/repo_hit_num"
        yield (
            at,
            say(
                "repo_hit_num {hit} is not reserved {reserved} + update {update}",
                hit=hit,
                reserved=reserved,
                update=update,
            ),
        )


def _total_sum(result: TuningResult) -> Found:
    hit, add, unsatisfied = (result.summary.get(f"repo_{part}_num") for part in ("hit", "add", "unsatisfied"))
    total = result.summary.get("total_num")
    if total is None or hit is None or add is None or unsatisfied is None:
        return
    if total != hit + add + unsatisfied:
        at = f"{_summary_at(result)}/total_num"
        yield (
            at,
            say(
                "total_num {total} is not hit {hit} + add {add} + unsatisfied {unsatisfied}",
                total=total,
                hit=hit,
                add=add,
                unsatisfied=unsatisfied,
            ),
        )


_UPDATES = frozenset({"add", "update"})


def _list_length(result: TuningResult) -> Found:
    if any(m.update_mode not in _UPDATES for m in result.modifications):
        return  # which count it belongs to cannot be told
    for update in sorted(_UPDATES):
        entries = [m for m in result.modifications if m.update_mode == update]
        said = result.summary.get(f"repo_{update}_num")
        counts = {len(entries), len({m.name for m in entries})} if result.body == "flat" else {len(entries)}
        if said is not None and said not in counts:
            at = f"{_summary_at(result)}/repo_{update}_num"
            yield (
                at,
                say(
                    "repo_{mode}_num is {said}, but {count} entries are listed",
                    mode=update,
                    said=said,
                    count=len(entries),
                ),
            )


def _update_mode(result: TuningResult) -> Found:
    for m in result.modifications:
        if m.update_mode not in _UPDATES:
            at = f"{m.pointer}/update_mode"
            yield (
                at,
                say(
                    "update_mode {mode!r} is neither 'add' nor 'update'; it counts as neither",
                    mode=m.update_mode[:60],
                ),
            )


def _duplicate_operator(result: TuningResult) -> Found:
    seen: dict[tuple[str, str | None], str] = {}
    for modification in result.modifications:
        key = (modification.name, modification.mode)
        if key in seen:
            yield (
                modification.pointer,
                say("{name!r} stands here and at {place}", name=modification.name[:200], place=seen[key]),
            )
        seen[key] = modification.pointer
    failed = set(result.failed_operators)
    for (name, _), pointer in seen.items():
        if name in failed:
            yield pointer, say("{name!r} is named as failed and as modified", name=name[:200])


def _non_positive_time(result: TuningResult) -> Found:
    words: tuple[_Word, _Word] = ("before", "after")
    for claim in _claims(result):
        for word, value in zip(words, (claim.before, claim.after), strict=True):
            if value is not None and value <= 0:
                yield (
                    _at(result, claim, word),
                    say("{key} is {value}; expected a time above 0", key=_key(claim, word), value=_printed(value)),
                )


def _not_faster(result: TuningResult) -> Found:
    for claim in _claims(result):
        _, before, after, _ = claim
        if before is None or after is None or after < before or before <= 0:
            continue
        if after > before or claim.part is not None:
            yield (
                _at(result, claim, "after"),
                say(
                    "after tuning {after}, before {before}: not faster", after=_printed(after), before=_printed(before)
                ),
            )


def _improvement(result: TuningResult) -> Iterator[tuple[str, str, bool]]:
    """(place, message, whether it is the other convention) of each claim that its own times do not bear out."""
    for claim in _claims(result):
        _, before, after, text = claim
        if not before or not after or text is None or before < 0 or after < 0 or not CLAIM.fullmatch(text):
            continue
        if abs((float(before) / float(after) - 1) * 100 - float(text[:-1])) < CLEARLY_WITHIN:
            continue
        said = Decimal(text[:-1])
        if _within(said, before, after, speed_up):
            continue
        other = _within(said, before, after, time_saved)
        gain = speed_up(before, after)
        what = say(
            "says {claim}; {before} before and {after} after are a speed-up (before/after - 1) of {gain}%",
            claim=text[:40],
            before=_printed(before),
            after=_printed(after),
            gain=f"{gain:.2f}",
        )
        if other:
            what = join("; ", (what, say("{claim} is the time saved (1 - after/before)", claim=text[:40])))
        yield _at(result, claim, "improvement"), what, other


def _printed(value: Decimal) -> str:
    """A time with the digits of the file, as far as anybody reads them."""
    return str(value)[:40]


def _improvement_mismatch(result: TuningResult) -> Found:
    return ((at, text) for at, text, other in _improvement(result) if not other)


def _improvement_convention(result: TuningResult) -> Found:
    return ((at, text) for at, text, other in _improvement(result) if other)


def speed_up(before: Decimal, after: Decimal) -> Decimal:
    """`before/after - 1`, in percent."""
    return (before / after - 1) * 100


def time_saved(before: Decimal, after: Decimal) -> Decimal:
    """`1 - after/before`, in percent."""
    return (1 - after / before) * 100


def _within(said: Decimal, before: Decimal, after: Decimal, gain: Callable[[Decimal, Decimal], Decimal]) -> bool:
    """Whether a claim fits the two times, whose last printed digits may each be off by half, its own by one."""
    half_before, half_after = _half_digit(before), _half_digit(after)
    low = gain(before - half_before, after + half_after)
    high = gain(before + half_before, max(after - half_after, after / 2))
    tolerance = max(IMPROVEMENT_TOLERANCE, _LAST_DIGIT.get(said.as_tuple().exponent, IMPROVEMENT_TOLERANCE))
    return low - tolerance <= said <= high + tolerance


_LAST_DIGIT: dict[object, Decimal] = {0: Decimal(1), -1: Decimal("0.1")}
"""What the last digit of a claim with none or one behind the point is worth."""


def _half_digit(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not -_MOST_DIGITS < exponent < 0:
        return Decimal(0)
    return Decimal(5).scaleb(exponent - 1)


_MOST_DIGITS = 100
"""Digits behind the point of a time beyond which half of the last one is nothing."""


def _repo_key(result: TuningResult) -> Found:
    if result.kind == "sgat":
        for modification in result.modifications:
            name = modification.name
            if not (name.isascii() and name.isdecimal() and len(name) <= 20 and int(name) < 2**64):  # noqa: PLR2004
                yield (
                    f"{modification.pointer}/repo_key",
                    say("repo_key {name!r} is no unsigned 64-bit number", name=name[:60]),
                )


def _op_type_unknown(result: TuningResult) -> Found:
    types = [op_type for modification in result.modifications for op_type in modification.op_type]
    if found := unknown_types(types):
        yield f"{result.segment_pointer}/repo_modified_operators", found


def unknown_types(op_types: Collection[str]) -> str | None:
    """What is to be said of operator types that stand in no list; None if all of them do."""
    strange = sorted({name for name in op_types if not is_tunable(name)})
    if not strange:
        return None
    shown = listed([name[:60] for name in strange])
    return say("not in the published (incomplete) lists of operators that AOE tunes: {names}", names=shown)


def _parts_and_whole(result: TuningResult) -> Found:
    if result.model_baseline_ms is None or result.model_result_ms is None:
        return
    best: dict[str, Decimal] = {}
    for m in result.modifications:
        if m.before is None or m.after is None or not 0 < m.after < m.before:
            return  # wrong in another way: a sum would mean nothing
        saved = (m.before - m.after) / (1000 if m.unit == "us" else 1)
        best[m.name] = max(saved, best.get(m.name, saved))  # of several modes only one can be in use
    parts, whole = sum(best.values(), Decimal(0)), result.model_baseline_ms - result.model_result_ms
    if parts_disagree(parts, whole):
        text = say(
            "the modified subgraphs save {parts} ms together, the model {whole} ms"
            if result.kind == "sgat"
            else "the modified operators save {parts} ms together, the model {whole} ms",
            parts=_ms(parts),
            whole=_ms(whole),
        )
        yield result.segment_pointer, text


def parts_disagree(parts: Decimal, whole: Decimal) -> bool:
    """Whether two savings (ms) are further apart than tasks that overlap or repeat a little explain."""
    low, high = sorted((parts, whole))
    return low > 0 and high > low * PARTS_TOLERANCE


def _ms(value: Decimal) -> str:
    return f"{value:.6f}".rstrip("0").rstrip(".")


class _Claim(NamedTuple):
    """Two times and what AOE says of them; the model's without a modification."""

    part: Modification | None
    before: Decimal | None
    after: Decimal | None
    improvement: str | None


def _claims(result: TuningResult) -> list[_Claim]:
    claims = [_Claim(m, m.before, m.after, m.improvement) for m in result.modifications]
    claims.append(_Claim(None, result.model_baseline_ms, result.model_result_ms, result.model_improvement))
    return claims


_Word = Literal["before", "after", "improvement"]
_MODEL_KEYS: dict[_Word, str] = {
    "before": "model_baseline_performance(ms)",
    "after": "model_result_performance(ms)",
    "improvement": "model_performance_improvement",
}


def _key(claim: _Claim, word: _Word) -> str:
    if claim.part is None:
        return _MODEL_KEYS[word]
    return "performance_improvement" if word == "improvement" else f"performance_{word}_tune({claim.part.unit})"


def _at(result: TuningResult, claim: _Claim, word: _Word) -> str:
    return f"{claim.part.pointer if claim.part else result.segment_pointer}/{_key(claim, word)}"


def _status_at(result: TuningResult) -> str:
    return f"{result.segment_pointer}/{result.status_key}" if result.status_key else result.segment_pointer


def _summary_at(result: TuningResult) -> str:
    return f"{result.segment_pointer}/repo_summary"


_DOCS = say("AOE result documents, CANN 6.0 to 8.0")
_SAMPLES = say("measured on the five documented samples")
_LISTS = say("torch_npu's list of 112 types, Operator List of CANN 9.0")

FILE_RULES: dict[str, FileRule] = {
    "segment-kind": FileRule(
        "error", _segment_kind, say("the file name says opat, the segment SGAT, or the other way"), _DOCS
    ),
    "segment-count": FileRule("error", _segment_count, say("exactly one basic, at most one OPAT or SGAT"), _DOCS),
    "unit-mismatch": FileRule(
        "error",
        _unit_mismatch,
        say("operators are in us, subgraphs in ms; columns in units that exporters write"),
        _DOCS,
        on=say("AOE results, tables"),
    ),
    "unknown-key": FileRule("info", _unknown_key, say("a key that no document names: the schema is open"), _DOCS),
    "mixed-vocabulary": FileRule("warning", _mixed_vocabulary, say("one version of AOE writes one vocabulary"), _DOCS),
    "implausible-time": FileRule("error", _implausible_time, say("no tuning measures 31 years"), say("arithmetic")),
}

RULES: dict[str, Rule] = {
    "report-key": Rule("warning", _report_key, say("the key tells when the task was tuned"), _DOCS),
    "status-unknown": Rule("error", _status_unknown, say("only the documented statuses tell what happened"), _DOCS),
    "status-alias": Rule("warning", _status_alias, say("the English page prints 'tune tuning incomplete'"), _DOCS),
    "tuning-failed": Rule("error", _tuning_failed, say("a failed tuning must not pass as a result"), _DOCS),
    "tuning-incomplete": Rule("warning", _tuning_incomplete, say("an interrupted run proves nothing"), _DOCS),
    "interrupted-fields": Rule(
        "warning", _interrupted_fields, say("what an interrupted run leaves out is documented"), _DOCS
    ),
    "subgraph-failed": Rule("error", _subgraph_failed, say("SGAT has no status: failure is a missing segment"), _DOCS),
    "nothing-tunable": Rule("info", _nothing_tunable, say("no OPAT segment means no operator to tune"), _DOCS),
    "nothing-improved": Rule("info", _nothing_improved, say("legal, and no bank is then written"), _DOCS),
    "failed-without-list": Rule("error", _failed_without_list, say("failed operators are listed on failure"), _DOCS),
    "list-without-failure": Rule("warning", _list_without_failure, say("the list belongs to failures"), _DOCS),
    "hit-sum": Rule("warning", _hit_sum, say("hit = reserved + update"), _SAMPLES),
    "total-sum": Rule("warning", _total_sum, say("total = hit + add + unsatisfied"), _SAMPLES),
    "list-length": Rule("warning", _list_length, say("the counts are those of the lists"), _SAMPLES),
    "update-mode": Rule("warning", _update_mode, say("the documents show 'add'; the counts imply 'update'"), _DOCS),
    "duplicate-operator": Rule("warning", _duplicate_operator, say("one case has one outcome"), _DOCS),
    "non-positive-time": Rule("error", _non_positive_time, say("no operator takes no time"), _DOCS),
    "not-faster": Rule("warning", _not_faster, say("only a better policy is stored"), _DOCS),
    "improvement-mismatch": Rule("warning", _improvement_mismatch, say("every sample is before/after - 1"), _SAMPLES),
    "improvement-convention": Rule(
        "warning", _improvement_convention, say("the documents say 'time reduced' and print a speed-up"), _SAMPLES
    ),
    "repo-key": Rule("error", _repo_key, say("a 64-bit hash in decimal digits"), _DOCS),
    "op-type-unknown": Rule("info", _op_type_unknown, say("types outside of the list cannot be tuned"), _LISTS),
    "parts-and-whole": Rule(
        "info", _parts_and_whole, say("operators overlap and repeat; a gain from elsewhere would show here"), _SAMPLES
    ),
}
