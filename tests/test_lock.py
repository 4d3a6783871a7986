"""Lock files, pyproject.toml, the list of wheels and the image name the same dependencies; nothing here needs a network."""

from __future__ import annotations

import re
import tomllib

import pytest
from commandline import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME = PYPROJECT["project"]["dependencies"]
WANTED = {
    "runtime": RUNTIME,
    "fleet": [*RUNTIME, *PYPROJECT["project"]["optional-dependencies"]["fleet"]],
    "build": PYPROJECT["dependency-groups"]["build"],
}
SYSTEMS = ("linux", "darwin", "win32")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def pinned(name: str) -> list[tuple[Requirement, str]]:
    """The requirements of a lock file, each with the lines below it: hashes, and who wants it."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    return [
        (Requirement(head), rest)
        for head, rest in re.findall(r"^([a-z][^\\\n]*?) ?\\\n((?:    .*\n?)+)", text, re.MULTILINE)
    ]


def versions(name: str, python: str, system: str) -> dict[str, str]:
    """What is installed on one system."""
    environment = {"python_full_version": f"{python}.0", "python_version": python, "sys_platform": system}
    return {
        found.name: str(found.specifier).removeprefix("==")
        for found, _ in pinned(name)
        if found.marker is None or found.marker.evaluate(environment)
    }


@pytest.mark.parametrize("name", WANTED)
def test_a_lock_file_has_all_of_pyproject_within_its_bounds_on_every_python(name: str) -> None:
    for python in PYTHONS:
        for system in SYSTEMS:
            locked = versions(name, python, system)
            for wanted in map(Requirement, WANTED[name]):
                assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)]), (wanted.name, python, system)


@pytest.mark.parametrize("name", WANTED)
def test_what_a_lock_file_says_the_project_wants_is_what_it_wants(name: str) -> None:
    source = "pyproject.toml:build" if name == "build" else "aoe-reports (pyproject.toml)"
    told = {found.name for found, rest in pinned(name) if source in rest}
    assert told == {canonicalize_name(Requirement(wanted).name) for wanted in WANTED[name]}


@pytest.mark.parametrize("name", WANTED)
def test_a_lock_file_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert re.findall(r"^(?:-|.*//|.*find-links|.*index-url).*", text, re.MULTILINE) == []
    assert all("--hash=sha256:" in rest for _, rest in pinned(name))
    assert len(pinned(name)) == len(re.findall(r"^[A-Za-z]", text, re.MULTILINE)) > 0


def test_the_extra_takes_the_versions_of_those_who_have_it_not() -> None:
    for python in PYTHONS:
        runtime, fleet = versions("runtime", python, "linux"), versions("fleet", python, "linux")
        assert {name: fleet[name] for name in runtime} == runtime


def test_the_list_of_wheels_is_that_of_the_lock_file() -> None:
    page = (ROOT / "docs" / "containers.md").read_text()
    rows = re.findall(
        r"^\| (\*\*)?([a-z0-9-]+)(?:\*\*)? \| ([0-9.]+) \| (all|3\.[^ |]+(?: to [^ |]+)?) \|", page, re.MULTILINE
    )
    listed: dict[str, dict[str, str]] = {python: {} for python in PYTHONS}
    for _, name, version, span in rows:
        first, last = (PYTHONS[0], PYTHONS[-1]) if span == "all" else (span.split()[0], span.split()[-1])
        for python in PYTHONS[PYTHONS.index(first) : PYTHONS.index(last) + 1]:
            listed[python][name] = version
    assert listed == {python: versions("runtime", python, "linux") for python in PYTHONS}
    bold = {name for mark, name, _, _ in rows if mark}
    assert bold == {canonicalize_name(Requirement(wanted).name) for wanted in RUNTIME}
