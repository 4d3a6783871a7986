"""The quick parser gives what the exact one gives, or says that a key may have been lost."""

from __future__ import annotations

import json

import pytest
from documents import texts
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.readers.quick_json import NotPlainError, parse_floats, repeats_no_key

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(max_size=4)
    | st.sampled_from([":", '":', "a:b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "", ":"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(texts())
def test_results_are_parsed_as_the_standard_library_does(text: str) -> None:
    data = text.encode("utf-8", "replace")
    document = parse_floats(data)
    assert document == json.loads(data, parse_int=whole)
    assert repeats_no_key(data, document) or "\\u003" in text


def whole(digits: str) -> int | float:
    """What does not fit into 64 bits comes as a float."""
    number = int(digits)
    return number if -(2**63) <= number < 2**64 else float(digits)


@given(VALUES, VALUES)
def test_no_repeated_key_goes_through(first: object, second: object) -> None:
    text = f'[{{"a": {json.dumps(first)}, "x": 1, "a": {json.dumps(second)}}}]'
    assert not repeats_no_key(text.encode(), parse_floats(text.encode()))


def test_a_lost_key_cannot_hide_behind_an_escaped_colon() -> None:
    for text in (b'{"a": 1, "a": "\\u003a"}', b'{"a": 1, "a": "\\u003A"}'):
        assert not repeats_no_key(text, parse_floats(text))


@pytest.mark.parametrize("text", ["", "[", "nan", "[NaN]", "{'a': 1}", '"\\ud800"', "[1] [2]", "\ufeff[]", "[" * 2000])
def test_what_is_no_plain_json_is_refused(text: str) -> None:
    with pytest.raises(NotPlainError):
        parse_floats(text.encode("utf-8", "surrogatepass"))
