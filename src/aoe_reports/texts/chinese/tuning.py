"""What planning, preflight, tuning and verification say."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {}
