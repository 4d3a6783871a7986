"""Which wheel each dependency has on Linux, for both architectures and each Python: prints the table, and puts it into docs/containers.md.

Asks the index that uv asks, so it needs a network; `make lock` runs it. The versions are those of requirements/runtime.txt, and a
dependency without a wheel is an error: nobody should need a compiler.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).parents[1]
UV = Path(sys.executable).with_name("uv")
PAGE = ROOT / "docs" / "containers.md"
BEGIN, END = "<!-- wheels: written by release/wheels.py (`make lock`) -->\n", "<!-- end of wheels -->\n"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
ARCHITECTURES = ("aarch64", "x86_64")
GLIBC = "manylinux_2_28"
LEGACY = {"manylinux1": "manylinux_2_5", "manylinux2010": "manylinux_2_12", "manylinux2014": "manylinux_2_17"}
"""What PEP 600 calls the older names."""


@dataclass(frozen=True)
class Wheel:
    name: str
    version: str
    tag: str
    """What it is for, without the number of the Python: its ABI and its platform."""
    size: int
    """Bytes, packed."""


def wheels_of(python: str, architecture: str) -> Iterator[Wheel]:
    """What an installation takes. Raises CalledProcessError where a dependency has no wheel."""
    command = [
        UV, "pip", "compile", "--quiet", "--system-certs", "--only-binary", ":all:", "--format", "pylock.toml", "--constraint",
        "requirements/runtime.txt", "--python-version", python, "--python-platform", f"{architecture}-{GLIBC}", "pyproject.toml",
    ]  # fmt: skip
    order = _order_of(python, architecture)
    locked = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    for package in tomllib.loads(locked)["packages"]:
        fits = {PurePosixPath(wheel["url"]).name: wheel["size"] for wheel in package["wheels"]}
        filename = min(fits, key=lambda name: min(order.get(tag, len(order)) for tag in parse_wheel_filename(name)[3]))
        yield Wheel(package["name"], package["version"], _tag_of(filename), fits[filename])


def _order_of(python: str, architecture: str) -> dict[Tag, int]:
    """What pip prefers, the best first: the Python's own ABI, then the newer C library."""
    version = tuple(map(int, python.split(".")))
    platforms = [f"manylinux_2_{minor}_{architecture}" for minor in range(28, 4, -1)]
    tags = chain(cpython_tags(version, platforms=platforms), compatible_tags(version, platforms=platforms))
    return {tag: place for place, tag in enumerate(tags)}


def _tag_of(filename: str) -> str:
    """ABI and oldest platform: `abi3 manylinux_2_28`, `cp manylinux_2_17`, `any`."""
    tags = parse_wheel_filename(filename)[3]
    platforms = {tag.platform for tag in tags}
    if platforms == {"any"}:
        return "any"
    platforms = {
        LEGACY.get(platform, platform) for platform in (re.sub(r"_(aarch64|x86_64)$", "", of) for of in platforms)
    }
    (abi,) = {re.sub(r"^cp\d+$", "cp", tag.abi) for tag in tags}
    return f"{abi} {min(platforms, key=_glibc_of)}"


def _glibc_of(platform: str) -> tuple[int, ...]:
    """The version of the C library that a platform's tag asks for."""
    return tuple(map(int, re.findall(r"\d+", platform)))


def direct_dependencies() -> set[str]:
    """What pyproject.toml names, as the index spells it."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return {re.split(r"[<>=\[ ]", dependency)[0].lower() for dependency in named}


def table_of(found: dict[tuple[str, str], list[Wheel]]) -> str:
    """A row for each package and version; direct dependencies in bold."""
    rows: dict[tuple[str, str], dict[str, dict[str, Wheel]]] = defaultdict(lambda: defaultdict(dict))
    for (python, architecture), wheels in found.items():
        for wheel in wheels:
            rows[wheel.name, wheel.version][architecture][python] = wheel
    direct = direct_dependencies()
    lines = [
        "| package | version | Python | " + " | MB | ".join(ARCHITECTURES) + " | MB |",
        "|---|---|---|---|---:|---|---:|",
    ]
    for (name, version), by_architecture in sorted(rows.items()):
        pythons = sorted({python for wheels in by_architecture.values() for python in wheels}, key=PYTHONS.index)
        cells = [f"**{name}**" if name in direct else name, version, _span(pythons)]
        for architecture in ARCHITECTURES:
            wheels = by_architecture[architecture]
            cells.append(", ".join(sorted({wheel.tag for wheel in wheels.values()})))
            cells.append(f"{max(wheel.size for wheel in wheels.values()) / 1e6:.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _span(pythons: list[str]) -> str:
    return "all" if pythons == list(PYTHONS) else pythons[0] if len(pythons) == 1 else f"{pythons[0]} to {pythons[-1]}"


def totals_of(found: dict[tuple[str, str], list[Wheel]]) -> str:
    """What is downloaded, and the oldest C library on which it runs."""
    sizes = [
        f"{sum(wheel.size for wheel in wheels) / 1e6:.0f} MB for {key[1]}"
        for key, wheels in found.items()
        if key[0] == "3.13"
    ]
    tags = _parts(wheel.tag for wheels in found.values() for wheel in wheels)
    return f"Together {' and '.join(sizes)} (Python 3.13, packed). The newest C library that a wheel asks for is glibc {max(tags)[0]}.{max(tags)[1]}.\n"


def _parts(tags: Iterable[str]) -> list[tuple[int, ...]]:
    return [_glibc_of(tag.split()[-1]) for tag in tags if "manylinux" in tag]


def main() -> None:
    """Print the table, and put it in its place."""
    found = {
        (python, architecture): list(wheels_of(python, architecture))
        for python in PYTHONS
        for architecture in ARCHITECTURES
    }
    told = f"{table_of(found)}\n{totals_of(found)}"
    sys.stdout.write(told)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{told}\n{END}{after}")


if __name__ == "__main__":
    main()
