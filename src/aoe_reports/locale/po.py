"""The format of translators, `.po`, as `.mo`, the one that the standard library reads."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping

_MAGIC, _HEAD = 0x950412DE, 28
_ESCAPE = re.compile(r"\\(.)")
_BEFORE = "#| "
"""How a line begins that says what a text was before somebody reworded it: stores still have it so."""
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


def as_mo(text: str) -> bytes:
    """A catalogue as bytes for `gettext.GNUTranslations`, without untranslated texts."""
    texts = (pair for entry in _entries(text) for pair in _pairs(entry))
    pairs = sorted((key.encode(), said.encode()) for key, said in texts if said)
    keys, translations = [key for key, _ in pairs], [said for _, said in pairs]
    first, second = _HEAD, _HEAD + 8 * len(pairs)
    end = second + 8 * len(pairs)
    table, place = [], end
    for part in (*keys, *translations):
        table.append(struct.pack("<2I", len(part), place))
        place += len(part) + 1
    head = struct.pack("<7I", _MAGIC, 0, len(pairs), first, second, 0, end)
    return head + b"".join(table) + b"".join(part + b"\0" for part in (*keys, *translations))


def words_before(text: str) -> dict[str, str]:
    """What texts were before somebody reworded them, where a catalogue says so."""
    return {entry["msgid"]: entry[f"{_BEFORE}msgid"] for entry in _entries(text) if f"{_BEFORE}msgid" in entry}


def _entries(text: str) -> Iterator[Mapping[str, str]]:
    """The fields of each entry by their names: msgctxt, msgid, msgid_plural, msgstr, msgstr[0] and so on."""
    for block in re.split(r"\n{2,}", text):
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            word, _, quoted = line.partition('"')
            if word.startswith("#") and not word.startswith(_BEFORE):
                continue
            name = word.strip() or name
            fields[name] = fields.get(name, "") + _ESCAPE.sub(_meant, quoted.rstrip()[:-1])
        if fields:
            yield fields


def _meant(escape: re.Match[str]) -> str:
    return _ESCAPED.get(escape[1], escape[1])


def _pairs(entry: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What an entry is looked up by, and its translation: plural forms stand in a row.

    A text for more is found by itself as well, and one that was reworded by its words before: so older versions have stored it.
    """
    key = f"{entry['msgctxt']}\4{entry['msgid']}" if "msgctxt" in entry else entry["msgid"]
    if "msgid_plural" not in entry:
        yield key, entry["msgstr"]
        if f"{_BEFORE}msgid" in entry:
            yield entry[f"{_BEFORE}msgid"], entry["msgstr"]
        return
    forms = [said for name, said in entry.items() if name.startswith("msgstr[")]
    if all(forms):
        yield f"{key}\0{entry['msgid_plural']}", "\0".join(forms)
        yield key, forms[0]  # before 3.11.4 the standard library finds no singular by itself
        if entry["msgid_plural"] != entry["msgid"]:
            yield entry["msgid_plural"], forms[-1]
