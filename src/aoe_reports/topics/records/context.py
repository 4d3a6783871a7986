"""What is known about a run beside its numbers, and goes into every record of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aoe_reports.formats.records.record import RecordSource
from aoe_reports.model.documents import Json
from aoe_reports.model.timestamps import NS_PER_S

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RunContext:
    """A run's name, time and surroundings; `unknown` where nobody said."""

    run_id: str
    timestamp_ns: int
    model: str = UNKNOWN
    hardware: str = UNKNOWN
    engine: str = "cann"
    source: RecordSource = ""
    """Whose profiler measured the run."""
    engine_version: str = UNKNOWN
    hardware_config: Mapping[str, Json] = field(default_factory=dict)
    runtime_config: Mapping[str, Json] = field(default_factory=dict)
    metadata: Mapping[str, Json] = field(default_factory=dict)

    _shared: dict[Any, dict[str, Any]] = field(default_factory=dict, compare=False, repr=False)
    """What records have in common, once: those of a thousand ranks take a quarter of the memory so."""

    def shared(self, key: Any, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Fields that several records have alike, by what tells them from others."""
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = make()
        return found

    def fields(self) -> dict[str, Any]:
        """What every record of the run has in common."""
        return self.shared(None, self._fields)

    def _fields(self) -> dict[str, Any]:
        none: dict[str, Json] = {}
        return {
            **dict.fromkeys(("engine_config", "compilation_config", "software_config", "extra"), none),
            "engine": self.engine,
            "hardware": self.hardware,
            "engine_version": self.engine_version,
            "timestamp": self.timestamp_ns / NS_PER_S,  # of whole numbers: the nearest float64
            "run_id": self.run_id,
            "timestamp_ns": self.timestamp_ns,
            "model": self.model,
            "hardware_config": self.hardware_config,
            "runtime_config": self.runtime_config,
        }
