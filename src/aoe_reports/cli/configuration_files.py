"""The configuration file: where it is found, what it holds, in which line a key stands. What keys mean, the caller knows."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

from aoe_reports.model.errors import ReadError, UsageError
from aoe_reports.model.names import near_names
from aoe_reports.model.texts import Text, join, say

OWN_NAME = "aoe-reports.toml"
SHARED_NAME = "pyproject.toml"
THRESHOLDS = "thresholds"
"""The table that changes what analyses call much or little."""
MAX_BYTES = 1 << 20
_TABLE = ("tool", "aoe-reports")
_MAY_HOLD_TABLE = re.compile(r"""tool["']?\s*(?:[\]=]|\.\s*["']?aoe-reports)|\\[uUx]""")
"""Every way in which TOML can name that table; a package that needs ours names it elsewhere, and parsing takes most of a short command's time."""
_MAX_PARTS = 200
_PART = re.compile(r"[^.]\.")
_BETWEEN_KEYS = re.compile(r"[,=\[\]{}\n]")
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


@dataclass(frozen=True, slots=True)
class Configuration:
    """What one file holds for us."""

    path: Path
    table: Mapping[str, Any]
    _text: str = field(repr=False)
    _prefix: tuple[str, ...] = ()
    by_user: bool = False
    """Whether the user wrote it for us or named it; any other may have come with the data."""

    def line_of(self, *keys: str) -> int | None:
        """The line in which a key stands, or the inline table that holds it; null where that cannot be told."""
        wanted = [*self._prefix, *keys]
        nearest = None
        for number, known in _keys_by_line(self._text):
            if known == wanted:
                return number
            if len(known) > len(self._prefix) and known == wanted[: len(known)]:
                nearest = number
        return nearest

    def refused(self, message: str, *keys: str) -> UsageError:
        """The error that a key or its value is wrong."""
        line = self.line_of(*keys)
        where = str(self.path) if line is None else f"{self.path}:{line}"
        table, key = keys[:-1], keys[-1]
        place = "".join(f"[{name}] " for name in table) + key
        return UsageError(_of(where, say("{name}: {why}", name=place, why=message)))

    def thresholds(self, of: type) -> dict[str, int | float]:
        """The numbers of the table `thresholds` by field of the dataclass `of`, whose fields are int, float or float | None.

        Raises UsageError for a name that is no field, and for what is no finite number of 0 or more (above 0 where None stands for none).
        """
        known = get_type_hints(of)
        found: dict[str, int | float] = {}
        for key, value in self.table.get(THRESHOLDS, {}).items():
            name = key.replace("-", "_")
            if name not in known:
                raise self.refused(say("no such threshold{hint}", hint=nearest(name, list(known))), THRESHOLDS, key)
            if name in found:
                raise self.refused(say("given twice"), THRESHOLDS, key)
            if known[name] is int and not isinstance(value, int):
                raise self.refused(say("expected a whole number, not {value!r}", value=value), THRESHOLDS, key)
            if value < 0:
                raise self.refused(say("expected a number of 0 or more, not {value!r}", value=value), THRESHOLDS, key)
            if not value and type(None) in get_args(known[name]):  # what is measured against it would be without end
                message = say("expected a number above 0; omit the key for no threshold")
                raise self.refused(message, THRESHOLDS, key)
            found[name] = value if known[name] is int else float(value)
        return found


def find_configuration(start: Path) -> Configuration | None:
    """The project's configuration: of the nearest folder, from `start` upwards, that has one; a file of our own comes first."""
    for folder in (start, *start.parents):
        for name in (OWN_NAME, SHARED_NAME):
            path = folder / name
            if os.path.isfile(path):  # noqa: PTH113 - what may not be looked at is not there; Path.is_file would raise
                configuration = _read(path, must_be_ours=name == OWN_NAME)
                if configuration is not None:
                    return configuration
    return None


def user_configuration(environment: Mapping[str, str]) -> Path | None:
    """Where the user's own configuration lies (XDG Base Directory), whether it is there or not; None where nobody knows."""
    home = Path(environment.get("XDG_CONFIG_HOME", ""))
    if not home.is_absolute():  # as the specification wants it
        home = Path(os.path.expanduser("~/.config"))  # noqa: PTH111 - never raises
    return home / "aoe-reports" / OWN_NAME if home.is_absolute() else None


def read_configuration(path: Path) -> Configuration:
    """The configuration that a file of the user holds: all of it, or of a pyproject.toml the table `tool.aoe-reports`."""
    if not path.is_file():
        raise UsageError(_of(path, say("no such file")))
    configuration = _read(path, must_be_ours=path.name != SHARED_NAME)
    if configuration is None:
        raise UsageError(_of(path, say("has no table [{table}]", table=".".join(_TABLE))))
    return replace(configuration, by_user=True)


def _read(path: Path, *, must_be_ours: bool) -> Configuration | None:
    """What a file says; None where it is a project's, and says nothing of us."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        hint = say("use --isolated to run without a configuration file")
        raise ReadError(path, error.strerror or str(error), hint) from error
    if len(data) > MAX_BYTES:
        raise UsageError(_of(path, say("more than {limit} bytes; this is not a configuration file", limit=MAX_BYTES)))
    if not must_be_ours and _TABLE[-1].encode() not in data:
        return None  # not parsed: most folders above somebody's data belong to other programs
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(_of(f"{path}:{line}", say("not UTF-8"))) from error
    if not must_be_ours and not _MAY_HOLD_TABLE.search(text):
        return None
    document = _parse(path, text)
    if must_be_ours:
        return _checked(Configuration(path, document, text))
    for name in _TABLE[:-1]:
        document = document.get(name, {})
    if not isinstance(document, dict) or _TABLE[-1] not in document:
        return None
    table = document[_TABLE[-1]]
    if not isinstance(table, dict):
        raise UsageError(_of(path, say("{name}: {why}", name=".".join(_TABLE), why=say("expected a table"))))
    return _checked(Configuration(path, table, text, _TABLE))


def _parse(path: Path, text: str) -> dict[str, Any]:
    import tomllib

    # the parser takes the square of the length of a dotted key: 64 KiB of `a.a.a` take it 20 seconds
    if any(len(_PART.findall(piece)) > _MAX_PARTS for piece in _BETWEEN_KEYS.split(text)):
        raise UsageError(_of(path, say("a key of more than {count} parts", count=_MAX_PARTS)))
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise UsageError(_of(path, say("not TOML: {why}", why=say("nested too deeply")))) from error
    except ValueError as error:  # a number of too many digits is one that is no TOMLDecodeError
        message, place = str(error), _PLACE.search(str(error))
        where = f"{path}:{place[1]}:{place[2]}" if place else str(path)
        told = say("not TOML: {why}", why=message[: place.start()] if place else message)
        raise UsageError(_of(where, told)) from error


def _checked(configuration: Configuration) -> Configuration:
    """The same, once its thresholds are known to be finite numbers, whoever looks at them."""
    thresholds = configuration.table.get(THRESHOLDS, {})
    if not isinstance(thresholds, dict):
        raise configuration.refused(say("expected a table"), THRESHOLDS)
    for key, value in thresholds.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise configuration.refused(say("expected a number, not {value!r}", value=value), THRESHOLDS, key)
    return configuration


def _keys_by_line(text: str) -> Iterator[tuple[int, list[str]]]:
    """(line, whole key) of every line that begins with a key or the header of a table."""
    table: list[str] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if line.startswith("["):
            table = _parts(line.strip("[").partition("]")[0])
            yield number, table
        elif "=" in line and not line.startswith("#"):
            yield number, [*table, *_parts(line.partition("=")[0])]


def _parts(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]


def _of(place: Path | str, text: str) -> Text:
    """What is wrong with a file, and where."""
    return say("{path}: {text}", path=place, text=text)


def nearest(name: str, known: list[str]) -> Text:
    """Words that name what somebody may have meant."""
    meant = near_names(name, known)
    if meant:
        return say("; did you mean {name}?", name=meant[0])
    return say("; known: {names}", names=join(", ", sorted(known)))
