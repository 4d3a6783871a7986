"""Texts that know what they were made of: kept as fields, and said again in every language."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.model.errors import AoeReportsError, ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import as_fields, capital, count_of, from_fields, in_language, join, say

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


@pytest.mark.parametrize("number", [0, 1, 2])
def test_what_counts_keeps_both_texts_and_the_number(number: int) -> None:
    text = say("{name}: {why}", name="x", why=count_of(number, "{number:,} run", "{number:,} runs"))
    assert text == f"x: {number} run{'s' * (number != 1)}"
    fields = json.loads(json.dumps(as_fields(text)))
    assert fields[2]["why"][1] == ["{number:,} run", "{number:,} runs"]
    assert in_language(text, "zh") == in_language(from_fields(fields), "zh") == f"x：{number} 次运行"


def test_a_count_of_an_older_version_stays_readable() -> None:
    assert in_language(from_fields(["1 run", "{number:,} run", {"number": 1}]), "zh") == "1 次运行"
    assert in_language(from_fields(["2 runs", "{number:,} runs", {"number": 2}]), "zh") == "2 次运行"


@pytest.mark.parametrize("more", ["{number:999999999999}", "{number.__class__}", "{other}", 7])
def test_a_text_for_more_that_is_not_ours_is_none(more: object) -> None:
    found = from_fields(["english", ["{number:,} run", more], {"number": 2}])
    assert type(found) is str
    assert in_language(found, "zh") == "english"


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


def test_texts_in_a_row_stay_texts() -> None:
    row = "a: " + say("error") + ", " + say("warning")
    assert row == "a: error, warning"
    assert in_language(row, "zh") == "a: 错误, 警告"


@pytest.mark.parametrize(("line", "text"), [(None, "p: is no file; x"), (7, "p: line 7: is no file; x")])
def test_an_error_of_reading_says_where(line: int | None, text: str) -> None:
    assert str(ReadError(Path("p"), "is no file", "x", line)) == text


def test_words_of_the_system_are_translated_where_they_are_usual() -> None:
    usual, odd = (ReadError(Path("p"), words, say("error")) for words in ("Permission denied", "Out of luck"))
    assert in_language(usual.what, "en") == "Permission denied"
    assert in_language(usual.what, "zh") == "权限不足"
    assert in_language(odd.what, "zh") == "Out of luck"


@pytest.mark.parametrize(("text", "capitalised"), [("", ""), ("a b", "A b"), ("A", "A"), (say("error"), "Error")])
def test_a_capital_stands_in_front(text: str, capitalised: str) -> None:
    assert capital(text) == capitalised
    assert from_fields(json.loads(json.dumps(as_fields(capital(text))))) == capitalised
