"""What rules say of tables, results and records."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {}
