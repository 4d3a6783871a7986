"""JSON of pages: compact, texts in English, arrays of numpy as lists, NaN as null."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup
from msgspec import json


def as_json(value: Any) -> bytes:
    """The bytes of a value, keys in its order; UnicodeEncodeError for a text that UTF-8 cannot have."""
    return json.encode(value, enc_hook=_as_builtin)


def as_sorted_json(value: Any) -> bytes:
    """The same bytes for equal values, whatever the order of their keys."""
    return json.encode(value, enc_hook=_as_builtin, order="deterministic")


def as_script(value: Any) -> Markup:
    """JSON that a <script> of a page can hold."""
    return Markup(as_json(value).decode().replace("<", "\\u003c").replace("&", "\\u0026"))


def _as_builtin(value: Any) -> Any:
    """What msgspec does not know: a Text, and an array or a number of numpy."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(type(value))
