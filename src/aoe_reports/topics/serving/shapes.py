"""What shapes of operators tell of an iteration of a server: new tokens, sequences, rows of the last product, the embedding."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

Shape = tuple[int, ...]
_WHOLE = ("INT64", "INT32", "DT_INT64", "DT_INT32")
_MAX_HEAD = 576
"""No head of attention is wider: DeepSeek's, which holds the rotated part, too."""
_BLOCKS = frozenset({16, 32, 64, 128, 256, 512})
"""How many tokens a block of the KV cache holds."""
_MIN_WORDS, _MIN_HIDDEN = 1000, 256
_FLAT, _HEADS, _BATCHED = 2, 3, 4
"""Dimensions of a query: [tokens, hidden], [tokens, heads, head] or [sequences, length, hidden], and with both."""
_MAX_ROWS = 1 << 31
_MAX_SHAPES = 64
"""So many inputs are looked at."""


class Query(NamedTuple):
    """What one attention operator works on; null where its shapes do not tell."""

    tokens: int | None
    """New tokens of all sequences; of a padded query with the padding."""
    sequences: int | None
    cached: bool
    """Whether keys and values come from a cache in blocks."""
    context: int | None
    """How many tokens of a sequence there can be at most, by the table of blocks."""


NOTHING = Query(None, None, cached=False, context=None)


@lru_cache(maxsize=1 << 14)
def shapes_of(text: str | None) -> tuple[Shape, ...]:
    """The shapes of a cell (`8,16,128;64,128,8,128`); what is none is ()."""
    if not text:
        return ()
    return tuple(map(_shape, text.strip('"').split(";")[:_MAX_SHAPES]))


def _shape(text: str) -> Shape:
    try:
        sizes = tuple(map(int, text.split(","))) if text else ()
    except ValueError:
        return ()
    return sizes if all(0 < size < 1 << 31 for size in sizes) else ()


@lru_cache(maxsize=1 << 14)
def query_of(shapes: str | None, types: str | None, rows: int | None) -> Query:
    """What an attention operator works on; `rows` are those of the products of the same iteration, which tell batched layouts apart."""
    told = shapes_of(shapes)
    if not told or not told[0]:
        return NOTHING
    names = (types or "").strip('"').split(";")
    query, whole = (
        told[0],
        [shape for shape, name in zip(told, names, strict=False) if shape and name.upper() in _WHOLE],
    )
    key = told[1] if len(told) > 1 else ()
    tables = [one for one in whole if len(one) == 2]  # noqa: PLR2004 -- [sequences, blocks]
    lengths = [one[0] for one in whole if len(one) == 1]
    cached = bool(tables) or (len(key) >= _HEADS and key[0] != query[0] and bool({*key[1:3]} & _BLOCKS))
    sequences = tables[0][0] if tables else max(lengths, default=None)
    tokens = _tokens_of(query, sequences, rows)
    if len(query) == _BATCHED or (len(query) == _HEADS and query[-1] > _MAX_HEAD):
        sequences = query[0]
    context = tables[0][1] * key[1] if tables and len(key) >= _HEADS and key[1] in _BLOCKS else None
    return Query(tokens, sequences, cached, context)


def _tokens_of(query: Shape, sequences: int | None, rows: int | None) -> int | None:
    match len(query):
        case 2:
            return query[0]
        case 3:
            if query[-1] <= _MAX_HEAD and not (query[1] == 1 and query[0] == sequences):
                return query[0]
            return query[0] * query[1]
        case 4:
            either = query[0] * query[1], query[0] * query[2]
            if rows in either:
                return rows
            return query[0] if 1 in query[1:3] else None
    return None


@lru_cache(maxsize=1 << 14)
def product_of(outputs: str | None) -> tuple[int | None, int | None]:
    """(rows, columns) of what a matrix product writes."""
    shapes = shapes_of(outputs)
    if not shapes or len(shapes[0]) < _FLAT:
        return None, None
    *rows, columns = shapes[0]
    count = 1
    for size in rows:
        count *= size
    return (count, columns) if count < _MAX_ROWS else (None, None)


@lru_cache(maxsize=1 << 14)
def embedding_of(inputs: str | None) -> tuple[int, int] | None:
    """(words, hidden size) of what may be a table of embeddings; null for other gathers."""
    shapes = shapes_of(inputs)
    if not shapes or len(shapes[0]) != _FLAT:
        return None
    words, hidden = shapes[0]
    return (words, hidden) if words >= _MIN_WORDS and hidden >= _MIN_HIDDEN and words > hidden // 2 else None
