"""The catalogue: every English template of ours and the same in Chinese, by the area that says it."""

from __future__ import annotations

from collections.abc import Mapping

from aoe_reports.texts.chinese import (
    advice,
    checks,
    commands,
    help_texts,
    readers,
    reports,
    store,
    tables,
    tuning,
    words,
)

AREAS = (words, readers, tables, checks, advice, tuning, store, reports, commands, help_texts)

CATALOGUE: Mapping[str, str] = {english: chinese for area in AREAS for english, chinese in area.TEXTS.items()}
"""Chinese by English template."""
