"""What analyses say: advice, bounds, communication, comparisons."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {}
