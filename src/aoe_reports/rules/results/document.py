"""A result file as rules look at it: the document, its tasks, and its times wherever they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from aoe_reports.formats.aoe.results import UNIT_OF, Kind, TaskFacts, escape
from aoe_reports.rules.results.task import Task

Link = tuple[Any, str | int] | None
"""A step into a document and the steps before it: a pointer is made of it where one is needed."""

TIME_KEYS = frozenset({"performance_before_tune", "performance_after_tune"})
_MODEL_KEYS = frozenset({"model_baseline_performance", "model_result_performance"})
UNITS = {kind.upper(): f"({unit})" for kind, unit in UNIT_OF.items()}
"""The unit of single times in each segment."""


@dataclass(slots=True)
class Document:
    """A result file on which rules are tried."""

    kind: Kind
    """As the file is named."""
    content: Any
    """As parsed; times may be floats."""
    tasks: tuple[Task, ...]
    fitting: tuple[Task, ...]
    """The tasks that have the right shape."""
    is_documented: bool
    """Whether it fits its schema and has no key that the schema does not name."""
    read_exactly: Callable[[], Any]

    @property
    def exact_content(self) -> Any:
        """The document with every digit of its numbers; asking for it may read the file a second time."""
        return self.read_exactly()

    def segments_of(self, facts: TaskFacts) -> list[Any]:
        """The segments of one of its tasks."""
        segments = self.content if facts.report_key is None else self.content[facts.report_key]
        return segments if isinstance(segments, list) else []


def times_in(content: Any) -> Iterator[tuple[Link, str, Any, str | None]]:
    """(place, key, value, the segment around it) of every member whose key ends with a unit."""
    waiting: list[tuple[Link, Any, str | None]] = [(None, content, None)]
    while waiting:
        place, value, segment = waiting.pop()
        if value.__class__ is list:
            waiting += [((place, i), inner, segment) for i, inner in enumerate(value)]
        elif value.__class__ is dict:
            for key, inner in value.items():
                if key[-1:] == ")":
                    yield (place, key), key, inner, segment
                if inner.__class__ is dict or inner.__class__ is list:
                    waiting.append(((place, key), inner, key if key in UNITS else segment))


def mistaken_keys(content: Any) -> Iterator[tuple[Link, str, str]]:
    """(place, key, the key that was expected there) of each time in the wrong unit."""
    for place, key, _, segment in times_in(content):
        if segment not in UNITS:
            continue
        stem = key.rpartition("(")[0]
        unit = UNITS[segment] if stem in TIME_KEYS else "(ms)" if stem in _MODEL_KEYS else None
        if unit is not None and key != stem + unit:
            yield place, key, stem + unit


def pointer_to(place: Link) -> str:
    """A place as a JSON Pointer."""
    steps = []
    while place is not None:
        place, step = place
        steps.append(f"/{escape(str(step))}")
    return "".join(reversed(steps))
