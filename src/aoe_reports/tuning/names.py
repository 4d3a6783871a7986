"""How tuners and profiles name the same operators."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v\d+\Z")
_NEXT = re.compile(r"[\])]\s*,\s*[\[(]")
_AROUND = re.compile(r"[\s\"'\[\]()]")
_BETWEEN = re.compile(r"(?<=\d)[xX*](?=\d)")


def type_key(op_type: str) -> str:
    """An operator type for comparing: AOE writes lower case in some releases, and with or without a version."""
    return _VERSION.sub("", op_type.casefold())


def shapes_key(shapes: str) -> str:
    """Shapes for comparing: profiles put them in quotes, people in brackets, with blanks or as 32x64."""
    return _BETWEEN.sub(",", _AROUND.sub("", _NEXT.sub(";", shapes))).strip(",")
