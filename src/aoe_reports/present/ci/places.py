"""The place of a finding for CI systems: a path below the working directory, columns in characters."""

from __future__ import annotations

import os
from pathlib import Path

from aoe_reports.formats.sources.objects import ObjectPath, path_of
from aoe_reports.model.findings import Finding


def below_here(path: str) -> str | None:
    """A path as seen from the working directory, with forward slashes; None where it does not lie below."""
    if isinstance(path_of(path), ObjectPath):
        return None
    whole = Path(os.path.abspath(path))
    here = Path.cwd()
    return whole.relative_to(here).as_posix() if whole.is_relative_to(here) else None


def character_column(finding: Finding) -> int | None:
    """The column where it counts characters: in JSON. In a table it is the number of a cell."""
    return finding.column if finding.path.endswith(_JSON) else None


def cell(finding: Finding) -> int | None:
    """The column where it is the number of a cell."""
    return None if finding.path.endswith(_JSON) else finding.column


_JSON = (".json", ".json.gz")
