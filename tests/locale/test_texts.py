"""Catalogues hold every text that the source says, with the same values, and nothing that nobody says."""

from __future__ import annotations

import copy
import gettext
import io
import json
import string
from pathlib import Path

import orjson
import pytest
from catalogues import CHINESE, FOLDER, NAMES, catalogue, extraction
from hypothesis import given
from hypothesis import strategies as st

from aoe_reports.locale import counted, is_ours, languages, separator_in, translated
from aoe_reports.locale.po import as_mo
from aoe_reports.model.errors import AoeReportsError, ReadError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import as_fields, capital, count_of, from_fields, in_language, join, say
from aoe_reports.site.texts import CONTEXT


def holes(text: str) -> set[tuple[str, str | None, str | None]]:
    """The values of a text with how they are written, whatever their order."""
    return {
        (name, conversion, form) for _, name, form, conversion in string.Formatter().parse(text) if name is not None
    }


@pytest.mark.parametrize("language", NAMES)
def test_a_catalogue_has_every_text_that_is_said_and_no_other(language: str) -> None:
    """`make catalogues` brings it up to date."""
    found = {(message.context, message.id) for message in catalogue(language) if message.id}
    asked = extraction.said()
    assert [text for context, text in asked if (context, text) not in found] == []
    assert [text for context, text in found - asked if context != CONTEXT or (None, text) not in asked] == []
    path = FOLDER / f"{language}.po"
    assert extraction.updated(path) == path.read_text()


@pytest.mark.parametrize("language", NAMES)
def test_every_text_is_translated_with_the_same_values_in_the_same_form(language: str) -> None:
    known = catalogue(language)
    for message in known:
        if message.pluralizable:
            one, more = message.id
            assert len(message.string) == known.num_plurals, message.id
            assert all(holes(form) <= holes(one) | holes(more) for form in message.string), message.id
            assert all(message.string), message.id
        elif message.id:
            assert message.string, message.id
            assert holes(message.string) == holes(message.id), message.id


def test_what_is_said_is_found_wherever_it_comes_from(tmp_path: Path) -> None:
    module = tmp_path / "site" / "module.py"
    module.parent.mkdir()
    module.write_text("""
N_({"key": "a word", ("no", "word"): "another word"})
COUNTED = {"a": ("{number} a", "{number} as"), "b": ("{number} b", "{number} bs")}
TITLES = {"one": "a title", "two": "a second title"}

def first(kind, other):
    template = "a template" if kind else "another template"
    say(template, value="no text")
    for words, value in (("in a loop {value}", 1), ("twice {value}", 2)):
        say(words, value=value)
    say("direct" if kind else "indirect")
    join(" and ", [say(TITLES[kind]), text("of a page"), text.sense("here", "of sense")])
    count_of(3, "{number} one", "{number} more")
    count_of(3, *COUNTED[kind])

def second(template):
    return say(template)
""")
    assert sorted(extraction._Module(module).said(), key=str) == sorted(
        [
            *((None, one) for one in ("a word", "another word", "a template", "another template", "in a loop {value}")),
            *((None, one) for one in ("twice {value}", "direct", "indirect", "a title", "a second title", "of a page")),
            (None, ("{number} one", "{number} more")),
            *((None, pair) for pair in (("{number} a", "{number} as"), ("{number} b", "{number} bs"))),
            (None, "{} and {}"),
            ("here", "of sense"),
        ],
        key=str,
    )


def test_what_is_translated_is_chinese() -> None:
    """What has words has words in Chinese; what has none (units, formulas) may stay."""
    same = [
        english
        for english, chinese in CHINESE.items()
        if english == chinese
        and " " in english.strip()
        and any(word.isalpha() and word.islower() for word in english.split())
    ]
    assert same == []


def test_catalogues_are_read_as_other_programs_read_them() -> None:
    found = [message for message in catalogue("zh") if message.id]
    known = {(message.context, message.id): message.string for message in found if not message.pluralizable}
    assert {(context, english): translated(english, "zh", context) for context, english in known} == known
    counting = {message.id: message.string[0] for message in found if message.pluralizable}
    assert {(one, more): counted(one, more, 3, "zh") for one, more in counting} == counting
    assert all(is_ours(english) for english in CHINESE)
    assert languages() == ("en", *NAMES)


def test_a_catalogue_may_hold_whatever_the_format_allows() -> None:
    text = r"""
# by hand
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=n != 1;\n"


#: a/b.py
#, python-brace-format
msgid ""
"a \"quoted\" text\n"
"in {two} \\ lines\t"
msgstr "ein „Text“\n"
"in {two} \\ Zeilen\t"

msgid "not yet"
msgstr ""

msgctxt "page"
msgid "Since"
msgstr "Seit"

msgid "{n} file"
msgid_plural "{n} files"
msgstr[0] "{n} Datei"
msgstr[1] "{n} Dateien"

#~ msgid "gone"
#~ msgstr "weg"
"""
    found = gettext.GNUTranslations(io.BytesIO(as_mo(text)))
    assert found.gettext('a "quoted" text\nin {two} \\ lines\t') == "ein „Text“\nin {two} \\ Zeilen\t"
    assert [found.gettext(one) for one in ("not yet", "gone", "Since")] == ["not yet", "gone", "Since"]
    assert found.pgettext("page", "Since") == "Seit"
    assert [found.ngettext("{n} file", "{n} files", n) for n in (1, 2)] == ["{n} Datei", "{n} Dateien"]


def test_a_text_that_was_reworded_is_found_by_its_words_before() -> None:
    content = as_mo(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8"\n\n#| msgid "told"\nmsgid "recorded"\nmsgstr "记录"\n'
    )
    catalogue = gettext.GNUTranslations(io.BytesIO(content))
    assert [catalogue.gettext(text) for text in ("recorded", "told", "said")] == ["记录", "记录", "said"]


def test_what_is_not_in_the_catalogue_stays_english() -> None:
    assert translated("nobody says this", "zh") == "nobody says this"
    assert not is_ours("nobody says this")
    assert translated("", "zh") == ""
    assert not is_ours("")
    assert [separator_in(one, "zh") for one in (", ", " ", "", "|")] == ["，", "", "", "|"]
    with pytest.raises(ValueError, match="fr"):
        translated("yes", "fr")


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
