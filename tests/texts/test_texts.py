"""The catalogue holds every sentence that the source makes, with the same holes, and nothing that nobody says."""

from __future__ import annotations

import ast
import copy
import json
import string
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aoe_reports
from aoe_reports.errors import AoeReportsError, ReadError
from aoe_reports.findings import Finding
from aoe_reports.texts import as_fields, capital, count_of, from_fields, in_language, join, say
from aoe_reports.texts.chinese import AREAS, CATALOGUE

SOURCE = Path(aoe_reports.__file__).parent
MAKERS = {"say": (0,), "count_of": (1, 2), "join": (0,)}
"""Where the templates stand in the calls that make texts."""
TITLES = {"Column": 1, "Section": 0, "Report": 0, "rows_report": 1}
"""Where words stand that are looked up as they are."""


def constants(node: ast.expr) -> Iterator[str]:
    """The texts that an argument may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def said() -> Iterator[tuple[str, str]]:
    """(where, English) of all texts and titles in the source."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            places = MAKERS.get(name, (TITLES[name],) if name in TITLES else ())
            for place in places:
                if place < len(node.args):
                    for text in constants(node.args[place]):
                        yield f"{path.relative_to(SOURCE)}:{node.lineno}", text


def holes(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_text_is_in_the_catalogue() -> None:
    missing = [(where, text) for where, text in said() if text not in CATALOGUE and any(map(str.isalpha, text))]
    assert missing == []


def test_nothing_in_the_catalogue_is_said_by_nobody() -> None:
    strings = {
        node.value
        for path in SOURCE.rglob("*.py")
        if "texts" not in path.relative_to(SOURCE).parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    unsaid = [
        english
        for area in AREAS
        if not area.__name__.endswith("words")
        for english in area.TEXTS
        if english not in strings
    ]
    assert unsaid == []


def test_translations_have_the_same_holes() -> None:
    assert [english for english, chinese in CATALOGUE.items() if holes(english) != holes(chinese)] == []


def test_no_text_is_translated_twice() -> None:
    everywhere = [english for area in AREAS for english in area.TEXTS]
    assert sorted(english for english in set(everywhere) if everywhere.count(english) > 1) == []


def test_what_is_translated_is_chinese() -> None:
    """What has words has words in Chinese; what has none (units, formulas) may stay."""
    same = [
        english
        for english, chinese in CATALOGUE.items()
        if english == chinese
        and " " in english.strip()
        and any(word.isalpha() and word.islower() for word in english.split())
    ]
    assert same == []


VALUES = st.recursive(
    st.one_of(st.text(), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False)),
    lambda inner: st.builds(lambda path, why: say("{name}: {why}", name=path, why=why), inner, inner),
    max_leaves=5,
)


@given(VALUES, VALUES)
def test_fields_give_the_text_back(name: object, why: object) -> None:
    text = say("{name}: {why}", name=name, why=why)
    back = from_fields(json.loads(json.dumps(as_fields(text))))
    assert back == text
    assert in_language(back, "zh") == in_language(text, "zh")


def test_a_text_without_values_stays_one_inside_of_another() -> None:
    text = say("{name}: {why}", name="error", why=join(", ", [say("error"), "error"]))
    assert in_language(from_fields(json.loads(json.dumps(as_fields(text)))), "zh") == "error：错误，error"


def test_a_sentence_without_values_comes_back_as_a_text() -> None:
    text = from_fields(json.loads(json.dumps(as_fields(say("the file is empty")))))
    assert in_language(say("{name}: {why}", name="x", why=text), "zh") == "x：文件为空"


@pytest.mark.parametrize("template", ["{name.__class__}", "{0}", "not ours {name}", 7, None, ["x"]])
def test_a_template_that_is_not_ours_is_no_template(template: object) -> None:
    found = from_fields(["english", template, {"name": "x"}])
    assert type(found) is str
    assert in_language(found, "zh") == "english"


@pytest.mark.parametrize("values", [{}, {"other": 1}, {"name": {"parts": 3}, "why": 1}, [], None, "x"])
def test_values_that_do_not_fit_leave_the_english_text(values: object) -> None:
    found = from_fields(["english", "{name}: {why}", values])
    assert in_language(found, "zh") == "english"


def test_a_text_is_its_english_wherever_a_text_is_wanted(tmp_path: Path) -> None:
    text = count_of(2, "{number} run", "{number} runs")
    assert text == "2 runs"
    assert json.dumps({"a": text}) == '{"a": "2 runs"}'
    assert orjson.dumps([text]) == b'["2 runs"]'
    copied = copy.deepcopy(text)
    assert (copied, copied.template) == (text, text.template)
    assert in_language(capital(join(", ", [say("warning"), "operator/x"])), "zh") == "警告，operator/x"
    assert str(AoeReportsError(text)) == "2 runs"
    error = ReadError(tmp_path, say("error"), "x", 3)
    assert f"{error}" == f"{tmp_path}: line 3: error; x"


def test_names_are_never_templates() -> None:
    name = "{message.__class__} {0} ％s"
    finding = Finding("error", "r", name, say("{name}: {why}", name=name, why=name))
    assert finding.as_text() == f"{name}: error: {name}: {name} [r]"
    assert finding.as_text().count(name) == in_language(finding.as_text(), "zh").count(name) == 3
