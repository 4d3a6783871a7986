"""What we say to people: sentences that know what they were made of, so that they can be said in another language.

A sentence is made by `say` from an English template and values. It is the English text, wherever a text is wanted (JSON,
files, comparisons); only where it is shown to somebody `in_language` says it in that person's language, by its
catalogue (`aoe_reports.locale`). Names that come from files are values, never templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter
from typing import Any, TypeVar

from aoe_reports.locale import ENGLISH, counted, is_ours, is_separator, separator_in, translated

Language = str
"""One of `aoe_reports.locale.languages()`."""

_Said = TypeVar("_Said")

_PARTS = ""
"""The key of the parts of a joined text; its template is the separator."""


class Text(str):
    """An English text with its template and values; a text that counts also has the plural form, `more`."""

    __slots__ = ("more", "template", "values")
    template: str
    values: Mapping[str, Any]
    more: str | None

    def __deepcopy__(self, _: object) -> Text:
        """Itself, as with every text: nothing can change it."""
        return self

    def __add__(self, other: str) -> Text:
        """Both in a row."""
        return join("", (self, other))

    def __radd__(self, other: str) -> Text:
        """Both in a row."""
        return join("", (other, self))


def N_(texts: _Said) -> _Said:  # noqa: N802 -- the name that extractors of every language know
    """Texts that are said elsewhere, as values of a variable: here is where the catalogues get them from."""
    return texts


def say(template: str, /, **values: Any) -> Text:
    """A sentence: `say("{count} rows are left out", count=3)`; values may be texts themselves."""
    return _made(template.format(**values) if values else template, template, values)


def count_of(number: int, one: str, more: str, /, **values: Any) -> Text:
    """`one` where there is one of it, else `more`; both may hold {number}. Other languages have other forms."""
    values["number"] = number
    return _made((one if number == 1 else more).format(**values), one, values, more)


def join(separator: str, parts: Iterable[str]) -> Text:
    """Texts with a separator between them (", ", "; ", " " and others that the catalogue has)."""
    texts = tuple(parts)
    return _made(separator.join(texts), separator, {_PARTS: texts})


def capital(text: str) -> str:
    """The text with a capital in front; other languages have none."""
    english = text[:1].upper() + text[1:]
    return _made(english, text.template, text.values, text.more) if isinstance(text, Text) else english


def _made(english: str, template: str, values: Mapping[str, Any], more: str | None = None) -> Text:
    text = Text(english)
    text.template, text.values, text.more = template, values, more
    return text


def in_language(text: str, language: Language) -> str:
    """What a text is in a language; a plain one is looked up as a whole, and stays what it is if nobody translated it."""
    if language == ENGLISH:
        return text
    if not isinstance(text, Text):
        return translated(text, language)
    if _PARTS in text.values:
        parts = (in_value(part, language) for part in text.values[_PARTS])
        return separator_in(text.template, language).join(parts)
    if text.more is None:
        template = translated(text.template, language)
    else:
        template = counted(text.template, text.more, text.values["number"], language)
    if not text.values:
        return template
    return template.format(**{name: in_value(value, language) for name, value in text.values.items()})


def in_value(value: Any, language: Language) -> Any:
    """A value of a text: a text in the language, anything else (a name, a number) as it is."""
    return in_language(value, language) if isinstance(value, Text) else value


def as_fields(text: str) -> Any:
    """A text as JSON values from which `from_fields` makes it again, in every language."""
    if not isinstance(text, Text):
        return str(text)
    values = {name: _field(value) for name, value in text.values.items()}
    return [str(text), text.template if text.more is None else [text.template, text.more], values]


def _field(value: Any) -> Any:
    if isinstance(value, str):
        return as_fields(value)
    if isinstance(value, tuple | list):
        return {_PARTS: [_field(part) for part in value]}
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def from_fields(fields: Any) -> str:
    """A text from its fields. It can be translated only if the template is ours and its values give this English text."""
    if isinstance(fields, str):
        return fields
    said, template, values = fields
    english = str(said)
    one, more = template if _is_pair(template) else (template, None)
    if not isinstance(one, str) or not isinstance(values, dict):
        return english
    if not (is_separator if _PARTS in values else is_ours)(one) or not (more is None or _may_count(one, more)):
        return english
    try:
        text = _made(english, one, {name: _of_field(value) for name, value in values.items()}, more)
        if english not in {again := _english(text), capital(again)}:
            return english
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):  # values of another template of that name
        return english
    return text


def _is_pair(template: Any) -> bool:
    return isinstance(template, list) and [type(one) for one in template] == [str, str]


def _may_count(one: str, more: str) -> bool:
    """Whether a text for more holds nothing but what that for one does, and the number: catalogues know it by the other."""
    holes = {hole[1:] for hole in Formatter().parse(one)} | {
        (None, None, None),
        ("number", "", None),
        ("number", ",", None),
    }
    return all(hole[1:] in holes for hole in Formatter().parse(more))


def _english(text: Text) -> str:
    """The English text of a template with its values."""
    if _PARTS in text.values:
        return text.template.join(text.values[_PARTS])
    template = text.template if text.more is None or text.values["number"] == 1 else text.more
    return template.format(**text.values) if text.values else template


def _of_field(field: Any) -> Any:
    if isinstance(field, list):
        return from_fields(field)
    return tuple(_of_field(part) for part in field[_PARTS]) if isinstance(field, dict) else field
