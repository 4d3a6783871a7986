"""Short sequences of tasks that come again and again: those that a fused operator replaces, and others.

Tasks of one stream and step, one behind the other, are written as a text, a character a type; sequences are found in it. No task is in
two of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from aoe_reports.facts.host_activity import Kernels
from aoe_reports.model.arrays.columns import Ints, Mask, distinct_places, exact_sum, rising, small
from aoe_reports.model.arrays.intervals import Intervals, union
from aoe_reports.topics.host.fused_operators import FUSED_OPERATORS, FusedOperator, base_type, type_in_name

MAX_GAP_NS = 1_000_000
"""What begins later than this behind the task before it is no part of the same sequence."""
SHORT_NS = 20_000
"""A task that is shorter takes no longer than it takes to launch it."""
MIN_TASKS, MAX_TASKS = 3, 12
MIN_REPEATS = 4
"""How often a sequence without a fused operator has to come in each step."""
_MAX_CANDIDATES = 10
_TRIED = 6
"""So many sequences of each length are counted exactly."""
_SAMPLED = 1 << 17
"""So many tasks are looked at to find what may be frequent."""
_FIRST_CHARACTER = 0x10000
"""From here on one character stands for one type; what is below marks cuts and what is taken."""
_CUT, _TAKEN = "\n", "\t"
_MAX_TYPES = 0x80000


@dataclass(frozen=True, slots=True)
class FoundSequence:
    """A sequence that was found some times; ns."""

    api: str | None
    """The fused operator; null where none is known."""
    note: str | None
    types: tuple[str, ...]
    """Those of the most frequent form."""
    count: int
    tasks: int
    total_ns: int
    """The tasks' time on the device, which other streams may overlap."""
    span_ns: int
    """From the first begin to the last end of each occurrence, summed."""
    least_ns: int
    """The longest task of each occurrence, summed: no fused operator is thought to be quicker."""
    first_name: int
    """The number of the name of the first task of the first occurrence."""
    first_start_ns: int
    spans: Intervals = field(compare=False, repr=False)
    """When any occurrence was under way."""
    starts: Ints = field(compare=False, repr=False)
    """When its tasks began, in order."""

    @property
    def saving_ns(self) -> int:
        """What it gives at most, if a fused operator takes as long as the longest task that it replaces."""
        return self.span_ns - self.least_ns

    @property
    def launch_share(self) -> float:
        """For which part of its span no task of it ran; 0 where tasks of it run at once."""
        return max(1 - self.total_ns / self.span_ns, 0.0) if self.span_ns else 0.0


def find_sequences(kernels: Kernels, words: Sequence[str], types: Mapping[str, str], steps: int) -> list[FoundSequence]:
    """The sequences of a device: those with a fused operator by saving, then other frequent ones; `types` are by name."""
    text = _Text(kernels, *_types_of(kernels, words, types))
    found = [*_fused(text), *_frequent(text, max(steps, 1))]
    return sorted(found, key=lambda one: (one.api is None, -one.saving_ns, one.first_start_ns))


def find_fused(kernels: Kernels, words: Sequence[str], types: Mapping[str, str]) -> list[FoundSequence]:
    """Those with a fused operator alone."""
    told, codes = _types_of(kernels, words, types)
    if all(_pattern(operator, told) is None for operator in FUSED_OPERATORS):
        return []
    return [*_fused(_Text(kernels, told, codes))]


def fusible_ns(times: Mapping[str, int]) -> int:
    """The most time that the types of any sequence with a fused operator take, of times by type; 0 where all lack one of theirs."""
    by_base: Counter[str] = Counter()
    for op_type, time in times.items():
        by_base[base_type(op_type)] += time
    found = [0]
    for operator in FUSED_OPERATORS:
        steps = [(frozenset(step.removesuffix("?").split("|")), step.endswith("?")) for step in operator.sequence]
        if all(missing or any(by_base[name] for name in names) for names, missing in steps):
            found.append(sum(by_base[one] for one in frozenset().union(*(names for names, _ in steps))))
    return max(found)


def within(begins: Ints, ends: Ints, count: int) -> Mask:
    """Which of so many places are in any of some ranges, of which no two overlap."""
    change = np.zeros(count + 1, dtype=np.int64)
    change[begins] += 1
    np.subtract.at(change, ends, 1)
    return np.cumsum(change)[:count] > 0


def _types_of(kernels: Kernels, words: Sequence[str], types: Mapping[str, str]) -> tuple[list[str], Ints]:
    """(all types; of each task the place of its type among them, at most _MAX_TYPES)."""
    places: dict[str, int] = {}
    numbers, place = distinct_places(kernels.name)
    known = []
    for number in numbers.tolist():
        name = words[number] if number >= 0 else ""
        told = base_type(types.get(name) or type_in_name(name))
        known.append(min(places.setdefault(told, len(places)), _MAX_TYPES))
    return list(places), np.asarray([*known, 0], dtype=np.int64)[place]


def _pattern(operator: FusedOperator, types: Sequence[str]) -> re.Pattern[str] | None:
    """What matches the sequence of a fused operator; None where a needed type is not here."""
    parts = []
    for step in operator.sequence:
        wanted = {base_type(word) for word in step.removesuffix("?").split("|")}
        characters = "".join(chr(_FIRST_CHARACTER + n) for n, told in enumerate(types[:_MAX_TYPES]) if told in wanted)
        if characters:
            parts.append(f"[{characters}]" + "?" * step.endswith("?"))
        elif not step.endswith("?"):
            return None
    return re.compile("".join(parts))


class _Text:
    """The tasks of a device as characters, by stream, step and begin."""

    def __init__(self, kernels: Kernels, types: Sequence[str], type_of: Ints) -> None:
        self.types = types
        order = np.lexsort((kernels.start, small(kernels.stream)))
        self.start, self.end, self.name = kernels.start[order], kernels.end[order], kernels.name[order]
        stream, step = kernels.stream[order], kernels.step[order]
        codes = type_of[order] + _FIRST_CHARACTER
        far = self.start[1:] - self.end[:-1] > MAX_GAP_NS
        cut = np.append(False, far | (stream[1:] != stream[:-1]) | (step[1:] != step[:-1]))
        if not len(codes):
            cut = np.zeros(0, dtype=bool)
        at = np.arange(len(codes)) + np.cumsum(cut)
        size = int(at[-1]) + 1 if len(at) else 0
        characters = np.full(size, ord(_CUT), dtype=np.uint32)
        characters[at] = codes
        self.row: Ints = np.full(size, -1, dtype=np.int64)
        self.row[at] = np.arange(len(codes))
        self.characters = characters
        self._text: str | None = None

    @property
    def text(self) -> str:
        """All characters, of which those that are taken match nothing."""
        if self._text is None:
            self._text = self.characters.tobytes().decode("utf-32-le")
        return self._text

    def take(self, spans: Sequence[tuple[int, int]]) -> None:
        """Let these characters match nothing from now on."""
        for begin, end in spans:
            self.characters[begin:end] = ord(_TAKEN)
        self._text = None

    def take_long(self) -> None:
        """The same of all tasks that are not short."""
        long = self.row >= 0
        long[long] = (self.end - self.start)[self.row[long]] >= SHORT_NS
        self.characters[long] = ord(_TAKEN)
        self._text = None

    def found(self, spans: Sequence[tuple[int, int]], operator: FusedOperator | None) -> FoundSequence:
        """What some occurrences of a sequence are together."""
        begins = self.row[np.asarray([begin for begin, _ in spans], dtype=np.int64)]
        lasts = self.row[np.asarray([end - 1 for _, end in spans], dtype=np.int64)]
        lengths = self.end - self.start
        least = np.maximum.reduceat(np.append(lengths, 0), np.stack([begins, lasts + 1], axis=1).reshape(-1))[::2]
        sums = np.append(0, np.cumsum(lengths))
        forms = Counter(self.characters[begin:end].tobytes().decode("utf-32-le") for begin, end in spans)
        form = min(forms, key=lambda text: (-forms[text], text))
        ends = np.maximum.reduceat(np.append(self.end, 0), np.stack([begins, lasts + 1], axis=1).reshape(-1))[::2]
        first = int(np.argmin(self.start[begins]))
        return FoundSequence(
            api=operator.api if operator else None,
            note=operator.note if operator else None,
            types=tuple(self.types[ord(character) - _FIRST_CHARACTER] for character in form),
            count=len(spans),
            tasks=int((lasts - begins + 1).sum()),
            total_ns=int((sums[lasts + 1] - sums[begins]).sum()),
            span_ns=exact_sum(ends - self.start[begins]),
            least_ns=exact_sum(least),
            first_name=int(self.name[begins[first]]),
            first_start_ns=int(self.start[begins[first]]),
            spans=union(self.start[begins], ends),
            starts=rising(self.start[within(begins, lasts + 1, len(self.start))]),
        )


def _fused(text: _Text) -> Iterator[FoundSequence]:
    for operator in FUSED_OPERATORS:
        pattern = _pattern(operator, text.types)
        spans = [match.span() for match in pattern.finditer(text.text)] if pattern is not None else []
        if spans:
            yield text.found(spans, operator)
            text.take(spans)


def _frequent(text: _Text, steps: int) -> Iterator[FoundSequence]:
    """Frequent sequences of short tasks that no fused operator is known for, the one first that covers most tasks."""
    text.take_long()
    least, found = MIN_REPEATS * steps, 0
    counted = [(word, text.text.count(word)) for word in _candidates(text, least)]
    # of two that cover as many tasks the shorter one is what the other repeats
    for word, _ in sorted(counted, key=lambda pair: (-pair[1] * len(pair[0]), len(pair[0]), pair[0])):
        spans = [match.span() for match in re.finditer(re.escape(word), text.text)]
        if len(spans) >= least:
            yield text.found(spans, None)
            text.take(spans)
            found += 1
        if found == _MAX_CANDIDATES:
            return


def _candidates(text: _Text, least: int) -> list[str]:
    """The most frequent sequences of each length, by what begins the text: a step that repeats shows there."""
    code = text.characters[:_SAMPLED].astype(np.int64)
    least = max(least * len(code) // max(len(text.characters), 1), 2)
    whole, free = text.text[:_SAMPLED], code >= _FIRST_CHARACTER
    known = distinct_places(code)[1]
    places, found = np.flatnonzero(free), list[str]()
    key = known[places]
    for length in range(2, MAX_TASKS + 1):
        # the sequences that begin here, each one longer than before
        inside = places + length <= len(known)
        inside[inside] = free[places[inside] + length - 1]
        places = places[inside]
        key = distinct_places(key[inside] * (len(known) + 1) + known[places + length - 1])[1]
        counts = np.bincount(key)
        first = np.empty(len(counts), dtype=np.int64)
        first[key[::-1]] = places[::-1]
        for number in np.argsort(-counts, kind="stable")[:_TRIED].tolist() if length >= MIN_TASKS else ():
            word = whole[first[number] : first[number] + length]
            if counts[number] >= least and len(set(word)) > 1:
                found.append(word)
        often = counts[key] >= least  # what is rare is rarer with one more task
        places, key = places[often], key[often]
    return found
