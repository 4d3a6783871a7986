"""Vendor: whose files these are, and where in them questions find tasks and steps; VENDORS is the registry.

Nothing below this line of the tree knows which vendors there are, and no question names a vendor's table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from aoe_reports.formats.ascend import vendor as ascend
from aoe_reports.formats.capture import Capture, Source
from aoe_reports.formats.memory_files import vendor as memory_files
from aoe_reports.formats.mindspore import vendor as mindspore
from aoe_reports.formats.msopprof import vendor as msopprof
from aoe_reports.formats.msserviceprofiler import vendor as msserviceprofiler
from aoe_reports.formats.rocprof import vendor as rocprof
from aoe_reports.formats.sources.found import FileName, FoundFile, Writer
from aoe_reports.formats.table import Table, TaskTypes
from aoe_reports.model.findings import Finding


class Vendor(Protocol):
    """One vendor's files; a module `vendor` in a folder of its own has all of this."""

    @property
    def writers(self) -> frozenset[Writer]:
        """Who writes its files."""

    @property
    def record_source(self) -> str:
        """What records of its captures name as their source, in stores and files: it never changes."""

    @property
    def tables(self) -> Mapping[str, Table]:
        """Every kind of table that it writes; no two vendors give one the same name."""

    @property
    def task_types(self) -> TaskTypes:
        """What its words for the type of a task mean."""

    def parse_name(self, name: str, folder: str) -> FileName | None:
        """What a file's name (and its folder's) tells; None for a file that is none of its."""

    def identify(self, file: FoundFile, findings: list[Finding]) -> FoundFile | None:
        """What a file of such a name is and holds; None for one that is only called so."""

    def group(self, files: Iterable[FoundFile]) -> list[Capture]:
        """Its files by the capture they belong to, with what is known of each, in the order of their paths."""

    def tasks(self, capture: Capture) -> tuple[Source, ...]:
        """Where the tasks of a capture stand, the best source first: the others are there to be checked against it."""

    def steps(self, capture: Capture) -> tuple[Source, ...]:
        """Where its steps stand, the best source first."""

    def events(self, capture: Capture) -> list[list[FoundFile]]:
        """The timelines that show whole devices, one after the other, the files of each together."""


VENDORS: dict[str, Vendor] = {
    "ascend": ascend,
    "memory_files": memory_files,
    "mindspore": mindspore,
    "msopprof": msopprof,
    "msserviceprofiler": msserviceprofiler,
    "rocprof": rocprof,
}

TABLES: dict[str, Table] = {name: table for vendor in VENDORS.values() for name, table in vendor.tables.items()}
"""Every kind of table that is read."""

TASK_TYPES = TaskTypes(
    frozenset().union(*(vendor.task_types.communication for vendor in VENDORS.values())),
    frozenset().union(*(vendor.task_types.compute for vendor in VENDORS.values())),
)
"""The words of all vendors: in a table of tasks stand those of one of them."""

_BY_WRITER = {writer: vendor for vendor in VENDORS.values() for writer in vendor.writers}


def parse_name(name: str, folder: str = "") -> FileName | None:
    """What a file's name tells to the vendor that knows it; exports of Ascend, after whose words anything may stand, come last."""
    for vendor in reversed(VENDORS.values()):
        if (told := vendor.parse_name(name, folder)) is not None:
            return told
    return None


def vendor_of(writer: Writer) -> Vendor:
    """Whose profiler (or tuner) wrote a file or a capture."""
    return _BY_WRITER[writer]


def group_captures(files: Iterable[FoundFile]) -> list[Capture]:
    """Profiler files by the capture they belong to, in the order of their paths."""
    mine: dict[int, list[FoundFile]] = {}
    for file in files:
        if (vendor := _BY_WRITER.get(file.name.source)) is not None:  # records are of nobody
            mine.setdefault(id(vendor), []).append(file)
    grouped = [vendor.group(mine[id(vendor)]) for vendor in VENDORS.values() if id(vendor) in mine]
    if len(grouped) == 1:
        return grouped[0]
    return sorted((capture for captures in grouped for capture in captures), key=lambda capture: capture.root)
