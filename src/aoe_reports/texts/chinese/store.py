"""What the store and the look for regressions say."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {}
