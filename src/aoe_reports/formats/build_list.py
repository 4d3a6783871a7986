"""The list of builds for `ab --next`: a line for each build, the oldest first; its name, then paths or patterns of its repeats, if it has any.

v1.0   runs/v1.0-*
3fa9c1e
v1.1   runs/v1.1-*
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

from aoe_reports.formats.aoe.result_files import as_utf8, read_bytes
from aoe_reports.formats.sources.discovery import paths_matching
from aoe_reports.formats.sources.objects import ObjectPath, path_of
from aoe_reports.model.errors import UsageError
from aoe_reports.model.findings import Finding
from aoe_reports.model.texts import say

MAX_BYTES, MAX_BUILDS = 1 << 20, 10_000


class Build(NamedTuple):
    """A build, and where its repeats lie."""

    name: str
    paths: tuple[Path, ...]


def read_builds(path: Path) -> list[Build]:
    """The builds of a list; paths are relative to its folder. Raises UsageError, which names the line, and ReadError."""
    findings: list[Finding] = []
    data = read_bytes(path, MAX_BYTES, say("expected a list of builds"))
    if len(data) > MAX_BYTES:
        raise UsageError(
            say(
                "{path}: {why}",
                path=path,
                why=say("at most {limit} bytes are read; this file is larger", limit=MAX_BYTES),
            )
        )
    text = as_utf8(path, data, findings).decode("utf-8", "replace")
    builds: list[Build] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise UsageError(say("{path}:{line}: {why}", path=path, line=number, why=str(error))) from error
        if words:
            builds.append(Build(words[0], tuple(paths_matching(_below(path.parent, word) for word in words[1:]))))
    _check(path, builds)
    return builds


def _below(folder: Path, word: str) -> str:
    return word if isinstance(path_of(word), ObjectPath) else str(folder / word)


def _check(path: Path, builds: list[Build]) -> None:
    names = {build.name for build in builds}
    if not 2 < len(builds) <= MAX_BUILDS or len(names) < len(builds):  # noqa: PLR2004 -- with two there is nothing to search
        raise UsageError(say("{path}: expected 3 to {most} builds with different names", path=path, most=MAX_BUILDS))
    for build in (builds[0], builds[-1]):
        if not build.paths:
            raise UsageError(
                say("{path}: {name}: the first and the last build need repeats", path=path, name=build.name)
            )
