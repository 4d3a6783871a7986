"""What reading finds is said in Chinese as a whole, whoever worded it: we, the JSON parser, SQLite or the system."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import jiter
import pytest
from commandline import FIXTURES, Cli

from aoe_reports.formats.aoe.result_files import read_results
from aoe_reports.formats.json.text import explain, of_parser
from aoe_reports.formats.sqlite import kinds_of_database
from aoe_reports.model.errors import ReadError
from aoe_reports.model.texts import in_language

CHINESE = re.compile(r"[\u4e00-\u9fff]")
NO_JSON = [
    *(b"[...]", b"[NaN]", b"[True]", b"[1] // x", b"['a']", "[“a”]".encode(), b"[01]", b"[+1]", b"[.5]", b"[1.]"),
    *(b"[1a]", b"{a: 1}", b"[word]", b'["a"b"]', b"[1e9999999999999999999]", "{“a”：1}".encode(), "[1，2]".encode()),
    *(b"[@]", b"[[1", b"[1", b'["a', b"[tru", b"", b'["a\nb"]', b'["a\x01"]', b'["\xff"]', rb'["\ud800"]'),
    *(rb'["\u12"]', rb'["\q"]', b'{"a": [1, "b": 2}', b'"a": 1', b"{:1}", b"[1:2]", b'{"a":,}', b'{"a",}', b"[1,,]"),
    *(b"[" * 300, b'{"a" 1}', b"{a 1}", b'{"a": [1 "b": 2}', b"[1 2]", b'{"a":1 "b":2}', b'{"a":1 2}', b"[1]]"),
    *(b'{"a":1,}', b'{"a":[1}', b"[{1]", b'{"a":{"b":1]', b"[1],", b"[1] [2]", b"}", b'{"a":1,"a":2', b"{1:2}"),
]


PARSERS_OWN = re.compile("EOF|ident|parsing|surrogate|Detected|trailing|recursion")


def in_chinese(text: str) -> str:
    """The text in Chinese, once it is known that none of its parts stayed English by mistake."""
    said = in_language(text, "zh")
    assert CHINESE.search(said), text
    assert not CHINESE.search(text)
    return said


@pytest.mark.parametrize("text", NO_JSON)
def test_why_a_text_is_no_json(text: bytes) -> None:
    with pytest.raises(ValueError) as caught:
        jiter.from_json(text, allow_inf_nan=False, float_mode="decimal")
    message = explain(str(caught.value), text).message
    assert not PARSERS_OWN.search(message)
    in_chinese(message)


@pytest.mark.parametrize(
    "text",
    [
        *(
            b"[1,]",
            b"[1",
            b'{"a"',
            b'{"a":',
            b'"a',
            b'"\x01"',
            rb'["\q"]',
            b'{"a" 1}',
            b"[1 2]",
            b'{"a":1 2}',
            b"[tru]",
        ),
        *(b"[x]", b"[01]", b"{1:2}", b"[1]]", rb'["\u12"]', b"[" * 300, b'{"a":1,"a":2}', b'["\xff"]', rb'"\udc00"'),
    ],
)
def test_what_the_parser_says(text: bytes) -> None:
    with pytest.raises(ValueError) as caught:
        jiter.from_json(text, allow_inf_nan=False, catch_duplicate_keys=True)
    said = of_parser(str(caught.value))
    assert not PARSERS_OWN.search(said)
    assert " line " not in in_chinese(said)


def test_what_is_not_known_of_the_parser_stays_what_it_is() -> None:
    assert in_language(of_parser("something {new} at line 1 column 2"), "zh") == "something {new}（第 1 行第 2 列）"


def test_what_the_system_says(tmp_path: Path) -> None:
    with pytest.raises(ReadError) as caught:
        read_results(tmp_path / "nothing.json")
    assert str(caught.value) == f"{tmp_path}/nothing.json: No such file or directory; an AOE result file was expected"
    assert in_language(str(caught.value), "zh") == f"{tmp_path}/nothing.json：没有该文件或目录；应为 AOE 的结果文件"


def test_what_is_wrong_with_a_database(tmp_path: Path) -> None:
    whole, torn, none = (tmp_path / name for name in ("msprof_1.db", "msprof_2.db", "msprof_3.db"))
    with sqlite3.connect(whole) as connection:
        connection.execute("CREATE TABLE TASK (startNs INTEGER)")
    connection.close()
    torn.write_bytes(whole.read_bytes()[:100] + b"\xff" * (whole.stat().st_size - 100))
    none.write_bytes(b"no database")
    said = [[in_chinese(finding.message) for finding in kinds_of_database(path)[1]] for path in (whole, torn, none)]
    assert said == [
        ["此处没有可用的表 TASK（连同 STRING_IDS）；缺少它所提供的信息"],
        ["无法读取数据库：数据库文件已损坏；其内容均未采用"],
        ["无法读取数据库：这不是 SQLite 数据库；其内容均未采用"],
    ]


def test_all_that_reading_finds(cli: Cli) -> None:
    """Findings of readers on the damaged fixtures; what JSON says of them stays English."""
    asked = ("inspect", FIXTURES / "msprof" / "invalid", FIXTURES / "aoe" / "invalid")
    english = cli(*asked, "--format", "json").json["findings"]
    of_readers = {f["rule"] for f in english if re.match("(csv|json|gzip|db|timeline)-", f["rule"])}
    assert len(of_readers) > 8
    assert not [f for f in english if CHINESE.search(f["message"])]
    lines = [line for line in cli(*asked, "--lang", "zh").err.splitlines() if line.endswith("]")]
    assert {line.rpartition("[")[2][:-1] for line in lines} >= of_readers
    assert not [
        line
        for line in lines
        if line.rpartition("[")[2][:-1] in of_readers and not CHINESE.search(line.partition("：")[2].partition("：")[2])
    ]
