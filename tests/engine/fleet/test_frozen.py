"""What is kept as JSON comes back as it was, and nothing else does."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.engine.fleet.frozen import freeze, thaw
from aoe_reports.engine.question import Notes, Unit
from aoe_reports.formats.capture import Capture, CaptureInfo
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import in_language, say
from aoe_reports.topics.device_time.hotspots import HotspotOptions

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
keys = st.one_of(st.none(), st.booleans(), st.integers(), words, st.tuples(st.integers(), words))
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    words,
    st.just("$"),
    words.filter(lambda word: "\0" not in word).map(Path),
    st.decimals(allow_nan=False),
    st.frozensets(st.integers()),
    st.sets(words),
    words.map(lambda word: Finding("info", "rule", word, "m", line=3)),
)
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(words, inner, max_size=4),
        st.dictionaries(keys, inner, max_size=4),
        inner.map(lambda one: {"$": one}),
    ),
    max_leaves=12,
)


@given(values)
def test_data_comes_back_as_it_was(value: Any) -> None:
    text = freeze(value)
    back = thaw(text)
    assert repr(back) == repr(value) or back == value
    assert type(back) is type(value) or isinstance(value, Path)
    assert freeze(back) == text


@given(st.dictionaries(words, st.integers()), st.frozensets(words))
def test_sets_have_no_order_and_objects_keep_theirs(members: dict[str, int], some: frozenset[str]) -> None:
    assert freeze([members, frozenset(sorted(some, reverse=True))]) == freeze([members, some])
    assert list(thaw(freeze(members))) == list(members)


def test_a_text_can_still_be_said_in_another_language() -> None:
    text = say("and {count:,} more of this rule, not listed here", count=3)
    back = thaw(freeze([text]))[0]
    assert (back, back.template, dict(back.values)) == (text, text.template, {"count": 3})
    assert in_language(back, "zh") == in_language(text, "zh")


def test_units_notes_and_options_come_back() -> None:
    capture = Capture(Path("/a"), (), (), CaptureInfo(rank_id=3, ranks={0: 3, 1: 4}, hardware={"a": 1}))
    for value in (
        Unit(capture=capture, run="r", number=2),
        HotspotOptions(top=3, cache=Path("c")),
        Notes([Finding("error", "r", "p", say("odd"))], unreadable=True),
    ):
        assert thaw(freeze(value)) == value


@pytest.mark.parametrize("type_name", ["<i8", "<f8", "|b1", "<U3"])
def test_arrays_and_tables_come_back_to_the_bit(type_name: str) -> None:
    array = np.arange(6).astype(type_name).reshape(2, 3)
    back = thaw(freeze(array))
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    back[0, 0] = back[1, 1]  # it may be written to
    table = pa.table({"a": [1, None], "b": ["x", None]})
    assert thaw(freeze(table)).equals(table)
    assert thaw(freeze([np.int64(7), np.float64(0.1)])) == [7, 0.1]


@pytest.mark.parametrize("value", [print, object(), {1: print}, np.array([object()]), range(3), Exception("e")])
def test_what_is_no_data_is_not_kept(value: Any) -> None:
    with pytest.raises(TypeError, match="no data that can be kept"):
        freeze(value)


@pytest.mark.parametrize(
    "kind",
    [
        "os:system", "subprocess:Popen", "builtins:eval", "aoe_reports.engine.fleet.frozen:thaw", "aoe_reports.nowhere:X",
        "aoe_reports.engine.fleet.frozen:json", "aoe_reports.engine.fleet.executors:Serial", "aoe_reports.model.texts:Path", "", "os",
        "aoe_reports.engine.fleet.partials:Path",
    ],
)  # fmt: skip
def test_only_records_of_this_package_are_made(kind: str) -> None:
    with pytest.raises(ValueError):
        thaw(json.dumps({"$": kind, "of": "x"}))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", '{"$": "tuple"}', '{"$": 3}', '{"$": ["tuple"]}', '{"$": "dict", "of": [[[], 1]]}', "[" * 100_000,
        '{"$": "aoe_reports.model.findings:Finding", "severity": "info"}',
        '{"$": "decimal", "of": "x"}', '{"$": "array", "type": "(2,", "shape": [1], "of": "AAAA"}',
        '{"$": "array", "type": "O", "shape": [1], "of": "AAAA"}',
        '{"$": "array", "type": "<i8", "shape": [2], "of": "AAAA"}', '{"$": "table", "of": "AAAA"}',
    ],
)  # fmt: skip
def test_a_damaged_text_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        thaw(text)


def test_decimals_keep_their_digits() -> None:
    assert str(thaw(freeze(Decimal("1.10")))) == "1.10"
