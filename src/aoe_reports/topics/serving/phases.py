"""Whether an iteration of a server is prefill or decode, and of how many sequences and tokens, by annotations, shapes and types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from aoe_reports.model.groupings import Phase
from aoe_reports.model.topics.serving import Iteration
from aoe_reports.topics.serving.batches import Batch
from aoe_reports.topics.serving.shapes import Query

_BOTH = 0.3
"""Attention of prefill and of decode in at least such a share of the layers: the iteration is mixed."""
_MAX_DRAFTED = 16
"""No sequence verifies more tokens at once."""
_FULL = 0.9
"""A prefill of at least such a share of the most tokens may have cut a prompt."""

_STAYS = 2
"""An iteration with less than one in so many of the running sequences goes on with none of them: they do not all end at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """What an annotation, or a batch of the service, says of one iteration."""

    start_ns: int
    """When the first task that it launched began."""
    cut_by: Literal["annotations", "batches"] = "annotations"
    phase: Phase | None = None
    prompts: int | None = None
    prompt_tokens: int | None = None
    decoding: int | None = None
    decoded_tokens: int | None = None
    batch: Batch | None = None
    """The batch that ran then, where the service tells it: what the annotation does not say is told by it."""
    is_exact: bool = False
    """Whether it begins with the inputs' preparation, and not only with the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one iteration shows."""

    layers: int
    tasks: int
    rows: int | None
    """The rows of most matrix products."""
    queries: Sequence[tuple[str, Query, int]]
    """(role, query, how many) of its attention operators."""
    logits: int | None
    """The rows of the product that makes the logits."""
    has_sampling: bool
    writes_cache: bool = True


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The tokens, sequences and logits of one iteration; null where they are not told."""

    tokens: int | None
    sequences: int | None
    logits: int | None
    cached: bool
    context: int | None

    @property
    def each(self) -> int | None:
        """New tokens of each sequence, where they divide evenly."""
        if not self.tokens or not self.sequences or self.tokens % self.sequences:
            return None
        return self.tokens // self.sequences


def judge_phases(seen: Sequence[Seen], annotated: Sequence[Annotated | None]) -> list[Iteration]:
    """What each of some iterations, one behind the other, is."""
    seen = _without_encoders(seen)
    sizes = [_sizes(one) for one in seen]
    drafted = _drafted(sizes)
    most = max((size.tokens or 0 for one, size in zip(seen, sizes, strict=True) if one.layers), default=0)
    shaped = any(_has_shapes(one) for one in seen)
    judged: list[Iteration] = []
    running = 0
    for one, size, told in zip(seen, sizes, annotated, strict=True):
        found = _iteration_of(told, size) if told is not None else None
        if found is None:
            found = _judge(one, size, drafted, running)
            if found.phase == "unknown" and shaped and not _has_shapes(one):
                found = _judged("decode", "graph replay", replace(size, sequences=None, tokens=None))
        if told is not None and told.batch is not None:
            found = _with_lengths(found, told.batch)
        judged.append(_with_sources(found))
        running = _running(found, size, most, running)
    return judged


def _has_shapes(one: Seen) -> bool:
    return any(query.tokens is not None for _, query, _ in one.queries)


def _without_encoders(seen: Sequence[Seen]) -> list[Seen]:
    """Passes of encoders, of images for example, as ones without attention: they write no cache while others do, and make no logits."""
    attending = [one for one in seen if one.layers]
    if sum(one.writes_cache for one in attending) * 2 <= len(attending):
        return [*seen]
    return [
        replace(one, layers=0, queries=[])
        if not (one.writes_cache or one.has_sampling or one.logits is not None)
        else one
        for one in seen
    ]


def _sizes(one: Seen) -> _Sizes:
    """The tokens and sequences of the attention operators; of several in a layer their sums."""
    by_query: Counter[Query] = Counter()
    for _, query, count in one.queries:
        by_query[query] += count
    usual = [query for query, count in by_query.items() if count >= _BOTH * one.layers]
    tokens = [query.tokens for query in usual]
    sequences = [query.sequences for query in usual]
    contexts = [query.context for query in usual if query.context]
    logits = one.logits
    known = sum(filter(None, tokens)) if tokens and None not in tokens else one.rows
    return _Sizes(
        tokens=known,
        sequences=sum(filter(None, sequences)) if sequences and None not in sequences else None,
        logits=logits if logits is not None and (known is None or logits <= known) else None,
        cached=any(query.cached for query in usual),
        context=max(contexts, default=None),
    )


def _drafted(sizes: Sequence[_Sizes]) -> int | None:
    """How many tokens of each sequence are verified at once, where that is a habit."""
    found = Counter(size.each for size in sizes if size.cached and size.each is not None and size.each <= _MAX_DRAFTED)
    ratio, count = found.most_common(1)[0] if found else (1, 0)
    return (
        ratio if ratio is not None and ratio > 1 and count * 2 > len([size for size in sizes if size.tokens]) else None
    )


def _iteration_of(annotated: Annotated, size: _Sizes) -> Iteration | None:
    """What an annotation says an iteration is, else the batch of the service; null where neither does."""
    batch = annotated.batch
    if annotated.phase is None:
        if batch is None or batch.phase is None:
            return None
        annotated = replace(_of_batch(batch), start_ns=annotated.start_ns)
        return _of_annotation(annotated, size, "batches")
    found = _of_annotation(annotated, size, "annotations")
    if found.tokens_by is None and batch is not None and batch.prompt_tokens is not None:
        of_batch = _of_annotation(_of_batch(batch), size, "batches")
        found = replace(found, tokens=of_batch.tokens, prompt_tokens=of_batch.prompt_tokens, tokens_by="batches")
    return found


def _of_batch(batch: Batch) -> Annotated:
    return Annotated(
        start_ns=batch.start_ns,
        phase=batch.phase,
        prompts=batch.prompts,
        prompt_tokens=batch.prompt_tokens,
        decoding=batch.decoding,
        decoded_tokens=batch.decoded_tokens,
    )


def judge_batch(batch: Batch) -> Iteration:
    """What a batch is by what the service tells of it alone."""
    phase = batch.phase or "unknown"
    found = _of_annotation(_of_batch(replace(batch, phase=phase)), _Sizes(None, None, None, False, None), "batches")
    found = replace(found, told_by="batches" if batch.phase else None)
    if found.sequences is None and batch.sequences is not None:
        found = replace(found, sequences=batch.sequences, sequences_by="batches")
    return _with_lengths(found, batch)


def _with_lengths(iteration: Iteration, batch: Batch) -> Iteration:
    return replace(iteration, longest_sequence=batch.longest, length=batch.sequence_length, lengths_by=batch.lengths_by)


def _with_sources(iteration: Iteration) -> Iteration:
    """What no annotation and no batch tells is told by shapes."""
    return replace(
        iteration,
        sequences_by=iteration.sequences_by or (None if iteration.sequences is None else "shapes"),
        tokens_by=iteration.tokens_by or (None if iteration.tokens is None else "shapes"),
    )


def _of_annotation(annotated: Annotated, size: _Sizes, by: Literal["annotations", "batches"]) -> Iteration:
    prompts, decoding = annotated.prompts, annotated.decoding
    both = prompts is not None and decoding is not None
    tokens = None
    if annotated.prompt_tokens is not None and annotated.decoded_tokens is not None:
        tokens = annotated.prompt_tokens + annotated.decoded_tokens
    drafted = None
    if annotated.phase == "decode" and annotated.decoded_tokens and decoding and annotated.decoded_tokens > decoding:
        drafted = annotated.decoded_tokens // decoding
    sequences = (prompts or 0) + (decoding or 0) if both else decoding if annotated.phase == "decode" else prompts
    return Iteration(
        phase=annotated.phase or "unknown",
        told_by=by,
        sequences=sequences or size.sequences,
        sequences_by=by if sequences else None,
        tokens_by=None if tokens is None else by,
        tokens=size.tokens if tokens is None else tokens,
        prompt_tokens=annotated.prompt_tokens if annotated.phase != "decode" else None,
        drafted=drafted,
        context_at_most=size.context,
    )


def _judge(one: Seen, size: _Sizes, drafted: int | None, running: int) -> Iteration:
    if not one.layers:
        return Iteration(phase="other", tokens=size.tokens)
    counts: Counter[str] = Counter()
    for role, _, count in one.queries:
        counts[role] += count
    prefills, decodes = (counts[role] >= _BOTH * one.layers for role in ("prefill attention", "decode attention"))
    if prefills and decodes:
        return _judged("mixed", "operator types", size)
    if size.tokens is not None and (iteration := _by_shapes(size, drafted, running, prefills=prefills)) is not None:
        return iteration
    if (prefills or decodes) and counts["attention"] < _BOTH * one.layers:
        return _judged("prefill" if prefills else "decode", "operator types", size)
    return Iteration(phase="unknown", tokens=size.tokens, sequences=size.sequences, context_at_most=size.context)


def _judged(phase: Phase, told_by: str, size: _Sizes, drafted: int | None = None) -> Iteration:
    sequences = size.sequences if size.sequences is not None else size.logits
    tokens = size.tokens
    if (
        phase == "decode"
        and size.logits is not None
        and sequences is not None
        and drafted is None
        and tokens is not None
    ):
        sequences, tokens = min(sequences, size.logits), min(tokens, size.logits)  # graphs are padded
    return Iteration(
        phase=phase,
        told_by=told_by,
        sequences=sequences,
        tokens=tokens,
        prompt_tokens=tokens if phase == "prefill" else None,
        drafted=drafted,
        context_at_most=size.context,
    )


def _by_shapes(size: _Sizes, drafted: int | None, running: int, *, prefills: bool) -> Iteration | None:
    """By the number of new tokens against that of sequences: one each is decode."""
    tokens, sequences, logits = size.tokens, size.sequences, size.logits
    several = sequences if sequences is not None else logits
    if tokens is None or several is None:
        return None
    if tokens <= several:
        return _judged("decode", "shapes", size)
    if prefills and not size.cached:
        return _judged("prefill", "shapes", size)
    if (each := _verified(size, drafted)) is not None:
        return _judged("decode", "shapes", size, drafted=each)
    verifies = sequences is not None and logits is not None and logits > sequences
    goes_on = running > 0 and several * _STAYS >= running
    is_mixed = size.cached and several > 1 and (verifies or goes_on)
    return _judged("mixed" if is_mixed else "prefill", "shapes", size)


def _verified(size: _Sizes, drafted: int | None) -> int | None:
    """How many tokens of each sequence are verified: logits are made of all of them; null where they are those of prompts."""
    each = size.each
    if each is None or each > _MAX_DRAFTED:
        return None
    by_habit = each == drafted and size.logits is None
    return each if size.logits == size.tokens or by_habit else None


def _running(iteration: Iteration, size: _Sizes, most: int, running: int) -> int:
    """How many sequences have their prompt behind them: those of the iteration, but for one whose prompt may be cut; a prefill stops others."""
    if iteration.phase == "other" or iteration.sequences is None:
        return running
    is_full = size.tokens is not None and size.tokens >= _FULL * most and iteration.phase != "decode"
    waiting = running if iteration.phase == "prefill" else 0
    return waiting + iteration.sequences - is_full
