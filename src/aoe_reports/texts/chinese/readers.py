"""What reading says: damage in files, forms that are not known."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {}
