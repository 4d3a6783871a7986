"""Iterations of a server of language models: which tasks each has, whether it is prefill or decode, and what its time is spent on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from aoe_reports.model.arrays.columns import Ints, Mask, codes, distinct, has_value, integers
from aoe_reports.model.arrays.intervals import Intervals, covered_each, union, united, without
from aoe_reports.model.topics.serving import Iteration
from aoe_reports.stats.grouping import is_communication
from aoe_reports.topics.serving.batches import Batch, Lane, are_in_ms
from aoe_reports.topics.serving.cuts import Marks, Tasks, cut, layers_of, marks_of, usual_of
from aoe_reports.topics.serving.phases import Annotated, Seen, judge_batch, judge_phases
from aoe_reports.topics.serving.roles import ATTENTION, PARTS, ROLES, Part, is_serving, part_of, role_of
from aoe_reports.topics.serving.shapes import NOTHING, Query, embedding_of, product_of, query_of

TASK_COLUMNS = frozenset(
    {"op_name", "op_type", "task_type", "input_shapes", "input_data_types", "output_shapes", "task_start_ns", "task_duration_ns"}
)  # fmt: skip
"""The columns that are looked at; null where an export lacks them."""
CutBy = Literal["annotations", "batches", "operators"]
_AGREE = 0.8
"""Annotations are iterations where they part at least so many of those that the operators tell; batches where so many of these are whole passes of the model, too, and no other phase than shapes tell."""
_EMBEDDED = "gather", "embedding"


@dataclass(frozen=True, slots=True)
class Served:
    """The iterations of a device, and which of its tasks are whose."""

    iterations: Sequence[Iteration]
    iteration_of: Ints
    """The number of the iteration of each task, in the order of the table; -1 for those before the first."""
    part_of: Ints
    """The place of each task's part among PARTS."""
    are_batches_apart: bool = False
    """Whether batches of the service ran while these tasks did, and do not part them into passes of the model."""

    def in_phase(self, phase: str) -> Mask:
        """Which tasks are of iterations of a phase; `outside`: of none."""
        named = np.asarray([iteration.phase == phase for iteration in self.iterations] + [phase == "outside"])
        return np.asarray(named[self.iteration_of])


def words_of(tasks: pa.Table) -> list[str]:
    """The types of operators in a table of tasks; where it has none, their names without numbers."""
    if has_value(tasks, "op_type"):
        return [*codes(tasks["op_type"])[1]]
    return [*dict.fromkeys(map(_without_numbers, codes(tasks["op_name"])[1]))]


def serve(
    tasks: pa.Table, annotated: Sequence[Annotated] = (), batches: Sequence[Batch] = (), *, parts: bool = True
) -> Served | None:
    """The iterations of a device; null where its tasks have no times, or are not those of a server.

    `tasks` has TASK_COLUMNS. `batches` are those that ran then; where nothing annotates which tasks were launched in
    them, it is the tasks that began while each ran. Without `parts` it is not told what iterations are spent on.
    """
    if not tasks.num_rows or not is_serving(words_of(tasks)):
        return None
    start, timed = integers(tasks["task_start_ns"])
    if not timed.all():
        return None
    duration, _ = integers(tasks["task_duration_ns"])
    order = _order_in_time(start, duration)
    role, word = _roles(tasks)
    talks = is_communication(tasks["task_type"])
    shapes = _Shapes(tasks, role, order)
    ordered = Tasks(
        start=start[order],
        reach=np.maximum.accumulate((start + duration)[order]),
        role=role[order],
        word=word[order],
        embeds=shapes.embeds(),
        columns=shapes.columns,
        tokens=shapes.first_sizes(),
    )
    marks = marks_of(ordered)
    if marks is None:
        return None
    by_operators = cut(ordered, marks)
    annotated = annotated or _in_time(ordered, by_operators[0], batches)
    cuts, drafts, cut_by, told = _cuts(ordered, marks, by_operators, annotated)
    if cut_by == "batches" and not _agree(_seen(ordered, shapes, _bounds(cuts, drafts, len(start))), told):
        cuts, drafts, cut_by, told = _cuts(ordered, marks, by_operators, ())
    part = _parts_of(role, word, talks, _sampling_in_layers(ordered, marks))
    number = np.repeat(np.arange(-1, len(cuts)), np.diff(cuts, prepend=0, append=len(start)))
    seen = _seen(ordered, shapes, _bounds(cuts, drafts, len(start)))
    times = _times(start, start + duration, part, talks) if parts else {}
    iterations = _iterations(ordered, seen, (cuts, cut_by, told), times)
    iteration_of = np.empty(len(start), dtype=np.int64)
    iteration_of[order] = number
    apart = any(one.cut_by == "batches" for one in annotated) and cut_by != "batches"
    return Served(iterations, iteration_of, part, apart)


def _order_in_time(start: Ints, length: Ints) -> Any:
    """The rows by their starts, of those that start together the longest first: all of them as they stand, where exporters wrote them so."""
    if (start[1:] > start[:-1]).all():
        return slice(None)
    return np.lexsort((-length, start))


def _roles(tasks: pa.Table) -> tuple[Ints, Ints]:
    """(the role of each task, by its type or else its name; the number of that word)."""
    types, type_words = codes(tasks["op_type"])
    names, name_words = codes(tasks["op_name"])
    place = {role: number for number, role in enumerate(ROLES)}
    of_type: Any = np.asarray([place["other"], *(place[role_of(word)] for word in type_words)], dtype=np.int8)
    if not (types == 0).any():
        return of_type[types], types.astype(np.int64)
    known = types > 0
    stems = [*map(_without_numbers, name_words)]
    number_of = {stem: number for number, stem in enumerate(dict.fromkeys(stems), start=1)}
    of_stem = {stem: place[role_of(stem)] for stem in number_of}
    of_name: Any = np.asarray([place["other"], *(of_stem[stem] for stem in stems)], dtype=np.int8)
    same = np.asarray([0, *(number_of[stem] for stem in stems)])
    return np.where(known, of_type[types], of_name[names]), np.where(known, types, -same[names])


_NUMBERS = str.maketrans("", "", "0123456789")


def _without_numbers(name: str) -> str:
    """A name of an operator without the numbers that tell its calls apart."""
    return name.translate(_NUMBERS)


class _Shapes:
    """The shapes of tasks in the order of their starts, each different one looked at once."""

    def __init__(self, tasks: pa.Table, role: Ints, order: Any) -> None:
        self._role = role[order]
        self._inputs, self._input_words = _words(tasks["input_shapes"], order)
        self._types, self._type_words = _words(tasks["input_data_types"], order)
        self._outputs, self._output_words = _words(tasks["output_shapes"], order)
        products = np.flatnonzero(self._role == ROLES.index("products"))
        count = len(self._role)
        self.columns, self.rows = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
        sizes = {code: product_of(self._output_words[code]) for code in distinct(self._outputs[products]).tolist()}
        for values, side in ((self.rows, 0), (self.columns, 1)):
            known = {code: -1 if (value := size[side]) is None else value for code, size in sizes.items()}
            values[products] = _mapped(self._outputs[products], known)

    def embeds(self) -> Mask:
        """Which tasks look up words in the table of embeddings: that which is asked most, of several the largest."""
        places = np.flatnonzero(np.isin(self._role, [ROLES.index(role) for role in _EMBEDDED]))
        known = {code: embedding_of(self._input_words[code]) for code in distinct(self._inputs[places]).tolist()}
        words = _mapped(self._inputs[places], {code: -1 if one is None else one[0] for code, one in known.items()})
        # the tokens whose logits are wanted are picked out of as many as the products before had
        places = places[(words > 0) & (words != self._rows_before(places))]
        tables: Counter[tuple[int, int]] = Counter()
        for code, count in zip(*np.unique(self._inputs[places], return_counts=True), strict=True):
            if (table := known[int(code)]) is not None:
                tables[table] += int(count)
        found = np.zeros(len(self._role), dtype=bool)
        if tables:
            best = max(tables, key=lambda table: (tables[table], table))
            mine = [code for code, table in known.items() if table == best]
            found[places] = np.isin(self._inputs[places], mine)
        return found

    def _rows_before(self, places: Ints) -> Ints:
        """The rows of the last matrix product before each of some tasks; -1 where there is none."""
        products = np.flatnonzero(self.rows > 0)
        near = np.searchsorted(products, places) - 1
        rows: Ints = np.append(self.rows[products], -1)[near]
        return rows

    def first_sizes(self) -> Ints:
        """The first size of the query of each attention operator; -1 for others."""
        places = np.flatnonzero(np.isin(self._role, [ROLES.index(role) for role in ATTENTION]))
        found = np.full(len(self._role), -1, dtype=np.int64)
        sizes = {}
        for code in distinct(self._inputs[places]).tolist():
            text = (self._input_words[code] or "").strip('"').split(";")[0].split(",")[0]
            sizes[code] = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else -1  # noqa: PLR2004
        found[places] = _mapped(self._inputs[places], sizes)
        return found

    def queries(self, places: Ints, rows: int | None) -> list[tuple[str, Query, int]]:
        """(role, query, how many) of some attention operators."""
        found = Counter(zip(*(each[places].tolist() for each in (self._role, self._inputs, self._types)), strict=True))
        return [
            (ROLES[role], query_of(self._input_words[shape], self._type_words[kind], rows) if shape else NOTHING, count)
            for (role, shape, kind), count in sorted(found.items())
        ]


def _words(column: pa.ChunkedArray, order: Any) -> tuple[Ints, list[str | None]]:
    numbers, words = codes(column)
    return numbers[order], [None, *words]


def _mapped(numbers: Ints, values: Mapping[int, int]) -> Ints:
    keys = np.asarray(sorted(values), dtype=np.int64)
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    return np.asarray([values[key] for key in keys.tolist()], dtype=np.int64)[np.searchsorted(keys, numbers)]


def _in_time(tasks: Tasks, cuts: Ints, batches: Sequence[Batch]) -> list[Annotated]:
    """Batches by the first task that began after each had, and before the next one.

    Where starts are cut off to ms it is the first boundary that operators tell behind each, before it ends.
    """
    starts = np.asarray([batch.start_ns for batch in batches], dtype=np.int64)
    found = np.searchsorted(tasks.start, starts)
    if are_in_ms(batches):
        near = np.append(cuts, len(tasks.start))[np.searchsorted(cuts, found)]
        ends = np.asarray([batch.end_ns for batch in batches], dtype=np.int64)
        found = np.where(near < np.searchsorted(tasks.start, ends), near, found)
    places = found.tolist()
    behind = [*places, len(tasks.start)][1:]
    return [
        Annotated(start_ns=int(tasks.start[place]), cut_by="batches", batch=one, is_exact=True)
        for one, place, end in zip(batches, places, behind, strict=True)
        if place < end
    ]


def _agree(seen: Sequence[Seen], told: Sequence[Annotated | None]) -> bool:
    """Whether batches are decode where shapes say that, and only there: those of another time would not be."""
    by_shapes = [one.phase if one.told_by == "shapes" else None for one in judge_phases(seen, [None] * len(seen))]
    both = [
        (one.batch.phase == "decode") == (phase == "decode")
        for one, phase in zip(told, by_shapes, strict=True)
        if one is not None and one.batch is not None and one.batch.phase is not None and phase is not None
    ]
    return sum(both) >= _AGREE * len(both)


def _cuts(
    tasks: Tasks, marks: Marks, by_operators: tuple[Ints, Ints], annotated: Sequence[Annotated]
) -> tuple[Ints, Ints, CutBy, Sequence[Annotated | None]]:
    """(where iterations begin, where draft models' passes do, what tells it, the annotation of each)."""
    cuts, drafts = by_operators
    wanted = int((layers_of(tasks, cuts) > 0).sum())
    if not annotated:
        return cuts, drafts, "operators", [None] * len(cuts)
    told = sorted(annotated, key=lambda one: one.start_ns)
    places = np.searchsorted(tasks.start, [one.start_ns for one in told])
    exact = [
        _snapped(cuts, marks.attention, int(place))
        if one.cut_by == "batches"
        else int(place)
        if one.is_exact
        else _earlier(cuts, marks.attention, int(place))
        for one, place in zip(told, places, strict=True)
    ]
    firsts: dict[int, Annotated | None] = {}
    for place, one in zip(exact, told, strict=True):
        firsts.setdefault(place, one)
    if exact and (before := int(min(exact))) > 0 and (marks.attention < before).any():
        firsts.setdefault(int(cuts[0]) if cuts[0] < before else 0, None)
    by_annotation = np.asarray(sorted(firsts), dtype=np.int64)
    layers, by = layers_of(tasks, by_annotation), told[0].cut_by
    if (layers == usual_of(layers) if by == "batches" else layers > 0).sum() < _AGREE * wanted:
        return cuts, drafts, "operators", [None] * len(cuts)
    return by_annotation, drafts, by, [firsts[place] for place in by_annotation.tolist()]


def _snapped(cuts: Ints, attention: Ints, place: int) -> int:
    """The boundary that operators tell between the same two attention operators as a place: the clock of a host, written in ms, is not exact."""
    behind = int(np.searchsorted(attention, place))
    lower = int(attention[behind - 1]) if behind > 0 else -1
    upper = int(attention[behind]) if behind < len(attention) else place
    between = cuts[(cuts > lower) & (cuts <= upper)]
    return int(between[0]) if len(between) else place


def _earlier(cuts: Ints, attention: Ints, place: int) -> int:
    """Where an iteration begins whose model begins at a place: its inputs are prepared before, as the operators tell."""
    near = int(np.searchsorted(cuts, place, side="right")) - 1
    begin = int(cuts[near]) if near >= 0 else place
    first, last = np.searchsorted(attention, [begin, place])
    return begin if first == last else place


def _bounds(cuts: Ints, drafts: Ints, count: int) -> list[tuple[int, int, int]]:
    """(first task, end, where the model's own pass ends) of each iteration."""
    ends = np.append(cuts[1:], count)
    near = np.append(drafts, count)[np.searchsorted(drafts, cuts)]
    return [*zip(cuts.tolist(), ends.tolist(), np.minimum(near, ends).tolist(), strict=True)]


def _sampling_in_layers(tasks: Tasks, marks: Marks) -> set[int]:
    """The words of sampling that are found between the layers, where they route tokens to experts."""
    sampling = np.flatnonzero(tasks.of("sampling"))
    kept = set(distinct(tasks.word[np.intersect1d(sampling, marks.tails)]).tolist())
    return set(distinct(tasks.word[sampling]).tolist()) - kept


def _parts_of(role: Ints, word: Ints, talks: Mask, routing: set[int]) -> Ints:
    part = np.asarray([PARTS.index(part_of(one)) for one in ROLES])[role]
    beside = "moe" if (role == ROLES.index("moe")).any() else "other"
    part = np.where((role == ROLES.index("sampling")) & np.isin(word, [*routing]), PARTS.index(beside), part)
    return np.where(talks, PARTS.index("communication"), part)


def _seen(tasks: Tasks, shapes: _Shapes, bounds: Sequence[tuple[int, int, int]]) -> list[Seen]:
    """What each iteration shows; of what a draft model does only how many tasks that is."""
    first, end, own = (np.asarray(some, dtype=np.int64) for some in zip(*bounds, strict=True))
    attention = _Inside(np.flatnonzero(tasks.of(*ATTENTION)), first, own)
    told, wide = (_Inside(np.flatnonzero(some > 0), first, own) for some in (shapes.rows, shapes.columns))
    layers = np.max([_Inside(np.flatnonzero(tasks.of(role)), first, own).count for role in ATTENTION], axis=0)
    samples, writes = (_Inside(np.flatnonzero(tasks.of(role)), first, own).count for role in ("sampling", "kv-cache"))
    found = []
    for place, count in enumerate((end - first).tolist()):
        known = shapes.rows[told[place]].tolist()
        most = Counter(known).most_common(1)[0][0] if known else None
        found.append(
            Seen(
                layers=int(layers[place]),
                tasks=count,
                rows=most,
                queries=shapes.queries(attention[place], most) if attention.count[place] else [],
                logits=_logits(shapes.columns[wide[place]], shapes.rows[wide[place]]),
                has_sampling=bool(samples[place]),
                writes_cache=bool(writes[place]),
            )
        )
    return found


class _Inside:
    """Places of some tasks, which are in order, by the ranges that they are in."""

    def __init__(self, places: Ints, first: Ints, end: Ints) -> None:
        self._places = places
        self._from, self._to = np.searchsorted(places, first), np.searchsorted(places, end)
        self.count: Ints = self._to - self._from
        """How many each range has."""

    def __getitem__(self, number: int) -> Ints:
        return self._places[self._from[number] : self._to[number]]


def _logits(columns: Ints, rows: Ints) -> int | None:
    """The rows of the last of the products of a pass, where it is the only one as wide."""
    if len(columns) < 2 or int((columns == columns[-1]).sum()) != 1:  # noqa: PLR2004
        return None
    return int(rows[-1])


def _times(start: Ints, end: Ints, part: Ints, talks: Mask) -> dict[Part, Intervals]:
    """When each part runs, every moment in one part: of overlapping tasks the first, of communication only what nothing hides."""
    found: dict[Part, Intervals] = {}
    computes = np.flatnonzero(~talks)
    order = computes[_order_in_time(start[computes], end[computes])]
    reach = np.maximum.accumulate(end[order]) if len(order) else end[order]
    begin = np.maximum(start[order], np.concatenate([start[order][:1], reach[:-1]]))
    longer = end[order] > begin
    begin, finish, mine = begin[longer], end[order][longer], part[order][longer]
    for number, name in enumerate(PARTS):
        chosen = mine == number
        if chosen.any():
            found[name] = Intervals(begin[chosen], finish[chosen])
    if talks.any():
        hidden = union(start[order], end[order])
        rest = without(union(start[talks], end[talks]), hidden)
        beside = found.get("communication")
        found["communication"] = rest if beside is None else united(rest, beside)
    return found


def _iterations(
    tasks: Tasks,
    seen: Sequence[Seen],
    found: tuple[Ints, CutBy, Sequence[Annotated | None]],
    times: Mapping[Part, Intervals],
) -> list[Iteration]:
    cuts, cut_by, told = found
    begin = int(tasks.start[cuts[0]])
    if cuts[0] > 0:
        begin = max(begin, int(tasks.reach[cuts[0] - 1]))
    bounds = np.concatenate([[begin], tasks.reach[cuts[1:] - 1], tasks.reach[-1:]])
    bounds = np.maximum.accumulate(bounds)
    spent = {name: covered_each(intervals, bounds[:-1], bounds[1:]) for name, intervals in times.items()}
    whole: Ints = np.diff(bounds)
    spent["idle"] = whole - sum(spent.values())
    phases = judge_phases(seen, told)
    usual = usual_of(np.asarray([one.layers for one in seen]))
    samples = sum(one.has_sampling for one in seen) * 2 > len(seen)
    iterations = []
    for number, (one, judged) in enumerate(zip(seen, phases, strict=True)):
        is_last = number == len(seen) - 1
        cut_off = (one.layers < usual and (number == 0 or is_last)) or (is_last and samples and not one.has_sampling)
        iterations.append(
            replace(
                judged,
                number=number,
                start_ns=int(bounds[number]),
                duration_ns=int(bounds[number + 1] - bounds[number]),
                cut_by=cut_by,
                is_whole=not cut_off,
                layers=one.layers,
                tasks=one.tasks,
                parts={part: int(spent[part][number]) for part in PARTS if part in spent and spent[part][number]},
            )
        )
    return iterations


def iterations_of_batches(lane: Lane) -> list[Iteration]:
    """The batches that a card ran as iterations, of which no tasks are known; each begins when the one before has ended."""
    iterations: list[Iteration] = []
    end = lane.batches[0].start_ns if lane.batches else 0
    for number, batch in enumerate(lane.batches):
        begin, end = end, max(end, batch.end_ns)
        idle = max(batch.start_ns - begin, 0)
        parts = {"idle": idle} if idle else {}
        judged = judge_batch(batch)
        iterations.append(
            replace(judged, number=number, start_ns=begin, duration_ns=end - begin, cut_by="batches", parts=parts)
        )
    return iterations
