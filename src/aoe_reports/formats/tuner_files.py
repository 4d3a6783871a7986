"""Files that tuners leave, and that no vendor's reader knows: each tuner's folder says which they are and reads them.

This room names those folders and imports none of them before a file asks for it: who tunes is known above, and what
`check` and `inspect` show of a file of a tuner is the same few facts for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Literal, cast

from aoe_reports.model.documents import Json
from aoe_reports.model.findings import Finding
from aoe_reports.model.rules import Rule

TUNERS: dict[str, str] = {
    "aoe": "aoe_reports.tuning.aoe",
    "triton": "aoe_reports.tuning.triton",
    "msoptuner": "aoe_reports.tuning.msoptuner",
    "mskl": "aoe_reports.tuning.mskl",
    "tilelang": "aoe_reports.tuning.tilelang",
    "pypto": "aoe_reports.tuning.pypto",
    "akg": "aoe_reports.tuning.akg",
    "versions": "aoe_reports.tuning.versions",
    "claim_list": "aoe_reports.tuning.claim_list",
}
"""The tuners and their folders; this line is all that registers one."""


@dataclass(frozen=True, slots=True)
class TunerFile:
    """What one file of a tuner says."""

    tasks: int | None
    """How many things it says were tuned; null where it cannot be read."""
    names: tuple[str, ...]
    """What they are called."""
    rows: int | None
    """How many measured times it holds."""
    summary: Mapping[str, Json] | None
    """What else is worth a line, as JSON values."""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class TunerFileKind:
    """One kind of file of a tuner."""

    kind: str
    form: Literal["csv", "json", "txt"]
    fits: Callable[[str, str], bool]
    """(name, first 64 KiB as text): whether a file is of this kind."""
    read: Callable[[Path, int | None], TunerFile]
    """(path, the most bytes that are read): what it says; ReadError only where it cannot be opened."""
    rules: tuple[Rule, ...]
    """Its own."""
    columns: tuple[str, ...] = ()
    """Those that the header of a table has to name."""
    near: Callable[[str], str | None] | None = None
    """(first 64 KiB as text): why a file that is nearly of this kind is not; None for any other."""


def read_by(module: str) -> Callable[[Path, int | None], TunerFile]:
    """The `read_file` of a module, which is imported when a file is read: most folders have no such file."""
    return lambda path, most: cast("TunerFile", import_module(module).read_file(path, most))


@cache
def tuner_file_kinds() -> tuple[TunerFileKind, ...]:
    """Every kind that a tuner declares."""
    found: list[TunerFileKind] = []
    for folder in TUNERS.values():
        found += import_module(folder).FILES
    return tuple(found)


def kind_of_tuner_file(name: str, head: str) -> TunerFileKind | None:
    """The kind of a file of a tuner, by its name and how it begins; None for what is none."""
    return next((kind for kind in tuner_file_kinds() if kind.fits(name, head)), None)


def tuner_file_kind(kind: str) -> TunerFileKind:
    """A kind by its name."""
    return next(one for one in tuner_file_kinds() if one.kind == kind)
