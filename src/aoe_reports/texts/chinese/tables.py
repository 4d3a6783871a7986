"""What declarations of tables say."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {}
