"""What the parser does not tell of a JSON text."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real.test_oracles import DATA

from aoe_reports.formats.aoe.results import escape
from aoe_reports.formats.json.text import MAX_DEPTH, Recovered, Syntax, duplicates, explain, locate, recover

SAMPLES = DATA / "aoe" / "doc_samples"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason=f"no documented samples in {SAMPLES}")
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("opat_v1_62rc1", Syntax(1, 1087, "extra '}'")),
        ("sgat_v1_62rc1", Syntax(1, 417, "',' missing between two members")),
        ("opat_v2_800_tf", Syntax(50, 1, "'........' is not valid JSON (an ellipsis copied from a document?)")),
        ("sgat_v2_800_tf", Syntax(1, 1, "'{' missing: a member is outside an object")),
        ("opat_blog_fragment", Syntax(1, 1, "'{' missing: a member is outside an object")),
    ],
)
def test_what_is_wrong_in_the_documented_samples(name: str, fault: Syntax) -> None:
    assert explain((SAMPLES / f"{name}.raw.txt").read_bytes()) == fault


OBJECT_OPEN = "the '{' of line 1, column 1"
LIST_OPEN = "the '[' of line 1, column 1"

FAULTS = [
    # as in the documents
    ('[{"a": [{"b": 1} } ], "c": 2}]', 1, 18, "extra '}'"),
    ('{"a": [1]\n "b": [2]}', 2, 2, "',' missing between two members"),
    (
        '{"r": [\n{"b": 1}],\n"r": [\n......\n...',
        4,
        1,
        "'......' is not valid JSON (an ellipsis copied from a document?)",
    ),
    ('{"a": "x",……"b": 1}', 1, 11, "'……' is not valid JSON (an ellipsis copied from a document?)"),
    ('"r": [\n{"b": 1}\n]\n', 1, 1, "'{' missing: a member is outside an object"),
    # brackets and marks
    ("[1]]", 1, 4, "extra ']'"),
    ("}", 1, 1, "extra '}'"),
    ('{"a":1},"b":2}', 1, 7, "extra '}'"),
    ("[1, 2}", 1, 6, f"'}}' found where ']' is expected: {LIST_OPEN} is not closed"),
    ('{"a": 1]', 1, 8, f"']' found where '}}' is expected: {OBJECT_OPEN} is not closed"),
    ('{"a": [1, 2}', 1, 12, "']' missing before '}': the '[' of line 1, column 7 is not closed"),
    ('{"a": [{}, "b": 1}', 1, 12, "']' missing before a member: the '[' of line 1, column 7 is not closed"),
    ('{"a": [{} "b": 1}', 1, 11, "'],' missing before a member: the '[' of line 1, column 7 is not closed"),
    ('[{"x": 1}, "a": 1}]', 1, 12, "'{' missing: a member is outside an object"),
    ("[1 2]", 1, 4, "',' missing between two elements"),
    ('{"a": 1 2}', 1, 9, "there is a second value after the value of a member"),
    ("[1,]", 1, 3, "extra ',' before ']'"),
    ('{"a": 1, }', 1, 8, "extra ',' before '}'"),
    ("[1,,2]", 1, 4, "extra ','"),
    ("{,}", 1, 2, "extra ','"),
    ('{"a" 1}', 1, 6, "':' missing between a key and its value"),
    ('{"a"::1}', 1, 6, "extra ':'"),
    ("{:1}", 1, 2, "no key before ':'"),
    ('{"a":}', 1, 6, "no value after ':'"),
    ('{"a":,"b":1}', 1, 6, "no value after ':'"),
    ('{"a"}', 1, 5, "neither ':' nor a value after the key"),
    ('{"a","b":1}', 1, 5, "neither ':' nor a value after the key"),
    ("{[1]}", 1, 2, "a value without a key in an object"),
    ("[" * (MAX_DEPTH + 1), 1, MAX_DEPTH + 1, f"brackets nested deeper than {MAX_DEPTH}"),
    # behind the document
    ('{"a":1}\n{"b":2}', 2, 1, "there is a second document after the first"),
    ("[1],", 1, 4, "extra ',' after the document"),
    # keys and texts
    ("{a_1:1}", 1, 2, "the key 'a_1' must be in double quotes"),
    ("{1:1}", 1, 2, "the key '1' must be in double quotes"),
    ("['a']", 1, 2, "' is not a JSON quotation mark: strings are written in double quotes"),
    ("[“a”]", 1, 2, "“ is not a JSON quotation mark: strings are written in plain double quotes"),
    ("[abc]", 1, 2, "'abc' is not a JSON value; strings must be in double quotes"),
    (f"[{'x' * 50}]", 1, 2, f"'{'x' * 29}…' is not a JSON value; strings must be in double quotes"),
    ('["a "b" c"]', 1, 5, "a '\"' inside a string must be written as '\\\"'"),
    ('["a\tb"]', 1, 4, "unescaped control character (U+0009) in a string; it must be written as '\\u0009'"),
    (
        '["a\nb"]',
        1,
        4,
        "a line break in a string: the closing '\"' is missing, or the line break must be written as '\\n'",
    ),
    ('["C:\\dir"]', 1, 5, "'\\' followed by 'd' is not a JSON escape sequence; write a backslash as '\\\\'"),
    ('["\\u00g0"]', 1, 3, "'\\u' must be followed by four hexadecimal digits"),
    ('["é\\ud800"]', 1, 4, "'\\ud800' is half of a surrogate pair, not a character"),
    ('["\\n\\u00"]', 1, 5, "'\\u' must be followed by four hexadecimal digits"),
    ('["\\n\\ud83d\\u00"]', 1, 5, "'\\ud83d' is half of a surrogate pair, not a character"),
    # numbers and words
    ("[NaN]", 1, 2, "NaN is not a JSON number"),
    ("[-Infinity]", 1, 2, "-Infinity is not a JSON number"),
    ("[None]", 1, 2, "None is not JSON; JSON has true, false and null"),
    ("[007]", 1, 2, "007 is not a JSON number: it has leading zeros"),
    ("[+1]", 1, 2, "+1 is not a JSON number: it has a leading '+'"),
    ("[.5]", 1, 2, ".5 is not a JSON number: no digit before the '.'"),
    ("[5.]", 1, 2, "5. is not a JSON number: no digit after the '.'"),
    ("[1e]", 1, 2, "1e is not a JSON number"),
    (f"[{'9' * 5000}]", 1, 2, "the size of the number is out of range"),
    (f"[1e{'9' * 20}]", 1, 2, "the size of the number is out of range"),
    # what is no JSON at all
    ("[1] // one", 1, 5, "'//': JSON has no comments"),
    ("[1，2]", 1, 3, "'，' (U+FF0C) is not valid in JSON; use ','"),
    ("\u00a0[]", 1, 1, "U+00A0 is not JSON"),
    ('{"a"=1}', 1, 5, "'=' is not JSON"),
    # cut off
    ("", 1, 1, "the text ends before a document begins"),
    ("\n ", 2, 2, "the text ends before a document begins"),
    ("nul", 1, 4, "the text ends inside a value"),
    ('{"a": 14.', 1, 10, f"the text ends here; not closed: {OBJECT_OPEN}"),
    ('[{"a": 1,\n', 2, 1, "the text ends here; not closed: 2 brackets, the innermost a '{' of line 1, column 2"),
    ('{"a": "b', 1, 9, "the text ends inside the string that begins in line 1, column 7"),
    ('{"a": "b\\ud83d\\ude', 1, 19, "the text ends inside the string that begins in line 1, column 7"),
    ("[1]", 1, 4, "no error: the document ends here"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), FAULTS, ids=lambda value: str(value)[:30])
def test_what_is_wrong_is_said_with_its_place(text: str, line: int, column: int, message: str) -> None:
    assert explain(text.encode()) == Syntax(line, column, message)
    assert explain(b"\xef\xbb\xbf" + text.encode()) == Syntax(line, column, message)


@pytest.mark.parametrize(
    ("data", "column", "message"),
    [
        (b'["\xc4"]', 3, "byte 0xc4, which is not UTF-8, in a string"),
        (b"[\xff]", 2, "byte 0xff, which is not UTF-8, is not JSON"),
        (b'["\xe4\xb8', 5, "the text ends inside the string that begins in line 1, column 2"),
    ],
)
def test_bytes_that_are_not_utf_8(data: bytes, column: int, message: str) -> None:
    assert explain(data) == Syntax(1, column, message)


OPAT = (
    '[{"basic": {"tuning_name": "n"}}, {"OPAT": {"model(ms)": 2.5, "ops": {"add": [{"op": "a"}, {"op": "b", "t": 14.25'
)


@pytest.mark.parametrize(
    ("text", "document", "dropped"),
    [
        (OPAT, [{"basic": {"tuning_name": "n"}}, {"OPAT": {"model(ms)": 2.5, "ops": {"add": [{"op": "a"}]}}}],
         "/1/OPAT/ops/add/1"),
        (OPAT[: OPAT.index('a"}')], [{"basic": {"tuning_name": "n"}}, {"OPAT": {"model(ms)": 2.5, "ops": {"add": []}}}],
         "/1/OPAT/ops/add/0"),
        (OPAT[: OPAT.index('{"op"')], [{"basic": {"tuning_name": "n"}}], "/1"),
        (OPAT[: OPAT.index(', {"op"')], [{"basic": {"tuning_name": "n"}}, {"OPAT": {"model(ms)": 2.5, "ops": {"add": [{"op": "a"}]}}}], None),
        (OPAT[: OPAT.index('n"}')], None, "/0"),
        ('{"a": 14.2', None, "/a"),
        ('{"a": 14.2 ', {"a": 14.2}, None),
        ('{"a": true', None, "/a"),
        ('{"a": "x", "b/c"', {"a": "x"}, "/b~1c"),
        ('{"a": "x", "b": ', {"a": "x"}, "/b"),
        ('{"a": "x", "b": [', {"a": "x", "b": []}, None),
        ('{"a": "x", "b', {"a": "x"}, None),
        ('{"a": 1, "a": 2, "a": [3, 4', {"a": 1, "a (2)": 2, "a (3)": [3]}, "/a (3)/1"),
        ("[[1, 2], [3", [[1, 2], []], "/1/0"),
        ("12", None, ""),
        ('"x', None, ""),
        ('"x"', "x", None),
        ("", None, None),
        ("[", None, None),
        ("[]", [], None),
    ],
)  # fmt: skip
def test_what_a_cut_text_certainly_says(text: str, document: Any, dropped: str | None) -> None:
    told = recover(text.encode(), floats=float)
    assert (told.document, told.dropped, told.line, told.column) == (document, dropped, 1, len(text) + 1)


def test_printed_digits_are_kept_and_sizes_that_are_not_read_end_it() -> None:
    assert str(recover(b'{"a": 2.40, "b": 7, ').document) == "{'a': Decimal('2.40'), 'b': 7}"
    for size in ("9" * 5000, "1e" + "9" * 30):
        assert recover(f"[1.5, {size}, 2".encode()) == Recovered([Decimal("1.5")], "/1", 1, 7, "")

    def refuse(_: str) -> float:
        raise ValueError

    assert recover(b"[1, 1.5, 2, ", floats=refuse) == Recovered([1], "/1", 1, 5, "")


def test_what_stands_behind_a_fault_is_not_used() -> None:
    assert recover(b'{"a": 1, "b": NaN, "c": 2') == Recovered({"a": 1}, "/b", 1, 15, "")


def test_repeated_keys_have_names_of_their_own() -> None:
    data = b'{"a":1, "a":{"b":1, "b":[{"c":1,\n"c":2}]}, "a (2)":3, "a":4, "~/":[[],[5]]}'
    names = ["", "/a", "/a (2)/b (2)/0/c (2)", "/a (2) (2)", "/a (3)", "/~0~1/1/0"]
    assert duplicates(data) == [
        ("", "a", 1, 9),
        ("/a (2)", "b", 1, 21),
        ("/a (2)/b (2)/0", "c", 2, 1),
        ("", "a", 2, 22),
    ]
    nowhere = ["/~0~1/01", "/~0~1/-", "/a/b", "/z", "a"]
    assert locate(data, [*names, *nowhere]) == dict(
        zip(names, [(1, 1), (1, 6), (2, 5), (2, 19), (2, 26), (2, 39)], strict=True)
    )


def test_lines_and_characters_are_counted_not_bytes() -> None:
    data = '\ufeff{"名": "调优",\r\n "键": ["é", 1]}'.encode()
    assert locate(data, ["/名", "/键/1"]) == {"/名": (1, 7), "/键/1": (2, 13)}
    assert duplicates('{"名": "调", "名": 1}'.encode()) == [("", "名", 1, 12)]


def test_a_text_that_is_no_json_is_located_as_far_as_it_is() -> None:
    assert locate(b'{"a": 1, "b": ]', ["/a", "/b"]) == {"/a": (1, 7)}


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
    assert duplicates(text.encode()) == []
    assert explain(text.encode()).message == "no error: the document ends here"
    assert recover(text.encode() + b" ", floats=float).document == document


def is_within(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and is_within(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) <= len(whole) and all(map(is_within, part, whole[: len(part)]))
    return type(part) is type(whole) and part == whole


@given(DOCUMENTS, WRITERS)
def test_what_a_prefix_says_is_true_and_grows(document: Any, write: Any) -> None:
    data = write(document).encode()
    said = [recover(data[:end], floats=float).document for end in range(len(data) + 1)] + [document]
    for shorter, longer in pairwise(said):
        assert shorter is None or is_within(shorter, longer)


@given(DOCUMENTS, st.data())
def test_a_dropped_record_is_not_in_the_document(document: Any, data: st.DataObject) -> None:
    text = json.dumps(document).encode()
    told = recover(text[: data.draw(st.integers(0, len(text)))], floats=float)
    assert told.dropped is None or told.dropped not in {pointer for pointer, _ in below(told.document) if pointer}


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
    fault = explain(data)
    lines = data.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape").split("\n")
    assert 1 <= fault.line <= len(lines)
    assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1

    def refuse(_: str) -> Any:
        raise ValueError

    try:
        json.loads(data.removeprefix(b"\xef\xbb\xbf").decode(), parse_constant=refuse)
    except ValueError:
        assert not fault.message.startswith("no error")
    else:
        assert re.search("^no error|surrogate pair|size of the number is out of range", fault.message)
    told = recover(data, floats=float)
    locate(data, [pointer for pointer, _ in below(told.document)])
    duplicates(data)


DEEP = 30_000


@pytest.mark.parametrize(
    "data",
    [
        b"[" * DEEP,
        b'{"a":' * DEEP,
        b"[" * DEEP + b"]" * DEEP,
        b"[" + b"}" * DEEP,
        b'{"a":' + b"[1," * DEEP,
        b"{" + b",".join([b'"k":1'] * 2**16) + b"}",
        b"[" + b",".join([b"9" * 5000] * 100),
        b"[" + b'"\\ud800",' * DEEP + b"1]",
        b'["' + b"x\\n" * 2**18,
        b'["' + b"\\" * (2**18 + 1),
        b"[" + b"." * 2**18,
        b"[1e" + b"0" * 2**18,
        b"[" + b"a" * 2**18,
    ],
    ids=lambda data: data[:8].decode(),
)
def test_hostile_texts_are_walked_through_once(data: bytes) -> None:
    explain(data)
    recover(data)
    locate(data, ["/0" * DEEP, "/k (262145)", "/" + "k" * 2**18])
    duplicates(data)


def test_what_is_deep_and_what_is_repeated_is_located() -> None:
    deep = "/0" * (DEEP - 1)
    assert locate(b"[" * DEEP + b"]" * DEEP, [deep]) == {deep: (1, DEEP)}
    repeated = b"{" + b",".join([b'"k":1'] * 2**16) + b"}"
    assert locate(repeated, ["/k (65536)"]) == {"/k (65536)": (1, 6 * 2**16)}
    assert len(duplicates(repeated)) == 2**16 - 1


def test_repeated_keys_are_found_in_whichever_element_they_stand() -> None:
    data = b'[{"a":1},{"a":1,"a":2},5,[[0,1],{"b":{"c":[0,1,{"d":1,"d":2}]}}],{"e":[],"e":{}}]'
    assert duplicates(data) == [
        ("/1", "a", 1, data.index(b'"a":2') + 1),
        ("/3/1/b/c/2", "d", 1, data.index(b'"d":2') + 1),
        ("/4", "e", 1, data.index(b'"e":{}') + 1),
    ]
    assert duplicates(b'{"a":[1,{"b":1}],"c":{"a":1}}') == []
    assert duplicates(b'{"a":1,"a":2') is None
    assert duplicates(b'{"a":1,"a":2} 3') is None
