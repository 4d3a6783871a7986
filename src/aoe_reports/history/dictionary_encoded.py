"""Millions of stored records as one frame in little memory: every text is a number, and the words stand once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from aoe_reports.store import History, Where
from aoe_reports.store.layout import ROWS


def read_coded(history: History, columns: Sequence[str], where: Where = ()) -> pl.DataFrame:
    """Records whose texts are enumerations in the order of their words, so that they sort and compare as texts do."""
    tables = list(history.coded_rows("record", columns, where))
    if not tables:
        return pl.DataFrame(pa.schema([ROWS.field(name) for name in columns]).empty_table())
    whole = pa.concat_tables(tables).unify_dictionaries()
    del tables
    found = []
    for name in columns:  # a column at a time: the chunks of one are all that is there twice
        column = whole[name].combine_chunks()
        whole = whole.drop_columns([name])
        found.append(_enumerated(name, column) if pa.types.is_dictionary(column.type) else pl.Series(name, column))
    return pl.DataFrame(found)


def _enumerated(name: str, column: Any) -> pl.Series:
    """A column of dictionary codes as an enumeration; one without any word as texts that are all null."""
    words = column.dictionary.to_pylist()
    if not words:
        return pl.repeat(None, len(column), dtype=pl.String, eager=True).alias(name)
    places = {word: place for place, word in enumerate(sorted(set(words)))}
    order = pl.Series(np.array([places[word] for word in words], dtype=np.uint32))
    return order.gather(pl.Series(column.indices)).alias(name).cat.to(pl.Enum(list(places)))
