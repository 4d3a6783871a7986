"""Where pages lie: names that are safe on every disk and server, whatever an id holds."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from aoe_reports.history.site_facts import SeriesFacts

_SAFE = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")


MODELS = "models"
"""The folder of the pages of models."""


def model_file(model: str) -> str:
    """Where the page of a model lies, seen from the site, without its ending."""
    return f"{MODELS}/{file_name(model)}"


def series_link(series: SeriesFacts, root: str = "") -> str | None:
    """The page of a series, seen from a page whose way to the folder of the site is `root`; None where it has none."""
    return f"{root}series/{file_name(series.id)}.html" if series.has_page else None


@lru_cache(maxsize=65536)
def file_name(identity: str) -> str:
    """An id as part of a file name: itself where it is plain, else its hash."""
    if _SAFE.fullmatch(identity) and identity != "index":
        return identity
    return hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:24]
