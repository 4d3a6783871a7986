"""What a user may say about runs that files do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from aoe_reports.engine.question import RunOptions
from aoe_reports.model.errors import UsageError
from aoe_reports.model.options import option, options
from aoe_reports.model.texts import say

if TYPE_CHECKING:
    from aoe_reports.topics.records.naming import WorkloadFrom


@options
class RecordOptions(RunOptions):
    """Names for what is measured, and the zone of times that carry none. Raises UsageError for a zone or a pattern that is none."""

    workload: str | None = option(
        default=None, help="Name of the measured workload.", shared=True, names="nothing", completes="workloads"
    )
    workload_from: str | None = option(
        default=None,
        help=(
            "Folder level that names the workload: `folder` (the folders below PATHS, without dates), or a "
            "pattern such as */{workload} or /**/nights/{workload}."
        ),
        names="nothing",
        shared=True,
    )
    hardware: str | None = option(default=None, help="Name of the hardware.", shared=True, names="nothing")
    engine_version: str | None = option(default=None, help="Version of CANN.", shared=True, names="nothing")
    tz: str | None = option(
        default=None, help="Time zone of times without one [default: UTC].", shared=True, names="nothing"
    )
    raw: int = option(
        default=0,
        minimum=0,
        help="Keep every single time (runtime_raw) of records with at most this many tasks or steps; 0: of none.",
        shared=True,
    )
    by_module: bool = option(
        default=False,
        help="Also records of modules and layers, where Python frames or names of operators give them; reads timelines.",
        flags=["--by-module"],
        shared=True,
    )
    module_series: int = option(
        default=200,
        minimum=1,
        help="With --by-module: at most this many modules of a rank are records, and as many layers.",
        shared=True,
    )
    by_phase: bool = option(
        default=False,
        help="Records of prefill, decode and mixed iterations, too, of servers of language models; reads timelines of these.",
        flags=["--by-phase"],
        shared=True,
    )
    asked: tuple[Path, ...] = ()
    """The paths that were asked for: folders below them may name what is measured."""

    def __post_init__(self) -> None:
        """Look at what was said before anything is read; the odd byte of a name becomes a question mark."""
        for name in ("workload", "hardware", "engine_version"):
            text = getattr(self, name)
            if text is not None:
                object.__setattr__(self, name, text.encode("utf-8", "replace").decode())
        _ = self.zone, self.rule

    @property
    def zone(self) -> tzinfo:
        """The zone of times that name none."""
        return UTC if self.tz is None else zone_of(self.tz)

    @property
    def rule(self) -> WorkloadFrom | None:
        """How folders name what is measured, where the user says it."""
        from aoe_reports.topics.records.naming import WorkloadFrom

        return None if self.workload_from is None else WorkloadFrom.parse(self.workload_from)

    def asked_for(self, paths: Sequence[Path]) -> Self:
        """The same, for runs below these paths."""
        return replace(self, asked=tuple(paths))


@options
class IngestOptions(RecordOptions):
    """What may be said of runs that are stored."""

    renew: bool = option(
        default=False,
        help="Replace runs that an older version stored with the results of this version.",
        flags=["--renew"],
        only_here=say("what is replaced"),
    )
    rank_series: int = option(
        default=16,
        minimum=0,
        help=(
            "Number of ranks of a run up to which each rank has series of its own operators; of more ranks, a series "
            "covers an operator on all of them."
        ),
        shared=True,
    )


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
