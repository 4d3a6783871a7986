"""What pages say, in one language: their own texts, the words that data use, and texts that others made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from aoe_reports.locale import ENGLISH, html_tag, separator_in, translated
from aoe_reports.model.history.causes import Named, series_name
from aoe_reports.model.history.changes import METRICS
from aoe_reports.model.rows import Column, columns_of
from aoe_reports.model.texts import N_, Language, in_language
from aoe_reports.present.values import STATES, WORDS

CONTEXT = "page"
"""Where a page needs another translation than everybody else, the catalogue has it in this context."""
PART_WORDS: Mapping[str, str] = N_(
    {
        "operators_rest": "other operators",
        "computing": "computing",
        "communication": "communication, not overlapped",
        "communication_not_overlapped": "communication, not overlapped",
        "free": "free time",
        "unattributed": "unattributed",
    }
)
"""What the parts of a step are called in sentences."""
_NAMES: Mapping[str, str] = N_(
    {
        # states
        "confirmed": "slower",
        "drift": "drift",
        "suspect": "suspected",
        "recovered": "recovered",
        "improved": "improved",
        "unchanged": "unchanged",
        "too-few-nights": "too few nights to judge",
        "no-times": "no times",
        "no-direction": "good direction not declared",
        "acknowledged": "acknowledged",
        # severities
        "error": "error",
        "warning": "warning",
        "info": "remark",
        # what is known of a run or a series
        "model": "Model",
        "scope": "Scope",
        "hardware": "Hardware",
        "kind": "Kind",
        "status": "Status",
        "rank": "Rank",
        "device": "Device",
        "op_type": "Operator type",
        "op_name": "Operator",
        "core": "Core",
        "engine": "Engine",
        "engine_version": "Version",
        "runtime_config.profiler_level": "Profiler level",
        "runtime_config.aic_metrics": "AI Core metrics",
    }
)
_WORDS = {**_NAMES, **PART_WORDS}
_OF_METRIC: Mapping[str, str] = N_({"confirmed": "worse", "improved": "better"})
"""What some of them say of a metric."""
_FACTS = frozenset({"engine", "engine_version", "runtime_config.profiler_level", "runtime_config.aic_metrics"})


@dataclass(frozen=True, slots=True)
class Texts:
    """Says texts in a language."""

    language: Language = ENGLISH

    def __call__(self, text: str, /, **values: Any) -> str:
        """A text of pages, with values in it."""
        said = _said(text, self.language)
        return said.format(**values) if values else said

    def sense(self, context: str, text: str) -> str:
        """A text that means something else here than on other pages."""
        return _said(text, self.language, context)

    def word(self, word: str) -> str:
        """A word that the data use (a state, a severity, a cause), translated; any other text as it is."""
        return self(_WORDS[word]) if word in _WORDS else word

    def fact(self, name: str) -> str:
        """The name of a fact of a run; a name that comes from a file stays as it is."""
        return self.word(name) if name in _FACTS else name

    def translated(self, value: Any) -> str:
        """A text, or a word that reports have in their tables (a status, a verdict); names stay what they are."""
        return in_language(value if isinstance(value, str) else str(value), self.language)

    def state(self, state: str, one: Named) -> str:
        """The state of a series in a word: a metric is worse, not slower."""
        return self(_OF_METRIC[state]) if one.scope in METRICS and state in _OF_METRIC else self.word(state)

    def series(self, one: Named) -> str:
        """The name of a series."""
        return self.translated(series_name(one)) if one.scope in METRICS else one.workload

    def joined(self, separator: str, parts: Iterable[str]) -> str:
        """Parts with a separator between them."""
        return separator_in(separator, self.language).join(parts)

    def place(self, rank: int | None, device: int | None) -> str:
        """Rank and device, as far as they are known."""
        known = {"rank": rank, "device": device}
        return " · ".join(f"{self.word(name)} {number}" for name, number in known.items() if number is not None)

    def columns(self, kind: type[object], *keys: str) -> list[tuple[str, str]]:
        """(title with unit, text or number) of the columns of a row class, or of some of them."""
        return [*_columns(self, kind, keys)]  # type: ignore[arg-type]  # mypy takes no class for hashable

    @property
    def tag(self) -> str:
        """The language as HTML names it."""
        return html_tag(self.language)


@cache
def _columns(text: Texts, kind: type[object], keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    known = {column.key: column for column in columns_of(kind)}
    return tuple(_column(text, known[key]) for key in keys or known)


def _column(text: Texts, column: Column) -> tuple[str, str]:
    title = text(column.title)
    shown = f"{title} ({column.kind})" if column.kind in {"us", "ms", "s"} else title
    return shown, "text" if column.kind in WORDS | STATES else "number"


@cache
def _said(text: str, language: Language, context: str = CONTEXT) -> str:
    return translated(text, language, context)
