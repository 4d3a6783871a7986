"""Titles, columns and sentences of reports."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, str] = {}
