"""How tuners and profiles name the same operators."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v\d+\Z")


def type_key(op_type: str) -> str:
    """An operator type for comparing: AOE writes lower case in some releases, and with or without a version."""
    return _VERSION.sub("", op_type.casefold())
