"""Catalogues of translations: one file a language in this folder, looked up by the English. Nobody else opens them.

In a checkout a language is its `.po`, as translators write it; in a wheel the `.mo` that `hatch_build.py` makes of it.
"""

from __future__ import annotations

from copy import copy
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

ENGLISH = "en"
"""The language that every text is written in; it has no catalogue."""
_FOLDER = Path(__file__).parent
_BETWEEN = "{{}}{}{{}}"


@cache
def languages() -> tuple[str, ...]:
    """English, and every language that has a catalogue."""
    return (ENGLISH, *sorted({file.stem for file in _FOLDER.iterdir() if file.suffix in {".po", ".mo"}}))


def translated(text: str, language: str, context: str | None = None) -> str:
    """A text of ours in a language; what that has no translation of stays what it is.

    In a context a language may have a translation of its own; where it has none, that of all others is taken.
    """
    if language == ENGLISH or not text:  # of nothing, the translation would be the head of the catalogue
        return text
    if context is not None:
        try:
            return _strict(language).pgettext(context, text)
        except _UntranslatedError:
            pass
    return _catalogue(language).gettext(text)


def counted(one: str, more: str, number: int, language: str) -> str:
    """A text of ours that counts, in the form that a language has for a number."""
    return _catalogue(language).ngettext(one, more, number)


def is_ours(text: str) -> bool:
    """Whether a text is one of ours: a catalogue has it."""
    return bool(text) and any(_has(language, text) for language in languages() if language != ENGLISH)


def separator_in(separator: str, language: str) -> str:
    """The separator of a list in a language: catalogues have it with its parts, since it may be a space, or nothing."""
    return translated(_BETWEEN.format(separator), language).replace("{}", "")


def is_separator(text: str) -> bool:
    """Whether a catalogue has a text as a separator of lists."""
    return is_ours(_BETWEEN.format(text))


def html_tag(language: str) -> str:
    """What HTML calls a language."""
    return language if language == ENGLISH else _catalogue(language).info()["language"].replace("_", "-")


@cache
def _catalogue(language: str) -> GNUTranslations:
    if language not in languages():
        raise ValueError(f"no language {language!r}; expected one of {languages()}")
    compiled = _FOLDER / f"{language}.mo"
    from aoe_reports.locale.po import as_mo  # noqa: PLC0415 -- English needs none

    content = compiled.read_bytes() if compiled.exists() else as_mo((_FOLDER / f"{language}.po").read_text("utf-8"))
    return GNUTranslations(BytesIO(content))


def _has(language: str, text: str) -> bool:
    try:
        _strict(language).gettext(text)
    except _UntranslatedError:
        return False
    return True


@cache
def _strict(language: str) -> GNUTranslations:
    """A catalogue that refuses what it has no translation of: else that looks like one that is the same as the English."""
    refusing = copy(_catalogue(language))
    refusing.add_fallback(_Untranslated())
    return refusing


class _UntranslatedError(Exception):
    """A catalogue does not have a text."""


class _Untranslated(NullTranslations):
    def gettext(self, message: str) -> str:
        raise _UntranslatedError(message)

    def pgettext(self, context: str, message: str) -> str:
        raise _UntranslatedError(context, message)
