"""Where the iterations of a server begin, by the sequence of its operators: what comes once between the layers of two of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from aoe_reports.model.arrays.columns import Floats, Ints, Mask, distinct
from aoe_reports.topics.serving.roles import ATTENTION, ROLES, Role

IN_LAYERS = 0.34
"""An operator that is found between more of the pairs of neighbouring attention operators is one of the layers."""
_ENOUGH = 2.0
"""What all that speaks for a boundary has to weigh."""
_WEIGHTS: dict[Role, float] = {"embedding": 2.0, "sampling": 2.0, "receive": 2.0, "gather": 1.0}
_EMBEDS, _LOGITS, _OTHER_ROWS = 3.0, 1.0, 1.0
_SMALL = 0.35
"""A pass with at most such a share of the usual products is that of a draft model, where such passes are usual."""
_FEW = 8
_ABOUT = 0.5
_SEVERAL_TIMES = 1.8


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of a device in the order of their starts."""

    start: Ints
    reach: Ints
    """When the last of those up to each ended."""
    role: Ints
    """The number of each one's role."""
    word: Ints
    """The number of each one's type or name."""
    embeds: Mask
    """Which look up words in the table of embeddings, by their shapes."""
    columns: Ints
    """The columns of what a matrix product writes; -1 for others, and where they are not told."""
    tokens: Ints
    """The first size of the query of an attention operator; -1 for others, and where it is not told."""

    @property
    def idle(self) -> Ints:
        """For how long nothing had run before each."""
        before = np.concatenate([self.start[:1], self.reach[:-1]])
        found: Ints = np.maximum(self.start - before, 0)
        return found

    def of(self, *roles: Role) -> Mask:
        """Which have one of some roles."""
        wanted = np.asarray([role in roles for role in ROLES])
        found: Mask = wanted[self.role]
        return found


@dataclass(frozen=True, slots=True)
class Marks:
    """What comes between the layers of two iterations."""

    attention: Ints
    """The places of attention operators."""
    weight: Floats
    """What speaks for a boundary behind each of them but the last."""
    tails: Ints
    """The places of what ends an iteration: the product that makes the logits, and sampling."""
    heads: Ints
    """The places of what begins one: the look-up of embeddings, or in later stages of a pipeline what is received."""


def marks_of(tasks: Tasks) -> Marks | None:
    """What comes between the layers of two iterations; null where there is no attention."""
    attends = tasks.of(*ATTENTION)
    attention = np.flatnonzero(attends)
    if not len(attention):
        return None
    segment = np.cumsum(attends) - 1
    weight = np.zeros(max(len(attention) - 1, 0))
    tails, heads = [], []
    embeds = np.flatnonzero(tasks.embeds)
    has_layers = _is_between(segment[embeds], len(weight))
    for role, worth in _WEIGHTS.items():
        places = np.flatnonzero(tasks.of(role) & ~tasks.embeds)
        if has_layers or role != "sampling":
            places = _once(tasks, places, segment, len(weight))
        _weigh(weight, segment[places], worth)
        if role == "sampling":
            tails.append(places)
        elif role in {"embedding", "receive"} and not tasks.embeds.any():
            heads.append(places)
    _weigh(weight, segment[embeds], _EMBEDS)
    heads.append(embeds)
    logits = _logits(tasks, segment, len(weight))
    _weigh(weight, segment[logits], _LOGITS)
    tails.append(logits)
    _weigh(weight, _other_rows(tasks, attention), _OTHER_ROWS if weight.any() else _ENOUGH)
    return Marks(attention, weight, distinct(np.concatenate(tails)), distinct(np.concatenate(heads)))


def _weigh(weight: Floats, segments: Ints, worth: float) -> None:
    found = distinct(segments)
    weight[found[(found >= 0) & (found < len(weight))]] += worth


def _once(tasks: Tasks, places: Ints, segment: Ints, segments: int) -> Ints:
    """Those of some tasks whose types are not found in the layers."""
    kept = []
    for word in distinct(tasks.word[places]).tolist():
        mine = places[tasks.word[places] == word]
        if _is_between(segment[mine], segments):
            kept.append(mine)
    return np.sort(np.concatenate(kept)) if kept else places[:0]


def _is_between(segments: Ints, count: int) -> bool:
    """Whether what is found in some segments is found in few of all."""
    found = distinct(segments)
    inside = int(((found >= 0) & (found < count)).sum())
    return count < _FEW or inside <= IN_LAYERS * count


def _logits(tasks: Tasks, segment: Ints, segments: int) -> Ints:
    """The product that makes the logits: the widest of those that are not of the layers."""
    for columns in distinct(tasks.columns[tasks.columns > 0])[::-1].tolist():
        mine = np.flatnonzero(tasks.columns == columns)
        if _is_between(segment[mine], segments):
            return mine
    return np.zeros(0, dtype=np.int64)


def _other_rows(tasks: Tasks, attention: Ints) -> Ints:
    """The segments between attention operators of one role that work on other numbers of tokens, where these are few."""
    tokens, role = tasks.tokens[attention], tasks.role[attention]
    differ = (tokens[1:] != tokens[:-1]) & (tokens[1:] >= 0) & (tokens[:-1] >= 0) & (role[1:] == role[:-1])
    found = np.flatnonzero(differ)
    return found if len(found) <= IN_LAYERS * max(len(attention) - 1, 0) else found[:0]


def cut(tasks: Tasks, marks: Marks) -> tuple[Ints, Ints]:
    """(the place at which each iteration begins, in order; of each whether a draft model's pass begins there, too: never the first)."""
    places = {*_at_heads(tasks, marks), *_at_boundaries(tasks, marks)}
    first = int(marks.attention[0])
    if not any(place <= first for place in places):
        places.add(0)
    found = np.asarray(sorted(places), dtype=np.int64)
    found = _split(tasks, marks, found)
    return _without_drafts(tasks, found)


def _at_heads(tasks: Tasks, marks: Marks) -> list[int]:
    """A place before each look-up of embeddings."""
    idle, samples = tasks.idle, tasks.of("sampling")
    lower = np.max([_last_before(some, marks.heads) for some in (marks.tails, marks.attention, marks.heads)], axis=0)
    behind = marks.heads - lower
    usual = int(behind[(lower >= 0) & samples[lower]].max(initial=0))
    lower = np.where((lower < 0) & (usual > 0), np.maximum(marks.heads - usual - 1, -1), lower)
    places = zip(lower.tolist(), marks.heads.tolist(), strict=True)
    return [0 if before < 0 < usual else _begin(idle, samples, before, place) for before, place in places]


def _last_before(some: Ints, places: Ints) -> Ints:
    """The last task of some before each place: all of them are surely of an earlier iteration; -1 for none."""
    found: Ints = np.concatenate([[-1], some])[np.searchsorted(some, places)]
    return found


def _begin(idle: Ints, samples: Mask, lower: int, upper: int) -> int:
    """Where an iteration begins of which `upper` is a task and `lower` is none: behind sampling, else behind the longest pause."""
    if lower >= 0 and samples[lower]:
        return lower + 1
    pauses = idle[lower + 1 : upper + 1]
    if not len(pauses):
        return upper
    longest = int(pauses.argmax())
    return upper if pauses[longest] == 0 else lower + 1 + longest


def _at_boundaries(tasks: Tasks, marks: Marks) -> list[int]:
    """A place in each boundary without a look-up of embeddings."""
    found, idle, samples, attention = [], tasks.idle, tasks.of("sampling"), marks.attention
    for segment in np.flatnonzero(marks.weight >= _ENOUGH).tolist():
        start, end = int(attention[segment]), int(attention[segment + 1])
        if _any_between(marks.heads, start, end):
            continue
        near = int(np.searchsorted(marks.tails, end)) - 1
        lower = max(start, int(marks.tails[near])) if near >= 0 else start
        found.append(_begin(idle, samples, lower, end))
    return found


def _any_between(places: Ints, start: int, end: int) -> bool:
    return bool(np.searchsorted(places, end) > np.searchsorted(places, start))


def layers_of(tasks: Tasks, cuts: Ints) -> Ints:
    """How many layers each iteration has: the attention operators of the role that has most."""
    bounds = np.append(cuts, len(tasks.start))
    counts = [_counts(tasks.of(role), bounds) for role in ATTENTION]
    return np.asarray(np.max(counts, axis=0))


def _counts(mask: Mask, bounds: Ints) -> Ints:
    return np.diff(np.searchsorted(np.flatnonzero(mask), bounds))


def usual_of(counts: Ints) -> int:
    """The count that makes up most of the sum of all: passes of draft models, which are small, may be more."""
    known = Counter(counts[counts > 0].tolist())
    return max(known, key=lambda count: (known[count] * count, count)) if known else 0


def _split(tasks: Tasks, marks: Marks, cuts: Ints) -> Ints:
    """Iterations with a multiple of the usual layers, cut where the pause, or what speaks for a boundary, is longest."""
    layers = layers_of(tasks, cuts)
    usual = usual_of(layers)
    places, idle, samples = [cuts], tasks.idle, tasks.of("sampling")
    bounds = np.append(cuts, len(tasks.start))
    products = _counts(tasks.of("products", "moe"), bounds)
    each = float(np.median(products[layers == usual]))
    for number in np.flatnonzero(layers >= _SEVERAL_TIMES * max(usual, 1)).tolist():
        times = round(int(layers[number]) / usual)
        if usual < 2 or int(layers[number]) != times * usual or _is_few(layers, usual):  # noqa: PLR2004
            continue
        if products[number] < (times - _ABOUT) * each:
            continue  # several attention operators in each layer
        inside = marks.attention[(marks.attention >= bounds[number]) & (marks.attention < bounds[number + 1])]
        step = len(inside) // times
        ends = [(int(inside[turn * step - 1]), int(inside[turn * step])) for turn in range(1, times)]
        places.append(np.asarray([_begin(idle, samples, start, end) for start, end in ends], dtype=np.int64))
    return distinct(np.concatenate(places))


def _is_few(layers: Ints, usual: int) -> bool:
    """Whether too few iterations have the usual number of layers to go by it."""
    return int((layers == usual).sum()) * 2 <= int((layers > 0).sum())


def _without_drafts(tasks: Tasks, cuts: Ints) -> tuple[Ints, Ints]:
    """(where iterations begin, where the passes of draft models do that are parts of them)."""
    bounds = np.append(cuts, len(tasks.start))
    products, layers = _counts(tasks.of("products", "moe"), bounds), layers_of(tasks, cuts)
    whole = products[layers == usual_of(layers)]
    usual = float(np.median(whole)) if len(whole) else 0.0
    small = (products <= _SMALL * usual) & (layers <= max(1, usual_of(layers) // 4))
    small[:1] = False
    behind = ~small[:-1] & small[1:]
    habit = int(behind.sum()) * 3 >= int((~small).sum())
    drafts = small if habit else small & False
    drafts |= small & (layers == 0) & (products == 0)
    return cuts[~drafts], cuts[drafts]
