"""What a parser does not say of a JSON text."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from itertools import pairwise
from typing import Any

import jiter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.formats.aoe.results import escape
from aoe_reports.formats.json.text import Syntax, explain, locate, recover, with_repeated_keys


def explained(data: bytes) -> Syntax | None:
    """What is said of a text; None for JSON."""
    try:
        jiter.from_json(data, allow_inf_nan=False, float_mode="decimal")
    except ValueError as error:
        return explain(str(error), data)
    return None


FAULTS = [
    # brackets and marks
    ('[{"a": [{"b": 1} } ], "c": 2}]', 1, 18, 'expected `,` or `]` near `"a": [{"b": 1} } ], "c": 2}]`'),
    ('{"a": [1]\n "b": [2]}', 2, 2, 'expected `,` or `}` near `"b": [2]}`'),
    ('{"r": [\n{"b": 1}],\n"r": [\n......\n...', 4, 1, "expected a value near `......`"),
    ("[1]]", 1, 4, "text follows the end of the document near `[1]]`"),
    ("[1, 2}", 1, 6, "expected `,` or `]` near `[1, 2}`"),
    ("[1,]", 1, 4, "a comma follows the last value near `[1,]`"),
    ('{"a" 1}', 1, 6, 'expected `:` near `{"a" 1}`'),
    ("[" * 300, 1, 202, f"lists or objects are nested too deeply near `{'[' * 30}`"),
    ('{"a":1}\n{"b":2}', 2, 1, 'text follows the end of the document near `{"b":2}`'),
    # keys and texts
    ("{a_1:1}", 1, 2, "expected a key in quotation marks near `{a_1:1}`"),
    ("[“a”]", 1, 2, "expected a value near `[“a”]`"),
    (f"[{'x' * 50}]", 1, 2, f"expected a value near `[{'x' * 15}`"),
    ('["a\tb"]', 1, 4, 'a control character inside a string near `["a\tb"]`'),
    ('["a\nb"]', 1, 4, 'a control character inside a string near `["a`'),
    ('["C:\\dir"]', 1, 6, 'an unknown escape in a string near `["C:\\dir"]`'),
    ('["é\\ud800"]', 1, 10, 'an escape for half a character near `["é\\ud800"]`'),
    ('{"名": "调优",\r\n "键": ["é" 1]}', 2, 12, 'expected `,` or `]` near `"键": ["é" 1]}`'),
    # numbers and words
    ("[NaN]", 1, 2, "expected a value near `[NaN]`"),
    ("[007]", 1, 3, "not a valid number near `[007]`"),
    (f"[{'9' * 5000}]", 1, 4303, f"a number that is too large near `{'9' * 30}`"),
    (f"[1e{'9' * 20}]", 1, 24, "a number that is too large near `999999999999999]`"),
    # cut off
    ("", 1, 1, "the text ends where a value is expected"),
    ("\n ", 2, 2, "the text ends where a value is expected"),
    ('{"a": 14.', 1, 10, "the text ends where a value is expected"),
    ('[{"a": 1,\n', 2, 1, "the text ends where a value is expected"),
    ('{"a": "b\\ud83d\\ude', 1, 19, "the text ends inside a string"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), FAULTS, ids=lambda value: str(value)[:30])
def test_what_is_wrong_is_said_with_its_place(text: str, line: int, column: int, message: str) -> None:
    assert explained(text.encode()) == Syntax(line, column, message)


@pytest.mark.parametrize(
    ("data", "column", "message"),
    [
        (b'["\xc4"]', 3, r'a character that does not exist near `["\xc4"]`'),
        (b"[\xff]", 2, r"expected a value near `[\xff]`"),
        (b'["\xe4\xb8', 5, "the text ends inside a string"),
    ],
)
def test_bytes_that_are_not_utf_8(data: bytes, column: int, message: str) -> None:
    assert explained(data) == Syntax(1, column, message)


def recovered(data: bytes) -> Any:
    """The document of what is whole in a text; None for none."""
    text = recover(data).text
    return with_repeated_keys(text, float)[0] or None if text else None


OPAT = (
    '[{"basic": {"tuning_name": "n"}}, {"OPAT": {"model(ms)": 2.5, "ops": {"add": [{"op": "a"}, {"op": "b", "t": 14.25'
)


@pytest.mark.parametrize(
    ("text", "document", "inside"),
    [
        (OPAT, [{"basic": {"tuning_name": "n"}}, {"OPAT": {"model(ms)": 2.5, "ops": {"add": [{"op": "a"}]}}}],
         "/1/OPAT/ops/add/1"),
        (OPAT[: OPAT.index('a"}')], [{"basic": {"tuning_name": "n"}}, {"OPAT": {"model(ms)": 2.5, "ops": {"add": []}}}],
         "/1/OPAT/ops/add/0"),
        (OPAT[: OPAT.index('{"op"')], [{"basic": {"tuning_name": "n"}}], "/1/OPAT/ops/add"),
        (OPAT[: OPAT.index(', {"op"')], [{"basic": {"tuning_name": "n"}}, {"OPAT": {"model(ms)": 2.5, "ops": {"add": [{"op": "a"}]}}}],
         "/1/OPAT/ops/add"),
        (OPAT[: OPAT.index('n"}')], None, "/0/basic"),
        ('{"a": 14.2', None, ""),
        ('{"a": 14.2 ', {"a": 14.2}, ""),
        ('{"a": true', None, ""),
        ('{"a": "x", "b/c"', {"a": "x"}, ""),
        ('{"a": "x", "b": ', {"a": "x"}, ""),
        ('{"a": "x", "b/c": [', {"a": "x", "b/c": []}, "/b~1c"),
        ('{"a": "x", "b', {"a": "x"}, ""),
        ('{"a": "x\\"{[", "b\\\\": {"c": "\\', {"a": 'x"{[', "b\\": {}}, "/b\\"),
        ('{"a": 1, "a": 2, "a": [3, 4', {"a": 1, "a (2)": 2, "a (3)": [3]}, "/a (3)"),
        ("[[1, 2], [3", [[1, 2], []], "/1"),
        ("12", None, ""),
        ('"x', None, ""),
        ("", None, ""),
        ("[", None, ""),
    ],
)  # fmt: skip
def test_what_a_cut_text_certainly_says(text: str, document: Any, inside: str) -> None:
    found = recover(text.encode())
    assert (recovered(text.encode()), found.inside, found.line, found.column) == (document, inside, 1, len(text) + 1)


def test_of_a_cut_text_every_byte_that_is_whole_is_kept() -> None:
    assert recover('{"é": 2.40, "b": [7,\n8'.encode()).text == '{"é": 2.40, "b": [7]}'.encode()
    assert recover(b'["a", "\xe4\xb8').text == b'["a"]'
    assert (recover(b"[1,\n2").line, recover(b"[1,\n2").column) == (2, 2)


def test_repeated_keys_have_names_of_their_own_and_exact_numbers() -> None:
    data = b'{"a":1, "a":{"b":1, "b":[{"c":1,\n"c":2.40}]}, "a (2)":3, "a":4, "~/":[[],[5]]}'
    document, repeated = with_repeated_keys(data)
    assert document == {
        "a": 1,
        "a (2)": {"b": 1, "b (2)": [{"c": 1, "c (2)": Decimal("2.40")}]},
        "a (2) (2)": 3,
        "a (3)": 4,
        "~/": [[], [5]],
    }
    assert repeated == [
        ("", "a", 1, 9),
        ("/a (2)", "b", 1, 21),
        ("/a (2)/b (2)/0", "c", 2, 1),
        ("", "a", 2, 25),
    ]
    places = {
        "": (1, 1), "/a": (1, 6), "/a (2)/b (2)/0/c (2)": (2, 5), "/a (2) (2)": (2, 22), "/a (3)": (2, 29), "/~0~1/1/0": (2, 42),
    }  # fmt: skip
    assert locate(data, [*places, "/~0~1/01", "/~0~1/-", "/a/b", "/z"]) == places


def test_lines_and_characters_are_counted_not_bytes() -> None:
    data = '{"名": "调优",\r\n "键": ["é", 1]}'.encode()
    assert locate(data, ["/键/1", "/名"]) == {"/名": (1, 7), "/键/1": (2, 13)}
    assert with_repeated_keys('{"名": "调", "名": 1}'.encode())[1] == [("", "名", 1, 12)]


def test_a_text_that_is_no_json_is_located_as_far_as_it_is() -> None:
    assert locate(b'{"a": 1, "b": ]', ["/a", "/b/c"]) == {"/a": (1, 7)}
    assert locate(b'{"a": [1, {"b": 2', ["/a/1/b", "/a/1/c"]) == {"/a/1/b": (1, 17)}


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
)
WRITERS = st.builds(
    lambda indent, ascii_: lambda value: json.dumps(value, indent=indent, ensure_ascii=ascii_),
    st.sampled_from([None, 1]),
    st.booleans(),
)


def below(value: Any, pointer: str = "") -> list[tuple[str, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [
        (pointer, value),
        *(found for step, part in inner for found in below(part, f"{pointer}/{escape(str(step))}")),
    ]


@given(DOCUMENTS, WRITERS)
def test_every_value_is_found_where_it_stands(document: Any, write: Any) -> None:
    text = write(document)
    values = dict(below(document))
    places = locate(text.encode(), values)
    assert set(places) == set(values)
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    for pointer, (line, column) in places.items():
        assert json.JSONDecoder().raw_decode(text, starts[line - 1] + column - 1)[0] == values[pointer]
    assert with_repeated_keys(text.encode(), float) == (document, [])


def is_within(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and is_within(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) <= len(whole) and all(map(is_within, part, whole[: len(part)]))
    return type(part) is type(whole) and part == whole


@pytest.mark.slow
@given(DOCUMENTS.filter(lambda document: isinstance(document, dict | list)), WRITERS)
def test_what_a_prefix_says_is_true_and_grows(document: Any, write: Any) -> None:
    data = write(document).encode()
    said = [recovered(data[:end]) for end in range(len(data))] + [document]
    for shorter, longer in pairwise(said):
        assert shorter is None or is_within(shorter, longer)


def mutated(data: bytes, edits: list[tuple[float, bytes, int]]) -> bytes:
    for place, inserted, removed in edits:
        at = math.floor(place * len(data))
        data = data[:at] + inserted + data[at + removed :]
    return data


EDITS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.sampled_from([b"", b",", b":", b'"', b"{", b"}", b"[", b"]", b"\\", b"\n", b"0", b"NaN", b"\xe4", b"..."])
        | st.binary(max_size=3),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=4,
)


@given(DOCUMENTS, EDITS)
def test_any_damage_is_explained_with_a_place_in_the_text(document: Any, edits: list[tuple[float, bytes, int]]) -> None:
    data = mutated(json.dumps(document, ensure_ascii=False).encode(), edits)
    fault = explained(data)
    if fault is not None:
        lines = data.decode(errors="surrogateescape").split("\n")
        assert 1 <= fault.line <= len(lines)
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1
        if fault.message.startswith("the text ends"):
            recovered(data)
    locate(data, [pointer for pointer, _ in below(document)])


DEEP = 30_000


@pytest.mark.parametrize(
    "data",
    [
        b"[" * DEEP,
        b'{"a":' * DEEP,
        b'{"a":' + b"[1," * DEEP,
        b"{" + b",".join([b'"k":1'] * 2**16),
        b"[" + b",".join([b"9" * 4000] * 100),
        b'["' + b"x\\n" * 2**18,
        b'["' + b"\\" * (2**18 + 1),
        b"[1e" + b"0" * 2**18,
    ],
    ids=lambda data: data[:8].decode(),
)
def test_hostile_texts_are_walked_through_once(data: bytes) -> None:
    explained(data)
    recover(data)
    locate(data, ["/0" * DEEP, "/k (262145)", "/" + "k" * 2**18])


@pytest.mark.slow
def test_what_is_repeated_is_located() -> None:
    repeated = b"{" + b",".join([b'"k":1'] * 2**16) + b"}"
    assert locate(repeated, ["/k (65536)"]) == {"/k (65536)": (1, 6 * 2**16)}
    assert len(with_repeated_keys(repeated)[1]) == 2**16 - 1


def test_repeated_keys_are_found_in_whichever_element_they_stand() -> None:
    data = b'[{"a":1},{"a":1,"a":2},5,[[0,1],{"b":{"c":[0,1,{"d":1,"d":2}]}}],{"e":[],"e":{}}]'
    assert with_repeated_keys(data)[1] == [
        ("/1", "a", 1, data.index(b'"a":2') + 1),
        ("/3/1/b/c/2", "d", 1, data.index(b'"d":2') + 1),
        ("/4", "e", 1, data.index(b'"e":{}') + 1),
    ]
