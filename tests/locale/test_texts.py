"""Catalogues hold every text that the source says, with the same values, and nothing that nobody says."""

from __future__ import annotations

import gettext
import io
import re
import string
from pathlib import Path

import pytest
from catalogues import CHINESE, FOLDER, NAMES, catalogue, extraction

from aoe_reports.locale import counted, is_ours, languages, separator_in, translated
from aoe_reports.locale.po import as_mo
from aoe_reports.model.time_units import MICROSECOND, TIME_UNITS
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


@pytest.mark.parametrize("language", NAMES)
def test_a_per_cent_and_a_microsecond_are_written_in_one_way(language: str) -> None:
    assert dict(TIME_UNITS[2:3]) == {1000: MICROSECOND}
    for message in catalogue(language):
        ids = message.id if message.pluralizable else (message.id,)
        strings = message.string if message.pluralizable else (message.string,)
        for text in (*ids, *strings):
            assert not re.search(r"[\d}] %(?!\w)|\bµs", text), text


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
        and any(
            word.isalpha() and word.islower() and word != "step" for word in english.split()
        )  # MindStudio says step, too
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
