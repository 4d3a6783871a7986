"""What a user may say about runs that files do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aoe_reports.model.errors import UsageError
from aoe_reports.model.texts import say
from aoe_reports.questions.records.naming import WorkloadFrom


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Names for what is measured, and the zone of times that carry none."""

    workload: str | None = None
    hardware: str | None = None
    engine_version: str | None = None
    zone: tzinfo = UTC
    zone_given: bool = False
    max_expanded: int | None = None
    """How far one compressed file may expand, in bytes."""
    raw: int = 0
    """Records of at most so many tasks or steps carry each one's time."""
    renew: bool = False
    """Whether runs that an older version stored are replaced by what this one makes of the same files."""
    workload_from: WorkloadFrom | None = None
    """How folders name what is measured, where the user says it."""
    asked: tuple[Path, ...] = ()
    """The paths that were asked for: folders below them may name what is measured."""

    def asked_for(self, paths: Sequence[Path]) -> RunOptions:
        """The same, for runs below these paths."""
        return replace(self, asked=tuple(paths))


def zone_of(name: str) -> tzinfo:
    """A time zone by its name; UsageError for a name that is none."""
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            say("--tz {name!r}: there is no such time zone; expected a name such as Asia/Shanghai", name=name)
        ) from error
