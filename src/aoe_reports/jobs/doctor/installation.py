"""What is installed: this package, Python, each dependency by the bounds of the package's own metadata, and optional parts."""

from __future__ import annotations

import platform
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module, metadata
from pathlib import Path
from typing import NamedTuple

from aoe_reports.jobs.doctor.checkup import Checkup, fault, missing, ok, warning, why
from aoe_reports.model.hidden import show
from aoe_reports.model.texts import say
from aoe_reports.model.version import __version__

DISTRIBUTION = "aoe-reports"
EXTRAS: Mapping[str, str] = {
    "fleet": say("reading the captures of a fleet with the workers of a Dask cluster"),
    "mcp": say("letting assistants read profiles and the store"),
}
"""What each optional part of the package is for."""
PROGRAMS: Mapping[str, str] = {
    "aoe": say("`tune run` with AOE"),
    "msprof": say("taking profiles on this machine"),
    "npu-smi": say("`tune check`: devices and their processes"),
}
"""Programs that are used where they are on PATH; all are parts of CANN and its driver."""
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^]]*\])?\s*\(?([^;)]*)\)?\s*(?:;\s*(.*))?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_BOUND = re.compile(r"\s*(>=|<=|==|!=|<|>|~=)\s*([^\s,*]+)\s*")
_RELEASE = re.compile(r"v?(?:\d+!)?(\d+(?:\.\d+)*)(.*)")


class Requirement(NamedTuple):
    """A line of the metadata."""

    name: str
    bounds: str
    extra: str | None

    @property
    def installed_by(self) -> str:
        """The command that installs it."""
        wanted = f"{self.name}{self.bounds}" if self.extra is None else f"{DISTRIBUTION}[{self.extra}]"
        return f"{shlex.quote(sys.executable)} -m pip install {shlex.quote(wanted)}"


def installation() -> Iterator[Checkup]:
    """The package, Python and all that it depends on."""
    yield ok(DISTRIBUTION, f"{__version__} ({Path(__file__).parents[2]})")
    try:
        of_package = metadata.metadata(DISTRIBUTION)
        declared = [requirement_of(line) for line in metadata.requires(DISTRIBUTION) or []]
    except metadata.PackageNotFoundError:
        yield warning(
            "metadata",
            say("the package is not installed, so the versions that it needs are not known"),
            say("install it: `pip install aoe-reports`"),
        )
        return
    if of_package["Version"] != __version__:
        yield warning(
            "metadata",
            say(
                "installed as {installed}, but {version} runs: two copies are mixed",
                installed=of_package["Version"],
                version=__version__,
            ),
            say("remove one of them, or start this one from an environment of its own"),
        )
    yield python(of_package["Requires-Python"] or "")
    for requirement in declared:
        yield dependency(requirement)


def programs() -> Iterator[Checkup]:
    """Programs that some commands start."""
    for name, what_for in PROGRAMS.items():
        found = shutil.which(name)
        yield (
            ok(name, found)
            if found is not None
            else missing(name, what_for, say("install CANN and its driver, then `source …/set_env.sh`"))
        )


def compiled_reader() -> Iterator[Checkup]:
    """The reader of timelines and tables that is built where a Rust compiler is."""
    from aoe_reports.formats.native import LIBRARY, library  # noqa: PLC0415 -- pyarrow, which may be missing

    name = LIBRARY.stem
    if library() is not None:
        yield ok(name, str(LIBRARY))
    else:
        how = say("install Rust (cargo 1.85 or later), then this package again")
        yield missing(name, say("reading large timelines and tables faster"), how)


def python(bounds: str) -> Checkup:
    """The version of Python."""
    version = platform.python_version()
    if not satisfies(version, bounds):
        return fault("python", _held_against(version, bounds), say("use a newer Python"))
    return ok("python", f"{_held_against(version, bounds)} ({sys.executable})")


def requirement_of(line: str) -> Requirement:
    """A line such as `distributed>=2026.8; extra == "fleet"`."""
    found = _REQUIREMENT.fullmatch(line)
    if found is None:
        return Requirement(line.strip().partition(" ")[0], "", None)
    extra = _EXTRA.search(found[3] or "")
    return Requirement(found[1], ",".join(part.strip() for part in found[2].split(",")), extra[1] if extra else None)


def dependency(requirement: Requirement) -> Checkup:
    """Whether a dependency is there, fits its bounds, and can be imported."""
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        if requirement.extra is not None:
            what_for = EXTRAS.get(requirement.extra) or say("the part {name}", name=requirement.extra)
            return missing(requirement.name, what_for, _install(requirement))
        return fault(
            requirement.name,
            say("not installed; needed: {bounds}", bounds=requirement.bounds or requirement.name),
            _install(requirement),
        )
    if not satisfies(version, requirement.bounds):
        return fault(requirement.name, _held_against(version, requirement.bounds), _install(requirement))
    name = requirement.name.replace("-", "_").lower()
    show(name)
    try:
        import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 -- a broken library may raise anything, SystemExit and panics among it
        said = say("{version}, but it cannot be imported: {why}", version=version, why=why(error))
        return fault(requirement.name, said, _install(requirement))
    return ok(requirement.name, _held_against(version, requirement.bounds))


def satisfies(version: str, bounds: str) -> bool:
    """Whether a version is within bounds such as `>=1.6.6,<2`; a bound of a kind that is not known is no reason to say no."""
    key = _key(version)
    for bound in bounds.split(","):
        found = _BOUND.fullmatch(bound)
        if found is None or key is None or (limit := _key(found[2])) is None:
            continue
        if not _holds(found[1], key, limit):
            return False
    return True


_Key = tuple[tuple[int, ...], bool]


def _key(version: str) -> _Key | None:
    """The sort key of versions: pre-releases first, without trailing zeros."""
    found = _RELEASE.fullmatch(version.strip())
    if found is None:
        return None
    numbers = [int(part) for part in found[1].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), re.match(r"[-_.]?(?:a|b|c|rc|alpha|beta|pre|dev)", found[2]) is None


def _holds(sign: str, key: _Key, limit: _Key) -> bool:
    if sign == "~=":
        head = limit[0][:-1]
        return key >= limit and key[0][: len(head)] == head
    if sign in {"<", ">"} and key[0] == limit[0]:
        return sign == "<" and key < limit and not limit[1]  # 2.0rc1 is not what `<2` lets in
    return {"<": key < limit, ">": key > limit, "<=": key <= limit, ">=": key >= limit, "==": key == limit}.get(
        sign, key != limit
    )


def _held_against(version: str, bounds: str) -> str:
    return say("{version} (needed: {bounds})", version=version, bounds=bounds) if bounds else version


def _install(requirement: Requirement) -> str:
    return f"`{requirement.installed_by}`"
